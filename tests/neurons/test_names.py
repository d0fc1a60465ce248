"""Names of families, hints for those of other libraries, and mistakes in one's own functions."""

import numpy as np
import pytest

from cases import inputs
from trickless import KitchenSinksRegressor
from trickless.neurons import FromFunction, FromPoint, Gaussian, Mixture, Neurons
from trickless.neurons.composed import Scaled
from trickless.neurons.named import FAMILIES, make_neurons

X = inputs(60, 3)
y = X[:, 0]


def fit(neurons):
    return KitchenSinksRegressor(neurons, 50, random_state=0).fit(X, y)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_name_makes_its_family(name):
    family = make_neurons(name)
    assert isinstance(family, Neurons)
    assert name.replace("_", "") == type(family).__name__.lower()


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("rbf", "'gaussian'"),
        ("Gaussian", "'gaussian'"),
        ("RBFSampler", "'gaussian'"),
        ("Rational Quadratic", "'rational_quadratic'"),
        ("laplacian", "'laplace1'"),
        ("nystroem", "'landmarks'"),
        ("relu", r"Dense\('relu'\)"),
        ("random_forest", "'trees'"),
        ("mixture", r"Mixture\(\["),
        ("gausian", "'gaussian'"),
        ("stump", "'stumps'"),
        ("xyz", "one of 'auto', 'gaussian', "),
    ],
)
def test_words_of_other_libraries_get_a_hint(given, hint):
    with pytest.raises(ValueError, match=rf"neurons='{given}' is not .*Remedy: {hint}"):
        fit(given)


def test_a_class_in_place_of_an_instance_is_refused():
    with pytest.raises(TypeError, match=r"Gaussian'> is a class.*Remedy: Gaussian\(\.\.\.\)"):
        fit(Gaussian)


class Cosines(Neurons):
    """Whose draw returns an array, as ``sample`` may."""

    def draw(self, rng, n):
        return rng.standard_normal((n, self.n_features_in_))

    def activate(self, X, weights):
        return np.cos(X @ weights.T)


class Swapped(Cosines):
    def draw(self, n, rng):
        return rng.standard_normal((n, self.n_features_in_))


class TooMany(Cosines):
    def draw(self, rng, n, n_features):
        return rng.standard_normal((n, n_features))


def test_one_array_is_drawn_as_by_a_function():
    by_class = fit(Cosines())
    by_function = fit(
        FromFunction(lambda rng, n, d: rng.standard_normal((n, d)), lambda X, w: np.cos(X @ w.T))
    )
    np.testing.assert_array_equal(by_class.predict(X), by_function.predict(X))
    family = Cosines().fit(X, np.random.default_rng(0))
    assert family(X, family.draw(np.random.default_rng(0), 5)).shape == (60, 5)
    fit(Mixture([Cosines(), Scaled(Cosines(), 2.0)]))


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (Swapped(), r"Swapped.draw\(rng, n=\d+\) failed with AttributeError"),
        (TooMany(), r"TooMany.draw\(rng, n=\d+\) failed with TypeError: .*n_features"),
        (Mixture([Swapped(), Gaussian(1.0)]), r"Swapped.draw\(rng, n=\d+\) failed"),
        (
            FromFunction(lambda n, rng, d: rng.standard_normal((n, d)), np.cos),
            r"sample\(rng, n=2, n_features=3\) failed with AttributeError",
        ),
        (
            FromFunction(lambda rng, n: rng.standard_normal((n, 3)), np.cos),
            r"sample\(rng, n=2, n_features=3\) failed with TypeError",
        ),
        (
            FromFunction(lambda rng, d, n: rng.standard_normal((n, d)), np.cos),
            r"returned arrays of shapes \[\(3, 2\)\], but .* n = 2 entries",
        ),
        (FromPoint(lambda d, rng: rng.random(d), np.cos), r"sample\(rng, n_features=3\) failed"),
    ],
)
def test_mistakes_in_functions_of_a_user_are_explained(family, message):
    with pytest.raises(TypeError, match=rf"{message}.*Remedy"):
        fit(family)


@pytest.mark.parametrize("neurons", ["gaussian", "tabular", "stumps", "landmarks"])
def test_no_remedy_for_infinity_suggests_what_refuses_it(neurons):
    far = X.copy()
    far[0, 1] = np.inf
    with pytest.raises(ValueError, match=r"infinity.*Remedy: replace it by") as info:
        KitchenSinksRegressor(neurons, 20).fit(far, y)
    assert "Tabular" not in str(info.value)


def test_images_and_missing_labels_get_a_remedy():
    with pytest.raises(ValueError, match=r"Patches\(patch=2, pool=2\).*X\.reshape\(len\(X\), -1\)"):
        KitchenSinksRegressor().fit(X.reshape(20, 3, 3), y[:20])
    with pytest.raises(ValueError, match=r"y contains NaN \(row 59\).*Remedy: leave these"):
        KitchenSinksRegressor().fit(X, np.append(y[:-1], np.nan))

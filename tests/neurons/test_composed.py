"""Families made of others: widths, parts, columns, parameters, candidates."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from cases import REGRESSORS, inputs, name_of, problem
from trickless import KitchenSinksRegressor
from trickless.neurons import Coordinates, Dense, Gaussian, Laplace, Mixture, Neurons, On, Stumps
from trickless.neurons.composed import Product, Scaled


class Triples(Neurons):
    """Three numbers of norm 1: a user's family that knows nothing of composition."""

    width = 3

    def fit(self, X, rng, sample_weight=None):
        super().fit(X, rng, sample_weight)
        self.seen_ = X
        return self

    def draw(self, rng, n):
        return (rng.standard_normal((n, self.n_features_in_, 3)),)

    def activate(self, X, weights):
        Z = np.einsum("id,jdk->ikj", X, weights[0])
        Z = Z / np.linalg.norm(Z, axis=1, keepdims=True)
        return Z.reshape(len(X), -1)


def fitted(neurons, X):
    return neurons.fit(X, np.random.default_rng(0))


def estimate(neurons, X, n=60_000, seed=1):
    """Mean and standard error of the products of all pairs of rows."""
    w = neurons.draw(np.random.default_rng(seed), n)
    Z = neurons(X, w).reshape(len(X), -1, n)
    each = np.einsum("ikn,jkn->ijn", Z, Z)
    return each.mean(axis=2), each.std(axis=2, ddof=1) / np.sqrt(n)


def test_a_mixture_of_widths_1_2_and_3_has_width_6_and_the_sum_of_kernels():
    X = inputs(4, 3)
    parts = [Stumps("normal"), Gaussian(1.0), Triples()]
    neurons = fitted(Mixture(parts, [0.5, 0.3, 0.4]), X)
    assert (neurons.width, neurons.bound) == (6, pytest.approx(np.sqrt(1.2)))
    mean, error = estimate(neurons, X, 20_000)
    of_triples, error_of_triples = estimate(fitted(Triples(), X), X, 20_000, seed=2)
    truth = 0.5 * fitted(parts[0], X).kernel(X) + 0.3 * fitted(parts[1], X).kernel(X)
    truth += 0.4 * of_triples
    assert (np.abs(mean - truth) <= 5 * np.hypot(error, 0.4 * error_of_triples) + 1e-12).all()
    assert (error < 0.01).all()


def test_a_mixture_chooses_families_in_proportion_to_their_weights():
    X = inputs(5, 2)
    neurons = fitted(Mixture([Gaussian(), Stumps(), Coordinates()], [1, 2, 5]), X)
    choice = neurons.draw(np.random.default_rng(0), 4000)[0]
    for i, share in enumerate([1 / 8, 2 / 8, 5 / 8]):
        assert binomtest(int((choice == i).sum()), 4000, share).pvalue > 1e-6
    assert fitted(Mixture([Gaussian(), Laplace()]), X).bound == 1


def test_the_neurons_of_a_mixture_are_those_of_its_families():
    """Every column is a column of the family that was chosen, with the weights that it drew."""
    X = inputs(7, 2)
    neurons = fitted(Mixture([Gaussian(1.0), Dense("erf")], [2.0, 7.0]), X)
    choice, frequencies, units = weights = neurons.draw(np.random.default_rng(0), 9)
    Z = neurons.activate(X, weights).reshape(7, 2, 9)
    assert 0 < choice.sum() < 9
    for j in range(9):
        if choice[j] == 0:
            expected = 3 * neurons.parts_[0].activate(X, (frequencies[j],))
        else:
            expected = 3 / np.sqrt(2) * neurons.parts_[1].activate(X, (units[j],))
        np.testing.assert_allclose(Z[:, :, j], expected, atol=1e-12)
    alone = neurons.activate(X, tuple(array[:1] for array in weights))
    np.testing.assert_allclose(alone, Z[:, :, 0], atol=1e-12)


def test_pairs_of_a_mixture_hold_several_draws_in_the_order_of_activations():
    X = inputs(10, 2)
    neurons = fitted(Mixture([Gaussian(), Triples(), Stumps()]), X)
    weights = neurons.draw(np.random.default_rng(0), 10)
    every = neurons(X, weights).reshape(10, 6, 10)
    np.testing.assert_allclose(
        neurons.activate_pairs(X, weights), np.diagonal(every, axis1=0, axis2=2).T, atol=1e-12
    )


def test_widths_and_bounds_of_products_multiply():
    X = inputs(6, 2)
    neurons = fitted(Product([Triples(), Gaussian(), 4 * Gaussian()]), X)
    assert (neurons.width, neurons.bound) == (12, 2)
    norms = np.linalg.norm(
        neurons(X, neurons.draw(np.random.default_rng(0), 5)).reshape(6, 12, 5), axis=1
    )
    np.testing.assert_allclose(norms, 2)


def test_sums_products_and_multiples_are_written_with_operators():
    a, b = Gaussian(), Stumps()
    assert repr(a + b) == repr(Mixture([a, b], [1, 1]))
    assert repr(a * b) == repr(Product([a, b]))
    assert repr(2.5 * a) == repr(a * 2.5) == repr(Scaled(a, 2.5))
    X = inputs(5, 2)
    kernel = fitted(a + 2 * b * a, X).kernel(X)
    a, b = fitted(a, X).kernel(X), fitted(b, X).kernel(X)
    np.testing.assert_allclose(kernel, a + 2 * b * a)
    for wrong in (lambda: Gaussian() + 1, lambda: {} * Gaussian(), lambda: Gaussian() * None):
        with pytest.raises(TypeError, match="unsupported operand"):
            wrong()


@pytest.mark.parametrize(
    ("columns", "indices"),
    [([2, 0], [2, 0]), ([-1], [3]), (1, [1]), (np.array([True, False, True, True]), [0, 2, 3])],
)
def test_columns_are_indices_or_a_mask(columns, indices):
    X = inputs(30, 4)
    neurons = fitted(On(columns, Gaussian()), X)
    alone = fitted(Gaussian(), X[:, indices])
    assert neurons.parts_[0].length_scale_ == alone.length_scale_
    weights = neurons.draw(np.random.default_rng(1), 8)
    expected = alone.activate(X[:, indices], weights)
    np.testing.assert_array_equal(neurons.activate(X, weights), expected)


@pytest.mark.parametrize("learner", REGRESSORS, ids=name_of)
def test_columns_are_names_of_a_frame_also_inside_other_families(learner):
    X, y = problem(learner)
    frame = pd.DataFrame(X, columns=["one", "two", "three", "four"])
    model = clone(learner).set_params(random_state=0)

    def answers(X, neurons):
        return clone(model).set_params(neurons=neurons).fit(X, y).predict(X)

    for names, indices in (("two", 1), (["four", "one"], [3, 0]), (pd.Index(["one"]), [0])):
        expected = answers(X, On(indices, Gaussian()))
        np.testing.assert_allclose(answers(frame, On(names, Gaussian())), expected, atol=1e-9)
    nested = [
        Mixture([Stumps(), Product([On(["four", "one"], On(last, Laplace())), Gaussian()])])
        for last in ("one", 1)
    ]
    nested.append(Mixture([Stumps(), Product([On([0], Laplace()), Gaussian()])]))
    named, by_index, direct = (answers(frame, neurons) for neurons in nested)
    np.testing.assert_array_equal(named, by_index)
    np.testing.assert_array_equal(named, direct)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["one", "too"], r"On: columns=\['one', 'too'\], but there is no column 'too'.*'two'"),
        ([0, 4], r"no index 4 in 4 columns"),
        ([-5], r"no index -5"),
        ([True, False], r"a mask of 2 booleans does not match 4 columns"),
        ([False] * 4, r"chooses at least one column"),
        ([], r"chooses at least one column"),
        ([0.5], r"chooses at least one column"),
        ([[0, 1]], r"chooses at least one column"),
        (None, r"chooses at least one column"),
        (["one", 3], r"no column '3'"),
    ],
)
def test_columns_that_there_are_not_are_refused(columns, message):
    X, y = problem(REGRESSORS[0])
    frame = pd.DataFrame(X, columns=["one", "two", "three", "four"])
    with pytest.raises(ValueError, match=message):
        KitchenSinksRegressor(On(columns, Gaussian()), 20).fit(frame, y)


def test_names_need_inputs_that_have_them():
    X, y = problem(REGRESSORS[0])
    with pytest.raises(ValueError, match=r"X have no names.*Remedy: fit on a data frame"):
        KitchenSinksRegressor(On("one", Gaussian()), 20).fit(X, y)
    with pytest.raises(ValueError, match="columns of X have no names"):
        fitted(On("one", Gaussian()), X)


def test_families_of_sparse_rows_are_those_whose_parts_are():
    sparse, dense = Gaussian(), Triples()
    for wrap in (lambda a: On([0], a), lambda a: 2 * a, lambda a: a + sparse, lambda a: sparse * a):
        assert wrap(sparse).accepts_sparse
        assert not wrap(dense).accepts_sparse
    X = scipy.sparse.csr_matrix(inputs(20, 3))
    with pytest.raises(TypeError, match="dense rows only"):
        KitchenSinksRegressor(On([0], dense), 20).fit(X, np.ones(20))


def test_parts_are_not_changed_by_a_fit():
    parts = [Gaussian(), On([0], Stumps())]
    fitted(Mixture(parts), inputs(20, 2))
    assert not hasattr(parts[0], "length_scale_")
    assert not hasattr(parts[1], "parts_")


def test_parameters_of_parts_are_parameters_of_the_whole():
    neurons = Mixture([Gaussian(), On([0], Laplace())])
    assert neurons.get_params()["1__neurons__length_scale"] == "auto"
    assert "0" not in neurons.get_params(deep=False)
    neurons.set_params(**{"1__neurons__length_scale": 2.0, "0__length_scale": 3.0})
    assert neurons.neurons[1].neurons.length_scale == 2.0
    neurons.set_params(**{"0": Stumps(), "0__thresholds": "normal", "weights": [1, 2]})
    assert repr(neurons.neurons[0]) == "Stumps(thresholds='normal')"
    assert neurons.weights == [1, 2]
    other = clone(neurons)
    assert repr(other) == repr(neurons)
    assert other.neurons[0] is not neurons.neurons[0]
    with pytest.raises(ValueError, match="Invalid parameter"):
        neurons.set_params(**{"2__length_scale": 1.0})
    assert (2 * Gaussian()).set_params(neurons__length_scale=5.0).neurons.length_scale == 5.0


def test_a_grid_reaches_the_parts():
    X, y = problem(REGRESSORS[0])
    model = KitchenSinksRegressor(Product([Gaussian(1.0), Gaussian(1.0)]), 40, random_state=0)
    grid = {"neurons__0__length_scale": [0.5, 2.0], "neurons__1": [Gaussian(1.0), Stumps()]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert len(set(search.cv_results_["mean_test_score"])) == 4
    found = clone(model).set_params(search=grid).fit(X, y)
    assert found.search_scores_.shape == (4,)
    assert found.neurons_.neurons[0].length_scale in (0.5, 2.0)


def test_candidates_of_parts_are_varied_together():
    X = inputs(150, 2)
    whole = fitted(Product([On([0], Gaussian("auto")), Stumps(), On([1], Laplace("auto"))]), X)
    several = whole._candidates()
    single = fitted(Gaussian("auto"), X[:, [0]])._candidates()
    assert [c.parts_[0].parts_[0].length_scale_ for c in several] == [
        c.length_scale_ for c in single
    ]
    assert len({c.parts_[2].parts_[0].length_scale_ for c in several}) == 6
    assert all(c.width == 4 for c in several)
    assert len(fitted(Mixture([Gaussian("median"), Stumps()]), X)._candidates()) == 1
    y = np.sin(3 * X[:, 0])
    model = KitchenSinksRegressor(Mixture([Gaussian("auto"), Stumps()]), 50, random_state=0)
    model.fit(X, y)
    assert model.search_scores_.shape == (6,)
    assert model.score(X, y) > 0.9


def test_different_numbers_of_candidates_are_refused():
    class Four(Stumps):
        def _candidates(self):
            return [self] * 4

    neurons = fitted(Mixture([Gaussian("auto"), Four()]), inputs(120, 2))
    with pytest.raises(ValueError, match=r"Mixture.*\[4, 6\] candidates.*Remedy"):
        neurons._candidates()


def test_a_model_may_continue_with_equal_neurons_and_not_with_others():
    X, y = problem(REGRESSORS[0])
    model = KitchenSinksRegressor(Mixture([Gaussian(1.0), Stumps("normal")]), 20, random_state=0)
    model.partial_fit(X, y).partial_fit(X, y)
    model.set_params(neurons__0__length_scale=2.0)
    with pytest.raises(ValueError, match="begun with"):
        model.partial_fit(X, y)
    model.set_params(neurons=Mixture([Gaussian(1.0)]))
    with pytest.raises(ValueError, match="begun with"):
        model.partial_fit(X, y)


@pytest.mark.parametrize(
    ("neurons", "message"),
    [
        (Mixture([]), r"Mixture: neurons=\[\].*list of at least one family.*Remedy"),
        (Mixture(["gaussian"]), r"not names"),
        (Product(Gaussian()), r"Product: neurons=Gaussian\(\)"),
        (Product([Gaussian]), r"not the classes"),
        (On([0], "gaussian"), r"On: neurons='gaussian'"),
        (Scaled(Gaussian, 2.0), r"Scaled: neurons="),
        (Scaled(Gaussian(), 0.0), r"Scaled: factor=0.0.*from 1e-60 to 1e\+60"),
        (1e-100 * Gaussian(), r"Scaled: factor=1e-100.*from 1e-60 to 1e\+60"),
        (Scaled(Gaussian(), 1e80), r"Scaled: factor=1e\+80.*from 1e-60 to 1e\+60"),
        (Scaled(Gaussian(), 10**400), r"factor=1000.*from 1e-60"),
        (Mixture([Gaussian(), Stumps()], [1e308, 1e308]), r"weights=.*from 1e-60 to 1e\+60"),
        (Mixture([Gaussian(), Stumps()], [1.0]), r"weights=\[1.0\] has length 1, but there are 2"),
        (Mixture([Gaussian()], [0.0]), r"weights=\[0.0\].*from 1e-60"),
        (Mixture([Gaussian()], 1.0), r"weights=1.0"),
    ],
)
def test_invalid_parts_of_composed_families_are_named(neurons, message):
    X, y = problem(REGRESSORS[0])
    with pytest.raises((TypeError, ValueError), match=message):
        neurons.fit(X, np.random.default_rng(0))
    with pytest.raises((TypeError, ValueError), match=message):
        KitchenSinksRegressor(neurons, 20).fit(X, y)


def test_parts_must_keep_what_they_declare():
    class Forgets(Triples):
        def fit(self, X, rng, sample_weight=None):
            return self

    class Wrong(Triples):
        def draw(self, rng, n):
            return (rng.standard_normal((n + 1, 2)),)

    X = inputs(5, 2)
    with pytest.raises(TypeError, match=r"Forgets.fit did not set n_features_in_"):
        fitted(Mixture([Forgets()]), X)
    with pytest.raises(TypeError, match=r"Wrong.draw"):
        fitted(Product([Wrong()]), X)


@pytest.mark.parametrize("compose", [Mixture, Product])
def test_no_neurons_have_no_activations(compose):
    X = inputs(5, 2)
    neurons = fitted(compose([Gaussian(), Stumps(), Coordinates()]), X)
    none = tuple(array[:0] for array in neurons.draw(np.random.default_rng(0), 3))
    assert neurons(X, none).shape == (5, 0)


@pytest.mark.parametrize("compose", [lambda a: Mixture([Stumps(), a]), lambda a: Scaled(a, 2.0)])
def test_what_is_made_of_dependent_neurons_is_dependent(compose):
    assert compose(Gaussian(1.0)).independent
    assert not compose(Gaussian(1.0, sampling="orthogonal")).independent


def test_columns_may_be_an_index_in_every_batch():
    X, y = pd.DataFrame(inputs(50, 3), columns=list("abc")), inputs(50, 1)[:, 0]
    model = KitchenSinksRegressor(On(X.columns[:2], Gaussian(1.0)), 20, random_state=0)
    model.partial_fit(X, y).partial_fit(X, y)
    whole = clone(model).fit(pd.concat([X, X]), np.concatenate([y, y]))
    np.testing.assert_allclose(model.predict(X), whole.predict(X), atol=1e-3 * y.std())

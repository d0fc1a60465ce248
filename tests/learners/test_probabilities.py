"""Probabilities: calibrated, never exactly 0, and of the label that is predicted."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine, make_classification, make_moons
from sklearn.metrics import log_loss
from sklearn.preprocessing import scale

from cases import inputs
from trickless import (
    DoublyStochasticClassifier,
    KitchenSinksClassifier,
    ShrinkingGradientClassifier,
)
from trickless._solvers.calibration import find_temperatures, in_shares, probabilities
from trickless.kernels import KernelGradientClassifier
from trickless.neurons import Gaussian


def four_classes():
    return make_classification(1500, 10, n_informative=6, n_classes=4, flip_y=0.15, random_state=0)


SETS = {
    "four classes": four_classes(),
    "rare": make_classification(2000, 20, weights=[0.9], n_informative=6, random_state=1),
    "moons": make_moons(1000, noise=0.3, random_state=0),
    "wine": load_wine(return_X_y=True),
    "noise": (inputs(600, 5), np.arange(600) % 3),
    "cancer": load_breast_cancer(return_X_y=True),
}


def halves(name):
    X, y = SETS[name]
    X, order = scale(X), np.random.default_rng(0).permutation(len(y))
    a, b = np.array_split(order, 2)
    return X[a], y[a], X[b], y[b]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", SETS)
def test_the_squared_loss_has_the_log_loss_of_log_loss(name):
    """At most 1.1 times, on rows that neither knows; 1.2 if a third chose the length scale."""
    X, y, X_test, y_test = halves(name)
    goal = KitchenSinksClassifier(n_neurons=200, loss="log_loss", random_state=0).fit(X, y)
    goal = log_loss(y_test, goal.predict_proba(X_test))
    model = KitchenSinksClassifier(n_neurons=200, random_state=0)
    fitted = {
        "direct": clone(model).fit(X, y),
        "iterative": clone(model).set_params(solver="iterative").fit(X, y),
        "stream": clone(model).fit_stream(
            (X[p], y[p]) for p in np.array_split(np.arange(len(y)), 3)
        ),
    }
    for solver, each in fitted.items():
        p = each.predict_proba(X_test)
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
        assert p.min() > 0
        np.testing.assert_array_equal(each.classes_[p.argmax(axis=1)], each.predict(X_test))
        assert log_loss(y_test, p) <= (1.2 if solver == "stream" else 1.1) * goal, solver


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("loss", "name"),
    [*(("log_loss", name) for name in ("rare", "moons", "cancer")), ("squared_hinge", "cancer")],
)
def test_alpha_is_near_the_best_where_classes_separate_and_where_not(loss, name):
    """At most 3 standard errors above the best of other alphas on other rows. Near 0 it is 6."""
    X, y, X_test, y_test = halves(name)
    model = KitchenSinksClassifier(n_neurons=150, loss=loss, random_state=0)
    alphas = "auto", 1e-6, 1e-4, 1e-3, 1e-2, 0.1
    models = [clone(model).set_params(alpha=alpha) for alpha in alphas]
    losses = []
    for each in models:
        each.fit(X, y)
        if loss == "log_loss":
            p = each.predict_proba(X_test)
            losses.append(-np.log(p[np.arange(len(p)), np.searchsorted(each.classes_, y_test)]))
        else:
            signs = np.where(y_test == each.classes_[1], 1, -1)
            losses.append(np.maximum(0, 1 - signs * each.decision_function(X_test)) ** 2)
    more = losses[0] - min(losses[1:], key=np.mean)
    assert more.mean() <= 3 * more.std() / len(more) ** 0.5


ONLINE = KernelGradientClassifier(kernel_params={"gamma": 0.1}, random_state=0)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        *((ONLINE, name) for name in ("four classes", "rare", "moons", "noise")),
        (ShrinkingGradientClassifier(random_state=0), "four classes"),
        (ShrinkingGradientClassifier(random_state=0), "rare"),
    ],
)
def test_online_learners_are_calibrated_on_the_last_rows(model, name):
    """Their log loss is at most 1.1 times that at the temperatures that suit the test rows."""
    X, y, X_test, y_test = halves(name)
    whole = clone(model).fit(X, y)
    streamed = clone(model).partial_fit(X[:200], y[:200])
    streamed.partial_fit(X[200:], y[200:])
    for each in (whole, streamed):
        p = each.predict_proba(X_test)
        assert p.min() > 0
        np.testing.assert_array_equal(each.classes_[p.argmax(axis=1)], each.predict(X_test))
        f = each.decision_function(X_test).reshape(len(X_test), -1)
        targets = each._targets_.matrix(y_test)
        best = probabilities(f, find_temperatures(f, targets, np.ones(len(f))))
        assert log_loss(y_test, p) <= 1.1 * log_loss(y_test, best)


@pytest.mark.parametrize("loss", ["squared_error", "squared_hinge", "hinge"])
def test_learners_without_calibration_have_the_log_loss_alone(loss):
    learner = DoublyStochasticClassifier(n_neurons=200, loss=loss)
    X, y = SETS["wine"]
    assert hasattr(clone(learner).set_params(loss="log_loss").fit(scale(X), y), "predict_proba")
    for model in (learner, clone(learner).fit(scale(X), y)):
        with pytest.raises(AttributeError, match="predict_proba") as caught:
            model.predict_proba(X)
        assert "Remedy: use loss='log_loss'" in str(caught.value)


def test_probabilities_are_the_shares_of_rows_that_are_right():
    X, y, X_test, y_test = halves("four classes")
    p = KitchenSinksClassifier(n_neurons=300, random_state=0).fit(X, y).predict_proba(X_test)
    right = p.argmax(axis=1) == y_test
    for some in np.array_split(np.argsort(p.max(axis=1)), 3):
        expected, error = p.max(axis=1)[some].mean(), right[some].std() / np.sqrt(len(some))
        assert abs(right[some].mean() - expected) < 3.5 * error + 0.02


def test_the_temperature_is_that_of_the_least_log_loss():
    rng = np.random.default_rng(0)
    f = rng.standard_normal((5000, 3))
    p = np.exp(f / 0.4) / np.exp(f / 0.4).sum(axis=1, keepdims=True)
    y = 2.0 * (np.arange(3) == [[rng.choice(3, p=row)] for row in p]) - 1
    found, same = find_temperatures(f, y, np.ones(5000))
    assert found == pytest.approx(0.4, rel=0.1)  # 4 standard errors
    assert found == same
    scaled, _ = find_temperatures(10 * f, y, np.full(5000, 7.0))
    assert scaled == pytest.approx(10 * found, rel=1e-4)
    np.testing.assert_allclose(probabilities(f, (0.4, 0.4)), p)


@pytest.mark.parametrize("shift", [-1.0, 0.0, 1.0])
def test_each_side_has_its_temperature_and_the_mean_is_the_rate(shift):
    rng = np.random.default_rng(0)
    f = rng.standard_normal((5000, 1)) + shift
    p = 1 / (1 + np.exp(-f / np.where(f < 0, 0.4, 0.8)))
    y = np.where(rng.random(p.shape) < p, 1.0, -1.0)
    weight = rng.uniform(0.5, 1.5, 5000)
    found = find_temperatures(f, y, weight)
    assert np.abs(np.log(found) - np.log([0.4, 0.8])).max() < 0.52  # 4 standard errors
    given = probabilities(f, found)[:, 1]
    assert weight @ given == pytest.approx(weight @ (y[:, 0] > 0), abs=1.5)  # one row is unknown
    np.testing.assert_allclose(probabilities(f, (0.4, 0.8))[:, 1:], p, rtol=1e-12)
    scaled = find_temperatures(10 * f, y, 7 * weight)
    assert scaled == pytest.approx(tuple(10 * np.array(found)), rel=1e-2)


@pytest.mark.parametrize("f", [np.zeros((50, 1)), np.full((50, 1), -0.3), np.full((50, 1), 1e-9)])
@pytest.mark.parametrize("hits", [0, 1, 30, 50])
def test_decision_values_on_one_side_only_have_finite_probabilities(f, hits):
    y = np.where(np.arange(50)[:, None] < hits, 1.0, -1.0)
    p = probabilities(f, find_temperatures(f, y, np.ones(50)))
    assert 0 < p.min() <= p.max() < 1


def test_a_sample_has_the_shares_of_all_rows():
    y = np.where(np.arange(3) == np.array([0, 0, 0, 1, 1, 2])[:, None], 1.0, -1.0)
    weight, goal = np.arange(1.0, 7.0), np.array([0.7, 0.2, 0.1])
    found = in_shares(weight, y, 2 * goal - 1)
    np.testing.assert_allclose(found @ (y > 0) / found.sum(), goal)
    one = in_shares(weight, y[:, :1], np.array([0.4]))
    assert one @ (y[:, 0] > 0) / one.sum() == pytest.approx(0.7)


def test_rows_that_are_all_right_are_not_certain():
    f = np.where(np.arange(200)[:, None] % 2, 1.0, -1.0)
    p = probabilities(f, find_temperatures(f, f, np.ones(200)))
    # One row in 201 is of no known class.
    assert p[f[:, 0] > 0, 1].max() == pytest.approx(1 - 0.5 / 201, abs=1e-4)


@pytest.mark.parametrize("options", [{"weight_bound": 5.0}, {"fit_intercept": False}])
def test_every_way_of_solving_has_probabilities(options):
    X, y, X_test, y_test = halves("moons")
    model = KitchenSinksClassifier(Gaussian(0.5), 200, random_state=0, **options).fit(X, y)
    assert 0 < log_loss(y_test, model.predict_proba(X_test)) < 0.4


def test_parts_of_the_rows_have_the_temperature_of_all():
    X, y, X_test, _ = halves("moons")
    model = KitchenSinksClassifier(Gaussian(0.5), 200, random_state=0, dtype="float64")
    whole = clone(model).fit(X, y)
    parts = [clone(model).fit(X[p], y[p]) for p in np.array_split(np.arange(len(y)), 3)]
    merged = parts[0].merge(parts[1]).merge(parts[2])
    np.testing.assert_allclose(merged.predict_proba(X_test), whole.predict_proba(X_test), rtol=1e-6)

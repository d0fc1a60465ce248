"""Streams whose rows fade within a call, after long gaps, or while there are few."""

import pickle

import numpy as np
import pytest

from trickless import KitchenSinksRegressor
from trickless.neurons import Gaussian


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)


def learner(**parameters):
    how = {"n_neurons": 40, "random_state": 0, "dtype": "float64", "alpha": 1e-3} | parameters
    return KitchenSinksRegressor(Gaussian(1.0), **how)


NEW, _ = rows(20, seed=1)


@pytest.mark.parametrize("half_life", [0.5, 3, [0.5, 20.0]])
def test_predict_then_learn_is_a_loop_for_very_short_half_lives(half_life):
    X, y = rows(200)
    block, loop = (learner(half_life=half_life).partial_fit(X[:5], y[:5]) for _ in range(2))
    predicted, expected = block.predict_then_learn(X[5:], y[5:]), []
    for i in range(5, len(X)):
        expected.append(loop.predict(X[i : i + 1])[0])
        loop.partial_fit(X[i : i + 1], y[i : i + 1])
    np.testing.assert_allclose(predicted, expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(block.predict(NEW), loop.predict(NEW), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("gap", "how"),
    [(30, "rows"), (1e4, "batches"), (1e12, "batches"), (1e12, "predict_then_learn")],
)
def test_rows_before_a_long_gap_are_gone(gap, how):
    """The rows after it are equal, so nothing else determines the solution."""
    X, y = rows(120)
    X[100:] = X[100]
    times = np.arange(120.0) + gap * (np.arange(120) >= 100)
    model = learner(half_life=1).partial_fit(X[:90], y[:90], timestamps=times[:90])
    before = model.predict(X[99:100])
    if how == "predict_then_learn":
        found = model.predict_then_learn(X[90:], y[90:], timestamps=times[90:])
        loop = learner(half_life=1).partial_fit(X[:100], y[:100], timestamps=times[:100])
        assert found[10] == pytest.approx(loop.predict(X[100:101])[0], rel=0.2)
    else:
        size = 1 if how == "rows" else 10
        for start in range(90, 120, size):
            part = slice(start, start + size)
            model.partial_fit(X[part], y[part], timestamps=times[part])
            model.predict(NEW)
    assert np.isfinite(before).all()
    weight = 0.5 ** np.arange(20)[::-1]
    expected = learner().fit(X[100:], y[100:], sample_weight=weight).predict(NEW)
    atol = 1e-6 if gap == 30 else 1e-9
    _ = model.alpha_  # solves anew
    np.testing.assert_allclose(model.predict(NEW), expected, atol=atol)


@pytest.mark.parametrize("half_life", [50, 1e9])
def test_a_given_alpha_is_kept_while_there_are_few_rows(half_life):
    """The ridge for the mean loss is at least 70 % of it whenever predictions are asked for."""
    X, y = rows(300)
    model = learner(half_life=half_life, alpha=1e-2)
    model.partial_fit(X[:3], y[:3])
    for i in range(3, 300):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        quick = model.predict(NEW)
        if i % 10 == 0:
            weight = 0.5 ** (np.arange(i + 1)[::-1] / half_life)
            exact, less = (
                learner(alpha=alpha).fit(X[: i + 1], y[: i + 1], sample_weight=weight).predict(NEW)
                for alpha in (1e-2, 0.65e-2)
            )
            assert np.abs(quick - exact).max() <= np.abs(less - exact).max()


def test_rows_of_weight_zero_pass_a_time_without_end():
    X, y = rows(60)
    model = learner(half_life=1).partial_fit(X[:30], y[:30], timestamps=np.zeros(30))
    model.partial_fit(X[:1], y[:1], sample_weight=[0.0], timestamps=[1e6])
    model.partial_fit(X[30:], y[30:], timestamps=np.full(30, 1e6))
    expected = learner().fit(X[30:], y[30:])
    np.testing.assert_allclose(model.predict(NEW), expected.predict(NEW), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("neurons", "alpha"), [("gaussian", "auto"), (Gaussian(1.0), 1e-3)])
def test_only_ratios_of_weights_matter(neurons, alpha):
    X, y = rows(400)
    weight = np.random.default_rng(2).uniform(0.5, 2, size=400)
    found = []
    for unit, size in ((1, 400), (1e-6, 400), (1e6, 1)):
        how = {"neurons": neurons, "alpha": alpha, "half_life": "auto"}
        model = learner().set_params(**how)
        for start in range(0, 400, size):
            part = slice(start, start + size)
            model.partial_fit(X[part], y[part], sample_weight=unit * weight[part])
        found.append(np.column_stack(model.predict(NEW, return_std=True)))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-6)


@pytest.mark.parametrize("half_life", [1e-6, [1.0, 1e-6]])
def test_times_too_close_for_double_precision_are_refused(half_life):
    X, y = rows(40)
    model = learner(half_life=half_life)
    times = np.arange(40.0) * 1e-7
    model.partial_fit(X, y, timestamps=times)
    before = model.predict(NEW)
    with pytest.raises(ValueError, match=r"2.4e-07 apart, .*half_life.* Remedy: .* near 0"):
        model.partial_fit(X, y, timestamps=1.75e9 + times)
    np.testing.assert_array_equal(model.predict(NEW), before)


@pytest.mark.parametrize("change", [{"alpha": 1.0}, {"fit_intercept": False}])
def test_parameters_that_are_set_in_the_middle_count_from_the_next_rows(change):
    X, y = rows(120)
    y += 3
    follows, expected = (learner(half_life=50).partial_fit(X[:100], y[:100]) for _ in range(2))
    for i in range(100, 103):
        follows.predict(NEW)
        follows.partial_fit(X[i : i + 1], y[i : i + 1])
        expected.partial_fit(X[i : i + 1], y[i : i + 1])
    copy = pickle.loads(pickle.dumps(follows)).set_params(**change)
    for model in (follows, expected):
        model.set_params(**change).partial_fit(X[103:104], y[103:104])
    np.testing.assert_allclose(follows.predict(NEW), expected.predict(NEW), rtol=1e-6)
    found = copy.predict_then_learn(X[103:105], y[103:105])
    assert found[1] == pytest.approx(expected.predict(X[104:105])[0], rel=0.05)

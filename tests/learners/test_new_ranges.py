"""Ranges of targets that grow along a stream."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import trickless
from cases import shots
from trickless import ShrinkingGradientRegressor
from trickless.kernels import KernelGradientRegressor
from trickless.neurons import Gaussian

HOW = {"random_state": 0, "dtype": "float64"}
LEARNERS = {
    "full": ShrinkingGradientRegressor(Gaussian(1.0), 200, estimate="full", **HOW),
    "auto": ShrinkingGradientRegressor(Gaussian(1.0), 200, n_draws=64, average=False, **HOW),
    "projection": ShrinkingGradientRegressor(Gaussian(1.0), 200, max_support=40, **HOW),
    "noisy": KernelGradientRegressor(shots, random_state=0),
}
GROWS = "outside of the range .* which grows to .* Remedy: y_range"


def rows(n_outputs=1):
    """Targets of a first batch in about [4, 6], and later ones beyond them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    Y = 5 + np.sin(X[:, :n_outputs])
    Y[150:, 0] *= 1.5
    return X, Y[:, 0] if n_outputs == 1 else Y


def begun(name, n_outputs=1, **parameters):
    X, y = rows(n_outputs)
    return clone(LEARNERS[name]).set_params(**parameters).partial_fit(X[:150], y[:150])


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_predictions_stay_when_the_range_grows(name, n_outputs):
    """A batch of one row of weight is not learned, since its rows are those of a learned batch."""
    X, y = rows(n_outputs)
    model = begun(name, n_outputs)
    before, (low, high) = model.predict(X), model.y_range_
    far = y[150:][np.abs(y[150:] - 5).reshape(150, -1).max(axis=1).argmax()]
    targets = model._targets_
    with pytest.warns(match=GROWS):
        model._targets_ = targets.grown(far[None])
    model._follow(targets)
    np.testing.assert_allclose(model.predict(X), before, rtol=1e-12)
    np.testing.assert_allclose(np.add(*model.y_range_), low + high, rtol=1e-12)
    assert (model.y_range_[0] <= far).all()
    assert (model.y_range_[1] >= far).all()
    assert model.y_range_[1][0] > high[0]
    np.testing.assert_array_equal(model.y_range_[1][1:], high[1:])


def test_rounds_are_as_if_begun_with_the_wider_range():
    X, y = rows()
    how = {"schedule": "constant", "step_size": 0.2, "batch_size": 1}
    model = begun("full", **how)
    with pytest.warns(match=GROWS):
        model.partial_fit(X[150:], y[150:])
    (low,), (high,) = model.y_range_
    wide = begun("full", y_range=(low, high), **how).partial_fit(X[150:], y[150:])
    np.testing.assert_allclose(model.predict(X), wide.predict(X), rtol=1e-10)
    np.testing.assert_allclose(model.regret_, wide.regret_, rtol=1e-8)
    np.testing.assert_allclose(model.regret_bound_, wide.regret_bound_, rtol=1e-10)
    alpha = model.expansion_.dual_coef
    np.testing.assert_allclose(alpha, wide.expansion_.dual_coef, rtol=1e-10, atol=1e-12)


def test_a_warning_comes_once_for_each_time_that_the_range_doubles():
    X, _ = rows()
    model = ShrinkingGradientRegressor(Gaussian(1.0), 50, random_state=0)
    model.partial_fit(X[:2], [-1.0, 1.0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for y in range(2, 17):
            model.partial_fit(X[y : y + 1], [float(y)])
    assert len(caught) == 4  # 2, 4, 8, 16
    assert model.y_range_[1] == 16


def test_targets_that_were_equal_at_first_may_differ():
    X, y = rows()
    model = ShrinkingGradientRegressor(Gaussian(1.0), 50, random_state=0)
    model.partial_fit(X[:9], np.full(9, 5.0))
    np.testing.assert_array_equal(model.predict(X), 5.0)
    with pytest.warns(match=GROWS):
        model.partial_fit(X[:150], y[:150])
    assert model.y_range_[0] <= y[:150].min() < y[:150].max() <= model.y_range_[1]


@pytest.mark.parametrize("name", LEARNERS)
def test_declared_ranges_and_bad_targets_raise_errors_that_change_nothing(name):
    X, y = rows()
    model = begun(name, y_range=(3.9, 6.1))
    before = model.predict(X)
    with pytest.raises(ValueError, match=r"outside of y_range=\(3.9, 6.1\)"):
        model.partial_fit(X[150:], y[150:])
    np.testing.assert_array_equal(model.predict(X), before)
    model = begun(name)
    before, ends = model.predict(X), model.y_range_
    for bad in ([np.nan, 9.0], [1e200, 9.0], [[9.0, 9.0]] * 2):
        with pytest.raises(ValueError, match="Remedy"):
            model.partial_fit(X[:2], bad)
    np.testing.assert_array_equal(model.y_range_, ends)
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.filterwarnings("ignore:ShrinkingGradientRegressor. targets are outside")
def test_a_stream_is_saved_in_the_middle_with_its_range(tmp_path):
    X, y = rows()
    model = begun("full").partial_fit(X[150:200], y[150:200])
    trickless.save(model, tmp_path / "model")
    again = trickless.load(tmp_path / "model")
    for each in (model, again):
        each.partial_fit(X[200:], 2 * y[200:])
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    np.testing.assert_array_equal(model.y_range_, again.y_range_)

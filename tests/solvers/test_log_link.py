"""Losses with a log link, against scikit-learn's deviances and finite differences."""

import numpy as np
import pytest
from sklearn.metrics import mean_tweedie_deviance

from trickless._errors import InvalidValueError
from trickless._solvers.log_link import LogLink
from trickless._solvers.named_losses import make_loss

POWERS = [1.0, 1.2, 1.5, 1.9, 2.0]


def problem(power, n=40, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.gamma(0.7, 3.0, size=(n, 1))
    if power < 2:
        y[::4] = 0
    return rng.normal(size=(n, 1)), y


@pytest.mark.parametrize("power", POWERS)
def test_values_are_half_of_scikit_learns_deviance(power):
    f, y = problem(power)
    values = LogLink(power).value(f, y)
    expected = mean_tweedie_deviance(y[:, 0], np.exp(f[:, 0]), power=power) / 2
    assert values.mean() == pytest.approx(expected, rel=1e-12)
    assert (values >= 0).all()
    assert LogLink(power).value(np.log(y[1:2]), y[1:2]) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("power", POWERS)
def test_slopes_and_curvatures_are_derivatives(power):
    loss, (f, y), h = LogLink(power), problem(power), 1e-6
    change = (loss.value(f + h, y) - loss.value(f - h, y)) / (2 * h)
    np.testing.assert_allclose(loss.derivative(f, y)[:, 0], change, rtol=1e-6, atol=1e-7)
    g, curvature = loss.newton(f, y)
    np.testing.assert_allclose(g, -loss.derivative(f, y))
    change = (loss.derivative(f + h, y) - loss.derivative(f - h, y)) / (2 * h)
    np.testing.assert_allclose(curvature, change, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("power", POWERS)
def test_the_third_derivative_is_bounded_by_the_curvature(power):
    loss, (f, y), h = LogLink(power), problem(power), 1e-5
    third = (loss.newton(f + h, y)[1] - loss.newton(f - h, y)[1]) / (2 * h)
    assert (np.abs(third) <= loss.bending * loss.newton(f, y)[1] * (1 + 1e-6) + 1e-9).all()


@pytest.mark.parametrize("power", POWERS)
def test_a_parabola_ends_at_the_target_or_before_it(power):
    loss, mean = LogLink(power), np.exp([[0.3]])
    f, expected = np.log(mean), mean ** (2 - power)
    np.testing.assert_allclose(loss.scoring(f, mean)[1], expected)
    y = np.array([[1e4]])  # from a mean that is far too small, at the target
    slope, curvature = loss.scoring(f, y)
    np.testing.assert_allclose(f + slope / curvature, np.log(y))
    assert curvature > expected
    slope, curvature = loss.scoring(f, 1e-3 * mean)  # the step of Fisher's scoring, down
    np.testing.assert_allclose(slope / curvature, 1e-3 - 1)
    np.testing.assert_allclose(curvature, expected)


@pytest.mark.parametrize("power", POWERS)
def test_the_constant_minimises_the_loss(power):
    loss, (_, y) = LogLink(power), problem(power)
    weight = np.arange(1.0, len(y) + 1)
    constant = loss.constant(y, weight)
    slope = weight @ loss.derivative(np.broadcast_to(constant, y.shape), y)
    np.testing.assert_allclose(slope, 0, atol=1e-9 * weight.sum())


@pytest.mark.parametrize("power", POWERS)
def test_losses_far_from_the_target_are_finite(power):
    loss, y = LogLink(power), np.array([[3.0], [1e-3], [1e6]])
    for f in (-1e4, -800.0, 800.0, 1e4):
        for values in (loss.value(y * 0 + f, y), *loss.newton(y * 0 + f, y)):
            assert np.isfinite(values).all()


def test_gamma_does_not_depend_on_the_unit():
    f, y = problem(2.0)
    loss = make_loss("gamma")
    np.testing.assert_allclose(loss.value(f + np.log(7), 7 * y), loss.value(f, y), atol=1e-12)
    np.testing.assert_allclose(loss.newton(f + np.log(7), 7 * y), loss.newton(f, y), rtol=1e-12)


def test_rates_with_exposures_as_weights_are_counts_with_offsets():
    rng = np.random.default_rng(1)
    f, exposure = rng.normal(size=(30, 1)), rng.uniform(0.1, 3, size=(30, 1))
    count = rng.poisson(exposure * np.exp(f)).astype(float)
    loss = make_loss("poisson")
    rates, counts = loss.newton(f, count / exposure), loss.newton(f + np.log(exposure), count)
    for rate, one in zip(rates, counts, strict=True):
        np.testing.assert_allclose(exposure * rate, one, rtol=1e-12)


def test_targets_that_are_all_0_have_no_logarithm():
    with pytest.raises(InvalidValueError, match=r"y is 0 in every row.*Remedy: rows with a pos"):
        make_loss("poisson").constant(np.zeros((5, 1)), None)


def test_the_curvature_along_slopes_is_at_least_the_curvature():
    loss, (f, y) = LogLink(1.0), problem(1.0)
    steep, far = loss.bend(f, y)
    assert (steep >= far * loss.newton(f, y)[1] * (1 - 1e-12)).all()
    few = np.full_like(y, -9.0)  # much too small a mean has a curvature of almost 0
    steep, far = loss.bend(few, y + 1)
    np.testing.assert_allclose(steep / far, (y + 1 - np.exp(-9)) / (9 + np.log(y + 1)))

"""The pinball loss: formulas, its parabola, and quantile regression as a linear programme."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from trickless.arrays.weighted import quantile
from trickless.solvers.least_squares.risk import minimise
from trickless.solvers.least_squares.statistics import Statistics
from trickless.solvers.losses import NEAR
from trickless.solvers.pinball import Pinball, SmoothPinball

LEVELS = np.array([0.05, 0.5, 0.8])
WIDTH = 0.4


def problem(n=40, k=3, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, k)) + 1
    y = Z @ np.arange(1.0, k + 1) + rng.standard_t(2, n)
    return Z, np.repeat(y[:, None], len(LEVELS), axis=1), rng.integers(1, 4, n).astype(float)


def solved(Z, y, weight, ridge, bound=None, tol=1e-7):
    statistics = Statistics(Z.shape[1], np.zeros(y.shape[1]))
    statistics.add(Z, y, weight)
    ridges = np.full(y.shape[1], ridge)
    return minimise(
        lambda: iter([(slice(None), Z)]),
        y,
        weight,
        Pinball.of(LEVELS),
        ridges,
        statistics.moments(),
        5000,
        tol,
        "Owner",
        bound,
    )


def risk(Z, y, weight, ridge, coef, intercept, q):
    r = y - Z @ coef - intercept
    return weight @ np.maximum(q * r, (q - 1) * r) / weight.sum() + ridge / 2 * (coef**2).sum()


def test_the_values_and_slopes_are_those_of_the_formulas():
    f, y = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]), np.array([[3.0, 0.0, 1.0], [0.1] * 3])
    loss = Pinball.of(LEVELS)
    np.testing.assert_allclose(loss.value(f, y), [0.05 * 2 + 0.5, 0.1 * LEVELS.sum()])
    np.testing.assert_allclose(loss.derivative(f, y), [[-0.05, 0.5, 0.0], -LEVELS])
    np.testing.assert_allclose(Pinball(1.0, 1.0).value(f, y), np.abs(f - y).sum(axis=1))


def test_the_smooth_loss_is_the_mean_loss_under_a_uniform_error():
    """He et al. 2023: the convolution with a uniform kernel, and its slope."""
    loss, smooth = Pinball.of(LEVELS), SmoothPinball(LEVELS, 1 - LEVELS, WIDTH)
    error = (np.arange(20_000) + 0.5) / 10_000 * WIDTH - WIDTH
    for f in (-1.0, -0.3, 0.0, 0.1, 0.39, 2.0):
        each = np.full((len(error), 3), f)
        y = np.repeat(error[:, None], 3, axis=1)
        at = np.full((1, 3), f), np.zeros((1, 3))
        np.testing.assert_allclose(smooth.value(*at)[0], loss.value(each, y).mean(), atol=1e-8)
        slope = loss.derivative(each, y).mean(axis=0)
        np.testing.assert_allclose(smooth.derivative(*at)[0], slope, atol=1e-4)
    assert smooth.curvature == pytest.approx(1 / (2 * WIDTH))


def test_the_parabola_of_a_newton_step_touches_the_loss_and_lies_above_it():
    """Hunter and Lange 2000, at all rows that are further away than the floor of the distance."""
    loss, ahead = Pinball.of(0.2), np.linspace(-5, 5, 1001)[:, None]
    for f in (-2.0, -0.5, 0.3, 1.7):
        at, zero = np.array([[f]]), np.zeros((1, 1))
        slope, curvature = loss.newton(at, zero, 1.0)
        value = loss.value(at, zero) - slope * (ahead - f) + curvature / 2 * (ahead - f) ** 2
        assert (value[:, 0] >= loss.value(ahead, np.zeros_like(ahead)) - 1e-12).all()
    assert loss.newton(np.array([[1e-9]]), zero, 3.0)[1] == pytest.approx(1 / (2 * 3 * NEAR))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_quantile_is_the_least_value_with_its_share_of_the_weight_below(weighted):
    rng = np.random.default_rng(0)
    values, weight = rng.integers(0, 9, 30).astype(float), rng.integers(1, 5, 30)
    rows = np.sort(np.repeat(values, weight if weighted else 1))
    for q in (0.05, 0.1, 0.5, 0.8, 0.99):
        least = next(v for v in rows if (rows <= v).mean() >= q - 1e-12)
        assert quantile(values, q, weight.astype(float) if weighted else None) == least


@pytest.mark.parametrize("ridge", [0.01, 1.0])
def test_the_ridge_risk_is_minimised(ridge):
    """Against a quadratic programme, in which the loss of a row is q u + (1 − q) v."""
    Z, y, weight = problem()
    found, (n, k) = solved(Z, y, weight, ridge), Z.shape
    share = weight / weight.sum()
    for i, q in enumerate(LEVELS):
        ends = {
            "type": "eq",
            "fun": lambda v: Z @ v[:k] + v[k] + v[k + 1 :][:n] - v[k + 1 + n :] - y[:, 0],
        }
        cost = np.concatenate([np.zeros(k + 1), q * share, (1 - q) * share])
        begin = np.concatenate([np.zeros(k + 1), np.maximum(y[:, 0], 0), np.maximum(-y[:, 0], 0)])
        least = minimize(
            lambda v, cost=cost: cost @ v + ridge / 2 * (v[:k] ** 2).sum(),
            begin,
            jac=lambda v, cost=cost: cost + ridge * np.r_[v[:k], np.zeros(len(v) - k)],
            constraints=ends,
            bounds=[(None, None)] * (k + 1) + [(0, None)] * (2 * n),
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-12},
        ).fun
        value = risk(Z, y[:, 0], weight, ridge, found.coef[:, i], found.intercept[i], q)
        assert value == pytest.approx(least, rel=1e-3)


def linear_programme(Z, y, weight, q, bound=None):
    n, k = Z.shape
    share = weight / weight.sum()
    cost = np.concatenate([np.zeros(k + 1), q * share, (1 - q) * share])
    equal = np.hstack([Z, np.ones((n, 1)), np.eye(n), -np.eye(n)])
    bounds = [(None if bound is None else -bound, bound)] * k + [(None, None)]
    return linprog(cost, A_eq=equal, b_eq=y, bounds=bounds + [(0, None)] * (2 * n)).fun


@pytest.mark.parametrize("bound", [None, 0.5])
def test_without_a_ridge_it_is_a_linear_programme(bound):
    """Koenker and Bassett 1978. With a bound of the coefficients, as well."""
    Z, y, weight = problem()
    found = solved(Z, y, weight, 1e-9, bound, tol=1e-4)
    assert bound is None or np.abs(found.coef).max() <= bound
    for i, q in enumerate(LEVELS):
        value = risk(Z, y[:, 0], weight, 0.0, found.coef[:, i], found.intercept[i], q)
        least = linear_programme(Z, y[:, 0], weight, q, bound)
        assert least * (1 - 1e-9) <= value <= least * 1.003


@pytest.mark.parametrize("scale", [1e-12, 1e9])
def test_the_scale_of_the_targets_changes_nothing_else(scale):
    Z, y, weight = problem()
    one, other = solved(Z, y, weight, 0.1), solved(Z, scale * y, weight, 0.1 / scale)
    np.testing.assert_allclose(other.coef, scale * one.coef, rtol=1e-3)
    np.testing.assert_allclose(other.intercept, scale * one.intercept, rtol=1e-3)


def test_the_intercept_is_the_best_for_the_coefficients():
    """So that as many rows as can be are below: exactly the quantile of what is left."""
    Z, y, weight = problem()
    found = solved(Z, y, weight, 0.1)
    left = y - Z @ found.coef - found.intercept
    for each, q in zip(left.T, LEVELS, strict=True):
        assert quantile(each, q, weight) == pytest.approx(0, abs=1e-9)

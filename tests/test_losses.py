"""Losses: derivatives against differences, links against the minimisers of the expected loss."""

import numpy as np
import pytest
from scipy.optimize import minimize

from trickless._losses import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    EpsilonInsensitive,
    Hinge,
    Logistic,
    Softmax,
    Squared,
    SquaredHinge,
    make_loss,
)

LOSSES = [Squared(), EpsilonInsensitive(0.3), Hinge(), SquaredHinge(), Logistic(), Softmax()]
SMOOTH = [Squared(), SquaredHinge(), Logistic(), Softmax()]


def targets(rng, n, outputs):
    return np.where(np.arange(outputs) == rng.integers(outputs, size=(n, 1)), 1.0, -1.0)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_derivative_is_the_slope_of_the_value(loss):
    rng = np.random.default_rng(0)
    f, y = 2 * rng.standard_normal((50, 3)), targets(rng, 50, 3)
    slope = np.empty_like(f)
    h = 1e-6
    for output in range(3):
        step = h * (np.arange(3) == output)
        slope[:, output] = (loss.value(f + step, y) - loss.value(f - step, y)) / (2 * h)
    np.testing.assert_allclose(loss.derivative(f, y), slope, atol=1e-7)


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: type(loss).__name__)
def test_curvature_bounds_the_change_of_the_derivative(loss):
    rng = np.random.default_rng(0)
    y = targets(rng, 5000, 3)
    f = rng.standard_normal((5000, 3))
    g = f + 0.01 * rng.standard_normal((5000, 3))
    change = np.linalg.norm(loss.derivative(f, y) - loss.derivative(g, y), axis=1)
    ratio = change / np.linalg.norm(f - g, axis=1)
    assert ratio.max() <= loss.curvature * (1 + 1e-9)
    assert ratio.max() > 0.7 * loss.curvature


@pytest.mark.parametrize("loss", [Squared(), SquaredHinge(), Logistic()])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.85])
def test_link_inverts_the_minimiser_for_two_classes(loss, p):
    both = np.array([[1.0], [-1.0]])
    weights = np.array([p, 1 - p])
    best = minimize(lambda f: weights @ loss.value(np.full((2, 1), f[0]), both), [0.0], tol=1e-12)
    np.testing.assert_allclose(loss.probability(best.x[None, :]), [[1 - p, p]], atol=1e-4)


def test_link_of_softmax_inverts_its_minimiser():
    p = np.array([0.2, 0.5, 0.3])
    f = np.log(p)[None, :]
    np.testing.assert_allclose(Softmax().probability(f), [p])
    y = 2 * np.eye(3) - 1
    np.testing.assert_allclose(p @ Softmax().derivative(np.repeat(f, 3, axis=0), y), 0, atol=1e-12)


@pytest.mark.parametrize("loss", [Squared(), SquaredHinge(), Logistic(), Softmax()])
def test_probabilities_are_finite_and_sum_to_one_at_extreme_decisions(loss):
    f = np.array([[800.0, -800, 0], [-900, -900, -900], [0, 0, 0]])
    p = loss.probability(f)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_values_and_derivatives_are_finite_at_extreme_decisions(loss):
    f, y = np.array([[1e4, -1e4]]), np.array([[-1.0, 1.0]])
    assert np.isfinite(loss.value(f, y)).all()
    assert np.isfinite(loss.derivative(f, y)).all()


def test_names():
    for name in (*REGRESSION_LOSSES, *CLASSIFICATION_LOSSES):
        make_loss(name)
    assert isinstance(make_loss("log_loss", 1), Logistic)
    assert isinstance(make_loss("log_loss", 3), Softmax)
    assert make_loss("epsilon_insensitive", epsilon=0.7).epsilon == 0.7
    with pytest.raises(ValueError, match="loss='huberised'"):
        make_loss("huberised")

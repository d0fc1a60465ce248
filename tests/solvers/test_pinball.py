"""The pinball loss: its formulas, its parabola, and quantiles."""

import numpy as np
import pytest

from trickless._arrays.weighted import quantile
from trickless._solvers.losses import NEAR
from trickless._solvers.pinball import Pinball

LEVELS = np.array([0.05, 0.5, 0.8])


def test_the_values_and_slopes_are_those_of_the_formulas():
    f, y = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]), np.array([[3.0, 0.0, 1.0], [0.1] * 3])
    loss = Pinball.of(LEVELS)
    np.testing.assert_allclose(loss.value(f, y), [0.05 * 2 + 0.5, 0.1 * LEVELS.sum()])
    np.testing.assert_allclose(loss.derivative(f, y), [[-0.05, 0.5, 0.0], -LEVELS])
    np.testing.assert_allclose(Pinball(1.0, 1.0).value(f, y), np.abs(f - y).sum(axis=1))


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

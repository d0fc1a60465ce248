"""Losses: derivatives against differences, and links."""

import numpy as np
import pytest
from scipy.optimize import minimize

from trickless._solvers.class_losses import (
    Hinge,
    Logistic,
    SmoothHinge,
    Softmax,
    SquaredHinge,
)
from trickless._solvers.named_losses import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    make_loss,
)
from trickless._solvers.number_losses import EpsilonInsensitive, Huber, Squared

WITH_LINK = [Logistic(), Softmax()]
SMOOTH = [Squared(), SquaredHinge(), Logistic(), Softmax(), Huber(0.3), SmoothHinge(0.5)]
LOSSES = [*SMOOTH, EpsilonInsensitive(0.3), Hinge()]

F, Y = np.array([[0.5, -2.0, 3.0], [1.0, 1.0, 1.0]]), np.array([[1.0, -1.0, -1.0], [-1, 1, -1]])


def targets(rng, n, outputs):
    return np.where(np.arange(outputs) == rng.integers(outputs, size=(n, 1)), 1.0, -1.0)


@pytest.mark.parametrize(
    ("loss", "values"),
    [
        (Squared(), [0.5 * (0.5**2 + 1 + 16), 0.5 * (4 + 0 + 4)]),
        (EpsilonInsensitive(0.3), [0.2 + 0.7 + 3.7, 1.7 + 0 + 1.7]),
        (Huber(0.7), [0.5 * 0.5**2 + 0.7 * (1 - 0.35) + 0.7 * (4 - 0.35), 2 * 0.7 * (2 - 0.35)]),
        (Hinge(), [0.5 + 0 + 4, 2 + 0 + 2]),
        (SmoothHinge(1.0), [0.5**2 / 2 + 0 + 3.5, 1.5 + 0 + 1.5]),
        (SmoothHinge(2.0), [0.5**2 / 4 + 0 + 3, 1 + 0 + 1]),
        (SquaredHinge(), [0.25 + 0 + 16, 4 + 0 + 4]),
        (Logistic(), np.log1p(np.exp([[-0.5, -2, 3], [1, -1, 1]])).sum(axis=1)),
        (Softmax(), [np.log(1 + np.exp(-2.5) + np.exp(2.5)), np.log(3)]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_are_those_of_the_formulas(loss, values):
    np.testing.assert_allclose(loss.value(F, Y), values, rtol=1e-14)


def test_what_solvers_and_learners_are_told_of_a_loss():
    with_link = {type(loss) for loss in WITH_LINK}
    assert {type(loss) for loss in LOSSES if loss.has_link} == with_link
    assert [type(loss) for loss in LOSSES if loss.piecewise_linear] == [EpsilonInsensitive]
    assert [loss.curvature for loss in (*SMOOTH, Hinge())] == [1, 2, 0.25, 0.5, 1, 2, 1]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_derivative_is_the_slope_of_the_value(loss):
    rng = np.random.default_rng(0)
    f, y = 2 * rng.standard_normal((50, 3)), targets(rng, 50, 3)
    slope = np.empty_like(f)
    h = 1e-6
    for output in range(3):
        step = h * (np.arange(3) == output)
        slope[:, output] = (loss.value(f + step, y) - loss.value(f - step, y)) / (2 * h)
    np.testing.assert_allclose(loss.derivative(f, y), slope, atol=1e-7, rtol=1e-7)


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


@pytest.mark.parametrize("p", [0.1, 0.5, 0.85])
def test_link_inverts_the_minimiser_for_two_classes(p):
    loss = Logistic()
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


@pytest.mark.parametrize("loss", WITH_LINK, ids=lambda loss: type(loss).__name__)
def test_probabilities_are_finite_and_sum_to_one_at_extreme_decisions(loss):
    f = np.array([[-0.5, -0.8, -0.9], [-9000, -9000, -9000], [0, 0, 0], [800.0, -800, 0]])
    p = loss.probability(f)
    assert np.isfinite(p).all()
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p[2] == p[2, 0]).all()
    if not isinstance(loss, Softmax):  # each class against the rest, and normalised
        positive = [loss.probability(f[:, [output]])[:, 1] for output in range(3)]
        np.testing.assert_allclose(p[0], np.array(positive)[:, 0] / np.sum(positive, axis=0)[0])


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_values_and_derivatives_are_finite_at_extreme_decisions(loss):
    f, y = np.array([[1e4, -1e4]]), np.array([[-1.0, 1.0]])
    assert np.isfinite(loss.value(f, y)).all()
    assert np.isfinite(loss.derivative(f, y)).all()


def test_names_stand_for_losses():
    names = {
        "squared_error": Squared,
        "huber": Huber,
        "epsilon_insensitive": EpsilonInsensitive,
        "hinge": Hinge,
        "squared_hinge": SquaredHinge,
        "log_loss": Logistic,
    }
    assert {*REGRESSION_LOSSES, *CLASSIFICATION_LOSSES} == set(names)
    for name, kind in names.items():
        assert type(make_loss(name)) is kind
    assert isinstance(make_loss("log_loss", 1), Logistic)
    assert isinstance(make_loss("log_loss", 3), Softmax)
    assert make_loss("log_loss", 2).probability(np.zeros((1, 2))).shape == (1, 2)
    for name in ("epsilon_insensitive", "huber"):
        assert make_loss(name, epsilon=0.7).epsilon == 0.7
    with pytest.raises(ValueError, match="loss='huberised'"):
        make_loss("huberised")

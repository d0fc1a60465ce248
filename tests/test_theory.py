"""Bounds and constants of the papers, by hand."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from trickless.theory import (
    doubly_stochastic_bound,
    kitchen_sinks_bound,
    shrinking_gradient_constants,
    shrinking_gradient_draws,
    shrinking_gradient_regret,
)


def test_constants_are_those_of_theorem_1():
    eta, m, gamma, _ = shrinking_gradient_constants(400, 1.0)
    assert eta == 1 / 40
    assert gamma == pytest.approx((17 * 400 / 40 + 1) ** 2 * 1600)  # 171² · 1600
    assert m == math.ceil(289 * 400 * math.log(171**2 * 1600))


def test_draws_of_a_round_are_those_computed_by_hand():
    """T = 400, B = 1: log 2γ is 18.5, so ‖α‖₁² is enough; B = 0.1: log 2γ / 0.32 of it."""
    assert shrinking_gradient_draws(0.0, 400, 1.0) == 1
    assert shrinking_gradient_draws(3.0, 400, 1.0) == 9
    gamma = shrinking_gradient_constants(400, 0.1).gamma
    assert shrinking_gradient_draws(3.0, 400, 0.1) == math.ceil(9 * math.log(2 * gamma) / 0.32)
    with pytest.raises(ValueError, match=r"one_norm=-1.*Remedy"):
        shrinking_gradient_draws(-1, 400, 1.0)


@pytest.mark.parametrize("norm_bound", [0.15, 0.5, 1.0, 10.0])
@pytest.mark.parametrize("horizon", [2000, 10**6])
def test_the_fixed_draws_are_enough_for_the_largest_coefficients(horizon, norm_bound):
    eta, m, _, _ = shrinking_gradient_constants(horizon, norm_bound)
    largest = (16 * norm_bound + 1) * eta * horizon
    assert shrinking_gradient_draws(largest, horizon, norm_bound) <= m


@pytest.mark.parametrize("norm_bound", [0.1, 1.0, 2.0])
@pytest.mark.parametrize("horizon", [100, 10_000])
def test_the_guarantee_is_the_regret_with_variance_1_and_wrong_shrinks(horizon, norm_bound):
    T, B = horizon, norm_bound
    eta, _, gamma, guarantee = shrinking_gradient_constants(T, B)
    wrong = T / gamma * ((16 * B + 1) * eta * T / 4 + B) ** 2 / (2 * eta * (1 - eta))
    without = shrinking_gradient_regret(T, B, eta, 1.0)
    assert guarantee == pytest.approx(without + wrong)
    assert 1.5 * B * math.sqrt(T) < guarantee
    assert guarantee <= 1.75 / (1 - eta) * B * math.sqrt(T)


def test_gamma_is_at_least_e():
    assert shrinking_gradient_constants(1, 1e-9).gamma >= math.e


@pytest.mark.parametrize("norm_bound", [0.5, 1.0, 10.0])
def test_the_horizon_that_the_error_names_suffices_and_no_shorter(norm_bound):
    enough = int(16 * norm_bound**2) + 1
    with pytest.raises(ValueError, match=f"Remedy: a horizon of at least {enough},"):
        shrinking_gradient_constants(enough - 1, norm_bound)
    assert shrinking_gradient_constants(enough, norm_bound).step_size < 1 / 8


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="horizon=0"):
        shrinking_gradient_constants(0, 1.0)
    with pytest.raises(ValueError, match="norm_bound=-1"):
        shrinking_gradient_constants(10, -1)
    with pytest.raises(TypeError, match=r"horizon=None.*Remedy"):
        shrinking_gradient_constants(None, 1.0)


def test_the_kitchen_sinks_bound_is_that_computed_by_hand():
    """L = 2, C = 3 and δ = 2 e⁻⁸: √(2 log 2/δ) = 4; a pair of bound 1/2 has S = 3 / √2."""
    delta = 2 * math.exp(-8)
    bound = kitchen_sinks_bound(100, 36, 3.0, 2.0, delta)
    assert bound.estimation == pytest.approx(6 * (1 + 4) / 10)
    assert bound.approximation == pytest.approx(6 * (1 + math.sqrt(16 - 2 * math.log(2))) / 6)
    assert bound.excess_risk == pytest.approx(2 * bound.estimation + bound.approximation)
    pair = kitchen_sinks_bound(100, 36, 3.0, 2.0, delta, width=2, bound=0.5)
    assert pair == pytest.approx([part / math.sqrt(2) for part in bound])


def test_the_bound_follows_from_three_events():
    """Both sides of the estimation with δ/2 each, and the approximation with δ: 2 δ in all."""
    n, K, C, L, delta = 50, 20, 1.5, 0.7, 0.1
    change = 2 * L * C / n  # of a mean loss, by one row
    one_side = change * math.sqrt(n * math.log(2 / delta) / 2)  # McDiarmid; Hoeffding alike
    symmetrised = 2 * L * C / math.sqrt(n)
    apart = C / math.sqrt(K) + 2 * C / K * math.sqrt(K * math.log(1 / delta) / 2)
    bound = kitchen_sinks_bound(n, K, C, L, delta)
    assert bound.excess_risk == pytest.approx(symmetrised + 2 * one_side + L * apart)


def test_the_printed_constants_cover_the_proof_unless_delta_is_tiny():
    """For L = C = 1 and c(0) = 0, (4 + √(½ log 1/δ)) / √n is printed."""
    for delta in (1e-12, 6.1e-8, 6.2e-8, 1e-6, 0.01, 0.49):
        printed = 4 + math.sqrt(math.log(1 / delta) / 2)
        proved = kitchen_sinks_bound(1, 1, 1.0, 1.0, delta).estimation
        assert (proved <= printed) == (delta >= 6.2e-8)


@pytest.mark.parametrize("delta", [0.0, 0.5, 0.9, 1, math.nan, "small"])
def test_a_delta_for_which_nothing_is_promised_is_refused(delta):
    with pytest.raises(ValueError, match=r"delta=.*below 1/2.*Remedy: delta=0.05"):
        kitchen_sinks_bound(10**6, 10**6, 1.0, 1.0, delta)


def steps_on_five_rows(slope, loss, n_steps, k, theta, alpha, runs=400):
    """Algorithm 1 on rows drawn from five, with k random signs a neuron, in many runs.

    Returns f and h at the five rows, the squared norms of h − f*, and f*. Signs are those of
    stumps, so that k(x, x') = 1 − 2 |x − x'| on [0, 1].
    """
    rng = np.random.default_rng(0)
    x, y = np.array([0.1, 0.3, 0.4, 0.7, 0.9]), np.array([1, -1, 1, 1, -1])
    K = 1 - 2 * np.abs(x[:, None] - x)
    best = minimize(lambda c: loss(K @ c, y).mean() + alpha / 2 * c @ K @ c, np.zeros(5), tol=1e-12)
    f, coef = np.zeros((2, runs, 5))
    for gamma in theta / np.arange(1, n_steps + 1):
        row = rng.integers(5, size=runs)
        cuts, each = rng.uniform(size=(runs, k, 1)), np.arange(runs)
        signs = np.where(x > cuts, 1, -1)
        g = slope(f[each, row], y[row])
        psi = (signs * np.take_along_axis(signs, row[:, None, None], axis=2)).mean(axis=1)
        f = (1 - gamma * alpha) * f - gamma * g[:, None] * psi
        coef *= 1 - gamma * alpha
        coef[each, row] -= gamma * g
    off = coef - best.x
    return f, coef @ K, np.einsum("ri,ij,rj->r", off, K, off), K @ best.x


LOGISTIC = (lambda f, y: -y * expit(-y * f), lambda f, y: np.logaddexp(0, -y * f), 0.25)
LINEAR = (lambda f, y: -y + 0 * f, lambda f, y: -y * f, 0.0)


@pytest.mark.parametrize(("slope", "loss", "smoothness"), [LOGISTIC, LINEAR])
@pytest.mark.parametrize("product", [1, 1.5, 2])
@pytest.mark.parametrize("n_steps", [1, 2, 3, 40])
def test_doubly_stochastic_steps_stay_within_their_bound(slope, loss, smoothness, product, n_steps):
    alpha, k, delta = 0.3, 2, 0.1
    theta = product / alpha
    f, h, rows, best = steps_on_five_rows(slope, loss, n_steps, k, theta, alpha)
    given = {"neurons_per_step": k, "step_size": theta}
    mean = doubly_stochastic_bound(n_steps, alpha, 1.0, smoothness, **given)
    assert ((f - h) ** 2).mean(axis=0).max() <= mean.neurons
    assert rows.mean() <= mean.rows
    assert ((f - best) ** 2).mean(axis=0).max() <= mean.distance
    assert mean.distance == pytest.approx((mean.neurons**0.5 + mean.rows**0.5) ** 2)
    likely = doubly_stochastic_bound(n_steps, alpha, 1.0, smoothness, delta=delta, **given)
    assert ((f - h) ** 2 > likely.neurons).mean(axis=0).max() <= delta
    assert (rows > likely.rows).mean() <= 2 * delta
    assert ((f - best) ** 2 > likely.distance).mean(axis=0).max() <= 3 * delta


def test_what_random_neurons_add_is_as_large_as_its_bound():
    """Rows of ±1 and a slope of ±1: each step adds its square, and the bound is their sum."""
    rng = np.random.default_rng(1)
    theta, n_steps, runs = 2.0, 20, 4000
    gamma = theta / np.arange(1, n_steps + 1)
    kept = [np.prod(1 - gamma[i + 1 :] / theta) for i in range(n_steps)]
    np.testing.assert_allclose(gamma * kept, theta / n_steps)  # |a_it| = θ / t for θα = 1
    # k(x, x') = 0: the signs of a row and of a new point are independent.
    off = rng.choice([-1.0, 1.0], (runs, n_steps)) @ (gamma * kept)
    bound = doubly_stochastic_bound(n_steps, 1 / theta, 1.0, 0.0)
    error = (off**2).std() / math.sqrt(runs)
    assert abs((off**2).mean() - bound.neurons) < 5 * error
    assert error < 0.05 * bound.neurons


def test_the_doubly_stochastic_bound_is_that_computed_by_hand():
    """α = ½, so θ = 2; M = 3, L = ¼ and ‖ψ‖² ≤ 4 in 16 neurons: σ = 3, and Q² = 12 Q + 576."""
    bound = doubly_stochastic_bound(9, 0.5, 3.0, 0.25, neurons_per_step=16, bound=2.0)
    Q = 6 + math.sqrt(36 + 576)
    assert bound.neurons == pytest.approx(36 / 9)
    assert bound.rows == pytest.approx(4 * Q**2 / 9)
    assert bound.excess_risk == pytest.approx(3 * (6 + 2 * Q) / 3)
    assert bound.norm == 12
    assert doubly_stochastic_bound(9, 0.5, 3.0, 0.25, risk_of_zero=4.0).norm == 4


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"delta": 0.4}, "delta=0.4.*below 1/3"),
        ({"step_size": 1.0}, "step_size=1.0.*from 1 / alpha = 2 to 2 / alpha = 4"),
        ({"risk_of_zero": -1.0}, "risk_of_zero=-1.0"),
        ({"batch_size": 0}, "batch_size=0"),
    ],
)
def test_what_the_doubly_stochastic_bound_does_not_cover_is_refused(wrong, said):
    with pytest.raises(ValueError, match=f"{said}.*Remedy"):
        doubly_stochastic_bound(9, 0.5, 1.0, 0.25, **wrong)

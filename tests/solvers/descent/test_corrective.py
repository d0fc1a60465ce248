"""The corrective solve: conjugate gradients against a dense solve, and when it is accepted."""

import numpy as np
import pytest

from cases import inputs
from trickless import DoublyStochasticRegressor
from trickless.neurons import Trees
from trickless.solvers.descent import corrective, passes
from trickless.solvers.descent.corrective import LAMBDAS, Correction, _paths, solve

N, P, K = 200, 40, 2


class Dense:
    """A system with the matrix A, as (8, 5, K) coefficients."""

    def __init__(self, A, g, h):
        self.A, self.h, self.curvature = A, h, h.mean(axis=0)
        self.start = (A.T @ g).reshape(8, 5, K)

    def normal(self, coef):
        return (self.A.T @ (self.h * (self.A @ coef.reshape(P, K)))).reshape(8, 5, K)

    def times(self, coef):
        return [self.A @ coef.reshape(P, K)]


def problem():
    rng = np.random.default_rng(0)
    A = (rng.random((N, P)) < 0.1).astype(float)
    return Dense(A, rng.standard_normal((N, K)), rng.random((N, K)) + 0.5)


@pytest.mark.parametrize("ridge", LAMBDAS)
def test_conjugate_gradients_solve_the_system(ridge):
    system = problem()
    got = solve(system, Correction(ridge, 60)).reshape(P, K)
    for k in range(K):
        matrix = system.A.T @ (system.h[:, k, None] * system.A)
        matrix += ridge * system.curvature[k] * np.eye(P)
        expected = np.linalg.solve(matrix, system.start.reshape(P, K)[:, k])
        np.testing.assert_allclose(got[:, k], expected, atol=1e-7)


def test_all_lambdas_follow_from_one_sequence_of_products():
    system, other = problem(), Dense(np.eye(P)[:30], np.zeros((30, K)), np.ones((30, K)))
    for iteration, moved in zip(range(1, 7), _paths(system, other), strict=False):
        for i, ridge in enumerate(LAMBDAS):
            alone = other.times(solve(system, Correction(ridge, iteration)))[0]
            np.testing.assert_allclose(moved[i], alone, atol=1e-9)


def fit(noise, monkeypatch, n=3000, **options):
    found = []

    def choose(judged, options):
        found.append(corrective.choose(judged, options))
        return found[-1]

    monkeypatch.setattr(passes, "choose", choose)
    X = inputs(2 * n, 4)
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    y = f + noise * np.random.default_rng(0).standard_normal(2 * n)
    model = DoublyStochasticRegressor(
        Trees(5, leaves="constant"), 200, random_state=0, **options
    ).fit(X[:n], y[:n])
    return found, model, np.mean((f[n:] - model.predict(X[n:])) ** 2)


def test_the_solve_is_accepted_where_noise_is_low_and_makes_the_fit_better(monkeypatch):
    (found,), _, solved = fit(0.01, monkeypatch)
    assert found is not None
    assert found.ridge in LAMBDAS
    monkeypatch.setattr(corrective, "_ERRORS", np.inf)
    (found,), _, boosted = fit(0.01, monkeypatch)
    assert found is None
    assert solved < 0.95 * boosted


def test_the_solve_is_not_accepted_where_noise_is_high(monkeypatch):
    (found,), *_ = fit(3.0, monkeypatch)
    assert found is None


def test_the_solve_needs_steps_without_decay(monkeypatch):
    (found,), *_ = fit(0.01, monkeypatch, n=1500, alpha=0.01)
    assert found is None


def test_leaves_that_are_found_again_give_the_same_bits(monkeypatch):
    _, expected, _ = fit(0.01, monkeypatch, n=1500)
    monkeypatch.setattr(corrective, "_KEPT", 0)
    _, model, _ = fit(0.01, monkeypatch, n=1500)
    np.testing.assert_array_equal(model.neuron_coef_, expected.neuron_coef_)

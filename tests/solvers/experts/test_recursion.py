"""Recursive least squares in blocks, against updates row by row."""

import numpy as np
import pytest

from trickless._solvers.experts.recursion import MOST_PENDING, Recursion


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 5))
    return Z, Z @ rng.normal(size=(5, 2)) + rng.normal(size=(n, 2)), rng.uniform(0.5, 2, n)


def one_by_one(Z, Y, times, weight, rate, ridge):
    """Recursive least squares (Haykin, Table 10.1), with the ridge of the first row fading."""
    P, beta, then, predictions = np.eye(Z.shape[1]) / ridge, np.zeros((5, 2)), 0.0, []
    for z, y, t, w in zip(Z, Y, times, weight, strict=True):
        P, then = P * 2 ** (rate * (t - then)), t
        spread = 1 + z @ P @ z
        gain = P @ z / (1 / w + z @ P @ z)
        predictions.append([*(z @ beta), spread])
        beta = beta + np.outer(gain, y - z @ beta)
        P = P - np.outer(gain, z @ P)
    return np.array(predictions)


@pytest.mark.parametrize("size", [1, 7, MOST_PENDING])
def test_a_block_gives_the_predictions_of_recursive_least_squares(size):
    Z, Y, weight = rows(MOST_PENDING)
    times = np.cumsum(np.random.default_rng(1).uniform(0, 1, len(Z)))
    rates, ridges = np.array([0.2, 0.0]), np.array([[0.1, 2.0], [0.3, 5.0]])
    machines = Recursion.of_no_rows(rates, ridges, 5, 2, intercept=False)
    parts = []
    for start in range(0, len(Z), size):
        part = slice(start, start + size)
        parts.append(machines.learn(Z[part], Y[part], times[part], weight[part]))
    mean = np.concatenate([part.mean for part in parts], axis=1)
    spread = np.concatenate([part.spread for part in parts], axis=1)
    for machine in range(4):
        expected = one_by_one(
            Z, Y, times, weight, rates[machine // 2], ridges[machine // 2, machine % 2]
        )
        np.testing.assert_allclose(mean[machine], expected[:, :2], rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(spread[machine], expected[:, 2], rtol=1e-8)


def test_a_fold_is_the_solution_with_faded_weights():
    Z, Y, weight = rows(150)
    times, rate, ridge = np.arange(150.0), 0.05, 0.7
    machines = Recursion.of_no_rows(np.array([rate]), np.array([[ridge]]), 5, 2, intercept=True)
    folded = 0.0
    for start in range(0, 150, 50):
        part = slice(start, start + 50)
        machines.learn(Z[part], Y[part], times[part] - folded, weight[part])
        machines.fold(times[part][-1] - folded, np.array([[ridge]]))
        folded = times[part][-1]
    W = weight * 2 ** (-rate * (folded - times))
    Z1 = np.column_stack([Z, np.ones(150)])
    M = (Z1.T * W) @ Z1 + np.diag([ridge] * 5 + [1e-4])
    np.testing.assert_allclose(machines.coef[0], np.linalg.solve(M, (Z1.T * W) @ Y), rtol=1e-9)
    ahead = machines.ahead(Z, 0.0)
    square = np.einsum("ij,jk,ik->i", Z1, np.linalg.inv(M), Z1)
    np.testing.assert_allclose(ahead.spread[0], 1 + square, rtol=1e-9)


def test_a_fork_leaves_the_original_unchanged():
    Z, Y, weight = rows(30)
    machines = Recursion.of_no_rows(np.array([0.1]), np.array([[1.0]]), 5, 2, intercept=True)
    machines.learn(Z[:10], Y[:10], np.arange(10.0), weight[:10])
    before = machines.ahead(Z, 10.0).mean
    others = [machines.fork(), machines.fork()]
    for other in others:
        other.learn(Z[10:], Y[10:], np.arange(10.0, 30.0), weight[10:])
    np.testing.assert_array_equal(machines.ahead(Z, 10.0).mean, before)
    np.testing.assert_array_equal(*(other.ahead(Z, 30.0).mean for other in others))

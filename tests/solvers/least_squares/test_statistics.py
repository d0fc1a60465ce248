"""Sums over rows, against the same sums written out in a few lines."""

from copy import deepcopy

import numpy as np
import pytest

from trickless._solvers.least_squares.statistics import (
    ROUNDED_FROM,
    Statistics,
    least_ridge,
)

N_COLUMNS, N_OUTPUTS = 6, 2


def problem(n, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, N_COLUMNS)) + 1
    return Z, rng.standard_normal((n, N_OUTPUTS)) - 30, rng.integers(1, 4, n).astype(float)


def summed(Z, y, weight, origin=0.0):
    statistics = Statistics(N_COLUMNS, np.full(N_OUTPUTS, origin))
    statistics.add(Z.copy(), y, weight)
    return statistics


def written_out(Z, y, weight, origin=0.0):
    weight = np.ones(len(Z)) if weight is None else weight
    y, W = y - origin, weight[:, None]
    return {
        "gram": Z.T @ (W * Z),
        "cross": Z.T @ (W * y),
        "z_sum": weight @ Z,
        "y_sum": weight @ y,
        "y_square": weight @ y**2,
        "n_rows": np.count_nonzero(weight),
        "weight": weight.sum(),
        "weight_square": (weight**2).sum(),
    }


def assert_sums(statistics, expected):
    for name, value in expected.items():
        np.testing.assert_allclose(getattr(statistics, name), value, rtol=1e-10, err_msg=name)


@pytest.mark.parametrize("n", [3, 40])  # rows are kept, or multiplied
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("origin", [0.0, -30.0])
def test_sums_are_those_written_out(n, weighted, origin):
    Z, y, weight = problem(n)
    weight = weight if weighted else None
    assert_sums(summed(Z, y, weight, origin), written_out(Z, y, weight, origin))


def test_rows_are_kept_while_they_are_no_more_than_columns():
    Z, y, _ = problem(N_COLUMNS + 1)
    statistics = summed(Z[:N_COLUMNS], y[:N_COLUMNS], None)
    assert statistics.n_kept == N_COLUMNS
    statistics.add(Z[N_COLUMNS:], y[N_COLUMNS:])
    assert statistics.kept is None
    assert_sums(statistics, written_out(Z, y, None))


def test_a_row_of_weight_0_adds_nothing():
    Z, y, weight = problem(20)
    weight[::2] = 0
    assert_sums(summed(Z, y, weight), written_out(Z[1::2], y[1::2], weight[1::2]))


@pytest.mark.parametrize("n", [(3, 2), (3, 40), (40, 3), (40, 40)])
@pytest.mark.parametrize("join", [False, True])
def test_two_sums_with_other_origins_add_up(n, join):
    (Z, y, weight), (Z2, y2, weight2) = problem(n[0]), problem(n[1], seed=1)
    here, there = summed(Z, y, weight, -30.0), summed(Z2, y2, weight2, 7.0)
    before = deepcopy(here if join else there)
    if join:
        there = summed(Z2, y2, weight2, -30.0)
        total = here.joined(there)
    else:
        here.merge(there)
        total = here
    both = np.concatenate([Z, Z2]), np.concatenate([y, y2]), np.concatenate([weight, weight2])
    assert_sums(total, written_out(*both, -30.0))
    unchanged = here if join else there
    assert vars(unchanged).keys() == vars(before).keys()
    np.testing.assert_array_equal(unchanged.cross, before.cross)
    np.testing.assert_array_equal(unchanged.gram, before.gram)


@pytest.mark.parametrize("n", [4, 40])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_moments_are_those_written_out(n, fit_intercept):
    Z, y, weight = problem(n)
    moments = summed(Z, y, weight, -30.0).moments(fit_intercept)
    share = weight / weight.sum()
    z_mean, y_mean = (share @ Z, share @ y) if fit_intercept else (0 * Z[0], 0 * y[0])
    np.testing.assert_allclose(moments.z_mean, z_mean, rtol=1e-12)
    np.testing.assert_allclose(moments.y_mean, y_mean, rtol=1e-12, atol=1e-12)
    centred, targets = Z - z_mean, y - y_mean
    expected = centred.T @ (share[:, None] * centred)
    np.testing.assert_allclose(moments.covariance, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        moments.cross, centred.T @ (share[:, None] * targets), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(moments.y_variance, share @ targets**2, rtol=1e-9)
    assert moments.mean_square == pytest.approx(share @ (Z**2).sum(axis=1))
    assert moments.n == pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    assert moments.n_constants == fit_intercept
    assert moments.weights_differ


def test_the_effective_number_of_rows_of_equal_weights_is_their_number():
    Z, y, _ = problem(10)
    assert summed(Z, y, np.full(10, 0.1)).n_effective == 10
    assert summed(Z, y, np.array([1.0] + 9 * [1e-9])).n_effective == pytest.approx(1)


def test_many_rows_are_multiplied_in_single_precision_for_a_large_ridge():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((ROUNDED_FROM, N_COLUMNS)).astype("float32")
    y = rng.standard_normal((ROUNDED_FROM, N_OUTPUTS))
    for least, rounded in ((least_ridge(len(Z), 1.0), True), (least_ridge(9, 1.0), False)):
        statistics = Statistics(N_COLUMNS, np.zeros(N_OUTPUTS))
        statistics.add(Z.copy(), y, None, least)
        assert (statistics.rounded > 0) == rounded
        expected = Z.T.astype(float) @ Z.astype(float)
        scale = np.abs(expected).max()
        assert np.abs(statistics.gram - expected).max() < (1e-6 if rounded else 1e-12) * scale

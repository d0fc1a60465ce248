"""Means and variances of values that are clipped by the same means and variances."""

import numpy as np
import pytest

from trickless._solvers.moments import FAR, ColumnMoments

RNG = np.random.default_rng
HALF_LIFE = 500.0


def by_rows(x, size, half_life=HALF_LIFE):
    """Moments of one column after blocks of some size, as they forget."""
    moments = ColumnMoments.none(1)
    for start in range(0, len(x), size):
        block = x[start : start + size, None]
        weight = 0.5 ** (np.arange(len(block) - 1, -1, -1) / half_life)
        moments = moments.after(block, weight, 0.5 ** (len(block) / half_life))
    return moments


def test_moments_are_those_of_the_values_that_they_clip():
    rng = RNG(0)
    X, weight = (
        rng.standard_t(2, (1000, 3)) * [1.0, 100.0, 1e-3] + [0.0, 1e4, 1.0],
        rng.random(1000),
    )
    X[rng.random(X.shape) < 0.1] = np.nan
    X[::100, 0], X[7, 1] = 1e9, -1e12
    found = ColumnMoments.none(3).after(X, weight)
    reach = FAR * np.sqrt(found.var)
    for j, column in enumerate(np.clip(X, found.mean - reach, found.mean + reach).T):
        there = ~np.isnan(column)
        mean = np.average(column[there], weights=weight[there])
        var = np.average((column[there] - mean) ** 2, weights=weight[there])
        np.testing.assert_allclose([found.mean[j], found.var[j]], [mean, var], rtol=1e-9)


@pytest.mark.parametrize(("size", "every"), [(1, 100), (64, 200), (5000, 100)])
def test_outliers_move_the_deviation_as_little_as_the_equation_says(size, every):
    x = RNG(1).normal(size=5000)
    clean = by_rows(x, size)
    x[every - 1 :: every] = 1e9
    found, share = by_rows(x, size), 1 / every
    expected = np.sqrt((1 - share) / (1 - FAR**2 * share))
    # Outliers come regularly, so their share of the weight is 1/every up to one of them.
    rounded = FAR**2 * np.log(2) / HALF_LIFE
    assert found.scale / clean.scale == pytest.approx(expected, rel=rounded)


@pytest.mark.parametrize("size", [1, 64])
@pytest.mark.parametrize("factor", [1e-3, 10.0, 1e6])
def test_a_change_of_scale_is_followed(size, factor):
    x = RNG(2).normal(size=2000 + 3 * 500)
    x[2000:] *= factor
    part = by_rows(x, size).scale / factor
    # All rows since the change have 7/8 of the weight after 3 half-lives, and the others 1/8.
    expected = np.sqrt(7 / 8 + factor**-2 / 8)
    # A fifth of a half-life may have been clipped. Of 721 effective rows, an error is 1/sqrt(1442).
    assert part == pytest.approx(expected, rel=0.2 * np.log(2) / 2 + 4 / np.sqrt(1442))


@pytest.mark.parametrize("size", [1, 64, 4000])
@pytest.mark.parametrize("rate", [0.003, 0.01])
def test_a_rare_event_is_no_outlier(size, rate):
    """Where all other values are equal, moments are those of all values."""
    x = (RNG(3).random(4000) < rate).astype(float)
    x[:500] = 0.0
    found, weight = by_rows(x, size), 0.5 ** (np.arange(3999, -1, -1) / HALF_LIFE)
    mean = np.average(x, weights=weight)
    np.testing.assert_allclose([found.mean[0], found.var[0]], [mean, mean - mean**2], rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_the_first_rows_count_in_full(dtype):
    x = np.array([1, 2, 3, 1, 2, 1000], dtype)
    found = ColumnMoments.none(1).after(x[:5, None]).after(x[5:, None])
    np.testing.assert_allclose([found.mean[0], found.var[0]], [x.mean(), x.var()], rtol=1e-6)

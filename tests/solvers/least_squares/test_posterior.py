"""The posterior from a matrix of few rows, against the one from the matrix of columns."""

from copy import copy

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from trickless._solvers.least_squares.certainty import Certainty
from trickless._solvers.least_squares.paths import Left
from trickless._solvers.least_squares.posterior import OfColumns, OfRows, posterior_at
from trickless._solvers.least_squares.statistics import Statistics

N_ROWS, N_COLUMNS = 30, 80
EPS = np.finfo(float).eps
CASES = [(False, False), (False, True), (True, False), (True, True)]


def moments_of(fit_intercept, weighted, n_rows=N_ROWS):
    """Moments of rows that nearly depend on each other, two of which are equal."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n_rows, N_COLUMNS)) * 10.0 ** -np.linspace(0, 4, N_COLUMNS) + 0.3
    Z[1] = Z[0]
    weight = rng.uniform(0.1, 2, n_rows) if weighted else None
    if weighted:
        weight[-1] = 0.0
    statistics = Statistics(N_COLUMNS, np.zeros(2))
    statistics.add(Z.copy(), rng.standard_normal((n_rows, 2)), weight)
    return statistics.moments(fit_intercept), Z


def both(fit_intercept, weighted, ridge):
    """Return the posterior of few rows, that of columns, the rows, and rounding errors' size.

    A Cholesky factor of A + ρ is accurate up to its condition number times the precision.
    """
    moments, Z = moments_of(fit_intercept, weighted)
    ridge = ridge * moments.mean_square
    found, columns = posterior_at(moments, ridge), copy(moments)
    assert isinstance(found, OfRows)
    columns.covariance, columns.rows, columns.posteriors = moments.covariance, None, {}
    error = 10 * EPS * (1 + moments.mean_square / ridge)
    return found, OfColumns(columns, ridge), Z, error, moments


@pytest.mark.parametrize("ridge", [1.0, 1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize(("fit_intercept", "weighted"), CASES)
def test_few_rows_give_the_same_posterior(fit_intercept, weighted, ridge):
    found, expected, Z, error, moments = both(fit_intercept, weighted, ridge)
    new = np.random.default_rng(1).standard_normal((9, N_COLUMNS)) + 0.3
    rows = np.concatenate([Z, new, new * 1e-3, moments.z_mean[None]]).astype(np.float32)
    squares = expected.squares(rows)
    np.testing.assert_allclose(found.squares(rows), squares, rtol=error, atol=1e-300)
    np.testing.assert_allclose(found.variance(rows), expected.variance(rows), rtol=error)
    of_found, of_expected = (
        posterior.along(rows) @ posterior.along(rows).T for posterior in (found, expected)
    )
    scale = np.sqrt(np.outer(squares, squares))
    assert (np.abs(of_found - of_expected) <= error * scale + 1e-300).all()
    assert found.freedom() == pytest.approx(expected.freedom(), rel=error, abs=1e-13)
    assert found.log_widths() == pytest.approx(expected.log_widths(), rel=error)
    known = [Left(Z[:-1], None, None, None)]
    share = moments.share[:-1]
    for mine, other in zip(
        found.influence((), moments.share)(rows),
        expected.influence(known, share)(rows),
        strict=True,
    ):
        mine = mine[:, :-1] if mine.ndim == 2 else mine
        np.testing.assert_allclose(mine, other, rtol=error, atol=error * np.abs(other).max())
    left = 1 - share * (moments.n_constants + expected.squares(Z[:-1]))
    np.testing.assert_allclose(found.left(moments.share)[:-1], left, atol=error)


def test_deviations_of_rows_in_the_span_are_not_negative():
    """Without noise, all but rounding errors cancel."""
    found, _, Z, _, _ = both(True, False, 1e-13)
    assert (found.variance(Z) > 0).all()
    assert (found.squares(Z) > 0).all()


@pytest.mark.parametrize("ridge", [1e-1, 1e-4])
@pytest.mark.parametrize(("fit_intercept", "weighted"), CASES)
def test_samples_of_few_rows_have_the_covariance(fit_intercept, weighted, ridge):
    found, expected, Z, _, _ = both(fit_intercept, weighted, ridge)
    new = np.random.default_rng(1).standard_normal((5, N_COLUMNS))
    rows, n = np.concatenate([Z[:4], new]), 20_000
    normal = np.random.default_rng(2).standard_normal((found.n_normal, n))
    samples = (rows - found.mean) @ found.drawn(normal)
    covariance = expected.along(rows) @ expected.along(rows).T
    deviation = np.sqrt(np.diag(covariance))
    assert (np.abs(samples.mean(axis=1)) < 5 * deviation / np.sqrt(n)).all()
    # The variance of a sample covariance is (c_ij² + c_ii c_jj) / n.
    error = np.sqrt((covariance**2 + np.outer(deviation, deviation) ** 2) / n)
    assert (np.abs(samples @ samples.T / n - covariance) < 5 * error).all()


def test_what_is_kept_has_the_same_posterior():
    moments, Z = moments_of(True, True)
    kept = Certainty.of(moments, np.ones(2)).moments(moments.share)
    found, expected = (posterior_at(each, 1e-3) for each in (kept, moments))
    np.testing.assert_array_equal(found.variance(Z), expected.variance(Z))
    assert found.freedom() == expected.freedom()


def test_a_posterior_is_computed_once():
    moments, _ = moments_of(True, False)
    assert posterior_at(moments, 0.1) is posterior_at(moments.of_output(1), 0.1)
    assert posterior_at(moments, 0.2) is not posterior_at(moments, 0.1)


def test_few_rows_without_a_ridge_have_none():
    with pytest.raises(LinAlgError):
        posterior_at(moments_of(True, False)[0], 0.0)

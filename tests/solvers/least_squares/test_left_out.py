"""Leave-one-out, against fits without the row."""

import numpy as np
import pytest

import naive
from trickless._solvers.least_squares.left_out import leave_out
from trickless._solvers.least_squares.paths import _NUMBERS, Left, Path
from trickless._solvers.least_squares.ridge import solve_by_left_out
from trickless._solvers.least_squares.statistics import Statistics


def problem(n, k=12, outputs=2):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, k)) + 1
    Y = Z[:, :1] + rng.standard_normal((n, outputs)) + 5
    return Z, Y, 10 ** rng.uniform(-2, 0, n)


def moments_of(Z, Y, weight, fit_intercept=True):
    statistics = Statistics(Z.shape[1], Y.mean(axis=0))
    statistics.add(Z.copy(), Y, weight)
    return statistics.moments(fit_intercept)


def without(i, Z, Y, weight, ridge):
    """Decision values at a row of the solution without it; the penalty stays that of all rows."""
    rest = np.arange(len(Z)) != i
    grown = ridge * weight.sum() / weight[rest].sum()
    coef, intercept = naive.ridge(Z[rest], Y[rest], weight[rest], grown)
    return Z[i] @ coef + intercept


@pytest.mark.parametrize("n", [10, 50])  # fewer rows than columns, which are kept, and more
def test_rows_left_out_are_those_of_fits_without_them(n):
    Z, Y, weight = problem(n)
    share = weight / weight.sum()
    rows = Left(Z, Y, np.ones(n), share)
    solution = solve_by_left_out(moments_of(Z, Y, weight), [rows])
    found = leave_out(moments_of(Z, Y, weight), solution, [rows])
    assert (moments_of(Z, Y, weight).rows is None) == (n > 12)
    np.testing.assert_allclose(found.targets, Y, rtol=1e-12)
    np.testing.assert_allclose(found.weight, share, rtol=1e-12)
    for output, ridge in enumerate(solution.ridge):
        expected = [without(i, Z, Y, weight, ridge)[output] for i in range(n)]
        np.testing.assert_allclose(found.decisions[:, output], expected, rtol=1e-8)
        score = share @ (Y[:, output] - expected) ** 2
        which = list(solution.grid).index(ridge)
        assert solution.scores[output][which] == pytest.approx(score, rel=1e-8)
        errors = Y[:, output] - found.decisions[:, output]
        noise = share @ (found.left[:, output] * errors**2)
        assert found.noise_variance()[output] == pytest.approx(noise)


@pytest.mark.parametrize("n", [12, 60])  # fewer rows than columns, which are kept, and more
def test_outputs_may_share_the_ridge_with_the_least_sum_of_errors(n):
    rng = np.random.default_rng(0)
    Z, weight = rng.standard_normal((n, 20)), np.ones(n)
    Y = np.where(np.arange(n)[:, None] % 4 == np.arange(4), 1.0, -1.0)
    Z[:, 0] += 5 * Y[:, 0]  # the first output is easy
    rows = Left(Z, Y, weight, weight / n)
    apart = solve_by_left_out(moments_of(Z, Y, weight), [rows])
    found = solve_by_left_out(moments_of(Z, Y, weight), [rows], shared=True)
    assert len(set(apart.ridge)) > 1 == len(set(found.ridge))
    np.testing.assert_allclose(found.scores, apart.scores)
    ridge = found.ridge[0]
    errors = [Y[i] - without(i, Z, Y, weight, ridge) for i in range(n)]
    which = list(found.grid).index(ridge)
    assert found.scores.sum(axis=0)[which] == pytest.approx(np.square(errors).sum() / n)
    coef, intercept = naive.ridge(Z, Y, weight, ridge)
    np.testing.assert_allclose(Z @ found.coef + found.intercept, Z @ coef + intercept)


@pytest.mark.parametrize("n", [10, 50])
def test_copies_are_left_out_one_by_one(n):
    Z, Y, weight = problem(n)
    copies = np.arange(n) % 3 + 1
    repeat = np.repeat(np.arange(n), copies)
    moments = moments_of(Z[repeat], Y[repeat], weight[repeat])
    total = weight[repeat].sum()
    each = Left(Z[repeat], Y[repeat], np.ones(len(repeat)), weight[repeat] / total)
    counted = Left(Z, Y, copies, weight / total)
    if moments.rows is None:
        a, b = (solve_by_left_out(moments, [rows]).scores for rows in (each, counted))
        np.testing.assert_allclose(a, b, rtol=1e-10)
        solution = solve_by_left_out(moments, [each])
        moments = moments_of(Z[repeat], Y[repeat], weight[repeat])
        a, b = (leave_out(moments, solution, [rows]) for rows in (each, counted))
        np.testing.assert_allclose(a.decisions, b.decisions[repeat], rtol=1e-10)
        np.testing.assert_allclose(a.weight, (b.weight / copies)[repeat], rtol=1e-10)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_noise_is_found_under_any_weights(fit_intercept):
    """To 4 standard errors of 400 draws of noise of variance 4, with weights over two decades."""
    rng = np.random.default_rng(0)
    Z, _, weight = problem(60)
    found = []
    for _ in range(400):
        Y = Z @ np.ones((12, 1)) + 2 * rng.standard_normal((60, 1))
        moments = moments_of(Z, Y, weight, fit_intercept)
        rows = Left(Z, Y, np.ones(60), weight / weight.sum())
        solution = solve_by_left_out(moments, [rows])._replace(ridge=np.array([1e-9]))
        moments = moments_of(Z, Y, weight, fit_intercept)
        root = np.sqrt(weight)[:, None]
        design = np.hstack([Z, np.ones((60, 1))]) if fit_intercept else Z
        coef = np.linalg.lstsq(root * design, root * Y)[0]
        solution = solution._replace(
            coef=coef[:12], intercept=coef[12:].ravel() if fit_intercept else np.zeros(1)
        )
        found.append(leave_out(moments, solution, [rows]).noise_variance()[0])
    assert abs(np.mean(found) - 4) < 4 * np.std(found) / 20


def test_a_row_that_alone_tells_its_value_has_the_mean():
    Z, Y, weight = np.eye(2), np.array([[1.0], [3.0]]), np.ones(2)
    moments = moments_of(Z[:1], Y[:1], weight[:1])
    solution = solve_by_left_out(moments, [Left(Z[:1], Y[:1], np.ones(1), np.ones(1))])
    moments = moments_of(Z[:1], Y[:1], weight[:1])
    found = leave_out(moments, solution, [])
    np.testing.assert_allclose(found.decisions, [[1.0]])


def test_many_outputs_are_left_out_some_rows_at_a_time():
    Z, Y, weight = problem(100, outputs=900)
    path, share = Path(moments_of(Z, Y, weight)), weight / weight.sum()
    found = list(path.left_out([Left(Z, Y, np.ones(100), share)]))
    assert len(found) > 1
    assert max(each.decisions.size for each in found) <= _NUMBERS
    np.testing.assert_array_equal(np.concatenate([each.targets for each in found]), Y)
    alone = path.left_out([Left(Z[[97]], Y[[97]], np.ones(1), share[[97]])])
    last = np.concatenate([each.decisions for each in found])[97]
    np.testing.assert_allclose(last, next(alone).decisions[0], rtol=1e-9)

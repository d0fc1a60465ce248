"""Statistics and ridge regression, against the problem written out."""

from copy import deepcopy
from dataclasses import fields

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import naive
from trickless._solvers.least_squares.gram import FLOOR
from trickless._solvers.least_squares.paths import LOWEST, Left, Path
from trickless._solvers.least_squares.ridge import (
    at_rounding_of_single,
    solve,
    solve_by_left_out,
    solve_within,
    wants_less,
)
from trickless._solvers.least_squares.statistics import Moments, Statistics


def problem(n=80, k=12, outputs=2, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, k)) + 3
    Y = Z @ rng.standard_normal((k, outputs)) + 2 * rng.standard_normal((n, outputs)) - 50
    return Z, Y, rng.integers(1, 4, n).astype(float)


def statistics(Z, Y, weight=None, parts=1, origin=None):
    s = Statistics(Z.shape[1], np.zeros(Y.shape[1]) if origin is None else origin)
    for rows in np.array_split(np.arange(len(Z)), parts):
        s.add(Z[rows], Y[rows], None if weight is None else weight[rows])
    return s


def assert_same(a, b):
    """Of moments, one by one."""
    for name in {field.name for field in fields(Moments)} - {"rows", "share"} | {"covariance"}:
        x, y = np.asarray(getattr(a, name)), np.asarray(getattr(b, name))
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-12 * np.abs(y).max(), err_msg=name)


@pytest.mark.parametrize("ridge", [1e-3, 1.0, 100.0])
def test_solution_is_that_of_the_problem_written_out(ridge):
    Z, Y, weight = problem()
    solution = solve(statistics(Z, Y, weight).moments(), ridge)
    coef, intercept = naive.ridge(Z, Y, weight, ridge)
    np.testing.assert_allclose(solution.coef, coef, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(solution.intercept, intercept, rtol=1e-8)


def by_left_out(Z, Y, weight=None, **how):
    """The solution that rows which are left out choose: all rows."""
    n = len(Z)
    weight = np.ones(n) if weight is None else weight
    rows = [Left(Z, Y, np.ones(n), weight / weight.sum())]
    return solve_by_left_out(statistics(Z.copy(), Y, weight).moments(), rows, **how)


@pytest.mark.parametrize("shape", [(80, 12), (15, 40)])
def test_left_out_rows_choose_the_ridge_and_it_is_solved_there(shape):
    Z, Y, weight = problem(*shape)
    solution = by_left_out(Z, Y, weight)
    for output, ridge in enumerate(solution.ridge):
        squares = np.stack(
            [naive.left_out_errors(Z, Y[:, output], weight, r) ** 2 for r in solution.grid], axis=1
        )
        expected = weight @ squares / weight.sum()
        np.testing.assert_allclose(solution.scores[output], expected, rtol=1e-4)
        assert ridge == solution.grid[naive.chosen(squares, weight)]
        coef, intercept = naive.ridge(Z, Y[:, [output]], weight, ridge)
        np.testing.assert_allclose(solution.coef[:, [output]], coef, rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(solution.intercept[output], intercept[0], rtol=1e-6)


def test_a_sample_of_the_rows_chooses_as_all_rows_do():
    """Means of squares over a sample, to 5 standard errors."""
    Z, Y, _ = problem(4000, 50, 1)
    moments, some = statistics(Z, Y).moments(), np.random.default_rng(0).choice(4000, 500, False)
    path = Path(moments)
    share = np.full(4000, 1 / 4000)
    whole, part = (
        next(path.left_out([Left(Z[rows], Y[rows], np.ones(len(rows)), share[rows])]))
        for rows in (np.arange(4000), some)
    )
    squares, of_part = ((y[:, :, None] - f)[:, 0] ** 2 for y, f, _ in (whole, part))
    error = of_part.std(axis=0) / 500**0.5
    assert (np.abs(of_part.mean(axis=0) - squares.mean(axis=0)) < 5 * error).all()
    np.testing.assert_array_equal(of_part, squares[some])


def test_noise_that_grows_with_leverage_is_not_followed():
    """The error of f beside that at the best ridge of the grid, where y's noise is |z| times."""
    ratios = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        Z = rng.standard_normal((400, 200)) * np.exp(0.7 * rng.standard_normal((400, 1)))
        f = Z @ np.append(np.ones(5), np.zeros(195))[:, None]
        y = f + np.abs(Z).mean(axis=1, keepdims=True) ** 2 * rng.standard_normal((400, 1))
        solution, path = by_left_out(Z, y), Path(statistics(Z, y).moments())
        each = [path.at(np.array([ridge])) for ridge in solution.grid]
        errors = [((Z @ one.coef + one.intercept - f) ** 2).mean() for one in each]
        ratios.append(errors[list(solution.grid).index(solution.ridge[0])] / min(errors))
    assert np.mean(ratios) < 1.5


def test_a_noisy_output_does_not_shrink_a_clean_one():
    Z, _, _ = problem()
    rng = np.random.default_rng(1)
    beside = np.column_stack([Z[:, 0], 1000 * rng.standard_normal(len(Z))])
    ridge = by_left_out(Z, beside).ridge
    assert ridge[0] < 1e-3 < 1 < ridge[1]


def smooth(n, k=60):
    """Activations of falling variance, and targets without noise."""
    Z = np.random.default_rng(0).standard_normal((n, k)) * np.geomspace(1, 1e-10, k)
    return Z, Z @ np.geomspace(1, 1e5, k)[:, None]


@pytest.mark.parametrize("n", [50, 200])  # fewer rows than columns, which are kept, and more
def test_without_noise_the_grid_goes_down_to_the_rounding_of_the_products(n):
    Z, y = smooth(n)
    moments, single = (statistics(Z, y).moments() for _ in range(2))
    rows = [Left(Z, y, np.ones(n), np.full(n, 1 / n))]
    found = solve_by_left_out(moments, rows)
    above = solve_by_left_out(at_rounding_of_single(single), rows)
    floor = np.finfo(np.float32).eps * moments.mean_square
    assert above.grid[0] == pytest.approx(floor, rel=1e-6)
    assert above.ridge == above.grid[0]
    assert LOWEST * moments.mean_square <= found.grid[0] < 2 * LOWEST * moments.mean_square
    np.testing.assert_allclose(found.grid[-len(above.grid) :], above.grid, rtol=1e-12)
    assert found.ridge < 1e-4 * floor
    assert found.scores.min() < 1e-2 * above.scores.min()


def test_small_ridges_are_taken_only_where_they_gain():
    """Without noise, but with columns that need no ridge."""
    Z, _, _ = problem()
    y = Z @ np.ones((12, 1)) + 1e-3 * np.sin(9 * Z[:, :1])
    moments = statistics(Z, y).moments()
    assert by_left_out(Z, y).ridge >= np.finfo(np.float32).eps * moments.mean_square


def test_sums_in_single_precision_end_the_grid_sooner():
    Z, y = smooth(5000)
    sums = Statistics(Z.shape[1], np.zeros(1))
    sums.add(Z.astype("float32"), y, least_ridge=np.inf)
    moments = sums.moments()
    assert moments.least_ridge > 0
    rows = [Left(Z[::5], y[::5], np.ones(1000), np.full(1000, 1 / 5000))]
    solution = solve_by_left_out(moments, rows)
    floor = np.finfo(np.float32).eps * moments.mean_square
    assert solution.grid[0] == pytest.approx(floor, rel=1e-6)
    assert solution.ridge == solution.grid[0]
    assert wants_less(solution, moments).all()
    y += 0.1 * y.std() * np.random.default_rng(1).standard_normal(y.shape)
    moments, noisy = statistics(Z, y).moments(), by_left_out(Z, y)
    assert not wants_less(noisy, moments).any()
    assert noisy.grid[0] == pytest.approx(FLOOR * moments.mean_square)


@pytest.mark.parametrize("kind", ["constant", "smooth", "one"])
def test_ridges_of_the_grid_are_above_the_rounding_of_decompositions(kind):
    """With half of the least ridge, every matrix is still positive definite."""
    rng = np.random.default_rng(0)
    n, k = 600, 300
    if kind == "constant":
        Z = 1 + 1e-4 * rng.standard_normal((n, 3)) @ rng.standard_normal((3, k))
    elif kind == "smooth":
        Z = np.cos(rng.random((n, 2)) @ rng.standard_normal((2, k)))
    else:
        Z = rng.standard_normal((n, 1)) @ rng.standard_normal((1, k))
    for rows in (n, k - 50):
        moments = statistics(Z[:rows], Z[:rows, :1]).moments()
        np.linalg.cholesky(moments.covariance + LOWEST / 2 * moments.mean_square * np.eye(k))


def test_pure_noise_is_shrunk_strongly():
    rng = np.random.default_rng(0)
    Z, Y = rng.standard_normal((200, 50)), rng.standard_normal((200, 1))
    assert by_left_out(Z, Y).ridge > 0.5


def test_outputs_within_a_bound_have_ridges_of_their_own():
    """Against rows of the ridge below those of the problem, written out for each output."""
    Z, Y, _ = problem()
    Y[:, 1] *= 5
    moments, bound, ridges = statistics(Z, Y).moments(), 0.1, [1e-3, 5.0]
    each = [solve(deepcopy(moments), ridge) for ridge in ridges]
    free = np.column_stack([solution.coef[:, i] for i, solution in enumerate(each)])
    solution = each[0]._replace(coef=free, ridge=np.array(ridges))
    found = solve_within(moments, solution, bound).coef
    centred = (Z - Z.mean(axis=0)) / np.sqrt(80)
    for output, ridge in enumerate(ridges):
        y = (Y[:, output] - Y[:, output].mean()) / np.sqrt(80)
        rows, wanted = np.vstack([centred, np.sqrt(ridge) * np.eye(12)]), np.append(y, np.zeros(12))
        best = lsq_linear(rows, wanted, (-bound, bound), method="bvls", tol=1e-12).x
        assert 0 < (np.abs(best) < bound).sum() < 12
        np.testing.assert_allclose(found[:, output], best, atol=1e-8)


def test_grouping_and_merging_change_nothing():
    Z, Y, weight = problem()
    whole = statistics(Z, Y, weight)
    grouped = statistics(Z, Y, weight, parts=7)
    a = statistics(Z[:30], Y[:30], weight[:30], origin=np.array([-60.0, -40]))
    b = statistics(Z[30:], Y[30:], weight[30:])
    ab, ba = deepcopy(a), deepcopy(b)
    ab.merge(b)
    ba.merge(a)
    for other in (grouped, ab, ba):
        assert_same(other.moments(), whole.moments())


def test_means_are_those_of_repeated_rows_but_their_number_is_not():
    Z, Y, weight = problem()
    repeat = np.repeat(np.arange(len(Z)), weight.astype(int))
    a, b = statistics(Z, Y, weight).moments(), statistics(Z[repeat], Y[repeat]).moments()
    assert a.n == pytest.approx(weight.sum() ** 2 / (weight @ weight))
    assert b.n == len(repeat)
    b.n, b.n_rows, b.n_once, b.log_noise = a.n, a.n_rows, a.n_once, a.log_noise
    assert_same(a, b)


@pytest.mark.parametrize("size", [1 / 80, 7.0, 1e30])
def test_a_weight_of_all_rows_changes_nothing(size):
    Z, Y, _ = problem()
    assert statistics(Z, Y, np.full(80, size)).moments().n == 80
    assert by_left_out(Z, Y, np.full(80, size)).ridge == pytest.approx(by_left_out(Z, Y).ridge)


@pytest.mark.parametrize("parts", [1, 4])
def test_few_rows_are_kept_and_say_what_their_products_do(parts):
    Z, Y, weight = problem(30, 40)
    kept, summed = statistics(Z, Y, weight, parts), statistics(Z, Y, weight, parts)
    assert summed.gram.shape == (40, 40)
    a, b = kept.moments(), summed.moments()
    assert a.rows.Z.shape == (30, 40)
    assert b.rows is None
    assert kept.nbytes < summed.nbytes
    rows = [Left(Z, Y, np.ones(30), weight / weight.sum())]
    by_rows = lambda moments: solve_by_left_out(moments, rows)  # noqa: E731
    for solve_it in (by_rows, lambda moments: solve(moments, 0.01)):
        x, y = solve_it(kept.moments()), solve_it(summed.moments())
        for name in ("coef", "intercept", "ridge"):
            one, other = getattr(x, name), getattr(y, name)
            np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-8 * np.abs(other).max())
    found, expected = by_rows(kept.moments()), by_rows(summed.moments())
    np.testing.assert_allclose(found.grid, expected.grid, rtol=1e-12)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-4)
    assert_same(a, b)
    assert deepcopy(kept).moments().rows is not None


def test_rows_are_kept_until_they_are_no_longer_few():
    Z, Y, weight = problem(60, 40)
    parts = np.split(np.arange(60), [10, 30])
    a, b, c = (
        statistics(Z[rows], Y[rows], weight[rows], origin=np.array([float(i), -50.0]))
        for i, rows in enumerate(parts)
    )
    a.merge(b)
    assert len(a.moments().rows.Z) == 30
    assert_same(a.moments(), statistics(Z[:30], Y[:30], weight[:30]).moments())
    grown, copied = deepcopy(a), deepcopy(a)
    a.merge(c)
    assert a.moments().rows is None
    assert_same(a.moments(), statistics(Z, Y, weight).moments())
    grown.add(Z[30:], Y[30:], weight[30:])
    assert_same(grown.moments(), a.moments())
    c.merge(copied)
    assert_same(c.moments(), a.moments())


def test_kept_rows_with_weights_merge_whatever_their_origins():
    Z, Y, weight = problem(20, 40)
    whole = statistics(Z, Y, weight).moments().rows
    a, b = (
        statistics(Z[some], Y[some], weight[some], origin=np.array(origin))
        for some, origin in ((slice(0, 8), [7.0, -3.0]), (slice(8, 20), [-60.0, 1.0]))
    )
    a.merge(b)
    merged = a.moments().rows
    np.testing.assert_allclose(merged.Z, whole.Z, atol=1e-12)
    np.testing.assert_allclose(merged.Y, whole.Y, atol=1e-12)


def test_rounding_errors_add_up_when_sums_are_merged():
    """A model of two merged parts must not go below the ridge that one of all rows may go to."""
    rng = np.random.default_rng(0)
    Z, y = rng.standard_normal((11_000, 3)).astype("float32") + 2, rng.standard_normal((11_000, 1))

    def summed(some):
        sums = Statistics(3, np.zeros(1))
        sums.add(Z[some].copy(), y[some], least_ridge=np.inf)
        return sums

    a, b, whole = summed(slice(0, 5000)), summed(slice(5000, None)), summed(slice(None))
    expected = a.rounded + b.rounded
    assert min(a.rounded, b.rounded) > 0
    a.merge(b)
    assert a.rounded == expected
    assert a.moments().least_ridge == pytest.approx(whole.moments().least_ridge, rel=1e-7)


def test_targets_far_from_zero_keep_their_digits():
    Z, Y, _ = problem(outputs=1)
    near = by_left_out(Z, Y)
    rows = [Left(Z, Y + 1e9, np.ones(80), np.full(80, 1 / 80))]
    far = solve_by_left_out(statistics(Z, Y + 1e9, origin=Y[0] + 1e9).moments(), rows)
    assert far.ridge == pytest.approx(near.ridge)
    np.testing.assert_allclose(far.coef, near.coef, rtol=1e-5, atol=1e-6)
    assert far.intercept - near.intercept == pytest.approx(1e9)


def test_pure_noise_and_constants_are_flattened():
    rng = np.random.default_rng(3)
    Z = rng.standard_normal((200, 50))
    top = np.linalg.eigvalsh(np.cov(Z.T))[-1]
    assert by_left_out(Z, np.ones((200, 1))).ridge >= 50 * top

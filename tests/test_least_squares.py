"""Statistics and ridge regression, against the problem written out."""

import numpy as np
import pytest

import naive
from trickless._least_squares import Statistics, solve, solve_by_gcv


def problem(n=80, k=12, outputs=2, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, k)) + 3
    Y = Z @ rng.standard_normal((k, outputs)) + 2 * rng.standard_normal((n, outputs)) - 50
    return Z, Y, rng.integers(1, 4, n).astype(float)


def statistics(Z, Y, weight=None, parts=1):
    s = Statistics(Z.shape[1], Y.shape[1])
    for rows in np.array_split(np.arange(len(Z)), parts):
        s.add(Z[rows], Y[rows], None if weight is None else weight[rows])
    return s


@pytest.mark.parametrize("ridge", [1e-3, 1.0, 100.0])
def test_solution_is_that_of_the_problem_written_out(ridge):
    Z, Y, weight = problem()
    solution = solve(statistics(Z, Y, weight).centred(), ridge)
    coef, intercept = naive.ridge(Z, Y, weight, ridge)
    np.testing.assert_allclose(solution.coef, coef, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(solution.intercept, intercept, rtol=1e-8)


@pytest.mark.parametrize("shape", [(80, 12), (15, 40)])
def test_gcv_takes_the_best_of_its_grid_and_solves_there(shape):
    Z, Y, _ = problem(*shape)
    moments = statistics(Z, Y).centred()
    solution = solve_by_gcv(moments, 1e-7)
    score = naive.gcv(Z, Y, solution.ridge)
    # Neighbours on the grid of four ridges a decade, and beyond, are no better; where there are
    # more columns than rows the score has a limit at 0, which rounding lets it miss by 1e-4.
    for other in solution.ridge * 10.0 ** np.array([-2, -0.25, 0.25, 2]):
        if other >= 1e-7 * moments.mean_square:
            assert score <= naive.gcv(Z, Y, other) * (1 + (1e-4 if shape[0] < shape[1] else 1e-9))
    coef, intercept = naive.ridge(Z, Y, np.ones(len(Z)), solution.ridge)
    np.testing.assert_allclose(solution.coef, coef, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(solution.intercept, intercept, rtol=1e-6)


def test_gcv_never_goes_below_the_noise_of_the_activations():
    Z, _, _ = problem()
    moments = statistics(Z, Z @ np.ones((12, 1))).centred()
    assert solve_by_gcv(moments, 1e-3).ridge >= 1e-3 * moments.mean_square * (1 - 1e-9)


def test_pure_noise_is_shrunk_strongly():
    rng = np.random.default_rng(0)
    Z, Y = rng.standard_normal((200, 50)), rng.standard_normal((200, 1))
    assert solve_by_gcv(statistics(Z, Y).centred(), 1e-7).ridge > 0.5


def test_grouping_and_merging_change_nothing():
    Z, Y, weight = problem()
    whole = statistics(Z, Y, weight)
    grouped = statistics(Z, Y, weight, parts=7)
    a, b = statistics(Z[:30], Y[:30], weight[:30]), statistics(Z[30:], Y[30:], weight[30:])
    ab, ba = statistics(Z[:0], Y[:0]), statistics(Z[:0], Y[:0])
    for target, order in ((ab, (a, b)), (ba, (b, a))):
        for part in order:
            target.merge(part)
    for name, value in vars(whole).items():
        for other in (grouped, ab, ba):
            np.testing.assert_allclose(getattr(other, name), value, rtol=1e-12)


def test_weights_count_rows():
    Z, Y, weight = problem()
    repeat = np.repeat(np.arange(len(Z)), weight.astype(int))
    a, b = statistics(Z, Y, weight).centred(), statistics(Z[repeat], Y[repeat]).centred()
    for x, y in zip(a, b, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10)


def test_weights_that_sum_to_one_do_not_count_as_one_row():
    Z, Y, _ = problem()
    moments = statistics(Z, Y, np.full(80, 1 / 80)).centred()
    assert moments.n == pytest.approx(80)
    whole = solve_by_gcv(statistics(Z, Y).centred(), 1e-7)
    assert solve_by_gcv(moments, 1e-7).ridge == pytest.approx(whole.ridge)


def test_targets_far_from_zero_keep_their_digits():
    Z, Y, _ = problem(outputs=1)
    near = solve_by_gcv(statistics(Z.astype("f"), Y).centred(), 1e-7)
    far = solve_by_gcv(statistics(Z.astype("f"), Y + 1e6).centred(), 1e-7)
    np.testing.assert_allclose(far.coef, near.coef, rtol=1e-5, atol=1e-6)

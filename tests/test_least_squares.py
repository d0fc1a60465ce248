"""Statistics and ridge regression, against the problem written out."""

from copy import deepcopy

import numpy as np
import pytest

import naive
import trickless
from trickless._least_squares import Statistics, lanczos, solve, solve_by_gcv


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
    solution = solve_by_gcv(moments)
    for output, ridge in enumerate(solution.ridge):
        y = Y[:, [output]]
        score = naive.gcv(Z, y, ridge)
        # Neighbours on the grid of four ridges a decade, and beyond, are no better; where there
        # are more columns than rows the score has a limit at 0, known to about 1e-4.
        for other in ridge * 10.0 ** np.array([-2, -0.25, 0.25, 2]):
            if other >= 1e-7 * moments.mean_square:
                slack = 1e-4 if shape[0] < shape[1] else 1e-9
                assert score <= naive.gcv(Z, y, other) * (1 + slack)
        coef, intercept = naive.ridge(Z, y, np.ones(len(Z)), ridge)
        np.testing.assert_allclose(solution.coef[:, [output]], coef, rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(solution.intercept[output], intercept[0], rtol=1e-6)


def test_a_noisy_output_does_not_shrink_a_clean_one():
    Z, _, _ = problem()
    rng = np.random.default_rng(1)
    beside = np.column_stack([Z[:, 0], 1000 * rng.standard_normal(len(Z))])
    ridge = solve_by_gcv(statistics(Z, beside).centred()).ridge
    assert ridge[0] < 1e-3 < 1 < ridge[1]


def test_gcv_never_goes_below_the_noise_of_the_activations():
    Z, _, _ = problem()
    moments = statistics(Z, Z @ np.ones((12, 1))).centred()
    eps = np.finfo(np.float32).eps
    assert solve_by_gcv(moments).ridge == pytest.approx(eps * moments.mean_square)


def test_pure_noise_is_shrunk_strongly():
    rng = np.random.default_rng(0)
    Z, Y = rng.standard_normal((200, 50)), rng.standard_normal((200, 1))
    assert solve_by_gcv(statistics(Z, Y).centred()).ridge > 0.5


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
        for x, y in zip(other.centred(), whole.centred(), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-10)


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
    whole = solve_by_gcv(statistics(Z, Y).centred())
    assert solve_by_gcv(moments).ridge == pytest.approx(whole.ridge)


def test_targets_far_from_zero_keep_their_digits():
    Z, Y, _ = problem(outputs=1)
    near = solve_by_gcv(statistics(Z, Y).centred())
    far = solve_by_gcv(statistics(Z, Y + 1e9, origin=Y[0] + 1e9).centred())
    assert far.ridge == pytest.approx(near.ridge)
    np.testing.assert_allclose(far.coef, near.coef, rtol=1e-5, atol=1e-6)
    assert far.intercept - near.intercept == pytest.approx(1e9)


def test_gcv_counts_the_intercept():
    """The ridge is the best of the whole grid by the score of the hat matrix, for few rows."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = 8 + seed % 7
        Z = rng.standard_normal((n, 4))
        y = Z[:, :1] + 0.7 * rng.standard_normal((n, 1))
        moments = statistics(Z, y).centred()
        floor = np.finfo(np.float32).eps * moments.mean_square
        top = 100 * np.linalg.eigvalsh(moments.covariance)[-1]
        grid = floor * 10 ** (np.arange(1 + np.ceil(4 * np.log10(top / floor))) / 4)
        best = min(grid, key=lambda ridge: naive.gcv(Z, y, ridge))
        assert solve_by_gcv(moments).ridge[0] == pytest.approx(best)


def test_pure_noise_and_constants_are_flattened():
    rng = np.random.default_rng(3)
    Z = rng.standard_normal((200, 50))
    top = np.linalg.eigvalsh(np.cov(Z.T))[-1]
    assert solve_by_gcv(statistics(Z, np.ones((200, 1))).centred()).ridge >= 50 * top


@pytest.mark.parametrize("rank", [5, 40])
def test_lanczos_quadratures_are_exact_after_as_many_steps_as_there_are_eigenvalues(rank):
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((40, rank))
    A, v = factor @ factor.T, rng.standard_normal((3, 40))
    v[2] = 0
    nodes, weights = lanczos(A, v, 40)
    inverse = np.linalg.inv(A + 0.1 * np.eye(40))
    found = (weights / (nodes + 0.1)).sum(axis=1)
    np.testing.assert_allclose(found, np.einsum("si,ij,sj->s", v, inverse, v), rtol=1e-8)


def test_a_short_quadrature_is_too_low_for_the_inverse():
    rng = np.random.default_rng(0)
    A = np.diag(np.geomspace(1e-4, 1, 200))
    v = rng.standard_normal((20, 200))
    nodes, weights = lanczos(A, v, 8)
    exact = (v**2 / (np.diag(A) + 1e-4)).sum(axis=1)
    assert ((weights / (nodes + 1e-4)).sum(axis=1) < exact).all()


@pytest.mark.parametrize("decay", [0.5, 2.0])
def test_many_columns_are_cross_validated_as_few_are(monkeypatch, decay):
    """Scores by quadratures against those by eigenvalues, for rows with a decaying spectrum."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((900, 300)) * np.arange(1, 301.0) ** -decay
    y = Z @ rng.standard_normal((300, 2)) + [[0.3, 3.0]] * rng.standard_normal((900, 2))
    moments = statistics(Z, y).centred()
    exact = solve_by_gcv(moments)
    monkeypatch.setattr(trickless._least_squares, "EXACT_COLUMNS", 100)
    quick = solve_by_gcv(moments)
    np.testing.assert_allclose(quick.grid, exact.grid, rtol=1e-6)
    for output in range(2):
        best = exact.scores[output].min()
        chosen = exact.scores[output][np.argmin(quick.scores[output])]
        assert chosen < 1.01 * best
        assert abs(quick.scores[output].min() / best - 1) < 0.02
    again = solve_by_gcv(moments)
    np.testing.assert_array_equal(again.coef, quick.coef)

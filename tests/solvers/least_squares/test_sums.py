"""The solver of Kitchen Sinks, against least squares written out on all activations."""

import numpy as np
import pytest

import naive
from trickless._functions.stream import NeuronStream
from trickless._solvers.least_squares.problem import Problem
from trickless._solvers.least_squares.sums import Sums
from trickless.neurons import Gaussian

N_ROWS, N_NEURONS = 90, 10
X = np.random.default_rng(0).uniform(-1, 1, (N_ROWS, 2))
Y = np.column_stack([np.sin(3 * X[:, 0]), X[:, 1] ** 2 - 5]) + 0.1 * np.sin(99 * X)
WEIGHT = np.arange(1.0, N_ROWS + 1)


def asked(alpha=1e-3, **changes):
    """What is asked of the solver, by default a ridge of 0.01."""
    problem = Problem("Owner", alpha, None, True, False, 100, 1e-8, 1, 2**20)
    return problem._replace(**changes)


def begun():
    family = Gaussian(1.0).fit(X, np.random.default_rng(0))
    stream = NeuronStream(family, 3, np.dtype("float64"), 2**20)
    return Sums(stream, N_NEURONS, Y.mean(axis=0))


def written_out(sums, weight=WEIGHT):
    """Activations of all neurons, in the order of the columns, and weights."""
    neurons = sums.stream.neurons
    return np.asarray(neurons.activate(X, sums.stream.between(0, N_NEURONS, X))), weight


def learned(problem, batches=1, weight=WEIGHT):
    sums = begun()
    for rows in np.array_split(np.arange(N_ROWS), batches):
        sums.learn(X[rows], Y[rows], None if weight is None else weight[rows], problem)
    return sums


@pytest.mark.parametrize("batches", [1, 4, 30])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_the_solution_is_that_of_ridge_regression(batches, weight):
    sums = learned(asked(), batches, weight)
    Z, _ = written_out(sums)
    coef, intercept = naive.ridge(Z, Y, np.ones(N_ROWS) if weight is None else weight, 0.01)
    solution = sums.solution(asked())
    np.testing.assert_allclose(solution.coef, coef, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(solution.intercept, intercept, rtol=1e-8)
    np.testing.assert_allclose(sums.function(asked())(X), Z @ coef + intercept, rtol=1e-7)


def test_passes_over_the_rows_find_the_same_solution():
    sums, direct = begun(), learned(asked()).solution(asked())
    sums.solve_in_passes(X, Y, WEIGHT, asked(tol=1e-14))
    assert sums.statistics is None
    np.testing.assert_allclose(sums.solution(asked()).coef, direct.coef, rtol=1e-5, atol=1e-8)


def test_merged_sums_are_those_of_all_rows():
    half, rest = begun(), begun()
    half.learn(X[:40], Y[:40], WEIGHT[:40], asked())
    rest.learn(X[40:], Y[40:], WEIGHT[40:], asked())
    before = half.fork()
    half.merge(rest, n_jobs=1)
    whole = learned(asked()).solution(asked())
    np.testing.assert_allclose(half.solution(asked()).coef, whole.coef, rtol=1e-9, atol=1e-11)
    assert before.statistics.n_rows == 40


def test_a_solution_is_kept_until_rows_are_learned():
    sums = learned(asked())
    solution = sums.solution(asked())
    assert sums.solution(asked()) is solution
    sums.learn(X, Y, WEIGHT, asked())
    assert sums.solution(asked()) is not solution


@pytest.mark.parametrize("bound", [0.5, 1e6])
def test_no_coefficient_exceeds_the_bound_over_the_number_of_neurons(bound):
    coef = learned(asked()).solution(asked(weight_bound=bound)).coef
    free = learned(asked()).solution(asked()).coef
    assert np.abs(coef).max() <= bound / N_NEURONS
    assert np.allclose(coef, free) == (bound == 1e6)


def test_leave_one_out_takes_the_best_alpha_of_models_without_the_row():
    problem = asked("auto")
    sums = learned(problem, weight=None)
    Z, solution = written_out(sums)[0], sums.solution(problem)
    assert solution.grid is not None
    place = len(solution.grid) // 2
    errors = []
    for i in range(N_ROWS):
        others = np.arange(N_ROWS) != i
        # The ridge is relative to the mean, which is over one row fewer.
        ridge = solution.grid[place] * N_ROWS / (N_ROWS - 1)
        coef, intercept = naive.ridge(Z[others], Y[others], np.ones(N_ROWS - 1), ridge)
        errors.append((Y[i] - Z[i] @ coef - intercept) ** 2)
    np.testing.assert_allclose(solution.scores[:, place], np.mean(errors, axis=0), rtol=1e-5)
    assert (solution.ridge >= solution.grid[solution.scores.argmin(axis=1)]).all()


def test_deviations_are_those_of_the_gaussian_posterior():
    sums = learned(asked(), weight=None)
    Z, solution, noise = written_out(sums)[0], sums.solution(asked()), sums.noise(asked())
    centred = Z - Z.mean(axis=0)
    inverse = np.linalg.inv(centred.T @ centred / N_ROWS + 0.01 * np.eye(Z.shape[1]))
    hat = (1 + np.einsum("ij,jk,ik->i", centred, inverse, centred)) / N_ROWS
    residual = Y - Z @ solution.coef - solution.intercept
    np.testing.assert_allclose(noise, (residual**2).sum(axis=0) / (N_ROWS - hat.sum()), rtol=1e-8)
    with sums.certain(asked()) as process:
        mean, variances = process.predicted(X)
        deviations = process.deviations(variances)
    np.testing.assert_allclose(mean, Z @ solution.coef + solution.intercept, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(deviations**2, np.outer(1 + hat, noise), rtol=1e-8)
    light = sums.without_statistics(asked(), deviations=True)
    with light.certain(asked()) as process:
        again = process.deviations(process.predicted(X)[1])
    np.testing.assert_allclose(again, deviations, rtol=1e-12)
    assert not sums.without_statistics(asked()).has_deviations


def test_an_alpha_that_leaves_columns_dependent_raises_an_error():
    sums = begun()
    sums.learn(np.repeat(X[:2], 40, axis=0), np.repeat(Y[:2], 40, axis=0), None, asked(0.0))
    with pytest.raises(ValueError, match=r"alpha=0.0 is too small.* 20 columns .*Remedy: a larger"):
        sums.solution(asked(0.0))

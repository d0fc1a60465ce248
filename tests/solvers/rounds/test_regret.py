"""Regret: what was played, what the best function in the ball loses, and their picture."""

import matplotlib as mpl
import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import minimize
from sklearn.metrics.pairwise import rbf_kernel

import naive
from cases import inputs
from trickless import ShrinkingGradientClassifier, ShrinkingGradientRegressor
from trickless._solvers.rounds.regret import largest_variances, played_losses, smallest_loss
from trickless.kernels import KernelGradientRegressor
from trickless.neurons import Dense, Gaussian, Neurons, Stumps
from trickless.neurons.composed import Scaled
from trickless.theory import shrinking_gradient_constants, shrinking_gradient_regret

mpl.use("Agg")


def losses_of(model):
    return played_losses(model._rounds_, model.estimates_.kernel)


def learned(X, y, **options):
    always = {"y_range": (-1, 1), "random_state": 0, "dtype": "float64", "n_draws": 20}
    options = always | {"neurons": Gaussian(1.0)} | options
    return ShrinkingGradientRegressor(**options).partial_fit(X, y)


@pytest.mark.parametrize("norm_bound", [0.1, 1.0, 100.0])
def test_the_best_function_in_the_ball_is_that_of_a_solver(norm_bound):
    X = inputs(25, 2)
    y = np.sin(2 * X[:, 0])
    K = Gaussian(1.0).fit(X, None).kernel(X)
    constraint = {
        "type": "ineq",
        "fun": lambda a: norm_bound**2 - a @ K @ a,
        "jac": lambda a: -2 * K @ a,
    }
    solution = minimize(
        lambda a: 0.5 * ((K @ a - y) ** 2).sum(),
        np.zeros(25),
        jac=lambda a: K @ (K @ a - y),
        constraints=constraint,
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    loss = smallest_loss(K, y[:, None], norm_bound)[0]
    assert loss == pytest.approx(solution.fun, rel=1e-3, abs=1e-4)
    assert loss <= solution.fun + 1e-8


def test_the_best_function_of_every_output_has_a_ball_of_its_own():
    X = inputs(30, 2)
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1], np.zeros(30)])
    K = Gaussian(1.0).fit(X, None).kernel(X)
    together = smallest_loss(K, Y, 0.5)
    apart = [smallest_loss(K, Y[:, [o]], 0.5)[0] for o in range(3)]
    np.testing.assert_allclose(together, apart)
    assert together[2] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("norm_bound", [0.02, 10.0])  # at 0.02 the coefficients shrink often
def test_losses_are_those_of_the_functions_that_were_played(norm_bound):
    X = inputs(40, 2)
    y = np.sin(2 * X[:, 0])
    options = {"batch_size": 1, "step_size": 0.4, "schedule": "constant", "estimate": "full"}
    model = learned(X, y, norm_bound=norm_bound, **options)
    alpha = np.zeros(0)
    K = model.neurons_.kernel(X)
    expected = []
    for t in range(40):
        expected.append(0.5 * (K[t, :t] @ alpha - y[t]) ** 2)
        step = learned(X[: t + 1], y[: t + 1], norm_bound=norm_bound, **options)
        alpha = step._rounds_.coefficients.last()[:, 0]
    shrunk = len(model._rounds_.coefficients._rounds_of_epoch[0]) - 1
    assert shrunk > 3 if norm_bound < 1 else shrunk == 0
    np.testing.assert_allclose(losses_of(model)[:, 0], expected, atol=1e-10)


def test_rows_of_a_batch_are_played_by_one_function():
    X = inputs(60, 2)
    y = np.sin(2 * X[:, 0])
    model = learned(X, y, batch_size=20, step_size=0.04, schedule="constant", estimate="full")
    losses = losses_of(model)[:, 0]
    np.testing.assert_allclose(losses[:20], 0.5 * y[:20] ** 2)
    first = learned(X[:20], y[:20], batch_size=20, step_size=0.04, schedule="constant")
    f = model.neurons_.kernel(X[20:40], X[:20]) @ first._rounds_.coefficients.last()[:, 0]
    np.testing.assert_allclose(losses[20:40], 0.5 * (f - y[20:40]) ** 2, atol=1e-10)


def test_the_curve_is_loss_minus_the_smallest_loss_of_the_rows_so_far():
    X = inputs(50, 2)
    y = np.sin(2 * X[:, 0])
    model = KernelGradientRegressor(
        kernel_params={"gamma": 0.5}, norm_bound=1.0, batch_size=1, y_range=(-1, 1)
    ).partial_fit(X, y)
    rounds, regret = model.regret_.T
    assert rounds[0] == 10
    assert rounds[-1] == 50
    K = Gaussian(1.0).fit(X, None).kernel(X)
    _, predictions = naive.kernel_gradient(K, y, lambda t: 0.5 / np.sqrt(t))
    for t, r in zip(rounds.astype(int), regret, strict=True):
        loss = 0.5 * ((predictions - y)[:t] ** 2).sum()
        assert r == pytest.approx(loss - smallest_loss(K[:t, :t], y[:t, None], 1.0)[0], abs=1e-8)


@pytest.mark.parametrize("neurons", [Gaussian(1.0), Stumps()])
def test_regret_stays_below_the_bound(neurons):
    """The step of Theorem 1, and the largest variance that full sums of 200 neurons can have."""
    B, T = 1.0, 400
    rng = np.random.default_rng(0)
    X = inputs(T, 2)
    y = np.clip(0.5 * np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(T), -1, 1)
    eta = B / (2 * np.sqrt(T))
    options = {"schedule": "constant", "step_size": eta, "batch_size": 1, "estimate": "full"}
    finals, variance = [], 0.0
    for seed in range(3):
        model = ShrinkingGradientRegressor(
            neurons, n_draws=200, norm_bound=B, y_range=(-1, 1), random_state=seed, **options
        ).partial_fit(X, y)
        f = model._rounds_.coefficients.last()
        variance = max(variance, (f.T @ model.neurons_.kernel(X) @ f).item() / 200)
        finals.append(model.regret_[-1, 1])
        assert len(model._rounds_.coefficients._rounds_of_epoch[0]) == 1  # nothing shrank
    bound = shrinking_gradient_regret(T, B, eta, 2 * variance)
    assert 0 < np.mean(finals) < bound
    assert bound == pytest.approx(1.25 * B * np.sqrt(T), rel=0.1)


def test_classifiers_have_a_regret():
    X = inputs(80, 2)
    model = ShrinkingGradientClassifier(Gaussian(1.0), n_draws=50, random_state=0)
    model.fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    rounds, regret = model.regret_.T
    assert np.isfinite(regret).all()
    assert rounds[-1] == 80


def test_the_regret_is_below_its_bound():
    X = inputs(300, 2)
    options = {"schedule": "theorem", "horizon": 300, "norm_bound": 1.0}
    model = learned(X, np.sin(X[:, 0]), **options)
    assert (model.regret_bound_ > model.regret_[:, 1]).all()
    assert model.regret_bound_[-1] <= shrinking_gradient_constants(300, 1.0).regret * (1 + 1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {},  # a step that decays
        {"schedule": "constant", "step_size": 0.05, "batch_size": 4},
        {"schedule": "constant", "step_size": 0.9, "norm_bound": 0.001},  # it shrinks
        {"schedule": "constant", "step_size": 0.25, "neurons": Scaled(Gaussian(1.0), 4.0)},
        {"schedule": "theorem-fixed", "horizon": 60, "norm_bound": 0.1},  # too few draws
    ],
)
def test_there_is_no_bound_where_theory_has_none(options):
    X = inputs(60, 2)
    model = learned(X, np.sin(X[:, 0]), **{"norm_bound": 2.0, "batch_size": 1} | options)
    assert model.regret_bound_ is None


def test_a_bound_has_the_largest_variance_of_the_run():
    """That of index draws is r²/m, and that of full sums ‖f‖²/m, with the norm before a round."""
    X, eta = inputs(80, 2), 0.05
    y = np.where(inputs(80, 1)[:, 0] > 0, 1.0, -1.0)
    options = {"schedule": "constant", "step_size": eta, "batch_size": 1, "norm_bound": 2.0}
    for estimator in ("index", "full"):
        model = learned(X, y, estimate=estimator, n_draws=50, **options)
        alpha = model._rounds_.coefficients.last()[:, 0]
        K = model.neurons_.kernel(X)
        spreads = [
            np.abs(a).sum() ** 2 if estimator == "index" else a @ K[: len(a), : len(a)] @ a
            for a in (alpha[:t] for t in range(80))
        ]
        largest = np.maximum.accumulate(spreads) / 50
        np.testing.assert_allclose(
            largest_variances(model._rounds_, model.estimates_.kernel), largest, rtol=1e-5
        )
        expected = [
            shrinking_gradient_regret(int(t), 2.0, eta, largest[int(t) - 1])
            for t in model.regret_[:, 0]
        ]
        np.testing.assert_allclose(model.regret_bound_, expected, rtol=1e-5)


def test_regret_needs_the_kernel_and_every_row():
    X = inputs(60, 2)
    y = np.sin(X[:, 0])
    with pytest.raises(ValueError, match=r"regret_ needs every row, but max_support.*Remedy"):
        _ = learned(X, y, max_support=20).regret_

    class Nameless(Gaussian):
        closed_form = Neurons.closed_form

    with pytest.raises(ValueError, match=r"no closed form.*Remedy: online_error_"):
        _ = ShrinkingGradientRegressor(Nameless(1.0)).fit(X, y).regret_

    def estimate(X, Y, rng):
        return np.ones((len(X), len(Y)))

    with pytest.raises(ValueError, match=r"no closed form.*Remedy: online_error_"):
        _ = KernelGradientRegressor(estimate).fit(X, y).regret_


def test_regret_of_very_long_streams_is_refused(monkeypatch):
    monkeypatch.setattr("trickless._solvers.rounds.regret._MOST_ROWS", 50)
    X = inputs(60, 2)
    with pytest.raises(ValueError, match=r"regret_ of 60 rows.*at most 50.*Remedy"):
        _ = learned(X, X[:, 0] / 10).regret_


def test_regret_bounds_are_those_computed_by_hand():
    assert shrinking_gradient_regret(100, 2.0, 0.1, 0.5) == pytest.approx((20 + 7.5) / 0.9)
    with pytest.raises(ValueError, match=r"step_size=1.5.*Remedy"):
        shrinking_gradient_regret(100, 2.0, 1.5)


def test_rows_without_a_kernel_value_leave_the_loss_of_zero():
    Y = inputs(5, 2)
    np.testing.assert_allclose(smallest_loss(np.zeros((5, 5)), Y, 1.0), 0.5 * (Y**2).sum(axis=0))


@pytest.mark.parametrize("family", [Stumps(), Gaussian(1.0), Dense("erf")])
def test_regret_of_sparse_rows_is_that_of_dense_ones(family):
    X = inputs(60, 2) * (inputs(60, 2, seed=1) > 0)
    y = np.sin(X[:, 0])
    options = {"norm_bound": 2.0, "dtype": "float64", "estimate": "full", "random_state": 0}
    dense, sparse = (
        ShrinkingGradientRegressor(family, **options).fit(rows, y).regret_
        for rows in (X, scipy.sparse.csr_matrix(X))
    )
    np.testing.assert_allclose(sparse, dense, atol=1e-8)
    two = ShrinkingGradientRegressor(family, **options).fit(scipy.sparse.csr_matrix(X[:2]), y[:2])
    assert len(two.regret_) <= 2


def test_the_bound_is_for_as_many_outputs_as_the_curve():
    X = inputs(120, 2)
    y = np.sin(2 * X[:, 0])
    options = {"kernel_params": {"gamma": 0.5}, "y_range": (-1, 1), "norm_bound": 1.0}
    options |= {"random_state": 0, "schedule": "theorem", "horizon": 120}
    one, three = (
        KernelGradientRegressor(**options).fit(X, targets)
        for targets in (y, np.column_stack([y, y, y]))
    )
    np.testing.assert_allclose(three.regret_[:, 1], 3 * one.regret_[:, 1], rtol=1e-9)
    np.testing.assert_allclose(three.regret_bound_, 3 * one.regret_bound_, rtol=1e-9)


def test_one_batch_is_played_by_zero():
    X, y = inputs(2, 2), np.array([0.5, -0.25])
    model = KernelGradientRegressor(y_range=(-1, 1)).partial_fit(X, y)
    np.testing.assert_array_equal(losses_of(model)[:, 0], y**2 / 2)
    assert model.regret_.shape == (1, 2)


def test_the_bound_holds_for_kernels_above_one():
    X, y = 10 * np.eye(100), np.ones(100)
    options = {"y_range": (-1, 1), "norm_bound": 1.0, "random_state": 0, "batch_size": 1}
    options |= {"schedule": "constant", "step_size": 0.005}
    model = KernelGradientRegressor("linear", **options).fit(X, y)
    expected = [
        shrinking_gradient_regret(int(t), 1.0, 0.005, 0.0, 100.0) for t in model.regret_[:, 0]
    ]
    np.testing.assert_allclose(model.regret_bound_, expected)
    assert (model.regret_bound_ > model.regret_[:, 1]).all()
    assert shrinking_gradient_regret(100, 2.0, 0.02, 0.5, 10.0) == pytest.approx((100 + 15) / 0.8)
    with pytest.raises(ValueError, match=r"below 1 / kernel_bound, 0.1. Remedy"):
        shrinking_gradient_regret(100, 2.0, 0.2, kernel_bound=10.0)


def test_balls_of_any_size_have_a_best_function():
    X = inputs(40, 2)
    K, Y = rbf_kernel(X), np.sin(X[:, :1])
    nothing, everything = 0.5 * (Y**2).sum(), smallest_loss(K, Y, 1e9)
    np.testing.assert_allclose(smallest_loss(K, Y, 1e160), everything)
    np.testing.assert_allclose(smallest_loss(K, Y, 1e-300), nothing)

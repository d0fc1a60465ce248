"""Regularised risk against general-purpose solvers on the problem written out."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from sklearn.exceptions import ConvergenceWarning

from trickless import KitchenSinksClassifier
from trickless._solvers.class_losses import (
    Hinge,
    Logistic,
    SmoothHinge,
    Softmax,
    SquaredHinge,
)
from trickless._solvers.least_squares.box import excess_within
from trickless._solvers.least_squares.risk import _WIDTHS, minimise
from trickless._solvers.least_squares.statistics import Statistics
from trickless._solvers.number_losses import Squared
from trickless.neurons import Gaussian


def problem(n=90, k=8, outputs=1, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, k)) + 2
    best = (Z[:, : outputs + 1] - 2 + rng.standard_normal((n, outputs + 1))).argmax(axis=1)
    y = np.where(np.arange(outputs) == best[:, None], 1.0, -1.0)
    if outputs > 1:  # exactly one class a row
        best = best % outputs
        y = np.where(np.arange(outputs) == best[:, None], 1.0, -1.0)
    return Z, y, rng.random(n) + 0.5


def solution(Z, y, weight, loss, ridge, blocks=1, max_iter=2000, tol=1e-8):
    statistics = Statistics(Z.shape[1], np.zeros(y.shape[1]))
    statistics.add(Z, y, weight)
    parts = np.array_split(np.arange(len(Z)), blocks)

    def passes():
        for part in parts:
            yield slice(part[0], part[-1] + 1), Z[part]

    ridges, moments = np.full(y.shape[1], ridge), statistics.moments()
    return minimise(passes, y, weight, loss, ridges, moments, max_iter, tol, "Owner")


def risk(Z, y, weight, loss, ridge, coef, intercept):
    share = weight / weight.sum()
    return share @ loss.value(Z @ coef + intercept, y) + (ridge / 2 * coef**2).sum()


def assert_minimised(found, Z, y, weight, loss, ridge):
    """Against BFGS on the risk."""

    def objective(v):
        both = v.reshape(-1, y.shape[1])
        return risk(Z, y, weight, loss, ridge, both[:-1], both[-1])

    start = np.vstack([found.coef, found.intercept]).ravel()
    least = minimize(objective, np.zeros_like(start), method="BFGS", options={"gtol": 1e-6})
    assert objective(start) <= least.fun + 1e-9
    np.testing.assert_allclose(start, least.x, atol=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("loss", "outputs"),
    [
        (Squared(), 2),
        (Logistic(), 1),
        (Softmax(), 3),
        (SquaredHinge(), 3),
        (SmoothHinge(0.5), 1),
    ],
    ids=lambda v: type(v).__name__,
)
def test_smooth_risks_are_minimised(loss, outputs, weighted):
    Z, y, weight = problem(outputs=outputs)
    weight = weight if weighted else np.ones(len(Z))
    found = solution(Z, y, weight if weighted else None, loss, 0.05)
    assert_minimised(found, Z, y, weight, loss, 0.05)


def test_outputs_have_ridges_of_their_own():
    Z, y, weight = problem(outputs=3)
    ridges = np.array([0.01, 0.1, 1.0])
    found = solution(Z, y, weight, SquaredHinge(), ridges)
    assert_minimised(found, Z, y, weight, SquaredHinge(), ridges)


def test_the_hinge_is_minimised_up_to_its_width():
    """A linear programme without the ridge bounds it from below; one with a tiny ridge is near."""
    Z, y, _ = problem(n=60, k=4)
    n, k = Z.shape
    # Variables: β⁺, β⁻, b⁺, b⁻, slack; margins y (Zβ + b) ≥ 1 − slack.
    signed = y * np.hstack([Z, -Z, np.ones((n, 1)), -np.ones((n, 1))])
    cost = np.concatenate([np.zeros(2 * k + 2), np.full(n, 1 / n)])
    least = linprog(cost, -np.hstack([signed, np.eye(n)]), -np.ones(n)).fun
    ridge = 1e-6
    found = solution(Z, y, None, Hinge(), ridge, tol=1e-6)
    value = risk(Z, y, np.ones(n), Hinge(), ridge, found.coef, found.intercept)
    assert least <= value <= least + 2e-4


def test_blocks_of_rows_change_nothing():
    Z, y, weight = problem(outputs=3)
    one = solution(Z, y, weight, Softmax(), 0.01)
    many = solution(Z, y, weight, Softmax(), 0.01, blocks=7)
    np.testing.assert_allclose(one.coef, many.coef, atol=1e-6)
    np.testing.assert_allclose(one.intercept, many.intercept, atol=1e-6)


def test_too_few_iterations_are_reported():
    Z, y, weight = problem()
    with pytest.warns(
        ConvergenceWarning, match=r"Owner: .*after 2 iterations with max_iter=2.*Remedy: a larger"
    ):
        solution(Z, y, weight, Logistic(), 1e-6, max_iter=2)


def test_a_descent_that_ends_in_single_rounding_is_reported():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 4))
    y = X[:, 0] * X[:, 1] + rng.standard_normal(200) / 2 > 0
    model = KitchenSinksClassifier(
        Gaussian("median"), n_neurons=50, loss="hinge", alpha=1e-10, random_state=0
    )
    with pytest.warns(ConvergenceWarning, match=r"the risk is 0\.08.*Remedy: a larger"):
        model.fit(X, y)
    assert model.n_iter_ < len(_WIDTHS) * model.max_iter
    model.set_params(alpha=1e-4).fit(X, y)


def test_smooth_hinge_lies_just_below_the_hinge():
    f = np.linspace(-3, 3, 1001)[:, None]
    gap = Hinge().value(f, np.ones_like(f)) - SmoothHinge(0.2).value(f, np.ones_like(f))
    assert gap.min() >= -1e-12
    assert gap.max() == pytest.approx(0.1)


LOSSES = [
    (Squared(), 2),
    (Logistic(), 1),
    (Softmax(), 3),
    (SquaredHinge(), 3),
]


def solved(Z, y, weight, loss, ridge, bound, intercept, tol=1e-7, max_iter=5000):
    statistics = Statistics(Z.shape[1], np.zeros(y.shape[1]))
    statistics.add(Z, y, weight)
    moments, ridges = statistics.moments(intercept), np.full(y.shape[1], ridge)

    def passes():
        for part in np.array_split(np.arange(len(Z)), 3):
            yield slice(part[0], part[-1] + 1), Z[part]

    return minimise(passes, y, weight, loss, ridges, moments, max_iter, tol, "Owner", bound)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 0.05])
@pytest.mark.parametrize(("loss", "outputs"), LOSSES, ids=lambda v: type(v).__name__)
def test_smooth_risks_satisfy_the_conditions_on_the_box(loss, outputs, ridge, intercept):
    Z, y, weight = problem(outputs=outputs, k=20)
    bound, share = 0.1, weight / weight.sum()
    found = solved(Z, y, weight, loss, ridge, bound, intercept)
    coef, constant = found.coef, found.intercept
    slope = share[:, None] * loss.derivative(Z @ coef + constant, y)
    gradient = Z.T @ slope + ridge * coef
    assert np.abs(coef).max() <= bound
    inside = np.abs(coef) < bound
    assert 0 < inside.sum() < inside.size
    start = risk(Z, y, share, loss, 0, np.zeros_like(coef), 0 * constant)
    # With an intercept, a slope of tol is left; columns have mean 2.
    left = 3e-7 * start / bound
    distance = bound - np.abs(coef)
    assert (np.abs(gradient) * distance)[inside].max() <= left * bound
    assert (gradient * np.sign(coef))[~inside].max() <= left
    if intercept:
        assert np.abs(slope.sum(axis=0)).max() <= 1e-7 * start
    else:
        assert (constant == 0).all()
        assert excess_within(gradient, coef, bound) <= 1.001e-7 * start


@pytest.mark.parametrize("intercept", [True, False])
def test_a_smooth_risk_is_that_of_another_solver(intercept):
    Z, y, _ = problem(k=12)
    share, loss = np.full(len(Z), 1 / len(Z)), Logistic()
    found = solved(Z, y, None, loss, 0.0, 0.1, intercept)

    def objective(v):
        return risk(Z, y, share, loss, 0.0, v[:-1, None], v[-1])

    limits = [(-0.1, 0.1)] * 12 + [(None, None) if intercept else (0, 0)]
    options = {"ftol": 1e-12, "maxiter": 1000}
    other = minimize(objective, np.zeros(13), method="SLSQP", bounds=limits, options=options)
    value = risk(Z, y, share, loss, 0.0, found.coef, found.intercept)
    assert value == pytest.approx(other.fun, abs=1e-7)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("bound", [0.01, 0.1, 2.0])
def test_the_hinge_is_minimised_within_the_tolerance(bound, intercept):
    """Against a linear programme, which is exact."""
    Z, y, weight = problem(n=80, k=12)
    n, k = Z.shape
    share = weight / weight.sum()
    signed = y * np.hstack([Z, np.full((n, 1), float(intercept))])
    cost = np.concatenate([np.zeros(k + 1), share])
    limits = [(-bound, bound)] * k + [(None, None)] + [(0, None)] * n
    least = linprog(cost, -np.hstack([signed, np.eye(n)]), -np.ones(n), bounds=limits).fun
    found = solved(Z, y, weight, Hinge(), 0.0, bound, intercept, tol=1e-4)
    value = risk(Z, y, share, Hinge(), 0.0, found.coef, found.intercept)
    assert np.abs(found.coef).max() <= bound
    assert -1e-9 <= value - least <= 1e-4


def test_a_bound_that_is_loose_changes_nothing():
    Z, y, _ = problem(outputs=3)
    for loss in (Softmax(), SquaredHinge(), Hinge()):
        free = solved(Z, y, None, loss, 0.05, None, True, tol=1e-6)
        loose = solved(Z, y, None, loss, 0.05, 100.0, True, tol=1e-6)
        np.testing.assert_array_equal(free.coef, loose.coef)
        tight = solved(Z, y, None, loss, 0.05, np.abs(free.coef).max() / 2, True, tol=1e-6)
        assert np.abs(tight.coef).max() == np.abs(free.coef).max() / 2


def test_how_far_the_risk_may_be_above_its_minimum_is_reported():
    Z, y, _ = problem(n=80, k=12)
    with pytest.warns(
        ConvergenceWarning, match=r"Owner: within weight_bound .*may be up to .*Remedy: a larger"
    ):
        solved(Z, y, None, Hinge(), 0.0, 0.1, True, tol=1e-12, max_iter=3)

"""Dual coordinate ascent, against a literal transcription and the optima of other solvers."""

import re

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC, LinearSVR

import naive
from cases import inputs
from trickless.baselines import SDCAClassifier, SDCARegressor
from trickless.functions.stream import Purpose, generator
from trickless.solvers.named_losses import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    make_loss,
)

N, ALPHA, EPSILON = 80, 0.02, 0.15
X = inputs(N, 3)
K = rbf_kernel(X, gamma=0.5)
LABELS = np.where(np.sin(2 * X[:, 0]) + 0.5 * inputs(N, 1, seed=1)[:, 0] > 0, 1.0, -1.0)
TARGETS = np.sin(2 * X[:, 0]) + 0.3 * inputs(N, 1, seed=1)[:, 0]
LOSSES = sorted({*REGRESSION_LOSSES, *CLASSIFICATION_LOSSES})


def factor():
    """Features with the kernel matrix as their Gram matrix."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0))


def learner(loss, **options):
    options = {"kernel_params": {"gamma": 0.5}, "alpha": ALPHA, "random_state": 0} | options
    if loss in REGRESSION_LOSSES:
        return SDCARegressor(loss=loss, epsilon=EPSILON, **options)
    return SDCAClassifier(loss=loss, **options)


def problem(loss):
    return TARGETS if loss in REGRESSION_LOSSES else LABELS


def values(model):
    """f at the rows, without the intercept."""
    f = model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)
    return f - model.intercept_[0]


def norm(model):
    c = model.dual_coef_[:, 0]
    return c @ rbf_kernel(model.support_vectors_, gamma=0.5) @ c


def objective(loss, f, y, square):
    return make_loss(loss, 1, EPSILON).value(f[:, None], y[:, None]).mean() + ALPHA / 2 * square


def optimum(loss, y):
    """The minimum of the objective, found by a general solver on the features."""
    phi, loss = factor(), make_loss(loss, 1, EPSILON)

    def both(w):
        f = (phi @ w)[:, None]
        value = loss.value(f, y[:, None]).mean() + ALPHA / 2 * w @ w
        return value, phi.T @ loss.derivative(f, y[:, None])[:, 0] / N + ALPHA * w

    return minimize(both, np.zeros(N), jac=True, tol=1e-14, options={"maxiter": 10_000}).fun


def reference(loss, y):
    """The optimum by the solvers that scikit-learn has."""
    phi, options = factor(), {"fit_intercept": False, "tol": 1e-10, "max_iter": 10**6}
    C = 1 / (N * ALPHA)
    match loss:
        case "hinge" | "squared_hinge":
            w = LinearSVC(C=C, loss=loss, dual=True, **options).fit(phi, y).coef_[0]
        case "log_loss":
            w = LogisticRegression(C=C, **options).fit(phi, y).coef_[0]
        case "epsilon_insensitive":
            w = LinearSVR(C=C, epsilon=EPSILON, loss=loss, dual=True, **options).fit(phi, y).coef_
        case _:
            return optimum(loss, y)
    return objective(loss, phi @ w, y, w @ w)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_objective_is_that_of_other_solvers(loss):
    y = problem(loss)
    model = learner(loss, tol=1e-7, max_iter=1000).fit(X, y)
    y = y - model.intercept_[0]
    reached, best = objective(loss, values(model), y, norm(model)), reference(loss, y)
    assert reached == pytest.approx(model.objective_[0], rel=1e-9)
    assert -1e-6 <= reached - best <= model.dual_gap_[0] + 1e-6
    assert 0 <= model.dual_gap_[0] <= 1e-7 * objective(loss, 0 * y, y, 0)


def test_the_squared_loss_is_kernel_ridge_regression():
    model = learner("squared_error", tol=1e-15).fit(X, TARGETS)
    y = TARGETS - TARGETS.mean()
    np.testing.assert_allclose(model.intercept_, TARGETS.mean())
    exact = np.linalg.solve(K + N * ALPHA * np.eye(N), y)
    np.testing.assert_allclose(model.dual_coef_[:, 0], exact, atol=1e-7)
    np.testing.assert_allclose(values(model), K @ exact, atol=1e-7)


@pytest.mark.parametrize(
    ("loss", "step"),
    [
        ("squared_error", lambda a, f, y, q: (y - f - a) / (1 + q)),
        ("hinge", lambda a, f, y, q: y * max(0, min(1, (1 - y * f) / q + a * y)) - a),
    ],
)
def test_steps_are_those_of_the_paper(loss, step):
    y = problem(loss)
    with pytest.warns(ConvergenceWarning):
        model = learner(loss, max_iter=3, tol=1e-15).fit(X, y)
    y = y - model.intercept_[0]
    orders = [generator(0, Purpose.SHUFFLE, epoch).permutation(N) for epoch in range(3)]
    phi = factor()
    a, w = naive.sdca(phi, y, orders, ALPHA, step)
    np.testing.assert_allclose(values(model), phi @ w, atol=1e-8)
    np.testing.assert_allclose(model.dual_coef_[:, 0], a[a != 0] / (ALPHA * N), atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_gap_bounds_what_is_missing_and_closes(loss):
    y = problem(loss)
    gaps, missing = [], []
    best = optimum(loss, y - (y.mean() if loss in REGRESSION_LOSSES else 0))
    for max_iter in (1, 2, 4, 8, 16):
        with pytest.warns(ConvergenceWarning, match=r"the duality gap is .* above tol.*Remedy"):
            model = learner(loss, max_iter=max_iter, tol=1e-18).fit(X, y)
        assert model.n_iter_ == max_iter
        gaps.append(model.dual_gap_[0])
        missing.append(model.objective_[0] - best)
    assert all(gap >= 0 for gap in gaps)
    assert all(short <= gap + 1e-6 for short, gap in zip(missing, gaps, strict=True))
    assert gaps[-1] < 0.05 * gaps[0]


def test_outputs_share_the_kernel_and_stop_apart():
    Y = np.column_stack([TARGETS, 100 * X[:, 1], np.ones(N)])
    options = {"tol": 1e-4, "alpha": 0.01}
    both = learner("squared_error", **options).fit(X, Y)
    assert both.dual_gap_.shape == both.objective_.shape == (3,)
    np.testing.assert_array_equal(both.dual_coef_[:, 2], 0)
    for output in range(3):
        alone = learner("squared_error", **options).fit(X, Y[:, output])
        np.testing.assert_allclose(both.predict(X)[:, output], alone.predict(X), atol=1e-10)
        np.testing.assert_allclose(both.dual_gap_[output], alone.dual_gap_[0], atol=1e-12)
    assert alone.n_iter_ == 0
    assert alone.support_vectors_.shape == (0, 3)
    np.testing.assert_array_equal(alone.predict(X), 1)


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_classes_are_learned_one_against_the_rest(loss):
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = learner(loss, tol=1e-6).fit(X, y)
    assert model.score(X, y) > 0.9
    for c in range(3):
        alone = learner(loss, tol=1e-6).fit(X, y == c).decision_function(X)
        np.testing.assert_allclose(model.decision_function(X)[:, c], alone, atol=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_weight_of_two_is_the_row_twice(loss):
    y, weight = problem(loss), np.arange(N) % 3
    repeat = np.repeat(np.arange(N), weight)
    options = {"tol": 1e-11, "max_iter": 3000}
    weighted = learner(loss, **options).fit(X, y, sample_weight=weight)
    repeated = learner(loss, **options).fit(X[repeat], y[repeat])
    np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-9)
    np.testing.assert_allclose(values(weighted), values(repeated), atol=1e-4)


def test_sparse_rows_give_the_model_of_dense_rows():
    rows = X * (inputs(N, 3, seed=2) > 0)
    dense = learner("hinge").fit(rows, LABELS)
    sparse = learner("hinge").fit(scipy.sparse.csr_matrix(rows), LABELS)
    np.testing.assert_allclose(sparse.predict(rows), dense.predict(rows), atol=1e-10)
    assert 0 < sparse.support_vectors_.shape[0] < N


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_that_the_kernel_does_not_see_do_no_harm(loss):
    rows = X.copy()
    rows[::4] = 0
    model = learner(loss, kernel="linear", kernel_params=None, max_iter=1000)
    model.fit(rows, problem(loss))
    assert np.isfinite(model.dual_coef_).all()


def test_a_function_that_is_no_kernel_is_refused():
    def repelling(x, y):
        return 1.0 if (x == y).all() else -0.9

    y = np.where(np.arange(N) < 5, -1, 1)
    with pytest.raises(ValueError, match=r"squared norm -.*not positive semi-definite.*Remedy"):
        SDCAClassifier(repelling, loss="squared_error", random_state=0).fit(X, y)


def test_a_gap_that_stays_open_is_warned_of_at_the_line_of_the_user():
    with pytest.warns(ConvergenceWarning, match="after max_iter=1 epochs") as caught:
        learner("hinge", max_iter=1, tol=1e-9).fit(X, LABELS)
    assert caught[0].filename == __file__


def test_the_warning_names_the_gap_in_units_of_the_objective():
    y = 1000 * TARGETS
    with pytest.warns(ConvergenceWarning) as caught:
        model = learner("squared_error", max_iter=1, tol=1e-9).fit(X, y)
    gap = float(re.search(r"the duality gap is (\S+) of the objective", str(caught[0].message))[1])
    assert gap == pytest.approx(model.dual_gap_[0] / model.objective_[0], rel=0.06)  # two digits

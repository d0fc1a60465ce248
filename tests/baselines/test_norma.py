"""NORMA against a literal transcription, on the same rows in the same order."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics.pairwise import rbf_kernel

import naive
import trickless.functions.exact_kernel
from cases import inputs
from trickless.baselines import KernelGradientRegressor, NORMAClassifier, NORMARegressor
from trickless.solvers.exact import norma as solver
from trickless.solvers.named_losses import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    make_loss,
)

ALPHA, GAMMA = 0.05, 0.5
STEPS = {
    "sqrt": lambda t: 0.7 / np.sqrt(t),
    "inverse": lambda t: 0.7 / (1 + 0.7 * ALPHA * (t - 1)),
    "constant": lambda t: 0.7 + 0 * t,
}


def norma(task=NORMARegressor, **options):
    options = {"kernel_params": {"gamma": GAMMA}, "alpha": ALPHA, "step_size": 0.7} | options
    return task(**options)


def transcribed(X, y, loss, steps, most=None, alpha=ALPHA, K=None):
    def slope(f, target):
        return loss.derivative(f[None], target[None])[0]

    K = rbf_kernel(X, gamma=GAMMA) if K is None else K
    return naive.norma(K, y, slope, steps, alpha, most)


def expansion(model, X):
    """Coefficients of a model as if it had kept every row of X."""
    alpha = np.zeros((len(X), model.dual_coef_.shape[1]))
    place = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in model.support_vectors_]
    alpha[place] = model.dual_coef_
    return alpha


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(trickless.functions.exact_kernel, "BLOCK_ROWS", 16)


@pytest.mark.parametrize("schedule", STEPS)
@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_rounds_of_regression_are_those_of_the_paper(loss, schedule):
    X = inputs(50, 3)
    y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1]])
    model = norma(loss=loss, schedule=schedule, epsilon=0.2).partial_fit(X, y)
    steps = STEPS[schedule](1.0 + np.arange(50))
    centred = y - y.mean(axis=0)
    alpha, _, predictions = transcribed(X, centred, make_loss(loss, 2, 0.2), steps)
    np.testing.assert_allclose(expansion(model, X), alpha, atol=1e-10)
    x = inputs(7, 3, seed=1)
    expected = rbf_kernel(x, X, gamma=GAMMA) @ alpha + y.mean(axis=0)
    np.testing.assert_allclose(model.predict(x), expected, atol=1e-10)
    rows, errors = model.online_error_.T
    np.testing.assert_array_equal(rows, [16, 16, 16, 2])
    error = ((predictions - centred) ** 2).sum(axis=1)
    assert rows @ errors == pytest.approx(error.sum(), abs=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", CLASSIFICATION_LOSSES)
def test_rounds_of_classification_are_those_of_the_paper(loss, n_classes):
    X = inputs(50, 3)
    y = np.digitize(X[:, 0], [0.0] if n_classes == 2 else [-0.5, 0.5])
    model = norma(NORMAClassifier, loss=loss, schedule="sqrt").partial_fit(X, y)
    n_outputs = 1 if n_classes == 2 else 3
    targets = 2.0 * (y[:, None] == (np.arange(3) if n_classes == 3 else [1])) - 1
    steps = STEPS["sqrt"](1.0 + np.arange(50))
    alpha, _, _ = transcribed(X, targets, make_loss(loss, n_outputs), steps)
    np.testing.assert_allclose(expansion(model, X), alpha, atol=1e-10)
    if loss == "hinge" and n_classes == 2:
        assert len(model.support_vectors_) < 50
    assert model.predict_proba(X).shape == (50, n_classes)


def test_the_average_is_that_of_the_rounds():
    X = inputs(50, 3)
    y = np.sin(2 * X[:, :1])
    model = norma(average=True).partial_fit(X[:21], y[:21, 0]).partial_fit(X[21:], y[21:, 0])
    steps = STEPS["inverse"](1.0 + np.arange(50))
    _, history, _ = transcribed(X, y - y[:21].mean(), make_loss("squared_error"), steps)
    np.testing.assert_allclose(expansion(model, X), np.mean(history, axis=0), atol=1e-10)


@pytest.mark.parametrize("most", [2, 5, 20, 100])
@pytest.mark.parametrize("loss", ["squared_error", "epsilon_insensitive"])
def test_truncation_keeps_the_latest_terms(loss, most):
    X = inputs(60, 3)
    y = np.sin(2 * X[:, :1])
    model = norma(loss=loss, schedule="constant", max_support=most)
    for rows in (slice(0, 25), slice(25, 26), slice(26, 60)):
        model.partial_fit(X[rows], y[rows, 0])
    steps = STEPS["constant"](1.0 + np.arange(60))
    alpha, _, _ = transcribed(X, y - y[:25].mean(), make_loss(loss), steps, most)
    np.testing.assert_allclose(expansion(model, X), alpha, atol=1e-10)
    assert len(model.support_vectors_) <= most


@pytest.mark.parametrize("schedule", STEPS)
def test_the_loss_by_truncation_is_bounded(schedule):
    """Proposition 1: the norm of terms older than τ rounds, for a loss of slopes up to 1."""
    X, tau = inputs(200, 3), 30
    y = np.sin(2 * X[:, 0])
    model = norma(loss="epsilon_insensitive", schedule=schedule, shuffle=False).fit(X, y)
    old = expansion(model, X)[:-tau, 0]
    norm = np.sqrt(old @ rbf_kernel(X[:-tau], gamma=GAMMA) @ old)
    steps = STEPS[schedule](1.0 + np.arange(200))
    bound = np.prod(1 - steps[-tau:] * ALPHA) / ALPHA
    assert 0 < norm <= bound


def test_a_stream_gives_the_model_of_all_rows():
    X = inputs(100, 3)
    y = np.sin(2 * X[:, 0]) > 0
    options = {"step_size": "auto", "kernel": "linear", "kernel_params": None}
    expected = norma(NORMAClassifier, shuffle=False, **options).fit(X, y).decision_function(X)
    for size in (1, 7, 40):
        parts = norma(NORMAClassifier, **options)
        for start in range(0, 100, size):
            rows = slice(start, start + size)
            parts.partial_fit(X[rows], y[rows], classes=[False, True])
        assert parts.n_rounds_ == 100
        assert parts.kernel_bound_ == pytest.approx(np.diag(X @ X.T).max())
        np.testing.assert_allclose(parts.decision_function(X), expected, atol=1e-12)


@pytest.mark.parametrize("schedule", ["sqrt", "constant"])
def test_norma_without_regularisation_is_online_descent_with_the_exact_kernel(schedule):
    X = inputs(80, 3)
    y = np.sin(2 * X[:, 0])
    y = (y - y.mean()) / 2
    options = {"kernel_params": {"gamma": GAMMA}, "schedule": schedule, "step_size": 0.4}
    options["average"] = False
    other = KernelGradientRegressor(batch_size=1, y_range=(-1, 1), **options).partial_fit(X, y)
    for alpha, atol in ((0.0, 1e-12), (1e-9, 1e-6)):
        model = NORMARegressor(alpha=alpha, **options).partial_fit(X, y)
        np.testing.assert_allclose(expansion(model, X), other.dual_coef_, atol=atol)


def test_norma_learns_and_approaches_the_optimum():
    X = inputs(1500, 2)
    y = np.sin(2 * X[:, 0])
    K = rbf_kernel(X, gamma=GAMMA)

    def objective(model):
        f = model.predict(X) - y.mean()
        c = expansion(model, X)[:, 0]
        return ((f - y + y.mean()) ** 2).mean() / 2 + ALPHA / 2 * c @ K @ c

    c = np.linalg.solve(K + 1500 * ALPHA * np.eye(1500), y - y.mean())
    f = K @ c
    best = ((f - y + y.mean()) ** 2).mean() / 2 + ALPHA / 2 * c @ f
    excess = [objective(norma(random_state=0).fit(X[:n], y[:n])) - best for n in (30, 1500)]
    assert 0 <= excess[1] < excess[0] / 10
    labels = np.digitize(y, [-0.5, 0.5])
    model = norma(NORMAClassifier, loss="hinge", alpha=1e-3, step_size="auto", random_state=0)
    assert model.fit(X, labels).score(X, labels) > 0.75


def test_sparse_rows_give_the_model_of_dense_rows():
    X = inputs(100, 5) * (inputs(100, 5, seed=1) > 0)
    y = np.sin(X[:, 0])
    dense = norma(random_state=0, max_support=40).fit(X, y)
    sparse = norma(random_state=0, max_support=40).fit(scipy.sparse.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.predict(X), dense.predict(X), atol=1e-10)


@pytest.mark.parametrize("loss", ["squared_error", "epsilon_insensitive"])
def test_automatic_steps_allow_for_the_curvature_the_kernel_and_alpha(loss):
    """A loss of slopes ±1 is as curved as the inverse of the targets' mean distance from b."""
    X = inputs(40, 3)
    y = 100 * np.sin(2 * X[:, :1])
    model = NORMARegressor("linear", loss=loss, alpha=0.7).partial_fit(X, y[:, 0])
    centred = y - y.mean()
    curvature = 1 / np.abs(centred).mean() if loss == "epsilon_insensitive" else 1.0
    K = X @ X.T
    first = 1 / (curvature * np.maximum.accumulate(np.diag(K)) + 0.7)
    steps = first / (1 + first * 0.7 * np.arange(40))
    alpha, _, _ = transcribed(X, centred, make_loss(loss, 1, 0.1), steps, alpha=0.7, K=K)
    np.testing.assert_allclose(expansion(model, X), alpha, atol=1e-10)


def test_automatic_steps_follow_the_kernel():
    """Rows far larger than the first do not make it diverge, and zeros do no harm."""
    X = np.vstack([np.zeros((1, 2)), 1e-3 * inputs(50, 2), 1e-2 * inputs(200, 2, seed=1)])
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    for alpha in (0.0, 1e-3):
        model = NORMARegressor("linear", alpha=alpha)
        for row in range(3):
            model.partial_fit(X[row : row + 1], y[row : row + 1])
        model.partial_fit(X[3:], y[3:])
        assert np.abs(model.predict(X)).max() < 30
    with pytest.raises(ValueError, match=r"diverged.*Remedy: k\(x, x\) differs too much between"):
        model.partial_fit(1e5 * X[3:], y[3:])


def test_steps_that_diverge_are_refused():
    X = inputs(400, 3)
    y = np.sin(2 * X[:, 0])
    model = norma(kernel="linear", kernel_params=None, schedule="constant", step_size=15.0)
    with pytest.raises(ValueError, match=r"diverged within .*Remedy: step_size=15.0 is too"):
        model.fit(X, y)
    assert not hasattr(model, "intercept_")
    with pytest.raises(ValueError, match=r"step_size=30.0 with alpha=0.05 decays.* = -0.5.*Remedy"):
        norma(schedule="sqrt", step_size=30.0).fit(X, y)
    huge = norma(kernel="linear", kernel_params=None, schedule="constant", alpha=0.0)
    with pytest.raises(ValueError, match=r"mean loss is (inf|nan|.*e\+).*Remedy"):
        huge.set_params(step_size=1e200).fit(X, y)
    good = norma(step_size=0.5).partial_fit(X[:50], y[:50])
    before = good.predict(X)
    with pytest.raises(ValueError, match="diverged"):
        good.set_params(step_size=1e6, alpha=0.0).partial_fit(X[50:66], y[50:66])
    np.testing.assert_array_equal(good.predict(X), before)


def test_an_average_needs_every_term():
    X = inputs(30, 3)
    with pytest.raises(ValueError, match=r"average=True with max_support=10.*Remedy"):
        norma(average=True, max_support=10).fit(X, X[:, 0])
    model = norma().partial_fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"average=True.*begun with average=False.*Remedy"):
        model.set_params(average=True).partial_fit(X, X[:, 0])


@pytest.mark.parametrize("n_rounds", [0, 32])
def test_a_ctrl_c_leaves_the_rounds_that_were_made(n_rounds, monkeypatch):
    X = inputs(50, 3)
    y = np.sin(2 * X[:, :1])
    rounds = solver.NORMA._rounds

    def interrupted(self, *args):
        if self.n_rounds == n_rounds:
            raise KeyboardInterrupt
        rounds(self, *args)

    monkeypatch.setattr(solver.NORMA, "_rounds", interrupted)
    model = norma(shuffle=False)
    untouched = dict(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y[:, 0])
    if n_rounds == 0:
        assert vars(model) == untouched
        return
    steps, centred = STEPS["inverse"](1.0 + np.arange(32)), y - y.mean()
    alpha, _, _ = transcribed(X[:32], centred[:32], make_loss("squared_error"), steps)
    np.testing.assert_allclose(expansion(model, X[:32]), alpha, atol=1e-10)


def stream_of(n_batches, **options):
    """R² on new rows after a stream, of which the latest 60 terms are kept."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50 * n_batches + 500, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    model = NORMARegressor(**{"alpha": 0.02, "max_support": 60} | options)
    for rows in np.split(np.arange(50 * n_batches), n_batches):
        model.partial_fit(X[rows], y[rows])
    return model.score(X[-500:], y[-500:])


def test_a_bounded_support_does_not_forget_in_a_long_stream():
    assert min(stream_of(5), stream_of(150)) > 0.6


@pytest.mark.parametrize("schedule", ["inverse", "sqrt"])
def test_steps_that_forget_with_a_bounded_support_warn_once(schedule):
    with pytest.warns(UserWarning, match=r"max_support=60.*forgotten. Remedy: schedule=") as seen:
        score = stream_of(150, schedule=schedule)
    assert len(seen) == 1
    assert score < 0.3


def test_a_short_stream_does_not_warn_of_forgetting():
    stream_of(5, schedule="inverse")
    stream_of(5, schedule="sqrt", max_support=None)


@pytest.mark.parametrize(("most", "schedule"), [(None, "inverse"), (60, "constant")])
def test_automatic_steps_are_constant_where_terms_are_dropped(most, schedule):
    X = inputs(80, 2)
    y = np.sin(X[:, 0])
    automatic, given = (
        norma(max_support=most, shuffle=False, schedule=name).fit(X, y)
        for name in ("auto", schedule)
    )
    np.testing.assert_array_equal(automatic.predict(X), given.predict(X), strict=True)

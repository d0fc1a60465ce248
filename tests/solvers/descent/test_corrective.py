"""The corrective solve, against dense systems and against what held-out rows say."""

import numpy as np
import pytest
from sklearn.base import clone

from cases import inputs
from trickless import DoublyStochasticClassifier, DoublyStochasticRegressor
from trickless.learners.descents import options_of, rows_apart
from trickless.neurons import Gaussian, Mixture, Trees
from trickless.solvers.descent import corrective
from trickless.solvers.descent.batches import MiniBatch
from trickless.solvers.descent.corrective import (
    LAMBDAS,
    MOST_ITERATIONS,
    Correction,
    Judged,
    LeafMatrix,
    System,
    correct,
    is_possible,
    judge,
    solve,
)

KINDS = ["squares", "weights", "outputs", "log loss", "classes", "linear", "binary"]


def data(n=240, noise=0.3, seed=0):
    X = inputs(n, 3, seed)
    noise = noise * np.random.default_rng(seed + 100).standard_normal(n)
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + noise


def problem(kind, noise=0.3, n_neurons=12):
    """A model, the batches of its training rows, and a batch of others."""
    (X, y), (X_new, y_new) = data(noise=noise), data(90, noise, seed=1)
    learner, family, weight = DoublyStochasticRegressor, Trees(3, leaves="constant"), None
    if kind == "weights":
        weight = np.random.default_rng(0).uniform(0.5, 1.5, 240)
    if kind == "outputs":
        y, y_new = np.stack([y, 1e3 * X[:, 0]], 1), np.stack([y_new, 1e3 * X_new[:, 0]], 1)
    if kind == "linear":
        family = Trees(3, leaves="linear")
    if kind == "binary":
        family = Trees(shape="binary", max_leaves=6)
    if kind in ("log loss", "classes"):
        learner, cuts = DoublyStochasticClassifier, [0.0] if kind == "log loss" else [-0.5, 0.5]
        y, y_new = np.digitize(y, cuts), np.digitize(y_new, cuts)
    model = learner(
        family, n_neurons, early_stopping=False, dtype="float64", random_state=0, n_jobs=1
    ).fit(X, y, weight)
    options = options_of(model)

    def batch(X, y, weight):
        X, targets, weight = rows_apart(model, X, y, weight)
        return MiniBatch(options.step.read(model.neurons_, X), targets, weight)

    halves = [slice(0, 100), slice(100, 240)]
    batches = [batch(X[s], y[s], None if weight is None else weight[s]) for s in halves]
    return model, (X, X_new), batches, batch(X_new, y_new, None), options


def dense(model, X):
    """The activations of rows, (n_rows, n_trees * width)."""
    n, width = model.neuron_coef_.shape[:2]
    Z = model.neurons_(X, model.network_.source.weights).reshape(len(X), width, n)
    return Z.swapaxes(1, 2).reshape(len(X), -1).astype(float)


def newton(model, X, batches, options):
    """Slopes and curvatures of all rows, times their weights."""
    network, coef = model.descent_, model.neuron_coef_
    f = dense(model, X) @ coef.reshape(-1, coef.shape[2]) + network.intercept
    targets = np.concatenate([batch.targets for batch in batches])
    g, h = options.step.loss.newton(f, targets, 1.0)
    if batches[0].weight is not None:
        share = np.concatenate([network.relative(batch.weight) for batch in batches])[:, None]
        g, h = g * share, h * share
    return g, h


def krylov(matrix, vector, n_iterations):
    """The minimum of a quadratic in the space of vector, matrix @ vector, and so on."""
    basis = vector[:, None] / np.linalg.norm(vector)
    for _ in range(n_iterations - 1):
        new = matrix @ basis[:, -1]
        for _ in range(2):
            new = new - basis @ (basis.T @ new)
        basis = np.column_stack([basis, new / np.linalg.norm(new)])
    return basis @ np.linalg.solve(basis.T @ matrix @ basis, basis.T @ vector)


@pytest.mark.parametrize("kind", KINDS)
def test_a_solve_is_that_of_the_dense_system(kind):
    model, (X, _), batches, _, options = problem(kind)
    system, A = System(model.descent_, batches, options), dense(model, X)
    g, h = newton(model, X, batches, options)
    np.testing.assert_allclose(system.curvature, h.mean(axis=0), rtol=1e-6)
    n, width, n_outputs = model.neuron_coef_.shape
    start = np.abs(A.T @ g).max(axis=0)
    np.testing.assert_allclose(
        system.start.reshape(-1, n_outputs) / start, A.T @ g / start, atol=1e-8
    )
    for ridge in (1.0, 1000.0):
        found = {k: solve(system, Correction(ridge, k)) for k in (1, 4, 400)}
        for o in range(n_outputs):
            matrix = A.T @ (h[:, o, None] * A) + ridge * h[:, o].mean() * np.eye(n * width)
            exact = np.linalg.solve(matrix, A.T @ g[:, o])
            scale = np.abs(exact).max()
            for k, move in found.items():
                expected = exact if k == 400 else krylov(matrix, A.T @ g[:, o], k)
                ours = move.reshape(-1, n_outputs)[:, o]
                np.testing.assert_allclose(ours / scale, expected / scale, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_all_ridges_share_the_products_of_one_sequence(kind):
    """Each moves the held-out rows as a solve of its own does, after any number of iterations."""
    model, (_, X_new), batches, apart, options = problem(kind)
    matrix = LeafMatrix(model.descent_, [apart], options)
    paths = list(corrective._paths(System(model.descent_, batches, options), matrix))
    assert len(paths) == MOST_ITERATIONS
    system, B = System(model.descent_, batches, options), dense(model, X_new)
    for k, moved in enumerate(paths, 1):
        for ridge, ours in zip(LAMBDAS, moved, strict=True):
            move = solve(system, Correction(ridge, k))
            theirs = B @ move.reshape(-1, move.shape[2])
            scale = np.abs(theirs).max(axis=0)
            np.testing.assert_allclose(ours / scale, theirs / scale, atol=1e-4)  # of choices


@pytest.mark.parametrize("kind", ["squares", "weights", "outputs", "log loss"])
@pytest.mark.parametrize("noise", [0.05, 2.0])
def test_the_choice_is_the_surest_gain_beyond_two_standard_errors(kind, noise):
    model, (_, X_new), batches, apart, options = problem(kind, noise)
    network, loss, B = model.descent_, options.step.loss, dense(model, X_new)
    network.bring_up_to_date(apart, 1)
    f = apart.f + network.intercept
    system, y, unit = System(network, batches, options), apart.targets, []
    for o in range(y.shape[1]):
        start = np.broadcast_to(network.constant, y.shape)[:, [o]]
        unit.append(loss.value(start, y[:, [o]]).mean())

    def lost(f):
        each = [loss.value(f[:, [o]], y[:, [o]]) / unit[o] for o in range(y.shape[1])]
        return np.mean(each, axis=0)

    best, expected, last = 0.0, None, 0
    for k in range(1, MOST_ITERATIONS + 1):
        for ridge in LAMBDAS:
            move = solve(system, Correction(ridge, k))
            gain = lost(f) - lost(f + B @ move.reshape(-1, move.shape[2]))
            if (sure := gain.mean() - 2 * gain.std() / np.sqrt(len(gain))) > best:
                best, expected, last = sure, Correction(ridge, k), k
        if k - last >= 3:
            break
    assert judge([Judged(network, apart, batches)], options)[0] == expected
    assert (expected is not None) == (noise == 0.05)


def test_decay_and_mixtures_allow_no_solve():
    X, y = data()
    options = {"early_stopping": False, "random_state": 0}
    for family, alpha, possible in (
        (Trees(3), 0.0, True),
        (Trees(3), 1e-3, False),
        (Mixture([Gaussian(), Trees(3)]), 0.0, False),
        (Gaussian(), 0.0, False),
    ):
        model = DoublyStochasticRegressor(family, 20, alpha=alpha, **options).fit(X, y)
        assert is_possible(model.descent_, len(X), options_of(model)) == possible
        if not possible:
            judged = Judged(model.descent_, None, [])
            assert judge([judged], options_of(model))[0] is None


def fitted(n=1200, noise=0.05, seed=0, **options):
    X, y = data(n, noise, seed)
    options = {"n_neurons": 60, "random_state": seed, "n_jobs": 1} | options
    return DoublyStochasticRegressor(Trees(4, leaves="constant"), **options), X, y


@pytest.fixture
def corrections(monkeypatch):
    """The corrections of fits, and whether they are allowed."""

    class Seen(list):
        allowed = True

    def chosen(judged, options):
        correction, rows = judge(judged, options) if seen.allowed else (None, None)
        seen.append(correction)
        return correction, rows

    seen = Seen()
    monkeypatch.setattr("trickless.solvers.descent.passes.judge", chosen)
    return seen


@pytest.mark.parametrize("n", [800, 1200])  # in folds, and once
def test_a_fit_with_little_noise_predicts_new_rows_better(n, corrections):
    gained, (X_new, y_new) = [], data(4000, 0.05, seed=50)
    for seed in range(10):
        model, X, y = fitted(n, seed=seed, n_neurons=40)
        scores = []
        for corrections.allowed in (True, False):
            scores.append(clone(model).fit(X, y).score(X_new, y_new))
        gained.append(scores[0] - scores[1])
    assert corrections[0] is not None
    assert np.mean(gained) > 3 * np.std(gained, ddof=1) / np.sqrt(10) > 0


def test_noise_is_not_corrected(corrections):
    for seed in range(8):
        model, X, _ = fitted(seed=seed)
        y = np.random.default_rng(seed + 30).standard_normal(1200)
        model.fit(X, y + 0.2 * X[:, 0])
    assert corrections == [None] * 8


@pytest.mark.parametrize("n", [800, 1200])
def test_threads_change_no_bit_and_many_rows_are_not_corrected(n, corrections, monkeypatch):
    expected, X, y = fitted(n, n_neurons=40)
    expected.fit(X, y)
    monkeypatch.setattr("trickless.solvers.descent.slopes._ROWS", 256)
    monkeypatch.setattr("trickless.solvers.descent.slopes._WORTH_THREADS", 256)
    model = clone(expected).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(model.neuron_coef_, expected.neuron_coef_)
    monkeypatch.setattr(corrective, "MOST_LEAVES", 100)
    clone(expected).fit(X, y)
    assert corrections[0] is not None
    assert corrections[1:] == [corrections[0], None]


def test_a_correction_moves_all_coefficients_by_its_solve():
    model, _, batches, _, options = problem("squares")
    network, before = model.descent_, model.neuron_coef_
    move = solve(System(network, batches, options), Correction(10.0, 5))
    correct(network, System(network, batches, options), Correction(10.0, 5))
    np.testing.assert_array_equal(model.neuron_coef_, before + move)
    assert move.any()

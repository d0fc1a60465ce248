"""Newton steps on linear leaves, against a ridge regression in each leaf."""

import numpy as np
import pytest

import naive
from cases import inputs
from trickless import DoublyStochasticClassifier, DoublyStochasticRegressor
from trickless.neurons import Trees


def table(n=200):
    X = inputs(n, 3)
    X[::5, 1] = np.nan
    return X


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("depth", [2, 5])  # with few rows in a leaf, and none in some
def test_steps_are_ridge_regressions_in_each_leaf(depth, outputs, weighted):
    X, rng = table(), np.random.default_rng(0)
    Y = np.stack([X[:, 0] + X[:, 2] ** 2, 1e3 * np.sin(X[:, 2])][:outputs], axis=1)
    weight = rng.uniform(0.5, 1.5, 200) if weighted else np.ones(200)
    options = {"step_size": 0.3, "damping": 0.2, "dtype": "float64", "early_stopping": False}
    model = DoublyStochasticRegressor(
        Trees(depth, leaves="linear"), 6, n_candidates=1, random_state=0, **options
    ).fit(X, Y, weight if weighted else None)
    family, weights = model.neurons_, model.stream_.between(0, 6)
    leaf, width, m = family.leaf_numbers(X, weights), 2**depth, family.n_inputs
    z = family.linear_.everywhere(np, family.read(X), weights, float)[:, 1:]
    f, share = np.zeros_like(Y) + np.average(Y, axis=0, weights=weight), weight / weight.mean()
    coef = np.zeros((6, 1 + m, width, outputs))
    for t in range(6):
        rows = [leaf[:, t] == v for v in range(width)]
        for o in range(outputs):
            g = share * (Y[:, o] - f[:, o])
            ridge = 0.2 * share.sum() / width
            spreads = [
                (
                    share[r, None]
                    * (z[r, :, t] - np.average(z[r, :, t], axis=0, weights=share[r])) ** 2
                )
                for r in rows
                if r.any()
            ]
            mu = 3.0 * sum(map(np.sum, spreads)) / width / m
            for v, r in enumerate(rows):
                leaf_ = naive.newton_on_linear_leaf(z[r, :, t], g[r], share[r], ridge, mu)
                coef[t, :, v, o] = 0.3 * leaf_
        for v, r in enumerate(rows):
            f[r] += coef[t, 0, v] + z[r, :, t] @ coef[t, 1:, v]
    found = model.neuron_coef_.reshape(coef.shape)
    scale = np.abs(coef).max(axis=(0, 1, 2))
    np.testing.assert_allclose(found / scale, coef / scale, atol=1e-8)
    np.testing.assert_allclose(model.predict(X).reshape(Y.shape) / scale, f / scale, atol=1e-7)


@pytest.mark.parametrize("learner", [DoublyStochasticRegressor(), DoublyStochasticClassifier()])
def test_threads_blocks_and_batches_change_no_bit(learner, monkeypatch):
    X = table(400)
    y = X[:, 0] + np.nan_to_num(X[:, 1]) * X[:, 2]
    y = y if isinstance(learner, DoublyStochasticRegressor) else y > 0
    models = []
    for rows, n_jobs in ((2**14, 1), (64, 2)):
        monkeypatch.setattr("trickless.solvers.descent.slopes._ROWS", rows)
        monkeypatch.setattr("trickless.solvers.descent.slopes._WORTH_THREADS", rows)
        model = type(learner)(Trees(4, leaves="linear"), 30, random_state=0, n_jobs=n_jobs)
        models.append(model.fit(X, y))
        np.testing.assert_array_equal(models[-1].neuron_coef_, models[0].neuron_coef_)
        np.testing.assert_array_equal(models[-1].predict(X), models[0].predict(X))
    assert models[0].neurons_.n_inputs == 3
    assert models[0].score(X, y) > 0.8


def test_batches_are_learned_one_after_the_other():
    X = table(400)
    y = X[:, 0] + X[:, 2]
    model = DoublyStochasticRegressor(Trees(3, leaves="linear"), 60, random_state=0)
    for _ in range(10):
        model.partial_fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    assert len(model.neuron_coef_) == 20
    assert model.score(X, y) > 0.8

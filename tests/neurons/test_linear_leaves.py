"""Linear leaves: their inputs, their kernel, and a Newton step on them."""

import numpy as np
import pytest

from cases import inputs
from trickless import DoublyStochasticRegressor
from trickless.errors import InvalidValueError
from trickless.neurons import Trees
from trickless.neurons.linear_leaves import FIRST
from trickless.solvers.descent.slopes import Units
from trickless.solvers.descent.steps.leaves import Leaves
from trickless.solvers.descent.steps.linear_leaves import LinearLeaves

N = 20_000


def fitted(depth=3, gaps=False, n=400):
    X = inputs(n, 3)
    if gaps:
        X[::7, 1] = np.nan
    return Trees(depth, leaves="linear").fit(X, np.random.default_rng(0)), X


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("depth", [1, 3, 6])
def test_mean_of_products_is_the_kernel(depth, gaps):
    family, X = fitted(depth, gaps)
    rows = X[:8]
    Z = family.activate(rows, family.draw(np.random.default_rng(1), N))
    Z = Z.reshape(8, family.width, N).astype(float)
    products = np.einsum("iwn,jwn->ijn", Z, Z)
    error = products.std(axis=2, ddof=1) / np.sqrt(N)
    off = np.abs(products.mean(axis=2) - family.kernel(rows))
    assert (off <= 5 * error + 1e-6).all()


def test_activations_sums_and_pairs_agree_and_keep_the_bound():
    family, X = fitted(5, gaps=True)
    rng = np.random.default_rng(1)
    weights = family.draw(rng, 60)
    Z = family.activate(X, weights).reshape(len(X), family.width, 60)
    coef = rng.standard_normal((60, family.width, 2))
    expected = np.einsum("iwn,nwo->io", Z, coef)
    np.testing.assert_allclose(family.combine(X, weights, coef), expected, atol=1e-9)
    pairs = family.activate_pairs(X[:60], weights)
    np.testing.assert_allclose(pairs, Z[np.arange(60), :, np.arange(60)])
    norms = np.sqrt((Z.astype(float) ** 2).sum(axis=1))
    assert norms.max() <= family.bound == np.sqrt(1 + family.n_inputs)
    assert family.n_inputs == min(3, FIRST)


def test_a_step_is_a_constant_and_a_ridge_regression_of_centred_inputs_in_each_leaf():
    rng = np.random.default_rng(0)
    n, width = 300, 4
    leaf, z = rng.integers(0, width, n), rng.uniform(-1, 1, (2, n))
    g, h = rng.integers(-1000, 1000, n) * 1.0, rng.integers(1, 1000, n) * 1.0
    leaves = Leaves(leaf[None], width, np.array([width]))
    Z = LinearLeaves(leaves, [np.vstack([np.ones(n), z])], 2)
    got = Z.newton(np.stack([g, h]), 1).coefficients(Units(np.ones(1), np.ones(1)), 0.15)
    in_leaf = [leaf == v for v in range(width)]
    means = [np.average(z[:, some], axis=1, weights=h[some]) for some in in_leaf]
    spread = [
        ((z[:, some].T - mean) * h[some, None]).T @ (z[:, some].T - mean)
        for some, mean in zip(in_leaf, means, strict=True)
    ]
    mu = 3 * np.mean([np.trace(each) / 2 for each in spread])
    for v, (some, mean) in enumerate(zip(in_leaf, means, strict=True)):
        constant = g[some].sum() / (h[some].sum() + 0.15 * h.sum() / width)
        vector = (z[:, some].T - mean).T @ g[some]
        slopes = np.linalg.solve(spread[v] + mu * np.eye(2), vector)
        expected = [constant - slopes @ mean, *slopes]
        np.testing.assert_allclose(got.reshape(3, width)[:, v], expected, rtol=0.02, atol=0.02)
    f = np.zeros((n, 1))
    Z.add(f, got, 1)
    c = got.reshape(3, width)
    np.testing.assert_allclose(f[:, 0], c[0, leaf] + c[1, leaf] * z[0] + c[2, leaf] * z[1])


def test_rows_beyond_the_training_rows_count_as_their_end():
    X = inputs(800, 2)
    model = DoublyStochasticRegressor(Trees(leaves="linear"), random_state=0).fit(X, 3 * X[:, 0])
    far = np.array([[1e3, 0.0], [1e9, 0.0], [-1e9, 0.0]])
    end = np.array([[X[:, 0].max(), 0.0], [X[:, 0].max(), 0.0], [X[:, 0].min(), 0.0]])
    np.testing.assert_array_equal(model.predict(far), model.predict(end))


def test_new_gaps_stay_within_the_values_of_their_leaf():
    """The value 0 would be an extrapolation where the rows of a leaf are far from it."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.exponential(size=3000), rng.random(3000)])
    model = DoublyStochasticRegressor(Trees(leaves="linear"), random_state=0).fit(X, 5 * X[:, 0])
    got = model.predict([[np.nan, 0.5]])[0]
    assert 0 <= got <= 5 * X[:, 0].max()


def test_linear_leaves_fit_a_linear_function_better_and_win_the_race():
    X = inputs(1500, 3)
    y = X @ [1.0, -2.0, 0.5]
    models = {
        leaves: DoublyStochasticRegressor(Trees(4, leaves=leaves), 100, random_state=0)
        for leaves in ("constant", "linear", "auto")
    }
    scores = {
        name: m.fit(X[:1200], y[:1200]).score(X[1200:], y[1200:]) for name, m in models.items()
    }
    assert 1 - scores["linear"] < 0.7 * (1 - scores["constant"])
    assert scores["auto"] == scores["linear"]


def test_leaves_of_binary_trees_are_constant():
    model = DoublyStochasticRegressor(Trees(shape="binary", leaves="linear"))
    with pytest.raises(InvalidValueError, match=r"leaves='linear' with shape='binary'.*Remedy"):
        model.fit(inputs(50, 2), np.arange(50.0))

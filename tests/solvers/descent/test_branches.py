"""How binary trees are chosen: where they are deep, what noise does, and where new values go."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from trickless import DoublyStochasticRegressor
from trickless.neurons import Inputs, Trees
from trickless.solvers.descent.branches import choose_branches
from trickless.solvers.descent.cut_rows import NextTree


def fitted(X, max_leaves, depth="auto", n_categories=None):
    family = Trees(depth, shape="binary", max_leaves=max_leaves)
    if n_categories is not None:
        family.inputs_ = Inputs(np.array(n_categories))
    return family.fit(X, np.random.default_rng(0))


def chosen(family, X, g, candidates=20, ridge=1.0, seed=0, unexplained=1.0, prior=None):
    prior = np.ones(X.shape[1]) if prior is None else np.asarray(prior, dtype=float)
    rng = np.random.default_rng(seed)
    rows = family, family.read(X).T, g, np.ones_like(g), None, ridge, len(X)
    weights = choose_branches(NextTree(*rows, candidates, prior, unexplained, rng, 0))
    return tuple(array[None] for array in weights)


def explained(family, X, g, weights):
    """Return the share of the squares that means of leaves explain."""
    leaf = family.leaf_numbers(X, weights)[:, 0]
    n = np.maximum(np.bincount(leaf), 1)
    return 1 - np.mean((g - (np.bincount(leaf, g) / n)[leaf]) ** 2) / np.mean(g * g)


def test_a_tree_is_deep_where_the_data_are():
    """Steps on one half of the rows, and a constant on the other half."""
    rng = np.random.default_rng(0)
    X = rng.random((4000, 2))
    steps = rng.standard_normal(8)[np.floor(8 * X[:, 1]).astype(int)]
    g = np.where(X[:, 0] < 0.5, steps, 2.0)
    g -= g.mean()
    family = fitted(X, 24)
    weights = chosen(family, X, g, candidates=60)
    assert explained(family, X, g, weights) > 0.95
    leaf = family.leaf_numbers(X, weights)[:, 0]
    assert len(set(leaf[X[:, 0] > 0.52])) < 6 < len(set(leaf[X[:, 0] < 0.48]))


@pytest.mark.parametrize(("max_leaves", "depth"), [(2, "auto"), (11, "auto"), (40, 2)])
def test_trees_have_no_more_leaves_and_levels_than_they_may(max_leaves, depth):
    rng = np.random.default_rng(0)
    X = rng.random((2000, 3))
    g = np.sin(20 * X[:, 0]) + np.cos(30 * X[:, 1])
    family = fitted(X, max_leaves, depth)
    weights = chosen(family, X, g - g.mean())
    n = min(max_leaves, 2**2 if depth == 2 else 2**20)
    assert family.geometry.n_leaves(weights) == n
    assert set(family.leaf_numbers(X, weights)[:, 0]) == set(range(n))  # all of them have rows
    family.check_weights(weights)


def test_trees_on_noise_are_small():
    """Of 256 leaves they have fewer than 8 on average, by four standard errors."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 10))
    family, n = fitted(X, 256), []
    for seed in range(40):
        g = rng.standard_normal(1000)
        weights = chosen(family, X, g - g.mean(), candidates=8, seed=seed)
        n.append(family.geometry.n_leaves(weights)[0])
    assert np.mean(n) + 4 * np.std(n) / np.sqrt(len(n)) < 8


def test_values_without_rows_go_to_the_heavier_side():
    rng = np.random.default_rng(0)
    for share in (0.2, 0.8):
        codes = (rng.random(500) < share).astype(float)
        family = fitted(codes[:, None], 2, n_categories=[4])
        weights = chosen(family, codes[:, None], codes - codes.mean())
        leaf = family.leaf_numbers(np.array([[0.0], [1.0], [2.0], [3.0]]), weights)[:, 0]
        assert leaf[0] != leaf[1]
        assert leaf[2] == leaf[3] == leaf[int(share > 0.5)]  # missing, and new


def test_missing_values_go_to_the_side_where_they_gain_most():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((800, 2))
    X[::4, 0] = np.nan
    for sign in (1.0, -1.0):
        g = sign * np.where(np.isnan(X[:, 0]) | (X[:, 0] > 0.5), 1.0, -1.0)
        family = fitted(X, 2)
        leaf = family.leaf_numbers(X, chosen(family, X, g - g.mean(), candidates=60))[:, 0]
        same = leaf[np.isnan(X[:, 0])]
        assert (same == same[0]).all()
        assert same[0] == leaf[np.nanargmax(X[:, 0])] != leaf[np.nanargmin(X[:, 0])]


def test_columns_are_drawn_as_often_as_their_prior_says():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    family, g = fitted(X, 2), X.sum(axis=1)
    columns = [
        chosen(family, X, g, candidates=1, prior=[1, 0, 3], seed=seed)[0][0, 0]
        for seed in range(400)
    ]
    counts = np.bincount(columns, minlength=3)
    assert counts[1] == 0
    assert binomtest(int(counts[2]), 400, 0.75).pvalue > 1e-4


def test_threads_change_no_bit():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.random(1500), "b": rng.choice(list("xyzuvw"), 1500)})
    frame.loc[::7, "a"], frame.loc[::5, "b"] = None, None
    y = np.sin(9 * frame["a"].fillna(1)) + frame["b"].isin(["x", "u"])
    model = DoublyStochasticRegressor(
        Trees(shape="binary"), 30, random_state=0, n_jobs=1, early_stopping=False
    )
    expected = model.fit(frame, y).predict(frame)
    assert model.score(frame, y) > 0.9
    model.set_params(n_jobs=2)
    np.testing.assert_array_equal(model.fit(frame, y).predict(frame), expected)


def test_unused_leaves_do_not_lessen_the_damping():
    """However many leaves a tree of two leaves may have, its coefficients are the same."""
    X = (np.arange(200.0) < 60)[:, None]
    y = X[:, 0] + 0.0
    options = {"n_candidates": 4, "step_size": 0.3, "early_stopping": False, "random_state": 0}
    few, many = (
        DoublyStochasticRegressor(Trees(shape="binary", max_leaves=n), 5, **options).fit(X, y)
        for n in (2, 64)
    )
    np.testing.assert_array_equal(few.predict(X), many.predict(X))
    assert not many.neuron_coef_[:, 2:].any()

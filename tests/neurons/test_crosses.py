"""Crossed columns of trees: differences and products of columns."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import trickless
from cases import digest, inputs
from trickless import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
)
from trickless.neurons import Trees
from trickless.neurons.crosses import Crosses


def crossed(X, wins, leaves="constant", weight=None):
    family = Trees(4, leaves=leaves, crosses="auto").fit(X, np.random.default_rng(0))
    return family.with_crosses(np.array(wins), X, weight)


def test_crossed_columns_are_differences_and_products_of_standardised_columns():
    X, weight = inputs(200, 5), np.random.default_rng(1).uniform(0.5, 2, 200)
    X[::7, 2] = np.nan
    family = crossed(X, [0, 3, 5, 1, 0], weight=weight)
    assert family.crosses_.columns.tolist() == [2, 1, 3]
    z = []
    for j in (2, 1, 3):
        known = ~np.isnan(X[:, j])
        mean = np.average(X[known, j], weights=weight[known])
        variance = np.average((X[known, j] - mean) ** 2, weights=weight[known])
        z.append((X[:, j] - mean) / np.sqrt(variance))
    pairs = list(combinations(range(3), 2))
    expected = [z[i] - z[j] for i, j in pairs] + [z[i] * z[j] for i, j in pairs]
    extended = family.crosses_.extended(X)
    np.testing.assert_array_equal(extended[:, :5], X)
    np.testing.assert_allclose(extended[:, 5:], np.transpose(expected), rtol=1e-12, atol=1e-12)
    bins = family.read(X)
    assert bins.shape == (200, 11)
    missing = np.isnan(X[:, 2])
    assert (bins[missing][:, [5, 6, 8, 9]] == 0).all()
    assert (bins[~missing] > 0).all()


def test_units_and_offsets_of_columns_change_no_cut():
    X = inputs(300, 3).astype(np.float64)
    bins = crossed(X, [1, 2, 3]).read(X)
    for factor in (1e-200, 1e200):
        other = X * [factor, 1, 8] + [0, 0, 64]
        np.testing.assert_array_equal(crossed(other, [1, 2, 3]).read(other), bins)


def test_wins_of_crossed_columns_belong_to_both():
    crosses = Crosses(np.array([3, 1]), inputs(20, 4), None)
    np.testing.assert_array_equal(
        crosses.of_columns(np.array([1, 2, 3, 4, 10, 20])), [1, 17, 3, 19]
    )


@pytest.mark.parametrize("leaves", ["constant", "linear"])
def test_kernel_of_crossed_trees_is_that_of_draws(leaves):
    X = inputs(60, 3)
    family = crossed(X, [1, 2, 3], leaves)
    weights = family.draw(np.random.default_rng(0), 20_000)
    assert (weights[0] >= 3).mean() > 0.3
    Z = family(X[:6], weights).reshape(6, family.width, -1)
    each = np.einsum("ikn,jkn->ijn", Z, Z)
    error = each.std(axis=2) / np.sqrt(each.shape[2])
    assert error.max() < 0.02
    assert (np.abs(each.mean(axis=2) - family.kernel(X[:6])) <= 5 * error + 1e-9).all()


def oblique(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    return X, np.where(X[:, 1] > X[:, 3], 2.0, 0.0) + X[:, 0] * X[:, 1]


@pytest.mark.parametrize("n", [400, 1500])
def test_crossed_columns_are_kept_where_held_out_rows_say_so(n, tmp_path):
    X, y = oblique(n)
    held_out, truth = oblique(2000, 1)
    models = [
        DoublyStochasticRegressor(Trees(crosses=crosses), 150, random_state=0).fit(X, y)
        for crosses in ("none", "auto")
    ]
    plain, model = models
    assert model.neurons_.crosses_ is not None
    assert max(model.validation_scores_) > max(plain.validation_scores_)
    errors = [1 - each.score(held_out, truth) for each in models]
    assert errors[1] < 0.8 * errors[0]
    assert model.feature_importances_.shape == (5,)
    np.testing.assert_allclose(model.feature_importances_.sum(), 1)
    trickless.save(model, tmp_path / "model")
    loaded = trickless.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    loaded.partial_fit(X, y)
    model.partial_fit(X, y)
    assert digest(loaded) == digest(model)


def test_crossed_columns_are_left_where_they_explain_no_more():
    rng = np.random.default_rng(0)
    X, values = 10 * rng.random((600, 3)), [2, -1, 1, -2, 0, 2, -2, 1, -1, 0]
    y = np.array(values)[X[:, 0].astype(int)] + 0.3 * rng.standard_normal(600)
    models = [
        DoublyStochasticRegressor(Trees(crosses=crosses), 60, random_state=0).fit(X, y)
        for crosses in ("none", "auto")
    ]
    assert models[1].neurons_.crosses_ is None
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))


def test_tables_and_classes_have_crossed_columns_of_numbers_only():
    X, y = oblique(600)
    table = pd.DataFrame(X, columns=list("abcde")).assign(kind=np.where(X[:, 2] > 0, "x", "y"))
    labels = np.digitize(y, [0, 1])
    model = DoublyStochasticClassifier(Trees(crosses="auto"), 60, random_state=0)
    model.fit(table, labels)
    crosses = model.neurons_.crosses_
    assert crosses is not None
    assert 5 not in crosses.columns
    assert model.score(table, labels) > 0.9
    assert len(model.feature_importances_) == 6


def test_without_two_columns_of_numbers_nothing_is_crossed():
    X = inputs(50, 3)
    assert crossed(X, [0, 4, 0]) is None
    assert Trees(4).fit(X, np.random.default_rng(0)).with_crosses(np.ones(3), X, None) is None
    with pytest.raises(ValueError, match="Trees: crosses='all'"):
        Trees(crosses="all").fit(X, np.random.default_rng(0))

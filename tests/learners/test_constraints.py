"""Constraints on trees, and Shapley values: laws on a grid, and brute force over subsets."""

import tracemalloc
from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest

from trickless import BoostedTreesClassifier, BoostedTreesRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))
F = 2 * X[:, 0] - X[:, 1] + np.sin(4 * X[:, 2]) * X[:, 3]
Y = F + RNG.normal(size=400)
SIGNS = [1, -1, 1, 0]


def along(column, n=60):
    """Rows that differ in one column only: 20 of them, n times."""
    rows = np.repeat(X[:20], n, axis=0)
    rows[:, column] = np.tile(np.linspace(-4, 4, n), 20)
    return rows, (20, n)


def is_monotone(function, signs=SIGNS):
    for column, sign in enumerate(signs):
        rows, shape = along(column)
        if (sign * np.diff(np.asarray(function(rows)).reshape(*shape, -1), axis=1) < 0).any():
            return False
    return True


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
def test_predictions_are_monotone_on_a_grid(loss):
    y = np.exp(0.3 * Y) if loss == "poisson" else Y
    options = {"loss": loss, "n_trees": 200, "random_state": 0}
    free = BoostedTreesRegressor(**options).fit(X, y)
    bound = BoostedTreesRegressor(**options, monotonic_cst=SIGNS).fit(X, y)
    assert not is_monotone(free.predict)
    assert is_monotone(bound.predict)
    assert is_monotone(bound.predict_interval)
    assert bound.score(X, y) > 0.4


def test_probabilities_of_the_second_class_are_monotone():
    frame = pd.DataFrame(X, columns=list("abcd"))
    signs = {"a": 1, "b": -1, "c": 1}
    model = BoostedTreesClassifier(n_trees=200, monotonic_cst=signs, random_state=0).fit(
        frame, Y > 0
    )

    def probability(rows):
        return model.predict_proba(pd.DataFrame(rows, columns=frame.columns))[:, 1]

    assert is_monotone(probability)


def test_quantiles_are_monotone_and_do_not_cross():
    levels = [0.1, 0.5, 0.9]
    model = BoostedTreesRegressor(
        100, loss="quantile", quantile=levels, monotonic_cst=SIGNS, random_state=0
    ).fit(X, Y)
    assert is_monotone(model.predict)
    assert (np.diff(model.predict(X), axis=1) >= 0).all()


def features_of(model):
    columns, sets = model._forest_.trees.weights
    there = sets.any(axis=2)
    return [set(of_tree[some].tolist()) for of_tree, some in zip(columns, there, strict=True)]


@pytest.mark.parametrize(
    ("sets", "most"), [("no_interactions", 1), ("pairwise", 2), ([[0, 1], [2, 3]], 2)]
)
def test_trees_have_only_features_that_may_interact(sets, most):
    model = BoostedTreesRegressor(100, interaction_cst=sets, random_state=0).fit(X, Y)
    found = features_of(model)
    assert max(map(len, found)) == most
    if not isinstance(sets, str):
        assert all(any(features <= set(each) for each in sets) for features in found)


def test_pairs_of_many_features_need_little_memory():
    rows = np.random.default_rng(0).standard_normal((40, 1000))
    model = BoostedTreesRegressor(3, interaction_cst="pairwise", random_state=0)
    tracemalloc.start()
    model.fit(rows, rows[:, 0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e8  # a row of flags for each pair has 5e8 bytes
    assert max(map(len, features_of(model))) <= 2


def test_a_function_without_interactions_is_a_sum():
    model = BoostedTreesRegressor(100, interaction_cst="no_interactions", random_state=0).fit(X, Y)
    a, b = X[:50], X[50:100]
    both = (
        np.concatenate([a[:, :2], b[:, 2:]], axis=1),
        np.concatenate([b[:, :2], a[:, 2:]], axis=1),
    )
    assert np.allclose(model.predict(a) + model.predict(b), sum(map(model.predict, both)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"monotonic_cst": [1, 0]}, "each of the 4 features"),
        ({"monotonic_cst": [2, 0, 0, 0]}, "-1, 0 or 1"),
        ({"monotonic_cst": {"height": 1}}, "names the feature 'height'"),
        ({"monotonic_cst": [1, 0, 0, 0], "leaves": "linear"}, "slopes of leaves"),
        ({"interaction_cst": "all"}, "'pairwise', 'no_interactions'"),
        ({"interaction_cst": [[0, 9]]}, "names the feature 9"),
        ({"monotonic_cst": [10**5000, 0, 0, 0]}, "a list of very large integers"),
        ({"monotonic_cst": {0: 10**400}}, "-1, 0 or 1"),
        ({"interaction_cst": [[10**5000]]}, "names the feature an integer of 16,610 bits"),
    ],
)
def test_wrong_constraints_are_refused(options, said):
    with pytest.raises((ValueError, TypeError), match=said):
        BoostedTreesRegressor(5, **options).fit(X, Y)


def test_several_classes_have_no_monotone_probabilities():
    with pytest.raises(ValueError, match="one of two classes"):
        BoostedTreesClassifier(5, monotonic_cst=SIGNS).fit(X, np.arange(400) % 3)


def by_brute_force(model, rows):
    """Shapley values over all subsets of features."""
    family, network = model.neurons_, model.network_
    bins = family.filled(family.bins_(model._rows_to_predict(rows)))
    background, of_column = family.filled(model._forest_.background), family.bins_.features
    d, found = family.bins_.n_features, []
    for x in np.asarray(bins):
        worth = {}
        for size in range(d + 1):
            for some in combinations(range(d), size):
                hybrid = np.array(background)
                hybrid[:, np.isin(of_column, some)] = x[np.isin(of_column, some)]
                worth[frozenset(some)] = network(hybrid).mean(axis=0)
        shares = np.zeros((d, network.n_outputs))
        for j in range(d):
            for some, value in worth.items():
                if j not in some:
                    weight = factorial(len(some)) * factorial(d - len(some) - 1) / factorial(d)
                    shares[j] += weight * (worth[some | {j}] - value)
        found.append(shares)
    return np.array(found)


def table():
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["c"] = RNG.choice(["x", "y", "z"], len(frame))
    frame.loc[::5, "a"] = np.nan
    return frame


@pytest.mark.parametrize(
    "options", [{"leaves": "constant"}, {"leaves": "linear"}, {"shape": "binary"}], ids=str
)
def test_shapley_values_are_those_of_all_subsets_and_sum_to_the_prediction(options):
    frame = table()
    model = BoostedTreesRegressor(15, early_stopping=False, random_state=0, **options)
    model.fit(frame, Y)
    values = model.shap_values(frame[:5])
    assert np.allclose(values, by_brute_force(model, frame[:5])[..., 0], atol=1e-12)
    assert np.allclose(model.shap_base_ + values.sum(axis=1), model.predict(frame[:5]), atol=1e-10)


def test_shapley_values_of_several_classes_sum_to_the_decision_values():
    labels = np.digitize(F, [-1, 1])
    model = BoostedTreesClassifier(15, random_state=0).fit(X, labels)
    values = model.shap_values(X[:3])
    assert np.allclose(values, by_brute_force(model, X[:3]), atol=1e-12)
    sums = model.shap_base_ + values.sum(axis=1)
    assert np.allclose(sums, model.decision_function(X[:3]), atol=1e-10)

"""Neurons that are given as a list, and least squares on the leaves of their trees."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone

import trickless
from trickless import (
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    RandomFeatures,
)
from trickless.neurons import Gaussian, Given, Trees

rng = np.random.default_rng(0)
X = rng.standard_normal((700, 5))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(700)


def boosted(leaves="constant", n_trees=30):
    options = {"leaves": leaves, "early_stopping": False, "random_state": 0}
    return BoostedTreesRegressor(n_trees, max_depth=4, **options).fit(X, y)


def activations(given, rows):
    family = clone(given).fit(rows, np.random.default_rng(0))
    return family.activate(rows, family._draw_from(0, np.random.default_rng(1), family._n_given))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("leaves", ["constant", "linear"])
def test_all_leaves_are_solved_for_together(leaves, weighted):
    given, alpha = Given.of(boosted(leaves)), 1e-2
    weight = rng.uniform(0.5, 2, len(X)) if weighted else None
    for solver in ("iterative", "direct"):
        how = {"solver": solver, "dtype": "float64", "tol": 1e-12}
        model = KitchenSinksRegressor(given, alpha=alpha, **how).fit(X, y, weight)
        Z, share = activations(given, X), np.ones(len(X)) if weight is None else weight
        share = share / share.sum()
        centred, targets = Z - share @ Z, y - share @ y
        normal = (share[:, None] * centred).T @ centred + alpha * 30 * np.eye(Z.shape[1])
        coef = np.linalg.solve(normal, centred.T @ (share * targets))
        np.testing.assert_allclose(
            model.predict(X), share @ y + centred @ coef, rtol=0, atol=1e-5 * y.std()
        )


def test_generalised_cross_validation_on_leaves_is_that_of_the_hat_matrix():
    """Random signs estimate the degrees of freedom, so scores differ by standard errors of that."""
    family, n = Trees(depth=7, leaves="constant"), len(X)
    how = {"solver": "iterative", "random_state": 0, "dtype": "float64"}
    model = KitchenSinksRegressor(family, 60, **how).fit(X, y)
    Z = RandomFeatures(family, 60, random_state=0, dtype="float64").fit(X).transform(X).toarray()
    centred = (Z - Z.mean(axis=0)) * np.sqrt(60)
    values, vectors = np.linalg.eigh(centred @ centred.T)
    along, scores, errors = vectors.T @ (y - y.mean()), [], []
    for alpha in model.cv_alphas_:
        kept = 1 / (1 + values.clip(0) / (alpha * 60 * n))
        left = kept.sum() - 1
        scores.append(n * np.sum((kept * along) ** 2) / left**2)
        hat = (vectors * (1 - kept)) @ vectors.T
        deviation = np.sqrt(2 * (np.sum(hat**2) - np.sum(np.diag(hat) ** 2)) / 2)  # of two signs
        errors.append(2 * deviation / left)
    found, scores, errors = model.cv_values_[0], np.array(scores), np.array(errors)
    assert np.argmin(found) == np.argmin(scores)
    known = errors < 0.05  # to first order
    assert known.sum() >= 4
    assert (np.abs(found / scores - 1)[known] < 5 * errors[known]).all()


def test_a_stream_takes_each_neuron_once_and_starts_over():
    given = Given.of(boosted())
    family = clone(given).fit(X, np.random.default_rng(0))
    (columns, *_) = family._draw_from(20, np.random.default_rng(0), 20)
    np.testing.assert_array_equal(columns[:10], given.weights[0][20:])
    np.testing.assert_array_equal(columns[10:], given.weights[0][:10])
    assert KitchenSinksRegressor(given, 1000).fit(X, y).neuron_coef_.shape[0] == 30
    assert RandomFeatures(given, 1000).fit(X).transform(X).shape == (700, 30 * family.width)
    few = KitchenSinksRegressor(given, 7, dtype="float64").fit(X, y)
    np.testing.assert_array_equal(few._stream_.between(0, 7)[0], given.weights[0][:7])


def test_draws_are_uniform_on_the_list():
    family = Given.of(boosted()).fit(X, np.random.default_rng(0))
    Z = family(X[:20], family.draw(np.random.default_rng(0), 20_000))
    products = Z.reshape(20, family.width, -1)
    each = np.einsum("ikn,jkn->ijn", products, products)
    error = each.std(axis=2) / np.sqrt(each.shape[2])
    assert error.max() < 0.01
    assert (np.abs(each.mean(axis=2) - family.kernel(X[:20])) <= 5 * error + 1e-9).all()


@pytest.mark.parametrize("leaves", ["constant", "linear"])
def test_random_features_of_trees_are_the_same_sparse_and_dense(leaves):
    features = RandomFeatures(Trees(depth=3, leaves=leaves), 40, random_state=0).fit(X)
    Z = features.transform(X)
    assert scipy.sparse.issparse(Z)
    dense = clone(features).set_params(sparse_output=False).fit(X).transform(X)
    np.testing.assert_allclose(Z.toarray(), dense, rtol=1e-6, atol=1e-7)


def test_trees_that_random_features_chose_are_solved_for():
    features = RandomFeatures(Trees(depth=4), 60, n_candidates=8, random_state=0).fit(X, y)
    held_out = rng.standard_normal((1000, 5))
    truth = np.sin(2 * held_out[:, 0]) + held_out[:, 1] * held_out[:, 2]
    chosen = KitchenSinksRegressor(Given.of(features), alpha=1e-2).fit(X, y)
    blind = KitchenSinksRegressor(Trees(depth=4), 60, alpha=1e-2, random_state=0).fit(X, y)
    assert chosen.score(held_out, truth) > blind.score(held_out, truth) + 0.1


def test_models_are_cloned_and_saved_with_the_list(tmp_path):
    table = pd.DataFrame(X[:, :3]).assign(kind=np.where(X[:, 3] > 0, "a", "b"))
    table.columns = table.columns.astype(str)
    labels = X[:, 3] * X[:, 0] > 0
    trees = BoostedTreesClassifier(20, max_depth=5, random_state=0).fit(table, labels)
    model = KitchenSinksClassifier(Given.of(trees)).fit(table, labels)
    assert model.score(table, labels) > 0.9
    again = clone(model).fit(table, labels)
    np.testing.assert_allclose(again.predict_proba(table), model.predict_proba(table), rtol=1e-9)
    trickless.save(model, tmp_path / "model.trk")
    loaded = trickless.load(tmp_path / "model.trk")
    np.testing.assert_array_equal(loaded.predict_proba(table), model.predict_proba(table))


def test_lists_of_any_family_work():
    model = KitchenSinksRegressor(Gaussian(), 50, random_state=0).fit(X, y)
    again = KitchenSinksRegressor(Given.of(model), 1000, alpha=model.alpha_).fit(X, y)
    np.testing.assert_allclose(again.predict(X), model.predict(X), atol=1e-4)


def test_what_is_not_a_list_of_neurons_is_refused():
    with pytest.raises(TypeError, match="has no drawn neurons"):
        Given.of(KitchenSinksRegressor())
    with pytest.raises(ValueError, match="has not been fitted"):
        KitchenSinksRegressor(Given(Trees(), (np.zeros((3, 2)),))).fit(X, y)
    with pytest.raises(ValueError, match="5"):
        KitchenSinksRegressor(Given.of(boosted())).fit(X[:, :3], y)
    with pytest.raises(ValueError, match="weights"):
        KitchenSinksRegressor(Given(Trees(), ())).fit(X, y)
    table = pd.DataFrame(X).assign(kind=rng.choice(["a", "b", "c"], len(X)))
    table.columns = table.columns.astype(str)
    given = Given.of(BoostedTreesRegressor(5, random_state=0).fit(table, y))
    with pytest.raises(ValueError, match="codes of categories"):
        KitchenSinksRegressor(given).fit(table.assign(kind=["a", "b"] * 350), y)


def test_intervals_and_sets_warn_of_neurons_chosen_by_the_same_rows():
    """They may: rows that chose the leaves are nearer to the function than new rows."""
    given, half = Given.of(boosted(n_trees=60)), y > 0
    regressor = KitchenSinksRegressor(given, alpha=1e-4, random_state=0).fit(X, y)
    new = np.random.default_rng(1).standard_normal((2000, 5))
    target = np.sin(2 * new[:, 0]) + new[:, 1] * new[:, 2]
    target += 0.3 * np.random.default_rng(2).standard_normal(2000)
    for method in ("jackknife+", "full"):
        with pytest.warns(UserWarning, match=r"If these rows chose them, .* Remedy: .*SplitConf"):
            low, high = regressor.predict_interval(new, method=method).T
        assert ((low <= target) & (target <= high)).mean() < 0.85
    classifier = KitchenSinksClassifier(given, alpha=1e-4, random_state=0).fit(X, half)
    with pytest.warns(UserWarning, match=r"If these rows chose them"):
        classifier.predict_set(new)

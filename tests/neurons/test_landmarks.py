"""Landmarks: kernels at training rows that are drawn."""

import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.stats import chisquare
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.kernel_approximation import Nystroem

import trickless.neurons.landmarks
from cases import inputs
from trickless import KitchenSinksClassifier, KitchenSinksRegressor, RandomFeatures, load, save
from trickless.neurons import (
    Dense,
    Gaussian,
    Landmarks,
    Laplace1,
    Mixture,
    On,
    Patches,
    Stumps,
    Tabular,
)
from trickless.neurons.nystroem import random_pivots


def fitted(family, X, weight=None):
    return family.fit(X, np.random.default_rng(0), weight)


def test_activations_are_the_docstring_row_by_row():
    X, new = inputs(100, 3), inputs(5, 3, seed=1)
    family = fitted(Landmarks(Laplace1(1.7)), X)
    (landmarks,) = family.draw(np.random.default_rng(1), 8)

    def kernel(a, b):
        return np.exp(-sum(abs(a[j] - b[j]) for j in range(3)) / 1.7)

    c = np.mean([[kernel(a, b) for a in X] for b in X])
    assert family.mean_ == pytest.approx(c)
    expected = [[kernel(x, z) - c for z in landmarks] for x in new]
    np.testing.assert_allclose(family(new, (landmarks,)), expected, atol=1e-12)


def test_landmarks_are_training_rows_in_proportion_to_their_weights():
    X, weight = inputs(5, 2), np.array([1.0, 2.0, 3.0, 4.0, 0.5])
    family = fitted(Landmarks(Gaussian()), X, weight)
    (landmarks,) = family.draw(np.random.default_rng(1), 20_000)
    same = (landmarks[:, None] == X).all(axis=2)
    assert (same.sum(axis=1) == 1).all()
    expected = weight / weight.sum() * len(landmarks)
    assert chisquare(same.sum(axis=0), expected).pvalue > 1e-4


def test_a_row_of_weight_two_is_two_rows():
    X, counts = inputs(40, 2), np.random.default_rng(0).integers(1, 4, 40)
    weighted = fitted(Landmarks(Laplace1(1.0)), X, counts)
    repeated = fitted(Landmarks(Laplace1(1.0)), np.repeat(X, counts, axis=0))
    assert weighted.mean_ == pytest.approx(repeated.mean_)
    (a,), (b,) = (f.draw(np.random.default_rng(1), 500) for f in (weighted, repeated))
    np.testing.assert_array_equal(a, b)


def test_the_constant_keeps_single_precision_from_deciding():
    """With a long length scale all values are nearly 1, and what differs is lost in rounding."""

    class Plain(Landmarks):
        def _measure(self):
            super()._measure()
            self.mean_ = 0.0

    X, new = inputs(600, 3), inputs(500, 3, seed=1)

    def truth(X):
        return np.abs(X[:, 0]) + np.sin(2 * X[:, 1])

    errors = {}
    for cls in (Landmarks, Plain):
        model = KitchenSinksRegressor(cls(Laplace1(300.0)), n_neurons=300, random_state=0)
        errors[cls] = 1 - model.fit(X, truth(X)).score(new, truth(new))
    assert errors[Landmarks] < 0.01
    assert errors[Plain] > 0.1


@pytest.mark.parametrize("part", [Dense("tanh"), Patches((2, 2), patch=2, pool=1)], ids=repr)
def test_a_family_without_a_closed_form_is_refused(part):
    with pytest.raises(ValueError, match=r"Landmarks: neurons=.* no closed-form.*Remedy"):
        KitchenSinksRegressor(Landmarks(part)).fit(inputs(20, 4), inputs(20, 1)[:, 0])


@pytest.mark.parametrize("part", ["gaussian", Gaussian, None], ids=repr)
def test_landmarks_of_no_family_are_refused(part):
    with pytest.raises(ValueError, match=r"neurons=.*an instance"):
        KitchenSinksRegressor(Landmarks(part)).fit(inputs(20, 4), inputs(20, 1)[:, 0])


@pytest.mark.parametrize("length_scale", ["auto", "relevance"])
def test_length_scales_are_chosen_as_those_of_the_family(length_scale):
    X = inputs(400, 6)
    y = np.sin(2 * X[:, 0])
    family = Landmarks(Gaussian(length_scale))
    model = KitchenSinksRegressor(family, n_neurons=60, random_state=0).fit(X, y)
    part = model.neurons_.parts_[0]
    if length_scale == "relevance":
        assert model.score(X, y) > 0.9
        assert part.length_scale_[1:].min() > 3 * part.length_scale_[0]
    else:
        candidates = fitted(clone(family), X)._candidates()
        scales = [one.parts_[0].length_scale_ for one in candidates]
        assert len(set(scales)) == 6
        assert np.isclose(part.length_scale_, scales).any()
        # Each has the constant of its own kernel.
        assert np.all(np.diff([one.mean_ for one in candidates]) > 0)
        others = [
            KitchenSinksRegressor(Landmarks(Gaussian(scale)), 60, random_state=0).fit(X, y)
            for scale in scales
        ]
        held_out = np.random.default_rng(9).standard_normal((2000, 6))
        found, *errors = (
            1 - each.score(held_out, np.sin(2 * held_out[:, 0])) for each in (model, *others)
        )
        assert found <= (1 + 2 * np.sqrt(2 / 400)) * min(errors)  # as 400 squares tell them apart


def test_rows_with_gaps_and_categories_may_be_landmarks():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"colour": rng.choice(["red", "blue", "green"], 300), "size": rng.standard_normal(300)}
    )
    y = (X["colour"] == "red") & (X["size"] > 0)
    X.loc[rng.random(300) < 0.1, "size"] = np.nan
    model = KitchenSinksClassifier(Landmarks(Tabular()), n_neurons=100, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.85


def test_landmarks_are_parts_of_other_families():
    X = inputs(200, 3)
    y = np.abs(X[:, 0]) + X[:, 2]
    family = Mixture([Landmarks(Stumps()), On([0], Landmarks(Laplace1()))])
    assert KitchenSinksRegressor(family, n_neurons=80, random_state=0).fit(X, y).score(X, y) > 0.9


def test_landmarks_come_from_a_bounded_sample_of_rows_and_numbers(monkeypatch):
    monkeypatch.setattr(trickless.neurons.landmarks, "_ROWS", 50)
    assert len(fitted(Landmarks(Laplace1(1.0)), inputs(80, 4)).rows_) == 50
    monkeypatch.setattr(trickless.neurons.landmarks, "_VALUES", 40)
    assert fitted(Landmarks(Laplace1(1.0)), inputs(80, 4)).rows_.shape == (10, 4)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplace1(1.0)])
@pytest.mark.filterwarnings("ignore:X has one row")
def test_landmarks_of_a_single_row_are_accepted(kernel):
    model = KitchenSinksRegressor(Landmarks(kernel), 5, random_state=0).fit([[1.0]], [2.0])
    np.testing.assert_allclose(model.predict([[1.0], [3.0]]), 2.0)


@pytest.mark.parametrize("length_scale", [1.7, [1.0, 2.0, 3.0]])
def test_landmarks_of_sparse_rows_are_those_of_dense_rows(length_scale, tmp_path):
    X = np.maximum(inputs(200, 3), 0)
    y = np.sin(2 * X[:, 0]) + 0.1 * inputs(200, 1, seed=1)[:, 0]
    weight = np.random.default_rng(0).random(200)
    model = KitchenSinksRegressor(
        Landmarks(Gaussian(length_scale)), 40, random_state=0, dtype="float64"
    )
    sparse = clone(model).fit(scipy.sparse.csr_array(X), y, weight)
    dense = model.fit(X, y, weight)
    for rows in (X, scipy.sparse.csr_array(X)):
        np.testing.assert_allclose(sparse.predict(rows), dense.predict(X), atol=1e-8)
    save(sparse, tmp_path / "model.trickless")
    again = load(tmp_path / "model.trickless")
    np.testing.assert_array_equal(again.predict(X), sparse.predict(X))
    assert scipy.sparse.issparse(again.neurons_.rows_)


def test_other_kernels_take_no_sparse_rows():
    with pytest.raises(TypeError, match=r"(?s)sparse.*Remedy"):
        KitchenSinksRegressor(Landmarks(Laplace1())).fit(scipy.sparse.eye_array(20), np.ones(20))


def test_models_with_other_sparse_landmarks_are_not_merged():
    X = np.maximum(inputs(80, 3), 0)
    first, second = (
        KitchenSinksRegressor(Landmarks(Gaussian(1.0)), 40, random_state=0).fit(
            scipy.sparse.csr_array(rows), rows[:, 0]
        )
        for rows in (X[:40], X[40:])
    )
    with pytest.raises(ValueError, match="differ from the neurons of this model"):
        first.merge(second)


@pytest.mark.parametrize("cls", [scipy.sparse.csr_matrix, scipy.sparse.csr_array])
def test_copies_of_landmarks_of_sparse_rows_are_checked_and_the_same(cls):
    X = cls(np.eye(20)[:, :5])
    family = Landmarks(Gaussian(1.0)).fit(X, np.random.default_rng(0))
    for copied in (deepcopy(family), pickle.loads(pickle.dumps(family))):
        np.testing.assert_array_equal(copied.rows_.toarray(), family.rows_.toarray())
    broken = family.__getstate__() | {"rows_": family.rows_[:, :4]}
    with pytest.raises(ValueError, match="rows_"):
        deepcopy(family).__setstate__(broken)


def features(family, X, n, **options):
    options = {"scale": "kernel", "dtype": "float64", "random_state": 0} | options
    return RandomFeatures(family, n, **options).fit(X)


@pytest.mark.parametrize("n", [40, 300])  # in one block of the stream, and in two
def test_fixed_landmarks_are_nystroem(n):
    """Its columns, up to a rotation: inner products and so regularised solutions are the same."""
    X, new = inputs(400, 3), inputs(30, 3, seed=1)
    ours = features(Landmarks(Gaussian(0.7), n_points=n), X, n)
    points = ours.neurons_.basis_.points
    theirs = Nystroem(gamma=1 / (2 * 0.7**2), n_components=n).fit(points)
    mine, other = ours.transform(new), theirs.transform(new)
    np.testing.assert_allclose(mine @ mine.T, other @ other.T, atol=1e-6)
    assert len(np.unique(points, axis=0)) == n
    kernel = ours.neurons_.kernel(new)
    np.testing.assert_allclose(mine @ mine.T, kernel, atol=1e-8)


def test_the_first_functions_are_of_the_first_points():
    X, new = inputs(400, 3), inputs(30, 3, seed=1)
    all_of_them = features(Landmarks(Gaussian(0.7), X[:50]), X, 50).transform(new)
    first = features(Landmarks(Gaussian(0.7), X[:20]), X, 20).transform(new)
    np.testing.assert_allclose(all_of_them[:, :20], first, atol=1e-8)
    more = features(Landmarks(Gaussian(0.7), X[:20]), X, 45).transform(new)
    np.testing.assert_array_equal(more, first)  # each landmark once


@pytest.mark.parametrize("wrap", [lambda f: 2 * f, lambda f: On([0, 1, 2], f)])
def test_every_landmark_is_used_inside_other_families(wrap):
    X, new = inputs(400, 3), inputs(30, 3, seed=1)
    family = Landmarks(Gaussian(0.7), X[:300])  # in two blocks of the stream
    plain, ours = (features(f, X, 300).transform(new) for f in (family, wrap(family)))
    factor = np.sqrt((ours**2).sum() / (plain**2).sum())
    assert factor == pytest.approx(np.sqrt(2)) or factor == pytest.approx(1)
    np.testing.assert_allclose(ours, factor * plain, atol=1e-8)


def test_kitchen_sinks_has_each_fixed_landmark_once():
    X = inputs(200, 3)
    y = np.sin(2 * X[:, 0])
    one, more = (
        KitchenSinksRegressor(Landmarks(Gaussian(0.7), X[:40]), n, random_state=0).fit(X, y)
        for n in (40, 50)
    )
    np.testing.assert_array_equal(one.predict(X), more.predict(X))
    np.testing.assert_array_equal(one.alpha_, more.alpha_)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_points_of_the_user_are_the_landmarks(form, tmp_path):
    X, y = np.maximum(inputs(200, 3), 0), inputs(200, 1)[:, 0]
    family = Landmarks(Gaussian(1.0), form(X[:30]))
    model = KitchenSinksRegressor(family, 30, random_state=0).fit(form(X), y)
    dense = model.neurons_.basis_.points
    dense = dense.toarray() if scipy.sparse.issparse(dense) else dense
    np.testing.assert_allclose(dense, X[:30], atol=1e-6)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(form(X)), model.predict(form(X)))
    parts = clone(model).partial_fit(form(X[:90]), y[:90]).partial_fit(form(X[90:]), y[90:])
    np.testing.assert_allclose(parts.predict(form(X)), model.predict(form(X)), atol=1e-3)


@pytest.mark.parametrize("family", [Gaussian("auto"), Stumps()])
def test_scales_come_from_training_rows_and_not_from_points(family):
    X, weight = inputs(400, 3), np.linspace(0.1, 2, 400)
    fits = [
        Landmarks(family, points).fit(X, np.random.default_rng(0), weight)
        for points in (X[:50], 100 * X[:1])
    ]
    one, other = (fit.parts_[0].closed_form(X[:5], X[5:9]) for fit in fits)
    np.testing.assert_allclose(one, other)
    assert one.std() > 0.01


def test_random_pivots_have_the_distribution_of_pivots_one_by_one():
    """Against Algorithm 1 of Chen, Epperly, Tropp and Webber, enumerated for pairs."""
    X = np.array([[0.0], [0.1], [1.0], [1.2], [5.0]])
    weight = np.array([0.1, 0.2, 0.3, 0.2, 0.2])
    K = np.exp(-((X - X.T) ** 2) / 2)
    expected = np.zeros((5, 5))
    for i in range(5):
        left = np.diag(K) - K[i] ** 2 / K[i, i]
        expected[i] = weight[i] * weight * left / (weight @ left)
    counts, rng = np.zeros((5, 5)), np.random.default_rng(0)
    for _ in range(4000):
        pair = random_pivots(X, weight, 2, Gaussian(1.0).fit(X, rng).closed_form, rng)
        counts[tuple(pair)] += 1
    off = ~np.eye(5, dtype=bool)
    assert counts[~off].sum() == 0
    assert chisquare(counts[off], expected[off] / expected[off].sum() * 4000).pvalue > 1e-4


def test_random_pivots_find_the_clusters():
    """With few rows in most clusters, random rows miss some, and the kernel's error is larger."""
    sizes = [2000, *[10] * 20]
    X, _ = make_blobs(sizes, 3, center_box=(-50, 50), cluster_std=0.5, random_state=0)
    errors = {"uniform": [], "rpcholesky": []}
    for seed in range(5):
        for selection, found in errors.items():
            family = Landmarks(Gaussian(1.0), n_points=60, selection=selection)
            family.fit(X, np.random.default_rng(seed))
            found.append(np.mean(1 - family.kernel(X).diagonal()))
    means, spread = ([f(v) for v in errors.values()] for f in (np.mean, np.std))
    assert means[1] < means[0] - 5 * np.hypot(*spread) / np.sqrt(5)


def test_random_pivots_end_where_nothing_is_left():
    X = np.repeat(inputs(7, 2), 30, axis=0)
    family = Landmarks(Gaussian(1.0), n_points=50, selection="rpcholesky")
    fitted(family, X)
    assert family.basis_.size == 7
    np.testing.assert_allclose(family.kernel(X), Gaussian(1.0).fit(X, None).kernel(X), atol=1e-8)


@pytest.mark.parametrize("selection", ["uniform", "rpcholesky"])
def test_fixed_landmarks_follow_the_length_scale(selection):
    X = inputs(400, 2)
    y = np.sin(2 * X[:, 0])
    family = Landmarks(Gaussian("auto"), n_points=60, selection=selection)
    model = KitchenSinksRegressor(family, 60, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.98
    again = KitchenSinksRegressor(family, 60, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"points": [[1.0, 2.0]]}, r"points=.*a matrix"),
        ({"points": np.full((3, 4), np.nan)}, r"points=.*a matrix of finite"),
        ({"points": np.ones((3, 5))}, r"points has 5 columns, but the rows have 4"),
        ({"n_points": 0}, r"n_points=0"),
        ({"selection": "rpcholesky"}, r"selection='rpcholesky'.*n_points=None"),
        ({"selection": "best", "n_points": 3}, r"selection='best'"),
    ],
)
def test_wrong_landmarks_say_why(options, message):
    with pytest.raises(ValueError, match=rf"(?s)Landmarks: {message}.*Remedy"):
        KitchenSinksRegressor(Landmarks(**options)).fit(inputs(20, 4), inputs(20, 1)[:, 0])

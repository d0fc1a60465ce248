"""Pegasos with a kernel, against the algorithm in the space of features and its optimum."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.svm import LinearSVC

import naive
from cases import inputs
from trickless.baselines import PegasosClassifier
from trickless.functions.stream import Purpose, generator

ALPHA = 0.1


def linear(**options):
    return PegasosClassifier("linear", alpha=ALPHA, **({"random_state": 0} | options))


def two_classes(n=60):
    X = inputs(n, 3)
    return X, np.where(X[:, 0] + 0.5 * inputs(n, 1, seed=1)[:, 0] > 0, 1, -1)


def batches(n, k, n_steps, share=None):
    """The rows that are drawn: one uniform number each, through the inverse distribution."""
    below = np.cumsum(np.full(n, 1 / n) if share is None else share)
    u = generator(0, Purpose.SHUFFLE).random(n_steps * k)
    return np.searchsorted(below, u, side="right").reshape(n_steps, k)


@pytest.mark.parametrize("k", [1, 7, 60, 300])
def test_steps_are_those_of_the_paper(k):
    X, y = two_classes()
    model = linear(max_iter=9, batch_size=k).fit(X, y)
    assert model.n_steps_ == -(-9 * 60 // k)
    w = naive.pegasos(X, y, batches(60, k, model.n_steps_), ALPHA)
    np.testing.assert_allclose(model.decision_function(X), X @ w, atol=1e-10)
    np.testing.assert_allclose(model.dual_coef_[:, 0] @ model.support_vectors_, w, atol=1e-10)


def test_coefficients_are_counts():
    X, y = two_classes()
    model = linear(max_iter=9).fit(X, y)
    counts = model.dual_coef_[:, 0] * ALPHA * model.n_steps_
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
    assert 0 < len(counts) < 60


def test_the_objective_approaches_that_of_liblinear():
    X, y = two_classes(100)

    def objective(w):
        return np.maximum(1 - y * (X @ w), 0).mean() + ALPHA / 2 * w @ w

    svm = LinearSVC(
        C=1 / (100 * ALPHA), loss="hinge", fit_intercept=False, max_iter=10**6, tol=1e-8
    )
    best = objective(svm.fit(X, y).coef_[0])
    excess = []
    for max_iter in (1, 10, 200):
        model = linear(max_iter=max_iter).fit(X, y)
        excess.append(objective(model.dual_coef_[:, 0] @ model.support_vectors_) - best)
    assert -1e-6 <= excess[2] < 1e-3
    assert excess[2] < excess[1] < excess[0]


def test_classes_are_learned_one_against_the_rest_from_the_same_rows():
    X = inputs(90, 3)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    values = linear(max_iter=5).fit(X, y).decision_function(X)
    for c in range(3):
        alone = linear(max_iter=5).fit(X, y == c)
        np.testing.assert_allclose(values[:, c], alone.decision_function(X), atol=1e-10)


def test_rows_are_drawn_by_their_weights():
    X, y = two_classes()
    weight = np.arange(60) % 3
    model = linear().fit(X, y, sample_weight=weight)
    kept = np.flatnonzero(weight)
    assert model.n_steps_ == 20 * len(kept)
    drawn = kept[batches(len(kept), 1, model.n_steps_, weight[kept] / weight.sum())]
    w = naive.pegasos(X, y, drawn, ALPHA)
    np.testing.assert_allclose(model.decision_function(X), X @ w, atol=1e-10)
    # A row of weight 2 is drawn where either copy of a repeated row is.
    repeat = np.repeat(np.arange(60), weight)
    copies = naive.pegasos(X[repeat], y[repeat], batches(60, 1, model.n_steps_), ALPHA)
    np.testing.assert_allclose(copies, w, atol=1e-10)
    heavy = PegasosClassifier(class_weight={1: 50.0}, alpha=ALPHA, random_state=0).fit(X, y)
    light = PegasosClassifier(alpha=ALPHA, random_state=0).fit(X, y)
    assert heavy.decision_function(X).min() > light.decision_function(X).min()
    assert (heavy.predict(X) == 1).sum() > (light.predict(X) == 1).sum()


def test_sparse_rows_give_the_model_of_dense_rows():
    X, y = two_classes()
    X = X * (inputs(60, 3, seed=2) > 0)
    dense = PegasosClassifier(random_state=0).fit(X, y)
    sparse = PegasosClassifier(random_state=0).fit(scipy.sparse.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.decision_function(X), dense.decision_function(X), atol=1e-10)


def test_the_hinge_loss_has_no_probabilities():
    X, y = two_classes()
    model = linear().fit(X, y)
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(X)
    with pytest.raises(
        ValueError, match=r"alpha=0, but it must be a finite number above 0.*Remedy"
    ):
        model.set_params(alpha=0).fit(X, y)

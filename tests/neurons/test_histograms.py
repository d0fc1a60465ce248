"""Families for histograms: their kernels as the literature defines them, and what they refuse."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

import trickless.neurons.tanimoto
from cases import LEARNERS, answers, inputs, name_of, problem
from trickless.neurons import Chi2, Intersection, Tanimoto

HISTOGRAMS = pytest.mark.parametrize("family", [Chi2, Intersection])


def chi2(a, b):
    return 2 * a * b / (a + b) if a + b > 0 else 0.0


DEFINITIONS = [(Chi2, chi2), (Intersection, min)]


@pytest.mark.parametrize(("family", "of_bins"), DEFINITIONS)
def test_kernels_are_sums_over_bins(family, of_bins):
    X = np.random.default_rng(0).poisson(1.5, (12, 5)).astype(float)
    neurons = family().fit(X, np.random.default_rng(0))
    np.testing.assert_array_equal(neurons.largest_, X.max(axis=0))
    expected = [[sum(map(of_bins, x, y)) for y in X[:4]] for x in X] / X.max(axis=0).sum()
    np.testing.assert_allclose(neurons.kernel(X, X[:4]), expected, atol=1e-12)


@HISTOGRAMS
def test_values_above_the_training_rows_count_as_the_largest(family):
    X = abs(inputs(12, 3))
    neurons = family().fit(X, np.random.default_rng(0))
    w = neurons.draw(np.random.default_rng(1), 40)
    largest = X.max(axis=0, keepdims=True)
    np.testing.assert_array_equal(neurons(1e3 * largest, w), neurons(largest, w))
    np.testing.assert_allclose(neurons.kernel(1e3 * largest, X), neurons.kernel(largest, X))
    assert (np.linalg.norm(neurons(largest, w).reshape(-1, 40), axis=0) > 1 - 1e-12).all()


@HISTOGRAMS
def test_the_unit_of_counts_does_not_matter(family):
    X = abs(inputs(12, 3))
    a, b = (family().fit(Y, np.random.default_rng(0)) for Y in (X, 1000 * X))
    np.testing.assert_allclose(a.kernel(X), b.kernel(1000 * X))


@HISTOGRAMS
def test_empty_bins_give_nothing_and_bins_that_are_always_empty_are_not_drawn(family):
    X = abs(inputs(12, 3)) * [1, 0, 1]
    neurons = family().fit(X, np.random.default_rng(0))
    w = neurons.draw(np.random.default_rng(1), 200)
    assert set(w[0]) == {0, 2}
    assert not neurons(np.array([[0.0, 5.0, -0.0]]), w).any()


@HISTOGRAMS
def test_training_rows_of_zeros_are_no_error(family):
    neurons = family().fit(np.zeros((4, 2)), np.random.default_rng(0))
    w = neurons.draw(np.random.default_rng(1), 20)
    assert not neurons(np.zeros((3, 2)), w).any()
    assert set(w[0]) == {0, 1}


@pytest.mark.parametrize("family", [Chi2, Intersection, Tanimoto])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_negative_values_are_refused_in_fit_and_in_prediction(learner, family, sparse):
    X, y = problem(learner)
    X = scipy.sparse.csr_matrix(X) if sparse else X
    model = clone(learner).set_params(neurons=family(), random_state=0)
    message = rf"{family.__name__}: X holds negative values, down to {X.min():g}.*Remedy"
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    model.fit(abs(X), y)
    with pytest.raises(ValueError, match=message):
        answers(model, X)


def test_the_tanimoto_kernel_of_sets_is_the_share_that_they_have_in_common():
    X = (np.random.default_rng(0).random((20, 30)) < 0.3).astype(float)
    X[0] = 0
    neurons = Tanimoto().fit(X, np.random.default_rng(0))
    sets = [set(np.flatnonzero(row)) for row in X]
    expected = [[len(a & b) / len(a | b) if a | b else 1.0 for b in sets] for a in sets]
    np.testing.assert_allclose(neurons.kernel(X), expected, atol=1e-12)
    Z = neurons(X, neurons.draw(np.random.default_rng(1), 10_000))
    assert set(Z.ravel()) == {-1.0, 1.0}
    np.testing.assert_allclose(Z @ Z.T / 10_000, expected, atol=0.05)  # five standard errors
    counts = np.arange(1.0, 31)
    np.testing.assert_allclose(
        neurons.kernel(X * counts, X * counts),
        neurons.kernel(7 * X * counts, 7 * X * counts),
        atol=1e-12,
    )


@pytest.mark.parametrize("pairs", [1, 2**20])
def test_blocks_of_rows_change_no_tanimoto_neuron(pairs, monkeypatch):
    X = np.random.default_rng(0).poisson(0.5, (40, 9)).astype(float)
    neurons = Tanimoto().fit(X, np.random.default_rng(0))
    weights = neurons.draw(np.random.default_rng(1), 50)
    expected = np.vstack([neurons(row[None], weights) for row in X])
    monkeypatch.setattr(trickless.neurons.tanimoto, "_PAIRS", pairs)
    np.testing.assert_array_equal(neurons(X, weights), expected)
    np.testing.assert_array_equal(neurons(scipy.sparse.csc_matrix(X).tocsr(), weights), expected)

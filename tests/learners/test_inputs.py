"""A sample of what ``make fuzz-inputs`` tries, and what must not change an answer."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone, is_regressor

import fuzz_inputs
from cases import EVERY, answers, inputs, name_of, problem
from trickless._rows.rows import Rows
from trickless.neurons import Coordinates, Gaussian, Neurons

REGRESSORS = [learner for learner in EVERY if is_regressor(learner)]


def options_of(learner, **options):
    return {name: value for name, value in options.items() if name in learner.get_params()}


def fitted(learner, X, y, **options):
    options = options_of(learner, random_state=0, dtype="float64") | options
    return clone(learner).set_params(**options).fit(X, y)


def by_name(*beginnings):
    learners = [m for m in EVERY if name_of(m).startswith(beginnings)]
    return pytest.mark.parametrize("learner", learners, ids=name_of)


def test_odd_inputs_are_answered_or_refused():
    fuzz_inputs.fuzz(60, derandomize=True)


def test_the_search_over_odd_inputs_finds_a_planted_defect(monkeypatch):
    """A learner that takes rows for others is found, and so is an error that says nothing."""
    case = fuzz_inputs.Case(
        "KitchenSinksRegressor", {"dtype": "float64"}, 9, 2, "normal", "int8", "floats", "none",
        "float64", False, 0,
    )  # fmt: skip
    fuzz_inputs.check(case)
    validated = Rows._validated

    def wrong(self, learner, X, *args, **options):
        answer = validated(self, learner, X, *args, **options)
        if getattr(X, "dtype", None) != np.int8:
            return answer
        return (answer[0] + 1, *answer[1:]) if isinstance(answer, tuple) else answer + 1

    def silent(self, learner, X, *args, **options):
        if getattr(X, "dtype", None) == np.int8:
            raise ValueError("no")
        return validated(self, learner, X, *args, **options)

    for broken, message in ((wrong, "not equal"), (silent, "does not help: no")):
        monkeypatch.setattr(Rows, "_validated", broken)
        with pytest.raises(AssertionError, match=message):
            fuzz_inputs.check(case)


@by_name("Kitchen", "Doubly", "Shrinking", "Kernel")
def test_constant_columns_among_a_hundred_thousand_change_nothing(learner):
    """Rows that differ in 3 of 100,000 columns are those with these 3 alone."""
    X, y = problem(learner, rows=12, columns=3)
    wide = np.zeros((12, 100_000))
    wide[:, [0, 5000, 99_999]] = X
    family = Coordinates(scale=3.0) if "neurons" in learner.get_params() else None
    options = {"neurons": family} if family else {"kernel_params": {"gamma": 0.5}}
    model = fitted(learner, scipy.sparse.csr_matrix(wide), y, **options)
    got = answers(model, wide)
    assert np.isfinite(got).all()
    np.testing.assert_allclose(answers(model, scipy.sparse.csc_matrix(wide)), got, atol=1e-9)
    if family is None:
        expected = answers(fitted(learner, X, y, **options), X)
        np.testing.assert_allclose(got, expected, atol=1e-9 * np.abs(expected).max())


@by_name("Kernel")
def test_wide_indices_of_sparse_rows_are_narrowed(learner):
    """Some kernels of scikit-learn take indices of 32 bits only."""
    X, y = problem(learner)
    sparse = scipy.sparse.csr_matrix(X)
    sparse.indices, sparse.indptr = (a.astype(np.int64) for a in (sparse.indices, sparse.indptr))
    options = {"kernel": "laplacian", "kernel_params": None}
    expected = answers(fitted(learner, X, y, **options), X)
    got = answers(fitted(learner, sparse, y, **options), sparse)
    np.testing.assert_allclose(got, expected, atol=1e-8 * np.abs(expected).max())


class Waves(Neurons):
    """Cosines of frequencies that are given, one for each neuron and feature."""

    def __init__(self, frequencies):
        self.frequencies = frequencies

    def draw(self, rng, n):
        rng.random(n)
        return (np.resize(self.frequencies, (n, self.frequencies.shape[1])),)

    def activate(self, X, weights):
        return np.cos(X @ weights[0].T + 1)


@by_name("KitchenSinks")
def test_sums_over_rows_do_not_depend_on_their_order(learner):
    X, y = problem(learner)
    order = np.random.default_rng(1).permutation(len(X))
    expected = answers(fitted(learner, X, y, neurons=Gaussian(1.0)), X)
    got = answers(fitted(learner, X[order], y[order], neurons=Gaussian(1.0)), X)
    np.testing.assert_allclose(got, expected, atol=1e-6 * np.abs(expected).max())


@by_name("Doubly", "Shrinking", "Kernel")
def test_learners_that_meet_rows_one_after_the_other_depend_on_their_order(learner):
    """They draw the order themselves, by places; so rows in other places are other rounds."""
    X, y = problem(learner)
    options = {"batch_size": 10} if name_of(learner).startswith("Doubly") else {}
    expected = answers(fitted(learner, X, y, **options), X)
    assert not np.allclose(answers(fitted(learner, X[::-1], y[::-1], **options), X), expected)


@by_name("Kitchen", "Doubly", "Shrinking", "Kernel", "Boosted")
def test_rows_are_answered_apart_and_in_their_order(learner):
    X, y = problem(learner)
    model = fitted(learner, X, y)
    expected = answers(model, X)
    order = np.random.default_rng(1).permutation(len(X))
    atol = 1e-10 * np.abs(expected).max()
    np.testing.assert_allclose(answers(model, X[order]), expected[order], atol=atol)
    np.testing.assert_allclose(answers(model, X[7:8]), expected[7:8], atol=atol)


@by_name("Kitchen", "Doubly", "Shrinking", "Kernel")
def test_columns_in_another_order_give_the_same_model(learner):
    """Neurons go along with the columns; kernels of distances have no order of columns."""
    X, y = problem(learner)
    order = np.array([2, 0, 3, 1])
    frequencies = inputs(256, 4, seed=3)
    here = options_of(learner, neurons=Waves(frequencies), alpha=1e-2)
    there = options_of(learner, neurons=Waves(frequencies[:, order]), alpha=1e-2)
    expected = answers(fitted(learner, X, y, **here), X)
    got = answers(fitted(learner, X[:, order], y, **there), X[:, order])
    np.testing.assert_allclose(got, expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("learner", REGRESSORS, ids=name_of)
def test_targets_in_other_units_give_answers_in_them(learner):
    """Units that are powers of two round alike; an offset moves the answers by as much."""
    X, y = problem(learner)
    expected = fitted(learner, X, y).predict(X)
    for unit in (2.0**-20, 2.0**20, -1.0):
        got = fitted(learner, X, unit * y).predict(X) / unit
        np.testing.assert_allclose(got, expected, atol=1e-9 * np.abs(expected).max())
    got = fitted(learner, X, y + 1000.0).predict(X) - 1000.0
    np.testing.assert_allclose(got, expected, atol=1e-7 * np.abs(expected).max())


@by_name("Kitchen", "Doubly", "Shrinking", "Kernel", "Boosted")
def test_names_of_classes_do_not_matter_and_two_classes_mirror(learner):
    if is_regressor(learner):
        pytest.skip("has no classes")
    X, y = problem(learner)
    model = fitted(learner, X, y)
    other = fitted(learner, X, np.array(["u", "v", "w"])[y])
    np.testing.assert_array_equal(answers(other, X), answers(model, X))
    np.testing.assert_array_equal(other.predict(X), np.array(["u", "v", "w"])[model.predict(X)])
    expected = answers(fitted(learner, X, y == 1), X)
    mirrored = answers(fitted(learner, X, y != 1), X)
    np.testing.assert_allclose(mirrored, -expected, atol=1e-8 * np.abs(expected).max())


@by_name("Kitchen", "Doubly", "Shrinking")
def test_rows_and_length_scales_in_other_units_give_the_same_model(learner):
    X, y = problem(learner)
    expected = answers(fitted(learner, X, y, neurons=Gaussian("median")), X)
    for unit in (2.0**-60, 2.0**60):
        got = answers(fitted(learner, unit * X, y, neurons=Gaussian("median")), unit * X)
        np.testing.assert_allclose(got, expected, atol=1e-6 * np.abs(expected).max())

"""Families made of a user's own functions."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone

from cases import LEARNERS, answers, inputs, name_of, problem, soft_waves, waves
from trickless import KitchenSinksRegressor, ShrinkingGradientRegressor
from trickless.neurons import FromFunction, FromPoint


def wave(rng, n_features):
    """One frequency and one phase, by the random numbers that ``waves`` takes for n=1."""
    frequency, phase = waves(rng, 1, n_features)
    return frequency[0], phase[0]


def soft_wave(x, frequency, phase):
    """What ``soft_waves`` gives for one row and one neuron."""
    return soft_waves(x[None], frequency[None], np.array([phase]))[0]


def side(x, w):
    return w @ x > 0


def fitted(neurons, X):
    return clone(neurons).fit(X, np.random.default_rng(0))


def test_one_array_is_one_argument_and_a_tuple_several():
    X = inputs(5, 3)
    single = fitted(FromFunction(lambda rng, n, d: rng.random((n, d)), lambda X, w: X @ w.T), X)
    (w,) = weights = single.draw(np.random.default_rng(1), 7)
    np.testing.assert_array_equal(single(X, weights), X @ w.T)
    several = fitted(FromFunction(waves, soft_waves, width=2), X)
    weights = several.draw(np.random.default_rng(1), 7)
    np.testing.assert_array_equal(several(X, weights), soft_waves(X, *weights))


def test_points_are_the_function_one_at_a_time():
    X = inputs(6, 3)
    arrays = fitted(FromFunction(waves, soft_waves, width=2), X)
    points = fitted(FromPoint(wave, soft_wave, width=2), X)
    weights = points.draw(np.random.default_rng(1), 4)
    rng = np.random.default_rng(1)
    alone = [wave(rng, 3) for _ in range(4)]
    for array, parts in zip(weights, zip(*alone, strict=True), strict=True):
        np.testing.assert_array_equal(array, np.stack(parts))
    np.testing.assert_allclose(points(X, weights), arrays(X, weights), atol=1e-14)
    assert points(X.astype("float32"), weights).dtype == "float32"
    assert points(X[:0], weights).shape == (0, 8)
    every = arrays(X[:4], weights).reshape(4, 2, 4)
    pairs = points.activate_pairs(X[:4], weights)
    np.testing.assert_allclose(pairs, np.diagonal(every, axis1=0, axis2=2).T, atol=1e-14)


def test_a_point_may_give_a_number_or_a_boolean():
    X = inputs(6, 3)
    points = fitted(FromPoint(lambda rng, d: rng.standard_normal(d), side), X)
    (w,) = weights = points.draw(np.random.default_rng(1), 5)
    np.testing.assert_array_equal(points(X, weights), X @ w.T > 0)


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_points_work_in_every_learner(learner):
    X, y = problem(learner, rows=30)
    points = FromPoint(lambda rng, d: rng.standard_normal(d), side)
    few = clone(learner).set_params(neurons=points, random_state=0, n_neurons=20)
    model = few.fit(X, y)
    np.testing.assert_array_equal(answers(clone(model).fit(X, y), X), answers(model, X))


class Bank:
    """A user's object whose methods are the two functions."""

    def __init__(self, scale):
        self.scale = scale

    def sample(self, rng, n, n_features):
        return rng.standard_normal((n, n_features)) / self.scale

    def psi(self, X, w):
        return np.tanh(X @ w.T)


def test_methods_of_an_object_serve_as_functions():
    X, y = inputs(60, 3), inputs(60, 1)[:, 0]
    bank = Bank(2.0)
    model = KitchenSinksRegressor(FromFunction(bank.sample, bank.psi), n_neurons=20, random_state=0)
    model.fit(X, y)
    for rows in (slice(30), slice(30, None)):
        model.partial_fit(X[rows], y[rows])
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    model.neurons.psi = bank.sample
    with pytest.raises(ValueError, match="was begun with"):
        model.partial_fit(X, y)


GLOBAL = np.random.default_rng(0)
WRONG_ARRAYS = {
    r"sample=3, but it must be a function sample\(rng, n, n_features\)": {"sample": 3},
    r"psi=None, but it must be a function psi\(X, w\)": {"psi": None},
    "width=0, but": {"width": 0},
    "bound=-1, but": {"bound": -1},
    r"sample\(rng, n=2, n_features=4\) returned arrays of shapes \[\(3,\)\]": {
        "sample": lambda rng, n, d: np.ones(3)
    },
    "sample gave different weights from the same seed": {
        "sample": lambda rng, n, d: GLOBAL.standard_normal((n, d))
    },
    r"psi\(X, \*weights\) returned an array of shape \(30, 4\) for 30 rows and 16 neurons": {
        "psi": lambda X, w: X
    },
    r"psi\(X, \*weights\) returned list": {"psi": lambda X, w: [1.0]},
    r"psi\(X, \*weights\) returned DataFrame": {"psi": lambda X, w: pd.DataFrame(X @ w.T)},
    r"psi\(X, \*weights\) returned csr_": {"psi": lambda X, w: scipy.sparse.csr_array(X @ w.T)},
    r"psi\(X, \*weights\) returned MaskedArray": {"psi": lambda X, w: np.ma.array(X @ w.T)},
    r"psi\(X, \*weights\) returned an array of type complex": {
        "psi": lambda X, w: np.exp(1j * (X @ w.T))
    },
    "sample returned a list that is not an array": {
        "sample": lambda rng, n, d: [rng.random((n, d)), rng.random(n)]
    },
    "FromFunction gave activations that are not finite": {
        "psi": lambda X, w: np.full((len(X), len(w)), np.nan)
    },
    "FromFunction declares bound=1.0, but a neuron has a norm of 3": {
        "psi": lambda X, w: np.full((len(X), len(w)), 3.0)
    },
}
WRONG_POINTS = {
    r"psi=3, but it must be a function psi\(x, w\)": {"psi": 3},
    r"sample\(rng, n_features\) returned arrays of shapes": {
        "sample": lambda rng, d: np.ones(rng.integers(1, 9))
    },
    r"psi\(x, \*w\) returned None": {"psi": lambda x, w: None},
    r"psi\(x, \*w\) returned 'a'": {"psi": lambda x, w: "a"},
    r"psi\(x, \*w\) returned 1j": {"psi": lambda x, w: 1j},
    r"psi\(x, \*w\) returned array\(\[1., 1.\]\) .* width = 1 ": {"psi": lambda x, w: np.ones(2)},
    r"psi\(x, \*w\) returned array\(\[1., 1.\]\) for a row": {
        "psi": lambda x, w: np.ones(1 + (x[0] > 0))
    },
}


def refused(neurons, message):
    X = inputs(30, 4)
    model = ShrinkingGradientRegressor(neurons, random_state=0)
    with pytest.raises((TypeError, ValueError), match=rf"{message}.* Remedy: "):
        model.fit(X, X[:, 0])


@pytest.mark.parametrize("message", WRONG_ARRAYS)
def test_wrong_functions_of_arrays_are_refused_by_name(message):
    right = {"sample": lambda rng, n, d: rng.random((n, d)), "psi": lambda X, w: np.cos(X @ w.T)}
    refused(FromFunction(**right | WRONG_ARRAYS[message]), message)


@pytest.mark.parametrize("message", WRONG_POINTS)
def test_wrong_functions_of_points_are_refused_by_name(message):
    right = {"sample": lambda rng, d: rng.random(d), "psi": lambda x, w: np.cos(x @ w)}
    refused(FromPoint(**right | WRONG_POINTS[message]), message)

"""Families of one's own: what they draw comes back, their parameters may have any name."""

from functools import cache

import numpy as np
import pytest
from sklearn.base import clone

from trickless import (
    DoublyStochasticRegressor,
    KitchenSinksRegressor,
    RandomFeatures,
    ShrinkingGradientRegressor,
)
from trickless.inspection import estimate_kernel
from trickless.neurons import Gaussian, Mixture, Neurons, On, check_family

X = np.random.default_rng(0).standard_normal((600, 2))
Y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 2
X_NEW = np.random.default_rng(1).standard_normal((600, 2))
Y_NEW = np.sin(2 * X_NEW[:, 0]) + X_NEW[:, 1] ** 2 / 2
LEARNERS = {
    "kitchen sinks": KitchenSinksRegressor(n_neurons=200, random_state=0),
    "doubly stochastic": DoublyStochasticRegressor(n_neurons=400, random_state=0),
    "shrinking gradient": ShrinkingGradientRegressor(random_state=0),
}
every_learner = pytest.mark.parametrize("name", LEARNERS)


class Bumps(Neurons):
    """exp(−|x − c|² / 2 h²) around centres c, which are one array."""

    def __init__(self, h=1.0):
        self.h = h

    def draw(self, rng, n):
        return rng.standard_normal((n, self.n_features_in_))

    def activate(self, X, weights):
        assert isinstance(weights, np.ndarray)
        squares = ((X[:, None] - weights[None]) ** 2).sum(axis=2)
        return np.exp(-squares / (2 * self.h**2))


class BumpsOfATuple(Bumps):
    def draw(self, rng, n):
        return (super().draw(rng, n),)

    def activate(self, X, weights):
        assert isinstance(weights, tuple)
        return super().activate(X, *weights)


def fitted(name, neurons):
    return clone(LEARNERS[name]).set_params(neurons=neurons).fit(X, Y)


@cache
def with_bumps(name):
    """A learner with bumps that has learned, which no test changes."""
    return fitted(name, Bumps())


@cache
def predicted(name):
    """What few bumps predict."""
    learner = clone(LEARNERS[name]).set_params(n_neurons=40, neurons=Bumps(0.7))
    return learner.fit(X[:99], Y[:99]).predict(X_NEW[:99])


@every_learner
def test_a_family_of_ones_own_learns(name):
    """One pass finds less than a solution does, but far more than steps for the bound: .06."""
    assert with_bumps(name).score(X_NEW, Y_NEW) > (0.5 if "shrinking" in name else 0.9)


@every_learner
def test_a_bound_that_is_far_too_high_changes_little(name):
    class High(Bumps):
        bound = 10.0

    scores = [each.score(X_NEW, Y_NEW) for each in (with_bumps(name), fitted(name, High()))]
    assert scores[1] == pytest.approx(scores[0], abs=1e-6)


@every_learner
def test_one_array_and_a_tuple_of_one_are_the_same_neurons(name):
    other = fitted(name, BumpsOfATuple()).predict(X_NEW)
    np.testing.assert_array_equal(with_bumps(name).predict(X_NEW), other)


@pytest.mark.parametrize(
    "whole",
    [
        lambda part: On([1], part),
        lambda part: 2 * part,
        lambda part: part + Gaussian(1.0),
        lambda part: part * Gaussian(1.0),
        lambda part: Mixture([part, Gaussian(1.0)]),
    ],
    ids=["on", "multiple", "sum", "product", "mixture"],
)
def test_parts_get_back_what_they_drew(whole):
    for learner in (RandomFeatures(n_neurons=20), ShrinkingGradientRegressor(estimate="index")):
        answers = [
            clone(learner).set_params(neurons=whole(part), random_state=0).fit(X[:99], Y[:99])
            for part in (Bumps(), BumpsOfATuple())
        ]
        method = "transform" if isinstance(learner, RandomFeatures) else "predict"
        one, other = (getattr(model, method)(X_NEW[:99]) for model in answers)
        np.testing.assert_array_equal(one, other)


#: What the base class of families calls, and has called, its own.
TAKEN = (
    *("layout", "read", "write", "combine", "candidates", "shared", "kernel", "gradient"),
    *("nonzeros", "leaves", "by_order", "one_hot", "any_code", "n_given", "last_layer"),
    *("set_depth", "draw_from", "check_length", "check_weights", "known_inputs", "by_relevance"),
    *("wants_relevance", "skips_missing", "may_know_targets", "n_nonzero"),
    *("closed_form", "weights", "neurons", "factor", "seed", "stream"),
)


@pytest.mark.parametrize("parameter", TAKEN)
def test_a_parameter_may_have_any_name(parameter):
    """``__init__`` is written for the name, as a user would."""
    lines = f"def __init__(self, {parameter}=1.0):\n    self.{parameter} = {parameter}\n"
    scope = {}
    exec(lines, scope)

    class Named(Bumps):
        __init__ = scope["__init__"]

        def activate(self, X, weights):
            self_h = float(getattr(self, parameter))
            return np.exp(-((X[:, None] - weights[None]) ** 2).sum(axis=2) / (2 * self_h**2))

    for name in LEARNERS:
        named = clone(LEARNERS[name]).set_params(n_neurons=40, neurons=Named(0.7))
        found = named.fit(X[:99], Y[:99]).predict(X_NEW[:99])
        np.testing.assert_array_equal(found, predicted(name))
    mean, _ = estimate_kernel(Named(0.7), X[:3], n_neurons=100, random_state=0)
    assert mean.shape == (3, 3)


@pytest.mark.parametrize("family", [Bumps(), BumpsOfATuple(0.5), Gaussian(1.0)])
def test_a_right_family_passes_the_check(family):
    check_family(family)
    check_family(family, X)
    assert not hasattr(family, "n_features_in_")


def wrong(**methods):
    """A family of bumps with other methods or attributes."""
    return type("Wrong", (Bumps,), methods)()


def with_state(self, rng, n):
    self.more = getattr(self, "more", 0) + 1
    return rng.standard_normal((n, self.n_features_in_)) + self.more


WRONG = {
    "n = 64 entries": {"draw": lambda self, rng, n: rng.standard_normal((n + 1, 3))},
    "different weights": {"draw": with_state},
    "one distribution": {
        "draw": lambda self, rng, n: rng.standard_normal((n, 3)) + np.linspace(0, 3, n)[:, None]
    },
    r"activate\(X, weights\) failed with AttributeError": {
        "activate": lambda self, X, weights: X @ weights.missing
    },
    "shape": {"activate": lambda self, X, weights: np.tanh(X)},
    "bound=1": {"activate": lambda self, X, weights: 3 * np.tanh(X @ weights.T)},
    "not finite": {"activate": lambda self, X, weights: np.log(0 * (X @ weights.T))},
    "fewer others": {
        "activate": lambda self, X, weights: np.tanh(X @ (weights - weights.mean(axis=0)).T)
    },
    "smaller block": {"activate": lambda self, X, weights: np.tanh((X - X.mean(0)) @ weights.T)},
    "cannot be called": {"fit": lambda self, X: self},
    "n_features_in_": {"fit": lambda self, X, rng, sample_weight=None: self},
}


@pytest.mark.filterwarnings("ignore:divide by zero|invalid value:RuntimeWarning")
@pytest.mark.parametrize("message", WRONG)
def test_the_check_names_the_method_of_a_wrong_family(message):
    with pytest.raises((ValueError, TypeError), match=rf"(?s)Wrong.*{message}.*Remedy"):
        check_family(wrong(**WRONG[message]))


@every_learner
def test_a_wrong_method_is_named_at_the_fit(name):
    family = wrong(activate=lambda self, X, weights: X @ weights.missing)
    with pytest.raises(TypeError, match=r"Wrong.activate\(X, weights\) failed with Attribute.*Rem"):
        fitted(name, family)


def test_something_else_is_no_family():
    with pytest.raises(TypeError, match=r"check_family: family is of type int.*Remedy"):
        check_family(3)

"""The warning where left-out rows are predicted no better than by a constant."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from cases import inputs
from trickless import (
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    ShrinkingGradientRegressor,
)
from trickless.kernels import KernelGradientRegressor
from trickless.neurons import Gaussian

REGRESSORS = (
    KitchenSinksRegressor(n_neurons=100, random_state=0),
    BoostedTreesRegressor(n_trees=100, random_state=0),
    DoublyStochasticRegressor(Gaussian("median"), 200, early_stopping=True, random_state=0),
)
CLASSIFIERS = (
    KitchenSinksClassifier(n_neurons=100, random_state=0),
    BoostedTreesClassifier(n_trees=100, random_state=0),
    DoublyStochasticClassifier(Gaussian("median"), 200, early_stopping=True, random_state=0),
)


def named(learner):
    return type(learner).__name__


def warned(learner, X, y):
    """Return whether a fit warns, and check that it warns of nothing else."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner.fit(X, y)
    assert all("no better than by a constant" in str(each.message) for each in caught)
    return bool(caught)


@pytest.mark.parametrize("learner", REGRESSORS, ids=named)
def test_noise_is_told_from_what_can_be_learned(learner):
    """A signal of a third of the variance is seldom taken for noise."""
    noise, weak = [], []
    for seed in range(6):
        X, rng = inputs(400, 4), np.random.default_rng(seed)
        e = rng.standard_normal(400)
        noise.append(warned(learner, X, e))
        weak.append(warned(learner, X, np.sin(X[:, 0]) + e))
    assert sum(noise) >= 3
    assert sum(weak) <= 1
    assert not warned(learner, X, np.sin(X[:, 0]))
    assert not warned(learner, X, np.ones(400))
    assert not warned(learner, X[:15], e[:15])  # too few to tell


@pytest.mark.parametrize("learner", CLASSIFIERS, ids=named)
def test_labels_that_columns_do_not_tell_are_noticed(learner):
    X, rng = inputs(400, 4), np.random.default_rng(0)
    labels = [rng.integers(0, 3, 400) for _ in range(6)]
    assert sum(warned(learner, X, y) for y in labels) >= 3
    assert not warned(learner, X, X[:, 0] > 0)


def test_wide_rows_in_which_nothing_is_found_name_what_may_find_more():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3000))
    y = X[:, :4].sum(axis=1) + 0.1 * rng.standard_normal(400)
    message = r"3,000 columns and 400 rows, so most columns may not matter. Remedy: .*LassoCV"
    with pytest.warns(UserWarning, match=message):
        KitchenSinksRegressor(random_state=0).fit(X, y)


@pytest.mark.parametrize("learner", [ShrinkingGradientRegressor, KernelGradientRegressor])
def test_a_pass_that_hardly_learns_its_own_rows_warns(learner):
    X = inputs(400, 8)
    noise = np.random.default_rng(0).standard_normal(400)
    model, narrow = learner(random_state=0), {"kernel_params": {"gamma": 200.0}, "step_size": 0.01}
    if learner is ShrinkingGradientRegressor:
        narrow = {"neurons": Gaussian(0.05), "step_size": 0.01}
    with pytest.warns(UserWarning, match=r"after one pass over 400 rows.*Remedy: Kitchen Sinks"):
        clone(model).set_params(**narrow).fit(X, noise)
    clone(model).fit(X, np.sin(X[:, 0]))
    clone(model).set_params(**narrow).fit(X[:100], noise[:100])  # too few to tell

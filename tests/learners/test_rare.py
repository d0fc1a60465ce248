"""Rare classes: probabilities average to the rate, with weights, several classes, and streams."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel

from trickless import (
    BoostedTreesClassifier,
    DoublyStochasticClassifier,
    KitchenSinksClassifier,
    ShrinkingGradientClassifier,
)
from trickless._arrays.weighted import effective_rows
from trickless._solvers.constants import constant_of
from trickless._solvers.held_out import Holding
from trickless._solvers.named_losses import make_loss
from trickless.kernels import KernelGradientClassifier
from trickless.neurons import Gaussian

both_kinds = pytest.mark.parametrize(
    "learner",
    [
        DoublyStochasticClassifier(Gaussian("median"), 1000, random_state=0),
        BoostedTreesClassifier(1000, random_state=0),
    ],
)


def rbf(X, Y, rng):
    """A kernel without noise."""
    return rbf_kernel(X, Y, 0.1)


def rare(rate, n_train=3000, n_test=6000, seed=0):
    X, y = make_classification(
        n_train + n_test,
        8,
        n_informative=5,
        weights=[1 - rate],
        flip_y=0.002,
        class_sep=0.8,
        random_state=seed,
    )
    return X[:n_train], y[:n_train], X[n_train:], y[n_train:]


def standard_errors(model, X, y, X_test, y_test, weight=None):
    """Distances of the mean probabilities on new rows from their shares, in standard errors.

    Both the shares of the training rows and the shares of the new rows have errors.
    """
    p = np.asarray(model.predict_proba(X_test))
    hit, hit_before = (each[:, None] == model.classes_ for each in (y_test, y))
    n = effective_rows(len(y), weight)
    share, before = hit.mean(axis=0), np.average(hit_before, axis=0, weights=weight)
    error = np.sqrt(share * (1 - share) / len(y_test) + before * (1 - before) / n)
    return (p.mean(axis=0) - share) / error


@pytest.mark.parametrize(("rate", "seed"), [(0.01, 0), (0.05, 1)])
def test_steps_of_blocks_have_the_rate_of_a_rare_class(rate, seed):
    X, y, X_test, y_test = data = rare(rate, seed=seed)
    model = DoublyStochasticClassifier(Gaussian("median"), 2000, random_state=0).fit(X, y)
    assert model.schedule_ == "block"
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), rel=0.05)
    assert np.abs(standard_errors(model, *data)).max() < 3
    constant = log_loss(y_test, np.full(len(y_test), y.mean()))
    assert log_loss(y_test, model.predict_proba(X_test)) < constant


def test_trees_have_the_rate_of_a_rare_class_on_new_rows():
    X, y, X_test, y_test = data = rare(0.02)
    model = BoostedTreesClassifier(random_state=0).fit(X, y)
    assert np.abs(standard_errors(model, *data)).max() < 3
    unmoved = model.decision_function(X_test) - model.intercept_ + model._forest_.start
    assert log_loss(y_test, model.predict_proba(X_test)) < log_loss(
        y_test, make_loss("log_loss").probability(unmoved[:, None])
    )


@both_kinds
def test_rates_of_rare_classes_hold_with_weights_and_several_classes(learner):
    X, y, X_test, y_test = rare(0.03)
    y, y_test = (np.where(c, 2, x[:, 0] > 0) for c, x in ((y, X), (y_test, X_test)))
    weight = np.where(y == 2, 0.5, 1.0)
    model = clone(learner).fit(X, y, weight)
    again = y_test != 2
    again |= np.random.default_rng(0).random(len(y_test)) < 0.5  # the rare class counts half
    assert np.abs(standard_errors(model, X, y, X_test[again], y_test[again], weight)).max() < 3.5


def test_a_stream_has_the_rate_of_a_rare_class():
    X, y, X_test, y_test = rare(0.02, n_train=16_384)
    model = DoublyStochasticClassifier(Gaussian("median"), 600, random_state=0)
    for rows in np.split(np.arange(len(y)), 8):
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert model.schedule_ == "block"
    assert np.abs(standard_errors(model, X, y, X_test, y_test)).max() < 3.5


@both_kinds
def test_rows_of_weight_zero_are_absent(learner):
    X, y, X_test, _ = rare(0.1, n_train=700, n_test=100)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    model, kept = clone(learner), weight > 0
    p = model.fit(X, y, weight).predict_proba(X_test)
    np.testing.assert_array_equal(
        model.fit(X[kept], y[kept], weight[kept]).predict_proba(X_test), p
    )


def test_early_stopping_counts_effective_rows():
    X, y, *_ = rare(0.3, n_train=400, n_test=10)
    weight = np.full(400, 1e-6)
    weight[:6] = 1.0
    model = BoostedTreesClassifier(n_trees=20, random_state=0)
    assert model.fit(X, y).validation_scores_
    assert not model.fit(X, y, weight).validation_scores_
    assert model.fit(X, y, np.full(400, 1e-6)).validation_scores_


def test_the_rows_held_out_have_the_same_share_of_each_class():
    X, y, *_ = rare(0.02, n_train=1000, n_test=10)
    model = BoostedTreesClassifier(n_trees=10, random_state=0).fit(X, y)
    forest, loss = model._forest_, make_loss("log_loss")
    holding = Holding.of("test", model._seed_, 0.1, loss, forest.start)
    held_out, training = holding.split(model._targets_.matrix(y))
    assert sorted([*held_out, *training]) == list(range(1000))
    assert len(held_out) == 100
    assert abs(y[held_out].sum() - 0.1 * y.sum()) <= 1


def test_a_class_without_rows_in_the_first_batch_may_follow():
    X, y, *_ = rare(0.2, n_train=400, n_test=10)
    X, y = (part[np.argsort(y, kind="stable")] for part in (X, y))
    model = DoublyStochasticClassifier(random_state=0)
    model.partial_fit(X[:100], y[:100], classes=[0, 1, 2])
    assert np.isfinite(model.intercept_).all()
    p = model.partial_fit(X[100:], y[100:]).predict_proba(X)
    assert np.isfinite(p).all()


def test_the_constant_makes_probabilities_average_to_the_rate():
    rng = np.random.default_rng(0)
    f = 2 * rng.standard_normal((5000, 1))
    y = np.where(rng.random((5000, 1)) < 1 / (1 + np.exp(3 - f)), 1.0, -1.0)
    weight = rng.random(5000)
    loss = make_loss("log_loss")
    p = loss.probability(f + constant_of(loss, f, y, weight))[:, 1]
    assert np.average(p, weights=weight) == pytest.approx(
        np.average(y[:, 0] > 0, weights=weight), rel=0.01
    )


@pytest.mark.parametrize(
    "model",
    [
        DoublyStochasticClassifier(n_neurons=1000),
        BoostedTreesClassifier(300),
        KitchenSinksClassifier(n_neurons=200),
        KitchenSinksClassifier(n_neurons=200, solver="iterative"),
        KitchenSinksClassifier(n_neurons=200, loss="log_loss", alpha=1e-4),
        ShrinkingGradientClassifier(),
        KernelGradientClassifier(),
        KernelGradientClassifier(rbf, kernel_bound=1.0),
    ],
    ids=lambda learner: repr(learner).partition(" at 0x")[0],
)
def test_probabilities_average_to_the_rate(model):
    X, y, X_test, y_test = data = rare(0.02, n_train=1000, n_test=4000)
    model = model.set_params(random_state=0).fit(X, y)
    assert np.abs(standard_errors(model, *data)).max() < 4
    p = model.predict_proba(X_test)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X_test))
    assert log_loss(y_test, p) < log_loss(y_test, np.full(len(y_test), y.mean()))

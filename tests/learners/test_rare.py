"""Rare classes: probabilities average to the rate, with weights, several classes, and streams."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

from trickless import (
    DoublyStochasticClassifier,
    KernelGradientClassifier,
    KitchenSinksClassifier,
    NoisyKernelClassifier,
    NORMAClassifier,
    PegasosClassifier,
    SDCAClassifier,
    ShrinkingGradientClassifier,
)
from trickless.solvers.losses import make_loss
from trickless.solvers.newton import constant_of, effective_rows


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


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("rate", [0.01, 0.05])
def test_steps_of_blocks_have_the_rate_of_a_rare_class(rate, seed):
    X, y, X_test, y_test = data = rare(rate, seed=seed)
    model = DoublyStochasticClassifier(n_neurons=2000, random_state=0).fit(X, y)
    assert model.preconditioner_ == "block"
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), rel=0.05)
    assert np.abs(standard_errors(model, *data)).max() < 3
    constant = log_loss(y_test, np.full(len(y_test), y.mean()))
    assert log_loss(y_test, model.predict_proba(X_test)) < constant

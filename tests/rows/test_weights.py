"""Weights of rows: only their ratios count, and no choice is worse for them."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    make_classification,
    make_friedman1,
)
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import scale
from sklearn.utils.class_weight import compute_class_weight

from cases import EVERY, LEARNERS, answers, name_of, problem
from fit_everything import make
from trickless import DoublyStochasticClassifier, KitchenSinksClassifier, KitchenSinksRegressor
from trickless.neurons import Gaussian

WEIGHTED = [model for model in EVERY if "sample_weight" in inspect.signature(model.fit).parameters]
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
#: Sets with two classes, of which one is rare, and others.
IMBALANCED = {
    "95%": make_classification(
        800, 20, weights=[0.95], n_informative=6, flip_y=0.02, random_state=3
    ),
    "eights": (load_digits().data[:800] / 16, load_digits().target[:800] == 8),
}
TABLES = {
    "cancer": load_breast_cancer(return_X_y=True),
    "classes": make_classification(400, 12, n_informative=6, n_classes=3, random_state=0),
}


@pytest.mark.parametrize("model", WEIGHTED, ids=name_of)
@pytest.mark.parametrize("factor", [3.0, 1e20])
def test_a_factor_of_all_weights_changes_nothing(model, factor):
    X, y = problem(model)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    model = make(model, "gaussian", dtype="float64") if model in LEARNERS else clone(model)
    model.set_params(random_state=0) if "random_state" in model.get_params() else None
    expected = answers(clone(model).fit(X, y, sample_weight=weight), X)
    found = answers(clone(model).fit(X, y, sample_weight=factor * weight), X)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("alpha", ["auto", 1e-4])
def test_a_factor_of_all_weights_changes_no_choice_and_no_error_bar(alpha):
    X, y = make_friedman1(400, noise=1, random_state=0)
    X = scale(X)
    model = KitchenSinksRegressor(n_neurons=200, alpha=alpha, random_state=0)
    plain = clone(model).fit(X[:300], y[:300])
    assert plain.score(X[300:], y[300:]) > 0.8
    for weight in (2.0, 1000.0, 1e-30):
        weighted = clone(model).fit(X[:300], y[:300], np.full(300, weight))
        np.testing.assert_allclose(weighted.alpha_, plain.alpha_, rtol=1e-9)
        np.testing.assert_allclose(weighted.noise_variance_, plain.noise_variance_, rtol=1e-5)
        for a, b in zip(
            weighted.predict(X, return_std=True), plain.predict(X, return_std=True), strict=True
        ):
            np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.parametrize("name", IMBALANCED)
def test_balanced_classes_cost_no_area_under_the_curve(name):
    """No more than a standard error of the area under the curve, over five folds."""
    X, y = IMBALANCED[name]
    neurons = Gaussian(X.shape[1] ** 0.5)
    plain, balanced = (
        cross_val_score(
            KitchenSinksClassifier(neurons, 150, class_weight=by_class, random_state=0),
            scale(X),
            y,
            scoring="roc_auc",
            cv=FOLDS,
        )
        for by_class in (None, "balanced")
    )
    assert balanced.mean() > plain.mean() - plain.std(ddof=1) / np.sqrt(5)


@pytest.mark.parametrize("name", TABLES)
def test_bagging_costs_no_accuracy(name):
    """Weights of bootstraps lose no more than a standard error of the accuracy."""
    X, y = (part[:200] for part in TABLES[name])
    model = KitchenSinksClassifier(n_neurons=100, random_state=0)
    plain, bagged = (
        cross_val_score(each, scale(X), y, cv=FOLDS)
        for each in (model, BaggingClassifier(model, 5, random_state=0))
    )
    assert bagged.mean() >= plain.mean() - plain.std(ddof=1) / np.sqrt(5)


@pytest.mark.parametrize(
    "model",
    [
        KitchenSinksClassifier(Gaussian(2.0), 50, alpha=1e-3, random_state=0, dtype="float64"),
        DoublyStochasticClassifier(Gaussian(2.0), 400, random_state=0, dtype="float64"),
    ],
    ids=name_of,
)
def test_balanced_classes_count_the_weights_of_rows(model):
    """As many rows of class 1 are predicted as with rows repeated, as by LogisticRegression.

    It counts weights only in versions of scikit-learn whose weights of classes do.
    """
    X, y = make_classification(600, 5, weights=[0.9], flip_y=0.1, random_state=0)
    X, weight = scale(X), np.where(y, 20, 1)
    repeat = np.repeat(np.arange(600), weight)
    counts = "sample_weight" in inspect.signature(compute_class_weight).parameters
    for each in (model, LogisticRegression()) if counts else (model,):
        each = clone(each).set_params(class_weight="balanced")
        weighted = clone(each).fit(X, y, sample_weight=weight).predict(X).mean()
        repeated = clone(each).fit(X[repeat], y[repeat]).predict(X).mean()
        plain = clone(each).set_params(class_weight=None).fit(X, y, weight).predict(X).mean()
        assert abs(weighted - repeated) < 0.05
        assert plain > repeated + 0.1


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_categories_of_rows_of_weight_zero_are_unknown(library):
    X, y = problem(LEARNERS[0], 200)
    town = np.random.default_rng(0).choice(["Aue", "Bonn", "Ulm"], 200)
    weight = np.where(town == "Aue", 0, np.arange(200) % 3)
    kept = weight > 0
    table = {"x": X[:, 0], "town": town}
    model = KitchenSinksRegressor("tabular", 50, random_state=0)
    model.fit(library.DataFrame(table), list(y), sample_weight=weight.tolist())
    (codes,) = (each for each in model._rows_.columns.codes if each)
    assert list(codes) == ["Bonn", "Ulm"]
    some = library.DataFrame({name: column[kept] for name, column in table.items()})
    expected = clone(model).fit(some, y[kept], weight[kept]).predict(some)
    np.testing.assert_array_equal(model.predict(some), expected)

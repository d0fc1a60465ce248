"""How much features matter, as learned, and what scikit-learn's selectors make of it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import RFE, SelectFromModel

from cases import inputs
from trickless import (
    BoostedTreesRegressor,
    DoublyStochasticRegressor,
    KitchenSinksRegressor,
    ShrinkingGradientRegressor,
)
from trickless.inspection import FeatureImportancesDisplay
from trickless.neurons import Ferns, Gaussian, Laplace1, Mixture, Stumps

X = pd.DataFrame(inputs(300, 6), columns=list("abcdef"))
y = np.sin(2 * X["b"]) + X["e"] + 0.1 * inputs(300, 1, 1)[:, 0]

MODELS = {
    "gaussian": KitchenSinksRegressor(Gaussian("relevance"), 200, random_state=0),
    "laplace": KitchenSinksRegressor(Laplace1("relevance"), 200, random_state=0),
    "stumps": KitchenSinksRegressor(Stumps(feature_weights="relevance"), 200, random_state=0),
    "ferns": DoublyStochasticRegressor(Ferns(feature_weights="relevance"), 400, random_state=0),
    "mixture": KitchenSinksRegressor(
        Mixture([Stumps(), Gaussian("relevance")]), 200, random_state=0
    ),
    "trees": BoostedTreesRegressor(100, random_state=0),
    "online": ShrinkingGradientRegressor(Gaussian("relevance"), random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_features_that_matter_have_the_largest_shares(name):
    model = MODELS[name].fit(X, y)
    shares = model.feature_importances_
    assert shares.shape == (6,)
    assert shares.sum() == pytest.approx(1)
    assert set(np.argsort(shares)[-2:]) == {1, 4}


def test_importances_are_those_of_the_derivatives():
    """Of sin(2b) + e with normal inputs, E 4 cos²(2b) = 2 (1 + exp(−8)) and 1."""
    rows = pd.DataFrame(inputs(1000, 6), columns=list("abcdef"))
    noise = np.random.default_rng(0).normal(scale=0.3, size=1000)
    f = np.sin(2 * rows["b"]) + 7 + rows["e"] + noise
    model = KitchenSinksRegressor(Gaussian("relevance"), 50, random_state=0)
    for scale in (np.ones(6), np.array([1, 100.0, 1, 1, 0.01, 1])):
        shares = model.fit(rows * scale, f).feature_importances_
        np.testing.assert_allclose(shares[[1, 4]], [2 / 3, 1 / 3], atol=0.03)


def test_importances_average_over_many_outputs():
    model = KitchenSinksRegressor(Gaussian("relevance"), 50, random_state=0)
    Y = np.empty((300, 72))  # more than are taken apart
    Y[:, :36] = np.asarray(X)[:, [1]] * np.arange(1, 37)
    Y[:, 36:] = np.asarray(X)[:, [4]] * np.arange(1, 37)
    shares = model.fit(X, Y).feature_importances_
    np.testing.assert_allclose(shares, [0, 0.5, 0, 0, 0.5, 0], atol=0.2)


def test_selectors_of_scikit_learn_keep_the_most_important_features():
    model = KitchenSinksRegressor(Gaussian("relevance"), 200, random_state=0)
    recursive = RFE(model, n_features_to_select=2, step=2)
    for selector in (recursive, SelectFromModel(model, max_features=2)):
        selector.fit(X[:300], y[:300])
        assert list(selector.get_feature_names_out()) == ["b", "e"]


def test_models_without_importances_say_so():
    model = KitchenSinksRegressor(Gaussian("median"), 50, random_state=0).fit(X, y)
    assert not hasattr(model, "feature_importances_")
    assert not hasattr(model, "coef_")
    with pytest.raises(AttributeError, match="Remedy: length_scale='relevance'"):
        _ = model.feature_importances_
    with pytest.raises(AttributeError, match="permutation_importance"):
        SelectFromModel(model, importance_getter="feature_importances_").fit(X, y).get_support()


def test_the_display_shows_the_most_important_first():
    model = MODELS["gaussian"].fit(X, y)
    display = FeatureImportancesDisplay.from_estimator(model, n_features=3)
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert set(labels[:2]) == {"b", "e"}
    widths = [bar.get_width() for bar in display.bars_]
    assert len(widths) == 3
    assert widths == sorted(model.feature_importances_, reverse=True)[:3]
    few = KitchenSinksRegressor(Ferns(feature_weights="relevance"), 20, random_state=0)
    few.fit(X.to_numpy()[:200], y[:200])
    plain = FeatureImportancesDisplay.from_estimator(few)
    assert {label.get_text() for label in plain.ax_.get_yticklabels()} == set("012345")
    with pytest.raises(ValueError, match=r"n_features=0.*Remedy"):
        FeatureImportancesDisplay.from_estimator(model, n_features=0)

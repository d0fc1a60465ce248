"""What learners say about parameters and attributes that they do not have."""

import numpy as np
import pytest

from cases import EVERY, inputs, name_of
from trickless import (
    AutoClassifier,
    AutoRegressor,
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    RandomFeatures,
)
from trickless.conformal import SplitConformal
from trickless.inspection import FeatureImportancesDisplay

X, Y = inputs(60, 2), np.arange(60.0)
ALL = [*EVERY, AutoRegressor(), AutoClassifier()]


@pytest.mark.parametrize("learner", ALL, ids=name_of)
def test_misspelled_parameters_are_named_with_those_there_are(learner):
    owner = type(learner).__name__
    with pytest.raises(TypeError, match=f"{owner}: .*'random_sate'. Remedy: random_state=...; the"):
        type(learner)(random_sate=0)
    for method in (learner.fit, learner.predict):
        with pytest.raises(TypeError, match=f"{owner}.{method.__name__}: .*'weights'. Remedy: "):
            method(X, weights=Y)


@pytest.mark.parametrize("name", ["alpha", "coverage", "interval"])
@pytest.mark.parametrize(
    ("learner", "method"),
    [
        (KitchenSinksRegressor(), "predict_interval"),
        (BoostedTreesRegressor(), "predict_interval"),
        (KitchenSinksClassifier(), "predict_set"),
    ],
    ids=str,
)
def test_other_words_for_the_confidence_are_known(learner, method, name):
    said = rf"{type(learner).__name__}.{method}: .* Remedy: confidence=0.9; "
    with pytest.raises(TypeError, match=said):
        getattr(learner, method)(X, **{name: 0.1})


@pytest.mark.parametrize(
    ("learner", "name", "remedy"),
    [
        (AutoRegressor(), "feature_importances_", "sklearn.inspection.permutation_importance"),
        (AutoClassifier(), "partial_fit", "another learner"),
        (AutoRegressor(), "shap_values", "BoostedTreesRegressor"),
        (KitchenSinksClassifier(), "predict_interval", "predict_set"),
        (BoostedTreesRegressor(), "predict_proba", "predict_interval"),
        (BoostedTreesRegressor(), "predict_set", "predict_interval"),
    ],
)
def test_what_other_learners_have_is_said_where_it_lacks(learner, name, remedy):
    assert not hasattr(learner, name)
    with pytest.raises(AttributeError, match=f"{type(learner).__name__} has no {name}. .*{remedy}"):
        getattr(learner, name)
    for other, what in ((learner, "else_where"), (RandomFeatures(), "predict_set")):
        with pytest.raises(AttributeError, match=f"no attribute '{what}'"):
            getattr(other, what)


def test_displays_and_intervals_name_what_the_model_lacks():
    model = AutoRegressor(effort="fast", random_state=0).fit(X, X[:, 0])
    with pytest.raises(AttributeError, match=r"has no feature_importances_. Remedy: sklearn.insp"):
        FeatureImportancesDisplay.from_estimator(model)
    with pytest.raises(TypeError, match=r"scale='std' needs .*AutoRegressor.*Remedy: KitchenSinks"):
        SplitConformal(model, scale="std").calibrate(X, Y)
    few = BoostedTreesClassifier(5, random_state=0).fit(X, Y > 57)
    with pytest.raises(ValueError, match=r"9 rows, but of class True it has kept 2. .*SplitConf"):
        few.predict_set(X, by_class=True)

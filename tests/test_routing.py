"""scikit-learn's metadata routing: weights and the like reach learners, if they ask for them."""

import inspect

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import LEARNERS, OTHERS, name_of, problem
from trickless import (
    BoostedTreesRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    RandomFeatures,
)
from trickless.neurons import Gaussian

METHODS = ("fit", "partial_fit", "predict", "predict_proba", "score", "transform")
EVERY = [*LEARNERS, *OTHERS, RandomFeatures(n_neurons=20)]
WEIGHTED = [
    learner for learner in EVERY if "sample_weight" in inspect.signature(learner.fit).parameters
]
CUTS = KFold(3)
MODEL = KitchenSinksRegressor(Gaussian(1.0), n_neurons=20, alpha=1e-2, random_state=0)


@pytest.fixture(autouse=True)
def _routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def scaler():
    """A scaler that does not take the weights."""
    return StandardScaler().set_fit_request(sample_weight=False)


def weights(n):
    return np.random.default_rng(0).uniform(0.1, 3.0, n)


@pytest.mark.parametrize("learner", EVERY, ids=name_of)
def test_every_parameter_of_a_method_may_be_asked_for(learner):
    requests = learner.get_metadata_routing()
    for method in METHODS:
        if not hasattr(type(learner), method):
            continue
        function = inspect.unwrap(getattr(type(learner), method))
        names = set(inspect.signature(function).parameters) - {"self", "X", "y"}
        assert getattr(requests, method).requests == dict.fromkeys(names)


@pytest.mark.parametrize("learner", WEIGHTED, ids=name_of)
def test_weights_reach_a_learner_in_a_pipeline(learner):
    X, y = problem(learner) if hasattr(learner, "predict") else problem(MODEL)
    weight, scaled = weights(len(y)), StandardScaler().fit_transform(X)
    learner = clone(learner).set_params(random_state=0)
    asked = clone(learner).set_fit_request(sample_weight=True)
    pipeline = make_pipeline(scaler(), asked)
    if not hasattr(learner, "predict"):
        pipeline.steps.append(("ridge", Ridge().set_fit_request(sample_weight=False)))
    pipeline.fit(X, y, sample_weight=weight)
    learner.fit(scaled, y, sample_weight=weight)
    answers = "decision_function", "predict", "transform"
    answer = next(name for name in answers if hasattr(learner, name))
    got, expected = (getattr(m, answer)(scaled) for m in (pipeline[1], learner))
    np.testing.assert_array_equal(got, expected)
    without = getattr(clone(learner).fit(scaled, y), answer)(scaled)
    assert not np.array_equal(got, without)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        make_pipeline(scaler(), learner).fit(X, y, sample_weight=weight)


def test_weights_reach_fits_and_scores_of_cross_validation():
    X, y = problem(MODEL)
    weight = weights(len(y))
    asked = clone(MODEL).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    got = cross_validate(asked, X, y, cv=CUTS, params={"sample_weight": weight})["test_score"]
    expected = [
        clone(MODEL).fit(X[a], y[a], weight[a]).score(X[b], y[b], weight[b])
        for a, b in CUTS.split(X)
    ]
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    asked.set_score_request(sample_weight=False)
    got = cross_validate(asked, X, y, cv=CUTS, params={"sample_weight": weight})["test_score"]
    expected = [clone(MODEL).fit(X[a], y[a], weight[a]).score(X[b], y[b]) for a, b in CUTS.split(X)]
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_weights_reach_a_search_through_a_pipeline():
    X, y = problem(MODEL)
    weight, grid = weights(len(y)), {"kitchensinksregressor__alpha": [1e-3, 1e-1]}
    asked = clone(MODEL).set_fit_request(sample_weight=True)
    scoring = get_scorer("r2").set_score_request(sample_weight=True)
    search = GridSearchCV(make_pipeline(scaler(), asked), grid, cv=CUTS, scoring=scoring)
    search.fit(X, y, sample_weight=weight)
    for alpha, score in zip([1e-3, 1e-1], search.cv_results_["mean_test_score"], strict=True):
        expected = []
        for a, b in CUTS.split(X):
            scale = StandardScaler().fit(X[a]).transform
            model = clone(MODEL).set_params(alpha=alpha).fit(scale(X[a]), y[a], weight[a])
            expected.append(model.score(scale(X[b]), y[b], weight[b]))
        assert score == pytest.approx(np.mean(expected), rel=1e-12)


def test_classes_reach_partial_fit():
    X, y = problem(LEARNERS[3])
    asked = KitchenSinksClassifier(Gaussian("relevance"), 20, random_state=0)
    asked.set_partial_fit_request(classes=True)
    selector = SelectFromModel(asked).partial_fit(X[:60], y[:60], classes=[*np.unique(y), 99])
    assert selector.estimator_.classes_.tolist() == [*np.unique(y), 99]


def test_standard_deviations_come_through_a_pipeline():
    X, y = problem(MODEL)
    pipeline = make_pipeline(StandardScaler(), clone(MODEL).set_predict_request(return_std=True))
    scaled = StandardScaler().fit_transform(X)
    got = pipeline.fit(X, y).predict(X, return_std=True)
    np.testing.assert_array_equal(got, clone(MODEL).fit(scaled, y).predict(scaled, return_std=True))


@pytest.mark.parametrize("learner", EVERY, ids=name_of)
def test_a_fit_a_copy_and_a_compact_model_keep_what_is_asked_for(learner, tmp_path):
    X, y = problem(learner) if hasattr(learner, "predict") else problem(MODEL)
    model = clone(learner).set_params(random_state=0)
    if hasattr(model, "predict"):
        model.set_score_request(sample_weight="importance")
    else:
        model.set_fit_request(sample_weight="importance")
    asked = str(model.get_metadata_routing())
    assert "importance" in asked
    for copy in (clone(model), model.fit(X, y), model.compact()):
        assert str(copy.get_metadata_routing()) == asked


def test_groups_reach_trees_in_searches_and_pipelines():
    """GroupKFold takes them as well, so that no group is on both sides of either split."""
    X = np.random.default_rng(0).standard_normal((60, 3)).repeat(20, axis=0)
    y, groups = np.random.default_rng(1).standard_normal(60).repeat(20), np.arange(1200) // 20
    trees = BoostedTreesRegressor(30, random_state=0)
    trees.set_fit_request(groups=True)
    pipeline = make_pipeline(StandardScaler(), trees)
    scaled = StandardScaler().fit_transform(X)
    expected = clone(trees).fit(scaled, y, groups=groups)
    assert expected.validation_scores_ != clone(trees).fit(scaled, y).validation_scores_
    fitted = clone(pipeline).fit(X, y, groups=groups)
    assert fitted[-1].validation_scores_ == expected.validation_scores_
    search = GridSearchCV(
        pipeline, {"boostedtreesregressor__max_depth": ["auto"]}, cv=GroupKFold(2)
    )
    best = search.fit(X, y, groups=groups).best_estimator_[-1]
    assert best.validation_scores_ == expected.validation_scores_
    with pytest.raises(UnsetMetadataPassedError, match="groups"):
        make_pipeline(clone(trees).set_fit_request(groups=None)).fit(X, y, groups=groups)


def test_the_last_step_of_a_pipeline_gives_intervals():
    X = np.random.default_rng(0).standard_normal((120, 3))
    y = X[:, 0]
    pipeline = make_pipeline(StandardScaler(), KitchenSinksRegressor(n_neurons=30, random_state=0))
    pipeline.fit(X, y)
    found = pipeline[-1].predict_interval(pipeline[:-1].transform(X))
    alone = pipeline[-1].predict_interval(StandardScaler().fit_transform(X))
    np.testing.assert_array_equal(found, alone)

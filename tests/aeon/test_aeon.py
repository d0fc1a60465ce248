"""Learners in cross-validation, pipelines, ensembles and reductions of aeon and sktime."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline

from trickless import KitchenSinksClassifier, KitchenSinksRegressor, RandomFeatures
from trickless.neurons import Convolutions

aeon = pytest.importorskip("aeon")
sktime = pytest.importorskip("sktime")


@pytest.fixture(scope="module")
def gun_point():
    from aeon.datasets import load_gunpoint

    return load_gunpoint(split="train")


def test_series_of_aeon_are_cross_validated(gun_point):
    X, y = gun_point
    model = KitchenSinksClassifier(Convolutions(), 60, random_state=0)
    found = cross_validate(model, X, y, scoring=["accuracy", "neg_log_loss"])
    assert found["test_accuracy"].mean() > 0.9
    assert found["test_neg_log_loss"].mean() > -0.3


def test_an_ensemble_of_aeon_has_our_learner(gun_point):
    from aeon.classification.compose import ClassifierEnsemble
    from aeon.classification.sklearn import SklearnClassifierWrapper

    X, y = gun_point
    ours = SklearnClassifierWrapper(KitchenSinksClassifier(Convolutions(), 60, random_state=0))
    model = ClassifierEnsemble([("ours", ours)]).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.95


def test_levels_of_series_of_unequal_length_are_learned():
    from aeon.datasets import load_japanese_vowels

    (X, y), (X_test, y_test) = (load_japanese_vowels(split=part) for part in ("train", "test"))
    models = [KitchenSinksClassifier(Convolutions(), 100, random_state=seed) for seed in range(4)]
    scores = [model.fit(X, y).score(X_test, y_test) for model in models]
    assert np.mean(scores) > 0.94  # .90 by series that are centred one by one; errors of .01


def test_a_regressor_is_the_last_step_of_a_pipeline_of_aeon():
    from aeon.datasets import load_covid_3month
    from aeon.regression.compose import RegressorPipeline
    from aeon.transformations.collection import Normalizer

    X, y = load_covid_3month(split="train")
    model = KitchenSinksRegressor(Convolutions(), 20, random_state=0)
    pipeline = RegressorPipeline([Normalizer()], model).fit(X, y)
    expected = clone(model).fit(Normalizer().fit_transform(X), y)
    np.testing.assert_array_equal(
        pipeline.predict(X), expected.predict(Normalizer().fit_transform(X))
    )
    scores = cross_validate(pipeline, X, y, error_score="raise")["test_score"]
    assert len(scores) == 5


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("strategy", ["recursive", "direct", "multioutput"])
def test_a_reduction_of_sktime_forecasts_with_our_learner(strategy):
    import pandas as pd
    from sktime.forecasting.compose import make_reduction
    from sktime.forecasting.model_evaluation import evaluate
    from sktime.performance_metrics.forecasting import MeanAbsoluteError
    from sktime.split import ExpandingWindowSplitter

    month = np.arange(120)
    y = pd.Series(np.sin(2 * np.pi * month / 12) + 0.01 * np.random.default_rng(0).normal(size=120))
    model = KitchenSinksRegressor(n_neurons=100, random_state=0)
    forecaster = make_reduction(model, window_length=12, strategy=strategy)
    splits = ExpandingWindowSplitter(fh=[1, 2, 3], initial_window=96, step_length=12)
    found = evaluate(forecaster, splits, y, scoring=MeanAbsoluteError())
    assert (found["test_MeanAbsoluteError"] < 0.1).all()
    forecaster.fit(y[:108], fh=[1, 2, 3])
    assert np.abs(forecaster.predict() - y[108:111]).max() < 0.2


def test_a_pipeline_of_sktime_has_our_transformer(gun_point):
    from sktime.classification.compose import SklearnClassifierPipeline
    from sktime.transformations.panel.reduce import Tabularizer

    X, y = gun_point
    features = RandomFeatures(Convolutions(), 60, random_state=0)
    model = make_pipeline(features, RidgeClassifierCV(np.logspace(-4, 1, 6)))
    whole = SklearnClassifierPipeline(
        KitchenSinksClassifier(Convolutions(), 60, random_state=0), [Tabularizer()]
    )
    assert np.mean(whole.fit(X, y).predict(X) == y) > 0.95
    assert cross_validate(model, X, y)["test_score"].mean() > 0.85

"""Learners in cross-validation, pipelines, ensembles and reductions of aeon and sktime."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from trickless import KitchenSinksClassifier, KitchenSinksRegressor, RandomFeatures
from trickless.neurons import Convolutions

aeon = pytest.importorskip("aeon")
sktime = pytest.importorskip("sktime")


def flat(X):
    return X.reshape(len(X), -1)


@pytest.fixture(scope="module")
def gun_point():
    from aeon.datasets import load_gunpoint

    return load_gunpoint(split="train")


def test_series_of_aeon_are_cross_validated(gun_point):
    X, y = gun_point
    model = KitchenSinksClassifier(Convolutions(X.shape[1:]), 60, random_state=0)
    found = cross_validate(
        make_pipeline(FunctionTransformer(flat), model), X, y, scoring=["accuracy", "neg_log_loss"]
    )
    assert found["test_accuracy"].mean() > 0.9
    assert found["test_neg_log_loss"].mean() > -0.3


def test_an_ensemble_of_aeon_has_our_learner(gun_point):
    from aeon.classification.compose import ClassifierEnsemble
    from aeon.classification.sklearn import SklearnClassifierWrapper

    X, y = gun_point
    ours = SklearnClassifierWrapper(KitchenSinksClassifier(Convolutions(), 60, random_state=0))
    model = ClassifierEnsemble([("ours", ours)]).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.95


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
    model = make_pipeline(
        FunctionTransformer(flat), features, RidgeClassifierCV(np.logspace(-4, 1, 6))
    )
    whole = SklearnClassifierPipeline(
        KitchenSinksClassifier(Convolutions(), 60, random_state=0), [Tabularizer()]
    )
    assert np.mean(whole.fit(X, y).predict(X) == y) > 0.95
    assert cross_validate(model, X, y)["test_score"].mean() > 0.85

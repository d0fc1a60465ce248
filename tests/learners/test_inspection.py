"""scikit-learn's tools that look into fitted models work with all learners and data frames."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import LEARNERS, OTHERS, name_of, problem
from fit_everything import make
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.neurons import Gaussian

NAMES = ["a", "b", "c", "d"]
FITTED = [(learner, family) for learner in LEARNERS for family in ("gaussian", "tabular", "trees")]
FITTED += [(learner, None) for learner in OTHERS]
every_model = pytest.mark.parametrize(
    ("learner", "family"), FITTED, ids=lambda each: each if isinstance(each, str) else None
)


def fitted(learner, family):
    """A model of a data frame, with a column of categories if the family takes one."""
    X, y = problem(learner, 60)
    frame = pd.DataFrame(X, columns=NAMES)
    if family in ("tabular", "trees"):
        frame["d"] = np.where(frame["d"] > 0, "up", "down")
    if family is None:
        return clone(learner).set_params(random_state=0).fit(frame, y), frame, y
    return make(learner, family).fit(frame, y), frame, y


def answer(model, frame):
    """What the dependence of a model is the mean of."""
    if not is_classifier(model):
        return model.predict(frame)
    found = (getattr(model, "predict_proba", None) or model.decision_function)(frame)
    return found if found.ndim == 1 else found.T


@every_model
def test_dependence_and_importance_of_columns(learner, family):
    model, frame, y = fitted(learner, family)
    grid = [-0.5, 0.5]
    found = partial_dependence(
        model, frame, ["a"], custom_values={"a": np.array(grid)}, kind="average"
    )
    means = [answer(model, frame.assign(a=value)).mean(axis=-1) for value in grid]
    wanted = np.reshape(means, (2, -1)).T
    np.testing.assert_allclose(found["average"], wanted, rtol=1e-5, atol=1e-6)
    if family in ("tabular", "trees"):
        by_name = partial_dependence(model, frame, ["d"], categorical_features=["d"])
        means = [answer(model, frame.assign(d=value)).mean(axis=-1) for value in ("down", "up")]
        wanted = np.reshape(means, (2, -1)).T
        np.testing.assert_allclose(by_name["average"], wanted, rtol=1e-5, atol=1e-6)
    importance = permutation_importance(model, frame, y, n_repeats=1, random_state=0)
    assert np.isfinite(importance.importances_mean).all()
    assert importance.importances_mean[:3].max() > 0  # of the columns that y depends on


def test_frozen_models_stay_as_they_are():
    X, y = problem(KitchenSinksRegressor())
    inner = make_pipeline(
        StandardScaler(), KitchenSinksRegressor(Gaussian(1.0), 20, random_state=0)
    )
    frozen = FrozenEstimator(inner.fit(X, y))
    frozen.fit(X[:10], 0 * y[:10])
    np.testing.assert_array_equal(frozen.predict(X), inner.predict(X))
    labels = np.where(y > 0, "up", "down")
    model = KitchenSinksClassifier(Gaussian(1.0), 20, random_state=0).fit(X, labels)
    calibrated = CalibratedClassifierCV(FrozenEstimator(model)).fit(X, labels)
    np.testing.assert_array_equal(calibrated.classes_, model.classes_)
    assert calibrated.score(X, labels) > model.score(X, labels) - 0.05
    assert name_of(calibrated.calibrated_classifiers_[0].estimator.estimator) == name_of(model)

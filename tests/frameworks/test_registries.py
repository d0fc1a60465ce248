"""Models go through the formats of skops and MLflow, and predict the same after it."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import EVERY, FAMILIES, LEARNERS, answers, inputs, name_of, problem, suited
from trickless import KitchenSinksRegressor, RandomFeatures

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of their own imports
    import mlflow.pyfunc
    import mlflow.sklearn
    import skops.io

every_learner = pytest.mark.parametrize("learner", EVERY, ids=name_of)


def by_skops(model):
    """The model and the types that it needs trusted, after a round trip."""
    data = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=data)
    return skops.io.loads(data, trusted=types), types


@every_learner
def test_skops_keeps_learners(learner):
    X, y = problem(learner)
    model = clone(learner).set_params(random_state=0).fit(X, y)
    copy, types = by_skops(model)
    np.testing.assert_array_equal(answers(copy, X), answers(model, X))
    assert f"{type(model).__module__}.{type(model).__name__}" in types
    if hasattr(model, "partial_fit"):
        parts = [m.partial_fit(X[:30], y[:30]) for m in (copy, model)]
        np.testing.assert_array_equal(*(answers(part, X) for part in parts))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.filterwarnings("ignore:RandomFeatures. neurons=.* has small act")
def test_skops_keeps_families(family):
    X = suited(family, inputs(60, 4))
    model = RandomFeatures(FAMILIES[family], 20, random_state=0, sparse_output=False).fit(X)
    np.testing.assert_array_equal(by_skops(model)[0].transform(X), model.transform(X))


@pytest.mark.parametrize(
    ("learner", "serialization_format"),
    [(LEARNERS[0], "cloudpickle"), *((learner, "skops") for learner in LEARNERS)],
)
def test_mlflow_keeps_pipelines(learner, serialization_format, tmp_path):
    X, y = problem(learner)
    model = make_pipeline(StandardScaler(), clone(learner).set_params(random_state=0)).fit(X, y)
    options = {"serialization_format": serialization_format, "pip_requirements": ["trickless"]}
    if serialization_format == "skops":
        options["skops_trusted_types"] = by_skops(model)[1]
    mlflow.sklearn.save_model(model, tmp_path / "model", **options)
    expected = model.predict(X)
    copy = mlflow.sklearn.load_model(str(tmp_path / "model"))
    np.testing.assert_array_equal(copy.predict(X), expected)
    served = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    np.testing.assert_array_equal(served.predict(X), expected)


def test_mlflow_says_which_types_have_to_be_trusted(tmp_path):
    X, y = problem(LEARNERS[0])
    model = KitchenSinksRegressor(n_neurons=20).fit(X, y)
    with pytest.raises(mlflow.exceptions.MlflowException, match=r"trickless\._functions\.network"):
        mlflow.sklearn.save_model(
            model, tmp_path / "model", serialization_format="skops", pip_requirements=["trickless"]
        )

"""Pipelines of scikit-learn's estimators predict as the models that they are made of."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from export_cases import CASES
from trickless import (
    DoublyStochasticRegressor,
    KernelGradientRegressor,
    KitchenSinksRegressor,
    RandomFeatures,
)
from trickless.neurons import Gaussian, Periodic

SAME = ["gaussian", "two_outputs", "laplace", "periodic", "poisson", "quantiles", "online"]
SAME += ["two_temperatures", "one_temperature", "logistic", "softmax", "hinge", "grown"]
#: Predicts in a process in which this package cannot be imported.
PROBE = """
import pickle, sys
import numpy as np
sys.modules["trickless"] = None
pipelines, X = pickle.load(open(sys.argv[1], "rb"))
found = []
for pipeline in pipelines:
    chances = pipeline.predict_proba(X) if hasattr(pipeline, "predict_proba") else None
    found.append((pipeline.predict(X), chances))
pickle.dump(found, open(sys.argv[1] + ".out", "wb"))
"""


def test_pipelines_predict_the_same_without_this_package(tmp_path):
    cases = [CASES[name]() for name in SAME]
    X, path = cases[0].rows, tmp_path / "pipelines"
    path.write_bytes(pickle.dumps(([case.model.to_sklearn() for case in cases], X)))
    subprocess.run([sys.executable, "-W", "error", "-c", PROBE, path], check=True)
    found = pickle.loads((tmp_path / "pipelines.out").read_bytes())
    for case, (predicted, chances) in zip(cases, found, strict=True):
        wanted = case.model.predict(X)
        if wanted.dtype.kind == "U":
            np.testing.assert_array_equal(predicted, wanted)
        else:
            np.testing.assert_allclose(predicted, wanted, rtol=0, atol=1e-10 * np.ptp(wanted))
        if hasattr(case.model, "predict_proba"):
            np.testing.assert_allclose(chances, case.model.predict_proba(X), atol=1e-10)


def test_single_precision_is_the_same_up_to_it():
    case = CASES["single"]()
    wanted = case.model.predict(case.rows)
    found = case.model.to_sklearn().predict(case.rows)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * np.ptp(wanted))


def test_names_of_columns_are_kept():
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 2)), columns=["a", "b"])
    model = KitchenSinksRegressor(Gaussian(1.0), 10, random_state=0, dtype="float64").fit(X, X["a"])
    pipeline = model.to_sklearn()
    np.testing.assert_allclose(pipeline.predict(X), model.predict(X), atol=1e-10)
    with pytest.raises(ValueError, match="feature names"):
        pipeline.predict(X[["b", "a"]])
    clone(pipeline)


@pytest.mark.parametrize("scale", ["kernel", "unit"])
def test_random_features_are_those_of_a_sampler(scale):
    X = np.random.default_rng(0).standard_normal((60, 2))
    features = RandomFeatures(Periodic(3.0), 300, scale=scale, random_state=0).fit(X)
    sampler = features.to_sklearn()
    np.testing.assert_allclose(sampler.transform(X), features.transform(X), atol=1e-10)
    assert len(sampler.get_feature_names_out()) == 600


@pytest.mark.parametrize("name", ["oblivious", "tanh", "sets", "frame"])
def test_models_without_an_equivalent_are_refused(name):
    with pytest.raises(ValueError, match=r"to_sklearn: .*Remedy"):
        CASES[name]().model.to_sklearn()


@pytest.mark.parametrize("far", [1.7e9, 2**60])
def test_numbers_far_from_0_are_refused(far):
    X = pd.DataFrame(np.random.default_rng(0).normal(0, 50, (100, 2)), columns=["a", "b"])
    y = np.sin((X["a"] + X["b"]) / 50)
    X["a"] = X["a"] + far if far < 2**53 else far + X["a"].astype(int)
    model = KitchenSinksRegressor("auto", n_neurons=50, random_state=0).fit(X, y)
    assert isinstance(model.neurons_, Gaussian)
    assert model.score(X, y) > 0.9
    with pytest.raises(ValueError, match=r"numbers far from 0.*Remedy"):
        model.to_sklearn()


def test_other_models_are_refused():
    class Bent(Gaussian):
        def respond(self, t):
            return super().respond(t) / 2

    X = np.random.default_rng(0).standard_normal((60, 2))
    with pytest.raises(ValueError, match=r"neurons=Bent have no equivalent.*Remedy"):
        KitchenSinksRegressor(Bent(1.0), 10, random_state=0).fit(X, X[:, 0]).to_sklearn()
    with pytest.raises(ValueError, match="not fitted"):
        DoublyStochasticRegressor().to_sklearn()
    with pytest.raises(TypeError, match=r"a KernelGradientRegressor has no finite network.*Remedy"):
        KernelGradientRegressor().fit(X, X[:, 0]).to_sklearn()

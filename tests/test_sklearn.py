"""scikit-learn's own checks, and its tools on our estimators."""

import inspect

import numpy as np
import pandas as pd
import pytest
import scipy
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from api import public_things
from cases import EVERY, LEARNERS, name_of, problem
from trickless import (
    AutoClassifier,
    AutoRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    RandomFeatures,
    StreamingScaler,
)
from trickless._learners.base import Learner
from trickless.neurons import Gaussian, Mixture, Stumps, Tabular

#: What is set, by the start of a name: fewer neurons than a good model takes.
FEW = {"DoublyStochastic": {"n_neurons": 1000}, "ShrinkingGradient": {"n_draws": 128}}
#: Every public estimator with nothing else set.
DEFAULTS = [
    type(learner)(**{k: v for name in FEW if name in repr(learner) for k, v in FEW[name].items()})
    for learner in EVERY
    if not name_of(learner).startswith("Noisy")  # of the same class
] + [
    RandomFeatures(),
    RandomFeatures(Gaussian("median")),
    StreamingScaler(),
    AutoRegressor(),
    AutoClassifier(),
]
#: Why a check of weights, which takes a weight of 2 for the row twice, contradicts an estimator.
WEIGHTS = {
    "KitchenSinksRegressor": "alpha='auto' goes by the number of rows, which repetition changes",
    "KitchenSinksClassifier": "alpha='auto' goes by the number of rows, which repetition changes",
    "DoublyStochasticRegressor": "a batch is of so many rows, whatever their weights",
    "DoublyStochasticClassifier": "a batch is of so many rows, whatever their weights",
    "BoostedTreesRegressor": "depth and noise go by the number of rows, not by their weights",
    "BoostedTreesClassifier": "depth and noise go by the number of rows, not by their weights",
    "RandomFeatures()": "length scales go by the number of rows, which repetition changes",
    "AutoRegressor": "its parts go by the number of rows, which repetition changes",
    "AutoClassifier": "its parts go by the number of rows, which repetition changes",
}


def expected_to_fail(estimator):
    """The checks that contradict the mathematics, with the reason."""
    name = name_of(estimator)
    subset = "check_methods_subset_invariance"
    reason = "its bound of 1e-7 is below the rounding of activations in single precision"
    expected = {subset: reason} if isinstance(estimator, Learner) else {}
    if hasattr(estimator, "n_trees"):  # which add leaves in double precision
        expected = {}
    if estimator.__sklearn_tags__().input_tags.allow_nan and isinstance(estimator, Learner):
        expected["check_dtype_object"] = "the error names the column and the value instead"
    reason = WEIGHTS.get(name, WEIGHTS.get(repr(estimator)))
    return expected | {
        f"check_sample_weight_equivalence_on_{kind}_data": reason
        for kind in ("dense", "sparse")
        if reason
    }


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # by few rows
@parametrize_with_checks(DEFAULTS, expected_failed_checks=expected_to_fail)
def test_estimators_pass_the_checks_of_scikit_learn(estimator, check):
    if "array_api" in str(check) and parse_version(scipy.__version__) < parse_version("1.14"):
        pytest.skip("scikit-learn dispatches arrays from SciPy 1.14 on")
    check(estimator)


def test_parameters_of_neurons_are_parameters_of_the_learner():
    X, y = problem(LEARNERS[0])
    search = GridSearchCV(
        KitchenSinksRegressor(Gaussian(), 50, random_state=0),
        {"neurons__length_scale": [0.5, 2.0, "median"], "alpha": [1e-3, "auto"]},
        cv=3,
    ).fit(X, y)
    assert search.best_params_["neurons__length_scale"] in (0.5, 2.0, "median")
    assert len(set(search.cv_results_["mean_test_score"])) == 6


def test_a_name_gives_way_to_the_family_when_its_parameter_is_set():
    model = KitchenSinksClassifier("stumps").set_params(neurons__thresholds="normal")
    assert isinstance(model.neurons, Stumps)
    assert model.neurons.thresholds == "normal"
    model.set_params(neurons="gaussian", neurons__length_scale=3.0)
    assert model.neurons.length_scale == 3.0
    with pytest.raises(ValueError, match="Invalid parameter 'length_scal'"):
        KitchenSinksClassifier().set_params(neurons__length_scal=3.0)


def test_models_do_not_share_neurons():
    neurons = Gaussian()
    a, b = (KitchenSinksRegressor(neurons, 20, random_state=0) for _ in range(2))
    X, y = problem(a)
    a.fit(X, y)
    b.fit(100 * X, y)
    assert b.neurons_.length_scale_ == pytest.approx(100 * a.neurons_.length_scale_, rel=1e-5)
    assert not hasattr(neurons, "length_scale_")


def test_learners_work_in_pipelines_cross_validation_and_wrappers():
    X, y = load_digits(return_X_y=True)
    model = make_pipeline(StandardScaler(), KitchenSinksClassifier(n_neurons=300, random_state=0))
    assert cross_val_score(model, X[:900], y[:900], cv=3, n_jobs=2).mean() > 0.9
    X, y = X[y < 4], y[y < 4]
    wrapped = OneVsRestClassifier(KitchenSinksClassifier(n_neurons=100, random_state=0))
    assert wrapped.fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.85


@pytest.mark.parametrize("learner", EVERY, ids=name_of)
def test_data_frames_keep_their_names(learner):
    X, y = problem(learner)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = clone(learner).set_params(random_state=0).fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcd")
    expected = clone(learner).set_params(random_state=0).fit(X, y).predict(X)
    answer = model.predict(frame)
    if expected.dtype.kind == "f":  # a frame's columns are contiguous, and sums of rows round so
        np.testing.assert_allclose(answer, expected, atol=1e-10)
    else:
        np.testing.assert_array_equal(answer, expected)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("dcba")])


def test_pictures_link_to_the_page_of_the_reference():
    """The reference has a page for each public class: tests/test_docs.py."""
    things = public_things().items()
    estimators = [
        (name, cls)
        for name, cls in things
        if hasattr(cls, "_get_doc_link") and not inspect.isabstract(cls)
    ]
    assert len(estimators) > 40
    for name, cls in estimators:
        page = f"reference/generated/{name}.html"
        link = object.__new__(cls)._get_doc_link()
        assert link == f"https://trickless.readthedocs.io/en/latest/{page}", name


def test_classes_without_a_page_have_no_link():
    class Own(KitchenSinksRegressor):
        pass

    class OwnNeurons(Gaussian):
        pass

    X, _ = problem(LEARNERS[0])
    (tabular,) = [
        part
        for part in vars(Tabular().fit(X, np.random.default_rng(0))).values()
        if isinstance(part, Mixture)
    ]
    for thing in (Own(), OwnNeurons(), *tabular.neurons):
        assert thing._get_doc_link() == "", thing


def test_the_picture_of_a_pipeline_has_the_links():
    picture = make_pipeline(StandardScaler(), KitchenSinksRegressor(Gaussian()))._repr_html_()
    assert "/generated/trickless.KitchenSinksRegressor.html" in picture
    assert "/generated/trickless.neurons.Gaussian.html" in picture

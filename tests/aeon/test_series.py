"""Series of aeon and sktime go into learners as they are, and learners into what these compare."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline

from trickless import KitchenSinksClassifier
from trickless.neurons import Convolutions

pytest.importorskip("aeon")
pytest.importorskip("sktime")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of their own imports
    from aeon.benchmarking.resampling import stratified_resample_data
    from aeon.classification.compose import ClassifierPipeline
    from aeon.testing.data_generation import make_example_3d_numpy, make_example_3d_numpy_list
    from aeon.transformations.collection import Normalizer
    from sktime.classification.base import BaseClassifier
    from sktime.classification.model_evaluation import evaluate
    from sktime.datatypes import convert_to

pytestmark = pytest.mark.filterwarnings("default")
MODEL = KitchenSinksClassifier(Convolutions(kernels=2), 10, random_state=0)
X, Y = make_example_3d_numpy(n_cases=40, n_channels=2, n_timepoints=30, random_state=0)
UNEQUAL, LABELS = make_example_3d_numpy_list(
    n_cases=40, n_channels=2, min_n_timepoints=12, max_n_timepoints=30, random_state=0
)


class Sktime(BaseClassifier):
    """A learner as an estimator of sktime, which it converts every kind of panel for."""

    _tags = {
        "X_inner_mtype": "numpy3D",
        "capability:multivariate": True,
        "capability:predict_proba": True,
    }

    def __init__(self, model):
        self.model = model
        super().__init__()

    def _fit(self, X, y):
        self.model_ = clone(self.model).fit(X, y)
        return self

    def _predict(self, X):
        return self.model_.predict(X)


def of_flat_rows(X, y):
    flat = clone(MODEL).set_params(neurons__shape=X.shape[1:])
    return cross_validate(flat, X.reshape(len(X), -1), y, cv=3, error_score="raise")["test_score"]


def test_arrays_and_lists_of_aeon_are_cross_validated():
    found = cross_validate(MODEL, X, Y, cv=3, error_score="raise")["test_score"]
    np.testing.assert_array_equal(found, of_flat_rows(X, Y))
    padded = np.full((40, 2, max(each.shape[1] for each in UNEQUAL)), np.nan)
    for row, series in zip(padded, UNEQUAL, strict=True):
        row[:, : series.shape[1]] = series
    found = cross_validate(MODEL, UNEQUAL, LABELS, cv=3, error_score="raise")["test_score"]
    assert found.mean() > 0.8
    model = clone(MODEL).fit(UNEQUAL, LABELS)
    expected = clone(MODEL).fit(padded, LABELS)
    np.testing.assert_array_equal(model.predict_proba(UNEQUAL), expected.predict_proba(padded))


def test_resamples_of_the_archive_are_learned():
    train, labels, test, truth = stratified_resample_data(X[:30], Y[:30], X[30:], Y[30:], 1)
    assert accuracy_score(truth, clone(MODEL).fit(train, labels).predict(test)) > 0.8


@pytest.mark.parametrize("series", [X, UNEQUAL], ids=["array", "list"])
def test_transformers_of_aeon_come_first_in_a_pipeline(series):
    y = Y if series is X else LABELS
    model = make_pipeline(Normalizer(), MODEL)
    assert len(cross_validate(model, series, y, cv=3, error_score="raise")["test_score"]) == 3


def test_a_learner_is_the_last_step_of_a_pipeline_of_aeon():
    model = ClassifierPipeline([Normalizer()], MODEL)
    one = X[:, :1]
    found = cross_validate(model, one, Y, cv=3, error_score="raise")["test_score"]
    np.testing.assert_array_equal(found, of_flat_rows(Normalizer().fit_transform(one), Y))


@pytest.mark.parametrize("kind", ["numpy3D", "nested_univ", "pd-multiindex"])
def test_sktime_evaluates_a_learner(kind):
    panel = convert_to(X, kind)
    found = evaluate(Sktime(MODEL), cv=KFold(3), X=panel, y=Y, error_score="raise")
    expected = cross_validate(MODEL, X, Y, cv=KFold(3), error_score="raise")["test_score"]
    np.testing.assert_array_equal(found["test_accuracy_score"], expected)

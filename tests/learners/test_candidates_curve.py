"""The plot of a score along the number of candidates."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import inputs
from trickless import (
    CandidatesDisplay,
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksRegressor,
    RandomFeatures,
)

mpl.use("Agg")
X = inputs(300, 5)
y = np.sin(2 * X[:, 1]) + X[:, 4]
MODEL = DoublyStochasticRegressor("trees", 40, early_stopping=False, random_state=0)


def test_the_curve_is_the_mean_over_splits():
    ax = Figure().subplots()
    display = CandidatesDisplay.from_estimator(
        MODEL, X, y, n_candidates=[10, 1], cv=3, ax=ax, color="red", reference=DummyRegressor()
    )
    np.testing.assert_array_equal(display.line_.get_xdata(), [1, 10])
    for m, scores in zip((1, 10), display.scores, strict=True):
        model = DoublyStochasticRegressor(**MODEL.get_params() | {"n_candidates": m})
        np.testing.assert_allclose(scores, cross_val_score(model, X, y, cv=3))
    mean, deviation = display.scores.mean(axis=1), display.scores.std(axis=1)
    assert mean[1] > mean[0] + 0.05
    np.testing.assert_allclose(display.line_.get_ydata(), mean)
    edges = display.band_.get_paths()[0].vertices[:, 1]
    assert edges.min() == pytest.approx((mean - deviation).min())
    assert edges.max() == pytest.approx((mean + deviation).max())
    np.testing.assert_allclose(
        display.reference_.get_ydata(), cross_val_score(DummyRegressor(), X, y, cv=3).mean()
    )
    labels = ax.get_legend_handles_labels()[1]
    assert labels == ["DoublyStochasticRegressor", "DummyRegressor"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "10"]
    assert (ax.get_xscale(), ax.get_ylabel()) == ("log", "R²")
    assert display.line_.get_color() == "red"
    assert MODEL.n_candidates == "auto"  # the model itself is left alone


def test_all_models_have_the_same_splits():
    """Though the splitter draws others each time it is asked."""
    display = CandidatesDisplay.from_estimator(
        DummyWithCandidates(), X, y, n_candidates=(1, 2), cv=ShuffleSplit(3), ax=Figure().subplots()
    )
    np.testing.assert_array_equal(*display.scores)


class DummyWithCandidates(DummyRegressor):
    def __init__(self, n_candidates=1):
        super().__init__()
        self.n_candidates = n_candidates


def test_a_step_of_a_pipeline_may_have_the_parameter():
    model = make_pipeline(StandardScaler(), RandomFeatures("gaussian", 20, random_state=0), Ridge())
    options = {"n_candidates": (1, 5), "cv": 2, "scoring": "neg_mean_squared_error"}
    display = CandidatesDisplay.from_estimator(model, X, y, **options, ax=Figure().subplots())
    assert display.ax_.get_ylabel() == "neg mean squared error"
    assert (display.scores < 0).all()
    assert display.reference_ is None


def test_a_classifier_has_accuracies_in_stratified_folds():
    model = DoublyStochasticClassifier("trees", 10, random_state=0)
    labels = np.sort(y > 0)  # folds that are not stratified would have one class
    display = CandidatesDisplay.from_estimator(
        model, X, labels, n_candidates=[2], cv=3, reference=DummyClassifier(), name="trees"
    )
    assert display.ax_.get_ylabel() == "accuracy"
    np.testing.assert_allclose(display.reference, max(labels.mean(), 1 - labels.mean()), atol=0.01)
    again = display.plot(display.ax_)
    assert again.line_.get_label().startswith("_")
    mpl.pyplot.close(display.figure_)


@pytest.mark.parametrize("wrong", [(), "auto", 3, (1, 0), (1, 1), (2.5,)])
def test_numbers_of_candidates_are_checked(wrong):
    with pytest.raises((ValueError, TypeError), match=r"CandidatesDisplay: n_candidates=.*Remedy"):
        CandidatesDisplay.from_estimator(MODEL, X, y, n_candidates=wrong)


def test_models_without_the_parameter_are_named():
    for model in (KitchenSinksRegressor(), "trees"):
        with pytest.raises(ValueError, match=rf"{type(model).__name__} has no n_cand.*Remedy"):
            CandidatesDisplay.from_estimator(model, X, y)
    twice = make_pipeline(RandomFeatures(), MODEL)
    with pytest.raises(ValueError, match=r"Pipeline has 2 parameters n_candidates.*Remedy"):
        CandidatesDisplay.from_estimator(twice, X, y)


def test_the_errors_of_a_fit_are_raised():
    with pytest.raises(ValueError, match="Remedy"):
        CandidatesDisplay.from_estimator(MODEL, X * np.inf, y, n_candidates=(1,))

"""Displays draw new figures in the package's style, and leave the user's style alone."""

from io import BytesIO

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.inspection import (
    FeatureImportancesDisplay,
    HalfLifeDisplay,
    IntervalDisplay,
    KernelDisplay,
)

mpl.use("Agg")
CURVE = np.array([0.5, 0.7, 0.6])
DISPLAYS = {
    "importances": FeatureImportancesDisplay(importances=CURVE / CURVE.sum(), names=list("abc")),
    "kernel": KernelDisplay(values=CURVE, mean=CURVE, standard_error=CURVE / 9, exact=CURVE),
}
FIRST = "#0072B2"


def colour_of(display):
    artist = display.bars_[0] if hasattr(display, "bars_") else display.line_
    colour = artist.get_facecolor() if hasattr(display, "bars_") else artist.get_color()
    return mpl.colors.to_hex(colour).upper()


@pytest.fixture(params=DISPLAYS)
def display(request):
    yield DISPLAYS[request.param]
    plt.close("all")


def test_a_new_figure_has_the_style_of_the_package(display):
    before = dict(mpl.rcParams)
    display.plot()
    assert colour_of(display) == FIRST
    assert not display.ax_.spines["top"].get_visible()
    assert dict(mpl.rcParams) == before
    assert display.ax_.get_xlabel()
    display.figure_.savefig(BytesIO())


def test_given_axes_keep_the_style_of_the_user(display):
    with plt.style.context("dark_background"):
        _, ax = plt.subplots()
        display.plot(ax)
    assert display.ax_ is ax
    assert colour_of(display) != FIRST
    assert ax.spines["top"].get_visible()
    assert getattr(display, "exact_", None) is None or display.exact_.get_color() == "white"


def stream(n=300):
    X = np.random.default_rng(0).standard_normal((n, 2))
    return X, np.sin(X[:, 0]) + 0.1 * np.random.default_rng(1).standard_normal(n)


def test_intervals_are_drawn_with_the_coverage_of_all_rows():
    X, y = stream()
    model = KitchenSinksRegressor(n_neurons=50, random_state=0).fit(X[:200], y[:200])
    display = IntervalDisplay.from_estimator(model, X[200:], y[200:], confidence=0.5, n_rows=40)
    low, high = model.predict_interval(X[200:], confidence=0.5).T
    assert display.coverage_ == ((low <= y[200:]) & (y[200:] <= high)).mean()
    ends = np.array([segment[:, 1] for segment in display.bars_.get_segments()])
    assert ends.shape == (40, 2)
    assert np.isin(ends, np.column_stack([low, high])).all()
    n_points = sum(len(each.get_offsets()) for each in display.ax_.collections[1:])
    assert n_points == 40
    assert f"{display.coverage_:.0%} of 100 targets in 50%" in display.ax_.get_title(loc="left")
    with pytest.raises(ValueError, match=r"IntervalDisplay: y has the shape \(100, 1\).*Remedy"):
        IntervalDisplay.from_estimator(model, X[200:], y[200:, None])
    none = np.arange(100) < 50
    for wrong in (np.where(none, np.nan, y[200:]), np.ma.array(y[200:], mask=none), y[200:] + 1j):
        with pytest.raises(ValueError, match=r"IntervalDisplay: .*Remedy"):
            IntervalDisplay.from_estimator(model, X[200:], wrong)
    plt.close("all")


def test_half_lives_are_stacked_to_one():
    X, y = stream()
    model = KitchenSinksRegressor(n_neurons=30, half_life=[20, 500], random_state=0)
    display = HalfLifeDisplay.from_estimator(model.partial_fit(X, y))
    np.testing.assert_array_equal(display.half_lives, [20, 500])
    np.testing.assert_allclose(display.weights.sum(axis=1), 1)
    _, history = model.weight_history_
    short = model.expert_weights_["half_life"] == 20
    np.testing.assert_allclose(display.weights[:, 0], history[:, short].sum(axis=1))
    with pytest.raises(AttributeError):
        HalfLifeDisplay.from_estimator(KitchenSinksClassifier(n_neurons=20).fit(X, y > 0))
    plt.close("all")

"""Displays draw new figures in the package's style, and leave the user's style alone."""

from io import BytesIO

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from trickless.inspection import FeatureImportancesDisplay, KernelDisplay

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

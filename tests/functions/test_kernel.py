"""Estimates of kernels from draws, and their picture."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.metrics.pairwise import rbf_kernel

import trickless._functions.kernel
from cases import FAMILIES, inputs, suited
from trickless._functions.stream import NeuronStream
from trickless.inspection import KernelDisplay, estimate_kernel
from trickless.neurons import Coordinates, Dense, Gaussian

X, Y = inputs(7, 4), inputs(4, 4, seed=1)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_kernel_estimate_is_a_mean_of_products_with_its_standard_error(name):
    neurons, x, y = FAMILIES[name], suited(name, X), suited(name, Y)
    mean, error = estimate_kernel(neurons, x, y, 512, random_state=0)
    assert mean.shape == error.shape == (7, 4)
    products = []
    fitted = trickless._functions.kernel._fitted(neurons, x, 0)
    for _, weights in NeuronStream(fitted, 0, np.float64).pieces(0, 512):
        a = fitted.activate(x, weights).reshape(7, fitted.width, -1)
        b = fitted.activate(y, weights).reshape(4, fitted.width, -1)
        products.append(np.einsum("xkj,ykj->xyj", a, b))
    each = np.concatenate(products, axis=2)
    np.testing.assert_allclose(mean, each.mean(axis=2), atol=1e-12)
    if not fitted.independent:
        each = each.reshape(7, 4, 2, 256).mean(axis=3)
    expected = each.std(axis=2, ddof=1) / np.sqrt(each.shape[2])
    np.testing.assert_allclose(error, expected, atol=1e-8)


@pytest.mark.parametrize("sampling", ["iid", "orthogonal"])
def test_standard_errors_of_the_kernel_estimate_match_its_spread(sampling):
    """Over 140 seeds, (mean - truth) / error has the moments of Student's t to 5 errors."""
    x, y = np.zeros((1, 16)), np.full((1, 16), 0.3)
    truth = rbf_kernel(x, y, gamma=0.5)
    family, n = Gaussian(1.0, sampling=sampling), 200 if sampling == "iid" else 20 * 256
    runs = [estimate_kernel(family, x, y, n, random_state=seed) for seed in range(140)]
    z = np.array([(mean - truth)[0, 0] / error[0, 0] for mean, error in runs])
    variance = 1.0 if sampling == "iid" else 19 / 17
    assert abs(z.mean()) < 5 * np.sqrt(variance / 140)
    assert abs(z.var() - variance) < 5 * np.sqrt(3 / 140)


def test_blocks_of_unequal_sizes_tell_the_error_as_well():
    mean, error = estimate_kernel(Gaussian(1.0, sampling="sobol"), X[:, :2], random_state=0)
    np.testing.assert_allclose(np.diag(mean), 1)
    assert np.diag(error).max() < 1e-7
    assert 0 < error[0, 1] < 0.02


def test_how_products_are_grouped_changes_nothing(monkeypatch):
    expected = estimate_kernel(Dense("erf"), X, Y, 300, random_state=0)
    monkeypatch.setattr(trickless._functions.kernel, "_PRODUCTS", 100)
    again = estimate_kernel(Dense("erf"), X, Y, 300, random_state=0)
    np.testing.assert_allclose(again, expected, atol=1e-12)


def test_a_fitted_family_is_used_and_an_unfitted_one_stays_unfitted():
    neurons = Gaussian()
    both = estimate_kernel(neurons, X, random_state=0)[0]
    assert not hasattr(neurons, "length_scale_")
    fitted = Gaussian().fit(X, np.random.default_rng(0))
    part = estimate_kernel(fitted, X[:3], X[3:], random_state=0)[0]
    np.testing.assert_allclose(part, both[:3, 3:], atol=1e-12)
    assert np.isinf(estimate_kernel("stumps", X, n_neurons=1, random_state=0)[1]).all()


def test_invalid_input_of_estimate_kernel_is_refused():
    with pytest.raises(ValueError, match=r"n_neurons=0.*Remedy"):
        estimate_kernel("gaussian", X, n_neurons=0)
    with pytest.raises(ValueError, match=r"neurons='cosine'.*Remedy"):
        estimate_kernel("cosine", X)
    with pytest.raises(ValueError, match=r"X has 2 columns.*Remedy"):
        estimate_kernel(Gaussian(1.0), X, Y[:, :2])
    for options in ({"feature": 4}, {"row": 7}, {"feature": -1}, {"n_points": 1}):
        with pytest.raises(ValueError, match=rf"{next(iter(options))}=.*Remedy"):
            KernelDisplay.from_neurons("gaussian", X, **options)


def test_the_slice_is_the_kernel_along_an_input():
    ax = Figure().subplots()
    options = {"feature": 1, "row": 2, "n_points": 11, "random_state": 0, "ax": ax}
    display = KernelDisplay.from_neurons(Gaussian(1.0), X, **options)
    values = display.line_.get_xdata()
    assert values[0] == X[:, 1].min()
    assert values[-1] == X[:, 1].max()
    exact = np.exp(-0.5 * (values - X[2, 1]) ** 2)
    np.testing.assert_allclose(display.exact_.get_ydata(), exact)
    off = np.abs(display.line_.get_ydata() - exact)
    assert (off <= 5 * display.standard_error + 1e-12).all()
    low, high = (
        display.mean - 2 * display.standard_error,
        display.mean + 2 * display.standard_error,
    )
    edges = display.band_.get_paths()[0].vertices[:, 1]
    assert edges.min() == low.min()
    assert edges.max() == high.max()
    assert ax.get_legend_handles_labels()[1] == ["Gaussian", "exact"]
    assert display.ax_ is ax


def test_a_slice_without_a_closed_form_has_no_exact_curve():
    display = KernelDisplay.from_neurons(Dense("tanh"), X, n_points=5, ax=Figure().subplots())
    assert display.exact_ is None
    assert KernelDisplay.from_neurons(Coordinates(), X, n_points=5).figure_ is not None


def test_rows_that_are_no_finite_numbers_are_named():
    X = inputs(5, 2)
    with pytest.raises(ValueError, match=r"column 0 of Y contains missing values.*Remedy"):
        estimate_kernel("gaussian", X, np.full_like(X, np.nan))
    with pytest.raises(ValueError, match=r"column 0 of X contains infinity.*Remedy"):
        estimate_kernel("gaussian", np.array([[np.inf], [-np.inf]]))
    dates = pd.DataFrame({"a": X[:, 0], "b": pd.Timestamp("2020-01-01")})
    with pytest.raises(ValueError, match=r"estimate_kernel: column 'b' of X has the type.*Remedy"):
        estimate_kernel("gaussian", dates)
    far = np.full((1, 2), 1e308)
    with pytest.raises(ValueError, match=r"estimate_kernel: the kernel gives.*Remedy: scale X"):
        estimate_kernel(Gaussian(1e-3), X, far)


class Forgetful(Gaussian):
    def fit(self, X, rng, sample_weight=None):
        super().fit(X, rng, sample_weight)


def test_a_fit_need_not_return_the_family():
    X = inputs(5, 3)
    one, other = (
        estimate_kernel(family(2.0), X, random_state=0) for family in (Gaussian, Forgetful)
    )
    np.testing.assert_array_equal(one, other)

"""Estimates to within a tolerance: they are, as often as they say, and with few neurons."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from cases import inputs
from trickless import ShrinkingGradientClassifier, ShrinkingGradientRegressor
from trickless._functions.certificate import _pieces
from trickless.inspection import Expansion
from trickless.neurons import Dense, Gaussian, Stumps
from trickless.neurons.composed import Scaled
from trickless.theory.concentration import empirical_bernstein_radius, hoeffding_radius

FAMILIES = {"gaussian": Gaussian(length_scale=1.5), "stumps": Stumps(), "erf": Dense("erf")}


def expansion(family="gaussian", outputs=1, t=60):
    rng = np.random.default_rng(7)
    X = inputs(t, 3)
    alpha = rng.standard_normal((t, outputs)) / t
    return Expansion(FAMILIES[family].fit(X, rng), X, alpha)


@pytest.mark.parametrize("family", FAMILIES)
def test_values_are_within_the_tolerance_as_often_as_promised(family):
    """400 seeds at 80 %: at most 5 standard errors more than 80 of them may be wrong."""
    f = expansion(family)
    x = inputs(2, 3, seed=1)
    exact = f.neurons.kernel(x, f.support) @ f.dual_coef
    wrong = np.zeros_like(exact)
    for seed in range(400):
        value, radius = f.certify(x, 0.05, 0.8, seed)
        assert (radius <= 0.05).all()
        wrong += np.abs(value - exact) > radius
    assert wrong.max() <= 80 + 5 * np.sqrt(400 * 0.2 * 0.8)


@pytest.mark.parametrize("radius_of", ["hoeffding", "bernstein"])
@pytest.mark.parametrize("p", [0.5, 0.02])
def test_radii_cover_the_mean_of_coin_flips(radius_of, p):
    """Exactly, over the binomial distribution of n flips of ±1: no more than δ may be missed."""
    n, delta = 400, 0.1
    heads = np.arange(n + 1)
    mean = 2 * heads / n - 1
    variance = 4 * heads * (n - heads) / n / (n - 1)
    radius = (
        np.full(n + 1, hoeffding_radius(n, 1.0, delta))
        if radius_of == "hoeffding"
        else empirical_bernstein_radius(n, variance, 1.0, delta)
    )
    missed = binom.pmf(heads, n, p)[np.abs(mean - (2 * p - 1)) > radius].sum()
    assert missed <= delta
    if radius_of == "hoeffding" and p == 0.5:  # and is not far from tight
        assert binom.pmf(heads, n, p)[np.abs(mean) > radius / 2].sum() > delta


def test_radii_are_those_computed_by_hand():
    assert hoeffding_radius(200, 3.0, 0.1) == pytest.approx(3 * math.sqrt(2 * math.log(20) / 200))
    L = math.log(30)
    expected = math.sqrt(2 * 0.25 * L / 200) + 7 * 6 * L / (3 * 199)
    assert empirical_bernstein_radius(200, 0.25, 3.0, 0.1) == pytest.approx(expected)


def test_a_small_variance_shortens_the_certificate():
    """f has a norm far below |α|₁: Hoeffding alone would draw some ten times as many neurons."""
    rng = np.random.default_rng(0)
    X = inputs(3000, 3)
    drawn = []

    class Counting(Gaussian):
        def draw(self, rng, n):
            drawn.append(n)
            return super().draw(rng, n)

    f = Expansion(Counting(1.0).fit(X, rng), X, rng.standard_normal((3000, 1)) / 300)
    norm_1 = np.abs(f.dual_coef).sum()
    x = inputs(5, 3, seed=1)
    value, _ = f.certify(x, 0.1, 0.95, 0)
    assert np.abs(value - f.neurons.kernel(x, X) @ f.dual_coef).max() < 0.1
    by_hoeffding = 2 * norm_1**2 * math.log(2 / 0.05) / 0.1**2
    assert sum(drawn) < by_hoeffding / 10


def test_rows_and_outputs_are_certified_each():
    f = expansion(outputs=3)
    x = inputs(40, 3, seed=1)
    exact = f.neurons.kernel(x, f.support) @ f.dual_coef
    tolerance = np.array([0.02, 0.05, 0.1])
    value, radius = f.certify(x, tolerance, 0.999, 0)
    assert value.shape == radius.shape == (40, 3)
    assert (radius <= tolerance).all()
    assert (np.abs(value - exact) < radius).all()
    np.testing.assert_array_equal(f.certify(x, tolerance, 0.999, 0)[0], value)
    zero = Expansion(f.neurons, f.support, 0 * f.dual_coef)
    assert not np.any(zero.certify(x, 0.1))


def test_predictions_of_a_model_are_certified_in_the_units_of_y():
    X = inputs(300, 2)
    y = 1000 + 100 * np.sin(X[:, 0])
    model = ShrinkingGradientRegressor(Gaussian(1.0), 50, random_state=0).fit(X, y)
    kernel = model.neurons_.kernel(X[:30], model.expansion_.support)
    exact = model._targets_.values(kernel @ model.expansion_.dual_coef)[:, 0]
    value = model.predict(X[:30], tolerance=5.0, confidence=0.99)
    assert value.shape == (30,)
    assert np.abs(value - exact).max() < 5
    assert np.abs(model.predict(X[:30]) - exact).max() > 5  # with its 50 neurons


@pytest.mark.parametrize("n_classes", [2, 3])
def test_decision_values_are_certified(n_classes):
    X = inputs(300, 2)
    y = np.digitize(X[:, 0], [0.0, 0.7][: n_classes - 1])
    model = ShrinkingGradientClassifier(Gaussian(1.0), 50, random_state=0).fit(X, y)
    f = model.expansion_
    exact = model.neurons_.kernel(X[:30], f.support) @ f.dual_coef
    exact = exact[:, 0] if n_classes == 2 else exact
    value = model.decision_function(X[:30], tolerance=0.1, confidence=0.99)
    assert value.shape == exact.shape
    assert np.abs(value - exact).max() < 0.1
    plain = model.decision_function(X[:30])
    assert np.abs(plain - exact).max() > 0.1  # with its 50 neurons
    value, error = model.decision_function(X[:30], return_standard_error=True)
    np.testing.assert_allclose(value, plain, atol=1e-6)
    assert error.shape == exact.shape
    assert 0.5 < np.sqrt(np.mean((value - exact) ** 2) / np.mean(error**2)) < 2
    with pytest.raises(ValueError, match=r"tolerance=0.1 and return_standard_error=True.*Remedy"):
        model.decision_function(X, return_standard_error=True, tolerance=0.1)


def test_stages_are_drawn_in_parts_of_two_or_more():
    for n in (1, 128, 2**15, 2**15 + 1, 10**6 + 7):
        parts = _pieces(n)
        assert sum(parts) == n
        assert max(parts) <= 2**15
        assert min(parts) > 1 or n == 1


def test_wrong_tolerances_are_named():
    f = expansion(outputs=2)
    x = inputs(2, 3)
    for tolerance in (0, -1.0, np.nan, "small", [0.1, 0.1, 0.1], None):
        with pytest.raises(ValueError, match=r"Expansion: tolerance=.*Remedy"):
            f.certify(x, tolerance)
    for confidence in (0, 1, 1.5, "high"):
        with pytest.raises((ValueError, TypeError), match=r"Expansion: confidence=.*Remedy"):
            f.certify(x, 0.1, confidence)
    single = Expansion(f.neurons, f.support.astype("float32"), f.dual_coef)
    with pytest.raises(ValueError, match=r"tolerance=1e-08, but.*float32.*dtype='float64'"):
        single.certify(x.astype("float32"), 1e-8)
    model = ShrinkingGradientRegressor(Gaussian(1.0), 50).fit(x, x[:, 0])
    with pytest.raises(ValueError, match=r"tolerance=0.1 and return_standard_error=True.*Remedy"):
        model.predict(x, return_standard_error=True, tolerance=0.1)
    with pytest.raises(ValueError, match=r"confidence=2.*Remedy"):
        model.predict(x, tolerance=0.1, confidence=2)
    with pytest.raises(TypeError, match=r"tolerance='small'.*Remedy"):
        model.predict(x, tolerance="small")


def test_the_chance_to_fail_is_shared_between_the_two_radii():
    """What is left of Bernstein's share, a third of which is for the variance, is Hoeffding's."""
    x, taken = 3 * inputs(4, 3, seed=1), set()
    for t in (1, 60):  # one point far away has much variance
        f = expansion(t=t)
        _, error = f.freeze(256, random_state=0).estimate(x)
        half_range = np.abs(f.dual_coef).sum(axis=0)
        hoeffding = np.broadcast_to(hoeffding_radius(256, half_range, 0.1 / 3), error.shape)
        bernstein = empirical_bernstein_radius(256, 256 * error**2, half_range, 0.05)
        _, radius = f.certify(x, 100.0, 0.9, 0)
        np.testing.assert_allclose(radius, np.minimum(hoeffding, bernstein))
        taken |= set((hoeffding < bernstein).ravel().tolist())
    assert taken == {True, False}


def test_radii_are_in_units_of_the_kernel():
    """Four times the kernel, of twice the bound, has four times the radius on the same neurons."""
    X = inputs(60, 3)
    alpha = np.random.default_rng(0).standard_normal((60, 1)) / 60
    plain, fourfold = (
        Expansion(family.fit(X, None), X, alpha).certify(X[:4], 100.0, 0.9, 0)
        for family in (Gaussian(1.0), Scaled(Gaussian(1.0), 4.0))
    )
    for one, four in zip(plain, fourfold, strict=True):
        np.testing.assert_allclose(four, 4 * one)

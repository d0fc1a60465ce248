"""Periodic neurons: their integers, length scales on a circle, and products with others."""

import numpy as np
import pytest
import scipy.sparse
from scipy.special import ndtr
from scipy.stats import binomtest, skellam

from cases import inputs
from trickless import KitchenSinksRegressor
from trickless.neurons import Gaussian, On, Periodic


def fitted(neurons, X):
    return neurons.fit(X, np.random.default_rng(0))


def multiples(neurons, n, seed=0):
    """Integers of drawn frequencies, which must be multiples of that of the period."""
    (w,) = neurons.draw(np.random.default_rng(seed), n)
    each = w * neurons.period_ / (2 * np.pi)
    np.testing.assert_allclose(each, np.rint(each), rtol=1e-12, atol=1e-12)
    return np.rint(each).astype(int)


@pytest.mark.parametrize("scale", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("sampling", ["iid", "sobol"])
def test_integers_have_the_probabilities_of_the_fourier_series(scale, sampling):
    """The coefficients come from a sum over 512 points of the kernel, with no Bessel function."""
    theta = 2 * np.pi * np.arange(512) / 512
    series = np.fft.fft(np.exp(-2 * np.sin(theta / 2) ** 2 / scale**2)).real / 512
    neurons = fitted(Periodic(3.0, scale, sampling=sampling), inputs(4, 1))
    drawn = np.array([multiples(neurons, 1, seed)[0, 0] for seed in range(500)])
    drawn = multiples(neurons, 20_000)[:, 0] if sampling == "iid" else drawn
    for m in (-1, 0, 1, 3):
        assert binomtest(int((drawn == m).sum()), len(drawn), series[m]).pvalue > 1e-6
        assert skellam.pmf(m, 0.5 / scale**2, 0.5 / scale**2) == pytest.approx(series[m], abs=1e-12)


@pytest.mark.parametrize("d", [1, 3, 10])
@pytest.mark.parametrize("sampling", ["iid", "sobol"])
def test_each_feature_may_have_a_period_and_a_length_scale(d, sampling):
    period, scale = np.linspace(1.0, 7.0, d), np.linspace(0.8, 3.0, d)
    neurons = fitted(Periodic(period, scale, sampling=sampling), inputs(4, d))
    X = 3 * inputs(5, d)
    truth = [
        np.exp(-2 * sum(np.sin(np.pi * (a - b) / period) ** 2 / scale**2)) for a in X for b in X
    ]
    np.testing.assert_allclose(neurons.kernel(X), np.reshape(truth, (5, 5)), rtol=1e-10)
    draws = [neurons.draw(np.random.default_rng(s), 256)[0] for s in range(200)]
    delta = (X[:, None] - X).reshape(-1, d)
    means = np.array([np.cos(w @ delta.T).mean(axis=0) for w in draws])
    error = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    assert (error < 0.005).all()
    assert (np.abs(means.mean(axis=0) - truth) <= 5 * error + 1e-12).all()


def test_functions_repeat_after_the_period():
    X, y = np.arange(60.0)[:, None], np.sin(2 * np.pi * np.arange(60) / 12) ** 3
    model = KitchenSinksRegressor(Periodic(12.0), 50, random_state=0, dtype="float64").fit(X, y)
    np.testing.assert_allclose(model.predict(X + 12 * 1000), model.predict(X), atol=1e-6)


def test_the_median_distance_is_around_the_circle():
    """Quarters of a turn are √2 apart, and halves 2; whole turns are not distinct."""
    X = 0.1 * np.array([[0.0], [10.0], [2.5], [1e5 + 7.5]])  # twice 0, and two quarters
    family = fitted(Periodic(1.0, "median"), X)
    assert family.length_scale_ == pytest.approx(np.sqrt(2))
    two = np.column_stack([X[:, 0], 3 * X[:, 0]])
    assert fitted(Periodic([1.0, 3.0]), two).length_scale_ == pytest.approx(2)
    sparse = scipy.sparse.csr_array(two)
    for period in (3.0, [1.0, 3.0]):
        dense = fitted(Periodic(period), two).length_scale_
        assert fitted(Periodic(period), sparse).length_scale_ == pytest.approx(dense)
    assert fitted(Periodic(0.1), 0.1 * np.arange(1e5, 1e5 + 30)[:, None]).length_scale_ == 1


def test_extreme_length_scales_keep_the_kernel():
    delta = np.array([[0.0], [1e-5], [1e-4], [0.3]])
    for scale in (1e-3, 0.999e-3, 1e-5, 1e5, 1e200):
        neurons = fitted(Periodic(1.0, scale), delta)
        (w,) = neurons.draw(np.random.default_rng(0), 20_000)
        each = np.cos(w @ delta.T)
        error = each.std(axis=0, ddof=1) / np.sqrt(len(w))
        truth = neurons.kernel(delta[:1], delta)[0]
        assert (
            np.abs(each.mean(axis=0) - truth) <= 5 * error + 0.12 * min(scale, 1e-3) ** 2 + 1e-12
        ).all()


def test_rounded_normal_numbers_are_as_near_as_is_said():
    """With the exact transform of a rounded normal number, where both ways are possible."""
    m, theta = np.arange(-400, 401), np.linspace(0, np.pi, 1000)
    for scale in (0.05, 0.1, 0.2):
        chance = ndtr((m + 0.5) * scale) - ndtr((m - 0.5) * scale)
        rounded = np.cos(theta[:, None] * m) @ chance
        exact = np.exp(-2 * np.sin(theta / 2) ** 2 / scale**2)
        assert 0.1 < np.abs(rounded - exact).max() / scale**2 < 0.12


def test_a_trend_and_a_pattern_that_changes_slowly_are_forecast():
    """A product beats each of its factors on the last two periods."""
    t = np.arange(240) / 12
    clean = (1 + 0.1 * t) * np.sin(2 * np.pi * t) ** 3 + 0.5 * t
    y = clean + 0.1 * inputs(240, 1)[:, 0]
    errors = [
        np.sqrt(np.mean((m.fit(t[:216, None], y[:216]).predict(t[216:, None]) - clean[216:]) ** 2))
        for neurons in (
            Gaussian(20.0) + Gaussian(20.0) * Periodic(1.0, 1.0),
            Gaussian(20.0) + Periodic(1.0, 1.0),
            Gaussian(),
        )
        for m in [KitchenSinksRegressor(neurons, 1000, random_state=0)]
    ]
    assert errors[0] < 0.1
    assert errors[0] < 0.25 * min(errors[1:])


def test_one_column_may_have_two_periods():
    t = inputs(300, 1) * 40
    y = np.sin(2 * np.pi * t[:, 0]) * np.cos(2 * np.pi * t[:, 0] / 7)
    neurons = On([0, 0], Periodic([1.0, 7.0], 1.0))
    assert KitchenSinksRegressor(neurons, 300, random_state=0).fit(t, y).score(t, y) > 0.99


@pytest.mark.parametrize(
    ("neurons", "message"),
    [
        (Periodic(period=0.0), "Periodic: period=0.0.*above 0.*Remedy: period=1.0"),
        (Periodic(period="auto"), "period='auto'"),
        (Periodic(period=[1.0, 2.0]), "Periodic: period has 2 values, but X has 3"),
        (Periodic(period=[1.0, -2.0, 1.0]), "period=.*above 0"),
        (Periodic(length_scale="relevance"), "length_scale='relevance'.*'median' or 'auto'"),
        (Periodic(length_scale=[1.0]), "Periodic: length_scale has 1 values, but X has 3"),
        (Periodic(sampling="orthogonal"), "'iid' or 'sobol'"),
    ],
)
def test_bad_parameters_are_named_of_periodic(neurons, message):
    with pytest.raises((TypeError, ValueError), match=message):
        fitted(neurons, inputs(5, 3))

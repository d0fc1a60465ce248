"""Rows count once in intervals and sets, whatever their weights in the fit, unless asked."""

import numpy as np
import pytest

from trickless import (
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
)
from trickless.conformal import SplitConformal
from trickless.neurons import Gaussian

SINKS = {"neurons": Gaussian(1.0), "n_neurons": 25}
FEW = {"neurons": Gaussian(1.0), "n_neurons": 300}  # more columns than rows, which are kept
HELD_OUT = {"neurons": Gaussian(1.0), "n_neurons": 64, "early_stopping": True}
TREES = {"n_trees": 20}


def numbers(rng, n):
    """Noise whose variance is 10 or 1, and weights that are its inverse."""
    X = rng.uniform(-2, 2, (n, 2))
    variance = np.where(X[:, 1] > 0, 10.0, 1.0)
    return X, np.sin(2 * X[:, 0]) + np.sqrt(variance) * rng.standard_normal(n), 1 / variance


def classes(rng, n):
    X = rng.standard_normal((n, 2))
    return X, (X[:, 0] + rng.logistic(size=n) > 0).astype(int)


def assert_near(shares, wanted=0.9, n_unseen=np.inf):
    """Assert coverage to 4 standard errors, and by the ranks that calibration may round up."""
    error = np.std(shares) / len(shares) ** 0.5
    assert error < 0.02
    assert wanted - 4 * error < np.mean(shares) < wanted + 3 / (n_unseen + 1) + 4 * error


@pytest.mark.parametrize(
    ("make", "options", "method", "n_unseen"),
    [
        (KitchenSinksRegressor, SINKS, "jackknife+", 400),
        (KitchenSinksRegressor, SINKS, "full", 400),
        (KitchenSinksRegressor, SINKS | {"solver": "iterative"}, "auto", 400),
        (KitchenSinksRegressor, FEW | {"half_life": 200}, "jackknife+", 200),
        (DoublyStochasticRegressor, HELD_OUT, "auto", 40),
        (BoostedTreesRegressor, TREES, "auto", 400),
    ],
)
def test_intervals_hold_under_weights_that_are_inverse_to_the_noise(
    make, options, method, n_unseen
):
    once, by_weight, n_new = [], [], 1000
    for seed in range(8):
        rng = np.random.default_rng(seed)
        (X, y, weight), (X_new, y_new, weight_new) = numbers(rng, 400), numbers(rng, n_new)
        model = make(**options, random_state=seed, n_jobs=1).fit(X, y, sample_weight=weight)
        for weighted, shares, counts in ((False, once, None), (True, by_weight, weight_new)):
            low, high = model.predict_interval(X_new, method=method, weighted=weighted).T
            shares.append(np.average((low <= y_new) & (y_new <= high), weights=counts))
        if seed == 0:
            low, high = model.predict_interval(X_new, method=method, weighted=True).T
            assert ((low <= y_new) & (y_new <= high)).mean() < 0.8  # of rows as they come
    assert_near(once, n_unseen=n_unseen)
    assert_near(by_weight, n_unseen=n_unseen / 2)


@pytest.mark.parametrize("half_life", [None, 200])
def test_deviations_are_those_of_new_rows_whatever_the_weights(half_life):
    """Squared errors over variances average to 1 over rows as they come."""
    ratios, noise = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        (X, y, weight), (X_new, y_new, _) = numbers(rng, 400), numbers(rng, 2000)
        model = KitchenSinksRegressor(**SINKS, half_life=half_life, random_state=seed)
        mean, std = model.fit(X, y, weight).predict(X_new, return_std=True)
        ratios.append(np.mean(((y_new - mean) / std) ** 2))
        noise.append(model.noise_variance_)
        np.testing.assert_array_equal(model.compact().predict(X_new, return_std=True)[1], std)
    for found, wanted in ((ratios, 1), (noise, 2 / 1.1)):  # (10 · 0.1 + 1 · 1) / (0.1 + 1)
        error = np.std(found) / 20**0.5
        assert error < 0.05
        assert abs(np.mean(found) - wanted) < 4 * error


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (KitchenSinksClassifier, SINKS),
        (KitchenSinksClassifier, SINKS | {"solver": "iterative"}),
        (KitchenSinksClassifier, FEW | {"half_life": 400}),
        (DoublyStochasticClassifier, HELD_OUT),
        (BoostedTreesClassifier, TREES),
    ],
)
def test_sets_hold_under_weights_of_classes(make, options):
    once, by_weight = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        (X, y), (X_new, y_new) = classes(rng, 400), classes(rng, 1000)
        model = make(**options, class_weight={0: 20.0}, random_state=seed, n_jobs=1).fit(X, y)
        for weighted, shares in ((False, once), (True, by_weight)):
            sets = model.predict_set(X_new, weighted=weighted)
            counts = np.where(y_new == 0, 20.0, 1.0) if weighted else None
            shares.append(np.average(sets[np.arange(1000), y_new], weights=counts))
    assert np.mean(once) > 0.9 - 4 * np.std(once) / 10**0.5
    assert np.mean(by_weight) > 0.9 - 4 * np.std(by_weight) / 10**0.5


def test_rows_of_weight_zero_are_not_rows():
    rng = np.random.default_rng(0)
    X, y, _ = numbers(rng, 200)
    weight = np.where(np.arange(200) % 2, 1.0, 0.0)
    for options in ({}, {"half_life": 100}):
        model = KitchenSinksRegressor(**SINKS, **options, random_state=0).fit(X, y, weight)
        counted = model._sums_.left_out(model._problem()).counted
        assert len(counted.once) == 100
        np.testing.assert_allclose(counted.once, counted.by_weight)
        if not options:
            alone = KitchenSinksRegressor(**SINKS, random_state=0).fit(X[1::2], y[1::2])
            np.testing.assert_allclose(
                model.predict_interval(X), alone.predict_interval(X), rtol=1e-5
            )


@pytest.mark.parametrize("size", [1, 7, 120])
@pytest.mark.parametrize("n_neurons", [10, 300])
def test_rows_that_fade_count_by_their_age_alone(size, n_neurons):
    rng = np.random.default_rng(0)
    X, y, weight = numbers(rng, 120)
    weight[5::10] = 0
    model = KitchenSinksRegressor(Gaussian(1.0), n_neurons, half_life=20, alpha=1e-3)
    model.set_params(random_state=0)
    for start in range(0, 120, size):
        some = slice(start, start + size)
        model.partial_fit(X[some], y[some], weight[some])
        model.predict(X[:1])
    rows = model._sums_.left_out(model._problem())
    order = [np.flatnonzero(np.isclose(y, target))[0] for target in rows.targets[:, 0]]
    age = 0.5 ** ((119 - np.array(order)) / 20)
    np.testing.assert_allclose(rows.counted.once, age * age.sum() / (age @ age), rtol=1e-6)
    by_weight = age * weight[order]
    wanted = by_weight * by_weight.sum() / (by_weight @ by_weight)
    np.testing.assert_allclose(rows.counted.by_weight, wanted, rtol=1e-6)


def test_what_cannot_count_by_weight_says_so():
    X, y, _ = numbers(np.random.default_rng(0), 60)
    model = KitchenSinksRegressor(Gaussian(1.0), 10, half_life=[50, 100], random_state=0)
    with pytest.raises(ValueError, match=r"weighted=True does not go with half_life=.*Remedy: w"):
        model.fit(X, y).predict_interval(X, 0.5, weighted=True)
    model = KitchenSinksRegressor(Gaussian(1.0), 10, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"weighted='rows', but it must be a boolean. Remedy: w"):
        model.predict_interval(X, weighted="rows")


def test_ratios_of_densities_are_above_zero_where_rows_are():
    X, y, _ = numbers(np.random.default_rng(0), 60)
    model = KitchenSinksRegressor(Gaussian(1.0), 10, random_state=0).fit(X, y)
    conformal = SplitConformal(model)
    with pytest.raises(ValueError, match=r"sample_weight is zero for all 60 rows.*Remedy"):
        conformal.calibrate(X, y, sample_weight=np.zeros(60))
    conformal.calibrate(X, y, sample_weight=np.ones(60))
    with pytest.raises(ValueError, match=r"sample_weight is 0 for new row 2.*Remedy"):
        conformal.predict_interval(X[:3], sample_weight=[1.0, 1.0, 0.0])

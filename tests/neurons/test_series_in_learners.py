"""What learners and tests of hypotheses say of series: errors, intervals, streams and p-values."""

import numpy as np
import pytest

from cases import inputs
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.inference import mmd_test
from trickless.inspection import estimate_kernel
from trickless.neurons import Convolutions, Gaussian

FEW = Convolutions(kernels=4)


def waves(n, seed, length=60):
    """Waves of a random frequency and phase, and the frequency."""
    rng = np.random.default_rng(seed)
    frequency, phase = rng.uniform(0.1, 0.6, (n, 1)), rng.uniform(0, 6, (n, 1))
    X = np.sin(frequency * np.arange(length) + phase) + 0.3 * rng.standard_normal((n, length))
    return X, frequency[:, 0] + 0.05 * rng.standard_normal(n)


def some_shorter(X, seed):
    """Series of which every second one ends early."""
    rng, X = np.random.default_rng(seed), X.copy()
    for row in X[::2]:
        row[rng.integers(40, X.shape[1]) :] = np.nan
    return X


def test_the_kernel_of_series_is_estimated_with_its_standard_error():
    X = some_shorter(inputs(2, 60), 0)
    neurons = FEW.fit(X, np.random.default_rng(0))
    truth, error = estimate_kernel(neurons, X[:1], X[1:], 8000, random_state=99)
    found = [estimate_kernel(neurons, X[:1], X[1:], 60, random_state=seed) for seed in range(50)]
    means, errors = np.array(found)[:, :, 0, 0].T
    spread = means.std(ddof=1)
    assert abs(means.mean() - truth[0, 0]) < 4 * np.hypot(spread / np.sqrt(50), error[0, 0])
    # The standard error of a variance of 50 numbers is a fifth of it.
    assert abs((errors**2).mean() / spread**2 - 1) < 3 * np.sqrt(2 / 49)
    assert error[0, 0] < 0.05 * truth[0, 0]


def test_mmd_test_of_series_rejects_as_often_as_its_level():
    rejected, n = 0, 100
    for seed in range(n):
        X = some_shorter(np.random.default_rng(seed).standard_normal((20, 48)), seed)
        options = {"n_permutations": 9, "random_state": seed, "n_jobs": 1}
        rejected += mmd_test(X[:11], X[11:], Convolutions(kernels=2), 6, **options).pvalue <= 0.1
    assert abs(rejected / n - 0.1) < 3 * np.sqrt(0.1 * 0.9 / n)


def test_mmd_test_finds_waves_that_begin_at_any_time():
    found = {"convolutions": 0, "gaussian": 0}
    for seed in range(20):
        (X, _), noise = waves(24, seed), np.random.default_rng(seed).standard_normal((24, 60))
        Y = noise * X.std()  # as large as waves, and with the same mean at each time
        for name, neurons in (("convolutions", FEW), ("gaussian", Gaussian())):
            options = {"n_permutations": 99, "random_state": seed, "n_jobs": 1}
            found[name] += mmd_test(X, Y, neurons, 20, **options).pvalue <= 0.05
    assert found["convolutions"] == 20
    assert found["gaussian"] < found["convolutions"] - 4


@pytest.mark.parametrize("shorter", [False, True])
def test_intervals_and_error_bars_hold_as_many_targets_as_they_say(shorter):
    (X, y), (X_test, y_test) = waves(150, 0), waves(400, 1)
    if shorter:
        X, X_test = some_shorter(X, 0), some_shorter(X_test, 1)
    model = KitchenSinksRegressor(FEW, 60, random_state=0).fit(X, y)
    assert model.score(X_test, y_test) > 0.7
    low, high = model.predict_interval(X_test, confidence=0.9).T
    mean, std = model.predict(X_test, return_std=True)
    slack = 3 * np.sqrt(0.9 * 0.1 * (1 / 400 + 1 / 150))  # of test series, and of errors
    assert abs(np.mean((low <= y_test) & (y_test <= high)) - 0.9) < slack
    assert abs(np.mean(np.abs(y_test - mean) < 1.645 * std) - 0.9) < slack
    assert (high - low).mean() < 0.6 * 3.29 * y_test.std()


def test_a_stream_of_series_equals_the_same_rows_at_once():
    (X, y), (X_test, _) = waves(160, 0), waves(40, 1)
    X[60:], X_test = some_shorter(X[60:], 0), some_shorter(X_test, 1)
    once, stream = (KitchenSinksRegressor(FEW, 30, alpha=1e-3, random_state=0) for _ in range(2))
    once.partial_fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
    for some in (slice(60), slice(60, 67), slice(67, 68), slice(68, 160)):
        stream.partial_fit(X[some], y[some])
    np.testing.assert_allclose(stream.predict(X_test), once.predict(X_test), rtol=1e-5)


def test_classes_of_series_are_learned_in_a_stream():
    X, frequency = waves(700, 0)
    y = np.where(frequency > 0.35, "fast", "slow")
    model = KitchenSinksClassifier(FEW, 40, random_state=0)
    for start in range(0, 300, 60):
        some = slice(start, start + 60)
        model.partial_fit(some_shorter(X[some], start), y[some], classes=["fast", "slow"])
    held, truth = some_shorter(X[300:], 1), y[300:] == "fast"
    assert model.score(held, y[300:]) > 0.85
    chances = model.predict_proba(held)[:, 0]
    assert abs(chances.mean() - truth.mean()) < 4 * np.sqrt(np.sum(chances * (1 - chances))) / 400
    gain = np.log(2) + np.log(np.where(truth, chances, 1 - chances)).mean()
    assert gain > 0.3  # nats better than a coin

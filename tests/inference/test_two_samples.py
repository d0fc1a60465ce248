"""The two-sample test: its statistic is that of the kernel, its level holds, and it has power."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import kstest

import naive
from cases import FAMILIES, inputs, suited
from trickless import RandomFeatures
from trickless.inference import dependence, mmd_test
from trickless.inference.covariances import unbiased
from trickless.neurons import Gaussian

SMOOTH = Gaussian(1.0)


def features(neurons, n_neurons, fitted_to, rows):
    model = RandomFeatures(neurons, n_neurons, sparse_output=False, random_state=0, dtype="float64")
    return model.fit(fitted_to).transform(rows)


@pytest.mark.filterwarnings("ignore:RandomFeatures. neurons=.* has small act")
@pytest.mark.parametrize(("family", "m"), [*((name, 12) for name in FAMILIES), ("gaussian", 35)])
def test_the_statistic_is_that_of_the_estimated_kernel(family, m, monkeypatch):
    """The family is fitted once, to the rows of both in random order."""
    rows = suited(family, inputs(50, 4))
    fits = []
    fit = RandomFeatures.fit
    monkeypatch.setattr(RandomFeatures, "fit", lambda self, X: (fits.append(X), fit(self, X))[1])
    result = mmd_test(rows[:m], rows[m:], FAMILIES[family], 30, n_permutations=1, random_state=0)
    (pooled,) = fits
    np.testing.assert_array_equal(np.sort(pooled, axis=0), np.sort(rows, axis=0))
    monkeypatch.undo()
    Z = features(FAMILIES[family], 30, pooled, rows)
    expected = naive.mmd(Z @ Z.T, np.arange(50) < m)
    np.testing.assert_allclose(result.statistic, expected, rtol=1e-10, atol=1e-10 * (Z**2).mean())
    assert result.n_rows == (m, 50 - m)


def test_the_statistic_is_unbiased_with_a_standard_error():
    """The means of waves of normal numbers are known."""
    model = RandomFeatures(SMOOTH, 20, random_state=0, dtype="float64").fit(inputs(5, 2))
    w = model.source_.between(0, 20)[0]
    found = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        X, Y = rng.standard_normal((40, 2)), 1.5 * rng.standard_normal((30, 2)) + 0.5
        found.append(mmd_test(X, Y, SMOOTH, 20, method="asymptotic", random_state=0))
    length, shift = np.einsum("ij,ij->i", w, w), 0.5 * w.sum(axis=1)
    mean_x, mean_y = np.exp(-0.5 * length), np.exp(-0.5 * 1.5**2 * length + 1j * shift)
    expected = (abs(mean_x - mean_y) ** 2).mean()
    statistic = np.array([result.statistic for result in found])
    assert abs(statistic.mean() - expected) < 3 * statistic.std(ddof=1) / np.sqrt(400)
    error = np.array([result.standard_error for result in found])
    assert (error**2).mean() == pytest.approx(statistic.var(ddof=1), rel=0.2)


def test_the_variance_is_that_of_all_permutations():
    """Of all 126 ways to choose the first four of nine rows."""
    Z = inputs(9, 3) + 5
    K, m = Z @ Z.T, 4
    chosen = [np.isin(np.arange(9), some) for some in combinations(range(9), m)]
    every = np.array([naive.mmd(K, first) for first in chosen])
    assert abs(every.mean()) < 1e-13
    Z, found, unit = Z - Z.mean(axis=0), [], dependence.unit_of_mmd(m, 9 - m)
    squares = (Z**2).sum(axis=1)
    for first in chosen:
        label = first - m / 9
        found.append(unbiased(((Z.T @ label) ** 2).sum(), squares, label**2, squares @ label**2))
    np.testing.assert_allclose(unit * np.array(found), every, atol=1e-13)
    variance = dependence.variance_of_permutations(
        Z.T @ Z, np.array([[label @ label]]), squares, label**2
    )
    assert unit**2 * variance == pytest.approx((every**2).mean())


@pytest.mark.parametrize("method", ["permutation", "asymptotic"])
def test_mmd_test_rejects_as_often_as_its_level(method, n_nulls=300):
    """Within two standard errors, on few rows of samples of different sizes."""
    found = []
    for seed in range(n_nulls):
        rng = np.random.default_rng(seed)
        rows = rng.exponential(size=(35, 2))
        options = {"method": method, "n_permutations": 19, "random_state": seed}
        found.append(mmd_test(rows[:20], rows[20:], n_neurons=10, **options))
    p = np.array([result.pvalue for result in found])
    for level in (0.05, 0.1):
        assert abs((p <= level).mean() - level) < 2 * np.sqrt(level * (1 - level) / n_nulls)
    if method == "asymptotic":
        assert kstest(p, "uniform").pvalue > 0.01
    statistic = np.array([result.statistic for result in found])
    assert abs(statistic.mean()) < 3 * statistic.std() / np.sqrt(n_nulls)
    error = np.mean([result.standard_error**2 for result in found])
    assert 1 < error / statistic.var() < 2  # it is too large if distributions are equal


@pytest.mark.parametrize("change", ["mean", "variance"])
def test_the_power_of_mmd_test_is_that_of_the_quadratic_test(change):
    rejected = {"neurons": 0, "asymptotic": 0, "exact": 0}
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, Y = rng.standard_normal((2, 60, 2))
        Y = Y + 0.45 if change == "mean" else 1.7 * Y
        options = {"random_state": seed, "n_permutations": 199}
        rejected["neurons"] += mmd_test(X, Y, SMOOTH, 100, **options).pvalue <= 0.05
        asymptotic = mmd_test(X, Y, SMOOTH, 100, method="asymptotic", random_state=seed)
        rejected["asymptotic"] += asymptotic.pvalue <= 0.05
        rows, first = np.vstack([X, Y]), np.arange(120) < 60
        K = SMOOTH.fit(rows, rng).kernel(rows)
        permuted = [naive.mmd(K, rng.permutation(first)) for _ in range(199)]
        rejected["exact"] += (1 + (permuted >= naive.mmd(K, first)).sum()) / 200 <= 0.05
    assert rejected["exact"] > 15
    assert min(rejected.values()) >= rejected["exact"] - 3


def test_swapping_the_samples_changes_nothing_but_the_draws():
    X, Y = inputs(60, 3), inputs(40, 3, seed=1) + 0.2
    options = {"n_permutations": 1999, "random_state": 0}
    one, other = mmd_test(X, Y, **options), mmd_test(Y, X, **options)
    assert one.statistic == pytest.approx(other.statistic, rel=1e-10)
    assert one.pvalue == pytest.approx(other.pvalue, abs=4 * np.sqrt(0.5 / 1999))
    options["method"] = "asymptotic"
    one, other = mmd_test(X, Y, **options), mmd_test(Y, X, **options)
    for name in ("statistic", "standard_error", "pvalue"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-8)


def test_equal_statistics_count_whatever_their_rounding():
    """Six labellings of four rows, two of which give the same statistic."""
    X, Y = np.array([[0.0], [0.1]]), np.array([[5.0], [5.1]])
    result = mmd_test(X, Y, n_permutations=9999, random_state=0)
    assert result.pvalue == pytest.approx(1 / 3, abs=4 * np.sqrt(2 / 9 / 9999))


@pytest.mark.parametrize("method", ["permutation", "asymptotic"])
def test_panels_threads_and_memory_change_nothing(method, monkeypatch):
    X, Y = inputs(700, 3), inputs(500, 3, seed=1) + 0.1
    options = {"method": method, "n_permutations": 299, "random_state": 0, "n_neurons": 300}
    whole = mmd_test(X, Y, n_jobs=1, **options)
    threads = mmd_test(X, Y, n_jobs=2, **options)
    assert threads.statistic == pytest.approx(whole.statistic, rel=1e-9)
    assert threads.pvalue == pytest.approx(whole.pvalue, rel=1e-9)
    monkeypatch.setattr(dependence, "_PANEL_VALUES", 600 * 150)
    in_panels = mmd_test(X, Y, n_jobs=1, **options)
    assert in_panels.statistic == pytest.approx(whole.statistic, rel=1e-10)
    assert in_panels.pvalue == pytest.approx(whole.pvalue, abs=4 * np.sqrt(0.5 / 299))
    monkeypatch.setattr(dependence, "_KEPT_VALUES", 0)
    again = mmd_test(X, Y, n_jobs=2, **options)
    assert again.statistic == pytest.approx(in_panels.statistic, rel=1e-9)
    # Permutations use directions of the features that are not kept.
    assert again.standard_error == pytest.approx(in_panels.standard_error, rel=0.1)
    assert again.pvalue == pytest.approx(in_panels.pvalue, abs=4 * np.sqrt(0.5 / 299))


@pytest.mark.parametrize("method", ["permutation", "asymptotic"])
def test_rows_that_are_all_equal_do_not_differ(method):
    for value in (1.0, 1e9 / 3):
        rows = np.full((9, 2), value)
        result = mmd_test(rows[:4], rows[4:], method=method, random_state=0)
        assert (result.statistic, result.standard_error, result.pvalue) == (0, 0, 1)


def test_the_result_of_mmd_test_has_a_readable_repr():
    result = mmd_test(inputs(1500, 1), inputs(40, 1, seed=1) + 1, random_state=0)
    assert repr(result).startswith("<mmd_test: statistic 0.2369 ± 0.067")
    assert repr(result).endswith("pvalue 0.001 (999 permutations); 1,500 and 40 rows, 500 neurons>")
    with pytest.raises(AttributeError):
        result.pvalue = 0.5

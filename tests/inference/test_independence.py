"""The test of independence: its statistic is that of the kernels, its level holds, it has power."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import kstest

import naive
from cases import FAMILIES, inputs, suited
from trickless import RandomFeatures
from trickless.inference import dependence, hsic_test
from trickless.inference.covariances import principal, sketched, unbiased
from trickless.neurons import Gaussian, Neurons

SMOOTH = Gaussian(1.0)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_statistic_is_that_of_the_estimated_kernels(family, monkeypatch):
    models = []
    fit = RandomFeatures.fit
    monkeypatch.setattr(
        RandomFeatures, "fit", lambda self, X: (models.append(self), fit(self, X))[1]
    )
    X, Y = suited(family, inputs(40, 4)), inputs(40, 4, seed=1)
    result = hsic_test(X, Y, FAMILIES[family], SMOOTH, 30, n_permutations=1, random_state=0)
    x, y = (model.transform(rows) for model, rows in zip(models, (X, Y), strict=True))
    expected = naive.hsic(x @ x.T, y @ y.T)
    scale = (x**2).sum(axis=1).mean() * (y**2).sum(axis=1).mean()
    np.testing.assert_allclose(result.statistic, expected, rtol=1e-10, atol=1e-10 * scale)
    assert result.n_rows == 40


def test_the_estimate_is_the_mean_over_quadruples():
    x, y = inputs(7, 3) + 1, inputs(7, 2, seed=1) - 2
    expected = naive.hsic_by_quadruples(x @ x.T, y @ y.T)
    assert naive.hsic(x @ x.T, y @ y.T) == pytest.approx(expected)
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    a, b = (x**2).sum(axis=1), (y**2).sum(axis=1)
    assert unbiased(((x.T @ y) ** 2).sum(), a, b, a @ b) == pytest.approx(expected)


def test_the_variance_is_that_of_all_permutations_of_independence(monkeypatch):
    """Of all 720 orders of six rows."""
    models = []
    fit = RandomFeatures.fit
    monkeypatch.setattr(
        RandomFeatures, "fit", lambda self, X: (models.append(self), fit(self, X))[1]
    )
    X, Y = inputs(6, 2), inputs(6, 2, seed=1)
    found = []
    wrapped = dependence.variance_of_permutations
    monkeypatch.setattr(
        dependence,
        "variance_of_permutations",
        lambda *sums: (found.append(wrapped(*sums)), found[-1])[1],
    )
    result = hsic_test(X, Y, n_neurons=20, n_permutations=9999, random_state=0)
    x, y = (model.transform(rows) for model, rows in zip(models, (X, Y), strict=True))
    K, L = x @ x.T, y @ y.T
    orders = [np.array(order) for order in permutations(range(6))]
    every = np.array([naive.hsic(K, L[np.ix_(order, order)]) for order in orders])
    assert abs(every.mean()) < 1e-15
    assert found == [pytest.approx((every**2).mean())]
    exact = (every >= result.statistic - 1e-12).mean()
    assert result.pvalue == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 9999))


@pytest.mark.parametrize("method", ["permutation", "asymptotic"])
def test_hsic_test_rejects_as_often_as_its_level(method, n_nulls=300):
    """Within two standard errors, on few rows."""
    found = []
    for seed in range(n_nulls):
        rng = np.random.default_rng(seed)
        X, Y = rng.exponential(size=(40, 2)), rng.standard_normal((40, 1))
        options = {"method": method, "n_permutations": 19, "random_state": seed}
        found.append(hsic_test(X, Y, n_neurons=10, **options))
    p = np.array([result.pvalue for result in found])
    for level in (0.05, 0.1):
        assert abs((p <= level).mean() - level) < 2 * np.sqrt(level * (1 - level) / n_nulls)
    if method == "asymptotic":
        assert kstest(p, "uniform").pvalue > 0.01
    statistic = np.array([result.statistic for result in found])
    assert abs(statistic.mean()) < 3 * statistic.std() / np.sqrt(n_nulls)
    error = np.mean([result.standard_error**2 for result in found])
    assert 1 < error / statistic.var() < 2.2  # it is too large if there is no dependence


def circle(n, rng):
    """Rows near a circle: the two coordinates are uncorrelated, and not independent."""
    angle = rng.uniform(0, 2 * np.pi, (n, 1))
    noise = 0.3 * rng.standard_normal((2, n, 1))
    return 2 * np.cos(angle) + noise[0], 2 * np.sin(angle) + noise[1]


def test_the_power_of_hsic_test_is_that_of_the_quadratic_test():
    rejected = {"neurons": 0, "asymptotic": 0, "exact": 0}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, Y = circle(50, rng)
        options = {"random_state": seed, "n_permutations": 199}
        rejected["neurons"] += hsic_test(X, Y, SMOOTH, SMOOTH, 100, **options).pvalue <= 0.05
        asymptotic = hsic_test(X, Y, SMOOTH, SMOOTH, 100, method="asymptotic", random_state=seed)
        rejected["asymptotic"] += asymptotic.pvalue <= 0.05
        K, L = (SMOOTH.fit(rows, rng).kernel(rows) for rows in (X, Y))
        orders = [rng.permutation(50) for _ in range(199)]
        permuted = [naive.hsic(K, L[np.ix_(order, order)]) for order in orders]
        rejected["exact"] += (1 + (permuted >= naive.hsic(K, L)).sum()) / 200 <= 0.05
    assert rejected["exact"] > 20
    assert min(rejected.values()) >= rejected["exact"] - 4


def test_the_standard_error_is_the_spread_over_samples():
    found = []
    for seed in range(250):
        X, Y = circle(200, np.random.default_rng(seed))
        found.append(hsic_test(X, Y, SMOOTH, SMOOTH, 10, method="asymptotic", random_state=0))
    statistic = np.array([result.statistic for result in found])
    error = np.array([result.standard_error for result in found])
    assert statistic.mean() > 2 * statistic.std()
    assert np.sqrt((error**2).mean()) == pytest.approx(statistic.std(ddof=1), rel=0.2)


@pytest.mark.parametrize("rows", [15, 400])
def test_fewer_columns_keep_inner_products(rows):
    """Exactly if there are few rows; else in principal directions, and in others on average."""
    Z = RandomFeatures("laplace", 150, random_state=0).fit_transform(inputs(rows, 5))
    Z = Z - Z.mean(axis=0)
    K, found = Z @ Z.T, []
    for seed in range(60):
        W = sketched(*principal(Z.T @ Z), 128, np.random.default_rng(seed))
        found.append(Z @ W @ W.T @ Z.T)
    if rows == 15:
        assert W.shape[1] == 32
        np.testing.assert_allclose(found[0], K, atol=1e-10)
        return
    assert W.shape[1] == 128
    error = np.std(found, axis=0, ddof=1) / np.sqrt(60)
    assert (abs(np.mean(found, axis=0) - K) < 5.5 * error).all()
    vector = np.linalg.eigh(K)[1][:, -10]
    np.testing.assert_allclose(found[0] @ vector, K @ vector, atol=1e-10)


@pytest.mark.parametrize("family", ["gaussian", "stumps", "landmarks", "tabular", "trees"])
def test_neurons_of_x_and_y_are_drawn_apart(family, monkeypatch):
    """Landmarks of both that are the same rows would look like dependence."""
    models = []
    fit = RandomFeatures.fit
    monkeypatch.setattr(
        RandomFeatures, "fit", lambda self, X: (models.append(self), fit(self, X))[1]
    )
    X = suited(family, inputs(30, 4))
    hsic_test(X, X, FAMILIES[family], FAMILIES[family], 20, n_permutations=1, random_state=0)
    x, y = (model.transform(X) for model in models)
    assert not np.allclose(x, y)


class Columns(Neurons):
    """Columns drawn at random, as they are."""

    def draw(self, rng, n):
        return rng.integers(self.n_features_in_, size=n)

    def activate(self, X, weights):
        return X[:, weights]


def test_dependence_that_principal_directions_miss_is_found(monkeypatch):
    """Y depends on the weak columns of X, and not on the strong ones."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 200)) * np.where(np.arange(200) < 64, 4, 1)
    Y = X[:, 64:] @ np.ones((136, 1))
    options = {"n_permutations": 199, "random_state": 0}
    assert hsic_test(X, Y, Columns(), n_neurons=600, **options).pvalue == 0.005
    monkeypatch.setattr(dependence, "sketched", lambda values, vectors, *_: vectors[:, :64])
    assert hsic_test(X, Y, Columns(), n_neurons=600, **options).pvalue > 0.05


def test_permutation_and_asymptotic_p_values_agree():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 3))
    Y = 0.1 * X[:, :1] + rng.standard_normal((400, 1))
    permuted = hsic_test(X, Y, n_neurons=60, n_permutations=1999, random_state=0)
    asymptotic = hsic_test(X, Y, n_neurons=60, method="asymptotic", random_state=0)
    assert 0.005 < permuted.pvalue < 0.5
    assert asymptotic.pvalue == pytest.approx(permuted.pvalue, rel=0.2)
    assert asymptotic.statistic == permuted.statistic
    assert asymptotic.standard_error == permuted.standard_error


@pytest.mark.parametrize("method", ["permutation", "asymptotic"])
def test_panels_threads_and_memory_change_nothing_of_independence(method, monkeypatch):
    X, Y = circle(900, np.random.default_rng(0))
    options = {"method": method, "n_permutations": 99, "random_state": 0, "n_neurons": 150}
    whole = hsic_test(X, Y, n_jobs=1, **options)
    threads = hsic_test(X, Y, n_jobs=2, **options)
    assert threads.statistic == pytest.approx(whole.statistic, rel=1e-9)
    assert threads.pvalue == pytest.approx(whole.pvalue, rel=1e-9)
    monkeypatch.setattr(dependence, "_PANEL_VALUES", 600 * 150)
    monkeypatch.setattr(dependence, "_KEPT_VALUES", 0)
    monkeypatch.setattr(dependence, "_ROWS", 128)
    in_panels = hsic_test(X, Y, n_jobs=2, **options)
    for name in ("statistic", "standard_error", "pvalue"):
        assert getattr(in_panels, name) == pytest.approx(getattr(whole, name), rel=1e-9)


@pytest.mark.parametrize("method", ["permutation", "asymptotic"])
def test_constant_columns_are_independent(method):
    result = hsic_test(inputs(20, 2), np.full((20, 1), 7.0), method=method, random_state=0)
    assert (result.statistic, result.standard_error, result.pvalue) == (0, 0, 1)


def test_the_result_of_hsic_test_has_a_readable_repr():
    X = inputs(1200, 1)
    assert repr(hsic_test(X, X, n_neurons=50, method="asymptotic", random_state=0)).endswith(
        "(asymptotic); 1,200 rows, 50 neurons>"
    )
    assert "(1 permutation)" in repr(hsic_test(X, X, n_neurons=5, n_permutations=1))

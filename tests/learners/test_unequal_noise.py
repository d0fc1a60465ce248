"""Noise that depends on the row, against regressions written out and against simulated noise."""

import numpy as np
import pytest
from sklearn.base import clone

import naive
import trickless
from cases import inputs
from trickless import KitchenSinksRegressor
from trickless.functions.activations import panels
from trickless.neurons import Gaussian
from trickless.solvers.least_squares.ridge import solve_by_cross_validation
from trickless.solvers.least_squares.statistics import Statistics

NEW = inputs(7, 2, seed=9)


def deviation(X):
    return 0.1 + 0.5 * np.maximum(X[:, 0], 0)


def data(n, seed=0, deviation=deviation):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    return X, np.sin(2 * X[:, 1]) + deviation(X) * rng.standard_normal(n)


def model_of(**options):
    options = {"random_state": 0, "noise": "heteroscedastic"} | options
    return KitchenSinksRegressor(Gaussian(1.0), 30, **options)


def features(model, X):
    ((_, Z),) = panels(model.stream_, model.n_neurons, np.asarray(X, float))
    return Z.copy()


@pytest.mark.parametrize("n", [40, 90])  # fewer rows than columns, and more
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_a_regression_of_log_squares(n, weighted):
    X, y = data(n)
    weight = np.random.default_rng(1).uniform(1, 3, n) if weighted else np.ones(n)
    model = model_of(dtype="float64", alpha=1e-3).fit(X, y, weight)
    Z, ridge, share = features(model, X), 30e-3, weight / weight.sum()

    def alone(values, ridge, i):
        """What the regression without row i predicts there."""
        rest = np.arange(n) != i
        grown = ridge * weight.sum() / weight[rest].sum()
        coef, intercept = naive.ridge(Z[rest], values[rest], weight[rest], grown)
        return (Z[i] @ coef + intercept).item()

    Y = y[:, None]
    rest, errors = (y - f for f in (model.predict(X), [alone(Y, ridge, i) for i in range(n)]))
    logs = np.log(rest * errors)[:, None]
    statistics = Statistics(60, logs.mean(axis=0))
    statistics.add(Z.copy(), logs, share)
    chosen = float(solve_by_cross_validation(statistics.moments()).ridge[0])
    coef, intercept = naive.ridge(Z, logs, weight, chosen)
    scale = share @ (rest * errors / np.exp([alone(logs, chosen, i) for i in range(n)]))
    fitted, new = (features(model, some) @ coef + intercept for some in (X, NEW))
    expected = scale * np.exp(np.clip(new, fitted.min(), fitted.max()))
    with model.sums_.certain(model._problem()) as process:
        got = process.noise_at(NEW)
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    _, std = model.predict(NEW, return_std=True)
    _, cov = model.predict(NEW, return_cov=True)
    np.testing.assert_allclose(np.diag(cov), std**2, rtol=1e-9)
    _, equal = clone(model).set_params(noise="constant").fit(X, y, weight).predict(NEW, True)
    function = equal**2 - model.noise_variance_
    np.testing.assert_allclose(std**2, got[:, 0] + function, rtol=1e-6)


def test_unequal_noise_is_found():
    """The log density of new targets is greater than with equal noise, and nearly that of truth."""
    gains, lost = [], []
    for seed in range(5):
        model = model_of().fit(*data(1500, seed))
        X, y = data(2000, seed + 100)

        def loss(mean, std, y=y):
            return 0.5 * ((y - mean) / std) ** 2 + np.log(std)

        unequal = loss(*model.predict(X, return_std=True))
        equal = loss(*model.set_params(noise="constant").predict(X, return_std=True))
        truth = loss(np.sin(2 * X[:, 1]), deviation(X))
        gains.append(np.mean(equal - unequal))
        lost.append(np.mean(unequal - truth))
    assert np.mean(gains) > 5 * np.std(gains, ddof=1) / np.sqrt(5)
    assert np.mean(gains) > 5 * np.mean(lost)


def test_equal_noise_stays_nearly_equal():
    model = model_of().fit(*data(1500, deviation=lambda X: 0.3))
    with model.sums_.certain(model._problem()) as process:
        variance = process.noise_at(data(500, 1)[0])
    # 1,500 squares of normal numbers have logarithms of variance 4.9.
    assert np.log(variance / 0.09).std() < 5 * np.sqrt(4.9 / 1500)
    assert abs(np.log(variance / 0.09).mean()) < 5 * np.sqrt(2 / 1500)


def test_streams_and_files_and_light_models_keep_it(tmp_path):
    X, y = data(400)
    model = model_of(alpha=1e-3).fit(X, y)
    expected = model.predict(NEW, return_std=True)[1]
    parts = model_of(alpha=1e-3).partial_fit(X[:150], y[:150])
    parts.merge(model_of(alpha=1e-3).fit(X[150:], y[150:]))
    np.testing.assert_allclose(parts.predict(NEW, return_std=True)[1], expected, rtol=1e-3)
    trickless.save(model, tmp_path / "model")
    for other in (model.compact(), trickless.load(tmp_path / "model")):
        np.testing.assert_allclose(other.predict(NEW, return_std=True)[1], expected, rtol=1e-9)
    light = model_of(noise="constant").fit(X, y).compact()
    with pytest.raises(ValueError, match=r"noise='heteroscedastic' is learned.*Remedy: set noise"):
        light.set_params(noise="heteroscedastic").predict(NEW, return_std=True)
    with pytest.raises(ValueError, match=r"noise='equal'.*Remedy"):
        model_of(noise="equal").fit(X, y)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_likelihood_takes_the_noise_of_each_row(fit_intercept):
    X, y = data(90)
    Y = np.column_stack([y, X[:, 0] + y**2])
    model = model_of(dtype="float64", fit_intercept=fit_intercept).fit(X, Y)
    theta = model.theta_ + np.array([0.1, -0.2, 0.3, 0.2, -0.1])
    value, gradient = model.log_marginal_likelihood(X, Y, theta, eval_gradient=True)
    family = Gaussian(float(np.exp(theta[0])))
    Z = features(model_of(dtype="float64", alpha=1.0).set_params(neurons=family).fit(X, y), X)
    (alpha, noise), expected, ones = np.exp(theta[1:]).reshape(2, 2), 0.0, np.ones(90)
    _, cov = model.predict(X, return_cov=True)
    function = KitchenSinksRegressor.predict(
        model.set_params(noise="constant"), X, return_cov=True
    )[1]
    for output in range(2):
        constant = np.diag(cov[..., output] - function[..., output]) + model.noise_variance_[output]
        prior = noise[output] / (90 * 30 * alpha[output])
        sigma = prior * Z @ Z.T + np.diag(constant * noise[output] / model.noise_variance_[output])
        inverse, rest = np.linalg.inv(sigma), Y[:, output]
        if fit_intercept:
            precision = ones @ inverse @ ones
            rest = rest - ones @ inverse @ rest / precision
            expected += 0.5 * np.log(2 * np.pi / precision)
        expected += -0.5 * (rest @ inverse @ rest + np.linalg.slogdet(2 * np.pi * sigma)[1])
    model.set_params(noise="heteroscedastic")
    assert value == pytest.approx(expected, rel=1e-8)
    for i, slope in enumerate(gradient):
        step = 1e-4 * (np.arange(5) == i)
        ends = [model.log_marginal_likelihood(X, Y, theta + k * step) for k in (-1, 1)]
        assert slope == pytest.approx((ends[1] - ends[0]) / 2e-4, rel=1e-4, abs=1e-4)
    with pytest.raises(ValueError, match=r"does not take sample_weight with noise='hetero"):
        model.log_marginal_likelihood(X, Y, sample_weight=ones)

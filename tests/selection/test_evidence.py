"""Length scales of greatest evidence, beside scikit-learn's Gaussian process."""

import warnings

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from trickless import KitchenSinksRegressor
from trickless.neurons import Gaussian
from trickless.selection.evidence import log_evidence, weights_of_greatest_evidence


def rows(seed, n=80, d=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sin((1 + seed % 3) * X[:, 0]) + X[:, 1] ** 2 + 0.2 * rng.standard_normal(n)
    return X / X.std(axis=0), y - y.mean()


def test_slopes_are_those_of_the_evidence():
    X, y = rows(0)
    Y, count = np.stack([y, X[:, 2]], axis=1), np.random.default_rng(1).uniform(0.5, 1.5, len(X))
    at = np.log([0.5, 1.0, 0.3, 0.1])

    def value(at):
        return log_evidence(X, Y, count, np.exp(at[:3]), np.exp(at[3]))[0]

    slopes = log_evidence(X, Y, count, np.exp(at[:3]), np.exp(at[3]))[1]
    np.testing.assert_allclose(slopes, approx_fprime(at, value, 1e-6), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("unit", [1e-170, 1e160])
def test_units_of_targets_do_not_matter(unit):
    X, y = rows(0)
    found, expected = (
        weights_of_greatest_evidence(X, u * y[:, None], None, np.full(3, 0.5)) for u in (unit, 1.0)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_the_greatest_evidence_is_that_of_a_gaussian_process(seed):
    """From one of three starts, without a prior of the length scales, as scikit-learn has none."""
    X, y = rows(seed)
    each = [
        weights_of_greatest_evidence(X, y[:, None], None, np.full(3, start), prior=np.inf)
        for start in (0.2, 0.5, 1.5)
    ]
    kernel = ConstantKernel(1.0, (1e-4, 1e5)) * RBF(2 * np.ones(3), (0.1, 1e3)) + WhiteKernel(0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of length scales at their bounds
        process = GaussianProcessRegressor(kernel, n_restarts_optimizer=2, random_state=0)
        process.fit(X, y)
        found = [
            GaussianProcessRegressor(
                ConstantKernel(1.0, (1e-4, 1e5)) * RBF(1 / one, "fixed") + WhiteKernel(0.1)
            ).fit(X, y)
            for one in each
        ]
    best = process.log_marginal_likelihood_value_
    assert max(one.log_marginal_likelihood_value_ for one in found) > best - 0.1


def test_columns_that_matter_are_found_in_six_hundred_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1600, 8))
    f = np.sin(2 * X[:, 0]) + X[:, 1]
    y = f + 0.1 * rng.standard_normal(1600)
    errors = {}
    for how in ("auto", "relevance"):
        model = KitchenSinksRegressor(Gaussian(how), random_state=0).fit(X[:600], y[:600])
        errors[how] = np.sqrt(np.mean((model.predict(X[600:]) - f[600:]) ** 2))
    assert errors["relevance"] < 0.06 < 0.3 < errors["auto"]
    assert set(np.argsort(model.neurons_.length_scale_)[:2]) == {0, 1}

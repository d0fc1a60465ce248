"""Length scales of greatest evidence, beside scikit-learn's Gaussian process."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import approx_fprime
from sklearn.gaussian_process import GaussianProcessRegressor, kernels
from threadpoolctl import threadpool_info, threadpool_limits

from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless._selection.evidence import log_evidence, most_likely
from trickless.neurons import Gaussian, Laplace, Matern, RationalQuadratic

#: Families, and scikit-learn's kernels of three length scales.
FAMILIES = {
    "Gaussian": (Gaussian("evidence"), kernels.RBF),
    "Matern": (Matern(2.5, "evidence"), lambda scales: kernels.Matern(scales, nu=2.5)),
}


def rows(seed, n=80, d=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sin((1 + seed % 3) * X[:, 0]) + X[:, 1] ** 2 + 0.2 * rng.standard_normal(n)
    return X / X.std(axis=0), y - y.mean()


@pytest.mark.parametrize(
    "family",
    [
        Gaussian(),
        Laplace(),
        *(Matern(nu) for nu in (0.3, 0.5, 1.0, 1.5, 2.2, 2.5)),
        RationalQuadratic(0.7),
    ],
    ids=repr,
)
def test_slopes_are_those_of_the_evidence(family):
    X, y = rows(0)
    Y, count = np.stack([y, X[:, 2]], axis=1), np.random.default_rng(1).uniform(0.5, 1.5, len(X))
    at = np.log([0.5, 1.0, 0.3, 0.1])

    def value(at):
        return log_evidence(family, X, Y, count, np.exp(at[:3]), np.exp(at[3]))[0]

    slopes = log_evidence(family, X, Y, count, np.exp(at[:3]), np.exp(at[3]))[1]
    np.testing.assert_allclose(slopes, approx_fprime(at, value, 1e-6), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("unit", [1e-170, 1e160])
def test_units_of_targets_do_not_matter(unit):
    X, y = rows(0)
    found, expected = (
        most_likely(Gaussian(), X, u * y[:, None], None, np.full(3, 0.5)).weights
        for u in (unit, 1.0)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def process(kernel, **params):
    full = kernels.ConstantKernel(1.0, (1e-4, 1e5)) * kernel + kernels.WhiteKernel(0.1)
    return GaussianProcessRegressor(full, random_state=0, **params)


@pytest.mark.parametrize(
    ("name", "seed"), [*(("Gaussian", seed) for seed in range(10)), ("Matern", 0), ("Matern", 1)]
)
def test_evidence_is_as_great_as_that_of_a_gaussian_process(name, seed):
    """With the length scales of the fitted model, and scikit-learn's best of three starts."""
    X, y = rows(seed)
    family, kernel = FAMILIES[name]
    model = KitchenSinksRegressor(family, 50, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of length scales at their bounds
        best = process(kernel(2 * np.ones(3)), n_restarts_optimizer=2).fit(X, y)
        fixed = kernel(model.neurons_.length_scale_)
        fixed.set_params(length_scale_bounds="fixed")
        ours = process(fixed).fit(X, y)
    greatest = best.log_marginal_likelihood_value_
    assert ours.log_marginal_likelihood_value_ > greatest - 0.1
    importances = model.feature_importances_
    assert importances.argmin() == 2


def test_columns_that_matter_are_found_by_default_in_six_hundred_rows():
    """As well as by a Gaussian process with a length scale each."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1600, 8))
    f = np.sin(2 * X[:, 0]) + X[:, 1]
    y = f + 0.1 * rng.standard_normal(1600)
    errors = {}
    for how in ("median", "auto", "evidence"):
        model = KitchenSinksRegressor(Gaussian(how), 400, random_state=0).fit(X[:600], y[:600])
        errors[how] = np.sqrt(np.mean((model.predict(X[600:]) - f[600:]) ** 2))
        if how != "median":
            assert errors[how] < 0.06
            assert set(np.argsort(model.neurons_.length_scale_)[:2]) == {0, 1}
    assert errors["median"] > 0.3


def test_numbers_get_a_length_scale_for_each_feature_and_classes_do_not():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3500, 8))
    f = np.sin(2 * X[:, 0]) + X[:, 1]
    y = f + 0.1 * rng.standard_normal(len(f))
    model = KitchenSinksRegressor(n_neurons=300, random_state=0).fit(X[:2500], y[:2500])
    assert np.sqrt(np.mean((model.predict(X[2500:]) - f[2500:]) ** 2)) < 0.05
    assert set(np.argsort(model.neurons_.length_scale_)[:2]) == {0, 1}
    classes = KitchenSinksClassifier(n_neurons=300, random_state=0).fit(X[:2500], y[:2500] > 0)
    assert np.ndim(classes.neurons_.length_scale_) == 0


def test_columns_of_noise_get_no_length_scale_of_their_own_by_default():
    """Two of sixty columns of noise would seem to matter, so all keep one length scale."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((150, 60)), rng.standard_normal(150)
    y += X.sum(axis=1) / 4
    model = KitchenSinksRegressor(Gaussian(), 200, random_state=0).fit(X, y)
    assert np.ndim(model.neurons_.length_scale_) == 0


@pytest.mark.parametrize(("rows", "threads"), [(300, 1), (700, 2)])
def test_small_factorisations_run_on_one_thread(rows, threads, monkeypatch):
    """Threads of BLAS wait for each other in each, ten times as long on a busy machine."""
    seen = set()

    def spied(*arguments):
        blas = [each for each in threadpool_info() if each["user_api"] == "blas"]
        seen.update(each["num_threads"] for each in blas)
        return log_evidence(*arguments)

    monkeypatch.setattr("trickless._selection.evidence.log_evidence", spied)
    monkeypatch.setattr("trickless._selection.evidence._ITERATIONS", 2)
    X = np.random.default_rng(0).standard_normal((rows, 2))
    with threadpool_limits(2):
        KitchenSinksRegressor(Gaussian("evidence"), 20, random_state=0, n_jobs=2).fit(X, X[:, 0])
    assert seen == {1, threads}


def test_evidence_needs_dense_rows():
    X = scipy.sparse.random_array((300, 200_000), density=1e-4, rng=0, format="csr")
    y = np.asarray(X[:, :50].sum(axis=1)).ravel()
    with pytest.raises(ValueError, match=r"'evidence' needs dense rows.*'relevance'"):
        KitchenSinksRegressor(Gaussian("evidence"), 20, random_state=0).fit(X, y)

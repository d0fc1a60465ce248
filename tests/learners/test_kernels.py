"""What learners with a kernel in closed form share."""

from inspect import signature

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone, is_regressor
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, rbf_kernel
from sklearn.model_selection import cross_val_score

import trickless.functions.exact_kernel
from cases import KERNEL_LEARNERS, answers, inputs, name_of, problem
from trickless import load, save
from trickless.learners.kernel_learner import KERNELS
from trickless.neurons import Gaussian

LEARNERS = [learner for learner in KERNEL_LEARNERS if "kernel" in learner.get_params()]
every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=name_of)


def broken(x, y):
    return np.nan if x[0] > 0 > y[0] else float(x @ y)


def test_kernel_names_are_those_of_scikit_learn():
    assert sorted(KERNELS) == sorted(PAIRWISE_KERNEL_FUNCTIONS)


@every_learner
def test_functions_that_are_no_kernels_are_refused(learner):
    X, y = problem(learner)
    model = clone(learner).set_params(kernel_params=None)
    with pytest.raises(ValueError, match=r"k\(x, x'\) = nan for two finite rows.*finite. Remedy"):
        model.set_params(kernel=broken).fit(X, y)
    with pytest.raises(ValueError, match=r"k\(x, x\) = -1 for row 0.*negative. Remedy"):
        model.set_params(kernel=lambda x, y: -1.0).fit(X, y)
    assert not hasattr(model, "seed_")


@every_learner
def test_parameters_that_a_kernel_does_not_have_are_refused(learner):
    X, y = problem(learner)
    model = clone(learner).set_params(kernel="rbf", kernel_params={"gama": 1.0})
    with pytest.raises(ValueError, match=r"kernel_params=.*no parameter 'gama'. Remedy: .* gamma"):
        model.fit(X, y)


@every_learner
def test_predictions_are_sums_over_the_support(learner):
    X, y = problem(learner)
    model = clone(learner).set_params(kernel="rbf", kernel_params={"gamma": 0.3}).fit(X, y)
    x = inputs(9, 4, seed=1)
    f = rbf_kernel(x, model.support_vectors_, gamma=0.3) @ model.dual_coef_
    f += getattr(model, "intercept_", 0)
    if is_regressor(model) and hasattr(model, "y_range_"):
        low, high = model.y_range_
        f = f * (high - low) / 2 + (high + low) / 2
    np.testing.assert_allclose(answers(model, x), f[:, 0] if is_regressor(model) else f, atol=1e-10)
    model.set_params(kernel="linear", kernel_params=None)  # the model stays what it was
    np.testing.assert_allclose(answers(model, x), f[:, 0] if is_regressor(model) else f, atol=1e-10)


@every_learner
def test_blocks_threads_and_cache_change_no_prediction(learner, monkeypatch):
    X, y = problem(learner)
    learner = clone(learner).set_params(random_state=0)
    if "tol" in learner.get_params():
        learner.set_params(tol=1e-3)
    expected = answers(learner.fit(X, y), X)
    cached = "cache_bytes" in learner.get_params()
    for rows, n_jobs, cache_bytes in ((256, 3, 0), (7, 1, 0), (1, 2, 50 * 8 * 120), (64, 2, 2**28)):
        monkeypatch.setattr(trickless.functions.exact_kernel, "BLOCK_ROWS", rows)
        model = clone(learner).set_params(n_jobs=n_jobs)
        if cached:
            model.set_params(cache_bytes=cache_bytes)
        np.testing.assert_allclose(answers(model.fit(X, y), X), expected, atol=1e-9)


@every_learner
@pytest.mark.parametrize("kernel", [rbf_kernel, np.outer, max])
def test_kernels_that_are_no_functions_of_two_rows_are_refused(learner, kernel):
    X, y = problem(learner)
    model = clone(learner).set_params(kernel_params=None, kernel=kernel)
    with pytest.raises(ValueError, match=r"must be a function of two rows.*Remedy"):
        model.fit(X, y)
    with pytest.raises(TypeError, match=r"kernel=Gaussian\(.*is a family of neurons.*Remedy"):
        model.set_params(kernel=Gaussian(1.0)).fit(X, y)


def of_shared(x, y):
    return float(np.exp(-((x - y) ** 2).sum()))


@every_learner
@pytest.mark.parametrize("dtype", [bool, int, np.float32])
def test_functions_get_sparse_rows_as_arrays(learner, dtype, monkeypatch):
    X, y = problem(learner, rows=30)
    X = (2 * X).astype(dtype)
    model = clone(learner).set_params(kernel=of_shared, kernel_params=None, random_state=0)
    expected = answers(clone(model).fit(X, y), X)
    monkeypatch.setattr(trickless.functions.exact_kernel, "BLOCK_BYTES", 7 * 4 * 8)
    rows = scipy.sparse.csr_matrix(X)
    np.testing.assert_allclose(answers(model.fit(rows, y), rows), expected, atol=1e-12)
    np.testing.assert_allclose(answers(model, X), expected, atol=1e-12)


@every_learner
def test_kernel_values_that_are_precomputed_give_the_same_model(learner, tmp_path):
    X, y = problem(learner)
    options = {"kernel": "rbf", "kernel_params": {"gamma": 0.3}, "random_state": 0}
    known = clone(learner).set_params(**options)
    given = clone(known).set_params(kernel="precomputed", kernel_params=None)
    x, weight = inputs(9, 4, seed=1), np.arange(len(y)) % 3
    K, k = (rbf_kernel(rows, X, gamma=0.3) for rows in (X, x))
    weights = (
        [{"sample_weight": weight}] if "sample_weight" in signature(known.fit).parameters else []
    )
    for extra in [{}, *weights]:
        expected = answers(known.fit(X, y, **extra), x)
        assert given.fit(K, y, **extra).n_features_in_ == len(X)
        np.testing.assert_allclose(answers(given, k), expected, atol=1e-9)
    save(given, tmp_path / "model")
    np.testing.assert_array_equal(answers(load(tmp_path / "model"), k), answers(given, k))
    scores = [cross_val_score(model, rows, y, cv=3) for model, rows in ((known, X), (given, K))]
    np.testing.assert_allclose(*scores, atol=1e-9)


@every_learner
def test_values_that_are_no_kernel_matrix_are_refused(learner):
    X, y = problem(learner, rows=30)
    K = rbf_kernel(X)
    model = clone(learner).set_params(kernel="precomputed", kernel_params=None)
    with pytest.raises(ValueError, match=r"shape \(30, 4\).*square. Remedy: X = k\(X_train"):
        model.fit(X, y)
    K[3, 5] += 1
    with pytest.raises(ValueError, match=r"X\[3, 5\] = .* differ. Remedy"):
        model.fit(K, y)
    model.fit(rbf_kernel(X), y)
    with pytest.raises(ValueError, match=r"4 features, but .* 30 features"):
        model.predict(X)
    with pytest.raises(ValueError, match="no parameter 'gamma'"):
        model.set_params(kernel_params={"gamma": 1.0}).fit(rbf_kernel(X), y)
    if hasattr(model, "partial_fit"):
        model.set_params(kernel_params=None)
        with pytest.raises(ValueError, match=r"needs all kernel values at once.*Remedy: fit"):
            model.partial_fit(rbf_kernel(X), y)

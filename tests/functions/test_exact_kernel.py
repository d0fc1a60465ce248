"""Kernels in closed form: blocks of their values."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from cases import inputs
from trickless._functions.exact_kernel import ExactKernel, rows_at_once
from trickless._learners.kernel_gradient import _OF_SPARSE, KERNELS


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
def test_values_sums_and_diagonals_are_those_of_scikit_learn(kind):
    X, Y, alpha = inputs(150, 3), inputs(40, 3, seed=1), inputs(40, 2, seed=2)
    kernel = ExactKernel("rbf", {"gamma": 0.5}, n_jobs=2)
    K = rbf_kernel(X, Y, gamma=0.5)
    np.testing.assert_allclose(kernel(kind(X), kind(Y)), K, atol=1e-15)
    np.testing.assert_allclose(kernel.matrix(kind(X), kind(Y)), K, atol=1e-15)
    np.testing.assert_allclose(kernel.sums(kind(X), kind(Y), alpha), K @ alpha, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(kind(X)), 1)
    assert kernel.matrix(X[:0], Y).shape == (0, 40)
    np.testing.assert_array_equal(kernel.sums(X, Y[:0], alpha[:0]), np.zeros((150, 2)))
    np.testing.assert_allclose(ExactKernel("laplacian")(X, Y), laplacian_kernel(X, Y), atol=1e-15)


@pytest.mark.parametrize("size", [1.0, 1e13, 1e30])
@pytest.mark.parametrize("metric", KERNELS)
def test_values_of_rows_in_single_precision_are_in_double_precision(metric, size):
    """So that they overflow in Python only where they do in exported models."""
    X, Y = (size * inputs(20, 3)).astype(np.float32), inputs(30, 3, seed=1).astype(np.float32)
    for kind in (np.asarray, *[scipy.sparse.csr_matrix] * (metric in _OF_SPARSE)):
        wide = [kind(rows.astype(np.float64)) for rows in (X, Y)]
        expected = ExactKernel(metric)(*wide)
        np.testing.assert_array_equal(ExactKernel(metric)(kind(X), kind(Y)), expected)
        assert expected.dtype == np.float64


def test_blocks_keep_to_their_bytes():
    assert rows_at_once(0) == rows_at_once(100) == 256
    assert rows_at_once(2**16) == 32
    assert rows_at_once(2**30) == 1


def test_values_that_no_kernel_has_are_refused():
    X = inputs(5, 2)
    with pytest.raises(ValueError, match=r"Us: the kernel gives k\(x, x'\) = inf.*Remedy"):
        ExactKernel("linear", owner="Us").matrix(1e200 * X, 1e200 * X)
    with pytest.raises(ValueError, match=r"Us: the kernel gives k\(x, x\) = -0.7\d* .*Remedy"):
        ExactKernel("sigmoid", {"coef0": -1.0, "gamma": 0.0}, owner="Us").diagonal(X)

"""The kernel methods that benchmarks compare with, against scikit-learn's solvers."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

from kernel_methods import NORMA, SDCA, Pegasos

N, ALPHA = 150, 0.01
KERNEL = {"kernel": "rbf", "kernel_params": {"gamma": 0.5}}
X = np.random.default_rng(0).standard_normal((N, 2))


def test_sdca_is_kernel_ridge_regression():
    y = np.stack([np.sin(X[:, 0]), X[:, 1]], axis=1)
    ours = SDCA(**KERNEL, alpha=ALPHA, max_iter=500, tol=1e-8).fit(X, y)
    ridge = KernelRidge(alpha=N * ALPHA, kernel="rbf", gamma=0.5).fit(X, y - y.mean(axis=0))
    np.testing.assert_allclose(ours.predict(X), ridge.predict(X) + y.mean(axis=0), atol=1e-3)


def test_the_others_reach_the_classes_of_a_support_vector_machine():
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    machine = SVC(C=1 / (N * ALPHA), gamma=0.5).fit(X, y).predict(X)
    for ours in (SDCA(**KERNEL, alpha=ALPHA), Pegasos(**KERNEL, alpha=ALPHA)):
        assert np.mean(ours.fit(X, y).predict(X) == machine) > 0.95


@pytest.mark.parametrize("average", [False, True])
def test_norma_learns_numbers_and_classes(average):
    f = np.sin(X[:, 0])
    norma = NORMA(**KERNEL, alpha=1e-4, average=average)
    assert np.mean((norma.fit(X, f).predict(X)[:, 0] - f) ** 2) < 0.5 * f.var()
    assert (
        np.mean(norma.fit(X, np.digitize(f, [-0.5, 0.5])).predict(X) == np.digitize(f, [-0.5, 0.5]))
        > 0.6
    )

"""Distances and their kernels, far from 0 and between rows that are nearly equal."""

import numpy as np
import pytest
import scipy.sparse

from trickless import KitchenSinksRegressor
from trickless._arrays.distances import squared_distances
from trickless.kernels import KernelGradientRegressor
from trickless.neurons import Gaussian, Landmarks, Matern, RationalQuadratic

#: The offset in rows whose coordinates are multiples of 2^-20, so that no digit is lost by it.
FAR = 2.0**27


def rows(n, columns, seed=0):
    return np.round(np.random.default_rng(seed).standard_normal((n, columns)) * 2**20) / 2**20


def written_out(X, Y):
    return ((X[:, None].astype(np.longdouble) - Y) ** 2).sum(axis=2).astype(np.float64)


@pytest.mark.parametrize("columns", [1, 3, 40])
@pytest.mark.parametrize("offset", [0.0, FAR])
def test_every_distance_has_all_digits(columns, offset):
    X, Y = rows(30, columns), rows(50, columns, 1)
    Y[:20] = X[:20] + 2.0**-20 * rows(20, columns, 2).round()  # near duplicates
    Y[20:25] = X[20:25]
    found = squared_distances(X + offset, Y + offset)
    np.testing.assert_allclose(found, written_out(X, Y), rtol=1e-9)
    assert (found[np.arange(20, 25), np.arange(20, 25)] == 0).all()


@pytest.mark.parametrize("columns", [3, 40])
def test_sparse_rows_have_the_distances_of_dense_rows(columns):
    X, Y = rows(30, columns) * (rows(30, columns, 3) > 0), rows(20, columns, 1)
    Y[:9] = X[:9] * (1 + 2.0**-30)
    found = squared_distances(scipy.sparse.csr_matrix(X), scipy.sparse.csr_matrix(Y))
    np.testing.assert_allclose(found, written_out(X, Y), rtol=1e-9)


def test_many_close_rows_are_subtracted():
    X = 1 + 1e-7 * rows(40, 30)
    np.testing.assert_allclose(
        squared_distances(X, X[::-1]), written_out(X, X[::-1]), rtol=1e-9, atol=0
    )
    assert squared_distances(X, X[:0]).shape == (40, 0)


@pytest.mark.parametrize(
    "family", [Gaussian(1.0), Matern(0.5, 1.0), Matern(1.5, 1.0), RationalQuadratic(1.0, 1.0)]
)
@pytest.mark.parametrize("columns", [1, 40])
def test_kernels_do_not_depend_on_where_the_rows_are(family, columns):
    X = rows(20, columns) / np.sqrt(columns)
    X = np.round(X * 2**20) / 2**20
    near, far = (family.fit(X + at, np.random.default_rng(0)).kernel(X + at) for at in (0, FAR))
    np.testing.assert_allclose(far, near, rtol=1e-9)
    assert near.min() < 0.9


def test_the_kernel_of_two_rows_a_hundred_million_from_0_is_exact():
    X = np.array([[1e8], [1e8 + 1]])
    kernel = Gaussian(1.0).fit(X, np.random.default_rng(0)).kernel(X)
    assert kernel[0, 1] == pytest.approx(np.exp(-0.5))


@pytest.mark.parametrize(
    "model",
    [
        KernelGradientRegressor(random_state=0),
        KitchenSinksRegressor(Landmarks(Gaussian(2.0)), 100, random_state=0, dtype="float64"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_learners_learn_the_same_far_from_0(model):
    X = rows(500, 4)
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    near, far = (model.fit(X[:300] + at, y[:300]).predict(X[300:] + at) for at in (0, FAR))
    np.testing.assert_allclose(far, near, atol=1e-6)
    assert 1 - ((far - y[300:]) ** 2).mean() / y[300:].var() > 0.7

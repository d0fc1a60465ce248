"""The sample of rows: what it holds, and that it does not depend on how the rows come."""

import numpy as np
import pytest
import scipy.sparse

import trickless._solvers.least_squares.row_sample
from trickless._solvers.least_squares.row_sample import RowSample


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(trickless._solvers.least_squares.row_sample, "ROWS", 40)


def problem(n=500, dtype="float32"):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3)).astype(dtype) * (rng.random((n, 3)) > 0.3)
    return X, rng.standard_normal((n, 2)), rng.integers(1, 9, n).astype(float)


def assert_same(a, b):
    for name, one in vars(a).items():
        other = getattr(b, name)
        if scipy.sparse.issparse(one) or scipy.sparse.issparse(other):
            one, other = (m.toarray() if scipy.sparse.issparse(m) else m for m in (one, other))
        np.testing.assert_array_equal(one, other, err_msg=name)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_sample_depends_neither_on_order_nor_on_parts(sparse, dtype):
    X, y, w = problem(dtype=dtype)
    rows = scipy.sparse.csr_matrix(X) if sparse else X
    whole = RowSample.of(X, y, w, seed=1)
    assert len(whole.keys) == 40
    order = np.random.default_rng(1).permutation(len(X))
    parts = [RowSample.of(rows[p], y[p], w[p], 1) for p in np.array_split(order, 7)]
    assert_same(sum(parts[1:], parts[0]), whole)
    assert_same(parts[0] + (parts[1] + parts[2]), (parts[2] + parts[0]) + parts[1])
    other = RowSample.of(X, y, w, seed=2)
    assert len(np.intersect1d(whole.targets, other.targets)) < 40


def test_equal_rows_are_one_row_with_a_count():
    X, y, w = problem(30)
    copies = np.arange(30) % 5 + 1
    repeat = np.random.default_rng(2).permutation(np.repeat(np.arange(30), copies))
    sample = RowSample.of(X[repeat], y[repeat], w[repeat], seed=0)
    assert len(sample.keys) == 30
    for row, targets, n, total in zip(
        sample.X, sample.targets, sample.copies, sample.weight, strict=True
    ):
        (i,) = np.flatnonzero((y == targets).all(axis=1))
        np.testing.assert_array_equal(row, X[i])
        assert (n, total) == (copies[i], copies[i] * w[i])


def test_every_row_is_as_likely():
    """Of 200 rows that differ in one bit or in their targets, 40 are taken by each of 400 seeds."""
    X = np.ones((200, 3), dtype=np.float32)
    X[:100, 1] = np.nextafter(np.float32(1), np.float32(2)) + np.arange(100) * np.float32(2**-23)
    y = np.zeros((200, 1))
    y[100:, 0] = np.arange(100)
    taken = np.zeros(200)
    for seed in range(400):
        sample = RowSample.of(X, y, None, seed)
        for row, target in zip(sample.X, sample.targets, strict=True):
            taken[np.flatnonzero((row == X).all(axis=1) & (y == target).all(axis=1))] += 1
    expected = 400 * 40 / 200
    z = (taken - expected) / np.sqrt(expected * 0.8)
    assert np.abs(z).max() < 5
    assert abs((z**2).mean() - 1) < 5 * np.sqrt(2 / 200)


def test_wide_rows_are_fewer(monkeypatch):
    monkeypatch.setattr(trickless._solvers.least_squares.row_sample, "_NUMBERS", 60)
    monkeypatch.setattr(trickless._solvers.least_squares.row_sample, "_LEAST", 7)
    X, y, w = problem()
    assert len(RowSample.of(X, y, w, 0).keys) == 20
    assert len(RowSample.of(np.tile(X, 20), y, w, 0).keys) == 7
    assert len(RowSample.of(scipy.sparse.csr_matrix(X), y, w, 0).keys) == 40

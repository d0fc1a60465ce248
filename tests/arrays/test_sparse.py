"""Sparse rows are checked before compiled code trusts them."""

import numpy as np
import pytest
import scipy.sparse

from trickless._arrays.growing import GrowingSparse
from trickless._arrays.sparse import canonical, check_csr, checked_csr, parts_of
from trickless.kernels import KernelGradientRegressor

DATA = np.array([1.0, 2.0, 3.0])
COLUMNS = np.array([0, 2, 1], dtype=np.int32)
ENDS = np.array([0, 2, 2, 3], dtype=np.int32)


def test_valid_parts_of_sparse_rows_are_accepted():
    check_csr(DATA, COLUMNS, ENDS, (3, 3))
    check_csr(DATA[:0], COLUMNS[:0], ENDS[:1], [0, 0])
    matrix = checked_csr(scipy.sparse.csr_array, DATA, COLUMNS.astype("i8"), ENDS, [3, 3])
    assert matrix.toarray().tolist() == [[1, 0, 2], [0, 0, 0], [0, 3, 0]]


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("parts", "cause"),
    [
        ({"ends": changed(ENDS, -1, -1)}, "do not go up"),
        ({"ends": changed(ENDS, -1, 2)}, "do not go up"),
        ({"ends": changed(ENDS, -1, 4)}, "do not go up"),
        ({"ends": changed(ENDS, 0, 1)}, "do not go up"),
        ({"ends": changed(ENDS, 1, 3)}, "do not go up"),
        ({"ends": changed(ENDS, slice(None), 0)}, "do not go up"),
        ({"ends": ENDS[:-1]}, "3 ends, not 4"),
        ({"ends": ENDS[:0]}, "0 ends, not 4"),
        ({"ends": ENDS.astype(float)}, "float64, not int32"),
        ({"ends": ENDS.astype(np.uint64)}, "uint64, not int32"),
        ({"ends": ENDS[None]}, "not a 1d array"),
        ({"columns": changed(COLUMNS, 0, 3)}, "not in the range"),
        ({"columns": changed(COLUMNS, 0, -1)}, "not in the range"),
        ({"columns": COLUMNS.astype(np.int8)}, "int8, not int32"),
        ({"columns": COLUMNS[:2]}, "2 columns for 3"),
        ({"columns": COLUMNS.tolist()}, "not a 1d array"),
        ({"data": DATA[:2]}, "do not go up"),
        ({"data": DATA.astype("U3")}, "not numbers"),
        ({"data": DATA.astype(object)}, "not numbers"),
        ({"shape": (3, 2)}, "not in the range"),
        ({"shape": (2, 3)}, "4 ends, not 3"),
        ({"shape": (3,)}, "two numbers"),
        ({"shape": (3, 2**63)}, "two numbers"),
        ({"shape": (3, True)}, "two numbers"),
    ],
)
def test_invalid_parts_of_sparse_rows_are_refused(parts, cause):
    right = {"data": DATA, "columns": COLUMNS, "ends": ENDS, "shape": (3, 3)}
    with pytest.raises(ValueError, match=cause):
        check_csr(**right | parts)


def test_parts_of_sparse_rows_leave_out_spare_room():
    matrix = scipy.sparse.csr_matrix((DATA, COLUMNS, ENDS), shape=(3, 3))
    matrix.indptr = matrix.indptr[:2].copy()
    assert [len(part) for part in parts_of(matrix)] == [2, 2, 2]


@pytest.mark.parametrize("method", ["fit", "predict"])
@pytest.mark.parametrize("name", ["indices", "indptr"])
@pytest.mark.parametrize(
    "kind", [scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.bsr_matrix]
)
def test_damaged_rows_of_the_user_are_refused(kind, name, method):
    damaged = kind(np.eye(3))
    setattr(damaged, name, changed(getattr(damaged, name), -1, 10**9))
    cause = "not in the range" if name == "indices" else "do not go up"
    assert_refused(method, damaged, rf"X is a damaged .*{cause}.*Remedy")


@pytest.mark.parametrize("method", ["fit", "predict"])
@pytest.mark.parametrize(("place", "cause"), [(10**9, "exceeds"), (-1, "negative")])
def test_damaged_coordinates_are_refused(place, cause, method):
    damaged = scipy.sparse.coo_matrix(np.eye(3))
    damaged.row[1] = place
    assert_refused(method, damaged, rf"X is a damaged coo_matrix.*{cause}.*Remedy")


def assert_refused(method, damaged, message):
    X, y = np.eye(3), np.arange(3.0)
    model = KernelGradientRegressor().fit(X, y)
    arguments = (damaged,) if method == "predict" else (damaged, y)
    with pytest.raises(ValueError, match=message):
        getattr(model, method)(*arguments)


def test_rows_are_copied_only_if_they_are_not_canonical():
    X = np.array([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]])
    rows = scipy.sparse.csr_matrix(X)
    assert np.shares_memory(canonical(rows).data, rows.data)
    assert canonical(X) is X
    twice = scipy.sparse.csr_array((X[[0, 0], [1, 1]] / 2, [1, 1], [0, 2]), shape=(1, 3))
    for dtype in (np.float16, np.float32, np.float64, int):
        rows = twice.copy()
        rows.data = rows.data.astype(dtype)
        got = canonical(rows)
        assert isinstance(got, scipy.sparse.csr_array)
        assert (got.toarray() == X[0] * [0, 1, 0]).all()
        assert got.nnz == 1
    assert twice.nnz == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s | {"_data": None},
        lambda s: s | {"_n_columns": 1},
        lambda s: s | {"_n_columns": "3"},
        lambda s: {k: v for k, v in s.items() if k != "_ends"},
        lambda s: s | {"_indices": narrow(s["_indices"])},
        lambda s: s | {"_ends": narrow(s["_ends"])},
        lambda s: s | {"_indices": s["_ends"]},
        lambda s: s | {"_indices": like(s["_indices"], np.array([2, 0, 1]), 3)},
        lambda s: s | {"_data": like(s["_data"], None, 3)},
        lambda s: s | {"_data": like(s["_data"], DATA, 2)},
        lambda s: s | {"_data": like(s["_data"], [1, 2, 3], 3)},
        lambda s: s | {"_data": like(s["_data"], DATA, -3)},
        lambda s: s | {"_data": like(s["_data"], DATA, True)},
    ],
)
def test_a_buffer_of_sparse_rows_checks_its_state(change):
    rows = GrowingSparse()
    rows.append(scipy.sparse.csr_matrix((DATA, COLUMNS, ENDS), shape=(3, 3)))
    again = GrowingSparse.__new__(GrowingSparse)
    again.__setstate__(dict(vars(rows)))
    assert (again.rows != rows.rows).nnz == 0
    with pytest.raises((ValueError, AttributeError, TypeError)):
        GrowingSparse.__new__(GrowingSparse).__setstate__(change(dict(vars(rows))))


def like(buffer, values, length):
    other = type(buffer)()
    other.__setstate__({"_buffer": values, "_length": length})
    return other


def narrow(buffer):
    """A buffer that would wrap the numbers that are appended to it."""
    return like(buffer, buffer.rows.astype(np.int8), len(buffer))

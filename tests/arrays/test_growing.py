"""Buffers that rows are appended to."""

import pickle
from copy import copy, deepcopy

import array_api_strict as xp
import numpy as np
import pytest
import scipy.sparse

from cases import inputs
from trickless._arrays.growing import Growing, growing_like
from trickless._arrays.growing_there import growing_at
from trickless._arrays.places import HOST, place_of, to_host


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_come_back_as_they_were_appended(sparse):
    X = inputs(100, 4) * (inputs(100, 4, seed=1) > 0)
    rows = scipy.sparse.csr_matrix(X) if sparse else X
    buffer = growing_like(rows)
    assert len(buffer) == 0
    for part in np.split(np.arange(100), [1, 2, 5, 40, 40, 99]):
        buffer.append(rows[part])
        got = buffer.rows.toarray() if sparse else buffer.rows
        np.testing.assert_array_equal(got, X[: len(buffer)])
    assert len(buffer) == 100
    again = pickle.loads(pickle.dumps(buffer))
    again.append(rows[:3])
    got = again.rows.toarray() if sparse else again.rows
    np.testing.assert_array_equal(got, np.vstack([X, X[:3]]))


def test_appending_copies_a_bounded_number_of_times():
    buffer = Growing()
    bases = set()
    for _ in range(1000):
        buffer.append(np.ones((1, 2)))
        bases.add(id(buffer._buffer))
    assert len(bases) < 15


def test_a_pickle_has_no_spare_room():
    buffer = Growing()
    buffer.append(np.ones((600, 10)))
    buffer.append(np.ones((1, 10)))
    assert len(pickle.dumps(buffer)) < 601 * 80 + 500


def test_an_empty_buffer_has_no_rows_to_give():
    with pytest.raises(ValueError, match="nothing has been appended"):
        _ = Growing().rows


@pytest.mark.parametrize("sparse", [False, True])
def test_a_buffer_has_a_copy_of_its_own(sparse):
    X = inputs(5, 2)
    rows = scipy.sparse.csr_matrix(X) if sparse else X.copy()
    buffer = growing_like(rows)
    buffer.append(rows)
    (rows.data if sparse else rows)[:] = 7
    got = buffer.rows.toarray() if sparse else buffer.rows
    np.testing.assert_array_equal(got, X)


def test_column_numbers_that_are_wrong_are_refused_with_the_state():
    buffer = growing_like(scipy.sparse.eye(3, format="csr"))
    buffer.append(scipy.sparse.eye(3, format="csr"))
    state = pickle.loads(pickle.dumps(buffer)).__dict__
    state["_indices"].rows[1] = 3
    with pytest.raises(ValueError, match="a column of sparse rows is not in the range"):
        type(buffer).__new__(type(buffer)).__setstate__(state)
    buffer.append(scipy.sparse.csr_matrix((1, 2)))  # narrower rows leave the others in bounds
    assert buffer.rows.shape == (4, 3)


def test_a_buffer_on_a_device_grows_as_one_on_the_host():
    rng, place = np.random.default_rng(0), place_of(xp.asarray(0.0, device=xp.Device("device1")))
    first, more = rng.standard_normal((3, 2, 2)), rng.standard_normal((5, 2, 2))
    here = Growing.of(first)
    there = growing_at(here, place)
    assert growing_at(there, place) is there
    assert growing_at(here, HOST) is here
    before = there.copy()
    for buffer, rows in ((here, more), (there, place.put(more))):
        buffer.append(rows[:1, ...])
        buffer.append(rows[1:, ...])
        buffer.scale(np.array([0.5, 2.0]))
    expected = here.rows.copy()
    np.testing.assert_array_equal(expected, np.concatenate([first, more]) * [0.5, 2.0])
    for buffer in (there, there.copy(), there.fork(), copy(there), deepcopy(there)):
        assert len(buffer) == 8
        np.testing.assert_array_equal(buffer.rows, expected)
    restored = pickle.loads(pickle.dumps(there))
    assert type(restored) is type(growing_at(there, HOST)) is Growing
    np.testing.assert_array_equal(restored.rows, expected)
    np.testing.assert_array_equal(to_host(there.at(place, 6)), expected[6:])
    np.testing.assert_array_equal(there.at(HOST), expected)
    np.testing.assert_array_equal(there.mapped(np.negative).rows, -expected)
    there.keep(np.array([1, 4]))
    np.testing.assert_array_equal(to_host(there.at(place)), expected[[1, 4]])
    np.testing.assert_array_equal(before.rows, first)

"""Leaves of trees, against loops over rows in plain Python."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import trickless
from trickless._arrays import loops


def threshold(at, missing_right):
    """The table that sends bins above a threshold to the right, and missing values to a side."""
    table = (np.arange(256) > at).astype(np.uint8)
    table[0] = missing_right
    return table


def tables(rng, depth):
    """Tables of thresholds, of sets, of one bin, of all and of none, with missing values anywhere.

    A random one of them for each level.
    """
    kinds = [
        *(threshold(at, side) for at in (1, 2, 100, 253, 254) for side in (0, 1)),
        *(threshold(at, side) for at in (0, 255) for side in (0, 1)),
        *rng.integers(0, 2, (6, 256), dtype=np.uint8),
        *(np.arange(256) == np.array([[3], [0], [255]])).astype(np.uint8),
        *(np.arange(256) < np.array([[7], [255]])).astype(np.uint8),
    ]
    return np.array(kinds)[rng.integers(len(kinds), size=depth)]


def rows_of(rng, n_features, n_rows):
    """Bins, some of which are all missing, all present, or all the same."""
    bins = rng.integers(0, 256, (n_features, n_rows), dtype=np.uint8)
    bins[0] = rng.integers(0, 4, n_rows)
    bins[1] = rng.choice([0, 5], n_rows)
    bins[2] = 0
    return bins


@pytest.mark.parametrize("seed", range(12))
def test_a_leaf_has_a_bit_for_each_cut_that_sends_the_row_to_the_right(seed):
    rng = np.random.default_rng(seed)
    depth, n_rows = int(rng.integers(1, 17)), int(rng.choice([0, 1, 2, 300]))
    bins, sets = rows_of(rng, 6, n_rows), tables(rng, depth)
    columns = rng.integers(0, 6, depth)
    expected = [
        sum(int(sets[i][bins[j][row]]) << i for i, j in enumerate(columns)) for row in range(n_rows)
    ]
    packed = np.packbits(sets, axis=1)
    (found,) = loops.leaves(bins, columns[None], packed[None])
    assert found.dtype == np.intp
    np.testing.assert_array_equal(found, np.array(expected, dtype=int))
    part = bins[:, 10:200]  # whose rows are not contiguous, as those of a block are not
    (of_part,) = loops.leaves(part, columns[None], packed[None])
    np.testing.assert_array_equal(of_part, found[10:200])


@pytest.mark.parametrize("depth", [0, 3, 9])
def test_sums_over_few_rows_have_the_bits_of_those_over_many(depth):
    """Few rows take another way, which reads the bits of the sets one by one."""
    rng = np.random.default_rng(depth)
    bins, columns = rng.integers(0, 256, (4, 500), np.uint8), rng.integers(0, 4, (60, depth))
    sets = rng.integers(0, 256, (60, depth, 32), np.uint8)
    sets[::3, :1] = 0  # a cut that sends all rows to the left
    for n_outputs, dtype in ((1, "f4"), (3, "f8")):
        coef = rng.standard_normal((60, 2**depth, n_outputs)).astype(dtype)
        many = loops.combine(bins, columns, sets, coef)
        leaves = np.array(list(loops.leaves(bins, columns, sets)))
        expected = np.zeros((500, n_outputs))
        for leaf, values in zip(leaves, coef, strict=True):
            expected += values[leaf]
        np.testing.assert_array_equal(many, expected)
        for n in (0, 1, 7, 64, 65):
            few = loops.combine(bins[:, :n], columns, sets, coef)
            np.testing.assert_array_equal(few, expected[:n])
        values = rng.standard_normal((4, 256)) * [[1], [0], [1], [1]]  # column 1 has no values
        linear = rng.standard_normal((60, 3, 2**depth, n_outputs)).astype(dtype)
        expected = np.zeros((500, n_outputs))
        for leaf, each, of_tree, cut in zip(leaves, linear, columns, sets, strict=True):
            known = [j for j, bits in zip(of_tree[:4], cut[:4], strict=True) if bits.any()]
            inputs = [j for j in dict.fromkeys(known) if values[j].any()][:2]
            expected += each[0][leaf]
            for slope, j in zip(each[1:], inputs, strict=False):
                expected += slope[leaf] * values[j][bins[j]][:, None]
        for n in (0, 1, 64, 65, 500):
            some = loops.combine(bins[:, :n], columns, sets, linear, values)
            np.testing.assert_allclose(some, expected[:n], atol=1e-12)
            all_rows = loops.combine(bins, columns, sets, linear, values)
            np.testing.assert_array_equal(some, all_rows[:n])
    none = loops.combine(bins[:, :2], columns[:0], sets[:0], coef[:0])
    np.testing.assert_array_equal(none, np.zeros((2, n_outputs)))


def arguments():
    """Right arguments of each of the loops, by name."""
    rng = np.random.default_rng(0)
    bins, width = rng.integers(0, 256, (4, 300), np.uint8), 8
    columns = rng.integers(0, len(bins), (2, 3))
    sets = rng.integers(0, 256, (2, 3, 32), dtype=np.uint8)
    coef = rng.standard_normal((2, width, 2))
    return {
        "leaves": [bins, columns, sets],
        "combine": [bins, columns, sets, coef],
        "linear": [bins, columns, sets, rng.random((2, 3, width, 2)), rng.random((4, 256))],
    }


def spoiled(argument, most):
    """Arrays of another type, shape, number of dimensions or range, in place of an argument."""
    yield None
    yield argument.tolist()
    yield argument.astype(complex)
    yield argument.astype(object)
    yield argument.astype(argument.dtype.newbyteorder(">" if argument.itemsize > 1 else "="))[None]
    yield argument[:, None]
    yield argument.reshape(-1)[0]
    yield np.concatenate([argument, argument, argument])
    if argument.ndim > 1:
        yield argument[..., :1]
    if argument.dtype.kind in "iu" and most is not None:
        for value in (most, np.iinfo(argument.dtype).max, np.iinfo(argument.dtype).min):
            if value == most or not 0 <= value < most:
                wrong = argument.copy()
                wrong.reshape(-1)[-1] = value
                yield wrong


#: What values of an argument must be below; None if any value is right.
BELOW = {
    "leaves": [None, "features", None],
    "combine": [None, "features", None, None],
    "linear": [None, "features", None, None, None],
}


@pytest.mark.parametrize("name", list(BELOW))
def test_arguments_of_another_type_shape_or_range_raise_an_error(name):
    """Compiled loops would read and write outside of the arrays. No argument may be harmful."""
    right = arguments()[name]
    call = loops.leaves if name == "leaves" else loops.combine
    _ = list(call(*right)) if name == "leaves" else call(*right)
    n_tried = 0
    for i, below in enumerate(BELOW[name]):
        most = len(right[0]) if below == "features" else below
        for wrong in spoiled(right[i], most):
            args = [*right[:i], wrong, *right[i + 1 :]]
            try:
                _ = list(call(*args)) if name == "leaves" else call(*args)
            except (ValueError, TypeError):
                n_tried += 1
                continue
            assert wrong.dtype == right[i].dtype  # as right as the others, such as fewer rows
            assert wrong.ndim == right[i].ndim
            assert most is None or 0 <= wrong.min() <= wrong.max() < most
    assert n_tried > 10


def test_numbers_of_leaves_and_levels_have_limits():
    args = arguments()
    bins = args["leaves"][0]
    columns, sets = np.zeros((1, 17), int), np.zeros((1, 17, 32), np.uint8)
    with pytest.raises(ValueError, match="levels of a tree: 17 is not from 0 to 16"):
        list(loops.leaves(bins, columns, sets))
    with pytest.raises(ValueError, match="trees of depth 3 have coefficients for 7 leaves"):
        loops.combine(*args["combine"][:3], args["combine"][3][:, :7])


def test_only_checked_loops_reach_the_loops():
    root = Path(trickless.__file__).parent
    pattern = r"arrays import (leaves|branches|responses)\b|arrays\.(leaves|branches|responses)\b"
    users = [path.name for path in root.rglob("*.py") if re.search(pattern, path.read_text())]
    assert sorted(users) == ["branch_loops.py", "loops.py", "series_loops.py"]


def test_numba_is_loaded_with_the_first_tree():
    code = "import sys, trickless as t; t.KitchenSinksRegressor(); print('numba' in sys.modules)"
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
    assert ran.stdout.split() == [b"False"]


@pytest.mark.parametrize("depth", [1, 5])
def test_pairs_of_rows_and_trees_have_the_leaves_of_all(depth):
    rng = np.random.default_rng(0)
    bins, columns = rng.integers(0, 256, (4, 30), np.uint8), rng.integers(0, 4, (30, depth))
    sets = rng.integers(0, 256, (30, depth, 32), np.uint8)
    found = loops.leaves_of_pairs(bins, columns, sets)
    np.testing.assert_array_equal(found, np.diag(list(loops.leaves(bins, columns, sets))))

"""Leaves and cuts of binary trees, against plain Python."""

import numpy as np
import pytest

from trickless._arrays import branch_loops


def tree(rng, n_nodes, n_features):
    """Return the columns, children and sets of a random tree."""
    children = np.zeros((n_nodes, 2), dtype=np.int32)
    places = [(0, 0)]  # a node, and a side of it, without a child; the root has no parent
    for node in range(n_nodes):
        where = places.pop(int(rng.integers(len(places))))
        if node:
            children[where] = node
        places += [(node, 0), (node, 1)]
    for leaf, where in enumerate(places):
        children[where] = -leaf
    columns = rng.integers(0, n_features, n_nodes).astype(np.int32)
    return columns, children, rng.integers(0, 256, (n_nodes, 32), dtype=np.uint8)


@pytest.mark.parametrize("seed", range(8))
def test_a_row_goes_from_node_to_node_to_its_leaf(seed):
    rng = np.random.default_rng(seed)
    n_nodes, n_rows = int(rng.integers(1, 40)), int(rng.choice([0, 1, 300]))
    columns, children, sets = tree(rng, n_nodes, 5)
    bins = rng.integers(0, 256, (5, n_rows), dtype=np.uint8)
    expected = []
    for row in range(n_rows):
        node, at_leaf = 0, False
        while not at_leaf:
            bits = np.unpackbits(sets[node])
            node = int(children[node, bits[bins[columns[node], row]]])
            at_leaf = node <= 0
        expected.append(-node)
    of_tree = columns[None], children[None], sets[None]
    (found,) = branch_loops.leaves(bins, *of_tree)
    assert found.dtype == np.intp
    np.testing.assert_array_equal(found, np.array(expected, dtype=int))
    (of_part,) = branch_loops.leaves(bins[:, 10:200], *of_tree)
    np.testing.assert_array_equal(of_part, found[10:200])


def test_sums_over_few_rows_have_the_bits_of_those_over_many_of_branches():
    rng = np.random.default_rng(0)
    trees = [np.stack(some) for some in zip(*(tree(rng, 20, 5) for _ in range(9)), strict=True)]
    bins = rng.integers(0, 256, (5, 200), dtype=np.uint8)
    for n_outputs, dtype in ((1, "f4"), (3, "f8")):
        coef = rng.standard_normal((9, 21, n_outputs)).astype(dtype)
        many, parts = (
            branch_loops.combine(bins, *trees, coef),
            (slice(0, 1), slice(1, 65), slice(0)),
        )
        for some in parts:
            few = branch_loops.combine(bins[:, some], *trees, coef)
            np.testing.assert_array_equal(few, many[some])


def arguments(name):
    """Right arguments of one of the loops."""
    rng = np.random.default_rng(0)
    bins = rng.integers(0, 256, (4, 300), dtype=np.uint8)
    trees = [np.stack(some) for some in zip(*(tree(rng, 7, 4) for _ in range(2)), strict=True)]
    return {
        "leaves": [bins, *trees],
        "combine": [bins, *trees, rng.standard_normal((2, 8, 2))],
    }[name]


def spoiled(argument):
    """Arrays of another type, shape, number of dimensions or range, in place of an argument."""
    yield None
    yield argument.tolist()
    yield argument.astype(complex)
    yield argument.astype(object)
    yield argument[None]
    yield argument.reshape(-1)[0]
    if argument.ndim > 1:
        yield argument[..., :1]
    yield np.concatenate([argument, argument])


@pytest.mark.parametrize("name", ["leaves", "combine"])
def test_arguments_of_another_type_or_shape_raise_an_error(name):
    call = getattr(branch_loops, name)
    _ = list(call(*arguments(name)))
    n_tried = 0
    for i, right in enumerate(arguments(name)):
        if not isinstance(right, np.ndarray):
            continue
        for wrong in spoiled(right):
            args = arguments(name)
            args[i] = wrong
            try:
                _ = list(call(*args))
            except (ValueError, TypeError):
                n_tried += 1
                continue
            assert wrong.dtype == right.dtype  # as right as the others, such as more rows
            assert wrong.ndim == right.ndim
    assert n_tried > 15


WRONG_VALUES = [
    ("leaves", 1, 4, "columns of cuts: 4 is not below 4"),
    ("leaves", 1, -1, "columns of cuts: -1 is below 0"),
    ("leaves", 2, 7, "children of nodes: 7 is not below 7"),
    ("leaves", 2, -8, "children of nodes: -8 is below -7"),
    ("leaves", 2, 1, "a node is not before its children"),
    ("combine", 2, 6, "a node is not before its children"),
]


@pytest.mark.parametrize(("name", "i", "value", "message"), WRONG_VALUES)
def test_values_out_of_range_raise_an_error(name, i, value, message):
    args = arguments(name)
    args[i] = args[i].copy()
    args[i].reshape(-1)[-1] = value
    with pytest.raises(ValueError, match=message):
        _ = list(getattr(branch_loops, name)(*args))


def test_trees_need_nodes_and_a_coefficient_for_each_leaf():
    bins, columns, children, sets, coef = arguments("combine")
    with pytest.raises(ValueError, match="trees of 7 nodes have coefficients for 7 leaves"):
        branch_loops.combine(bins, columns, children, sets, coef[:, :7])
    with pytest.raises(ValueError, match="binary trees have no nodes"):
        branch_loops.leaves(bins, columns[:, :0], children[:, :0], sets[:, :0])


def test_pairs_of_rows_and_trees_have_the_leaves_of_all_of_branches():
    rng = np.random.default_rng(0)
    trees = [np.stack(some) for some in zip(*(tree(rng, 20, 5) for _ in range(30)), strict=True)]
    bins = rng.integers(0, 256, (5, 30), dtype=np.uint8)
    found = branch_loops.leaves_of_pairs(bins, *trees)
    np.testing.assert_array_equal(found, np.diag(list(branch_loops.leaves(bins, *trees))))

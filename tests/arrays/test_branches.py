"""Leaves and cuts of binary trees, against plain Python."""

import numpy as np
import pytest

from trickless.arrays import branch_loops
from trickless.arrays import branches as compiled


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
    found = compiled.leaves(bins, columns, children, sets)
    assert found.dtype == np.intp
    np.testing.assert_array_equal(found, np.array(expected, dtype=int))
    part = bins[:, 10:200]
    np.testing.assert_array_equal(compiled.leaves(part, columns, children, sets), found[10:200])


def test_sums_over_few_rows_have_the_bits_of_those_over_many():
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


def nodes_problem(seed, few=False):
    """Rows in some nodes, with numbers and categories, gaps, and bins that not all nodes have."""
    rng = np.random.default_rng(seed)
    n, n_features = 300, 4
    bins = rng.integers(0, 12, (n_features, n), dtype=np.uint8)
    bins[1] = rng.integers(0, 2, n) * 3
    bins[2] = 5
    bins[3] = rng.integers(1, 256, n)
    rows = rng.permutation(n)[:250].astype(np.intp)
    g, h = (rng.integers(-90, 90, 250) * 1.0, rng.integers(0, 60, 250) * 1.0)
    cuts = np.sort(rng.choice(np.arange(1, 250), 4 if few else 30, replace=False))
    ends = np.stack([np.r_[0, cuts], np.r_[cuts, 250]], axis=1).astype(np.intp)
    ends = np.delete(ends, 1, axis=0)  # some rows are in no node
    drawn = rng.integers(0, n_features, (len(ends), 3))
    by_slope = np.array([True, False, False, True])
    return bins, rows, g, h, ends, drawn, rng.random((*drawn.shape, 2)), by_slope, 2.5


@pytest.mark.parametrize("seed", range(6))
def test_the_best_cut_of_a_node_is_that_of_plain_loops(seed):
    bins, rows, g, h, ends, drawn, spots, by_slope, ridge = nodes_problem(seed, few=seed % 2)
    best, sums, tables = compiled.best_cuts(*nodes_problem(seed, few=seed % 2))
    n_cut = 0
    for i, (first, stop) in enumerate(ends):
        some = slice(first, stop)
        expected = -np.inf
        for j, at in zip(drawn[i], spots[i], strict=True):
            b = bins[j, rows[some]]
            present = [v for v in range(1, 256) if (b == v).any()]
            if by_slope[j]:
                slope = {
                    v: g[some][b == v].sum() / (h[some][b == v].sum() + ridge) for v in present
                }
                present.sort(key=lambda v, slope=slope: slope[v])
            for spot in at:
                value = b[int(spot * len(b))]
                if value == 0:
                    sets = [present] if present else []
                elif len(present) > 1:
                    k = min(present.index(value), len(present) - 2) + 1
                    sets = [[*present[:k], 0], *([present[:k]] if (b == 0).any() else [])]
                else:
                    sets = []
                for left in sets:
                    is_left = np.isin(b, left)
                    gain = sum(
                        g[some][s].sum() ** 2 / (h[some][s].sum() + ridge)
                        for s in (is_left, ~is_left)
                    )
                    expected = max(expected, gain)
        if expected == -np.inf:
            assert best[i] == -1
            continue
        n_cut += 1
        b = bins[drawn[i, best[i]], rows[some]]
        right = tables[i, b].astype(bool)
        assert 0 < right.sum() < len(right)
        found = [part[some][s].sum() for s in (~right, right) for part in (g, h)]
        np.testing.assert_array_equal(sums[i], found)
        gain = found[0] ** 2 / (found[1] + ridge) + found[2] ** 2 / (found[3] + ridge)
        assert gain == pytest.approx(expected, rel=1e-12)
        heavier = found[3] > found[1]
        if not (b == 0).any():
            assert tables[i, 0] == heavier
        absent = np.setdiff1d(np.arange(1, 256), b)
        if by_slope[drawn[i, best[i]]]:
            assert (tables[i, absent] == heavier).all()
        else:
            assert (np.diff(tables[i, 1:].astype(int)) >= 0).all()
    assert n_cut > 2


def test_rows_of_nodes_are_parted_in_order():
    bins, rows, g, h, ends, *_ = nodes_problem(0)
    rng = np.random.default_rng(0)
    columns = rng.integers(0, len(bins), len(ends))
    tables = rng.integers(0, 2, (len(ends), 256), dtype=np.uint8)
    of = np.stack([rows, g, h])
    expected, middles = of.copy(), []
    for (first, stop), j, table in zip(ends, columns, tables, strict=True):
        right = table[bins[j, rows[first:stop]]].astype(bool)
        some = of[:, first:stop]
        expected[:, first:stop] = np.concatenate([some[:, ~right], some[:, right]], axis=1)
        middles.append(stop - right.sum())
    found = compiled.parted(bins, rows, g, h, ends, columns, tables)
    np.testing.assert_array_equal(found, middles)
    np.testing.assert_array_equal(np.stack([rows, g, h]), expected)


def arguments(name):
    """Right arguments of one of the loops."""
    rng = np.random.default_rng(0)
    bins, rows, g, h, ends, drawn, spots, by_slope, ridge = nodes_problem(0)
    trees = [np.stack(some) for some in zip(*(tree(rng, 7, 4) for _ in range(2)), strict=True)]
    tables = rng.integers(0, 2, (len(ends), 256), dtype=np.uint8)
    return {
        "leaves": [bins, *trees],
        "combine": [bins, *trees, rng.standard_normal((2, 8, 2))],
        "best_cuts": [bins, rows, g, h, ends, drawn, spots, by_slope, ridge],
        "parted": [bins, rows, g, h, ends, drawn[:, 0].copy(), tables],
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


@pytest.mark.parametrize("name", ["leaves", "combine", "best_cuts", "parted"])
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
    ("best_cuts", 1, 300, "rows of nodes"),
    ("best_cuts", 1, -1, "rows of nodes"),
    ("best_cuts", 4, 251, "ends of nodes"),
    ("best_cuts", 4, 0, "a node has no rows"),
    ("best_cuts", 5, 4, "columns of cuts"),
    ("best_cuts", 6, 1.0, "spots of cuts"),
    ("best_cuts", 6, np.nan, "spots of cuts"),
    ("parted", 5, 4, "columns of cuts"),
    ("parted", 6, 2, "tables of cuts"),
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


def test_pairs_of_rows_and_trees_have_the_leaves_of_all():
    rng = np.random.default_rng(0)
    trees = [np.stack(some) for some in zip(*(tree(rng, 20, 5) for _ in range(30)), strict=True)]
    bins = rng.integers(0, 256, (5, 30), dtype=np.uint8)
    found = branch_loops.leaves_of_pairs(bins, *trees)
    np.testing.assert_array_equal(found, np.diag(list(branch_loops.leaves(bins, *trees))))

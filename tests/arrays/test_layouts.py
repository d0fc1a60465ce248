"""Loops are compiled once, whatever the layout of arrays, and whether they may be written to."""

import numpy as np
import pytest

from trickless import BoostedTreesClassifier, BoostedTreesRegressor, KitchenSinksRegressor
from trickless._arrays import branch_loops, branches, leaves, loops
from trickless._solvers.boosting import steps
from trickless._solvers.boosting.branches import take_binary_steps
from trickless.neurons import Trees


def layouts(array):
    """Return equal arrays of other layouts, and one that cannot be written to."""
    strided = np.repeat(array, 2, axis=-1)[..., ::2]
    fixed = array.copy()
    fixed.flags.writeable = False
    return strided, np.asfortranarray(array), np.repeat(array, 2, axis=0)[::2], fixed


def calls():
    """Return calls of loops, by name, with the loop that they compile and their arguments."""
    rng = np.random.default_rng(0)
    bins, coef = rng.integers(0, 256, (4, 5), np.uint8), rng.standard_normal((5, 8, 2))
    columns, sets = rng.integers(0, 4, (5, 3)), rng.integers(0, 256, (5, 3, 32), np.uint8)
    children = np.array([[[1, 0], [2, -1], [-2, -3]]] * 5, dtype=np.int32)
    linear = rng.standard_normal((5, 3, 8, 2)), rng.standard_normal((4, 256))
    of_tree = columns.astype(np.int32), children, sets

    def each(function):
        return lambda *arguments: list(function(*arguments))

    return {
        "leaves": (each(loops.leaves), leaves.leaves, (bins, columns, sets)),
        "pairs": (loops.leaves_of_pairs, leaves.leaves_of_pairs, (bins, columns, sets)),
        "sums": (loops.combine, leaves.combine, (bins, columns, sets, coef)),
        "linear": (loops.combine, leaves.combine, (bins, columns, sets, *linear)),
        "branches": (each(branch_loops.leaves), branches.leaves, (bins, *of_tree)),
        "pairs of branches": (
            branch_loops.leaves_of_pairs,
            branches.leaves_of_pairs,
            (bins, *of_tree),
        ),
        "sums of branches": (branch_loops.combine, branches.combine_few, (bins, *of_tree, coef)),
    }


@pytest.mark.parametrize("name", list(calls()))
def test_a_loop_is_compiled_once_for_all_layouts(name):
    call, loop, arguments = calls()[name]
    expected, n_compiled = call(*arguments), len(loop.signatures)
    for i, argument in enumerate(arguments):
        for other in layouts(argument):
            np.testing.assert_array_equal(
                call(*arguments[:i], other, *arguments[i + 1 :]), expected
            )
    assert len(loop.signatures) == n_compiled


@pytest.mark.parametrize(
    ("learner", "shape", "loop"),
    [
        (BoostedTreesRegressor, "oblivious", steps.take_steps),
        (BoostedTreesRegressor, "binary", take_binary_steps),
        (BoostedTreesClassifier, "oblivious", steps.take_steps),
    ],
)
def test_boosting_is_compiled_once_for_all_layouts(learner, shape, loop):
    X = np.random.default_rng(0).standard_normal((60, 3))
    y, weight = np.round(X[:, 0]), np.ones(60)
    model = learner(3, shape=shape, random_state=0)
    expected = model.fit(X, y, weight).predict(X)
    n_compiled = len(loop.signatures)
    for other in zip(layouts(X), layouts(y), layouts(weight), strict=True):
        np.testing.assert_array_equal(model.fit(*other).predict(X), expected)
    assert len(loop.signatures) == n_compiled


@pytest.mark.parametrize("shape", ["oblivious", "binary"])
def test_coefficients_of_leaves_are_not_copied_at_each_prediction(shape):
    X = np.random.default_rng(0).standard_normal((60, 3))
    model = KitchenSinksRegressor(Trees(shape=shape), 5, random_state=0).fit(X, X[:, 0])
    coef = model.network_.coef
    assert np.shares_memory(loops.to_read(coef), coef)

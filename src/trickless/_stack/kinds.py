"""Kinds of rows, told by their shape, and the parts of a stack for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import scipy.sparse

from trickless._rows.kinds import Kind
from trickless._stack.parts import Linear, Part, Sinks, Trees
from trickless._stack.reading import Matrix, Numbers
from trickless._stack.training import Training
from trickless.neurons import Convolutions, Gaussian, Patches, Tabular
from trickless.neurons.checks import shape_of
from trickless.neurons.unequal import is_unequal

#: Rows are wide if they have more columns than this share of their number. Sparse rows with up to
#: this many columns become dense for trees.
_WIDE = 0.5
#: Neurons of series and images: of each neuron come many columns.
_CONVOLUTIONS, _PATCHES = 170, 200


class Parts(NamedTuple):
    """Parts of a stack: quick ones, those that may follow, and those for the best effort only."""

    quick: list[Part]
    slow: list[Part]
    best: list[Part]


def _of_table(rows: Training) -> Parts:
    wide = rows.matrix.shape[1] > _WIDE * rows.n_rows
    quick: list[Part] = [
        Sinks("Gaussian neurons", "gaussian", Numbers.of),
        Sinks("tabular neurons", "tabular"),
    ]
    linear: list[Part] = [Linear(Numbers.of)]
    best: list[Part] = [
        Sinks("relevant features", Gaussian(length_scale="relevance"), Numbers.of),
        Sinks("Laplace neurons", "laplace", Numbers.of),
        Sinks("neurons of trees", "trees", n_neurons=500),
        Trees("boosted trees, smaller steps", n_trees=6000),
    ]
    return Parts(quick + linear * wide, [Trees()], best + linear * (not wide))


def _of_sparse(rows: Training) -> Parts:
    best: list[Part] = [Sinks("more Gaussian neurons", "gaussian", Matrix.of, 3000)]
    return Parts([Linear(Matrix.of), Sinks("Gaussian neurons", "gaussian", Matrix.of)], [], best)


def _of_series(rows: Training) -> Parts:
    best: list[Part] = [Sinks("times", Convolutions() + Gaussian(), n_neurons=2 * _CONVOLUTIONS)]
    return Parts([Sinks("convolutions", Convolutions(), n_neurons=_CONVOLUTIONS)], [], best)


def _of_images(rows: Training) -> Parts:
    quick: list[Part] = [
        Sinks("patches", Patches(), n_neurons=_PATCHES),
        Sinks("Gaussian neurons", "gaussian", Matrix.of),
    ]
    return Parts(quick, [], [Sinks("more patches", Patches(), n_neurons=3 * _PATCHES)])


class Rows(NamedTuple):
    """A kind of rows: what validates them, and the parts that learn from them."""

    kind: Callable[[], Kind]
    parts: Callable[[Training], Parts]


KINDS = {
    "table": Rows(lambda: Kind(Tabular()), _of_table),
    "sparse": Rows(Kind, _of_sparse),
    "series": Rows(lambda: Kind(Convolutions()), _of_series),
    "images": Rows(lambda: Kind(Patches()), _of_images),
}


def kind_of(X: Any) -> str:
    """Return the kind of rows: a table, sparse rows, series or images."""
    if scipy.sparse.issparse(X):
        return "sparse"
    n_dimensions = 3 if is_unequal(X) else len(shape_of(X) or ())
    return {3: "series", 4: "images"}.get(n_dimensions, "table")

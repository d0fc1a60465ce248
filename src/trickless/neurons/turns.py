"""Turns: a mixture whose neurons are trees and blocks of other families, in turn."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.neurons.base import Neurons, Weights
from trickless.neurons.block import Block
from trickless.neurons.mixture import Mixture

#: Number of rows for each column of a block, and the least and largest number of its columns.
_ROWS_PER_COLUMN, _LEAST_COLUMNS, _MOST_COLUMNS = 16, 16, 1024
#: Columns of a block that cost about as much as a tree.
_COLUMNS_PER_TREE = 16


def takes_turns(family: Any) -> bool:
    """Return whether this is a mixture with trees, whose families take turns in Newton steps."""
    return isinstance(family, Mixture) and any(
        getattr(part, "one_hot", False) for part in family.neurons
    )


class Turns(Mixture):
    """A mixture with trees, for a learner: a block of other neurons, then some trees.

    A neuron is a tree, or a block of draws of another family. All have the width of the widest,
    with zeros for missing values, so that the coefficients of all neurons fit into one array. The
    learner says whose turn it is, whereas ``draw`` chooses at random, as for every mixture.
    """

    _doc_link_module = ""  # it has no page

    @classmethod
    def of(cls, mixture: Mixture, parts: list[Neurons], n_rows: int) -> Turns:
        """Make turns of the fitted families of a mixture, for a number of rows.

        A block has one column for every 16 rows, rounded down to a power of two, from 16 to 1,024.
        """
        columns = max(min(n_rows // _ROWS_PER_COLUMN, _MOST_COLUMNS), _LEAST_COLUMNS)
        columns = 2 ** (columns.bit_length() - 1)
        turns = cls(mixture.neurons, mixture.weights)
        turns.n_features_in_, turns.inputs_ = mixture.n_features_in_, mixture.inputs_
        turns._with_parts(
            [p if p.one_hot else Block.of(p, max(1, columns // p.width)) for p in parts]
        )
        return turns

    def _wide(self) -> int:
        return max(part.width for part in self.parts_)

    @property
    def _n_draws(self) -> list[int]:
        return [1] * len(self.parts_)

    @property
    def has_trees(self) -> bool:
        """True, because some turns belong to trees."""
        return True

    def turn(self, weights: Weights | None) -> int:
        """Choose the family of the next neuron, after the neurons of some weights.

        Turns are in proportion to the weights of the families divided by their costs. A tree costs
        1, and a block costs 1 for every 16 columns.
        """
        choice = np.empty(0, dtype=int) if weights is None else weights[0]
        taken = np.bincount(choice, minlength=len(self.parts_))
        cost = [1.0 if p.one_hot else max(1.0, p.width / _COLUMNS_PER_TREE) for p in self.parts_]
        share = self._weights / cost
        is_tree = np.array([part.one_hot for part in self.parts_])
        return int(np.lexsort((is_tree, taken / share))[0])  # a block if a tree is due as well

    def own(self, i: int, weights: Weights) -> Weights:
        """Get the weights of neurons of part i, in the form of that part."""
        return tuple(array[:, 0] for array in self.weights_of_parts(weights[1:])[i])

    def whole(self, i: int, own: Weights, like: Weights) -> Weights:
        """Add zeros for the other parts to the weights of part i, with the shapes of ``like``."""
        parts = self.weights_of_parts(tuple(np.zeros_like(array) for array in like[1:]))
        parts[i] = tuple(array[:, None] for array in own)
        return (np.full_like(like[0], i), *(array for part in parts for array in part))

    def columns(self, i: int, coef: np.ndarray) -> np.ndarray:
        """Extend coefficients of part i to all columns: (width * n, n_outputs)."""
        width, n_outputs = self.parts_[i].width, coef.shape[1]
        columns = np.zeros((self.width, len(coef) // width, n_outputs), dtype=coef.dtype)
        columns[:width] = coef.reshape(width, -1, n_outputs) / self._scale(i)
        return columns.reshape(-1, n_outputs)

    def cuts_by_feature(self, weights: Weights) -> np.ndarray:
        total = np.zeros(self.n_features_in_, dtype=int)
        for i, _, some in self._chosen(np, weights):
            part: Any = self.parts_[i]
            if part.one_hot:
                total += part.cuts_by_feature(some)
        return total

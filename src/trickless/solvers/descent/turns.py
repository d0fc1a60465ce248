"""The turn of a step: the family of its neurons, and the rows that it uses."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.functions.stream import NeuronStream, Purpose, draw, generator
from trickless.neurons import Neurons, Weights
from trickless.neurons.mixture import rows_of_part
from trickless.neurons.turns import Turns
from trickless.solvers.batches import Rows
from trickless.solvers.descent.step_sizes import MOST_ROWS, DescentOptions

#: Share of the usual length of a step on a block that takes turns with trees. Later trees see the
#: same rows, so they cannot correct the noise that the block fits.
_SHARE = 1 / 3


class Draw:
    """The turn of a network's own family, to which all its neurons belong."""

    #: Share of the usual step that is taken.
    share = 1.0

    def __init__(self, family: Neurons, options: DescentOptions) -> None:
        self.family, self.options = family, options

    @property
    def chooses(self) -> bool:
        """Whether neurons are chosen among candidates."""
        return self.options.n_candidates > 1

    def rows(self, rows: Rows) -> Rows:
        """The rows of a batch that the step uses, as the family reads them."""
        return rows

    def drawn(self, stream: NeuronStream, first: int, k: int, X: Any) -> Weights:
        """The weights of k neurons of the network, the first of which has the number ``first``."""
        return () if self.chooses else stream.between(first, first + k, X)  # from a seed

    def own(self, weights: Weights) -> Weights:
        """The weights of the family from those of the network's neurons."""
        return weights

    def whole(self, own: Weights, drawn: Weights) -> Weights:
        """The weights of the network's neurons, from chosen ones and what was drawn."""
        return own

    def columns(self, coef: np.ndarray) -> np.ndarray:
        """Coefficients of the network's neurons, by column, from those of the family's."""
        return coef


class DrawOfPart(Draw):
    """The turn of a family of a mixture.

    Steps on blocks use at most 16,384 rows, since their time grows as rows times squared columns.
    """

    def __init__(self, mixture: Turns, taken: Weights | None, options: DescentOptions) -> None:
        self.mixture, self.place = mixture, mixture.turn(taken)
        family = mixture.parts_[self.place]
        super().__init__(family, options if family.one_hot else options.of_blocks())
        self.share = 1.0 if family.one_hot else _SHARE

    @property
    def chooses(self) -> bool:
        return super().chooses and self.family.one_hot

    def rows(self, rows: Rows) -> Rows:
        own = rows._replace(X=rows_of_part(rows.X, self.place))
        return own if self.family.one_hot else own.every(-(-len(own.targets) // MOST_ROWS))

    def drawn(self, stream: NeuronStream, first: int, k: int, X: Any) -> Weights:
        rng = generator(stream.seed, Purpose.CANDIDATES, first)
        weights = draw(self.mixture, rng, k, stream.dtype)
        return self.whole(self.own(weights), weights)

    def own(self, weights: Weights) -> Weights:
        return self.mixture.own(self.place, weights)

    def whole(self, own: Weights, drawn: Weights) -> Weights:
        return self.mixture.whole(self.place, own, drawn)

    def columns(self, coef: np.ndarray) -> np.ndarray:
        return self.mixture.columns(self.place, coef)

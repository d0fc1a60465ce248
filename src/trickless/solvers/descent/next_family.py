"""The family of the next neurons: the network's own, or the part of a mixture whose turn it is."""

from __future__ import annotations

import numpy as np

from trickless.functions.stream import Purpose, draw, generator
from trickless.neurons import Weights
from trickless.neurons.mixture import rows_of_part
from trickless.neurons.turns import Turns
from trickless.solvers.descent.batches import MiniBatch
from trickless.solvers.descent.candidates import choose
from trickless.solvers.descent.growing_network import GrowingNetwork
from trickless.solvers.descent.options import DescentOptions
from trickless.solvers.descent.steps.block import BlockStep

#: Share of the usual length of a step on a block that takes turns with trees. Later trees see the
#: same rows, so they cannot correct the noise that the block fits.
_SHARE = 1 / 3
#: The most rows of such a step.
_MOST_ROWS = 16_384


class OneFamily:
    """The network's own family, to which all its neurons belong."""

    #: Share of the usual step that is taken.
    share = 1.0

    def __init__(self, network: GrowingNetwork, options: DescentOptions) -> None:
        self.network, self.family = network, network.neurons
        self.step, self.options = options.step, options
        #: Whether neurons are chosen among candidates.
        self.chooses = options.candidates.n > 1
        #: Whether the network keeps their weights, since a seed does not determine
        #: them, or old ones are dropped.
        forgets = network.ages is not None
        self.keeps = self.chooses or forgets or network.chosen is not None

    def weights(
        self, rows: MiniBatch, k: int, n_rows: int, slopes: np.ndarray | None = None
    ) -> Weights:
        """Return the weights of the network's next k neurons: drawn, or the best of candidates.

        ``rows`` are those by which they are chosen, with f up to date, as the family reads them,
        and ``slopes`` their Newton slopes, if they are known. The step takes ``n_rows`` rows.
        """
        if self.chooses:
            return choose(self.network, self.family, rows, k, n_rows, self.options, slopes)
        first = self.network.n_drawn
        return self.network.stream.between(first, first + k, rows.X)

    def rows(self, batch: MiniBatch) -> MiniBatch:
        """Return the rows of a batch that the step uses, as the family reads them."""
        return batch

    def own(self, weights: Weights) -> Weights:
        """Return the weights of the family from those of the network's neurons."""
        return weights

    def columns(self, coef: np.ndarray) -> np.ndarray:
        """Return coefficients of the network's neurons, by column, from those of the family's."""
        return coef


class PartOfMixture(OneFamily):
    """A family of a mixture with trees: trees, or blocks of another family.

    Steps on blocks use at most 16,384 rows, since their time grows as rows times squared columns.
    """

    def __init__(self, network: GrowingNetwork, mixture: Turns, options: DescentOptions) -> None:
        super().__init__(network, options)
        taken = None if network.chosen is None else network.chosen.weights
        self.mixture, self.place = mixture, mixture.turn(taken)
        self.family, self.keeps = mixture.parts_[self.place], True
        self.is_tree = self.family.one_hot
        if not self.is_tree:
            step = options.step
            common = step.owner, step.loss, step.n_jobs, step.batch_size, step.neurons_per_step
            self.step = BlockStep(*common, step.n_neurons)
            self.share, self.chooses = _SHARE, False

    def weights(
        self, rows: MiniBatch, k: int, n_rows: int, slopes: np.ndarray | None = None
    ) -> Weights:
        stream = self.network.stream
        rng = generator(stream.seed, Purpose.CANDIDATES, self.network.n_drawn)
        drawn = draw(self.mixture, rng, k, stream.dtype)
        own = super().weights(rows, k, n_rows, slopes) if self.chooses else self.own(drawn)
        return self.mixture.whole(self.place, own, drawn)

    def rows(self, batch: MiniBatch) -> MiniBatch:
        own = batch.read_as(rows_of_part(batch.X, self.place))
        return own if self.is_tree else own.every(-(-len(own) // _MOST_ROWS))

    def own(self, weights: Weights) -> Weights:
        return self.mixture.own(self.place, weights)

    def columns(self, coef: np.ndarray) -> np.ndarray:
        return self.mixture.columns(self.place, coef)


def next_family(network: GrowingNetwork, options: DescentOptions) -> OneFamily:
    """Return the family of the next neurons."""
    if isinstance(network.neurons, Turns):
        return PartOfMixture(network, network.neurons, options)
    return OneFamily(network, options)

"""Ages of neurons in a stream that forgets: which of them count, and which have gone.

A coefficient fades by the factor 2^(−a / h) within a time a, where h is the half-life. A neuron
whose share is below 2⁻⁸ is dropped, and its memory is free for new neurons. A stream with steps on
b rows and k neurons therefore has about 8 h k / b neurons, however long it is.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from trickless._arrays.growing import Growing
from trickless._arrays.stated import Amount, Array, Stated, Within
from trickless._rules import MOST_THINGS
from trickless._solvers.clock import SPAN


class Memory(NamedTuple):
    """How a stream forgets.

    Attributes
    ----------
    lapses : array of shape (n_rows,)
        The time before each row, in half-lives.
    most : int
        The most neurons.
    levels : bool
        Whether the intercept takes over the mean of what fades.
    """

    lapses: np.ndarray
    most: int
    levels: bool


class NeuronAges(Stated):
    """When the neurons of a network came, in half-lives, and how many came before them.

    Attributes
    ----------
    now : float
        Half-lives so far.
    n_dropped : int
        Number of neurons that have been dropped.
    born : Growing
        When each of the other neurons came, the oldest first.
    """

    now: Amount
    n_dropped: Annotated[int, Within(0, MOST_THINGS)]
    born: Annotated[Growing, Array("f8", None, least=0)]

    def __init__(self, n_neurons: int) -> None:
        self.now, self.n_dropped = 0.0, 0
        self.born = Growing()
        self.born.append(np.zeros(n_neurons))

    def __len__(self) -> int:
        return len(self.born)

    def copy(self) -> NeuronAges:
        """Return an independent copy."""
        return self.first(len(self))

    def first(self, n: int) -> NeuronAges:
        """Return the ages of the first n neurons."""
        other = NeuronAges(0)
        other.now, other.n_dropped = self.now, self.n_dropped
        other.born.append(self.born.rows[:n])
        return other

    def after(self, half_lives: float, most: int) -> NeuronAges:
        """Return the ages after some time, without neurons that have faded or are too many."""
        now = self.now + half_lives
        gone = int(np.searchsorted(self.born.rows, now - SPAN))
        gone = max(gone, len(self) - max(most, 0))
        other = NeuronAges(0)
        other.now, other.n_dropped = now, self.n_dropped + gone
        other.born.append(self.born.rows[gone:])
        return other

    def append(self, n: int) -> None:
        """Add n neurons that come now."""
        self.born.append(np.full(n, self.now))

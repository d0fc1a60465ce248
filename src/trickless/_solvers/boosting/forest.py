"""A sum of trees that grows: its trees and coefficients, and what held-out rows said of them."""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np

from trickless._arrays.growing import Growing
from trickless._arrays.stated import Amount, Array, Count, Length, Stated, Within, check_same
from trickless._functions.network import Network, check_source
from trickless._functions.stream import StoredNeurons, pick
from trickless._solvers.ages import NeuronAges
from trickless._solvers.losses import Loss
from trickless._solvers.outputs import NewOutputs
from trickless._solvers.progress import Measure
from trickless.conformal.unseen import Unseen
from trickless.neurons import Trees
from trickless.neurons.base import Weights

#: The most rows of the background of Shapley values.
_BACKGROUND = 100


class Forest(Stated):
    """A constant and trees, with coefficients of shape (n_trees, width, n_outputs).

    A stream adds trees, and drops old ones if it forgets.
    """

    neurons: Trees
    trees: StoredNeurons
    coef: Annotated[Growing, Array("f4", "n_trees", "neurons.width", "n_outputs")]
    intercept: Annotated[np.ndarray, Array("f8", "n_outputs")]
    #: The constant that learning started from, and the scale of the targets around it.
    start: Annotated[np.ndarray, Array("f8", "n_outputs")]
    spread: Annotated[np.ndarray, Array("f8", "n_outputs", least=0)]
    #: Bins of some rows of the first batch, the background of Shapley values.
    background: Annotated[np.ndarray, Array("u1", None, None)]
    #: Seed of the trees.
    seed: Annotated[int, Within(0, 2**64 - 1)]
    #: Rows so far, and their weight, which fade with the trees.
    n_rows: Amount = 0.0
    total_weight: Amount = 0.0
    #: Steps so far, where a step on few rows counts as a part of one.
    taken: Amount = 0.0
    ages: NeuronAges | None = None
    unseen: Unseen | None = None
    scores: list[float]
    #: Numbers of trees when the held-out rows were scored.
    scored: Annotated[list[Count], Length("scores")]

    def __init__(self, neurons: Trees, start: np.ndarray, bins: np.ndarray, seed: int) -> None:
        self.intercept, self.start, self.spread = start, start, np.zeros_like(start)
        self.seed = seed
        some = np.arange(n := min(len(bins), _BACKGROUND)) * len(bins) // max(n, 1)
        self.background = np.ascontiguousarray(bins[some])
        self.scores, self.scored = [], []
        self.begin(neurons)

    def begin(self, neurons: Trees) -> None:
        """Begin with trees of a family, of which there are none yet."""
        self.neurons, self.trees = neurons, StoredNeurons(neurons.geometry.nothing(0))
        self.coef = Growing.of(np.zeros((0, neurons.width, len(self.start)), dtype=np.float32))

    def check_state(self) -> None:
        check_same(
            "columns of background", self.background.shape[1], len(self.neurons.bins_.counts)
        )
        check_source("trees", self.trees, self.neurons, len(self.coef))
        if self.ages is not None:
            check_same("number of ages", len(self.ages), len(self.coef))

    def __len__(self) -> int:
        return len(self.coef)

    @property
    def n_grown(self) -> int:
        """Number of trees so far, with those that have been dropped."""
        return len(self.coef) + (0 if self.ages is None else self.ages.n_dropped)

    @property
    def wins(self) -> np.ndarray:
        """How often each feature was cut."""
        return self.neurons.cuts_by_feature(self.trees.weights)

    def fork(self) -> Self:
        """Return a forest that continues from this one, and does not change it."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other.coef, other.trees = self.coef.copy(), self.trees.fork()
        other.ages = None if self.ages is None else self.ages.copy()
        return other

    def function(self, n_jobs: int | None) -> Network:
        """Return the network of all trees so far."""
        return Network(self.neurons, self.trees, self.coef.rows, self.intercept, n_jobs)

    def append(self, weights: Weights, coef: np.ndarray) -> None:
        """Append trees."""
        self.trees.append(weights)
        self.coef.append(coef)
        if self.ages is not None:
            self.ages.append(len(coef))

    def count(self, loss: Loss, targets: np.ndarray, weight: np.ndarray | None) -> None:
        """Count rows that are about to be learned, and how far their targets are from the start."""
        if not len(targets):
            return
        total = float(len(targets) if weight is None else weight.sum())
        spread = loss.spread(self.start, targets, weight)
        self.spread = self.spread + total / (self.total_weight + total) * (spread - self.spread)
        self.n_rows, self.total_weight = self.n_rows + len(targets), self.total_weight + total

    def fade(self, half_lives: float, most: int) -> None:
        """Let coefficients fade within some time, and drop the oldest trees.

        These are trees that have faded away, and those beyond ``most``.
        """
        ages = NeuronAges(len(self)) if self.ages is None else self.ages
        later, kept = ages.after(half_lives, most), float(np.exp2(-half_lives))
        left = slice(later.n_dropped - ages.n_dropped, None)
        self.coef = Growing.of(self.coef.rows[left] * np.float32(kept))
        self.trees, self.ages = StoredNeurons(pick(self.trees.weights, left)), later
        self.n_rows, self.total_weight = self.n_rows * kept, self.total_weight * kept

    def with_outputs(self, new: NewOutputs, measure: Measure) -> Self:
        """Return a forest that has learned the same rows with other outputs."""
        other = self.fork()
        other.coef, other.unseen = self.coef.mapped(new.of_differences), None
        for name in ("intercept", "start", "spread"):
            setattr(other, name, new.of_each(getattr(self, name)))
        return other

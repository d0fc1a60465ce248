"""What a kind of step is asked in a doubly stochastic descent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from trickless._arrays.places import HOST, matching, place_of
from trickless._arrays.threads import linear_algebra
from trickless._functions.activations import activations, together
from trickless._functions.stream import moved
from trickless._solvers.descent.batches import MiniBatch
from trickless._solvers.descent.growing_network import GrowingNetwork
from trickless._solvers.losses import Loss
from trickless.neurons.base import Neurons, Weights

#: The least number of scores of held-out rows in a fit.
_SCORES = 20


@dataclass(frozen=True)
class Step(ABC):
    """A kind of step: from the rows of a batch and fresh neurons to their coefficients.

    A fit of ``n_neurons`` neurons takes steps on up to ``batch_size`` rows and
    ``neurons_per_step`` neurons. ``owner`` is the learner's name in messages. If a fit ``levels``,
    the intercept moves so that probabilities have the right mean.

    The sums of a step support ``+``, which gives the sums over the rows of both parts.
    """

    owner: str
    loss: Loss
    n_jobs: int | None
    batch_size: int
    neurons_per_step: int
    n_neurons: int
    levels: bool = field(default=False, kw_only=True)

    @abstractmethod
    def first_size(self, alpha: Any, spread: np.ndarray, eigenvalue: float, bound: float) -> Any:
        """Return the first size of ``step_size="auto"``, common to all outputs or one for each."""

    @abstractmethod
    def sums(self, network: GrowingNetwork, batch: MiniBatch, Z: Any, slopes: Any) -> Any:
        """Return the sums over the rows of a batch that decide a step.

        ``Z`` are the :meth:`activations` and ``slopes`` the :meth:`slopes` of the rows.
        """

    @abstractmethod
    def direction(
        self, network: GrowingNetwork, sums: Any, k: int, gamma: np.ndarray, n_rows: int
    ) -> Any:
        """Return the direction of a step of size ``gamma`` on k neurons: (width k, n_outputs).

        The coefficients are −``gamma`` times the direction, in the order of columns.
        """

    def shift(self, network: GrowingNetwork, sums: Any, n_rows: int) -> np.ndarray | float:
        """Return how far a step on so many rows moves the intercept."""
        return 0.0

    def remedy(
        self, network: GrowingNetwork, step_size: float | str, stable: float, longest: float
    ) -> str:
        """Return the remedy for steps of about ``longest``, where ``stable`` ones are known."""
        gave = f"gave steps of about {longest:g}; " if np.isfinite(longest) else "is too long; "
        return (
            f"step_size={step_size!r} {gave}take one below {stable:g}, or a larger batch_size or "
            "neurons_per_step; the bound of the neurons must hold, too"
        )

    def read(self, neurons: Neurons, X: Any) -> Any:
        """Return rows as steps read them, on a device in the precision of activations there."""
        return neurons._read(X, self.n_jobs) if place_of(X) is HOST else X

    def slopes(self, network: GrowingNetwork, batch: MiniBatch) -> Any:
        """Return what a step needs of the loss at each row, at the place of the targets."""
        return self.loss.derivative(network.f_at(batch), batch.targets)

    def activations(self, family: Neurons, X: Any, weights: Weights, dtype: Any) -> Any:
        """Return the activations of all rows of a batch by some neurons of a family."""
        weights = moved(weights, X)
        k = weights[0].shape[0]
        place = place_of(X)
        Z = place.empty((X.shape[0], k * family.width), dtype)  # the rows of trees are bytes
        return activations(family, together(weights), X, k, self.n_jobs, Z, place)

    def gradient(self, Z: Any, slopes: Any, shares: Any) -> Any:
        """Return the gradient with respect to the coefficients: (n_columns, n_outputs)."""
        with linear_algebra(self.n_jobs, Z.shape[1] * prod(slopes.shape)):
            return place_of(slopes).put(Z.T @ matching(Z, slopes * shares[:, None]))

    def add(self, Z: Any, coef: Any, f: Any) -> None:
        """Add neurons with the activations Z and these coefficients to f."""
        with linear_algebra(self.n_jobs, Z.shape[0] * prod(coef.shape)):
            f += place_of(f).put(Z @ matching(Z, coef))

    def part(self, n_rows: int) -> float:
        """Return the part of a step that a batch of so many rows of a stream takes."""
        return min(1.0, n_rows / self.batch_size)

    def size(self, network: GrowingNetwork) -> int:
        """Return how many neurons the next step of a fit draws."""
        return min(self.neurons_per_step, self.n_neurons - len(network.coef))

    def wait(self, n_batches: int) -> int:
        """Return the number of steps between two scores of the held-out rows: at most a pass."""
        return min(n_batches, -(-self.n_neurons // (self.neurons_per_step * _SCORES)))

"""Plain steps: Algorithm 1 of Dai et al. 2014 as it is printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trickless._solvers.descent.batches import MiniBatch
from trickless._solvers.descent.growing_network import GrowingNetwork
from trickless._solvers.descent.step_sizes import stable_step
from trickless._solvers.descent.steps.step import Step


@dataclass(frozen=True)
class Plain(Step):
    """Steps along the gradient, c_j = −γ/k · mean of l′(f(x), y) ψ(x; w_j)."""

    def first_size(self, alpha: Any, spread: np.ndarray, eigenvalue: float, bound: float) -> Any:
        sizes = self.batch_size, self.neurons_per_step, self.n_neurons
        curvature = self.loss.steepest(spread)
        return stable_step(curvature, alpha, eigenvalue, bound**2, *sizes)

    def sums(self, network: GrowingNetwork, batch: MiniBatch, Z: Any, slopes: Any) -> Any:
        return self.gradient(Z, slopes, batch.shares_here)

    def direction(
        self, network: GrowingNetwork, sums: Any, k: int, gamma: np.ndarray, n_rows: int
    ) -> Any:
        return sums / k

"""Experts whose weights follow the stream: fixed share."""

from __future__ import annotations

import numpy as np

from trickless.solvers.experts.shares import SHARE


class FixedShare:
    """Weights of experts by the factors that rows give them, with a fixed share of all [1]_.

    Parameters
    ----------
    prior : array of shape (n_experts,)
        Weights at first, and where the share goes.

    References
    ----------
    .. [1] M. Herbster and M. Warmuth, "Tracking the best expert", Machine Learning 32, 1998,
       Figure 1.
    """

    def __init__(self, prior: np.ndarray) -> None:
        self.prior = prior
        self.weights = prior

    def learn(self, factors: np.ndarray) -> None:
        """Update the weights by e.g. the probability that each expert gave to what came."""
        weights = self.weights * factors  # loss update
        weights /= weights.sum()
        self.weights = (1 - SHARE) * weights + SHARE * self.prior  # share update

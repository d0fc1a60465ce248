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
    .. [2] P. Joulani, A. György and C. Szepesvári, "Online learning under delayed feedback", ICML
       2013. They give each of the 1 + d rows weights of their own.
    """

    def __init__(self, prior: np.ndarray) -> None:
        self.prior = prior
        self.weights = prior

    def learn(self, factors: np.ndarray, delay: int = 0) -> None:
        """Update the weights by e.g. the probability that each expert gave to what came.

        ``delay`` is how many rows were learned in between. A row then counts as
        a part of 1 + ``delay`` rows, since the experts were asked so many times without an answer,
        and the errors of neighbours are alike [2]_.
        """
        rate = 1 / (1 + delay)
        weights = self.weights * factors**rate  # loss update
        weights /= weights.sum()
        share = SHARE * rate
        self.weights = (1 - share) * weights + share * self.prior  # share update

"""Which half-lives and length scales an ensemble relies on, now and over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.states import in_one_state
from trickless.solvers.experts.experts import RATIOS, Experts


class ExpertWeights:
    """What an ensemble of half-lives tells about its experts.

    Attributes
    ----------
    half_lives_ : array of shape (n_half_lives,)
        Half-lives in use, if ``half_life`` is "auto" or a list.
    expert_weights_ : structured array of shape (n_experts,)
        For such a model, the present ``weight`` of each expert, with its ``half_life``, its
        ``length_scale`` relative to that of the family, or NaN for experts of the last targets, and
        its ``noise``. This is the ratio of noise to signal, or NaN if alpha was given. Weights sum
        to 1. For several outputs, they are means.
    weight_history_ : tuple of (array of shape (n_entries,), array of shape (n_entries, n_experts))
        For such a model, numbers of rows, and the weights of the experts before these rows. Each
        entry is a mean over the rows since the entry before it. There are at most 512 entries: when
        there would be more, neighbours are merged.
    """

    half_life: Any
    sums_: Any

    @property
    @in_one_state
    def half_lives_(self) -> np.ndarray:
        """Half-lives in use, shape (n_half_lives,)."""
        return self._experts().half_lives.copy()

    @property
    @in_one_state
    def expert_weights_(self) -> np.ndarray:
        """Half-life, length scale, noise and present weight of each expert."""
        experts = self._experts()
        ratios = RATIOS if isinstance(experts.alpha, str) else (np.nan,)
        factors = [*experts.factors, np.nan] if experts.lags else experts.factors
        of_each = np.meshgrid(factors, experts.half_lives, ratios, indexing="ij")
        kinds = [(name, "f8") for name in ("half_life", "length_scale", "noise", "weight")]
        table = np.zeros(of_each[0].size, dtype=kinds)
        for name, values in zip(("length_scale", "half_life", "noise"), of_each, strict=True):
            table[name] = values.ravel()
        table["weight"] = self._of_machines(experts, experts.shares.weights.mean(axis=1))
        return table

    @property
    @in_one_state
    def weight_history_(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of rows, and mean weights of the experts of ``expert_weights_`` until then."""
        experts = self._experts()
        counts, means = experts.shares.history()
        return counts, self._of_machines(experts, means)

    def _of_machines(self, experts: Experts, weights: np.ndarray) -> np.ndarray:
        """Return sums of the weights of the experts of each machine."""
        n_each = experts.answer.n_each
        return weights.reshape(*weights.shape[:-1], n_each, -1).sum(axis=-2)

    def _experts(self) -> Experts:
        check_is_fitted(self)
        experts: Experts = self.sums_
        return experts

"""Convolutions of series as a graph, for series without gaps.

Kernels that share a dilation, and a view of the series, are computed together.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

import trickless.export.namespace as xp
from trickless.arrays.places import to_host
from trickless.arrays.series import _LARGEST, _LARGEST_OF_SUMS, HEAVY, LEAST, MOST_LEVEL, TAPS
from trickless.export.families import writes
from trickless.export.tensors import UnwritableError
from trickless.neurons import Convolutions
from trickless.neurons.base import Weights
from trickless.neurons.convolutions import _OF_POSITIONS


@writes(Convolutions)
class _Convolutions(Convolutions):
    """It interpolates no gaps, so that a series with a gap has values that are not numbers."""

    def activate(self, X: Any, weights: Weights) -> Any:
        if np.isnan(self.rows_).any():
            raise UnwritableError(
                "it was fitted to series with missing values or of unequal length, and a graph "
                "interpolates no gaps"
            )
        kinds, dilation, mix, numbers, signs, thresholds = map(to_host, weights)
        seen, gap = self._views(X)
        parts, order = [], []
        for kind, d in np.unique(np.stack([kinds, dilation], axis=1), axis=0).tolist():
            some = np.flatnonzero((kinds == kind) & (dilation == d))
            z = _responses(seen[kind], d, mix[some], HEAVY[numbers[some]], signs[some])
            parts.append(self._shares(z, thresholds[some]))
            order += some.tolist()
        values = xp.take(xp.concat(parts, axis=1), np.argsort(order), axis=1) + gap
        return xp.reshape(
            xp.permute_dims(values, (0, 3, 2, 1)), (X.shape[0], self.width * len(order))
        )

    def _views(self, X: Any) -> tuple[list[Any], Any]:
        """Return series as each kind of neuron sees them, and zeros, or NaN for rows with a gap."""
        values = xp.reshape(X, (X.shape[0], self._n_channels, self._length))
        values = xp.astype(values, xp.float64) / self.scale_[0][:, None]
        values = xp.clip(values, -_LARGEST_OF_SUMS, _LARGEST_OF_SUMS)
        mean = xp.mean(values, axis=2, keepdims=True)
        values = xp.clip(values - mean, -_LARGEST, _LARGEST)
        change = (values[:, :, 1:] - values[:, :, :-1]) * (self.scale_[0] / self.scale_[1])[:, None]
        level: Any = self.level_
        away = mean - (level[0] / self.scale_[0])[:, None]
        away = away * (self.scale_[0] / level[1])[:, None]
        seen = [
            values,
            xp.clip(change, -_LARGEST, _LARGEST),
            values + xp.clip(away, -MOST_LEVEL, MOST_LEVEL),
        ]
        gap = 0.0 * xp.sum(mean, axis=(1, 2))
        return [xp.astype(view, X.dtype) for view in seen], xp.astype(gap, X.dtype)[
            :, None, None, None
        ]

    def _shares(self, z: Any, thresholds: np.ndarray) -> Any:
        """Pool responses over time, (n_rows, n, n_kernels, 3), as the family does."""
        high, low = (_limits(xp.max(side, axis=2, keepdims=True)) for side in (z, -z))
        sums = [xp.sum(xp.where(side > limit, side, 0.0), axis=3)
                for side, limit in ((z, high), (-z, low))]  # fmt: skip
        totals = [xp.sum(each, axis=2, keepdims=True) for each in sums]
        shares = [xp.where(total > 0, each / total, 0.0)
                  for each, total in zip(sums, totals, strict=True)]  # fmt: skip
        above = xp.sum(xp.astype(z > thresholds.astype(z.dtype), z.dtype), axis=3)
        shares.append(above / (z.shape[3] * self.kernels / _OF_POSITIONS**2))
        return xp.sqrt(xp.stack(shares, axis=3)) / sqrt(2 + _OF_POSITIONS**2)


def _responses(
    series: Any, dilation: int, mix: np.ndarray, heavy: np.ndarray, signs: np.ndarray
) -> Any:
    """Compute the responses of kernels at all times, (n_rows, n, n_kernels, length)."""
    n, length = len(mix), series.shape[2]
    beyond = np.zeros((1, n, TAPS // 2 * dilation), series.dtype)
    mixed = xp.concat([beyond, xp.matmul(mix.astype(series.dtype), series), beyond], axis=2)
    reached = [mixed[:, :, i * dilation : i * dilation + length] for i in range(TAPS)]
    total = reached[0]
    for each in reached[1:]:
        total = total + each
    every = xp.concat(reached, axis=1)
    a, b, c = (xp.take(every, heavy[:, :, i] * n + np.arange(n)[:, None], axis=1) for i in range(3))
    return (3.0 * (a + b + c) - total[:, :, None, :]) * signs.astype(series.dtype)[:, :, None]


def _limits(highest: Any) -> Any:
    """Return what a response must exceed, as ``series_loops.respond`` does."""
    return xp.maximum(highest - (LEAST * highest + LEAST), LEAST)

r"""Quantiles with a finite-sample guarantee.

If n + 1 rows are exchangeable, the score of the last is at most the ⌈c (n + 1)⌉-th smallest score
of the others with a probability of at least c, and of at most c + 1 / (n + 1) if no scores are
equal [1]_. With weights, which are ratios of the density of new rows to the density of these rows,
score i counts as :math:`w_i / (\sum_j w_j + w)`, where w is the weight of the new row [2]_.

References
----------
.. [1] V. Vovk, A. Gammerman and G. Shafer, "Algorithmic learning in a random world", Springer,
   2005.
.. [2] R. J. Tibshirani, R. Foygel Barber, E. J. Candès and A. Ramdas, "Conformal prediction under
   covariate shift", NeurIPS 2019, eq. 8.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless._arrays.places import namespace
from trickless.conformal.levels import ROUNDING, rank


def upper_quantiles(
    scores: np.ndarray, confidence: float, weight: np.ndarray | None = None, choices: int = 0
) -> np.ndarray:
    """Return what bounds the score of a new row, with a probability of ``confidence``.

    Parameters
    ----------
    scores : array of shape (..., n_rows)
    confidence : float
    weight : array of shape (n_rows,), optional
        Weights of the rows, relative to the weight of a new row. Default: 1.
    choices : int, default=0
        By how many ranks to go further, at most to the largest score.

    Returns
    -------
    array of shape (...)
        Infinite where the rows cannot bound a new score with this confidence.
    """
    n = scores.shape[-1]
    if weight is None:
        k = rank(n, confidence)
        if k > n:
            return np.full(scores.shape[:-1], np.inf)
        k = min(k + choices, n)
        return np.partition(scores, k - 1, axis=-1)[..., k - 1]
    total = float(weight.sum())
    wanted = _mass(total, confidence, 1.0)
    if not wanted <= total:
        return np.full(scores.shape[:-1], np.inf)
    wanted = min(wanted + choices * total / n, (1 - ROUNDING) * total)
    order = np.argsort(scores, axis=-1, kind="stable")
    of_order = namespace(order).take(weight, order)
    first = (np.cumsum(of_order, axis=-1) < wanted).sum(axis=-1, keepdims=True)
    which = np.take_along_axis(order, np.minimum(first, n - 1), axis=-1)
    return np.take_along_axis(scores, which, axis=-1)[..., 0]


def shifted_quantiles(
    scores: np.ndarray, confidence: float, weight: np.ndarray, weight_of_new: np.ndarray
) -> np.ndarray:
    """Return what bounds the score of each of several new rows that have weights of their own.

    Parameters
    ----------
    scores, weight : arrays of shape (n_rows,)
    confidence : float
    weight_of_new : array of shape (n_new,)

    Returns
    -------
    array of shape (n_new,)
        Infinite where the rows cannot bound a new score with this confidence.
    """
    order = np.argsort(scores, kind="stable")
    below, total = np.cumsum(weight[order]), float(weight.sum())
    first = np.searchsorted(below, _mass(total, confidence, weight_of_new))
    return np.append(scores[order], np.inf)[first]


def _mass(total: float, confidence: float, of_new: Any) -> Any:
    """Return the weight of scores that must not exceed the bound."""
    return confidence * (total + of_new) - ROUNDING * total

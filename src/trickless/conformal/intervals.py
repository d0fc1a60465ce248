r"""Intervals from the errors at rows that were not learned.

Absolute errors give intervals of one width [1]_. Two quantiles, such as those of the pinball loss,
give intervals whose width follows the noise: what is added to both is a quantile of
:math:`\max(q_{low}(x) - y, y - q_{high}(x))` [2]_.

References
----------
.. [1] J. Lei, M. G'Sell, A. Rinaldo, R. J. Tibshirani and L. Wasserman, "Distribution-free
   predictive inference for regression", JASA 113, 2018, Algorithm 2.
.. [2] Y. Romano, E. Patterson and E. J. Candès, "Conformalized quantile regression", NeurIPS 2019,
   eq. 6 to 8.
"""

from __future__ import annotations

import numpy as np

from trickless._errors import InvalidValueError


def distances(ends: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return how far targets lie outside of their intervals, or how far inside as minus that.

    Parameters
    ----------
    ends : array of shape (..., 2)
    y : array of shape (...)
    """
    return np.maximum(ends[..., 0] - y, y - ends[..., 1])


def widened(ends: np.ndarray, far: np.ndarray | float) -> np.ndarray:
    """Return intervals whose ends are further out by ``far``, which may be below 0.

    An interval that would have no length left becomes its middle.
    """
    far = np.expand_dims(far, -1)
    wider = np.concatenate([ends[..., :1] - far, ends[..., 1:] + far], axis=-1)
    middle = ends.mean(axis=-1, keepdims=True)
    return np.where(wider[..., :1] > wider[..., 1:], middle, wider)


def absolute_errors(owner: str, targets: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return how far targets are from predictions, (n_rows, n_outputs)."""
    if len(targets) != len(predicted) or targets.size != predicted.size:
        raise InvalidValueError(
            f"{owner}: y has the shape {targets.shape}, but the model predicts the shape "
            f"{predicted.shape}",
            "a target for each row and output of the model",
        )
    errors = np.abs(targets.astype(np.float64) - predicted.reshape(targets.shape))
    return errors.reshape(len(targets), -1)

"""Jackknife+: intervals from predictions without each row, and the errors at these rows.

R. Foygel Barber, E. J. Candès, A. Ramdas and R. J. Tibshirani, "Predictive inference with the
jackknife+", Annals of Statistics 49(1), 2021.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.conformal.quantiles import upper_quantiles


def jackknife_plus(
    predictions: np.ndarray,
    errors: np.ndarray,
    confidence: float,
    weight: np.ndarray | None = None,
    choices: int = 0,
) -> np.ndarray:
    """Return intervals for new rows, shape (n_new, 2).

    For exchangeable rows and a level c they hold a new target with a probability of at least
    2 c − 1, and close to c unless the learner is unstable.

    Parameters
    ----------
    predictions : array of shape (n_new, n_rows)
        Predictions of the new rows, without each of the rows in turn.
    errors : array of shape (n_rows,) or (n_new, n_rows)
        Errors at the rows, each predicted without itself, as they count at the new rows.
    confidence : float
    weight : array of shape (n_rows,), optional
    choices : int, default=0
        Further ranks, for what was chosen by the same errors.
    """
    far = np.abs(errors)
    how: Any = {"confidence": confidence, "weight": weight, "choices": choices}
    lower = -upper_quantiles(far - predictions, **how)  # eq. 1.7
    return np.stack([lower, upper_quantiles(far + predictions, **how)], axis=-1)

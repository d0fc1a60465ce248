r"""Full conformal prediction for least squares, in closed form.

A candidate y for the target of a new row belongs to the set if, once the row has been learned with
that target, its error is not among the largest. Each row's error without itself is then
:math:`(r_i - a_i t) / d_i`, where t = y − f(x) is the error of the new row itself. The set of t at
which row i has the larger error is an interval around 0 if :math:`|a_i| < d_i`. The set of
candidates is therefore an interval as well, whose ends are quantiles of the rows' ends.

References
----------
.. [1] I. Nouretdinov, T. Melluish and V. Vovk, "Ridge regression confidence machine", ICML 2001.
.. [2] E. Burnaev and V. Vovk, "Efficiency of conformalized ridge regression", COLT 2014 (errors
   without the row instead of residuals).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.conformal.quantiles import upper_quantiles


def full_conformal(
    fitted: np.ndarray,
    residuals: np.ndarray,
    slopes: np.ndarray,
    left: np.ndarray,
    confidence: float,
    weight: np.ndarray | None = None,
    choices: int = 0,
) -> np.ndarray:
    """Return the candidates that belong to the set, as intervals of shape (n_new, 2).

    They hold a new target with a probability of at least ``confidence``, for exchangeable rows.
    Where a row has so much leverage that its part is no interval, its hull is taken.

    Parameters
    ----------
    fitted : array of shape (n_new,)
        Predictions f of the new rows.
    residuals : array of shape (n_rows,)
        Residuals r at the rows.
    slopes : array of shape (n_new, n_rows)
        a: by how much the residual of a row falls if a new row is learned whose target is larger
        by 1.
    left : array of shape (n_new, n_rows)
        d: 1 less the leverage of the row, with the new row.
    confidence : float
    weight : array of shape (n_rows,), optional
    choices : int, default=0
        Further ranks, for what was chosen by the same errors.
    """
    far = np.abs(residuals)
    turned = np.where(residuals < 0, -slopes, slopes)
    wide = np.abs(turned) >= left
    how: Any = {"confidence": confidence, "weight": weight, "choices": choices}
    ends = []
    for sign in (-1, 1):  # |r − a t| = d |t|, for t below 0 and above
        apart = np.where(wide, 1.0, left + sign * turned)
        ends.append(sign * upper_quantiles(np.where(wide, np.inf, far / apart), **how))
    return fitted[:, None] + np.stack(ends, axis=-1)

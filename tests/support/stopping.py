"""The rule by which a fit stops early, written out."""

import numpy as np


def stops_at(losses, weight=None, patience=5, tol=1e-3):
    """Return the number of the look at which a fit stops, from 1 on, or None.

    ``losses`` has the loss of each held-out row at each look: (n_looks, n_rows).
    """
    n_rows = losses.shape[1]
    share = np.full(n_rows, 1 / n_rows) if weight is None else weight / weight.sum()
    reference, waited = losses[0], 0.0
    for number, now in enumerate(losses[1:], 2):
        d = reference - now
        mean = (share * d).sum()
        error = np.sqrt((share**2 * (d - mean) ** 2).sum())
        if mean > tol * (share * now).sum() and mean > error:
            reference, waited = now, 0.0
        else:
            waited += 1.0 if mean < -error else 0.5
        if waited >= patience and waited >= number / 4:
            return number
    return None

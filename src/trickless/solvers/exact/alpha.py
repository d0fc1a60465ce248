"""The regularisation strength that suits learners with a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.solvers.losses import Loss, unit_of

#: The strength for targets of unit size.
_ALPHA = 1e-3


def automatic_alpha(loss: Loss, spread: np.ndarray) -> Any:
    """Return the regularisation strength for targets of this spread.

    alpha |f|² has the unit of the loss. A loss with a slope of ±1 has the unit of y.
    """
    return _ALPHA / unit_of(spread) if loss.piecewise_linear else _ALPHA

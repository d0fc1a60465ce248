"""Detecting that training diverges."""

from __future__ import annotations

import numpy as np

#: Training diverges if the mean loss exceeds this many times that of predicting a constant.
_DIVERGED = 1e3


def check_progress(owner: str, now: float, start: float, n_steps: int, remedy: str) -> None:
    """Raise an error if the mean loss is far above that of predicting a constant."""
    if not np.isfinite(now) or now > _DIVERGED * start > 0:
        raise ValueError(
            f"{owner}: training diverged within {n_steps} steps: the mean loss is {now:.3g}, "
            f"where predicting a constant has about {start:.3g}. Remedy: {remedy}."
        )

"""Whether training diverges."""

from __future__ import annotations

import numpy as np

#: A mean loss this many times that of a constant is taken for divergence.
_DIVERGED = 1e3


def check_progress(owner: str, now: float, start: float, n_steps: int, remedy: str) -> None:
    """Stop where the mean loss has grown far beyond that of predicting a constant."""
    if not np.isfinite(now) or now > _DIVERGED * start > 0:
        raise ValueError(
            f"{owner}: training diverged within {n_steps} steps: the mean loss is {now:.3g}, "
            f"where predicting a constant has about {start:.3g}. Remedy: {remedy}."
        )

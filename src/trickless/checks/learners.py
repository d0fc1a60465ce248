"""Checks of what a learner is asked to do, and of how it goes."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.arrays.namespaces import namespace

#: A mean loss this many times that of a constant is taken for divergence.
_DIVERGED = 1e3


def check_huber(epsilon: float) -> None:
    """The Huber loss of width 0 is 0."""
    if epsilon == 0:
        raise ValueError(
            f"epsilon={epsilon!r} with loss='huber' makes the loss 0 everywhere. Remedy: a "
            "positive epsilon, or loss='epsilon_insensitive' for the absolute error."
        )


def check_progress(owner: str, now: float, start: float, n_steps: int, remedy: str) -> None:
    """Stop where the mean loss has grown far beyond that of predicting a constant."""
    if not np.isfinite(now) or now > _DIVERGED * start > 0:
        raise ValueError(
            f"{owner}: training diverged within {n_steps} steps: the mean loss is {now:.3g}, "
            f"where predicting a constant has about {start:.3g}. Remedy: {remedy}."
        )


def check_finite(owner: str, values: Any) -> None:
    """What a network answers must be finite."""
    xp = namespace(values)
    if not bool(xp.all(xp.isfinite(values))):
        raise ValueError(
            f"{owner}: the network's values are not finite, so its activations or its coefficients "
            "are not. Remedy: check the family's activations on these rows, and the step size."
        )

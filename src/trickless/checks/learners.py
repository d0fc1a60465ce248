"""Checks of what a learner is asked to do, and of how it goes."""

from __future__ import annotations

from typing import Any

#: A mean loss this many times that of a constant is taken for divergence.
_DIVERGED = 1e3
#: What is a difference must be so many times its rounding.
_RESOLVED = 100


def check_draws(owner: str, horizon: Any, norm_bound: Any, constants: Any, most: int) -> None:
    """Rounds of the theorem that would take hours each are refused."""
    if constants.n_samples > most:
        raise ValueError(
            f"{owner}: horizon={horizon!r} with norm_bound={norm_bound!r} asks for "
            f"{constants.n_samples:,} draws in each round, and more than {most:,} are refused. "
            "Remedy: a smaller norm_bound or horizon, or schedule='sqrt', which takes n_samples "
            "draws."
        )

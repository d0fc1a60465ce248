"""Checks of what a learner is asked to do, and of how it goes."""

from __future__ import annotations

from typing import Any

#: A mean loss this many times that of a constant is taken for divergence.
_DIVERGED = 1e3
#: What is a difference must be so many times its rounding.
_RESOLVED = 100


def check_no_average(owner: str, average: bool, max_support: int | None) -> None:
    """An average over rounds has a term for every row that any round had."""
    if average and max_support is not None:
        raise ValueError(
            f"{owner}: average=True with max_support={max_support!r}, but an average over rounds "
            "needs the terms that are dropped. Remedy: average=False, or max_support=None."
        )


def check_forgetting(owner: str, schedule: str, step_size: float | str, alpha: float) -> None:
    """A step may not decay what was learned to nothing, or turn its signs."""
    if schedule != "inverse" and not isinstance(step_size, str) and step_size * alpha >= 1:
        raise ValueError(
            f"{owner}: step_size={step_size!r} with alpha={alpha!r} decays earlier terms by "
            f"1 - step * alpha = {1 - step_size * alpha:g}, which must be above 0. Remedy: a "
            f"step_size below {1 / alpha:g}, or a smaller alpha."
        )


def check_draws(owner: str, horizon: Any, norm_bound: Any, constants: Any, most: int) -> None:
    """Rounds of the theorem that would take hours each are refused."""
    if constants.n_samples > most:
        raise ValueError(
            f"{owner}: horizon={horizon!r} with norm_bound={norm_bound!r} asks for "
            f"{constants.n_samples:,} draws in each round, and more than {most:,} are refused. "
            "Remedy: a smaller norm_bound or horizon, or schedule='sqrt', which takes n_samples "
            "draws."
        )

"""Parameters that may not change after the first batch, since coefficients depend on them."""

from __future__ import annotations

from types import MethodType
from typing import Any

import numpy as np


def check_fixed(learner: Any) -> None:
    """Check that the parameters in ``fixed_`` have not changed since the first batch."""
    for name, then in learner.fixed_.items():
        now, remedy = getattr(learner, name), to_begin_anew(learner)
        check_unchanged(type(learner).__name__, name, now, then, remedy)


def to_begin_anew(learner: Any) -> str:
    """How to let a fitted learner begin anew, in words."""
    warm = "set warm_start=False and " if getattr(learner, "warm_start", False) else ""
    return f"{warm}call fit to begin anew"


def check_unchanged(
    owner: str, name: str, now: Any, then: Any, remedy: str = "call fit to begin anew"
) -> None:
    """Check that a parameter has its value of the first batch."""
    if not _same(now, then):
        raise ValueError(
            f"{owner}: {name}={now!r}, but the model was begun with {name}={then!r}, which its "
            f"coefficients depend on. Remedy: set {name} back, or {remedy}."
        )


def _same(now: Any, then: Any) -> bool:
    """Whether two parameters are equal. Objects without ``==`` are equal if their types are."""
    if hasattr(now, "get_params"):
        mine, other = now.get_params(deep=False), getattr(then, "__dict__", {})
        return type(now) is type(then) and all(_same(mine[key], other.get(key)) for key in mine)
    if hasattr(now, "__array__") or hasattr(then, "__array__"):
        return np.array_equal(now, then)
    if isinstance(now, MethodType) and isinstance(then, MethodType):
        return now.__func__ is then.__func__ and _same(now.__self__, then.__self__)
    if isinstance(now, list | tuple) and type(now) is type(then):
        return len(now) == len(then) and all(map(_same, now, then))
    if isinstance(now, dict) and isinstance(then, dict):
        return now.keys() == then.keys() and all(_same(now[key], then[key]) for key in now)
    incomparable = type(now).__eq__ is object.__eq__  # type: ignore[comparison-overlap]
    return (incomparable and type(now) is type(then)) or bool(now == then)

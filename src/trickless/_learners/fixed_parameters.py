"""Parameters that may not change after the first batch, since coefficients depend on them."""

from __future__ import annotations

from functools import cache
from types import MethodType
from typing import Any

import numpy as np
from scipy.sparse import issparse

from trickless._errors import InvalidValueError


def check_fixed(learner: Any) -> None:
    """Check that the parameters in ``_fixed_`` have not changed since the first batch."""
    for name, then in learner._fixed_.items():
        now, remedy = getattr(learner, name), to_start_over(learner)
        check_unchanged(type(learner).__name__, name, now, then, remedy)


def to_start_over(learner: Any) -> str:
    """Say how to let a fitted learner start over."""
    warm = "set warm_start=False and " if getattr(learner, "warm_start", False) else ""
    return f"{warm}call fit to start over"


def check_unchanged(
    owner: str, name: str, now: Any, then: Any, remedy: str = "call fit to start over"
) -> None:
    """Check that a parameter has its value of the first batch."""
    if not same(now, then):
        raise InvalidValueError(
            f"{owner}: {name}={now!r}, but the model was begun with {name}={then!r}, which its "
            "coefficients depend on",
            f"set {name} back, or {remedy}",
        )


@cache
def _parameters(cls: type) -> list[str]:
    """Return the names of the parameters of a class of estimators, which take long to find."""
    names: list[str] = cls._get_param_names()  # type: ignore[attr-defined]
    return names


def same(mine: Any, other: Any, fitted: bool = False) -> bool:
    """Return whether two parameters are equal, or two families ``fitted`` the same up to rounding.

    Objects without ``==`` are equal if their types are. Of what was fitted, so are numbers, since
    the draws of a family depend on them.
    """
    if mine is other:
        return True
    if hasattr(mine, "get_params"):
        values, there = vars(mine), getattr(other, "__dict__", {})
        cls: Any = type(mine)
        if fitted:
            values = {name: value for name, value in values.items() if name.endswith("_")}
        else:
            values = {name: getattr(mine, name) for name in _parameters(cls)}
        return cls is type(other) and all(
            same(value, there.get(name), fitted) for name, value in values.items()
        )
    if fitted and isinstance(mine, np.ndarray) and isinstance(other, np.ndarray):  # or memory maps
        if mine.dtype.kind != "f":
            return np.array_equal(mine, other)
        alike = mine.shape == other.shape
        return alike and np.allclose(mine, other, rtol=1e-4, atol=0, equal_nan=True)
    if not fitted and (hasattr(mine, "__array__") or hasattr(other, "__array__")):
        return np.array_equal(mine, other)
    if issparse(mine) and issparse(other):
        parts = ("shape", "indptr", "indices", "data")
        return all(np.array_equal(getattr(mine, p), getattr(other, p)) for p in parts)
    if isinstance(mine, MethodType) and isinstance(other, MethodType):
        return mine.__func__ is other.__func__ and same(mine.__self__, other.__self__)
    if isinstance(mine, list | tuple) and type(mine) is type(other):
        each = zip(mine, other, strict=False)
        return len(mine) == len(other) and all(same(*pair, fitted) for pair in each)
    if isinstance(mine, dict) and isinstance(other, dict):
        return mine.keys() == other.keys() and all(same(mine[k], other[k], fitted) for k in mine)
    incomparable = type(mine).__eq__ is object.__eq__  # type: ignore[comparison-overlap]
    if fitted or incomparable:
        return type(mine) is type(other)
    return bool(mine == other)

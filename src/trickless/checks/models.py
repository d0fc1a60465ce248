"""Checks of what is asked of a fitted model."""

from __future__ import annotations

from types import MethodType
from typing import Any

import numpy as np

from trickless.functions.certificate import check_probability
from trickless.rules import check_value, positive


def check_unchanged(owner: str, name: str, now: Any, then: Any) -> None:
    """Parameters that shape a model may not change between its batches."""
    if not _same(now, then):
        raise ValueError(
            f"{owner}: {name}={now!r}, but the model was begun with {name}={then!r}, and its "
            f"coefficients belong to that. Remedy: set {name} back, or call fit to begin anew."
        )


def _same(now: Any, then: Any) -> bool:
    """Whether two parameters are equal; objects that cannot be compared are if their types are."""
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


def check_certificate(owner: str, return_std: Any, tolerance: Any, confidence: Any) -> None:
    """A tolerance takes the place of a standard error."""
    check_probability(owner, "confidence", confidence)
    if tolerance is not None and return_std:
        raise ValueError(
            f"{owner}: predict with tolerance={tolerance!r} and return_std={return_std!r}, but "
            "predictions within a tolerance have a certificate in the place of a standard error. "
            "Remedy: ask for one of them."
        )
    if tolerance is not None:
        check_value(
            owner, "tolerance", tolerance, positive("it is in the units of y or of decision values")
        )


def check_regret(owner: str, played: Any, n_rows: int, most: int) -> None:
    """Regret is worked out from every row and its place in the stream."""
    if played is None:
        raise ValueError(
            f"{owner}: regret_ needs every row, but max_support has replaced some of them. Remedy: "
            "max_support=None."
        )
    if n_rows > most:
        raise ValueError(
            f"{owner}: regret_ of {n_rows:,} rows would need the eigenvalues of a kernel matrix of "
            f"that size, and it is worked out for at most {most:,}. Remedy: look at a shorter "
            "stream; online_error_ has the error of any."
        )

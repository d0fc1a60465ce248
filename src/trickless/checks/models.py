"""Checks of what is asked of a fitted model."""

from __future__ import annotations

from types import MethodType
from typing import Any

import numpy as np
import scipy.sparse

from trickless.checks.inputs import _ROUNDINGS
from trickless.rules import anything, check_value, is_real, positive


def _same_fit(mine: Any, theirs: Any) -> bool:
    """Whether two families took the same from the data: their attributes, as far as comparable."""
    if type(mine) is not type(theirs):
        return False
    if isinstance(mine, dict):
        names = [name for name in mine if name.endswith("_")]
        return all(name in theirs and _same_fit(mine[name], theirs[name]) for name in names)
    if isinstance(mine, list | tuple):
        return len(mine) == len(theirs) and all(map(_same_fit, mine, theirs))
    if hasattr(mine, "get_params"):
        return _same_fit(vars(mine), vars(theirs))
    if isinstance(mine, np.ndarray) and mine.dtype.kind == "f":
        return mine.shape == theirs.shape and np.allclose(
            mine, theirs, rtol=1e-4, atol=0, equal_nan=True
        )
    return not isinstance(mine, np.ndarray) or np.array_equal(mine, theirs)


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


def check_expansion(support: Any, alpha: Any) -> None:
    """Support points must be rows of real numbers, each with one row of coefficients."""
    shapes = np.shape(support), np.shape(alpha)
    if scipy.sparse.issparse(support):
        shapes = support.shape, np.shape(alpha)
    if len(shapes[0]) != 2 or len(shapes[1]) != 2 or shapes[0][0] != shapes[1][0]:
        raise ValueError(
            f"Expansion: support has shape {shapes[0]} and alpha {shapes[1]}, but they must be "
            "(t, n_features) and (t, n_outputs). Remedy: pass alpha[:, None] for a single output."
        )
    if getattr(support, "dtype", None) not in (np.float32, np.float64):
        raise TypeError(
            f"Expansion: support has dtype {getattr(support, 'dtype', type(support).__name__)}, "
            "but it must be a float32 or float64 array. Remedy: support.astype('float32')."
        )


def check_probability(owner: str, name: str, value: Any) -> None:
    """A probability strictly between 0 and 1."""
    rule = anything(
        "a number above 0 and below 1",
        f"{name}=0.05 or 0.95 are common choices",
        lambda v: is_real(v) and 0 < v < 1,
    )
    check_value(owner, name, value, rule)


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


def check_tolerance(owner: str, tolerance: Any, alpha: np.ndarray, dtype: Any) -> np.ndarray:
    """A positive tolerance for each output, and one that the precision of the sums can keep."""
    try:
        wanted = np.broadcast_to(np.asarray(tolerance, dtype=np.float64), alpha.shape[1])
        known = bool((wanted > 0).all() and np.isfinite(wanted).all())
    except (TypeError, ValueError):
        known = False
    if not known:
        raise ValueError(
            f"{owner}: tolerance={tolerance!r}, but it must be a finite number above 0, or one for "
            "each output. Remedy: tolerance=0.05 lets values be 0.05 off."
        )
    rounding = _ROUNDINGS * np.finfo(dtype).eps * np.abs(alpha).sum(axis=0)
    if (wanted < rounding).any():
        raise ValueError(
            f"{owner}: tolerance={tolerance!r}, but sums in {np.dtype(dtype).name} may be off by "
            f"{rounding.max():.1g} themselves. Remedy: dtype='float64', or a larger tolerance."
        )
    return wanted

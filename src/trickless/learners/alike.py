"""Whether parameters, or what families estimated from data, are the same in two learners."""

from __future__ import annotations

from types import MethodType
from typing import Any

import numpy as np
from scipy.sparse import issparse


def alike(mine: Any, theirs: Any, rtol: float = 0.0) -> bool:
    """Return whether two parameters are equal, or two fitted families with a relative tolerance.

    With ``rtol``, estimators are compared by their fitted attributes instead of their parameters.
    Objects without ``==`` are equal if their types are, and so are parts of fitted families that
    are no arrays.
    """
    if hasattr(mine, "get_params"):
        here = vars(mine) if rtol else mine.get_params(deep=False)
        there = getattr(theirs, "__dict__", {})
        names = [name for name in here if not rtol or name.endswith("_")]
        same = (alike(here[name], there.get(name), rtol) for name in names)
        return type(mine) is type(theirs) and all(same)
    if issparse(mine) and issparse(theirs):
        parts = ("shape", "indptr", "indices", "data")
        return all(np.array_equal(getattr(mine, p), getattr(theirs, p)) for p in parts)
    if hasattr(mine, "__array__") or hasattr(theirs, "__array__"):
        if rtol and np.shape(mine) == np.shape(theirs) and np.asarray(mine).dtype.kind == "f":
            return np.allclose(mine, theirs, rtol=rtol, atol=0, equal_nan=True)
        return np.array_equal(mine, theirs)
    if isinstance(mine, MethodType) and isinstance(theirs, MethodType):
        return mine.__func__ is theirs.__func__ and alike(mine.__self__, theirs.__self__, rtol)
    if isinstance(mine, list | tuple) and type(mine) is type(theirs):
        pairs = zip(mine, theirs, strict=False)
        return len(mine) == len(theirs) and all(alike(*pair, rtol) for pair in pairs)
    if isinstance(mine, dict) and isinstance(theirs, dict):
        same_keys = mine.keys() == theirs.keys()
        return same_keys and all(alike(mine[key], theirs[key], rtol) for key in mine)
    opaque = rtol > 0 or type(mine).__eq__ is object.__eq__  # type: ignore[comparison-overlap]
    return (opaque and type(mine) is type(theirs)) or bool(mine == theirs)

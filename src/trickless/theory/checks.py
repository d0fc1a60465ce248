"""Checks of arguments, and of results that double precision cannot hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from trickless.errors import InvalidValueError
from trickless.rules import anything, fraction, is_real

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: Formulas take integers of any size.
ANY_INTEGER = math.inf
DELTA = fraction("delta=0.05 is usual")


def _are_sizes(values: Any) -> bool:
    if not is_real(values) and not (isinstance(values, np.ndarray) and values.dtype.kind in "iuf"):
        return False
    return bool(np.all((values >= 0) & (values < np.inf)))


SIZES = anything(
    "a finite number of at least 0, or an array of them", "take the absolute value", _are_sizes
)


def in_range(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Raise an error if the result overflows double precision or is undefined."""

    @wraps(function)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                answer: Any = function(*args, **kwargs)
                parts = answer if isinstance(answer, tuple) else (answer,)
                if not all(np.isfinite(np.asarray(part, dtype=float)).all() for part in parts):
                    raise OverflowError("the result is not finite")
        except ArithmeticError as error:
            raise InvalidValueError(
                f"{function.__name__}: no result for {[*args, *kwargs.values()]!r} in double "
                f"precision: {error}",
                "less extreme arguments",
            ) from error
        return answer

    return checked

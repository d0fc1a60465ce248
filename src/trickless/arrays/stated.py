"""Requirements on the parts of an object, checked wherever a state comes from elsewhere.

States come from files and pickles. A class says in ``check_state`` what its parts must
be, and how they must agree with each other. Compiled code, and code that looks up values by their
position, relies on that. The reader of files and pickle both call ``__setstate__``.
"""

from __future__ import annotations

import dis
import math
import sys
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np


class Stated:
    """Object whose state is checked when it is restored."""

    def __copy__(self) -> Any:
        """Copy an object without a check, since its state is known."""
        other = object.__new__(type(self))
        state: Any = self.__getstate__()
        if type(self).__setstate__ is Stated.__setstate__:
            other.__dict__.update(state or {})
        else:  # of a user's family
            other.__setstate__(state)
        return other

    def check_state(self) -> None:
        """Raise a ValueError that names a part of another type, shape or range.

        A part that the object does not have yet is not checked.
        """

    def __setstate__(self, state: Any) -> None:
        restore = getattr(super(), "__setstate__", self.__dict__.update)
        restore(state)
        cls: Any = type(self)
        try:
            for name in _attributes(cls):
                if name not in vars(self):
                    raise ValueError(f"there is no {name}")
            self.check_state()
        except (ValueError, TypeError, AttributeError, LookupError) as error:
            raise ValueError(f"{cls.__name__}: {error}") from error


@cache
def _attributes(cls: type) -> list[str]:
    """Return the attributes that ``__init__`` sets on every object of a class of this package.

    An attribute with a value of the class is not among them.
    """
    names = set[str]()
    for base in cls.__mro__:
        init = vars(base).get("__init__")
        if not isinstance(init, FunctionType):
            continue
        if base.__module__.partition(".")[0] != "trickless":
            break
        names.update(op.argval for op in dis.get_instructions(init) if op.opname == "STORE_ATTR")
        if "super" not in init.__code__.co_names:
            break
    return sorted(name for name in names if not hasattr(cls, name))


def check_array(
    name: str,
    value: Any,
    types: str,
    shape: tuple[int | None, ...],
    least: float | None = None,
    below: float | None = None,
) -> None:
    """Check the type, shape and range of an array.

    ``types`` are names such as "f4 f8": kinds of numbers, with their bytes. None in the ``shape``
    is any length. All values must be at least ``least`` and below ``below``.
    """
    if type(value) is not np.ndarray and not isinstance(value, np.memmap):
        raise ValueError(f"{name}: a {type(value).__name__} is where an array should be")
    if value.dtype not in _dtypes(types):
        raise ValueError(f"{name}: the type is {value.dtype}, not one of {types}")
    fits = len(shape) == value.ndim
    for n, m in zip(shape, value.shape, strict=False):
        fits = fits and (n is None or n == m)
    if not fits:
        wanted = " x ".join("any" if n is None else str(n) for n in shape)
        raise ValueError(f"{name}: the shape is {value.shape}, not {wanted}")
    if value.size and least is not None and not value.min() >= least:
        raise ValueError(f"{name}: {value.min()} is below {least}")
    if value.size and below is not None and not value.max() < below:
        raise ValueError(f"{name}: {value.max()} is not below {below}")


@cache
def _dtypes(types: str) -> frozenset[np.dtype]:
    return frozenset(map(np.dtype, types.split()))


def check_count(name: str, value: Any, least: int, most: int | None = None) -> None:
    """Check that this is an integer in a range, which includes both ends."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise ValueError(f"{name}: a {type(value).__name__} is where an integer should be")
    if value < least or (most is not None and value > most):
        wanted = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name}: {str(value)[:50]} is not {wanted}")


def check_number(name: str, value: Any, least: float = -math.inf) -> None:
    """Check that this is a finite number, and not below another."""
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        raise ValueError(f"{name}: a {type(value).__name__} is where a number should be")
    if not max(least, -sys.float_info.max) <= value <= sys.float_info.max:
        raise ValueError(f"{name}: {value} is not a finite number from {least} on")


def check_is(name: str, value: Any, types: Any) -> None:
    """Check that this is an instance of a type, or of one of several."""
    if not isinstance(value, types):
        raise ValueError(f"{name}: a {type(value).__name__} cannot be there")


def check_list(name: str, value: Any, types: Any, length: int | None = None) -> None:
    """Check that this is a list of instances of a type, or of one of several."""
    check_is(name, value, list)
    for item in value:
        check_is(name, item, types)
    if length is not None:
        check_same(f"length of {name}", len(value), length)


def check_same(name: str, value: Any, expected: Any) -> None:
    """Check that a value is the one that follows from other parts."""
    if value != expected:
        raise ValueError(f"{name}: {str(value)[:50]} is not the {expected} of the other parts")

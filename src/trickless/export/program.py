"""A model as a small program: constant arrays, and functions that C and JavaScript share.

The language is C, restricted to what both languages share. A declaration begins with ``int`` or
``double`` and has a value, or declares an array of a fixed size. An array of bytes begins with
``unsigned char``. Arrays are indexed by one number. Conversions are functions: ``single(value)``
rounds to single precision, and ``whole(value)`` makes an int of a double. C99's mathematical
functions have their names in C.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from string import Template
from typing import Any, NamedTuple

import numpy as np

from trickless.errors import InvalidValueError

#: The largest numbers of single and of double precision.
SINGLE, DOUBLE = (float(np.finfo(kind).max) for kind in (np.float32, np.float64))


class Column(NamedTuple):
    """A column of the rows that a program reads.

    Attributes
    ----------
    name : str or None
        Its name, if columns have names.
    categories : list of str or None
        Its categories, by their codes, unless it holds numbers.
    unit : str or None
        The unit of its numbers, if they are times.
    """

    name: str | None = None
    categories: list[str] | None = None
    unit: str | None = None


class Function(NamedTuple):
    """A function of the program, which returns 0, or 1 for a row that it cannot read.

    ``arguments`` are arrays of doubles. The first is the input, and the second is filled.
    """

    name: str
    arguments: tuple[str, str]
    body: str


@dataclass
class Program:
    """A model as constant arrays and functions.

    Attributes
    ----------
    about : str
        What the program is, in a line.
    columns : list of Column
        The columns of a row.
    single : bool
        Whether rows are rounded to single precision.
    n_outputs : int
        Number of values of a regressor, or of decision values.
    labels : array or None
        The classes of a classifier.
    has_sets : bool
        Whether a row may have several labels.
    is_vector : bool
        Whether a regressor predicts a number for each row, and not several.
    n_ends : int
        Number of ends of intervals.
    arrays : dict of arrays
        Constants by name.
    functions : list of Function
        Functions, each after those that it calls.
    """

    about: str
    columns: list[Column]
    single: bool
    n_outputs: int
    labels: np.ndarray | None = None
    has_sets: bool = False
    is_vector: bool = False
    n_ends: int = 0
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    functions: list[Function] = field(default_factory=list)

    def add(self, name: str, arguments: tuple[str, str], body: str) -> None:
        """Add a function."""
        self.functions.append(Function(name, arguments, body))

    def has(self, name: str) -> bool:
        """Return whether there is a function of this name."""
        return any(function.name == name for function in self.functions)

    def calls(self, name: str) -> bool:
        """Return whether some function calls another of this name."""
        return any(f"{name}(" in function.body for function in self.functions)

    def keep(self, **arrays: Any) -> None:
        """Add constant arrays, integers in as few bytes as they need."""
        for name, values in arrays.items():
            values = np.ascontiguousarray(values).ravel()
            if values.dtype.kind == "f" and not np.isfinite(values).all():
                raise InvalidValueError(
                    f"{self.about}: the array {name} of the model is not finite",
                    "a model whose fit did not diverge",
                )
            self.arrays[name] = _small(values)


def _small(values: np.ndarray) -> np.ndarray:
    """Return numbers in a type that both languages have: integers in the smallest."""
    if not len(values):  # C has no arrays without elements
        values = np.zeros(1, dtype=values.dtype)
    if values.dtype.kind == "f":
        return values.astype(np.float32 if values.dtype.itemsize <= 4 else np.float64)
    low, high = int(values.min()), int(values.max())
    for kind in (np.uint8, np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return values.astype(kind)
    raise InvalidValueError(
        f"an array of the model holds the integer {high:,}, beyond 32 bits", "fewer neurons"
    )


def code(template: str, **numbers: Any) -> str:
    """Fill numbers into a template, where each is written as ``$name``."""
    return Template(template.strip("\n")).substitute(numbers)

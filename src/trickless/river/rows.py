"""Dictionaries of features as vectors whose columns grow."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Hashable, Iterable
from decimal import Decimal
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np

from trickless._arrays.missing import is_missing
from trickless._errors import InvalidTypeError
from trickless._rules import shown, warn
from trickless._solvers.experts.growing_features import LARGEST, GrowingFeatures
from trickless._solvers.experts.opinions import LAST

#: The most columns.
MOST = 512
#: Types that NumPy converts to a number and never to a category.
_PLAIN = {float, int, bool}
_PERIODS = {"day": 86_400.0, "week": 604_800.0, "year": 365.2425 * 86_400.0}

Key = tuple[Hashable, ...]
#: Columns and their values.
Cells = Iterable[tuple[Key, float]]


class DictionaryRows(GrowingFeatures):
    """Features of a stream of dictionaries, whose columns are in the order in which they appeared.

    A number has the column ``(name,)``, and each value of a category has a column of its own,
    ``(name, value)``. A date has several of three entries.
    """

    def __init__(self, owner: str, n_neurons: int, seed: int) -> None:
        super().__init__(n_neurons, seed)
        self.owner = owner
        self.places: dict[Key, int] = {}
        self.is_full = False
        self._names: list[Hashable] = []  # of the numbers of the rows, and their places
        self._at = np.zeros(0, int)

    def read(self, x: Any, more: Cells = ()) -> tuple[np.ndarray, list[Key]]:
        """Return the values of all columns in a row, and the keys that have no column yet.

        A number that the row lacks is NaN, but 0 in a counter, and a category that it lacks is 0 in
        all columns. ``more`` are cells besides those of the row.
        """
        raw = np.zeros(len(self.blank)) if isinstance(x, Counter) else self.blank.copy()
        unseen: list[Key] = []
        for key, number in more if self._read_usual(x, raw) else chain(self._cells(x), more):
            place = self.places.get(key)
            if place is not None:
                raw[place] = number
            elif not self.is_full:
                unseen.append(key)
        return raw, unseen

    def read_new(self, x: Any, more: Cells = ()) -> np.ndarray:
        """Return the values of a row, for which columns are added."""
        raw, unseen = self.read(x, more)
        if not unseen:
            return raw
        keys = sorted(unseen, key=repr)[: MOST - len(self.places)]
        if len(keys) < len(unseen):
            warn(
                f"{self.owner}: the rows have had more than {MOST} different numbers and "
                "categories. Further ones are left out. Remedy: river.preprocessing.FeatureHasher "
                "or river.feature_selection before this learner."
            )
            self.is_full = True
        if keys:
            self.places |= {key: len(self.places) + i for i, key in enumerate(keys)}
            self.grow([len(key) != 2 for key in keys])
            self._names = [key[0] for key in self.places if len(key) == 1 and key[0] is not LAST]
            self._at = np.array([self.places[(name,)] for name in self._names], int)
        return self.read(x, more)[0]

    def _read_usual(self, x: Any, raw: np.ndarray) -> bool:
        """Read a row that has the same numbers as ever at once, and return whether it is one."""
        if type(x) is not dict or len(x) != len(self._names):  # others may have more values
            return False
        values = [x.get(name) for name in self._names]
        if not _PLAIN.issuperset(map(type, values)):
            return False
        try:
            raw[self._at] = values
        except OverflowError:
            return False
        return True

    def _cells(self, x: Any) -> Cells:
        """Yield the columns of a row, and the value of each. A missing feature has none."""
        if not hasattr(x, "items"):
            raise InvalidTypeError(
                f"{self.owner}: the row is {shown(x)}, of type {type(x).__name__}",
                "pass a dictionary of features by their names",
            )
        for name, value in x.items():
            if is_missing(value):
                continue
            elif isinstance(value, datetime.timedelta | np.timedelta64):
                yield (name,), np.timedelta64(value) / np.timedelta64(1, "s")
            elif isinstance(value, Real | np.bool_ | Decimal):
                yield (name,), float(min(max(value, -LARGEST), LARGEST))
            elif isinstance(value, datetime.date | np.datetime64):
                yield from _times(name, value)
            elif is_hashable(value):
                yield (name, value), 1.0
            else:
                raise InvalidTypeError(
                    f"{self.owner}: feature {name!r} is {shown(value)}, of type "
                    f"{type(value).__name__}",
                    "a number, a string, a Boolean or a date; leave a missing feature out, or None",
                )


def is_hashable(value: Any) -> bool:
    """Return whether a value can be a category or a label."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _times(name: Hashable, value: Any) -> Cells:
    """Yield the local time in seconds since 1970, and cosine and sine of day, week and year."""
    if isinstance(value, datetime.datetime):
        value = value.replace(tzinfo=None)
    seconds = float(np.datetime64(value, "us").astype(int) / 1e6)
    yield (name, "time", ""), seconds
    for period, length in _PERIODS.items():
        angle = 2 * math.pi * (seconds % length) / length
        yield (name, period, "cos"), math.cos(angle)
        yield (name, period, "sin"), math.sin(angle)

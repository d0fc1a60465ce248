"""Dictionaries of features as vectors whose columns grow."""

from __future__ import annotations

import datetime
import math
import zlib
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from decimal import Decimal
from numbers import Real
from operator import itemgetter
from typing import Any

import numpy as np

from trickless.arrays.missing import is_missing
from trickless.errors import InvalidTypeError
from trickless.rules import shown, warn

#: The most columns. Further categories share ``BUCKETS`` more, and further numbers are left out.
MOST = 512
BUCKETS = 64
#: Types that NumPy converts to a number and never to a category.
_PLAIN = {float, int, bool}
_PERIODS = {"day": 86_400.0, "week": 604_800.0, "year": 365.2425 * 86_400.0}

Key = tuple[Hashable, ...]


class Columns:
    """The columns of a stream of dictionaries, in the order in which they appeared.

    A number has the column ``(name,)``, and each value of a category has a column of its own,
    ``(name, value)``. A date has several of three entries, see :func:`parts`.

    Attributes
    ----------
    places : dict
        Column of each key.
    variables : list of int
        The variable of each column. Values of one category belong to one variable.
    is_number : array of bool of shape (n_columns,)
        False for the values of categories, which are 0 or 1.
    """

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.places: dict[Key, int] = {}
        self.variables: list[int] = []
        self.is_number = np.zeros(0, bool)
        self._of_name: dict[Key, int] = {}
        self.blank = np.zeros(0)
        self._get: Any = None
        self._plain_places = np.zeros(0, int)
        self._full = False

    def read(self, x: Mapping[Hashable, Any]) -> tuple[np.ndarray, list[Key]]:
        """Return the values of all columns in a row, and the keys that have no column yet.

        A number that the row lacks is NaN, but 0 in a counter, and a category that it lacks is 0 in
        all columns.
        """
        raw = np.zeros(len(self.blank)) if isinstance(x, Counter) else self.blank.copy()
        # The usual case: the same numbers as ever. Other types may have values for every name.
        if type(x) is dict and len(x) == len(self._plain_places) > 1:
            try:
                values = self._get(x)
                if _PLAIN.issuperset(map(type, values)):
                    raw[self._plain_places] = values
                    return raw, []
            except (KeyError, OverflowError):
                pass
        if not hasattr(x, "items"):
            raise InvalidTypeError(
                f"{self.owner}: the row is {shown(x)}, of type {type(x).__name__}",
                "pass a dictionary of features by their names",
            )
        unseen = []
        for name, value in x.items():
            for key, number in parts(self.owner, name, value):
                place = self.places.get(key)
                if place is None and self._full:
                    if len(key) != 2:
                        continue
                    place = self.places[_bucket(key)]
                if place is None:
                    unseen.append(key)
                else:
                    raw[place] = number
        return raw, unseen

    def grow(self, unseen: list[Key]) -> None:
        """Add columns. Their order does not depend on the order within a row."""
        if len(self.places) + len(unseen) > MOST and not self._full:
            warn(
                f"{self.owner}: the rows have had more than {MOST} different numbers and "
                f"categories. Further categories share {BUCKETS} columns, and further numbers are "
                "left out. Remedy: river.feature_extraction or river.feature_selection before this "
                "learner."
            )
        for key in sorted(unseen, key=repr):
            if len(self.places) == MOST:
                self._fill()
            if self._full:
                break
            self._add(key)
        plain = [key for key in self.places if len(key) == 1]
        self._plain_places = np.array([self.places[key] for key in plain], int)
        self._get = itemgetter(*(key[0] for key in plain)) if plain else None
        self.blank = np.where(self.is_number, np.nan, 0.0)

    def _add(self, key: Key) -> None:
        number = len(key) != 2
        variable = key if number else (key[0], None)
        self.places[key] = len(self.places)
        self.variables.append(self._of_name.setdefault(variable, len(self._of_name)))
        self.is_number = np.append(self.is_number, number)

    def _fill(self) -> None:
        """Add the last columns, which all further categories share."""
        for bucket in range(BUCKETS):
            self._add(_key_of_bucket(bucket))
        self._full = True


def parts(owner: str, name: Hashable, value: Any) -> Iterator[tuple[Key, float]]:
    """Yield the columns of a feature, and the value of each. A missing feature has none.

    A date or datetime has the seconds since 1970, and cosine and sine of the time of day, of the
    day of the week and of the day of the year. A duration has its seconds.
    """
    if is_missing(value):
        return
    if isinstance(value, datetime.timedelta | np.timedelta64):
        yield (name,), _duration(value)
    elif type(value) in _PLAIN or isinstance(value, Real | np.bool_ | Decimal):
        yield (name,), _as_float(value)
    elif isinstance(value, datetime.date | np.datetime64):
        seconds = _seconds(value)
        yield (name, "time", ""), seconds
        for period, length in _PERIODS.items():
            angle = 2 * math.pi * (seconds % length) / length
            yield (name, period, "cos"), math.cos(angle)
            yield (name, period, "sin"), math.sin(angle)
    elif is_hashable(value):
        yield (name, value), 1.0
    else:
        raise InvalidTypeError(
            f"{owner}: feature {name!r} is {shown(value)}, of type {type(value).__name__}",
            "a number, a string, a Boolean or a date; leave a missing feature out, or None",
        )


def is_hashable(value: Any) -> bool:
    """Return whether a value can be a category or a label."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _duration(value: Any) -> float:
    """Return a duration in seconds."""
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if np.datetime_data(value.dtype)[0] in "YM":  # of average length
        value = value.astype("m8[D]")
    return float(value / np.timedelta64(1, "s"))


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _seconds(value: Any) -> float:
    """Return the local time of a date as seconds since 1970."""
    if isinstance(value, np.datetime64):
        return float(value.astype("datetime64[ms]").astype(int) / 1e3)
    clock = value if isinstance(value, datetime.datetime) else None
    of_day = 0.0
    if clock is not None:
        of_day = clock.hour * 3600 + clock.minute * 60 + clock.second + clock.microsecond / 1e6
    return (value.toordinal() - 719_163) * 86_400.0 + of_day


def _bucket(key: Key) -> Key:
    return _key_of_bucket(zlib.crc32(repr(key).encode()) % BUCKETS)


def _key_of_bucket(bucket: int) -> Key:
    return (b"bucket", bucket)

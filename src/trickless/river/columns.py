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
#: Columns and their values.
Cells = tuple[tuple[Key, float], ...]


class StreamColumns:
    """The columns of a stream of dictionaries, in the order in which they appeared.

    A number has the column ``(name,)``, and each value of a category has a column of its own,
    ``(name, value)``. A date has several of three entries, see :func:`parts`.

    Attributes
    ----------
    places : dict
        Column of each key.
    is_number : array of bool of shape (n_columns,)
        False for the values of categories, which are 0 or 1.
    """

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.places: dict[Key, int] = {}
        self.is_number = np.zeros(0, bool)
        self.blank = np.zeros(0)
        self._get: Any = None
        self._plain_places = np.zeros(0, int)

    def read(self, x: Mapping[Hashable, Any], more: Cells = ()) -> tuple[np.ndarray, list[Key]]:
        """Return the values of all columns in a row, and the keys that have no column yet.

        A number that the row lacks is NaN, but 0 in a counter, and a category that it lacks is 0 in
        all columns. ``more`` are cells besides those of the row.
        """
        raw = np.zeros(len(self.blank)) if isinstance(x, Counter) else self.blank.copy()
        unseen: list[Key] = []
        if not self._read_plain(x, raw):
            if not hasattr(x, "items"):
                raise InvalidTypeError(
                    f"{self.owner}: the row is {shown(x)}, of type {type(x).__name__}",
                    "pass a dictionary of features by their names",
                )
            for name, value in x.items():
                self._put(parts(self.owner, name, value), raw, unseen)
        self._put(more, raw, unseen)
        return raw, unseen

    def _read_plain(self, x: Any, raw: np.ndarray) -> bool:
        """Read the usual row, which has the same numbers as ever, and return whether it is one."""
        # Other types may have values for every name.
        if type(x) is not dict or len(x) != len(self._plain_places) or len(x) < 2:
            return False
        try:
            values = self._get(x)
            if not _PLAIN.issuperset(map(type, values)):
                return False
            raw[self._plain_places] = values
        except (KeyError, OverflowError):
            return False
        return True

    def _put(self, cells: Any, raw: np.ndarray, unseen: list[Key]) -> None:
        for key, number in cells:
            place = self.places.get(key)
            if place is None and self._is_full:
                if len(key) != 2:
                    continue
                place = self.places[_bucket(key)]
            if place is None:
                unseen.append(key)
            else:
                raw[place] = number

    @property
    def _is_full(self) -> bool:
        return len(self.places) > MOST

    def grow(self, unseen: list[Key]) -> None:
        """Add columns. Their order does not depend on the order within a row."""
        if len(self.places) + len(unseen) > MOST and not self._is_full:
            warn(
                f"{self.owner}: the rows have had more than {MOST} different numbers and "
                f"categories. Further categories share {BUCKETS} columns, and further numbers are "
                "left out. Remedy: river.feature_extraction or river.feature_selection before this "
                "learner."
            )
        keys = sorted(unseen, key=repr)
        room = MOST - len(self.places)
        if len(keys) > room:
            keys = keys[:room] + [_key_of_bucket(bucket) for bucket in range(BUCKETS)]
        self.places |= {key: len(self.places) + i for i, key in enumerate(keys)}
        self.is_number = np.append(self.is_number, [len(key) != 2 for key in keys])
        plain = [key for key in self.places if len(key) == 1]
        self._plain_places = np.array([self.places[key] for key in plain], int)
        self._get = itemgetter(*(key[0] for key in plain)) if plain else None
        self.blank = np.where(self.is_number, np.nan, 0.0)


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
    value = np.timedelta64(value)
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
    if isinstance(value, datetime.datetime):
        value = value.replace(tzinfo=None)
    return float(np.datetime64(value, "us").astype(int) / 1e6)


def _bucket(key: Key) -> Key:
    return _key_of_bucket(zlib.crc32(repr(key).encode()) % BUCKETS)


def _key_of_bucket(bucket: int) -> Key:
    return (b"bucket", bucket)

"""What values are: numbers, kinds of time, or other objects; and times as numbers of days."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from trickless.arrays.missing import is_missing

NUMBERS, TRUTH, OBJECTS, CATEGORIES = "numbers", "truth values", "other objects", "categories"
#: Kinds of time. Only a date with a time zone is a point in time.
DATES, ZONED, DURATIONS = "dates", "dates with a time zone", "durations"
TIMES_OF_DAY = "times of day"
TIMES = DATES, ZONED, DURATIONS, TIMES_OF_DAY
#: Types of objects that are numbers.
NUMBER_TYPES = Real, Decimal, np.bool_
_PER_DAY = {"D": 1, "h": 24, "m": 1440, "s": 86_400, "ms": 86_400_000, "us": 86_400_000_000}


def kind_of(value: Any) -> str:
    """Return what an object is: a number, a kind of time, or another object."""
    return kind_of_time(value) or (NUMBERS if isinstance(value, NUMBER_TYPES) else OBJECTS)


def kind_of_time(value: Any) -> str:
    """Return the kind of time that an object is; "" if it is not a time."""
    if isinstance(value, float | int | str):  # most are
        return ""
    if isinstance(value, datetime):
        return DATES if value.tzinfo is None else ZONED
    if isinstance(value, date | np.datetime64) or type(value).__name__ == "Period":
        return DATES
    if isinstance(value, timedelta | np.timedelta64):
        return DURATIONS
    return TIMES_OF_DAY if isinstance(value, time) else ""


def as_numbers(values: np.ndarray) -> np.ndarray:
    """Return times as float64 to the microsecond: days since 1970, or days; NaN if missing.

    Numbers are returned unchanged.
    """
    kind = values.dtype.kind
    if kind not in "mM":
        return values
    unit, step = np.datetime_data(values.dtype)
    if unit not in _PER_DAY or step != 1:
        values, unit = values.astype(f"{kind}8[us]"), "us"
    return np.where(np.isnat(values), np.nan, values.astype(np.int64) / _PER_DAY[unit])


def holds_times(array: np.ndarray) -> bool:
    """Return whether an array of objects holds times, which lose their unit as floats."""
    kinds = {type(value): value for value in array.flat}
    times = {kind for kind, value in kinds.items() if kind_of_time(value)}
    return any(type(value) in times and not is_missing(value) for value in array.flat if times)


def as_number(value: Any) -> float:
    """Return an object as a number: a time in days, a period as the day on which it begins."""
    if isinstance(value, float | int | str):
        return float(value)
    if isinstance(value, time):
        value = timedelta(0, value.second, value.microsecond, 0, value.minute, value.hour)
    elif type(value).__name__ == "Period":  # of pandas
        value = value.to_timestamp()
    if hasattr(value, "asm8"):  # pandas, whose years may be outside the range of Python
        value = value.asm8
    elif isinstance(value, datetime):
        offset = np.timedelta64(value.utcoffset() or timedelta(), "us")
        value = np.datetime64(value.replace(tzinfo=None), "us") - offset
    elif isinstance(value, date):
        value = np.datetime64(value, "us")
    elif isinstance(value, timedelta):
        value = np.timedelta64(value, "us")
    return float(as_numbers(np.asarray(value)) if isinstance(value, np.generic) else value)

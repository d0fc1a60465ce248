"""What values are: numbers, kinds of time, or other objects; and how they are numbers or text."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from trickless._arrays.missing import is_missing
from trickless._errors import InvalidValueError

NUMBERS, TRUTH, OBJECTS, CATEGORIES = "numbers", "truth values", "other objects", "categories"
#: Kinds of time. Only a date with a time zone is a point in time.
DATES, ZONED, DURATIONS = "dates", "dates with a time zone", "durations"
TIMES_OF_DAY = "times of day"
TIMES = DATES, ZONED, DURATIONS, TIMES_OF_DAY
#: Times as numbers.
IN_DAYS = dict.fromkeys(TIMES, "days") | {
    DATES: "days since 1970-01-01",
    ZONED: "days since 1970-01-01 in UTC",
}
#: The most days between a date and 1970: 10,000 years. More are seconds, or digits like 20260131.
MOST_DAYS = 3_652_425
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


def as_text(value: Any) -> str:
    """Return the text of a category: 7 for 7.0, true for True, 2026-01-31 for that day's midnight.

    Raises a ValueError for bytes that are not text, and for a float that may be several numbers.
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise InvalidValueError(
                f"the category {value[:40]!r} is bytes that are not valid UTF-8", "decode them"
            ) from error
    if isinstance(value, Decimal):
        return _of_decimal(value)
    if isinstance(value, float | np.floating):
        return _of_float(value)
    if isinstance(value, np.datetime64):
        short = value.astype("M8[us]")
        return as_text(short.item()) if short == value else str(value)
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            return str(value.astimezone(UTC))
        is_day = value.time() == time() and not getattr(value, "nanosecond", 0)
        return str(value.date() if is_day else value)
    if isinstance(value, timedelta):
        rest = getattr(value, "nanoseconds", 0)
        plain = timedelta(value.days, value.seconds, value.microseconds)
        return f"{plain} and {rest} ns" if rest else str(plain)
    if isinstance(value, complex) or type(value).__hash__ is None:
        raise TypeError(f"one is of the type {type(value).__name__}")
    if type(value).__name__ == "Interval":  # of pandas
        begin, end = "[" if value.closed_left else "(", "]" if value.closed_right else ")"
        return f"{begin}{as_text(value.left)}, {as_text(value.right)}{end}"
    return str(value)


def _of_decimal(value: Decimal) -> str:
    """Return the text of the float with this value, or all digits without final zeros."""
    if not value.is_finite():
        return str(value)
    if value == value.to_integral_value():
        return str(int(value))
    if Decimal(repr(float(value))) == value:
        return repr(float(value))
    return f"{value:f}".rstrip("0")


def _of_float(value: Any) -> str:
    number = float(value)
    if not number.is_integer():
        return str(value)
    exact = 2 ** (np.finfo(type(value)).nmant + 1)
    if abs(number) >= exact:
        raise InvalidValueError(
            f"the category {value!r} is a float of {exact:,} or more, which may be one of several "
            "whole numbers",
            "store such categories as integers or text",
        )
    return str(int(number))

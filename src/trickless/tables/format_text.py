"""Values as text: how categories are spelled, whatever types a file or data frame has."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from trickless.errors import InvalidValueError


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

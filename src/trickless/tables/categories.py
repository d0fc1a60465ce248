"""Categories as text: one spelling for a value, whatever file or data frame it comes from."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np

#: From here on double precision leaves out whole numbers.
_EXACT = 2**53


def as_text(value: Any) -> str:
    """The text of a category: 7 for 7.0, true for True, 2026-01-31 for that day's midnight.

    Raises
    ------
    ValueError
        For a float that stands for several whole numbers.
    """
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, Decimal):
        whole = value.is_finite() and value == value.to_integral_value()
        return str(int(value)) if whole else str(float(value))
    if isinstance(value, float | np.floating):
        number = float(value)
        if not number.is_integer():
            return str(number)
        if abs(number) >= _EXACT:
            raise ValueError(
                f"the category {value!r} is a float of {_EXACT:,} or more, which stands for "
                "several whole numbers. Remedy: keep such categories as integers or as text"
            )
        return str(int(number))
    if isinstance(value, datetime) and value.tzinfo is None and not getattr(value, "nanosecond", 0):
        return str(value.date() if value.time() == time() else value)
    return str(value)


def spelled(column: Any, known: list[str]) -> Any:
    """A column of a data frame as categories that are text.

    Texts stay as they are. A number, a truth value or a time is the known text that would be read
    as the same, as 007 and 7 are, and otherwise the text that it has in :func:`as_text`.

    Raises
    ------
    ValueError
        Where several known texts would be read as a value, and for values that are no categories.
    """
    try:
        categories = column.astype("category")
        texts = {value: as_text(value) for value in categories.cat.categories}
        if not all(isinstance(value, str) for value in texts):
            texts |= _known(texts, known)
    except ValueError as error:
        raise ValueError(f"TableModel: column {column.name!r}: {error}.") from error
    except TypeError as error:
        raise ValueError(
            f"TableModel: column {column.name!r} holds objects that cannot be categories: {error}. "
            "Remedy: one text, number, truth value or time a cell."
        ) from error
    return categories.map(texts.__getitem__, na_action="ignore").astype("category")


def _known(texts: dict[Any, str], known: list[str]) -> dict[Any, str]:
    """Known texts of values that are not text, where there are some."""
    readings = defaultdict(list)
    for text in known:
        readings[_reading(text)].append(text)
    found = {}
    for value, text in texts.items():
        meant = [] if isinstance(value, str) else readings.get(text, [])
        if len(meant) > 1:
            raise ValueError(
                f"the category {value!r} may be any of {meant[:4]}, which the model was fitted to. "
                "Remedy: pass the column as text, as it was then"
            )
        if meant:
            found[value] = meant[0]
    return found


def _reading(text: str) -> str:
    """The spelling of what a text would be read as; the text itself if it is a name."""
    if text.strip().lower() in ("true", "false"):
        return text.strip().lower()
    for read in (int, float, datetime.fromisoformat, date.fromisoformat):
        try:
            return as_text(read(text))
        except ValueError:
            pass
    return text

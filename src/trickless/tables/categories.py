"""Categories as text: one spelling for a value, whatever file or data frame it comes from."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np

#: From this number on, double precision skips some whole numbers.
_EXACT = 2**53


def as_text(value: Any) -> str:
    """The text of a category: 7 for 7.0, true for True, 2026-01-31 for that day's midnight."""
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
    """A column of a data frame as a column of categories that are text.

    Text stays as it is. A number, a truth value or a time becomes the known text that means the
    same, such as 007 for the number 7. If there is none, it becomes the text of :func:`as_text`. A
    ValueError says that several known texts mean the same, or that a value cannot be a category.
    """
    try:
        categories = column.astype("category")
        values = categories.cat.categories.tolist()
        if all(type(value) is str for value in values):
            return categories
        texts = {value: as_text(value) for value in categories.cat.categories}
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
    """The known text that means the same as a value, for values that are not text and have one."""
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
    """What :func:`as_text` makes of the value that a text means; a name means itself."""
    if text.strip().lower() in ("true", "false"):
        return text.strip().lower()
    for read in (int, float, datetime.fromisoformat, date.fromisoformat):
        try:
            return as_text(read(text))
        except ValueError:
            pass
    return text

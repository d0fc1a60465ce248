"""Text as numbers and times, as the cells of a CSV file are read; and text for a missing value."""

from __future__ import annotations

import re
from datetime import date, datetime, time

#: Texts that stand for a missing value, as in Arrow.
MISSING = frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"}
    | {"N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"}
)
_TRUTH = {"true": True, "false": False}
_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?)", re.ASCII | re.IGNORECASE)
_CLOCK = r"(\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?)"
_ZONE = r"(?: ?(Z|UTC|[+-]\d\d(?::?\d\d)?))?"
_TIME = re.compile(rf"(\d{{4}}-\d\d-\d\d)(?:[T ]{_CLOCK}{_ZONE})?", re.ASCII)


def is_finer(text: str) -> bool:
    """Whether a time in text has digits below a microsecond."""
    return re.search(r"\.\d{6}\d*[1-9]", text) is not None


def number_of(text: str) -> float | bool | None:
    """The number or the truth value that a text is; None if it is none."""
    bare = text.strip()
    if (truth := _TRUTH.get(bare.lower())) is not None:
        return truth
    return float(bare) if _NUMBER.fullmatch(bare) else None


def time_of(text: str) -> datetime | None:
    """The time that a text such as 2026-01-31 10:30 is, to the microsecond; None if it is none."""
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return None
    day, clock, zone = found.groups()
    zone = "+00:00" if zone in ("Z", "UTC") else zone or ""
    try:
        if clock is None:
            return datetime.combine(date.fromisoformat(day), time())
        return datetime.fromisoformat(f"{day} {clock}{zone}")
    except ValueError:  # there is no such time
        return None

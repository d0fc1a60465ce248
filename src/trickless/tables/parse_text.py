"""How text, such as the cells of a CSV file, is read as numbers, times and missing values."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time

#: Texts that mean a missing value, as in Arrow.
MISSING = frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"}
    | {"N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"}
)
#: A time whose parts all differ.
_SOME_TIME = datetime(1987, 10, 31, 14, 25, 36, 475869, UTC)
_TRUTH = {"true": True, "false": False}
_NUMBER = re.compile(
    r"[+-]?((\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)", re.ASCII | re.IGNORECASE
)
_CLOCK = r"(\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?)"
_ZONE = r"(?: ?(Z|UTC|[+-]\d\d(?::?[0-5]\d)?))?"
_MONTH = r"(?:1[89]|2[01])\d\d-\d\d"
_TIME = re.compile(
    rf"({_MONTH}|\d{{4}}-\d\d-\d\d)(?:(?<=-\d\d-\d\d)[T ]{_CLOCK}{_ZONE})?", re.ASCII
)


def is_finer(text: str) -> bool:
    """Return whether a time in text has digits below a microsecond."""
    return re.search(r"\.\d{6}\d*[1-9]", text) is not None


def number_of(text: str) -> float | bool | None:
    """Return the number or the Boolean that a string spells; None if it spells neither."""
    bare = text.strip()
    if (truth := _TRUTH.get(bare.lower())) is not None:
        return truth
    return float(bare) if _NUMBER.fullmatch(bare) else None


def time_of(text: str, date_format: str = "") -> datetime | None:
    """Return the time that a text spells, to the microsecond; None if it spells none.

    It is written as 2026-01-31, with or without a time of day. A month such as 2026-01 is its first
    day. A ``date_format`` has the codes of ``datetime.strptime``, and replaces both.
    """
    if date_format:
        try:
            return datetime.strptime(text.strip(), date_format)
        except ValueError:
            return None
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return None
    day, clock, zone = found.groups()
    zone = "+00:00" if zone in ("Z", "UTC") else zone or ""
    try:
        if clock is None:
            day = day if len(day) == len("2026-01-31") else f"{day}-01"
            return datetime.combine(date.fromisoformat(day), time())
        return datetime.fromisoformat(f"{day} {clock}{zone}")
    except ValueError:  # there is no such time
        return None


def has_zone(date_format: str) -> bool:
    """Return whether dates in a format have a time zone."""
    return "%z" in date_format.replace("%%", "")


def why_no_date_format(date_format: str) -> str | None:
    """Return why no dates can be read by a format; None if they can."""
    if "%" not in date_format:
        return "it has no code such as %d, %m or %Y"
    if "%Z" in date_format.replace("%%", ""):
        return "%Z is the name of a time zone, which several zones share; %z is +01:00"
    try:
        written = _SOME_TIME.strftime(date_format)
        read = datetime.strptime(written, date_format).strftime(date_format)
        date_format.encode()
    except ValueError as error:
        return str(error)
    return None if read == written else f"it reads {written!r} back as {read!r}"

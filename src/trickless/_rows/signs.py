"""Numbers as people write them in text: with a decimal comma, or with signs between thousands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

#: The share of strings from which on they are nearly all.
_NEARLY_ALL = 0.95


class Signs(NamedTuple):
    """The sign before the fraction of a number, and the one between its thousands, if any."""

    decimal: str = "."
    thousands: str | None = None

    def changed(self) -> dict[str, str]:
        """Return the signs that are not those of plain numbers, by their names."""
        return {k: v for k, v in self._asdict().items() if v != self._field_defaults[k]}

    @property
    def pattern(self) -> str:
        """The regular expression of a number with these signs, in the syntax of Python and RE2."""
        sign = f"[{self.thousands}]" if self.thousands else ""
        grouped = rf"|[1-9]\d{{0,2}}(?:{sign}\d{{2,3}})*{sign}\d{{3}}" if sign else ""
        return rf"^[-+]?(?:\d+{grouped})(?:[{self.decimal}]\d+)?$"

    def read(self, text: str) -> bool:
        """Return whether a text is a number with these signs."""
        return re.match(self.pattern, text.strip()) is not None


#: Ways to write numbers, of which the first counts that reads the most strings.
WAYS = [Signs(), *(Signs(".", t) for t in ",' "), *(Signs(",", t) for t in (None, *".' "))]


def signs_of(texts: Iterable[str]) -> Signs | None:
    """Return the signs with which nearly all strings are numbers, or None.

    Plain numbers have ``Signs()``. If all commas have three digits after them, they are between
    thousands.
    """
    texts = list(texts)
    fits = [sum(map(way.read, texts)) for way in WAYS]
    return WAYS[fits.index(max(fits))] if max(fits) >= max(1, _NEARLY_ALL * len(texts)) else None

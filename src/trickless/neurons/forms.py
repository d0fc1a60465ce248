"""Unicode forms of names: é as one character, or as e and an accent, is the same letter.

Names are compared as composed text (NFC), but keep the spelling in which they first occurred.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable


def composed(text: str) -> str:
    """Return a string in the form that all its Unicode forms share."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def first_forms(texts: Iterable[str]) -> dict[str, str]:
    """Return the first of the forms of each string, by the form that they share."""
    found = dict[str, str]()
    for text in texts:
        found.setdefault(composed(text), text)
    return found


def spelled_as(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return names, each in the form of a known one if there is one."""
    names, known = list(names), list(known)
    if all(map(str.isascii, names)) and all(map(str.isascii, known)):
        return names
    forms = first_forms(known)
    return [forms.get(composed(name), name) for name in names]


def why_ambiguous(names: Iterable[str]) -> str | None:
    """Return which two names differ in their Unicode form only; None if no two do."""
    forms = dict[str, str]()
    for name in names:
        other = forms.setdefault(composed(name), name)
        if other != name:
            return (
                f"two columns {name!r}, which differ in their Unicode form only: "
                f"{_code_points(other)} and {_code_points(name)}"
            )
    return None


def _code_points(text: str) -> str:
    return " ".join(f"U+{ord(character):04X}" for character in text[:20])

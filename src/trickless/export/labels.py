"""Labels and names as literals of strings."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from trickless.errors import InvalidValueError
from trickless.files.text import utf8

#: The largest integers that a number of JavaScript has exactly.
_EXACT = 2**53


def c_string(owner: str, text: str) -> str:
    """Return a string literal of C, whose bytes are UTF-8.

    Bytes other than plain characters are octal, since a hexadecimal code takes any digits after it.
    """
    if "\0" in text:
        raise InvalidValueError(
            f"{owner}: the label or name {text!r} holds a null character, at which strings of C "
            "end",
            "labels without it",
        )
    shown = []
    for byte in utf8(owner, text):
        plain = 0x20 <= byte < 0x7F and chr(byte) not in '"\\?'
        shown.append(chr(byte) if plain else f"\\{byte:03o}")
    return f'"{"".join(shown)}"'


def js_value(owner: str, label: Any) -> str:
    """Return a label as a literal of JavaScript: a string, a number or a Boolean."""
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, str):
        utf8(owner, value)
        # A script in a page ends at its closing tag, wherever that is.
        return json.dumps(value).replace("<", "\\u003c")
    if isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int) and abs(value) <= _EXACT:
        return str(value)
    if isinstance(value, float) and np.isfinite(value):
        return repr(value)
    raise InvalidValueError(
        f"{owner}: the label {value!r} is no string, Boolean or number that JavaScript has exactly",
        "labels as text, such as y.astype(str)",
    )

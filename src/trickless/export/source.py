"""What C and JavaScript have in common: labels, names and which functions a model has."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from trickless.errors import InvalidTypeError, InvalidValueError
from trickless.export.graph import Graph
from trickless.files.text import utf8

#: The largest integers that a number of JavaScript has exactly.
_EXACT = 2**53
#: What the functions answer.
ABOUT = {
    "prediction": "Predictions.",
    "std": "Standard deviations of new targets.",
    "interval": "Lower and upper ends of prediction intervals.",
    "label": "The number of a label; or 1 for each label that a row has.",
    "probabilities": "Probabilities of the labels.",
    "decision": "Decision values.",
    "set": "1 for each label that is in the prediction set.",
    "features": "Random features.",
}


def n_columns(graph: Graph) -> int:
    """Return the number of values of a row."""
    return sum(graph.values[name].shape[1] for name in graph.inputs)


def codes_of(graph: Graph) -> dict[int, tuple[dict[str, int], int]]:
    """Return the codes of strings, and that of all other strings, of each column of categories."""
    return {
        graph.inputs.index(node.inputs[0]): (node.attributes["codes"], node.attributes["others"])
        for node in graph.nodes
        if node.op == "Codes"
    }


def column_names(graph: Graph) -> list[str] | None:
    """Return the names of the values of a row, if they have names."""
    if len(graph.inputs) == n_columns(graph) and graph.inputs != ["X"]:
        return graph.inputs
    return graph.names


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


def checked_name(owner: str, name: Any, default: str, keywords: set[str]) -> str:
    """Return what names of functions begin with."""
    if name is None:
        name = re.sub(r"\W", "_", default, flags=re.ASCII)
        return name if re.match(r"[A-Za-z]", name) and name not in keywords else f"model_{name}"
    if not isinstance(name, str):
        raise InvalidTypeError(
            f"{owner}: name={name!r} is no string", "letters and digits, such as name='model'"
        )
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name, flags=re.ASCII) or name in keywords:
        raise InvalidValueError(
            f"{owner}: name={name!r} cannot begin the name of a function in C",
            "letters of ASCII, digits and underscores, such as name='model'",
        )
    return name


def lines_of(values: list[str], indent: str = "  ") -> str:
    """Return a list over several lines."""
    n = 8
    rows = [", ".join(values[i : i + n]) for i in range(0, len(values), n)]
    return f",\n{indent}".join(rows)


def used(helpers: dict[str, str], text: str) -> list[str]:
    """Return the helpers that a text calls, each after those that it calls itself."""
    found: list[str] = []
    for name in reversed(helpers):
        if re.search(rf"\b{name}\(", "".join([text, *found])):
            found.insert(0, helpers[name])
    return found

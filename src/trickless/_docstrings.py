"""Docstrings: what several classes or functions share is described once.

The docstring of a class has what is its own. ``documented`` adds the parameters, attributes and
other sections that the docstrings of its base classes have. ``completed_by`` adds to the docstring
of a function what a text describes for several functions, such as the rows that they take.
``pages`` says where scikit-learn's pictures of estimators find them in the reference.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import cleandoc, signature
from typing import Any, TypeVar

C = TypeVar("C", bound=type[Any])
F = TypeVar("F", bound=Callable[..., Any])

#: The sections in numpydoc's order.
_SECTIONS = (
    "Parameters", "Attributes", "Returns", "Raises", "Warns", "See Also", "Notes", "References",
    "Examples",
)  # fmt: skip
_HEADING = re.compile(r"^(\w[\w ]*)\n-+\n", flags=re.MULTILINE)
_ENTRY = re.compile(r"^(?=\S)", flags=re.MULTILINE)
_NAME = re.compile(r"\**(\w+)")


def pages(module: str = "trickless") -> str:
    """Return the address of the pages of a public module, as scikit-learn's pictures expect it."""
    site = "https://trickless.readthedocs.io/en/latest/reference/generated"
    return f"{site}/{module}.{{estimator_name}}.html"


def documented(cls: C, below: type = object) -> C:
    """Complete the docstring of a class by what its bases ``below`` another describe.

    Parameters are in the order of the signature. Attributes of the class come before those of its
    bases.
    """
    if cls.__doc__ is None:  # python -OO
        return cls
    sections: dict[str, str] = {}
    parameters: dict[str, str] = {}
    attributes: dict[str, str] = {}
    for base in cls.__mro__[: cls.__mro__.index(below)]:
        if base.__module__.startswith("trickless."):
            theirs = _read(base.__doc__ or "")[1]
            parameters = _entries(theirs.get("Parameters", "")) | parameters
            attributes |= _entries(theirs.get("Attributes", "")) | attributes
            sections = theirs | sections
    known = [parameters[name] for name in signature(cls).parameters if name in parameters]
    sections["Parameters"] = "\n".join(known or parameters.values())  # a base may take none itself
    sections["Attributes"] = "\n".join(attributes.values())
    cls.__doc__ = _joined(_read(cls.__doc__)[0], sections)
    return cls


def completed_by(*shared: str) -> Callable[[F], F]:
    """Complete the docstring of a function by sections that several functions share.

    Parameters are in the order of the signature, which picks those that are needed. What
    the function describes itself goes before what is shared, in the order given.
    """

    def complete(function: F) -> F:
        if function.__doc__ is None:  # python -OO
            return function
        summary, own = _read(function.__doc__)
        given = [_read(text)[1] for text in reversed(shared)]
        sections: dict[str, str] = {}
        parameters: dict[str, str] = {}
        for theirs in (*given, own):
            parameters |= _entries(theirs.get("Parameters", ""))
            sections |= theirs
        known = [parameters[name] for name in signature(function).parameters if name in parameters]
        function.__doc__ = _joined(summary, sections | {"Parameters": "\n".join(known)})
        return function

    return complete


def _joined(summary: str, sections: dict[str, str]) -> str:
    """Write a docstring of a summary and sections."""
    parts = [summary]
    for name in _SECTIONS:
        if sections.get(name):
            parts.append(f"{name}\n{'-' * len(name)}\n{sections[name]}")
    return "\n\n".join(parts)


def _read(doc: str) -> tuple[str, dict[str, str]]:
    """Split a docstring into the text before its sections, and the text of each section."""
    summary, *parts = map(str.strip, _HEADING.split(cleandoc(doc)))
    return summary, dict(zip(parts[::2], parts[1::2], strict=True))


def _entries(section: str) -> dict[str, str]:
    """Split the text of a section into its entries, by name, or by the first of several names."""
    entries = (entry.rstrip() for entry in _ENTRY.split(section) if entry)
    return {match[1]: entry for entry in entries if (match := _NAME.match(entry))}

"""Categories as text, spelled alike whatever type their column has.

:func:`as_text` spells a value. A value is the known category that is spelled like it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from trickless.errors import InvalidValueError
from trickless.neurons.forms import composed, first_forms
from trickless.rules import shown, warn
from trickless.tables.columns import Column
from trickless.tables.format_text import as_text

#: A column of at least so many values, all of them new, gets a warning. If a tenth of the values
#: are new, chance makes so many in a row in one of 1,000 batches.
_FEW = 3
#: The same for a column in which most values are new.
_MANY = 10
#: A category is rare if it occurs at most so often, and in at most this share of the rows.
_RARE, _RARE_SHARE = 2, 0.005
#: Rare categories are pooled if there are at least so many.
_POOL = 10


def known_as(values: Iterable[Any], known: Collection[str]) -> list[str]:
    """Return the category of each value: a known one, or the value's own text if it is new.

    ``known`` is a set, or a dictionary whose keys are strings. All Unicode forms of a string are
    one. Raises a ValueError if a value cannot be a category.
    """
    forms: dict[str, str] | None = None
    found = []
    for text in map(as_text, values):
        if text in known:
            found.append(text)
            continue
        forms = first_forms(known) if forms is None else forms
        found.append(forms.setdefault(composed(text), text))
    return found


def coded(
    column: Column, known: dict[str, int], n_codes: int | None = None
) -> tuple[np.ndarray, dict[str, int]]:
    """Return the code of each value, -1 if it is missing; and how often each category occurs.

    ``known`` has the codes of known categories, by default 0, 1, ..., and new ones get codes from
    ``n_codes`` on.
    """
    n_codes = len(known) if n_codes is None else n_codes
    if not column.holds:
        raise TypeError(f"the type is {column.dtype}")
    places, values, counts = column.occurring()
    codes, new, n = [], dict[str, int](), dict[str, int]()
    for text, count in zip(known_as(values, known), counts.tolist(), strict=True):
        code = known.get(text, -1)
        if code < 0:
            code = new.setdefault(text, n_codes + len(new))
        codes.append(code)
        n[text] = n.get(text, 0) + count
    return np.array([*codes, -1])[places], n


@contextmanager
def naming(where: str, column: Column) -> Iterator[None]:
    """Name a column in errors about objects that cannot be categories."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{where}: {error}.") from error
    except (TypeError, NotImplementedError) as error:  # the latter of Arrow
        raise InvalidValueError(
            f"{where} has the type {column.dtype}, and holds objects that cannot be categories: "
            f"{error}",
            "put one number, Boolean, time or string in each cell; leave the column out; or pass "
            "[numpy.stack(row) for row in X.to_numpy()] and neurons=Convolutions() if each cell "
            "holds a series",
        ) from error


def all_or_most(n_such: int, n: int) -> str | None:
    """Return how many of n values are such, if all of a few are, or most of many; else None."""
    if n_such == n >= _FEW:
        return "all"
    return f"{n_such:,} of {n:,}" if n >= _MANY and 2 * n_such > n else None


def warn_of_missing(owner: str, name: Any, n_missing: int, n_rows: int) -> None:
    """Warn if all or most values of a column are missing, and none were in training."""
    if words := all_or_most(n_missing, n_rows):
        warn(
            f"{owner}: {words} values in column {name!r} of X are missing, but in training none "
            "were, so the model has not learned what that means and treats these rows like average "
            "ones. Remedy: pass the values, or fit to rows that lack some of them."
        )


def warn_of_new(
    owner: str, name: Any, counts: dict[str, int], known: Collection[str], learned: bool = False
) -> None:
    """Warn if all or most values of a column are new categories.

    ``counts`` says how often each category occurs. A few new values are normal. ``learned`` says
    whether new categories are learned as themselves, so that only a column of nothing else is odd.
    """
    new = [text for text in counts if text not in known]
    n, n_new = sum(counts.values()), sum(counts[text] for text in new)
    words = all_or_most(n_new, n)
    if words is None or (learned and n_new < n):
        return
    examples = ", ".join(shown(text) for text in list(known)[:3]) or "none"
    meaning = "All new values are treated alike, so the column does not tell their rows apart."
    if learned:
        meaning = "They are learned as further categories."
    warn(
        f"{owner}: {words} values in column {name!r} of X are new, such as "
        f"{shown(new[0])}. The first batch has {examples}{', …' * (len(known) > 3)}. {meaning} "
        "Remedy: spell them as in the first batch; or leave the column out, if it names the rows."
    )


def without_rare(counts: dict[str, int]) -> tuple[list[str], int]:
    """Return the categories that get a code of their own, and how many values the others have.

    ``counts`` says how often each category occurs in the first batch; never, if its type declares
    it only. A few rare categories get codes of their own as well, since they hardly matter.
    """
    most = min(_RARE, int(_RARE_SHARE * sum(counts.values())))
    rare = [text for text, n in counts.items() if 0 < n <= most]
    if len(rare) < _POOL:
        return list(counts), 0
    kept = set(counts).difference(rare)
    return [text for text in counts if text in kept], sum(counts[text] for text in rare)


def warn_of_names(owner: str, name: Any, n_rare: int, n_rows: int) -> None:
    """Warn if most values of a column occur once or twice."""
    if 2 * n_rare > n_rows:
        warn(
            f"{owner}: {n_rare:,} of {n_rows:,} values in column {name!r} of X occur once or "
            "twice only, as names of rows do. So the column tells little about new rows. Remedy: "
            "leave it out, or derive coarser categories from it; convert it with "
            "pandas.to_numeric or pandas.to_datetime if its text is numbers or dates; or begin "
            "with more rows, if later ones repeat its values."
        )

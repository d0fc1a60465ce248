"""Categories as text, spelled and read alike in every file and data frame.

:func:`as_text` spells a value. A text means a number or a time. If it is neither, it means itself.
A value is the known category that is spelled like it. If there is none, it is the known category
with the same meaning: 501 and the text 501 are the known 00501, and True is the known TRUE.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import time
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np

from trickless.errors import InvalidValueError
from trickless.neurons.forms import composed, first_forms
from trickless.rules import shown, warn
from trickless.tables.columns import Column
from trickless.tables.format_text import as_text
from trickless.tables.parse_text import MISSING, is_finer, time_of

#: Numbers as programs write them. An exponent has a sign, so the code 1e5 is not a number.
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]\d{1,4})?", re.ASCII)
_TRUTH = {"true": Decimal(1), "false": Decimal(0)}
_CLOCK = re.compile(r"\d\d:\d\d(:\d\d(\.\d+)?)?", re.ASCII)
_DURATION = re.compile(r"(-?\d+) days?,? \+?(\d{1,2}):(\d\d):(\d\d(?:\.\d+)?)", re.ASCII)
_INTERVAL = re.compile(r"([\[(])([^\[\](),]+), ([^\[\](),]+)([\])])")
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
    one. If two known strings have the same meaning, strings are names, and each means only itself.
    Raises a ValueError if a value cannot be a category, or if one that is not text means several.
    """
    meant: tuple[dict[Hashable, list[str]], bool] | None = None
    forms: dict[str, str] | None = None
    found = []
    for value in values:
        text, is_text = as_text(value), isinstance(value, str)
        if is_text and text in known:
            found.append(text)
            continue
        if isinstance(meaning := _meaning(text), str):
            forms = first_forms(known) if forms is None else forms
            found.append(forms.setdefault(composed(text), text))
            continue
        meant = meant or _meanings(tuple(known))
        same, unique = meant[0].get(meaning, ()), meant[1]
        if len(same) > 1 and not is_text:
            raise InvalidValueError(
                f"the category {value!r} matches several known ones: {same[:4]}",
                "pass the whole column as text, as in training",
            )
        found.append(same[0] if same and (unique or not is_text) else text)
    return found


@lru_cache(maxsize=256)
def _meanings(known: tuple[str, ...]) -> tuple[dict[Hashable, list[str]], bool]:
    """Return strings that mean numbers or times, by meaning, and whether all meanings differ."""
    meant = defaultdict(list)
    for text in known:
        if not isinstance(meaning := _meaning(text), str):
            meant[meaning].append(text)
    return dict(meant), all(len(texts) == 1 for texts in meant.values())


def _meaning(text: str) -> Hashable:
    """Return the number or the time that a text means. A name means itself.

    Booleans are the numbers 1 and 0, and a day is its midnight.
    """
    bare = text.strip()
    if (truth := _TRUTH.get(bare.lower())) is not None:
        return truth
    if _NUMBER.fullmatch(bare):
        return Decimal(bare)
    if found := _DURATION.fullmatch(bare):
        days, hours, minutes, seconds = map(Decimal, found.groups())
        return "seconds", ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if found := _INTERVAL.fullmatch(bare):
        return found[1], _meaning(found[2]), _meaning(found[3]), found[4]
    if (found_time := time_of(bare)) is not None:
        return found_time if not is_finer(bare) else ("finer", bare.replace("T", " ").rstrip("0"))
    if _CLOCK.fullmatch(bare):
        with suppress(ValueError):  # no such hour
            return time.fromisoformat(bare)
    return text


def coded(
    column: Column, known: dict[str, int], n_codes: int | None = None
) -> tuple[np.ndarray, dict[str, int]]:
    """Return the code of each value, -1 if it is missing; and how often each category occurs.

    ``known`` has the codes of known categories, by default 0, 1, ..., and new ones get codes from
    ``n_codes`` on. A text such as NA is a missing value, unless it is a known category.
    """
    n_codes = len(known) if n_codes is None else n_codes
    if not column.holds:
        raise TypeError(f"the type is {column.dtype}")
    places, values, counts = column.occurring()
    codes, new, n = [], dict[str, int](), dict[str, int]()
    for text, count in zip(known_as(values, known), counts.tolist(), strict=True):
        code = known.get(text, -1)
        if code < 0 and text not in MISSING:
            code = new.setdefault(text, n_codes + len(new))
        codes.append(code)
        if code >= 0:
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

    ``counts`` says how often each category occurs. A few new values are normal, unless they are of
    another kind than all known ones, such as Booleans in a column of names. ``learned`` says
    whether new categories are learned as themselves, so that only a column of nothing else is odd.
    """
    new = [text for text in counts if text not in known]
    n, n_new = sum(counts.values()), sum(counts[text] for text in new)
    of_another_kind = n and n_new == n and known and _is_of_another_kind(new, known)
    words = "all" if of_another_kind else all_or_most(n_new, n)
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
            "leave it out, or derive coarser categories from it; or begin with more rows, if later "
            "ones repeat its values."
        )


def _is_of_another_kind(new: list[str], known: Collection[str]) -> bool:
    """Return whether new categories are numbers or times of a kind that no known one has."""
    kinds = {type(meaning) for meaning in _meanings(tuple(known))[0]}
    return {type(_meaning(text)) for text in new}.isdisjoint({*kinds, str})

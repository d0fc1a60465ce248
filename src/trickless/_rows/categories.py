"""Categories of a column: how they are spelled, their codes, and warnings of new ones.

A category is a string, and a value of any type is the category that is spelled like it
(:func:`trickless._rows.values.as_text`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any
from zlib import crc32

import numpy as np

from trickless._arrays.stated import Amount, Array, Count, Stated, check_count, check_same
from trickless._errors import InvalidValueError
from trickless._rows.frames import Column
from trickless._rows.values import as_text
from trickless._rules import shown, warn
from trickless.neurons.forms import composed, first_forms

#: A category is rare if it occurs at most so often, and in at most this share of the rows. Rare
#: categories are pooled if there are at least so many.
_RARE, _RARE_SHARE, _POOL = 2, 0.005, 10
#: Codes for later categories, of which at most half are used. Single precision tells them apart
#: for families that multiply a code by a number below 1.
SLOTS = 2**16
_MOST = SLOTS // 2
#: A column has no codes for later categories if so many categories of the first batch were rare,
#: or if they had most of the rows, as names of rows do.
_MOST_RARE = 10_000
#: A column of at least so many values, all of them new, gets a warning. If a tenth of the values
#: are new, chance makes so many in a row in one of 1,000 batches. Then the same for a column in
#: which most values are new.
_FEW, _MANY = 3, 10
#: New values that are enough to warn of, the share of all values from which on they matter, and
#: the rows over which it is taken.
_ENOUGH, _SHARE, _ROWS = 20, 0.05, 1000


@dataclass(frozen=True)
class Categories(Stated):
    """The categories of a column, and their codes.

    The categories of the first batch, or all that its type declares, are sorted and have the codes
    from 0 on. The next code is for a missing value, and the one after it for a new category. Rare
    categories of the first batch count as new ones, if there are several, so that learners see what
    new ones are like.

    The code of a category that appears later is a hash of it, or the next free code if the hash is
    taken. Except then, it depends neither on the order of the rows nor on other categories, so
    models of parts of a stream can be merged.

    Attributes
    ----------
    codes : dict
        The code of each known category.
    n_first : int
        Number of categories of the first batch that have a code of their own.
    n_pooled : int
        How many values of the first batch count as new.
    rare : dict or None
        How many rows each rare category of the first batch had. They were learned with the code of
        new categories. None if later categories get no codes.
    """

    codes: dict[str, Count]
    n_first: Count
    n_pooled: Count
    rare: dict[str, Count] | None

    @classmethod
    def of(cls, column: Column) -> Categories:
        """Return the categories of a column of the first batch."""
        forms = first_forms(map(as_text, column.declared()))
        counts = dict.fromkeys(sorted(forms.values()), 0)
        for value, n in zip(column.values[1], column.counts().tolist(), strict=True):
            counts[forms[composed(as_text(value))]] += n
        most = min(_RARE, int(_RARE_SHARE * sum(counts.values())))
        rare = {text: n for text, n in counts.items() if 0 < n <= most}
        if len(rare) < _POOL:  # they hardly matter
            rare = {}
        codes = {text: code for code, text in enumerate(t for t in counts if t not in rare)}
        n_pooled = sum(rare.values())
        are_names = len(rare) > _MOST_RARE or 2 * n_pooled > len(column.values[0])
        return cls(codes, len(codes), n_pooled, None if are_names else rare)

    def check_state(self) -> None:
        codes = sorted(self.codes.values())
        check_same("codes of the first batch", codes[: self.n_first], list(range(self.n_first)))
        check_same("different codes", len(set(codes)), len(codes))
        for code in codes[self.n_first :]:
            check_count("codes", code, self.n_first + 2, self.n_first + 1 + SLOTS)

    @property
    def missing(self) -> int:
        """The code of a missing value. The next one is the code of a new category."""
        return self.n_first

    @property
    def first(self) -> dict[str, int]:
        """The codes of the first batch."""
        return {text: code for text, code in self.codes.items() if code < self.n_first}

    def read(self, column: Column) -> tuple[np.ndarray, dict[str, int]]:
        """Return the code of each value, and how often each category occurs."""
        places, values = column.values
        new, counts, codes = self.missing + 1, dict[str, int](), []
        often = column.counts().tolist()
        for text, n in zip(known_as(values, self.codes), often, strict=True):
            codes.append(self.codes.get(text, new))
            counts[text] = counts.get(text, 0) + n
        return np.array([*codes, self.missing])[places], counts

    def after(self, texts: Iterable[str]) -> Categories:
        """Return categories that include others, as long as there are codes."""
        codes = dict(self.codes)
        taken = set(codes.values())
        for text in texts:
            if len(codes) >= self.n_first + _MOST:
                break
            slot = crc32(text.encode("utf-8", "surrogatepass"))
            while (code := self.n_first + 2 + slot % SLOTS) in taken:
                slot += 1
            codes[text] = code
            taken.add(code)
        return replace(self, codes=codes)

    def before(self, counts: dict[str, int]) -> tuple[Categories, Categories]:
        """Return categories by which rows to forget were learned, and those that are left after.

        ``counts`` are the categories of these rows. The oldest rows are forgotten first.
        """
        rare = self.rare or {}
        of_first = {text: n for text, n in counts.items() if n <= rare.get(text, 0)}
        codes = {text: code for text, code in self.codes.items() if text not in of_first}
        left = {text: n - of_first.get(text, 0) for text, n in rare.items()}
        left = {text: n for text, n in left.items() if n}
        return replace(self, codes=codes), replace(self, rare=left)

    def merged(self, other: Categories) -> Categories | None:
        """Return those of two models, or None if a category has two codes or shares one."""
        if self.rare is None or other.rare is None:  # a column that names rows in one of them
            return other if self.rare is None else self
        codes = self.codes | other.codes
        known = all(codes[text] == code for text, code in self.codes.items())
        if not known or len(set(codes.values())) < len(codes):
            return None
        rare = dict(self.rare)
        for text, n in other.rare.items():
            rare[text] = rare.get(text, 0) + n
        return replace(self, codes=codes, rare=rare)


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


@contextmanager
def naming(owner: str, column: Column) -> Iterator[None]:
    """Name a column in errors about objects that cannot be categories."""
    where = f"{owner}: column {column.name!r} of X"
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


def _all_or_most(n_such: int, n: int) -> str | None:
    """Return how many of n values are such, if all of a few are, or most of many; else None."""
    if n_such == n >= _FEW:
        return "all"
    return f"{n_such:,} of {n:,}" if n >= _MANY and 2 * n_such > n else None


def warn_of_missing(owner: str, name: Any, n_missing: int, n_rows: int) -> None:
    """Warn if all or most values of a column are missing, and none were in training."""
    if words := _all_or_most(n_missing, n_rows):
        warn(
            f"{owner}: {words} values in column {name!r} of X are missing, but in training none "
            "were, so the model has not learned what that means and treats these rows like average "
            "ones. Remedy: pass the values, or fit to rows that lack some of them."
        )


def warn_of_alike(owner: str, name: Any, counts: dict[str, int], known: Collection[str]) -> None:
    """Warn if a new category differs from a known one by blanks or case only."""
    new = [text for text in counts if text not in known]
    if not new:
        return
    alike = {_plain(text): text for text in known}
    text = next((text for text in new if _plain(text) in alike), None)
    if text is not None:
        warn(
            f"{owner}: {shown(text)} in column {name!r} of X differs from "
            f"{shown(alike[_plain(text)])} by blanks or case only, but is a new category. Remedy: "
            f"spell it as in the first batch, for example with X[{name!r}].str.strip()."
        )


def _plain(text: str) -> str:
    """Return a string without blanks around it and without case."""
    return text.strip().casefold()


def warn_of_new(
    owner: str, name: Any, counts: dict[str, int], known: Collection[str], learned: bool = False
) -> None:
    """Warn if all or most values of a column are new categories.

    ``counts`` says how often each category occurs. A few new values are normal. ``learned`` says
    whether new categories are learned as themselves, so that only a column of nothing else is odd.
    """
    new = [text for text in counts if text not in known]
    n, n_new = sum(counts.values()), sum(counts[text] for text in new)
    words = _all_or_most(n_new, n)
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


@dataclass(frozen=True)
class NewCategories(Stated):
    """How often later rows have categories that the first batch did not have.

    Attributes
    ----------
    usual : array of shape (n_columns,)
        The share of such values in the first batch. They belong to rare categories.
    n_rows : float
        Later rows that have been counted. Those of long ago count less.
    n_new : array of shape (n_columns,)
        How many of them have a new category.
    told : bool array of shape (n_columns,)
        Columns of which there was a warning.
    """

    usual: Annotated[np.ndarray, Array("f8", "n_columns", least=0)]
    n_rows: Amount
    n_new: Annotated[np.ndarray, Array("f8", "n_columns", least=0)]
    told: Annotated[np.ndarray, Array("b1", "n_columns")]

    @classmethod
    def of_first(cls, X: np.ndarray, n_categories: np.ndarray) -> NewCategories:
        """Return what is known after the first batch, rows of codes."""
        n = X.shape[1]
        usual = _are_new(X, n_categories).mean(axis=0)
        return cls(usual, 0.0, np.zeros(n), np.zeros(n, dtype=bool))

    def after(
        self, owner: str, X: np.ndarray, n_categories: np.ndarray, names: Any
    ) -> NewCategories:
        """Return what is known after a later batch, and warn once of each column where it matters.

        Values of new categories have one code. A model learns what rows with this code are like,
        but cannot tell a new category from others that are new.
        """
        kept = 0.5 if self.n_rows >= _ROWS else 1.0
        n_rows = kept * self.n_rows + len(X)
        here = np.count_nonzero(_are_new(X, n_categories), axis=0)
        n_new = kept * self.n_new + here
        many = (n_new >= _ENOUGH) & (n_new > (self.usual + _SHARE) * n_rows) & ~self.told
        most = (2 * here > len(X)) & (self.usual == 0)  # of which the encoder warns
        for j in np.flatnonzero(many & ~most).tolist():
            name = names[j] if names else j
            warn(
                f"{owner}: {n_new[j] / n_rows:.0%} of the latest values in column {name!r} of X "
                "are of categories that the first batch did not have. They are learned as one "
                "category, which later new ones share. Remedy: declare all categories in the "
                f"first batch, X[{name!r}] = X[{name!r}].astype(pandas.CategoricalDtype([...])); "
                "or start over with recent rows."
            )
        return replace(self, n_rows=n_rows, n_new=n_new, told=self.told | many)


def _are_new(X: np.ndarray, n_categories: np.ndarray) -> np.ndarray:
    """Return which values are of a new category: the last code of their column."""
    return (n_categories - 1 == X) & (n_categories > 0)

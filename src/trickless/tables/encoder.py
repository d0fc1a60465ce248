"""Data frames as matrices: numbers and times become numbers, and categories become codes.

A data frame is from pandas or polars, or is any object with the same methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from decimal import Decimal
from numbers import Integral
from typing import Any

import numpy as np

from trickless.arrays.places import to_device_of
from trickless.arrays.stated import (
    Stated,
    check_array,
    check_count,
    check_is,
    check_list,
    check_same,
)
from trickless.errors import InvalidTypeError, InvalidValueError
from trickless.neurons.forms import composed, first_forms
from trickless.rules import shown
from trickless.tables.categories import coded, naming, warn_of_names, warn_of_new, without_rare
from trickless.tables.columns import Column, OtherKindError, columns_of, columns_of_array
from trickless.tables.format_text import as_text
from trickless.tables.frames import frame_like, is_frame, numbers_of
from trickless.tables.kinds import CATEGORIES, DATES, NUMBERS, OBJECTS, TRUTH, ZONED
from trickless.tables.later_categories import LaterCategories, later_categories

#: From this number on, double precision cannot represent all integers.
_EXACT = 2**53
#: Codes of new categories while a column is read.
_NEW = 2**40


class TableEncoder(Stated):
    """What the columns of a data frame hold, and the codes of their categories.

    A column of numbers or Booleans holds numbers, as does a column of objects that are all numbers.
    Times are numbers to the microsecond: dates are days since 1970, durations and
    times of day are days, and a period is the day on which it begins. A missing value is NaN.

    A column of categories, text or other objects holds categories. They are strings
    (:mod:`trickless.tables.categories`), whatever type later batches have. The categories of the
    first batch, or all that its type declares, are sorted and have the codes from 0 on. The next
    code is for a missing value, and the one after it for a new category. Rare categories of the
    first batch count as new ones, if there are several, so that learners see what new ones are
    like. If there are none, a warning names a column in which all or most values are new. Learners
    whose neurons take any code get codes for categories that appear later (:meth:`after`).

    Attributes
    ----------
    kinds : list of str
        What each column holds: numbers, categories or a kind of time.
    codes : list of (dict or None)
        The code of each category of a column; None for other columns.
    later : dict
        By the index of a column: the codes of categories that appear later. Columns whose values
        seem to name rows have none.
    pooled : dict
        By the index of a column with rare categories: the number of its values in the first batch
        that count as new.
    whole : dict
        By the index of a column: the number subtracted from it before it is rounded. Only columns
        of integers that double precision would round have one.
    origins : array
        What :meth:`relative` subtracts from each column after that.
    """

    def __init__(self, owner: str, frame: Any) -> None:
        _check_names(owner, frame)
        columns, numbers = columns_of(frame), numbers_of(frame)
        of_numbers: _Read = (NUMBERS, None)
        read = [of_numbers if numbers is not None else _read(owner, column) for column in columns]
        self.kinds = [kind for kind, _ in read]
        pools = [({}, 0) if counts is None else without_rare(counts) for _, counts in read]
        self.codes = [
            None if counts is None else {text: code for code, text in enumerate(kept)}
            for (_, counts), (kept, _) in zip(read, pools, strict=True)
        ]
        self.pooled = {j: n for j, (_, n) in enumerate(pools) if n}
        self.later: dict[int, LaterCategories] = {}
        for j, ((_, counts), (kept, _)) in enumerate(zip(read, pools, strict=True)):
            if counts is not None and (later := later_categories(counts, kept, len(frame))):
                self.later[j] = later
        self.whole = {}
        for j, kind in enumerate(self.kinds):
            if kind == NUMBERS:
                found = _numbers(owner, columns[j], kind) if numbers is None else numbers[:, j]
                if origin := _origin(columns[j], found):
                    self.whole[j] = origin
        self.origins = np.zeros(len(read))

    def warn_of_names(self, owner: str, frame: Any) -> None:
        """Warn of columns of the first batch that seem to name its rows."""
        for j, n in self.pooled.items():
            warn_of_names(owner, frame.columns[j], n, frame.shape[0])

    def check_state(self) -> None:
        check_list("kinds", self.kinds, str)
        check_list("codes", self.codes, dict | None, len(self.kinds))
        for kind, codes in zip(self.kinds, self.codes, strict=True):
            check_same("codes", codes is not None, kind == CATEGORIES)
            if codes is not None:
                check_list("codes", list(codes), str)
                check_same("codes", sorted(codes.values()), list(range(len(codes))))
        for name, columns in (("pooled", CATEGORIES), ("whole", NUMBERS)):
            numbers = getattr(self, name)
            check_is(name, numbers, dict)
            for j, number in numbers.items():
                check_count(f"column of {name}", j, 0, len(self.kinds) - 1)
                check_same(f"column of {name}", self.kinds[j], columns)
                check_is(name, number, int)
        check_is("later", self.later, dict)
        for j, later in self.later.items():
            check_count("column of later", j, 0, len(self.kinds) - 1)
            check_is("later", later, LaterCategories)
            codes = self.codes[j]
            check_same("n_first", later.n_first, None if codes is None else len(codes) + 2)
            check_same("known twice", [text for text in later.codes if text in (codes or ())], [])
        check_array("origins", self.origins, "f8", (len(self.kinds),))
        if self.origins[[codes is not None for codes in self.codes]].any():
            raise ValueError("origins: codes of categories have an origin other than 0")

    @property
    def n_categories(self) -> np.ndarray:
        """The number of codes of each column at first; 0 for a column of numbers."""
        return np.array([0 if codes is None else len(codes) + 2 for codes in self.codes], dtype=int)

    def codes_by_column(self) -> dict[int, dict[Any, int]]:
        """Return the known codes of each column of categories by its number; None is missing."""
        first = {j: codes for j, codes in enumerate(self.codes) if codes is not None}
        return {j: {**self.known(j), None: len(codes)} for j, codes in first.items()}

    def __call__(self, owner: str, X: Any) -> Any:
        """Return X as a data frame of float64; an array unchanged, if all columns are numbers.

        Another array has the columns of the first batch by their places. Numbers are days where
        there were times, and values of any type are categories where there were categories.
        """
        plain = not self.whole and set(self.kinds) == {NUMBERS}
        if is_frame(X):
            if plain and len(self.kinds) == X.shape[1] and (numbers := numbers_of(X)) is not None:
                return frame_like(X, numbers)
            return frame_like(X, self._matrix(owner, columns_of(X), len(X)))
        if plain:
            return X
        columns = columns_of_array(X)
        if columns is None:
            raise InvalidTypeError(
                f"{owner}: X is a {type(X).__name__}, but the first batch was a data frame with "
                f"categories, times or integers beyond {_EXACT:,}",
                "pass data frames with the same columns",
            )
        return self._matrix(owner, columns, len(X)) if len(columns) == len(self.kinds) else X

    def _matrix(self, owner: str, columns: list[Column], n_rows: int) -> np.ndarray:
        matrix = np.empty((n_rows, len(columns)))
        read = zip(self.kinds, self.codes, columns, strict=True)
        for j, (kind, codes, column) in enumerate(read):
            if codes is None:
                matrix[:, j] = _numbers(owner, column, kind, self.whole.get(j, 0))
                continue
            found, counts = self._coded(owner, column, j)
            if j not in self.pooled:  # else learners know what new ones are like
                warn_of_new(owner, column.name, counts, self.known(j))
            missing, new = len(codes), len(codes) + 1
            matrix[:, j] = np.where(found < 0, missing, np.where(found < _NEW, found, new))
        return matrix

    def known(self, j: int) -> dict[str, int]:
        """Return the codes of a column's categories, with those that appeared later."""
        later = self.later.get(j)
        codes: dict[str, int] = self.codes[j] or {}
        return codes | later.codes if later is not None and later.codes else codes

    def _coded(self, owner: str, column: Column, j: int) -> tuple[np.ndarray, dict[str, int]]:
        """Return codes, -1 for missing values and from ``_NEW`` on for new categories; counts."""
        with naming(f"{owner}: column {column.name!r} of X", column):
            return coded(column, self.known(j), _NEW)

    def after(self, owner: str, X: Any) -> TableEncoder:
        """Return an encoder with codes for all categories of some rows.

        Warns if all or most values of a column are new.
        """
        later = {}
        for j, column in self._growing(X):
            found, counts = self._coded(owner, column, j)
            codes, first = np.unique(found, return_index=True)
            known = self.known(j)
            if codes[-1] >= _NEW:
                if j not in self.pooled:
                    warn_of_new(owner, column.name, counts, known, learned=True)
                new = [text for text in counts if text not in known]  # in the order of their codes
                order = np.argsort(first[codes >= _NEW])  # in which they appear
                later[j] = self.later[j].after([new[i] for i in order])
        return self._with_later(later)

    def before(self, owner: str, X: Any) -> tuple[TableEncoder, TableEncoder]:
        """Return encoders by which some rows were learned, and for when they are forgotten."""
        both = {
            j: self.later[j].before(self._coded(owner, column, j)[1])
            for j, column in self._growing(X)
            if self.later[j].rare
        }
        learned, left = ({j: pair[i] for j, pair in both.items()} for i in (0, 1))
        return self._with_later(learned), self._with_later(left)

    def merged(self, other: TableEncoder) -> TableEncoder | None:
        """Return the encoder of two models, or None if codes of later categories collide."""
        later = {**other.later, **self.later}  # a column that names rows in one has none there
        for j in self.later.keys() & other.later.keys():
            if (both := self.later[j].merged(other.later[j])) is None:
                return None
            later[j] = both
        return self._with_later(later)

    def _growing(self, X: Any) -> list[tuple[int, Column]]:
        """Return columns that may have later categories; none if X has other columns."""
        columns = (columns_of(X) if is_frame(X) else columns_of_array(X)) if self.later else None
        if columns is None or len(columns) != len(self.kinds):
            return []
        return [(j, columns[j]) for j in self.later if len(columns[j].column)]

    def _with_later(self, later: Mapping[int, Any]) -> TableEncoder:
        if not later:
            return self
        encoder = copy(self)
        encoder.later = {**self.later, **later}
        return encoder

    def settle(self, X: Any, merged: np.ndarray) -> None:
        """Choose ``origins`` by the first batch, as float64.

        A precision with few digits may round different values to the same number, but it keeps
        differences from one of the values apart. The origin of such a column is therefore its
        median, or the value below. ``merged`` marks columns of numbers whose values would become
        the same.
        """
        for j, kind in enumerate(self.kinds):
            if kind in (DATES, ZONED) or (merged[j] and kind != CATEGORIES):
                known = X[~np.isnan(X[:, j]), j]
                if len(known):
                    self.origins[j] = np.quantile(known, 0.5, method="lower")

    def relative(self, X: Any) -> Any:
        """Return rows with the origins subtracted."""
        if not self.origins.any():
            return X
        return X - to_device_of(X, self.origins)

    def same_as(self, other: TableEncoder) -> bool:
        """Return whether another encoder makes the same numbers of the same table."""
        return (
            self.kinds == other.kinds
            and self.codes == other.codes
            and self.whole == other.whole
            and np.array_equal(self.origins, other.origins)
        )


#: What a column holds, and how often each of its categories occurs.
_Read = tuple[str, dict[str, int] | None]


def _read(owner: str, column: Column) -> _Read:
    """Read a column of the first batch."""
    if column.holds != OBJECTS:
        if not column.holds:
            raise InvalidValueError(
                f"{owner}: column {column.name!r} of X has the type {column.dtype}, which is not "
                "numbers, Booleans, times, text or categories",
                "put one number, Boolean, time or string in each cell; or leave the column out",
            )
        return (NUMBERS if column.holds == TRUTH else column.holds), None
    with naming(f"{owner}: column {column.name!r} of X", column):
        kinds = set() if column.categorical else column.kinds()
    if len(kinds) > 1 and kinds != {NUMBERS, OBJECTS}:
        raise InvalidValueError(
            f"{owner}: column {column.name!r} of X holds {' and '.join(sorted(kinds))}",
            "keep one kind in a column; pandas.to_datetime makes dates",
        )
    if kinds and OBJECTS not in kinds:
        return kinds.pop(), None
    with naming(f"{owner}: column {column.name!r} of X", column):
        forms = first_forms(map(as_text, column.distinct()))
        counts = dict.fromkeys(sorted(forms.values()), 0)
        _, values, often = column.occurring()
        for value, n in zip(values, often.tolist(), strict=True):
            counts[forms[composed(as_text(value))]] += n
    return CATEGORIES, counts


def _origin(column: Column, numbers: np.ndarray) -> int:
    """Return the median of integers if double precision would round some of them, else 0."""
    if not (np.abs(numbers) >= _EXACT).any():
        return 0
    values = [v for v in column.places()[1] if isinstance(v, Integral | Decimal) and v != float(v)]
    return int(sorted(values)[len(values) // 2]) if values else 0


def _check_names(owner: str, frame: Any) -> None:
    names = list(frame.columns)
    if len(set(names)) < len(names):
        name = next(name for name in names if names.count(name) > 1)
        raise InvalidValueError(
            f"{owner}: X has {names.count(name)} columns {name!r}",
            "pass each column once, each under its own name",
        )
    if not names:
        raise InvalidValueError(f"{owner}: X has no columns", "pass at least one column")


def _numbers(owner: str, column: Column, kind: str, origin: int = 0) -> np.ndarray:
    """Return the numbers of a column that held numbers or times in the first batch."""
    try:
        return column.read(kind, origin)
    except OtherKindError as error:
        why = f": {error}" if str(error) else ""
        if error.value is not None and column.holds == OBJECTS:
            why = f", and {shown(error.value)} is not one of the {kind}"
        raise InvalidValueError(
            f"{owner}: column {column.name!r} of X held {kind} in the first batch, but now has "
            f"the type {column.dtype}{why}",
            f"pass the same types in every batch{_converted(column, kind)}",
        ) from error


def _converted(column: Column, kind: str) -> str:
    """Return a line of code that converts text to numbers or times."""
    if column.holds != OBJECTS:
        return ""
    x, utc = f"X[{column.name!r}]", ", utc=True" if kind == ZONED else ""
    made = f"to_numeric({x})" if kind == NUMBERS else f"to_datetime({x}{utc})"
    return f", here with {x} = pandas.{made}"

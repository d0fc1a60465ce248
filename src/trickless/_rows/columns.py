"""What the columns of a table hold, as the first batch decides, and rows of it as numbers."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from decimal import Decimal
from numbers import Integral
from typing import Annotated, Any

import numpy as np

from trickless._arrays.places import to_device_of
from trickless._arrays.stated import Array, Length, Stated, check_same
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._rows.categories import Categories, naming, warn_of_alike, warn_of_new
from trickless._rows.frames import (
    Column,
    OtherKindError,
    columns_of,
    is_frame,
    names_of,
    numbers_of,
    picked,
)
from trickless._rows.signs import Signs, signs_of
from trickless._rows.values import CATEGORIES, DATES, MOST_DAYS, NUMBERS, OBJECTS, ZONED
from trickless._rules import shown, warn

#: From this number on, double precision cannot represent all integers.
_EXACT = 2**53
#: The most rows in which text is compared with numbers.
_LOOKED_AT = 1000


class Columns(Stated):
    """What the columns of a data frame hold, and the codes of their categories.

    A column of numbers or Booleans holds numbers, as does a column of objects that are all numbers.
    Times are numbers to the microsecond: dates are days since 1970, durations and
    times of day are days, and a period is the day on which it begins. A missing value is NaN.

    A column of categories, text or other objects holds categories, whatever type later batches
    have. A warning names a column in which all or most values are new, unless rare ones were
    pooled. Learners whose neurons take any code get codes for categories that appear later
    (:meth:`after`).

    Attributes
    ----------
    kinds : list of str
        What each column holds: numbers, categories or a kind of time.
    categories : list of (Categories or None)
        The categories of each column; None for other columns.
    whole : list of int
        The number subtracted from each column before it is rounded. It is not 0 for columns of
        integers that double precision would round.
    origins : array
        What :meth:`relative` subtracts from each column after that.
    """

    kinds: list[str]
    categories: Annotated[list[Categories | None], Length("kinds")]
    whole: Annotated[list[int], Length("kinds")]
    origins: Annotated[np.ndarray, Array("f8", "kinds")]

    def __init__(self, owner: str, frame: Any) -> None:
        names, numbers = names_of(frame), numbers_of(frame)
        columns: list[Any] = [None] * len(names) if numbers is not None else columns_of(frame)
        self.kinds = [NUMBERS if each is None else _kind(owner, each) for each in columns]
        self.categories = [None] * len(names)
        self.whole = [0] * len(names)
        self.origins = np.zeros(len(names))
        for j, kind in enumerate(self.kinds):
            if kind == CATEGORIES:
                with naming(owner, columns[j]):
                    self.categories[j] = Categories.of(columns[j])
            elif kind == NUMBERS:
                read = _numbers(owner, columns[j], kind) if numbers is None else numbers[:, j]
                if (np.abs(read) >= _EXACT).any():
                    self.whole[j] = _origin(columns_of(frame)[j])

    def warn_of_text(self, owner: str, frame: Any) -> None:
        """Warn of columns of text in the first batch that seem to be numbers, or to name rows."""
        n = frame.shape[0]
        # A slice, since old versions of polars never return from picking rows of Python objects.
        columns = columns_of(picked(frame, slice(_LOOKED_AT))) if any(self.categories) else []
        for column, known in zip(columns, self.categories, strict=False):
            if known is None:
                continue
            if (number := _number_in(column)) is not None:
                text, signs = number
                options = ", ".join(f"{k}={v!r}" for k, v in signs.changed().items())
                warn(
                    f"{owner}: column {column.name!r} of X is text that looks like numbers, such "
                    f"as {shown(text)}, but text is a category. Remedy: read it as numbers, with "
                    f"pandas.read_csv({options}); or as categories, with astype('category')."
                )
            elif 2 * known.n_pooled > n:
                warn(
                    f"{owner}: {known.n_pooled:,} of {n:,} values in column {column.name!r} of X "
                    "occur once or twice only, as names of rows do, and are merged into one "
                    "category. So the column tells little about new rows. Remedy: leave it out, or "
                    "derive coarser categories from it; convert it with pandas.to_numeric or "
                    "pandas.to_datetime if its text is numbers or dates; or begin with more rows, "
                    "if later ones repeat its values."
                )

    def check_state(self) -> None:
        for kind, known, whole in zip(self.kinds, self.categories, self.whole, strict=True):
            check_same("categories", known is not None, kind == CATEGORIES)
            if whole:
                check_same("column of whole", kind, NUMBERS)
        if self.origins[[known is not None for known in self.categories]].any():
            raise ValueError("origins: codes of categories have an origin other than 0")

    @property
    def n_categories(self) -> np.ndarray:
        """The number of codes of each column at first; 0 for a column of numbers."""
        return np.array([0 if c is None else c.n_first + 2 for c in self.categories], dtype=int)

    @property
    def codes(self) -> list[dict[str, int] | None]:
        """The codes of the categories of the first batch, by column."""
        return [None if known is None else known.first for known in self.categories]

    @property
    def limits(self) -> np.ndarray:
        """The largest size of the numbers of each column."""
        return np.where([kind in (DATES, ZONED) for kind in self.kinds], MOST_DAYS, np.inf)

    @property
    def are_plain(self) -> bool:
        """Whether all columns hold numbers that double precision has."""
        return set(self.kinds) == {NUMBERS} and not any(self.whole)

    def read(self, owner: str, X: Any) -> Any:
        """Return X as a matrix of float64; an array unchanged, if all columns are numbers.

        Another array, or a list of rows, has the columns of the first batch by their places.
        Numbers are days where there were times, and values of any type are categories where there
        were categories.
        """
        if self.are_plain:
            if not is_frame(X):
                return X
            if X.shape[1] == len(self.kinds) and (numbers := numbers_of(X)) is not None:
                return numbers
        X = np.array(X, dtype=object) if isinstance(X, list | tuple) else X
        if not is_frame(X) and not isinstance(X, np.ndarray):
            raise InvalidTypeError(
                f"{owner}: X is a {type(X).__name__}, but the first batch was a data frame with "
                f"categories, times or integers beyond {_EXACT:,}",
                "pass data frames with the same columns",
            )
        matrix, limits = np.empty((X.shape[0], len(self.kinds))), self.limits
        for j, column in enumerate(columns_of(X)):
            if (known := self.categories[j]) is None:
                matrix[:, j] = read = _numbers(owner, column, self.kinds[j], self.whole[j])
                if (far := np.abs(read) > limits[j]).any():
                    raise InvalidValueError(
                        f"{owner}: column {column.name!r} of X holds a date that is "
                        f"{read[far][0]:.15g} days from 1970-01-01, which is over 10,000 years",
                        "days, such as seconds / 86,400; NaN or None where the date is missing",
                    )
                continue
            with naming(owner, column):
                matrix[:, j], counts = known.read(column)
            warn_of_alike(owner, column.name, counts, known.codes)
            if not known.n_pooled:  # else learners know what new ones are like
                warn_of_new(owner, column.name, counts, known.codes)
        return matrix

    def after(self, owner: str, X: Any) -> Columns:
        """Return columns with codes for all categories of some rows.

        Warns if all or most values of a column are new.
        """

        def learned(known: Categories, column: Column) -> Categories:
            counts = known.read(column)[1]
            new = [text for text in counts if text not in known.codes]
            if new and not known.n_pooled:
                warn_of_new(owner, column.name, counts, known.codes, learned=True)
            return known.after(new)

        return self._changed(owner, X, learned)

    def before(self, owner: str, X: Any) -> tuple[Columns, Columns]:
        """Return columns by which some rows were learned, and for when they are forgotten."""

        def forgotten(i: int) -> Columns:
            return self._changed(owner, X, lambda known, c: known.before(known.read(c)[1])[i])

        return forgotten(0), forgotten(1)

    def _changed(
        self, owner: str, X: Any, change: Callable[[Categories, Column], Categories]
    ) -> Columns:
        """Change the columns that may have later categories by rows, if these have all columns."""
        growing = {j: c for j, c in enumerate(self.categories) if c and c.rare is not None}
        is_table = is_frame(X) or (isinstance(X, np.ndarray) and X.ndim == 2)
        if not growing or not is_table or X.shape[1] != len(self.kinds):
            return self
        new, columns = copy(self), columns_of(X)
        new.categories = list(self.categories)
        for j, known in growing.items():
            with naming(owner, columns[j]):
                new.categories[j] = change(known, columns[j])
        return new

    def merged(self, other: Columns) -> Columns | None:
        """Return the columns of two models, or None if codes of later categories collide."""
        new = copy(self)
        new.categories = list(self.categories)
        for j, (mine, theirs) in enumerate(zip(self.categories, other.categories, strict=True)):
            if mine is not None and theirs is not None:
                new.categories[j] = mine.merged(theirs)
                if new.categories[j] is None:
                    return None
        return new

    def without_later(self) -> Columns:
        """Return columns in which later categories get no codes."""
        new = copy(self)
        new.categories = [c if c is None else replace(c, rare=None) for c in self.categories]
        return new

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

    def same_as(self, other: Columns) -> bool:
        """Return whether others make the same numbers of the same table."""
        return (
            self.kinds == other.kinds
            and self.codes == other.codes
            and self.whole == other.whole
            and np.array_equal(self.origins, other.origins)
        )


def _kind(owner: str, column: Column) -> str:
    """Return what a column of the first batch holds."""
    with naming(owner, column):
        kinds = {CATEGORIES} if column.categorical else column.kinds()
    if len(kinds) > 1 and kinds != {NUMBERS, OBJECTS}:
        raise InvalidValueError(
            f"{owner}: column {column.name!r} of X holds {' and '.join(sorted(kinds))}",
            "keep one kind in a column; pandas.to_datetime makes dates",
        )
    return kinds.pop() if kinds and OBJECTS not in kinds else CATEGORIES


def _number_in(column: Column) -> tuple[str, Signs] | None:
    """Return a text and the signs of numbers, if nearly all text is such, but not plain."""
    places, values = column.values
    if column.categorical or not all(isinstance(value, str) for value in values):
        return None
    signs = signs_of(values[place] for place in places.tolist() if place >= 0)
    if signs is None or signs == Signs():
        return None
    return next(text for text in values if signs.read(text) and not Signs().read(text)), signs


def _origin(column: Column) -> int:
    """Return the median of integers if double precision would round some of them, else 0."""
    values = [v for v in column.values[1] if isinstance(v, Integral | Decimal) and v != float(v)]
    return int(sorted(values)[len(values) // 2]) if values else 0


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

"""Columns of data frames (pandas or polars) and of arrays: their kinds and their values.

This is the one place that says of a column whether it holds numbers, Booleans, times or categories,
and reads it as such. Text is a category, whatever it spells. A data frame is recognised by its
methods, so neither library is imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from trickless.errors import InvalidValueError
from trickless.tables.kinds import (
    DATES,
    DURATIONS,
    NUMBERS,
    OBJECTS,
    TIMES_OF_DAY,
    TRUTH,
    ZONED,
    as_number,
    as_numbers,
    kind_of,
)

#: Nanoseconds in a microsecond, and microseconds in a day.
_NANOSECONDS, _MICROSECONDS = 1000, 86_400e6


class OtherKindError(ValueError):
    """A column is not of the kind as which it is read.

    ``value`` is a value that is not. If there is none, the message says why.
    """

    def __init__(self, message: str, value: Any = None) -> None:
        super().__init__(message)
        self.value = value


def columns_of(frame: Any) -> list[Column]:
    """Return the columns of a data frame."""
    if hasattr(frame, "iloc"):
        return [PandasColumn(name, column) for name, column in frame.items()]
    return [PolarsColumn(*pair) for pair in zip(frame.columns, frame.get_columns(), strict=True)]


def columns_of_array(X: Any) -> list[Column] | None:
    """Return the columns of a NumPy matrix, named by their positions; objects get types.

    None for other rows, and without pandas.
    """
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        return None
    try:
        import pandas
    except ImportError:
        return None
    return [ColumnOfArray(j, pandas.Series(x).infer_objects()) for j, x in enumerate(X.T)]


class Column(ABC):
    """A column of a data frame.

    ``holds`` says what the column holds: numbers, Booleans, a kind of time, or objects such as text
    and categories. It is "" for anything else. The column is ``categorical`` if its type says
    that it holds categories, and ``declared`` if the type lists them.
    """

    categorical: bool
    declared: bool
    holds: str
    #: Whether numbers may be times in days.
    may_be_days = False

    def __init__(self, name: Any, column: Any) -> None:
        self.name, self.column, self.dtype = name, column, column.dtype

    @abstractmethod
    def missing(self) -> np.ndarray:
        """Return where values are missing."""

    @abstractmethod
    def places(self) -> tuple[np.ndarray, list[Any]]:
        """Return each value's place in a list of distinct ones, -1 if missing; and the list."""

    @abstractmethod
    def of_type(self) -> np.ndarray:
        """Return the values of a column of numbers, Booleans or times, as numbers or times."""

    def distinct(self) -> list[Any]:
        """Return the values that occur, each once, or those that the type declares."""
        return self.places()[1]

    def occurring(self) -> tuple[np.ndarray, list[Any], np.ndarray]:
        """Return :meth:`places` with only the values that occur, and how often each one does."""
        places, values = self.places()
        counts = np.bincount(places.astype(np.intp) + 1, minlength=len(values) + 1)[1:]
        if counts.all():
            return places, values, counts
        used = np.flatnonzero(counts)
        place_of = np.full(len(values) + 1, -1)
        place_of[used] = np.arange(len(used))
        return place_of[places], [values[place] for place in used], counts[used]

    def kinds(self) -> set[str]:
        """Return what the column holds; for objects, their kinds."""
        if self.holds != OBJECTS:
            return {NUMBERS if self.holds == TRUTH else self.holds}
        return set(map(kind_of, self.distinct()))

    def read(self, kind: str, origin: int = 0) -> np.ndarray:
        """Return the values as float64, times in days; NaN where they are missing.

        An ``origin`` is subtracted before integers are rounded. Raises an OtherKindError unless all
        values are of this kind.
        """
        if self.missing().all():
            return np.full(len(self.column), np.nan)
        if self.holds != OBJECTS:
            if self.kinds() != {kind} and not (self.may_be_days and self.holds == NUMBERS):
                raise OtherKindError("", self.places()[1][0] if self.holds else None)
            if not origin:
                return as_numbers(self.of_type())
        try:
            places, values, _ = self.occurring()
            for value in values:
                if kind_of(value) != kind:
                    raise OtherKindError("", value)
            exact = (float(v) if origin and isinstance(v, np.floating) else v for v in values)
            numbers = [as_number(value - origin if origin else value) for value in exact]
        except OtherKindError:
            raise
        except Exception as error:  # polars raises a class of its own
            raise OtherKindError(str(error)) from error
        return np.array([*numbers, np.nan])[places]


class PandasColumn(Column):
    """A column of a pandas data frame, whose values may be stored by Arrow."""

    def __init__(self, name: Any, column: Any) -> None:
        super().__init__(name, column)
        kind = getattr(column.dtype, "kind", "O")
        self._arrow = getattr(column.dtype, "pyarrow_dtype", None)
        self._period = hasattr(column.dtype, "freq")
        self.declared = hasattr(column, "cat")
        self.categorical = self.declared or str(self._arrow).startswith("dictionary")
        zone = getattr(column.dtype if self._arrow is None else self._arrow, "tz", None)
        if self._period:
            self.holds = DATES
        elif str(self._arrow).startswith("decimal"):
            self.holds = NUMBERS
        elif kind == "M":
            self.holds = DATES if zone is None else ZONED
        else:
            kinds = {"b": TRUTH, "m": DURATIONS} | dict.fromkeys("iuf", NUMBERS)
            self.holds = kinds.get(kind, OBJECTS if kind in "OUST" else "")

    def missing(self) -> np.ndarray:
        return self.column.isna().to_numpy()

    def places(self) -> tuple[np.ndarray, list[Any]]:
        if self.declared:
            return self.column.cat.codes.to_numpy(), _objects(self.column.cat.categories)
        if str(self._arrow) == "null":
            return np.full(len(self.column), -1), []
        places, values = self.column.array.factorize()
        return places, _objects(values.to_numpy() if self.holds in (NUMBERS, TRUTH) else values)

    def of_type(self) -> np.ndarray:
        if self.holds in (NUMBERS, TRUTH):
            return self.column.to_numpy(dtype=float, na_value=np.nan)
        if self._arrow is not None:
            return self.column.array.__arrow_array__().to_numpy(zero_copy_only=False)
        if self._period:
            return self.column.dt.to_timestamp().to_numpy()
        return (self.column.dt.tz_convert(None) if self.holds == ZONED else self.column).to_numpy()


class ColumnOfArray(PandasColumn):
    """A column of an array, in which times may be numbers of days."""

    may_be_days = True


def _objects(values: Any) -> list[Any]:
    """Return values as Python or pandas objects. Short floats keep their type."""
    kind = getattr(values.dtype, "kind", "O")
    if kind == "f" and values.dtype.itemsize < np.dtype(float).itemsize:
        return list(values.to_numpy() if hasattr(values, "to_numpy") else values)
    return list(values) if kind in "mM" else values.tolist()


class PolarsColumn(Column):
    """A column of a polars data frame."""

    _HOLDS = {"Boolean": TRUTH, "Date": DATES, "Duration": DURATIONS, "Time": TIMES_OF_DAY}
    _TEXT = "String", "Categorical", "Enum"
    _SHORT = {"Float16": np.float16, "Float32": np.float32}

    def __init__(self, name: Any, column: Any) -> None:
        super().__init__(name, column.fill_nan(None) if column.dtype.is_float() else column)
        self._kind = str(column.dtype).split("(")[0]
        self.declared = self._kind == "Enum"
        self.categorical = self._kind in ("Categorical", "Enum")
        if column.dtype.is_numeric():
            self.holds = NUMBERS
        elif self._kind == "Datetime":
            self.holds = DATES if column.dtype.time_zone is None else ZONED
        else:
            objects = self._kind in (*self._TEXT, "Binary", "Object", "Null")
            self.holds = self._HOLDS.get(self._kind, OBJECTS if objects else "")

    def missing(self) -> np.ndarray:
        return self.column.is_null().to_numpy()

    def distinct(self) -> list[Any]:
        return self.column.dtype.categories.to_list() if self.declared else super().distinct()

    def places(self) -> tuple[np.ndarray, list[Any]]:
        self._check_nanoseconds()
        if self._kind in self._TEXT:
            texts = self.column.cast(str)
            values = texts.drop_nulls().unique(maintain_order=True)
            if len(values):
                places = texts.replace_strict(values, list(range(len(values))), default=-1)
                return places.to_numpy(), values.to_list()
        known: dict[Any, int] = {None: -1}
        short = self._SHORT.get(self._kind)
        places = [known.setdefault(value, len(known) - 1) for value in self.column.to_list()]
        values = list(known)[1:]
        return np.array(places, dtype=int), values if short is None else list(map(short, values))

    def _check_nanoseconds(self) -> None:
        """Refuse times that would lose their nanoseconds as Python objects."""
        has_some = self._kind == "Time" or getattr(self.dtype, "time_unit", "") == "ns"
        if has_some and (self.column.cast(int) % _NANOSECONDS != 0).any():
            raise InvalidValueError(
                "times with nanoseconds cannot be categories, since Python's times have none",
                "store them as text or in microseconds",
            )

    def of_type(self) -> np.ndarray:
        if self.holds in (NUMBERS, TRUTH):
            return self.column.cast(float).to_numpy()
        if self.holds == TIMES_OF_DAY:
            return self.column.cast(int).cast(float).to_numpy() // _NANOSECONDS / _MICROSECONDS
        return self.column.to_numpy()

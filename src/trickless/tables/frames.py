"""Columns of pandas and polars data frames, as numbers or as objects.

A data frame is recognised by its methods, so neither library is imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from trickless.errors import InvalidValueError
from trickless.neurons.forms import spelled_as
from trickless.tables.parse_text import MISSING, time_of
from trickless.tables.spellings import PLAIN, Spelling, are_times, spelling_of
from trickless.tables.times import (
    DATES,
    DURATIONS,
    TIMES_OF_DAY,
    ZONED,
    as_number,
    as_numbers,
    kind_of_time,
)

NUMBERS, TRUTH, OBJECTS = "numbers", "truth values", "other objects"
TIMES = DATES, ZONED, DURATIONS, TIMES_OF_DAY
#: Objects that are numbers.
NUMBER_TYPES = Real, Decimal, np.bool_
#: Nanoseconds in a microsecond, and microseconds in a day.
_NANOSECONDS, _MICROSECONDS = 1000, 86_400e6


def is_frame(X: Any) -> bool:
    """Whether X is a data frame."""
    return hasattr(X, "get_column") or (hasattr(X, "iloc") and hasattr(X, "columns"))


def columns_of(frame: Any) -> list[Column]:
    """The columns of a data frame."""
    if hasattr(frame, "iloc"):
        return [PandasColumn(name, column) for name, column in frame.items()]
    return [PolarsColumn(*pair) for pair in zip(frame.columns, frame.get_columns(), strict=True)]


def columns_of_array(X: Any) -> list[Column] | None:
    """The columns of an array, named by their places; those of an array of objects get types.

    None for other rows than a matrix of NumPy, and without pandas.
    """
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        return None
    try:
        import pandas
    except ImportError:
        return None
    return [ColumnOfArray(j, pandas.Series(x).infer_objects()) for j, x in enumerate(X.T)]


def numbers_of(frame: Any) -> np.ndarray | None:
    """A data frame as float64, if its types say that it holds only numbers and truth values.

    None for other data frames, and for libraries whose frames are read column by column.
    """
    if not hasattr(frame, "iloc"):
        return None
    kinds = {getattr(dtype, "kind", "O") for dtype in frame.dtypes}
    if not kinds <= set("biuf"):
        return None
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def with_names_as_text(frame: Any, known: Iterable[str] = ()) -> Any:
    """A data frame whose column names are text, as in files, and spelled like known ones."""
    before = list(frame.columns)
    names = spelled_as(map(str, before), known)
    if names == before and all(type(name) is str for name in before):
        return frame
    if not hasattr(frame, "iloc"):
        return frame.rename(dict(zip(before, names, strict=True)))
    frame = frame.copy(deep=False)
    frame.columns = names
    return frame


def is_numbered(frame: Any) -> bool:
    """Whether the columns are named 0, 1, ..., as in a data frame made of an array."""
    return list(map(str, frame.columns)) == [str(j) for j in range(frame.shape[1])]


def unnamed(frame: Any) -> Any:
    """A data frame with columns named 0, 1, ...; an array, where names must be text."""
    if not hasattr(frame, "iloc"):
        return frame.to_numpy()
    frame = frame.copy(deep=False)
    frame.columns = range(frame.shape[1])
    return frame


def with_times_as_days(frame: Any) -> Any:
    """A data frame whose columns of times are numbers of days, whatever their type and unit."""
    if all(getattr(dtype, "kind", "O") in "biuf" for dtype in frame.dtypes):
        return frame
    days = {j: c.numbers() for j, c in enumerate(columns_of(frame)) if _holds_times(c)}
    if not days:
        return frame
    if not hasattr(frame, "iloc"):
        columns = frame.get_columns()
        return frame.with_columns([type(columns[j])(columns[j].name, days[j]) for j in days])
    frame = frame.copy(deep=False)
    for j, numbers in days.items():
        frame.isetitem(j, numbers)
    return frame


def _holds_times(column: Column) -> bool:
    """Whether the type of a column is one of times, or all its objects are times of one kind."""
    if column.holds in TIMES:
        return True
    if column.holds != OBJECTS or column.categorical:
        return False
    if not any(map(kind_of_time, picked(column.column, np.flatnonzero(~column.missing())[:1]))):
        return False
    return len(kinds := column.kinds()) == 1 and kinds < set(TIMES)


def frame_like(frame: Any, matrix: np.ndarray) -> Any:
    """A data frame of these numbers, with the column names of another data frame."""
    if hasattr(frame, "iloc"):
        return type(frame)(matrix, columns=frame.columns, index=frame.index)
    return type(frame)(matrix, schema=list(frame.columns))


def kind_of(value: Any) -> str:
    """What an object is: a number, a kind of time, or another object."""
    return kind_of_time(value) or (NUMBERS if isinstance(value, NUMBER_TYPES) else OBJECTS)


def picked(frame: Any, rows: np.ndarray) -> Any:
    """The rows of a data frame with these numbers, in this order."""
    return frame.iloc[rows] if hasattr(frame, "iloc") else frame[rows]


def stacked(frames: list[Any]) -> Any:
    """Data frames of one library with the same columns, one below the other.

    A column of categories gets the categories of all frames, whatever each type declares.
    """
    columns = list(zip(*map(columns_of, frames), strict=True))
    if not hasattr(frames[0], "iloc"):
        import polars

        texts = [parts[0].name for parts in columns if parts[0].categorical]
        frames = [frame.with_columns(polars.col(texts).cast(polars.String)) for frame in frames]
        return polars.concat(frames, how="vertical_relaxed")
    import pandas

    series = []
    for parts in columns:
        categorical = any(part.categorical for part in parts)
        values = [part.column.astype(object) if categorical else part.column for part in parts]
        whole = pandas.concat(values, ignore_index=True)
        series.append(whole.astype("category") if categorical else whole)
    return pandas.concat(series, axis=1)


class Column(ABC):
    """A column of a data frame.

    ``holds`` says what the column holds: numbers, truth values, a kind of time, or objects such as
    text and categories. It is "" for anything else. The column is ``categorical`` if its type says
    that it holds categories, and ``declared`` if the type lists them.
    """

    categorical: bool
    declared: bool
    holds: str

    def __init__(self, name: Any, column: Any) -> None:
        self.name, self.column, self.dtype = name, column, column.dtype

    @abstractmethod
    def missing(self) -> np.ndarray:
        """Where values are missing."""

    @abstractmethod
    def places(self) -> tuple[np.ndarray, list[Any]]:
        """The place of each value in a list of distinct values, -1 if it is missing; the list."""

    @abstractmethod
    def of_type(self) -> np.ndarray:
        """The values of a column of numbers, truth values or times, as numbers or times."""

    def distinct(self) -> list[Any]:
        """The values that occur, each once, or those that the type declares."""
        return self.places()[1]

    def occurring(self) -> tuple[np.ndarray, list[Any], np.ndarray]:
        """Like :meth:`places`, but only with values that occur, and how often each one does."""
        places, values = self.places()
        counts = np.bincount(places.astype(np.intp) + 1, minlength=len(values) + 1)[1:]
        if counts.all():
            return places, values, counts
        used = np.flatnonzero(counts)
        place_of = np.full(len(values) + 1, -1)
        place_of[used] = np.arange(len(used))
        return place_of[places], [values[place] for place in used], counts[used]

    def kinds(self) -> set[str]:
        """What the column holds; for objects, their kinds."""
        if self.holds != OBJECTS:
            return {NUMBERS if self.holds == TRUTH else self.holds}
        return set(map(kind_of, self.distinct()))

    def kinds_of_text(self) -> tuple[set[str], Spelling]:
        """Like :meth:`kinds`, where text may spell numbers or dates; and how it spells numbers.

        Categories are what their type says they are.
        """
        values = [] if self.categorical or self.holds != OBJECTS else self.distinct()
        texts = [value for value in values if isinstance(value, str)]
        if not texts:
            return self.kinds(), PLAIN
        others = {kind_of(value) for value in values if not isinstance(value, str)}
        spelling = spelling_of(texts) if others <= {NUMBERS} else None
        if spelling is not None and not (others and spelling.unit):
            return {NUMBERS}, spelling
        if others <= {DATES, ZONED} and are_times(texts):
            times = [time_of(text) for text in texts if text.strip() not in MISSING]
            kinds = others | set(map(kind_of, times))
            return (kinds if others or len(kinds) == 1 else {OBJECTS}), PLAIN
        return others | {OBJECTS}, PLAIN

    def numbers(self, origin: int = 0, read: Callable[[str], Any] = float) -> np.ndarray:
        """The values as float64, times in days; NaN where they are missing.

        Text is ``read`` first. An ``origin`` is subtracted before whole numbers are rounded.
        """
        if self.holds != OBJECTS and not origin:
            return as_numbers(self.of_type())
        places, values = self.places()
        if self.holds == OBJECTS:
            values = [read(value) if isinstance(value, str) else value for value in values]
        if origin:
            doubles = (float(v) if isinstance(v, np.floating) else v for v in values)
            values = [value - origin for value in doubles]
        numbers = map(as_number, values)
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


def _objects(values: Any) -> list[Any]:
    """Values as objects of Python or pandas. Short floats keep their type."""
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

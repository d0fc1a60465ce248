"""pandas and polars data frames and Arrow tables: their columns, names and rows.

This is the one place that says of a column whether it holds numbers, Booleans, times or categories,
and reads it as such. Text is a category, whatever it spells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse

from trickless._arrays.missing import is_masked, is_missing
from trickless._arrays.places import place_of
from trickless._errors import InvalidValueError
from trickless._rows.values import (
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
from trickless.neurons.forms import spelled_as, why_ambiguous

_NANOSECONDS = 1000  # in a microsecond
_TEXT = nw.String, nw.Categorical, nw.Enum
_HOLDS: dict[type, str] = {
    nw.Boolean: TRUTH,
    nw.Date: DATES,
    nw.Duration: DURATIONS,
    nw.Time: TIMES_OF_DAY,
}
_HOLDS_IN_ARRAYS = {"b": TRUTH, "m": DURATIONS, "M": DATES} | dict.fromkeys("iuf", NUMBERS)


class OtherKindError(ValueError):
    """A column is not of the kind as which it is read.

    ``value`` is a value that is not. If there is none, the message says why.
    """

    def __init__(self, message: str, value: Any = None) -> None:
        super().__init__(message)
        self.value = value


class Column:
    """A column of a data frame.

    Attributes
    ----------
    name : str
    dtype : data type of the library
    holds : str
        What the type says: numbers, Booleans, a kind of time, or other objects, such as text.
    categorical : bool
        Whether the type says that it holds categories.
    """

    #: Whether numbers may be times in days.
    may_be_days = False

    def __init__(self, name: Any, series: nw.Series) -> None:
        native = series.to_native()
        self.name, self.dtype = name, getattr(native, "dtype", series.dtype)
        if hasattr(self.dtype, "tz"):  # of pandas; narwhals does not know every zone
            series = nw.from_native(native.dt.tz_convert("UTC"), series_only=True)
        self._series, type_ = series, series.dtype
        self.categorical = type_ in (nw.Categorical, nw.Enum)
        self._declared = type_ == nw.Enum or str(self.dtype) == "category"
        if type_.is_numeric():
            self.holds = NUMBERS
        elif isinstance(type_, nw.Datetime):
            self.holds = DATES if type_.time_zone is None else ZONED
        else:
            self.holds = _HOLDS.get(type(type_), OBJECTS)
        self._by_values = self.holds in (OBJECTS, TIMES_OF_DAY) or type_ == nw.Decimal

    def _read_values(self) -> tuple[np.ndarray, list[Any]]:
        series, type_ = self._series, self._series.dtype
        native = series.to_native()
        if self.holds == OBJECTS and type_ != nw.Unknown and hasattr(native, "factorize"):
            with suppress(TypeError, OverflowError):  # no hash; pandas 2 and integers beyond floats
                places, values = native.factorize()  # of pandas, and quick
                return places, list(np.asarray(values))
        if type_ in _TEXT and series.count():
            texts = series.cast(nw.String)
            values = texts.drop_nulls().unique(maintain_order=True).to_list()
            places = texts.replace_strict(values, list(range(len(values))), return_dtype=nw.Int64)
            return places.fill_null(-1).to_numpy(), values
        if type_ == nw.Time or getattr(type_, "time_unit", "") == "ns":
            self._check_nanoseconds()
        return _factorized(list(series.to_numpy()) if type_.is_float() else series.to_list())

    def _check_nanoseconds(self) -> None:
        """Refuse times that would lose their nanoseconds as Python objects."""
        if hasattr(self._series.to_native(), "iloc"):  # pandas has objects of its own
            return
        if (self._series.drop_nulls().cast(nw.Int64) % _NANOSECONDS != 0).any():
            raise InvalidValueError(
                "times with nanoseconds cannot be categories, since Python's times have none",
                "store them as text or in microseconds",
            )

    def _read_type(self) -> np.ndarray:
        series = self._series
        if self.holds in (NUMBERS, TRUTH):
            series = series.cast(nw.Float64) if self.holds == TRUTH else series
            return series.to_numpy().astype(np.float64, copy=False)
        if self.holds == ZONED:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        if series.dtype == nw.Date:
            series = series.cast(nw.Datetime("us"))
        return as_numbers(series.to_numpy())

    @cached_property
    def values(self) -> tuple[np.ndarray, list[Any]]:
        """Each value's place in a list of those that occur, -1 if it is missing; and the list."""
        return self._read_values()

    @cached_property
    def numbers(self) -> np.ndarray:
        """The values as float64, as their type says; NaN where they are missing."""
        return self._read_type()

    def missing(self) -> np.ndarray:
        """Return where values are missing."""
        return self.values[0] < 0 if self._by_values else np.isnan(self.numbers)

    def declared(self) -> list[Any]:
        """Return the values that the type declares, or those that occur."""
        if not self._declared:
            return self.values[1]
        of_pandas: Any = getattr(self._series.to_native(), "cat", None)
        known: Any = of_pandas if hasattr(of_pandas, "categories") else self._series.dtype
        return list(np.asarray(known.categories))

    def counts(self) -> np.ndarray:
        """Return how often each value occurs."""
        places, values = self.values
        return np.bincount(places.astype(np.intp) + 1, minlength=len(values) + 1)[1:]

    def kinds(self) -> set[str]:
        """Return what the column holds; for objects, their kinds."""
        if self.holds != OBJECTS:
            return {NUMBERS if self.holds == TRUTH else self.holds}
        return set(map(kind_of, self.values[1]))

    def read(self, kind: str, origin: int = 0) -> np.ndarray:
        """Return the values as float64, times in days; NaN where they are missing.

        An ``origin`` is subtracted before integers are rounded. Raises an OtherKindError unless all
        values are of this kind.
        """
        is_kind = self.kinds() in ([{kind}, {NUMBERS}] if self.may_be_days else [{kind}])
        if is_kind and not self._by_values and not origin:
            return self.numbers
        if self.missing().all():
            return np.full(len(self.missing()), np.nan)
        places, values = self.values
        if not is_kind:
            wrong = [v for v in values if self.holds != OBJECTS or kind_of(v) != kind]
            raise OtherKindError("", wrong[0])
        exact = (float(v) if origin and isinstance(v, np.floating) else v for v in values)
        try:
            numbers = [as_number(value - origin if origin else value) for value in exact]
        except Exception as error:  # polars raises a class of its own
            raise OtherKindError(str(error)) from error
        return np.array([*numbers, np.nan])[places]


class ColumnOfArray(Column):
    """A column of an array, named by its position, in which times may be numbers of days."""

    may_be_days = True
    categorical = _declared = False

    def __init__(self, name: int, values: np.ndarray) -> None:
        self.name, self.dtype, self._array = name, values.dtype, values
        self.holds = _HOLDS_IN_ARRAYS.get(values.dtype.kind, OBJECTS)
        self._by_values = self.holds == OBJECTS

    def _read_values(self) -> tuple[np.ndarray, list[Any]]:
        in_numpy = self._array.dtype.kind in "fmM"
        return _factorized(list(self._array) if in_numpy else self._array.tolist())

    def _read_type(self) -> np.ndarray:
        return as_numbers(self._array).astype(np.float64, copy=False)


def _factorized(values: list[Any]) -> tuple[np.ndarray, list[Any]]:
    """Return each object's place in a list of different ones, -1 if it is missing; and the list."""
    known = dict[Any, int]()
    try:
        places = [-1 if is_missing(v) else known.setdefault(v, len(known)) for v in values]
        return np.array(places, dtype=int), list(known)
    except TypeError:  # of values without a hash
        there = np.array([not is_missing(value) for value in values])
        return np.where(there, there.cumsum() - 1, -1), [v for v in values if not is_missing(v)]


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame."""
    return not isinstance(X, np.ndarray) and nw.dependencies.is_into_dataframe(X)


def columns_of(X: Any) -> list[Column]:
    """Return the columns of a data frame, or of an array of two dimensions."""
    if not is_frame(X):
        return [ColumnOfArray(j, x) for j, x in enumerate(X.T)]
    frame = nw.from_native(X, eager_only=True)
    return [Column(*pair) for pair in zip(names_of(X), frame.iter_columns(), strict=True)]


def names_of(frame: Any) -> list[Any]:
    """Return the names of the columns of a data frame."""
    return list(
        frame.columns
        if hasattr(frame, "get_column") or hasattr(frame, "iloc")
        else frame.column_names
    )


def are_single(frame: Any) -> bool:
    """Return whether all columns of a data frame are numbers in single precision."""
    if len(set(names := names_of(frame))) < len(names):  # which raises an error later
        return False
    return set(nw.from_native(frame, eager_only=True).schema.values()) == {nw.Float32()}


def numbers_of(frame: Any) -> np.ndarray | None:
    """Return a pandas data frame as float64, if it holds only numbers and Booleans.

    None for other data frames, which are read column by column.
    """
    if not hasattr(frame, "iloc"):
        return None
    if not {getattr(dtype, "kind", "O") for dtype in frame.dtypes} <= set("biuf"):
        return None
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def with_names_as_text(frame: Any, known: Iterable[str] = ()) -> Any:
    """Return a data frame whose column names are text, as in files, and spelled like known ones."""
    before = names_of(frame)
    names = spelled_as(map(str, before), known)
    if names == before and all(type(name) is str for name in before):
        return frame
    if hasattr(frame, "iloc"):
        frame = frame.copy(deep=False)
        frame.columns = names
        return frame
    renamed = nw.from_native(frame, eager_only=True).rename(dict(zip(before, names, strict=True)))
    return renamed.to_native()


def check_names(owner: str, names: list[str]) -> None:
    """Check that there are columns, each with a name of its own, in any Unicode form."""
    if len(set(names)) < len(names):
        name = next(name for name in names if names.count(name) > 1)
        raise InvalidValueError(
            f"{owner}: X has {names.count(name)} columns {name!r}",
            "pass each column once, each under its own name",
        )
    if (twice := why_ambiguous(names)) is not None:
        raise InvalidValueError(f"{owner}: X has {twice}", "keep one of them")


def check_frame(owner: str, X: Any) -> None:
    """Check the column names of what is read as numbers, if it is a data frame."""
    if is_frame(X):
        check_names(owner, list(map(str, names_of(X))))


def is_numbered(frame: Any) -> bool:
    """Return whether the columns are named 0, 1, ..., as in a data frame made of an array."""
    return list(map(str, names_of(frame))) == [str(j) for j in range(frame.shape[1])]


def picked(X: Any, rows: np.ndarray | slice) -> Any:
    """Return the rows of a data frame, array or CSR matrix with these numbers, in this order."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return nw.from_native(X, eager_only=True)[rows].to_native() if is_frame(X) else X[rows]


def stacked(tables: Sequence[Any]) -> Any:
    """Return tables of one form and with the same columns, one below the other.

    They are arrays of any library, sparse matrices, series, or data frames. A column of categories
    gets the categories of all frames, whatever each type declares.
    """
    first = tables[0]
    if len(tables) == 1:
        return first
    if scipy.sparse.issparse(first):
        return scipy.sparse.vstack(tables, format="csr")
    if any(map(is_masked, tables)):
        return np.ma.concatenate(tables)  # type: ignore[no-untyped-call]
    if hasattr(first, "iloc") and first.ndim == 1:
        import pandas

        return pandas.concat(tables)
    return _stacked_frames(tables) if is_frame(first) else place_of(first).xp.concat(tables)


def _stacked_frames(frames: Sequence[Any]) -> Any:
    columns = list(zip(*map(columns_of, frames), strict=True))
    texts = [parts[0].name for parts in columns if any(part.categorical for part in parts)]
    if not hasattr(frames[0], "iloc"):
        as_text = [
            nw.from_native(frame)
            .with_columns([nw.col(t).cast(nw.String) for t in texts])
            .to_native()
            for frame in frames
        ]
        if hasattr(frames[0], "get_column"):
            import polars

            return polars.concat(as_text, how="vertical_relaxed")
        import pyarrow

        return pyarrow.concat_tables(as_text, promote_options="permissive")
    import pandas

    series = []
    for name in names_of(frames[0]):
        parts = [frame[name].astype(object) if name in texts else frame[name] for frame in frames]
        whole = pandas.concat(parts, ignore_index=True)
        series.append(whole.astype("category") if name in texts else whole)
    return pandas.concat(series, axis=1)

"""Whole pandas and polars data frames: their names, rows and numbers.

A data frame is recognised by its methods, so neither library is imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from trickless.neurons.forms import spelled_as
from trickless.tables.columns import Column, columns_of
from trickless.tables.kinds import OBJECTS, TIMES, kind_of_time


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame."""
    return hasattr(X, "get_column") or (hasattr(X, "iloc") and hasattr(X, "columns"))


def numbers_of(frame: Any) -> np.ndarray | None:
    """Return a data frame as float64, if its types say that it holds only numbers and Booleans.

    None for other data frames, and for libraries whose frames are read column by column.
    """
    if not hasattr(frame, "iloc"):
        return None
    kinds = {getattr(dtype, "kind", "O") for dtype in frame.dtypes}
    if not kinds <= set("biuf"):
        return None
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def with_names_as_text(frame: Any, known: Iterable[str] = ()) -> Any:
    """Return a data frame whose column names are text, as in files, and spelled like known ones."""
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
    """Return whether the columns are named 0, 1, ..., as in a data frame made of an array."""
    return list(map(str, frame.columns)) == [str(j) for j in range(frame.shape[1])]


def unnamed(frame: Any) -> Any:
    """Return a data frame with columns named 0, 1, ...; an array, where names must be text."""
    if not hasattr(frame, "iloc"):
        return frame.to_numpy()
    frame = frame.copy(deep=False)
    frame.columns = range(frame.shape[1])
    return frame


def with_times_as_days(frame: Any) -> Any:
    """Return a data frame whose times are numbers of days, whatever their type and unit."""
    if all(getattr(dtype, "kind", "O") in "biuf" for dtype in frame.dtypes):
        return frame
    columns = columns_of(frame)
    days = {j: c.read(kind) for j, c in enumerate(columns) if (kind := _kind_of_times(c))}
    if not days:
        return frame
    if not hasattr(frame, "iloc"):
        series = type(columns[0].column)
        return frame.with_columns([series(columns[j].name, days[j]) for j in days])
    frame = frame.copy(deep=False)
    for j, numbers in days.items():
        frame.isetitem(j, numbers)
    return frame


def _kind_of_times(column: Column) -> str:
    """Return the kind of a column of times, as its type or all its objects say; "" for others."""
    if column.holds in TIMES:
        return column.holds
    first = picked(column.column, np.flatnonzero(~column.missing())[:1])
    if column.holds != OBJECTS or column.categorical or not any(map(kind_of_time, first)):
        return ""
    kind, *others = column.kinds()
    return kind if not others and kind in TIMES else ""


def frame_like(frame: Any, matrix: np.ndarray) -> Any:
    """Return a data frame of these numbers, with the column names of another data frame."""
    if hasattr(frame, "iloc"):
        return type(frame)(matrix, columns=frame.columns, index=frame.index)
    return type(frame)(matrix, schema=list(frame.columns))


def picked(frame: Any, rows: np.ndarray | slice) -> Any:
    """Return the rows of a data frame, array or CSR matrix with these numbers, in this order."""
    return frame.iloc[rows] if hasattr(frame, "iloc") else frame[rows]


def stacked(frames: list[Any]) -> Any:
    """Return data frames of one library with the same columns, one below the other.

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

"""Rows of samples and streams, in any form: arrays, data frames, dictionaries and numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse

from trickless.arrays.missing import is_missing, unmasked
from trickless.arrays.places import HOST, dispatches, place_of, take, to_host
from trickless.errors import InvalidTypeError, InvalidValueError
from trickless.neurons.checks import for_images, shape_of
from trickless.neurons.layouts import Layout
from trickless.neurons.unequal import is_unequal
from trickless.rows.columns import Columns
from trickless.rows.frames import (
    columns_of,
    is_frame,
    names_of,
    picked,
    stacked,
    with_names_as_text,
)
from trickless.rows.refusals import why_no_frame
from trickless.rows.rows import canonical_rows
from trickless.rows.values import CATEGORIES, OBJECTS
from trickless.rules import reworded, shown, with_remedies

#: Whether each feature of dictionaries holds text, by name. None if a data frame decides.
Features = dict[str, bool | None]


def in_words(owner: str, X: str = "X", neurons: str = "neurons") -> AbstractContextManager[None]:
    """Let errors and warnings name the test or detector, and what X and ``neurons`` are there."""

    def change(text: str) -> str:
        text = re.sub(r"\bneurons=", f"{neurons}=", text.replace("RandomFeatures", owner))
        return re.sub(r"\bX\b", X, text)

    return reworded(change)


def as_rows(owner: str, name: str, X: Any, layout: Layout) -> Any:
    """Return a data frame, a CSR matrix or an array of rows.

    It has two dimensions, or more if X has more and the family reads them.
    """
    if is_frame(X):
        return X
    with in_words(owner, name), with_remedies(owner):
        if (why := why_no_frame(X)) is not None:
            raise InvalidTypeError(f"{owner}: {why[0]}", why[1])
        if scipy.sparse.issparse(X):
            return canonical_rows(owner, X)
        if layout.reads_arrays and is_unequal(X):
            layout, rows = layout.learned(owner, X)
            return rows.reshape(len(rows), *(layout.shape or ()))
        X = X if dispatches() and place_of(X) is not HOST else np.asarray(unmasked(X))
    shape = tuple(X.shape)
    if len(shape) == 2 or (len(shape) > 2 and layout.reads_arrays):
        return X
    remedy = f"{name}.reshape(-1, 1) if it is one feature" if shape else "pass an array of rows"
    raise InvalidValueError(
        f"{owner}: {name} has the shape {shape}, but it must be a table of rows and columns",
        for_images(name, shape) if len(shape) > 2 else remedy,
    )


def select(X: Any, where: Any) -> Any:
    """Return the rows with these numbers, in this order."""
    return picked(X, where) if is_frame(X) else take(X, where)


def check_alike(owner: str, X: Any, other: Any, name: str) -> None:
    """Check that X has the form and the columns of other rows, which errors call by a ``name``."""
    kinds = _kind(X), _kind(other)
    if kinds[0] != kinds[1]:
        raise InvalidTypeError(
            f"{owner}: X is {kinds[0]}, but {name} is {kinds[1]}",
            "pass both as the same kind of table",
        )
    if is_frame(X) and names_of(X) != names_of(other):
        alone = sorted(set(names_of(X)) ^ set(names_of(other)), key=str)
        what = f"column {alone[0]!r} is in only one of them" if alone else "their order differs"
        raise InvalidValueError(
            f"{owner}: X and {name} have different columns: {what}",
            "pass the same columns in the same order, for example Y[X.columns]",
        )
    if X.shape[1:] != other.shape[1:]:
        of_x, there = (" × ".join(map(str, each.shape[1:])) for each in (X, other))
        raise InvalidValueError(
            f"{owner}: X has {of_x} columns, but {name} has {there}",
            "pass the same columns in both, in the same order",
        )


def stack(tables: list[Any]) -> Any:
    """Return tables of one kind, one below the other."""
    if len(tables) == 1:
        return tables[0]
    if is_frame(tables[0]):
        return stacked(tables)
    if scipy.sparse.issparse(tables[0]):
        return scipy.sparse.vstack(tables, format="csr")
    return place_of(tables[0]).xp.concat(tables)


def pooled(owner: str, X: Any, Y: Any, layout: Layout) -> Any:
    """Return two samples as one table, the second below the first."""
    if is_frame(X) and is_frame(Y) and all(isinstance(name, str) for name in names_of(X)):
        Y = with_names_as_text(Y, names_of(X))
    if len(X.shape) > 2 and X.shape[1:-1] == Y.shape[1:-1] and X.shape[1:] != Y.shape[1:]:
        return as_rows(owner, "X and Y", [*X, *Y], layout)  # some series are longer
    check_alike(owner, X, Y, "Y")
    if is_frame(X):
        _check_types(owner, X, Y)
    with with_remedies(owner):
        return stack([X, Y])


def check_n_rows(owner: str, name: str, n: int, least: int) -> None:
    """Check that there are enough rows for an unbiased statistic."""
    if n < least:
        raise InvalidValueError(
            f"{owner}: {name} has {n} row{'s' * (n != 1)}, but an unbiased statistic needs "
            f"{least} or more",
            "pass more rows",
        )


def of_stream(
    owner: str, X: Any, features: Features | None, layout: Layout
) -> tuple[Any, Features | None]:
    """Return a table of rows, and the features that dictionaries must have.

    The first dictionary or data frame decides about them. Features that later dictionaries lack are
    missing, and others are left out. After a data frame, or with text, a dictionary becomes a
    pandas data frame.
    """
    if isinstance(X, Mapping):
        row = {str(name): X[name] for name in X}
        if features is None:
            features = {name: isinstance(value, str) for name, value in row.items()}
        return _of_dictionary(owner, row, features), features
    if is_frame(X):
        return X, features or dict.fromkeys(map(str, names_of(X)))
    if not scipy.sparse.issparse(X) and not (layout.reads_arrays and is_unequal(X)):
        with with_remedies(owner):
            is_array = hasattr(X, "shape") and not hasattr(X, "to_frame")
            X = to_host(X) if is_array else np.asarray(X)
        X = X.reshape(1, -1) if len(shape_of(X) or ()) < 2 else X
    return as_rows(owner, "X", X, layout), features


def _of_dictionary(owner: str, row: dict[str, Any], features: Features) -> Any:
    if not features:
        raise InvalidValueError(f"{owner}: the row has no features", "pass a row with a feature")
    values = {name: _value(owner, name, row.get(name), kind) for name, kind in features.items()}
    if not any(kind in (None, True) for kind in features.values()):
        return np.array([list(values.values())], dtype=np.float64)
    import pandas

    return pandas.DataFrame({name: [value] for name, value in values.items()})


def _value(owner: str, name: str, value: Any, is_text: bool | None) -> Any:
    """Return the value of a feature, checked unless a data frame decides what it must be."""
    if is_missing(value):
        return None if is_text else np.nan
    is_number = isinstance(value, Real | np.bool_)
    if is_text is not None and not (isinstance(value, str) if is_text else is_number):
        raise InvalidTypeError(
            f"{owner}: feature {name!r} is {shown(value)}, but it must be "
            f"{'text' if is_text else 'a number'}, as in the first row",
            f"convert {name!r} to one type in all rows",
        )
    return float(value) if is_text is False else value


def _kind(X: Any) -> str:
    if is_frame(X):
        return f"a data frame of {type(X).__module__.partition('.')[0]}"
    if scipy.sparse.issparse(X):
        return "a sparse matrix"
    place = place_of(X)
    array = "a NumPy array" if place is HOST else f"an array of {place}"
    return array if X.ndim == 2 else f"{array} of more than two dimensions"


def _check_types(owner: str, X: Any, Y: Any) -> None:
    """Check that columns of data frames hold the same types, or text and categories."""
    kinds = []
    for name, sample in (("X", X), ("Y", Y)):
        with in_words(owner, name):
            kinds.append(Columns(owner, sample).kinds)
    columns = zip(names_of(X), *kinds, columns_of(X), columns_of(Y), strict=True)
    for name, kind, other, of_x, of_y in columns:
        is_text = CATEGORIES in (kind, other) and of_x.holds == of_y.holds == OBJECTS
        if kind != other and not (is_text or of_x.missing().all() or of_y.missing().all()):
            raise InvalidValueError(
                f"{owner}: column {name!r} holds {kind} in X, but {other} in Y",
                "convert them to the same type",
            )

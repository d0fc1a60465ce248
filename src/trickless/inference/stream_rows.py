"""Rows of a stream in any form: a number, a dictionary, one row, or a table of rows."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array

from trickless.arrays.missing import is_missing, unmasked
from trickless.arrays.places import to_host
from trickless.errors import InvalidTypeError, InvalidValueError
from trickless.inference.samples import table
from trickless.intake.kinds import RowsOfNeurons
from trickless.neurons import Neurons
from trickless.neurons.checks import shape_of
from trickless.neurons.layouts import Layout
from trickless.neurons.unequal import is_unequal
from trickless.rules import shown, with_remedies
from trickless.tables.frames import is_frame, stacked, with_times_as_days

#: Whether each feature of dictionaries holds text, by name. None if a data frame decides.
Features = dict[str, bool | None]


def table_or_arrays(owner: str, X: Any, layout: Layout) -> Any:
    """Return a table of rows, or an array of more dimensions if the family reads it."""
    if layout.reads_arrays and is_unequal(X):
        layout, rows = layout.learned(owner, X)
        return rows.reshape(len(rows), *(layout.shape or ()))
    if layout.reads_arrays and len(shape_of(X) or ()) > 2:
        return np.asarray(to_host(unmasked(X)))
    return table(owner, "X", X)


def as_table(
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
        return X, features or dict.fromkeys(map(str, X.columns))
    if scipy.sparse.issparse(X):
        return table(owner, "X", X), features
    if layout.reads_arrays and is_unequal(X):
        return table_or_arrays(owner, X, layout), features
    if hasattr(X, "to_frame") or not hasattr(X, "shape"):
        with with_remedies(owner):
            X = np.asarray(X)
    X = to_host(X)
    return table_or_arrays(owner, X.reshape(1, -1) if X.ndim < 2 else X, layout), features


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


def check_first_rows(owner: str, X: Any, earlier: list[Any], neurons: Neurons) -> None:
    """Check rows that are kept until a family is fitted to them, so that later no error is due."""
    if not X.shape[0]:
        raise InvalidValueError(f"{owner}: X has no rows", "pass at least one row")
    if earlier:
        first = earlier[0]
        if is_frame(X) != is_frame(first) or scipy.sparse.issparse(X) != scipy.sparse.issparse(
            first
        ):
            raise InvalidTypeError(
                f"{owner}: X is a {type(X).__name__}, but earlier rows were a "
                f"{type(first).__name__}",
                "pass all rows in the same form",
            )
        if X.shape[2:] != first.shape[2:]:
            raise InvalidValueError(
                f"{owner}: X has the shape {X.shape}, but earlier rows had {first.shape}",
                "pass all rows in the same form, with the same shape",
            )
        if X.shape[1] != first.shape[1] or (is_frame(X) and list(X.columns) != list(first.columns)):
            raise InvalidValueError(
                f"{owner}: X has {X.shape[1]} columns, which are not the {first.shape[1]} columns "
                "of earlier rows",
                "pass the same columns in the same order",
            )
    if is_frame(X):
        kind = RowsOfNeurons(neurons, False)
        if not kind.tables and (why := kind.why_refused(with_times_as_days(X))) is not None:
            raise InvalidValueError(f"{owner}: {why[0]}", why[1])
    else:
        with with_remedies(owner):
            finite = "allow-nan" if neurons.accepts_tables else True
            check_array(
                X, accept_sparse="csr", dtype="numeric", ensure_all_finite=finite, allow_nd=True
            )


def stack(tables: list[Any]) -> Any:
    """Return tables of one kind, one below the other."""
    if len(tables) == 1:
        return tables[0]
    if is_frame(tables[0]):
        return stacked(tables)
    if scipy.sparse.issparse(tables[0]):
        return scipy.sparse.vstack(tables, format="csr")
    return np.concatenate(tables)

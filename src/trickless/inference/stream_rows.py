"""Rows of a stream in any form: a number, a dictionary, one row, or a table of rows."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array

from trickless.arrays.missing import is_missing
from trickless.arrays.places import to_host
from trickless.errors import InvalidTypeError, InvalidValueError
from trickless.inference.samples import table
from trickless.rules import shown, with_remedies
from trickless.tables.frames import is_frame, stacked


def as_table(
    owner: str, X: Any, features: dict[str, bool] | None
) -> tuple[Any, dict[str, bool] | None]:
    """Return a table of rows, and the features of dictionaries: whether each holds text, by name.

    The first dictionary decides about them. Features that later ones lack are missing, and others
    are left out. If there is text, the table is a pandas data frame.
    """
    if isinstance(X, Mapping):
        row = {str(name): X[name] for name in X}
        if features is None:
            features = {name: isinstance(value, str) for name, value in row.items()}
        return _of_dictionary(owner, row, features), features
    if is_frame(X) or scipy.sparse.issparse(X):
        return table(owner, "X", X), features
    if hasattr(X, "to_frame") or not hasattr(X, "shape"):
        X = np.asarray(X)
    X = to_host(X)
    return table(owner, "X", X.reshape(1, -1) if X.ndim < 2 else X), features


def _of_dictionary(owner: str, row: dict[str, Any], features: dict[str, bool]) -> Any:
    if not features:
        raise InvalidValueError(f"{owner}: the row has no features", "pass a row with a feature")
    values: list[Any] = []
    for name, is_text in features.items():
        value = row.get(name)
        if is_missing(value):
            value = None if is_text else np.nan
        elif isinstance(value, str) != is_text or not isinstance(value, str | Real | np.bool_):
            kind = "text" if is_text else "a number"
            raise InvalidTypeError(
                f"{owner}: feature {name!r} is {shown(value)}, but it must be {kind}, as in the "
                "first row",
                f"convert {name!r} to one type in all rows",
            )
        values.append(value if is_text else float(value))  # type: ignore[arg-type]
    if not any(features.values()):
        return np.array([values])
    import pandas

    return pandas.DataFrame(
        {
            name: np.array([value], dtype=object if is_text else None)
            for (name, is_text), value in zip(features.items(), values, strict=True)
        }
    )


def check_first_rows(owner: str, X: Any, earlier: list[Any], allow_gaps: bool) -> None:
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
        if X.shape[1] != first.shape[1] or (is_frame(X) and list(X.columns) != list(first.columns)):
            raise InvalidValueError(
                f"{owner}: X has {X.shape[1]} columns, which are not the {first.shape[1]} columns "
                "of earlier rows",
                "pass the same columns in the same order",
            )
    if not is_frame(X):
        with with_remedies(owner):
            finite = "allow-nan" if allow_gaps else True
            check_array(X, accept_sparse="csr", dtype="numeric", ensure_all_finite=finite)


def stack(tables: list[Any]) -> Any:
    """Return tables of one kind, one below the other."""
    if len(tables) == 1:
        return tables[0]
    if is_frame(tables[0]):
        return stacked(tables)
    if scipy.sparse.issparse(tables[0]):
        return scipy.sparse.vstack(tables, format="csr")
    return np.concatenate(tables)

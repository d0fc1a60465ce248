"""Rows of samples and streams, in any form: arrays, data frames, dictionaries and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import clone

from trickless._arrays.missing import is_missing, unmasked
from trickless._arrays.places import HOST, dispatches, place_of, take, to_host
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._learners.random_features import RandomFeatures
from trickless._rows.frames import is_frame, names_of, picked
from trickless._rows.refusals import why_no_frame
from trickless._rows.rows import Rows, canonical_rows
from trickless._rules import reworded, shown, with_remedies, without_warnings
from trickless.neurons.checks import check_shape, shape_of
from trickless.neurons.forms import spelled_as
from trickless.neurons.layouts import Layout
from trickless.neurons.unequal import is_unequal

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
    if X.ndim <= 2 or not layout.reads_arrays:
        check_shape(owner, name, tuple(X.shape))
    return X


def select(X: Any, where: Any) -> Any:
    """Return the rows with these numbers, in this order."""
    return picked(X, where) if is_frame(X) else take(X, where)


def check_alike(
    owner: str, model: RandomFeatures, X: Any, later: Any, names: tuple[str, str]
) -> None:
    """Check rows X to which a model is fitted, and later rows that are stacked below them.

    Errors call them by two ``names``.
    """
    if _form(X) != _form(later):
        raise InvalidTypeError(
            f"{owner}: {names[1]} is {_form(later)}, but {names[0]} is {_form(X)}",
            "pass both as the same kind of table",
        )
    model, rows = clone(model), Rows(owner, "float64", model._kind_of_rows(), False)
    with without_warnings(), in_words(owner, names[0]):
        rows.first(model, X, None, None)

    def change(text: str) -> str:
        text = text.replace("passed during fit", f"passed as {names[0]}")
        return re.sub("the first batch|(?<=at )fit time|(?<=were in )fit", names[0], text)

    with without_warnings(), reworded(change), in_words(owner, names[1]):
        rows.to_predict(model, later)


def _form(X: Any) -> str:
    if is_frame(X):
        return f"a data frame of {type(X).__module__.partition('.')[0]}"
    if scipy.sparse.issparse(X):
        return "a sparse matrix"
    array = "a NumPy array" if place_of(X) is HOST else f"an array of {place_of(X)}"
    return array if X.ndim == 2 else f"{array} of more than two dimensions"


def of_stream(
    owner: str, X: Any, features: Features | None, layout: Layout
) -> tuple[Any, Features | None]:
    """Return a table of rows, and the features that dictionaries and data frames must have.

    The first of them decides. After a data frame, or with text, a dictionary becomes a pandas data
    frame.
    """
    if isinstance(X, Mapping):
        row = {str(name): X[name] for name in X}
        if features is None:
            features = {name: isinstance(value, str) for name, value in row.items()}
        _check_features(owner, row, features)
        return _of_dictionary(owner, row, features), features
    if is_frame(X):
        names = spelled_as(map(str, names_of(X)), features or ())
        _check_features(owner, names, features or dict.fromkeys(names))
        return X, features or dict.fromkeys(names)
    if not scipy.sparse.issparse(X) and not (layout.reads_arrays and is_unequal(X)):
        with with_remedies(owner):
            is_array = hasattr(X, "shape") and not hasattr(X, "to_frame")
            X = to_host(X) if is_array else np.asarray(X)
        X = X.reshape(1, -1) if len(shape_of(X) or ()) < 2 else X
    return as_rows(owner, "X", X, layout), features


def _check_features(owner: str, names: Iterable[str], features: Features) -> None:
    if not features:
        raise InvalidValueError(f"{owner}: the row has no features", "pass a row with a feature")
    if changed := sorted(set(names) ^ features.keys()):
        lacks = f"lacks the feature {changed[0]!r}, which the rows before had"
        more = f"has the new feature {changed[0]!r}, which the rows before lacked"
        raise InvalidValueError(
            f"{owner}: X {lacks if changed[0] in features else more}",
            "rows with the same features, None for a value that is missing; or reset, to begin a "
            "new reference with other features",
        )


def _of_dictionary(owner: str, row: dict[str, Any], features: Features) -> Any:
    values = [np.nan if is_missing(row[name]) else row[name] for name in features]
    for (name, is_text), value in zip(features.items(), values, strict=True):
        wanted = str if is_text else Real | np.bool_
        if is_text is not None and value is not np.nan and not isinstance(value, wanted):
            raise InvalidTypeError(
                f"{owner}: feature {name!r} is {shown(value)}, but it must be "
                f"{'text' if is_text else 'a number'}, as in the first row",
                f"convert {name!r} to one type in all rows",
            )
    if not any(is_text is not False for is_text in features.values()):
        return np.array([values], dtype=np.float64)
    import pandas

    return pandas.DataFrame([values], columns=list(features))

"""Data frames as matrices of numbers: numbers as they are, categories as codes.

A frame is anything with the interface of a pandas data frame; pandas itself is not needed.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from trickless.neurons import Inputs, Neurons


def is_frame(X: Any) -> bool:
    """Whether X is a data frame."""
    return hasattr(X, "iloc") and hasattr(X, "dtypes") and hasattr(X, "columns")


class TableEncoder:
    """Codes of the categories in the columns of a data frame.

    Columns of numbers, truth values and objects that are all numbers hold numbers, NaN where they
    are missing. Columns of the types category, string and other objects hold categories, with codes
    0 to m - 1 for the m that were there (or declared, for the type category), sorted; m for a
    missing one, and m + 1 for one that was not there.

    Parameters
    ----------
    owner : str
        Who to name in errors.
    frame : data frame
        The first batch.

    Attributes
    ----------
    codes : list of (dict or None)
        Code of each category, for each column; None for a column of numbers.
    """

    def __init__(self, owner: str, frame: Any) -> None:
        names = enumerate(frame.columns)
        self.codes = [_codes(owner, name, frame.iloc[:, j]) for j, name in names]

    @property
    def n_categories(self) -> np.ndarray:
        """How many codes each column has; 0 for numbers."""
        return np.array([0 if codes is None else len(codes) + 2 for codes in self.codes], dtype=int)

    def __call__(self, owner: str, X: Any) -> Any:
        """A frame of float64 with the same columns; an array as it is, if it could be a frame."""
        if not is_frame(X):
            if self.n_categories.any():
                raise TypeError(
                    f"{owner}: X is a {type(X).__name__}, but the first batch was a data frame "
                    "with categories. Remedy: pass data frames with the same columns."
                )
            return X
        matrix = np.empty(X.shape)
        for j, codes in enumerate(self.codes):
            column = X.iloc[:, j]
            if codes is None:
                matrix[:, j] = _numbers(owner, X.columns[j], column)
            else:
                _check_categories(owner, X.columns[j], column, codes)
                known = column.astype(object).map(codes).to_numpy(dtype=float, na_value=np.nan)
                new = np.where(column.isna(), len(codes), len(codes) + 1)
                matrix[:, j] = np.where(np.isnan(known), new, known)
        return type(X)(matrix, columns=X.columns, index=X.index)


def inputs_of(estimator: Any, X: Any) -> Inputs:
    """What is known of the columns of rows that an estimator has validated."""
    names = getattr(estimator, "feature_names_in_", None)
    encoder = getattr(estimator, "_encoder", None)
    n_categories = np.zeros(X.shape[1], dtype=int) if encoder is None else encoder.n_categories
    return Inputs(n_categories, None if names is None else tuple(names.tolist()))


def _codes(owner: str, name: Any, column: Any) -> dict[Any, int] | None:
    """The code of each category of a column; None for a column of numbers."""
    kind = getattr(column.dtype, "kind", "O")
    if kind in "iufb":
        return None
    if kind not in "OUST":
        raise ValueError(
            f"{owner}: column {name!r} of X has the type {column.dtype}, but it must hold numbers, "
            "truth values, text or categories. Remedy: turn it into numbers, such as days since a "
            "date."
        )
    declared = hasattr(column, "cat")
    try:
        values = list(column.cat.categories if declared else column.dropna().unique())
    except TypeError as error:
        raise ValueError(
            f"{owner}: column {name!r} of X holds objects that cannot be categories: {error}. "
            "Remedy: one number, text or category a cell."
        ) from error
    if not declared and values and all(isinstance(v, Real | Decimal | np.bool_) for v in values):
        return None
    if not declared and any(isinstance(value, date) for value in values):
        raise ValueError(
            f"{owner}: column {name!r} of X holds dates. Remedy: turn it into numbers, such as "
            "days since a date."
        )
    values.sort(key=lambda value: (type(value).__name__, str(value)))
    return {value: code for code, value in enumerate(values)}


def _check_categories(owner: str, name: Any, column: Any, codes: dict[Any, int]) -> None:
    """A column of text must not come back as numbers, which would all be unknown."""
    numbers = getattr(column.dtype, "kind", "O") in "iuf" and column.notna().any()
    if numbers and codes and not any(isinstance(value, Real) for value in codes):
        raise ValueError(
            f"{owner}: column {name!r} of X held categories such as {next(iter(codes))!r} in the "
            f"first batch, and now has the type {column.dtype}. Remedy: pass the same types in "
            "every batch."
        )


def _numbers(owner: str, name: Any, column: Any) -> np.ndarray:
    try:
        return column.to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"{owner}: column {name!r} of X held numbers in the first batch, and now has the type "
            f"{column.dtype}: {error}. Remedy: pass the same types in every batch."
        ) from error


def explain_refusal(owner: str, neurons: Neurons, X: Any) -> str | None:
    """Why rows cannot be turned into finite numbers, and what to do; None if it is not known."""
    if neurons.accepts_tables:
        text = not is_frame(X) and getattr(getattr(X, "dtype", None), "kind", "") in "OUS"
        return (
            f"{owner}: X is an array that holds text, but arrays are tables of numbers. Remedy: "
            "pass a data frame, whose columns have types."
            if text
            else None
        )
    for j, name in enumerate(X.columns if is_frame(X) else ()):
        column = X.iloc[:, j]
        text = getattr(column.dtype, "kind", "O") in "OUST" and any(
            isinstance(value, str) for value in column.dropna().unique()
        )
        if text or column.isna().any():
            return (
                f"{owner}: column {name!r} of X holds {'text' if text else 'missing values'}, "
                f"but neurons={type(neurons).__name__}() takes finite numbers only. Remedy: "
                "neurons=Tabular(), which takes such columns as they are, or encode them in a "
                "pipeline."
            )
    return None

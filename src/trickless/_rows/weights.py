"""Weights of rows: validation of ``sample_weight``, its range, and the rows that count."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from trickless._arrays.missing import missing, unmasked
from trickless._arrays.places import place_of
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._rows.frames import is_frame, picked
from trickless._rows.values import holds_times

#: The range of weights above 0; sums of their squares, times squares of targets, stay in range.
_LEAST, _MOST = 1e-100, 1e100
_REMEDY = "one finite number of at least 0 for each row, in a NumPy array"


def check_weights(
    owner: str, sample_weight: Any, n_rows: int, may_be_empty: bool = False
) -> np.ndarray | None:
    """Validate the weights of rows; None stays None, and a number is the weight of every row.

    At least one weight must be positive, unless the batch may be empty.
    """
    if sample_weight is None:
        return None
    weight = _as_numbers(owner, sample_weight)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise InvalidValueError(
            f"{owner}: sample_weight has the shape {weight.shape}, but {n_rows} rows need one "
            f"weight each: shape {(n_rows,)}",
            f"{_REMEDY}; numpy.ravel() of a column",
        )
    wrong = ~np.isfinite(weight) | (weight < 0)
    if wrong.any():
        row = int(wrong.argmax())
        held = "NaN" if np.isnan(weight[row]) else f"{weight[row]:g}"
        raise InvalidValueError(
            f"{owner}: sample_weight holds {held} (row {row}), but weights must be finite "
            "and cannot be negative",
            f"{_REMEDY}; 0 leaves a row out",
        )
    if not weight.any() and len(weight) and not may_be_empty:
        raise InvalidValueError(
            f"{owner}: sample_weight is zero for all {weight.size} rows, so there is nothing to "
            "learn from",
            "give at least one row a positive weight",
        )
    check_range(owner, "sample_weight", weight, "divide the weights by their mean")
    return weight


def check_range(owner: str, name: str, weight: np.ndarray, remedy: str) -> None:
    """Check that weights above 0 are neither too small nor too large for sums of squares."""
    some = weight[weight > 0]
    if some.size and not _LEAST <= some.min() <= some.max() <= _MOST:
        raise InvalidValueError(
            f"{owner}: {name} has values from {some.min():g} to {some.max():g}, whose squares "
            f"cannot be summed: those above 0 must be from {_LEAST:g} to {_MOST:g}",
            remedy,
        )


def that_count(X: Any, y: np.ndarray | None, weight: np.ndarray | None) -> tuple[Any, Any, Any]:
    """Return rows with a positive weight, and their targets and weights."""
    if weight is None or weight.all():
        return X, y, weight
    kept = np.flatnonzero(weight)
    rows = picked(X, kept) if is_frame(X) else place_of(X).take(X, kept)
    return rows, None if y is None else y[kept], weight[kept]


def _as_numbers(owner: str, given: Any) -> np.ndarray:
    """Weights as an array of float64 of any shape, which may hold NaN."""
    why = None
    if scipy.sparse.issparse(given):
        why = f"is a sparse matrix of shape {given.shape}"
    if why is None:
        try:
            weight = np.asarray(unmasked(given))
            if (why := _why_no_weights(weight)) is None:
                gaps = missing(weight)
                return (np.where(gaps, np.nan, weight) if gaps.any() else weight).astype(float)
        except (TypeError, ValueError, OverflowError) as error:
            why = f"cannot be read as numbers ({error})"
    raise InvalidTypeError(f"{owner}: sample_weight {why}, but it must hold numbers", _REMEDY)


def _why_no_weights(weight: np.ndarray) -> str | None:
    """Return what an array holds that is not a weight, or None if all are numbers, or may be."""
    kind = weight.dtype.kind
    if kind == "O" and holds_times(weight):
        return "contains times"
    if kind in "SUOT":
        texts = (value for value in weight.ravel().tolist() if isinstance(value, str | bytes))
        found = next(texts, None)
        return None if found is None else f"contains text, {found[:40]!r}"
    return None if kind in "biuf" else f"has the type {weight.dtype}"

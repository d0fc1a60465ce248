"""Rows, targets and labels as the user passes them: arrays without masks and missing values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
import scipy.sparse
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from trickless._arrays.missing import is_masked, missing, unmasked
from trickless._arrays.places import HOST, place_of
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._rows.refusals import why_no_number
from trickless._rows.resolution import warn_of_rounded_integers
from trickless._rows.values import DATES, DURATIONS, holds_times, kind_of_time
from trickless._rules import shown, with_remedies

_SINCE = (
    ", such as (numpy.asarray(y, 'datetime64[us]') - numpy.datetime64('1970-01-01')) / "
    "numpy.timedelta64(1, 'D')"
)
#: How times become numbers of days.
_DAYS = {
    DATES: _SINCE,
    DURATIONS: ", such as numpy.asarray(y, 'timedelta64[us]') / numpy.timedelta64(1, 'D')",
}


def as_targets(owner: str, y: Any, numeric: bool) -> Any:
    """Return targets, or labels unless ``numeric``, as an array of one or two dimensions.

    Missing values raise an error, and so do times as targets, since their unit would be a matter of
    the container. Labels may be times to the microsecond. None and arrays of other libraries
    are returned unchanged.
    """
    if scipy.sparse.issparse(y):
        raise InvalidTypeError(f"{owner}: y is sparse, but targets are dense", "y.toarray()")
    if y is None or place_of(y) is not HOST:
        return y
    given = unmasked(y)
    try:
        array = np.asarray(exactly(given))
        # Text in a list would make a text of a missing value.
        objects = np.array(given, dtype=object) if array.dtype.kind in "SU" else array
    except ValueError as error:
        remedy = "one number for each row, or as many in every row"
        if not numeric:
            remedy = "one label for each row; for several, MultiLabelBinarizer().fit_transform(y)"
        raise InvalidValueError(
            f"{owner}: y is a {type(y).__name__} of values of several lengths", remedy
        ) from error
    _check_shape(owner, y, array, numeric)
    if numeric and array.dtype.kind in "mM":
        time = DATES if array.dtype.kind == "M" else DURATIONS
        _refuse(owner, f"holds {time} of the type {array.dtype}", time)
    check_there(owner, "y", objects, "a masked value" if is_masked(y) else "")
    if numeric:
        _check_numbers(owner, array)
    return array if numeric else in_microseconds(owner, "y", array)


def targets_of(owner: str, learner: Any, X: Any, y: Any, numeric: bool) -> Any:
    """Return the targets or labels of validated rows, one for each of them, or several.

    A learner without targets has y = None.
    """
    if y is None or _are_simple(y, X.shape[0], numeric):
        return y
    y = as_targets(owner, y, numeric)
    if numeric:
        warn_of_rounded_integers(owner, "y", y)
    elif y.ndim == 2 and y.shape[1] > 1 and not learner._takes_sets:
        raise InvalidValueError(
            f"{owner}: y has the shape {y.shape}, but one label for each row is needed",
            "y of shape (n_rows,); for several labels a row, "
            "KitchenSinksClassifier(loss='squared_error'), or "
            "sklearn.multioutput.MultiOutputClassifier",
        )
    several = numeric or (y.ndim == 2 and y.shape[1] > 1)
    dtype = np.float64 if numeric and y.dtype.kind in "OSU" else None
    with with_remedies(owner):
        y = check_array(y, ensure_2d=False, dtype=dtype, input_name="y", estimator=learner)
        y = y if several else column_or_1d(y, warn=True)
        check_consistent_length(X, y)
    return y


def _are_simple(y: Any, n_rows: int, numeric: bool) -> bool:
    """Return whether targets are a vector that needs no more checks."""
    if type(y) is not np.ndarray or y.shape != (n_rows,):
        return False
    if numeric:
        return y.dtype in (np.float32, np.float64) and bool(np.isfinite(y).all())
    return y.dtype.kind in "biuU"


def exactly(y: Any) -> Any:
    """Return labels or targets in a form from which integers are not read as float64.

    This converts nullable integers without missing values, and lists of integers that no NumPy
    type holds together. It also converts objects that are all integers or all Booleans. Other y are
    returned unchanged.
    """
    if isinstance(y, list | tuple):
        return integers(y) if all(type(label) is int for label in y) else y
    kind = getattr(getattr(y, "dtype", None), "kind", "")
    if kind == "O" and getattr(y, "ndim", 0) == 1 and isinstance(y.dtype, np.dtype):
        values = y.tolist()
        if all(isinstance(label, bool | np.bool_) for label in values):
            return np.array(values, dtype=bool)
        return integers(values) if all(type(label) is int for label in values) else y
    if kind not in ("i", "u", "b") or isinstance(y.dtype, np.dtype) or not hasattr(y, "isna"):
        return y
    of_numpy = {"i": np.int64, "u": np.uint64, "b": np.bool_}[kind]
    return y if y.isna().any() else y.to_numpy(dtype=of_numpy)


def in_microseconds(owner: str, source: str, labels: Any) -> Any:
    """Return labels that are times in microseconds, as in Python; others are unchanged."""
    kind = getattr(getattr(labels, "dtype", None), "kind", "")
    if kind not in ("m", "M") or not isinstance(labels, np.ndarray):
        return labels
    micro = labels.astype(f"{kind}8[us]")
    if (micro != labels).any():
        raise InvalidValueError(
            f"{owner}: {source} holds times with nanoseconds, which cannot be labels",
            "labels that are text, such as numpy.asarray(y).astype(str)",
        )
    return micro


def integers(values: Sequence[int]) -> np.ndarray:
    """Return integers as an array, of Python's integers if no NumPy type holds all of them."""
    array = np.array(values)
    return array if array.dtype.kind in "iuO" else np.array(values, dtype=object)


def of_arrays(X: Any) -> Any:
    """Return a list of masked rows or of objects as one array; other rows are unchanged."""
    if not isinstance(X, list | tuple):
        return X
    if any(isinstance(row, np.ma.MaskedArray) for row in X):
        return np.ma.array(X)
    try:
        array = np.asarray(X)
    except ValueError:  # of several lengths
        return X
    return array if array.dtype.kind in "OmM" else X


def check_there(owner: str, name: str, array: np.ndarray, what: str = "") -> None:
    """Check that no value is missing; ``what`` says in words what a missing value is."""
    where = missing(array)
    if where.any():
        row = int(where.reshape(len(array), -1).any(axis=1).argmax())
        what = what or str(why_no_number(array[where][0])).removeprefix("contains ")
        raise InvalidValueError(
            f"{owner}: {name} contains {what} (row {row}), but missing values cannot be learned",
            "leave these rows out",
        )


def _check_shape(owner: str, y: Any, array: np.ndarray, numeric: bool) -> None:
    what = "number" if numeric else "label"
    if array.ndim == 0:
        column = f"frame[{y!r}], if that is a column; else " if isinstance(y, str) else ""
        raise InvalidTypeError(
            f"{owner}: y={shown(y)}, but it must hold a {what} for each row of X",
            f"{column}an array or a list with as many values as X has rows",
        )
    if array.dtype.names is not None:
        raise InvalidTypeError(
            f"{owner}: y is an array of records with the fields "
            f"{', '.join(map(repr, array.dtype.names))}, but it must hold a {what} for each row",
            f"y[{array.dtype.names[0]!r}]",
        )
    if array.ndim > 2 or 0 in array.shape[1:]:
        raise InvalidValueError(
            f"{owner}: y has the shape {array.shape}, but it must have one dimension, with a "
            f"{what} for each row, or two, with at least one column",
            "y of shape "
            f"({len(array)},); y.reshape(len(y), -1) has a column for each of several outputs",
        )


def _check_numbers(owner: str, array: np.ndarray) -> None:
    """Check that targets are finite numbers; objects and strings may be numbers, too."""
    if array.dtype.kind in "biuc":
        return
    if array.dtype.kind != "O" or not holds_times(array):
        try:
            if np.isfinite(array.astype(np.float64)).all():
                return
        except (TypeError, ValueError, OverflowError):
            pass
    for row, values in enumerate(array.reshape(len(array), -1).tolist()):
        for value in values:
            if (why := why_no_number(value)) is not None:
                _refuse(owner, f"{why} (row {row})", kind_of_time(value))
    _refuse(owner, "contains a number that is too large for float64")


def _refuse(owner: str, what: str, time: str = "") -> NoReturn:
    remedy = "replace it by a finite number, or leave these rows out"
    if time:
        remedy = f"numbers in a unit of your choice{_DAYS.get(time, '')}"
    elif "contains text" in what:
        remedy = "numbers; or a classifier, such as KitchenSinksClassifier, if y holds labels"
    raise InvalidValueError(
        f"{owner}: y {what}, but the targets of a regressor must be finite numbers", remedy
    )

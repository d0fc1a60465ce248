"""Groups of rows that are alike, as the user passes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless._arrays.missing import missing, unmasked
from trickless._arrays.places import to_host
from trickless._errors import InvalidValueError

_REMEDY = "one number or text for each row, such as the patient that it belongs to"


def group_numbers(owner: str, groups: Any, n_rows: int) -> np.ndarray:
    """Return the number of each row's group, from 0 on."""
    try:
        array = np.asarray(unmasked(to_host(groups)))
    except ValueError as error:
        raise InvalidValueError(
            f"{owner}: groups is a {type(groups).__name__} of values of several lengths", _REMEDY
        ) from error
    if array.shape != (n_rows,):
        raise InvalidValueError(
            f"{owner}: groups has the shape {array.shape}, but {n_rows} rows need one group each: "
            f"shape {(n_rows,)}",
            _REMEDY,
        )
    where = missing(array)
    if where.any():
        raise InvalidValueError(
            f"{owner}: groups has a missing value (row {int(where.argmax())}), so it is unknown "
            "which rows this one is like",
            "a group of its own for each such row",
        )
    try:
        return np.unique(array, return_inverse=True)[1].ravel()
    except TypeError:  # values of several types, such as 1 and "1", have no order
        named = [f"{type(value).__name__} {value!r}" for value in array.tolist()]
        return np.unique(named, return_inverse=True)[1].ravel()

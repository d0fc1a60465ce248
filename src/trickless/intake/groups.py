"""Groups of rows that are alike, as the user passes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.arrays.missing import missing, unmasked
from trickless.arrays.places import to_host
from trickless.errors import InvalidValueError

_REMEDY = "one number or text for each row, such as the patient that it belongs to"


def group_numbers(owner: str, groups: Any, n_rows: int) -> np.ndarray:
    """Return the number of each row's group, from 0 on."""
    array = np.asarray(unmasked(to_host(groups)))
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
    kinds = array.astype(str) if array.dtype == object else array
    return np.unique(kinds, return_inverse=True)[1].ravel()

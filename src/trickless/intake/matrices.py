"""Matrices of rows: their canonical form, their precision, and the rows that count."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from trickless.arrays.places import place_of
from trickless.arrays.sparse import canonical
from trickless.errors import InvalidValueError
from trickless.neurons.unequal import is_of_objects
from trickless.rows.frames import is_frame


def canonical_rows(owner: str, X: Any) -> Any:
    """Return sparse rows in canonical form, which is checked; other rows unchanged."""
    try:
        return canonical(X)
    except ValueError as error:
        raise InvalidValueError(
            f"{owner}: X is a damaged {type(X).__name__}: {error}",
            "make it anew, for instance from (data, (rows, columns))",
        ) from error


def are_floats(X: Any) -> bool:
    """Return whether rows are a NumPy array or a sparse matrix of floating-point numbers."""
    is_plain = type(X) is np.ndarray or scipy.sparse.issparse(X)
    return is_plain and X.dtype.kind == "f"


def precision_of(X: Any) -> str:
    """Return the name of the precision that keeps X: "float32", or "float64"."""
    if is_frame(X):
        kinds = set(map(str, X.dtypes))
    else:
        series = X if isinstance(X, list | tuple) or is_of_objects(X) else [X]
        kinds = {str(getattr(each, "dtype", "")) for each in series}
    single = kinds and all(kind.lower().endswith("float32") for kind in kinds)
    return "float32" if single else "float64"


def that_count(X: Any, y: np.ndarray | None, weight: np.ndarray | None) -> tuple[Any, Any, Any]:
    """Return rows with a positive weight, and their targets and weights."""
    if weight is None or weight.all():
        return X, y, weight
    kept = weight > 0
    return place_of(X).take(X, kept), None if y is None else y[kept], weight[kept]

"""The library of an array."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from array_api_compat import array_namespace as _array_namespace

from trickless.arrays.readings import Readings


def namespace(X: Any) -> Any:
    """Get the array API namespace of ``X``. For a sparse matrix of SciPy, it is NumPy."""
    is_numpy = isinstance(X, Readings) or scipy.sparse.issparse(X)
    return np if is_numpy else _array_namespace(X)


def on_host(X: Any) -> bool:
    """Whether X is an array of NumPy or a sparse matrix of SciPy, in the host's memory."""
    return isinstance(X, np.ndarray | Readings) or scipy.sparse.issparse(X)

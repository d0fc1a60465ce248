"""Which library an array belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from array_api_compat import array_namespace as _array_namespace

from trickless.arrays.readings import Readings


def namespace(X: Any) -> Any:
    """Array API namespace of ``X``; NumPy for a SciPy sparse matrix, whose products are NumPy's."""
    is_numpy = isinstance(X, Readings) or scipy.sparse.issparse(X)
    return np if is_numpy else _array_namespace(X)


def on_host(X: Any) -> bool:
    """Whether X is an array of NumPy or a sparse matrix of SciPy, in the host's memory."""
    return isinstance(X, np.ndarray | Readings) or scipy.sparse.issparse(X)

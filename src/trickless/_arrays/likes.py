"""Types of what users pass: rows and vectors of any library, and seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike as ArrayLike

#: Rows: an array or a frame, a sparse matrix, or dictionaries from names to values.
MatrixLike: TypeAlias = (
    ArrayLike | scipy.sparse.sparray | scipy.sparse.spmatrix | Sequence[Mapping[str, Any]]
)
#: A seed, or a generator from which one is drawn.
RandomStateLike: TypeAlias = int | np.random.Generator | np.random.RandomState | None

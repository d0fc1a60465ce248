"""Arrays of other libraries and devices, and how data get there and back.

The rows X decide where work is done. Activations, and their products and factors, are arrays of the
library of X, on the device of X. Everything else is a NumPy array on the host: drawn weights,
targets, coefficients. Two functions move arrays between the two, :func:`to_device_of` and
:func:`to_host`. They do nothing if X is an array of NumPy.
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import Any

import numpy as np
from array_api_compat import device, is_array_api_obj, to_device
from scipy import linalg
from sklearn import get_config

from trickless.arrays.namespaces import namespace, on_host
from trickless.arrays.threads import linear_algebra
from trickless.errors import InvalidTypeError

#: Columns of a triangular factor that are solved together on a device.
_COLUMNS = 1024
#: Columns above which a Cholesky factorisation runs on one thread.
_PARALLEL_CHOLESKY = 8192
#: Whether a device has double precision, for each device so far.
_DOUBLE: dict[str, bool] = {}


def dispatches() -> bool:
    """Whether scikit-learn leaves arrays of other libraries where they are."""
    return bool(get_config()["array_api_dispatch"])


def is_foreign(array: Any) -> bool:
    """Whether an array belongs to a library other than NumPy."""
    return not on_host(array) and is_array_api_obj(array)


def place(X: Any) -> str:
    """Describe the library and the device of an array in words."""
    if not is_foreign(X):
        return "numpy"
    return f"{namespace(X).__name__.removeprefix('array_api_compat.')} on {device(X)}"


def check_on_host(what: str, X: Any, remedy: str) -> None:
    """Check that X is an array of NumPy, for functions that accept no others."""
    if not on_host(X):
        raise InvalidTypeError(
            f"{what}: X is an array of {place(X)}, but only NumPy arrays are accepted",
            f"{remedy}",
        )


def to_host(array: Any) -> Any:
    """Copy an array to the host, as a NumPy array."""
    if not is_foreign(array):
        return array
    try:
        return np.asarray(to_device(array, "cpu"))
    except ValueError:  # a library without a device of that name
        return np.from_dlpack(array)


def to_device_of(X: Any, array: Any) -> Any:
    """Move an array to the device of X, in single precision if that has no double precision."""
    if on_host(X):
        return to_host(array)
    xp, where = namespace(X), device(X)
    if is_foreign(array) and namespace(array) is xp and device(array) == where:
        return array
    array = np.array(to_host(array), order="C")
    if array.dtype == np.float64 and not has_double(X):
        array = array.astype(np.float32)
    return xp.asarray(array, device=where)


def cosines_and_sines(t: Any) -> Any:
    """Compute cosines of a matrix, and its sines as further columns, without a copy for NumPy."""
    if not isinstance(t, np.ndarray):
        xp = namespace(t)
        return xp.concat((xp.cos(t), xp.sin(t)), axis=1)
    n_rows, n = t.shape
    both = np.empty((n_rows, 2 * n), t.dtype)
    np.cos(t, out=both[:, :n])
    np.sin(t, out=both[:, n:])
    return both


def matching(Z: Any, array: np.ndarray) -> Any:
    """Move a NumPy array to the device of Z, in the precision of Z."""
    if on_host(Z):
        return array.astype(Z.dtype, copy=False)
    return namespace(Z).astype(to_device_of(Z, array), Z.dtype, copy=False)


def has_double(X: Any) -> bool:
    """Whether the device of X works in double precision."""
    if on_host(X):
        return True
    known = place(X)  # in words, because devices of some libraries have no hash
    if known not in _DOUBLE:
        kinds = (
            namespace(X).__array_namespace_info__().dtypes(device=device(X), kind="real floating")
        )
        _DOUBLE[known] = "float64" in kinds
    return _DOUBLE[known]


def double(Z: Any) -> Any:
    """Copy to double precision, on the host if the device has no double precision."""
    if not has_double(Z):
        Z = to_host(Z)
    xp = namespace(Z)
    return xp.astype(Z, xp.float64)


def zeros(shape: tuple[int, ...], X: Any = None) -> Any:
    """Make zeros in double precision, on the host if the device of X lacks that precision."""
    if X is None or on_host(X) or not has_double(X):
        return np.zeros(shape)
    xp = namespace(X)
    return xp.zeros(shape, dtype=xp.float64, device=device(X))


def empty(shape: tuple[int, ...], X: Any, dtype: np.dtype | None = None) -> Any:
    """Make an uninitialised array beside X, by default in its precision."""
    if on_host(X):
        return np.empty(shape, dtype=X.dtype if dtype is None else dtype)
    xp = namespace(X)
    kind = X.dtype if dtype is None else getattr(xp, dtype.name)
    return xp.empty(shape, dtype=kind, device=device(X))


def take(X: Any, where: Any) -> Any:
    """Select rows of X by a slice, or by a NumPy array of indices or booleans."""
    if on_host(X):
        return X[where]
    if isinstance(where, slice):
        return X[slice(*where.indices(X.shape[0])), ...]  # no further than there are rows
    if where.dtype == bool:
        where = np.flatnonzero(where)
    return namespace(X).take(X, to_device_of(X, where), axis=0)


def eye(size: int, X: Any) -> Any:
    """Make an identity matrix, on the device and in the precision of X."""
    if on_host(X):
        return np.eye(size, dtype=X.dtype)
    return namespace(X).eye(size, dtype=X.dtype, device=device(X))


def duplicate(array: Any) -> Any:
    """Copy an array on its device."""
    return array.copy() if on_host(array) else namespace(array).asarray(array, copy=True)


def join(arrays: list[Any]) -> Any:
    """Concatenate arrays along their first axis."""
    return np.concatenate(arrays) if on_host(arrays[0]) else namespace(arrays[0]).concat(arrays)


def n_bytes(array: Any) -> int:
    """Count the bytes of an array. If its library does not say, give an upper bound."""
    size: int | None = getattr(array, "nbytes", None)
    return 8 * math.prod(array.shape) if size is None else size


def times(left: np.ndarray, right: Any) -> np.ndarray:
    """Multiply a NumPy matrix by a matrix that may be on a device. The result is NumPy's."""
    return to_host(to_device_of(right, left) @ right)


def plus_ridge(matrix: Any, ridge: float, in_place: bool = False) -> Any:
    """Add a number to the diagonal of a square matrix, in a copy or ``in_place`` on the host."""
    if on_host(matrix):
        result = matrix if in_place else matrix.copy()
        result.flat[:: len(result) + 1] += ridge
        return result
    copy = eye(matrix.shape[0], matrix)
    copy *= float(ridge)
    copy += matrix
    return copy


def cholesky(matrix: Any) -> Any:
    """Compute the lower Cholesky factor of a symmetric matrix, which may be overwritten.

    On the host, large matrices are factorised on one thread. With two threads, OpenBLAS 0.3 ends
    the process with a segmentation fault at 16,384 columns. If the matrix is not positive definite
    to working precision, SciPy's LinAlgError is raised.
    """
    if on_host(matrix):
        with linear_algebra(1) if len(matrix) > _PARALLEL_CHOLESKY else nullcontext():
            return linalg.cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
    xp = namespace(matrix)
    try:
        factor = xp.linalg.cholesky(matrix)
    except Exception as error:
        if "LinAlgError" in type(error).__name__:
            raise linalg.LinAlgError(str(error)) from error
        raise
    # Some libraries raise no error, but return numbers that are not finite, or pivots below 0.
    if not bool(xp.all(xp.isfinite(factor)) & xp.all(xp.linalg.diagonal(factor) > 0)):
        raise linalg.LinAlgError("the matrix is not positive definite")
    return factor


def solve_lower(factor: Any, right: Any, transposed: bool = False) -> Any:
    """Solve L X = B, or Lᵀ X = B, on the device of the lower triangular matrix L."""
    if on_host(factor):
        return linalg.solve_triangular(
            factor, right, lower=True, trans="T" if transposed else "N", check_finite=False
        )
    xp, n = namespace(factor), factor.shape[0]
    X = xp.astype(to_device_of(factor, right), factor.dtype)  # a copy
    starts = range(0, n, _COLUMNS)
    for start in reversed(starts) if transposed else starts:
        some = slice(start, min(start + _COLUMNS, n))
        # The contribution of the unknowns that are solved already.
        if transposed:
            known = factor[some.stop :, some].T @ X[some.stop :, :]
            square = factor[some, some].T
        else:
            known = factor[some, :start] @ X[:start, :]
            square = factor[some, some]
        X[some, :] = xp.linalg.solve(square, X[some, :] - known)
    return X


def cho_solve(factor: Any, right: np.ndarray) -> np.ndarray:
    """Solve L Lᵀ X = B. B and X are on the host."""
    if on_host(factor):
        return linalg.cho_solve((factor, True), right, check_finite=False)
    return to_host(solve_lower(factor, solve_lower(factor, right), transposed=True))


def eigh(matrix: Any) -> tuple[np.ndarray, Any]:
    """Compute eigenvalues, on the host, and eigenvectors, on the device of the matrix."""
    if on_host(matrix):
        driver = "evd" if len(matrix) > 1 else "ev"  # "evd" of 1 x 1 fails in old versions of SciPy
        return linalg.eigh(matrix, driver=driver, check_finite=False)
    eigenvalues, vectors = namespace(matrix).linalg.eigh(matrix)
    return to_host(eigenvalues), vectors

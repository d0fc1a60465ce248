"""Places: the host or a device, where arrays live, and the operations that differ between them.

The rows X decide where work is done. Activations, and their products and factors, are arrays of the
library of X, on the device of X. Everything else is a NumPy array on the host: drawn weights,
targets, coefficients. ``place_of`` finds the place of rows when they come in. Code that works on
the rows is handed this object, and asks it for memory, copies and factorisations.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj, to_device
from array_api_compat import numpy as array_api_numpy
from scipy import linalg
from sklearn import get_config

from trickless.arrays.threads import linear_algebra, map_rows, row_blocks
from trickless.errors import InvalidTypeError

Result = TypeVar("Result")
Size = TypeVar("Size")

#: Columns of a triangular factor that are solved together on a device.
_COLUMNS = 1024
#: Columns above which a Cholesky factorisation runs on one thread.
_PARALLEL_CHOLESKY = 8192
#: Rows in a block on a device, which runs in parallel by itself.
_ROWS_ON_DEVICE = 2**16


class Host:
    """The host, with NumPy arrays, SciPy sparse matrices, and rows in other forms.

    ``str(place)`` names the library and the device. ``xp`` is the array API namespace of the
    library. ``for_double`` is the place of sums in double precision: this place, or the host if it
    has no double precision.
    """

    xp = array_api_numpy
    has_double = True

    def __str__(self) -> str:
        return "numpy"

    @property
    def for_double(self) -> Place:
        """The place of sums in double precision."""
        return self

    def sized(self, on_host: Size, on_device: Size) -> Size:
        """Choose between a size that suits the cache of the host and one that suits a device."""
        return on_host

    #: Apply a function to blocks of rows.
    map_rows = staticmethod(map_rows)

    def put(self, array: Any, dtype: Any = None) -> Any:
        """Move an array here, and convert it to ``dtype``, a type of this library.

        Without double precision, it becomes single.
        """
        array = to_host(array)
        return array if dtype is None else array.astype(dtype, copy=False)

    def take(self, X: Any, where: slice | np.ndarray) -> Any:
        """Select rows of X by a slice, or by a NumPy array of indices or Booleans."""
        return X[where]

    def astype(self, X: Any, dtype: np.dtype) -> Any:
        """Convert X, of this place, to a precision that is given as NumPy's."""
        return X.astype(dtype, copy=False)

    def copy(self, array: Any) -> Any:
        return array.copy()

    def zeros(self, shape: tuple[int, ...]) -> Any:
        """Make zeros in double precision, on the host if this place lacks that precision."""
        return np.zeros(shape)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Make an uninitialised array, whose type NumPy or this library defines."""
        return np.empty(shape, dtype)

    def eye(self, size: int, dtype: Any) -> Any:
        return np.eye(size, dtype=dtype)

    def double(self, array: Any) -> Any:
        """Copy an array to ``for_double``, in double precision."""
        return to_host(array).astype(np.float64)

    def times(self, left: np.ndarray, right: Any) -> np.ndarray:
        """Multiply a NumPy matrix by a matrix of this place, and return a NumPy matrix."""
        return left @ right

    def minus_square(self, matrix: Any, vector: np.ndarray) -> Any:
        """Subtract v vᵀ from a matrix, in place."""
        for some in row_blocks(len(vector)):  # without another matrix
            matrix[some] -= vector[some, None] * vector
        return matrix

    def plus_ridge(self, matrix: Any, ridge: float, in_place: bool = False) -> Any:
        """Add a ridge to the diagonal of a matrix, in a copy, or ``in_place`` on the host."""
        result = matrix if in_place else matrix.copy()
        result.flat[:: len(result) + 1] += ridge
        return result

    def cholesky(self, matrix: Any) -> Any:
        """Compute the lower Cholesky factor of a symmetric matrix, which may be overwritten.

        Large matrices are factorised on one thread, because with two threads, OpenBLAS 0.3 ends the
        process with a segmentation fault at 16,384 columns. If the matrix is not positive definite
        to working precision, SciPy's LinAlgError is raised.
        """
        with linear_algebra(1) if len(matrix) > _PARALLEL_CHOLESKY else nullcontext():
            return linalg.cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)

    def solve_lower(self, factor: Any, right: Any, transposed: bool = False) -> Any:
        """Solve L X = B, or Lᵀ X = B, for a lower triangular matrix L of this place."""
        return linalg.solve_triangular(
            factor, right, lower=True, trans="T" if transposed else "N", check_finite=False
        )

    def cho_solve(self, factor: Any, right: np.ndarray) -> np.ndarray:
        """Solve L Lᵀ X = B. B and X are on the host."""
        return linalg.cho_solve((factor, True), right, check_finite=False)

    def eigh(self, matrix: Any) -> tuple[np.ndarray, Any]:
        """Compute eigenvalues, on the host, and eigenvectors, here."""
        driver = "evd" if len(matrix) > 1 else "ev"  # "evd" of 1 x 1 fails in old versions of SciPy
        return linalg.eigh(matrix, driver=driver, check_finite=False)


class Device:
    """A device of another library with the array API, with the methods of ``Host``."""

    def __init__(self, xp: Any, where: Any, name: str) -> None:
        self.xp, self._where, self._name = xp, where, name

    def __str__(self) -> str:
        return self._name

    @cached_property
    def has_double(self) -> bool:
        """Whether the device works in double precision."""
        info = self.xp.__array_namespace_info__()
        return "float64" in info.dtypes(device=self._where, kind="real floating")

    def sized(self, on_host: Size, on_device: Size) -> Size:
        return on_device

    @property
    def for_double(self) -> Place:
        return self if self.has_double else HOST

    def map_rows(
        self,
        function: Callable[[slice], Result],
        n_rows: int,
        n_columns: int,
        n_jobs: int | None = None,
    ) -> list[Result]:
        return [function(block) for block in row_blocks(n_rows, _ROWS_ON_DEVICE)]

    def put(self, array: Any, dtype: Any = None) -> Any:
        if place_of(array) is not self:
            array = np.array(to_host(array), order="C")
            if array.dtype == np.float64 and not self.has_double:
                array = array.astype(np.float32)
            array = self.xp.asarray(array, device=self._where)
        return array if dtype is None else self.xp.astype(array, dtype, copy=False)

    def take(self, X: Any, where: slice | np.ndarray) -> Any:
        if isinstance(where, slice):
            return X[slice(*where.indices(X.shape[0])), ...]  # no further than there are rows
        where = np.flatnonzero(where) if where.dtype == bool else where
        return self.xp.take(X, self.put(where), axis=0)

    def astype(self, X: Any, dtype: np.dtype) -> Any:
        return self.xp.astype(X, getattr(self.xp, dtype.name), copy=False)

    def copy(self, array: Any) -> Any:
        return self.xp.asarray(array, copy=True)

    def zeros(self, shape: tuple[int, ...]) -> Any:
        if not self.has_double:
            return np.zeros(shape)
        return self.xp.zeros(shape, dtype=self.xp.float64, device=self._where)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        dtype = getattr(self.xp, dtype.name) if isinstance(dtype, np.dtype) else dtype
        return self.xp.empty(shape, dtype=dtype, device=self._where)

    def eye(self, size: int, dtype: Any) -> Any:
        return self.xp.eye(size, dtype=dtype, device=self._where)

    def double(self, array: Any) -> Any:
        place = self.for_double
        return place.xp.astype(place.put(array), place.xp.float64)

    def times(self, left: np.ndarray, right: Any) -> np.ndarray:
        return to_host(self.put(left) @ right)

    def minus_square(self, matrix: Any, vector: np.ndarray) -> Any:
        there = self.put(vector)
        matrix -= there[:, None] * there[None, :]
        return matrix

    def plus_ridge(self, matrix: Any, ridge: float, in_place: bool = False) -> Any:
        copy = self.eye(matrix.shape[0], matrix.dtype)
        copy *= float(ridge)
        copy += matrix
        return copy

    def cholesky(self, matrix: Any) -> Any:
        xp = self.xp
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

    def solve_lower(self, factor: Any, right: Any, transposed: bool = False) -> Any:
        xp, n = self.xp, factor.shape[0]
        X = xp.astype(self.put(right), factor.dtype)  # a copy
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

    def cho_solve(self, factor: Any, right: np.ndarray) -> np.ndarray:
        lower = self.solve_lower(factor, right)
        return to_host(self.solve_lower(factor, lower, transposed=True))

    def eigh(self, matrix: Any) -> tuple[np.ndarray, Any]:
        eigenvalues, vectors = self.xp.linalg.eigh(matrix)
        return to_host(eigenvalues), vectors


#: Where arrays live.
Place = Host | Device
HOST = Host()
#: Devices so far by their names, because the devices of some libraries have no hash.
_devices: dict[str, Device] = {}


def place_of(X: Any) -> Place:
    """Find the place of an array, or return a place unchanged.

    Anything that is not an array of another library is on the host.
    """
    if isinstance(X, np.ndarray | np.generic):
        return HOST
    if not is_array_api_obj(X):
        return X if isinstance(X, Place) else HOST
    xp, where = array_namespace(X), device(X)
    name = f"{xp.__name__.removeprefix('array_api_compat.')} on {where}"
    return _devices.setdefault(name, Device(xp, where, name))


def namespace(X: Any) -> Any:
    """Return the array API namespace of an array, which is NumPy for sparse matrices."""
    return place_of(X).xp


def dispatches() -> bool:
    """Return whether scikit-learn leaves arrays of other libraries where they are."""
    return bool(get_config()["array_api_dispatch"])


def check_on_host(what: str, place: Place, remedy: str) -> None:
    """Check that rows are on the host, for functions that accept no others."""
    if place is not HOST:
        raise InvalidTypeError(
            f"{what}: X is an array of {place}, but only NumPy arrays are accepted", remedy
        )


def to_host(array: Any) -> Any:
    """Copy an array to the host, as a NumPy array. Return what is there already unchanged."""
    if place_of(array) is HOST:
        return array
    try:
        return np.asarray(to_device(array, "cpu"))
    except ValueError:  # a library without a device of that name
        return np.from_dlpack(array)


def to_device_of(X: Any, array: Any) -> Any:
    """Move an array to the place of X, in single precision if that has no double precision."""
    return place_of(X).put(array)


def matching(Z: Any, array: np.ndarray) -> Any:
    """Move a NumPy array to the place of Z, in the precision of Z."""
    return place_of(Z).put(array, Z.dtype)


def take(X: Any, where: slice | np.ndarray) -> Any:
    """Select rows of X by a slice, or by a NumPy array of indices or Booleans."""
    return place_of(X).take(X, where)

"""Places: the host or a device, where arrays live, and the operations that differ between them.

The rows X decide where work is done. Activations, and their products and factors, are arrays of the
library of X, on the device of X. Everything else is a NumPy array on the host: drawn weights,
targets, coefficients. ``place_of`` finds the place of rows when they come in. Code that works on
the rows is handed this object, and asks it for memory, copies and factorisations.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj, to_device
from array_api_compat import numpy as array_api_numpy
from scipy import linalg
from sklearn import get_config

from trickless._arrays import device_algebra
from trickless._arrays.threads import linear_algebra, map_rows, row_blocks
from trickless._errors import InvalidTypeError

Result = TypeVar("Result")
Size = TypeVar("Size")

#: Columns above which a Cholesky factorisation runs on one thread.
_PARALLEL_CHOLESKY = 8192
#: Rows in a block on a device, which runs in parallel by itself.
_ROWS_ON_DEVICE = 2**16
#: The most bytes of an array that are copied to pinned memory first.
_PINNED = 2**26
#: The most small arrays of the host that a device keeps.
_CONSTANTS = 64


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

    def take(self, X: Any, where: Any) -> Any:
        """Select rows of X by a slice, or by an array of indices or, from NumPy, Booleans."""
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

    def constant(self, values: np.ndarray) -> Any:
        """Return a few numbers, to compute with arrays here."""
        return values

    def factor(self, values: np.ndarray) -> Any:
        """Return a number for each output, (n_outputs,) or (1,), to multiply arrays here by."""
        return values

    def scaled(self, array: Any, values: np.ndarray) -> Any:
        """Multiply an array by a number for each output, in the precision of the array."""
        return values.astype(array.dtype) * array

    def filled(self, n: int, value: float) -> Any:
        """Make a vector of equal numbers, in double precision."""
        return np.full(n, value)

    def apply(self, function: Callable[..., Any], array: Any, out: Any) -> None:
        """Write an elementwise function of this library to ``out``, a part of a matrix."""
        function(array, out=out)

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

    def cho_solve(self, factor: Any, right: Any) -> Any:
        """Solve L Lᵀ X = B."""
        return linalg.cho_solve((factor, True), right, check_finite=False)

    def eigh(self, matrix: Any) -> tuple[np.ndarray, Any]:
        """Compute eigenvalues, on the host, and eigenvectors, here."""
        driver = "evd" if len(matrix) > 1 else "ev"  # "evd" of 1 x 1 fails in old versions of SciPy
        return linalg.eigh(matrix, driver=driver, check_finite=False)


class Device:
    """A device of another library with the array API, with the methods of ``Host``."""

    def __init__(self, xp: Any, where: Any, name: str) -> None:
        self.xp, self._where, self._name = xp, where, name
        self._constants: dict[Any, Any] = {}
        #: Whether functions may write their results to an array, for all that is known.
        self._writes = True

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
            array = self._sent(array)
        return array if dtype is None else self.xp.astype(array, dtype, copy=False)

    def _sent(self, array: np.ndarray) -> Any:
        """Copy a NumPy array here.

        From pinned memory, CUDA copies in the background. Otherwise Python waits until all earlier
        work is done.
        """
        if getattr(self._where, "type", None) != "cuda" or not 0 < array.nbytes <= _PINNED:
            return self.xp.asarray(array, device=self._where)
        return self.xp.asarray(array).pin_memory().to(self._where, non_blocking=True)

    def take(self, X: Any, where: Any) -> Any:
        if isinstance(where, slice):
            return X[slice(*where.indices(X.shape[0])), ...]  # no further than there are rows
        if isinstance(where, np.ndarray) and where.dtype == bool:
            where = np.flatnonzero(where)
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

    def factor(self, values: np.ndarray) -> Any:
        return float(values[0]) if values.size == 1 else self.constant(values)

    def scaled(self, array: Any, values: np.ndarray) -> Any:
        factor = self.factor(values)
        return array * (factor if isinstance(factor, float) else self.put(factor, array.dtype))

    def filled(self, n: int, value: float) -> Any:
        return self.xp.full((n,), value, dtype=self.xp.float64, device=self._where)

    def constant(self, values: np.ndarray) -> Any:
        """Return a few numbers of the host. Those that were used before are still here."""
        key = values.dtype.char, values.shape, values.tobytes()
        found = self._constants.get(key)
        if found is None:
            if len(self._constants) >= _CONSTANTS:
                self._constants = {}
            self._constants[key] = found = self.put(values)
        return found

    def apply(self, function: Callable[..., Any], array: Any, out: Any) -> None:
        if self._writes:
            try:
                function(array, out=out)
                return
            except TypeError:  # the array API knows no ``out``
                self._writes = False
        out[...] = function(array)

    def times(self, left: np.ndarray, right: Any) -> np.ndarray:
        return to_host(self.put(left) @ right)

    def minus_square(self, matrix: Any, vector: np.ndarray) -> Any:
        there = self.put(vector)
        matrix -= there[:, None] * there[None, :]
        return matrix

    def plus_ridge(self, matrix: Any, ridge: Any, in_place: bool = False) -> Any:
        copy = self.eye(matrix.shape[0], matrix.dtype)
        copy *= ridge if place_of(ridge) is self else float(ridge)
        copy += matrix
        return copy

    def cholesky(self, matrix: Any) -> Any:
        return device_algebra.cholesky(self.xp, matrix)

    def solve_lower(self, factor: Any, right: Any, transposed: bool = False) -> Any:
        X = self.xp.astype(self.put(right), factor.dtype)  # a copy
        return device_algebra.solve_lower(self.xp, factor, X, transposed)

    def cho_solve(self, factor: Any, right: Any) -> Any:
        lower = self.solve_lower(factor, right)
        return self.solve_lower(factor, lower, transposed=True)

    def eigh(self, matrix: Any) -> tuple[np.ndarray, Any]:
        eigenvalues, vectors = self.xp.linalg.eigh(matrix)
        return to_host(eigenvalues), vectors


#: Where arrays live.
Place = Host | Device
HOST = Host()
#: Devices so far by their names, and by the types of their arrays and their objects.
_devices: dict[str, Device] = {}
_places: dict[tuple[type, Any], Device] = {}


def place_of(X: Any) -> Place:
    """Find the place of an array, or return a place unchanged.

    Anything that is not an array of another library is on the host.
    """
    if isinstance(X, np.ndarray | np.generic):
        return HOST
    if isinstance(X, Place):
        return X
    key = type(X), getattr(X, "device", None)
    try:
        return _places[key]
    except (KeyError, TypeError):  # devices of some libraries have no hash
        pass
    if not is_array_api_obj(X):
        return HOST
    xp, where = array_namespace(X), device(X)
    name = f"{xp.__name__.removeprefix('array_api_compat.')} on {where}"
    place = _devices.setdefault(name, Device(xp, where, name))
    if type(key[1]) is type(where):
        with suppress(TypeError):
            _places[key] = place
    return place


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


def take(X: Any, where: Any) -> Any:
    """Select rows of X by a slice, or by an array of indices or, from NumPy, Booleans."""
    return place_of(X).take(X, where)

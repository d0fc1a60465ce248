"""Cholesky factors and triangular systems on a device, by the array API and what goes beyond it."""

from __future__ import annotations

from typing import Any

from scipy import linalg

#: Columns of a triangular factor that are solved together.
_COLUMNS = 1024


def cholesky(xp: Any, matrix: Any) -> Any:
    """Compute the lower Cholesky factor, or raise SciPy's LinAlgError.

    Python waits for the device once.
    """
    factor, good = _unchecked(xp, matrix)
    # Some libraries raise no error, but return numbers that are not finite, or pivots below 0. A
    # row with such a number has such a pivot.
    pivots = xp.linalg.diagonal(factor)
    if not bool(good & xp.all(xp.isfinite(pivots) & (pivots > 0))):
        raise linalg.LinAlgError("the matrix is not positive definite")
    return factor


def _unchecked(xp: Any, matrix: Any) -> tuple[Any, Any]:
    """Return a factor, and whether the library says that it is one, without a wait if possible."""
    unchecked = getattr(xp.linalg, "cholesky_ex", None)  # beyond the array API, as torch has it
    if unchecked is not None:
        factor, n_bad = unchecked(matrix)
        return factor, n_bad == 0
    try:
        return xp.linalg.cholesky(matrix), True
    except Exception as error:
        if "LinAlgError" in type(error).__name__:
            raise linalg.LinAlgError(str(error)) from error
        raise


def solve_lower(xp: Any, factor: Any, X: Any, transposed: bool) -> Any:
    """Solve L X = B, or Lᵀ X = B, where X is B at first and may be overwritten."""
    triangular = getattr(xp.linalg, "solve_triangular", None)  # beyond the array API, as well
    if triangular is not None:
        return triangular(factor.T if transposed else factor, X, upper=transposed)
    n = factor.shape[0]
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

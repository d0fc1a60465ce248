"""Rows on the unit sphere, dense or sparse, and the angles between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, hstack, issparse

from trickless._arrays.places import namespace


def append_constant(X: Any, value: float) -> Any:
    """Append a column of one constant value to dense or sparse rows."""
    if issparse(X):
        return hstack([X, csr_matrix(np.full((X.shape[0], 1), value))]).tocsr()
    xp = namespace(X)
    return xp.concat((X, xp.full_like(X[:, :1], value)), axis=1)


def unit_rows(X: Any) -> Any:
    """Scale dense or sparse rows to length 1. Rows of zeros stay zero."""
    if issparse(X):
        largest = abs(X).max(axis=1).toarray().reshape(-1, 1)
        X = X.multiply(1 / np.where(largest > 0, largest, 1)).tocsr()  # so no square overflows
        norm = np.sqrt(np.asarray(X.multiply(X).sum(axis=1))).reshape(-1, 1)
        return X.multiply(1 / np.where(norm > 0, norm, 1)).tocsr()
    xp = namespace(X)
    largest = xp.max(xp.abs(X), axis=1, keepdims=True)
    X = X / xp.where(largest > 0, largest, xp.ones_like(largest))
    norm = xp.linalg.vector_norm(X, axis=1, keepdims=True)
    return X / xp.where(norm > 0, norm, xp.ones_like(norm))


def angles(X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute angles between rows, and whether both rows are nonzero."""
    angle = np.arccos(np.clip(unit_rows(X) @ unit_rows(Y).T, -1, 1))
    return angle, np.logical_and.outer((X != 0).any(axis=1), (Y != 0).any(axis=1))

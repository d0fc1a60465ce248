"""Neurons that see their input through one projection: ψ(x; w) is a function of t = ⟨a, x⟩.

Fourier features, random hidden units, stumps and coordinates are all of this kind, and differ only
in how a is drawn and in how they respond to t. This module has what they share: the projection of
dense and of sparse rows, for all rows and all neurons and for pairs of them.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import scipy.sparse

from trickless.arrays.namespaces import namespace
from trickless.neurons.base import Neurons, Weights


class Projected(Neurons):
    """A neuron that responds to one linear projection of its input.

    The first array of the weights is the direction: either vectors of shape (n, n_features) or, for
    directions along the axes, indices of coordinates of shape (n,).
    """

    accepts_sparse = True

    @abstractmethod
    def respond(self, t: Any, *weights: Any) -> Any:
        """Response (n_rows, width * n) to projections t (n_rows, n), which may be overwritten."""

    def prepare(self, X: Any) -> Any:
        """Map the rows before they are projected; the identity by default."""
        return X

    def activate(self, X: Any, weights: Weights) -> Any:
        direction, *rest = weights
        return self.respond(project(self.prepare(X), direction), *rest)

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        direction, *rest = weights
        with np.errstate(over="ignore", invalid="ignore"):  # activations are checked later
            t = project_pairs(self.prepare(X), direction)
            return self.respond(t[None, :], *rest).reshape(self.width, -1).T


def project(X: Any, direction: Any) -> Any:
    """Products ⟨a_j, x_i⟩ of all rows i and all directions j: shape (n_rows, n)."""
    if direction.ndim == 1:
        if scipy.sparse.issparse(X):
            return X[:, direction].toarray()
        return namespace(X).take(X, direction, axis=1)
    return X @ direction.T


def project_pairs(X: Any, direction: Any) -> Any:
    """Products ⟨a_i, x_i⟩ of each row i and its own direction: shape (n_rows,)."""
    if direction.ndim == 1:
        picked = X[np.arange(X.shape[0]), direction]
        return np.asarray(picked).ravel()
    if scipy.sparse.issparse(X):
        return np.asarray(X.multiply(direction).sum(axis=1)).ravel()
    return namespace(X).vecdot(X, direction)

"""Neurons that depend on one projection of their input, t = ⟨a, x⟩.

Fourier features, random hidden units, stumps and coordinates are all of this kind. They differ only
in how a is drawn and in how they respond to t. This module has what they share: it projects dense
and sparse rows along all directions, or each row along a direction of its own.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import scipy.sparse

from trickless._arrays.places import namespace
from trickless._arrays.stated import check_array
from trickless.neurons.base import Neurons, Weights


class Projected(Neurons):
    """A neuron that responds to one linear projection of its input.

    The first array of the weights holds the directions: vectors of shape (n, n_features), or
    indices of features of shape (n,) for directions along the axes.
    """

    accepts_sparse = True

    @abstractmethod
    def respond(self, t: Any, *weights: Any) -> Any:
        """Map projections t, (n_rows, n), which may be overwritten, to activations."""

    def prepare(self, X: Any) -> Any:
        """Map the rows before they are projected. By default, return them unchanged."""
        return X

    def _check_weights(self, weights: Weights) -> None:
        if weights[0].ndim == 1:
            check_features(self, weights[0])

    def activate(self, X: Any, weights: Weights) -> Any:
        direction, *rest = weights
        return self.respond(project(self.prepare(X), direction), *rest)

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        direction, *rest = weights
        with np.errstate(over="ignore", invalid="ignore"):  # activations are checked later
            t = project_pairs(self.prepare(X), direction)
            return self.respond(t[None, :], *rest).reshape(self.width, -1).T


def check_features(family: Neurons, columns: Any) -> None:
    """Check that features of stored neurons exist."""
    shape = (None,) * np.ndim(columns)
    check_array("features of stored neurons", columns, "i8", shape, 0, family.n_features_in_)


def project(X: Any, direction: Any) -> Any:
    """Project all rows i along all directions j: ⟨a_j, x_i⟩, shape (n_rows, n)."""
    if direction.ndim == 1:
        if scipy.sparse.issparse(X):
            return X[:, direction].toarray()
        return namespace(X).take(X, direction, axis=1)
    return X @ direction.T


def project_pairs(X: Any, direction: Any) -> Any:
    """Project each row i along its own direction: ⟨a_i, x_i⟩, shape (n_rows,)."""
    if direction.ndim == 1:
        picked = X[np.arange(X.shape[0]), direction]
        return np.asarray(picked).ravel()
    if scipy.sparse.issparse(X):
        return np.asarray(X.multiply(direction).sum(axis=1)).ravel()
    return namespace(X).vecdot(X, direction)

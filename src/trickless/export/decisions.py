"""Decision values of learners, from validated rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import singledispatch
from typing import Any

import numpy as np

import trickless.export.convolutions
import trickless.export.namespace as xp
import trickless.export.trees  # noqa: F401  registers how trees are written
from trickless.errors import InvalidValueError, MissingAttributeError
from trickless.export.families import distances, squared_distances, writable
from trickless.export.inputs import owner_of
from trickless.export.tensors import Tensor, UnwritableError
from trickless.functions.network import Network
from trickless.learners.boosted_trees import BoostedTrees
from trickless.learners.doubly_stochastic import DoublyStochastic
from trickless.learners.kernel_gradient import KernelGradient
from trickless.learners.kitchen_sinks import KitchenSinks
from trickless.learners.online import OnlineLearner
from trickless.learners.random_features import RandomFeatures
from trickless.neurons import Neurons, Weights

#: Families that are asked for the neurons that they draw, in messages.
_REMEDY = (
    "a family whose activate(X, weights) uses only functions of the array API, such as Gaussian() "
    "or Trees(); or trickless.save, for Python"
)


@singledispatch
def decisions(model: Any, X: Tensor) -> Tensor:
    """Return decision values in double precision, (n_rows, n_outputs of the solver)."""
    name = type(model).__name__
    raise InvalidValueError(
        f"{owner_of(X)}: a {name} has no function that a graph could compute",
        "BoostedTrees, KitchenSinks, DoublyStochastic or ShrinkingGradient models; or "
        "trickless.save, for Python",
    )


@decisions.register(KitchenSinks)
@decisions.register(DoublyStochastic)
@decisions.register(BoostedTrees)
def _of_network(model: Any, X: Tensor) -> Tensor:
    try:
        network = model.network_
    except MissingAttributeError as error:  # an ensemble of many
        raise InvalidValueError(f"{owner_of(X)}: {error.cause}", error.remedy) from error
    return network_values(network, X)


@decisions.register(OnlineLearner)
def _of_rounds(model: Any, X: Tensor) -> Tensor:
    return network_values(model.estimates_.function(model.rounds_, model.average), X)


@decisions.register(KernelGradient)
def _of_kernel(model: Any, X: Tensor) -> Tensor:
    kernel = model.kernel_
    if kernel.metric not in KERNELS:
        raise InvalidValueError(
            f"{owner_of(X)}: kernel={kernel.metric!r} has no operations in graphs",
            f"one of {', '.join(map(repr, KERNELS))}",
        )
    support = model.support_vectors_
    support = support.toarray() if hasattr(support, "toarray") else np.asarray(support)
    params = {"gamma": None, "coef0": 1, "degree": 3} | (kernel.params or {})
    if params["gamma"] is None:
        params["gamma"] = 1 / support.shape[1]
    exact = xp.astype(X, xp.float64)
    values = KERNELS[kernel.metric](exact, support.astype(np.float64), **params)
    return values @ model.dual_coef_


def _cosine(X: Tensor, Y: np.ndarray, **_: Any) -> Tensor:
    x, y = xp.linalg.vector_norm(X, axis=1, keepdims=True), np.linalg.norm(Y, axis=1, keepdims=True)
    return (X / xp.where(x > 0, x, 1.0)) @ (Y / np.where(y > 0, y, 1.0)).T


#: scikit-learn's kernels that have operations.
KERNELS: dict[Any, Any] = {
    "rbf": lambda X, Y, gamma, **_: xp.exp(-gamma * squared_distances(X, Y)),
    "linear": lambda X, Y, **_: X @ Y.T,
    "poly": lambda X, Y, gamma, coef0, degree: (gamma * (X @ Y.T) + coef0) ** degree,
    "sigmoid": lambda X, Y, gamma, coef0, **_: xp.tanh(gamma * (X @ Y.T) + coef0),
    "cosine": _cosine,
    "laplacian": lambda X, Y, gamma, **_: xp.exp(-gamma * distances(X, Y)),
}
KERNELS["polynomial"] = KERNELS["poly"]


def network_values(network: Network, X: Tensor) -> Tensor:
    """Return the values of a network, whose activations are summed in double precision."""
    intercept = np.asarray(network.intercept, dtype=np.float64)
    if not network.n_neurons:
        return xp.astype(xp.isnan(X[:, :1]), xp.float64) * 0.0 + np.broadcast_to(
            intercept, (1, network.n_outputs)
        )
    weights = _together([some for _, some in network.source.pieces(0, network.n_neurons)])
    coef = Tensor.constant(np.asarray(network.coef, dtype=np.float64))
    with _naming(network.neurons, X):
        values = writable(network.neurons).combine(X, weights, coef)
    return xp.astype(values, xp.float64) + intercept


def columns_of(neurons: Neurons, source: Any, n_neurons: int, X: Tensor) -> Tensor:
    """Return activations, a block of neurons after the other: (n_rows, width * n_neurons)."""
    family = writable(neurons)
    with _naming(neurons, X):
        pieces = source.pieces(0, n_neurons)
        parts = [family(X, tuple(map(Tensor.constant, some))) for _, some in pieces]
    return xp.concat(parts, axis=1)


def features(model: RandomFeatures, X: Tensor) -> Tensor:
    """Return the random features of rows, in the precision of the model."""
    neurons, n = model.neurons_, model._n_drawn
    weights = _together([some for _, some in model.source_.pieces(0, n)])
    with _naming(neurons, X):
        Z = writable(neurons)(X, weights)
        Z = xp.reshape(Z, (X.shape[0], neurons.width, n))
        Z = xp.reshape(xp.permute_dims(Z, (0, 2, 1)), (X.shape[0], neurons.width * n))
    return Z * float(model.scale_ * n**-0.5)


def _together(pieces: list[Weights]) -> Weights:
    """Return the weights of all neurons as constants."""
    return tuple(Tensor.constant(np.concatenate(arrays)) for arrays in zip(*pieces, strict=True))


@contextmanager
def _naming(family: Neurons, X: Tensor) -> Iterator[None]:
    """Name the family in an error of its code, which may be of a user."""
    try:
        yield
    except (UnwritableError, TypeError, ValueError, AttributeError) as error:
        raise InvalidValueError(
            f"{owner_of(X)}: neurons={family!r} cannot be written: {str(error).rstrip('.')}",
            _REMEDY,
        ) from error

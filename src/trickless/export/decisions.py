"""Decision values of learners, from validated rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import trickless.export.namespace as xp
from trickless._arrays.distances import distances, squared_distances
from trickless._errors import InvalidValueError
from trickless._functions.network import Network
from trickless._learners.kernel_gradient import KernelGradient
from trickless._learners.online import OnlineLearner
from trickless._learners.random_features import RandomFeatures
from trickless._stack.auto import Auto
from trickless._stack.linear import LinearModel
from trickless._stack.parts import Fitted
from trickless._stack.training import of_all_classes
from trickless.export.families import dense, writable
from trickless.export.tensors import Tensor, UnwritableError
from trickless.neurons import Neurons


def decisions(model: Any, X: Tensor) -> Tensor:
    """Return decision values in double precision, (n_rows, n_outputs of the solver)."""
    if isinstance(model, KernelGradient):
        return _of_kernel(model, X)
    if isinstance(model, Auto):
        return xp.astype(_of_stack(model, X), xp.float64)
    if isinstance(model, OnlineLearner):
        return _of_network(model.estimates_.function(model._rounds_, model.average), X)
    return _of_network(model.network_, X)


def _of_stack(stack: Auto, X: Tensor) -> Any:
    """Return decision values of a stack, from the weighted sum of the values of its parts."""
    found: Any = 0.0
    for weight, part in zip(stack.weights_, stack.parts_, strict=True):
        found = found + _of_part(stack, part, X) * float(weight)
    return stack._decisions(found)


def _of_part(stack: Auto, part: Fitted, X: Tensor) -> Any:
    """Return the predictions of a part, or its probabilities of all classes."""
    model, n_classes = part.model, stack._n_classes
    if isinstance(model, LinearModel):
        answer = model.predict_proba if n_classes else model.predict
        values = answer(part.reads(X, X))
    else:
        own, theirs = stack._rows_.columns, model._rows_.columns
        if own is not None and theirs is not None:  # which may be relative to other origins
            X = X + (own.origins - theirs.origins)
        f = decisions(model, xp.astype(part.reads(X, X), model._rows_.dtype))
        f = model._targets_.shown(f)
        values = model._probabilities(f) if n_classes else model._targets_.values(f)
    return of_all_classes(values, model.classes_, n_classes) if n_classes else values


def _of_kernel(model: Any, X: Tensor) -> Tensor:
    kernel = model.kernel_
    if kernel.metric not in KERNELS:
        raise InvalidValueError(
            f"kernel={kernel.metric!r} has no operations in graphs",
            f"one of {', '.join(map(repr, KERNELS))}",
        )
    support = dense(model.support_vectors_)
    params = {"gamma": None, "coef0": 1, "degree": 3} | (kernel.params or {})
    if params["gamma"] is None:
        params["gamma"] = 1 / support.shape[1]
    values = KERNELS[kernel.metric](xp.astype(X, xp.float64), support, **params)
    return values @ model.dual_coef_


def _unit(X: Any) -> Any:
    length = xp.linalg.vector_norm(X, axis=1, keepdims=True)
    return X / xp.where(length > 0, length, 1.0)


#: scikit-learn's kernels that have operations.
KERNELS: dict[Any, Any] = {
    "rbf": lambda X, Y, gamma, **_: np.exp(-gamma * squared_distances(X, Y)),
    "linear": lambda X, Y, **_: X @ Y.T,
    "poly": lambda X, Y, gamma, coef0, degree: (gamma * (X @ Y.T) + coef0) ** degree,
    "sigmoid": lambda X, Y, gamma, coef0, **_: np.tanh(gamma * (X @ Y.T) + coef0),
    "cosine": lambda X, Y, **_: _unit(X) @ _unit(Y).T,
    "laplacian": lambda X, Y, gamma, **_: np.exp(-gamma * distances(X, Y)),
}
KERNELS["polynomial"] = KERNELS["poly"]


def _of_network(network: Network, X: Tensor) -> Tensor:
    """Return the values of a network, whose activations are summed in double precision."""
    intercept = np.asarray(network.intercept, dtype=np.float64)
    if not network.n_neurons:
        return Tensor.constant(np.broadcast_to(intercept, (1, network.n_outputs)))
    coef = Tensor.constant(network.coef, np.float64)
    with _written(network.neurons) as family:
        values = family._combine(X, _weights(network.source, network.n_neurons), coef)
    return xp.astype(values, xp.float64) + intercept


def columns_of(neurons: Neurons, source: Any, n_neurons: int, X: Tensor) -> Tensor:
    """Return activations, a block of neurons after the other: (n_rows, width * n_neurons)."""
    with _written(neurons) as family:
        pieces = source.pieces(0, n_neurons)
        parts = [family(X, tuple(map(Tensor.constant, some))) for _, some in pieces]
    return xp.concat(parts, axis=1)


def features(model: RandomFeatures, X: Tensor) -> Tensor:
    """Return the random features of rows, in the precision of the model."""
    neurons, n = model.neurons_, model._n_drawn
    with _written(neurons) as family:
        Z = family(X, _weights(model.source_, n))
        Z = xp.reshape(Z, (X.shape[0], neurons.width, n))
        Z = xp.reshape(xp.permute_dims(Z, (0, 2, 1)), (X.shape[0], neurons.width * n))
    return Z * float(model.scale_ * n**-0.5)


def _weights(source: Any, n: int) -> tuple[Tensor, ...]:
    """Return the weights of all neurons as constants."""
    pieces = [some for _, some in source.pieces(0, n)]
    return tuple(Tensor.constant(np.concatenate(arrays)) for arrays in zip(*pieces, strict=True))


@contextmanager
def _written(family: Neurons) -> Iterator[Neurons]:
    """Give a family for tensors, and name it in an error of its code, which may be of a user."""
    try:
        yield writable(family)
    except (UnwritableError, TypeError, ValueError, AttributeError) as error:
        raise InvalidValueError(
            f"neurons={family!r} cannot be written: {str(error).rstrip('.')}",
            "a family whose activate(X, weights) uses only functions of the array API, such as "
            "Gaussian() or Trees(); or trickless.save, for Python",
        ) from error

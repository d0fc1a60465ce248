"""A fitted model as the arrays that it predicts with, for files in other languages."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.places import to_host
from trickless.arrays.states import snapshot
from trickless.errors import InvalidTypeError, InvalidValueError, MissingAttributeError
from trickless.functions.network import Network
from trickless.intake.labels import LabelSets
from trickless.neurons import Neurons, Weights


class Described(NamedTuple):
    """What a model computes from the activations of its neurons.

    Attributes
    ----------
    name : str
        The class of the model.
    family : Neurons
    weights : tuple of arrays
        The weights of all neurons; empty if there are none.
    coef : array of shape (n_neurons, width, n_outputs)
    intercept : array of shape (n_outputs,)
        With ``coef``, they give decision values, or values of a regressor before the link.
    link : {"identity", "exp", "sort"}
        What a regressor does with these values.
    is_vector : bool
        Whether a regressor predicts a number for each row, and not several.
    labels : array or None
        The classes of a classifier.
    has_sets : bool
        Whether a row may have several labels.
    temperatures : tuple of (float, float) or None
        Divisors of decision values below 0 and above, for probabilities. None if there are none.
    dtype : dtype
        Precision of the rows.
    """

    name: str
    family: Neurons
    weights: Weights
    coef: np.ndarray
    intercept: np.ndarray
    link: str
    is_vector: bool
    labels: np.ndarray | None
    has_sets: bool
    temperatures: tuple[float, float] | None
    dtype: np.dtype

    @property
    def n_outputs(self) -> int:
        """Number of decision values."""
        return len(self.intercept)


def described(owner: str, model: Any) -> Described:
    """Describe a fitted model. ``owner`` begins error messages."""
    if not hasattr(type(model), "network_"):
        raise InvalidTypeError(
            f"{owner}: a {type(model).__name__} has no finite network of neurons",
            "a model of KitchenSinks, DoublyStochastic or ShrinkingGradient",
        )
    check_is_fitted(model)
    model = snapshot(model)
    network, targets = network_of(owner, model), model.targets_
    pieces = [weights for _, weights in network.source.pieces(0, network.n_neurons)]
    weights = tuple(
        np.concatenate(list(map(to_host, parts))) for parts in zip(*pieces, strict=True)
    )
    intercept = np.broadcast_to(np.asarray(network.intercept, np.float64), network.coef.shape[2:])
    intercept = targets.shown(intercept[None])[0]
    labels, temperatures = None, None
    if is_classifier(model):
        labels = targets.classes
        if len(labels) < 2:
            raise InvalidValueError(
                f"{owner}: the {type(model).__name__} knows one class only, {labels.tolist()[0]!r}",
                "a model that has seen rows of two classes",
            )
        temperatures = _link(model)
    return Described(
        name=type(model).__name__,
        family=network.neurons,
        weights=weights,
        coef=_shown(targets, network.coef),
        intercept=intercept,
        link=targets.link,
        is_vector=getattr(targets, "is_vector", False),
        labels=labels,
        has_sets=isinstance(targets, LabelSets),
        temperatures=temperatures,
        dtype=model.rows_.dtype,
    )


def network_of(owner: str, model: Any) -> Network:
    """Return the network of a model. An ensemble of many has none."""
    try:
        network: Network = model.network_
    except MissingAttributeError as error:
        raise InvalidValueError(f"{owner}: {error.cause}", error.remedy) from error
    return network


def _shown(targets: Any, coef: np.ndarray) -> np.ndarray:
    """Return the coefficients of the decision values that are shown, which are linear in others."""
    columns = coef.reshape(-1, coef.shape[2])
    shown = targets.shown(columns)
    if shown is not columns:
        shown = targets.shown(columns.astype(np.float64))
    return shown.reshape(*coef.shape[:2], shown.shape[1])


def _link(model: Any) -> tuple[float, float] | None:
    """Return the temperatures of probabilities, or None if there are no probabilities."""
    temperatures: tuple[float, float] | None = model._temperatures()
    return (1.0, 1.0) if temperatures is None and model._loss(1).has_link else temperatures

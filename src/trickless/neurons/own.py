"""A check of a family of your own."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from trickless._errors import InvalidTypeError, InvalidValueError
from trickless.neurons.base import Neurons
from trickless.neurons.checks import (
    activations_to_host,
    check_fit_takes_weights,
    check_fitted_family,
    check_rows_alone,
    check_same_draws,
    check_values,
    draw_neurons,
)

#: Rows and features without X, rows and neurons of a trial, and neurons that tell halves apart.
_ROWS, _FEATURES, _TRIAL, _MANY = 200, 3, 64, 2048
#: Sizes of rows at which the bound is checked too, and standard errors that are no chance.
_SIZES, _ERRORS = (0.0, 1e-30, 1e30), 6.0


def check_family(family: Neurons, X: Any = None) -> None:
    """Check that a family of your own keeps the rules that learners rely on.

    It fits a copy of the family, draws neurons and evaluates them. Use it in a test of the family.

    Parameters
    ----------
    family : Neurons
        The family. It is not changed.
    X : array of shape (n_rows, n_features), optional
        Rows that the family accepts. Default: 200 normal rows of 3 features.

    Raises
    ------
    TypeError, ValueError
        If a rule is broken. The error names the method, what it did and a remedy.

    Notes
    -----
    These are the rules:

    - ``fit`` takes rows, a generator and weights, and sets ``n_features_in_``.
    - ``draw`` returns arrays with an entry for each neuron, and the same ones for the same seed.
    - ``activate`` returns ``width`` columns of finite numbers for each neuron, and leaves X alone.
    - A row of its result depends on that row of X alone, and the values of a neuron on the weights
      of that neuron alone.
    - The values of a neuron have a norm of at most ``bound``, also for rows of 0 and of 1e30.
    - The first neurons of a draw are distributed as the last ones.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless.neurons import Neurons, check_family
    >>> class Halfspaces(Neurons):
    ...     def draw(self, rng, n):
    ...         return rng.standard_normal((n, self.n_features_in_))
    ...     def activate(self, X, weights):
    ...         return np.sign(X @ weights.T)
    >>> check_family(Halfspaces())
    """
    name = type(family).__name__
    if not isinstance(family, Neurons):
        raise InvalidTypeError(
            f"check_family: family is of type {name}", "an object of a subclass of Neurons"
        )
    rng = np.random.default_rng(0)
    rows = np.asarray(rng.standard_normal((_ROWS, _FEATURES)) if X is None else X, dtype=float)
    family = clone(family)
    check_fit_takes_weights(family)
    family.fit(rows, np.random.default_rng(0), np.ones(len(rows)))
    check_fitted_family(family)
    weights, again = (draw_neurons(family, np.random.default_rng(1), _TRIAL) for _ in range(2))
    check_same_draws(name, weights, again)
    trial = rows[:_TRIAL]
    for some in (trial, *(size * np.sign(trial) for size in _SIZES)):
        check_values(family, some, weights, bounded=True)
    check_rows_alone(family, trial, weights)
    _check_neurons_alone(family, trial, weights)
    if family.independent:
        _check_halves(family, trial)


def _check_neurons_alone(family: Neurons, X: np.ndarray, weights: Any) -> None:
    """Check that the values of a neuron depend on the weights of that neuron alone."""
    name, half = type(family).__name__, _TRIAL // 2
    fewer = activations_to_host(name, family, X, tuple(array[:half] for array in weights))
    fewer = fewer.reshape(len(X), family.width, half)
    all_ = activations_to_host(name, family, X, weights).reshape(len(X), family.width, _TRIAL)
    if not np.allclose(fewer, all_[:, :, :half], 1e-4, 1e-6):
        raise InvalidValueError(
            f"{name}.activate(X, weights) gave other numbers for neurons with fewer others",
            "evaluate each neuron by its own weights; column k * n + j is value k of neuron j",
        )


def _check_halves(family: Neurons, X: np.ndarray) -> None:
    """Check that the first half of a draw is distributed as the second one, by mean squares."""
    name = type(family).__name__
    weights = draw_neurons(family, np.random.default_rng(2), _MANY)
    Z = activations_to_host(name, family, X, weights).reshape(len(X), family.width, _MANY)
    one, other = np.split((Z**2).sum(axis=1).mean(axis=0), 2)
    error = np.sqrt((one.var() + other.var()) / len(one))
    if abs(one.mean() - other.mean()) > _ERRORS * error + 1e-9:
        raise InvalidValueError(
            f"{name}.draw(rng, n): the mean square is {one.mean():.3g} for the first neurons and "
            f"{other.mean():.3g} for the last ones, but all must have one distribution",
            "draw each neuron alike, or set independent = False if they depend on each other",
        )

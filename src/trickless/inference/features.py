"""Random features of rows, as a test or a detector compares them.

A detector whitens the features, since the squared norm of a difference of means is dominated by the
directions in which they vary most, but a change of a variance or a dependence moves the mean in
others. :class:`~trickless.inference.DriftDetector` has the formula.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from trickless._arrays.places import take, to_host
from trickless._arrays.stated import Array, Stated
from trickless._arrays.threads import linear_algebra
from trickless._errors import InvalidValueError
from trickless._functions.stream import Purpose, generator
from trickless._learners.random_features import RandomFeatures, is_chosen_by_targets
from trickless._rows.frames import is_frame, names_of, stacked, with_names_as_text
from trickless._rules import reworded, with_remedies, without_warnings
from trickless.inference.covariances import FEW, principal, sketched
from trickless.inference.dependence import Sample, too_large
from trickless.inference.rows import (
    as_rows,
    check_alike,
    in_words,
    select,
)
from trickless.neurons.named import make_neurons

#: The number γ as a share of the largest eigenvalue, and the least γ. Rows have about the norm 1.
_RIDGE, _LEAST_RIDGE = 0.1, 1e-9
#: The most rows from which Σ is estimated.
_ROWS = 1024


def random_features(
    owner: str,
    neurons: Any,
    n_neurons: int,
    seed: int,
    n_jobs: Any,
    scale: str = "kernel",
    parameter: str = "neurons",
) -> RandomFeatures:
    """Return random features, dense and in double precision, of a family that needs no targets.

    They are not fitted. Errors call the family by the name of a ``parameter``.
    """
    with reworded(lambda text: f"{owner}: {text.replace('neurons=', f'{parameter}=')}"):
        family = make_neurons(neurons)
    if is_chosen_by_targets(family):
        raise InvalidValueError(
            f"{owner}: {parameter}={neurons!r} needs targets, but a test has none",
            "a family that uses the rows alone, such as 'gaussian', or 'tabular' for data frames",
        )
    how: dict[str, Any] = {"scale": scale, "random_state": seed, "n_jobs": n_jobs}
    model = RandomFeatures(family, n_neurons, sparse_output=False, dtype="float64", **how)
    model._warn_below = 0.0  # tests need no scale
    return model


def table(owner: str, name: str, model: RandomFeatures, X: Any, least: int = 2) -> Any:
    """Convert a sample to a table, or to an array that the family of a model reads."""
    X = as_rows(owner, name, X, model._kind_of_rows().layout)
    if X.shape[0] < least:
        raise InvalidValueError(
            f"{owner}: {name} has {X.shape[0]} row(s), but an unbiased statistic needs {least} or "
            "more",
            "pass more rows",
        )
    return X


def pooled(owner: str, model: RandomFeatures, X: Any, Y: Any) -> Any:
    """Return two tables that suit a model as one, the second below the first."""
    if is_frame(X) and is_frame(Y) and all(isinstance(name, str) for name in names_of(X)):
        Y = with_names_as_text(Y, names_of(X))
    if len(X.shape) > 2 and X.shape[1:-1] == Y.shape[1:-1] and X.shape[1:] != Y.shape[1:]:
        return table(owner, "X and Y", model, [*X, *Y])  # some series are longer
    check_alike(owner, model, X, Y, ("X", "Y"))
    check_alike(owner, model, Y, X, ("Y", "X"))
    with with_remedies(owner):
        return stacked([X, Y])


def sample(
    owner: str, name: str, model: RandomFeatures, X: Any, parameter: str = "neurons"
) -> Sample:
    """Fit a model to a table, and return its features. Errors use the name and the parameter."""
    assert isinstance(model.random_state, int)
    # In random order, so that no choice of a family depends on the order of the rows.
    order = generator(model.random_state, Purpose.SHUFFLE).permutation(X.shape[0])
    with in_words(owner, name, parameter):
        rows = model.fit(select(X, order))._rows_to_predict(X)

    def features(where: slice) -> np.ndarray:
        Z: np.ndarray = to_host(model._of_rows(take(rows, where)))
        return Z

    return Sample(features, rows.shape[0], model._n_features_out)


class WhitenedFeatures(Stated):
    """Random features of a family that is fitted to rows, whitened by these rows.

    ``features`` are the random features, and ``whitener`` is the matrix (n_features, n_columns) by
    which they are multiplied. There are at most 128 columns.
    """

    owner: str
    features: RandomFeatures
    whitener: Annotated[np.ndarray, Array("f8", "features._n_features_out", None)]

    def __init__(self, owner: str, features: RandomFeatures, X: Any, seed: int) -> None:
        self.owner, self.features = owner, features
        with in_words(owner), np.errstate(over="ignore"):
            features.fit(X)
        if features.scale_ == 0:
            raise too_large(owner)
        Z = self._of_family(select(X, slice(_ROWS)))
        self.whitener = whitener(Z - Z.mean(axis=0), generator(seed, Purpose.SKETCH))

    def __call__(self, X: Any) -> np.ndarray:
        """Return features of rows, which do not depend on the other rows of the batch."""
        Z = self._of_family(X)
        out = np.empty((len(Z), self.whitener.shape[1]))
        with linear_algebra(1), np.errstate(over="ignore", invalid="ignore"):
            for row, values in zip(Z, out, strict=True):  # a product of more rows rounds otherwise
                np.dot(row, self.whitener, out=values)
        if not np.isfinite(out).all():
            raise too_large(self.owner)
        return out

    def _of_family(self, X: Any) -> np.ndarray:
        with in_words(self.owner), without_warnings():  # new values are what a detector looks for
            Z: np.ndarray = to_host(self.features._of_rows(self.features._rows_to_predict(X)))
            return Z


def whitener(Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Compute (Σ + γ I)^(-1/2) from centred rows, times fewer directions if there are many."""
    with linear_algebra(1):  # so that alarms do not depend on threads
        values, V = principal(Z.T @ Z / len(Z))
        ridge, W = max(_RIDGE * values[0], _LEAST_RIDGE), V.T
        if len(values) > FEW:
            W = V.T @ sketched(values / (values + ridge), V, FEW, rng)
        return (V / np.sqrt(values + ridge)) @ W

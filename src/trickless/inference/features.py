"""Random features of rows, as a test or a detector compares them.

A detector whitens the features, since the squared norm of a difference of means is dominated by the
directions in which they vary most, but a change of a variance or a dependence moves the mean in
others. :class:`~trickless.DriftDetector` has the formula.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import numpy as np
import scipy.linalg

from trickless.arrays.places import take, to_host
from trickless.arrays.stated import Array, Stated
from trickless.arrays.threads import linear_algebra
from trickless.errors import InvalidValueError
from trickless.functions.stream import Purpose, generator
from trickless.inference.covariances import FEW, sketched
from trickless.inference.dependence import Sample, too_large
from trickless.inference.rows import as_rows, check_n_rows, in_words, pooled, select
from trickless.learners.random_features import RandomFeatures, is_chosen_by_targets
from trickless.neurons import Neurons, make_neurons
from trickless.rows.frames import picked
from trickless.rules import N_JOBS, check_value, choice, count, integer, reworded, without_warnings

#: The number γ as a share of the largest eigenvalue, and the least γ. Rows have about the norm 1.
_RIDGE, _LEAST_RIDGE = 0.1, 1e-9
#: The most rows from which Σ is estimated.
_ROWS = 1024

_RULES = {
    "n_neurons": count("n_neurons=500 is a good start"),
    "method": choice(
        "permutation",
        "asymptotic",
        remedy="method='permutation' has an exact level; 'asymptotic' draws no permutations",
    ),
    "n_permutations": integer(1, "n_permutations=999 gives p-values from 0.001 on", 2**31),
    "n_jobs": N_JOBS,
}


def check_options(owner: str, **options: Any) -> None:
    """Check the parameters that the tests share."""
    for name, value in options.items():
        check_value(owner, name, value, _RULES[name])


def check_neurons(owner: str, parameter: str, neurons: Any) -> Neurons:
    """Make the family of a parameter, and check that it needs no targets."""
    with reworded(lambda text: f"{owner}: {text.replace('neurons=', f'{parameter}=')}"):
        family = make_neurons(neurons)
    if is_chosen_by_targets(family):
        raise InvalidValueError(
            f"{owner}: {parameter}={neurons!r} needs targets, but a test has none",
            "a family that uses the rows alone, such as 'gaussian', or 'tabular' for data frames",
        )
    return family


def random_features(
    neurons: Any, n_neurons: int, seed: int, n_jobs: Any, scale: str = "kernel"
) -> RandomFeatures:
    """Return random features of rows, dense and in double precision, which are not fitted."""
    how: dict[str, Any] = {"scale": scale, "random_state": seed, "n_jobs": n_jobs}
    return RandomFeatures(neurons, n_neurons, sparse_output=False, dtype="float64", **how)


class FittedFeatures:
    """A family that is fitted to samples and makes their random features."""

    def __init__(
        self, owner: str, parameter: str, family: Neurons, n_neurons: int, seed: int, n_jobs: Any
    ) -> None:
        self._owner, self._seed, self._layout = owner, seed, family.layout
        self._in_words = partial(in_words, owner, neurons=parameter)
        self._model = random_features(family, n_neurons, seed, n_jobs)
        self._model._warn_below = 0.0  # the level needs no scale

    def table(self, name: str, X: Any) -> Any:
        """Convert a sample to a table, or to an array that the family reads."""
        return as_rows(self._owner, name, X, self._layout)

    def sample(self, name: str, X: Any) -> Sample:
        """Fit the family to a table, and return its features. Messages use the name."""
        with self._in_words(name):
            # In random order, so that no choice of a family depends on the order of the rows.
            order = generator(self._seed, Purpose.SHUFFLE).permutation(X.shape[0])
            rows = self._model.fit(select(X, order))._rows_to_predict(X)

        def features(where: slice) -> np.ndarray:
            Z: np.ndarray = to_host(self._model._of_rows(take(rows, where)))
            return Z

        return Sample(features, rows.shape[0], self._model._n_features_out)

    def pooled(self, X: Any, Y: Any) -> tuple[Sample, int]:
        """Return features of the rows of both samples, and the number of rows of the first."""
        X, Y = self.table("X", X), self.table("Y", Y)
        rows = pooled(self._owner, X, Y, self._layout)
        for name, some in (("X", X), ("Y", Y)):
            check_n_rows(self._owner, name, some.shape[0], 2)
        try:
            return self.sample("X and Y", rows), X.shape[0]
        except (TypeError, ValueError):
            for name, some in (("X", X), ("Y", Y)):
                self.sample(name, some)  # the error names the sample that causes it
            raise


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
        Z = self._of_family(picked(X, slice(_ROWS)))
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
    n_rows, n_columns = Z.shape
    with linear_algebra(1):  # so that the last digits do not depend on threads
        _, singular, V = scipy.linalg.svd(Z, full_matrices=False, check_finite=False)
        V, values = V.T, singular**2 / n_rows
        ridge = max(_RIDGE * values[0], _LEAST_RIDGE)
        W = np.eye(n_columns)
        if n_columns > FEW:
            white = values / (values + ridge)
            total, square = float(white.sum()), float(white @ white)
            W = sketched(white[: FEW // 2], V[:, : FEW // 2], total, square, rng)
        # Along V, and along all directions in which these rows do not vary.
        inside = V.T @ W
        return (V / np.sqrt(values + ridge)) @ inside + (W - V @ inside) / np.sqrt(ridge)

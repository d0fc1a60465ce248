r"""Random features in which the mean differs about as clearly in every direction.

The squared norm of a difference of means is dominated by the directions in which the features vary
most. Few changes are there: a change of a variance or a dependence moves the mean in directions in
which it is known more precisely. The features are therefore multiplied by :math:`(\Sigma + \gamma
I)^{-1/2}`, with their covariance matrix :math:`\Sigma`, as in the spectral regularised test [1]_.

References
----------
.. [1] O. Hagrass, B. K. Sriperumbudur and B. Li, "Spectral regularized kernel two-sample tests",
   Annals of Statistics 52, 2024, with Tikhonov regularisation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from trickless.arrays.places import to_host
from trickless.arrays.stated import Stated, check_array, check_is
from trickless.arrays.threads import linear_algebra
from trickless.errors import InvalidValueError
from trickless.functions.stream import Purpose, generator
from trickless.inference.sketch import FEW, n_principal, others
from trickless.learners.random_features import RandomFeatures
from trickless.rules import reworded, without_warnings
from trickless.tables.frames import picked

#: The number γ as a share of the largest eigenvalue, and the least γ. Rows have about the norm 1.
_RIDGE, _LEAST_RIDGE = 0.1, 1e-9
#: The most rows from which Σ is estimated.
_ROWS = 1024


class WhitenedFeatures(Stated):
    """Random features of a family that is fitted to rows, whitened by these rows.

    ``features`` are the random features, and ``whitener`` is the matrix (n_features, n_columns) by
    which they are multiplied. There are at most 128 columns.
    """

    def __init__(self, owner: str, features: RandomFeatures, X: Any, seed: int) -> None:
        self.owner, self.features = owner, features
        with self._named(), np.errstate(over="ignore"):
            features.fit(X)
        if features.scale_ == 0:
            raise self._too_large()
        Z = self._of_family(picked(X, slice(_ROWS)))
        self.whitener = _whitener(Z - Z.mean(axis=0), generator(seed, Purpose.SKETCH))

    def check_state(self) -> None:
        check_is("owner", self.owner, str)
        check_is("features", self.features, RandomFeatures)
        check_array("whitener", self.whitener, "f8", (self.features._n_features_out, None))

    def __call__(self, X: Any) -> np.ndarray:
        """Return features of rows, which do not depend on the other rows of the batch."""
        Z = self._of_family(X)
        out = np.empty((len(Z), self.whitener.shape[1]))
        with linear_algebra(1), np.errstate(over="ignore", invalid="ignore"):
            for row, values in zip(Z, out, strict=True):  # a product of more rows rounds otherwise
                np.dot(row, self.whitener, out=values)
        if not np.isfinite(out).all():
            raise self._too_large()
        return out

    def _of_family(self, X: Any) -> np.ndarray:
        with self._named(), without_warnings():  # new values are what a detector looks for
            Z: np.ndarray = to_host(self.features._of_rows(self.features._rows_to_predict(X)))
            return Z.astype(np.float64, copy=False)

    def _too_large(self) -> InvalidValueError:
        return InvalidValueError(
            f"{self.owner}: squares of the activations are too large for double precision",
            "scale X (StandardScaler), or choose bounded neurons, such as 'gaussian'",
        )

    def _named(self) -> Any:
        """Let errors and warnings name the owner."""
        return reworded(lambda text: text.replace("RandomFeatures", self.owner))


def _whitener(Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Compute (Σ + γ I)^(-1/2) from centred rows, times fewer directions if there are many."""
    n_rows, n_columns = Z.shape
    with linear_algebra(1):  # so that the last digits do not depend on threads
        _, singular, V = scipy.linalg.svd(Z, full_matrices=False, check_finite=False)
        V, values = V.T, singular**2 / n_rows
        ridge = max(_RIDGE * values[0], _LEAST_RIDGE)
        if n_columns <= FEW:
            directions = np.eye(n_columns)
        else:
            whitened = values / (values + ridge)
            k, _ = n_principal(whitened, whitened.sum(), (whitened**2).sum())
            directions = np.hstack([V[:, :k], others(V[:, :k], rng)])
        # Along V, and along all directions in which these rows do not vary.
        inside = V.T @ directions
        return (V / np.sqrt(values + ridge)) @ inside + (directions - V @ inside) / np.sqrt(ridge)

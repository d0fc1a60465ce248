"""Neurons for sets and counts, whose kernel is the Tanimoto (Jaccard, MinMax) similarity."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix, issparse

from trickless._arrays.places import namespace, to_device_of, to_host
from trickless._arrays.sparse import canonical
from trickless._arrays.threads import row_blocks
from trickless._errors import InvalidValueError
from trickless.neurons.base import Neurons, Weights

#: Pairs of a number of a row and a neuron that are held at a time.
_PAIRS = 2**20
#: Odd factors of a hash, from the SplitMix64 generator.
_FACTORS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


class Tanimoto(Neurons):
    r"""Neurons for sets and counts, with the Tanimoto kernel.

    .. math:: k(x, x') = \frac{\sum_j \min(x_j, x'_j)}{\sum_j \max(x_j, x'_j)}

    It is the usual similarity of chemical fingerprints. For rows of 0 and 1 it is the Jaccard
    similarity of sets, :math:`|x \cap x'| / |x \cup x'|`. A row of zeros is similar only to itself.

    A neuron samples a feature j and its level of each row by consistent weighted sampling [1]_, and
    is a random sign of both, as in [3]_. Two rows have the same sample with probability k(x, x'),
    so a linear model on such samples has this kernel [2]_. Feature i has the level

    .. math:: t_i = \lfloor \log x_i / r_i + \beta_i \rfloor, \qquad
        r_i, c_i \sim \mathrm{Gamma}(2, 1), \; \beta_i \sim U(0, 1)

    and the neuron takes the feature

    .. math:: j = \operatorname*{arg\,min}_i \; \big( \log c_i - r_i (t_i - \beta_i + 1) \big).

    Inputs must not be negative. Zeros take no time. The kernel does not depend on the unit of X,
    but features with large values count more.

    References
    ----------
    .. [1] S. Ioffe, "Improved consistent sampling, weighted minhash and L1 sketching", ICDM 2010.
    .. [2] P. Li, "0-bit consistent weighted sampling", KDD 2015 (linear models on such samples).
    .. [3] A. Tripp, S. Bacallado, S. Singh and J. M. Hernández-Lobato, "Tanimoto random features
       for scalable molecular machine learning", NeurIPS 2023 (random values of samples).

    Examples
    --------
    >>> import numpy as np
    >>> from trickless import KitchenSinksRegressor
    >>> X = np.random.default_rng(0).random((300, 20)) < 0.3  # fingerprints
    >>> y = X[:, 0] + X[:, 1] - X[:, 2].astype(float)
    >>> model = KitchenSinksRegressor("tanimoto", n_neurons=500, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True
    """

    accepts_sparse = True

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Self:
        super().fit(X, rng, sample_weight)
        _check_counts(X)
        return self

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        shape = n, self.n_features_in_
        r, c = rng.standard_gamma(2.0, shape), rng.standard_gamma(2.0, shape)
        return r, np.log(c), rng.random(shape), rng.integers(2**63, size=n)

    def activate(self, X: Any, weights: Weights) -> Any:
        rows = canonical(X if issparse(X) else csr_matrix(to_host(X)))
        _check_counts(rows)
        r, log_c, beta, seed = (np.ascontiguousarray(to_host(array).T) for array in weights)
        Z = np.empty((rows.shape[0], len(seed)), rows.dtype)
        n_pairs = max(1, rows.nnz * len(seed) // max(1, len(Z)))  # of a row
        for some in row_blocks(len(Z), max(1, _PAIRS // n_pairs)):
            Z[some] = _signs(rows[some], r, log_c, beta, seed)
        return Z if issparse(X) else to_device_of(X, Z)

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        least = np.array([np.minimum(x, Y).sum(axis=1) for x in X]).reshape(len(X), len(Y))
        most = X.sum(axis=1)[:, None] + Y.sum(axis=1) - least
        return np.where(most > 0, least / np.where(most > 0, most, 1), 1.0)


def _check_counts(X: Any) -> None:
    """Check that dense or sparse rows hold no negative values."""
    values = X.data if issparse(X) else X
    lowest = float(namespace(values).min(values)) if all(values.shape) else 0.0
    if lowest < 0:
        raise InvalidValueError(
            f"Tanimoto: X holds negative values, down to {lowest:g}, but its rows must be sets or "
            "counts, of at least 0",
            "do not centre X (StandardScaler does), or choose neurons for any inputs ('gaussian')",
        )


def _signs(
    rows: Any, r: np.ndarray, log_c: np.ndarray, beta: np.ndarray, seed: np.ndarray
) -> np.ndarray:
    """Compute random signs of the samples of CSR rows, for each neuron: (n_rows, n)."""
    feature, level = np.full((2, rows.shape[0], len(seed)), -1, dtype=np.int64)
    some = np.flatnonzero(np.diff(rows.indptr))  # rows that are not all zero
    if len(some):
        j, starts = rows.indices, rows.indptr[some]
        r, log_c, beta = r[j], log_c[j], beta[j]
        t = np.floor(np.log(rows.data)[:, None] / r + beta)
        value = log_c - r * (t - beta + 1)
        least = np.minimum.reduceat(value, starts, axis=0)
        lengths = np.diff(rows.indptr)[some]
        at = np.where(value == np.repeat(least, lengths, axis=0), np.arange(len(j))[:, None], -1)
        at = np.maximum.reduceat(at, starts, axis=0)
        feature[some], level[some] = j[at], np.take_along_axis(t, at, axis=0)
    bits = seed.astype(np.uint64)
    for number, factor in zip((feature, level, level), _FACTORS, strict=True):
        bits = (bits ^ number.astype(np.uint64)) * np.uint64(factor)
        bits = bits ^ (bits >> np.uint64(31))
    return 1.0 - 2.0 * (bits >> np.uint64(63))

"""Fourier neurons: random frequencies whose distribution is the spectrum of a kernel.

This module has what the families share: pairs of cosine and sine, length scales and the draw. The
families themselves are in ``isotropic`` (kernels of the Euclidean distance) and ``separable``
(products over features).
"""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import sklearn
from scipy.sparse import issparse
from scipy.spatial.distance import pdist

from trickless._arrays.distances import squared_distances
from trickless._arrays.places import place_of
from trickless._arrays.sparse import dense_if_small
from trickless._arrays.stated import Array
from trickless._arrays.weighted import median
from trickless._errors import InvalidValueError
from trickless._rules import choice, either, positive, positives
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.checks import check_one_each, warn_of_units
from trickless.neurons.inputs import Relevance
from trickless.neurons.points import SAMPLINGS
from trickless.neurons.projected import Projected, project
from trickless.neurons.samples import sample_rows

_MEDIAN_ROWS = 1000
#: Least number of rows for which length scales are compared. With fewer, "auto" is "median".
COMPARED_FROM = 20
#: Candidates for the length scale: in units of the median distance, or of the relevant scales.
_MULTIPLES = {
    "auto": (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0),
    "relevance": (1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0),
}
#: Heavy tails are cut off at this frequency, in units of the inverse length scale. Single precision
#: does not resolve the phase of larger frequencies, and they could overflow.
LARGEST_FREQUENCY = 1e6
#: The least and the largest median distance between rows: the inverse of the least leaves room for
#: the tails of frequencies, and multiples of the largest are finite.
_CLOSEST, _FARTHEST = 1e-305, 1e307


#: A number, or one for each feature.
OneOrEach = Annotated[np.ndarray, Array("f4 f8", "n_features_in_")] | float


class Fourier(Projected):
    r"""Pairs of cosine and sine at random frequencies, for shift-invariant kernels.

    By Bochner's theorem, a kernel :math:`k(x - x')` with :math:`k(0) = 1` is
    :math:`E_w \cos\langle w, x - x'\rangle`, which is the mean of products of the pairs
    :math:`(\cos\langle w, x\rangle, \sin\langle w, x\rangle)`. Each pair has norm 1 exactly.

    Parameters
    ----------
    length_scale : float, array or {"median", "auto", "relevance"}, default="auto"
        The length scale s, in the units of the inputs; see :class:`Gaussian`.
    sampling : {"iid", "orthogonal", "sobol", "structured"}, default="iid"
        How the frequencies of a draw depend on each other; see :class:`Gaussian`.

    Attributes
    ----------
    length_scale_ : float or array of shape (n_features,)
        The length scale in use.
    """

    width = 2
    #: Whether a frequency needs one more standard normal number than it has coordinates.
    mixed: ClassVar[bool] = False
    #: The distance that the kernel depends on, for the median rule.
    metric: ClassVar[str] = "euclidean"

    _rules = {
        "length_scale": either(
            positive("length_scale='median' sets it to the median distance of the training rows"),
            choice("median", *_MULTIPLES, remedy=""),
            positives(""),
        ),
        "sampling": choice(*SAMPLINGS, remedy="sampling='iid' draws frequencies independently"),
    }

    length_scale_: OneOrEach

    def __init__(self, length_scale: Any = "auto", *, sampling: str = "iid") -> None:
        self.length_scale = length_scale
        self.sampling = sampling

    @property
    def independent(self) -> bool:
        """Whether frequencies are drawn independently."""
        return self.sampling == "iid"

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Self:
        super().fit(X, rng, sample_weight)
        name, sampling = type(self).__name__, SAMPLINGS[self.sampling]
        most = None if sampling.most is None else sampling.most - self.mixed
        _check_feature_count(name, self.sampling, X.shape[1], sampling.least, most)
        self.length_scale_: float | np.ndarray
        if isinstance(self.length_scale, str):
            self.length_scale_ = self.median(*sample_rows(X, rng, _MEDIAN_ROWS, sample_weight))
            self._few = X.shape[0] < COMPARED_FROM
            if not _CLOSEST <= self.length_scale_ <= _FARTHEST:
                raise InvalidValueError(
                    f"{name}: the median distance between rows of X is {self.length_scale_:g}, "
                    f"but length scales are between {_CLOSEST:g} and {_FARTHEST:g}",
                    "scale X (StandardScaler)",
                )
        else:
            self.length_scale_ = one_or_each(name, "length_scale", self.length_scale, X.shape[1])
        return self

    def median(self, X: Any, weight: np.ndarray) -> float:
        """Compute the median distance between rows, and warn if it depends on few columns."""
        if not self._wants_relevance:
            warn_of_units(type(self).__name__, X, weight, self.inputs_)
        return median_distance(X, weight, self.metric)

    def _candidates(self) -> list[Neurons]:
        if not isinstance(self.length_scale, str) or self.length_scale not in _MULTIPLES:
            return [self]
        if self.length_scale == "auto" and self._few:
            return [self]
        multiples = _MULTIPLES[self.length_scale]
        return [self.with_length_scale(multiple * self.length_scale_) for multiple in multiples]

    @property
    def _wants_relevance(self) -> bool:
        return isinstance(self.length_scale, str) and self.length_scale == "relevance"

    def _by_relevance(self, relevance: Relevance) -> Fourier:
        # The scales found are for the Euclidean distance; convert them to this kernel's metric.
        scale, X, weight = relevance.length_scale, relevance.X, relevance.sample_weight
        some = slice(None, None, -(-X.shape[0] // _MEDIAN_ROWS))
        rows = X[some].multiply(1 / scale).tocsr() if issparse(X) else X[some] / scale
        weight = np.ones(rows.shape[0]) if weight is None else weight[some]
        own, euclidean = (
            median_distance(rows, weight, metric) for metric in (self.metric, "euclidean")
        )
        return self.with_length_scale(own / euclidean * scale)

    def with_length_scale(self, length_scale: float | np.ndarray) -> Fourier:
        """Copy the fitted family with another length scale."""
        family = copy(self)
        family.length_scale_ = length_scale
        return family

    @abstractmethod
    def frequencies(self, z: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Map standard normal numbers z to frequencies (n, n_features), in units of 1 / ``unit``.

        The numbers g have the shape (n, 1) if the family is ``mixed``, else (n, 0).
        """

    @property
    def unit(self) -> float | np.ndarray:
        """The unit of length whose inverse is the unit of ``frequencies``: the length scale."""
        return self.length_scale_

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        z, g = SAMPLINGS[self.sampling].draw(rng, n, self.n_features_in_, int(self.mixed))
        with np.errstate(over="ignore"):  # of heavy tails; infinite weights raise an error later
            return (self.frequencies(z, g) / self.unit,)

    def respond(self, t: Any) -> Any:
        return cosines_and_sines(t)

    def gradient(self, X: Any, weights: Weights, coef: Any) -> Any:
        (frequencies,) = weights
        t, found = project(X, frequencies), np.empty((*X.shape, coef.shape[2]), X.dtype)
        cos, sin = np.cos(t), np.sin(t)
        for output in range(coef.shape[2]):
            of_cos, of_sin = coef[:, :, output].T
            found[:, :, output] = (cos * of_sin - sin * of_cos) @ frequencies
        return found

    def _write(self, X: Any, weights: Weights, out: Any) -> None:
        write_cosines_and_sines(project(self.prepare(X), weights[0]), out)


def cosines_and_sines(t: Any) -> Any:
    """Compute cosines of a matrix, and its sines as further columns, without a copy."""
    n_rows, n = t.shape
    if isinstance(t, np.ndarray):
        both = np.empty((n_rows, 2 * n), t.dtype)
        np.cos(t, out=both[:, :n])
        np.sin(t, out=both[:, n:])
        return both
    place = place_of(t)
    if not hasattr(place.xp, "empty"):  # tensors of a graph are never written to
        return place.xp.concat((place.xp.cos(t), place.xp.sin(t)), axis=1)
    both = place.empty((n_rows, 2 * n), t.dtype)
    write_cosines_and_sines(t, both)
    return both


def write_cosines_and_sines(t: Any, out: Any) -> None:
    """Write cosines of a matrix of a device to the first half of ``out``, and sines behind them."""
    place, n = place_of(t), t.shape[1]
    place.apply(place.xp.cos, t, out[:, :n])
    place.apply(place.xp.sin, t, out[:, n:])


def median_distance(X: Any, weight: np.ndarray, metric: str) -> float:
    """Return the median distance of distinct rows, in which weights count; 1 if there are none."""
    X = dense_if_small(X) if issparse(X) else X
    X = X.astype(np.float64) if issparse(X) else np.asarray(X, dtype=np.float64)
    # In units of this power of 2, no square overflows and some do not vanish.
    unit = float(np.ldexp(0.5, np.frexp(abs(X).max())[1])) or 1.0
    if issparse(X):
        X.data /= unit  # not a product with the inverse, which may be infinite
        if metric == "euclidean":
            distance = np.sqrt(squared_distances(X, X))
        else:
            distance = sklearn.metrics.pairwise_distances(X, metric=metric)
        distance = distance[np.triu_indices(X.shape[0], k=1)]
    else:
        distance = pdist(X / unit, metric)
    distinct = distance > 0
    if not distinct.any():
        return 1.0
    if (weight == weight[0]).all():
        return unit * median(distance[distinct])
    i, j = np.triu_indices(X.shape[0], k=1)
    return unit * median(distance[distinct], (weight[i] * weight[j])[distinct])


def one_or_each(owner: str, name: str, value: Any, n_features: int) -> float | np.ndarray:
    """Return a parameter as a number, or as an array with a number for each feature."""
    if not np.ndim(value):
        return float(value)
    check_one_each(owner, name, value, n_features)
    return np.array(value, dtype=np.float64)


def _check_feature_count(
    owner: str, sampling: str, n_features: int, least: int, most: int | None
) -> None:
    if n_features < least:
        raise InvalidValueError(
            f"{owner}: sampling={sampling!r} needs {least:,} features or more, because it is "
            f"biased with fewer, but X has {n_features:,}",
            "sampling='orthogonal'",
        )
    if most is not None and n_features > most:
        raise InvalidValueError(
            f"{owner}: sampling={sampling!r} works for at most {most:,} features, but X has "
            f"{n_features:,}",
            "sampling='iid'",
        )

"""Convolutions: random kernels along time series, pooled."""

from __future__ import annotations

from math import prod, sqrt
from typing import Annotated, Any, Self

import numpy as np

from trickless._arrays import series_loops
from trickless._arrays.places import HOST, place_of, to_host
from trickless._arrays.series import HEAVY, LEAST, TAPS, View, taps, views
from trickless._arrays.stated import Array
from trickless._arrays.weighted import at_shares
from trickless._errors import InvalidValueError
from trickless._rules import anything, either, integer, is_count, is_none
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.layouts import Layout, Series
from trickless.neurons.samples import sample_rows
from trickless.neurons.usual_series import usual

#: The most training rows, and values in all, from which thresholds are drawn.
_ROWS, _VALUES = 1024, 2**18
#: Bytes of series at a time, so that they stay in the processor's cache; and the most rows.
_BYTES, _MOST_ROWS = 2**19, 64
#: The kind of neurons that see the level of a series. The others see it centred, or differences.
_OF_LEVELS = 2
#: The most channels that a neuron sums.
_MOST_CHANNELS = 9
#: The largest norm of shares of positions, relative to that of shares of responses.
_OF_POSITIONS = 2.0


def _is_shape(value: Any) -> bool:
    return is_count(value) or (
        isinstance(value, tuple | list) and len(value) == 2 and all(map(is_count, value))
    )


class Convolutions(Neurons):
    r"""Random convolutions of time series: competing kernels along a series, pooled over time.

    A neuron is a group of G kernels with a common dilation d. A kernel has nine taps, of which
    three, drawn at random, weigh 2 and six weigh -1, or all of them with the opposite sign [1]_.
    Its response at the time t is

    .. math:: z_k(t) = \sum_{i=-4}^{4} w_{ki} \cdot x_{t + d i}.

    Each neuron returns three kinds of values for each of its kernels. The first two are the
    kernel's shares in the largest and in the smallest responses of the group, as in Hydra [2]_:

    .. math:: \Big(\frac{\sum_t z_k(t) \cdot 1[z_k(t) = \max_l z_l(t) > 0]}
        {\sum_t \max_l \, \max(z_l(t), 0)}\Big)^{1/2}

    .. math:: \Big(\frac{\sum_t -z_k(t) \cdot 1[z_k(t) = \min_l z_l(t) < 0]}
        {\sum_t \max_l \, \max(-z_l(t), 0)}\Big)^{1/2}

    The third has the share of the times at which the kernel responds above a threshold, as in
    MiniRocket [1]_:

    .. math:: 2 \Big(\frac{1}{G T} \sum_t 1[z_k(t) > \theta_k]\Big)^{1/2}

    All values are divided by :math:`\sqrt 6`, so that their norm is at most 1.

    Half of the neurons see the first differences of the series instead of the series itself [3]_.
    Beyond the ends of the series there are zeros. The logarithm of the dilation is uniform, and the
    longest kernel is as long as the series. The threshold is the response of the same kernel at a
    random time of a random training series.

    Each channel is centred in each series, and divided by its standard deviation within the
    training series, so its amplitude matters. A neuron sees the sum of up to nine random channels,
    with random signs.

    A quarter of the neurons also see the level of a series: how far its mean is from the mean over
    the training rows, at most two standard deviations. Kernels sum to zero, so they respond to the
    level where they reach beyond the ends of the series.

    Parameters
    ----------
    shape : int, tuple of int or None, default=None
        Length of the series, or numbers of channels and of times, as (channels, length). None
        learns it from X, which may be an array of shape (n_rows, channels, length), or a list of
        series of unequal length. Flat rows then have one channel. With a shape, flat rows have one
        channel after the other.
    kernels : int, default=8
        Number G of kernels of a neuron. Fewer kernels with more neurons are a little less accurate
        for the same number of columns.

    Attributes
    ----------
    width : int
        Number of values of a neuron, ``3 * kernels``.
    shape_ : tuple of int
        Numbers of channels and of times, given or learned.
    scale_ : array of shape (2, n_channels)
        Standard deviations of the channels within series, and of their differences. Series with a
        thousand times the usual amplitude do not count.
    level_ : array of shape (2, n_channels)
        Means and standard deviations of the channels over all values of the training rows.
    rows_ : array of shape (n_rows, n_features)
        Up to 1,024 training rows and 262,144 values, from which thresholds are drawn.

    Notes
    -----
    **Levels** matter for series whose mean tells something about the target, such as temperatures
    of machines. Large levels that mean nothing, such as offsets of sensors, cost a little accuracy,
    and so do levels that drift. Subtract the mean of each series then. Series that were normalised
    one by one have the level 0.

    **Missing values** are NaN. Times without a value do not count, and a gap within a series is
    interpolated, so that kernels reach across it. A channel without any value counts as zero.

    **Unequal lengths.** Learners accept a list of arrays of shape (length,) or (channels, length).
    Short series end with NaN, up to the longest series of the first batch, or up to the length in
    ``shape``. Series to predict may be longer, because kernels are pooled over time.

    **The order of the axes** is (channels, length), as in aeon and sktime. If there are more
    channels than times, the shape must be given.

    The time of an activation grows linearly with the length of the series. numba compiles
    the loops, which takes some seconds at the first use on a machine.

    The kernel has no closed form.

    References
    ----------
    .. [1] A. Dempster, D. F. Schmidt and G. I. Webb, "MiniRocket: a very fast (almost)
       deterministic transform for time series classification", KDD 2021.
    .. [2] A. Dempster, D. F. Schmidt and G. I. Webb, "Hydra: competing convolutional kernels for
       fast and accurate time series classification", Data Mining and Knowledge Discovery 37, 2023.
    .. [3] C. W. Tan, A. Dempster, C. Bergmeir and G. I. Webb, "MultiRocket: multiple pooling
       operators and transformations for fast and effective time series classification", Data
       Mining and Knowledge Discovery 36, 2022.

    Examples
    --------
    Series with a short wave at a random time, or without it:

    >>> import numpy as np
    >>> from trickless import KitchenSinksClassifier
    >>> from trickless.neurons import Convolutions
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((200, 80)), np.arange(200) % 2
    >>> for i in np.flatnonzero(y):
    ...     start = rng.integers(60)
    ...     X[i, start : start + 20] += 2 * np.sin(np.arange(20))
    >>> model = KitchenSinksClassifier(Convolutions(), n_neurons=100, random_state=0)
    >>> bool(model.fit(X[:100], y[:100]).score(X[100:], y[100:]) > 0.9)
    True
    """

    accepts_tables = True
    _skips_missing = True

    _rules = {
        "shape": either(
            anything(
                "a length or (channels, length), integers of at least 1",
                "shape=(3, 100) for flat rows with 100 values of each of three channels",
                _is_shape,
            ),
            anything("None", "", is_none),
        ),
        "kernels": integer(2, "kernels=8 compete by default", len(HEAVY)),
    }

    scale_: Annotated[np.ndarray, Array("f8", 2, "_n_channels")]
    level_: Annotated[np.ndarray, Array("f8", 2, "_n_channels")] | None
    rows_: Annotated[np.ndarray, Array("f8", "n_rows", "n_features_in_", some=True)]
    _weight: Annotated[np.ndarray, Array("f8", "n_rows", least=0)]

    def __init__(self, shape: int | tuple[int, int] | None = None, kernels: int = 8) -> None:
        self.shape = shape
        self.kernels = kernels

    @property
    def width(self) -> int:  # type: ignore[override]
        """Number of values of one neuron: three for each convolution."""
        return 3 * self.kernels

    @property
    def _layout(self) -> Layout:
        shape: Any = None if self.inputs_ is None else self.inputs_.shape
        if _is_shape(self.shape):
            shape = self.shape if isinstance(self.shape, tuple | list) else (1, self.shape)
        return Series(shape and tuple(map(int, shape)))

    @property
    def shape_(self) -> tuple[int, ...]:
        """Numbers of channels and of times, given or learned."""
        return self._layout.shape or (1, self.n_features_in_)

    def _check_length(self, X: Any) -> None:
        if X.shape[1] % self._n_channels:
            super()._check_length(X)

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Self:
        super().fit(X, rng, sample_weight)
        self._check_shape()
        if self._known_inputs(X).n_categories.any():
            raise InvalidValueError(
                f"{type(self).__name__}: some columns of X hold categories, but a series has "
                "numbers only",
                "pass the values of the series, or put this family on some columns with On",
            )
        most = min(_ROWS, max(1, _VALUES // X.shape[1]))
        rows, weight = sample_rows(X, rng, most, sample_weight)
        rows = np.asarray(rows, dtype=np.float64)
        if np.isnan(rows).all():
            raise InvalidValueError(
                f"{type(self).__name__}: all values of the training series are missing",
                "pass series with some values",
            )
        self.scale_, self.level_ = usual(rows, self._n_channels, weight)
        self.rows_, self._weight = rows, weight
        return self

    def check_state(self) -> None:
        super().check_state()
        self._check_shape()
        if not (self.scale_ > 0).all():
            raise ValueError("scale_: a scale is not positive")
        if self.level_ is not None and not (self.level_[1] > 0).all():
            raise ValueError("level_: a standard deviation is not positive")

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        n_kernels, n_channels = self.kernels, self._n_channels
        few = min(n_channels, _MOST_CHANNELS)
        sizes = (1, 1, 1, n_channels, n_channels, len(HEAVY), *[n_kernels] * 3)
        # One row of numbers for each neuron, so that neuron j does not depend on how many there are
        parts = np.split(rng.random((n, sum(sizes))), np.cumsum(sizes)[:-1], axis=1)
        kind, size, step, order, side, which, sign, row, time = parts
        of_differences = ((kind[:, 0] < 0.5) & (self._length > TAPS)).astype(np.int8)
        of_differences[kind[:, 0] >= 0.75] = _OF_LEVELS
        longest = np.log2((self._length - 1.0 - (of_differences == 1)) / (TAPS - 1))
        dilation = (2 ** (step[:, 0] * np.maximum(longest, 0))).astype(np.int64)
        n_seen = (2 ** (size * np.log2(few + 1))).astype(int)
        seen = np.argsort(np.argsort(order, axis=1), axis=1) < n_seen
        mix = np.where(seen, np.where(side < 0.5, -1, 1), 0).astype(np.int8)
        numbers = np.argsort(which, axis=1)[:, :n_kernels]
        signs = np.where(sign < 0.5, -1, 1).astype(np.int8)
        drawn = of_differences, dilation, mix, numbers.astype(np.int64), signs
        thresholds = self._responses(*drawn, at_shares(self._weight, row), time)
        thresholds += LEAST * (1 + np.abs(thresholds))  # so that ties are decided alike
        return *drawn, thresholds[:, :, None]

    def _responses(
        self,
        of_differences: np.ndarray,
        dilation: np.ndarray,
        mix: np.ndarray,
        numbers: np.ndarray,
        signs: np.ndarray,
        row: np.ndarray,
        time: np.ndarray,
    ) -> np.ndarray:
        """Compute the response of each kernel at a time of a training row, (n, n_kernels)."""
        both, _ = views(self.rows_, self._n_channels, self.scale_, self.level_)
        of_differences, mix = self._seen(of_differences, mix)
        responses = np.empty(numbers.shape)
        for kind, view in enumerate(both):
            some = np.flatnonzero(of_differences == kind)
            times = _Times(view, len(self.rows_)).at(row[some], time[some])
            at = taps(times, dilation[some, None], view.values.shape[1])
            reached = np.zeros(at.shape)
            for c in np.flatnonzero(mix[some].any(axis=0)):
                seen = np.flatnonzero(mix[some, c])
                along = view.values[c][at[:, seen], row[some[seen]]]
                reached[:, seen] += mix[some[seen], c, None] * along
            heavy = np.take_along_axis(reached.transpose(1, 2, 0), HEAVY[numbers[some]], axis=2)
            total = 3 * heavy.sum(axis=2) - reached.sum(axis=0)
            responses[some] = signs[some] * total
        return responses

    def activate(self, X: Any, weights: Weights) -> Any:
        place = place_of(X)
        rows, weights = np.ascontiguousarray(to_host(X)), tuple(map(to_host, weights))
        n, size = len(weights[0]), rows.dtype.itemsize
        Z = np.empty((len(rows), self.width * n), rows.dtype)
        step = min(max(_BYTES // (size * max(1, rows.shape[1])), 1), _MOST_ROWS)
        for start in range(0, len(rows), step):
            some = slice(start, start + step)
            Z[some] = self._pooled(rows[some], weights)
        return Z if place is HOST else place.put(Z)

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        both, _ = views(X, self._n_channels, self.scale_, self.level_)
        of_differences, dilation, mix, numbers, signs, thresholds = weights
        of_differences, mix = self._seen(of_differences, mix)
        n, kernels = len(X), (of_differences, dilation, mix, HEAVY[numbers], signs, thresholds)
        sums = series_loops.respond_pairs(both, *kernels)
        counts = np.stack([view.there.sum(axis=0) for view in both])
        values = self._values(sums, counts[of_differences, np.arange(n), None])
        return values[..., 0].swapaxes(1, 2).reshape(n, self.width)

    def _pooled(self, X: np.ndarray, weights: Weights) -> np.ndarray:
        of_differences, dilation, mix, numbers, signs, thresholds = weights
        both, _ = views(X, self._n_channels, self.scale_, self.level_)
        of_differences, mix = self._seen(of_differences, mix)
        n, heavy = len(numbers), HEAVY[numbers]
        sums = series_loops.respond(both, of_differences, dilation, mix, heavy, signs, thresholds)
        counts = np.stack([view.there.sum(axis=0) for view in both])
        values = self._values(sums, counts[of_differences])
        return values.transpose(3, 2, 1, 0).reshape(len(X), self.width * n)

    def _seen(self, kind: np.ndarray, mix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which neurons see differences, and the factors of channels and their levels."""
        levels = np.where(kind[:, None] == _OF_LEVELS, mix, np.int8(0))
        kind = np.where(kind == _OF_LEVELS, np.int8(0), kind)
        return kind, np.concatenate([mix, levels], axis=1)

    def _values(self, sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Make values of neurons of sums, (n, n_kernels, 3, n_rows), and numbers of times."""
        totals = sums[:, :, :2].sum(axis=1, keepdims=True)
        values = np.zeros_like(sums)
        np.divide(sums[:, :, :2], totals, out=values[:, :, :2], where=totals > 0)
        times = np.maximum(counts, 1)[:, None, None] * (self.kernels / _OF_POSITIONS**2)
        values[:, :, 2:] = sums[:, :, 2:] / times
        np.sqrt(values, out=values)
        values /= sqrt(2 + _OF_POSITIONS**2)
        return values

    @property
    def _n_channels(self) -> int:
        return self.shape_[0]

    @property
    def _length(self) -> int:
        return self.n_features_in_ // self._n_channels

    def _check_shape(self) -> None:
        """Check that series fill the columns of X, and are as long as a kernel."""
        name, n = type(self).__name__, self.n_features_in_
        if (size := prod(self.shape_)) != n:
            raise InvalidValueError(
                f"{name}: shape={self.shape!r} makes series of {size} values, but X has {n} "
                "columns",
                "the length, or (channels, length), of the series whose flat rows X holds",
            )
        if self._length < TAPS:
            raise InvalidValueError(
                f"{name}: series have {self._length} times, but a kernel has {TAPS} taps",
                "longer series, or flat rows, X.reshape(len(X), -1), and another family, such as "
                "'gaussian'",
            )


class _Times:
    """The positions of series at which there are values."""

    def __init__(self, view: View, n_rows: int) -> None:
        self._n_positions = len(view.there)
        there = view.there[:, :n_rows].T > 0
        self._flat = np.append(np.flatnonzero(there), 0)
        self._counts = there.sum(axis=1)
        self._first = np.cumsum(self._counts) - self._counts

    def at(self, row: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Find the position at a share, below 1, of the positions of some rows."""
        number = self._first[row] + (time * self._counts[row]).astype(int)
        return self._flat[number] % self._n_positions

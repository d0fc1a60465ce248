"""Patches: random convolutions of images, rectified and pooled."""

from __future__ import annotations

from collections.abc import Callable
from math import prod, sqrt
from typing import Annotated, Any, Self, TypeGuard

import numpy as np
from scipy import linalg

from trickless._arrays.places import namespace, place_of
from trickless._arrays.stated import Length, check_array, check_count
from trickless._arrays.threads import linear_algebra
from trickless._arrays.weighted import at_shares
from trickless._errors import InvalidValueError
from trickless._rules import AUTO, NONE, anything, choice, count, either, is_count, non_negative
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.inputs import Inputs
from trickless.neurons.layouts import Images, Layout, square
from trickless.neurons.samples import sample_rows

#: A standard deviation within a patch that counts as low contrast, for values in [0, 1].
_FLOOR = 0.01
#: What is added to the covariance of patches, relative to its mean eigenvalue, and at least.
_WHITENED, _LEAST = 0.1, 1e-12
#: Numbers of training images, and of their patches, from which filters are taken.
_POOL_IMAGES, _POOL_PATCHES = 1024, 4096
#: The most bytes of patches and responses at a time, on the host (within its cache) and on a
#: device.
_BYTES, _BYTES_ON_DEVICE = 3 * 2**20, 2**29

#: The largest side of a patch by default.
_SIDE = 7


def _is_shape(value: Any) -> TypeGuard[tuple[int, ...]]:
    return isinstance(value, tuple | list) and len(value) in (2, 3) and all(map(is_count, value))


class Patches(Neurons):
    r"""Random convolutions of images [2]_: a filter on all patches, rectified and pooled.

    .. math:: \psi_{uv}(x; f, \theta) = \frac{1}{g} \Big(\sum_{a} m_{uv}(a) \cdot
        \min(\max(\langle f, p_a(x) \rangle - \theta, 0), 1)\Big)^{1/2}, \qquad u, v = 1 \dots g

    Here :math:`p_a(x)` is the contrast-normalised patch at position a: its mean is subtracted, and
    it is divided by its norm. The responses are pooled over a grid of cells. The pooling weights
    :math:`m_{uv}` of a cell sum to 1, and fall off linearly from its centre to the centres of its
    neighbours. Because cells overlap, a pattern that moves to the next cell leaves the first one
    gradually. The square root gives a few strong responses less weight, as in [3]_.

    A neuron returns :math:`g^2` values with a norm of at most 1. For :class:`Layers`, they are an
    image of g × g pixels, in which each neuron is a channel.

    Parameters
    ----------
    shape : tuple of int or None, default=None
        Height and width of the images, or height, width and channels. None learns it from X, which
        may be an array of shape (n_rows, height, width), or (n_rows, height, width, channels), or
        (n_rows, channels, height, width). An axis of at most four entries holds the channels. If
        that is not clear, the shape must be given. A flat row holds an image line by line, with
        the channels of a pixel side by side. Without a shape, flat rows are square images of one
        channel.
    patch : int or "auto", default="auto"
        Side length of the square patches, in pixels. "auto" is a third of the shorter side of
        the images, rounded up, from 2 to 7.
    pool : int, default=3
        Number g of cells along each side, at most the number of positions of a patch along it. With
        fewer cells, the same number of columns holds more filters.
    filters : {"normal", "data", "whitened"}, default="normal"
        How filters f are drawn.

        - "normal" draws them uniformly from the sphere.
        - "data" draws contrast-normalised patches from at most 1,024 training images [1]_, in
          proportion to their weights, with length 1. On MNIST, "normal" has fewer errors with
          patches of 7 × 7 pixels, and "data" with patches of 11 × 11 or more, since few filters
          from the sphere match such large patches.
        - "whitened" draws such a patch p, and its filter is
          :math:`\Sigma^{-1} p \,/\, \langle p, \Sigma^{-1} p \rangle`. It responds with 1 to
          the patch, and as little as possible to others. This is a patch of whitened images, where
          neighbouring pixels are uncorrelated [4]_. :math:`\Sigma` is the covariance of 4,096
          patches, plus a tenth of its mean eigenvalue on the diagonal.
    threshold : float, default=0.3
        Largest threshold. Thresholds are drawn uniformly between 0 and this number. The largest
        possible response is 1.

    Attributes
    ----------
    width : int
        Number of values of a neuron, ``pool**2``.
    shape_ : tuple of int
        Height and width of the images, and their channels if there are several.
    filters_pool_ : array of shape (n_patches, patch * patch * channels)
        With other filters than "normal", those to draw from. There are at most 4,096 in double
        precision, which take 1.6 MB for patches of 7 × 7 pixels.

    Notes
    -----
    Brightness and contrast of an image do not matter, because its least and largest values are
    mapped to 0 and 1. The norm of each patch is increased as if its standard deviation were 0.01
    larger, so a nearly constant patch responds little, and a constant patch not at all. Do not
    standardise the pixels one by one, because then they are no longer on one scale.

    The kernel has no closed form.

    References
    ----------
    .. [1] A. Coates and A. Y. Ng, "The importance of encoding versus training with sparse coding
       and vector quantization", ICML 2011: filters that are patches of the data.
    .. [2] A. M. Saxe et al., "On random weights and unsupervised feature learning", ICML 2011.
    .. [3] R. Arandjelović and A. Zisserman, "Three things everyone should know to improve object
       retrieval", CVPR 2012.
    .. [4] A. Coates, H. Lee and A. Y. Ng, "An analysis of single-layer networks in unsupervised
       feature learning", AISTATS 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless import KitchenSinksClassifier
    >>> from trickless.neurons import Patches
    >>> digits = load_digits()
    >>> X, y = digits.images, digits.target
    >>> X.shape
    (1797, 8, 8)
    >>> model = KitchenSinksClassifier(Patches(patch=4), n_neurons=50, random_state=0)
    >>> bool(model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.95)
    True
    """

    _rules = {
        "shape": either(
            anything(
                "(height, width) or (height, width, channels), integers of at least 1",
                "shape=(28, 28) for flat images of 784 pixels",
                _is_shape,
            ),
            NONE,
        ),
        "patch": either(
            count("patch=7 suits images of 28 by 28 pixels"),
            AUTO,
        ),
        "pool": count("pool=3 gives three by three cells"),
        "filters": choice(
            "normal", "data", "whitened", remedy="'normal' needs nothing from the data"
        ),
        "threshold": non_negative("threshold=0.3 is the default"),
    }

    _cells: Annotated[list[np.ndarray], Length(2)]

    def __init__(
        self,
        shape: tuple[int, ...] | None = None,
        patch: int | str = "auto",
        pool: int = 3,
        filters: str = "normal",
        threshold: float = 0.3,
    ) -> None:
        self.shape = shape
        self.patch = patch
        self.pool = pool
        self.filters = filters
        self.threshold = threshold

    @property
    def width(self) -> int:  # type: ignore[override]
        """Number of values of one neuron: one for each cell of the pooling grid."""
        return self.pool**2

    @property
    def _layout(self) -> Layout:
        learned = None if self.inputs_ is None else self.inputs_.shape
        return Images(tuple(map(int, self.shape)) if _is_shape(self.shape) else learned)

    @property
    def shape_(self) -> tuple[int, ...]:
        """Height and width of the images, and their channels if there are several."""
        shape = self._layout.shape or square(self.n_features_in_)
        if shape is None:
            raise InvalidValueError(
                f"{type(self).__name__}: shape=None, but {self.n_features_in_} columns are no "
                "square image",
                "X of the shape (n_rows, height, width) or (n_rows, height, width, channels), or "
                "shape=(height, width) for flat rows",
            )
        return shape

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Self:
        super().fit(X, rng, sample_weight)
        self._check_sides()
        self._cells = [_overlapping(n, self.pool) for n in self._positions]
        if self.filters != "normal":
            rows, weight = sample_rows(X, rng, _POOL_IMAGES, sample_weight)
            rows = np.asarray(rows, dtype=np.float64)
            self.filters_pool_ = self._some_patches(rows, weight, rng)
        if self.filters == "whitened":
            self.filters_pool_ = _whitened(self.filters_pool_)
        return self

    def check_state(self) -> None:
        super().check_state()
        self._check_sides()
        for cells, n in zip(self._cells, self._positions, strict=True):
            check_array("_cells", cells, "f8", (self.pool, n))
        if hasattr(self, "filters_pool_"):
            check_array("filters_pool_", self.filters_pool_, "f8", (None, self._size))
            check_count("number of filters_pool_", len(self.filters_pool_), 1)

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        if self.filters != "normal":
            filters = self.filters_pool_[rng.integers(len(self.filters_pool_), size=n)]
        else:
            filters = rng.standard_normal((n, self._size))
            filters /= np.linalg.norm(filters, axis=1, keepdims=True)
        return filters, self.threshold * rng.random(n)

    def activate(self, X: Any, weights: Weights) -> Any:
        xp, affine = namespace(X), _affine(X, weights)

        def respond(patches: Any, rows: slice) -> Any:
            return xp.matmul(xp.permute_dims(patches, (1, 2, 0)), affine)

        return self._in_parts(X, affine.shape[1], respond)

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        xp, affine = namespace(X), _affine(X, weights)

        def respond(patches: Any, rows: slice) -> Any:
            return xp.sum(patches * affine[:, rows, None], axis=0)

        return self._in_parts(X, 1, respond)

    def _in_parts(self, X: Any, n: int, respond: Callable[[Any, slice], Any]) -> Any:
        """Compute pooled responses of n filters, a few rows at a time."""
        xp = namespace(X)
        numbers = prod(self._positions) * (self._size + 1 + n)
        most = place_of(X).sized(_BYTES, _BYTES_ON_DEVICE)
        step = max(1, 8 * most // (xp.finfo(X.dtype).bits * numbers))
        parts = []
        for start in range(0, max(X.shape[0], 1), step):
            rows = slice(start, min(X.shape[0], start + step))
            patches = self._patches(X[rows, :])
            parts.append(self._pooled(respond(patches, rows), patches.shape[1], n))
        return xp.concat(parts, axis=0)

    def _patches(self, X: Any) -> Any:
        """Make normalised patches and a constant 1: shape (size + 1, n_rows, positions)."""
        xp, p = namespace(X), self._side
        down, across = self._positions
        images = xp.reshape(_unit_range(X), (X.shape[0], *self.shape_[:2], self._channels))
        images = xp.permute_dims(images, (3, 0, 1, 2))
        lines = xp.concat([images[..., x : x + across] for x in range(p)], axis=0)
        patches = xp.concat([lines[:, :, y : y + down, :] for y in range(p)], axis=0)
        patches -= xp.mean(patches, axis=0)
        patches /= xp.linalg.vector_norm(patches, axis=0) + _FLOOR * sqrt(self._size)
        both = xp.concat([patches, xp.ones_like(patches[:1, ...])], axis=0)
        return xp.reshape(both, (self._size + 1, X.shape[0], down * across))

    def _pooled(self, t: Any, n_rows: int, n: int) -> Any:
        """Pool responses of n filters, and take roots: shape (n_rows, width * n)."""
        xp, g = namespace(t), self.pool
        lines, columns = (xp.asarray(m, dtype=t.dtype, device=t.device) for m in self._cells)
        down, across = self._positions
        t = xp.clip(t, 0, 1)
        t = xp.matmul(lines, xp.reshape(t, (n_rows, down, across * n)))
        t = xp.matmul(columns, xp.reshape(t, (n_rows * g, across, n)))
        return xp.reshape(xp.sqrt(t), (n_rows, g * g * n))

    def _inputs_of_values(self, n: int) -> Inputs:
        """Return an image with a pixel for each cell, and a channel for each neuron."""
        kinds = np.zeros(self.width * n, dtype=np.intp)
        return Inputs(kinds, shape=(self.pool, self.pool, n))

    @property
    def _channels(self) -> int:
        return prod(self.shape_[2:])

    @property
    def _positions(self) -> tuple[int, int]:
        """Numbers of positions of a patch, down and across."""
        return self.shape_[0] - self._side + 1, self.shape_[1] - self._side + 1

    @property
    def _side(self) -> int:
        """Side length of a patch."""
        if not isinstance(self.patch, str):
            return self.patch
        return min(_SIDE, max(2, -(-min(self.shape_[:2]) // 3)))

    @property
    def _size(self) -> int:
        return self._side**2 * self._channels

    def _some_patches(
        self, X: np.ndarray, weight: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Draw contrast-normalised patches at random positions of random rows, with length 1.

        A row of weight 2 counts as two rows. Patches with low contrast are left out, unless there
        are no others.
        """
        row = at_shares(weight, rng.random(_POOL_PATCHES))
        position = rng.integers(prod(self._positions), size=_POOL_PATCHES)
        kept = np.empty((_POOL_PATCHES, self._size))
        for i in np.unique(row):
            here = row == i
            kept[here] = self._patches(X[i : i + 1])[:-1, 0, position[here]].T
        norm = np.linalg.norm(kept, axis=1, keepdims=True)
        visible = norm[:, 0] > 0.5
        kept = kept / np.where(norm > 0, norm, 1)
        return kept[visible] if visible.any() else kept

    def _check_sides(self) -> None:
        """Check that images fill the columns of X, and have room for patches and cells."""
        name, n = type(self).__name__, self.n_features_in_
        if self.shape is not None and prod(self.shape) != n:
            raise InvalidValueError(
                f"{name}: shape={self.shape!r} makes images of {prod(self.shape)} values, but X "
                f"has {n} columns",
                "give the (height, width) or (height, width, channels) "
                "of the images whose flat rows X holds",
            )
        if min(self._positions) < 1 or self._size < 2:
            raise InvalidValueError(
                f"{name}: patch={self._side!r} does not suit shape={self.shape_!r}: a patch must "
                "fit into the image and hold at least two values",
                "a patch of at least 2 and at most the shorter side"
                if min(self.shape_[:2]) > 1
                else f"Convolutions({n}) for series, since patches are square",
            )
        if self.pool > min(self._positions):
            raise InvalidValueError(
                f"{name}: pool={self.pool!r} is more than the {min(self._positions)} positions of "
                f"patch={self._side!r} along a side of shape={self.shape_!r}",
                "a smaller pool or patch",
            )


def _whitened(patches: np.ndarray) -> np.ndarray:
    """Make the filters that respond with 1 to a patch, and as little as possible to the others."""
    with linear_algebra(1):  # the same bits for any number of threads
        covariance = np.cov(patches.T, bias=True)
        covariance += (_WHITENED * np.trace(covariance) / len(covariance) + _LEAST) * np.eye(
            len(covariance)
        )
        filters = linalg.solve(covariance, patches.T, assume_a="pos").T
    own = np.sum(filters * patches, axis=1, keepdims=True)
    return filters / np.where(own > 0, own, 1)


def _affine(X: Any, weights: Weights) -> Any:
    """Put filters and thresholds into one matrix, for patches with a constant 1."""
    filters, thresholds = weights
    return namespace(X).concat((filters, -thresholds[:, None]), axis=1).T


def _unit_range(X: Any) -> Any:
    """Map the least and largest value of each row to 0 and 1, and constant rows to 0."""
    xp = namespace(X)
    largest = xp.max(xp.abs(X), axis=1, keepdims=True)
    X = X / xp.where(largest > 0, largest, xp.ones_like(largest))  # so no difference overflows
    X = X - xp.min(X, axis=1, keepdims=True)
    largest = xp.max(X, axis=1, keepdims=True)
    return X / xp.where(largest > 0, largest, xp.ones_like(largest))


def _overlapping(n: int, g: int) -> np.ndarray:
    """Compute the pooling weights of g overlapping cells along n positions, shape (g, n).

    They fall linearly from the centre of a cell to the centres of its neighbours, and sum to 1/g.
    """
    centres = (np.arange(g) + 0.5) * n / g
    weights = np.maximum(0, 1 - np.abs(np.arange(n) + 0.5 - centres[:, None]) * g / n)
    return weights / (weights.sum(axis=1, keepdims=True) * g)

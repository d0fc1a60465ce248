"""Arrays of images and series as flat rows: how their axes are read, and what shape they have."""

from __future__ import annotations

from copy import copy
from itertools import permutations
from math import isqrt, prod
from typing import Any, Self

import numpy as np

from trickless._arrays.places import namespace
from trickless._arrays.stated import Stated, Things
from trickless._errors import InvalidValueError
from trickless.neurons.checks import shape_of
from trickless.neurons.unequal import Lengths, is_of_objects, is_unequal, padded, read_lengths

#: The most channels that an axis is taken to hold unless a shape says so: grey, colours, and alpha.
_COLOURS = 4


class Layout(Stated):
    """The layout of rows of a table, which have two dimensions only.

    Layouts of images and series derive from this class. They turn arrays with more dimensions into
    flat rows, and learn the shape of a row from the first batch.

    Attributes
    ----------
    shape : tuple of int or None
        Shape of a row, as the family reads it. None for rows of a table, and if it is not known.
    any_length : bool
        Whether rows to predict may be longer than the rows of the fit.
    """

    reads_arrays = False

    shape: tuple[Things, ...] | None
    any_length: bool

    def __init__(self, shape: tuple[int, ...] | None = None, any_length: bool = False) -> None:
        self.shape = shape
        self.any_length = any_length

    def learned(self, owner: str, X: Any) -> tuple[Self, Any]:
        """Return the layout with the shape of the first batch, and its flat rows."""
        return self, X

    def flat(self, owner: str, X: Any, longer: bool = False) -> Any:
        """Return arrays as flat rows, and rows of a table unchanged.

        ``longer`` says that rows may be longer than those of the fit, if the layout allows it.
        """
        return X

    def remedy(self, X: Any) -> str:
        """Return the remedy for rows of another shape than in the fit."""
        return "pass the columns that the model was fitted to, in the same order"

    def of_same_kind(self, other: Layout) -> bool:
        """Return whether another layout reads the axes of arrays in the same way."""
        return type(self) is type(other)

    def within(self, layouts: list[Layout]) -> Self:
        """Return this layout for a family whose parts have these layouts."""
        layout = copy(self)
        layout.any_length = all(each.any_length for each in layouts)
        return layout

    def _with(self, shape: tuple[int, ...] | None) -> Self:
        layout = copy(self)
        layout.shape = shape
        return layout


class Grids(Layout):
    """Rows of any shape, such as the input of a network."""

    reads_arrays = True

    def learned(self, owner: str, X: Any) -> tuple[Self, Any]:
        layout, array, n_columns = self, _deep(owner, X), _n_columns(X)
        if self.shape is None and array is not None:
            layout = self._with(self._shape_of_rows(owner, tuple(array.shape)))
        elif self.shape is None and n_columns is not None:
            layout = self._with(self._shape_of_columns(n_columns))
        return layout, layout.flat(owner, X)

    def flat(self, owner: str, X: Any, longer: bool = False) -> Any:
        array = _deep(owner, X)
        if array is None:
            return X
        shape, xp = tuple(array.shape), namespace(array)
        order = self._order(shape)
        if order is None:
            raise InvalidValueError(
                f"{owner}: X has the shape {shape}, but rows must have the shape {self.shape}",
                self.remedy(X),
            )
        if order != tuple(range(len(shape))):
            array = xp.permute_dims(array, order)
        return xp.reshape(array, (shape[0], prod(shape[1:])))

    def remedy(self, X: Any) -> str:
        shape = shape_of(X) or ()
        if self._order((1, *shape)) is not None:
            return f"{_array(X)}[None] for one row"
        for axes in permutations(range(1, len(shape))):
            if self._order((0, *(shape[axis] for axis in axes))) is not None:
                return _permuted(X, (0, *axes))
        if len(shape) < 3:
            return super().remedy(X)
        return (
            f"an array of the shape {(shape[0], *(self.shape or ()))}; or fit to arrays of the "
            "new shape, with the parameter of neurons for the shape left out"
        )

    def _shape_of_rows(self, owner: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of rows of an array of this shape, as the family reads it."""
        return shape[1:]

    def _shape_of_columns(self, n_columns: int) -> tuple[int, ...] | None:
        """Return the shape of flat rows; None if it has to be given."""
        return (n_columns,)

    def _order(self, shape: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return the order of the axes of an array for the family; None if its shape is wrong."""
        same = self.shape is None or _without_ones(shape[1:]) == _without_ones(self.shape)
        return tuple(range(len(shape))) if same else None


class Images(Grids):
    """Images, whose channels may come first or last. The family reads them with channels last.

    An axis of one entry holds the channels, or else an axis of at most four, whether it is the
    first or the last of an image. If both are so short, or neither, the shape must be given. Flat
    rows whose shape is not given are square images of one channel.
    """

    def _shape_of_rows(self, owner: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        if len(shape) == 3:
            return shape[1:]
        if len(shape) > 4:
            raise InvalidValueError(
                f"{owner}: X has the shape {shape}, but images have two dimensions, or three with "
                "channels",
                "an array of shape (n_rows, height, width) or (n_rows, height, width, channels)",
            )
        _, first, middle, last = shape
        most = 1 if 1 in (first, last) else _COLOURS  # as no image has a side of 1
        if (first <= most) == (last <= most):
            raise InvalidValueError(
                f"{owner}: X has the shape {shape}, which does not tell whether the channels of "
                "an image come first or last",
                f"neurons with shape={(first, middle, last)} if its channels are the last axis, or "
                f"shape={(middle, last, first)} if they are the first",
            )
        return (first, middle, last) if last <= most else (middle, last, first)

    def _shape_of_columns(self, n_columns: int) -> tuple[int, ...] | None:
        return square(n_columns)

    def _order(self, shape: tuple[int, ...]) -> tuple[int, ...] | None:
        if self.shape is not None:
            height, width, channels = (*self.shape, 1)[:3]
            if shape[1:] in ((height, width, channels), (height, width, 1)[: 2 + (channels > 1)]):
                return tuple(range(len(shape)))
            if shape[1:] == (channels, height, width):
                return 0, 2, 3, 1
        return None


class Series(Layout):
    """Series as (channels, length), whose lengths may be unequal.

    Shorter series end with missing values (NaN). In a list, series of one channel may have one
    dimension.
    """

    reads_arrays = True

    shape: tuple[Things, ...] | None
    any_length: bool

    def __init__(self, shape: tuple[int, ...] | None = None, any_length: bool = True) -> None:
        super().__init__(shape, any_length)

    def learned(self, owner: str, X: Any) -> tuple[Self, Any]:
        layout, n_columns = self, _n_columns(X)
        lengths = self._lengths(owner, X)
        if self.shape is None and lengths is not None:
            _check_order(owner, X, lengths)
            layout = self._with((lengths.n_channels, lengths.longest))
        elif self.shape is None and n_columns is not None:
            layout = self._with((1, n_columns))
        return layout, layout._rows(owner, X, lengths)

    def flat(self, owner: str, X: Any, longer: bool = False) -> Any:
        return self._rows(owner, X, self._lengths(owner, X), longer and self.any_length)

    def remedy(self, X: Any) -> str:
        n_channels = 1 if self.shape is None else self.shape[0]
        one = f"{_array(X)}[None] for one series; " if len(X) == n_channels > 1 else ""
        return (
            f"{one}an array of shape (n_rows, channels, length), or a list of arrays, for series "
            "of another length; or flat rows with the columns that the model was fitted to"
        )

    def _lengths(self, owner: str, X: Any) -> Lengths | None:
        return read_lengths(owner, X, None if self.shape is None else self.shape[0])

    def _rows(self, owner: str, X: Any, lengths: Lengths | None, longer: bool = False) -> Any:
        if lengths is None or self.shape is None:
            return X
        n_channels, length = self.shape
        self._check(owner, X, lengths, length if not longer else max(length, lengths.longest))
        return padded(owner, X, lengths, n_channels, max(length, lengths.longest))

    def _check(self, owner: str, X: Any, lengths: Lengths, most: int) -> None:
        """Check the number of channels, and that no series is longer than ``most``."""
        assert self.shape is not None
        n_channels = self.shape[0]
        if lengths.n_channels != n_channels:
            remedy = "the same channels in the same order; a channel without values is NaN"
            if lengths.longest == n_channels:
                remedy = f"series of the shape (channels, length): {_transposed(X)}"
            raise InvalidValueError(
                f"{owner}: the series of X have {lengths.n_channels} channel(s), but the neurons "
                f"read {n_channels}, with shape={self.shape}",
                remedy,
            )
        if lengths.longest > most:
            raise InvalidValueError(
                f"{owner}: X has a series of {lengths.longest} times, but the neurons read at most "
                f"{most}, with shape={self.shape}",
                f"shape={(n_channels, lengths.longest)} from the first batch on, or shorter series",
            )


def _check_order(owner: str, X: Any, lengths: Lengths) -> None:
    """Check that the order of the axes is clear: series have more times than channels."""
    if lengths.n_channels > lengths.longest:
        shape = lengths.n_channels, lengths.longest
        raise InvalidValueError(
            f"{owner}: the series of X have the shape {shape}, which would be {shape[0]} channels "
            f"of {shape[1]} times",
            f"{_transposed(X)} if the times come first; neurons with shape={shape} if there are so "
            "many channels",
        )


def _transposed(X: Any) -> str:
    is_array = len(getattr(X, "shape", ())) > 1
    return _permuted(X, (0, 2, 1)) if is_array else "[series.T for series in X]"


def _permuted(X: Any, axes: tuple[int, ...]) -> str:
    method = "permute" if hasattr(X, "permute") else "transpose"  # of torch, and of others
    return f"{_array(X)}.{method}{axes}"


def _array(X: Any) -> str:
    return "X" if len(getattr(X, "shape", ())) > 1 else "numpy.stack(X)"


def square(n_columns: int) -> tuple[int, int] | None:
    """Return the shape of square images with so many pixels, or None if there are none."""
    side = isqrt(n_columns)
    return (side, side) if side**2 == n_columns else None


def _deep(owner: str, X: Any) -> Any:
    """Return an array, or a list of arrays, of more than two dimensions; None for anything else."""
    if is_unequal(X):
        raise InvalidValueError(
            f"{owner}: the rows of X have unequal shapes, but rows must have one shape",
            "images of one size, cropped, padded or scaled; neurons=Convolutions(), in a learner "
            "of neurons, for series of unequal length",
        )
    X = list(X) if is_of_objects(X) else X
    shape = shape_of(X)
    if shape is None or len(shape) < 3:
        return None
    return np.asarray(X) if isinstance(X, list | tuple) else X


def _n_columns(X: Any) -> int | None:
    shape = shape_of(X)
    return shape[1] if shape is not None and len(shape) == 2 and shape[1] else None


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(length for length in shape if length > 1)

"""The first batch of a stream, which fixes cuts and scales that later rows must suit."""

from __future__ import annotations

from copy import copy
from typing import Annotated, Any

import numpy as np
import scipy.sparse

from trickless._arrays.places import HOST, Place, to_host
from trickless._arrays.stated import Array, Count, Stated
from trickless._rules import warn
from trickless._selection.relevance import learned_relevance
from trickless.neurons import Neurons
from trickless.neurons.inputs import Inputs

#: The most rows and values of a batch that are checked, and the least later rows to judge by.
_ROWS, _VALUES, _ENOUGH = 16_384, 2**24, 20
#: The share of later rows with another value than the one of the first batch, and the share beyond
#: its range, from which a column counts as lost.
_SOME, _MOST = 0.05, 0.5
#: Where only distances between rows matter: the share of the mean square distance of later rows
#: to the mean of the first batch from which a column counts as lost, and the factor by which that
#: distance may exceed that of the first batch.
_MUCH, _SPREAD = 0.1, 4.0
#: Cuts of fewer rows than this are too few for this many times as many rows.
_FEW, _TIMES = 50, 10
#: What a fitted family knows of the columns, rather than of the rows.
_OF_COLUMNS = ("n_features_in_", "inputs_", "indices_", "parts_", "gamma_")


class FirstBatch(Stated):
    """What the columns of the first batch held, and how later rows differ.

    Attributes
    ----------
    n_rows : int
    low, high : arrays of shape (n_features,)
        Ends of the range of each column; NaN if all its values are missing.
    mean : array of shape (n_features,)
    spread : float
        Mean square of the distance of its rows to their mean.
    n_later : int
        Rows in later batches.
    other, beyond : arrays of shape (n_features,)
        How many later rows differ from the low end of the range, and how many are beyond the range.
        The low end is the value of a constant column.
    far : array of shape (n_features,)
        Sum over later rows of the square of the distance to the mean, along each column.
    warned : bool
    """

    n_rows: Count
    low: Annotated[np.ndarray, Array("f4 f8", "n_features")]
    high: Annotated[np.ndarray, Array("f4 f8", "n_features")]
    mean: Annotated[np.ndarray, Array("f4 f8", "n_features")]
    spread: float
    n_later: Count
    warned: bool
    other: Annotated[np.ndarray, Array("f4 f8", "n_features")]
    beyond: Annotated[np.ndarray, Array("f4 f8", "n_features")]
    far: Annotated[np.ndarray, Array("f4 f8", "n_features")]

    def __init__(self, X: Any, place: Place = HOST) -> None:
        rows, xp = _some(X, place), place.xp
        missing = xp.isnan(rows)
        self.n_rows = X.shape[0]
        low, high = (
            to_host(best(xp.where(missing, xp.full_like(rows, sign * np.inf), rows), axis=0))
            for best, sign in ((xp.min, 1), (xp.max, -1))
        )
        known = rows.shape[0] - to_host(xp.count_nonzero(missing, axis=0))
        # Rows are divided before they are summed, and by 2, so that no sum overflows.
        shares = xp.where(missing, xp.zeros_like(rows), rows / (2 * max(1, rows.shape[0])))
        half = to_host(xp.sum(shares, axis=0)).astype(float)
        half = half * (rows.shape[0] / np.maximum(known, 1))
        empty = known == 0
        self.low, self.high = (np.where(empty, np.nan, end.astype(float)) for end in (low, high))
        self.mean = 2 * np.clip(half, self.low / 2, self.high / 2)
        self.spread = float(self._squares(rows, place).sum()) / rows.shape[0]
        self.n_later, self.warned = 0, False
        self.other = self.beyond = self.far = np.zeros(len(self.mean))

    def after(self, X: Any, place: Place = HOST) -> FirstBatch:
        """Return the same after a later batch. After a warning, nothing is counted any more."""
        if self.warned:
            return self
        rows, new = _some(X, place), copy(self)
        times = X.shape[0] / max(1, rows.shape[0])
        xp, low, high = place.xp, place.put(self.low), place.put(self.high)
        known = ~xp.isnan(rows)
        inside = (rows >= low) & (rows <= high)
        new.n_later = self.n_later + X.shape[0]
        new.beyond = self.beyond + times * to_host(xp.count_nonzero(known & ~inside, axis=0))
        new.other = self.other + times * to_host(xp.count_nonzero(known & (rows != low), axis=0))
        new.far = self.far + times * self._squares(rows, place)
        return new

    def doubt(self, family: Neurons, inputs: Inputs) -> str | None:
        """Why a family that was fitted to this batch does not suit later rows; None if it does."""
        if self.warned or self.n_later < _ENOUGH:
            return None
        by_column = family._by_order or learned_relevance(family) is not None
        far = self.far / self.n_later
        constant = ~(self.low < self.high)
        lost = constant & (self.other > _SOME * self.n_later)
        if not by_column:
            lost &= far > _MUCH * far.sum()
        if lost.any():
            j = int(lost.argmax())
            held = "no value" if np.isnan(self.low[j]) else f"one value, {self.low[j]:g},"
            return f"column {_name(inputs, j)} held {held} in the first batch, but varies since"
        drifted = (self.beyond > _MOST * self.n_later) & (inputs.n_categories == 0)
        if by_column and drifted.any():
            j = int(drifted.argmax())
            return (
                f"most later values of column {_name(inputs, j)} are beyond the range of the "
                f"first batch, {self.low[j]:g} to {self.high[j]:g}"
            )
        if by_column and self.n_rows < _FEW and self.n_later > _TIMES * self.n_rows:
            return f"the first batch had {self.n_rows} rows only"
        if not by_column and far.sum() > _SPREAD * self.spread:
            times = np.sqrt(far.sum() / self.spread) if self.spread else np.inf
            return (
                f"later rows are {times:.2g} times as far from the mean of the first batch as its "
                "own rows"
            )
        return None

    def _squares(self, rows: Any, place: Place) -> np.ndarray:
        """Sum of the squares of the distances of rows to the mean of the first batch."""
        xp = place.xp
        with np.errstate(over="ignore", invalid="ignore"):
            squares = (rows - place.put(self.mean)) ** 2
            squares = xp.where(xp.isnan(squares), xp.zeros_like(squares), squares)
            return to_host(xp.sum(squares, axis=0)).astype(float)


def warn_of_later_rows(
    owner: str, first: FirstBatch, family: Neurons, inputs: Inputs
) -> FirstBatch:
    """Warn, once, if later rows do not suit a family that was fitted to the first batch."""
    why = first.doubt(family, inputs)
    if why is None:
        return first
    warn(
        f"{owner}: {why}. {type(family).__name__} takes its cuts and scales from the first batch, "
        "so it cannot tell these rows apart well: predictions will be inaccurate. Remedy: begin "
        "with a batch that is like all rows (a thousand or more, in random order), or a family "
        "that takes nothing from the data, such as Gaussian(length_scale=1.0)."
    )
    new = copy(first)
    new.warned = True
    return new


def _some(X: Any, place: Place) -> Any:
    """Some of the rows, spread evenly, in double precision if their device has it."""
    most = max(1, min(_ROWS, _VALUES // max(1, X.shape[1])))
    rows = X[:: max(1, -(-X.shape[0] // most)), ...]
    if scipy.sparse.issparse(rows):
        rows = rows.toarray()
    return place.double(rows) if place.has_double else rows


def _name(inputs: Inputs, column: int) -> str:
    return repr(inputs.names[column] if inputs.names else column)


def takes_from_data(family: Neurons) -> bool:
    """Return whether a fitted family, or a part of it, took more than columns from the data."""
    parameters = family.get_params(deep=False)
    for name, value in vars(family).items():
        if name.endswith("_") and name not in _OF_COLUMNS and value is not None:
            parameter = parameters.get(name[:-1])
            if parameter is None or isinstance(parameter, str):
                return True
    return any(map(takes_from_data, getattr(family, "parts_", None) or []))

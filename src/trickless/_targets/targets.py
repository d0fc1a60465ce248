"""Targets: converting y to a matrix, and decision values to predictions.

Solvers receive a float64 matrix with a column for each output, and return decision values of the
same shape. Only this module knows the units of y; ``labels`` is about classes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from copy import copy
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from trickless._arrays.functions import sum_of_rows
from trickless._arrays.places import place_of
from trickless._arrays.stated import Array, Size, Stated, check_count
from trickless._errors import InvalidValueError
from trickless._functions.network import Network
from trickless._rules import DOUBLE, warn, with_remedies
from trickless._solvers.outputs import NewOutputs
from trickless.conformal.intervals import distances, widened

#: The largest target in double precision, and the least by which targets may differ in it: sums of
#: their squares neither overflow nor vanish.
_LARGEST, _LEAST = 1e100, 1e-100


class Targets(Stated, ABC):
    """Targets of a learner: y as a matrix with a column for each output.

    By default, decision values have no units, and functions of the targets start at 0. ``link``
    names what ``values`` does with the values of a network of :meth:`network`: "identity", "exp",
    or "sort" for each row.
    """

    link: ClassVar[str] = "identity"

    @abstractmethod
    def matrix(self, y: np.ndarray, stream: bool = True) -> np.ndarray:
        """Return y of a stream or of a fit as a matrix, shape (n_rows, n_outputs)."""

    def weights(
        self, y: np.ndarray, weight: np.ndarray | None, class_weight: Any, stream: bool = False
    ) -> np.ndarray | None:
        """Return weights of the rows times those of their classes, if there are classes."""
        return weight

    def after(self, targets: np.ndarray) -> Self:
        """Return the same after a batch of targets."""
        return self

    def values(self, decisions: Any) -> Any:
        """Return decision values in the units of y."""
        return decisions

    def differences(self, decisions: Any) -> Any:
        """Return differences of decision values in the units of y."""
        return decisions

    def network(self, network: Network) -> Network:
        """Return a network of decision values in the units of y."""
        return network

    def shown(self, decisions: Any) -> Any:
        """Return decision values as they are predicted, of all outputs of a solver."""
        return decisions

    def shown_errors(self, errors: Any) -> Any:
        """Return errors of such values, from errors of all outputs."""
        return errors

    def grown(self, y: np.ndarray) -> Self:
        """Return the same after y of a later batch was seen, if that may change the outputs."""
        return self

    def settled(self) -> Self:
        """Return the same, with outputs that do not change any more."""
        return self

    def since(self, before: Any) -> NewOutputs | None:
        """Return how the outputs have changed since earlier targets; None if they have not."""
        return None


class Numbers(Targets):
    """Targets of a regressor: numbers, one column or several, as in the first batch.

    They must be neither too large nor too small for ``dtype``, the precision of the coefficients.

    Attributes
    ----------
    first : array of shape (n_outputs,) or None
        The targets of the first row, and 0 for outputs that vary.
    varies : array of bool of shape (n_outputs,)
        Which outputs had a target that differs enough from the first. For these outputs, targets
        that differ by less count as equal.
    """

    owner: str
    dtype: np.dtype
    is_vector: bool
    n_outputs: Size
    first: Annotated[np.ndarray, Array("f8", "n_outputs")] | None = None
    varies: Annotated[np.ndarray, Array("b1", "n_outputs")] | bool = False

    def __init__(self, owner: str, y: np.ndarray, dtype: Any) -> None:
        self.owner = owner
        self.dtype = np.dtype(dtype)
        self.is_vector = y.ndim == 1
        self.n_outputs = 1 if self.is_vector else y.shape[1]

    def check_state(self) -> None:
        if self.is_vector:
            check_count("n_outputs", self.n_outputs, 1, 1)

    def matrix(self, y: np.ndarray, stream: bool = True) -> np.ndarray:
        self.check_shape(y)
        return self._checked(y)

    def _checked(self, y: np.ndarray) -> np.ndarray:
        """Return a matrix of numbers, after checks of their sizes."""
        with with_remedies(self.owner):
            targets = self._columns(np.asarray(y, dtype=np.float64).reshape(len(y), -1))
        _check_size(self.owner, targets, self.dtype)
        self.after(targets)
        return targets

    def _columns(self, targets: np.ndarray) -> np.ndarray:
        """Return the columns of y as targets of the outputs."""
        return targets

    def check_shape(self, y: np.ndarray) -> None:
        """Raise an error unless there are as many outputs as in the first batch."""
        n_outputs = math.prod(y.shape[1:])
        if n_outputs != self.n_outputs:
            raise InvalidValueError(
                f"{self.owner}: y has the shape {y.shape}, so {n_outputs} outputs, but the first "
                f"batch had {self.n_outputs}",
                "pass the same columns in every batch",
            )

    def after(self, targets: np.ndarray, others_vary: Any = False) -> Self:
        """Return the same after a batch of targets; raises an error if all differ by too little.

        ``others_vary`` tells which outputs had targets in other batches that differ enough.
        """
        if self.first is not None and np.all(self.varies):  # nothing is left to be seen
            return self
        first = targets[0].copy() if self.first is None else self.first
        differences = np.abs(targets - first).max(axis=0)
        varies = self.varies | others_vary | (differences >= _least_difference(self.dtype))
        _check_differences(self.owner, np.where(varies, 0.0, differences), self.dtype)
        if self.first is not None and np.array_equal(varies, self.varies):
            return self
        new = copy(self)  # which keeps no target that other rows do not have
        new.first, new.varies = np.where(varies, 0.0, first), varies
        return new

    def merged(self, other: Numbers) -> Self:
        """Return the same, after the targets of another model have been seen as well."""
        return self if other.first is None else self.after(other.first[None], other.varies)

    def shaped(self, values: Any) -> Any:
        """Return values of all outputs, in the shape that y had."""
        return values[:, 0] if self.is_vector else values

    def distances(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return how far targets are from what is predicted, in any unit: (n_rows, n_intervals)."""
        return np.abs(targets - decisions)

    def ends(self, decisions: np.ndarray, far: np.ndarray) -> np.ndarray:
        """Return intervals of all targets within a distance: (n_rows, 2), or of each output."""
        return self.in_units(np.stack([decisions - far, decisions + far], axis=-1))

    def in_units(self, ends: np.ndarray) -> np.ndarray:
        """Return ends of intervals of decision values in the units and the shape of y."""
        ends = np.stack([self.values(ends[..., 0]), self.values(ends[..., 1])], axis=-1)
        return self.shaped(ends)

    def error(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the squared error of each row, summed over the outputs."""
        return sum_of_rows((decisions - targets) ** 2)

    def score(self, y: Any, predicted: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination R² of predictions."""
        from sklearn.metrics import r2_score

        return r2_score(y, predicted, sample_weight=sample_weight)


class Quantiles(Numbers):
    """Targets of a regressor that predicts several quantiles of one column of numbers.

    Each quantile is an output, whose targets are the same. Predictions are sorted, so that the
    quantiles of a row never cross. Where they would, sorting makes them more accurate, and their
    pinball loss smaller [1]_.

    References
    ----------
    .. [1] V. Chernozhukov, I. Fernández-Val and A. Galichon, "Quantile and probability curves
       without crossing", Econometrica 78(3), 2010, Proposition 4.
    """

    link = "sort"

    def __init__(self, owner: str, y: np.ndarray, dtype: Any, n_quantiles: int) -> None:
        super().__init__(owner, y, dtype)
        self.is_vector, self.n_outputs = False, n_quantiles

    def _columns(self, targets: np.ndarray) -> np.ndarray:
        return np.repeat(targets, self.n_outputs, axis=1)

    def check_shape(self, y: np.ndarray) -> None:
        if math.prod(y.shape[1:]) != 1:
            raise InvalidValueError(
                f"{self.owner}: y has the shape {y.shape}, but a model of {self.n_outputs} "
                "quantiles predicts them for one column",
                "one quantile, such as quantile=0.5, or a model for each column",
            )

    def values(self, decisions: Any) -> Any:
        return place_of(decisions).xp.sort(decisions, axis=1)

    def distances(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        return distances(self._outer(decisions), targets[:, :1])

    def ends(self, decisions: np.ndarray, far: np.ndarray) -> np.ndarray:
        return widened(self._outer(decisions), far)[:, 0]

    def _outer(self, decisions: np.ndarray) -> np.ndarray:
        """Return the lowest and the highest quantile of rows, (n_rows, 1, 2)."""
        return np.stack([decisions.min(axis=1), decisions.max(axis=1)], axis=-1)[:, None]


class Range(Numbers):
    """Targets of an online regressor, mapped to [-1, 1] from a range that contains all of them.

    ``y_range`` "auto" takes each output's range from the first batch, and lets it grow. Its middle
    stays, as functions of the targets have no constant by which it could move.
    """

    grows: bool
    low: Annotated[np.ndarray, Array("f8", "n_outputs")]
    high: Annotated[np.ndarray, Array("f8", "n_outputs")]
    #: Half the width of each range at the last warning that it has grown.
    told: Annotated[np.ndarray, Array("f8", "n_outputs", least=0)]

    def __init__(self, owner: str, y: np.ndarray, dtype: Any, y_range: Any) -> None:
        super().__init__(owner, y, dtype)
        self.grows = isinstance(y_range, str)
        self.told = np.zeros(self.n_outputs)
        if self.grows:
            targets = super().matrix(y)
            self.low, self.high = targets.min(axis=0), targets.max(axis=0)
        else:
            self.low, self.high = (np.full(self.n_outputs, float(end)) for end in y_range)
        _check_size(owner, np.stack([self.low, self.high]), self.dtype, "y_range")
        _check_differences(owner, self.high - self.low, self.dtype, "y_range")

    @property
    def middle(self) -> np.ndarray:
        """Middle of the range of each output."""
        return (self.low + self.high) / 2

    @property
    def half_width(self) -> np.ndarray:
        """Half the width of each output's range; 1 if all its targets are the same."""
        return np.where(self.high > self.low, (self.high - self.low) / 2, 1.0)

    def after(self, targets: np.ndarray, others_vary: Any = False) -> Self:
        """Return the same: only the width of the range matters, which is checked at the start."""
        return self

    def matrix(self, y: np.ndarray, stream: bool = True) -> np.ndarray:
        """Return targets as a matrix, mapped to [-1, 1]."""
        targets = super().matrix(y)
        outside = (targets < self.low) | (targets > self.high)
        if outside.any():
            row, output = np.argwhere(outside)[0]
            raise InvalidValueError(
                f"{self.owner}: y holds {targets[row, output]:g} (row {row}), outside of y_range="
                f"({self.low[output]:g}, {self.high[output]:g}), which is mapped to the [-1, 1] "
                "that the online guarantee assumes",
                "a new model with y_range=(low, high) "
                "wide enough for all batches; or 'auto', with which the range may grow",
            )
        return (targets - self.middle) / self.half_width

    def grown(self, y: np.ndarray) -> Range:
        if not self.grows:
            return self
        targets = super().matrix(y)
        low, high = targets.min(axis=0), targets.max(axis=0)
        outside = (low < self.low) | (high > self.high)
        if not outside.any():
            return self
        new, far = copy(self), np.maximum(high - self.middle, self.middle - low)
        new.low = np.where(outside, np.minimum(self.middle - far, low), self.low)
        new.high = np.where(outside, np.maximum(self.middle + far, high), self.high)
        ends = np.stack([new.low, new.high])
        _check_size(self.owner, ends, self.dtype)
        _check_differences(self.owner, np.ptp(ends, axis=0), self.dtype)
        told = outside & (new.half_width >= 2 * self.told)
        if told.any():
            new.told = np.where(told, new.half_width, self.told)
            _warn_of_growth(self, new, int(told.argmax()))
        return new

    def since(self, before: Any) -> NewOutputs | None:
        if before.low is self.low:
            return None
        outputs = np.arange(self.n_outputs)
        factor = before.half_width / self.half_width
        return NewOutputs(outputs, factor, np.zeros(self.n_outputs))

    def values(self, decisions: Any) -> Any:
        return decisions * self.half_width + self.middle

    def differences(self, decisions: Any) -> Any:
        return decisions * self.half_width

    def tolerance(self, differences: Any) -> Any:
        """Return differences in the units of y as those of decision values."""
        return differences / self.half_width

    def network(self, network: Network) -> Network:
        coef = (network.coef * self.half_width).astype(network.coef.dtype)
        return Network(network.neurons, network.source, coef, self.middle, network.n_jobs)


def _warn_of_growth(before: Range, after: Range, output: int) -> None:
    """Warn that targets were outside of the range, once for each time that it doubles."""
    ranges = [f"({each.low[output]:g}, {each.high[output]:g})" for each in (before, after)]
    which = f" of output {output}" if before.n_outputs > 1 else ""
    warn(
        f"{before.owner}: targets{which} are outside of the range {ranges[0]} of earlier batches, "
        f"which grows to {ranges[1]} around the same middle. Predictions stay, and norm_bound and "
        "the steps are from now on in units of the wider range. Remedy: y_range=(low, high), if "
        "the range of all targets is known."
    )


def check_scale(owner: str, y: np.ndarray, dtype: np.dtype) -> None:
    """Check that numbers are neither too large nor too small, and differ enough unless equal."""
    targets = y.reshape(len(y), -1)
    _check_size(owner, targets, dtype)
    if targets.size:
        _check_differences(owner, np.ptp(targets, axis=0), dtype)


def _check_size(owner: str, targets: np.ndarray, dtype: np.dtype, name: str = "y") -> None:
    """Check that targets are finite in the coefficients' precision, and so are sums of squares."""
    largest = float(np.abs(targets).max(initial=0.0))
    if largest > min(1e-2 * float(np.finfo(dtype).max), _LARGEST):
        raise InvalidValueError(
            f"{owner}: {name} reaches {largest:g}, which is too large for dtype={dtype.name!r}",
            f"scale y; or {DOUBLE}, for up to {_LARGEST:g}",
        )


def _least_difference(dtype: np.dtype) -> float:
    """Return the least by which targets may differ, so that coefficients keep their digits."""
    return max(1e8 * float(np.finfo(dtype).tiny), _LEAST)


def _check_differences(
    owner: str, differences: np.ndarray, dtype: np.dtype, name: str = "y"
) -> None:
    """Check that the largest difference of targets of each output is 0, or large enough."""
    least = _least_difference(dtype)
    small = (differences > 0) & (differences < least)
    if small.any():
        output = int(small.argmax())
        which = f"{name} of output {output}" if len(differences) > 1 else name
        raise InvalidValueError(
            f"{owner}: {which} varies by {differences[output]:g} only, but differences below "
            f"{least:g} vanish in sums of squares, or in coefficients of dtype={dtype.name!r}",
            f"scale y; or {DOUBLE}, for at least {_LEAST:g}; y may also be constant",
        )

"""Mergeable sufficient statistics of least squares.

Ridge regression needs only a Gram matrix and a few sums, which add up over row blocks, batches and
machines. While there are at most as many rows as columns, the rows themselves are smaller than the
matrix, so they are kept. They are multiplied when there are more rows or the matrix is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import blas
from scipy.special import xlogy

from trickless._arrays.places import HOST, Place, place_of, to_host
from trickless._arrays.stated import (
    Amount,
    Array,
    Count,
    Finite,
    Stated,
    check_array,
    check_same,
    stated,
)
from trickless._arrays.threads import linear_algebra
from trickless._solvers.least_squares.gram import FLOOR, add_products, inner_products
from trickless._solvers.least_squares.row_sample import RowSample
from trickless._solvers.outputs import NewOutputs

#: Batches of at least this many rows may be multiplied in single precision, where that is faster.
ROUNDED_FROM = 4096
#: Weights count as equal if their effective number equals the number of rows up to this share.
_SAME = 1e-9
#: Numbers that add up over rows.
_ADDED = "n_rows", "weight", "weight_square", "fresh", "fresh_square", "log_weight"
#: Activations of the same row in different batches are equal up to this share, from rounding.
_ALIKE = 1e-5
#: Rounding errors of the eigenvalues of a Gram matrix, as a share of its trace.
_SINGULAR = 1e-10


@stated
class KeptRows(NamedTuple):
    """Activations and targets of some rows, times the roots of weights.

    In statistics, targets have a last column of ones; in moments, both are centred. ``fresh`` is
    how much of each row is left after fading.
    """

    Z: Annotated[np.ndarray, Array("f4 f8", "n", "n_columns")]
    Y: Annotated[np.ndarray, Array("f4 f8", "n", None)]
    fresh: Annotated[np.ndarray, Array("f8", "n", least=0)]


class Statistics(Stated):
    """Sums over rows that determine the least squares solution.

    ``origin`` is subtracted from the targets, so that their variance is accurate even if their mean
    is large. The Gram matrix is kept at the ``place`` of the rows, if that has double precision.
    Everything else is on the host, once it is collected.

    Attributes
    ----------
    kept : list of KeptRows or None
        All rows so far, while they are few; None once they are multiplied.
    gram : array of shape (n_columns, n_columns)
        Σ z zᵀ. The first access multiplies the rows that are kept.
    cross, z_sum, y_sum, y_square : arrays
        Σ z yᵀ, Σ z, Σ y and Σ y², where y are the targets minus the origin.
    n_rows : int
        Number of rows with a weight above 0.
    weight, weight_square : float
        Σ w and Σ w² of the sample weights w, which also weight all sums above. Rows without
        weights have w = 1.
    fresh, fresh_square, log_weight : float
        Σ a, Σ a² and Σ a log (w / a), where a is what is left of a row after fading, 1 at first.
    sample : RowSample or None
        Some of the rows, if the owner of the sums adds them.
    rounded : float
        Σ |z|² over the rows that were multiplied in single precision.
    """

    #: Σ z yᵀ and Σ z of rows on a device that have not been collected.
    _sums: Any = None

    origin: Annotated[np.ndarray, Array("f8", "n_outputs")]
    kept: list[KeptRows] | None
    cross: Annotated[np.ndarray, Array("f8", "n_columns", "n_outputs")]
    z_sum: Annotated[np.ndarray, Array("f8", "n_columns")]
    y_sum: Annotated[np.ndarray, Array("f8", "n_outputs")]
    y_square: Annotated[np.ndarray, Array("f8", "n_outputs")]
    n_rows: Count
    weight: Amount
    weight_square: Amount
    fresh: Amount
    fresh_square: Amount
    log_weight: Finite
    sample: RowSample | None
    rounded: Amount

    def __init__(self, n_columns: int, origin: np.ndarray, place: Place = HOST) -> None:
        n_outputs = len(origin)
        self.origin = origin
        self.kept = []
        if place is not HOST:
            self.kept, self.gram = None, place.zeros((n_columns, n_columns))
        self.cross = np.zeros((n_columns, n_outputs))
        self.z_sum = np.zeros(n_columns)
        self.y_sum = np.zeros(n_outputs)
        self.y_square = np.zeros(n_outputs)
        self.n_rows = 0
        self.weight = 0.0
        self.weight_square = 0.0
        self.fresh = 0.0
        self.fresh_square = 0.0
        self.log_weight = 0.0
        self.sample = None
        self.rounded = 0.0

    def check_state(self) -> None:
        if self.kept is None:
            check_array("gram", vars(self)["gram"], "f8", (len(self.z_sum),) * 2)
        n_outputs = len(self.origin)
        for rows in self.kept or ():
            check_same("columns of Y of kept", rows.Y.shape[1], n_outputs + 1)
        if self.sample is not None:
            check_same("outputs of sample", self.sample.targets.shape[1], n_outputs)

    @cached_property
    def gram(self) -> Any:
        """Σ z zᵀ, which replaces the rows that are kept."""
        gram = self.products()
        self.__dict__["gram"] = gram  # before the rows go, so that an interrupt loses neither
        self.kept = None
        return gram

    @property
    def n_kept(self) -> int:
        """Number of rows that are kept."""
        kept = self.kept
        return sum(len(rows.Z) for rows in kept or ())

    @property
    def nbytes(self) -> int:
        """Bytes of the sums, or of the rows that are kept instead."""
        kept = self.kept
        matrix = self.gram.nbytes if kept is None else sum(rows.Z.nbytes for rows in kept)
        return self.cross.nbytes + matrix

    def make_room(self, n_rows: int) -> None:
        """Multiply the rows that are kept, if ``n_rows`` more would exceed the columns."""
        if self.kept is not None and self.n_kept + n_rows > len(self.z_sum):
            _ = self.gram

    def products(self) -> np.ndarray:
        """Σ z zᵀ of the rows that are kept."""
        kept = self.kept
        if not kept:
            return np.zeros((len(self.z_sum),) * 2)
        Z = np.concatenate([rows.Z for rows in kept])
        return Z.T @ Z

    def add(
        self,
        Z: Any,
        y: np.ndarray,
        sample_weight: np.ndarray | None = None,
        least_ridge: float = 0.0,
        n_jobs: int | None = None,
        fresh: np.ndarray | None = None,
    ) -> None:
        """Add rows of activations and targets. The activations may be overwritten.

        The least ridge that will be used decides whether products in single precision are accurate
        enough. 0 asks for double precision. ``fresh`` is the part of the weights that is left after
        fading.
        """
        y = y - self.origin
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        with linear_algebra(n_jobs, y.size):
            self.y_sum += weight @ y
            self.y_square += weight @ y**2
        self.n_rows += int(np.count_nonzero(weight))
        self.weight += weight.sum()
        self.weight_square += (weight**2).sum()
        fresh = (weight > 0) * (1.0 if fresh is None else fresh)
        self.fresh += fresh.sum()
        self.fresh_square += (fresh**2).sum()
        self.log_weight += xlogy(fresh, weight).sum() - xlogy(fresh, fresh).sum()
        Y = np.column_stack([y, np.ones(len(y))]) * np.sqrt(weight)[:, None]
        self.make_room(len(y))
        if self.kept is None and place_of(self.gram) is not HOST:
            if self._sums is None:
                self._sums = place_of(self.gram).zeros((len(self.z_sum), Y.shape[1]))
            self.rounded += add_products(self.gram, self._sums, Z, Y, least_ridge, n_jobs)
            return
        sums = np.zeros((len(self.z_sum), Y.shape[1]))
        if self.kept is None:
            self.rounded += add_products(self.gram, sums, Z, Y, least_ridge, n_jobs)
        else:
            Z = Z * Y[:, -1:]
            with linear_algebra(n_jobs, Z.size * Y.shape[1]):
                sums += Z.T @ Y
            self.kept.append(KeptRows(Z, Y, fresh))
        self.cross += sums[:, :-1]
        self.z_sum += sums[:, -1]

    def collect(self) -> None:
        """Add sums that are on a device to those on the host, after all rows have been added."""
        if self._sums is not None:
            sums = to_host(vars(self).pop("_sums"))
            self.cross += sums[:, :-1]
            self.z_sum += sums[:, -1]

    def merge(self, other: Statistics) -> None:
        """Add the rows of other statistics, which stay unchanged."""
        other = other.about(self.origin)
        kept = other.kept
        if kept is None:
            self.gram += place_of(self.gram).put(other.gram)
        else:
            self.make_room(other.n_kept)
            if self.kept is None:
                products = place_of(self.gram).put(other.products())
                products += self.gram  # in place, but not in a matrix that ``joined`` may share
                self.gram = products
            else:
                self.kept += kept
        self.z_sum += other.z_sum
        self.cross += other.cross
        self.y_sum += other.y_sum
        self.y_square += other.y_square
        self.add_sample(other.sample)
        for name in _ADDED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.rounded += other.rounded

    def about(self, origin: np.ndarray) -> Statistics:
        """Statistics of the same rows relative to another origin."""
        if np.array_equal(origin, self.origin):
            return self
        shift, other = self.origin - origin, self._copied(lambda gram: gram)
        other.origin = origin
        other.cross = self.cross + np.outer(self.z_sum, shift)
        other.y_sum = self.y_sum + self.weight * shift
        other.y_square = self.y_square + 2 * shift * self.y_sum + self.weight * shift**2
        if self.kept is not None:
            shifts = np.append(shift, 0.0)
            other.kept = [rows._replace(Y=rows.Y + rows.Y[:, -1:] * shifts) for rows in self.kept]
        return other

    def without(self, batch: Statistics) -> Statistics:
        """Statistics of these rows without those of a batch, apart from the sample.

        If rows are kept, those of the batch are looked up, and a LookupError says which is not
        among them.
        """
        other = self._copied(lambda gram: gram)
        if self.kept is None:
            other.gram = self.gram - place_of(self.gram).put(batch.gram)
        else:
            other.kept = _others(self.kept, batch.kept or [])
        other.cross = self.cross - batch.cross
        for name in ("z_sum", "y_sum", "y_square", *_ADDED):
            setattr(other, name, getattr(self, name) - getattr(batch, name))
        other.rounded = self.rounded + batch.rounded
        return other

    def is_possible(self) -> bool:
        """Return whether these can be sums over rows, up to rounding, as after ``without``."""
        squares = self.weight > 0 and (self.y_square >= -_ALIKE * self.y_square.max()).all()
        if not squares or self.kept is not None:
            return bool(squares)
        gram = to_host(self.gram)
        trace = float(np.trace(gram))
        shift = max(_SINGULAR * trace, FLOOR * self.rounded)
        try:  # a positive semi-definite matrix, plus a multiple of the identity
            linalg.cholesky(gram + shift * np.eye(len(gram)), lower=True, overwrite_a=True)
        except linalg.LinAlgError:
            return False
        return True

    @property
    def n_effective(self) -> float:
        """Kish's effective number of rows (Σ w)² / Σ w²."""
        return self._kish(self.weight, self.weight_square)

    def _kish(self, weight: float, square: float) -> float:
        n = weight**2 / square
        return n if n < self.n_rows * (1 - _SAME) else self.n_rows

    def add_sample(self, sample: RowSample | None) -> None:
        """Add the sample of rows that are added to the sums."""
        if sample is not None:
            self.sample = sample if self.sample is None else self.sample + sample

    def faded(self, factor: float) -> Statistics:
        """Statistics of the same rows, with all weights multiplied by a factor."""
        if factor == 1:
            return self
        root = factor**0.5
        other = self._copied(lambda gram: gram * factor)
        for name in ("cross", "z_sum", "y_sum", "y_square", "weight", "rounded"):
            setattr(other, name, getattr(self, name) * factor)
        other.fresh, other.log_weight = self.fresh * factor, self.log_weight * factor
        for name in ("weight_square", "fresh_square"):
            setattr(other, name, getattr(self, name) * factor**2)
        if other.kept is not None:
            other.kept = [
                KeptRows(Z * root, Y * root, fresh * factor) for Z, Y, fresh in other.kept
            ]
        if self.sample is not None:
            other.sample = self.sample.faded(factor)
        return other

    def with_outputs(self, new: NewOutputs, seed: int) -> Statistics:
        """Statistics of the same rows with other targets."""
        other = self._copied(lambda gram: gram)
        other.origin = new.of_targets(self.origin)
        other.cross, other.y_sum = new.of_differences(self.cross), new.of_differences(self.y_sum)
        other.y_square = new.of_squares(self.y_square)
        if other.kept is not None:
            other.kept = [
                KeptRows(Z, np.column_stack([new.of_differences(Y[:, :-1]), Y[:, -1]]), fresh)
                for Z, Y, fresh in other.kept
            ]
        if self.sample is not None:
            other.sample = self.sample.with_outputs(new, seed)
        return other

    def joined(self, batch: Statistics) -> Statistics:
        """Statistics of these rows, which stay unchanged, and of a batch, which is used up.

        No Gram matrix is copied: the sum is made in the memory of the batch's.
        """
        if batch.kept is None:
            batch.merge(self)
            return batch
        other = self._copied(lambda gram: gram)
        other.merge(batch)
        return other

    def copy(self) -> Statistics:
        """Return an independent copy; the Gram matrix stays on its device."""
        return self._copied(lambda gram: place_of(gram).copy(gram))

    def _copied(self, gram: Callable[[Any], Any]) -> Statistics:
        other = object.__new__(Statistics)
        for name, value in sorted(vars(self).items()):
            other.__dict__[name] = gram(value) if name == "gram" else copy(value)
        if "gram" in vars(other):
            other.kept = None
        return other

    def moments(self, fit_intercept: bool = True) -> Moments:
        """Moments about the means, or about 0 for a function without an intercept."""
        z_mean, y_mean = self.z_sum / self.weight, self.y_sum / self.weight
        centre = y_mean if fit_intercept else -self.origin  # of the targets minus the origin
        moments = Moments(
            cross=self.cross / self.weight - np.outer(z_mean, centre),
            y_variance=np.maximum(self.y_square / self.weight - centre * (2 * y_mean - centre), 0),
            z_mean=z_mean if fit_intercept else np.zeros_like(z_mean),
            y_mean=centre + self.origin,
            n=self.n_effective,
            n_rows=self.n_rows,
            least_ridge=FLOOR * self.rounded / self.weight,
            n_constants=int(fit_intercept),
        )
        n = moments.n_once = self._kish(self.fresh, self.fresh_square)
        of_mean = np.log(self.weight / self.fresh) - self.log_weight / self.fresh
        moments.log_noise = float(of_mean + np.log(n / moments.n))
        if kept := self.kept:
            scale = 1 / self.weight**0.5
            Z = np.concatenate([rows.Z for rows in kept])
            Y = np.concatenate([rows.Y for rows in kept]) * scale
            with linear_algebra(None, Z.size):  # in place, as allocating memory would take longer
                Z = blas.dscal(scale, Z.ravel()).reshape(Z.shape)
                moments.mean_square = float(np.vdot(Z, Z))
                if fit_intercept:  # Z − √ω z_meanᵀ
                    Z = blas.dger(-1.0, z_mean, Y[:, -1], a=Z.T, overwrite_a=1).T
            fresh = np.concatenate([rows.fresh for rows in kept])
            moments.rows = KeptRows(Z, Y[:, :-1] - np.outer(Y[:, -1], centre), fresh)
            moments.share = Y[:, -1] ** 2
            return moments
        place = place_of(self.gram)
        moments.mean_square = float(place.xp.linalg.trace(self.gram)) / self.weight
        covariance = self.gram / float(self.weight)
        if fit_intercept:
            covariance = place.minus_square(covariance, z_mean)
        moments.covariance = covariance
        return moments

    def __getstate__(self) -> dict[str, Any]:
        """Copies and files hold all sums on the host, in a fixed order."""
        self.collect()
        state = dict(sorted(vars(self).items()))
        return state | {"gram": to_host(self.gram), "kept": None} if "gram" in state else state


def _others(kept: list[KeptRows], out: list[KeptRows]) -> list[KeptRows]:
    """Return the rows that are kept without some of them, which are equal up to rounding."""
    Z, Y, fresh = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    left = np.ones(len(Z), dtype=bool)
    rows = [row for part in out for row in zip(*part, strict=True)]
    for i, (z, y, _) in enumerate(rows):
        distance = np.abs(Z - z).max(axis=1) + np.abs(Y - y).max(axis=1)
        nearest = int(np.where(left, distance, np.inf).argmin())
        scale = max(np.abs(z).max(), np.abs(y).max())
        if not (left[nearest] and distance[nearest] <= _ALIKE * scale):
            raise LookupError(i)
        left[nearest] = False
    return [KeptRows(Z[left], Y[left], fresh[left])]


def least_ridge(n_rows: int, ridge: float = np.inf) -> float:
    """Return the ridge down to which sums over a batch must be accurate for this ridge.

    It is 0 for few rows, which are always multiplied in double precision.
    """
    return ridge if n_rows >= ROUNDED_FROM else 0.0


@dataclass
class Moments:
    """Means, second moments about them, and the number of rows.

    The number of rows n is Kish's effective number (Σ w)² / Σ w² [1]_: the number of rows if all
    weights are equal, and less if not. The covariance is at the ``place`` of the Gram matrix, and
    accurate enough for ridges of at least ``least_ridge``. If rows are few, it is RᵀR, and the
    covariance with the targets is RᵀY. Then ``rows`` are (R, Y), centred and multiplied by the
    roots of ``share``, the weights of the rows divided by their sum. ``n_constants`` is 0 if there
    is no intercept; the means are then 0. ``n_once`` is the number of rows whatever their weights,
    or their effective number if they fade. ``log_noise`` is the mean of log (Σw / (n w)) over rows.
    ``posteriors`` are those that have been asked for, by their ridges.

    References
    ----------
    .. [1] L. Kish, "Survey sampling", Wiley, 1965.
    """

    cross: np.ndarray
    y_variance: np.ndarray
    z_mean: np.ndarray
    y_mean: np.ndarray
    n: float
    n_rows: int
    least_ridge: float
    mean_square: float = 0.0
    rows: KeptRows | None = None
    share: np.ndarray | None = None
    n_constants: int = 1
    n_once: float = 0.0
    log_noise: float = 0.0

    def __post_init__(self) -> None:
        self.posteriors: dict[float, Any] = {}
        self._products: tuple[np.ndarray, float] | None = None
        self._covariance: Any = None

    @property
    def place(self) -> Place:
        """Where the covariance is."""
        return HOST if self.rows is not None else place_of(self.covariance)

    @property
    def weights_differ(self) -> bool:
        """Whether rows have different weights, beyond rounding."""
        return self.n != self.n_rows

    @property
    def covariance(self) -> Any:
        """Covariance of the activations, multiplied at each access if rows are few."""
        if self._covariance is None:
            assert self.rows is not None
            return self.rows.Z.T @ self.rows.Z
        return self._covariance

    @covariance.setter
    def covariance(self, matrix: Any) -> None:
        self._covariance = matrix

    def products(self, n_jobs: int | None = 1) -> tuple[np.ndarray, float]:
        """R Rᵀ of few rows R, and the eigenvalue along the roots √s of their shares.

        Centred rows have the eigenvalue 0 there. Differences of leverages would lose digits with
        that, so it becomes the mean of the eigenvalues. The targets, which are centred, have no
        part there. Without an intercept it is infinite, as nothing is subtracted.
        """
        if self._products is None:
            assert self.rows is not None and self.share is not None
            products, constant = inner_products(self.rows.Z, n_jobs), np.inf
            if self.n_constants:
                root, constant = np.sqrt(self.share), float(np.trace(products)) / len(products)
                products += (constant := constant or 1.0) * np.outer(root, root)
            self._products = products, constant
        return self._products

    def of_output(self, output: int) -> Moments:
        """Return the moments with one of the outputs only."""
        one = slice(output, output + 1)
        moments = copy(self)
        moments.cross, moments.y_mean = self.cross[:, one], self.y_mean[one]
        moments.y_variance = self.y_variance[one]
        if self.rows is not None:
            moments.rows = self.rows._replace(Y=self.rows.Y[:, one])
        return moments

    def activations(self) -> np.ndarray:
        """Activations of the rows, if they are few, with 0 for rows of weight 0."""
        assert self.rows is not None and self.share is not None
        root = np.sqrt(self.share)[:, None]
        Z = np.divide(self.rows.Z, root, out=np.zeros(self.rows.Z.shape), where=root > 0)
        return Z + self.z_mean

    @property
    def n_products(self) -> int:
        """Products that a solver takes, up to a constant factor."""
        size = len(self.z_mean)
        return size * (size if self.rows is None else len(self.rows.Z)) ** 2

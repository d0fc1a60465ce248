"""Mixtures: each neuron belongs to one of several families, chosen at random."""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm
from typing import Annotated, Any

import numpy as np

from trickless._arrays.places import HOST, namespace, place_of
from trickless._arrays.stated import Array, Within, check_array, check_same
from trickless._errors import InvalidValueError
from trickless._rules import LARGEST_SCALE, SMALLEST_SCALE, anything, is_real
from trickless.neurons.base import OPERATORS, Neurons, Weights
from trickless.neurons.checks import draw_neurons
from trickless.neurons.composed import FAMILY_LIST, Composed, coef_of_draws


class Mixture(Composed):
    r"""Neurons of several families: a family whose kernel is a weighted sum of kernels.

    .. math:: \psi(x; i, w_i) = \sqrt{s} \cdot \psi_i(x; w_i), \qquad i \sim p_i = c_i / s, \;
        s = \sum_i c_i, \qquad k(x, x') = \sum_i c_i \cdot k_i(x, x')

    Here :math:`c_i` are the weights. About :math:`n p_i` of n neurons belong to family i. The
    family of each neuron is chosen independently, so the kernel is the same for any n.

    Parameters
    ----------
    neurons : list of Neurons
        Families. ``a + b`` is short for ``Mixture([a, b], weights=[1, 1])``. The parameters of the
        first family are ``0__length_scale`` and so on.
    weights : list of float or None, default=None
        Weights c of the kernels. None gives all kernels the same weight, with a sum of 1.

    Attributes
    ----------
    width : int
        Least common multiple of the widths of the families. If it is r times the width of a family,
        a neuron holds r draws of that family, each divided by :math:`\sqrt r`, which changes
        neither the kernel nor the bound.

    Notes
    -----
    All families are drawn for every neuron, but only the chosen family is evaluated.

    Examples
    --------
    A smooth function and steps:

    >>> import numpy as np
    >>> from trickless import KitchenSinksRegressor
    >>> from trickless.neurons import Gaussian, Mixture, Stumps
    >>> X = np.random.default_rng(0).uniform(-2, 2, (300, 2))
    >>> y = np.sin(2 * X[:, 0]) + (X[:, 1] > 0.3)
    >>> neurons = Mixture([Gaussian(length_scale=1.0), Stumps()], weights=[0.7, 0.3])
    >>> model = KitchenSinksRegressor(neurons, n_neurons=200, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _rules = {
        "neurons": FAMILY_LIST,
        "weights": anything(
            f"None or a list of numbers from {SMALLEST_SCALE:g} to {LARGEST_SCALE:g}",
            "weights=None gives every family the same weight",
            lambda v: (
                v is None
                or (
                    isinstance(v, list | tuple | np.ndarray)
                    and all(is_real(c) and SMALLEST_SCALE <= c <= LARGEST_SCALE for c in v)
                )
            ),
        ),
    }

    _weights: Annotated[np.ndarray, Array("f8", "parts_", least=0)]
    _total: Annotated[float, Within(SMALLEST_SCALE)]

    def __init__(self, neurons: list[Neurons], weights: list[float] | None = None) -> None:
        self.neurons = neurons
        self.weights = weights

    def _wide(self) -> int:
        return lcm(*(part.width for part in self.parts_))

    def check_state(self) -> None:
        super().check_state()
        check_same("_total", self._total, self._weights.sum())

    def _check_weights(self, weights: Weights) -> None:
        choice, *drawn = weights
        check_array("families of stored neurons", choice, "i8", (None,), 0, len(self.parts_))
        for part, arrays in zip(self.parts_, self.weights_of_parts(tuple(drawn)), strict=True):
            part._check_weights(tuple(_draws_first(np, array) for array in arrays))

    def _measure(self) -> None:
        m = len(self.parts_)
        weights = np.full(m, 1 / m) if self.weights is None else np.array(self.weights, dtype=float)
        if len(weights) != m:
            raise InvalidValueError(
                f"Mixture: weights={self.weights!r} has length {len(weights)}, but there are {m} "
                "families",
                "one weight for each family, or weights=None",
            )
        super()._measure()
        self._weights, self._total = weights, weights.sum()
        self.bound = float(np.sqrt(self._total) * max(part.bound for part in self.parts_))

    @property
    def _n_draws(self) -> list[int]:
        return [self.width // part.width for part in self.parts_]

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        weights = [rng.choice(len(self.parts_), n, p=self._weights / self._total)]
        for part, r in zip(self.parts_, self._n_draws, strict=True):
            drawn = map(np.asarray, draw_neurons(part, rng, n * r))
            weights += [array.reshape(n, r, *array.shape[1:]) for array in drawn]
        return tuple(weights)

    def activate(self, X: Any, weights: Weights) -> Any:
        xp, places, parts = namespace(X), [], []
        for i, chosen, some in self._chosen(xp, weights):
            width, scale = self.parts_[i].width * self._n_draws[i], self._scale(i)
            Z = self.parts_[i](rows_of_part(X, i), some)
            Z = xp.reshape(Z.T, (width, chosen.shape[0], X.shape[0]))
            if n_empty := self.width - width:
                none = xp.zeros_like(Z[:1, ...])
                Z = xp.concat((Z, xp.broadcast_to(none, (n_empty, *Z.shape[1:]))))
            places.append(chosen)
            parts.append(Z if scale == 1 else Z * scale)
        order = xp.argsort(xp.concat(places))
        Z = xp.take(xp.concat(parts, axis=1), order, axis=1)
        return xp.reshape(Z, (self.width * order.shape[0], X.shape[0])).T

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        pairs = np.zeros((X.shape[0], self.width), dtype=X.dtype)
        for i, chosen, some in self._chosen(np, weights):
            part, r = self.parts_[i], self._n_draws[i]
            Z = part.activate_pairs(X[np.tile(chosen, r)], part._as_drawn(some)) * self._scale(i)
            Z = Z.reshape(r, len(chosen), part.width).transpose(1, 2, 0)
            pairs[chosen, : part.width * r] = Z.reshape(len(chosen), -1)
        return pairs

    def _read(self, X: Any, n_jobs: int | None = None) -> Any:
        if isinstance(X, RowsOfParts) or place_of(X) is not HOST:
            return X
        parts = [part._read(X, n_jobs) for part in self.parts_]
        return X if all(part is X for part in parts) else RowsOfParts(parts, X.dtype)

    def _combine(self, X: Any, weights: Weights, coef: Any) -> Any:
        return self._summed("_combine", X, weights, coef)

    def gradient(self, X: Any, weights: Weights, coef: Any) -> Any:
        return self._summed("gradient", X, weights, coef)

    def _summed(self, method: str, X: Any, weights: Weights, coef: Any) -> Any:
        """Sum what a method of each part makes of its neurons and their coefficients."""
        xp, total = namespace(coef), 0.0
        for i, chosen, some in self._chosen(xp, weights):
            part, r = self.parts_[i], self._n_draws[i]
            each = xp.take(coef, chosen, axis=0)[:, : part.width * r, :] * self._scale(i)
            each = coef_of_draws(each, part.width, r)
            total = total + getattr(part, method)(rows_of_part(X, i), part._as_drawn(some), each)
        return total

    def _chosen(self, xp: Any, weights: Weights) -> Iterator[tuple[int, Any, Weights]]:
        """Yield the index of each part, the neurons of this part, and their weights.

        If a neuron holds r draws, the first draws of all neurons come before the second draws.
        """
        choice, *drawn = weights
        for i, arrays in enumerate(self.weights_of_parts(tuple(drawn))):
            chosen = xp.nonzero(choice == i)[0]
            if chosen.shape[0] == 0 < choice.shape[0]:
                continue
            some = (xp.take(array, chosen, axis=0) for array in arrays)
            yield i, chosen, tuple(_draws_first(xp, array) for array in some)

    def _scale(self, i: int) -> float:
        return float(np.sqrt(self._total / self._n_draws[i]))

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        parts = [part.closed_form(X, Y) for part in self.parts_]
        return np.tensordot(self._weights, np.array(parts), axes=1)


class RowsOfParts:
    """The same rows on the host, in the form that each part of a mixture reads.

    Rows are selected from all forms together. ``dtype`` is the precision of the original rows.
    """

    def __init__(self, parts: list[Any], dtype: Any) -> None:
        self.parts = parts
        self.dtype = np.dtype(dtype)

    @property
    def shape(self) -> tuple[int, int]:
        n_rows, n_columns = self.parts[0].shape
        return n_rows, n_columns

    def __getitem__(self, where: Any) -> RowsOfParts:
        taken = {id(part): part for part in self.parts}  # families may share a part
        taken = {key: _some(part, where) for key, part in taken.items()}
        return RowsOfParts([taken[id(part)] for part in self.parts], self.dtype)


def _some(rows: Any, where: Any) -> Any:
    """Select some of the rows. Contiguous columns stay contiguous."""
    by_column = isinstance(rows, np.ndarray) and rows.flags.f_contiguous
    if by_column and isinstance(where, np.ndarray) and where.dtype != bool:
        return np.take(rows.T, where, axis=1).T
    return rows[where]


OPERATORS["sum"] = lambda a, b: Mixture([a, b], [1, 1])


def rows_of_part(X: Any, i: int) -> Any:
    """Return the rows as part i reads them, if they have been converted."""
    return X.parts[i] if isinstance(X, RowsOfParts) else X


def _draws_first(xp: Any, array: Any) -> Any:
    """Reshape (n, r, ...) to (r n, ...), with the first draws of all neurons first."""
    axes = (1, 0, *range(2, array.ndim))
    n, r, *rest = array.shape
    return xp.reshape(xp.permute_dims(array, axes), (r * n, *rest))

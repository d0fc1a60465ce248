"""Networks: finite weighted sums Σ c_j ψ(x; w_j), with which learners of neurons predict."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np
from scipy.sparse import issparse

from trickless._arrays.memory import size_of
from trickless._arrays.places import HOST, Place, check_on_host, place_of, to_host
from trickless._arrays.sparse import canonical
from trickless._arrays.stated import (
    Array,
    Stated,
    check_count,
    check_is,
    check_same,
)
from trickless._arrays.threads import (
    map_blocks,
    n_threads,
    row_blocks,
    worthwhile,
)
from trickless._errors import InvalidValueError
from trickless._functions.activations import by_column, evaluate
from trickless._functions.later import Later
from trickless._functions.stream import BLOCK, NeuronStream, StoredNeurons
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.checks import check_independent

#: Bytes of weights (at least a block) that are applied to all rows together.
_GROUP_BYTES = 2**25
#: Columns that are evaluated together on a device, and for few rows, which takes fewer operations.
_COLUMNS_TOGETHER = 4096
#: The most rows that are few, and the most numbers of neurons that are put together for them.
_FEW_ROWS, _NUMBERS_TOGETHER = 16, 2**17
#: Rows of a block if leaves of trees are looked up.
_ROWS_OF_LEAVES = 2**14

#: A source of weights: memory, or a seed.
Source = NeuronStream | StoredNeurons | Later


@dataclass(eq=False, repr=False)
class Network(Stated):
    r"""A finite weighted sum of neurons.

    .. math:: f(x) = b + \sum_{j=1}^{n} c_j \cdot \psi(x; w_j)

    Threads work on blocks of rows, and evaluate the neurons block by block, so memory does not grow
    with the product of the numbers of rows and neurons.

    Parameters
    ----------
    neurons : Neurons
        A fitted family, which evaluates the weights.
    source : NeuronStream or StoredNeurons
        Source of the weights.
    coef : array of shape (n_neurons, width, n_outputs)
        Coefficients c.
    intercept : float or array of shape (n_outputs,), default=0.0
        Intercepts b.
    n_jobs : int, optional
        Number of threads.
    stratified : bool, default=False
        Whether neurons were drawn for consecutive strata. This changes the standard error.
    """

    neurons: Neurons
    source: Source
    coef: Annotated[np.ndarray, Array("f4 f8", None, "neurons.width", None)]
    intercept: Annotated[np.ndarray, Array("f4 f8", "n_outputs")] | float = 0.0
    n_jobs: int | None = None
    stratified: bool = False

    def check_state(self) -> None:
        check_source("source", self.source, self.neurons, self.n_neurons)

    @property
    def n_neurons(self) -> int:
        """Number of neurons in the sum."""
        return self.coef.shape[0]

    @property
    def n_outputs(self) -> int:
        """Number of values for each row."""
        return self.coef.shape[2]

    def weights(self) -> Weights:
        """Draw the weights of the neurons again.

        Returns
        -------
        tuple of arrays
            The weights, each with an entry for each neuron, in the precision of the model.
        """
        pieces = [some for _, some in self.source.pieces(0, self.n_neurons)]
        return tuple(map(np.concatenate, zip(*pieces, strict=True)))

    def __call__(self, X: Any) -> Any:
        """Compute the values of the network.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Rows, as a NumPy array or an array of any library with the array API.

        Returns
        -------
        float64 array of shape (n_rows, n_outputs)
            Values, in the library and on the device of X if it supports float64, and otherwise as a
            NumPy array.
        """
        total = self.unchecked(X)
        xp = np if isinstance(total, np.ndarray) else place_of(total).xp
        check_finite(type(self.neurons).__name__, total, xp)
        return total

    def unchecked(self, X: Any) -> Any:
        """Compute the values, which may not be finite: on a device, a check waits for them."""
        X, place = canonical(X) if issparse(X) else X, place_of(X)
        n_rows, sums, all_coef = X.shape[0], place.for_double, self.coef
        total = place.zeros((n_rows, self.n_outputs))
        if place is HOST or np.any(self.intercept):
            total += sums.put(np.asarray(self.intercept, dtype=np.float64))
        if place is not HOST:  # in one transfer
            all_coef = place.put(all_coef, X.dtype)
        if self.neurons._one_hot:  # after that, the rows may have another precision
            X = self.neurons._read(X, self.n_jobs)
        for group in self._groups(place, n_rows):
            coef = [all_coef[where, ...] for where, _ in group]

            def add(rows: slice, group: Any = group, coef: Any = coef) -> None:
                last, some = self.neurons._last_layer(X[rows, ...])
                some = some if last._one_hot else last._read(some)
                for (_, weights), each in zip(group, coef, strict=True):
                    value = last._combine(some, weights, each)
                    total[rows, ...] += value if sums is place else to_host(value)

            if place is HOST and n_rows * self._n_columns <= _COLUMNS_TOGETHER:
                add(slice(0, n_rows))  # too small for BLAS to share among threads
            elif self.neurons._one_hot and place is HOST:
                jobs = worthwhile(self.n_jobs, n_rows * self.n_neurons)
                map_blocks(add, row_blocks(n_rows, _ROWS_OF_LEAVES, n_threads(jobs)), jobs)
            else:
                place.map_rows(add, n_rows, self._n_columns, self.n_jobs)
        return total

    def of_activations(self, Z: Any) -> Any:
        """Compute the values from activations of all neurons, in the order of their pieces."""
        place, width = place_of(Z), self.neurons.width
        total = place.for_double.zeros((Z.shape[0], self.n_outputs))
        total += place.for_double.put(np.asarray(self.intercept, dtype=np.float64))
        for some in row_blocks(self.n_neurons, BLOCK):
            coef = place.put(by_column(self.coef[some]), Z.dtype)
            value = Z[:, some.start * width : some.stop * width] @ coef
            total += value if place.has_double else to_host(value)
        return total

    @property
    def _n_columns(self) -> int:
        """Number of columns that are computed for a row."""
        return self.n_neurons * (1 if self.neurons._one_hot else self.neurons.width)

    def copied(self) -> Network:
        """Return a network with coefficients and intercepts of its own, to be changed in place."""
        other = copy(self)
        other.coef, other.intercept = deepcopy((self.coef, self.intercept))
        return other

    def gradient(self, X: Any) -> np.ndarray:
        """Compute the gradient of the values at each row: (n_rows, n_features, n_outputs).

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Rows, as a NumPy array.

        Returns
        -------
        float64 array of shape (n_rows, n_features, n_outputs)
            The gradients.

        Raises
        ------
        ValueError
            If the family has no derivative in the package, as for trees.
        """
        place = place_of(X)
        check_on_host("Network.gradient", place, "rows as a NumPy array")
        X = canonical(X)
        total = np.zeros((*X.shape, self.n_outputs))
        for group in self._groups(place, X.shape[0]):

            def add(rows: slice, group: Any = group) -> None:
                for where, weights in group:
                    of_neurons = self.neurons._as_drawn(weights)
                    total[rows] += self.neurons.gradient(X[rows], of_neurons, self.coef[where])

            place.map_rows(add, X.shape[0], self._n_columns, self.n_jobs)
        check_finite(type(self.neurons).__name__, total)
        return total

    def estimate(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        r"""Compute the values of the network, and their standard errors.

        The network, a sum over independent draws, is seen as an estimate of its own expectation
        over w. The standard error is therefore meaningful only if coefficient j depends on
        :math:`w_j` and on no other draw, as in a frozen expansion. For draws from strata, the
        standard error comes from differences of neighbours, and its expectation is too large rather
        than too small.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Rows, as a NumPy array.

        Returns
        -------
        value, standard_error : float64 arrays of shape (n_rows, n_outputs)
            Values and their standard errors. The standard error is infinite for a single neuron.

        Raises
        ------
        ValueError
            If the neurons of one draw are not independent. You can still call the network for
            values.
        """
        check_independent("Network", "a standard error", self.neurons)
        place = place_of(X)
        check_on_host(
            "Network.estimate", place, "call the network, which gives values without errors"
        )
        X, m = canonical(X), self.n_neurons
        total = np.zeros((X.shape[0], self.n_outputs))
        squares = np.zeros_like(total)  # of the draws; if stratified, of differences of neighbours
        last = np.zeros_like(total)  # value of the last draw so far

        def add(rows: slice, where: slice, Z: np.ndarray) -> None:
            Z = Z.astype(np.float64).reshape(len(Z), self.neurons.width, -1)
            for output in range(self.n_outputs):
                each = np.einsum("rkn,nk->rn", Z, self.coef[where, :, output])
                total[rows, output] += each.sum(axis=1, dtype=np.float64)
                if self.stratified:
                    before = last[rows, output].copy()
                    last[rows, output] = each[:, -1]
                    each = _differences(each, before)
                squares[rows, output] += np.einsum("rn,rn->r", each, each)

        n_columns = m * self.neurons.width
        for group in self._groups(place, len(total)):
            pieces = partial(iter, group)
            evaluate(self.neurons, pieces, X, n_columns, add, self.n_jobs, place=place)
        check_finite(type(self.neurons).__name__, total)
        if m == 1:
            return total + self.intercept, np.full_like(total, np.inf)
        if self.stratified:
            square = 2 * squares
        else:
            square = np.maximum(squares - total**2 / m, 0) * m / (m - 1)
        return total + self.intercept, np.sqrt(square)

    def _groups(self, place: Place, n_rows: int) -> Iterator[list[tuple[slice, Weights]]]:
        """Yield slices and weights of a few blocks of neurons, at the place of the rows."""
        group, size = [], 0
        n = _COLUMNS_TOGETHER // (1 if self.neurons._one_hot else self.neurons.width)
        if place is HOST:
            few = n_rows <= _FEW_ROWS
            n = min(n, _NUMBERS_TOGETHER // self.neurons.n_features_in_) if few else 1
        n_together = max(1, n // BLOCK)
        for where, weights in self.source.pieces(0, self.n_neurons, place, n_together):
            group.append((where, weights))
            size += size_of(weights)
            if size >= _GROUP_BYTES:
                yield group
                group, size = [], 0
        if group:
            yield group


def check_source(name: str, source: Any, neurons: Neurons, n_neurons: int) -> None:
    """Check that a stream, or stored weights, can be the neurons of a fitted family."""
    if isinstance(source, NeuronStream):
        check_alike(f"neurons of {name}", source.neurons, neurons)
    else:
        check_is(name, source, StoredNeurons)
        check_count(f"number of neurons in {name}", len(source), n_neurons)
        neurons._check_weights(source.weights)


def check_alike(name: str, family: Neurons, other: Neurons) -> None:
    """Check that two objects can be the same fitted family."""
    check_is(name, family, type(other))
    check_same(f"width of {name}", family.width, other.width)
    check_same(f"features of {name}", family.n_features_in_, other.n_features_in_)


def _differences(each: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Subtract neighbouring draws, scaled so that the squares sum to half the variance.

    If the number of draws is odd, the last draw is compared with the one before it.
    """
    even = each.shape[1] // 2 * 2
    pairs = (each[:, :even:2] - each[:, 1:even:2]) / np.sqrt(2)
    if even == each.shape[1]:
        return pairs
    neighbour = each[:, -2] if even else before
    return np.column_stack([pairs, (each[:, -1] - neighbour) / 2])


def check_finite(owner: str, values: Any, xp: Any = np) -> None:
    """Check that a network's values are finite, by the functions of their library."""
    if not bool(xp.isfinite(values).all() if xp is np else xp.all(xp.isfinite(values))):
        raise InvalidValueError(
            f"{owner}: the network's values are not finite, because its activations or its "
            "coefficients are not",
            "check the family's activations on these rows, and the step size",
        )

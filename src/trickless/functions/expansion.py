"""The expansion f = Σ α_i Φ(x_i), and unbiased estimates of what it predicts.

Its prediction ⟨f, Φ(x)⟩ = E_w[f(w) ψ(x; w)], with f(w) = Σ_i α_i ψ(x_i; w), is an expectation over
neurons, so it can be sampled. All ways of sampling it draw neurons and give each one a coefficient
that depends on no x. So each *is* a finite network, whose value at any x is an unbiased estimate.
"""

from __future__ import annotations

from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse

from trickless.arrays.threads import linear_algebra, map_blocks, n_threads, row_blocks, worthwhile
from trickless.functions.activations import by_neuron, evaluate, in_blocks, together
from trickless.functions.certificate import certified, check_probability, check_tolerance
from trickless.functions.network import Network, check_finite
from trickless.functions.pilot import Drawn, Variances, measured
from trickless.functions.sampling import Strata, by_size
from trickless.functions.stream import (
    BLOCK,
    Purpose,
    StoredNeurons,
    as_generator,
    as_seed,
    draw,
    draw_block,
    draw_blocks,
    generator,
    pick,
)
from trickless.neurons import Neurons, Weights
from trickless.neurons.checks import check_independent, check_pairs
from trickless.rules import check_value, choice, integer

#: A pilot looks at so many neurons and rows, for full sums twice at a share of the support,
#: within limits, and for index sampling at so many support points.
_PILOT_NEURONS, PILOT_ROWS, _PILOT_POINTS = 64, 16, 32
_PILOT_SHARE, _PILOT_LEAST, _PILOT_MOST = 1 / 128, 64, 1024
#: Work of a neuron beside its activations, in units of one: a number of its weights, and the rest.
_NUMBER, _NEURON = 1.5, 100
#: Work of a pilot beside its activations, in units of one.
_PILOT = 180_000
#: A pilot is worth it where a neuron can save so much work, and full sums cost so many pilots.
_WORTH_A_PILOT, _WORTH_PILOTS = 1.2, 4
#: Estimates of an expansion that are taken to share its pilot.
SHARED_BY = 2
#: Index sampling may hold so many neurons, or as many as there are support points.
_MOST_HELD = 2**16
_PAIRS = 4096

ESTIMATORS = "full", "index", "stratified"
ESTIMATOR = choice("auto", *ESTIMATORS, remedy="'auto' takes the cheapest for the same error")
FROZEN = choice(*ESTIMATORS, remedy="'full' gives the smallest standard error")
N_NEURONS = integer(1, "more neurons give a smaller standard error, for example n_neurons=1000")


class Expansion:
    r"""A function given by support points and coefficients.

    .. math:: f = \sum_{i=1}^{t} \alpha_i \Phi(x_i), \qquad
        \langle f, \Phi(x) \rangle = \sum_i \alpha_i k(x_i, x)

    Parameters
    ----------
    neurons : Neurons
        A fitted family.
    support : float32 or float64 array or CSR matrix of shape (t, n_features)
        The support points x_i.
    alpha : array of shape (t, n_outputs)
        Their coefficients.
    n_jobs : int, optional
        Threads.

    Notes
    -----
    *Index sampling* (Livni et al. 2017, Algorithm 2) draws :math:`i \propto |\alpha_i|` afresh for
    each neuron; the variance at one x is at most :math:`\|\alpha\|_1^2 / m`, for one activation of
    the support a neuron. *Stratified* index sampling draws one i from each of m equal strata of the
    cumulated :math:`|\alpha_i|`, coefficients of one sign next to each other: never a larger
    variance, for the same work. *Full sums* evaluate f(w) over the whole support; the variance is
    at most :math:`E f(w)^2 / m = \|f\|^2 / m`, for t activations a neuron, and never larger than
    that of index sampling, whose mean over i it is. With several outputs, :math:`|\alpha_i|` is
    the Euclidean norm of row i.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless import Expansion
    >>> from trickless.neurons import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 3))
    >>> neurons = Gaussian(length_scale=1.0).fit(X, rng)
    >>> f = Expansion(neurons, X, rng.standard_normal((50, 1)))
    >>> value, error = f.estimate(X[:2], n_neurons=4000, estimator="full", random_state=0)
    >>> exact = neurons.kernel(X[:2], X) @ f.alpha
    >>> bool((np.abs(value - exact) < 5 * error).all())
    True
    """

    def __init__(
        self,
        neurons: Neurons,
        support: Any,
        alpha: np.ndarray,
        n_jobs: int | None = None,
    ) -> None:
        _check_expansion(support, alpha)
        self.neurons = neurons
        self.support = support
        self.alpha = alpha
        self.n_jobs = n_jobs

    def __getstate__(self) -> dict[str, Any]:
        """A copy or a file measures anew what was measured."""
        return {name: value for name, value in vars(self).items() if name != "_at_support"}

    def values(self, weights: Weights) -> np.ndarray:
        """f(w) = Σ_i α_i ψ(x_i; w) for each of n neurons, shape (n, width, n_outputs)."""
        n, width, n_rows = len(weights[0]), self.neurons.width, self.support.shape[0]
        parts: dict[int, list[np.ndarray]] = {}

        def add(rows: slice, where: slice, psi: np.ndarray) -> None:
            parts.setdefault(rows.start, []).append(by_neuron(psi.T @ self._alpha(rows), width))

        n_jobs = worthwhile(self.n_jobs, n_rows * n * width)
        blocks = row_blocks(n_rows, threads=n_threads(n_jobs))
        evaluate(self.neurons, in_blocks(weights), self.support, n * width, add, n_jobs, blocks)
        total = np.zeros((n, width, self.alpha.shape[1]))
        for start in sorted(parts):
            total += np.concatenate(parts[start])
        return total

    def _alpha(self, rows: slice) -> np.ndarray:
        """Coefficients of some support points, in the precision of these."""
        return self.alpha[rows].astype(self.support.dtype, copy=False)

    def freeze(self, n_neurons: int, estimator: str = "full", random_state: Any = None) -> Network:
        """Sample an ordinary finite network whose expectation is this expansion.

        Parameters
        ----------
        n_neurons : int
            How many neurons the network gets. Its standard error falls like 1/√n_neurons, and its
            cost for a row does not depend on the size of the support.
        estimator : {"full", "index", "stratified"}, default="full"
            Full sums give the smallest standard error, index sampling is sooner done.
        random_state : int, Generator, RandomState or None, default=None
            Source of the neurons.

        Returns
        -------
        Network
        """
        check_value("Expansion", "n_neurons", n_neurons, N_NEURONS)
        check_value("Expansion", "estimator", estimator, FROZEN)
        return self._sample(n_neurons, as_generator(random_state), estimator)

    def estimate(
        self,
        X: Any,
        n_neurons: int,
        estimator: str = "auto",
        random_state: Any = None,
        variances: Variances | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Unbiased estimate of ⟨f, Φ(x)⟩ for each row, from freshly drawn neurons.

        The neurons are shared by the rows: the estimate of each row is unbiased and has the error
        returned for it, but the errors of different rows are correlated.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        n_neurons : int
            How many neurons to draw.
        estimator : {"auto", "full", "index", "stratified"}, default="auto"
            "auto" aims at the standard error of full sums over ``n_neurons`` neurons, and takes
            stratified index sampling with as many more as that needs where this is less work, by
            the variances that a few neurons of a pilot have. The pilot is run once, at some of the
            support points, by the first estimate that it is worth it for.
        random_state : int, Generator, RandomState or None, default=None
            Source of the neurons.
        variances : Variances, optional
            What :meth:`variances` found at rows of the same kind, where these are unlike the
            support points.

        Returns
        -------
        value, standard_error : arrays of shape (n_rows, n_outputs)

        Raises
        ------
        ValueError
            If the neurons of one draw are not independent. ``freeze(n_neurons)(X)`` gives values.
        """
        check_independent("Expansion", "a standard error", self.neurons)
        check_value("Expansion", "n_neurons", n_neurons, N_NEURONS)
        check_value("Expansion", "estimator", estimator, ESTIMATOR)
        if estimator == "auto":
            if variances is None and self._worth_a_pilot(X.shape[0], n_neurons, SHARED_BY):
                variances = self._at_support
            estimator, n_neurons = self.cheapest(n_neurons, X.shape[0], variances)
        return self._sample(n_neurons, as_generator(random_state), estimator).estimate(X)

    def full_sums(self, X: Any, n_neurons: int, rng: np.random.Generator) -> np.ndarray:
        """What ``freeze(n_neurons, "full", rng)(X)`` returns, for when it is wanted once.

        Each thread draws neurons, sums and predicts by itself, a block at a time; where there are
        fewer blocks than threads, the support and the rows are shared out.
        """
        t, n_rows, outputs = self.support.shape[0], X.shape[0], self.alpha.shape[1]
        width, dtype = self.neurons.width, self.support.dtype
        n_jobs = worthwhile(self.n_jobs, (t + n_rows) * n_neurons * width)
        blocks = row_blocks(n_neurons, BLOCK)
        if len(blocks) < n_threads(n_jobs):
            return self._sample(n_neurons, rng, "full")(X)

        def part(block: slice) -> np.ndarray:
            weights = draw_block(self.neurons, seed, block, dtype)
            coef = np.zeros(((block.stop - block.start) * width, outputs))
            values = np.empty((n_rows, outputs), dtype)

            def sum_up(rows: slice, where: slice, psi: np.ndarray) -> None:
                coef[:] += psi.T @ self._alpha(rows)

            def predict(rows: slice, where: slice, psi: np.ndarray) -> None:
                values[rows] = psi @ mean

            family, piece = self.neurons, together(weights)
            evaluate(family, piece, self.support, len(coef), sum_up, 1, row_blocks(t))
            mean = (coef / n_neurons).astype(dtype)
            evaluate(family, piece, X, len(coef), predict, 1, row_blocks(n_rows))
            return values

        seed, total = as_seed(rng), np.zeros((n_rows, outputs))
        for values in map_blocks(part, blocks, n_jobs):
            total += values
        check_finite(type(self.neurons).__name__, total)
        return total

    def certify(
        self,
        X: Any,
        tolerance: Any,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        r"""Estimate ⟨f, Φ(x)⟩ to within a tolerance, with as many neurons as that takes.

        Each value is within ``tolerance`` of :math:`\langle f, \Phi(x) \rangle` with a probability
        of at least ``confidence``, as long as no neuron exceeds its family's ``bound``.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        tolerance : float or array of shape (n_outputs,)
            How far a value may be from the exact one.
        confidence : float, default=0.95
            With which probability, for each value by itself.
        random_state : int, Generator, RandomState or None, default=None
            Source of the neurons.

        Returns
        -------
        value, radius : arrays of shape (n_rows, n_outputs)
            The radius is at most the tolerance, and has the same confidence.

        Raises
        ------
        ValueError
            If the tolerance is below what sums in the support's precision can give, or the neurons
            of one draw are not independent.

        Notes
        -----
        Each neuron gives a value in :math:`\pm \|\alpha\|_1 \mathrm{bound}^2`. Neurons are drawn
        in stages of growing size until the smaller of Hoeffding's and the empirical Bernstein
        radius is within the tolerance at every row, with the probability of error shared out over
        the stages, so that looking at each of them is paid for.
        """
        check_independent("Expansion", "a certificate", self.neurons)
        tolerance = check_tolerance("Expansion", tolerance, self.alpha, self.support.dtype)
        check_probability("Expansion", "confidence", confidence)
        half_range = np.abs(self.alpha).sum(axis=0) * self.neurons.bound**2
        fresh = partial(self.freeze, estimator="full", random_state=as_generator(random_state))
        return certified(fresh, X, half_range, tolerance, 1 - confidence)

    def _sample(self, n_neurons: int, rng: np.random.Generator, estimator: str) -> Network:
        support = _Weighed(self.alpha)
        if estimator == "full":  # as full_sums draws them, on threads
            weights = draw_blocks(self.neurons, as_seed(rng), n_neurons, self.support.dtype)
        else:
            weights = draw(self.neurons, rng, n_neurons, self.support.dtype)
        if not support.total:
            coef = np.zeros((n_neurons, self.neurons.width, self.alpha.shape[1]))
        elif estimator == "full":
            coef = self.values(weights) / n_neurons
        else:
            index = support.draw(n_neurons, rng, estimator)
            coef = self._index_values(weights, index, support.directions(index)) / n_neurons
        coef = coef.astype(self.support.dtype)
        source, strata = StoredNeurons(weights), estimator == "stratified"
        return Network(self.neurons, source, coef, n_jobs=self.n_jobs, stratified=strata)

    def _index_values(
        self, weights: Weights, index: np.ndarray, directions: np.ndarray
    ) -> np.ndarray:
        """‖α‖₁ (α_i / |α_i|) ψ(x_i; w) for each neuron and its support point i."""

        def pairs(some: slice) -> np.ndarray:
            psi = self.neurons.activate_pairs(self.support[index[some]], pick(weights, some))
            check_pairs(type(self.neurons).__name__, psi, len(index[some]), self.neurons.width)
            return psi

        psi = np.concatenate(map_blocks(pairs, row_blocks(len(index), _PAIRS), self.n_jobs))
        return psi[:, :, None] * directions[:, None, :]  # Alg. 2, line 4

    @linear_algebra(1)  # too little for more threads
    def variances(self, X: Any, random_state: Any = None) -> Variances:
        """Estimate the variances of all estimators at some rows, from a few neurons.

        The neurons are not those of an estimate, so that a choice by these variances leaves the
        estimate unbiased.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            The first few rows are looked at.
        random_state : int, Generator, RandomState or None, default=None

        Returns
        -------
        Variances
            Summed over the outputs, means over the rows.
        """
        rng, support = as_generator(random_state), _Weighed(self.alpha)
        weights = draw(self.neurons, rng, _PILOT_NEURONS, self.support.dtype)
        numbers = sum(array.size for array in weights) / _PILOT_NEURONS
        if not support.total:
            return Variances(0, 0, 0, 0, 0, 0, numbers)
        shape = -1, self.neurons.width, _PILOT_NEURONS
        rows = self.neurons(X[:PILOT_ROWS], weights).reshape(shape)
        n_summed = self._n_summed()
        sizes = n_summed, n_summed, _PILOT_POINTS
        index = np.concatenate([support.draw(n, rng, "stratified") for n in sizes])
        psi = self.neurons(self.support[index], weights).reshape(shape)
        directions, ends = support.directions(index), np.cumsum((0, *sizes))
        one, other, neighbours = (Drawn(psi[i:j], directions[i:j]) for i, j in pairwise(ends))
        return measured(one, other, neighbours, rows, numbers)

    @cached_property
    def _at_support(self) -> Variances:
        """The variances at some of the support points, by neurons of a seed of their own.

        So what "auto" takes depends neither on the seed of an estimate nor on those before.
        """
        t = self.support.shape[0]
        some = np.linspace(0, t - 1, min(t, PILOT_ROWS)).astype(int)
        return self.variances(self.support[some], generator(0, Purpose.PILOT))

    def variances_if_worth(
        self, X: Any, n_neurons: int, random_state: Any = None, n_estimates: float = 1
    ) -> Variances | None:
        """The variances, or None where a pilot could hardly save more work than it takes.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        n_neurons : int
            Neurons whose full sums have the wanted error.
        random_state : int, Generator, RandomState or None, default=None
        n_estimates : float, default=1
            How many estimates will go by the variances.

        Returns
        -------
        Variances or None
        """
        if not self._worth_a_pilot(X.shape[0], n_neurons, n_estimates):
            return None
        return self.variances(X, random_state)

    def _worth_a_pilot(self, n_rows: int, n_neurons: int, n_estimates: float = 1) -> bool:
        t = self.support.shape[0]
        full, other = _NEURON + t + n_rows, _NEURON + 1 + n_rows
        pilot = _PILOT_NEURONS * (2 * self._n_summed() + _PILOT_POINTS + PILOT_ROWS) + _PILOT
        at_stake = n_estimates * n_neurons * full
        return full > _WORTH_A_PILOT * other and at_stake > _WORTH_PILOTS * pilot

    def _n_summed(self) -> int:
        """Support points of each sample that stands for the support in a pilot."""
        share = int(_PILOT_SHARE * self.support.shape[0])
        return min(max(_PILOT_LEAST, share), _PILOT_MOST)

    def cheapest(self, n_neurons: int, n_rows: int, variances: Variances | None) -> tuple[str, int]:
        """The estimator with the least work for the error of full sums, and its neurons.

        Work is counted in activations. Where index sampling would have to hold very many neurons,
        full sums are taken.

        Parameters
        ----------
        n_neurons : int
            Neurons whose full sums have the wanted error.
        n_rows : int
            Rows to predict.
        variances : Variances or None
            None stands for full sums.

        Returns
        -------
        estimator : {"full", "stratified"}
        n_neurons : int
        """
        t = self.support.shape[0]
        if variances is None:
            return "full", n_neurons
        neuron = _NEURON + _NUMBER * variances.numbers
        if not variances.saves(n_neurons, t, neuron + t + n_rows, neuron + 1 + n_rows):
            return "full", n_neurons
        needed = int(np.ceil(variances.strata(variances.full / n_neurons, t)))
        if needed > max(n_neurons, t, _MOST_HELD):
            return "full", n_neurons
        return "stratified", max(n_neurons, needed)


class _Weighed:
    """Support points, to be drawn by the size of their coefficients.

    With several outputs, that is the Euclidean norm of a row.
    """

    def __init__(self, alpha: np.ndarray) -> None:
        self.alpha = alpha
        self.size = np.linalg.norm(alpha, axis=1)
        self.total = self.size.sum()  # ‖α‖₁

    @cached_property
    def _strata(self) -> Strata:
        return Strata(self.size, self.alpha > 0)

    def draw(self, n: int, rng: np.random.Generator, estimator: str) -> np.ndarray:
        """A support point for each of n neurons."""
        if estimator == "index":
            return by_size(self.size, n, rng)  # Alg. 2, line 2
        return self._strata.draw(n, rng)

    def directions(self, index: np.ndarray) -> np.ndarray:
        """‖α‖₁ α_i / |α_i| for each point i, shape (len(index), n_outputs)."""
        return self.total * self.alpha[index] / self.size[index, None]


def _check_expansion(support: Any, alpha: Any) -> None:
    """Support points must be rows of real numbers, each with one row of coefficients."""
    shapes = np.shape(support), np.shape(alpha)
    if scipy.sparse.issparse(support):
        shapes = support.shape, np.shape(alpha)
    if len(shapes[0]) != 2 or len(shapes[1]) != 2 or shapes[0][0] != shapes[1][0]:
        raise ValueError(
            f"Expansion: support has shape {shapes[0]} and alpha {shapes[1]}, but they must be "
            "(t, n_features) and (t, n_outputs). Remedy: pass alpha[:, None] for a single output."
        )
    if getattr(support, "dtype", None) not in (np.float32, np.float64):
        raise TypeError(
            f"Expansion: support has dtype {getattr(support, 'dtype', type(support).__name__)}, "
            "but it must be a float32 or float64 array. Remedy: support.astype('float32')."
        )

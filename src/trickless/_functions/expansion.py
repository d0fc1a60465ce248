"""The expansion f = Σ α_i Φ(x_i), and unbiased estimates of what it predicts.

Its prediction ⟨f, Φ(x)⟩ = E_w[f(w) ψ(x; w)], with f(w) = Σ_i α_i ψ(x_i; w), is an expectation over
neurons, so it can be sampled. Every estimator draws neurons, and gives each neuron a coefficient
that does not depend on x. The estimator therefore *is* a finite network, whose value at any x is an
unbiased estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any

import numpy as np
import scipy.sparse

from trickless._arrays.likes import RandomStateLike
from trickless._arrays.sparse import Matrix, canonical
from trickless._arrays.stated import Array, Stated
from trickless._arrays.threads import map_blocks, n_threads, row_blocks, worthwhile
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._functions.activations import by_neuron, evaluate, in_blocks, together
from trickless._functions.certificate import certified, check_probability, check_tolerance
from trickless._functions.network import Network, check_finite
from trickless._functions.pilot import (
    PILOT_ROWS,
    SHARED_BY,
    Variances,
    cheapest,
    is_pilot_worthwhile,
    run_pilot,
)
from trickless._functions.sampling import SupportSampler
from trickless._functions.stream import (
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
from trickless._rules import check_value, choice, count
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.checks import check_independent, check_pairs

#: Neurons, each with its support point, that index sampling evaluates at a time.
_PAIRS = 4096

ESTIMATORS = "full", "index", "stratified"
ESTIMATE = choice("auto", *ESTIMATORS, remedy="'auto' takes the fastest for the same error")
FROZEN = choice(*ESTIMATORS, remedy="'full' gives the smallest standard error")
N_NEURONS = count("more neurons give a smaller standard error, for example n_neurons=1000")


@dataclass(eq=False, repr=False)
class Expansion(Stated):
    r"""A function given by support points and their coefficients.

    .. math:: f = \sum_{i=1}^{t} \alpha_i \Phi(x_i), \qquad
        \langle f, \Phi(x) \rangle = \sum_i \alpha_i k(x_i, x)

    Parameters
    ----------
    neurons : Neurons
        A fitted family.
    support : float32 or float64 array or CSR matrix of shape (t, n_features)
        Support points :math:`x_i`.
    dual_coef : array of shape (t, n_outputs)
        Coefficients :math:`\alpha_i` of the support points.
    n_jobs : int, optional
        Number of threads.

    Notes
    -----
    There are three ways to estimate values from m drawn neurons. With several outputs,
    :math:`|\alpha_i|` is the Euclidean norm of row i.

    *Index sampling* (Livni et al. 2017, Algorithm 2) draws one support point for each neuron, with
    :math:`i \propto |\alpha_i|`. Its variance at one x is at most :math:`\|\alpha\|_1^2 / m`. Each
    neuron needs one activation.

    *Stratified* index sampling draws one i from each of m equal strata of the cumulated
    :math:`|\alpha_i|`, where coefficients of one sign lie next to each other. Its variance is never
    larger, for the same work.

    *Full sums* evaluate f(w) over the whole support. Their variance is at most :math:`E f(w)^2 / m
    = \|f\|^2 / m`. It is never larger than the variance of index sampling, because f(w) is the mean
    over i. Each neuron needs t activations.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless.inspection import Expansion
    >>> from trickless.neurons import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 3))
    >>> neurons = Gaussian(length_scale=1.0).fit(X, rng)
    >>> f = Expansion(neurons, X, rng.standard_normal((50, 1)))
    >>> value, error = f.estimate(X[:2], n_neurons=4000, estimate="full", random_state=0)
    >>> exact = neurons.kernel(X[:2], X) @ f.dual_coef
    >>> bool((np.abs(value - exact) < 5 * error).all())
    True
    """

    neurons: Neurons
    support: Annotated[Any, Matrix("n_support", "neurons.n_features_in_")]
    dual_coef: Annotated[np.ndarray, Array("f4 f8", "n_support", None)]
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        _check_expansion(self.support, self.dual_coef)
        self.support = canonical(self.support)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the measured variances in copies and files."""
        return {name: value for name, value in vars(self).items() if name != "_at_support"}

    def values(self, weights: Weights) -> np.ndarray:
        r"""Compute :math:`f(w) = \sum_i \alpha_i \psi(x_i; w)` for each of n neurons.

        Parameters
        ----------
        weights : tuple of arrays
            Weights of n neurons.

        Returns
        -------
        float64 array of shape (n, width, n_outputs)
            The values of f.
        """
        n, width, n_rows = len(weights[0]), self.neurons.width, self.support.shape[0]
        parts: dict[int, list[np.ndarray]] = {}

        def add(rows: slice, where: slice, psi: np.ndarray) -> None:
            parts.setdefault(rows.start, []).append(by_neuron(psi.T @ self._alpha(rows), width))

        n_jobs = worthwhile(self.n_jobs, n_rows * n * width)
        blocks = row_blocks(n_rows, threads=n_threads(n_jobs))
        evaluate(self.neurons, in_blocks(weights), self.support, n * width, add, n_jobs, blocks)
        total = np.zeros((n, width, self.dual_coef.shape[1]))
        for start in sorted(parts):
            total += np.concatenate(parts[start])
        return total

    def _alpha(self, rows: slice) -> np.ndarray:
        return self.dual_coef[rows].astype(self.support.dtype, copy=False)

    def freeze(
        self, n_neurons: int, estimate: str = "full", random_state: RandomStateLike = None
    ) -> Network:
        """Draw a finite network whose expectation is this expansion.

        Parameters
        ----------
        n_neurons : int
            Number of neurons of the network. Four times as many halve its standard error. The time
            for a prediction does not depend on the number of support points.
        estimate : {"full", "index", "stratified"}, default="full"
            How to compute the coefficients of the network. Full sums have the smallest standard
            error, whereas index sampling is faster.
        random_state : int, Generator, RandomState or None, default=None
            Seed of the neurons. Pass an int for reproducible results.

        Returns
        -------
        Network
            The network.
        """
        check_value("Expansion", "n_neurons", n_neurons, N_NEURONS)
        check_value("Expansion", "estimate", estimate, FROZEN)
        return self._sample(n_neurons, as_generator(random_state), estimate)

    def estimate(
        self,
        X: Any,
        n_neurons: int,
        estimate: str = "auto",
        random_state: RandomStateLike = None,
        variances: Variances | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Estimate ⟨f, Φ(x)⟩ for each row without bias, from freshly drawn neurons.

        All rows share the neurons, so the errors of different rows are correlated. Each estimate by
        itself is unbiased, and has the standard error that is returned.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Rows.
        n_neurons : int
            Number of neurons to draw.
        estimate : {"auto", "full", "index", "stratified"}, default="auto"
            How to estimate; see the class. "auto" aims at the standard error of full sums over
            ``n_neurons`` neurons. If stratified index sampling reaches it with less work, "auto"
            uses that, with more neurons. The decision is based on variances that a pilot measures
            with a few neurons. The first estimate that is large enough runs the pilot once, at some
            of the support points.
        random_state : int, Generator, RandomState or None, default=None
            Seed of the neurons. Pass an int for reproducible results.
        variances : Variances, optional
            Result of :meth:`variances` for similar rows. Pass it if the rows are unlike the support
            points.

        Returns
        -------
        value, standard_error : arrays of shape (n_rows, n_outputs)
            Estimates and their standard errors.

        Raises
        ------
        ValueError
            If the neurons of one draw are not independent. ``freeze(n_neurons)(X)`` gives values
            without standard errors.
        """
        check_independent("Expansion", "a standard error", self.neurons)
        check_value("Expansion", "n_neurons", n_neurons, N_NEURONS)
        check_value("Expansion", "estimate", estimate, ESTIMATE)
        if estimate == "auto":
            t, n_rows = self.support.shape[0], X.shape[0]
            if variances is None and is_pilot_worthwhile(t, n_rows, n_neurons, SHARED_BY):
                variances = self._at_support
            estimate, n_neurons = self.cheapest(n_neurons, n_rows, variances)
        return self._sample(n_neurons, as_generator(random_state), estimate).estimate(X)

    def full_sums(self, X: Any, n_neurons: int, rng: np.random.Generator) -> np.ndarray:
        """Compute ``freeze(n_neurons, "full", rng)(X)`` without making the network.

        Each thread processes one block of neurons at a time: it draws them, sums over the support
        and predicts. If there are fewer blocks than threads, the threads share the support points
        and rows instead.
        """
        t, n_rows, outputs = self.support.shape[0], X.shape[0], self.dual_coef.shape[1]
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
        self, X: Any, tolerance: Any, confidence: float = 0.9, random_state: RandomStateLike = None
    ) -> tuple[np.ndarray, np.ndarray]:
        r"""Estimate ⟨f, Φ(x)⟩ within a tolerance, with as many neurons as that needs.

        Each value is within ``tolerance`` of :math:`\langle f, \Phi(x) \rangle` with a probability
        of at least ``confidence``, as long as no neuron exceeds its family's ``bound``.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Rows.
        tolerance : float or array of shape (n_outputs,)
            Largest error allowed.
        confidence : float, default=0.9
            Probability that an error is within the tolerance, for each value by itself.
        random_state : int, Generator, RandomState or None, default=None
            Seed of the neurons. Pass an int for reproducible results.

        Returns
        -------
        value, radius : arrays of shape (n_rows, n_outputs)
            Estimates and bounds of their errors, with the same confidence. No radius exceeds the
            tolerance.

        Raises
        ------
        ValueError
            If the tolerance is below the rounding error of sums in the precision of the support, or
            if the neurons of one draw are not independent.

        Notes
        -----
        The value of each neuron lies in :math:`\pm \|\alpha\|_1 \mathrm{bound}^2`. Neurons are
        drawn in stages of growing size, up to the stage in which the smaller of Hoeffding's and the
        empirical Bernstein radius is within the tolerance at every row. The stages share the
        probability of error, because any of them could be the last.
        """
        check_independent("Expansion", "a certificate", self.neurons)
        tolerance = check_tolerance("Expansion", tolerance, self.dual_coef, self.support.dtype)
        check_probability("Expansion", "confidence", confidence)
        half_range = np.abs(self.dual_coef).sum(axis=0) * self.neurons.bound**2
        fresh = partial(self.freeze, estimate="full", random_state=as_generator(random_state))
        return certified(fresh, X, half_range, tolerance, 1 - confidence)

    def _sample(self, n_neurons: int, rng: np.random.Generator, estimate: str) -> Network:
        sampler = SupportSampler(self.dual_coef)
        if estimate == "full":  # as full_sums draws them, on threads
            weights = draw_blocks(self.neurons, as_seed(rng), n_neurons, self.support.dtype)
        else:
            weights = draw(self.neurons, rng, n_neurons, self.support.dtype)
        if not sampler.total:
            coef = np.zeros((n_neurons, self.neurons.width, self.dual_coef.shape[1]))
        elif estimate == "full":
            coef = self.values(weights) / n_neurons
        else:
            index = sampler.draw(n_neurons, rng, estimate)
            coef = self._index_values(weights, index, sampler.directions(index)) / n_neurons
        coef = coef.astype(self.support.dtype)
        source, strata = StoredNeurons(weights), estimate == "stratified"
        return Network(self.neurons, source, coef, n_jobs=self.n_jobs, stratified=strata)

    def _index_values(
        self, weights: Weights, index: np.ndarray, directions: np.ndarray
    ) -> np.ndarray:
        """Compute ‖α‖₁ (α_i / |α_i|) ψ(x_i; w) for each neuron and its support point i."""

        def pairs(some: slice) -> np.ndarray:
            of_neurons = self.neurons._as_drawn(pick(weights, some))
            psi = self.neurons.activate_pairs(self.support[index[some]], of_neurons)
            check_pairs(type(self.neurons).__name__, psi, len(index[some]), self.neurons.width)
            return psi

        psi = np.concatenate(map_blocks(pairs, row_blocks(len(index), _PAIRS), self.n_jobs))
        return psi[:, :, None] * directions[:, None, :]  # Alg. 2, line 4

    def variances(self, X: Any, random_state: RandomStateLike = None) -> Variances:
        """Measure the variances of all estimators at the first few rows, with a few neurons.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Rows.
        random_state : int, Generator, RandomState or None, default=None
            Seed of the neurons. Pass an int for reproducible results.

        Returns
        -------
        Variances
            Variances of one neuron, for :meth:`estimate`.
        """
        return run_pilot(self.neurons, self.support, self.dual_coef, X, as_generator(random_state))

    @cached_property
    def _at_support(self) -> Variances:
        """Measure variances at some of the support points, with a seed of their own.

        The choice of "auto" then depends neither on the seed of an estimate nor on earlier
        estimates.
        """
        t = self.support.shape[0]
        some = np.linspace(0, t - 1, min(t, PILOT_ROWS)).astype(int)
        return self.variances(self.support[some], generator(0, Purpose.PILOT))

    def variances_if_worth(
        self, X: Any, n_neurons: int, random_state: RandomStateLike = None, n_estimates: float = 1
    ) -> Variances | None:
        """Measure variances at some rows if a pilot is likely to save work, or return None.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Rows.
        n_neurons : int
            Number of neurons of full sums with the wanted error.
        random_state : int, Generator, RandomState or None, default=None
            Seed of the neurons. Pass an int for reproducible results.
        n_estimates : float, default=1
            Number of estimates that will use the variances.

        Returns
        -------
        Variances or None
            Variances of one neuron, for :meth:`estimate`.
        """
        if not is_pilot_worthwhile(self.support.shape[0], X.shape[0], n_neurons, n_estimates):
            return None
        return self.variances(X, random_state)

    def cheapest(self, n_neurons: int, n_rows: int, variances: Variances | None) -> tuple[str, int]:
        """Find the estimator with the least work for the error of full sums, and its neurons."""
        return cheapest(self.support.shape[0], n_rows, n_neurons, variances)


def _check_expansion(support: Any, dual_coef: Any) -> None:
    shape = support.shape if scipy.sparse.issparse(support) else np.shape(support)
    shapes = shape, np.shape(dual_coef)
    if len(shapes[0]) != 2 or len(shapes[1]) != 2 or shapes[0][0] != shapes[1][0]:
        raise InvalidValueError(
            f"Expansion: support has shape {shapes[0]} and dual_coef {shapes[1]}, but they must be "
            "(t, n_features) and (t, n_outputs)",
            "pass dual_coef[:, None] for a single output",
        )
    if getattr(support, "dtype", None) not in (np.float32, np.float64):
        raise InvalidTypeError(
            f"Expansion: support has dtype {getattr(support, 'dtype', type(support).__name__)}, "
            "but it must be a float32 or float64 array",
            "support.astype('float32')",
        )

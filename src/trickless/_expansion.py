"""The expansion f = Σ α_i Φ(x_i), and unbiased estimates of what it predicts.

Its prediction ⟨f, Φ(x)⟩ = E_w[f(w) ψ(x; w)], with f(w) = Σ_i α_i ψ(x_i; w), is an expectation over
neurons, so it can be sampled. Both ways of sampling it draw neurons and give each one a coefficient
that depends on no x. So each *is* a finite network, whose value at any x is an unbiased estimate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless._blocks import map_blocks, row_blocks
from trickless._network import Network
from trickless._stream import BLOCK, StoredNeurons, as_generator, draw, pick
from trickless._validation import check_expansion, check_value, choice, integer
from trickless.neurons import Neurons, Weights

_PILOT = 16
#: Work of drawing one neuron, in activations: normal numbers are drawn some hundred times more
#: slowly than they are multiplied.
_DRAW = 100

METHOD = choice("auto", "full", "index", remedy="'auto' takes the cheaper for the same error")
FROZEN = choice("full", "index", remedy="'full' gives the smaller standard error")
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
    mean_square : float, optional
        An estimate of E |f(w)|², if one is at hand from other neurons; it saves "auto" a pilot.

    Notes
    -----
    *Index sampling* (Livni et al. 2017, Algorithm 2) draws :math:`i \propto |\alpha_i|` afresh for
    each neuron; the variance at one x is at most :math:`\|\alpha\|_1^2 / m`, for one activation of
    the support a neuron. *Full sums* evaluate f(w) over the whole support; the variance is at most
    :math:`E f(w)^2 / m = \|f\|^2 / m`, for t activations a neuron. With several outputs,
    :math:`|\alpha_i|` is the Euclidean norm of row i.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless import Expansion
    >>> from trickless.neurons import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 3))
    >>> neurons = Gaussian(length_scale=1.0).fit(X, rng)
    >>> f = Expansion(neurons, X, rng.standard_normal((50, 1)))
    >>> value, error = f.estimate(X[:2], n_neurons=4000, method="full", random_state=0)
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
        mean_square: float | None = None,
    ) -> None:
        check_expansion(support, alpha)
        self.neurons = neurons
        self.support = support
        self.alpha = alpha
        self.n_jobs = n_jobs
        self.mean_square = mean_square

    def values(self, weights: Weights) -> np.ndarray:
        """f(w) = Σ_i α_i ψ(x_i; w) for each of n neurons, shape (n, width, n_outputs)."""
        n, width, outputs = len(weights[0]), self.neurons.width, self.alpha.shape[1]
        alpha = self.alpha.astype(self.support.dtype, copy=False)

        def partial(rows: slice) -> np.ndarray:
            X = self.support[rows]
            total = np.empty((n, width, outputs), dtype=alpha.dtype)
            for some in row_blocks(n, BLOCK):
                Z = self.neurons(X, pick(weights, some))
                f = (Z.T @ alpha[rows]).reshape(width, -1, outputs)
                total[some] = f.transpose(1, 0, 2)
            return total

        total = np.zeros((n, width, outputs))
        for part in map_blocks(partial, row_blocks(self.support.shape[0]), self.n_jobs):
            total += part
        return total

    def freeze(self, n_neurons: int, method: str = "full", random_state: Any = None) -> Network:
        """Sample an ordinary finite network whose expectation is this expansion.

        Parameters
        ----------
        n_neurons : int
            How many neurons the network gets. Its standard error falls like 1/√n_neurons, and its
            cost for a row does not depend on the size of the support.
        method : {"full", "index"}, default="full"
            Full sums give the smaller standard error, index sampling is sooner done.
        random_state : int, Generator, RandomState or None, default=None
            Source of the neurons.

        Returns
        -------
        Network
        """
        check_value("Expansion", "n_neurons", n_neurons, N_NEURONS)
        check_value("Expansion", "method", method, FROZEN)
        return self._sample(n_neurons, as_generator(random_state), method)

    def estimate(
        self, X: Any, n_neurons: int, method: str = "auto", random_state: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Unbiased estimate of ⟨f, Φ(x)⟩ for each row, from freshly drawn neurons.

        The neurons are shared by the rows: the estimate of each row is unbiased and has the error
        returned for it, but the errors of different rows are correlated.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        n_neurons : int
            How many neurons to draw.
        method : {"auto", "full", "index"}, default="auto"
            "auto" aims at the standard error of full sums over ``n_neurons`` neurons, and takes
            index sampling with as many more as that needs, by the bounds on both variances, where
            this is less work.
        random_state : int, Generator, RandomState or None, default=None
            Source of the neurons.

        Returns
        -------
        value, standard_error : arrays of shape (n_rows, n_outputs)
        """
        check_value("Expansion", "n_neurons", n_neurons, N_NEURONS)
        check_value("Expansion", "method", method, METHOD)
        rng = as_generator(random_state)
        if method == "auto":
            method, n_neurons = self.cheaper(n_neurons, X.shape[0], rng)
        return self._sample(n_neurons, rng, method).estimate(X)

    def _sample(self, n_neurons: int, rng: np.random.Generator, method: str) -> Network:
        size = np.linalg.norm(self.alpha, axis=1)
        weights = draw(self.neurons, rng, n_neurons, self.support.dtype)
        if not size.any():
            coef = np.zeros((n_neurons, self.neurons.width, self.alpha.shape[1]))
        elif method == "index":
            coef = self._index_values(weights, size, rng) / n_neurons
        else:
            coef = self.values(weights) / n_neurons
        coef = coef.astype(self.support.dtype)
        return Network(self.neurons, StoredNeurons(weights), coef, n_jobs=self.n_jobs)

    def _index_values(
        self, weights: Weights, size: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """‖α‖₁ (α_i / |α_i|) ψ(x_i; w), with i ∝ |α_i| drawn for each neuron."""
        n = len(weights[0])
        total = np.cumsum(size)
        index = np.searchsorted(total, rng.random(n) * total[-1], side="right")  # Alg. 2, line 2
        index = np.minimum(index, np.flatnonzero(size)[-1])  # rounding at the upper end
        direction = total[-1] * self.alpha[index] / size[index, None]

        def pairs(some: slice) -> np.ndarray:
            return self.neurons.activate_pairs(self.support[index[some]], pick(weights, some))

        psi = np.concatenate(map_blocks(pairs, row_blocks(n, BLOCK), self.n_jobs))
        return psi[:, :, None] * direction[:, None, :]  # Alg. 2, line 4

    def cheaper(self, n_neurons: int, n_rows: int, random_state: Any = None) -> tuple[str, int]:
        """The method with the least work for the error of full sums, and how many neurons it needs.

        Work is counted in activations; drawing a neuron costs as much as ``_DRAW`` of them. Index
        sampling may hold no more neurons than there are support points. E |f(w)|² comes from other
        neurons than those of an estimate, so that the choice does not depend on them and leaves
        the estimate unbiased.

        Parameters
        ----------
        n_neurons : int
            Neurons whose full sums have the wanted error.
        n_rows : int
            Rows to predict.
        random_state : int, Generator, RandomState or None, default=None
            Source of the neurons from which E |f(w)|² is estimated if it is not at hand.

        Returns
        -------
        method : {"full", "index"}
        n_neurons : int
        """
        m, mean_square = n_neurons, self.mean_square
        if mean_square is None:
            rng = as_generator(random_state)
            pilot = self.values(draw(self.neurons, rng, _PILOT, self.support.dtype))
            mean_square = float((pilot**2).sum()) / _PILOT
        t = self.support.shape[0]
        norm_1 = np.linalg.norm(self.alpha, axis=1).sum()
        index = norm_1**2 * (_DRAW + 1 + n_rows)
        full = mean_square * (_DRAW + t + n_rows)
        if index >= full:
            return "full", m
        needed = max(m, int(np.ceil(m * norm_1**2 / mean_square)))
        return ("index", needed) if needed <= max(m, t) else ("full", m)

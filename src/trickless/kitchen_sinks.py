"""Random Kitchen Sinks: draw K neurons at random, then solve for their weights.

A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks: replacing minimization with
randomization in learning", NIPS 2008.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError
from sklearn.utils.validation import check_is_fitted

from trickless._blocks import linear_algebra, map_blocks, n_threads, row_blocks
from trickless._estimator import Classification, NeuronLearner, Regression
from trickless._least_squares import Moments, Solution, Statistics, solve, solve_by_gcv
from trickless._losses import Loss, Squared
from trickless._network import Network
from trickless._stream import BLOCK, NeuronStream
from trickless._validation import (
    check_finite,
    check_parameters,
    choice,
    either,
    integer,
    non_negative,
)
from trickless.neurons import Neurons

#: Bytes of activations held at a time while statistics are summed.
PANEL_BYTES = 2**26


class _KitchenSinks(NeuronLearner):
    """Least squares on activations, from statistics that add up over batches."""

    _fixed = (*NeuronLearner._fixed, "n_neurons")
    _bounded = False
    _rules = NeuronLearner._rules | {
        "alpha": either(
            non_negative("alpha='auto' chooses it by generalised cross-validation"),
            choice("auto", remedy=""),
        ),
        "cache_bytes": integer(0, "cache_bytes=2**28 keeps up to 256 MiB of drawn weights"),
    }

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int = 1000,
        *,
        alpha: float | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
        cache_bytes: int = 2**28,
    ) -> None:
        self.neurons = neurons
        self.n_neurons = n_neurons
        self.alpha = alpha
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.dtype = dtype
        self.cache_bytes = cache_bytes

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Draw neurons and solve for their weights.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,), or (n_rows, n_outputs) for a regressor
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows; 2 counts as the row twice, also in the number of rows that
            ``alpha="auto"`` goes by. Divide weights that stand for importance by their mean.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _initialise(self, targets: np.ndarray, weight: np.ndarray | None) -> None:
        self.stream_ = NeuronStream(self.neurons_, self.seed_, self.dtype, self.cache_bytes)
        self.statistics_ = self._no_rows(np.average(targets, axis=0, weights=weight))

    def _no_rows(self, origin: np.ndarray) -> Statistics:
        return Statistics(self._begun_with["n_neurons"] * self.neurons_.width, origin)

    def _learn_all(self, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> None:
        self._learn(X, targets, weight)
        _ = self.network_

    def _learn(self, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> None:
        statistics = self._no_rows(self.statistics_.origin)  # merged once the batch is through
        n_columns, width = len(statistics.gram), self.neurons_.width
        panel_rows = max(BLOCK, PANEL_BYTES // (8 * n_columns))
        threads = n_threads(self.n_jobs)
        with self._progress(X.shape[0], "row") as bar:
            for panel in row_blocks(X.shape[0], panel_rows):
                rows = X[panel]
                Z = np.empty((rows.shape[0], n_columns), dtype=X.dtype)

                def activate(some: slice, rows: Any = rows, Z: np.ndarray = Z) -> None:
                    for where, weights in self.stream_.pieces(0, n_columns // width):
                        columns = slice(where.start * width, where.stop * width)
                        Z[some, columns] = self.neurons_(rows[some], weights)

                map_blocks(activate, row_blocks(rows.shape[0], threads=threads), self.n_jobs)
                part = None if weight is None else weight[panel]
                statistics.add(Z, targets[panel], part)
                bar.update(rows.shape[0])
        check_finite(type(self.neurons_).__name__, statistics.z_sum)
        if self.statistics_.weight:
            self.statistics_.merge(statistics)
        else:
            self.statistics_ = statistics
        self._solved: Solution | None = None
        self._network: Network | None = None

    def _solution(self) -> Solution:
        """The solution for the rows so far, made when it is first asked for."""
        check_is_fitted(self)
        if self._solved is None:
            check_parameters(self, self._rules)
            moments = self.statistics_.centred()
            auto = isinstance(self.alpha, str)
            with linear_algebra(self.n_jobs):
                self._solved = solve_by_gcv(moments) if auto else self._solve_at(moments)
        return self._solved

    def _solve_at(self, moments: Moments) -> Solution:
        try:
            return solve(moments, self.alpha * self._begun_with["n_neurons"])
        except LinAlgError as error:
            raise ValueError(
                f"{type(self).__name__}: alpha={self.alpha!r} is too small for these activations: "
                f"their {len(moments.covariance)} columns over {self.statistics_.weight:g} rows "
                "are linearly dependent to working precision. Remedy: a larger alpha, "
                "alpha='auto', or fewer neurons."
            ) from error

    @property
    def alpha_(self) -> Any:
        """The regularisation strength in use, for each output if there are several."""
        alpha = self._solution().ridge / self._begun_with["n_neurons"]
        return float(alpha[0]) if len(alpha) == 1 else alpha

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the neurons, shape (n_neurons, width, n_outputs)."""
        coef, width = self._solution().coef, self.neurons_.width
        blocks = [
            coef[b.start * width : b.stop * width].reshape(width, -1, coef.shape[1])
            for b in row_blocks(len(coef) // width, BLOCK)
        ]
        return np.concatenate(blocks, axis=1).transpose(1, 0, 2)

    @property
    def intercept_(self) -> np.ndarray:
        """Constants, shape (n_outputs,)."""
        return self._solution().intercept

    @property
    def network_(self) -> Network:
        """The network of the drawn neurons and their weights."""
        solution = self._solution()
        if self._network is None:
            coef = self.coef_.astype(self.stream_.dtype)
            self._network = Network(self.neurons_, self.stream_, coef, solution.intercept)
        self._network.n_jobs = self.n_jobs
        return self._network


class KitchenSinksRegressor(Regression, _KitchenSinks):
    r"""Regression with Random Kitchen Sinks: ridge regression on random neurons.

    Draws K neurons and minimises

    .. math:: \frac{1}{n} \sum_i \Big(y_i - b - \sum_j \beta_j \cdot \psi(x_i; w_j)\Big)^2
        + \alpha K \sum_j |\beta_j|^2

    in one pass over the rows. The factor K makes alpha mean the same for any number of neurons:
    :math:`K \sum_j |\beta_j|^2` estimates the squared norm of the function that the network
    samples, and the solution approaches kernel ridge regression as K grows.

    Parameters
    ----------
    neurons : Neurons or str, default="gaussian"
        The family of neurons, or the name of one: "gaussian", "laplace", "stumps", "dense",
        "coordinates".
    n_neurons : int, default=1000
        How many neurons K to draw. Memory grows like the square of ``n_neurons * width``, and not
        with the rows.
    alpha : float or "auto", default="auto"
        Regularisation strength, relative to the mean loss. "auto" chooses it by generalised
        cross-validation from the same statistics, for each output apart.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons. The same integer gives the same model.
    n_jobs : int or None, default=None
        Threads. None uses as many as BLAS would, -1 every core.
    verbose : bool, default=False
        Whether to show a progress bar.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the activations; sums and solves are always in float64.
    cache_bytes : int, default=2**28
        Bytes of drawn weights to keep in memory. The rest comes back from the seed when needed.

    Attributes
    ----------
    alpha_ : float, or array of shape (n_outputs,)
        The regularisation strength in use, for each output if there are several.
    coef_ : array of shape (n_neurons, width, n_outputs)
        Weights of the neurons.
    intercept_ : array of shape (n_outputs,)
        Constants.
    network_ : Network
        The network that predicts.
    neurons_ : Neurons
        The fitted family.
    statistics_ : Statistics
        Sums over the rows seen so far.
    n_features_in_ : int
        Number of inputs.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks", NIPS 2008, Algorithm 1;
       the constraint on the largest weight is replaced by a ridge, as in their section 4.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import KitchenSinksRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KitchenSinksRegressor(n_neurons=200, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.5)
    True
    """

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> KitchenSinksRegressor:
        """Add a batch.

        Any grouping and order of batches gives the model of one ``fit``, up to rounding, if the
        family takes nothing from the data. Median length scales and the cuts of stumps are fixed by
        the first batch: make it representative, or pass ``Gaussian(length_scale=...)``. The solve
        is put off until it is needed.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,) or (n_rows, n_outputs)
        sample_weight : array of shape (n_rows,), optional

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, sample_weight)


class KitchenSinksClassifier(Classification, _KitchenSinks):
    r"""Classification with Random Kitchen Sinks: least squares on random neurons.

    Draws K neurons and fits ±1 targets, one class against the rest, by

    .. math:: \frac{1}{n} \sum_i \Big(y_i - b - \sum_j \beta_j \cdot \psi(x_i; w_j)\Big)^2
        + \alpha K \sum_j |\beta_j|^2

    in one pass over the rows. The minimiser of the squared loss is :math:`2p - 1`, which is how
    ``predict_proba`` reads the decision values.

    Parameters
    ----------
    neurons : Neurons or str, default="gaussian"
        The family of neurons, or the name of one: "gaussian", "laplace", "stumps", "dense",
        "coordinates".
    n_neurons : int, default=1000
        How many neurons K to draw. Memory grows like the square of ``n_neurons * width``, and not
        with the rows.
    alpha : float or "auto", default="auto"
        Regularisation strength, relative to the mean loss. "auto" chooses it by generalised
        cross-validation from the same statistics, for each output apart.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons. The same integer gives the same model.
    n_jobs : int or None, default=None
        Threads. None uses as many as BLAS would, -1 every core.
    verbose : bool, default=False
        Whether to show a progress bar.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the activations; sums and solves are always in float64.
    cache_bytes : int, default=2**28
        Bytes of drawn weights to keep in memory. The rest comes back from the seed when needed.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    alpha_ : float, or array of shape (n_outputs,)
        The regularisation strength in use, for each output if there are several.
    coef_ : array of shape (n_neurons, width, n_outputs)
        Weights of the neurons.
    intercept_ : array of shape (n_outputs,)
        Constants.
    network_ : Network
        The network that predicts.
    neurons_ : Neurons
        The fitted family.
    statistics_ : Statistics
        Sums over the rows seen so far.
    n_features_in_ : int
        Number of inputs.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks", NIPS 2008, Algorithm 1;
       the constraint on the largest weight is replaced by a ridge, as in their section 4.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless import KitchenSinksClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KitchenSinksClassifier(n_neurons=500, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    def _loss(self, n_outputs: int) -> Loss:
        return Squared()

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> KitchenSinksClassifier:
        """Add a batch.

        Any grouping and order of batches gives the model of one ``fit``, up to rounding, if the
        family takes nothing from the data. Median length scales and the cuts of stumps are fixed by
        the first batch: make it representative, or pass ``Gaussian(length_scale=...)``. The solve
        is put off until it is needed.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,)
        classes : array of shape (n_classes,), optional
            All labels that may occur; used in the first call. Default: those of the first batch.
        sample_weight : array of shape (n_rows,), optional

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, sample_weight, classes)

"""Random Kitchen Sinks: draw K neurons at random, then solve for their coefficients.

A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks: replacing minimization with
randomization in learning", NIPS 2008.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import sklearn
from scipy.linalg import LinAlgError
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.devices import beside, empty, take
from trickless.arrays.interrupts import uninterrupted
from trickless.arrays.threads import linear_algebra, map_rows, on_host, row_blocks
from trickless.checks.devices import check_on_host
from trickless.checks.inputs import in_precision
from trickless.checks.learners import (
    check_alpha,
    check_finite,
    check_freedom,
    check_no_weight_bound,
    check_passes,
    check_resolved,
    check_search,
    check_streamable,
)
from trickless.checks.models import (
    check_mergeable,
    check_statistics,
    check_stream,
    each_batch,
)
from trickless.files.checkpoint import NOWHERE, Checkpoint
from trickless.functions.columns import by_neuron
from trickless.functions.network import Network
from trickless.functions.stream import BLOCK, NeuronStream, Purpose, generator
from trickless.learners.neuron_learner import NeuronLearner
from trickless.learners.tasks import Classification, Regression
from trickless.neurons import Neurons, make_neurons
from trickless.rules import (
    CLASS_WEIGHT,
    anything,
    check_parameters,
    choice,
    either,
    integer,
    is_grid,
    is_none,
    non_negative,
    positive,
)
from trickless.solvers.conjugate_gradients import Pilot, solve_in_passes
from trickless.solvers.losses import CLASSIFICATION_LOSSES, Loss, make_loss
from trickless.solvers.ridge import (
    Posterior,
    Solution,
    residual_freedom,
    residual_variance,
    solve,
    solve_by_gcv,
    solve_by_loo,
    solve_within,
)
from trickless.solvers.risk import minimise
from trickless.solvers.statistics import Moments, Statistics, least_ridge

#: Bytes of activations, in double precision, held at a time while statistics are summed, and rows,
#: of which more do not make sums faster.
PANEL_BYTES, PANEL_ROWS = 2**26, 8192
#: Bytes on a device, where the sums of few rows would wait for its memory.
PANEL_BYTES_ON_DEVICE = 2**30

#: Columns above which least squares is solved in passes over the rows: where activations can be
#: kept, and where they have to be evaluated in every pass.
PASSES_ABOVE, REEVALUATED_ABOVE = 6144, 16384
#: Rows, and activations of them all, up to which it is not: the direct solver works in rows.
FEW_ROWS, FEW_ACTIVATIONS = 2048, 2**25
#: Columns on which that solver begins to look for alpha, and the most rows of its preconditioner.
PILOT_COLUMNS, PRECONDITIONER_ROWS = 2048, 8192


class _KitchenSinks(NeuronLearner):
    """Least squares on activations, from statistics that add up over batches."""

    loss: str = "squared_error"
    alpha: float | str
    weight_bound: float | None
    solver: str
    search: dict[str, Any] | None
    max_iter: int
    tol: float
    cache_bytes: int
    statistics_: Statistics
    _solved: Solution | None
    _network: Network | None

    _fixed = (*NeuronLearner._fixed, "n_neurons")
    _bounded = False
    _on_devices = True
    _rules = NeuronLearner._rules | {
        "alpha": either(
            non_negative("alpha='auto' chooses it by generalised cross-validation"),
            choice("auto", "loo", remedy=""),
        ),
        "weight_bound": either(
            positive("weight_bound=None sets no bound"), anything("None", "", is_none)
        ),
        "solver": choice("auto", "direct", "iterative", remedy="solver='auto' goes by the columns"),
        "max_iter": integer(1, "max_iter=500 is the default"),
        "tol": positive("tol=1e-5 is the default"),
        "search": either(
            anything(
                "a dictionary of lists",
                "search={'neurons__length_scale': [0.5, 1.0, 2.0]} compares three length scales",
                is_grid,
            ),
            anything("None", "", is_none),
        ),
        "cache_bytes": integer(0, "cache_bytes=2**28 keeps up to 256 MiB of drawn weights"),
    }

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Any:
        """Draw neurons and solve for their coefficients.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,), or (n_rows, n_outputs) for a regressor
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows; 2 counts as the row twice, also in the number of rows that
            ``alpha="auto"`` goes by; ``alpha="loo"`` leaves out a row with all its weight. Divide
            weights that stand for importance by their mean.
        checkpoint : str or path, optional
            A file to keep the state of the fit in, about once a minute. After the end of the
            process, the same call with the same data goes on from there, to the same model. The
            file is removed when the fit is done. Default: none.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, checkpoint)

    def _families(self) -> list[Neurons]:
        if self.search is None:
            return super()._families()
        begin = clone(self).set_params(search=None)
        check_search(begin, self.search)
        return [
            clone(make_neurons(clone(begin).set_params(**params).neurons))
            for params in sklearn.model_selection.ParameterGrid(self.search)
        ]

    def _initialise(self, targets: np.ndarray, weight: np.ndarray | None) -> None:
        self.stream_ = NeuronStream(self.neurons_, self.seed_, self.dtype, self.cache_bytes)
        self._origin = np.average(targets, axis=0, weights=weight)
        self.__dict__.pop("statistics_", None)
        self._forget()

    def _no_rows(self, origin: np.ndarray, like: Any = None) -> Statistics:
        return Statistics(self._begun_with["n_neurons"] * self.neurons_.width, origin, like)

    def _learn_all(
        self, X: Any, targets: np.ndarray, weight: np.ndarray | None, checkpoint: Checkpoint
    ) -> None:
        if self._goes_in_passes(X):
            self._solved = self._solve_in_passes(X, targets, weight, checkpoint)
        else:
            self._learn(X, targets, weight, checkpoint)
        if self.alpha == "loo":
            self._solved = self._bounded_by_weight(self._leave_one_out(X, targets, weight))
        self._go_on_from_least_squares(X, targets, weight)
        _ = self.network_

    def _go_on_from_least_squares(
        self, X: Any, targets: np.ndarray, weight: np.ndarray | None
    ) -> None:
        """Solve what is minimised, if that is another loss."""

    def _goes_in_passes(self, X: Any) -> bool:
        """Whether least squares is solved in passes over the rows rather than from statistics."""
        why_not = {
            "alpha": (self.alpha, self.alpha not in ("loo", 0)),
            "weight_bound": (self.weight_bound, self.weight_bound is None),
            "loss": (self.loss, self.loss == "squared_error"),
        }
        if self.solver == "iterative":
            check_on_host(f"{type(self).__name__}, solver='iterative'", X, "solver='direct'")
            check_passes(type(self).__name__, **why_not)
            return True
        n_columns = self.n_neurons * self.neurons_.width
        kept = self._bytes(X.shape[0]) <= self._room()
        many = n_columns > (PASSES_ABOVE if kept else REEVALUATED_ABOVE)
        free = on_host(X) and self.solver == "auto" and not self._has_few_rows(X)
        return free and many and all(goes for _, goes in why_not.values())

    def _has_few_rows(self, X: Any) -> bool:
        """Whether the direct solver can work in rows, as it does but for alpha=0."""
        n_rows, n_columns = X.shape[0], self.n_neurons * self.neurons_.width
        few = n_rows <= FEW_ROWS and n_rows * n_columns <= FEW_ACTIVATIONS
        return few and self.alpha != 0

    def _bytes(self, n_rows: int) -> int:
        """Bytes of the activations of so many rows."""
        n_columns = self._begun_with["n_neurons"] * self.neurons_.width
        return n_rows * n_columns * np.dtype(self._begun_with["dtype"]).itemsize

    def _room(self) -> int:
        """Bytes that activations may take in the iterative solver.

        16 c² bytes are the two c × c matrices of the direct one. The preconditioner and its factor,
        with up to c² / 2 numbers each, come on top.
        """
        return max(self.cache_bytes, 16 * (self.n_neurons * self.neurons_.width) ** 2)

    def _solve_in_passes(
        self, X: Any, targets: np.ndarray, weight: np.ndarray | None, checkpoint: Checkpoint
    ) -> Solution:
        n_rows, n_columns = X.shape[0], self.n_neurons * self.neurons_.width
        n_chosen = min(n_rows, max(BLOCK, n_columns // 2), PRECONDITIONER_ROWS)
        rng = generator(self.seed_, Purpose.PRECONDITIONER)
        chosen = np.sort(rng.choice(n_rows, n_chosen, replace=False))
        ridge: float | Pilot
        if isinstance(self.alpha, str):
            n_pilot = min(self.n_neurons, max(1, PILOT_COLUMNS // self.neurons_.width))
            pilot = np.sort(self._by_neuron(np.arange(n_columns))[:n_pilot], axis=None)
            ridge = Pilot(pilot, self.n_neurons / n_pilot, rng)
        else:
            ridge = self.alpha * self.n_neurons
        with self._dependent_columns():
            return solve_in_passes(
                self._blocks(X, self._room()),
                targets,
                weight,
                ridge,
                chosen,
                self.max_iter,
                self.tol,
                self.n_jobs,
                type(self).__name__,
                checkpoint,
            )

    def _by_neuron(self, columns: np.ndarray) -> np.ndarray:
        """What belongs to columns of all blocks, as an array (n_neurons, width, ...)."""
        width = self.neurons_.width
        blocks = [
            by_neuron(columns[b.start * width : b.stop * width], width)
            for b in row_blocks(len(columns) // width, BLOCK)
        ]
        return np.concatenate(blocks)

    def _blocks(self, X: Any, most: int) -> Callable[[], Iterator[tuple[slice, np.ndarray]]]:
        """Begins passes over the activations: kept if they take at most so many bytes."""
        if self._bytes(X.shape[0]) > most:
            return lambda: self._panels(X)
        panels = list(self._panels(X, kept=True))
        return lambda: iter(panels)

    def _learn(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        checkpoint: Checkpoint = NOWHERE,
    ) -> None:
        statistics, done = self._no_rows(self._origin, X), 0  # merged once the batch is through
        statistics.make_room(X.shape[0])
        alpha = np.inf if isinstance(self.alpha, str) else self.alpha
        least = least_ridge(X.shape[0], alpha * self._begun_with["n_neurons"])
        if (state := checkpoint.resume()) is not None:
            place, statistics, done = statistics, state["statistics"], state["rows"]
            if not on_host(X):
                statistics.gram = beside(place.gram, statistics.gram)

        def state_now() -> dict[str, Any]:
            return {"statistics": statistics, "rows": rows.stop}

        with self._progress(X.shape[0], "row") as bar:
            bar.update(done)
            # As many rows as columns take no more memory than the Gram matrix they are added to.
            for rows, Z in self._panels(X, done, n_together=len(statistics.z_sum)):
                part = None if weight is None else weight[rows]
                statistics.add(Z, targets[rows], part, least, self.n_jobs)
                bar.update(Z.shape[0])
                checkpoint.keep(state_now)
        check_finite(type(self.neurons_).__name__, statistics.z_sum)
        if hasattr(self, "statistics_"):
            self.statistics_.make_room(X.shape[0])
        with uninterrupted():
            if hasattr(self, "statistics_"):
                before = self.statistics_
                if not on_host(X):  # before may be from a file
                    before.gram = beside(statistics.gram, before.gram)
                before.merge(statistics)
            else:
                self.statistics_ = statistics
            self._forget()

    def _forget(self) -> None:
        """Solve anew when the solution is next asked for."""
        self._solved = None
        self._network = None

    def _panels(
        self, X: Any, start: int = 0, kept: bool = False, n_together: int = 0
    ) -> Iterator[tuple[slice, Any]]:
        """Activations of some rows at a time by all neurons, and which rows they are.

        Rows before ``start`` are left out. Unless they are to be kept, activations last until the
        next ones take their place: memory that is new takes time of its own. ``n_together`` rows
        may come at a time even if they take more than ``PANEL_BYTES``.
        """
        n_neurons, width = self._begun_with["n_neurons"], self.neurons_.width
        if on_host(X):
            most = min(PANEL_ROWS, max(PANEL_BYTES // (8 * n_neurons * width), n_together))
        else:
            most = PANEL_BYTES_ON_DEVICE // (8 * n_neurons * width)
        n_rows, size = X.shape[0], BLOCK * max(1, most // BLOCK)
        memory = empty((n_rows if kept else min(n_rows, size), n_neurons * width), X)
        for first in range(start, n_rows, size):
            panel = slice(first, min(first + size, n_rows))
            rows = take(X, panel)
            Z = take(memory, panel if kept else slice(0, rows.shape[0]))

            def activate(some: slice, rows: Any = rows, Z: Any = Z) -> None:
                part = take(rows, some)
                for where, weights in self.stream_.pieces(0, n_neurons, X):
                    columns = slice(where.start * width, where.stop * width)
                    Z[some, columns] = self.neurons_(part, weights)

            map_rows(activate, rows, Z.shape[1], self.n_jobs)
            yield panel, Z

    def merge(self, other: Any) -> Any:
        """Add the rows that another model has seen, as if this one had seen them.

        Models may be fitted on parts of the data, on several machines, and merged in any order: up
        to rounding the result is that of one ``fit``.

        Parameters
        ----------
        other : estimator of the same class
            Fitted with the same neurons, ``n_neurons``, ``dtype`` and integer ``random_state``; a
            family must take nothing from the data, or have taken the same.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        check_mergeable(self, other)
        self._check_statistics()
        check_statistics(other)
        statistics = self.statistics_.copy()
        with linear_algebra(self.n_jobs):
            statistics.merge(other.statistics_)
        with uninterrupted():
            self.statistics_ = statistics
            self._forget()
        return self

    def _check_statistics(self) -> None:
        """Whether sums over the rows are all that the solution needs."""
        check_alpha(type(self).__name__, self.alpha)
        check_statistics(self)

    def _has_learned_since(self, before: dict[str, Any]) -> bool:
        try:
            self._check_statistics()
        except ValueError:
            return False
        now = self.__dict__.get("statistics_")
        return now is not None and now is not before.get("statistics_")

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Any:
        self._check_statistics()
        return super()._partial_fit(X, y, sample_weight, classes)

    def _fit_stream(
        self, batches: Iterable[tuple[Any, ...]], classes: Any = None, checkpoint: Any = None
    ) -> Any:
        check_parameters(self, self._rules)
        kept = Checkpoint(checkpoint, self, "fit_stream")
        with self._begun_or_as_before(Exception):
            if self.__sklearn_is_fitted__():
                del self.seed_
            self._check_statistics()
            n_learned = 0
            try:
                for batch in each_batch(type(self).__name__, batches):
                    self._learn_or_resume(kept, *batch, classes)
                    n_learned += 1
            except Exception as error:
                error.add_note(f"This was at batch {n_learned}, counted from 0.")
                if checkpoint is not None and not kept.behind and kept.n_batches == n_learned > 0:
                    kept.keep(lambda: {"statistics": self.statistics_}, now=True)
                raise
            check_stream(self)
            kept.ended()
            if checkpoint is not None:
                _ = self.network_
        kept.remove()
        return self

    def _learn_or_resume(self, kept: Checkpoint, X: Any, y: Any, weight: Any, classes: Any) -> None:
        """Take a batch of a stream, or come to the state after it."""
        first = not self.__sklearn_is_fitted__()
        with linear_algebra(self.n_jobs):
            rows = self._receive(X, y, weight, first=first, classes=classes, seed=kept.seed)
            kept.received(self.seed_, *rows)
            if (state := kept.resume()) is not None:
                self.statistics_ = state["statistics"]
            elif not kept.behind and len(rows[1]):
                self._learn(*rows)
                kept.keep(lambda: {"statistics": self.statistics_})

    def _solution(self) -> Solution:
        """The solution for the rows so far, made when it is first asked for."""
        check_is_fitted(self)
        if self._solved is None:
            check_parameters(self, self._rules)
            check_alpha(type(self).__name__, self.alpha)
            moments = self.statistics_.centred()
            auto = isinstance(self.alpha, str)
            with linear_algebra(self.n_jobs, moments.n_products):
                solution = solve_by_gcv(moments, self.n_jobs) if auto else self._solve_at(moments)
            self._solved = self._bounded_by_weight(solution)
        return self._solved

    def _solve_at(self, moments: Moments) -> Solution:
        ridge = self.alpha * self._begun_with["n_neurons"]
        check_resolved(type(self).__name__, self.alpha, ridge >= moments.least_ridge)
        with self._dependent_columns():
            return solve(moments, ridge, self.n_jobs)

    def _bounded_by_weight(self, solution: Solution) -> Solution:
        """The solution with every weight at most C / K, as in Algorithm 1 of the paper."""
        if self.weight_bound is None:
            return solution
        bound = self.weight_bound / self._begun_with["n_neurons"]
        with linear_algebra(self.n_jobs), self._dependent_columns():
            return solve_within(self.statistics_.centred(), solution, bound)

    def _leave_one_out(self, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> Solution:
        moments = self.statistics_.centred()
        weight = np.ones(len(targets)) if weight is None else weight
        weight = weight * (moments.n / weight.sum())
        parts = ((Z, targets[rows], weight[rows]) for rows, Z in self._panels(X))
        return solve_by_loo(moments, parts)

    @contextmanager
    def _dependent_columns(self) -> Iterator[None]:
        try:
            yield
        except LinAlgError as error:
            raise ValueError(
                f"{type(self).__name__}: alpha={self.alpha!r} is too small for these activations: "
                f"their {self._begun_with['n_neurons'] * self.neurons_.width} columns are linearly "
                "dependent to working precision. Remedy: a larger alpha, alpha='auto', or fewer "
                "neurons."
            ) from error

    @property
    def cv_values_(self) -> np.ndarray:
        """Scores by which alpha was chosen, shape (n_outputs, n_alphas): the mean squared error.

        By generalised cross-validation or, for ``alpha="loo"``, by leaving one row out.
        """
        scores = self._solution().scores
        if scores is None:
            raise AttributeError(
                f"alpha={self.alpha!r} was given, so there are no cv_values_. Remedy: alpha='auto'."
            )
        return scores

    @property
    def cv_alphas_(self) -> np.ndarray:
        """The values of alpha that ``cv_values_`` are for, shape (n_alphas,)."""
        _ = self.cv_values_
        grid = self._solution().grid
        assert grid is not None
        return grid / self._begun_with["n_neurons"]

    @property
    def alpha_(self) -> Any:
        """The regularisation strength in use, for each output if there are several."""
        alpha = self._solution().ridge / self._begun_with["n_neurons"]
        return float(alpha[0]) if len(alpha) == 1 else alpha

    @property
    def n_iter_(self) -> int:
        """Iterations of the solver; 1 where least squares is solved directly."""
        return self._solution().n_iter

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the neurons, shape (n_neurons, width, n_outputs)."""
        return self._by_neuron(self._solution().coef)

    @property
    def intercept_(self) -> np.ndarray:
        """Constants, shape (n_outputs,)."""
        return self._solution().intercept

    @property
    def network_(self) -> Network:
        """The network of the drawn neurons."""
        solution = self._solution()
        if self._network is None:
            coef = in_precision(type(self).__name__, "coefficients", self.coef_, self.stream_.dtype)
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
        The family of neurons, or the name of one, such as "gaussian", "stumps" or "tabular"; see
        :mod:`trickless.neurons`.
    n_neurons : int, default=1000
        How many neurons K to draw. Memory grows like the square of ``n_neurons * width``, and not
        with the rows.
    alpha : float, "auto" or "loo", default="auto"
        Regularisation strength, relative to the mean loss. "auto" chooses it by generalised
        cross-validation from the same statistics, for each output apart; "loo" by leaving each row
        out in turn, exactly, which takes a second pass over the rows of ``fit``.
    weight_bound : float or None, default=None
        The constant C of the paper: no weight exceeds C / ``n_neurons``. The least squares problem
        is solved within that box, at the alpha given or chosen without it; its time grows with
        the cube of the number of columns for each weight at the bound.
    solver : {"auto", "direct", "iterative"}, default="auto"
        How least squares is solved. "direct" sums statistics in one pass over the rows, which takes
        time of order n c² + c³ for c columns (``n_neurons * width``), and factorises them.
        "iterative" takes preconditioned conjugate gradients, some tens of passes over the rows. It
        keeps activations in memory, if they fit into ``cache_bytes`` or take no more than the
        direct solver would, and evaluates them in every pass if not. It is for ``fit`` with a
        positive alpha or "auto", and the model has no
        ``statistics_``, as ``partial_fit``, ``merge`` and ``return_std`` need. "auto" is "direct"
        for up to 6,144 columns, or 16,384 where activations cannot be kept, mostly for up to 2,048
        rows, and where "iterative" does not go.
    max_iter : int, default=500
        The most iterations of the iterative solver.
    tol : float, default=1e-5
        The iterative solver stops when the risk is within this of its minimum, relative to what the
        solution lowers it by.
    search : dict or None, default=None
        Parameters of the neurons to choose from, such as
        ``{"neurons__length_scale": [0.5, 1.0, 2.0]}``: all combinations are compared by generalised
        cross-validation, with 256 neurons on at most 4,096 rows of the first batch; where that is
        little beside the fit to come, the better half of them with 512 on 16,384, and so on up to
        2,048 on 32,768.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons. The same integer gives the same model.
    n_jobs : int or None, default=None
        Threads. None uses as many as BLAS would, -1 every core.
    verbose : bool, default=False
        Whether to show a progress bar.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the activations, and of products of some rows of them where that is good
        enough; sums and solves are always in float64.
    cache_bytes : int, default=2**28
        Bytes of drawn weights to keep in memory, and of activations where they are needed more than
        once. The rest comes back from the seed when needed.

    Attributes
    ----------
    alpha_ : float, or array of shape (n_outputs,)
        The regularisation strength in use, for each output if there are several.
    coef_ : array of shape (n_neurons, width, n_outputs)
        Coefficients of the neurons.
    intercept_ : array of shape (n_outputs,)
        Constants.
    cv_values_ : array of shape (n_outputs, n_alphas)
        Cross-validated mean squared error at each of ``cv_alphas_``, where alpha was chosen;
        infinite where an alpha was not tried.
    cv_alphas_ : array of shape (n_alphas,)
        The values of alpha that were compared.
    n_iter_ : int
        Iterations of the solver; 1 where least squares is solved directly.
    noise_variance_ : float, or array of shape (n_outputs,)
        Variance of the noise, from the residuals.
    network_ : Network
        The network that predicts.
    neurons_ : Neurons
        The fitted family.
    search_scores_ : array of shape (n_candidates,)
        Scores of the families compared, by ``search`` in the order of
        :class:`sklearn.model_selection.ParameterGrid` or by the family's own choice of a length
        scale or of weights of features, relative to a constant. Each is of the last comparison
        that a family was in; more rows and neurons make it smaller.
    statistics_ : Statistics
        Sums over the rows seen so far, from the direct solver; the activations and targets of each
        row instead, while rows are no more than columns.
    n_features_in_ : int
        Number of features.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks", NIPS 2008, Algorithm 1;
       the constraint on the largest weight is replaced by a ridge, as in their section 4, unless
       ``weight_bound`` is given.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import KitchenSinksRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KitchenSinksRegressor(n_neurons=200, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.5)
    True
    """

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int = 1000,
        *,
        alpha: float | str = "auto",
        weight_bound: float | None = None,
        solver: str = "auto",
        search: dict[str, Any] | None = None,
        max_iter: int = 500,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
        cache_bytes: int = 2**28,
    ) -> None:
        self.neurons = neurons
        self.n_neurons = n_neurons
        self.alpha = alpha
        self.weight_bound = weight_bound
        self.solver = solver
        self.search = search
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.dtype = dtype
        self.cache_bytes = cache_bytes

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict targets, and how certain they are.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        return_std : bool, default=False
            Whether to return standard deviations as well.

        Returns
        -------
        y : float64 array of shape (n_rows,) or (n_rows, n_outputs), as y had in ``fit``
        std : array of the same shape, if ``return_std``
            Standard deviation of a new target. With a prior under which the solution is the mean of
            the posterior, this is a Gaussian process through the drawn neurons: its kernel is
            ``noise_variance_ / (n alpha_)`` times theirs, and it approaches the exact one as
            ``n_neurons`` grows. Without ``weight_bound``.
        """
        mean = super().predict(X)
        if not return_std:
            return mean
        check_statistics(self)
        check_no_weight_bound(type(self).__name__, self.weight_bound)
        X = self._rows(X)
        return mean, self._as_y(beside(X, self._deviations(X)))

    def _deviations(self, X: Any) -> np.ndarray:
        moments, solution, noise = self.statistics_.centred(), self._solution(), self._noise()
        variance = np.empty((X.shape[0], len(noise)))
        with linear_algebra(self.n_jobs), self._dependent_columns():
            for ridge in np.unique(solution.ridge):
                posterior = Posterior(moments, ridge)
                same = solution.ridge == ridge
                for rows, Z in self._panels(X):
                    variance[rows, same] = 1 + posterior.variance(Z)[:, None]
        return np.sqrt(noise * variance)

    def _noise(self) -> np.ndarray:
        moments, solution = self.statistics_.centred(), self._solution()
        with linear_algebra(self.n_jobs), self._dependent_columns():
            ridges, which = np.unique(solution.ridge, return_inverse=True)
            left = np.array([residual_freedom(moments, ridge) for ridge in ridges])[which]
            # Both numerator and denominator vanish as alpha does, and their ratio does not.
            squares = residual_variance(moments, solution) * moments.n
        check_freedom(type(self).__name__, self.alpha_, left, moments, ridges[which])
        return squares / left

    @property
    def noise_variance_(self) -> Any:
        """Variance of the noise: residual sum of squares over residual degrees of freedom."""
        check_is_fitted(self)
        check_statistics(self)
        noise = self._noise()
        return float(noise[0]) if self._squeeze else noise

    def fit_stream(
        self,
        batches: Iterable[tuple[Any, ...]],
        *,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> KitchenSinksRegressor:
        """Begin anew, and add batches until there are no more.

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight)
            As for ``partial_fit``.
        checkpoint : str or path, optional
            A file to keep the state in, about once a minute, as for ``fit``. The same call goes on
            from there, with the same batches from the first on: those that were learned are read,
            and passed over.

        Returns
        -------
        self

        Notes
        -----
        If the source or a batch fails, the model stays that of the whole batches before, and its
        state is in ``checkpoint``; ``partial_fit`` goes on with others.
        """
        return self._fit_stream(batches, checkpoint=checkpoint)

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
        The family of neurons, or the name of one, such as "gaussian", "stumps" or "tabular"; see
        :mod:`trickless.neurons`.
    n_neurons : int, default=1000
        How many neurons K to draw. Memory grows like the square of ``n_neurons * width``, and not
        with the rows.
    loss : str, default="squared_error"
        The loss: "squared_error", "log_loss", "hinge", "squared_hinge" or "exponential". All but
        the first need the rows in ``fit``, and take some hundred passes over their activations
        ("hinge" up to a thousand), which are kept if they fit into ``cache_bytes`` and evaluated
        again if not. They minimise the mean loss plus :math:`(\alpha K / 2) \sum_j |\beta_j|^2`;
        ``alpha="auto"`` is then that of the squared loss, times the loss's curvature if that is
        below 1. "log_loss" is the logistic loss for two classes and the softmax loss for more.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which those of the rows are multiplied: {label: weight}, where
        a class that is not named has weight 1, or inversely proportional to their frequencies.
        "balanced" needs all rows, and so is for ``fit`` only, and not to be merged.
    alpha : float, "auto" or "loo", default="auto"
        Regularisation strength, relative to the mean loss. "auto" chooses it by generalised
        cross-validation from the same statistics, for each output apart; "loo" by leaving each row
        out in turn, exactly, which takes a second pass over the rows of ``fit``.
    weight_bound : float or None, default=None
        The constant C of the paper: no weight exceeds C / ``n_neurons``. The least squares problem
        is solved within that box, at the alpha given or chosen without it; its time grows with
        the cube of the number of columns for each weight at the bound.
    solver : {"auto", "direct", "iterative"}, default="auto"
        How least squares is solved, for ``loss="squared_error"``. "direct" sums statistics in one
        pass over the rows, which takes time of order n c² + c³ for c columns (``n_neurons *
        width``), and factorises them. "iterative" takes preconditioned conjugate gradients, some
        tens of passes over the rows. It keeps activations in memory, if they fit into
        ``cache_bytes`` or take no more than the direct solver would, and evaluates them in every
        pass if not. It is for ``fit`` with a positive alpha or "auto", and the model has no
        ``statistics_``, as ``partial_fit`` and ``merge`` need. "auto" is "direct" for up to
        6,144 columns, or 16,384 where activations cannot be kept, mostly for up to 2,048 rows, and
        where "iterative" does not go.
    max_iter : int, default=500
        The most iterations of the iterative solver, and for losses other than "squared_error"; one
        is about a pass.
    tol : float, default=1e-5
        The iterative solver stops when the risk is within this of its minimum, relative to what the
        solution lowers it by. For losses other than "squared_error": the largest entry of the
        preconditioned gradient at which they are solved, if the risk has not stopped to decrease
        before.
    search : dict or None, default=None
        Parameters of the neurons to choose from, such as
        ``{"neurons__length_scale": [0.5, 1.0, 2.0]}``: all combinations are compared by generalised
        cross-validation, with 256 neurons on at most 4,096 rows of the first batch; where that is
        little beside the fit to come, the better half of them with 512 on 16,384, and so on up to
        2,048 on 32,768.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons. The same integer gives the same model.
    n_jobs : int or None, default=None
        Threads. None uses as many as BLAS would, -1 every core.
    verbose : bool, default=False
        Whether to show a progress bar.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the activations, and of products of some rows of them where that is good
        enough; sums and solves are always in float64.
    cache_bytes : int, default=2**28
        Bytes of drawn weights to keep in memory, and of activations where they are needed more than
        once. The rest comes back from the seed when needed.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    alpha_ : float, or array of shape (n_outputs,)
        The regularisation strength in use, for each output if there are several.
    coef_ : array of shape (n_neurons, width, n_outputs)
        Coefficients of the neurons.
    intercept_ : array of shape (n_outputs,)
        Constants.
    cv_values_ : array of shape (n_outputs, n_alphas)
        Cross-validated mean squared error at each of ``cv_alphas_``, where alpha was chosen: for
        other losses too, as alpha is chosen by the squared one. Infinite where an alpha was not
        tried.
    cv_alphas_ : array of shape (n_alphas,)
        The values of alpha that were compared.
    n_iter_ : int
        Iterations of the solver; 1 where least squares is solved directly.
    network_ : Network
        The network that predicts.
    neurons_ : Neurons
        The fitted family.
    search_scores_ : array of shape (n_candidates,)
        Scores of the families compared, by ``search`` in the order of
        :class:`sklearn.model_selection.ParameterGrid` or by the family's own choice of a length
        scale or of weights of features, relative to a constant. Each is of the last comparison
        that a family was in; more rows and neurons make it smaller.
    statistics_ : Statistics
        Sums over the rows seen so far, from the direct solver; the activations and targets of each
        row instead, while rows are no more than columns.
    n_features_in_ : int
        Number of features.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks", NIPS 2008, Algorithm 1;
       the constraint on the largest weight is replaced by a ridge, as in their section 4, unless
       ``weight_bound`` is given.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless import KitchenSinksClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KitchenSinksClassifier(n_neurons=500, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _fixed = ("loss", *_KitchenSinks._fixed)
    _rules = _KitchenSinks._rules | {
        "loss": choice(
            *CLASSIFICATION_LOSSES, "exponential", remedy="loss='squared_error' is the fastest"
        ),
        "class_weight": CLASS_WEIGHT,
    }

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int = 1000,
        *,
        loss: str = "squared_error",
        class_weight: dict[Any, float] | str | None = None,
        alpha: float | str = "auto",
        weight_bound: float | None = None,
        solver: str = "auto",
        search: dict[str, Any] | None = None,
        max_iter: int = 500,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
        cache_bytes: int = 2**28,
    ) -> None:
        self.neurons = neurons
        self.n_neurons = n_neurons
        self.loss = loss
        self.class_weight = class_weight
        self.alpha = alpha
        self.weight_bound = weight_bound
        self.solver = solver
        self.search = search
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.dtype = dtype
        self.cache_bytes = cache_bytes

    def _loss(self, n_outputs: int) -> Loss:
        name = getattr(self, "_begun_with", {}).get("loss", self.loss)
        return make_loss(name, n_outputs)

    def _learn_all(
        self, X: Any, targets: np.ndarray, weight: np.ndarray | None, checkpoint: Checkpoint
    ) -> None:
        if self.loss != "squared_error":
            check_no_weight_bound(type(self).__name__, self.weight_bound, self.loss)
        super()._learn_all(X, targets, weight, checkpoint)

    def _go_on_from_least_squares(
        self, X: Any, targets: np.ndarray, weight: np.ndarray | None
    ) -> None:
        if self.loss != "squared_error":
            self._solved = self._least_risk(X, targets, weight)

    def _check_statistics(self) -> None:
        super()._check_statistics()
        begun_with = getattr(self, "_begun_with", {"loss": self.loss})["loss"]
        for loss in (self.loss, begun_with):
            check_streamable(type(self).__name__, loss)

    def _least_risk(self, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> Solution:
        """Minimise the risk in passes over the rows, from activations kept if they fit."""
        loss, moments = self._loss(targets.shape[1]), self.statistics_.centred()
        squared = self._solution()
        factor = min(loss.curvature, 1.0) if isinstance(self.alpha, str) else 1.0
        least = minimise(
            self._blocks(X, self.cache_bytes),
            targets,
            weight,
            loss,
            squared.ridge * factor,
            moments,
            self.max_iter,
            self.tol,
            type(self).__name__,
        )
        grid = None if squared.grid is None else squared.grid * factor
        return least._replace(grid=grid, scores=squared.scores)

    def fit_stream(
        self,
        batches: Iterable[tuple[Any, ...]],
        classes: Any = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> KitchenSinksClassifier:
        """Begin anew, and add batches until there are no more; for ``loss="squared_error"``.

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight)
            As for ``partial_fit``.
        classes : array of shape (n_classes,), optional
            All labels that may occur. Default: those of the first batch.
        checkpoint : str or path, optional
            A file to keep the state in, about once a minute, as for ``fit``. The same call goes on
            from there, with the same batches from the first on: those that were learned are read,
            and passed over.

        Returns
        -------
        self
        """
        return self._fit_stream(batches, classes, checkpoint)

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

        Raises
        ------
        ValueError
            For losses other than "squared_error", which need all rows.
        """
        return self._partial_fit(X, y, sample_weight, classes)

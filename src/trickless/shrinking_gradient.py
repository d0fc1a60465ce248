"""Shrinking Gradient: online learning of an infinite-layer network from samples of its neurons.

R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the kernel trick",
ICML 2017, PMLR 70:2198-2207. Two misprints are corrected here. Algorithm 1 prints the coefficient
of a new support point with the opposite sign, which would ascend the loss; the analysis takes a
step against the gradient (E_t − y_t) Φ(x_t), so the coefficient is η (y_t − E_t). And the theorem
states the step B/√T, while its proof uses B/(2√T); the latter is used here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless._blocks import linear_algebra
from trickless._estimator import Classification, NeuronLearner, Regression
from trickless._expansion import METHOD, Expansion
from trickless._growing import Growing, growing_like
from trickless._losses import Loss, Squared
from trickless._network import Network
from trickless._stream import Purpose, generator
from trickless._validation import anything, check_range, choice, either, integer, is_range, positive
from trickless.neurons import Neurons
from trickless.theory import ShrinkingGradientConstants, shrinking_gradient_constants

#: Estimates of at least SHRINK_AT × norm_bound divide the coefficients by SHRINK_BY.
SHRINK_AT = 16
SHRINK_BY = 4
#: Decaying schedules start at half the step that would fit a row exactly, for bound 1.
LARGEST_STEP = 1 / 2
#: Draws that a round may hold in memory.
_MOST_SAMPLES = 10**7


class _Coefficients:
    """Coefficients α that shrink as a whole, and their average over rounds.

    Neither a shrink nor a round touches the coefficients, however many there are. Rounds are
    counted in epochs, which a shrink ends, for each output apart. A coefficient is kept as it was
    when it was appended, with the epoch and the number of rounds in that epoch so far. So it is
    α 4^-(epochs since) now, and its sum over rounds is α times a sum of rounds weighted likewise.
    """

    def __init__(self, n_outputs: int) -> None:
        self._alpha, self._epoch, self._round = Growing(), Growing(), Growing()
        self._alpha.append(np.zeros((0, n_outputs)))
        self._epoch.append(np.zeros((0, n_outputs), dtype=int))
        self._round.append(np.zeros((0, n_outputs), dtype=int))
        self._rounds_of_epoch = [[0] for _ in range(n_outputs)]
        self.n_rounds = 0

    def count_rounds(self, n: int) -> None:
        """Count n rounds with the current coefficients."""
        self.n_rounds += n
        for rounds in self._rounds_of_epoch:
            rounds[-1] += n

    def append(self, alpha: np.ndarray) -> None:
        """Append coefficients of new support points, shape (n, n_outputs)."""
        self._alpha.append(alpha)
        self._epoch.append(np.tile(self._now(), (len(alpha), 1)))
        self._round.append(np.tile([r[-1] for r in self._rounds_of_epoch], (len(alpha), 1)))

    def shrink(self, outputs: np.ndarray) -> None:
        """Divide the coefficients of the outputs that are marked."""
        for output in np.flatnonzero(outputs):
            self._rounds_of_epoch[output].append(0)

    def last(self) -> np.ndarray:
        """Coefficients after the last round."""
        return self._alpha.rows * float(SHRINK_BY) ** (self._epoch.rows - self._now())

    def average(self) -> np.ndarray:
        """Coefficients averaged over the rounds, each as it was before the round."""
        average = np.empty_like(self._alpha.rows)
        for output, rounds in enumerate(self._rounds_of_epoch):
            later = np.zeros(len(rounds))  # rounds after an epoch's end, in units of its scale
            for end in range(len(rounds) - 1, 0, -1):
                later[end - 1] = (rounds[end] + later[end]) / SHRINK_BY
            epoch = self._epoch.rows[:, output]
            weighted = np.asarray(rounds)[epoch] - self._round.rows[:, output] + later[epoch]
            average[:, output] = self._alpha.rows[:, output] * weighted / max(self.n_rounds, 1)
        return average

    def _now(self) -> np.ndarray:
        """The current epoch of each output."""
        return np.array([len(rounds) - 1 for rounds in self._rounds_of_epoch])


class _ShrinkingGradient(NeuronLearner):
    """Algorithm 1 on mini-batches, one expansion for all outputs."""

    _rules = NeuronLearner._rules | {
        "n_samples": integer(1, "n_samples=512 draws of w a round is the default"),
        "norm_bound": positive("norm_bound=10.0 competes with functions of norm up to 10"),
        "step_size": either(
            positive("step_size='auto' is norm_bound / 2, which the 'sqrt' schedule divides by √t"),
            choice("auto", remedy=""),
        ),
        "schedule": choice(
            "sqrt",
            "inverse",
            "constant",
            "theorem",
            remedy="schedule='sqrt' needs no number of rounds",
        ),
        "horizon": either(
            integer(1, "it is the number of rows to come, for schedule='theorem'"),
            anything("None", "", lambda value: value is None),
        ),
        "estimator": METHOD,
        "batch_size": either(
            integer(1, "batch_size='auto' keeps the sum of the steps of a batch stable"),
            choice("auto", remedy=""),
        ),
        "average": anything(
            "True or False",
            "average=True predicts with the average over rounds",
            lambda v: isinstance(v, bool | np.bool_),
        ),
        "shuffle": anything(
            "True or False",
            "shuffle=True lets fit visit the rows in a random order",
            lambda v: isinstance(v, bool | np.bool_),
        ),
    }

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int = 10_000,
        *,
        n_samples: int = 512,
        norm_bound: float = 10.0,
        step_size: float | str = "auto",
        schedule: str = "sqrt",
        horizon: int | None = None,
        estimator: str = "auto",
        batch_size: int | str = "auto",
        average: bool = True,
        shuffle: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
    ) -> None:
        self.neurons = neurons
        self.n_neurons = n_neurons
        self.n_samples = n_samples
        self.norm_bound = norm_bound
        self.step_size = step_size
        self.schedule = schedule
        self.horizon = horizon
        self.estimator = estimator
        self.batch_size = batch_size
        self.average = average
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.dtype = dtype

    def fit(self, X: Any, y: Any) -> Any:
        """Learn in one online pass over the rows.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,), or (n_rows, n_outputs) for a regressor

        Returns
        -------
        self
        """
        return self._fit(X, y)

    def _learn_all(self, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> None:
        order = np.arange(X.shape[0])
        if self.shuffle:
            order = generator(self.seed_, Purpose.SHUFFLE).permutation(order)
        self._learn(X[order], targets[order], None)
        self._freeze()

    def _initialise(self, targets: np.ndarray, weight: np.ndarray | None) -> None:
        self._support: Any = None
        self._coefficients = _Coefficients(targets.shape[1])
        self._online: list[tuple[int, float]] = []
        self._mean_square: tuple[int, float | None] = (0, None)

    def _check_step(self) -> None:
        """The summed step of a batch must be stable."""
        if self.schedule == "constant" and isinstance(self.step_size, str):
            raise ValueError(
                f"{type(self).__name__}: schedule='constant' with step_size='auto', but a "
                "constant step must be given. Remedy: step_size=0.05, or schedule='sqrt'."
            )
        eta, rows = self._step_size(), self._batch_rows()
        limit = 1 / self.neurons_.bound**2
        if eta * rows > limit * (1 + 1e-9):
            raise ValueError(
                f"{type(self).__name__}: batch_size={self.batch_size!r} with steps up to {eta:g} "
                f"lets the summed step of a batch reach {eta * rows:g}, and above {limit:g} it "
                "may diverge. Remedy: batch_size='auto', or a step_size of at most "
                f"{limit / rows:g}."
            )

    def _check_theorem(self, n_rows: int) -> None:
        """What Theorem 1 assumes must hold, also with the rows to come."""
        if self.horizon is None:
            raise ValueError(
                f"{type(self).__name__}: schedule='theorem' with horizon=None, but the theorem "
                "needs the number of rounds. Remedy: horizon=len(X), or schedule='sqrt'."
            )
        rounds = self._coefficients.n_rounds + n_rows
        if rounds > self.horizon:
            raise ValueError(
                f"{type(self).__name__}: horizon={self.horizon}, but with this batch there are "
                f"{rounds} rows, and the guarantee ends with the horizon. Remedy: a larger "
                "horizon from the start, or schedule='sqrt'."
            )
        if self.neurons_.bound > 1:
            raise ValueError(
                f"{type(self).__name__}: schedule='theorem' with neurons of bound "
                f"{self.neurons_.bound:g}, but the theorem holds for a bound of 1. Remedy: "
                "scale the activations, or schedule='sqrt'."
            )
        if (m := self._constants().n_samples) > _MOST_SAMPLES:
            raise ValueError(
                f"{type(self).__name__}: horizon={self.horizon} with "
                f"norm_bound={self.norm_bound!r} asks for {m:,} draws in each round, and no "
                f"more than {_MOST_SAMPLES:,} are held at a time. Remedy: a smaller norm_bound "
                "or horizon, or schedule='sqrt', which takes n_samples draws."
            )

    def _step_size(self) -> float:
        """η for the next round."""
        t = self._coefficients.n_rounds + 1
        if self.schedule == "theorem":
            return self._constants().step_size
        first = self.norm_bound / 2 if isinstance(self.step_size, str) else self.step_size
        if self.schedule == "constant":
            return first
        decay = np.sqrt(t) if self.schedule == "sqrt" else t
        return min(first / decay, LARGEST_STEP / self.neurons_.bound**2)

    def _constants(self) -> ShrinkingGradientConstants:
        assert self.horizon is not None
        return shrinking_gradient_constants(self.horizon, self.norm_bound)

    def _batch_rows(self) -> int:
        """Rows of the next batch."""
        if self.schedule == "theorem":
            return 1
        if not isinstance(self.batch_size, str):
            return self.batch_size
        return max(1, int(1 / (self._step_size() * self.neurons_.bound**2)))

    def _learn(self, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> None:
        if self.schedule == "theorem":
            self._check_theorem(X.shape[0])
        self._check_step()
        self._frozen: Network | None = None
        self._frozen_as: tuple[int, bool] | None = None
        if self._support is None:
            self._support = growing_like(X)
        X = self._support.like(X)
        start, n_rows = 0, X.shape[0]
        with self._progress(n_rows, "row") as bar:
            while start < n_rows:
                rows = slice(start, min(start + self._batch_rows(), n_rows))
                self._round(X[rows], targets[rows], self._step_size())
                bar.update(rows.stop - start)
                start = rows.stop

    def _round(self, X: Any, targets: np.ndarray, eta: float) -> None:
        """One round of Algorithm 1 for each row of a batch, all with the estimates of f_t.

        An output shrinks once a batch if any of its estimates is large.
        """
        estimates = self._estimate(X)  # Alg. 1, line 4
        self._online.append((len(targets), float(self._error(estimates, targets).mean())))
        self._coefficients.count_rounds(len(targets))
        small = np.abs(estimates) < SHRINK_AT * self.norm_bound  # line 5
        if not small.all():
            self._coefficients.shrink(~small.all(axis=0))  # line 8
            self._mean_square = 0, None
        self._support.append(X)
        self._coefficients.append(np.where(small, eta * (targets - estimates), 0))  # line 6

    def _estimate(self, X: Any) -> np.ndarray:
        """E_t ≈ ⟨f_t, Φ(x)⟩ from neurons drawn for this round alone (Algorithm 2)."""
        t = self._coefficients.n_rounds
        if t == 0:
            return np.zeros((X.shape[0], self._coefficients.last().shape[1]))
        rng = generator(self.seed_, Purpose.ROUNDS, t)
        f = self._expansion(self._coefficients.last())
        at, f.mean_square = self._mean_square
        if t > 2 * at:  # what was measured on half of the support or less is measured again
            f.mean_square = None
        theorem = self.schedule == "theorem"
        method, m = self.estimator, self._constants().n_samples if theorem else self.n_samples
        if method == "auto":
            method, m = f.cheaper(m, X.shape[0], rng)
        network = f.freeze(m, method, rng)
        if method == "full":  # its coefficients are f(w) / m
            self._mean_square = t, m * float((network.coef.astype(np.float64) ** 2).sum())
        return network(X)

    def _expansion(self, alpha: np.ndarray) -> Expansion:
        return Expansion(self.neurons_, self._support.rows, alpha, self.n_jobs)

    @property
    def expansion_(self) -> Expansion:
        """The expansion that predicts: the average over rounds, or the last."""
        check_is_fitted(self)
        c = self._coefficients
        return self._expansion(c.average() if self.average else c.last())

    @property
    def network_(self) -> Network:
        """The expansion frozen into a finite network of ``n_neurons`` neurons."""
        return self._freeze()

    def _freeze(self) -> Network:
        """Freeze the expansion, once for all predictions from the same rows."""
        check_is_fitted(self)
        wanted = self.n_neurons, self.average
        if self._frozen is None or self._frozen_as != wanted:
            rng = generator(self.seed_, Purpose.FREEZE)
            self._frozen = self.expansion_.freeze(self.n_neurons, random_state=rng)
            self._frozen_as = wanted
        return self._frozen

    @property
    def online_error_(self) -> np.ndarray:
        """Number of rows and mean error of each batch, before it was learned: (n_batches, 2)."""
        check_is_fitted(self)
        return np.array(self._online)


class ShrinkingGradientRegressor(Regression, _ShrinkingGradient):
    r"""Online regression with Shrinking Gradient.

    Learns a function :math:`f = \sum_i \alpha_i \Phi(x_i)` of infinitely many neurons, each row of
    the stream adding one support point. Round t estimates the prediction
    :math:`E_t \approx \langle f_t, \Phi(x_t) \rangle` from ``n_samples`` freshly drawn neurons; if
    :math:`|E_t| < 16 B` it appends :math:`\alpha_t = \eta_t (y_t - E_t)`, else it divides all
    coefficients by 4. With the step and the number of draws of ``schedule="theorem"``, the expected
    regret against every function of norm up to B is :math:`O(B \sqrt{T})` for all neurons bounded
    by 1. The other schedules take far fewer draws, and are a heuristic.

    The expansion keeps every row: memory is O(T) rows, and a round costs as many activations as
    there are rows so far, times ``n_samples``.

    Rows are learned in mini-batches that share their neurons, small enough for the sum of their
    steps to be stable. The noise of the estimates enters the coefficients: a batch whose steps sum
    to s multiplies the squared norm of f by at most about :math:`1 + s^2 / m`, which later steps
    have to take back. Raise ``n_samples`` if the online error grows. The guarantee assumes
    targets in [-1, 1], to which y is mapped from a range that is declared or taken from the first
    batch.

    Parameters
    ----------
    neurons : Neurons or str, default="gaussian"
        The family of neurons, or the name of one.
    n_neurons : int, default=10_000
        Neurons of the finite network into which the expansion is frozen for prediction.
    n_samples : int, default=512
        Draws of w a round, from which the estimates of its predictions are made (m in the paper).
    norm_bound : float, default=10.0
        The norm B of the functions competed with, on targets scaled to [-1, 1].
    step_size : float or "auto", default="auto"
        The step :math:`\eta`. "auto" is ``norm_bound / 2``, for the decaying schedules.
    schedule : {"sqrt", "inverse", "constant", "theorem"}, default="sqrt"
        "sqrt" divides the step by :math:`\sqrt{t}` and "inverse" by t, but they never exceed
        1/2 (a step of 1 fits a row exactly). "constant" takes a ``step_size`` given as a number,
        without that limit. "theorem" takes the step and the number of draws that
        Theorem 1 prescribes for ``horizon`` rounds of one row, in place of ``step_size``,
        ``n_samples`` and ``batch_size``; see :func:`trickless.theory.shrinking_gradient_constants`.
    horizon : int or None, default=None
        The number of rows to come, for ``schedule="theorem"``. More rows raise a ValueError.
    estimator : {"auto", "full", "index"}, default="auto"
        How predictions are estimated; see :class:`Expansion`. "index" is the paper's.
    batch_size : int or "auto", default="auto"
        Rows learned at once. 1 is the paper's algorithm. "auto" is the largest size for which
        ``batch_size * step * bound**2`` is at most 1.
    average : bool, default=True
        Whether to predict with the average of f over the rounds, which the guarantee for new data
        is about, or with the last f.
    shuffle : bool, default=True
        Whether ``fit`` visits the rows in a random order. ``partial_fit`` keeps their order.
    y_range : "auto" or (float, float), default="auto"
        The interval that holds every target; it is mapped linearly to [-1, 1]. "auto" takes the
        smallest and the largest of the first batch. A target outside raises a ValueError, so
        declare the range of a stream.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all neurons and of the order of rows.
    n_jobs : int or None, default=None
        Threads. None uses as many as BLAS would, -1 every core.
    verbose : bool, default=False
        Whether to show a progress bar.
    dtype : {"float32", "float64"}, default="float32"
        Precision of activations and support points.

    Attributes
    ----------
    expansion_ : Expansion
        Support points and coefficients, for targets scaled to [-1, 1].
    y_range_ : tuple of (array, array)
        Lower and upper ends of the targets' range, each of shape (n_outputs,).
    online_error_ : array of shape (n_batches, 2)
        Number of rows of each batch and their mean squared error, on targets scaled to [-1, 1],
        before they were learned.
    network_ : Network
        The frozen network that predicts.
    neurons_ : Neurons
        The fitted family.
    n_features_in_ : int
        Number of inputs.

    References
    ----------
    .. [1] R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the
       kernel trick", ICML 2017, Algorithms 1 and 2.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless import ShrinkingGradientRegressor
    >>> X = np.random.default_rng(0).uniform(-2, 2, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = ShrinkingGradientRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True
    """

    _rules = _ShrinkingGradient._rules | {
        "y_range": anything(
            "'auto' or a pair (low, high) of finite numbers with low < high",
            "y_range='auto' takes it from the first batch",
            lambda v: (isinstance(v, str) and v == "auto") or is_range(v),
        ),
    }

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int = 10_000,
        *,
        n_samples: int = 512,
        norm_bound: float = 10.0,
        step_size: float | str = "auto",
        schedule: str = "sqrt",
        horizon: int | None = None,
        estimator: str = "auto",
        batch_size: int | str = "auto",
        average: bool = True,
        shuffle: bool = True,
        y_range: Any = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(
            neurons,
            n_neurons,
            n_samples=n_samples,
            norm_bound=norm_bound,
            step_size=step_size,
            schedule=schedule,
            horizon=horizon,
            estimator=estimator,
            batch_size=batch_size,
            average=average,
            shuffle=shuffle,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            dtype=dtype,
        )
        self.y_range = y_range

    def _targets(self, y: np.ndarray, classes: Any, first: bool) -> np.ndarray:
        """Map targets to [-1, 1]."""
        targets = super()._targets(y, classes, first)
        if first:
            low, high = (
                (targets.min(axis=0), targets.max(axis=0))
                if isinstance(self.y_range, str)
                else (np.full(targets.shape[1], float(end)) for end in self.y_range)
            )
            self.y_range_ = low, high
        check_range(type(self).__name__, targets, *self.y_range_)
        middle, half = self._scale()
        return (targets - middle) / half

    def _scale(self) -> tuple[np.ndarray, np.ndarray]:
        """Middle and half-width of the range; half-width 1 where all targets are the same."""
        low, high = self.y_range_
        return (low + high) / 2, np.where(high > low, (high - low) / 2, 1.0)

    @property
    def network_(self) -> Network:
        """The frozen network, in the units of y."""
        middle, half = self._scale()
        unit = self._freeze()
        coef = (unit.coef * half).astype(unit.coef.dtype)
        return Network(unit.neurons, unit.source, coef, middle, self.n_jobs)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict targets, and say how far the prediction may be from the expansion's.

        The standard error is not a predictive standard deviation: it covers the sampling of
        neurons, and neither the noise of y nor what has not been learned.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        return_std : bool, default=False
            Whether to return standard errors as well.

        Returns
        -------
        prediction : float64 array of shape (n_rows,) or (n_rows, n_outputs), as y had in ``fit``
        standard_error : array of the same shape, if ``return_std``
            Monte Carlo standard error of the prediction, from having frozen the expansion into
            ``n_neurons`` neurons, in the units of y.
        """
        if not return_std:
            return super().predict(X)
        X = self._rows(X)
        with linear_algebra(self.n_jobs):
            value, error = self.network_.estimate(X)
        return self._as_y(value), self._as_y(error)

    def partial_fit(self, X: Any, y: Any) -> ShrinkingGradientRegressor:
        """Go on learning from more rows, in the order given.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,) or (n_rows, n_outputs)

        Returns
        -------
        self
        """
        return self._partial_fit(X, y)


class ShrinkingGradientClassifier(Classification, _ShrinkingGradient):
    r"""Online classification with Shrinking Gradient.

    Learns ±1 targets by the squared loss, one class against the rest in one expansion
    :math:`f = \sum_i \alpha_i \Phi(x_i)`, each row of the stream adding one support point. Round t
    estimates the prediction :math:`E_t \approx \langle f_t, \Phi(x_t) \rangle` from ``n_samples``
    freshly drawn neurons; if :math:`|E_t| < 16 B` it appends
    :math:`\alpha_t = \eta_t (y_t - E_t)`, else it divides all coefficients by 4. For steps of
    order :math:`B / \sqrt{T}` the regret against every function of norm up to B is
    :math:`O(B \sqrt{T})`, whatever the neurons, as long as they are bounded by 1.

    Rows are learned in mini-batches that share their neurons, small enough for the sum of their
    steps to be stable. The noise of the estimates enters the coefficients: a batch whose steps sum
    to s multiplies the squared norm of f by at most about :math:`1 + s^2 / m`, which later steps
    have to take back. Raise ``n_samples`` if the online error grows.

    Parameters
    ----------
    neurons : Neurons or str, default="gaussian"
        The family of neurons, or the name of one.
    n_neurons : int, default=10_000
        Neurons of the finite network into which the expansion is frozen for prediction.
    n_samples : int, default=512
        Draws of w a round, from which the estimates of its predictions are made (m in the paper).
    norm_bound : float, default=10.0
        The norm B of the functions competed with.
    step_size : float or "auto", default="auto"
        The step :math:`\eta`. "auto" is ``norm_bound / 2``, for the decaying schedules.
    schedule : {"sqrt", "inverse", "constant", "theorem"}, default="sqrt"
        "sqrt" divides the step by :math:`\sqrt{t}` and "inverse" by t, but they never exceed
        1/2 (a step of 1 fits a row exactly). "constant" takes a ``step_size`` given as a number,
        without that limit. "theorem" takes the step and the number of draws that
        Theorem 1 prescribes for ``horizon`` rounds of one row, in place of ``step_size``,
        ``n_samples`` and ``batch_size``; see :func:`trickless.theory.shrinking_gradient_constants`.
    horizon : int or None, default=None
        The number of rows to come, for ``schedule="theorem"``. More rows raise a ValueError.
    estimator : {"auto", "full", "index"}, default="auto"
        How predictions are estimated; see :class:`Expansion`. "index" is the paper's.
    batch_size : int or "auto", default="auto"
        Rows learned at once. 1 is the paper's algorithm. "auto" is the largest size for which
        ``batch_size * step * bound**2`` is at most 1.
    average : bool, default=True
        Whether to predict with the average of f over the rounds, which the guarantee for new data
        is about, or with the last f.
    shuffle : bool, default=True
        Whether ``fit`` visits the rows in a random order. ``partial_fit`` keeps their order.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all neurons and of the order of rows.
    n_jobs : int or None, default=None
        Threads. None uses as many as BLAS would, -1 every core.
    verbose : bool, default=False
        Whether to show a progress bar.
    dtype : {"float32", "float64"}, default="float32"
        Precision of activations and support points.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    expansion_ : Expansion
        Support points and coefficients.
    online_error_ : array of shape (n_batches, 2)
        Number of rows of each batch and the share misclassified before they were learned.
    network_ : Network
        The frozen network that predicts.
    neurons_ : Neurons
        The fitted family.
    n_features_in_ : int
        Number of inputs.

    References
    ----------
    .. [1] R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the
       kernel trick", ICML 2017, Algorithms 1 and 2.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless import ShrinkingGradientClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ShrinkingGradientClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.85)
    True
    """

    def _loss(self, n_outputs: int) -> Loss:
        return Squared()

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> ShrinkingGradientClassifier:
        """Go on learning from more rows, in the order given.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,)
        classes : array of shape (n_classes,), optional
            All labels that may occur; used in the first call. Default: those of the first batch.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, classes=classes)

"""Shrinking Gradient: online learning of an infinite-layer network from samples of its neurons.

R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the kernel trick",
ICML 2017, PMLR 70:2198-2207. Algorithm 1 is in ``_online``; here are its estimates by drawn neurons
(Algorithm 2 and past it) and the predictions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.threads import linear_algebra, map_rows, row_blocks
from trickless.checks.kernels import check_kernel_values
from trickless.checks.learners import check_draws
from trickless.checks.models import check_certificate
from trickless.files.checkpoint import NOWHERE, Checkpoint
from trickless.functions.activations import by_column
from trickless.functions.expansion import ESTIMATOR, PILOT_ROWS, Expansion
from trickless.functions.network import Network, check_finite
from trickless.functions.pilot import Variances
from trickless.functions.stream import Purpose, draw, generator, pick
from trickless.learners.old_neuron_learner import NeuronLearner
from trickless.neurons import Neurons
from trickless.neurons.checks import check_independent
from trickless.rules import integer
from trickless.solvers.compression import Projecting
from trickless.solvers.rounds import OnlineClassification, OnlineRegression

#: Draws of a round that are held at a time.
_DRAWS = 2**20
#: More draws in a round than this are refused.
_MOST_SAMPLES = 10**9
#: Activations of a row by which functions are compared where some are projected: so many for each
#: point that is kept, and at least. With as many as points, what is fitted is their noise.
_COMPARED, _LEAST_COMPARED = 4, 256
#: Neurons whose activations of these points are held at a time.
_NEURONS_COMPARED = 1024
#: What was measured of an expansion is measured again when its support has grown by this factor.
_GROWN = 1.25


class _ShrinkingGradient(NeuronLearner, Projecting):
    """Algorithm 1 with estimates from neurons that are drawn for one round alone."""

    _changing = (*Projecting._changing, "_measured")

    _rules = (
        NeuronLearner._rules
        | Projecting._rules
        | {
            "n_samples": integer(1, "n_samples=512 draws of w a round is the default"),
            "estimator": ESTIMATOR,
        }
    )

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
        max_support: int | None = None,
        compression: str = "projection",
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
        self.max_support = max_support
        self.compression = compression
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.dtype = dtype

    def _initialise(self, targets: np.ndarray, weight: np.ndarray | None) -> None:
        super()._initialise(targets, weight)
        self._measured: tuple[float, Variances | None] = (0.0, None)

    def _learn_all(
        self, X: Any, targets: np.ndarray, weight: np.ndarray | None, checkpoint: Checkpoint
    ) -> None:
        super()._learn_all(X, targets, weight, checkpoint)
        self._freeze()

    def _learn(
        self,
        X: Any,
        targets: np.ndarray,
        weight: np.ndarray | None,
        checkpoint: Checkpoint = NOWHERE,
    ) -> None:
        self._frozen: Network | None = None
        self._frozen_as: tuple[int, bool] | None = None
        super()._learn(X, targets, weight, checkpoint)

    def _check_theorem(self, n_rows: int) -> None:
        super()._check_theorem(n_rows)
        check_independent(type(self).__name__, "schedule='theorem'", self.neurons_)
        check_draws(
            type(self).__name__, self.horizon, self.norm_bound, self._constants(), _MOST_SAMPLES
        )

    def _square_bound(self) -> float:
        return self.neurons_.bound**2

    def _stability(self) -> str:
        m, rounds = self.n_samples, max(1, self._coefficients.n_rounds)
        by_index = self.estimator in ("index", "stratified")
        # T rounds multiply ‖f‖² by up to exp(η² T / m) with full sums; an index adds ‖α‖₁² / m,
        # with ‖α‖₁ of about η T.
        stable = m**0.5 / rounds if by_index else (m / rounds) ** 0.5
        return (
            f"the noise of n_samples={m!r} draws feeds itself with step_size={self.step_size!r}; "
            f"take a step_size of at most {stable:.2g}, a larger n_samples"
            + (", or estimator='auto'" if by_index else "")
        )

    def _kernel(self, X: Any, Y: Any) -> np.ndarray:
        K = np.empty((X.shape[0], Y.shape[0]))
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused below
            for i in row_blocks(X.shape[0]):
                for j in row_blocks(Y.shape[0]):
                    K[i, j] = self.neurons_.kernel(X[i], Y[j])
        check_kernel_values(type(self).__name__, K)
        return K

    def _products(self, index: np.ndarray, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        family, X, size = self.neurons_, self._support.rows[index], len(index)
        n_neurons = -(-max(_COMPARED * size, _LEAST_COMPARED) // family.width)
        weights = draw(family, generator(self.seed_, Purpose.COMPRESS), n_neurons, X.dtype)
        f = self._expansion(alpha).values(weights)
        gram, products = np.zeros((size, size)), np.zeros((size, alpha.shape[1]))
        for some in row_blocks(n_neurons, _NEURONS_COMPARED):

            def activations(rows: slice, some: slice = some) -> np.ndarray:
                return family(X[rows], pick(weights, some))

            width = (some.stop - some.start) * family.width
            Z = np.concatenate(map_rows(activations, X, width, self.n_jobs)).astype(np.float64)
            gram += Z @ Z.T
            products += Z @ by_column(f[some])
        check_finite(type(family).__name__, gram.diagonal())
        check_finite(type(family).__name__, products)
        return gram, products

    def _estimate(self, X: Any) -> np.ndarray:
        """E_t ≈ ⟨f_t, Φ(x)⟩ from neurons drawn for this round alone (Algorithm 2)."""
        rng = generator(self.seed_, Purpose.ROUNDS, self._coefficients.n_rounds)
        f = self._expansion(self._coefficients.last())
        theorem = self.schedule == "theorem"
        estimator, m = self.estimator, self._constants().n_samples if theorem else self.n_samples
        if estimator == "auto":
            estimator, m = f.cheapest(m, X.shape[0], self._variances(f, X, m, rng))
        total: Any = 0.0
        for start in range(0, m, _DRAWS):
            some = min(_DRAWS, m - start)
            if estimator == "full":
                total += some / m * f.full_sums(X, some, rng)
            else:
                total += some / m * f.freeze(some, estimator, rng)(X)
        return total

    def _variances(
        self, f: Expansion, X: Any, n_neurons: int, rng: np.random.Generator
    ) -> Variances | None:
        """Variances of the estimates, measured now and then as the support grows or shrinks."""
        size, variances = self._measured
        t = f.support.shape[0]
        if not size / _GROWN <= t <= size * _GROWN:
            rounds = (_GROWN - 1) * t / X.shape[0]
            if X.shape[0] < PILOT_ROWS <= t:
                X = f.support[-PILOT_ROWS:]  # rows of the same kind, and more of them
            variances = f.variances_if_worth(X, n_neurons, rng, rounds)
            self._measured = (t if variances else 0.0), variances
        return variances

    def _expansion(self, alpha: np.ndarray) -> Expansion:
        return Expansion(self.neurons_, self._support.rows, alpha, self.n_jobs)

    def _estimated(self, X: Any, tolerance: Any, confidence: float) -> tuple[Any, Any]:
        """What the expansion says of rows, and how far off it is.

        Within a tolerance with a confidence, or from the frozen network with its standard error.
        """
        X = self._rows(X)
        with linear_algebra(self.n_jobs):
            if tolerance is None:
                return self._freeze().estimate(X)
            rng = generator(self.seed_, Purpose.PREDICT)
            return self.expansion_.certify(X, tolerance, confidence, rng)

    @property
    def expansion_(self) -> Expansion:
        """The expansion that predicts: the average over rounds, or the last."""
        check_is_fitted(self)
        return self._expansion(self._alpha())

    def freeze(self, n_neurons: int, random_state: Any = None) -> Network:
        """Freeze the model into a finite network, whose cost for a row depends on no support.

        Its ``estimate(X)`` returns, beside the values, their standard error as estimates of what
        the expansion predicts.

        Parameters
        ----------
        n_neurons : int
            How many neurons it gets. The standard error falls like 1/√n_neurons.
        random_state : int, Generator, RandomState or None, default=None
            Source of the neurons.

        Returns
        -------
        Network
            In the units of y for a regressor.
        """
        return self._in_units(self.expansion_.freeze(n_neurons, random_state=random_state))

    @property
    def network_(self) -> Network:
        """The expansion frozen into a finite network of ``n_neurons`` neurons."""
        return self._in_units(self._freeze())

    def _in_units(self, network: Network) -> Network:
        """A network of decision values as one of answers."""
        return network

    def _values(self, X: Any) -> np.ndarray:
        return self._freeze()(X)

    def _freeze(self) -> Network:
        """Freeze the expansion, once for all predictions from the same rows."""
        check_is_fitted(self)
        wanted = self.n_neurons, self.average
        if self._frozen is None or self._frozen_as != wanted:
            rng = generator(self.seed_, Purpose.FREEZE)
            self._frozen = self.expansion_.freeze(self.n_neurons, random_state=rng)
            self._frozen_as = wanted
        return self._frozen


class ShrinkingGradientRegressor(OnlineRegression, _ShrinkingGradient):
    r"""Online regression with Shrinking Gradient.

    Learns a function :math:`f = \sum_i \alpha_i \Phi(x_i)` of infinitely many neurons, each row of
    the stream adding one support point. Round t estimates the prediction
    :math:`E_t \approx \langle f_t, \Phi(x_t) \rangle` from ``n_samples`` freshly drawn neurons; if
    :math:`|E_t| < 16 B` it appends :math:`\alpha_t = \eta_t (y_t - E_t)`, else it divides all
    coefficients by 4. With the step and the number of draws of ``schedule="theorem"``, the expected
    regret against every function of norm up to B is :math:`O(B \sqrt{T})` for all neurons bounded
    by 1. The other schedules take far fewer draws, and are a heuristic.

    f has no offset: what is 0 for it is the middle of ``y_range``. A family that expresses
    constants badly, such as "coordinates", wants targets that are centred there.

    The expansion keeps every row: memory is O(T) rows, and a round costs as many activations as
    there are rows so far, times ``n_samples``. ``max_support`` bounds both.

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
        ``1 / (2 * bound**2)`` (twice that fits a row exactly). "constant" takes a ``step_size``
        given as a number, without that limit. "theorem" takes the step and the number of draws that
        Theorem 1 prescribes for ``horizon`` rounds of one row, in place of ``step_size``,
        ``n_samples`` and ``batch_size``: very many draws, unless ``norm_bound`` is far below its
        default; see :func:`trickless.theory.shrinking_gradient_constants`.
    horizon : int or None, default=None
        The number of rows to come, for ``schedule="theorem"``. More rows raise a ValueError.
    estimator : {"auto", "full", "index", "stratified"}, default="auto"
        How predictions are estimated; see :class:`Expansion`. "index" is the paper's.
    batch_size : int or "auto", default="auto"
        Rows learned at once. 1 is the paper's algorithm. "auto" is the largest size for which
        ``batch_size * step * bound**2`` is at most 1, but no larger than all
        rows before it together (2 at first).
    average : bool, default=True
        Whether to predict with the average of f over the rounds, which the guarantee for new data
        is about, or with the last f.
    max_support : int or None, default=None
        At most so many support points (and one batch) are kept; when there are more, fewer take
        their place, so that memory is constant, and so is the time of a round. Thousands of points
        are a good start. None keeps every row.
    compression : {"projection", "unbiased"}, default="projection"
        How fewer points take the place of all. "projection" keeps a uniform sample of all rows so
        far, a quarter of ``max_support`` (4,096 at most), with the coefficients that change f, and
        the average over rounds, least at the neurons of one draw. What these points cannot express
        is lost. "unbiased" keeps half of ``max_support``, each point with a probability in
        proportion to its coefficient and counting inversely more: f keeps its expectation, at the
        price of a variance of about :math:`\|\alpha\|_1^2` / ``max_support`` each time, which
        feeds itself on long streams: with hundreds of points it can be larger than f itself. The
        average is then over the rounds since, so that ``average=True`` smooths little of it.
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
        Number of rows of each batch and their mean squared error, summed over the outputs, on
        targets scaled to [-1, 1], before they were learned.
    regret_ : array of shape (n, 2)
        Rounds, and the regret up to them: the cumulated loss ½(f_t(x_t) − y_t)² minus that of the
        best function of norm ``norm_bound`` for the rows so far. For families with a kernel in
        closed form and up to 10,000 rows; it is worked out on demand.
    network_ : Network
        The frozen network that predicts.
    neurons_ : Neurons
        The fitted family.
    n_features_in_ : int
        Number of features.

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

    _fixed = (*_ShrinkingGradient._fixed, "y_range")
    _rules = _ShrinkingGradient._rules | OnlineRegression._rules

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
        max_support: int | None = None,
        compression: str = "projection",
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
            max_support=max_support,
            compression=compression,
            shuffle=shuffle,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            dtype=dtype,
        )
        self.y_range = y_range

    def _in_units(self, network: Network) -> Network:
        middle, half = self._scale()
        coef = (network.coef * half).astype(network.coef.dtype)
        return Network(network.neurons, network.source, coef, middle, self.n_jobs)

    def predict(
        self,
        X: Any,
        return_std: bool = False,
        tolerance: float | None = None,
        confidence: float = 0.95,
    ) -> Any:
        r"""Predict targets, and say how far the prediction may be from the expansion's.

        The frozen network of ``n_neurons`` neurons predicts, unless a ``tolerance`` is given: then
        fresh neurons are drawn, as many as it takes for each prediction to be within the tolerance
        of the expansion's with a probability of at least ``confidence``.

        The standard error is not a predictive standard deviation: it covers the sampling of
        neurons, and neither the noise of y nor what has not been learned. The same holds for the
        tolerance.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        return_std : bool, default=False
            Whether to return standard errors as well.
        tolerance : float, optional
            How far predictions may be from :math:`\langle f, \Phi(x) \rangle`, in the units of y.
        confidence : float, default=0.95
            The probability, for each prediction by itself, with which it is within the tolerance.

        Returns
        -------
        prediction : float64 array of shape (n_rows,) or (n_rows, n_outputs), as y had in ``fit``
        standard_error : array of the same shape, if ``return_std``
            Monte Carlo standard error of the prediction, from having frozen the expansion into
            ``n_neurons`` neurons, in the units of y.

        Raises
        ------
        ValueError
            If the tolerance cannot be kept in the model's precision, or is asked for together with
            a standard error.
        """
        check_certificate(type(self).__name__, return_std, tolerance, confidence)
        if not return_std and tolerance is None:
            return super().predict(X)
        check_is_fitted(self)
        middle, half = self._scale()
        value, error = self._estimated(
            X, None if tolerance is None else tolerance / half, confidence
        )
        value = self._as_y(value * half + middle)
        return (value, self._as_y(error * half)) if return_std else value


class ShrinkingGradientClassifier(OnlineClassification, _ShrinkingGradient):
    r"""Online classification with Shrinking Gradient.

    Learns ±1 targets by the squared loss, one class against the rest in one expansion
    :math:`f = \sum_i \alpha_i \Phi(x_i)`, each row of the stream adding one support point. Round t
    estimates the prediction :math:`E_t \approx \langle f_t, \Phi(x_t) \rangle` from ``n_samples``
    freshly drawn neurons; if :math:`|E_t| < 16 B` it appends
    :math:`\alpha_t = \eta_t (y_t - E_t)`, else it divides all coefficients by 4. With the step and
    the number of draws of ``schedule="theorem"``, the expected regret against every function of
    norm up to B is :math:`O(B \sqrt{T})` for all neurons bounded by 1. The other schedules take
    far fewer draws, and are a heuristic.

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
        ``1 / (2 * bound**2)`` (twice that fits a row exactly). "constant" takes a ``step_size``
        given as a number, without that limit. "theorem" takes the step and the number of draws that
        Theorem 1 prescribes for ``horizon`` rounds of one row, in place of ``step_size``,
        ``n_samples`` and ``batch_size``: very many draws, unless ``norm_bound`` is far below its
        default; see :func:`trickless.theory.shrinking_gradient_constants`.
    horizon : int or None, default=None
        The number of rows to come, for ``schedule="theorem"``. More rows raise a ValueError.
    estimator : {"auto", "full", "index", "stratified"}, default="auto"
        How predictions are estimated; see :class:`Expansion`. "index" is the paper's.
    batch_size : int or "auto", default="auto"
        Rows learned at once. 1 is the paper's algorithm. "auto" is the largest size for which
        ``batch_size * step * bound**2`` is at most 1, but no larger than all
        rows before it together (2 at first).
    average : bool, default=True
        Whether to predict with the average of f over the rounds, which the guarantee for new data
        is about, or with the last f.
    max_support : int or None, default=None
        At most so many support points (and one batch) are kept; when there are more, fewer take
        their place, so that memory is constant, and so is the time of a round. Thousands of points
        are a good start. None keeps every row.
    compression : {"projection", "unbiased"}, default="projection"
        How fewer points take the place of all. "projection" keeps a uniform sample of all rows so
        far, a quarter of ``max_support`` (4,096 at most), with the coefficients that change f, and
        the average over rounds, least at the neurons of one draw. What these points cannot express
        is lost. "unbiased" keeps half of ``max_support``, each point with a probability in
        proportion to its coefficient and counting inversely more: f keeps its expectation, at the
        price of a variance of about :math:`\|\alpha\|_1^2` / ``max_support`` each time, which
        feeds itself on long streams: with hundreds of points it can be larger than f itself. The
        average is then over the rounds since, so that ``average=True`` smooths little of it.
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
    regret_ : array of shape (n, 2)
        Rounds, and the regret up to them, summed over the ±1 targets; see
        :class:`ShrinkingGradientRegressor`.
    network_ : Network
        The frozen network that predicts.
    neurons_ : Neurons
        The fitted family.
    n_features_in_ : int
        Number of features.

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

    def decision_function(
        self,
        X: Any,
        return_std: bool = False,
        tolerance: float | None = None,
        confidence: float = 0.95,
    ) -> Any:
        r"""Decision values, and how far they may be from the expansion's.

        As :meth:`ShrinkingGradientRegressor.predict`: from the frozen network of ``n_neurons``
        neurons; or, with a ``tolerance``, from as many fresh ones as it takes.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        return_std : bool, default=False
            Whether to return Monte Carlo standard errors as well.
        tolerance : float, optional
            How far decision values may be from :math:`\langle f, \Phi(x) \rangle`. Labels are
            learned as -1 and 1.
        confidence : float, default=0.95
            The probability, for each value by itself, with which it is within the tolerance.

        Returns
        -------
        decision : float64 array of shape (n_rows,) or (n_rows, n_classes)
            One value a row for two classes, positive for the second.
        standard_error : array of the same shape, if ``return_std``

        Raises
        ------
        ValueError
            If the tolerance cannot be kept in the model's precision, or is asked for together with
            a standard error.
        """
        check_certificate(type(self).__name__, return_std, tolerance, confidence)
        if not return_std and tolerance is None:
            return super().decision_function(X)
        check_is_fitted(self)
        value, error = self._estimated(X, tolerance, confidence)
        if value.shape[1] == 1:
            value, error = value[:, 0], error[:, 0]
        return (value, error) if return_std else value

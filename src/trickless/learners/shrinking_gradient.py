"""Shrinking Gradient: online learning of an infinite-layer network from samples of its neurons.

R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the kernel trick",
ICML 2017, PMLR 70:2198-2207. Algorithm 1 is in ``solvers/rounds``, and its estimates by drawn
neurons (Algorithm 2 and past it) are ``Drawn`` in ``solvers/estimates``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.states import in_one_state
from trickless.arrays.threads import linear_algebra
from trickless.functions.certificate import check_probability
from trickless.functions.expansion import ESTIMATOR, Expansion
from trickless.functions.network import Network
from trickless.functions.stream import Purpose, generator
from trickless.learners.base import Classifier, partial_fit_labels, store
from trickless.learners.neuron_learner import NeuronLearner, choose_neurons, see_later_rows
from trickless.learners.online import (
    COMPRESSION,
    Y_RANGE,
    OnlineLearner,
    OnlineRegressor,
    schedule_of,
)
from trickless.neurons import Neurons
from trickless.rules import check_value, integer, positive
from trickless.solvers.estimates import Drawn
from trickless.solvers.schedules import LARGEST_STEP


class _ShrinkingGradient(NeuronLearner, OnlineLearner):
    """Algorithm 1 with estimates from neurons that are drawn for one round alone."""

    n_samples: int
    estimator: str

    _rules = (
        NeuronLearner._rules
        | OnlineLearner._rules
        | {
            "n_samples": integer(1, "n_samples=512 draws of w a round is the default"),
            "estimator": ESTIMATOR,
            "compression": COMPRESSION,
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
        store(self, locals())

    def _see(self, X: Any, targets: np.ndarray, first: bool) -> None:
        """Choose the neurons by the first batch, and check them on later ones."""
        if first:
            choose_neurons(self, X, targets, None)
        else:
            see_later_rows(self, X)

    def _alpha_of_choice(self, n_rows: int) -> float | None:
        """Gradient descent from 0 regularises like a ridge of 1 over the sum of its steps."""
        schedule = schedule_of(self)
        return None if schedule.is_theorem else 1 / schedule.total(n_rows, LARGEST_STEP)

    @property
    def estimates_(self) -> Drawn:
        """The estimates that rounds go by, with the parameters as they are now."""
        return Drawn(
            self.neurons_,
            schedule_of(self),
            self.n_samples,
            self.estimator,
            self.n_neurons,
            self.n_jobs,
        )

    def _estimated(self, X: Any, tolerance: Any, confidence: float) -> tuple[Any, Any]:
        """What the expansion says of rows, and how far off it is.

        Within a tolerance with a confidence, or from the frozen network with its standard error.
        """
        X = self._rows_to_predict(X)
        with linear_algebra(self.n_jobs):
            if tolerance is None:
                return self.estimates_.function(self.rounds_, self.average).estimate(X)
            rng = generator(self.seed_, Purpose.PREDICT)
            return self.expansion_.certify(X, tolerance, confidence, rng)

    @property
    @in_one_state
    def expansion_(self) -> Expansion:
        """The expansion that predicts: the average over rounds, or the last."""
        check_is_fitted(self)
        return self.estimates_.expansion(self.rounds_, self.average)

    @in_one_state
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
        network = self.expansion_.freeze(n_neurons, random_state=random_state)
        return self.targets_.network(network)

    @property
    @in_one_state
    def network_(self) -> Network:
        """The expansion frozen into a finite network of ``n_neurons`` neurons."""
        check_is_fitted(self)
        return self.targets_.network(self.estimates_.function(self.rounds_, self.average))


def _check_certificate(
    owner: str, return_standard_error: Any, tolerance: Any, confidence: Any
) -> None:
    """A tolerance takes the place of a standard error."""
    check_probability(owner, "confidence", confidence)
    if tolerance is not None and return_standard_error:
        raise ValueError(
            f"{owner}: predict with tolerance={tolerance!r} and return_standard_error="
            f"{return_standard_error!r}, but predictions within a tolerance have a certificate in "
            "the place of a standard error. Remedy: ask for one of them."
        )
    if tolerance is not None:
        check_value(
            owner, "tolerance", tolerance, positive("it is in the units of y or of decision values")
        )


class ShrinkingGradientRegressor(OnlineRegressor, _ShrinkingGradient):
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
    schedule : {"sqrt", "inverse", "constant", "theorem", "theorem-fixed"}, default="sqrt"
        "sqrt" divides the step by :math:`\sqrt{t}` and "inverse" by t, but they never exceed
        ``1 / (2 * bound**2)`` (twice that fits a row exactly). "constant" takes a ``step_size``
        given as a number, without that limit. "theorem" takes the step of
        Theorem 1 for ``horizon`` rounds of one row, and as many draws as each round needs for its
        guarantee, in place of ``step_size``, ``n_samples`` and ``batch_size``; see
        :func:`trickless.theory.shrinking_gradient_draws`. "theorem-fixed" takes the draws for the
        worst case that the paper prints, in every round: millions, for ``norm_bound=1``.
    horizon : int or None, default=None
        The number of rows to come, for ``schedule="theorem"``. More rows raise a ValueError.
    estimator : {"auto", "full", "index", "stratified"}, default="auto"
        How predictions are estimated; see :class:`Expansion`. "index" is the paper's. "auto" is
        "stratified" for ``schedule="theorem"``.
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
        Whether to show progress bars: scikit-learn's from 1.9 on, if rich is installed, or tqdm's.
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
    regret_bound_ : array of shape (n,) or None
        What the expected regret up to these rounds does not exceed, with the largest variance of
        the run. It is known for ``schedule="theorem"``, and for a constant step if nothing shrank,
        where rows were learned one by one. Else it is None.
    network_ : Network
        The frozen network that predicts.
    neurons_ : Neurons
        The fitted family.
    feature_importances_ : array of shape (n_features,)
        How much each feature matters, if the family learned that ("relevance").
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
    _rules = _ShrinkingGradient._rules | {"y_range": Y_RANGE}

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
        store(self, locals())

    @in_one_state
    def predict(
        self,
        X: Any,
        return_standard_error: bool = False,
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
        return_standard_error : bool, default=False
            Whether to return standard errors as well.
        tolerance : float, optional
            How far predictions may be from :math:`\langle f, \Phi(x) \rangle`, in the units of y.
        confidence : float, default=0.95
            The probability, for each prediction by itself, with which it is within the tolerance.

        Returns
        -------
        prediction : float64 array of shape (n_rows,) or (n_rows, n_outputs), as y had in ``fit``
        standard_error : array of the same shape, if ``return_standard_error``
            Monte Carlo standard error of the prediction, from having frozen the expansion into
            ``n_neurons`` neurons, in the units of y.

        Raises
        ------
        ValueError
            If the tolerance cannot be kept in the model's precision, or is asked for together with
            a standard error.
        """
        _check_certificate(type(self).__name__, return_standard_error, tolerance, confidence)
        if not return_standard_error and tolerance is None:
            return super().predict(X)
        check_is_fitted(self)
        targets = self.targets_
        if tolerance is not None:
            tolerance = targets.tolerance(tolerance)
        value, error = self._estimated(X, tolerance, confidence)
        value = targets.shaped(targets.values(value))
        return (
            (value, targets.shaped(targets.differences(error))) if return_standard_error else value
        )


class ShrinkingGradientClassifier(Classifier, _ShrinkingGradient):
    r"""Online classification with Shrinking Gradient.

    Learns ±1 targets by the squared loss, one class against the rest in one expansion
    :math:`f = \sum_i \alpha_i \Phi(x_i)`, each row of the stream adding one support point. The
    rounds, their guarantee and their cost are those of :class:`ShrinkingGradientRegressor`.
    Raise ``n_samples`` if the online error grows.

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
    schedule : {"sqrt", "inverse", "constant", "theorem", "theorem-fixed"}, default="sqrt"
        "sqrt" divides the step by :math:`\sqrt{t}` and "inverse" by t. "constant" takes a
        ``step_size`` given as a number. "theorem" takes the step and the number of draws that
        Theorem 1 prescribes for ``horizon`` rounds; see :class:`ShrinkingGradientRegressor`.
    horizon : int or None, default=None
        The number of rows to come, for ``schedule="theorem"``. More rows raise a ValueError.
    estimator : {"auto", "full", "index", "stratified"}, default="auto"
        How predictions are estimated; see :class:`Expansion`. "index" is the paper's. "auto" is
        "stratified" for ``schedule="theorem"``.
    batch_size : int or "auto", default="auto"
        Rows learned at once. 1 is the paper's algorithm. "auto" is the largest size that is stable;
        see :class:`ShrinkingGradientRegressor`.
    average : bool, default=True
        Whether to predict with the average of f over the rounds, or with the last f.
    max_support : int or None, default=None
        At most so many support points (and one batch) are kept; when there are more, fewer take
        their place. None keeps every row.
    compression : {"projection", "unbiased"}, default="projection"
        How fewer points take the place of all. "projection" keeps what a sample of the rows can
        express, and "unbiased" the expectation of f; see :class:`ShrinkingGradientRegressor`.
    shuffle : bool, default=True
        Whether ``fit`` visits the rows in a random order. ``partial_fit`` keeps their order.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all neurons and of the order of rows.
    n_jobs : int or None, default=None
        Threads. None uses as many as BLAS would, -1 every core.
    verbose : bool, default=False
        Whether to show progress bars: scikit-learn's from 1.9 on, if rich is installed, or tqdm's.
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
    regret_bound_ : array of shape (n,) or None
        What the expected regret does not exceed, if that is known; see there.
    network_ : Network
        The frozen network that predicts.
    neurons_ : Neurons
        The fitted family.
    feature_importances_ : array of shape (n_features,)
        How much each feature matters, if the family learned that ("relevance").
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

    @in_one_state
    def decision_function(
        self,
        X: Any,
        return_standard_error: bool = False,
        tolerance: float | None = None,
        confidence: float = 0.95,
    ) -> Any:
        r"""Decision values, and how far they may be from the expansion's.

        As :meth:`ShrinkingGradientRegressor.predict`: from the frozen network of ``n_neurons``
        neurons; or, with a ``tolerance``, from as many fresh ones as it takes.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        return_standard_error : bool, default=False
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
        standard_error : array of the same shape, if ``return_standard_error``

        Raises
        ------
        ValueError
            If the tolerance cannot be kept in the model's precision, or is asked for together with
            a standard error.
        """
        _check_certificate(type(self).__name__, return_standard_error, tolerance, confidence)
        if not return_standard_error and tolerance is None:
            return super().decision_function(X)
        check_is_fitted(self)
        value, error = self._estimated(X, tolerance, confidence)
        if value.shape[1] == 1:
            value, error = value[:, 0], error[:, 0]
        return (value, error) if return_standard_error else value

    partial_fit = partial_fit_labels

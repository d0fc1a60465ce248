"""Shrinking Gradient: online learning of an infinite-layer network from samples of its neurons.

R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the kernel trick",
ICML 2017, PMLR 70:2198-2207. Algorithm 1 is in ``_solvers/rounds``, and its estimates by drawn
neurons (Algorithm 2 and past it) are ``Drawn`` in ``_solvers/rounds/estimates``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless._arrays.likes import MatrixLike, RandomStateLike
from trickless._arrays.states import in_one_state
from trickless._arrays.threads import linear_algebra
from trickless._docstrings import completed_by, documented
from trickless._functions.certificate import check_certificate
from trickless._functions.expansion import ESTIMATE, Expansion
from trickless._functions.network import Network
from trickless._functions.stream import Purpose, generator
from trickless._learners.arguments import PREDICTING
from trickless._learners.base import store
from trickless._learners.classifier import Classifier, partial_fit_labels
from trickless._learners.neuron_learner import NeuronLearner, choose_neurons, see_later_rows
from trickless._learners.online import (
    Y_RANGE,
    OnlineLearner,
    range_of,
    schedule_of,
    y_range_,
)
from trickless._learners.regressor import Regressor, partial_fit_numbers
from trickless._rules import anything, either, integer, is_none, positive
from trickless._solvers.rounds.estimates import Drawn
from trickless._solvers.rounds.measured import Measured
from trickless._solvers.rounds.schedules import LARGEST_STEP
from trickless.neurons import Neurons
from trickless.neurons.checks import check_independent

#: What ``predict`` and ``decision_function`` take.
_ESTIMATING = """
Parameters
----------
return_standard_error : bool, default=False
    Whether to return Monte Carlo standard errors as well. Not together with ``tolerance``.
confidence : float, default=0.9
    The probability that a value is within the tolerance, for each value by itself.

Raises
------
ValueError
    If the model's precision is too low for the tolerance, or if a tolerance and a standard error
    are asked for together.
"""


class _ShrinkingGradient(NeuronLearner, OnlineLearner):
    r"""Algorithm 1 with estimates from neurons that are drawn for one round alone.

    Parameters
    ----------
    n_neurons : int, default=10000
        The number of neurons of the finite network that predicts. More neurons make predictions
        more accurate and slower.
    n_draws : int, default=512
        The number of neurons drawn in each round to estimate predictions (m in the paper [1]_).
    schedule : {"sqrt", "inverse", "constant", "theorem", "theorem-fixed"}, default="sqrt"
        How steps decay. "sqrt" divides the step by :math:`\sqrt{t}` and "inverse" by t. Their steps
        never exceed half of 1 / k(x, x). "constant" uses a ``step_size`` given as a number, without
        that limit. "theorem" uses the step of Theorem 1 for ``horizon`` rounds of one row, with as
        many draws as each round needs, and ignores ``step_size``, ``n_draws`` and ``batch_size``.
        "theorem-fixed" draws as many as the paper prints. See
        :func:`trickless.theory.shrinking_gradient_draws`.
    estimate : {"auto", "full", "index", "stratified"}, default="auto"
        How predictions are estimated, as in :class:`~trickless.inspection.Expansion`. "index" is
        the estimator of the paper. "auto" is "stratified" for ``schedule="theorem"``, and otherwise
        the cheaper of "full" and "stratified" for the accuracy of "full".
    batch_size : int or "auto", default="auto"
        Number of rows learned at once. 1 is the paper's algorithm. "auto" keeps ``batch_size``
        times the step at 1 / k(x, x) or less.
    half_life : float or None, default=None
        How many later rows halve the weight of a row. ``average=True`` weights rounds in the same
        way. Support points that have faded to 1/256 are dropped. ``fit`` keeps the order of the
        rows. None forgets nothing. See :doc:`/guides/streams` and
        :func:`~trickless.theory.shrinking_gradient_regret`.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons and of the order of rows. The same integer gives the same model.
    dtype : {"float32", "float64"}, default="float32"
        Precision of activations and support points.
    max_support : int or None, default=None
        The largest number of support points to keep, besides those of the current batch. Beyond it,
        they are replaced by a uniform sample of all rows: a quarter of ``max_support``, and at most
        4,096. f becomes the nearest function over these. None keeps every row. See
        :doc:`/explanation/shrinking-gradient`.

    Attributes
    ----------
    expansion_ : Expansion
        Support points and coefficients, for targets in [-1, 1].
    regret_ : array of shape (n, 2)
        Rounds, and the regret up to them, summed over the outputs: the sum of
        :math:`\frac12 (f_t(x_t) - y_t)^2` minus the smallest sum for a function of norm up to
        ``norm_bound``. It needs a kernel in closed form and at most 10,000 rows.
    regret_bound_ : array of shape (n,) or None
        An upper bound of the expected regret up to these rounds, by the largest variance of the
        estimates of this run. None if no bound is known.
    network_ : Network
        The finite network that predicts.

    References
    ----------
    .. [1] R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the
       kernel trick", ICML 2017, Algorithms 1 and 2.
    """

    n_draws: int
    estimate: str

    _rules = (
        NeuronLearner._rules
        | OnlineLearner._rules
        | {
            "n_draws": integer(1, "n_draws=512 draws in each round is the default"),
            "estimate": ESTIMATE,
            "half_life": either(
                positive("half_life=1000 halves the weight of a row after 1,000 later rows"),
                anything("None", "", is_none),
            ),
        }
    )

    _measures = Measured

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int = 10_000,
        *,
        n_draws: int = 512,
        norm_bound: float = 10.0,
        step_size: float | str = "auto",
        schedule: str = "sqrt",
        horizon: int | None = None,
        estimate: str = "auto",
        batch_size: int | str = "auto",
        average: bool = True,
        max_support: int | None = None,
        half_life: float | None = None,
        random_state: RandomStateLike = None,
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
        self.estimates_.measure(X, self._rounds_)
        if schedule_of(self).is_theorem:
            check_independent(type(self).__name__, f"schedule={self.schedule!r}", self.neurons_)

    def _alpha_of_choice(self, n_rows: int) -> float | None:
        """Gradient descent from 0 regularises like a ridge of 1 over the sum of its steps."""
        schedule = schedule_of(self)
        return None if schedule.is_theorem else 1 / schedule.total(n_rows, LARGEST_STEP)

    @property
    def estimates_(self) -> Drawn:
        """The estimates that rounds use, with the current parameters."""
        return Drawn(
            self.neurons_,
            schedule_of(self),
            self.n_draws,
            self.estimate,
            self.n_neurons,
            self.n_jobs,
        )

    def _estimated(self, X: Any, tolerance: Any, confidence: float) -> tuple[Any, Any]:
        """Values of the expansion at rows, and their error.

        With a tolerance, values are within it with the given confidence. Without one, they come
        from the frozen network, with its standard error.
        """
        X = self._rows_to_predict(X)
        with linear_algebra(self.n_jobs):
            if tolerance is None:
                return self.estimates_.function(self._rounds_, self.average).estimate(X)
            rng = generator(self._seed_, Purpose.PREDICT)
            return self.expansion_.certify(X, tolerance, confidence, rng)

    @property
    @in_one_state
    def expansion_(self) -> Expansion:
        """The expansion that predicts: the average over rounds, or the last f."""
        check_is_fitted(self)
        return self.estimates_.expansion(self._rounds_, self.average)

    @in_one_state
    def freeze(self, n_neurons: int, random_state: RandomStateLike = None) -> Network:
        """Freeze the model into a finite network.

        Its time for a row does not depend on the number of support points. Its ``estimate(X)``
        returns values and their standard errors, as estimates of the expansion's predictions.

        Parameters
        ----------
        n_neurons : int
            The number of neurons of the network. Four times as many halve the standard error.
        random_state : int, Generator, RandomState or None, default=None
            Seed of the neurons. The same integer gives the same network.

        Returns
        -------
        Network
            The network. Its values are in the units of y for a regressor.
        """
        network = self.expansion_.freeze(n_neurons, random_state=random_state)
        return self._targets_.network(network)

    @property
    @in_one_state
    def network_(self) -> Network:
        """The expansion frozen into a finite network of ``n_neurons`` neurons."""
        check_is_fitted(self)
        return self._targets_.network(self.estimates_.function(self._rounds_, self.average))


@documented
class ShrinkingGradientRegressor(Regressor, _ShrinkingGradient):
    r"""Online regression with Shrinking Gradient.

    Learns a function :math:`f = \sum_i \alpha_i \Phi(x_i)` of infinitely many neurons, where
    :math:`\Phi(x)` is the activations of all neurons at x. Each row of the stream adds a support
    point :math:`x_i` with a coefficient :math:`\alpha_i`.

    Round t estimates the prediction :math:`E_t \approx \langle f_t, \Phi(x_t) \rangle` from
    ``n_draws`` freshly drawn neurons. B is ``norm_bound``. If :math:`|E_t| < 16 B`, the round
    appends :math:`\alpha_t = \eta_t (y_t - E_t)`. Otherwise it divides all coefficients by 4.

    ``schedule="theorem"`` has a guarantee for all neurons bounded by 1: the expected regret against
    every function of norm up to B is :math:`O(B \sqrt{T})`. The other schedules draw far fewer
    neurons, and are a heuristic. f has no offset, so f = 0 predicts the middle of ``y_range``.

    Memory and the time of a round grow with the rows, unless ``max_support`` limits them. See
    :doc:`/explanation/shrinking-gradient`.

    Attributes
    ----------
    y_range_ : tuple of (array, array)
        Lower and upper ends of the targets' range, each of shape (n_outputs,).

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
        n_draws: int = 512,
        norm_bound: float = 10.0,
        step_size: float | str = "auto",
        schedule: str = "sqrt",
        horizon: int | None = None,
        estimate: str = "auto",
        batch_size: int | str = "auto",
        average: bool = True,
        max_support: int | None = None,
        half_life: float | None = None,
        y_range: Any = "auto",
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
    ) -> None:
        store(self, locals())

    @in_one_state
    @completed_by(_ESTIMATING, PREDICTING)
    def predict(
        self,
        X: MatrixLike,
        return_standard_error: bool = False,
        tolerance: float | None = None,
        confidence: float = 0.9,
    ) -> Any:
        r"""Predict targets, and how close each prediction is to the expansion's.

        By default, the finite network of ``n_neurons`` neurons predicts. With a ``tolerance``,
        fresh neurons predict. There are enough of them for each prediction to be within the
        tolerance of the expansion's prediction, with a probability of at least ``confidence``.

        The standard error is not a predictive standard deviation. It is about the sampling of
        neurons, and not about the noise of y or what has not been learned. The same holds for the
        tolerance.

        Parameters
        ----------
        tolerance : float, optional
            The largest distance of a prediction from :math:`\langle f, \Phi(x) \rangle`, in the
            units of y. Default: no tolerance.

        Returns
        -------
        prediction : float64 array of shape (n_rows,) or (n_rows, n_outputs), as y had in ``fit``
            Predicted targets.
        standard_error : array of the same shape, if ``return_standard_error``
            Monte Carlo standard error of the prediction, in the units of y. It is the error of
            freezing the expansion into ``n_neurons`` neurons.
        """
        check_certificate(type(self).__name__, return_standard_error, tolerance, confidence)
        if not return_standard_error and tolerance is None:
            return super().predict(X)
        check_is_fitted(self)
        targets = self._targets_
        if tolerance is not None:
            tolerance = targets.tolerance(tolerance)
        value, error = self._estimated(X, tolerance, confidence)
        value = targets.shaped(targets.values(value))
        return (
            (value, targets.shaped(targets.differences(error))) if return_standard_error else value
        )

    partial_fit = partial_fit_numbers
    _new_targets = range_of
    y_range_ = property(y_range_)


@documented
class ShrinkingGradientClassifier(Classifier, _ShrinkingGradient):
    r"""Online classification with Shrinking Gradient.

    Learns each class against the rest, by the squared loss of targets ±1. All classes share the
    support points of one expansion :math:`f = \sum_i \alpha_i \Phi(x_i)`. Each row of the stream
    adds one support point. :class:`ShrinkingGradientRegressor` describes the rounds, their
    guarantee, and their time and memory. Raise ``n_draws`` if the online error grows.

    Parameters
    ----------
    average : bool, default=True
        Whether to predict with the average of f over the rounds. If False, the last f predicts.

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
    @completed_by(_ESTIMATING, PREDICTING)
    def decision_function(
        self,
        X: MatrixLike,
        return_standard_error: bool = False,
        tolerance: float | None = None,
        confidence: float = 0.9,
    ) -> Any:
        r"""Compute decision values, and how close each is to the expansion's.

        By default they come from the finite network of ``n_neurons`` neurons. With a ``tolerance``,
        they come from as many fresh neurons as it needs. See
        :meth:`ShrinkingGradientRegressor.predict`.

        Parameters
        ----------
        tolerance : float, optional
            The largest distance of a decision value from :math:`\langle f, \Phi(x) \rangle`. Labels
            are learned as -1 and 1. Default: no tolerance.

        Returns
        -------
        decision : float64 array of shape (n_rows,) or (n_rows, n_classes)
            One value for each row if there are two classes, positive for the second class.
        standard_error : array of the same shape, if ``return_standard_error``
            Monte Carlo standard error of each value.
        """
        check_certificate(type(self).__name__, return_standard_error, tolerance, confidence)
        if not return_standard_error and tolerance is None:
            return super().decision_function(X)
        check_is_fitted(self)
        value, error = self._estimated(X, tolerance, confidence)
        value, error = self._targets_.shown(value), self._targets_.shown_errors(error)
        if value.shape[1] == 1:
            value, error = value[:, 0], error[:, 0]
        return (value, error) if return_standard_error else value

    partial_fit = partial_fit_labels

"""Random Kitchen Sinks: draws K neurons at random, and solves for their coefficients.

A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks: replacing minimization with
randomization in learning", NIPS 2008. The solver is in ``solvers/least_squares``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from trickless.arrays.places import to_device_of
from trickless.arrays.states import in_one_state
from trickless.docstrings import completed_by, documented
from trickless.learners.arguments import LABELS, LEARNING, NUMBERS, PREDICTING
from trickless.learners.base import store
from trickless.learners.classifier import Classifier
from trickless.learners.gaussian_process import GaussianProcess, process_of
from trickless.learners.left_out_intervals import LeftOutIntervals
from trickless.learners.prequential import PredictThenLearnLabels, PredictThenLearnNumbers
from trickless.learners.regressor import Regressor
from trickless.learners.streams import learn_batch, learn_stream
from trickless.learners.sums_learner import SumsLearner
from trickless.neurons import Neurons
from trickless.rules import CLASS_WEIGHT
from trickless.solvers.named_losses import OF_LABELS


@documented
class KitchenSinksRegressor(
    PredictThenLearnNumbers, LeftOutIntervals, GaussianProcess, Regressor, SumsLearner
):
    r"""Regression with Random Kitchen Sinks: ridge regression on random neurons.

    Draws K neurons and minimises

    .. math:: \frac{1}{n} \sum_i \Big(y_i - b - \sum_j \beta_j \cdot \psi(x_i; w_j)\Big)^2
        + \alpha K \sum_j |\beta_j|^2

    in one pass over the rows. The solution approaches kernel ridge regression as K grows.
    :math:`K \sum_j |\beta_j|^2` estimates the squared norm of the function that the network
    samples, so alpha has the same meaning for any number of neurons.

    Parameters
    ----------
    error_bars : bool, default=False
        Whether predictions must have standard deviations. True uses the direct solver for any
        number of columns. With ``weight_bound`` or ``solver="iterative"``, this raises an error.
        With False, there are standard deviations if the direct solver is used.

    Attributes
    ----------
    noise_variance_ : float, or array of shape (n_outputs,)
        Variance of the noise: residual sum of squares over residual degrees of freedom. With
        ``alpha="evidence"`` and rows of equal weight, this is the variance of greatest likelihood.
    log_marginal_likelihood_ : float, or array of shape (n_outputs,)
        Logarithm of the likelihood of the training targets, with the coefficients integrated out,
        at ``alpha_`` and ``noise_variance_``.

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
        fit_intercept: bool = True,
        solver: str = "auto",
        error_bars: bool = False,
        search: dict[str, Any] | None = None,
        half_life: Any = None,
        lags: int = 0,
        max_iter: int = 500,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
        cache_bytes: int = 2**28,
    ) -> None:
        store(self, locals())

    @completed_by(LEARNING)
    def fit_stream(self, batches: Iterable[tuple[Any, ...]]) -> KitchenSinksRegressor:
        """Start a new model, and learn from all batches of an iterable.

        Parameters
        ----------
        batches : iterable of (X, y), (X, y, sample_weight) or (X, y, sample_weight, timestamps)
            Batches, each as for ``partial_fit``.

        Notes
        -----
        If the iterable or a batch raises an error, the model has learned from all earlier batches.
        ``partial_fit`` can add other batches.
        """
        learn_stream(self, batches)
        return self

    @completed_by(NUMBERS, LEARNING)
    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, timestamps: Any = None
    ) -> KitchenSinksRegressor:
        """Learn from a batch.

        If the family estimates nothing from the data, the model is the same as after one ``fit`` to
        all rows, up to rounding. It does not matter how the rows are grouped and ordered. Median
        length scales and the cuts of stumps come from the first batch, so make it representative,
        or pass ``Gaussian(length_scale=...)``. The coefficients are solved for when they are first
        needed.
        """
        learn_batch(self, X, y, sample_weight, timestamps=timestamps)
        return self


@documented
class KitchenSinksClassifier(PredictThenLearnLabels, Classifier, SumsLearner):
    r"""Classification with Random Kitchen Sinks: least squares on random neurons.

    Draws K neurons and learns each class against the rest, with targets ±1. By default it
    minimises

    .. math:: \frac{1}{n} \sum_i \Big(y_i - b - \sum_j \beta_j \cdot \psi(x_i; w_j)\Big)^2
        + \alpha K \sum_j |\beta_j|^2

    in one pass over the rows. ``predict_proba`` calibrates the decision values on rows that are
    left out.

    Parameters
    ----------
    loss : str, default="squared_error"
        The loss: "squared_error", "log_loss", "hinge" or "squared_hinge". "log_loss" is the
        logistic loss for two classes and the softmax loss for more. "squared_error" is the fastest.
        The others need ``fit``, and about a hundred passes over the activations, or up to a
        thousand for "hinge". Activations are kept if they fit into ``cache_bytes``, and otherwise
        evaluated in every pass. These losses minimise the mean loss plus :math:`(\alpha K / 2)
        \sum_j |\beta_j|^2`. ``alpha="auto"`` is then chosen by the loss itself of decision values
        that do not know their row. They do not go with ``solver="iterative"``.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``. In a dictionary
        {label: weight}, classes that are not named have weight 1. "balanced" gives all classes the
        same total weight. It needs all rows, so it works with ``fit`` only, and not with ``merge``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless import KitchenSinksClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KitchenSinksClassifier(n_neurons=500, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _spare = False  # the sums determine the output of a class without rows
    _fixed = ("loss", *SumsLearner._fixed)
    _rules = SumsLearner._rules | OF_LABELS | {"class_weight": CLASS_WEIGHT}

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int = 1000,
        *,
        loss: str = "squared_error",
        class_weight: dict[Any, float] | str | None = None,
        alpha: float | str = "auto",
        weight_bound: float | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        search: dict[str, Any] | None = None,
        half_life: Any = None,
        lags: int = 0,
        max_iter: int = 500,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
        cache_bytes: int = 2**28,
    ) -> None:
        store(self, locals())

    @property
    def _takes_sets(self) -> bool:
        return self.loss == "squared_error"

    @in_one_state
    @completed_by(PREDICTING)
    def decision_function(self, X: Any, return_std: bool = False) -> Any:
        """Compute decision values. A larger value means more confidence in a class.

        Parameters
        ----------
        return_std : bool, default=False
            Whether to return standard deviations as well. They need the direct solver,
            ``loss="squared_error"`` and no ``weight_bound``. ``compact`` leaves them out.

        Returns
        -------
        values : float64 array of shape (n_rows,) for two classes (positive for the second), or
        (n_rows, n_classes)
            Values in the library and on the device of X.
        std : array of the same shape, if ``return_std``
            Standard deviation of the decision value: of the function, without noise. The targets
            ±1 are taken for numbers with normal noise, as in least-squares classification ([1]_,
            Section 6.5).

        References
        ----------
        .. [1] C. E. Rasmussen and C. K. I. Williams, "Gaussian processes for machine learning", MIT
           Press 2006.
        """
        values = super().decision_function(X)
        if not return_std:
            return values
        X = self._rows_to_predict(X)
        with process_of(self, "decision_function(return_std=True)") as process:
            deviations = to_device_of(X, np.sqrt(process.variances(X)))
        return values, deviations[:, 0] if deviations.shape[1] == 1 else deviations

    @completed_by(LEARNING)
    def fit_stream(
        self, batches: Iterable[tuple[Any, ...]], classes: Any = None
    ) -> KitchenSinksClassifier:
        """Start a new model, and learn from all batches of an iterable.

        This needs ``loss="squared_error"``.

        Parameters
        ----------
        batches : iterable of (X, y), (X, y, sample_weight) or (X, y, sample_weight, timestamps)
            Batches, each as for ``partial_fit``.
        classes : array of shape (n_classes,) or "grow", optional
            All labels that may occur, or "grow" if new ones may appear, as for ``partial_fit``.
            Default: the labels of the first batch.
        """
        learn_stream(self, batches, classes)
        return self

    @completed_by(LABELS, LEARNING)
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        timestamps: Any = None,
    ) -> KitchenSinksClassifier:
        """Learn from a batch.

        This needs ``loss="squared_error"``. It does not matter how rows are grouped and ordered.
        See :meth:`KitchenSinksRegressor.partial_fit`.

        Parameters
        ----------
        classes : array of shape (n_classes,) or "grow", optional
            All labels that may occur, for the first call. With "grow", new labels may appear in
            this batch and later ones. The model is then the same as if they had been declared from
            the beginning. ``classes_`` and the columns of probabilities stay sorted, and a first
            batch may hold a single class, which is then predicted. With several half-lives, "grow"
            is for the first call as well, and only the weights of the experts were learned without
            the new classes. Default: the labels of the first batch.
        """
        learn_batch(self, X, y, sample_weight, classes, timestamps)
        return self

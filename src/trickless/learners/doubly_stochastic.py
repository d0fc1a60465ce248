"""Doubly Stochastic Gradients: stochastic in the data and in the neurons.

B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan and L. Song, "Scalable kernel methods via
doubly stochastic gradients", NIPS 2014. The solver is in ``solvers/descent``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.docstrings import completed_by, documented
from trickless.learners.arguments import GROWING, LEARNING, NUMBERS
from trickless.learners.base import store
from trickless.learners.classifier import Classifier
from trickless.learners.descent_learner import DescentLearner
from trickless.learners.descent_streams import learn_rows
from trickless.learners.quantiles import QUANTILE, quantiles_of
from trickless.learners.regressor import Regressor
from trickless.neurons import Neurons
from trickless.rules import CLASS_WEIGHT, TWEEDIE_POWER, choice
from trickless.solvers.named_losses import (
    EPSILON,
    FOR_MEANS,
    FOR_MORE_NUMBERS,
    LINK_LOSSES,
    OF_LABELS,
    QUANTILE_LOSSES,
    REGRESSION_LOSSES,
)
from trickless.solvers.pinball import Quantile
from trickless.targets.means import Means
from trickless.targets.targets import Numbers, Quantiles


@documented
class DoublyStochasticRegressor(Regressor, DescentLearner):
    r"""Regression with Doubly Stochastic Gradients.

    Minimises :math:`E[l(f(x), y)] + \frac{\alpha}{2} \|f\|^2` over functions f of infinitely many
    neurons. Step i takes a batch of rows and k fresh neurons, and predicts the batch with all
    earlier neurons. Each fresh neuron gets the coefficient

    .. math:: c_j = -\frac{\gamma_i}{k}\, \mathrm{mean}\big(l'(f(x), y)\, \psi(x; w_j)\big)

    and earlier coefficients are multiplied by :math:`1 - \gamma_i \alpha`. The model stores the
    coefficients and a seed, from which neurons are drawn again. The network starts with the mean
    target of the first batch as its intercept, or from 0 with ``fit_intercept=False``.

    Parameters
    ----------
    loss : str, default="squared_error"
        The loss l. "squared_error" learns the mean. "huber" and "epsilon_insensitive" are robust
        to outliers. "absolute_error" predicts the median, and "quantile" predicts the quantiles of
        ``quantile``, by the pinball loss. Three losses have a log link. They learn f = log of the
        mean, and ``predict`` returns the mean: "poisson" for counts, "gamma" for positive numbers,
        and "tweedie" for positive numbers and zeros. They are half of the unit deviances.

        With a log link, no Newton step moves f in a leaf further than ``log(1 + abs(s))``, where s
        is the whole step, so that the exponential does not run away. Plain steps allow for four
        times the curvature at the start.
    quantile : float or sequence of float, default=0.5
        For ``loss="quantile"``: the share of the targets below the prediction. With an increasing
        sequence, all quantiles are learned in one fit, with the same neurons. ``predict`` then
        returns a column for each quantile, in increasing order. They never cross, because the
        values of a row are sorted, which never increases their pinball loss (Chernozhukov,
        Fernández-Val and Galichon, Econometrica 78(3), 2010). y must be one column then.
    tweedie_power : float, default=1.5
        The power p of ``loss="tweedie"``, above 1 and below 2. The variance of a target is taken
        to be in proportion to the p-th power of its mean. 1 would be "poisson", and 2 "gamma".

    Attributes
    ----------
    intercept_ : array of shape (n_outputs,)
        Mean of the first batch's targets, or its logarithm for losses with a log link, or their
        quantile, or 0. With a ``half_life`` it moves to their present level.
    online_error_ : array of shape (n_steps, 2)
        Number of rows of each step, and their mean squared error before the step. The error is
        summed over the outputs.

    Notes
    -----
    Counts that were observed for different exposures, such as days, are learned as rates:
    ``fit(X, count / exposure, sample_weight=exposure)``. For "poisson" this is the same likelihood
    as that of the counts with log(exposure) as an offset. The expected count of a row is
    ``exposure * predict(X)``. With a log link, ``network_(X)`` is the logarithm of the mean.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import DoublyStochasticRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DoublyStochasticRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.4)
    True
    >>> model = DoublyStochasticRegressor(
    ...     "trees", 100, loss="quantile", quantile=[0.05, 0.5, 0.95], random_state=0
    ... )
    >>> model.fit(X, y).predict(X).shape
    (442, 3)

    Counts, and the share of their deviance that is explained:

    >>> counts = DoublyStochasticRegressor("trees", 100, loss="poisson", random_state=0).fit(X, y)
    >>> bool(counts.score(X, y) > 0.4)
    True
    """

    _fixed = ("quantile", "tweedie_power", *DescentLearner._fixed)
    _rules = DescentLearner._rules | {
        "quantile": QUANTILE,
        "tweedie_power": TWEEDIE_POWER,
        "loss": choice(
            *(*REGRESSION_LOSSES, *QUANTILE_LOSSES, *LINK_LOSSES),
            remedy=f"{FOR_MEANS}; {FOR_MORE_NUMBERS}",
        ),
        "epsilon": EPSILON,
    }

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int | str = "auto",
        *,
        loss: str = "squared_error",
        epsilon: float = 0.1,
        quantile: Quantile = 0.5,
        tweedie_power: float = 1.5,
        alpha: float | str = "auto",
        fit_intercept: bool = True,
        step_size: float | str = "auto",
        schedule: str = "inverse",
        decay: float | str = "auto",
        preconditioner: str | None = "auto",
        damping: float | str = "auto",
        batch_size: int | str = "auto",
        neurons_per_step: int | str = "auto",
        n_candidates: int | str = "auto",
        learned_prior: bool = True,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        tol: float = 1e-3,
        warm_start: bool = False,
        half_life: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
        cache_bytes: int = 2**28,
    ) -> None:
        store(self, locals())

    def _new_targets(self, y: np.ndarray, classes: Any) -> Numbers:
        owner, loss, levels = type(self).__name__, self.fixed_["loss"], quantiles_of(self)
        if levels is not None:
            return Quantiles(owner, y, self.dtype, len(levels))
        if loss in LINK_LOSSES:
            power = {"poisson": 1, "gamma": 2}.get(loss, self.fixed_["tweedie_power"])
            return Means(owner, y, self.dtype, loss, power)
        return super()._new_targets(y, classes)

    @completed_by(NUMBERS, LEARNING)
    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, timestamps: Any = None
    ) -> DoublyStochasticRegressor:
        """Take steps on equal batches of at most ``batch_size`` rows, in the order given.

        A batch of fewer rows takes a proportionally smaller step, so rows count equally, however
        they are grouped. For a stream of small batches, set ``batch_size`` to their size.
        Parameters that are "auto" depend on the rows of each call, so calls with 1,024 rows or more
        learn faster. Each step adds ``neurons_per_step`` neurons, also beyond ``n_neurons``.

        Parameters
        ----------
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows, relative to their mean so far. If the weights of a batch sum to
            more than its number of rows, they are scaled down to that number. That keeps the step
            stable, so heavy rows count less than in ``fit``, especially in small batches.
        """
        learn_rows(self, X, y, sample_weight, timestamps=timestamps)
        return self


@documented
class DoublyStochasticClassifier(Classifier, DescentLearner):
    r"""Classification with Doubly Stochastic Gradients.

    Minimises :math:`E[l(f(x), y)] + \frac{\alpha}{2} \|f\|^2` over functions f of infinitely many
    neurons. Step i takes a batch of rows and k fresh neurons, and predicts the batch with all
    earlier neurons. Each fresh neuron gets the coefficient

    .. math:: c_j = -\frac{\gamma_i}{k}\, \mathrm{mean}\big(l'(f(x), y)\, \psi(x; w_j)\big)

    and earlier coefficients are multiplied by :math:`1 - \gamma_i \alpha`. The model stores the
    coefficients and a seed, from which neurons are drawn again. With "log_loss", the network starts
    with the log-odds of the first batch's classes as its intercept. Steps on blocks move the
    intercept, so that probabilities average to the shares of the classes.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``. In a dictionary
        {label: weight}, classes that are not named have weight 1. "balanced" gives all classes the
        same total weight. It needs all rows, so it works with ``fit`` only.

    Attributes
    ----------
    intercept_ : array of shape (n_outputs,)
        The constant of the decision values.
    online_error_ : array of shape (n_steps, 2)
        Number of rows of each step, and the share misclassified before the step.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless import DoublyStochasticClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = DoublyStochasticClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _rules = DescentLearner._rules | OF_LABELS | {"class_weight": CLASS_WEIGHT}

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int | str = "auto",
        *,
        loss: str = "log_loss",
        class_weight: dict[Any, float] | str | None = None,
        alpha: float | str = "auto",
        fit_intercept: bool = True,
        step_size: float | str = "auto",
        schedule: str = "inverse",
        decay: float | str = "auto",
        preconditioner: str | None = "auto",
        damping: float | str = "auto",
        batch_size: int | str = "auto",
        neurons_per_step: int | str = "auto",
        n_candidates: int | str = "auto",
        learned_prior: bool = True,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        tol: float = 1e-3,
        warm_start: bool = False,
        half_life: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
        cache_bytes: int = 2**28,
    ) -> None:
        store(self, locals())

    @completed_by(GROWING, LEARNING)
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        timestamps: Any = None,
    ) -> DoublyStochasticClassifier:
        """Take steps on equal batches of at most ``batch_size`` rows, in the order given.

        See :meth:`DoublyStochasticRegressor.partial_fit` for the sizes of batches and steps.

        Parameters
        ----------
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows, relative to their mean so far. If the weights of a batch sum to
            more than its number of rows, they are scaled down to that number.
        """
        learn_rows(self, X, y, sample_weight, classes, timestamps)
        return self

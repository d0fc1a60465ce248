"""Kitchen Sinks read as a Gaussian process: deviations, covariances, samples and likelihoods.

The prior of the function is the kernel of the drawn neurons times ``noise_variance_ / (n alpha_)``.
A constant has a flat prior, if there is one. Here n is the effective number of rows.
The public functions and properties are methods and attributes of the estimators.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.special import stdtrit
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from trickless._arrays.likes import ArrayLike, MatrixLike, RandomStateLike
from trickless._arrays.places import HOST, place_of, to_device_of, to_host
from trickless._arrays.states import in_one_state
from trickless._arrays.threads import linear_algebra
from trickless._docstrings import completed_by
from trickless._errors import InvalidValueError
from trickless._functions.network import Network
from trickless._functions.stream import as_seed
from trickless._learners.arguments import PREDICTING
from trickless._learners.classifier import Classifier
from trickless._learners.growing_sums import check_statistics
from trickless._learners.half_life_experts import is_ensemble
from trickless._learners.likelihood import Likelihood
from trickless._learners.refusals import check_method
from trickless._learners.regressor import Regressor
from trickless._rows.weights import check_weights
from trickless._rules import check_value, count, with_remedies
from trickless._solvers.least_squares.process import Process

_N_SAMPLES = count("n_samples=1 draws one function")


@in_one_state
def predict(self: Any, X: MatrixLike, return_std: bool = False, return_cov: bool = False) -> Any:
    """Predict targets, and their standard deviations or covariances.

    Parameters
    ----------
    X : array, CSR matrix or data frame of shape (n_rows, n_features)
        Rows to predict.
    return_std : bool, default=False
        Whether to return standard deviations as well. They need the direct solver, and no
        ``weight_bound``.
    return_cov : bool, default=False
        Whether to return covariances instead of standard deviations. They need the same, and
        memory for a number for each pair of rows.

    Returns
    -------
    y : float64 array of shape (n_rows,) or (n_rows, n_outputs), as y had in ``fit``
        Predicted targets, in the library and on the device of X.
    std : array of the same shape, if ``return_std``
        Standard deviation of a new target of rows as they come, whatever weights the training rows
        have. The model is read as a Gaussian process whose posterior mean is the solution. Its
        kernel is the kernel of the drawn neurons times ``noise_variance_ / (n alpha_)``. The kernel
        of the drawn neurons approaches the exact kernel of the family as ``n_neurons`` grows.
    cov : array of shape (n_rows, n_rows) or (n_rows, n_rows, n_outputs), if ``return_cov``
        Covariance of new targets at the rows, one at each. Its diagonal is ``std ** 2``.
        Without the noise's variance on the diagonal, it is the covariance of the function.
    """
    owner = type(self).__name__
    if return_std and return_cov:
        raise InvalidValueError(
            f"{owner}: return_std=True does not go with return_cov=True",
            "return_cov=True, whose diagonal is the square of the standard deviations",
        )
    if return_std and is_ensemble(self):
        ahead = self._sums_.ahead(self._rows_to_predict(X))
        return self._targets_.shaped(ahead.decisions), self._targets_.shaped(ahead.deviations)
    if return_std:
        X = self._rows_to_predict(X)
        with process_of(self, "return_std=True") as process:
            mean, variances = process.predicted(X)
            both = self._targets_.values(mean), process.deviations(variances)
        mean, deviations = (self._targets_.shaped(to_device_of(X, each)) for each in both)
        return mean, deviations
    mean = Regressor.predict(self, X)
    if not return_cov:
        return mean
    X = self._rows_to_predict(X)
    with process_of(self, "return_cov=True") as process:
        covariance = process.covariance(X)
        covariance[np.diag_indices(len(covariance))] += process.noise_of_new
    covariance = covariance[:, :, 0] if self._targets_.is_vector else covariance
    return mean, to_device_of(X, covariance)


@in_one_state
def sample_y(
    self: Any, X: MatrixLike, n_samples: int = 1, random_state: RandomStateLike = 0
) -> Any:
    """Draw functions from the posterior, and evaluate them on rows.

    Coefficients of the neurons are drawn from their posterior [1]_. With one integer
    ``random_state``, all calls evaluate the same functions, on any rows. The first functions are
    the same for any ``n_samples``. Coefficients are drawn once for each function, so time and
    memory grow with the rows as for predictions. Noise is not added: add normal numbers of variance
    ``noise_variance_`` for samples of targets.

    Parameters
    ----------
    X : array, CSR matrix or data frame of shape (n_rows, n_features)
        Rows.
    n_samples : int, default=1
        Number of functions.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the functions.

    Returns
    -------
    array of shape (n_rows, n_samples) or (n_rows, n_outputs, n_samples)
        Values of the functions.

    Raises
    ------
    ValueError
        As for the standard deviations of ``predict``.

    References
    ----------
    .. [1] C. E. Rasmussen and C. K. I. Williams, "Gaussian processes for machine learning", MIT
       Press 2006, Equation 2.8 (the posterior of the coefficients).

    Examples
    --------
    >>> import numpy as np
    >>> from trickless import KitchenSinksRegressor
    >>> X = np.linspace(-3, 3, 50)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(50)
    >>> model = KitchenSinksRegressor(n_neurons=100, random_state=0).fit(X, y)
    >>> f = model.sample_y(X, 5)
    >>> bool(np.allclose(f[:3], model.sample_y(X[:3], 5)))
    True
    """
    check_is_fitted(self)
    check_value(type(self).__name__, "n_samples", n_samples, _N_SAMPLES)
    X = self._rows_to_predict(X)
    network = _sampled(self, "sample_y", n_samples, random_state)
    with linear_algebra(self.n_jobs):
        values = network(X)
    shape: tuple[int, ...] = (X.shape[0], n_samples)
    if not self._targets_.is_vector:
        shape = (X.shape[0], self._targets_.n_outputs, n_samples)
    return to_device_of(X, to_host(values).reshape(shape))


@in_one_state
def sample_function(self: Any, random_state: RandomStateLike = 0) -> SampledFunction:
    """Draw a function from the posterior, for Thompson sampling.

    The function is a sum of the drawn neurons, with coefficients from their posterior [2]_. It is
    continuous, and has a gradient if the family has derivatives. An optimiser can therefore look
    for its minimum, instead of the best of some candidates. The next row to evaluate is then chosen
    with the probability that the minimum is there [1]_.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None, default=0
        Seed of the function. With an integer, the function is the first one of ``sample_y``.

    Returns
    -------
    f : SampledFunction
        ``f(X)`` are values at rows, of shape (n_rows,) or (n_rows, n_outputs).
        ``f.gradient(X)`` are gradients, of shape (n_rows, n_features) or
        (n_rows, n_features, n_outputs). Later rows that the model learns do not change f.

    Raises
    ------
    ValueError
        As for the standard deviations of ``predict``. ``f.gradient`` raises it if the family has no
        derivatives. Fourier families have them, also in sums, multiples and on some columns.

    References
    ----------
    .. [1] W. R. Thompson, "On the likelihood that one unknown probability exceeds another in view
       of the evidence of two samples", Biometrika 25, 1933.
    .. [2] J. T. Wilson, V. Borovitskiy, A. Terenin, P. Mostowsky and M. P. Deisenroth,
       "Efficiently sampling functions from Gaussian process posteriors", ICML 2020, Equation 12.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.optimize import minimize
    >>> from trickless import KitchenSinksRegressor
    >>> X = np.linspace(-3, 3, 30)[:, None]
    >>> model = KitchenSinksRegressor(n_neurons=100, alpha="evidence", random_state=0)
    >>> f = model.fit(X, (X[:, 0] - 1) ** 2).sample_function()
    >>> found = minimize(lambda x: f([x])[0], [0.0], jac=lambda x: f.gradient([x])[0])
    >>> bool(abs(found.x[0] - 1) < 0.5)
    True
    """
    check_is_fitted(self)
    return SampledFunction(self, _sampled(self, "sample_function", 1, random_state))


class SampledFunction:
    """A function from the posterior of a model, with its gradient."""

    def __init__(self, learner: Any, network: Network) -> None:
        self._learner, self._network = learner, network

    def __call__(self, X: Any) -> Any:
        """Compute values at rows, of shape (n_rows,) or (n_rows, n_outputs)."""
        X = self._learner._rows_to_predict(X)
        with linear_algebra(self._network.n_jobs):
            return self._shaped(X, self._network(X))

    def gradient(self, X: MatrixLike) -> Any:
        """Compute gradients at rows, (n_rows, n_features) or (n_rows, n_features, n_outputs)."""
        X = self._learner._rows_to_predict(X)
        with linear_algebra(self._network.n_jobs):
            return self._shaped(X, self._network.gradient(to_host(X)))

    def _shaped(self, X: Any, values: Any) -> Any:
        """Return values without the axis of outputs if targets are a vector, where X is."""
        values = to_host(values)
        return to_device_of(X, values[..., 0] if self._learner._targets_.is_vector else values)


def _sampled(learner: Any, what: str, n_samples: int, random_state: RandomStateLike) -> Network:
    """Return a network whose outputs are samples of the posterior of a model."""
    with process_of(learner, what) as process:
        return process.samples(type(learner).__name__, n_samples, as_seed(random_state))


@in_one_state
def noise_variance(self: Any) -> Any:
    """Variance of the noise: residual sum of squares / residual degrees of freedom.

    With ``sample_weight``, squares count by their weights, so it is the noise at a row of mean
    weight if weights are inverse to the variance of the noise.
    """
    check_is_fitted(self)
    _check_deviations(self)
    return _each_output(self, self._sums_.noise(self._problem()))


@in_one_state
def log_likelihood_of_fit(self: Any) -> Any:
    r"""Logarithm of the likelihood of the training targets, from the sums over the rows.

    Coefficients are integrated out, at ``alpha_`` and ``noise_variance_``. With an intercept, it is
    the likelihood under a flat prior of the constant. A row of weight :math:`w_i` has noise of
    variance :math:`s \sum_j w_j / (n w_i)`, with ``noise_variance_`` s and the effective number n
    of rows. A row that has faded counts for less of a row.
    """
    check_is_fitted(self)
    check_statistics(self)
    if not np.all(np.ravel(self.alpha_) > 0):
        raise InvalidValueError(
            f"{type(self).__name__}: alpha_={self.alpha_!r}, so coefficients have no prior, and "
            "the targets no likelihood",
            "an alpha above 0, or alpha='evidence'",
        )
    likelihood = self._sums_.log_evidence(self._problem())
    if not np.isfinite(likelihood).all():
        raise InvalidValueError(
            f"{type(self).__name__}: noise_variance_={self.noise_variance_!r}, so the targets "
            "have no finite likelihood, because they do not vary",
            "targets that vary",
        )
    return _each_output(self, likelihood)


@in_one_state
def theta_of_fit(self: Any) -> np.ndarray:
    """Logarithms of the length scales, ``alpha_`` and ``noise_variance_``, in this order.

    There are no length scales if the family has no ``length_scale_``.
    """
    alpha, noise = np.ravel(self.alpha_), np.ravel(self.noise_variance_)
    scales = np.ravel(getattr(self.neurons_, "length_scale_", []))
    positive = np.concatenate([scales, alpha, noise])
    if not (positive > 0).all():
        raise InvalidValueError(
            f"{type(self).__name__}: alpha_={self.alpha_!r} and noise_variance_="
            f"{self.noise_variance_!r}, but only numbers above 0 have logarithms",
            "alpha='evidence', and targets that vary",
        )
    return np.log(positive)


@in_one_state
def log_marginal_likelihood(
    self: Any,
    X: MatrixLike,
    y: ArrayLike,
    theta: Any = None,
    eval_gradient: bool = False,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Compute the logarithm of the likelihood of rows, as a function of hyperparameters.

    The drawn neurons stay the same, so that it is a smooth function that an optimiser can
    maximise. Activations are evaluated in double precision.

    Parameters
    ----------
    X : array, CSR matrix or data frame of shape (n_rows, n_features)
        Rows, such as those of ``fit``. The sums of the model do not hold them.
    y : array of shape (n_rows,) or (n_rows, n_outputs)
        Target values.
    theta : array of shape (n_hyperparameters,), optional
        Logarithms of the length scales, of alpha for each output, and of the noise's variance
        for each output. Default: ``theta_``, those of the model.
    eval_gradient : bool, default=False
        Whether to return the gradient with respect to ``theta`` as well.
    sample_weight : array of shape (n_rows,), optional
        Weights of the rows, as for ``fit``.

    Returns
    -------
    likelihood : float
        As ``log_marginal_likelihood_``, summed over the outputs.
    gradient : array of shape (n_hyperparameters,), if ``eval_gradient``
        It is exact for alpha and the noise [1]_. For each length scale it is a central difference,
        which takes two more passes over the rows.

    References
    ----------
    .. [1] C. E. Rasmussen and C. K. I. Williams, "Gaussian processes for machine learning", MIT
       Press 2006, Section 5.4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.optimize import minimize
    >>> from trickless import KitchenSinksRegressor
    >>> from trickless.neurons import Gaussian
    >>> X = np.linspace(-3, 3, 80)[:, None]
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(80)
    >>> model = KitchenSinksRegressor(Gaussian(3.0), 50, alpha="evidence", random_state=0)
    >>> model = model.fit(X, y)
    >>> def loss(theta):
    ...     value, slopes = model.log_marginal_likelihood(X, y, theta, eval_gradient=True)
    ...     return -value, -slopes
    >>> best = minimize(loss, model.theta_, jac=True, method="L-BFGS-B").x
    >>> bool(0.5 < np.exp(best[0]) < 2)
    True
    """
    _check_deviations(self)
    start = self.theta_ if theta is None else np.asarray(theta, dtype=np.float64)
    wanted = np.shape(getattr(self.neurons_, "length_scale_", []))
    n = int(np.prod(wanted)) + 2 * self._targets_.n_outputs
    if start.shape != (n,) or not np.isfinite(start).all():
        raise InvalidValueError(
            f"{type(self).__name__}: theta={theta!r}, but it must be {n} finite numbers",
            "theta_ plus changes, such as model.theta_ + 0.1",
        )
    X = self._rows_to_predict(X)
    X = X.astype(np.float64) if place_of(X) is HOST else to_host(X).astype(np.float64)
    with with_remedies(type(self).__name__):
        targets = self._targets_.matrix(np.asarray(self._scored(to_host(y))))
        check_consistent_length(X, targets)
    weight = None
    if sample_weight is not None:
        weight = check_weights(type(self).__name__, sample_weight, len(targets))
    problem = self._problem()._replace(alpha="evidence")
    rows = X, targets, weight, problem
    likelihood = Likelihood(self.neurons_, self._sums_.stream, self._sums_.n_neurons, *rows)
    with linear_algebra(self.n_jobs):
        value, gradient = likelihood.at(start, eval_gradient)
    return (value, gradient) if eval_gradient else value


def _each_output(learner: Any, values: np.ndarray) -> Any:
    """Return a number, or an array if there are several outputs."""
    return float(values[0]) if learner._targets_.is_vector else values


@in_one_state
@completed_by(PREDICTING)
def decision_function(self: Any, X: MatrixLike, return_std: bool = False) -> Any:
    """Compute decision values. A larger value means more confidence in a class.

    Parameters
    ----------
    return_std : bool, default=False
        Whether to return standard deviations as well. They need the direct solver,
        ``loss="squared_error"`` and no ``weight_bound``. ``compact`` leaves them out.

    Returns
    -------
    values : float64 array of shape (n_rows,) for two classes, or (n_rows, n_classes)
        Values, in the library and on the device of X. With two classes, a positive value stands for
        the second.
    std : array of the same shape, if ``return_std``
        Standard deviation of the decision value: of the function, without noise. The targets
        ±1 are taken for numbers with normal noise, as in least-squares classification ([1]_,
        Section 6.5).

    References
    ----------
    .. [1] C. E. Rasmussen and C. K. I. Williams, "Gaussian processes for machine learning", MIT
       Press 2006.
    """
    values = Classifier.decision_function(self, X)
    if not return_std:
        return values
    X = self._rows_to_predict(X)
    with process_of(self, "decision_function(return_std=True)") as process:
        deviations = to_device_of(X, np.sqrt(process.predicted(X)[1]))
    return values, deviations[:, 0] if deviations.shape[1] == 1 else deviations


def intervals_by_deviations(learner: Any, X: MatrixLike, confidence: float, weighted: bool) -> Any:
    """Return intervals as if targets were normal with the mean and deviation of the model.

    Quantiles come from Student's t distribution, since the variance of the noise is estimated.
    """
    X = learner._rows_to_predict(X)
    with process_of(learner, "method='gaussian'") as process:
        if weighted:
            process = process._replace(noise_of_new=process.noise)
        mean, variances = process.predicted(X)
        far = stdtrit(process.freedom(), 0.5 + confidence / 2) * process.deviations(variances)
    return to_device_of(X, learner._targets_.ends(mean, far))


@contextmanager
def process_of(learner: Any, what: str) -> Iterator[Process]:
    """Give the posterior of a model, which ``what`` needs; an error says why there is none."""
    check_method(learner, what)
    _check_deviations(learner)
    with learner._sums_.certain(learner._problem()) as process:
        yield process


def _check_deviations(learner: Any) -> None:
    """Raise an error if a fitted model cannot give standard deviations."""
    if not learner._sums_.has_deviations:
        check_statistics(learner)

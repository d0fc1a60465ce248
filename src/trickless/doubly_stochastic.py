"""Doubly Stochastic Gradients: stochastic in the data and in the neurons.

B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan and L. Song, "Scalable kernel methods via
doubly stochastic gradients", NIPS 2014.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from trickless._estimator import Classification, Learner, Regression
from trickless._growing import Growing
from trickless._losses import CLASSIFICATION_LOSSES, REGRESSION_LOSSES, Loss, make_loss
from trickless._network import Network
from trickless._stream import NeuronStream, Purpose, generator
from trickless._validation import choice, either, integer, non_negative, positive
from trickless.neurons import Neurons


class _DoublyStochastic(Learner):
    """Functional gradient descent on a fresh batch of rows and a fresh block of neurons a step."""

    loss: str
    epsilon: float = 0.0

    _rules = Learner._rules | {
        "alpha": non_negative("alpha=1e-6 regularises lightly"),
        "step_size": either(
            positive("step_size='auto' is stable for every loss and bounded family"),
            choice("auto", remedy=""),
        ),
        "schedule": choice("inverse", "constant", remedy="schedule='inverse' has the guarantee"),
        "batch_size": integer(1, "batch_size=512 is the default"),
        "neurons_per_step": integer(1, "neurons_per_step=32 is the default"),
        "cache_bytes": integer(0, "cache_bytes=2**28 keeps up to 256 MiB of drawn weights"),
    }

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int = 20_000,
        *,
        alpha: float = 1e-6,
        step_size: float | str = "auto",
        schedule: str = "inverse",
        batch_size: int = 512,
        neurons_per_step: int = 32,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
        cache_bytes: int = 2**28,
    ) -> None:
        self.neurons = neurons
        self.n_neurons = n_neurons
        self.alpha = alpha
        self.step_size = step_size
        self.schedule = schedule
        self.batch_size = batch_size
        self.neurons_per_step = neurons_per_step
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.dtype = dtype
        self.cache_bytes = cache_bytes

    def _loss(self, n_outputs: int) -> Loss:
        return make_loss(self.loss, n_outputs, self.epsilon)

    def _offset(self, targets: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Constant that the network starts from."""
        return np.zeros(targets.shape[1])

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Take steps on batches of the rows until ``n_neurons`` neurons have been drawn.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,), or (n_rows, n_outputs) for a regressor
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows in the mean over a batch.

        Returns
        -------
        self
        """
        X, targets, weight = self._receive(X, y, sample_weight, first=True)
        self.intercept_ = self._offset(targets, weight)
        batches = self._batches(X.shape[0])
        with self._progress(self.n_neurons, "neuron") as bar:
            while (left := self.n_neurons - len(self._coef)) > 0:
                rows = next(batches)
                part = None if weight is None else weight[rows]
                k = min(self.neurons_per_step, left)
                self._step(X[rows], targets[rows], part, k)
                bar.update(k)
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Any:
        first = not hasattr(self, "stream_")
        X, targets, weight = self._receive(X, y, sample_weight, first=first, classes=classes)
        if first:
            self.intercept_ = self._offset(targets, weight)
        for start in range(0, X.shape[0], self.batch_size):
            rows = slice(start, start + self.batch_size)
            part = None if weight is None else weight[rows]
            self._step(X[rows], targets[rows], part, self.neurons_per_step)
        return self

    def _batches(self, n_rows: int) -> Iterator[np.ndarray]:
        """Batches of rows, pass after pass, each pass in an order of its own."""
        epoch = 0
        while True:
            order = generator(self.seed_, Purpose.SHUFFLE, epoch).permutation(n_rows)
            for start in range(0, n_rows, self.batch_size):
                yield order[start : start + self.batch_size]
            epoch += 1

    def _initialise(self, n_outputs: int) -> None:
        self.stream_ = NeuronStream(self.neurons_, self.seed_, self.dtype, self.cache_bytes)
        self._coef = Growing()
        self._coef.append(np.zeros((0, self.neurons_.width, n_outputs), dtype=self.dtype))
        self.n_steps_ = 0
        self._online: list[tuple[int, float]] = []

    def _step_size(self, loss: Loss) -> float:
        """γ_i for the step about to be taken."""
        first = (
            1 / (loss.curvature * self.neurons_.bound**2)
            if isinstance(self.step_size, str)
            else self.step_size
        )
        if self.schedule == "constant":
            return first
        return first / (1 + first * self.alpha * self.n_steps_)

    def _step(self, X: Any, targets: np.ndarray, weight: np.ndarray | None, k: int) -> None:
        """One step of Algorithm 1 on a batch of rows and the next k neurons of the stream."""
        loss = self._loss(targets.shape[1])
        gamma = self._step_size(loss)
        f = self.network_(X)  # Alg. 1, line 4: predict with all earlier neurons
        self._online.append((len(targets), float(self._error(f, targets).mean())))
        share = np.full(len(targets), 1 / len(targets)) if weight is None else weight / weight.sum()
        slope = loss.derivative(f, targets) * share[:, None]
        first = len(self._coef)
        self._coef.rows[:] *= 1 - gamma * self.alpha  # Alg. 1, line 6: decay the earlier ones
        for where, weights in self.stream_.pieces(first, first + k):  # line 3: neurons from a seed
            Z = self.neurons_.activate(X, weights)
            gradient = Z.T @ slope.astype(Z.dtype)
            new = -gamma / k * gradient.reshape(self.neurons_.width, -1, slope.shape[1])
            self._coef.append(new.transpose(1, 0, 2))  # Alg. 1, line 5
            assert len(self._coef) == where.stop
        self.n_steps_ += 1

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the neurons so far, shape (n_neurons, width, n_outputs)."""
        return self._coef.rows

    @property
    def online_error_(self) -> np.ndarray:
        """Number of rows and mean error of each step, before it was taken, shape (n_steps, 2)."""
        return np.array(self._online)

    @property
    def network_(self) -> Network:
        """The network of all neurons so far."""
        return Network(self.neurons_, self.stream_, self._coef.rows, self.intercept_, self.n_jobs)


class DoublyStochasticRegressor(Regression, _DoublyStochastic):
    r"""Regression with Doubly Stochastic Gradients.

    Minimises :math:`E[l(f(x), y)] + \frac{\alpha}{2} \|f\|^2` over functions f of infinitely many
    neurons. Step i takes a batch of rows and k fresh neurons, predicts the batch with all earlier
    neurons, gives each fresh neuron the coefficient

    .. math:: c_j = -\frac{\gamma_i}{k}\, \mathrm{mean}\big(l'(f(x), y)\, \psi(x; w_j)\big)

    and multiplies the earlier ones by :math:`1 - \gamma_i \alpha`. Neurons come back from a seed:
    the model is its coefficients. The mean of the first batch's targets is subtracted and added
    back by the network's intercept.

    Parameters
    ----------
    neurons : Neurons or str, default="gaussian"
        The family of neurons, or the name of one.
    n_neurons : int, default=20_000
        How many neurons ``fit`` draws in all. It takes ``n_neurons / neurons_per_step`` steps.
    loss : {"squared_error", "epsilon_insensitive"}, default="squared_error"
        The loss l.
    epsilon : float, default=0.1
        Half-width of the tube in which "epsilon_insensitive" is 0, in units of y.
    alpha : float, default=1e-6
        Regularisation strength, relative to the mean loss.
    step_size : float or "auto", default="auto"
        The first step :math:`\gamma`. "auto" is 1 / (curvature of the loss × bound²), which is
        stable for every batch.
    schedule : {"inverse", "constant"}, default="inverse"
        "inverse" takes :math:`\gamma / (1 + \gamma \alpha i)`, which tends to
        :math:`\theta / i` with :math:`\theta \alpha = 1`, a choice for which the paper proves
        convergence at rate 1/i.
    batch_size : int, default=512
        Rows a step.
    neurons_per_step : int, default=32
        Neurons k drawn a step.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons and of the order of rows.
    n_jobs : int or None, default=None
        Threads. None uses as many as BLAS would, -1 every core.
    verbose : bool, default=False
        Whether to show a progress bar.
    dtype : {"float32", "float64"}, default="float32"
        Precision of activations and coefficients.
    cache_bytes : int, default=2**28
        Bytes of drawn weights to keep in memory. The rest comes back from the seed when needed.

    Attributes
    ----------
    coef_ : array of shape (n_neurons, width, n_outputs)
        Coefficients of the neurons.
    intercept_ : array of shape (n_outputs,)
        Mean of the first batch's targets.
    online_error_ : array of shape (n_steps, 2)
        Number of rows of each step and their mean squared error before the step was taken.
    n_steps_ : int
        Steps taken.
    network_ : Network
        The network that predicts.
    neurons_ : Neurons
        The fitted family.
    n_features_in_ : int
        Number of inputs.

    References
    ----------
    .. [1] B. Dai et al., "Scalable kernel methods via doubly stochastic gradients", NIPS 2014,
       Algorithms 1 and 2.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import DoublyStochasticRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DoublyStochasticRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.4)
    True
    """

    _rules = _DoublyStochastic._rules | {
        "loss": choice(*REGRESSION_LOSSES, remedy="loss='squared_error' estimates the mean"),
        "epsilon": non_negative("epsilon=0.1 suits standardised targets"),
    }

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int = 20_000,
        *,
        loss: str = "squared_error",
        epsilon: float = 0.1,
        alpha: float = 1e-6,
        step_size: float | str = "auto",
        schedule: str = "inverse",
        batch_size: int = 512,
        neurons_per_step: int = 32,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
        cache_bytes: int = 2**28,
    ) -> None:
        super().__init__(
            neurons,
            n_neurons,
            alpha=alpha,
            step_size=step_size,
            schedule=schedule,
            batch_size=batch_size,
            neurons_per_step=neurons_per_step,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            dtype=dtype,
            cache_bytes=cache_bytes,
        )
        self.loss = loss
        self.epsilon = epsilon

    def _offset(self, targets: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        return np.average(targets, axis=0, weights=weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> DoublyStochasticRegressor:
        """Take one step for each ``batch_size`` rows, in the order given.

        Each step adds ``neurons_per_step`` neurons, however many there are already.

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


class DoublyStochasticClassifier(Classification, _DoublyStochastic):
    r"""Classification with Doubly Stochastic Gradients.

    Minimises :math:`E[l(f(x), y)] + \frac{\alpha}{2} \|f\|^2` over functions f of infinitely many
    neurons. Step i takes a batch of rows and k fresh neurons, predicts the batch with all earlier
    neurons, gives each fresh neuron the coefficient

    .. math:: c_j = -\frac{\gamma_i}{k}\, \mathrm{mean}\big(l'(f(x), y)\, \psi(x; w_j)\big)

    and multiplies the earlier ones by :math:`1 - \gamma_i \alpha`. Neurons come back from a seed:
    the model is its coefficients.

    Parameters
    ----------
    neurons : Neurons or str, default="gaussian"
        The family of neurons, or the name of one.
    n_neurons : int, default=20_000
        How many neurons ``fit`` draws in all. It takes ``n_neurons / neurons_per_step`` steps.
    loss : {"log_loss", "hinge", "squared_hinge", "squared_error"}, default="log_loss"
        The loss l. "log_loss" is the logistic loss for two classes and the softmax loss for more;
        the others take one class against the rest.
    alpha : float, default=1e-6
        Regularisation strength, relative to the mean loss.
    step_size : float or "auto", default="auto"
        The first step :math:`\gamma`. "auto" is 1 / (curvature of the loss × bound²), which is
        stable for every batch.
    schedule : {"inverse", "constant"}, default="inverse"
        "inverse" takes :math:`\gamma / (1 + \gamma \alpha i)`, which tends to
        :math:`\theta / i` with :math:`\theta \alpha = 1`, a choice for which the paper proves
        convergence at rate 1/i.
    batch_size : int, default=512
        Rows a step.
    neurons_per_step : int, default=32
        Neurons k drawn a step.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons and of the order of rows.
    n_jobs : int or None, default=None
        Threads. None uses as many as BLAS would, -1 every core.
    verbose : bool, default=False
        Whether to show a progress bar.
    dtype : {"float32", "float64"}, default="float32"
        Precision of activations and coefficients.
    cache_bytes : int, default=2**28
        Bytes of drawn weights to keep in memory. The rest comes back from the seed when needed.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    coef_ : array of shape (n_neurons, width, n_outputs)
        Coefficients of the neurons.
    online_error_ : array of shape (n_steps, 2)
        Number of rows of each step and the share misclassified before the step was taken.
    n_steps_ : int
        Steps taken.
    network_ : Network
        The network that predicts.
    neurons_ : Neurons
        The fitted family.
    n_features_in_ : int
        Number of inputs.

    References
    ----------
    .. [1] B. Dai et al., "Scalable kernel methods via doubly stochastic gradients", NIPS 2014,
       Algorithms 1 and 2.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from trickless import DoublyStochasticClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = DoublyStochasticClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _rules = _DoublyStochastic._rules | {
        "loss": choice(*CLASSIFICATION_LOSSES, remedy="loss='log_loss' gives probabilities"),
    }

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int = 20_000,
        *,
        loss: str = "log_loss",
        alpha: float = 1e-6,
        step_size: float | str = "auto",
        schedule: str = "inverse",
        batch_size: int = 512,
        neurons_per_step: int = 32,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = "float32",
        cache_bytes: int = 2**28,
    ) -> None:
        super().__init__(
            neurons,
            n_neurons,
            alpha=alpha,
            step_size=step_size,
            schedule=schedule,
            batch_size=batch_size,
            neurons_per_step=neurons_per_step,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            dtype=dtype,
            cache_bytes=cache_bytes,
        )
        self.loss = loss

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> DoublyStochasticClassifier:
        """Take one step for each ``batch_size`` rows, in the order given.

        Each step adds ``neurons_per_step`` neurons, however many there are already.

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

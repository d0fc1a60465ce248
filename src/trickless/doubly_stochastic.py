"""Doubly Stochastic Gradients: stochastic in the data and in the neurons.

B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan and L. Song, "Scalable kernel methods via
doubly stochastic gradients", NIPS 2014.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless._estimator import Classification, NeuronLearner, Regression
from trickless._growing import Growing
from trickless._losses import CLASSIFICATION_LOSSES, REGRESSION_LOSSES, Loss, make_loss
from trickless._network import Network
from trickless._stream import NeuronStream, Purpose, generator
from trickless._validation import choice, either, integer, non_negative, positive
from trickless.neurons import Neurons

#: A mean loss this many times that of a constant is taken for divergence.
_DIVERGED = 1e3


class _DoublyStochastic(NeuronLearner):
    """Functional gradient descent on a fresh batch of rows and a fresh block of neurons a step."""

    loss: str
    epsilon: float = 0.0
    alpha: float
    step_size: float | str
    schedule: str
    batch_size: int
    neurons_per_step: int
    cache_bytes: int

    _fixed = (*NeuronLearner._fixed, "loss")

    _rules = NeuronLearner._rules | {
        "alpha": non_negative("alpha=1e-6 regularises lightly"),
        "step_size": either(
            positive("step_size='auto' suits every loss and bounded family"),
            choice("auto", remedy=""),
        ),
        "schedule": choice(
            "inverse", "constant", remedy="schedule='inverse' decays as the theorem asks"
        ),
        "batch_size": integer(1, "batch_size=512 is the default"),
        "neurons_per_step": integer(1, "neurons_per_step=32 is the default"),
        "cache_bytes": integer(0, "cache_bytes=2**28 keeps up to 256 MiB of drawn weights"),
    }

    def _loss(self, n_outputs: int) -> Loss:
        # Before fit there is only the parameter; after it, what the model was begun with counts.
        name = getattr(self, "_begun_with", {}).get("loss", self.loss)
        return make_loss(name, n_outputs, self.epsilon)

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
            Weights of the rows, in units of their mean. The weights of a batch are scaled down
            where they sum to more than its number of rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _learn_all(self, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> None:
        self._count(targets, weight)
        batches = self._batches(X.shape[0])
        with self._progress(self.n_neurons, "neuron") as bar:
            while (left := self.n_neurons - len(self._coef)) > 0:
                rows = next(batches)
                part = None if weight is None else weight[rows]
                k = min(self.neurons_per_step, left)
                self._step(X[rows], targets[rows], part, k)
                bar.update(k)

    def _learn(self, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> None:
        self._count(targets, weight)
        n_batches = -(-X.shape[0] // self.batch_size)
        with self._progress(X.shape[0], "row") as bar:
            for rows in np.array_split(np.arange(X.shape[0]), n_batches):
                part = None if weight is None else weight[rows]
                size = len(rows) / self.batch_size
                self._step(X[rows], targets[rows], part, self.neurons_per_step, size)
                bar.update(len(rows))

    def _count(self, targets: np.ndarray, weight: np.ndarray | None) -> None:
        """Count rows and their weights, whose mean is the unit of weight."""
        self._n_rows += len(targets)
        self._weight += len(targets) if weight is None else weight.sum()

    def _batches(self, n_rows: int) -> Iterator[np.ndarray]:
        """Batches of one size, or of all rows if there are fewer.

        Each pass has an order of its own, and a batch may reach over the end of a pass.
        """
        size, epoch = min(self.batch_size, n_rows), 0
        left = np.zeros(0, dtype=int)
        while True:
            order = generator(self.seed_, Purpose.SHUFFLE, epoch).permutation(n_rows)
            left = np.concatenate([left, order])
            while len(left) >= size:
                yield left[:size]
                left = left[size:]
            epoch += 1

    def _initialise(self, targets: np.ndarray, weight: np.ndarray | None) -> None:
        self.stream_ = NeuronStream(self.neurons_, self.seed_, self.dtype, self.cache_bytes)
        self.intercept_ = self._offset(targets, weight)
        self._coef = Growing()
        shape = (0, self.neurons_.width, targets.shape[1])
        self._coef.append(np.zeros(shape, dtype=self.dtype))
        self.n_steps_ = 0
        self._n_rows, self._weight = 0, 0.0
        self._online: list[tuple[int, float]] = []
        self._largest_loss = 0.0
        gamma = self._step_size(self._loss(targets.shape[1]))
        if self.schedule == "constant" and gamma * self.alpha >= 1:
            raise ValueError(
                f"{type(self).__name__}: step_size={self.step_size!r} (a first step of {gamma:g}) "
                f"with alpha={self.alpha!r} decays earlier coefficients by 1 - step * alpha = "
                f"{1 - gamma * self.alpha:g}, which must be above 0. Remedy: a step_size below "
                f"{1 / self.alpha:g}, or a smaller alpha."
            )

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

    def _step(
        self, X: Any, targets: np.ndarray, weight: np.ndarray | None, k: int, size: float = 1.0
    ) -> None:
        """One step of Algorithm 1 on a batch of rows and the next k neurons of the stream.

        A batch of a share ``size`` of the usual rows takes that share of the usual step.
        """
        loss = self._loss(targets.shape[1])
        gamma = size * self._step_size(loss)
        f = self._network()(X)  # Alg. 1, line 4: predict with all earlier neurons
        self._check_progress(loss, f, targets, gamma)
        slope = loss.derivative(f, targets) * self._shares(targets, weight)[:, None]
        new = []
        first = len(self._coef)
        for _, weights in self.stream_.pieces(first, first + k):  # line 3: neurons from a seed
            Z = self.neurons_(X, weights)
            gradient = Z.T @ slope.astype(Z.dtype)
            gradient = gradient.reshape(self.neurons_.width, -1, slope.shape[1])
            new.append(-gamma / k * gradient.transpose(1, 0, 2))  # Alg. 1, line 5
        self._online.append((len(targets), float(self._error(f, targets).mean())))
        self._coef.rows[:] *= 1 - gamma * self.alpha  # Alg. 1, line 6: decay the earlier ones
        self._coef.append(np.concatenate(new))
        self.n_steps_ += 1

    def _shares(self, targets: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Weights of the rows in the mean over a batch.

        They are in units of the mean weight of all rows, so a light batch makes a small step; but
        they never sum to more than 1, so a heavy one makes no larger step than is stable.
        """
        if weight is None:
            return np.full(len(targets), 1 / len(targets))
        shares = weight / (len(weight) * self._weight / self._n_rows)
        return shares / max(1.0, shares.sum())

    def _check_progress(self, loss: Loss, f: np.ndarray, y: np.ndarray, gamma: float) -> None:
        """Stop before a step if the loss has grown far beyond that of predicting nothing."""
        start = np.broadcast_to(self.intercept_, f.shape)
        self._largest_loss = max(self._largest_loss, float(loss.value(start, y).mean()))
        now = float(loss.value(f, y).mean())
        if now > _DIVERGED * self._largest_loss > 0:
            raise ValueError(
                f"{type(self).__name__}: training diverged after {self.n_steps_} steps of about "
                f"{gamma:g} (step_size={self.step_size!r}): the mean loss is {now:.3g}, where "
                f"predicting a constant has {self._largest_loss:.3g}. Remedy: a step_size below "
                f"{1 / (loss.curvature * self.neurons_.bound**2):g}, or a larger batch_size or "
                "neurons_per_step; the bound of the neurons must hold, too."
            )

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the neurons so far, shape (n_neurons, width, n_outputs)."""
        check_is_fitted(self)
        return self._coef.rows.copy()

    @property
    def online_error_(self) -> np.ndarray:
        """Number of rows and mean error of each step, before it was taken, shape (n_steps, 2)."""
        check_is_fitted(self)
        return np.array(self._online)

    @property
    def network_(self) -> Network:
        """The network of all neurons so far."""
        check_is_fitted(self)
        network = self._network()
        network.coef = network.coef.copy()  # training goes on in place
        return network

    def _network(self) -> Network:
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
        stable on average. The noise of k fresh neurons on b rows multiplies the squared error by
        about :math:`1 + \gamma^2 / (k b)` a step, so ``neurons_per_step * batch_size`` should be
        well above the number of steps.
    schedule : {"inverse", "constant"}, default="inverse"
        "inverse" takes :math:`\gamma / (1 + \gamma \alpha i)`. After about
        :math:`1 / (\gamma \alpha)` steps (a million by default) it is :math:`\theta / i` with
        :math:`\theta \alpha = 1`, a choice for which the paper proves convergence at rate 1/i;
        before, it is nearly constant.
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
        self.neurons = neurons
        self.n_neurons = n_neurons
        self.loss = loss
        self.epsilon = epsilon
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

    def _offset(self, targets: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        return np.average(targets, axis=0, weights=weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> DoublyStochasticRegressor:
        """Take steps on equal batches of at most ``batch_size`` rows, in the order given.

        A batch of fewer rows takes a proportionally smaller step, so that rows count alike however
        they are grouped; for a stream of small batches set ``batch_size`` to their size. Each step
        adds ``neurons_per_step`` neurons, however many there are already.

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
        stable on average. The noise of k fresh neurons on b rows multiplies the squared error by
        about :math:`1 + \gamma^2 / (k b)` a step, so ``neurons_per_step * batch_size`` should be
        well above the number of steps.
    schedule : {"inverse", "constant"}, default="inverse"
        "inverse" takes :math:`\gamma / (1 + \gamma \alpha i)`. After about
        :math:`1 / (\gamma \alpha)` steps (a million by default) it is :math:`\theta / i` with
        :math:`\theta \alpha = 1`, a choice for which the paper proves convergence at rate 1/i;
        before, it is nearly constant.
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
        self.neurons = neurons
        self.n_neurons = n_neurons
        self.loss = loss
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

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> DoublyStochasticClassifier:
        """Take steps on equal batches of at most ``batch_size`` rows, in the order given.

        A batch of fewer rows takes a proportionally smaller step, so that rows count alike however
        they are grouped; for a stream of small batches set ``batch_size`` to their size. Each step
        adds ``neurons_per_step`` neurons, however many there are already.

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

"""The state of a fitted model of Doubly Stochastic Gradients, by the names that users know."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless._functions.network import Network, check_alike
from trickless._functions.stream import NeuronStream
from trickless._learners.neuron_learner import NeuronLearner
from trickless._solvers.clock import Clock
from trickless._solvers.descent.descent import Descent
from trickless.conformal.unseen import Unseen


class DescentAttributes(NeuronLearner):
    """What the solver ``_descent_`` has found, and how it found it.

    Attributes
    ----------
    neuron_coef_ : array of shape (n_neurons, width, n_outputs)
        Coefficients of the neurons.
    loss_curve_ : array of shape (n_steps,)
        Mean loss of the rows of each step before the step.
    validation_scores_ : list of float
        Scores of the held-out rows, with ``early_stopping``: the share of their loss that is
        explained, as the mean over outputs.
    n_iter_ : int
        Number of steps taken.
    schedule_ : str
        The schedule in use, also if the parameter is "auto".
    batch_size_, neurons_per_step_, n_neurons_ : int
        The values in use of parameters that may be "auto".
    alpha_ : float
        The regularisation strength in use.
    feature_importances_ : array of shape (n_features,)
        The share of each feature in the relevance that the family learned. See
        ``length_scale="relevance"`` of :class:`~trickless.neurons.Gaussian`.
    network_ : Network
        The network that predicts.
    """

    _clock_: Clock | None = None
    _stream_: NeuronStream
    _descent_: Descent
    schedule_: str
    batch_size_: int
    neurons_per_step_: int
    n_neurons_: int

    def _is_model(self) -> bool:
        """Return whether the learner has taken steps."""
        return hasattr(self, "_descent_") and bool(self._descent_.history)

    def check_state(self) -> None:
        super().check_state()
        check_alike("neurons of _stream_", self._stream_.neurons, self.neurons_)
        check_alike("neurons of _descent_", self._descent_.neurons, self.neurons_)
        self._check_outputs("_descent_", len(self._descent_.intercept))

    def _unseen(self) -> Unseen | None:
        return self._descent_.unseen

    def _function(self, X: Any) -> Any:
        return self._descent_.function(self.n_jobs)(X)

    @property
    def neuron_coef_(self) -> np.ndarray:
        """Coefficients of the neurons so far, shape (n_neurons, width, n_outputs)."""
        check_is_fitted(self)
        return self._descent_.coef.rows.copy()

    @property
    def intercept_(self) -> np.ndarray:
        """The constant of the network, shape (n_outputs,)."""
        return self._descent_.intercept.copy()

    @property
    def n_iter_(self) -> int:
        """Number of steps taken."""
        return self._descent_.n_steps

    @property
    def validation_scores_(self) -> list[float]:
        """Scores of the held-out rows, with ``early_stopping``."""
        return self._descent_.validation_scores

    @property
    def online_error_(self) -> np.ndarray:
        """Number of rows and mean error before each step, shape (n_steps, 2)."""
        check_is_fitted(self)
        return np.array([(seen.n_rows, seen.error) for seen in self._descent_.history])

    @property
    def loss_curve_(self) -> np.ndarray:
        """Mean loss of its rows before each step, shape (n_steps,)."""
        check_is_fitted(self)
        return np.array([seen.loss for seen in self._descent_.history])

    @property
    def network_(self) -> Network:
        """A copy of the network of all neurons so far."""
        check_is_fitted(self)
        return self._descent_.function(self.n_jobs).copied()

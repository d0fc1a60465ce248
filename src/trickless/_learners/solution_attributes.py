"""The state of a fitted model of Kitchen Sinks: its solution, its experts, and unseen rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless._arrays.stated import check_is
from trickless._arrays.states import in_one_state
from trickless._errors import MissingAttributeError
from trickless._functions.network import Network, check_alike
from trickless._functions.stream import NeuronStream, kept_bytes
from trickless._learners.classifier import Classifier
from trickless._learners.half_life_experts import EarlyRows
from trickless._learners.neuron_learner import NeuronLearner
from trickless._rules import check_parameters
from trickless._solvers.calibration import Temperatures
from trickless._solvers.clock import Clock
from trickless._solvers.experts.experts import RATIOS, Experts
from trickless._solvers.least_squares.paths import Solution
from trickless._solvers.least_squares.problem import Problem
from trickless._solvers.least_squares.statistics import Statistics
from trickless._solvers.least_squares.sums import Sums
from trickless._targets.labels import LabelSets
from trickless.conformal.unseen import Scores, Unseen


class SolutionAttributes(NeuronLearner):
    """What the sums of a learner, ``_sums_``, say about the solution of its ``_problem``.

    Attributes
    ----------
    alpha_ : float, or array of shape (n_outputs,)
        The regularisation strength in use.
    neuron_coef_ : array of shape (n_neurons, width, n_outputs)
        Coefficients of the neurons.
    intercept_ : array of shape (n_outputs,)
        The constant b of each output.
    cv_values_ : array of shape (n_outputs, n_alphas)
        Mean loss of left-out rows at each of ``cv_alphas_``, if alpha was chosen from the data. It
        is infinite where alpha was not tried.
    cv_alphas_ : array of shape (n_alphas,)
        The values of alpha that were compared.
    n_iter_ : int
        Number of iterations of the solver. It is 1 for the direct solver.
    network_ : Network
        The network that predicts.
    search_scores_ : array of shape (n_candidates,)
        Scores of the compared families, relative to the score of a constant. Smaller is better.
        They are in the order of :class:`sklearn.model_selection.ParameterGrid` with ``search``, and
        otherwise of the family's own choices, such as length scales.
    statistics_ : object
        What the direct solver keeps of the rows: sums of products of activations and targets, or
        these themselves while there are no more rows than activations.
    half_lives_ : array of shape (n_half_lives,)
        Half-lives in use, if ``half_life`` is "auto" or a list.
    expert_weights_ : structured array of shape (n_experts,)
        For such a model, the present ``weight`` of each expert, its ``half_life``, its
        ``length_scale`` relative to the family's, and its ``noise`` in ratio to the signal (NaN if
        alpha was given). Weights sum to 1.
    weight_history_ : tuple of (array of shape (n_entries,), array of shape (n_entries, n_experts))
        For such a model, numbers of rows, and the weights of the experts before them, as means
        since the previous entry.
    """

    alpha: float | str
    weight_bound: float | None
    _sums_: Any
    _early_: EarlyRows | None = None
    _stream_: NeuronStream
    _clock_: Clock | None = None

    def _problem(self) -> Problem:
        """Return what the solver is asked to minimise."""
        apart: dict[str, Any] = {
            "owner": type(self).__name__,
            "classifies": isinstance(self, Classifier),
            "cache_bytes": kept_bytes(),
        }
        given = {name: getattr(self, name) for name in Problem._fields if name not in apart}
        return Problem(**apart, **given)

    def _is_model(self) -> bool:
        """Return whether the learner can predict, if it was interrupted."""
        sums, squared = getattr(self, "_sums_", None), self._calibrates()
        return squared and sums is not None and bool(sums.has_statistics)

    @property
    def _begins_classes(self) -> bool:
        return isinstance(getattr(self, "_sums_", None), Experts)

    def check_state(self) -> None:
        super().check_state()
        check_is("_sums_", self._sums_, Sums | Experts)
        check_alike("neurons of _stream_", self._stream_.neurons, self.neurons_)
        check_alike("neurons of _sums_", self._sums_.stream.neurons, self.neurons_)
        self._check_outputs("_sums_", len(self._sums_.origin))

    def _solution(self) -> Solution:
        check_is_fitted(self)
        check_parameters(self, self._rules)
        solution: Solution = self._sums_.solution(self._problem())
        return solution

    def _function(self, X: Any) -> Any:
        return self._sums_.function(self._problem())(X)

    def _network(self) -> Network:
        network: Network = self._sums_.function(self._problem())
        return network

    def _forget_rows(self, error_bars: bool) -> None:
        self._early_ = None
        calibrated = isinstance(self, Classifier)
        temperatures = self._temperatures() if calibrated else None
        scores = self._scores() if isinstance(self, Classifier) else None
        deviations = error_bars and not calibrated
        self._sums_ = self._sums_.without_statistics(
            self._problem(), temperatures, scores, deviations
        )

    def _unseen(self) -> Unseen | None:
        if not self._calibrates() or not self._sums_.has_unseen or self.weight_bound is not None:
            return None
        return self._sums_.unseen(self._problem())

    def _scores(self) -> Scores | None:
        sums = self._sums_
        if sums.scores is None and not isinstance(self._targets_, LabelSets):
            sums.scores = super()._scores()
        return sums.scores

    def _calibrates(self) -> bool:
        return bool(self._value("loss") == "squared_error")

    def _temperatures(self) -> Temperatures | None:
        if not self._calibrates():
            return None
        return self._sums_.temperatures(self._problem(), isinstance(self._targets_, LabelSets))

    @property
    @in_one_state
    def statistics_(self) -> Statistics:
        """Sums over the rows so far, from the direct solver."""
        if getattr(self, "compacted_", False):
            raise MissingAttributeError(
                "compact() has left out statistics_",
                "use the model from before compact(), or call fit",
            )
        if self._sums_.statistics is None:
            raise MissingAttributeError(
                "the model was solved in passes over the rows, so there are no statistics_",
                "solver='direct'",
            )
        return self._sums_.statistics

    @property
    def cv_values_(self) -> np.ndarray:
        """Mean losses of rows that were left out, at ``cv_alphas_``: (n_outputs, n_alphas).

        They are squared errors, or the loss of the classifier divided by the number of outputs.
        """
        scores = self._solution().scores
        if scores is None:
            raise MissingAttributeError(
                f"alpha={self.alpha!r} was given, not chosen, so there are no cv_values_",
                "alpha='auto'",
            )
        return scores

    @property
    @in_one_state
    def cv_alphas_(self) -> np.ndarray:
        """The values of alpha that were compared, shape (n_alphas,)."""
        _ = self.cv_values_
        grid = self._solution().grid
        assert grid is not None
        return grid / self._sums_.n_neurons

    @property
    @in_one_state
    def alpha_(self) -> Any:
        """The regularisation strength: a number, or one for each of several outputs."""
        ridge = self._solution().ridge
        alpha = ridge / self._sums_.n_neurons
        return float(alpha[0]) if len(alpha) == 1 else alpha

    @property
    def n_iter_(self) -> int:
        """Number of iterations of the solver. It is 1 for the direct solver."""
        return self._solution().n_iter

    @property
    @in_one_state
    def neuron_coef_(self) -> np.ndarray:
        """Coefficients of the neurons, shape (n_neurons, width, n_outputs)."""
        solution = self._solution()
        coef: np.ndarray = self._sums_.by_neuron(solution.coef)
        return coef

    @property
    def intercept_(self) -> np.ndarray:
        """The constant b of each output, shape (n_outputs,)."""
        return self._solution().intercept.copy()

    @property
    def network_(self) -> Network:
        """A copy of the network of the drawn neurons."""
        check_is_fitted(self)
        return self._network().copied()

    @property
    @in_one_state
    def half_lives_(self) -> np.ndarray:
        """Half-lives in use, shape (n_half_lives,)."""
        return self._experts().half_lives.copy()

    @property
    @in_one_state
    def expert_weights_(self) -> np.ndarray:
        """Half-life, length scale, noise and present weight of each expert."""
        experts = self._experts()
        ratios = RATIOS if isinstance(experts.alpha, str) else (np.nan,)
        of_each = np.meshgrid(experts.factors, experts.half_lives, ratios, indexing="ij")
        kinds = [(name, "f8") for name in ("half_life", "length_scale", "noise", "weight")]
        table = np.zeros(of_each[0].size, dtype=kinds)
        for name, values in zip(("length_scale", "half_life", "noise"), of_each, strict=True):
            table[name] = values.ravel()
        table["weight"] = self._of_machines(experts, experts.shares.weights.mean(axis=1))
        return table

    @property
    @in_one_state
    def weight_history_(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of rows, and mean weights of the experts of ``expert_weights_`` until then."""
        experts = self._experts()
        counts, means = experts.shares.history()
        return counts, self._of_machines(experts, means)

    def _of_machines(self, experts: Experts, weights: np.ndarray) -> np.ndarray:
        """Return sums of the weights of the experts of each machine."""
        n_each = experts.answer.n_each
        return weights.reshape(*weights.shape[:-1], n_each, -1).sum(axis=-2)

    def _experts(self) -> Experts:
        check_is_fitted(self)
        experts: Experts = self._sums_
        return experts

"""Learners whose coefficients solve a regularised problem: what is asked, and what was found."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.stated import check_is
from trickless.arrays.states import in_one_state
from trickless.conformal.unseen import Scores, Unseen
from trickless.errors import MissingAttributeError
from trickless.functions.network import Network, check_alike
from trickless.functions.stream import NeuronStream
from trickless.learners.classifier import Classifier
from trickless.learners.half_life_experts import EarlyRows, is_ensemble, learn_rows
from trickless.learners.neuron_learner import NeuronLearner
from trickless.learners.row_ages import Aged
from trickless.rows.rows import Batch
from trickless.rules import check_parameters
from trickless.solvers.calibration import Temperatures
from trickless.solvers.clock import Clock
from trickless.solvers.experts.experts import Experts
from trickless.solvers.least_squares.paths import Solution
from trickless.solvers.least_squares.problem import Problem
from trickless.solvers.least_squares.statistics import Statistics
from trickless.solvers.least_squares.sums import Sums
from trickless.targets.labels import LabelSets


def follows(learner: Any, batch: Batch, aged: Aged) -> bool:
    """Return whether a batch of a stream that forgets is learned row by row."""
    return (
        aged.passed is not None
        and len(batch[1]) == len(aged.passed)
        and learner.sums_.may_follow(batch[0], learner._problem())
    )


class SolvedLearner(NeuronLearner):
    """A learner of neurons whose coefficients solve a regularised problem, by ``sums_``."""

    loss: str = "squared_error"
    alpha: float | str
    weight_bound: float | None
    fit_intercept: bool
    max_iter: int
    tol: float
    cache_bytes: int
    half_life: Any = None
    stream_: NeuronStream
    sums_: Any
    clock_: Clock | None = None
    early_: EarlyRows | None = None

    @property
    def _begins_classes(self) -> bool:
        return isinstance(getattr(self, "sums_", None), Experts)

    def _problem(self) -> Problem:
        """Return what the solver is asked to minimise."""
        apart: dict[str, Any] = {
            "owner": type(self).__name__,
            "classifies": isinstance(self, Classifier),
        }
        given = {name: getattr(self, name) for name in Problem._fields if name not in apart}
        return Problem(**apart, **given)

    def _learn(self, batch: Batch, aged: Aged) -> None:
        """Add a batch to the sums, if it has rows."""
        if is_ensemble(self):
            if len(batch[1]):
                learn_rows(self, batch, aged)
        elif not len(batch[1]):
            self.sums_.fade(aged.fade)
        elif follows(self, batch, aged):
            X, targets, weight, passed = *batch, aged.passed
            assert weight is not None and passed is not None
            weight = weight * np.exp2(passed[-1] - passed)  # the weights that they had at first
            arrived = None if aged.arrival is None else aged.arrival.first
            self.sums_.follow(X, targets, weight, self._problem(), passed, arrived)
        else:
            how: Any = {"fade": aged.fade, "arrival": aged.arrival}
            with self._progress(len(batch[1]), "row") as bar:
                self.sums_.learn(*batch, self._problem(), bar.update, **how)

    def _is_model(self) -> bool:
        """Return whether the learner can predict, if it was interrupted."""
        sums, squared = getattr(self, "sums_", None), self.loss == "squared_error"
        return squared and sums is not None and bool(sums.has_statistics)

    def _solution(self) -> Solution:
        check_is_fitted(self)
        check_parameters(self, self._rules)
        solution: Solution = self.sums_.solution(self._problem())
        return solution

    def _function(self, X: Any) -> Any:
        return self.sums_.function(self._problem())(X)

    def _network(self) -> Network:
        network: Network = self.sums_.function(self._problem())
        return network

    def check_state(self) -> None:
        super().check_state()
        check_is("sums_", self.sums_, Sums | Experts)
        check_alike("neurons of stream_", self.stream_.neurons, self.neurons_)
        check_alike("neurons of sums_", self.sums_.stream.neurons, self.neurons_)
        self._check_outputs("sums_", len(self.sums_.origin))

    def _forget_rows(self, error_bars: bool) -> None:
        self.early_ = None
        calibrated = isinstance(self, Classifier)
        temperatures = self._temperatures() if calibrated else None
        scores = self._scores() if isinstance(self, Classifier) else None
        deviations = error_bars and not calibrated
        self.sums_ = self.sums_.without_statistics(
            self._problem(), temperatures, scores, deviations
        )

    def _unseen(self) -> Unseen | None:
        if not self._calibrates() or not self.sums_.has_unseen or self.weight_bound is not None:
            return None
        return self.sums_.unseen(self._problem())

    def _scores(self) -> Scores | None:
        sums = self.sums_
        if sums.scores is None and not isinstance(self.targets_, LabelSets):
            sums.scores = super()._scores()
        return sums.scores

    def _calibrates(self) -> bool:
        return self._of_loss("loss", "squared_error") == "squared_error"

    def _temperatures(self) -> Temperatures | None:
        if not self._calibrates():
            return None
        return self.sums_.temperatures(self._problem(), isinstance(self.targets_, LabelSets))

    @property
    @in_one_state
    def statistics_(self) -> Statistics:
        """Sums over the rows so far, from the direct solver."""
        if getattr(self, "compacted_", False):
            raise MissingAttributeError(
                "compact() has left out statistics_",
                "use the model from before compact(), or call fit",
            )
        if self.sums_.statistics is None:
            raise MissingAttributeError(
                "the model was solved in passes over the rows, so there are no statistics_",
                "solver='direct'",
            )
        return self.sums_.statistics

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
        return grid / self.sums_.n_neurons

    @property
    @in_one_state
    def alpha_(self) -> Any:
        """The regularisation strength: a number, or one for each of several outputs."""
        ridge = self._solution().ridge
        alpha = ridge / self.sums_.n_neurons
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
        coef: np.ndarray = self.sums_.by_neuron(solution.coef)
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

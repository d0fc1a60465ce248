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
from trickless.intake.labels import LabelSets
from trickless.intake.rows import Batch
from trickless.learners.classifier import Classifier
from trickless.learners.forgetting import Aged
from trickless.learners.neuron_learner import NeuronLearner
from trickless.rules import check_parameters
from trickless.solvers.calibration import Temperatures
from trickless.solvers.clock import Clock
from trickless.solvers.least_squares.problem import Problem
from trickless.solvers.least_squares.ridge import Solution
from trickless.solvers.least_squares.statistics import Statistics
from trickless.solvers.least_squares.sums import Sums


class SolvedLearner(NeuronLearner):
    """A learner of neurons whose coefficients solve a regularised problem, by ``sums_``."""

    loss: str = "squared_error"
    noise: str = "constant"
    alpha: float | str
    weight_bound: float | None
    fit_intercept: bool
    max_iter: int
    tol: float
    cache_bytes: int
    half_life: Any = None
    sums_: Sums
    clock_: Clock | None = None  # in files of older versions

    _parts = (*NeuronLearner._parts, "neurons_", "stream_", "sums_")

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
        if not len(batch[1]):
            self.sums_.fade(aged.fade)
        else:
            how: Any = {"fade": aged.fade, "arrived": aged.arrived}
            with self._progress(len(batch[1]), "row") as bar:
                self.sums_.learn(*batch, self._problem(), advance=bar.update, **how)

    def _is_model(self) -> bool:
        """Return whether the learner can predict, if it was interrupted."""
        sums: Sums | None = getattr(self, "sums_", None)
        squared = self.loss == "squared_error" and self.alpha != "loo"
        return squared and sums is not None and sums.statistics is not None

    def _solution(self) -> Solution:
        check_is_fitted(self)
        check_parameters(self, self._rules)
        return self.sums_.solution(self._problem())

    def _function(self, X: Any) -> Any:
        return self.network_(X)

    def check_state(self) -> None:
        super().check_state()
        check_is("clock_", self.clock_, Clock | None)
        if hasattr(self, "sums_"):
            check_is("sums_", self.sums_, Sums)
            check_alike("neurons of sums_", self.sums_.stream.neurons, self.neurons_)
            self._check_outputs("sums_", len(self.sums_.origin))

    def _forget_rows(self, error_bars: bool) -> None:
        calibrated = isinstance(self, Classifier)
        temperatures = self._temperatures() if calibrated else None
        scores = self._scores() if isinstance(self, Classifier) else None
        deviations = error_bars and not calibrated and self._calibrates()
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
        """Cross-validated mean squared errors at ``cv_alphas_``, shape (n_outputs, n_alphas).

        They are from generalised cross-validation or, for ``alpha="loo"`` and for no more rows than
        columns, leave-one-out errors.
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
        alpha = self._solution().ridge / self.sums_.n_neurons
        return float(alpha[0]) if len(alpha) == 1 else alpha

    @property
    def n_iter_(self) -> int:
        """Number of iterations of the solver. It is 1 for the direct solver."""
        return self._solution().n_iter

    @property
    @in_one_state
    def neuron_coef_(self) -> np.ndarray:
        """Coefficients of the neurons, shape (n_neurons, width, n_outputs)."""
        return self.sums_.by_neuron(self._solution().coef)

    @property
    def intercept_(self) -> np.ndarray:
        """The constant b of each output, shape (n_outputs,)."""
        return self._solution().intercept

    @property
    def network_(self) -> Network:
        """The network of the drawn neurons."""
        check_is_fitted(self)
        return self.sums_.function(self._problem())

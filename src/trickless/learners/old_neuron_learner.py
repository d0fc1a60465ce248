"""Learners of drawn neurons: the family they learn with, and the network they predict by."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from trickless.arrays.devices import take
from trickless.checks.inputs import check_sparse
from trickless.functions.network import Network
from trickless.functions.stream import Purpose, draw, generator, moved
from trickless.learners.old_base import NO_TARGETS, Learner
from trickless.neurons import Neurons, Weights, make_neurons
from trickless.neurons.checks import (
    check_family,
    check_fit_takes_weights,
    check_fitted_family,
    check_rows_alone,
    check_same_draws,
)
from trickless.rules import integer
from trickless.selection.halving import choose
from trickless.tables.encoder import TableEncoder, inputs_of, why_no_numbers, why_no_table
from trickless.tables.frames import is_frame

#: Rows and neurons on which a family is tried.
_TRIAL_ROWS, _TRIAL_NEURONS = 64, 16


class NeuronLearner(Learner):
    """A learner of drawn neurons, which predicts with a finite network of them.

    Subclasses implement ``network_`` (the current network).
    """

    #: Whether the learner relies on the bound of the neurons.
    _bounded: ClassVar[bool] = True
    _fixed = ("neurons", *Learner._fixed)
    _smaller = "a smaller n_neurons, or fewer rows at a time"

    neurons: Neurons | str
    n_neurons: int
    neurons_: Neurons
    _encoder: TableEncoder | None

    _rules = Learner._rules | {
        "n_neurons": integer(1, "it counts draws of w; n_neurons=1000 is a good start"),
    }

    @property
    def network_(self) -> Network:
        """The finite network that predicts."""
        raise NotImplementedError

    def _values(self, X: Any) -> Any:
        return self.network_(X)

    def _validated(
        self, X: Any, y: Any = NO_TARGETS, *, reset: bool = False, **options: Any
    ) -> Any:
        """Rows, and targets, as arrays; frames and missing values for families that take them."""
        owner, neurons = type(self).__name__, make_neurons(self.neurons)
        if neurons.accepts_tables:
            options["ensure_all_finite"] = "allow-nan"
        if reset:
            table = neurons.accepts_tables and is_frame(X)
            self._encoder = TableEncoder(owner, X) if table else None
        elif self._encoder is not None and is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)  # names before types
        if self._encoder is not None:
            X = self._encoder(owner, X)
        return super()._validated(X, y, reset=reset, **options)

    def _why_refused(self, X: Any) -> str | None:
        neurons = make_neurons(self.neurons)
        if neurons.accepts_tables:
            return why_no_table(X)
        return why_no_numbers(
            X,
            f"neurons={type(neurons).__name__}() takes finite numbers only. Remedy: "
            "neurons=Tabular(), which takes missing values and, in data frames, text; or encode it "
            "in a pipeline.",
        )

    def _check_kind(self, X: Any) -> None:
        check_sparse(type(self).__name__, make_neurons(self.neurons), X)

    def _columns_apart(self) -> tuple[bool, bool]:
        neurons = make_neurons(self.neurons)
        return neurons.accepts_tables, neurons.by_order

    def _prepare(self, X: Any, targets: np.ndarray, weight: np.ndarray | None, first: bool) -> None:
        """Fit the family to the first batch, and try it on a few rows of every batch."""
        if first:
            inputs, families = inputs_of(self, X), self._families()
            for family in families:
                family.inputs_ = inputs
                check_fit_takes_weights(family)
                family.fit(X, generator(self.seed_, Purpose.FIT), weight)
                check_fitted_family(family)
            self.__dict__.pop("search_scores_", None)
            chosen = choose(families, X, targets, weight, self.n_neurons, self.seed_, self.n_jobs)
            self.neurons_, scores = chosen
            if scores is not None:
                self.search_scores_ = scores
        rows, trial = take(X, slice(_TRIAL_ROWS)), self._trial()
        there = moved(trial, rows)
        check_family(self.neurons_, rows, there, self._bounded)
        if first:
            check_same_draws(type(self.neurons_).__name__, trial, self._trial())
            check_rows_alone(self.neurons_, rows, there)

    def _trial(self) -> Weights:
        rng = generator(self.seed_, Purpose.TRIAL)
        return draw(self.neurons_, rng, _TRIAL_NEURONS, self._begun_with["dtype"])

    def _families(self) -> list[Neurons]:
        """Families to choose from, not fitted yet."""
        return [clone(make_neurons(self.neurons))]

    def set_params(self, **params: Any) -> NeuronLearner:
        """Set parameters, also those of the neurons, as ``neurons__length_scale=2``.

        Where ``neurons`` is a name, it is replaced by the family that it stands for first.
        """
        neurons = params.get("neurons", self.neurons)
        if isinstance(neurons, str) and any(key.startswith("neurons__") for key in params):
            params["neurons"] = make_neurons(neurons)
        return super().set_params(**params)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        neurons = self.neurons
        known = isinstance(neurons, str | Neurons)
        tags.input_tags.sparse = known and make_neurons(neurons).accepts_sparse
        tags.input_tags.allow_nan = known and make_neurons(neurons).accepts_tables
        return tags

"""Learners whose half-life is chosen by the data: an ensemble that learns row after row.

What a family takes from the data, such as a length scale, comes from the first 256 rows of the
stream, however they are grouped, and so does the unit of sample weights. Until then both are
estimated again at 2, 4, 8, … rows, and the rows so far are learned again.
"""

from __future__ import annotations

from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from scipy.linalg import LinAlgError
from sklearn.base import clone

from trickless._arrays.places import check_on_host, place_of
from trickless._arrays.sparse import Matrix
from trickless._arrays.stated import Array, Stated
from trickless._errors import InvalidValueError
from trickless._functions.stream import NeuronStream, kept_bytes
from trickless._learners.first_batch import takes_from_data
from trickless._learners.neuron_learner import (
    begin_stream,
    choose_neurons,
    note_later_rows,
    see_later_rows,
)
from trickless._learners.row_ages import Aged
from trickless._rows.frames import stacked
from trickless._rows.rows import Batch
from trickless._rules import without_warnings
from trickless._selection.grid import families_of_grid
from trickless._solvers.clock import are_several, in_units
from trickless._solvers.experts.answers import LabelAnswer, NumberAnswer
from trickless._solvers.experts.experts import HALF_LIVES, Experts, Predicted
from trickless._solvers.experts.scales import at_scales
from trickless._solvers.least_squares.queue import FEW_AT_ONCE
from trickless._solvers.outputs import NewOutputs
from trickless._targets.labels import Labels, LabelSets
from trickless.neurons.named import make_neurons

#: Rows from which a family is estimated.
N_EARLY = 256
#: Parameters that may not change after the first batch.
_FIXED = "half_life", "alpha", "fit_intercept"


@dataclass(eq=False, repr=False)
class EarlyRows(Stated):
    """The first rows of a stream, while the family may still be estimated again."""

    X: Annotated[Any, Matrix("n_rows", None)]
    targets: Annotated[np.ndarray, Array("f8", "n_rows", None)]
    weight: Annotated[np.ndarray, Array("f8", "n_rows", least=0)]
    times: Annotated[np.ndarray, Array("f8", "n_rows")]

    def __len__(self) -> int:
        return len(self.targets)

    def __add__(self, other: EarlyRows) -> EarlyRows:
        return EarlyRows(*map(stacked, zip(vars(self).values(), vars(other).values(), strict=True)))

    def with_outputs(self, new: NewOutputs, measure: Any) -> EarlyRows:
        """Return the rows with the targets of other classes."""
        return replace(self, targets=new.of_targets(self.targets))

    def part(self, rows: slice) -> EarlyRows:
        """Return some of the rows."""
        return EarlyRows(*(each[rows] for each in vars(self).values()))


def is_ensemble(learner: Any) -> bool:
    """Return whether a learner is, or will be, an ensemble of half-lives."""
    if learner.__sklearn_is_fitted__() and hasattr(learner, "_sums_"):
        return isinstance(learner._sums_, Experts)
    return are_several(learner.half_life)


def begin_experts(learner: Any, rows: EarlyRows, n_outputs: int) -> None:
    """Choose the neurons by some rows, and begin with experts that have learned nothing."""
    owner = type(learner).__name__
    check_on_host(
        f"{owner}, half_life={learner.half_life!r}", place_of(rows.X), "half_life=<number>"
    )
    family = clone(make_neurons(learner.neurons))
    families = families_of_grid(owner, family, learner.search)
    choose_neurons(learner, rows.X, rows.targets, rows.weight, families)
    begin_stream(learner)
    families, factors = at_scales(learner.neurons_)
    streams = [
        learner._stream_
        if factor == 1
        else NeuronStream(family, learner._seed_, learner._rows_.dtype, kept_bytes())
        for family, factor in zip(families, factors, strict=True)
    ]
    if not isinstance(learner.half_life, str):  # of the user: one length scale
        streams, factors = [learner._stream_], [1.0]
    learner._sums_ = Experts(
        streams,
        factors,
        max(1, learner._n_used // len(streams)),
        _half_lives(learner.half_life),
        learner.alpha,
        bool(learner.fit_intercept),
        _answer(learner, n_outputs),
        0.0 if learner._clock_.stamped else 1.0,
    )
    learner._fixed_ = learner._fixed_ | {name: deepcopy(getattr(learner, name)) for name in _FIXED}
    if has_unit(rows):
        learner._sums_.unit = float(rows.weight.mean())


def has_unit(rows: EarlyRows) -> bool:
    """Return whether weights are divided by their mean; not if they begin with 1."""
    return bool(rows.weight[0] != 1)


def _half_lives(half_life: Any) -> np.ndarray:
    given = HALF_LIVES if isinstance(half_life, str) else map(in_units, half_life)
    return np.array(list(given), dtype=np.float64)


def _grows(learner: Any) -> bool:
    """Return whether new classes may appear."""
    return isinstance(learner._targets_, Labels) and learner._targets_.grows


def _answer(learner: Any, n_outputs: int) -> NumberAnswer | LabelAnswer:
    if isinstance(learner._targets_, Labels | LabelSets):
        return LabelAnswer(n_outputs, isinstance(learner._targets_, Labels), _grows(learner))
    return NumberAnswer(n_outputs)


def learn_rows(learner: Any, batch: Batch, aged: Aged, one_by_one: bool = False) -> Predicted:
    """Learn rows of a learner in their order, and return how each was predicted before that.

    Unless rows are learned ``one_by_one``, predictions of the first rows may be those of a family
    that was estimated with them.
    """
    X, targets, weight = batch
    n, before = len(targets), learner._sums_.n_rows if hasattr(learner, "_sums_") else 0
    times = before + np.arange(1.0, n + 1) if aged.times is None else aged.times
    if len(times) != n:
        raise InvalidValueError(
            f"{type(learner).__name__}: class_weight leaves out rows, "
            "whose time stamps cannot be told from those of the others",
            "leave these rows out before, or a small weight instead of 0",
        )
    weight = np.ones(n) if weight is None else weight
    rows, start, found = EarlyRows(X, targets, weight, times), 0, []
    few = n <= FEW_AT_ONCE
    with nullcontext() if few else learner._progress(n, "row") as bar:
        while start < n:
            if before and learner._early_ is None:
                stop = n
                look = see_later_rows if stop - start > FEW_AT_ONCE else note_later_rows
                look(learner, X[start:stop])
                predicted = _learn(learner._sums_.fork(), learner, rows.part(slice(start, stop)))
            else:
                stop = start + _until_next(before, n - start, one_by_one)
                predicted = _learn_early(learner, rows.part(slice(start, stop)))
            before += stop - start
            if bar is not None:
                bar.update(stop - start)
            start = stop
            found.append(predicted)
    return Predicted(*(np.concatenate(each) for each in zip(*found, strict=True)))


def _until_next(n_before: int, n_rows: int, one_by_one: bool) -> int:
    """Return how many rows to learn before the family is estimated again."""
    powers = [2**i for i in range(N_EARLY.bit_length()) if n_before < 2**i <= n_before + n_rows]
    if not powers:
        return n_rows
    return (powers[0] if one_by_one else powers[-1]) - n_before


def _learn_early(learner: Any, new: EarlyRows) -> Predicted:
    """Learn rows that are among the first, and estimate the family again if it is time."""
    early = getattr(learner, "_early_", None)
    rows = new if early is None else early + new
    if (n := len(rows)) & (n - 1) and early is not None:
        learner._early_ = rows
        return _learn(learner._sums_.fork(), learner, new)
    predicted = None if early is None else _learn(learner._sums_.fork(), learner, new)
    with nullcontext() if n >= N_EARLY or (early is None and n > 1) else without_warnings():
        begin_experts(learner, rows, rows.targets.shape[1])
    final = n >= N_EARLY or not (takes_from_data(learner.neurons_) or has_unit(rows))
    learner._early_ = None if final else rows
    again = _learn(learner._sums_, learner, rows)
    return again if predicted is None else predicted


def _learn(experts: Experts, learner: Any, rows: EarlyRows) -> Predicted:
    try:
        predicted = experts.learn(rows.X, rows.targets, rows.weight, rows.times)
    except LinAlgError as error:
        raise InvalidValueError(
            f"{type(learner).__name__}: alpha={learner.alpha!r} is too small for these activations",
            "a larger alpha, or alpha='auto'",
        ) from error
    learner._sums_ = experts
    return predicted

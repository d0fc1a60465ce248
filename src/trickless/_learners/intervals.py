"""Intervals and sets of classes of a fitted learner, from rows that it has not learned from."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import stdtrit

from trickless._arrays.places import to_device_of, to_host
from trickless._errors import InvalidValueError
from trickless._learners.refusals import SPLIT, check_method
from trickless._rules import boolean, warn
from trickless._selection.relevance import learned_relevance
from trickless._solvers.least_squares.left_out_intervals import FullConformal, JackknifePlus
from trickless._targets.labels import LabelSets
from trickless.conformal.levels import check_enough
from trickless.conformal.quantiles import upper_quantiles
from trickless.conformal.sets import scores_of_classes
from trickless.conformal.unseen import Counted, Scores, Unseen

_HAD = "the model has kept"
#: Rule of what rows count by.
WEIGHTED = boolean("weighted=False counts each row once, and True by its weight in the fit")


def intervals_by_errors(learner: Any, X: Any, confidence: float, weighted: bool) -> Any:
    """Return all targets that are no farther than a quantile of rows that were not learned."""
    far, decisions = how_far(learner, confidence, weighted), learner._decide(X)
    return to_device_of(decisions, learner._targets_.ends(to_host(decisions), far))


def how_far(learner: Any, confidence: float, weighted: bool = False) -> np.ndarray:
    """Return how far targets may be from what is predicted, by rows that were not learned."""
    rows, targets = learner._unseen(), learner._targets_
    if rows is None:
        raise _nothing_unseen(learner, "intervals")
    counts = _counts(learner, rows.counted, confidence, weighted)
    errors = targets.distances(rows.decisions, rows.targets).T
    return upper_quantiles(errors, confidence, counts)


def intervals_by_leaving_out(
    learner: Any, X: Any, confidence: float, method: str, weighted: bool
) -> Any:
    """Return intervals of a learner whose sums can leave out rows one by one."""
    sums, problem = learner._sums_, learner._problem()
    X = learner._rows_to_predict(X)
    how = confidence, counts_of_left_out(learner, confidence, weighted), choices_of(learner)
    rule = FullConformal(*how) if method == "full" else JackknifePlus(*how)
    found = sums.intervals(X, problem, rule)
    return to_device_of(X, learner._targets_.in_units(found))


def counts_of_left_out(
    learner: Any, confidence: float, weighted: bool = False
) -> np.ndarray | None:
    """Return how much the rows that are left out count, or None if all count as 1."""
    rows = learner._sums_.left_out(learner._problem())
    return _counts(learner, rows.counted, confidence, weighted)


def intervals_by_experts(
    learner: Any, X: Any, confidence: float, method: str, weighted: bool
) -> Any:
    """Return intervals of an ensemble, by its errors at the last rows before it learned them.

    The errors count relative to the standard deviations that were predicted, and fade. If targets
    are taken for normal, the deviations are multiplied by the root mean square of these errors,
    because a small weight of experts that are far off makes them too large.
    """
    check_method(learner, f"method={method!r}")
    recent = learner._sums_.recent
    known = (recent.deviations > 0).all(axis=1)
    weight = learner._sums_.recent_weights[known]
    errors = np.abs(recent.targets - recent.decisions)[known] / recent.deviations[known]
    if method == "gaussian":  # as if one more error had the size that was predicted
        square = (1 + weight @ errors**2) / (1 + weight.sum())
        far = stdtrit(1 + weight.sum(), 0.5 + confidence / 2) * np.sqrt(square)
    else:
        counts = _counts(learner, Counted(weight, weight), confidence, weighted)
        far = upper_quantiles(errors.T, confidence, counts)
    ahead = learner._sums_.ahead(learner._rows_to_predict(X))
    return learner._targets_.ends(ahead.decisions, far * ahead.deviations)


def choices_of(learner: Any) -> int:
    """Return by how many ranks to widen intervals, for what was chosen by the same errors.

    In simulations, the choice of alpha and learned relevance each cost about one rank, which is
    1 / (n + 1) in coverage. The choice of one length scale cost less than half of that.
    """
    alpha = learner._sums_.solution(learner._problem()).grid is not None
    return int(alpha) + int(learned_relevance(learner.neurons_) is not None)


def sets_of_classes(learner: Any, X: Any, confidence: float, weighted: bool, by_class: bool) -> Any:
    """Return which classes are in the sets of rows, (n_rows, n_classes)."""
    far = how_unlikely(learner, confidence, weighted, by_class)
    decisions = learner._decide(X)
    of_new = scores_of_classes(learner._likely(to_host(decisions)))
    return to_device_of(decisions, of_new <= far)


def how_unlikely(
    learner: Any, confidence: float, weighted: bool = False, by_class: bool = False
) -> np.ndarray:
    """Return the probability that classes above one in a set may have, by rows not learned.

    ``by_class`` asks for one for each class, by the rows of this class.
    """
    if isinstance(learner._targets_, LabelSets):
        raise InvalidValueError(
            f"{type(learner).__name__}: predict_set is for one label for each row, but the model "
            f"has learned {learner._targets_.n_outputs} labels for each row",
            "predict_proba, or a model for each label",
        )
    scores = learner._scores()
    if scores is None:
        raise _nothing_unseen(learner, "sets of classes")
    parts, how = {_HAD: scores}, (confidence, weighted)
    if by_class:
        labels = enumerate(learner.classes_.tolist())
        parts = {f"of class {label!r} it has kept": scores.of_class(j) for j, label in labels}
    bounds = [
        upper_quantiles(part.values, confidence, _counts(learner, part.counted, *how, had))
        for had, part in parts.items()
    ]
    return np.array(bounds)


def _warn_of_given(learner: Any) -> None:
    """Warn that rows which chose the neurons know them, so that errors there are too small."""
    if getattr(getattr(learner, "neurons_", None), "_may_know_targets", False):
        warn(
            f"{type(learner).__name__}: the neurons were given. If these rows chose them, the "
            "errors at rows that are left out are too small, and so are intervals and sets. "
            f"Remedy: {SPLIT} that chose neither neurons nor coefficients."
        )


def scores_of_rows(rows: Unseen, likely: np.ndarray) -> Scores:
    """Return the scores of the true classes of rows, by the probabilities of all classes."""
    y = rows.targets
    which = (y[:, 0] > 0).astype(int) if y.shape[1] == 1 else y.argmax(axis=1)
    values = scores_of_classes(likely)[np.arange(len(y)), which]
    return Scores(values, which.astype(np.int64), rows.counted)


def _counts(
    learner: Any, counted: Counted, confidence: float, weighted: bool, had: str = _HAD
) -> np.ndarray | None:
    """Return how much rows count that were not learned, or None if all count as 1.

    Raises an error if they are too few for the confidence, and warns if they chose the neurons.
    """
    owner = type(learner).__name__
    if weighted:
        check_method(learner, "weighted=True")
    _warn_of_given(learner)
    counts = counted.by_weight if weighted else counted.once
    check_enough(owner, had, float(counts.sum()), confidence, f"fit with more rows; or {SPLIT}")
    return counted.relative(weighted)


def _nothing_unseen(learner: Any, what: str) -> InvalidValueError:
    owner = type(learner).__name__
    remedy = SPLIT
    if "early_stopping" in learner.get_params():
        remedy = f"fit with early_stopping=True, which holds rows out; or {remedy}"
    return InvalidValueError(
        f"{owner}: the model has kept no rows that it has not learned from, which {what} need",
        remedy,
    )

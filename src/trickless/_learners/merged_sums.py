"""Sums of two models that are about the same activations and targets, and may be added."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless._arrays.states import snapshot
from trickless._docstrings import completed_by
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._learners.arguments import LEARNING
from trickless._learners.fixed_parameters import check_unchanged, same
from trickless._learners.growing_sums import check_statistics, check_streamable
from trickless._learners.refusals import check_method
from trickless._learners.row_ages import merge_clocks
from trickless._learners.training_copy import training_copy
from trickless._targets.labels import Labels, LabelSets


@completed_by(LEARNING)
def merge(self: Any, other: Any) -> Any:
    """Add the rows of another model, as if this model had learned from them.

    A classifier that was begun with ``classes="grow"`` takes the classes of both.

    You can fit models to parts of the data, on several machines, and merge them in any order.
    Up to rounding, the result is the same as after one ``fit`` to all rows.

    Parameters
    ----------
    other : estimator of the same class
        A model fitted with the same neurons, ``n_neurons``, ``dtype`` and integer
        ``random_state``. What the family estimates from the data, such as a length scale, must
        be equal in both models.
    """
    check_is_fitted(self)
    if isinstance(other, type(self)):
        other = snapshot(other)
    with training_copy(self, type(self)._is_model, resumes=True) as new:
        other = _with_classes_of_both(new, other)
        _check_mergeable(new, other)
        check_method(other, "merge")
        check_streamable(new)
        check_statistics(other)
        if self._numeric:
            new._targets_ = new._targets_.merged(other._targets_)
        new._rows_ = new._rows_.merged(other._rows_)
        new._sums_ = new._sums_.fork()
        new._sums_.merge(other._sums_, self.n_jobs, merge_clocks(new, other))
    return self


def _with_classes_of_both(model: Any, other: Any) -> Any:
    """Add the classes of another model to one whose classes may grow. Return the other with all."""
    mine, theirs = model._targets_, getattr(other, "_targets_", None)
    if type(other) is not type(model) or not isinstance(mine, Labels):
        return other
    if not isinstance(theirs, Labels):
        return other
    if not mine.grows and not np.array_equal(mine.classes, theirs.classes):
        return other
    model._targets_ = mine.grown(theirs.classes)
    model._follow(mine)
    both = snapshot(other)
    both.__dict__ = vars(other) | {"_targets_": model._targets_}
    both._follow(theirs)
    return both


def _check_mergeable(model: Any, other: Any) -> None:
    """Check that the statistics of both models are about the same activations and targets."""
    owner = type(model).__name__
    if type(other) is not type(model):
        raise InvalidTypeError(
            f"{owner}: merge takes another {owner}, not a {type(other).__name__}",
            "fit the parts with the same class",
        )
    if not other.__sklearn_is_fitted__():
        raise InvalidValueError(f"{owner}: other={other!r} is not fitted", "fit it first")
    for name, mine in model._fixed_.items():
        check_unchanged(owner, name, other._fixed_[name], mine)
    by_class, in_other = getattr(model, "class_weight", None), getattr(other, "class_weight", None)
    if isinstance(by_class, str) or by_class != in_other:
        raise InvalidValueError(
            f"{owner}: class_weight={by_class!r} here and {in_other!r} in other, but parts that "
            "are merged must weigh their rows alike, and 'balanced' depends on the rows of each "
            "part",
            "the same dictionary of weights in all parts, such as "
            "class_weight={0: 1.0, 1: 5.0}, or None",
        )
    if isinstance(other._targets_, LabelSets) != isinstance(model._targets_, LabelSets):
        raise InvalidValueError(
            f"{owner}: other was fitted to y of another shape: one model has one label for each "
            "row, and the other a column for each of several labels",
            "y of the same shape in both parts",
        )
    for name in ("classes_", "n_outputs_", "n_features_in_", "feature_names_in_"):
        here, there = getattr(model, name, 0), getattr(other, name, 0)
        if not np.array_equal(here, there):
            raise InvalidValueError(
                f"{owner}: {name} is {there!r} in other and {here!r} here",
                "fit the parts on the same columns, and with classes= if some lack a label, or "
                "classes='grow'",
            )
    columns, in_other = model._rows_.columns, other._rows_.columns
    if getattr(columns, "codes", None) != getattr(in_other, "codes", None):
        raise InvalidValueError(
            f"{owner}: the columns of other have other categories than the columns here, so their "
            "codes differ",
            "the same columns of dtype category, with the same categories, in both parts",
        )
    if columns is not None and not columns.same_as(in_other):
        raise InvalidValueError(
            f"{owner}: columns of other are read in another way than the columns here, for "
            "instance as differences from another date",
            "begin both parts with the same "
            "batch, or with copies of a model that has learned one batch",
        )
    mine, theirs = model._stream_.fingerprint(), other._stream_.fingerprint()
    drawn_alike = np.allclose(mine, theirs, rtol=1e-4)
    if not (drawn_alike and same(model.neurons_, other.neurons_, fitted=True)):
        raise InvalidValueError(
            f"{owner}: the neurons of other={type(other).__name__}(random_state="
            f"{other.random_state!r}) differ from the neurons of this model, so their statistics "
            "cannot be added",
            "the same integer random_state, and a family that takes "
            "nothing from the data, such as Gaussian(length_scale=1.0)",
        )

"""Labels of a stream in which new classes may appear."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from trickless._arrays.places import namespace
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._solvers.outputs import NewOutputs
from trickless._targets.labels import Labels, LabelSets, distinct, positions, together

#: The value of ``classes`` with which new classes may appear.
GROW = "grow"


def may_grow(classes: Any) -> bool:
    """Return whether an argument ``classes`` allows new classes."""
    return isinstance(classes, str) and classes == GROW


def with_classes(labels: Labels | LabelSets, classes: Any, from_first: bool) -> Any:
    """Return labels of a later batch, to which the argument ``classes`` may allow new ones.

    ``from_first`` says that new classes need a spare output, which only the first batch can begin.
    """
    if isinstance(labels, LabelSets) or not may_grow(classes):
        labels.check_classes(classes)
    elif not isinstance(labels, GrowingLabels):
        if from_first:
            raise InvalidValueError(
                f"{labels.owner}: classes={GROW!r}, but the first batch fixed the classes "
                f"{labels.classes.tolist()}",
                f"classes={GROW!r} from the first call of partial_fit on",
            )
        return GrowingLabels(labels.owner, labels.classes, spare=False)
    return labels


class GrowingLabels(Labels):
    """Labels whose classes are those so far. A new class has the targets −1 at all earlier rows.

    Attributes
    ----------
    spare : bool
        Whether there is a last output for a class that has not come yet, whose targets are −1. A
        new class continues from it. A solver whose sums determine such an output needs none.
    coupled : bool
        Whether only differences of decision values matter, as for the softmax loss.
    """

    _least, grows = 1, True

    spare: bool
    coupled: bool

    def __init__(self, owner: str, y: np.ndarray, spare: bool, coupled: bool = False) -> None:
        super().__init__(owner, y)
        self.spare, self.coupled = spare, coupled

    @property
    def n_outputs(self) -> int:
        return len(self.classes) + 1 if self.spare else super().n_outputs

    def grown(self, y: np.ndarray) -> GrowingLabels:
        unknown = positions(self.classes, y) < 0
        if not self.grows or not unknown.any():
            return self
        self.check_shape(y)
        labels = [self.classes, distinct(self.owner, "y", y[unknown])]
        if len({isinstance(each, str) for part in labels for each in part.tolist()}) > 1:
            raise InvalidTypeError(
                f"{self.owner}: y holds the label(s) {labels[1].tolist()}, which are of another "
                f"type than the classes {self.classes.tolist()}",
                "labels of one type in all batches, text or integers",
            )
        return GrowingLabels(self.owner, together(labels), self.spare, self.coupled)

    def settled(self) -> GrowingLabels:
        labels = copy(self)
        labels.grows = False
        return labels

    def since(self, before: Any) -> NewOutputs | None:
        known = positions(before.classes, self.classes)
        if (known >= 0).all():
            return None
        if self.spare:
            last = before.n_outputs - 1
            source = np.append(np.where(known < 0, last, known), last)
            return NewOutputs(source, np.ones(len(source)), np.zeros(len(source)))
        sign = np.ones(len(known))
        if before.n_outputs == 1:  # with the target +1 for the second class, if there is one
            known, sign = np.minimum(known, 0), np.where(known == 1, 1.0, -1.0)
        if self.n_outputs == 1:  # of the second class
            known, sign = known[1:], sign[1:]
        new = known < 0
        factor, constant = np.where(new, 0.0, sign), np.where(new, -1.0, 0.0)
        return NewOutputs(np.maximum(known, 0), factor, constant)

    def error(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        if not self.spare:
            return super().error(decisions, targets)
        if len(self.classes) == 1:
            return namespace(decisions).zeros_like(decisions[:, 0])
        some = slice(len(self.classes))
        return super().error(decisions[:, some], targets[:, some])

    def shown(self, decisions: Any) -> Any:
        """Return decision values without the spare output; of two classes, one value.

        One class against the rest, and the other against the rest, are then the same function with
        two signs. A softmax function depends on their difference.
        """
        if not self.spare:
            return decisions
        if len(self.classes) == 2:
            return (decisions[:, 1:2] - decisions[:, :1]) / (1 if self.coupled else 2)
        return decisions[:, : len(self.classes)]

    def shown_errors(self, errors: Any) -> Any:
        if self.spare and len(self.classes) == 2:  # at most, as if they had one sign
            return self.shown(errors * np.array([-1.0, 1.0, 1.0]))
        return self.shown(errors)

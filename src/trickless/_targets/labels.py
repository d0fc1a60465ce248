"""Labels: converting classes to a matrix of ±1, and decision values to classes.

Labels are compared as Python compares them, and text whatever its Unicode form. NumPy would compare
integers of several types as float64, which is exact only up to 2^53.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Annotated, Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from trickless._arrays.functions import factors
from trickless._arrays.missing import missing, unmasked
from trickless._arrays.places import namespace
from trickless._arrays.stated import Array, check_count, check_same
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._rows.given import exactly, in_microseconds, integers
from trickless._rows.refusals import why_no_number
from trickless._rows.weights import check_range
from trickless._rules import warn, with_remedies
from trickless._targets.targets import Targets
from trickless.neurons.forms import composed

#: Rows of which more than half may have labels of their own without a warning, as in scikit-learn.
_FEW = 20
_BALANCE = "weights of classes of about 1, such as class_weight={'rare': 5.0}"


class Labels(Targets):
    """Targets of a classifier: ±1, in one column for two classes, else in one for each class.

    The classes are all labels that may occur; None takes those of the first batch.
    """

    #: The least number of classes, and whether new ones may appear.
    _least, grows = 2, False

    owner: str
    classes: Annotated[np.ndarray, Array("", None)]

    def __init__(self, owner: str, y: np.ndarray, classes: Any = None) -> None:
        source = "y" if classes is None else "classes"
        labels = distinct(owner, source, y if classes is None else classes)
        if len(labels) < self._least:
            held = f"only one class, {labels.tolist()[0]!r}" if len(labels) else "no classes"
            raise InvalidValueError(
                f"{owner}: {source} holds {held}, and a classifier needs at least two classes",
                "check the split (rows of weight 0 do not count), or pass classes= with "
                "all labels to partial_fit, or classes='grow' if they are unknown",
            )
        if classes is None and len(y) > _FEW and len(labels) > len(y) / 2:
            warn(
                f"{owner}: y holds {len(labels):,} different labels in {len(y):,} rows. Remedy: a "
                "regressor, if they are numbers that are measured."
            )
        self.owner = owner
        self.classes = labels

    def check_state(self) -> None:
        check_count("number of classes", len(self.classes), self._least)

    @property
    def n_outputs(self) -> int:
        """Columns of targets and of decision values."""
        return 1 if len(self.classes) <= 2 else len(self.classes)

    def check_classes(self, classes: Any) -> None:
        """Raise an error if classes are given and differ from those of the first batch."""
        if classes is None or (type(classes) is list and classes == self.classes.tolist()):
            return
        classes = distinct(self.owner, "classes", classes)
        if list(map(form, classes.tolist())) != list(map(form, self.classes.tolist())):
            raise InvalidValueError(
                f"{self.owner}: classes={classes.tolist()!r}, but the first batch fixed the "
                f"classes {self.classes.tolist()}",
                "pass all labels in the first call of "
                "partial_fit, or leave classes out of later ones",
            )

    def matrix(self, y: np.ndarray, stream: bool = True) -> np.ndarray:
        """Return labels as ±1 targets, shape (n_rows, n_outputs), of a stream or of a fit."""
        self.check_shape(y)
        known = y.ndim == 1 and y.dtype.kind in "biuU" and y.dtype.kind == self.classes.dtype.kind
        index = positions(self.classes, y) if known else None
        if index is None or (index < 0).any():
            distinct(self.owner, "y", y)  # checks that they can be labels
            index = positions(self.classes, y)
        unknown = one_form(np.unique(y.ravel()[index < 0])).tolist() if (index < 0).any() else []
        if unknown:
            remedy = (
                "pass classes= with all labels to the first call of partial_fit, or "
                "classes='grow' if they are not known"
            )
            if not stream:
                remedy = (
                    "leave such rows out, or fit to all labels, with warm_start=False if that is "
                    "a parameter"
                )
            raise InvalidValueError(
                f"{self.owner}: y holds the label(s) {unknown}, which are not among the "
                f"classes {self.classes.tolist()} of the first call",
                remedy,
            )
        if self.n_outputs == 1:
            return np.where(index == 1, 1.0, -1.0)[:, None]
        return np.where(index[:, None] == np.arange(self.n_outputs), 1.0, -1.0)

    def check_shape(self, y: np.ndarray) -> None:
        """Raise an error unless there is one label for each row."""
        if y.reshape(len(y), -1).shape[1] > 1:
            raise InvalidValueError(
                f"{self.owner}: y has the shape {y.shape}, but the first batch had one label for "
                "each row",
                "y of shape (n_rows,) in every batch; a new model for several labels a row",
            )

    def weights(
        self, y: np.ndarray, weight: np.ndarray | None, class_weight: Any, stream: bool = False
    ) -> np.ndarray | None:
        """Return weights of the rows times those of their classes.

        The rows of a stream do not show the shares of the classes, so "balanced" raises an error.
        """
        if class_weight is None:
            return weight
        self._check_class_weight(class_weight, stream)
        label = positions(self.classes, y)
        if isinstance(class_weight, str):
            each = balanced(np.bincount(label, weight, minlength=len(self.classes)))
        else:
            weight_of = {form(label): float(each) for label, each in class_weight.items()}
            each = np.array([weight_of.get(form(c), 1.0) for c in self.classes.tolist()])
        by_class = each[label]
        check_range(self.owner, "class_weight", by_class, _BALANCE)
        if weight is not None:
            by_class = by_class * weight
            check_range(self.owner, "class_weight times sample_weight", by_class, _BALANCE)
        return by_class

    def _check_class_weight(self, class_weight: Any, stream: bool) -> None:
        if isinstance(class_weight, str) and stream:
            raise InvalidValueError(
                f"{self.owner}: class_weight={class_weight!r} needs the shares of the classes in "
                "all rows, which partial_fit does not know",
                "pass the weights as a dictionary, or call fit",
            )
        named = [] if isinstance(class_weight, str) else list(class_weight)
        classes = list(map(form, self.classes.tolist()))
        unknown = [label for label in named if form(label) not in classes]
        if unknown and not self.grows:
            raise InvalidValueError(
                f"{self.owner}: class_weight={class_weight!r} has weights for {unknown!r}, but the "
                f"classes are {self.classes.tolist()}",
                "use the labels that y holds as keys",
            )

    def labels(self, decisions: np.ndarray) -> np.ndarray:
        """Return the predicted label of each row."""
        if len(self.classes) == 1:
            return np.repeat(self.classes, len(decisions))
        binary = decisions.shape[1] == 1
        return self.classes[(decisions[:, 0] > 0).astype(int) if binary else decisions.argmax(1)]

    def error(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return 1 for each misclassified row, else 0."""
        xp = namespace(decisions)
        if targets.shape[1] == 1:
            wrong = ((decisions > 0) != (targets > 0))[:, 0]
        else:
            wrong = xp.argmax(decisions, axis=1) != xp.argmax(targets, axis=1)
        return 1.0 * factors(wrong, decisions)


class LabelSets(Targets):
    """Targets of a classifier of several labels a row: 1 where a row has the label, else 0.

    Each label is learned by itself, as ±1. The classes are the numbers of the columns of y.
    """

    owner: str
    classes: Annotated[np.ndarray, Array("i8", None)]

    def __init__(self, owner: str, y: np.ndarray) -> None:
        self.owner = owner
        self.classes = np.arange(y.shape[1])

    def check_state(self) -> None:
        check_same("classes", self.classes.tolist(), list(range(len(self.classes))))

    @property
    def n_outputs(self) -> int:
        """Columns of targets and of decision values."""
        return len(self.classes)

    def check_classes(self, classes: Any) -> None:
        """Raise an error if classes are given that are not the numbers of the columns."""
        if classes is not None and not np.array_equal(classes, self.classes):
            raise InvalidValueError(
                f"{self.owner}: classes={classes!r}, but y has a column for each of "
                f"{self.n_outputs} labels",
                "leave classes out",
            )

    def matrix(self, y: np.ndarray, stream: bool = True) -> np.ndarray:
        """Return labels as ±1 targets, shape (n_rows, n_labels)."""
        self.check_shape(y)
        if not np.isin(y, (0, 1)).all():
            wrong = y[~np.isin(y, (0, 1))].tolist()[0]
            raise InvalidValueError(
                f"{self.owner}: y has {y.shape[1]} columns and holds {wrong!r}, but with several "
                "labels a row it must be 1 where the row has the label, else 0",
                "sklearn.preprocessing.MultiLabelBinarizer, or MultiOutputClassifier for several "
                "outputs with classes of their own",
            )
        return 2.0 * y - 1

    def check_shape(self, y: np.ndarray) -> None:
        """Raise an error unless there is a column for each label."""
        if y.ndim != 2 or y.shape[1] != self.n_outputs:
            raise InvalidValueError(
                f"{self.owner}: y has the shape {y.shape}, but the first batch had a column for "
                f"each of {self.n_outputs} labels",
                "the same columns in every batch",
            )

    def weights(
        self, y: np.ndarray, weight: np.ndarray | None, class_weight: Any, stream: bool = False
    ) -> np.ndarray | None:
        """Return weights of the rows; classes have none, since a row may have several labels."""
        if class_weight is not None:
            raise InvalidValueError(
                f"{self.owner}: class_weight={class_weight!r} does not go with several labels a "
                "row",
                "sample_weight",
            )
        return weight

    def labels(self, decisions: np.ndarray) -> np.ndarray:
        """Return 1 for each predicted label, else 0: shape (n_rows, n_labels)."""
        return (decisions > 0).astype(int)


def check_some_weight(owner: str, class_weight: Any, n_rows: int, n_left: int) -> None:
    """Raise an error if the weights of the classes make the weights of all rows 0."""
    if not n_left:
        raise InvalidValueError(
            f"{owner}: class_weight={class_weight!r} gives every one of {n_rows} rows the weight "
            "0, so there is nothing to learn from",
            "a positive weight for one of the classes in y",
        )


def positions(classes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the place of each label among the classes; −1 if it is none of them."""
    place = {form(label): i for i, label in enumerate(classes.tolist())}
    if labels.size == 1:  # which need not be sorted
        return np.array([place.get(form(label), -1) for label in labels.ravel().tolist()])
    found, where = np.unique(labels, return_inverse=True)
    index = [place.get(form(label), -1) for label in found.tolist()]
    return np.array(index, dtype=int)[where.ravel()]


def form(label: Any) -> Any:
    """Return a label in the form that is compared: text is composed, as names are."""
    return composed(label) if isinstance(label, str) else label


def one_form(labels: np.ndarray) -> np.ndarray:
    """Return distinct labels in sorted order without other Unicode forms of an earlier one."""
    forms = {form(label): i for i, label in reversed(list(enumerate(labels.tolist())))}
    return labels if len(forms) == len(labels) else labels[sorted(forms.values())]


def spelled_as_classes(classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return labels in the spelling of the classes, where they differ in their Unicode form."""
    known = {form(label): label for label in classes.tolist()}
    texts = (label for label in set(y.ravel().tolist()) if isinstance(label, str))
    others = {text: name for text in texts if (name := known.get(form(text), text)) != text}
    return np.array([others.get(text, text) for text in y.tolist()]) if others else y


def together(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return the labels of several arrays in one."""
    if all(part.dtype.kind in "iu" for part in parts):
        return integers([label for part in parts for label in part.tolist()])
    return np.concatenate(parts)


def distinct(owner: str, source: str, labels: Any) -> np.ndarray:
    """Return distinct labels in sorted order; an error if they cannot be sorted."""
    if source == "classes":
        labels = _as_list(owner, labels)
    types = sorted({type(label).__name__ for label in _objects_among(labels)})
    if types:
        raise InvalidTypeError(
            f"{owner}: {source} holds labels that cannot be classes: their type is "
            f"{' and '.join(types)}",
            f"labels of one type, text or integers, such as numpy.asarray({source}).astype(str)",
        )
    try:
        found = one_form(np.unique(labels))
        if len(found):
            with with_remedies(owner):  # twice, as scikit-learn warns where most labels are unique
                check_classification_targets(np.repeat(found, 2))
        return found
    except TypeError as error:
        raise InvalidTypeError(
            f"{owner}: {source} holds labels that cannot be classes: {error}",
            "labels of one type, text or integers, with none missing",
        ) from error


def _objects_among(labels: Any) -> list[Any]:
    """Return labels of an array of bytes or objects, unless all are text, or all are integers."""
    array = np.asarray(labels)
    if array.dtype.kind not in "SO" or array.ndim > 1:
        return []
    values: list[Any] = array.tolist()
    alike = any(all(isinstance(value, kind) for value in values) for kind in (str, int))
    return [] if alike else values


def _as_list(owner: str, classes: Any) -> Any:
    """Return labels given as a sequence, a set, or the keys of a dictionary."""
    if isinstance(classes, Set):
        classes = list(classes)
    if isinstance(classes, str | bytes) or not hasattr(classes, "__len__"):
        raise InvalidTypeError(
            f"{owner}: classes={classes!r}, but it must hold all labels",
            "a list of labels, such as classes=[0, 1]",
        )
    classes = exactly(unmasked(classes))
    if hasattr(classes, "dtype"):
        classes = in_microseconds(owner, "classes", np.asarray(classes))
    array = np.array(classes, dtype=object)
    if (gaps := missing(array)).any():
        raise InvalidValueError(
            f"{owner}: classes={classes!r} {why_no_number(array[gaps][0])}, which is not a label",
            "leave it out",
        )
    return classes


def balanced(total: np.ndarray) -> np.ndarray:
    """Return weights that give all classes the same total, from the totals of their rows.

    The mean weight of the rows does not change. Classes without rows get the weight 1. Weights are
    rounded to twelve digits, so that they do not depend on the order in which totals were summed.
    """
    mean = total.sum() / np.count_nonzero(total)
    each = np.divide(mean, total, where=total > 0, out=np.ones(len(total)))
    return np.array([float(f"{weight:.12g}") for weight in each])

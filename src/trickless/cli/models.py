"""Files of models that the commands read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from trickless import load
from trickless.cli.dataset import Reading
from trickless.cli.ending import report, short
from trickless.cli.errors import CommandError
from trickless.cli.screen import say
from trickless.learners.base import Learner
from trickless.rules import is_real
from trickless.tables.model import TableColumn, TableModel
from trickless.tables.spellings import PLAIN, Spelling
from trickless.tables.texts import MISSING, has_zone, why_no_date_format

#: A model spells the values of the categories that it knows.
_KNOWN = {"category": "known category"}


def any_model(path: Path) -> Any:
    """The object in a file of :func:`trickless.save`."""
    if not path.exists():
        raise CommandError(f"{path}: there is no such file. Remedy: check the path.")
    model = load(path)
    if isinstance(model, TableModel) and (why := _why_inconsistent(model)) is not None:
        raise CommandError(
            f"{path}: it holds a model of a table, but {why}. Remedy: fit it again; do not trust a "
            "file that you did not make."
        )
    return model


def table_model(path: Path) -> TableModel:
    """A model from ``trickless fit``."""
    model = any_model(path)
    if not isinstance(model, TableModel):
        raise CommandError(
            f"{path}: it holds a {type(model).__name__}, which has no columns of a table. Remedy: "
            "make the model with trickless fit, or use this one in Python, with trickless.load."
        )
    if not model.learner.__sklearn_is_fitted__():
        raise CommandError(
            f"{path}: its learner is not fitted. Remedy: make the model with trickless fit."
        )
    return model


@contextmanager
def used(path: Path) -> Iterator[None]:
    """Turn an error without a remedy into one that names the file of the model in use."""
    try:
        yield
    except (CommandError, OSError, MemoryError):
        raise
    except Exception as error:
        if "Remedy" in str(error):
            raise
        raise CommandError(
            f"{path}: the model in this file cannot be used ({short(error)}). "
            f"{report(error)} If you do not know who made the file, do not trust it."
        ) from error


def _why_inconsistent(model: TableModel) -> str | None:
    """What differs from the models of ``trickless fit``; None if nothing does."""
    if set(vars(model)) != {"learner", "columns", "target", "classes", "weight", "spelling"}:
        return "its attributes are not those of a TableModel"
    if not isinstance(model.learner, Learner):
        return f"its learner is a {type(model.learner).__name__}"
    if type(model.target) is not str:
        return f"its target is a {type(model.target).__name__}"
    if model.weight is not None and type(model.weight) is not str:
        return f"its column of weights is a {type(model.weight).__name__}"
    if not _is_spelling(model.spelling):
        return "the spelling of its target is not valid"
    columns = model.columns
    if type(columns) is not list or not columns or not all(map(_is_column, columns)):
        return "its columns are not valid descriptions of columns"
    if len({column.name for column in columns}) < len(columns):
        return "two of its columns have the same name"
    return _why_no_classes(model)


def _is_column(column: Any) -> bool:
    """Whether this describes a column: text names, finite numbers, different categories."""
    if type(column) is not TableColumn or type(column.name) is not str:
        return False
    numbers, categories = (column.mean, column.scale, column.median), column.categories
    return (
        column.kind in ("number", "date", "zoned date", "category")
        and all(is_real(number) and math.isfinite(number) for number in numbers)
        and column.scale > 0
        and type(column.has_missing) is bool
        and _is_date_format(column.date_format, column.kind)
        and _is_spelling(column.spelling)
        and type(categories) is list
        and all(type(category) is str for category in categories)
        and len(set(categories)) == len(categories)
    )


def _is_date_format(date_format: Any, kind: str) -> bool:
    """Whether this is a format for dates of a kind. It is empty for dates such as 2026-01-31."""
    if type(date_format) is not str or not date_format:
        return type(date_format) is str
    wanted = "zoned date" if has_zone(date_format) else "date"
    return kind == wanted and why_no_date_format(date_format) is None


def _is_spelling(spelling: Any) -> bool:
    """Whether this says how text spells numbers, or is None."""
    if spelling is None:
        return True
    if type(spelling) is not Spelling or type(spelling.unit) is not str:
        return False
    return (spelling.decimal, spelling.thousands) in ((".", ""), (".", ","), (",", ""), (",", "."))


def _why_no_classes(model: TableModel) -> str | None:
    """Why the classes of a model of a table do not suit its learner; None if they do."""
    labels, learner = model.classes, model.learner
    if not is_classifier(learner):
        return None if labels is None else "it has classes although its learner predicts numbers"
    if type(labels) is not np.ndarray or labels.ndim != 1 or labels.dtype.kind not in "Uiufb":
        return "its classes are not an array of labels"
    if not np.array_equal(np.unique(labels), labels):
        return "its classes are not sorted, or one occurs twice"
    known = getattr(learner, "classes_", labels)
    same = isinstance(known, np.ndarray) and known.dtype.kind == labels.dtype.kind
    return None if same and np.array_equal(known, labels) else "its learner has other classes"


def kinds_of(model: TableModel) -> dict[str, str]:
    """The columns that a model reads, with their kinds."""
    return {column.name: _KNOWN.get(column.kind, column.kind) for column in model.columns}


def reading_of(model: TableModel) -> Reading:
    """How to read text for a model. Spellings such as NA are names if the model knows them."""
    names = {column.name: column.categories for column in model.columns}
    if model.classes is not None and model.classes.dtype.kind == "U":
        names[model.target] = model.classes.tolist()
    formats = {column.name: column.date_format for column in model.columns if column.date_format}
    spellings = {column.name: column.spelling or PLAIN for column in model.columns}
    spellings[model.target] = model.spelling or PLAIN
    return Reading(
        {name: MISSING.intersection(known) for name, known in names.items()},
        formats,
        spellings,
        list(spellings),
    )


def kind_of_target(model: TableModel) -> str:
    """The kind of the target."""
    if model.classes is None:
        return "number"
    return {"U": "known category", "b": "truth"}.get(model.classes.dtype.kind, "number")


class Unknown:
    """Counts the values of each column that are new categories to a model."""

    def __init__(self, model: TableModel) -> None:
        self.counts = Counter[str]()
        self._model, self._n_rows, self._first = model, 0, dict[str, str]()

    def count(self, frame: Any) -> None:
        """Count the new categories of more rows."""
        self._n_rows += len(frame)
        for name, counts in self._model.unknown_categories(frame).items():
            self.counts[name] += sum(counts.values())
            self._first.setdefault(name, next(iter(counts)))

    def tell(self) -> None:
        """Report their number, with an example. Warn of columns that are mostly unknown."""
        known = {column.name: column.categories for column in self._model.columns}
        for name, n in self.counts.items():
            some = ", ".join(map(repr, known[name][:3])) or "none"
            say(
                f"{'Warning: ' if 2 * n > self._n_rows else ''}column {name!r}: {n:,} values are "
                f"categories that the model was not fitted to, such as {self._first[name]!r}. It "
                f"was fitted to {some}{', …' * (len(known[name]) > 3)}"
            )

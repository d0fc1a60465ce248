"""Files of models that the commands read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError

from trickless import load
from trickless.cli.exit_codes import report, short
from trickless.errors import remedy_in
from trickless.learners.base import Learner
from trickless.learners.table_model import TableModel
from trickless.readers.dataset import Reading
from trickless.readers.errors import CommandError
from trickless.readers.messages import say
from trickless.tables.parse_text import MISSING
from trickless.tables.spellings import PLAIN

#: A model spells the values of the categories that it knows.
_KNOWN = {"category": "known category"}


def any_model(path: Path) -> Any:
    """Return the object in a file of :func:`trickless.save`."""
    if not path.exists():
        raise CommandError(f"{path}: there is no such file", "check the path")
    model = load(path)
    if isinstance(model, TableModel) and (why := _why_inconsistent(model)) is not None:
        raise CommandError(
            f"{path}: it holds a model of a table, but {why}",
            "fit it again; do not trust a file that you did not make",
        )
    return model


def table_model(path: Path) -> TableModel:
    """Return a model from ``trickless fit``."""
    model = any_model(path)
    if not isinstance(model, TableModel):
        raise CommandError(
            f"{path}: it holds a {type(model).__name__}, which has no columns of a table",
            "make the model with trickless fit, or use this one in Python, with trickless.load",
        )
    if not model.learner.__sklearn_is_fitted__():
        raise CommandError(
            f"{path}: its learner is not fitted", "make the model with trickless fit"
        )
    return model


@contextmanager
def used(path: Path) -> Iterator[None]:
    """Turn an error without a remedy into one that names the file of the model in use."""
    try:
        yield
    except NotFittedError as error:
        raise CommandError(
            f"{path}: the model in this file is not fitted", "fit it, and save it again"
        ) from error
    except Exception as error:
        if remedy_in(error) or isinstance(error, OSError | MemoryError):
            raise
        raise CommandError(
            f"{path}: the model in this file cannot be used ({short(error)})",
            f"{report(error)}. If you do not know who made the file, do not trust it",
        ) from error


def _why_inconsistent(model: TableModel) -> str | None:
    """Return what differs from the models of ``trickless fit``, or None if nothing does."""
    if set(vars(model)) != {"learner", "columns", "target", "classes", "weight", "spelling"}:
        return "its attributes are not those of a TableModel"
    if not isinstance(model.learner, Learner):
        return f"its learner is a {type(model.learner).__name__}"
    labels, learner = model.classes, model.learner
    if not is_classifier(learner):
        return None if labels is None else "it has classes although its learner predicts numbers"
    if labels is None:
        return "it has no classes"
    if not np.array_equal(np.unique(labels), labels):
        return "its classes are not sorted, or one occurs twice"
    known = getattr(learner, "classes_", labels)
    same = isinstance(known, np.ndarray) and known.dtype.kind == labels.dtype.kind
    return None if same and np.array_equal(known, labels) else "its learner has other classes"


def kinds_of(model: TableModel) -> dict[str, str]:
    """Return the columns that a model reads, with their kinds."""
    return {column.name: _KNOWN.get(column.kind, column.kind) for column in model.columns}


def reading_of(model: TableModel) -> Reading:
    """Return how to read text for a model. Spellings such as NA are names if it knows them."""
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
    """Return the kind of the target."""
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

"""Models of arrays in files: how ``fit``, ``predict`` and ``evaluate`` read and score them."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from trickless.cli.columns import Request
from trickless.cli.learn import learner_of
from trickless.cli.models import any_model, used
from trickless.cli.screen import is_shown
from trickless.learners.base import Learner
from trickless.learners.quantiles import levels_of
from trickless.learners.table_model import TableModel
from trickless.neurons import make_neurons
from trickless.neurons.checks import patches_for
from trickless.readers.array_file import ArrayFile
from trickless.readers.errors import CommandError
from trickless.readers.messages import say
from trickless.readers.profile import MOST_LABELS, Target, task_of

#: The data that a command reads, and the option that names the rows among several arrays.
Data = Annotated[
    Path,
    typer.Argument(
        help="CSV, Parquet or Arrow file, or a folder of them; or arrays in a .npy or .npz file."
    ),
]
RowsName = Annotated[
    str | None,
    typer.Option(
        "--rows", help="Array of rows in a .npz file. Default: X, or the only one but the target."
    ),
]
#: The most numbers that are predicted at a time.
_CELLS = 2**21


def check_no_array_options(**options: str | None) -> None:
    """Refuse options that only arrays have, for a table."""
    for name, value in options.items():
        if value is not None:
            raise CommandError(
                f"--{name} {value!r}: the data are a table, which has no arrays with names",
                "leave the option out, or pass a .npy or .npz file",
            )


class ArrayModel:
    """A learner that was fitted to arrays, with what the commands ask of a model of a table."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner
        self.classes = getattr(learner, "classes_", None)
        self.predict = learner.predict
        self.predict_proba = getattr(learner, "predict_proba", None)
        self.predict_interval = getattr(learner, "predict_interval", None)

    @property
    def quantiles(self) -> list[float] | None:
        """The quantiles that are predicted, or None if the learner has another loss."""
        return levels_of(self.learner)


def array_model(path: Path) -> ArrayModel:
    """Return a model that was fitted to arrays."""
    model = any_model(path)
    if isinstance(model, TableModel):
        raise CommandError(
            f"{path}: this model was fitted to a table, but the data are arrays",
            "pass a table, or fit a model to arrays",
        )
    if not isinstance(model, Learner) or not hasattr(model, "predict"):
        raise CommandError(
            f"{path}: it holds a {type(model).__name__}, which predicts nothing",
            "make the model with trickless fit",
        )
    if not model.__sklearn_is_fitted__():
        raise CommandError(
            f"{path}: its learner is not fitted", "make the model with trickless fit"
        )
    return ArrayModel(model)


def blocks(X: np.ndarray) -> Iterator[np.ndarray]:
    """Yield some rows at a time."""
    step = max(1, _CELLS // max(1, X[0].size))
    for start in range(0, len(X), step):
        yield X[start : start + step]


class Arrays:
    """Rows, targets and weights from a file. Rows without a target or weight are left out.

    Attributes
    ----------
    X : array of shape (n_rows, ...)
    y : array of shape (n_rows,)
    weight : array of shape (n_rows,), or None
    n_rows, n_without_target : int
        Numbers of rows in the file.
    """

    def __init__(self, data: Path, rows: str | None, target: str, weight: str | None) -> None:
        file = ArrayFile(data)
        X = file.rows(rows, [target, weight])
        y = _values(file, "--target", target, len(X))
        given = None if weight is None else _values(file, "--weight", weight, len(X))
        if given is not None and (given.dtype.kind not in "biuf" or not (given >= 0).all()):
            raise CommandError(
                f"--weight {weight!r}: weights must be numbers of at least 0",
                "an array of such numbers, or leave --weight out",
            )
        there = ~np.isnan(y) if y.dtype.kind == "f" else np.ones(len(y), dtype=bool)
        self.n_rows, self.n_without_target = len(X), int((~there).sum())
        if given is not None:
            there &= given > 0
        if not there.any():
            raise CommandError(
                f"{data}: no row has a value in the target {target!r}, and a weight above 0",
                "pass rows whose target is known",
            )
        self.X, self.y, self.weight = X, y, given
        self.target = target
        if not there.all():
            self._keep(there)

    def parts(self, share: float, seed: int) -> tuple[Arrays, Arrays | None]:
        """Return the rows to learn from, and those that are held out, chosen at random."""
        held = np.random.default_rng(seed).random(len(self.y)) < share
        if held.all() or not held.any():
            return self, None
        return self._some(~held), self._some(held)

    def _some(self, rows: np.ndarray) -> Arrays:
        other = copy(self)
        other._keep(rows)
        other.n_rows, other.n_without_target = len(other.y), 0
        return other

    def _keep(self, rows: np.ndarray) -> None:
        self.X, self.y = self.X[rows], self.y[rows]
        self.weight = None if self.weight is None else self.weight[rows]


def _values(file: ArrayFile, option: str, name: str, n_rows: int) -> np.ndarray:
    values = file.values(option, name, n_rows)
    if values.dtype.kind == "S":
        return np.char.decode(values, "utf-8", "replace")
    if values.dtype.kind not in "biufU":
        raise CommandError(
            f"{option} {name!r}: the array has the type {values.dtype}",
            "an array of numbers, Booleans or text",
        )
    return values


def learned_from_arrays(arrays: Arrays, request: Request) -> tuple[Any, str]:
    """Return a learner that is fitted to arrays, and its task."""
    _check_request(arrays, request)
    y, kind = arrays.y, {"U": "category", "b": "truth"}.get(arrays.y.dtype.kind, "number")
    target = _target(y, kind)
    task, why = task_of(request.task, target, kind, request.target)
    left_out = f"; {arrays.n_without_target:,} without a target" if arrays.n_without_target else ""
    shape = " x ".join(map(str, arrays.X.shape[1:]))
    say(f"{arrays.n_rows:,} rows of {shape} numbers{left_out}. This is {task}: {why}.")
    learner = learner_of(request, target, task)
    if task == "classification" and y.dtype.kind == "f":
        y = y.astype(np.int64)
    learner.set_params(verbose=is_shown())
    if request.neurons == "patches" and arrays.X.ndim > 2:  # the defaults may be too large
        sizes = patches_for(arrays.X.shape) or {}
        learner.set_params(**{f"neurons__{name}": size for name, size in sizes.items()})
    weight = {} if arrays.weight is None else {"sample_weight": arrays.weight}
    learner.fit(arrays.X, y, **weight)
    return learner.set_params(verbose=False), task


def add_scores(scores: Any, model: ArrayModel, path: Path, arrays: Arrays) -> None:
    """Add predictions of all rows, with their targets and weights, to scores."""
    start = 0
    for X in blocks(arrays.X):
        some = slice(start, start + len(X))
        with used(path):
            predicted = model.predict(X)
        weight = np.ones(len(X)) if arrays.weight is None else arrays.weight[some].astype(float)
        scores.add(arrays.y[some], predicted, weight)
        start = some.stop


def _target(y: np.ndarray, kind: str) -> Target:
    """Describe the target, as the first pass over a table does."""
    low, high = (float(y.min()), float(y.max())) if kind == "number" else (0.0, 0.0)
    if y.dtype.kind == "f" and not (np.isfinite(y).all() and (y == np.round(y)).all()):
        return Target([], low, high)
    labels = np.unique(y)
    if kind == "category" and len(labels) > MOST_LABELS:
        raise CommandError(
            f"there are more than {MOST_LABELS:,} different texts in the target, which is too many "
            "for classes",
            "another --target",
        )
    if len(labels) > MOST_LABELS:
        return Target([], low, high)
    return Target([int(v) for v in labels] if kind == "number" else labels.tolist(), low, high)


def _check_request(arrays: Arrays, request: Request) -> None:
    """Refuse options of tables, weights that no rows may have, and families of tables."""
    named = {name for name, values in request.columns.items() if values} - {"--weight"}
    if named or request.date_format:
        raise CommandError(
            f"{min(named, default='--date-format')}: an array has no columns with names",
            "leave the option out, or pass a table",
        )
    if arrays.weight is not None and request.learner == "shrinking-gradient":
        raise CommandError(
            "--weight: shrinking-gradient takes no weights",
            "another --learner, or leave --weight out",
        )
    if arrays.X.ndim > 2 and not make_neurons(request.neurons).layout.reads_arrays:
        raise CommandError(
            f"--neurons {request.neurons}: the rows are arrays of the shape {arrays.X.shape[1:]}, "
            "which this family does not read",
            "--neurons patches for images, or --neurons convolutions for series",
        )

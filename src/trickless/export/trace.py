"""A fitted model as a graph: its code is called with tensors instead of rows.

The rows are one matrix, or an input of shape (n_rows, 1) for each column of a table, which has the
name of the column. Numbers are numbers, NaN where they are missing; times are days, dates since
1970-01-01; categories are strings.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unicodedata import normalize

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

import trickless.export.namespace as xp
from trickless._arrays.states import snapshot
from trickless._errors import InvalidValueError, RemedyError
from trickless._files.format import library_version
from trickless._rows.values import CATEGORIES, NUMBERS
from trickless.conformal.levels import check_confidence
from trickless.conformal.split import SplitConformal
from trickless.export.answers import answers_of, written
from trickless.export.graph import Graph
from trickless.export.tensors import Tensor


def trace(owner: str, model: Any, outputs: Any, confidence: float, dtype: Any = None) -> Graph:
    """Return the graph of a fitted model, for a function ``owner``, which begins error messages.

    ``outputs`` are the names of answers, or None for the usual ones. ``dtype`` is the precision of
    inputs that are numbers. None is that in which the model reads them.
    """
    check_confidence(owner, confidence)
    conformal = model if isinstance(model, SplitConformal) else None
    model = model if conformal is None else conformal.estimator
    model = model.estimator if isinstance(model, FrozenEstimator) else model
    with naming(owner):
        learner, scaler = _parts(model)
        known, usual = answers_of(learner)
        check_is_fitted(model)
        names = usual if outputs is None else _checked_names(outputs, tuple(known))
        graph = Graph(f"{type(learner).__name__} of trickless {library_version()}")
        if dtype is None:
            dtype = np.float64 if _reads_table(learner) or scaler else learner._rows_.dtype
        X = _rows_of_learner(graph, learner, np.dtype(dtype), scaler)
        for name, tensor in written(learner, X, names, confidence, conformal).items():
            graph.outputs[name] = tensor.name_in(graph)
        graph.labels = getattr(learner, "classes_", None)
    return graph


@contextmanager
def naming(owner: str) -> Iterator[None]:
    """Name the function that writes a graph in errors."""
    try:
        yield
    except RemedyError as error:
        raise type(error)(f"{owner}: {error.cause}", error.remedy) from error


def _parts(model: Any) -> tuple[Any, Any]:
    """Return the learner of a model, and what standardises its rows, or None."""
    scaler = None
    if isinstance(model, Pipeline):
        check_is_fitted(model)
        steps = [step for _, step in model.steps if step not in (None, "passthrough")]
        *before, model = steps
        if before and [type(step) for step in before] != [StandardScaler]:
            raise InvalidValueError(
                f"the pipeline has the steps {', '.join(type(step).__name__ for step in before)} "
                "before its learner, but only one StandardScaler can be written",
                "apply these steps to the rows, and export pipeline[-1]",
            )
        scaler = before[0] if before else None
    return snapshot(model), scaler  # which another thread may train meanwhile


def _checked_names(outputs: Any, known: tuple[str, ...]) -> tuple[str, ...]:
    names = (outputs,) if isinstance(outputs, str) else outputs
    is_list = isinstance(names, tuple | list) and all(name in known for name in names)
    if not is_list or not 0 < len(names) == len(set(names)):
        raise InvalidValueError(
            f"outputs={outputs!r}, but the model has the outputs {known}",
            f"some of them, such as outputs={known[:2]}",
        )
    return tuple(names)


def _rows_of_learner(graph: Graph, learner: Any, dtype: np.dtype, scaler: Any = None) -> Tensor:
    """Declare the inputs of a learner, and return its rows in its precision."""
    known = learner._rows_.columns
    graph.kinds = [] if known is None else known.kinds
    if known is None or not _reads_table(learner) or scaler is not None:
        first = learner if scaler is None else scaler
        X = declared(graph, "X", dtype, first.n_features_in_)
        if hasattr(first, "feature_names_in_"):
            graph.names = first.feature_names_in_.tolist()
        if scaler is not None:
            graph.limits[X.name] = float(np.finfo(float).max), True
            X = xp.astype(X, xp.float64)
            X = X - scaler.mean_ if scaler.with_mean else X
            X = X / scaler.scale_ if scaler.with_std else X
        return rows_of_matrix(learner, X)
    if hasattr(learner, "feature_names_in_"):
        names = learner.feature_names_in_.tolist()
    else:  # a frame made of an array, which needs no names
        names = [str(j) for j in range(learner.n_features_in_)]
    graph.names = names
    if any(known.whole):
        raise InvalidValueError(
            f"column {names[known.whole.index(True)]!r} holds integers beyond 2^53, which are read "
            "exactly in Python, but would be rounded as an input",
            "subtract a constant from the column before you fit the model",
        )
    types = {CATEGORIES: np.str_, NUMBERS: dtype}
    inputs = [  # all of them before nodes, which are given other names
        declared(graph, name, types.get(kind, xp.float64), 1)
        for name, kind in zip(names, known.kinds, strict=True)
    ]
    columns = [
        xp.astype(x, xp.float64) if categories is None else _coded(x, categories)
        for x, categories in zip(inputs, known.categories, strict=True)
    ]
    return _read(learner, xp.concat(columns, axis=1))


def _reads_table(learner: Any) -> bool:
    """Return whether the rows of a learner are a table, whose columns may hold anything."""
    return learner._rows_.columns is not None and learner._rows_.kind.tables


def rows_of_matrix(learner: Any, X: Tensor) -> Tensor:
    """Return rows of a matrix in the precision of a learner."""
    known = learner._rows_.columns
    if known is not None and (any(known.whole) or (_reads_table(learner) and not known.are_plain)):
        raise InvalidValueError(
            f"{type(learner).__name__} was fitted to a data frame with categories or times, which "
            "a matrix of numbers does not have",
            "trickless.export.to_onnx(model), whose graph has an input for each column",
        )
    return _read(learner, X)


def _read(learner: Any, X: Tensor) -> Tensor:
    """Return rows relative to the origins, in the precision of a learner.

    They must be finite, except for gaps in the rows of a table. Impossible dates are infinite.
    """
    known = learner._rows_.columns
    if known is not None and np.isfinite(known.limits).any():
        X = xp.astype(X, xp.float64)
        X = xp.where(xp.abs(X) > known.limits, np.inf, X)
    if known is not None and known.origins.any():
        X = xp.astype(X, xp.float64) - known.origins
    X = xp.astype(X, learner._rows_.dtype)
    assert X.graph is not None
    X.graph.limits[X.name] = float(np.finfo(X.dtype).max), learner._rows_.kind.tables
    return X


def declared(graph: Graph, name: str, dtype: Any, width: int) -> Tensor:
    """Declare an input of a graph, and return it."""
    graph.input(name, dtype, width)
    return Tensor(*graph.values[name], graph, name)


def _coded(x: Tensor, known: Any) -> Tensor:
    """Return the code of each string, in any Unicode form, and one code for all other strings."""
    codes, missing = known.codes, known.missing
    forms = {normalize(form, text): code for text, code in codes.items() for form in ("NFC", "NFD")}
    about = {"codes": forms | codes, "missing": missing, "others": missing + 1}
    return xp.emit("Codes", [x], x.shape, xp.float64, **about)

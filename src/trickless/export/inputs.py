"""Rows of a model as inputs of a graph: one matrix, or one input for each column of a table.

An input for a column has the shape (n_rows, 1) and the name of the column. Numbers are numbers, NaN
where they are missing; times are days, dates since 1970; categories are strings.
"""

from __future__ import annotations

from typing import Any
from unicodedata import normalize

import numpy as np

import trickless.export.namespace as xp
from trickless.errors import InvalidValueError
from trickless.export.graph import Graph, RowCount
from trickless.export.tensors import Tensor
from trickless.files.text import utf8
from trickless.rows.values import CATEGORIES, NUMBERS

#: The name of the input of a model of a matrix.
MATRIX = "X"


def rows_of_learner(graph: Graph, learner: Any, dtype: np.dtype, scaler: Any = None) -> Tensor:
    """Declare the inputs of a learner, and return its rows in its precision."""
    known = learner.rows_.columns
    if known is None or not reads_table(learner) or scaler is not None:
        first = learner if scaler is None else scaler
        X = declared(graph, MATRIX, dtype, first.n_features_in_)
        if hasattr(first, "feature_names_in_"):
            graph.names = first.feature_names_in_.tolist()
        if scaler is not None:
            graph.limit(X.name, float(np.finfo(float).max), gaps=True)
            X = xp.astype(X, xp.float64)
            X = X - scaler.mean_ if scaler.with_mean else X
            X = X / scaler.scale_ if scaler.with_std else X
        return rows_of_matrix(learner, X)
    graph.names = names = learner.feature_names_in_.tolist()
    for j, name in enumerate(names):
        if known.whole[j]:
            raise InvalidValueError(
                f"{graph.owner}: column {name!r} holds integers beyond 2^53, which are read "
                "exactly in Python, but would be rounded as an input",
                "subtract a constant from the column before you fit the model",
            )
    types = [
        np.str_ if kind == CATEGORIES else dtype if kind == NUMBERS else xp.float64
        for kind in known.kinds
    ]
    inputs = [declared(graph, *pair, 1) for pair in zip(names, types, strict=True)]
    columns = [
        xp.astype(x, xp.float64) if c is None else coded(x, c.codes, c.missing, c.missing + 1)
        for x, c in zip(inputs, known.categories, strict=True)
    ]
    return _read(learner, xp.concat(columns, axis=1))


def reads_table(learner: Any) -> bool:
    """Return whether the rows of a learner are a table, whose columns may hold anything."""
    return learner.rows_.columns is not None and learner.rows_.kind.tables


def rows_of_matrix(learner: Any, X: Tensor) -> Tensor:
    """Return rows of a matrix in the precision of a learner."""
    known = learner.rows_.columns
    if known is not None and (any(known.whole) or (reads_table(learner) and not known.are_plain)):
        raise InvalidValueError(
            f"{owner_of(X)}: {type(learner).__name__} was fitted to a data frame with "
            "categories or times, which a matrix of numbers does not have",
            "trickless.export.to_onnx(model), whose graph has an input for each column",
        )
    return _read(learner, X)


def _read(learner: Any, X: Tensor) -> Tensor:
    """Return rows relative to the origins, in the precision of a learner.

    They must be finite, except for gaps in the rows of a table.
    """
    known = learner.rows_.columns
    if known is not None and known.origins.any():
        X = xp.astype(X, xp.float64) - known.origins
    X = xp.astype(X, learner.rows_.dtype)
    assert X.graph is not None
    X.graph.limit(X.name, float(np.finfo(X.dtype).max), learner.rows_.kind.tables)
    return X


def declared(graph: Graph, name: str, dtype: Any, width: int) -> Tensor:
    """Declare an input of a graph, and return it."""
    utf8(graph.owner, name)
    graph.input(name, dtype, width)
    return Tensor((RowCount(1), width), dtype, graph, name)


def coded(x: Tensor, codes: dict[str, int], missing: int, others: int) -> Tensor:
    """Return the code of each string, in any Unicode form, and one code for all other strings.

    Graphs have no other missing text than "", which is missing unless it is a category.
    """
    forms = {normalize(form, text): code for text, code in codes.items() for form in ("NFC", "NFD")}
    forms = {"": missing} | forms | codes
    for text in forms:
        utf8(owner_of(x), text)
    return xp.emit("Codes", [x], x.shape, xp.float64, codes=forms, missing=missing, others=others)


def owner_of(X: Tensor) -> str:
    """Return the function that writes the graph of a tensor, for messages."""
    assert X.graph is not None
    return X.graph.owner

"""Rows of a model as inputs of a graph: one matrix, or one input for each column of a table.

An input for a column has the shape (n_rows, 1) and the name of the column. Numbers are numbers, NaN
where they are missing; times are days, dates since 1970; categories are strings.
"""

from __future__ import annotations

from typing import Any
from unicodedata import normalize

import numpy as np

import trickless.onnx.namespace as xp
from trickless.errors import InvalidValueError
from trickless.files.text import utf8
from trickless.learners.table_model import TableModel
from trickless.learners.table_rows import LARGEST_SINGLE
from trickless.neurons import make_neurons
from trickless.onnx.graph import ML, Graph
from trickless.onnx.tensors import Rows, Tensor
from trickless.tables.categories import known_as
from trickless.tables.encoder import TableEncoder
from trickless.tables.kinds import CATEGORIES, NUMBERS
from trickless.tables.parse_text import MISSING
from trickless.tables.table_column import TableColumn

#: The name of the input of a model of a matrix.
MATRIX = "X"


def rows_of_learner(graph: Graph, learner: Any, dtype: np.dtype) -> Tensor:
    """Declare the inputs of a learner, and return its rows in its precision."""
    encoder = learner.rows_.encoder
    if encoder is None:
        return rows_of_matrix(learner, declared(graph, MATRIX, dtype, learner.n_features_in_))
    names = learner.feature_names_in_.tolist()
    for j, name in enumerate(names):
        _check_whole(encoder, j, name)
    types = [
        np.str_ if kind == CATEGORIES else dtype if kind == NUMBERS else xp.float64
        for kind in encoder.kinds
    ]
    inputs = [declared(graph, *pair, 1) for pair in zip(names, types, strict=True)]
    columns, known = [], encoder.codes_by_column()
    for j, x in enumerate(inputs):
        if (codes := known.get(j)) is None:
            columns.append(xp.astype(x, xp.float64))
        else:
            missing = codes.pop(None)
            table = codes | dict.fromkeys(MISSING - codes.keys(), missing)
            columns.append(coded(x, table, missing + 1))
    return _relative(learner, columns)


def rows_of_matrix(learner: Any, X: Tensor) -> Tensor:
    """Return rows of a matrix in the precision of a learner."""
    encoder = learner.rows_.encoder
    if encoder is not None and (set(encoder.kinds) != {NUMBERS} or encoder.whole):
        raise InvalidValueError(
            f"skl2onnx.to_onnx: {type(learner).__name__} was fitted to a data frame with "
            "categories or times, which a matrix of numbers does not have",
            "trickless.to_onnx(model), whose graph has an input for each column",
        )
    if encoder is not None:
        X = xp.astype(X, xp.float64) - encoder.origins
    return xp.astype(X, learner.rows_.dtype)


def rows_of_table(graph: Graph, model: TableModel, dtype: np.dtype) -> Tensor:
    """Declare the inputs of a table model, and return the rows of its learner."""
    inputs = {
        about.name: declared(graph, about.name, _dtype_of(about, dtype), 1)
        for about in model.columns
    }
    family = make_neurons(model.learner.neurons)
    if family.accepts_tables:
        return _table(model, inputs)
    parts = []
    for about in model.columns:
        x = inputs[about.name]
        if about.kind == "category":
            code, n = coded(x, _codes_of(about), -2), len(about.categories)
            missing = code == -1.0
            if n:
                parts.append(code == np.arange(n, dtype=np.float64))
        else:
            x = xp.astype(x, xp.float64)
            missing = xp.isnan(x)
            x = xp.where(missing, about.mean, x)
            parts.append((x - about.mean) / about.scale)
        if about.has_missing:
            parts.append(missing)
    X = xp.concat([xp.astype(part, xp.float64) for part in parts], axis=1)
    return xp.astype(X, model.learner.rows_.dtype)


def _table(model: TableModel, inputs: dict[str, Tensor]) -> Tensor:
    """Return the rows that a family of tables gets: numbers minus their median, and codes."""
    encoder, columns = model.learner.rows_.encoder, []
    for j, about in enumerate(model.columns):
        x = inputs[about.name]
        if about.kind != "category":
            x = xp.astype(x, xp.float64) - about.median
            columns.append(xp.clip(x, -LARGEST_SINGLE, LARGEST_SINGLE))
            continue
        codes = encoder.codes_by_column()[j]
        missing = codes.pop(None)
        code_of = [codes.get(text, missing + 1) for text in known_as(about.categories, codes)]
        code_of.append(missing)  # of −1
        table = {text: code_of[i] for text, i in _codes_of(about).items()}
        later = {text: code for text, code in codes.items() if code > missing}
        columns.append(coded(x, later | table, missing + 1))
    return _relative(model.learner, columns)


def _relative(learner: Any, columns: list[Tensor]) -> Tensor:
    """Return columns as rows in the precision of a learner, relative to the origins."""
    X, origins = xp.concat(columns, axis=1), learner.rows_.encoder.origins
    return xp.astype(X - origins if origins.any() else X, learner.rows_.dtype)


def _codes_of(about: TableColumn) -> dict[str, int]:
    """Return the code of each text of a column: a category, or −1 if it is missing."""
    codes = {text: code for code, text in enumerate(about.categories)}
    return codes | dict.fromkeys(MISSING - codes.keys(), -1)


def _dtype_of(about: TableColumn, dtype: np.dtype) -> Any:
    return {"category": np.str_, "number": dtype}.get(about.kind, xp.float64)


def declared(graph: Graph, name: str, dtype: Any, width: int) -> Tensor:
    """Declare an input of a graph, and return it."""
    if not utf8("to_onnx", name):
        raise InvalidValueError(
            "to_onnx: the name of a column is '', which no input of a graph can have",
            "rename it before you fit the model",
        )
    graph.input(name, dtype, width)
    return Tensor((Rows(1), width), dtype, graph, name)


def coded(x: Tensor, codes: dict[str, int], of_others: int) -> Tensor:
    """Return the code of each text, in any of its Unicode forms, and another code for all others.

    The operator compares strings character by character.
    """
    forms = {normalize(form, text): code for text, code in codes.items() for form in ("NFC", "NFD")}
    forms |= codes
    for text in forms:
        utf8("to_onnx", text)
    code = xp.emit(
        "LabelEncoder",
        [x],
        x.shape,
        xp.int64,
        domain=ML,
        keys_strings=list(forms),
        values_int64s=list(forms.values()),
        default_int64=of_others,
    )
    return xp.astype(code, xp.float64)


def _check_whole(encoder: TableEncoder, j: int, name: str) -> None:
    if j in encoder.whole:
        raise InvalidValueError(
            f"to_onnx: column {name!r} holds integers beyond 2^53, which are read exactly in "
            "Python, but would be rounded as an input of a graph",
            "subtract a constant from the column before you fit the model",
        )

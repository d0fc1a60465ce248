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
from trickless.onnx.graph import ML, Graph
from trickless.onnx.tensors import Rows, Tensor
from trickless.tables.encoder import TableEncoder
from trickless.tables.kinds import CATEGORIES, NUMBERS

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
            table = {"": missing} | codes  # a graph has no other missing strings
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


def _relative(learner: Any, columns: list[Tensor]) -> Tensor:
    """Return columns as rows in the precision of a learner, relative to the origins."""
    X, origins = xp.concat(columns, axis=1), learner.rows_.encoder.origins
    return xp.astype(X - origins if origins.any() else X, learner.rows_.dtype)


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

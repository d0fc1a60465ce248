"""Predictions for the rows of a Dask collection."""

from __future__ import annotations

from copy import copy
from typing import Any

import dask
import dask.array
import numpy as np

from trickless._arrays.states import snapshot
from trickless._errors import InvalidTypeError, InvalidValueError

#: Methods of a model that may be called.
METHODS = "predict", "predict_proba", "decision_function"


def predict(model: Any, X: Any, method: str = "predict") -> Any:
    """Predict the rows of a Dask array or data frame lazily, with a fitted model.

    Parameters
    ----------
    model : estimator
        Any fitted learner of this package. It is sent to each worker once, without statistics.
    X : Dask array or data frame of shape (n_rows, n_features)
        The rows to predict.
    method : {"predict", "predict_proba", "decision_function"}, default="predict"
        The method of the model to call.

    Returns
    -------
    Dask array
        For an array: the results of the method, in the chunks of X.
    Dask series or data frame
        For a data frame: the results with its index, and a column for each output.
    """
    if not callable(getattr(model, method, None)) or method not in METHODS:
        raise InvalidValueError(
            f"trickless.dask.predict: method={method!r}, but a {type(model).__name__} has "
            f"{[name for name in METHODS if hasattr(model, name)]}",
            "use one of these",
        )
    model = snapshot(model)  # the original may go on learning
    light = copy(model)
    if hasattr(light, "_sums_"):
        light._forget_rows(error_bars=False)
    shared = dask.delayed(light, pure=False)
    if isinstance(X, dask.array.Array):
        X = X.rechunk({1: -1})
        one = getattr(model, method)(np.ones((1, X.shape[1]), dtype=X.dtype))
        chunks = (X.chunks[0], *((size,) for size in one.shape[1:]))
        return X.map_blocks(
            answers,
            shared,
            method,
            one[:0],
            dtype=one.dtype,
            chunks=chunks,
            drop_axis=None if one.ndim == 2 else 1,
            meta=one[:0],
        )
    if hasattr(X, "map_partitions"):
        some = X._meta_nonempty
        empty = labelled(getattr(model, method)(some), some)[:0]
        return X.map_partitions(answers, shared, method, empty, meta=empty)
    raise InvalidTypeError(
        f"trickless.dask.predict: X is a {type(X).__name__}, but it must be a Dask array or data "
        "frame",
        f"use the model's own {method}",
    )


def answers(X: Any, model: Any, method: str, empty: Any) -> Any:
    """Predictions for a piece, or ``empty`` if it has no rows."""
    return labelled(getattr(model, method)(X), X) if X.shape[0] else empty


def labelled(values: np.ndarray, X: Any) -> Any:
    """Values with the index of X, if X is a data frame. Else they are unchanged."""
    if not hasattr(X, "iloc"):
        return values
    import pandas as pd

    kind: Any = pd.Series if values.ndim == 1 else pd.DataFrame
    return kind(values, index=X.index)

"""A fitted model as a graph: its code is called with tensors instead of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.states import snapshot
from trickless.conformal.levels import check_confidence
from trickless.conformal.split import SplitConformal
from trickless.errors import InvalidValueError, RemedyError
from trickless.export.answers import answers_of, written
from trickless.export.graph import Graph
from trickless.export.inputs import reads_table, rows_of_learner
from trickless.files.format import library_version


def trace(owner: str, model: Any, outputs: Any, confidence: float, dtype: Any = None) -> Graph:
    """Return the graph of a fitted model.

    Parameters
    ----------
    owner : str
        The function that writes the graph, which begins error messages.
    model : estimator
        A learner or :class:`~trickless.RandomFeatures`. It may be behind a ``StandardScaler`` in a
        pipeline, and in a :class:`~trickless.conformal.SplitConformal`.
    outputs : tuple of str or None
        The names of answers; None for the usual ones.
    confidence : float
        The probability of intervals and sets.
    dtype : dtype or None
        Precision of inputs that are numbers. None is that in which the model reads them.

    Returns
    -------
    Graph
    """
    check_confidence(owner, confidence)
    conformal = model if isinstance(model, SplitConformal) else None
    model = model if conformal is None else conformal.model
    model = model.estimator if isinstance(model, FrozenEstimator) else model
    try:
        learner, scaler = _parts(model)
        known, usual = answers_of(learner)
        check_is_fitted(model)
        names = usual if outputs is None else _checked_names(outputs, tuple(known))
        about = f"{type(learner).__name__} of trickless {library_version()}"
        graph = Graph(owner, about)
        if dtype is None:
            reads_double = reads_table(learner) or scaler is not None
            dtype = np.float64 if reads_double else learner.rows_.dtype
        X = rows_of_learner(graph, learner, np.dtype(dtype), scaler)
        for name, tensor in written(learner, X, names, confidence, conformal).items():
            graph.outputs[name] = tensor.name_in(graph)
        graph.labels = getattr(learner, "classes_", None)
    except RemedyError as error:
        if error.cause.startswith(owner):
            raise
        raise type(error)(f"{owner}: {error.cause}", error.remedy) from error
    return graph


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

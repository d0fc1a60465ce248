"""The targets and weights of the rows of a table, from its columns or given apart."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from trickless.errors import InvalidValueError
from trickless.tables.table_column import TableColumn, new_categories, read_codes, read_numbers


def known_targets(model: Any, frame: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the targets of the rows that have one, as labels or numbers, and where these are."""
    about = TableColumn(model.target, "number", spelling=model.spelling)
    if model.classes is not None and model.classes.dtype.kind == "U":
        about = about._replace(kind="category", categories=model.classes.tolist())
        codes, counts = read_codes(about, frame)
        names = np.array([*about.categories, *new_categories(about, counts)], dtype=str)
        return names[codes[codes >= 0]], codes >= 0
    numbers = read_numbers(about, frame)
    there = ~np.isnan(numbers)
    numbers = numbers[there]
    if model.classes is None:
        return numbers, there
    labels = numbers.astype(model.classes.dtype)
    return (labels if (labels == numbers).all() else numbers), there  # some are not labels


def with_target(model: Any, frame: Any, y: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return the rows with y among their columns, the known targets, and where they are."""
    if y is not None:
        y = y.to_pandas() if hasattr(y, "to_pandas") else y
        if np.ndim(y) != 1 or len(y) != len(frame):
            raise InvalidValueError(
                f"TableModel: y has the shape {np.shape(y)}, but X has {len(frame)} rows",
                "pass one target for each row of X",
            )
        frame = frame.assign(**{model.target: getattr(y, "array", y)})
    return frame, *known_targets(model, frame)


def weights_of(
    model: Any, learn: Callable[..., Any], frame: Any, there: np.ndarray, given: Any
) -> dict[str, Any]:
    """Return the weights of the rows that are there, as an option of the learner."""
    if given is None and model.weight is None:
        return {}
    if "sample_weight" not in inspect.signature(learn).parameters:
        raise InvalidValueError(
            f"TableModel: {type(model.learner).__name__} takes no weights of rows",
            "leave sample_weight and weight out, or use a learner of Kitchen Sinks or "
            "Doubly Stochastic",
        )
    if given is None:
        given = read_numbers(TableColumn(str(model.weight), "number"), frame)
        wrong = ~(np.isfinite(given) & (given >= 0)) & there
        if wrong.any():
            row = int(wrong.argmax())
            raise InvalidValueError(
                f"TableModel: column {model.weight!r} holds {given[row]:g} in row {row} of its "
                "batch, from 0, but the weight of a row must be a finite number of at least "
                "0",
                "correct it; 0 leaves the row out",
            )
    return {"sample_weight": one_each(given, there)}


def one_each(sample_weight: Any, there: np.ndarray) -> Any:
    """Return the weights of the rows that are there, of one weight for each row."""
    weight = np.asanyarray(sample_weight)  # a mask stays, for the learner to refuse
    if weight.shape != there.shape:
        raise InvalidValueError(
            f"TableModel: sample_weight has the shape {weight.shape}, but X has {len(there)} rows",
            "pass one weight for each row of X",
        )
    return weight[there]

"""Batches as a learner learns them: rows that count, with matrices of targets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from trickless._arrays.places import to_host
from trickless._errors import InvalidTypeError
from trickless._rows.given import as_targets
from trickless._rows.rows import Batch
from trickless._rows.weights import check_weights, that_count
from trickless._targets.labels import Labels
from trickless._targets.targets import Targets


def with_matrix(
    targets: Targets,
    X: Any,
    y: np.ndarray,
    weight: np.ndarray | None,
    class_weight: Any,
    stream: bool,
) -> tuple[Targets, Batch]:
    """Return the targets so far, these included, and the batch with a matrix of them.

    In a stream, more batches may follow, and labels of this batch may be a part of all.
    """
    targets = targets.grown(y) if stream else targets
    matrix = targets.matrix(y, stream)
    weight = targets.weights(y, weight, class_weight, stream)
    return targets.after(matrix), that_count(X, matrix, weight)


def rows_that_count(learner: Any, y: Any, sample_weight: Any) -> np.ndarray:
    """Return which rows of a fit have a positive weight."""
    owner = type(learner).__name__
    y = as_targets(owner, to_host(y), learner._numeric)
    kept = np.ones(len(y), dtype=bool)
    weight = check_weights(owner, to_host(sample_weight), len(y))
    if weight is not None:
        kept = weight > 0
    if isinstance(learner._targets_, Labels):
        weight = learner._targets_.weights(y[kept], None, learner.class_weight)
        if weight is not None:
            kept[kept] = weight > 0
    return kept


def each_batch(owner: str, batches: Any) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Rows, targets, weights and time stamps of each batch; the last two may be None."""
    what = (
        "batches must be an iterable of (X, y), (X, y, sample_weight) or "
        "(X, y, sample_weight, timestamps)"
    )
    if not isinstance(batches, Iterable) or isinstance(batches, str | bytes):
        raise InvalidTypeError(
            f"{owner}: batches is a {type(batches).__name__}, but {what}",
            "a generator or a list of batches",
        )
    for i, batch in enumerate(batches):
        if not isinstance(batch, tuple | list) or len(batch) not in (2, 3, 4):
            found = f"a {type(batch).__name__}"
            if isinstance(batch, tuple | list):
                found += f" of length {len(batch)}"
            raise InvalidTypeError(
                f"{owner}: batch {i} is {found}, but {what}", "[(X, y)] for a single batch"
            )
        X, y, weight, timestamps = (*batch, None, None)[:4]
        yield X, y, weight, timestamps

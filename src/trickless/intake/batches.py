"""Batches as a learner learns them: rows that count, with matrices of targets."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.intake.labels import Labels, LabelSets
from trickless.intake.rows import Batch, that_count
from trickless.intake.targets import Numbers

Targets = Numbers | Labels | LabelSets


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
    if isinstance(targets, Numbers):
        matrix = targets.matrix(y)
        return targets.after(matrix), that_count(X, matrix, weight)
    matrix = targets.matrix(y, stream)
    return targets, that_count(X, matrix, targets.weights(y, weight, class_weight, stream))

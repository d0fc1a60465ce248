r"""Boosting along a stream: trees on each batch, which may fade and be dropped.

Coefficients fade by ρ = 2^(−b / h) before a batch of b rows, with a half-life of h rows. The noise
of steps of size γ at rest, Σ γ² ρ^(2i), equals that of 1 / (1 − ρ²) steps without forgetting. The
step is therefore sized as for a fit of so many trees. What f loses on average is added to the
intercept, so that forgetting pulls f to its present mean and not to the mean of the first rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from trickless._rules import warn
from trickless._solvers.boosting.course import Course, Rows, Search, size_of_fit
from trickless._solvers.boosting.forest import Forest
from trickless._solvers.clock import SPAN

#: Rows of a stream for each tree, and the most rows that grow trees together.
_ROWS_PER_TREE, _MOST_ROWS = 1024, 2**17
#: Steps of a stream fall as this power of their number, once it has grown all planned trees.
_FADING = 0.75
#: Half-lives of trees below which there is a warning that too few are kept.
_FEW = 1.0


def learn_batch(
    forest: Forest,
    search: Callable[[float], Search],
    rows: Rows,
    n_trees: int,
    passed: np.ndarray | None,
    n_jobs: int | None,
) -> None:
    """Grow trees on a batch, before which some half-lives have ``passed``.

    ``search`` makes the search for trees from the size of steps that is "auto", and ``n_trees`` are
    planned in all.
    """
    n_rows = len(rows.targets)
    if passed is not None and not n_rows:
        forest.fade(float(passed.sum()), len(forest))
        return
    for index in np.array_split(np.arange(n_rows), -(-n_rows // _MOST_ROWS)) if n_rows else []:
        some = rows if len(index) == n_rows else rows.take(index)
        n, part = max(1, len(index) // _ROWS_PER_TREE), min(1.0, len(index) / _ROWS_PER_TREE)
        if passed is None:
            size = part * size_of_fit(n_trees) * _fading(forest.taken, n_trees)
        else:
            span = float(passed[index[0] : index[-1] + 1].sum())
            span = span if len(passed) == n_rows else float(passed.sum())
            n = max(1, min(n, n_trees))
            forest.fade(span, n_trees - n)
            _keep_level(forest, some, span, n_jobs)
            kept = 2.0 ** -(span / n)
            size = size_of_fit(min(1 / max(1 - kept**2, 1e-300), n_trees))
            if span and (lasts := n_trees * span / n) < _FEW and len(forest) + n >= n_trees:
                warn(
                    f"n_trees={n_trees} with {n} new trees for {len(index)} rows: trees are "
                    f"dropped after {lasts:.2g} half-lives, so the model forgets faster. Remedy: a "
                    "larger n_trees."
                )
        course = Course(search(size), some, some.none(), forest.start, forest, n_jobs)
        course.run(course.n_trees + n)
        forest.append(*course.trees)
        forest.taken += part * n


def _fading(taken: float, planned: float) -> float:
    """Return the factor of a step of a stream, after ``taken`` steps of a whole batch.

    It is 1 for the ``planned`` steps. After that, steps fall as i^(-3/4). That is slow enough for
    the stream to keep learning, and fast enough that all further steps together add at most twice
    the noise of the planned ones.
    """
    return min(1.0, (planned / max(taken, planned)) ** _FADING)


def _keep_level(forest: Forest, rows: Rows, half_lives: float, n_jobs: int | None) -> None:
    """Add to the intercept what f at a batch has lost on average as it faded."""
    lost = np.exp2(min(half_lives, SPAN)) - 1  # as a share of what is left
    f = forest.function(n_jobs)(rows.read(forest.neurons)) - forest.intercept
    forest.intercept = forest.intercept + lost * np.average(f, axis=0, weights=rows.weight)

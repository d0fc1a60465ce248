"""What is asked of Kitchen Sinks."""

from __future__ import annotations

from typing import NamedTuple


class Problem(NamedTuple):
    """What is minimised, for which learner, and the work that this may take.

    These are parameters of the learner that may change between batches.
    """

    owner: str
    alpha: float | str
    weight_bound: float | None
    fit_intercept: bool
    classifies: bool
    max_iter: int
    tol: float
    n_jobs: int | None
    cache_bytes: int

"""What is asked of Kitchen Sinks."""

from __future__ import annotations

from typing import NamedTuple

from trickless.errors import InvalidValueError


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


def check_alpha(owner: str, alpha: float | str) -> None:
    """Raise an error for alpha="loo" on streams, since it needs all rows."""
    if alpha == "loo":
        raise InvalidValueError(
            f"{owner}: alpha='loo' needs a second pass over all rows, which a stream does not give",
            "fit, or alpha='auto' (generalised cross-validation from the statistics)",
        )

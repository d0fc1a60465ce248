"""Samples of rows, in proportion to their weights, from which families take what they need."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless._arrays.places import place_of, to_host
from trickless._arrays.weighted import at_shares, cap
from trickless._rules import warn


def sample_rows(
    X: Any, rng: np.random.Generator, size: int, sample_weight: Any = None
) -> tuple[Any, np.ndarray]:
    """Draw at most ``size`` rows of X, with their weights.

    If X has no more rows than that, all are returned with their weights. Otherwise, rows of equal
    weight are drawn without replacement. If weights differ, heavy rows are all kept. The weight of
    the others is cut into equal parts, and a row is drawn from each part, so that rows are drawn in
    proportion to their weights. Their new weight is in proportion to the number of times that they
    were drawn. On average, a row of weight 2 therefore counts as two rows. The rows are on the
    host, wherever X is.
    """
    n = X.shape[0]
    if n == 1:
        warn(
            "X has one row, and the neurons keep the length scale, ranks or thresholds that they "
            "take from it: predictions will be inaccurate. Remedy: begin with a batch of some "
            "hundred rows; or, if the learner has neurons, use a family that takes nothing from "
            "rows, such as Gaussian(length_scale=1.0)."
        )
    numbers, weight = sample_numbers(n, rng, size, sample_weight)
    return to_host(X if n <= size else place_of(X).take(X, numbers)), weight


def sample_numbers(
    n: int, rng: np.random.Generator, size: int, sample_weight: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the rows that ``sample_rows`` draws from n rows, and their weights."""
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if n <= size:
        return np.arange(n), weight
    if (weight == weight[0]).all():
        drawn = rng.choice(n, size, replace=False, p=weight / weight.sum())
        return np.sort(drawn), np.ones(size)
    most = cap(weight, size)
    heavy, light = np.flatnonzero(weight >= most), np.flatnonzero(weight < most)
    parts = size - len(heavy)
    shares = (np.arange(parts) + rng.random(parts)) / parts
    drawn, counts = np.unique(light[at_shares(weight[light], shares)], return_counts=True)
    rows, weight = np.append(heavy, drawn), np.append(weight[heavy], most * counts)
    order = np.argsort(rows)
    return rows[order], weight[order]

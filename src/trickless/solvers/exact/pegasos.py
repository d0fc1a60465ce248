"""Pegasos with a kernel: stochastic subgradient descent for support vector machines.

S. Shalev-Shwartz, Y. Singer, N. Srebro and A. Cotter, "Pegasos: primal estimated sub-gradient
solver for SVM", Mathematical Programming 127, 2011.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from trickless.functions.exact_kernel import KernelRows, rows_at_once
from trickless.solvers.progress import ignore


def count_violations(
    kernel_rows: KernelRows,
    y: np.ndarray,
    weight: np.ndarray | None,
    alpha: float,
    n_steps: int,
    batch_size: int,
    rng: np.random.Generator,
    advance: Callable[[int], object] = ignore,
) -> np.ndarray:
    """Take steps on rows drawn at random, and count how often each row was short of its margin.

    Each step draws ``batch_size`` rows, in proportion to their weights. Returns the counts c_j,
    shape (n_rows, n_outputs): f = Σ_j c_j y_j k(x_j, ·) / (alpha · n_steps · batch_size).
    """
    n = len(y)
    below = np.cumsum(np.full(n, 1 / n) if weight is None else weight / weight.sum())
    at_once = max(1, rows_at_once(n) // batch_size)
    counts = np.zeros(y.shape)  # Fig. 3: α_1 = 0
    for start in range(0, n_steps, at_once):
        some = min(at_once, n_steps - start)
        u = rng.random(some * batch_size)
        drawn = np.minimum(np.searchsorted(below, u, side="right"), n - 1)  # i_t, or A_t
        K = kernel_rows[drawn]
        sums = K @ (counts * y)
        violated = _violated(start, K[:, drawn], sums, y[drawn], alpha, batch_size)
        np.add.at(counts, drawn, violated)  # Fig. 3: α_{t+1}[i_t] = α_t[i_t] + 1
        advance(some)
    return counts


def _violated(
    start: int, own: np.ndarray, sums: np.ndarray, y: np.ndarray, alpha: float, k: int
) -> np.ndarray:
    """Steps on rows that were drawn together: which of them are short of their margin.

    ``own`` is their kernel matrix. ``sums`` are Σ_j c_j y_j k(x_j, x) at these rows, updated for
    the steps to come. Fig. 3 prints the factor of f_t as 1/(λt). The text, and Fig. 1 in terms of
    the same sum, have 1/(λ(t − 1)) with f_1 = 0, which is used here.
    """
    violated = np.zeros(y.shape, dtype=bool)
    for first in range(0, len(y), k):
        rows, later = slice(first, first + k), slice(first + k, None)
        before = start + first // k  # t − 1
        margin = y[rows] * sums[rows] / (alpha * k * max(before, 1))
        violated[rows] = margin < 1  # Fig. 2: A_t⁺
        if violated[rows].any():
            sums[later] += own[rows, later].T @ (violated[rows] * y[rows])
    return violated

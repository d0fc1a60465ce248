"""The arithmetic of Gaussian neurons with NumPy and nothing else, on weights drawn beforehand."""

from __future__ import annotations

import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
from threadpoolctl import ThreadpoolController

# What all benchmarks share lies in the folder above; these files are run as scripts.
sys.path.insert(0, str(Path(__file__).parents[1]))

#: Rows and neurons of a block.
ROWS, NEURONS = 512, 256
#: Seconds of rest before an action, and of its repeats after it.
REST, LOOP = 0.1, 0.3


def activations(X, W):
    """Cosines and sines of the projections."""
    t = X @ W.T
    Z = np.empty((len(X), 2 * len(W)), dtype=t.dtype)
    np.cos(t, out=Z[:, : len(W)])
    np.sin(t, out=Z[:, len(W) :])
    return Z


def blocks(n, size):
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def network(X, W, coef, pool):
    """Sum of neurons by blocks on threads; columns of ``coef`` are cosines, sines, ... by block.

    Threads share the blocks of rows, or where there is only one, the blocks of neurons.
    """

    def part(rows, some):
        both = slice(2 * some.start, 2 * some.stop)
        return activations(X[rows], W[some]) @ coef[both]

    def all_neurons(rows):
        return sum(part(rows, some) for some in blocks(len(W), NEURONS))

    rows = blocks(len(X), ROWS)
    if len(rows) == 1:
        return sum(pool.map(lambda some: part(rows[0], some), blocks(len(W), NEURONS)))
    return np.concatenate(list(pool.map(all_neurons, rows)))


def product(X, W, pool):
    """Projections by blocks on threads, each in memory that stays in the cache, and is not kept."""

    def part(rows):
        X[rows] @ W.T

    list(pool.map(part, blocks(len(X), ROWS)))


@cache
def _controller():
    return ThreadpoolController()  # to look for the libraries takes longer than a round


def one_blas_thread():
    """A context in which BLAS uses one thread in each of ours."""
    return _controller().limit(limits=1)


def timed(action):
    """Seconds of an action."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def in_turn(actions, repeats):
    """Median seconds of each action; they take turns, and the first turn does not count.

    There is a rest before each: threads of BLAS wait busily for more work for some time after an
    action that used them, and would take a core from the next one. Then a short action is repeated
    for a while, as it is in use, and the median of its runs but the first, which mostly wakes
    threads up, is its turn.
    """
    times = {name: [] for name in actions}
    for _ in range(repeats + 1):
        for name, action in actions.items():
            time.sleep(REST)
            runs = [timed(action)]
            while sum(runs) < LOOP:
                runs.append(timed(action))
            times[name].append(np.median(runs[1:] or runs))
    return {name: float(np.median(values[1:])) for name, values in times.items()}

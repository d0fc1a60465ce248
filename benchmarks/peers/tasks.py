"""The data sets of the comparison: rows, classes, and what is particular to each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import pdist

sys.path.insert(0, str(Path(__file__).parents[1]))
import data

#: The most rows to learn from and to test on.
ROWS = {"covertype": 100_000, "flights": 100_000}
TEST_ROWS = {"covertype": 10_000, "flights": 10_000}
QUICK_ROWS, QUICK_TEST_ROWS = 2_000, 500
#: Rows that parameters are chosen with, and as many others that they are tested on.
TUNING_ROWS = 5_000
MEDIAN_ROWS = 1_000


def families(name: str) -> tuple[str, ...]:
    """Of neurons, for each of which a length scale, or a depth (1: stumps), is chosen.

    Patches are for images: they see which numbers are next to each other, as no peer does.
    """
    if name == "mnist":
        return "gaussian", "patches"
    return "gaussian", "laplace1", "ferns", "landmarks"


class Task(NamedTuple):
    """Rows to learn from, in a random order, and to test on."""

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    n_classes: int  # 0 for a number; classes are 0, 1, ...
    median: float  # distance of two rows

    def error(self, predicted: np.ndarray) -> float:
        """Misclassified share, or 1 - R², of the first test rows."""
        y, predicted = self.y_test[: len(predicted)], np.asarray(predicted).ravel()
        if self.n_classes:
            return float(np.mean(predicted != y))
        return float(np.mean((predicted - y) ** 2) / np.var(y))

    def tuning(self) -> Task:
        """Some of the rows to learn from, and others of them in the place of test rows."""
        n = min(TUNING_ROWS, len(self.X) // 2)
        last = slice(len(self.X) - n, None)
        return self._replace(X=self.X[:n], y=self.y[:n], X_test=self.X[last], y_test=self.y[last])


def prepare(name: str, quick: bool, full: bool) -> Task:
    """Read and standardise a data set, all before any clock is started.

    Targets that are numbers are divided by their standard deviation on the rows to learn from,
    less the mean, since some methods presume it.
    """
    X, y, X_test, y_test = data.LOADERS[name][1]()
    n = QUICK_ROWS if quick else len(X) if full else ROWS.get(name, len(X))
    n_test = QUICK_TEST_ROWS if quick else TEST_ROWS.get(name, len(X_test))
    rows = np.random.default_rng(0).permutation(len(X))[:n]
    X, y, X_test, y_test = X[rows], y[rows], X_test[:n_test], y_test[:n_test]
    n_classes = int(y.max()) + 1 if y.dtype.kind == "i" else 0
    if not n_classes:
        mean, scale = y.mean(), y.std()
        y, y_test = (y - mean) / scale, (y_test - mean) / scale
    median = float(np.median(pdist(X[:MEDIAN_ROWS].astype(float))))
    return Task(name, X, y, np.ascontiguousarray(X_test), y_test, n_classes, median)

"""Tables as they come, for methods that take them so: numbers as they are, and categories."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
import data

#: Ends the names of tables of which all rows are learned from where others have fewer.
ALL_ROWS = ", all rows"
#: The most rows to learn from.
ROWS = 100_000
QUICK_ROWS, QUICK_TEST_ROWS = 2_000, 1_000
#: The most rows that parameters are chosen with, and the share of them that is held out.
TUNING_ROWS, HELD_OUT = 20_000, 0.2
#: Loader of each table. Covertype is there twice, as class 2 against the rest and with all classes.
TABLES = {
    "adult": "adult_table",
    "credit": "credit_table",
    "covertype": "covertype_table",
    "covertype, 7 classes": "covertype_table",
    "flights": "flights_table",
    "qm9 composition": "qm9_table",
    "puma32h": "puma32h_table",
    "grid stability": "grid_table",
    "wine": "wine_table",
    "hiva": "hiva_table",
    "chess": "chess_table",
    "nursery": "nursery_table",
    "covertype" + ALL_ROWS: "covertype_table",
    "covertype, 7 classes" + ALL_ROWS: "covertype_table",
}


class Table(NamedTuple):
    """Rows to learn from, in a random order, and to test on."""

    name: str
    X: Any  # a data frame
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    n_classes: int  # 0 for a number; classes are 0, 1, ...
    unit: float  # what one of ``y`` is in the unit of the file

    @property
    def categories(self) -> list[str]:
        """Names of the columns of categories."""
        return list(self.X.select_dtypes("category").columns)

    def error(self, predicted: np.ndarray) -> float:
        """Misclassified share, or 1 - R², of the test rows."""
        predicted = np.asarray(predicted).ravel()
        if self.n_classes:
            return float(np.mean(predicted != self.y_test))
        return float(np.mean((predicted - self.y_test) ** 2) / np.var(self.y_test))

    def absolute_error(self, predicted: np.ndarray) -> float | None:
        """Mean absolute error in the unit of the file, if numbers are learned."""
        if self.n_classes:
            return None
        return float(self.unit * np.mean(np.abs(np.asarray(predicted).ravel() - self.y_test)))

    def head(self, n: int) -> Table:
        """The same with the first rows to learn from."""
        return self._replace(X=self.X[:n], y=self.y[:n])

    def tuning(self) -> Table:
        """Some of the rows to learn from, a part of them in the place of the test rows."""
        some = self.head(TUNING_ROWS)
        n = round((1 - HELD_OUT) * len(some.X))
        rest = {"X_test": some.X[n:].reset_index(drop=True), "y_test": some.y[n:]}
        return some.head(n)._replace(**rest)


def prepare(name: str, quick: bool) -> Table:
    """Read a table, before any clock is started.

    Numbers to learn have mean 0 and deviation 1 on the rows to learn from, since some methods
    presume it.
    """
    X, y, X_test, y_test = data.LOADERS[TABLES[name]][1]()
    if name.removesuffix(ALL_ROWS) == "covertype":
        y, y_test = (y == 1).astype(int), (y_test == 1).astype(int)
    n_classes = int(y.max()) + 1 if y.dtype.kind == "i" else 0
    n = QUICK_ROWS if quick else len(X) if name.endswith(ALL_ROWS) else ROWS
    rows = np.random.default_rng(0).permutation(len(X))[:n]
    X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    if quick:
        X_test, y_test = X_test[:QUICK_TEST_ROWS], y_test[:QUICK_TEST_ROWS]
    unit = 1.0
    if not n_classes:
        mean, unit = float(y.mean()), float(y.std())
        y, y_test = (y - mean) / unit, (y_test - mean) / unit
    return Table(name, X, y, X_test, y_test, n_classes, unit)

"""One row, for a model that is compiled: numbers in the precision of the learner.

Usual rows are read without scikit-learn's checks. All others go the way of ``predict``, so that
they give the same rows, warnings and errors.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np
from scipy.sparse import issparse

from trickless.arrays.missing import is_missing
from trickless.arrays.places import to_host
from trickless.errors import InvalidTypeError, InvalidValueError
from trickless.rules import shown

#: Types that become numbers as they are.
NUMBERS = {float, int, bool, np.float64, np.float32, np.int64, np.bool_}
_PRECISIONS = np.float32, np.float64


class ReadRow:
    """Reads one row of numbers, or a dictionary by the names of a data frame.

    Parameters
    ----------
    learner : Learner
        A fitted learner.
    """

    def __init__(self, learner: Any) -> None:
        rows, names = learner.rows_, getattr(learner, "feature_names_in_", None)
        self.learner, self.n_features = _without_model(learner), learner.n_features_in_
        self.names = None if names is None else names.tolist()
        self.pick = _picker(self.names)
        self.dtype, self.tables, encoder = rows.dtype, rows.kind.tables, rows.encoder
        self.origins = None if encoder is None or not encoder.origins.any() else encoder.origins
        self.codes = {} if encoder is None else encoder.codes_by_column()
        self.plain = rows.kind.plain and (encoder is None or encoder.is_plain)

    def __call__(self, row: Any) -> np.ndarray:
        """Return the numbers of a row, (n_features,)."""
        x = self._usual(row) if self.plain else None
        if x is None or x.shape != (self.n_features,) or x.dtype.kind not in "fiub":
            return self._as_many(row)
        if x.dtype not in _PRECISIONS:
            x = x.astype(np.float64)
        if self.origins is not None:
            x = x - self.origins
        x = x.astype(self.dtype, copy=False)
        square = float(x.dot(x))
        if square - square != 0 and not self._may_have(x):  # not finite
            return self._as_many(row)
        return x

    def _usual(self, row: Any) -> np.ndarray | None:
        """Return a row as an array, unless it needs a closer look."""
        if isinstance(row, dict):
            row = self._by_names(row)
        elif self.codes:  # whose values are objects
            return None
        if type(row) in (list, tuple):
            try:
                return np.array(row)
            except ValueError:  # parts of different lengths
                return None
        return row if type(row) is np.ndarray else None

    def _by_names(self, row: dict[Any, Any]) -> Any:
        """Return the numbers of a dictionary, or None if it needs a closer look."""
        if self.pick is None or len(row) != self.n_features:
            return None
        try:
            values = list(self.pick(row))
        except KeyError:
            return None
        for j, codes in self.codes.items():
            code = codes.get(values[j]) if type(values[j]) is str else None
            if code is None:
                if not is_missing(values[j]):
                    return None
                code = codes[None]
            values[j] = code
        if not NUMBERS.issuperset(map(type, values)):
            if not self.tables:
                return None
            values = [np.nan if value is None else value for value in values]
            if not NUMBERS.issuperset(map(type, values)):
                return None
        return values

    def _may_have(self, x: np.ndarray) -> bool:
        """Return whether numbers that are not finite are missing values that may be there."""
        kind = self.learner.rows_.kind
        return kind.tables and kind.without_gaps is None and not np.isinf(x).any()

    def _as_many(self, row: Any) -> np.ndarray:
        """Return the numbers of a row as ``predict`` reads them, or raise its error."""
        owner = type(self.learner).__name__
        if self.names is not None and _has_names(row):
            row = row.to_dict()
        if isinstance(row, dict):
            if self.names is None:
                raise InvalidTypeError(
                    f"{owner}: compiled: the row is a dictionary, but the model was fitted to "
                    "columns without names",
                    f"the {self.n_features} numbers of a row in an array or a list, or fit to a "
                    "data frame",
                )
            import pandas

            if row.keys() == set(self.names):  # in any order
                row = {name: row[name] for name in self.names}
            X: Any = pandas.DataFrame([row])
        else:
            arrays = self.learner.rows_.kind.layout.reads_arrays
            X = _one(owner, row, self.n_features, arrays)
        return self.of_rows(X)

    def of_rows(self, X: Any) -> Any:
        """Return the numbers of a matrix or data frame of one row, (n_features,)."""
        rows = self.learner.rows_.to_predict(self.learner, X)
        return (rows.toarray() if issparse(rows) else rows)[0]


def _has_names(row: Any) -> bool:
    """Return whether a row is a series of a data frame, whose index names its values."""
    index: Any = getattr(row, "index", ())
    return hasattr(row, "to_dict") and all(isinstance(name, str) for name in index)


def _one(owner: str, row: Any, n_features: int, arrays: bool) -> Any:
    """Return a sequence of numbers, or an image or series, as an array of one row."""
    values = to_host(row)
    try:
        x = values if isinstance(values, np.ndarray) else np.array(values)
    except ValueError:  # parts of different lengths
        x = np.empty(())
    if x.dtype.kind == "U":  # numbers beside text
        x = np.array(values, dtype=object)
    if x.ndim != 1 and not (arrays and x.ndim):
        raise InvalidValueError(
            f"{owner}: compiled: one row of {n_features} numbers is needed, but there is "
            f"{f'an array of shape {x.shape}' if x.ndim else shown(row)}",
            "a row such as X[0], and not X[:1]; predict(X) for several rows",
        )
    return x[None]


def _picker(names: list[Any] | None) -> Callable[[dict[Any, Any]], Any] | None:
    """Return a function that picks the values of columns from a dictionary, as a sequence."""
    if names is None:
        return None
    return itemgetter(*names) if len(names) > 1 else itemgetter(names[0], names[0])


def _without_model(learner: Any) -> Any:
    """Return a learner that can validate rows, and has no function."""
    other = object.__new__(type(learner))
    kept = *learner.get_params(deep=False), "rows_", "n_features_in_", "feature_names_in_", "fixed_"
    other.__dict__ = {name: value for name, value in vars(learner).items() if name in kept}
    return other

"""A learner together with the table that it learned from: what ``trickless fit`` saves.

Columns by name, their types, scales and categories, and the target: so that a table as it lies in a
file, or in a data frame, can be predicted.
"""

from __future__ import annotations

from datetime import date
from typing import Any, NamedTuple

import numpy as np
import sklearn
from sklearn.base import is_classifier

from trickless.neurons import make_neurons

_MICROSECONDS_A_DAY = 86_400e6


class TableColumn(NamedTuple):
    """A column that a model learned from.

    Attributes
    ----------
    name : str
    kind : {"number", "date", "category"}
        Truth values are numbers; dates and times are days since 1970.
    mean : float, default=0.0
    scale : float, default=1.0
        Of the known values; numbers and dates are standardised with both.
    categories : list of str, default=[]
        The categories that were there, sorted; numbers by their digits.
    has_missing : bool, default=False
        Whether values were missing.
    """

    name: str
    kind: str
    mean: float = 0.0
    scale: float = 1.0
    categories: list[str] = []
    has_missing: bool = False


class TableModel:
    """A learner of the rows of a table, which takes data frames with columns by name.

    The command ``trickless fit`` makes it and :func:`trickless.load` reads it. Frames are those of
    pandas, or what has a method ``to_pandas``, such as tables of Arrow. They may have more columns
    than the model needs, in any order.

    Numbers and dates are standardised. Families that take tables, such as "tabular", see missing
    values and categories as they are. For the others a missing number is the mean, and a category
    is a column of zeros and ones for each category that was there; where values were missing, one
    more column says so.

    Parameters
    ----------
    learner : estimator
        A learner of drawn neurons.
    columns : list of TableColumn
        What it learns from.
    target : str
        The column to be predicted.
    classes : array or None, default=None
        The labels, for classification: of text, whole numbers or truth values.

    Examples
    --------
    >>> import pandas as pd
    >>> from trickless import KitchenSinksRegressor, TableColumn, TableModel
    >>> frame = pd.DataFrame({"age": [20, 35, None, 64] * 25, "town": ["A", "B", "B", None] * 25})
    >>> frame["income"] = [1.0, 2.0, 3.0, 4.0] * 25
    >>> columns = [TableColumn("age", "number", mean=40.0, scale=18.0)]
    >>> columns += [TableColumn("town", "category", categories=["A", "B"])]
    >>> learner = KitchenSinksRegressor("tabular", n_neurons=50, random_state=0)
    >>> model = TableModel(learner, columns, "income").partial_fit(frame)
    >>> model.predict(frame[["town", "age"]])[:4].round(1)
    array([1., 2., 3., 4.])
    """

    def __init__(
        self,
        learner: Any,
        columns: list[TableColumn],
        target: str,
        classes: np.ndarray | None = None,
    ) -> None:
        self.learner = learner
        self.columns = columns
        self.target = target
        self.classes = classes

    def __repr__(self) -> str:
        return f"TableModel({self.learner!r}, {len(self.columns)} columns, target={self.target!r})"

    @property
    def task(self) -> str:
        """What is predicted: "classification" or "regression"."""
        return "classification" if is_classifier(self.learner) else "regression"

    def fit(self, X: Any) -> TableModel:
        """Learn from all rows there are; the columns stay as they were described.

        Parameters
        ----------
        X : data frame
            With the target; rows that have none are left out.

        Returns
        -------
        self
        """
        frame = self._with_target(X)
        self.learner.fit(self._prepared(frame, declare=True), self.targets(frame))
        return self

    def partial_fit(self, X: Any) -> TableModel:
        """Learn from a batch of rows.

        Parameters
        ----------
        X : data frame
            With the target; rows that have none are left out.

        Returns
        -------
        self
        """
        frame = self._with_target(X)
        if len(frame):
            rows = self._prepared(frame, declare=not self.learner.__sklearn_is_fitted__())
            labels = {} if self.classes is None else {"classes": self.classes}
            self.learner.partial_fit(rows, self.targets(frame), **labels)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the target.

        Parameters
        ----------
        X : data frame

        Returns
        -------
        array of shape (n_rows,)
            Labels or numbers.
        """
        return self.learner.predict(self._prepared(_frame(X)))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, where the learner has them.

        Parameters
        ----------
        X : data frame

        Returns
        -------
        array of shape (n_rows, n_classes)
            In the order of ``classes``.
        """
        return self.learner.predict_proba(self._prepared(_frame(X)))

    def score(self, X: Any) -> float:
        """Accuracy, or R² for regression, on rows with the target.

        Parameters
        ----------
        X : data frame

        Returns
        -------
        float
        """
        frame = self._with_target(X)
        targets, predicted = self.targets(frame), self.predict(frame)
        if is_classifier(self.learner):
            return float(np.mean(targets == predicted))
        return float(sklearn.metrics.r2_score(targets, predicted))

    def targets(self, X: Any) -> np.ndarray:
        """The target of rows that have one, as labels or numbers.

        Parameters
        ----------
        X : data frame

        Returns
        -------
        array of shape (n_rows,)
        """
        column = _column(_frame(X), self.target).dropna()
        if self.classes is None:
            return _numbers(column)
        if self.classes.dtype.kind == "U":
            labels = _categories(column).cat
            return np.array(labels.categories, dtype=str)[labels.codes]
        values = column.to_numpy(dtype=float)
        labels = values.astype(self.classes.dtype)
        return labels if (labels == values).all() else values  # of which some are no labels

    def unknown_categories(self, X: Any) -> dict[str, int]:
        """How many values of each column are categories that were not there in training.

        Parameters
        ----------
        X : data frame

        Returns
        -------
        dict
            Counts by the names of columns; those with none are left out.
        """
        frame, counts = _frame(X), {}
        for name, kind, _, _, categories, _ in self.columns:
            if kind == "category":
                values = _categories(_column(frame, name))
                new = values.notna() & ~values.isin(categories)
                if new.any():
                    counts[name] = int(new.sum())
        return counts

    def _with_target(self, X: Any) -> Any:
        frame = _frame(X)
        return frame[_column(frame, self.target).notna()]

    def _prepared(self, frame: Any, declare: bool = False) -> Any:
        """Rows as the learner takes them; the first of them declare all categories."""
        if make_neurons(self.learner.neurons).accepts_tables:
            columns = {}
            for about in self.columns:
                column = columns[about.name] = self._standardised(frame, about)
                if declare and about.kind == "category":
                    columns[about.name] = column.cat.set_categories(about.categories)
            return type(frame)(columns, index=frame.index)
        parts: list[np.ndarray] = []
        for about in self.columns:
            column = self._standardised(frame, about)
            missing = column.isna().to_numpy()
            if about.kind == "category":
                codes = column.cat.set_categories(about.categories).cat.codes.to_numpy()
                parts.append(codes[:, None] == np.arange(len(about.categories)))
            else:
                parts.append(np.where(missing, 0.0, column)[:, None])
            if about.has_missing:
                parts.append(missing[:, None])
        return np.concatenate(parts, axis=1, dtype=np.float64)

    def _standardised(self, frame: Any, about: TableColumn) -> Any:
        """A column of standardised numbers, or of categories."""
        column = _column(frame, about.name)
        if about.kind == "category":
            return _categories(column)
        values = (_numbers(column) - about.mean) / about.scale
        return type(column)(values, index=column.index)


def _frame(X: Any) -> Any:
    if hasattr(X, "to_pandas"):
        return X.to_pandas()
    if not hasattr(X, "iloc"):
        raise TypeError(
            f"TableModel: X is a {type(X).__name__}, but columns are found by their names. Remedy: "
            "pass a data frame of pandas, or what has a method to_pandas."
        )
    return X


def _column(frame: Any, name: str) -> Any:
    if name not in frame.columns:
        raise ValueError(
            f"TableModel: there is no column {name!r}. Remedy: pass the columns of the table that "
            f"the model was fitted to; here are {list(map(str, frame.columns))[:10]}."
        )
    column = frame[name]
    if column.ndim > 1:
        raise ValueError(
            f"TableModel: there are {column.shape[1]} columns {name!r}. Remedy: leave one of them."
        )
    return column


def _numbers(column: Any) -> np.ndarray:
    """Numbers, with NaN where they are missing; dates as days since 1970."""
    try:
        kind = column.dtype.kind
        if kind in "MO" and type(next(iter(column.dropna()), None)) is date:  # as Arrow's come
            days = column.astype(object).where(column.notna(), None)
            return as_numbers(days.to_numpy().astype("datetime64[us]"))
        if kind == "M":
            return as_numbers(column.to_numpy("datetime64[us]"))
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"TableModel: column {column.name!r} has the type {column.dtype}, but the model was "
            f"fitted to numbers or dates: {error}. Remedy: pass numbers."
        ) from error


def as_numbers(values: np.ndarray) -> np.ndarray:
    """Numbers as they are; times as days since 1970, NaN where one is missing."""
    if values.dtype.kind != "M":
        return values
    days = values.astype("datetime64[us]").astype(np.int64) / _MICROSECONDS_A_DAY
    return np.where(np.isnat(values), np.nan, days)


def _categories(column: Any) -> Any:
    """A column of categories that are text."""
    categories = column.astype("category")
    return categories.map(_as_text, na_action="ignore").astype("category")


def _as_text(value: Any) -> str:
    """A category as files of text have it: 7 for 7.0 and true for True."""
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)

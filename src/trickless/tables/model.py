"""A learner with a description of its table: what ``trickless fit`` saves.

The description has the names, types, scales and categories of the columns, and the target. With it
a model can predict a table as it comes from a file or a data frame.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import sklearn
from sklearn.base import is_classifier

from trickless.arrays.states import Turn, snapshot
from trickless.neurons import make_neurons
from trickless.neurons.histograms import Histograms
from trickless.tables.categories import spelled
from trickless.tables.frames import PandasColumn
from trickless.tables.times import DATES, ZONED, kind_of_time

#: Rows are sparse if at most this share of their numbers is not 0, as in scikit-learn.
_SPARSE = 0.3
#: Rows are predicted in parts of about so many numbers.
_CELLS = 2**22
#: The largest number of single precision.
_LARGEST = float(np.finfo(np.float32).max)


class TableColumn(NamedTuple):
    """A column that a model learned from.

    Attributes
    ----------
    name : str
    kind : {"number", "date", "category"}
        Truth values are numbers; dates and times are days since 1970.
    mean : float, default=0.0
    scale : float, default=1.0
        Mean and standard deviation of the known values, which standardise them.
    categories : list of str, default=[]
        The categories in training, as text, sorted; a number is written in digits.
    has_missing : bool, default=False
        Whether values were missing in training.
    median : float, default=0.0
        The median of the known values, about. Families that take tables get differences from it.
    date_format : str, default=""
        How dates are written in text, in the codes of ``datetime.strptime``; "" for 2026-01-31.
    """

    name: str
    kind: str
    mean: float = 0.0
    scale: float = 1.0
    categories: list[str] = []
    has_missing: bool = False
    median: float = 0.0
    date_format: str = ""


class TableModel:
    """A learner of the rows of a table, which takes data frames with columns by name.

    The command ``trickless fit`` makes it and :func:`trickless.load` reads it. Data frames are
    those of pandas, and objects with a method ``to_pandas``, such as tables of Arrow. They may have
    more columns than the model needs, in any order.

    Families that take tables, such as "tabular", get missing values and categories as they are, and
    numbers and dates as differences from their median. For other families, numbers and dates are
    standardised (except for histograms), a missing number becomes the mean, and a column of
    categories becomes a column of zeros and ones for each category. If values were missing in
    training, one more column says where they are missing. Rows are sparse if most of their numbers
    are zeros and the family takes sparse rows.

    Parameters
    ----------
    learner : estimator
        A learner of drawn neurons.
    columns : list of TableColumn
        The columns to learn from.
    target : str
        The column to be predicted.
    classes : array or None, default=None
        The labels, for classification: texts, whole numbers or truth values.

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

    @property
    def width(self) -> int:
        """About how many numbers the learner gets for a row."""
        neurons, least = make_neurons(self.learner.neurons), len(self.columns)
        if neurons.accepts_tables:
            return least
        width = sum(
            (len(about.categories) if about.kind == "category" else 1) + about.has_missing
            for about in self.columns
        )
        return least if neurons.accepts_sparse and least <= _SPARSE * width else width

    def fit(self, X: Any) -> TableModel:
        """Learn from all rows; the description of the columns stays as it is.

        Parameters
        ----------
        X : data frame
            With the target; rows without one are left out.

        Returns
        -------
        self
        """
        frame = _with_rows(self._with_target(X))
        self.learner.fit(self._prepared(frame, declare=True), self.targets(frame))
        return self

    def compact(self, *, error_bars: bool = True) -> TableModel:
        """A copy for prediction, with a learner that is compact.

        Parameters
        ----------
        error_bars : bool, default=True
            Whether predictions keep their standard deviations, if they have any.

        Returns
        -------
        TableModel
        """
        learner = self.learner.compact(error_bars=error_bars)
        return TableModel(learner, self.columns, self.target, self.classes)

    def partial_fit(self, X: Any) -> TableModel:
        """Learn from a batch of rows.

        Parameters
        ----------
        X : data frame
            With the target; rows without one are left out.

        Returns
        -------
        self
        """
        frame = self._with_target(X)
        if not len(frame):
            return self
        with Turn(self.learner):  # nobody makes the learner begin in the meantime
            rows = self._prepared(frame, declare=not self.learner.__sklearn_is_fitted__())
            labels = {} if self.classes is None else {"classes": self.classes}
            self.learner.partial_fit(rows, self.targets(frame), **labels)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the target, with standard deviations if wanted and if the learner has them.

        Parameters
        ----------
        X : data frame
        return_std : bool, default=False
            Whether to return standard deviations of new targets as well.

        Returns
        -------
        y : array of shape (n_rows,)
            Labels or numbers.
        std : array of shape (n_rows,), if ``return_std``
        """
        learner, frame = snapshot(self.learner), _with_rows(_frame(X))
        if not return_std:
            return self._by_parts(learner.predict, frame)

        def both(rows: Any) -> np.ndarray:
            return np.stack(learner.predict(rows, return_std=True), axis=1)

        answers = self._by_parts(both, frame)
        return answers[:, 0], answers[:, 1]

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
        return self._by_parts(snapshot(self.learner).predict_proba, _with_rows(_frame(X)))

    def score(self, X: Any) -> float:
        """Accuracy, or R² for regression, on rows with the target.

        Parameters
        ----------
        X : data frame

        Returns
        -------
        float
        """
        frame = _with_rows(self._with_target(X))
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
            return _numbers(column, "number")
        if self.classes.dtype.kind == "U":
            labels = spelled(column, self.classes.tolist()).cat
            return np.array(labels.categories, dtype=str)[labels.codes]
        values = _numbers(column, "number")
        labels = values.astype(self.classes.dtype)
        return labels if (labels == values).all() else values  # some of them are no labels

    def unknown_categories(self, X: Any) -> dict[str, int]:
        """How many values of each column are categories that training did not have.

        Parameters
        ----------
        X : data frame

        Returns
        -------
        dict
            Counts by the names of columns, without those that are 0.
        """
        frame, counts = _frame(X), {}
        for about in self.columns:
            if about.kind == "category":
                values = spelled(_column(frame, about.name), about.categories)
                known = set(about.categories)
                new = [value for value in values.cat.categories.tolist() if value not in known]
                if new and (n_new := int(values.isin(new).sum())):
                    counts[about.name] = n_new
        return counts

    def _by_parts(self, answer: Any, frame: Any) -> np.ndarray:
        """The answers for the rows of a data frame, some rows at a time."""
        most = max(1, _CELLS // self.width)
        starts = range(0, len(frame), most)
        parts = [answer(self._prepared(frame.iloc[i : i + most])) for i in starts]
        return np.concatenate(parts)

    def _with_target(self, X: Any) -> Any:
        frame = _frame(X)
        return frame[_column(frame, self.target).notna()]

    def _prepared(self, frame: Any, declare: bool = False) -> Any:
        """Rows as the learner takes them; the first batch has to declare all categories."""
        neurons = make_neurons(self.learner.neurons)
        if neurons.accepts_tables:
            return self._table(frame, declare)
        parts: list[Any] = []
        for about in self.columns:
            column = _column(frame, about.name)
            missing = column.isna().to_numpy()
            if about.kind == "category":
                parts.append(_zeros_and_ones(spelled(column, about.categories), about.categories))
            else:
                values = np.where(missing, about.mean, _numbers(column, about.kind))
                if not isinstance(neurons, Histograms):
                    values = (values - about.mean) / about.scale
                parts.append(values[:, None])
            if about.has_missing:
                parts.append(missing[:, None])
        if self.width < sum(part.shape[1] for part in parts):  # ``width`` counts sparse rows
            return scipy.sparse.hstack(list(map(scipy.sparse.coo_matrix, parts)), "csr", np.float64)
        dense = [part.toarray() if scipy.sparse.issparse(part) else part for part in parts]
        return np.concatenate(dense, axis=1, dtype=np.float64)

    def _table(self, frame: Any, declare: bool) -> Any:
        """A data frame of categories, and of numbers less their median, for single precision."""
        columns = {}
        for about in self.columns:
            column = _column(frame, about.name)
            if about.kind == "category":
                column = spelled(column, about.categories)
                columns[about.name] = (
                    column.cat.set_categories(about.categories) if declare else column
                )
            else:
                values = np.clip(_numbers(column, about.kind) - about.median, -_LARGEST, _LARGEST)
                columns[about.name] = type(column)(values, index=column.index)
        return type(frame)(columns, index=frame.index)


def _frame(X: Any) -> Any:
    if hasattr(X, "to_pandas"):
        return X.to_pandas()
    if not hasattr(X, "iloc"):
        raise TypeError(
            f"TableModel: X is a {type(X).__name__}, but columns are found by their names. Remedy: "
            "pass a data frame of pandas, or what has a method to_pandas."
        )
    return X


def _with_rows(frame: Any) -> Any:
    if not len(frame):
        raise ValueError(
            "TableModel: X has no rows, or none that has a target. Remedy: pass at least one row."
        )
    return frame


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


def _numbers(column: Any, kind: str) -> np.ndarray:
    """Numbers, with NaN where they are missing; dates as days since 1970."""
    first = next(iter(column.dropna()), None)
    time, wanted = kind_of_time(first), (DATES, ZONED) if kind == "date" else ("",)
    if first is not None and (isinstance(first, complex) or time not in wanted):
        raise ValueError(_not_of_its_kind(column, kind, f"such as {first!r}"))
    try:
        values = PandasColumn(column.name, column).numbers()
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(_not_of_its_kind(column, kind, str(error))) from error
    if np.isinf(values).any():
        row = int(np.flatnonzero(np.isinf(values))[0])
        raise ValueError(
            f"TableModel: column {column.name!r} holds {values[row]} in row {row} of those passed, "
            "but numbers have to be finite. Remedy: NaN stands for a missing value."
        )
    return values


def _not_of_its_kind(column: Any, kind: str, why: str) -> str:
    remedies = {"date": "pass dates as pandas.to_datetime makes them", "number": "pass numbers"}
    return (
        f"TableModel: column {column.name!r} has the type {column.dtype}, but the model was fitted "
        f"to {kind}s: {why}. Remedy: {remedies[kind]}."
    )


def _zeros_and_ones(column: Any, categories: list[str]) -> Any:
    """A sparse column for each category, 1 where it is."""
    codes = column.cat.set_categories(categories).cat.codes.to_numpy()
    rows = np.flatnonzero(codes >= 0)
    shape = len(codes), len(categories)
    return scipy.sparse.coo_matrix((np.ones(len(rows)), (rows, codes[rows])), shape)

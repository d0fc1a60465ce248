"""A learner with a description of its table, which ``trickless fit`` saves.

The description has the names, types, scales and categories of the columns, and the target. With it,
a model can predict a table directly from a file or a data frame.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.stated import Stated, check_count, check_is, check_list, check_same
from trickless.arrays.states import snapshot, training_lock
from trickless.docstrings import completed_by
from trickless.errors import InvalidValueError
from trickless.learners.quantiles import explained, levels_of
from trickless.learners.table_row import OneRowOfTable, by_frame
from trickless.learners.table_rows import TableRows
from trickless.learners.table_targets import known_targets, one_each, weights_of, with_target
from trickless.neurons import make_neurons
from trickless.rules import check_value, choice
from trickless.tables.frames import frame_of
from trickless.tables.spellings import Spelling, check_spelling
from trickless.tables.table_column import TableColumn, new_categories, read_codes

#: Rows are predicted in parts with about this many numbers.
_CELLS = 2**22
#: What a regressor that is compiled may answer.
_OF_NUMBERS = choice("predict", remedy="method='predict', which answers with numbers")
#: What methods take and return, where several share it.
_TARGET = """
Parameters
----------
X : data frame
    With the target, unless ``y`` is given.
y : array of shape (n_rows,), default=None
    The target. It replaces the target in X. Rows without a target are left out.
"""
_LEARNING = """
Parameters
----------
sample_weight : array of shape (n_rows,), default=None
    Weights of the rows. They replace the column ``weight`` of X.

Returns
-------
self

Raises
------
ValueError
    If a weight is missing, infinite or negative, or if the learner takes no weights.
"""


class TableModel(Stated, BaseEstimator):
    """A learner with a description of its table. It accepts data frames, and finds columns by name.

    The command ``trickless fit`` makes it and :func:`trickless.load` reads it. A data frame is from
    pandas, or is an object with a method ``to_pandas``, such as an Arrow table. It may have more
    columns than the model needs, in any order. Names are compared as text: 0 is '0'. The model
    follows the same rules as the command line, and raises an error in the same cases.

    Families that take tables, such as "tabular", get missing values and categories directly. They
    get numbers and dates as differences from their median. Other families get only numbers:

    - Numbers and dates are standardised. A missing number becomes the mean.
    - A column of categories becomes a column of zeros and ones for each category.
    - If a column had missing values in training, one more column says where they are.
    - Rows are sparse if most of their numbers are zeros and the family accepts sparse rows.

    Neurons of the family "tabular" learn categories that appear in a later ``partial_fit`` as
    themselves. Other families cannot: for trees they share one category, and as zeros and ones they
    have zeros in all columns.

    Usually ``trickless fit`` fills these in.

    Parameters
    ----------
    learner : estimator
        The learner, which must learn from drawn neurons.
    columns : list of TableColumn
        The columns to learn from.
    target : str
        The column to predict.
    classes : array or None, default=None
        The class labels, for classification: strings, integers or Booleans.
    weight : str or None, default=None
        Name of a column with the weights of the rows. It is not an input of the model.
    spelling : Spelling or None, default=None
        How text spells the numbers of the target; None for numbers such as 1234.5.

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
        weight: str | None = None,
        spelling: Spelling | None = None,
    ) -> None:
        self.learner = learner
        self.columns = columns
        self.target = target
        self.classes = classes
        self.weight = weight
        self.spelling = spelling

    def check_state(self) -> None:
        check_is("learner", self.learner, BaseEstimator)
        check_list("columns", self.columns, TableColumn)
        check_count("number of columns", len(self.columns), 1)
        for column in self.columns:
            column.check()
        names = {column.name for column in self.columns}
        check_same("different names of columns", len(names), len(self.columns))
        check_is("target", self.target, str)
        check_is("weight", self.weight, str | None)
        if self.spelling is not None:
            check_spelling("spelling", self.spelling)
        if self.classes is not None:
            check_is("classes", self.classes, np.ndarray)
            check_same("dimensions of classes", self.classes.ndim, 1)
            if self.classes.dtype.kind not in "Uiufb":
                raise ValueError(f"classes: the type is {self.classes.dtype}")

    def __repr__(self) -> str:
        return f"TableModel({self.learner!r}, {len(self.columns)} columns, target={self.target!r})"

    @property
    def task(self) -> str:
        """The task of the learner: "classification" or "regression"."""
        return "classification" if is_classifier(self.learner) else "regression"

    @property
    def quantiles(self) -> list[float] | None:
        """The quantiles that are predicted, or None if the learner has another loss."""
        return levels_of(self.learner)

    @property
    def width(self) -> int:
        """The approximate number of values that the learner gets for a row."""
        return self._rows.width

    @property
    def _rows(self) -> TableRows:
        return TableRows(self.columns, make_neurons(self.learner.neurons))

    @property
    def classes_(self) -> np.ndarray:
        """The class labels, in the order of the columns of :meth:`predict_proba`."""
        return self.learner.classes_

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The names of the columns that the model learned from, shape (n_columns,)."""
        check_is_fitted(self)
        return np.array([column.name for column in self.columns], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags, of_learner = super().__sklearn_tags__(), get_tags(self.learner)
        tags.estimator_type = of_learner.estimator_type
        tags.classifier_tags = of_learner.classifier_tags
        tags.regressor_tags = of_learner.regressor_tags
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return bool(self.learner.__sklearn_is_fitted__())

    @completed_by(_TARGET, _LEARNING)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TableModel:
        """Fit the learner to all rows. The description of the columns stays unchanged."""
        frame, targets, there = self._with_target(X, y)
        options = weights_of(self, self.learner.fit, frame, there, sample_weight)
        rows = self._rows.of_frame(_with_rows(frame[there]), declare=True)
        self.learner.fit(rows, targets, **options)
        return self

    def compact(self, *, error_bars: bool = True) -> TableModel:
        """Return a copy for prediction, with a compact learner.

        Parameters
        ----------
        error_bars : bool, default=True
            Whether to keep standard deviations and intervals, if the learner has them.

        Returns
        -------
        TableModel
        """
        new = copy(self)
        new.learner = self.learner.compact(error_bars=error_bars)
        return new

    @completed_by(_TARGET, _LEARNING)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TableModel:
        """Learn from a batch of rows."""
        frame, targets, there = self._with_target(X, y)
        options = weights_of(self, self.learner.partial_fit, frame, there, sample_weight)
        if self.classes is not None:
            options["classes"] = self.classes
        if there.any():
            with training_lock(self.learner):  # no other thread starts the learner in the meantime
                is_first = not self.learner.__sklearn_is_fitted__()
                rows = self._rows.of_frame(frame[there], declare=is_first)
                self.learner.partial_fit(rows, targets, **options)
        return self

    def predict(self, X: Any, return_std: bool = False, return_standard_error: bool = False) -> Any:
        """Predict the target.

        Parameters
        ----------
        X : data frame
            The rows to predict.
        return_std : bool, default=False
            Whether to return standard deviations as well, where the learner has them.
        return_standard_error : bool, default=False
            Whether to return standard errors as well, where the learner has them.

        Returns
        -------
        array of shape (n_rows,), or a tuple of it and another
            Labels or numbers. With an option, their deviations or errors as well.
        """
        asked = {"return_std": return_std, "return_standard_error": return_standard_error}
        options = {name: True for name, wanted in asked.items() if wanted}
        known = inspect.signature(self.learner.predict).parameters
        for name in options:
            if name not in known:
                raise InvalidValueError(
                    f"TableModel: {name}=True, but a {type(self.learner).__name__} does not have "
                    "it",
                    "KitchenSinksRegressor has return_std, and "
                    "ShrinkingGradientRegressor has return_standard_error",
                )
        predict = partial(snapshot(self.learner).predict, **options)
        return self._by_parts(predict, X)

    def compiled(self, method: str = "predict") -> OneRowOfTable | Callable[[dict[str, Any]], Any]:
        """Return the fitted model as a function of one row, which answers in microseconds.

        It keeps the present state of the model. Several threads may call it, and pickle copies it.
        Known categories and plain numbers are read at once. Dates, new categories and text that
        spells numbers are read from a data frame of one row, as ``predict`` reads them, and so are
        all rows if the learner gets sparse rows. That takes about as long as ``predict``.

        Parameters
        ----------
        method : {"predict", "predict_proba", "decision_function"}, default="predict"
            What the function answers. A regressor has only "predict".

        Returns
        -------
        callable
            A function of a row: a dictionary of values by the names of the columns.
        """
        check_is_fitted(self)
        learner, options = snapshot(self.learner), {"method": method}
        if not is_classifier(learner):
            check_value("TableModel", "method", method, _OF_NUMBERS)
            options = {}
        one_row = learner.compiled(**options)
        if not make_neurons(learner.neurons).accepts_tables and self._rows.is_sparse:
            model = copy(self)
            model.learner = learner
            return partial(by_frame, partial(model._by_parts, getattr(learner, method)))
        return OneRowOfTable(self, one_row)

    @available_if(lambda model: hasattr(model.learner, "predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probabilities of the classes, where the learner has them.

        Parameters
        ----------
        X : data frame
            The rows to predict.

        Returns
        -------
        array of shape (n_rows, n_classes)
            Columns are in the order of ``classes_``.
        """
        return self._by_parts(snapshot(self.learner).predict_proba, X)

    @available_if(lambda model: hasattr(model.learner, "predict_interval"))
    def predict_interval(
        self, X: Any, confidence: float = 0.9, method: str = "auto", *, weighted: bool = False
    ) -> np.ndarray:
        """Predict intervals that hold new targets with a probability of ``confidence``.

        Parameters
        ----------
        X : data frame
            The rows to predict.
        confidence : float, default=0.9
            The probability that a target is in its interval.
        method : str, default="auto"
            A method of the learner's ``predict_interval``.
        weighted : bool, default=False
            Whether rows count by their weights, rather than once.

        Returns
        -------
        array of shape (n_rows, 2)
            Lower and upper ends.
        """
        interval = partial(snapshot(self.learner).predict_interval, weighted=weighted)
        return self._by_parts(lambda rows: interval(rows, confidence, method), X)

    @available_if(lambda model: hasattr(model.learner, "predict_set"))
    def predict_set(self, X: Any, confidence: float = 0.9, *, weighted: bool = False) -> np.ndarray:
        """Predict sets of classes that hold the true class with a probability of ``confidence``.

        Parameters
        ----------
        X : data frame
            The rows to predict.
        confidence : float, default=0.9
            The probability that the true class is in its set.
        weighted : bool, default=False
            Whether rows count by their weights, rather than once.

        Returns
        -------
        bool array of shape (n_rows, n_classes)
            Columns are in the order of ``classes_``.
        """
        classes = partial(snapshot(self.learner).predict_set, weighted=weighted)
        return self._by_parts(lambda rows: classes(rows, confidence), X)

    @completed_by(_TARGET)
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy, or the learner's R² or D² for regression, on rows with a target.

        Parameters
        ----------
        sample_weight : array of shape (n_rows,), default=None
            Weights of the rows.

        Returns
        -------
        float
        """
        frame, targets, there = self._with_target(X, y)
        weight = None if sample_weight is None else one_each(sample_weight, there)
        predicted = self.predict(frame[there])
        if is_classifier(self.learner):
            return float(np.average(targets == predicted, weights=weight))
        return explained(self.learner, targets, predicted, weight)

    def targets(self, X: Any) -> np.ndarray:
        """Return the target of the rows that have one, as labels or numbers.

        Parameters
        ----------
        X : data frame
            The rows, with the target.

        Returns
        -------
        array of shape (n_rows,)
        """
        return known_targets(self, self._frame(X))[0]

    def unknown_categories(self, X: Any) -> dict[str, dict[str, int]]:
        """Count the values that are new categories, which the model has not learned.

        Parameters
        ----------
        X : data frame
            The rows to look at.

        Returns
        -------
        dict
            Counts by column name and category. Columns without new categories are left out.
        """
        frame, unknown = self._frame(X), {}
        encoder = getattr(getattr(self.learner, "rows_", None), "encoder", None)
        for j, about in enumerate(self.columns):
            if about.kind == "category":
                _, counts = read_codes(about, frame)
                later = {} if encoder is None else encoder.known(j)
                if new := [text for text in new_categories(about, counts) if text not in later]:
                    unknown[about.name] = {text: counts[text] for text in new}
        return unknown

    def _frame(self, X: Any) -> Any:
        """Return rows as a pandas data frame, whose names are spelled like those of the model."""
        others = (self.target,) if self.weight is None else (self.target, self.weight)
        return frame_of(X, [*(about.name for about in self.columns), *others])

    def _by_parts(self, answer: Callable[[Any], Any], X: Any) -> Any:
        frame = _with_rows(self._frame(X))
        most = max(1, _CELLS // self.width)
        starts = range(0, len(frame), most)
        parts = [answer(self._rows.of_frame(frame.iloc[i : i + most])) for i in starts]
        if isinstance(parts[0], tuple):
            return tuple(map(np.concatenate, zip(*parts, strict=True)))
        return np.concatenate(parts)

    def _with_target(self, X: Any, y: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        """Return the rows with y among their columns, the known targets, and where they are."""
        try:
            self.check_state()
        except ValueError as error:  # of a part that a caller has made
            raise InvalidValueError(
                f"TableModel: {error}",
                "columns=[TableColumn('age', 'number')], with categories as a list of text, and "
                "classes=numpy.array(['no', 'yes'])",
            ) from error
        return with_target(self, self._frame(X), y)

    def prepared(self, X: Any) -> Any:
        """Return rows as the learner takes them, to predict them."""
        return self._rows.of_frame(_with_rows(self._frame(X)))

    def prepared_row(self, cells: list[Any]) -> Any:
        """Return one row as the learner takes it, from the cells of its columns."""
        return self._rows.of_cells(cells)


def _with_rows(frame: Any) -> Any:
    if not len(frame):
        raise InvalidValueError(
            "TableModel: X has no rows, or no row with a target", "pass at least one row"
        )
    return frame

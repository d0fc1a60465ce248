"""Rows: converting X, as the user passes it, to a validated matrix in the learner's precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array as check_numbers
from sklearn.utils.validation import check_X_y, validate_data

from trickless.arrays.missing import is_masked, missing, unmasked
from trickless.arrays.places import HOST, Place, dispatches, place_of, to_host
from trickless.arrays.stated import Stated, check_array, check_is, check_same
from trickless.errors import InvalidTypeError, InvalidValueError
from trickless.intake.device_checks import check_double, check_place, check_readable, check_together
from trickless.intake.given import as_targets, of_arrays
from trickless.intake.kinds import Matrix
from trickless.intake.matrices import are_floats, canonical_rows, that_count
from trickless.intake.resolution import merged, warn_of_resolution, warn_of_rounded_integers
from trickless.intake.weights import check_weights
from trickless.neurons import Inputs
from trickless.neurons.checks import check_shape, shape_of
from trickless.neurons.unequal import is_unequal
from trickless.rows.categories import NewCategories, warn_of_missing
from trickless.rows.columns import Columns
from trickless.rows.frames import (
    check_names,
    is_frame,
    is_numbered,
    names_of,
    picked,
    with_names_as_text,
)
from trickless.rows.refusals import why_no_frame
from trickless.rows.values import NUMBERS, TIMES, as_numbers, holds_times
from trickless.rules import with_remedies

_FLOATS = (np.float64, np.float32)
#: The most values of rows whose numbers are checked here and not by scikit-learn.
_FEW_VALUES = 4096

#: Rows, targets and weights of a batch.
Batch = tuple[Any, np.ndarray, np.ndarray | None]


class Rows(Stated):
    """Validates the rows of a learner: the first batch decides what later batches must be like.

    Attributes
    ----------
    columns : Columns or None
        What the columns hold, if the learner accepts tables and the first batch was a data frame.
    place : Place or None
        Place of the first batch. None for a model from a file, which accepts any.
    resolved : bool
        Whether the first batch keeps its digits in the learner's precision. If not, there was a
        warning.
    labels_beside_rows : bool
        Whether y was an array of another library, so that predicted labels are, too.
    had_gaps : array of shape (n_features,) or None
        Columns of a table that had missing values in training; None for other rows.
    new_categories : NewCategories or None
        How often later rows have new categories; None without a column of categories.
    """

    had_gaps: np.ndarray | None = None
    new_categories: NewCategories | None = None

    def __init__(self, owner: str, dtype: Any, kind: Matrix, numeric: bool) -> None:
        self.owner = owner
        self.numeric = numeric
        self.dtype = np.dtype(dtype)
        self.kind = kind
        self.columns: Columns | None = None
        self.place: Place | None = None
        self.labels_beside_rows = False
        self.resolved = True

    def check_state(self) -> None:
        check_is("owner", self.owner, str)
        check_is("kind", self.kind, Matrix)
        check_is("columns", self.columns, Columns | None)
        for name in ("numeric", "labels_beside_rows", "resolved"):
            check_is(name, getattr(self, name), bool | np.bool_)
        check_is("place", self.place, Place | None)
        if self.had_gaps is not None:
            check_array("had_gaps", self.had_gaps, "b1", (None,))
        check_is("new_categories", self.new_categories, NewCategories | None)
        if self.new_categories is not None and self.columns is not None:
            n_columns = len(self.columns.kinds)
            check_same("columns of new_categories", len(self.new_categories.usual), n_columns)
        check_is("dtype", self.dtype, np.dtype)
        check_same("dtype", self.dtype.kind, "f")

    def first(self, learner: Any, X: Any, y: Any, sample_weight: Any) -> Batch:
        """Return the rows, targets and weights of the first batch, without rows of weight 0.

        A learner without targets has y = None. Sets ``n_features_in_`` and ``feature_names_in_`` of
        the learner.
        """
        place = place_of(X)
        check_together(self.owner, place, y=y, sample_weight=sample_weight)
        self.labels_beside_rows = dispatches() and place_of(y) is not HOST
        self.kind.layout, X = self.kind.layout.learned(self.owner, X)
        if self.kind.tables and is_frame(X):
            X, y, sample_weight = self._rows_that_count(X, y, sample_weight)
        X, y = self._validated(learner, X, to_host(y), place, reset=True)
        self.place = place = place if dispatches() else HOST
        self.kind.check(self.owner, X)
        weight = check_weights(self.owner, to_host(sample_weight), X.shape[0])
        X, y, weight = that_count(self.kind.points(self.owner, X, True), y, weight)
        names = getattr(learner, "feature_names_in_", None)
        X = self._in_precision(X, place, first=True, names=names)
        self._see_gaps(learner, X, place)
        if self.columns is not None and (codes := self.columns.n_categories).any():
            self.new_categories = NewCategories.of_first(X, codes)
        return X, y, weight

    def fork(self) -> Rows:
        """Return rows that continue from these on the same device, and leave these unchanged."""
        other = object.__new__(type(self))
        other.__dict__.update(vars(self))
        return other

    def before(self, X: Any, sample_weight: Any) -> tuple[Rows, Rows]:
        """Return this as it was when rows were learned, and as it is once they are forgotten."""
        both = self.fork(), self.fork()
        if self.columns is not None and self.kind.any_code:
            found = self.columns.before(self.owner, self._that_count(X, sample_weight, True))
            both[0].columns, both[1].columns = found
        return both

    def _that_count(self, X: Any, sample_weight: Any, may_be_empty: bool) -> Any:
        """Return later rows before they are read, without those of weight 0."""
        rows = _unmasked(X)
        if sample_weight is None or not hasattr(rows, "shape"):
            return rows
        weight = check_weights(self.owner, to_host(sample_weight), rows.shape[0], may_be_empty)
        return rows if weight is None else picked(rows, np.flatnonzero(weight))

    def merged(self, other: Rows) -> Rows:
        """Return this with the later categories of a model that is merged."""
        if self.columns is None or other.columns is None:
            return self
        both = self.fork()
        both.columns = self.columns.merged(other.columns)
        if both.columns is None:
            raise InvalidValueError(
                f"{self.owner}: categories that appeared later in other have codes of other "
                "categories here, which happens by chance if there are hundreds",
                "one model for the whole stream; or columns of dtype category, with the same "
                "categories, in both parts",
            )
        return both

    def later(
        self,
        learner: Any,
        X: Any,
        y: Any,
        sample_weight: Any,
        may_be_empty: bool,
        learned: bool = False,
    ) -> Batch:
        """Return the same for a later batch. If it may be empty, all weights may be 0.

        If it is ``learned``, new categories get codes of their own, where the neurons take them.
        """
        if learned and self.columns is not None and self.kind.any_code:
            rows = self._that_count(X, sample_weight, may_be_empty)
            self.columns = self.columns.after(self.owner, rows)
        place = place_of(X)
        check_together(self.owner, place, y=y, sample_weight=sample_weight)
        X = self.kind.layout.flat(self.owner, X)
        X, y = self._validated(learner, X, to_host(y), place, reset=False)
        place = self._checked_place(X, place)
        self.kind.check_later(self.owner)
        weight = check_weights(self.owner, to_host(sample_weight), X.shape[0], may_be_empty)
        X, y, weight = that_count(X, y, weight)
        if len(y):
            X = self._in_precision(X, place)
            self._see_gaps(learner, X, place)
            if self.new_categories is not None:
                inputs = self.inputs(learner, X.shape[1])
                found = self.new_categories
                found = found.after(self.owner, X, inputs.n_categories, inputs.names)
                self.new_categories = found
        return X, y, weight

    def to_predict(self, learner: Any, X: Any) -> Any:
        """Return rows for prediction, validated and in the learner's precision."""
        place = place_of(X)
        rows = self.kind.layout.flat(self.owner, X, longer=True)
        if rows is X or rows.shape[1] == learner.n_features_in_:
            X = self._validated(learner, rows, "no_validation", place, reset=False)
        else:  # series that are longer than those of the fit
            with with_remedies(self.owner), np.errstate(invalid="ignore"):
                X = check_numbers(self._as_numbers(rows), **self._options(place))
        place = self._checked_place(X, place)
        X = self._in_precision(self.kind.points(self.owner, X, False), place)
        if self.had_gaps is not None:
            inputs = self.inputs(learner, X.shape[1])
            counts = np.where(self.had_gaps, 0, _missing_by_column(X, inputs, place))
            for j in np.flatnonzero(counts).tolist():
                name = inputs.names[j] if inputs.names else j
                warn_of_missing(self.owner, name, int(counts[j]), X.shape[0])
        return X

    def _rows_that_count(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Leave out rows of weight 0 before the columns of a data frame are described."""
        weight = check_weights(self.owner, to_host(sample_weight), X.shape[0])
        if weight is None or weight.all():
            return X, y, sample_weight
        y = None if y is None else as_targets(self.owner, to_host(y), self.numeric)
        if y is not None and len(y) != len(weight):  # an error is raised later
            return X, y, weight
        kept = np.flatnonzero(weight)
        return picked(X, kept), None if y is None else y[kept], weight[kept]

    def _see_gaps(self, learner: Any, X: Any, place: Place) -> None:
        """Keep in mind which columns of training rows have missing values."""
        if self.kind.tables and not self.kind.skips_missing and not scipy.sparse.issparse(X):
            found = _missing_by_column(X, self.inputs(learner, X.shape[1]), place) > 0
            self.had_gaps = found if self.had_gaps is None else self.had_gaps | found

    def inputs(self, learner: Any, n_features: int) -> Inputs:
        """Names and numbers of categories of the columns, for families of neurons."""
        names = getattr(learner, "feature_names_in_", None)
        names = None if names is None else tuple(names.tolist())
        no_codes = np.zeros(n_features, dtype=int)
        codes = no_codes if self.columns is None else self.columns.n_categories
        return Inputs(codes, names, self.kind.layout.shape)

    def _checked_place(self, X: Any, place: Place) -> Place:
        """Return the place of later rows, after checks of the place and the kind of the rows."""
        self.kind.check(self.owner, X)
        place = place if dispatches() else HOST
        check_place(self.owner, place, self.place)
        return place

    def _validated(self, learner: Any, X: Any, y: Any, place: Place, reset: bool) -> Any:
        """Return rows, and targets if there are any, as arrays of finite numbers."""
        has_targets = not (isinstance(y, str) and y == "no_validation")
        if not reset and self._is_simple(learner, X):
            if not has_targets:
                return X
            if self._are_simple(y, len(X)):
                return X, y
        given, frame = X, is_frame(X)
        self._check_shape(X, None if reset or frame else learner.n_features_in_)
        if scipy.sparse.issparse(X):
            X = canonical_rows(self.owner, X)
        X, named = self._named(learner, X, reset) if frame else (X, X)
        with with_remedies(self.owner):
            validate_data(learner, named, reset=reset, skip_check_array=True)
        X = self._read(X, frame, reset)
        if not has_targets and _are_few_numbers(X, self.kind.tables):
            return X
        if (has_targets or reset) and not are_floats(X):
            warn_of_rounded_integers(self.owner, "X", X)
        if has_targets:
            y = as_targets(self.owner, y, self.numeric)
            if self.numeric:
                warn_of_rounded_integers(self.owner, "y", y)
        X = self._as_numbers(X)
        if place is not HOST:
            check_readable(self.owner, X, place, self.kind.devices)
        options = self._options(place) | {"estimator": learner}
        try:
            # NumPy warns of sums that detect values that are not finite.
            with with_remedies(self.owner), np.errstate(invalid="ignore"):
                if not has_targets or (y is None and not _needs_targets(learner)):
                    X = check_numbers(X, input_name="X", **options)
                    return (X, None) if has_targets else X
                several = self.numeric or self._has_sets(learner, y)
                return check_X_y(X, y, multi_output=several, y_numeric=self.numeric, **options)
        except (TypeError, ValueError):
            self._refuse(given)
            raise

    def _read(self, X: Any, frame: bool, reset: bool) -> Any:
        """Return a data frame as numbers; others unchanged, or as rows of an earlier frame."""
        if reset:
            self.columns = None
        if not frame:
            return X if self.columns is None else self.columns.read(self.owner, _unmasked(X))
        columns = Columns(self.owner, X) if self.columns is None else self.columns
        if reset and self.kind.tables:
            columns.warn_of_names(self.owner, X)
        elif self.columns is None:
            taken = (NUMBERS,) if self.kind.tables else (NUMBERS, *TIMES)
            if not set(columns.kinds) <= set(taken):
                self._refuse(X)
        if reset:
            self.columns = columns
        return columns.read(self.owner, X)

    def _refuse(self, X: Any) -> None:
        """Raise an error that names what is wrong with rows, if that is known."""
        if (why := self.kind.why_refused(X)) is not None:
            raise InvalidValueError(f"{self.owner}: {why[0]}", why[1])

    def _options(self, place: Place) -> dict[str, Any]:
        """Return the options of scikit-learn's checks of rows."""
        dtypes: tuple[Any, ...] = _FLOATS
        if place is not HOST and dispatches():
            dtypes = (place.xp.float32,)
            dtypes = (place.xp.float64, *dtypes) if place.has_double else dtypes
        finite = "allow-nan" if self.kind.tables else True
        return {"accept_sparse": "csr", "dtype": dtypes, "ensure_all_finite": finite}

    def _is_simple(self, learner: Any, X: Any) -> bool:
        """Return whether rows to predict are few finite numbers that need no more checks.

        Scikit-learn's checks take longer than the prediction of one row.
        """
        return (
            _are_few_numbers(X, False)
            and X.shape[1] == learner.n_features_in_
            and self.columns is None
            and not hasattr(learner, "feature_names_in_")
        )

    def _check_shape(self, X: Any, n_features: int | None) -> None:
        """Check the dimensions of rows, and the number of columns, if it is known."""
        if is_unequal(X):
            raise InvalidValueError(
                f"{self.owner}: the rows of X have unequal shapes, but a table needs rows of one "
                "length",
                "neurons=Convolutions(), in a learner of neurons, if they are time series; or rows "
                "of one length, which may be filled with NaN for neurons='tabular'",
            )
        if isinstance(X, list | tuple) and any(map(scipy.sparse.issparse, X)):
            raise InvalidTypeError(
                f"{self.owner}: X is a list of sparse matrices, which cannot be read directly",
                "[row.toarray() for row in X]"
                if self.kind.layout.reads_arrays
                else "scipy.sparse.vstack([row.reshape(1, -1) for row in X])",
            )
        shape = shape_of(X) if isinstance(X, list | tuple) else getattr(X, "shape", None)
        if (why := why_no_frame(X)) is not None:
            raise InvalidValueError(f"{self.owner}: {why[0]}", why[1])
        if not isinstance(shape, tuple):
            return
        check_shape(self.owner, "X", shape)
        if n_features is not None and shape[1] != n_features:
            raise InvalidValueError(
                f"{self.owner}: X has {shape[1]} features, but {self.owner} is expecting "
                f"{n_features} features as input",
                self.kind.layout.remedy(X),
            )

    def _as_numbers(self, X: Any) -> Any:
        """Return an array without a mask, with times as days; objects that are missing become NaN.

        Families that take no missing values refuse them. Other rows are unchanged.
        """
        X = of_arrays(X) if isinstance(X, list | tuple) else X
        if not isinstance(X, np.ndarray) or are_floats(X):
            return X
        objects = X.dtype.kind == "O"
        has_gaps = is_masked(X) or (objects and bool(missing(X).any()))
        doubtful = (has_gaps and not self.kind.tables) or (objects and holds_times(X))
        if doubtful:
            self._refuse(X)
        X = as_numbers(unmasked(X))
        return np.where(missing(X), np.nan, X) if objects and has_gaps else X

    def _has_sets(self, learner: Any, y: Any) -> bool:
        """Return whether y has several labels a row, and refuse it if the learner takes one."""
        try:
            shape = () if self.numeric else np.asarray(y).shape
        except ValueError:  # of lists of several lengths
            return False
        if len(shape) != 2 or shape[1] < 2:
            return False
        if not learner._takes_sets:
            raise InvalidValueError(
                f"{self.owner}: y has the shape {shape}, but one label for each row is needed",
                "y of shape (n_rows,); for several labels a row, "
                "KitchenSinksClassifier(loss='squared_error'), or "
                "sklearn.multioutput.MultiOutputClassifier",
            )
        return True

    def _are_simple(self, y: Any, n_rows: int) -> bool:
        """Return whether targets of few rows are an array that needs no more checks."""
        if type(y) is not np.ndarray or y.shape != (n_rows,):
            return False
        if self.numeric:
            return y.dtype in _FLOATS and bool(np.isfinite(y).all())
        return y.dtype.kind in "biuU"

    def _named(self, learner: Any, X: Any, reset: bool) -> tuple[Any, Any]:
        """Return a data frame with text as names, and what has the names to check.

        Numbers from 0 on are positions as in arrays, unless the first batch had them as text.
        """
        known: Any = getattr(learner, "feature_names_in_", None)
        are_places = is_numbered(X)
        are_text = all(isinstance(name, str) for name in names_of(X))
        X = with_names_as_text(X, () if reset or known is None else known)
        names = names_of(X)
        check_names(self.owner, names)
        if reset or known is not None:
            had_them = not reset and names == known.tolist()
            are_places = are_places and not are_text and not had_them
        elif not are_places and sorted(names) == sorted(map(str, range(len(names)))):
            raise InvalidValueError(
                f"{self.owner}: X has the columns {names[:10]}, but the feature names should match "
                "those that were passed during fit, which are numbers in order",
                "X[sorted(X.columns, key=int)], or X.to_numpy() to use their positions",
            )
        return X, np.empty((0, len(names))) if are_places else X

    def _in_precision(self, X: Any, place: Place, first: bool = False, names: Any = None) -> Any:
        """Rows in the learner's precision; warns if the first batch loses too much by it."""
        check_double(self.owner, place, self.dtype)
        if self.columns is not None:
            if first and self.kind.tables:
                self.columns.settle(X, merged(X, self.dtype))
            X = self.columns.relative(X)
        with np.errstate(over="ignore"):
            converted = place.astype(X, self.dtype)
        values = converted.data if scipy.sparse.issparse(converted) else converted
        if converted is not X and bool(place.xp.any(place.xp.isinf(values))):
            raise InvalidValueError(
                f"{self.owner}: X contains a value too large for dtype={self.dtype.name!r}, whose "
                f"largest is {np.finfo(self.dtype).max:.1e}",
                "scale X (StandardScaler), or dtype='float64'",
            )
        if first:
            kind = self.kind
            poor = warn_of_resolution(self.owner, X, self.dtype, kind.apart, kind.by_order, names)
            self.resolved = not poor
        return converted

    def __getstate__(self) -> dict[str, Any]:
        """Copies and files forget the device, so that later rows may be on any device."""
        return self.__dict__ | {"place": None}


def _are_few_numbers(X: Any, or_missing: bool) -> bool:
    """Return whether rows are few finite numbers, or missing ones, that need no more checks."""
    if type(X) is not np.ndarray or X.dtype not in _FLOATS or X.ndim != 2:
        return False
    if not 0 < X.size <= _FEW_VALUES:
        return False
    return not np.isinf(X).any() if or_missing else bool(np.isfinite(X).all())


def _needs_targets(learner: Any) -> bool:
    return bool(learner.__sklearn_tags__().target_tags.required)


def _unmasked(X: Any) -> Any:
    return unmasked(of_arrays(X))


def _missing_by_column(X: Any, inputs: Inputs, place: Place) -> np.ndarray:
    code = place.put(np.where(inputs.n_categories > 0, inputs.n_categories - 2.0, np.nan))
    return to_host(place.xp.count_nonzero(place.xp.isnan(X) | (code == X), axis=0))

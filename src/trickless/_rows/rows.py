"""Rows: converting X, as the user passes it, to a validated matrix in the learner's precision."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array as check_numbers
from sklearn.utils.validation import validate_data

from trickless._arrays.missing import is_masked, missing, unmasked
from trickless._arrays.places import HOST, Place, dispatches, place_of, to_host
from trickless._arrays.sparse import canonical
from trickless._arrays.stated import Array, Floating, Stated, check_same
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._rows.categories import NewCategories, warn_of_missing
from trickless._rows.columns import Columns
from trickless._rows.devices import check_double, check_place, check_readable, check_together
from trickless._rows.frames import (
    are_single,
    check_names,
    is_frame,
    is_numbered,
    names_of,
    picked,
    with_names_as_text,
)
from trickless._rows.given import as_targets, of_arrays, targets_of
from trickless._rows.kinds import Kind
from trickless._rows.refusals import why_no_frame
from trickless._rows.resolution import merged, warn_of_resolution, warn_of_rounded_integers
from trickless._rows.values import NUMBERS, TIMES, as_numbers, holds_times
from trickless._rows.weights import check_weights, that_count
from trickless._rules import DOUBLE, with_remedies
from trickless.neurons.checks import check_shape, shape_of
from trickless.neurons.inputs import Inputs
from trickless.neurons.unequal import is_of_objects, is_unequal

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

    owner: str
    numeric: bool
    dtype: Floating
    kind: Kind
    columns: Columns | None
    place: Place | None
    labels_beside_rows: bool
    resolved: bool
    had_gaps: Annotated[np.ndarray, Array("b1", None)] | None = None
    new_categories: NewCategories | None = None

    def __init__(self, owner: str, dtype: Any, kind: Kind, numeric: bool) -> None:
        self.owner = owner
        self.numeric = numeric
        self.dtype = np.dtype(dtype)
        self.kind = kind
        self.columns = None
        self.place = None
        self.labels_beside_rows = False
        self.resolved = True

    def check_state(self) -> None:
        if self.new_categories is not None and self.columns is not None:
            n_columns = len(self.columns.kinds)
            check_same("columns of new_categories", len(self.new_categories.usual), n_columns)

    def first(self, learner: Any, X: Any, y: Any, sample_weight: Any) -> Batch:
        """Return the rows, targets and weights of the first batch, without rows of weight 0.

        A learner without targets has y = None. Sets ``n_features_in_`` and ``feature_names_in_`` of
        the learner.
        """
        self.labels_beside_rows = dispatches() and place_of(y) is not HOST
        self.kind.layout, rows = self.kind.layout.learned(self.owner, X)
        if self.kind.tables and is_frame(rows):  # before its columns are described
            weight = check_weights(self.owner, to_host(sample_weight), rows.shape[0])
            y = None if y is None else as_targets(self.owner, to_host(y), self.numeric)
            if y is None or len(y) == rows.shape[0]:  # else an error is raised later
                rows, y, sample_weight = that_count(rows, y, weight)
        return self._received(learner, X, rows, y, sample_weight, reset=True)

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
        rows = self.kind.layout.flat(self.owner, X)
        return self._received(learner, X, rows, y, sample_weight, False, may_be_empty)

    def _received(
        self,
        learner: Any,
        X: Any,
        rows: Any,
        y: Any,
        sample_weight: Any,
        reset: bool,
        may_be_empty: bool = False,
    ) -> Batch:
        """Return a batch, of which rows are flat, and take note of what they hold."""
        place = place_of(X)
        check_together(self.owner, place, y=y, sample_weight=sample_weight)
        y = to_host(y)
        X = self._validated(learner, rows, place, reset, y)
        y = targets_of(self.owner, learner, X, y, self.numeric)
        if reset:
            self.place = place if dispatches() else HOST
        place = self._checked_place(X, place)
        weight = check_weights(self.owner, to_host(sample_weight), X.shape[0], may_be_empty)
        X, y, weight = that_count(X, y, weight)
        if X.shape[0]:
            X = self._in_precision(X, place, reset, getattr(learner, "feature_names_in_", None))
            self._see(learner, X, place, reset)
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

    def to_predict(self, learner: Any, X: Any) -> Any:
        """Return rows for prediction, validated and in the learner's precision."""
        place = place_of(X)
        rows = self.kind.layout.flat(self.owner, X, longer=True)
        if rows is X or rows.shape[1] == learner.n_features_in_:
            X = self._validated(learner, rows, place, reset=False)
        else:  # series that are longer than those of the fit
            X = self._checked(self._as_numbers(rows), place)
        place = self._checked_place(X, place)
        X = self._in_precision(X, place)
        if self.had_gaps is not None:
            inputs = self.inputs(learner, X.shape[1])
            counts = np.where(self.had_gaps, 0, _missing_by_column(X, inputs, place))
            for j in np.flatnonzero(counts).tolist():
                name = inputs.names[j] if inputs.names else j
                warn_of_missing(self.owner, name, int(counts[j]), X.shape[0])
        return X

    def _see(self, learner: Any, X: Any, place: Place, reset: bool) -> None:
        """Keep in mind which columns of training rows have missing values and new categories."""
        inputs = self.inputs(learner, X.shape[1])
        if self.kind.tables and not self.kind.skips_missing and not scipy.sparse.issparse(X):
            found = _missing_by_column(X, inputs, place) > 0
            self.had_gaps = found if self.had_gaps is None else self.had_gaps | found
        codes, new = inputs.n_categories, self.new_categories
        if reset and codes.any():
            self.new_categories = NewCategories.of_first(X, codes)
        elif new is not None:
            self.new_categories = new.after(self.owner, X, codes, inputs.names)

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

    def _validated(
        self, learner: Any, X: Any, place: Place, reset: bool, y: Any = "no_validation"
    ) -> Any:
        """Return rows as finite numbers; y is passed if they are learned."""
        if not reset and self._is_simple(learner, X):
            return X
        given, frame = X, is_frame(X)
        self._check_shape(X, None if reset or frame else learner.n_features_in_)
        if scipy.sparse.issparse(X):
            X = canonical_rows(self.owner, X)
        X, named = self._named(learner, X, reset) if frame else (X, X)
        with with_remedies(self.owner):
            validate_data(learner, named, y, reset=reset, skip_check_array=True)
        X = self._read(X, frame, reset)
        if _are_few_numbers(X, self.kind.tables):
            return X
        if not isinstance(y, str) and not are_floats(X):
            warn_of_rounded_integers(self.owner, "X", X)
        X = self._as_numbers(X)
        if place is not HOST:
            check_readable(self.owner, X, place, self.kind.devices)
        try:
            return self._checked(X, place, learner)
        except (TypeError, ValueError):
            self._refuse(given)
            raise

    def _checked(self, X: Any, place: Place, learner: Any = None) -> Any:
        """Return rows as scikit-learn checks and converts numbers."""
        dtypes: tuple[Any, ...] = _FLOATS
        if place is not HOST and dispatches():
            dtypes = (place.xp.float32,)
            dtypes = (place.xp.float64, *dtypes) if place.has_double else dtypes
        # NumPy warns of sums that detect values that are not finite.
        with with_remedies(self.owner), np.errstate(invalid="ignore"):
            return check_numbers(
                X,
                accept_sparse="csr",
                dtype=dtypes,
                ensure_all_finite="allow-nan" if self.kind.tables else True,
                estimator=learner,
                input_name="X",
            )

    def _read(self, X: Any, frame: bool, reset: bool) -> Any:
        """Return a data frame as numbers; others unchanged, or as rows of an earlier frame."""
        if reset:
            self.columns = None
        if not frame:
            return X if self.columns is None else self.columns.read(self.owner, _unmasked(X))
        columns = Columns(self.owner, X) if self.columns is None else self.columns
        if reset and self.kind.tables:
            columns.warn_of_text(self.owner, X)
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
                f"scale X (StandardScaler); or {DOUBLE}",
            )
        if first:
            kind = self.kind
            poor = warn_of_resolution(self.owner, X, self.dtype, kind.tables, kind.by_order, names)
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


def _unmasked(X: Any) -> Any:
    return unmasked(of_arrays(X))


def _missing_by_column(X: Any, inputs: Inputs, place: Place) -> np.ndarray:
    code = place.put(np.where(inputs.n_categories > 0, inputs.n_categories - 2.0, np.nan))
    return to_host(place.xp.count_nonzero(place.xp.isnan(X) | (code == X), axis=0))


def canonical_rows(owner: str, X: Any) -> Any:
    """Return sparse rows in canonical form, which is checked; other rows unchanged."""
    try:
        return canonical(X)
    except ValueError as error:
        raise InvalidValueError(
            f"{owner}: X is a damaged {type(X).__name__}: {error}",
            "make it anew, for instance from (data, (rows, columns))",
        ) from error


def are_floats(X: Any) -> bool:
    """Return whether rows are a NumPy array or a sparse matrix of floating-point numbers."""
    is_plain = type(X) is np.ndarray or scipy.sparse.issparse(X)
    return is_plain and X.dtype.kind == "f"


def precision_of(X: Any) -> str:
    """Return the name of the precision that keeps X: "float32", or "float64"."""
    if is_frame(X):
        single = are_single(X)
    else:
        series = X if isinstance(X, list | tuple) or is_of_objects(X) else [X]
        types = {str(getattr(each, "dtype", "")) for each in series}
        single = bool(types) and all(type_.endswith("float32") for type_ in types)
    return "float32" if single else "float64"

"""Kinds of rows: what a learner, or its family of neurons, accepts."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from trickless.arrays.places import to_host
from trickless.arrays.sparse import check_rows
from trickless.arrays.stated import Stated, check_is
from trickless.errors import InvalidTypeError, InvalidValueError
from trickless.neurons import Neurons
from trickless.neurons.layouts import Grids, Layout
from trickless.rows.refusals import Refusal, why_no_numbers, why_no_table

_FINITE = "rows must be finite numbers", "encode it, or fill it in (sklearn.impute), in a pipeline"


class Matrix(Stated):
    """The default kind of rows: finite numbers, dense or sparse.

    Other kinds of rows derive from this class.

    Attributes
    ----------
    tables : bool
        Whether data frames with categories and missing values are accepted.
    devices : bool
        Whether arrays of other libraries are accepted, and processed on their device.
    apart : bool
        Whether each column matters by itself, and not only the distances between rows.
    any_code : bool
        Whether categories that appear later get codes of their own.
    skips_missing : bool
        Whether missing values are left out, so that training rows need not have had any.
    by_order : bool
        Whether the order of a column's values matters, however close they are.
    without_gaps : str or None
        The chosen family, if it takes no missing values although the given family does.
    layout : Layout
        How arrays of more than two dimensions become flat rows, if they do.
    """

    tables = False
    devices = False
    apart = False
    any_code = False
    skips_missing = False
    by_order = False
    without_gaps: str | None = None
    layout: Layout = Layout()  # of tables
    #: Whether finite numbers need no more checks, and are not converted.
    plain = True

    def __init__(self) -> None:
        self.layout = Grids()

    def check_state(self) -> None:
        for name in ("tables", "devices", "apart", "any_code", "skips_missing", "by_order"):
            check_is(name, getattr(self, name), bool)
        check_is("without_gaps", self.without_gaps, str | None)
        check_is("layout", self.layout, Layout)

    def check(self, owner: str, X: Any) -> None:
        """Raise an error for validated rows that the learner cannot process."""

    def check_stored(self, name: str, X: Any, n_rows: int | None, n_features: int) -> None:
        """Check that rows of a state are in the form that ``points`` gives."""
        check_rows(name, X, n_rows, n_features)

    def check_later(self, owner: str) -> None:
        """Raise an error if there can be no later batch."""

    def points(self, owner: str, X: Any, first: bool) -> Any:
        """Return validated rows in the form that the learner needs, by default unchanged."""
        return X

    def why_refused(self, X: Any) -> Refusal | None:
        """Return why rows are not finite numbers, and a remedy; None if the reason is unknown."""
        return why_no_numbers(X, _FINITE, times=True)


class RowsOfNeurons(Matrix):
    """The kind of rows that a family of neurons takes.

    With ``devices``, the learner accepts arrays of other libraries.
    """

    def __init__(self, neurons: Neurons, devices: bool) -> None:
        self.family = type(neurons).__name__
        self.tables = self.apart = neurons.accepts_tables
        self.any_code = neurons.any_code
        self.skips_missing = neurons.skips_missing
        self.by_order = neurons.by_order
        self.sparse = neurons.accepts_sparse
        self.layout = neurons.layout
        self.devices = devices

    def check_state(self) -> None:
        super().check_state()
        check_is("family", self.family, str)
        check_is("sparse", self.sparse, bool)

    def check(self, owner: str, X: Any) -> None:
        """Raise an error for sparse rows, or missing values, if the neurons do not take them."""
        if self.without_gaps is not None and not scipy.sparse.issparse(X):
            missing = np.isnan(to_host(X)).any(axis=0)
            if missing.any():
                raise InvalidValueError(
                    f"{owner}: column {int(missing.argmax())} of X contains missing values, but "
                    f"the first batch had none, so {self.without_gaps} was chosen, which takes "
                    "finite numbers only",
                    "fill them in (sklearn.impute), or fit to rows with missing values",
                )
        if scipy.sparse.issparse(X) and not self.sparse:
            raise InvalidTypeError(
                f"{owner}: X is a sparse matrix of shape {X.shape}, but neurons={self.family}() "
                "works on dense rows only",
                "pass X.toarray(), or choose neurons that take sparse rows, such as 'gaussian'",
            )

    def why_refused(self, X: Any) -> Refusal | None:
        if self.tables:
            return why_no_table(X)
        remedy = (
            "neurons=Tabular(), or neurons=Trees() for Doubly Stochastic Gradients. They take "
            "missing values and, in data frames, text and dates. Or encode it, or fill it in "
            "(sklearn.impute), in a pipeline"
        )
        needed = f"neurons={self.family}() takes finite numbers only", remedy
        return why_no_numbers(X, needed, times=True)

"""Kinds of rows: what a learner, or its family of neurons, accepts."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from trickless._arrays.places import to_host
from trickless._arrays.stated import Stated
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._rows.refusals import Refusal, why_no_numbers, why_no_table
from trickless.neurons import Neurons
from trickless.neurons.layouts import Grids, Layout

_FINITE = "rows must be finite numbers", "encode it, or fill it in (sklearn.impute), in a pipeline"


class Kind(Stated):
    """What kind of rows a learner accepts: by default finite numbers, dense or sparse.

    Attributes
    ----------
    family : str or None
        The family of neurons for which the rows are.
    tables : bool
        Whether data frames with categories and missing values are accepted. Each column matters
        then by itself, and not only the distances between rows.
    sparse : bool
        Whether sparse rows are accepted.
    devices : bool
        Whether arrays of other libraries are accepted, and processed on their device.
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

    family: str | None
    tables: bool
    sparse: bool
    devices: bool
    any_code: bool
    skips_missing: bool
    by_order: bool
    layout: Layout
    without_gaps: str | None = None

    def __init__(self, neurons: Neurons | None = None, devices: bool = False) -> None:
        known: Any = Neurons if neurons is None else neurons
        self.family = None if neurons is None else type(neurons).__name__
        self.tables = known.accepts_tables
        self.sparse = neurons is None or neurons.accepts_sparse
        self.devices = devices
        self.any_code = known._any_code
        self.skips_missing = known._skips_missing
        self.by_order = known._by_order
        self.layout = Grids() if neurons is None else neurons._layout

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
                f"{owner}: X is a sparse matrix of shape {X.shape}, but {self.family} neurons read "
                "dense rows only",
                "pass X.toarray(), or use neurons that read sparse rows, such as 'gaussian' of "
                "Kitchen Sinks",
            )

    def why_refused(self, X: Any) -> Refusal | None:
        """Return why rows are not finite numbers, and a remedy; None if the reason is unknown."""
        if self.tables:
            return why_no_table(X)
        if self.family is None:
            return why_no_numbers(X, _FINITE, times=True)
        remedy = (
            "neurons=Tabular(), or neurons=Trees() for Doubly Stochastic Gradients. They take "
            "missing values and, in data frames, text and dates. Or encode it, or fill it in "
            "(sklearn.impute), in a pipeline"
        )
        needed = f"neurons={self.family}() takes finite numbers only", remedy
        return why_no_numbers(X, needed, times=True)

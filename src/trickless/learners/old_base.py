"""The path of the data: from the user's X and y to batches and targets of a learner, and back.

X, y → validation → targets (a matrix) → the learner's update → decision values → answer. A learner
of drawn neurons adds these (``_neuron_learner``); what y means, and what answers are, is that of
its task (``_tasks``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data
from tqdm.auto import tqdm

from trickless.arrays.devices import (
    beside,
    dispatches,
    has_double,
    is_foreign,
    place,
    take,
    to_host,
)
from trickless.arrays.interrupts import uninterrupted
from trickless.arrays.namespaces import namespace, on_host
from trickless.arrays.threads import linear_algebra
from trickless.checks.models import check_unchanged
from trickless.files.checkpoint import Checkpoint
from trickless.functions.stream import as_seed
from trickless.learners.places import check_double, check_place, check_readable, check_together
from trickless.learners.resolution import check_overflow, warn_of_resolution
from trickless.learners.rows import check_weights
from trickless.rules import DTYPE, N_JOBS, Rule, anything, check_parameters
from trickless.solvers.losses import Loss
from trickless.tables.encoder import why_no_numbers

_FLOATS = (np.float64, np.float32)
NO_TARGETS = "no_validation"


def _precisions(X: Any) -> tuple[Any, ...]:
    """Precisions in which rows are taken as they are; others become the first."""
    if not (dispatches() and is_foreign(X)):
        return _FLOATS
    xp = namespace(X)
    return (xp.float64, xp.float32) if has_double(X) else (xp.float32,)


class Learner(BaseEstimator):
    """Common parameters, validation and the two ways of receiving rows.

    Subclasses store their parameters in ``__init__`` and implement ``_initialise`` (once the
    inputs are known), ``_learn_all`` and ``_learn`` (all rows, or a batch of a stream) and
    ``_values`` (what they answer).
    """

    #: Parameters that may not change between the batches of one model.
    _fixed: ClassVar[tuple[str, ...]] = ("dtype",)
    #: Whether rows may be arrays of other libraries, and are worked on where they are.
    _on_devices: ClassVar[bool] = False
    #: Where the rows of the first batch were; None if the model comes from a file.
    _place: str | None = None
    #: What to do where memory is too small.
    _smaller: ClassVar[str] = "fewer rows at a time"
    #: Whether labels are answered where the rows are, as they were given.
    _labels_beside_rows: bool = False

    random_state: Any
    n_jobs: int | None
    verbose: bool
    dtype: Any

    _rules: ClassVar[dict[str, Rule]] = {
        "n_jobs": N_JOBS,
        "verbose": anything(
            "a boolean or an integer",
            "verbose=True shows a progress bar",
            lambda v: isinstance(v, int | np.bool_),
        ),
        "dtype": DTYPE,
    }

    def _values(self, X: Any) -> Any:
        """Decision values of validated rows, shape (n_rows, n_outputs)."""
        raise NotImplementedError

    def _loss(self, n_outputs: int) -> Loss:
        """The loss that is minimised; its link turns decision values into probabilities."""
        raise NotImplementedError

    def _columns_apart(self) -> tuple[bool, bool]:
        """Whether columns count each by itself, and whether values do by their order."""
        return False, False

    def _targets(self, y: np.ndarray, classes: Any, first: bool) -> np.ndarray:
        """Targets as a matrix, shape (n_rows, n_outputs)."""
        raise NotImplementedError

    def _reweighted(
        self, y: np.ndarray, weight: np.ndarray | None, stream: bool, may_be_empty: bool = False
    ) -> np.ndarray | None:
        """Weights of the rows, with those that follow from their targets."""
        return weight

    def _initialise(self, targets: np.ndarray, weight: np.ndarray | None) -> None:
        """Begin a model, given the first batch of targets."""
        raise NotImplementedError

    def _learn_all(
        self, X: Any, targets: np.ndarray, weight: np.ndarray | None, checkpoint: Checkpoint
    ) -> None:
        """Learn from all rows there are, or go on where the checkpoint was."""
        raise NotImplementedError

    def _learn(self, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> None:
        """Learn from a batch of rows."""
        raise NotImplementedError

    def _validated(
        self, X: Any, y: Any = NO_TARGETS, *, reset: bool = False, **options: Any
    ) -> Any:
        """Rows, and targets, as arrays of finite numbers."""
        check_readable(type(self).__name__, X, self._on_devices)
        options |= {"accept_sparse": "csr", "dtype": _precisions(X), "reset": reset}
        try:
            with np.errstate(invalid="ignore"):  # of sums that show that some value is not finite
                return validate_data(self, X, y, **options)
        except (TypeError, ValueError) as error:
            if (why := self._why_refused(X)) is None:
                raise
            raise ValueError(f"{type(self).__name__}: {why}") from error

    def _why_refused(self, X: Any) -> str | None:
        """Why rows cannot be turned into finite numbers, and what to do; None if not known."""
        return why_no_numbers(X, "rows must be finite numbers. Remedy: encode it in a pipeline.")

    def _check_kind(self, X: Any) -> None:
        """Refuse rows of a kind that the learner cannot take."""

    def _prepare(self, X: Any, targets: np.ndarray, weight: np.ndarray | None, first: bool) -> None:
        """Resolve what depends on the inputs, from the first batch, and check every batch."""

    def _fit(self, X: Any, y: Any, sample_weight: Any = None, checkpoint: Any = None) -> Any:
        check_parameters(self, self._rules)
        first = not (getattr(self, "warm_start", False) and self.__sklearn_is_fitted__())
        kept = Checkpoint(checkpoint, self, goes_on=not first)
        with self._begun_or_as_before(), linear_algebra(self.n_jobs):
            rows = self._receive(X, y, sample_weight, first=first, stream=False, seed=kept.seed)
            kept.received(self.seed_, *rows)
            self._learn_all(*rows, kept)
        kept.remove()
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Any:
        check_parameters(self, self._rules)
        first = not self.__sklearn_is_fitted__()
        undone = self._begun_or_as_before() if first else nullcontext()
        with undone, linear_algebra(self.n_jobs):
            rows = self._receive(X, y, sample_weight, first=first, classes=classes)
            if len(rows[1]):
                self._learn(*rows)
        return self

    @contextmanager
    def _begun_or_as_before(self, *kept: type[BaseException]) -> Iterator[None]:
        """If beginning a model fails, leave the object as it was.

        A Ctrl-C, and errors that are ``kept``, leave the steps that have been taken, where these
        make a model.
        """
        before = dict(self.__dict__)
        try:
            yield
        except BaseException as error:
            if isinstance(error, (KeyboardInterrupt, *kept)) and self._has_learned_since(before):
                raise
            with uninterrupted():
                self.__dict__.clear()
                self.__dict__.update(before)
            if isinstance(error, MemoryError):
                raise MemoryError(
                    f"{type(self).__name__}: memory is too small: {error}. Remedy: {self._smaller}."
                ) from error
            raise

    def _has_learned_since(self, before: dict[str, Any]) -> bool:
        """Whether a model has been begun since the attributes were these, and can predict."""
        return False

    def _receive(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        first: bool,
        stream: bool = True,
        classes: Any = None,
        seed: int | None = None,
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Validate a batch; the first fixes everything that later batches must agree with.

        Rows without weight are left out. There may be no others in a later batch, which then is
        nothing to be learned from.
        """
        self._fix(first)
        may_be_empty = stream and not first
        X, y, weight = self._arrays(X, y, sample_weight, first, may_be_empty)
        if not y.shape[0]:
            return X, np.empty((0, 1)), weight
        targets = self._targets(y, to_host(classes), first)
        weight = self._reweighted(y, weight, stream, may_be_empty)
        X, targets, weight = _that_count(X, targets, weight)
        if not len(targets):
            return X, targets, weight
        given, X = X, self._in_precision(X)
        if first:
            warn_of_resolution(type(self).__name__, given, self.dtype, *self._columns_apart())
            self.seed_ = as_seed(self.random_state) if seed is None else seed
        self._prepare(X, targets, weight, first)
        if first:
            self._initialise(targets, weight)
        return X, targets, weight

    def _fix(self, first: bool) -> None:
        """Note the parameters that later batches must agree with, or see that they do."""
        if first:
            self._begun_with = {name: deepcopy(getattr(self, name)) for name in self._fixed}
            return
        for name, then in self._begun_with.items():
            check_unchanged(type(self).__name__, name, getattr(self, name), then)

    def _arrays(
        self, X: Any, y: Any, sample_weight: Any, first: bool, may_be_empty: bool
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Rows where they are, and labels and weights on the host, of the rows that count."""
        owner = type(self).__name__
        check_together(owner, X, y=y, sample_weight=sample_weight)
        beside_rows = dispatches() and is_foreign(y)
        several = isinstance(self, RegressorMixin)
        options = {"multi_output": several, "y_numeric": several, "reset": first}
        X, y = self._validated(X, to_host(y), **options)
        self._check_kind(X)
        if first:
            self._place, self._labels_beside_rows = place(X), beside_rows
        check_place(owner, X, self._place)
        weight = check_weights(owner, to_host(sample_weight), X, may_be_empty)
        return _that_count(X, y, weight)

    def _decide(self, X: Any) -> Any:
        """Decision values, shape (n_rows, n_outputs), where the rows are."""
        X = self._rows(X)
        with linear_algebra(self.n_jobs):
            return beside(X, self._values(X))

    def _rows(self, X: Any) -> Any:
        """Rows to predict, validated."""
        check_is_fitted(self)
        check_parameters(self, self._rules)
        X = self._validated(X)
        self._check_kind(X)
        check_place(type(self).__name__, X, self._place)
        return self._in_precision(X)

    def _in_precision(self, X: Any) -> Any:
        """Rows in the precision that the model was begun with."""
        owner, dtype = type(self).__name__, np.dtype(self._begun_with["dtype"])
        check_double(owner, X, dtype, has_double(X))
        with np.errstate(over="ignore"):
            if on_host(X):
                converted = X.astype(dtype, copy=False)
            else:
                xp = namespace(X)
                converted = xp.astype(X, getattr(xp, dtype.name), copy=False)
        if converted is not X:
            check_overflow(owner, converted, dtype)
        return converted

    def __getstate__(self) -> dict[str, Any]:
        """What a copy or a file holds: it may go on wherever its next rows are."""
        return {name: v for name, v in super().__getstate__().items() if name != "_place"}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "seed_")

    def _progress(self, total: int, unit: str) -> tqdm:
        return tqdm(total=total, unit=unit, desc=type(self).__name__, disable=not self.verbose)


def _that_count(X: Any, y: np.ndarray, weight: np.ndarray | None) -> tuple[Any, Any, Any]:
    """Rows of a positive weight, with their targets and weights."""
    if weight is None or weight.all():
        return X, y, weight
    kept = weight > 0
    return take(X, kept), y[kept], weight[kept]

"""What the public estimators share: the path of the data from the user to a learner and back.

X, y → validation → targets (a matrix) → the learner's update → ``network_`` → decision values →
answer. ``Learner`` is that path, ``NeuronLearner`` adds the drawn neurons, and the two tasks turn
labels into targets and decision values into answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data
from tqdm.auto import tqdm

from trickless._blocks import linear_algebra, namespace, on_host
from trickless._checkpoint import Checkpoint
from trickless._devices import (
    beside,
    dispatches,
    has_double,
    is_foreign,
    place,
    take,
    to_host,
)
from trickless._frames import is_frame
from trickless._interrupts import uninterrupted
from trickless._losses import Loss
from trickless._network import Network
from trickless._search import choose
from trickless._stream import Purpose, as_seed, draw, generator, moved
from trickless._tables import TableEncoder, inputs_of, why_no_numbers, why_no_table
from trickless._validation.devices import (
    check_double,
    check_place,
    check_readable,
    check_together,
)
from trickless._validation.inputs import (
    check_class_weight,
    check_classes,
    check_known_labels,
    check_overflow,
    check_same_classes,
    check_some_weight,
    check_sparse,
    check_targets,
    check_weights,
    distinct_labels,
    warn_of_resolution,
)
from trickless._validation.models import check_unchanged
from trickless._validation.neurons import (
    check_family,
    check_fit_takes_weights,
    check_fitted_family,
    check_rows_alone,
    check_same_draws,
)
from trickless._validation.rules import DTYPE, N_JOBS, Rule, anything, check_parameters, integer
from trickless.neurons import Neurons, Weights, make_neurons

_FLOATS = (np.float64, np.float32)
_NO_TARGETS = "no_validation"
_TRIAL_ROWS, _TRIAL_NEURONS = 64, 16


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
        self, X: Any, y: Any = _NO_TARGETS, *, reset: bool = False, **options: Any
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
        owner = type(self).__name__
        if first:
            self._begun_with = {name: deepcopy(getattr(self, name)) for name in self._fixed}
        else:
            for name, then in self._begun_with.items():
                check_unchanged(owner, name, getattr(self, name), then)
        check_together(owner, X, y=y, sample_weight=sample_weight)
        beside_rows = dispatches() and is_foreign(y)
        y, sample_weight, classes = to_host(y), to_host(sample_weight), to_host(classes)
        several = isinstance(self, RegressorMixin)
        options = {"multi_output": several, "y_numeric": several, "reset": first}
        X, y = self._validated(X, y, **options)
        self._check_kind(X)
        if first:
            self._place, self._labels_beside_rows = place(X), beside_rows
        check_place(owner, X, self._place)
        may_be_empty = stream and not first
        weight = check_weights(owner, sample_weight, X, may_be_empty)
        X, y, weight = _that_count(X, y, weight)
        if not y.shape[0]:
            return X, np.empty((0, 1)), weight
        targets = self._targets(y, classes, first)
        weight = self._reweighted(y, weight, stream, may_be_empty)
        X, targets, weight = _that_count(X, targets, weight)
        if not len(targets):
            return X, targets, weight
        given, X = X, self._in_precision(X)
        if first:
            warn_of_resolution(owner, given, self.dtype, *self._columns_apart())
            self.seed_ = as_seed(self.random_state) if seed is None else seed
        self._prepare(X, targets, weight, first)
        if first:
            self._initialise(targets, weight)
        return X, targets, weight

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


class NeuronLearner(Learner):
    """A learner of drawn neurons, which predicts with a finite network of them.

    Subclasses implement ``network_`` (the current network).
    """

    #: Whether the learner relies on the bound of the neurons.
    _bounded: ClassVar[bool] = True
    _fixed = ("neurons", *Learner._fixed)
    _smaller = "a smaller n_neurons, or fewer rows at a time"

    neurons: Neurons | str
    n_neurons: int
    neurons_: Neurons
    _encoder: TableEncoder | None

    _rules = Learner._rules | {
        "n_neurons": integer(1, "it counts draws of w; n_neurons=1000 is a good start"),
    }

    @property
    def network_(self) -> Network:
        """The finite network that predicts."""
        raise NotImplementedError

    def _values(self, X: Any) -> Any:
        return self.network_(X)

    def _validated(
        self, X: Any, y: Any = _NO_TARGETS, *, reset: bool = False, **options: Any
    ) -> Any:
        """Rows, and targets, as arrays; frames and missing values for families that take them."""
        owner, neurons = type(self).__name__, make_neurons(self.neurons)
        if neurons.accepts_tables:
            options["ensure_all_finite"] = "allow-nan"
        if reset:
            table = neurons.accepts_tables and is_frame(X)
            self._encoder = TableEncoder(owner, X) if table else None
        elif self._encoder is not None and is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)  # names before types
        if self._encoder is not None:
            X = self._encoder(owner, X)
        return super()._validated(X, y, reset=reset, **options)

    def _why_refused(self, X: Any) -> str | None:
        neurons = make_neurons(self.neurons)
        if neurons.accepts_tables:
            return why_no_table(X)
        return why_no_numbers(
            X,
            f"neurons={type(neurons).__name__}() takes finite numbers only. Remedy: "
            "neurons=Tabular(), which takes missing values and, in data frames, text; or encode it "
            "in a pipeline.",
        )

    def _check_kind(self, X: Any) -> None:
        check_sparse(type(self).__name__, make_neurons(self.neurons), X)

    def _columns_apart(self) -> tuple[bool, bool]:
        neurons = make_neurons(self.neurons)
        return neurons.accepts_tables, neurons.by_order

    def _prepare(self, X: Any, targets: np.ndarray, weight: np.ndarray | None, first: bool) -> None:
        """Fit the family to the first batch, and try it on a few rows of every batch."""
        if first:
            inputs, families = inputs_of(self, X), self._families()
            for family in families:
                family.inputs_ = inputs
                check_fit_takes_weights(family)
                family.fit(X, generator(self.seed_, Purpose.FIT), weight)
                check_fitted_family(family)
            self.__dict__.pop("search_scores_", None)
            chosen = choose(families, X, targets, weight, self.n_neurons, self.seed_, self.n_jobs)
            self.neurons_, scores = chosen
            if scores is not None:
                self.search_scores_ = scores
        rows, trial = take(X, slice(_TRIAL_ROWS)), self._trial()
        there = moved(trial, rows)
        check_family(self.neurons_, rows, there, self._bounded)
        if first:
            check_same_draws(type(self.neurons_).__name__, trial, self._trial())
            check_rows_alone(self.neurons_, rows, there)

    def _trial(self) -> Weights:
        rng = generator(self.seed_, Purpose.TRIAL)
        return draw(self.neurons_, rng, _TRIAL_NEURONS, self._begun_with["dtype"])

    def _families(self) -> list[Neurons]:
        """Families to choose from, not fitted yet."""
        return [clone(make_neurons(self.neurons))]

    def set_params(self, **params: Any) -> NeuronLearner:
        """Set parameters, also those of the neurons, as ``neurons__length_scale=2``.

        Where ``neurons`` is a name, it is replaced by the family that it stands for first.
        """
        neurons = params.get("neurons", self.neurons)
        if isinstance(neurons, str) and any(key.startswith("neurons__") for key in params):
            params["neurons"] = make_neurons(neurons)
        return super().set_params(**params)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        neurons = self.neurons
        known = isinstance(neurons, str | Neurons)
        tags.input_tags.sparse = known and make_neurons(neurons).accepts_sparse
        tags.input_tags.allow_nan = known and make_neurons(neurons).accepts_tables
        return tags


class Regression(RegressorMixin, Learner):
    """Real targets, one column or several."""

    def _targets(self, y: np.ndarray, classes: Any, first: bool) -> np.ndarray:
        targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        check_targets(type(self).__name__, targets, self._begun_with["dtype"])
        if first:
            self.n_outputs_ = targets.shape[1]
            self._squeeze = y.ndim == 1
        elif targets.shape[1] != self.n_outputs_:
            raise ValueError(
                f"{type(self).__name__}: y has {targets.shape[1]} outputs, but the first batch had "
                f"{self.n_outputs_}. Remedy: pass the same columns in every batch."
            )
        return targets

    def _error(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Squared error of each row."""
        return ((decisions - targets) ** 2).sum(axis=1)

    def _score(
        self, decisions: np.ndarray, targets: np.ndarray, weight: np.ndarray | None
    ) -> float:
        """Coefficient of determination, R²."""
        return float(sklearn.metrics.r2_score(targets, decisions, sample_weight=weight))

    def predict(self, X: Any) -> Any:
        """Predict targets.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 array of shape (n_rows,) or (n_rows, n_outputs), as y had in ``fit``
            Of the library and on the device of X.
        """
        return self._as_y(self._decide(X))

    def _as_y(self, values: Any) -> Any:
        """Values of all outputs, in the shape that y had."""
        return values[:, 0] if self._squeeze else values

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _has_link(estimator: Any) -> bool:
    if not estimator._loss(1).has_link:
        raise AttributeError(
            f"loss={estimator.loss!r} does not determine probabilities, so there is no "
            "predict_proba. Remedy: use loss='log_loss', 'squared_hinge' or 'squared_error', or "
            "wrap the model in sklearn.calibration.CalibratedClassifierCV."
        )
    return True


class Classification(ClassifierMixin, Learner):
    """Labels: one column of ±1 targets for two classes, one a class otherwise."""

    class_weight: Any = None

    def _targets(self, y: np.ndarray, classes: Any, first: bool) -> np.ndarray:
        name = type(self).__name__
        there = distinct_labels(name, "y", y)
        if first:
            labels = there if classes is None else distinct_labels(name, "classes", classes)
            check_classes(name, "y" if classes is None else "classes", labels)
            self.classes_ = labels
        check_same_classes(name, classes, self.classes_)
        check_known_labels(name, there, self.classes_)
        index = np.searchsorted(self.classes_, y)
        if len(self.classes_) == 2:
            return np.where(index == 1, 1.0, -1.0)[:, None]
        return np.where(index[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)

    def _reweighted(
        self, y: np.ndarray, weight: np.ndarray | None, stream: bool, may_be_empty: bool = False
    ) -> np.ndarray | None:
        given = self.class_weight
        if given is None:
            return weight
        check_class_weight(type(self).__name__, given, self.classes_, stream)
        if isinstance(given, str):
            by_class = compute_sample_weight(given, y)
        else:
            each = np.array([float(given.get(label, 1.0)) for label in self.classes_.tolist()])
            by_class = each[np.searchsorted(self.classes_, y)]
        if not may_be_empty:
            check_some_weight(type(self).__name__, given, by_class)
        return by_class if weight is None else by_class * weight

    def _score(
        self, decisions: np.ndarray, targets: np.ndarray, weight: np.ndarray | None
    ) -> float:
        """Share of the rows that are given the right class."""
        return 1 - float(np.average(self._error(decisions, targets), weights=weight))

    def _error(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """1 for each row that is given the wrong class, else 0."""
        if targets.shape[1] == 1:
            return np.where((decisions > 0) == (targets > 0), 0.0, 1.0)[:, 0]
        return np.where(decisions.argmax(axis=1) == targets.argmax(axis=1), 0.0, 1.0)

    def decision_function(self, X: Any) -> Any:
        """Decision values: the larger, the more confident in a class.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 array of shape (n_rows,) for two classes (positive for the second), or
        (n_rows, n_classes)
            Of the library and on the device of X.
        """
        decisions = self._decide(X)
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    def predict(self, X: Any) -> Any:
        """Predict labels.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)
            Of the library and on the device of X if y was in ``fit``, else NumPy's.
        """
        there = self._decide(X)
        decisions = to_host(there)
        binary = decisions.shape[1] == 1
        index = (decisions[:, 0] > 0).astype(int) if binary else decisions.argmax(axis=1)
        labels = self.classes_[index]
        return beside(there, labels) if self._labels_beside_rows else labels

    @available_if(_has_link)
    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes, by the link of the loss.

        Not available for losses that have none, such as the hinge. For squared losses it is the
        decision value clipped to [0, 1], exact zeros included; where probabilities themselves
        matter, wrap the model in scikit-learn's CalibratedClassifierCV.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 array of shape (n_rows, n_classes), in the order of ``classes_``
            Of the library and on the device of X.
        """
        decisions = self._decide(X)
        loss = self._loss(decisions.shape[1])
        return beside(decisions, loss.probability(to_host(decisions)))

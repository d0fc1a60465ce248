"""Base classes of all learners: common parameters, and predictions.

To predict, ``rows`` validates the rows, the learner's function gives decision values, and
``targets`` or ``labels`` turns these into predictions.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from difflib import get_close_matches
from functools import wraps
from inspect import Signature, signature
from math import prod
from types import FunctionType
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _num_samples, check_is_fitted

from trickless._arrays.likes import RandomStateLike
from trickless._arrays.places import HOST, place_of, to_device_of, to_host
from trickless._arrays.sparse import check_rows
from trickless._arrays.stated import (
    Stated,
    Things,
    check_array,
    check_is,
    check_same,
)
from trickless._arrays.states import in_one_state, snapshot
from trickless._arrays.threads import linear_algebra
from trickless._docstrings import pages
from trickless._errors import InvalidTypeError, InvalidValueError, MissingAttributeError
from trickless._functions.stream import Seed, as_seed
from trickless._learners.callbacks import CallbackSupportMixin, Phase, watched
from trickless._learners.fixed_parameters import check_fixed
from trickless._learners.intervals import scores_of_rows
from trickless._learners.refusals import Refusal, exclude_methods
from trickless._rows.given import as_targets
from trickless._rows.kinds import Kind
from trickless._rows.rows import Batch, Rows
from trickless._rows.weights import check_weights
from trickless._rules import (
    N_JOBS,
    Rule,
    boolean,
    check_parameters,
    check_value,
    plain,
)
from trickless._solvers.calibration import Temperatures, find_temperatures
from trickless._solvers.losses import Loss
from trickless._solvers.named_losses import make_loss
from trickless._targets.batches import with_matrix
from trickless._targets.growing_labels import with_classes
from trickless._targets.labels import Labels, LabelSets, check_some_weight
from trickless._targets.targets import Numbers, Targets
from trickless.conformal.unseen import Scores, Unseen

#: What other libraries call the rows by which a fit is stopped early.
_VALIDATION = (
    "eval_set", "eval_X", "eval_y", "eval_metric", "validation_data", "validation_split", "X_val",
    "y_val", "valid_sets", "early_stopping_rounds",
)  # fmt: skip
#: What other libraries call the confidence of an interval.
_INTERVALS = "interval", "intervals", "confidence", "pi", "return_interval", "alpha", "coverage"
#: What to do for attributes that only some learners have.
_ELSEWHERE = {
    "feature_importances_": "sklearn.inspection.permutation_importance(model, X, y), for any model",
    "shap_values": "BoostedTreesRegressor or BoostedTreesClassifier, which have it; or "
    "sklearn.inspection.permutation_importance",
    "partial_fit": "another learner of this package, such as Kitchen Sinks; all others have it",
    "predict_interval": "predict_set, which gives the likely classes",
    "predict_set": "predict_interval",
    "predict_proba": "predict_interval, or a classifier",
}


class Learner(Stated, CallbackSupportMixin, BaseEstimator):
    """Base class of all learners.

    A learner stores its parameters in ``__init__``. Its ``fit`` learns in a training copy, which
    begins with ``_receive_first``: ``_rows_`` validates and converts rows, ``_targets_`` converts
    targets, and decision values to predictions, ``_fixed_`` has the parameters that may not change
    between batches, with their values at the first batch, and ``_seed_`` is what all randomness
    comes from. ``_function(X)`` returns decision values of validated rows. Every method that reads
    more than one attribute is ``in_one_state``.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of threads. None uses as many as NumPy's linear algebra, and -1 uses all cores.
    verbose : bool, default=False
        Whether to show progress bars, with rich (scikit-learn 1.9 or later) or else tqdm.

    Attributes
    ----------
    n_features_in_ : int
        Number of features. Images and series have as many as values.
    """

    random_state: RandomStateLike
    n_jobs: int | None
    verbose: bool

    _rows_: Rows
    _targets_: Any = None
    n_features_in_: Things
    _fixed_: dict[str, Any]
    _seed_: Seed

    #: The page of the class in the reference, to which scikit-learn's picture of it links.
    _doc_link_module = "trickless"
    _doc_link_template = pages()
    #: Parameters that may not change between the batches of one model.
    _fixed: ClassVar[tuple[str, ...]] = ()
    #: Values of parameters that a class does not have.
    _constants: ClassVar[dict[str, Any]] = {
        "loss": "squared_error", "epsilon": 0.1, "quantile": 0.5, "dtype": "float32",
        "half_life": None, "error_bars": False,
    }  # fmt: skip
    #: Remedy if memory is too small.
    _smaller: ClassVar[str] = "fewer rows at a time"
    _function: Callable[[Any], Any]
    #: Makes probabilities of all classes from decision values, for sets of classes.
    _likely: Callable[[np.ndarray], np.ndarray]
    #: Makes what converts targets, from those of the first batch and the classes that are given.
    _new_targets: Callable[[np.ndarray, Any], Targets]
    #: Whether targets are numbers.
    _numeric: ClassVar[bool]
    #: The precision of rows, if it is not that of coefficients, which is ``dtype``.
    _row_dtype: ClassVar[Any] = None
    #: Whether a class that may appear later needs an output from the beginning.
    _spare: ClassVar[bool] = False

    #: What does not go together, besides rules for single parameters.
    _refusals: ClassVar[tuple[Refusal, ...]] = ()
    _rules: ClassVar[dict[str, Rule]] = {
        "n_jobs": N_JOBS,
        "verbose": boolean("verbose=True shows a progress bar", or_integer=True),
    }

    def __init_subclass__(cls, **options: Any) -> None:
        """Let callbacks follow the fit of a class of learners, and check what is passed to it."""
        if "fit" in vars(cls):
            cls.fit = watched(vars(cls)["fit"])
        for name, method in list(vars(cls).items()):
            if isinstance(method, FunctionType) and (name == "__init__" or name[0] != "_"):
                setattr(cls, name, _checked(name, method))
        exclude_methods(cls)
        super().__init_subclass__(**options)

    def __getattr__(self, name: str) -> Any:
        predicts = hasattr(type(self), "predict")
        if name in _ELSEWHERE and predicts and not hasattr(type(self), name):
            raise MissingAttributeError(f"{type(self).__name__} has no {name}", _ELSEWHERE[name])
        return object.__getattribute__(self, name)  # whose error says what is wrong

    def __setattr__(self, name: str, value: Any) -> None:
        # Parameters are numbers of Python, since products of those of NumPy may overflow.
        super().__setattr__(name, value if name.endswith("_") else plain(value))

    def _kind_of_rows(self) -> Kind:
        """Return the kind of rows that this learner takes."""
        return Kind()

    def _loss(self, n_outputs: int) -> Loss:
        """Return the loss that is minimised; its link turns decision values into probabilities.

        After ``fit``, the parameters of the first batch count, not those that were set later.
        """
        name, *values = (self._value(name) for name in ("loss", "epsilon", "quantile"))
        return make_loss(name, n_outputs, *values)

    def _value(self, name: str) -> Any:
        """Return a parameter as the first batch fixed it, or what a class has that lacks it."""
        return {**self._constants, **vars(self), **getattr(self, "_fixed_", {})}[name]

    def _receive_first(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        classes: Any = None,
        *,
        seed: int | None = None,
        stream: bool = False,
    ) -> Batch:
        """Receive the first batch, and set ``_fixed_``, ``_rows_``, ``_targets_`` and ``_seed_``.

        The ``seed`` is given if it was already drawn. In a stream, more batches may follow.
        """
        owner, class_weight = type(self).__name__, getattr(self, "class_weight", None)
        self._fixed_ = {name: deepcopy(getattr(self, name)) for name in self._fixed}
        self._rows_ = Rows(
            owner, self._row_dtype or self._value("dtype"), self._kind_of_rows(), self._numeric
        )
        X, y, weight = self._rows_.first(self, X, y, sample_weight)
        targets = self._new_targets(y, to_host(classes))
        self._targets_, batch = with_matrix(targets, X, y, weight, class_weight, stream)
        check_some_weight(owner, class_weight, len(y), len(batch[1]))
        self._seed_ = as_seed(self.random_state) if seed is None else seed
        return batch

    def _receive_later(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        classes: Any = None,
        stream: bool = True,
        learned: bool = False,
    ) -> Batch:
        """Receive a later batch, and update ``_targets_``. In a stream, all weights may be 0.

        If the batch is ``learned``, new categories may get codes of their own.
        """
        check_fixed(self)
        if y is None:
            raise InvalidValueError(
                f"{type(self).__name__}: y is None, but every batch has targets",
                "pass the targets y",
            )
        before, self._rows_ = self._targets_, self._rows_.fork()  # which may note what is in them
        X, y, weight = self._rows_.later(self, X, y, sample_weight, stream, learned)
        if not isinstance(before, Numbers):
            self._targets_ = before = with_classes(before, to_host(classes), self._begins_classes)
        if not len(y):
            return X, np.empty((0, before.n_outputs)), weight
        class_weight = getattr(self, "class_weight", None)
        self._targets_, batch = with_matrix(before, X, y, weight, class_weight, stream)
        self._follow(before)
        return batch

    @property
    def _begins_classes(self) -> bool:
        """Whether only the first batch can say that new classes may appear."""
        return self._spare

    def _follow(self, before: Targets) -> None:
        """Give the function the outputs of new targets, if they differ from earlier ones."""
        if (new := self._targets_.since(before)) is not None:
            for name in ("_sums_", "_descent_", "_forest_", "_rounds_", "_early_"):
                if (part := getattr(self, name, None)) is not None:
                    setattr(self, name, part.with_outputs(new, self._targets_))

    def _rows_to_predict(self, X: Any) -> Any:
        if not self.__sklearn_is_fitted__():  # what scikit-learn asks takes as long as a prediction
            check_is_fitted(self)
        check_parameters(self, self._rules)
        return self._rows_.to_predict(self, X)

    def _decide(self, X: Any) -> Any:
        """Decision values, shape (n_rows, n_outputs), on the device of the rows."""
        X = self._rows_to_predict(X)
        with linear_algebra(self.n_jobs):
            values = self._targets_.shown(self._function(X))
        return values if type(values) is type(X) else to_device_of(X, values)

    def _temperatures(self) -> Temperatures | None:
        """Return the temperatures of probabilities; None if they come from the link of the loss."""
        rows = self._unseen() if self._calibrates() else None
        if rows is None:
            return None
        return find_temperatures(rows.decisions, rows.targets, rows.counted.by_weight)

    def _unseen(self) -> Unseen | None:
        """Return rows that the model has not learned from, with its decision values, if any."""
        return None

    def _scores(self) -> Scores | None:
        """Return the scores of the true classes of rows that were not learned, if there are any."""
        rows = self._unseen()
        return None if rows is None else scores_of_rows(rows, self._likely(rows.decisions))

    def _calibrates(self) -> bool:
        """Return whether temperatures give probabilities for losses that do not determine them."""
        return False

    @in_one_state
    def compact(self, *, error_bars: bool = True) -> Any:
        """Copy the fitted model for prediction, without what only learning needs.

        The copy gives the same predictions. Its ``partial_fit``, ``merge`` and warm start raise an
        error, and ``fit`` starts over. This saves most memory for Kitchen Sinks, whose sums over
        the rows grow with the square of the number of neurons.

        Parameters
        ----------
        error_bars : bool, default=True
            Whether to keep standard deviations and intervals of predictions, if there are any.
            They need about half of the memory of the sums. Intervals of Kitchen Sinks also need up
            to 2,048 of the rows.

        Returns
        -------
        estimator of the same class
            The copy.
        """
        check_is_fitted(self)
        other = snapshot(self)
        other.__dict__ = dict(other.__dict__)
        other.__dict__.pop("_first_batch_", None)
        other._forget_rows(error_bars)
        other.compacted_ = True
        return other

    def check_state(self) -> None:
        if (shape := self._rows_.kind.layout.shape) is not None:
            check_same("size of the layout of _rows_", prod(shape), self.n_features_in_)
        if (names := vars(self).get("feature_names_in_")) is not None:
            check_array("feature_names_in_", names, "O", (self.n_features_in_,))
            for feature in names:
                check_is("feature_names_in_", feature, str)
        for name in self._fixed:
            if name in self._rules:
                check_value("_fixed_", name, self._fixed_[name], self._rules[name])
        if self._rows_.columns is not None:
            check_same("columns of _rows_", len(self._rows_.columns.kinds), self.n_features_in_)
        if self._rows_.had_gaps is not None:
            check_same("columns of had_gaps", len(self._rows_.had_gaps), self.n_features_in_)
        expected: Any = Numbers | Labels | LabelSets | None
        if hasattr(self, "predict"):
            check_same("numeric of _rows_", self._rows_.numeric, self._numeric)
            expected = Numbers if self._numeric else Labels | LabelSets
        check_is("_targets_", self._targets_, expected)

    def _check_outputs(self, name: str, n_outputs: int) -> None:
        """Check that a part of the model has an output for each column of the targets."""
        check_same(f"outputs of {name}", n_outputs, self._targets_.n_outputs)

    def _check_stored(self, name: str, X: Any) -> None:
        """Check that rows of the model are like those that it learned from."""
        check_rows(name, X, None, self.n_features_in_)

    def _forget_rows(self, error_bars: bool) -> None:
        """Drop the state that only learning needs."""

    def _scored(self, y: Any) -> Any:
        """Validated targets of rows that are scored; arrays of other libraries are unchanged."""
        y = as_targets(type(self).__name__, y, self._numeric)
        if isinstance(y, np.ndarray):
            self._targets_.check_shape(y)
        return y

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_seed_")

    def _progress(self, total: int, unit: str, phase: str = "") -> Phase:
        """Return a phase of learning, whose progress is shown if ``verbose``."""
        return Phase(self, total, unit, phase)


def scored_by(owner: str, y: Any, sample_weight: Any) -> Any:
    """Validated weights of rows that are scored; arrays of other libraries are unchanged."""
    if sample_weight is None or place_of(sample_weight) is not HOST:
        return sample_weight
    return check_weights(owner, sample_weight, _num_samples(y))


def store(learner: Learner, arguments: dict[str, Any]) -> None:
    """Store the arguments of ``__init__`` as attributes, as scikit-learn wants them."""
    for name, value in arguments.items():
        if name not in ("self", "__class__"):
            setattr(learner, name, value)


def _checked(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method whose errors of calls name the class of the object, and a remedy."""
    parameters = signature(method)

    @wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return method(self, *arguments, **options)
        except TypeError:
            _check_call(self, name, parameters, arguments, options)
            raise

    return call


def _check_call(
    learner: Any,
    name: str,
    parameters: Signature,
    arguments: tuple[Any, ...],
    options: dict[str, Any],
) -> None:
    """Raise an error that names the class and a remedy if the arguments are not of the method."""
    try:
        parameters.bind(learner, *arguments, **options)
    except TypeError as error:
        owner, names = type(learner).__name__, list(parameters.parameters)[1:]
        owner += "" if name == "__init__" else f".{name}"
        unknown = next((each for each in options if each not in names), None)
        said = str(error) if unknown is None else f"there is no parameter {unknown!r}"
        remedy = f"the parameters are {', '.join(names)}"
        if unknown is not None:
            similar = get_close_matches(unknown, names, 1)
            instead = "" if name == "__init__" else _instead_of(learner, name, unknown)
            remedy = f"{instead or (f'{similar[0]}=...; ' if similar else '')}{remedy}"
        raise InvalidTypeError(f"{owner}: {said}", remedy) from None


def _instead_of(learner: Any, method: str, unknown: str) -> str:
    """Return what to do instead of passing an unknown parameter; "" if that is unknown."""
    owner, own = type(learner).__name__, learner.get_params(deep=False)
    if unknown in _INTERVALS and method in ("predict_interval", "predict_set"):
        return "confidence=0.9; "
    if unknown in own:
        return f"{owner}({unknown}=...) when you make the learner; "
    if unknown in _VALIDATION and "early_stopping" in own:
        return f"{owner}(early_stopping=True), which holds out some rows by itself; "
    if unknown in _VALIDATION:
        return f"score(X, y) of other rows after {method}; "
    if unknown == "callbacks" and hasattr(learner, "set_callbacks"):
        return "set_callbacks(...) of the learner; "
    for other in ("predict_interval", "predict_set"):
        if unknown in _INTERVALS and hasattr(learner, other):
            return f"{other}(X, confidence=0.9); "
    return ""

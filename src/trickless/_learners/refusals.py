"""What does not go together: a table for each family of learners.

Values of parameters exclude each other, which is checked before a learner learns, or they exclude
methods, attributes and options, which the learner then lacks: ``hasattr`` says False.
"""

from __future__ import annotations

from inspect import getattr_static
from typing import Any

import numpy as np

from trickless._errors import InvalidValueError, MissingAttributeError
from trickless._rules import shown
from trickless._solvers.clock import are_several
from trickless._solvers.named_losses import CLASSIFICATION_LOSSES, LINK_LOSSES

#: What the words of the tables say about a value; other entries are values.
CONDITIONS: dict[str, Any] = {
    "given": lambda value: value is not None,
    "a function": callable,
    "'auto' or a list": are_several,
    "None or one number": lambda half_life: not are_several(half_life),
    "other than 'quantile'": lambda loss: loss != "quantile",
    "other than 0.5": lambda quantile: np.ndim(quantile) > 0 or quantile != 0.5,
}
#: What gives intervals and sets for any model.
SPLIT = "trickless.conformal.SplitConformal(model).calibrate(X, y) with a calibration set"
#: Methods that start over, whatever the model has learned before.
_STARTS_OVER = "fit_stream", "trickless.dask.fit"


class Refusal:
    """Values of parameters that exclude each other, or exclude ``methods``, in this order.

    A parameter has one value, several in a tuple, or is described by one of ``CONDITIONS``.
    """

    def __init__(self, because: str, remedy: str, methods: str = "", **when: Any) -> None:
        self.because, self.remedy, self.methods, self.when = because, remedy, methods.split(), when

    def check(self, learner: Any, values: dict[str, Any], *method: str) -> None:
        """Raise an error for parameters with these values, and name the method."""
        if all(name in values and _is(values[name], each) for name, each in self.when.items()):
            first, *others = *method, *(f"{name}={shown(values[name])}" for name in self.when)
            raise (MissingAttributeError if method else InvalidValueError)(
                f"{type(learner).__name__}: {first} does not go with {' and '.join(others)}, "
                f"because {self.because}",
                self.remedy,
            )


def _is(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, str) and wanted in CONDITIONS:
        return bool(CONDITIONS[wanted](value))
    is_simple = value is None or isinstance(value, str | int | float)
    return is_simple and value in (wanted if isinstance(wanted, tuple) else (wanted,))


def check_together(learner: Any) -> None:
    """Raise an error for parameters of a learner that do not go together."""
    for row in getattr(learner, "_refusals", ()):
        if not row.methods:
            row.check(learner, vars(learner))


def check_method(learner: Any, name: str) -> None:
    """Raise an error for a method or the like that parameters exclude.

    Parameters that the first batch has fixed count as they were then.
    """
    values = vars(learner)
    if name not in _STARTS_OVER:
        values = values | values.get("_fixed_", {})
    for row in learner._refusals:
        if name in row.methods:
            row.check(learner, values, name)


class _Method:
    """A method or a property of a learner, unless parameters exclude it."""

    def __init__(self, name: str, function: Any) -> None:
        self.name, self.function = name, function

    def __get__(self, learner: Any, cls: Any = None) -> Any:
        if learner is not None:
            check_method(learner, self.name)
        return self.function.__get__(learner, cls)


def exclude_methods(cls: Any) -> None:
    """Let objects of a class lack what its refusals exclude."""
    for name in {name for row in cls._refusals for name in row.methods}:
        function = getattr_static(cls, name, None)
        if function is not None and not isinstance(function, _Method):
            setattr(cls, name, _Method(name, function))


_OTHERS = tuple(loss for loss in CLASSIFICATION_LOSSES if loss != "squared_error")
_STREAMS = "partial_fit fit_stream predict_then_learn forget merge trickless.dask.fit"
_POSTERIOR = (
    "sample_y sample_function log_marginal_likelihood log_marginal_likelihood_ return_std=True "
    "return_cov=True method='gaussian' outputs='std' decision_function(return_std=True)"
)
_SINGLE = (
    "forget merge sample_y sample_function log_marginal_likelihood log_marginal_likelihood_ "
    "return_cov=True "
    "decision_function(return_std=True) outputs='std' outputs='interval' alpha_ cv_alphas_ "
    "cv_values_ intercept_ n_iter_ network_ neuron_coef_ noise_variance_ statistics_ theta_"
)
_AUTO, _NUMBER = "'auto' or a list", "half_life=<number>"
_PRIOR = "several half-lives begin with a prior, and learn row after row"
_ONE_EXPERT = f"{_NUMBER}, such as the one with the largest weight in expert_weights_"
_LINK = "use loss='log_loss', or wrap the model in sklearn.calibration.CalibratedClassifierCV"

# fmt: off
SUMS = (
    Refusal("the iterative solver gives no standard deviations",
        "solver='direct', or error_bars=False", error_bars=True, solver="iterative"),
    Refusal("weights within a bound have no standard deviations",
        "weight_bound=None, or error_bars=False", error_bars=True, weight_bound="given"),
    Refusal("passes over the rows need a ridge that is known and above 0", "solver='direct'",
        solver="iterative", alpha=("evidence", 0)),
    Refusal("passes over the rows have no bounds", "solver='direct'",
        solver="iterative", weight_bound="given"),
    Refusal("its passes over the rows are for the squared loss", "solver='direct'",
        solver="iterative", loss=_OTHERS),
    Refusal(_PRIOR, f"loss='squared_error', or {_NUMBER}", half_life=_AUTO, loss=_OTHERS),
    Refusal(_PRIOR, f"weight_bound=None, or {_NUMBER}", half_life=_AUTO, weight_bound="given"),
    Refusal(_PRIOR, f"alpha='auto', or {_NUMBER}", half_life=_AUTO, alpha=("evidence", 0)),
    Refusal(_PRIOR, f"solver='auto', or {_NUMBER}", half_life=_AUTO, solver="iterative"),
    Refusal("many machines are mixed, so there is no single solution", _ONE_EXPERT,
        _SINGLE, half_life=_AUTO),
    Refusal("an ensemble leaves no rows out", "method='auto' or 'gaussian'",
        "method='jackknife+' method='full'", half_life=_AUTO),
    Refusal("an ensemble does not keep the weights of its last rows",
        f"weighted=False, or {_NUMBER}", "weighted=True", half_life=_AUTO),
    Refusal("a single half-life has no experts", "half_life='auto'",
        "expert_weights_ half_lives_ weight_history_", half_life="None or one number"),
    Refusal("there are no standard deviations and probabilities of the rows as they come",
        "half_life='auto' or a list, or a loop over rows",
        "predict_then_learn(return_std=True) predict_then_learn(return_proba=True)",
        half_life="None or one number"),
    Refusal("this loss needs several passes over all rows, and a stream has one",
        "loss='squared_error', fit, or DoublyStochasticClassifier", _STREAMS, loss=_OTHERS),
    Refusal("passes over all rows keep no statistics, to which rows could be added",
        "solver='direct', from the first fit on", _STREAMS, solver="iterative"),
    Refusal("chunks of rows are learned in any order",
        "sample_weight=0.5 ** (age / half_life), where age is how old each row is; or partial_fit "
        "with one chunk after the other", "trickless.dask.fit", half_life="given"),
    Refusal("it has no posterior, and no standard deviations", "loss='squared_error'",
        _POSTERIOR, loss=_OTHERS),
    Refusal("it has no posterior, and no standard deviations", "weight_bound=None",
        _POSTERIOR, weight_bound="given"),
    Refusal("no row can be left out or followed without a refit", f"weight_bound=None, or {SPLIT}",
        "predict_interval predict_set predict_then_learn outputs='interval'", weight_bound="given"),
    Refusal("with this loss, no row can be left out without a refit",
        f"loss='squared_error', or {SPLIT}", "predict_set", loss=_OTHERS),
    Refusal("this loss does not determine probabilities", _LINK,
        "predict_proba predict_log_proba", loss=("hinge", "squared_hinge")),
)

DESCENT = (
    Refusal("steps that fall as 1/i stop to follow a stream that changes",
        "schedule='inverse', whose steps are constant with a half-life",
        "partial_fit", half_life="given", schedule="theorem"),
    Refusal("its steps θ/i need θ alpha to be in (1, 2) or a positive integer",
        "an alpha above 0, or another schedule", schedule="theorem", alpha=0),
    Refusal("its first steps of 1 / alpha overflow where a slope grows as an exponential, as for "
        "losses with a log link", "schedule='inverse'", schedule="theorem", loss=(*LINK_LOSSES,)),
    Refusal("this loss does not predict quantiles", "loss='quantile', or leave quantile out",
        quantile="other than 0.5", loss="other than 'quantile'"),
    Refusal("the loss is 0 everywhere then",
        "a positive epsilon, or loss='epsilon_insensitive' for the absolute error",
        epsilon=0, loss="huber"),
    Refusal("these rows are for early stopping",
        "early_stopping=True, or leave X_val and y_val out", "X_val", early_stopping=False),
    Refusal("no rows are held out, by which they are made",
        f"fit with early_stopping=True, which holds rows out; or {SPLIT}",
        "predict_interval predict_set", early_stopping=False),
    Refusal("this loss does not determine probabilities", _LINK,
        "predict_proba predict_log_proba", loss=("hinge", "squared_hinge", "squared_error")),
)

BOOSTING = (
    Refusal("this loss does not predict quantiles", "loss='quantile', or leave quantile out",
        quantile="other than 0.5", loss="other than 'quantile'"),
    Refusal("slopes of leaves may point the wrong way", "leaves='constant', or 'auto'",
        leaves="linear", monotonic_cst="given"),
    Refusal("only leaves of oblivious trees can be linear", "leaves='constant', or 'auto'",
        leaves="linear", shape="binary"),
    Refusal("only oblivious trees hold to constraints", "shape='oblivious', or 'auto'",
        shape="binary", monotonic_cst="given"),
    Refusal("only oblivious trees hold to constraints", "shape='oblivious', or 'auto'",
        shape="binary", interaction_cst="given"),
    Refusal("these rows are for early stopping",
        "early_stopping=True, or leave X_val and y_val out", "X_val", early_stopping=False),
    Refusal("no rows are held out, by which they are made",
        f"fit with early_stopping=True, which holds rows out; or {SPLIT}",
        "predict_interval predict_set", early_stopping=False),
)

_THEOREM = "theorem", "theorem-fixed"
ROUNDS: tuple[Refusal, ...] = (
    Refusal("a constant step must be given", "step_size=0.05, or schedule='sqrt'",
        schedule="constant", step_size="auto"),
    Refusal("the theorem compares with one function for all rows",
        "schedule='sqrt', or half_life=None", schedule=_THEOREM, half_life="given"),
    Refusal("the theorem needs the number of rounds", "horizon=len(X), or schedule='sqrt'",
        schedule=_THEOREM, horizon=None),
    Refusal("the theorem is about runs that keep every support point",
        "max_support=None, or schedule='sqrt'", schedule=_THEOREM, max_support="given"),
)

_BOUND = "estimate_bound=1.0 for frequencies; else the largest absolute estimate"
KERNEL = (
    *ROUNDS,
    Refusal("the theorem needs to know how large an estimate may be", _BOUND,
        schedule=_THEOREM, kernel="a function", estimate_bound=None),
    Refusal("the bound depends on how large an estimate may be", _BOUND,
        "certify", kernel="a function", estimate_bound=None),
)
# fmt: on

"""Calls of public methods with parameters that they do not have."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import wraps
from inspect import Signature, signature
from typing import Any

from trickless.errors import InvalidTypeError

#: What other libraries call the rows by which a fit is stopped early.
_VALIDATION = (
    "eval_set", "eval_X", "eval_y", "eval_metric", "validation_data", "validation_split", "X_val",
    "y_val", "valid_sets", "early_stopping_rounds",
)  # fmt: skip
#: What other libraries call the confidence of an interval.
_INTERVALS = "interval", "intervals", "confidence", "pi", "return_interval"


def checked(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
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
        unknown = next((each for each in options if each not in names), None)
        said = str(error) if unknown is None else f"there is no parameter {unknown!r}"
        remedy = f"the parameters are {', '.join(names)}"
        if unknown is not None:
            remedy = f"{_instead_of(learner, name, unknown, names)}{remedy}"
        raise InvalidTypeError(f"{owner}.{name}: {said}", remedy) from None


def _instead_of(learner: Any, method: str, unknown: str, names: list[str]) -> str:
    """Return what to do instead of passing an unknown parameter; "" if that is unknown."""
    owner, own = type(learner).__name__, learner.get_params(deep=False)
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
    similar = get_close_matches(unknown, names, 1)
    return f"{similar[0]}=...; " if similar else ""

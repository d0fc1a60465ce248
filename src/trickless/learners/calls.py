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


def checked(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method whose errors of calls name the class of the object, and a remedy."""
    parameters = signature(method)
    names = list(parameters.parameters)[1:]

    @wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return method(self, *arguments, **options)
        except TypeError:
            said = _misfit(parameters, self, *arguments, **options)
            if said is None:  # of the method itself
                raise
            owner = type(self).__name__
            unknown = next((each for each in options if each not in names), None)
            said = said if unknown is None else f"there is no parameter {unknown!r}"
            remedy = f"the parameters are {', '.join(names)}"
            if unknown is not None:
                remedy = f"{_instead_of(self, name, unknown, names)}{remedy}"
            raise InvalidTypeError(f"{owner}.{name}: {said}", remedy) from None

    return call


def _misfit(parameters: Signature, *arguments: Any, **options: Any) -> str | None:
    """Return why arguments are not those of a signature, or None if they are."""
    try:
        parameters.bind(*arguments, **options)
    except TypeError as error:
        return str(error)
    return None


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
    similar = get_close_matches(unknown, names, 1)
    return f"{similar[0]}=...; " if similar else ""

"""Checks of arguments, and of results that double precision cannot hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import numpy as np

from trickless._errors import InvalidValueError
from trickless._rules import Rule, anything, check_value, integer, is_real, non_negative, positive

_P = ParamSpec("_P")
_R = TypeVar("_R")


def probability(n_events: int) -> Rule:
    """Return the rule for the probability of each of the events that a bound excludes."""
    wanted = (
        f"a number above 0 and below 1/{n_events}, since the bound holds with probability "
        f"1 - {n_events} delta"
    )
    return anything(wanted, "delta=0.05 is usual", lambda v: is_real(v) and 0 < v * n_events < 1)


def _are_sizes(values: Any) -> bool:
    if not is_real(values) and not (isinstance(values, np.ndarray) and values.dtype.kind in "iuf"):
        return False
    return bool(np.all((values >= 0) & (values < np.inf)))


_COUNT = integer(1, "a number of rows, neurons, values, steps or rounds", math.inf)
_SIZE = positive("1.0 is a start")
_SIZES = anything(
    "a finite number of at least 0, or an array of them", "take the absolute value", _are_sizes
)
#: Rules of the arguments, by name.
_RULES = {
    **dict.fromkeys(("n_rows", "n_neurons", "n_steps", "batch_size", "neurons_per_step"), _COUNT),
    **dict.fromkeys(("horizon", "width"), _COUNT),
    **dict.fromkeys(("weight_bound", "lipschitz", "bound", "alpha", "norm_bound"), _SIZE),
    **dict.fromkeys(("kernel_bound", "half_life"), _SIZE),
    **dict.fromkeys(
        ("smoothness", "risk_of_zero", "one_norm", "variance"), non_negative("0 is the least")
    ),
    "distances": _SIZES,
}


def checked(**own: Rule) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Check the arguments of a function, some by rules of its ``own``, and the range of its result.

    A result that overflows double precision or is undefined raises an error.
    """

    def complete(function: Callable[_P, _R]) -> Callable[_P, _R]:
        name, parameters, rules = function.__name__, signature(function), _RULES | own

        @wraps(function)
        def with_checks(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            for parameter, value in parameters.bind(*args, **kwargs).arguments.items():
                left_out = value is None and parameters.parameters[parameter].default is None
                if parameter in rules and not left_out:
                    check_value(name, parameter, value, rules[parameter])
            try:
                with np.errstate(over="raise", divide="raise", invalid="raise"):
                    answer = function(*args, **kwargs)
                if not np.isfinite(np.asarray(answer, dtype=float)).all():
                    raise OverflowError("the result is not finite")
            except ArithmeticError as error:
                raise InvalidValueError(
                    f"{name}: no result for {[*args, *kwargs.values()]!r} in double precision: "
                    f"{error}",
                    "less extreme arguments",
                ) from error
            return answer

        return with_checks

    return complete

"""Checks of arguments, and of results that double precision cannot hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import numpy as np

from trickless.errors import InvalidValueError
from trickless.rules import Rule, anything, check_value, integer, is_real, non_negative, positive

_P = ParamSpec("_P")
_R = TypeVar("_R")


def at_least(least: int, remedy: str) -> Rule:
    """Return the rule for an integer of any size."""
    return integer(least, remedy, math.inf)


def probability(n_events: int, remedy: str) -> Rule:
    """Return the rule for the probability of each of the events that a bound excludes."""
    wanted = (
        f"a number above 0 and below 1/{n_events}, since the bound holds with probability "
        f"1 - {n_events} delta"
    )
    return anything(wanted, remedy, lambda v: is_real(v) and 0 < v * n_events < 1)


def _are_sizes(values: Any) -> bool:
    if not is_real(values) and not (isinstance(values, np.ndarray) and values.dtype.kind in "iuf"):
        return False
    return bool(np.all((values >= 0) & (values < np.inf)))


_SIZES = anything(
    "a finite number of at least 0, or an array of them", "take the absolute value", _are_sizes
)
#: Rules of the arguments, by name.
_RULES = {
    "distances": _SIZES,
    "variance": non_negative("variance=0 is for exact kernels"),
    "n_rows": at_least(1, "it counts training rows"),
    "n_neurons": at_least(1, "it counts draws of w"),
    "weight_bound": positive("weight_bound=1.0 is a start"),
    "lipschitz": positive("lipschitz=1.0 is for the hinge and the logistic loss"),
    "width": integer(1, "width=2 is for cosines and sines"),
    "bound": positive("bound=1.0 is for most families"),
    "n_steps": at_least(1, "it is the number of steps"),
    "alpha": positive("alpha=0.1 suits the steps of the theorem"),
    "smoothness": non_negative("it is 1/4 for the logistic loss"),
    "batch_size": at_least(1, "batch_size=1 is the paper's"),
    "neurons_per_step": at_least(1, "neurons_per_step=1 is the paper's"),
    "risk_of_zero": non_negative("it is a mean loss"),
    "horizon": at_least(1, "it is the number of rounds"),
    "norm_bound": positive("norm_bound=1.0 is a good start"),
    "one_norm": non_negative("one_norm is the sum of |alpha|"),
    "kernel_bound": positive("the paper has kernel_bound=1.0"),
    "half_life": positive("half_life=1000 is a number of rows"),
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
                if parameter in rules and value is not None:
                    check_value(name, parameter, value, rules[parameter])
            try:
                with np.errstate(over="raise", divide="raise", invalid="raise"):
                    answer: Any = function(*args, **kwargs)
                    parts = answer if isinstance(answer, tuple) else (answer,)
                    if not all(np.isfinite(np.asarray(part, dtype=float)).all() for part in parts):
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

"""Which levels of confidence there are, and how many rows they need."""

from __future__ import annotations

import math
from typing import Any

from sklearn.exceptions import NotFittedError

from trickless._errors import InvalidValueError
from trickless._rules import Rule, check_value, is_real

#: Products of a level and a number of rows this close to an integer are that integer.
ROUNDING = 1e-9


def confidence_rule(name: str) -> Rule:
    """Return the rule of a parameter that is the probability to cover a new target."""
    return Rule(
        "a number between 0 and 1",
        f"{name}=0.9 covers nine of ten new targets",
        is_real,
        lambda v: 0 < v < 1,
    )


def check_confidence(owner: str, confidence: Any) -> None:
    """Raise an error unless this is a probability between 0 and 1."""
    check_value(owner, "confidence", confidence, confidence_rule("confidence"))


def rank(n_rows: float, confidence: float) -> int:
    """Return the rank ⌈c (n + 1)⌉ of the score that bounds a new one, among n scores."""
    return math.ceil(confidence * (n_rows + 1) - ROUNDING)


def rows_needed(confidence: float) -> int:
    """Return the least number of rows whose largest score bounds a new one with confidence."""
    return math.ceil(confidence / (1 - confidence) - ROUNDING)


def check_enough(owner: str, what: str, n_rows: float, confidence: float, remedy: str) -> None:
    """Raise an error if so many rows cannot bound a new one with confidence."""
    least = rows_needed(confidence)
    if n_rows < least:
        most = math.floor(1000 * n_rows / (n_rows + 1)) / 1000
        raise InvalidValueError(
            f"{owner}: confidence={confidence!r} needs the errors of at least {least:,} rows, but "
            f"{what} {n_rows:,.0f}",
            f"{remedy}; or a confidence of at most {most:g}" if most else remedy,
        )


def check_has(owner: Any, name: str, method: str) -> None:
    """Raise an error if an object lacks what a method of it sets."""
    if not hasattr(owner, name):
        raise NotFittedError(
            f"{type(owner).__name__}: there are no errors of the model so far. Remedy: {method} "
            "first."
        )

"""Rules for the parameters of the estimators of this folder."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from trickless.errors import InvalidValueError
from trickless.rules import is_real, shown

#: Half-lives in rows that suit streams with abrupt drifts as well as without any.
HALF_LIVES = (50.0, 500.0, 5000.0)


def check(model: Any) -> None:
    """Raise an error for parameters that cannot be used."""
    owner = type(model).__name__
    n = model.n_neurons
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
        raise InvalidValueError(
            f"{owner}: n_neurons={shown(n)}, but it must be an integer of at least 1",
            "n_neurons=96 is the default",
        )
    lives = getattr(model, "half_lives", (1.0,))
    if not isinstance(lives, tuple) or not lives or not all(is_real(h) and h > 0 for h in lives):
        raise InvalidValueError(
            f"{owner}: half_lives={shown(lives)}, but it must be a tuple of numbers above 0",
            "half_lives=(50.0, 500.0, 5000.0) is the default",
        )

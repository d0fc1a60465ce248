"""Predictions whose answers have not come yet."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from trickless.river.columns import Key

#: The most rows that wait for their answers.
_MOST = 1024


class Question(NamedTuple):
    """A row that was asked for.

    ``at`` is how many rows were learned before, ``last`` are the columns of the last answer that
    was known, and ``opinions`` are the predictions of all experts.
    """

    at: int
    last: dict[Key, float]
    opinions: np.ndarray


class Questions:
    """The latest question about each row, until its answer comes.

    Experts are judged by what they predicted without the answers that came in between, and learn
    from the last answer that was known. Rows are recognised by their features.
    """

    def __init__(self) -> None:
        self._asked: dict[Key, Question] = {}

    def ask(self, x: Mapping[Hashable, Any], question: Question) -> None:
        """Keep a question, and discard the oldest one if there are too many."""
        key = _key(x)
        if key is None:
            return
        self._asked.pop(key, None)
        self._asked[key] = question
        if len(self._asked) > _MOST:
            del self._asked[next(iter(self._asked))]

    def answer(self, x: Mapping[Hashable, Any]) -> Question | None:
        """Return the question about a row, if there was one, and discard it."""
        key = _key(x)
        return None if key is None else self._asked.pop(key, None)


def _key(x: Mapping[Hashable, Any]) -> Key | None:
    """Return the features that are not NaN, or None if they are not hashable."""
    try:
        key = tuple([item for item in x.items() if item[1] == item[1]])
        hash(key)
    except (TypeError, ValueError, ArithmeticError):  # of pandas.NA, masked values, or Decimal
        return None
    return key

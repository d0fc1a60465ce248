r"""Adaptive prediction sets: classes in the order of their probabilities, as many as are needed.

The score of a class is the probability of all classes that are more likely. A set holds the classes
whose score is at most a quantile of the scores of the true classes, so it always holds the most
likely class. Y. Romano, M. Sesia and E. J. Candès, "Classification with valid and adaptive
coverage", NeurIPS 2020, count the class itself as well, times a random number. Without it, no set
is empty, and none depends on chance.
"""

from __future__ import annotations

import numpy as np

from trickless._rules import boolean

#: Rule of whether each class has a bound of its own.
BY_CLASS = boolean("by_class=True holds each class with this probability, and False their average")


def scores_of_classes(probabilities: np.ndarray) -> np.ndarray:
    """Return the probability of all classes that are more likely than each, (n_rows, n_classes)."""
    order = np.argsort(-probabilities, axis=1, kind="stable")
    sorted_ = np.take_along_axis(probabilities, order, axis=1)
    above = np.maximum(np.cumsum(sorted_, axis=1) - sorted_, 0)
    return np.take_along_axis(above, np.argsort(order, axis=1), axis=1)

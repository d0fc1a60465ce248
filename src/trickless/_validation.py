"""Every check of user input, and its wording.

Each message names the parameter, the value, the cause and the remedy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.utils.validation import _check_sample_weight


class Rule(NamedTuple):
    """What a parameter must be: its type, its value, and a remedy for the user who missed it."""

    wanted: str
    remedy: str
    has_type: Callable[[Any], bool]
    accepts: Callable[[Any], bool] = lambda value: True


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def integer(low: int, remedy: str) -> Rule:
    """An integer of at least ``low``."""
    return Rule(f"an integer of at least {low}", remedy, _is_integer, lambda v: v >= low)


def positive(remedy: str) -> Rule:
    """A finite number above 0."""
    return Rule("a finite number above 0", remedy, _is_real, lambda v: 0 < v < np.inf)


def non_negative(remedy: str) -> Rule:
    """A finite number of at least 0."""
    return Rule("a finite number of at least 0", remedy, _is_real, lambda v: 0 <= v < np.inf)


def choice(*options: str, remedy: str) -> Rule:
    """One of the named options."""
    names = " or ".join(repr(option) for option in options)
    return Rule(names, remedy, lambda v: isinstance(v, str), lambda v: v in options)


def anything(wanted: str, remedy: str, accepts: Callable[[Any], bool]) -> Rule:
    """Whatever ``accepts`` accepts."""
    return Rule(wanted, remedy, lambda value: True, accepts)


def either(*rules: Rule) -> Rule:
    """Any of several rules; the remedy of the first is shown."""
    return Rule(
        " or ".join(rule.wanted for rule in rules),
        rules[0].remedy,
        lambda value: any(rule.has_type(value) for rule in rules),
        lambda value: any(rule.has_type(value) and rule.accepts(value) for rule in rules),
    )


def is_range(value: Any) -> bool:
    """Whether a value is a pair of finite numbers, the lower first."""
    pair = isinstance(value, tuple | list) and len(value) == 2 and all(map(_is_real, value))
    return pair and -np.inf < value[0] < value[1] < np.inf


N_JOBS = anything(
    "None or an integer other than 0",
    "n_jobs=None uses as many threads as BLAS, n_jobs=-1 every core",
    lambda v: v is None or (_is_integer(v) and v != 0),
)
DTYPE = anything(
    "'float32' or 'float64'",
    "dtype='float32' is faster; dtype='float64' for badly scaled inputs",
    lambda v: v in ("float32", "float64", np.float32, np.float64),
)


def check_parameters(owner: Any, rules: Mapping[str, Rule]) -> None:
    """Check an object's parameters against its rules.

    Raises
    ------
    TypeError, ValueError
        Naming the object, the parameter, its value, what it must be and a remedy.
    """
    for name, rule in rules.items():
        check_value(type(owner).__name__, name, getattr(owner, name), rule)


def check_value(owner: str, name: str, value: Any, rule: Rule) -> None:
    """Check one value against a rule."""
    typed = rule.has_type(value)
    if typed and rule.accepts(value):
        return
    error = ValueError if typed else TypeError
    raise error(f"{owner}: {name}={value!r}, but it must be {rule.wanted}. Remedy: {rule.remedy}.")


def check_sparse(owner: str, neurons: Any, X: Any) -> None:
    """Refuse a sparse X where the neurons cannot take it."""
    if scipy.sparse.issparse(X) and not neurons.accepts_sparse:
        raise TypeError(
            f"{owner}: X is a sparse matrix of shape {X.shape}, but "
            f"neurons={type(neurons).__name__}() works on dense rows only. Remedy: pass "
            "X.toarray(), or choose neurons that take sparse rows, such as 'gaussian'."
        )


def check_weights(owner: str, sample_weight: Any, X: Any) -> np.ndarray | None:
    """Validate sample weights; ``None`` stays ``None``."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight)
    if weight.size and not weight.any():
        raise ValueError(
            f"{owner}: sample_weight is zero for all {weight.size} rows, so there is nothing to "
            "learn from. Remedy: give at least one row a positive weight."
        )
    return _check_sample_weight(weight, X, dtype=np.float64, ensure_non_negative=True)


def check_classes(owner: str, classes: np.ndarray) -> None:
    """A classifier needs two classes at least."""
    if len(classes) < 2:
        raise ValueError(
            f"{owner}: y holds only one class, {classes.tolist()[0]!r}, and a classifier needs at "
            "least two classes. Remedy: check the split, or pass classes= with all labels to "
            "partial_fit."
        )


def check_known_labels(owner: str, labels: np.ndarray, classes: np.ndarray) -> None:
    """Labels of a later batch must be among the classes fixed by the first."""
    unknown = np.setdiff1d(labels, classes)
    if unknown.size:
        raise ValueError(
            f"{owner}: y holds the label(s) {unknown.tolist()}, which are not among the classes "
            f"{classes.tolist()} fixed by the first batch. Remedy: pass classes= with all labels "
            "to the first call of partial_fit."
        )


def check_drawn(owner: str, weights: Any, n: int) -> None:
    """``Neurons.draw`` must return a tuple of arrays with n entries each."""
    if not isinstance(weights, tuple) or any(len(array) != n for array in weights):
        what = (
            f"arrays of shapes {[np.shape(array) for array in weights]}"
            if isinstance(weights, tuple)
            else f"a {type(weights).__name__}"
        )
        raise TypeError(
            f"{owner}.draw(rng, n={n}) returned {what}, but it must return a tuple of arrays with "
            f"n entries along the first axis. Remedy: return (array,) for a single array."
        )


def check_range(owner: str, targets: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Targets must lie in the range that is mapped to [-1, 1]."""
    outside = (targets < low) | (targets > high)
    if outside.any():
        row, output = np.argwhere(outside)[0]
        raise ValueError(
            f"{owner}: y holds {targets[row, output]:g} (row {row}), outside of y_range="
            f"({low[output]:g}, {high[output]:g}), which is mapped to the [-1, 1] that the online "
            "guarantee assumes. Remedy: declare y_range=(low, high) wide enough for every batch."
        )

"""Constraints on trees: along which features predictions are monotone, and which may interact."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._rules import shown


def monotonic_signs(learner: Any) -> np.ndarray | None:
    """Return 1 for features along which f must not fall, -1 where it must not rise, else 0."""
    given, owner, n = learner.monotonic_cst, type(learner).__name__, learner.n_features_in_
    if given is None:
        return None
    if isinstance(given, dict):
        values = np.zeros(n)
        for name, value in given.items():
            known = isinstance(value, int | np.integer) and -1 <= int(value) <= 1
            values[_number(learner, "monotonic_cst", name)] = value if known else np.nan
    else:
        try:
            values = np.asarray(given, dtype=float)
        except (TypeError, ValueError, OverflowError):
            values = np.empty(0)
    if values.shape != (n,) or not np.isin(values, (-1, 0, 1)).all():
        raise InvalidValueError(
            f"{owner}: monotonic_cst={shown(given)}, but it must have -1, 0 or 1 for each of the "
            f"{n} features of X",
            "such a list, or a dictionary from names of features to such numbers",
        )
    if not values.any():
        return None
    of_code = learner.neurons_.bins_.of_code
    if some := [j for j in np.flatnonzero(values).tolist() if of_code[j] is not None]:
        raise InvalidValueError(
            f"{owner}: monotonic_cst={shown(given)}, but feature {some[0]} of X has categories, "
            "which have no order",
            "0 for this feature, or numbers instead of categories",
        )
    if learner._targets_.n_outputs > 1 and not learner._numeric:
        raise InvalidValueError(
            f"{owner}: monotonic_cst={shown(given)} with {learner._targets_.n_outputs} classes, "
            "but only the probability of one of two classes can be monotone",
            "monotonic_cst=None, or two classes",
        )
    return values.astype(np.int8)


def interactions(learner: Any) -> np.ndarray | int | None:
    """Return which features may be in one tree: sets, bool (n_groups, n_features), or how many."""
    given, n = learner.interaction_cst, learner.n_features_in_
    if given is None:
        return None
    if isinstance(given, str):
        known = {"no_interactions": 1, "pairwise": 2}
        if given not in known:
            raise _wrong_sets(learner, given)
        return known[given]
    try:
        sets = [[_number(learner, "interaction_cst", j) for j in each] for each in given]
    except TypeError as error:
        raise _wrong_sets(learner, given) from error
    others = set(range(n)).difference(*sets)
    groups = np.zeros((len(sets) + bool(others), n), dtype=bool)
    for group, each in zip(groups, [*sets, *([sorted(others)] if others else [])], strict=True):
        group[each] = True
    return groups


def _wrong_sets(learner: Any, given: Any) -> Exception:
    return InvalidTypeError(
        f"{type(learner).__name__}: interaction_cst={shown(given)}, but it must be 'pairwise', "
        "'no_interactions', or sets of features",
        "interaction_cst=[{0, 1}, {2}], for instance",
    )


def _number(learner: Any, parameter: str, feature: Any) -> int:
    """Return the number of a feature, which is given by its number or its name."""
    names = getattr(learner, "feature_names_in_", None)
    if isinstance(feature, str) and names is not None and feature in names:
        return int(np.flatnonzero(names == feature)[0])
    if isinstance(feature, int | np.integer) and 0 <= feature < learner.n_features_in_:
        return int(feature)
    raise InvalidValueError(
        f"{type(learner).__name__}: {parameter} names the feature {shown(feature)}, but X has "
        f"{learner.n_features_in_} features" + ("" if names is None else " with other names"),
        "numbers from 0 on, or names of the columns of a data frame",
    )

"""Groups of rows that are alike, such as those of one patient."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from trickless._errors import InvalidValueError
from trickless._learners.held_out_rows import groups_of
from trickless._rules import shown, warn

#: The most rows and columns that are compared, and the least rows that tell.
_MOST_ROWS, _MOST_COLUMNS, _LEAST_ROWS = 4096, 30, 100
#: The least number of values of a column that may tell groups apart, and the least rows of a group,
#: on average.
_LEAST_VALUES, _ROWS_OF_GROUP = 20, 3.0
#: Pairs of values that are few: relative to the values of one column, and to the pairs of columns
#: that know nothing of each other. The correlation from which on a column is the other in a new
#: unit.
_OF_ONE, _OF_INDEPENDENT, _SAME = 1.5, 1 / 4, 0.9


def check_groups(learner: Any, groups: Any) -> None:
    """Raise an error for groups with parameters that do not leave rows out of sums."""
    if groups is None:
        return
    usual = {"loss": "squared_error", "half_life": None, "weight_bound": None}
    for name, value in usual.items():
        if (given := learner._value(name)) != value:
            raise InvalidValueError(
                f"{type(learner).__name__}: groups do not go with {name}={shown(given)}, since "
                "rows of a group are left out of the sums of least squares",
                f"{name}={value!r}, or boosted trees, which hold groups out",
            )
    if learner.solver == "iterative":
        raise InvalidValueError(
            f"{type(learner).__name__}: groups do not go with solver='iterative', which has no "
            "sums",
            "solver='direct'",
        )


def groups_to_leave_out(learner: Any, groups: Any, y: Any, sample_weight: Any) -> np.ndarray | None:
    """Return the numbers, from 0 on, of the groups of rows that count, if there are groups."""
    if groups is None:
        return None
    numbers = groups_of(learner, groups, y, sample_weight)
    if numbers.max() == 0:
        raise InvalidValueError(
            f"{type(learner).__name__}: groups has one value only, so that no group is left to "
            "learn from while another is left out",
            "at least two groups, or groups=None if new rows come from this group",
        )
    return numbers


def warn_of_groups(learner: Any, X: Any) -> None:
    """Warn if two columns take the same pairs of values in many rows, as if rows came in groups.

    Two columns that know nothing of each other have nearly as many pairs of values as rows. Few
    pairs mean that they are constant within something that the rows share.
    """
    if not isinstance(X, np.ndarray) or len(X) < _LEAST_ROWS or X.ndim != 2:
        return
    X = X[:: -(-len(X) // _MOST_ROWS)] if len(X) > _MOST_ROWS else X
    codes, n_values, which = [], [], []
    for j in range(X.shape[1]):
        values, code = np.unique(X[:, j], return_inverse=True)
        if _LEAST_VALUES <= len(values) <= len(X) / _ROWS_OF_GROUP:
            codes.append(code.ravel())
            n_values.append(len(values))
            which.append(j)
        if len(which) == _MOST_COLUMNS:
            break
    for a, b in combinations(range(len(which)), 2):
        counts = np.bincount(codes[a] * n_values[b] + codes[b], minlength=n_values[a] * n_values[b])
        n_pairs, most = int((counts > 0).sum()), max(n_values[a], n_values[b])
        if n_pairs > min(_OF_ONE * most, len(X) / _ROWS_OF_GROUP):
            continue
        shares = [np.bincount(codes[i]) / len(X) for i in (a, b)]
        expected = -np.expm1(len(X) * np.log1p(-np.multiply.outer(*shares))).sum()
        if n_pairs > _OF_INDEPENDENT * expected:
            continue
        if abs(np.corrcoef(codes[a], codes[b])[0, 1]) > _SAME:
            continue
        names = getattr(learner, "feature_names_in_", np.arange(X.shape[1]))
        one, other = (f"{names[which[i]]!s}" for i in (a, b))
        warn(
            f"{type(learner).__name__}: columns {one} and {other} take the same {n_pairs:,} pairs "
            f"of values in {len(X):,} rows, as if rows came in groups, such as those of a patient. "
            "Rows of one group know each other's target, so intervals, sets and alpha are not for "
            "new groups. Remedy: fit(X, y, groups=...) with the group of each row; or ignore this "
            "if new rows come from the same groups."
        )
        return

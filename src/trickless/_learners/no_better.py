"""A warning where rows that a fit left out are predicted no better than by a constant."""

from __future__ import annotations

from typing import Any

from trickless._rules import warn

#: Rows below which chance decides, and how many columns of noise may explain what was explained.
_LEAST_ROWS, _COLUMNS_OF_NOISE = 20, 2


def warn_if_no_better(learner: Any, explained: float | None, n_rows: int) -> None:
    """Warn if left-out rows say that no more of the loss is explained than noise would explain.

    A column of noise explains 1 / n of the variance of n rows. None says that it is not known.
    """
    if explained is None or n_rows < _LEAST_ROWS or explained > _COLUMNS_OF_NOISE / n_rows:
        return
    n_columns = learner.n_features_in_
    own = type(learner).__name__
    trees = "" if own.startswith("BoostedTrees") else "boosted trees, "
    linear = "LogisticRegressionCV" if hasattr(learner, "classes_") else "LassoCV"
    cause = "the columns may not tell the targets"
    if n_columns > n_rows:
        cause = "most columns may not matter"
    elif not trees:
        cause = "the columns may not tell the targets, or there are too few rows"
    warn(
        f"{own}: rows that are left out of the fit are predicted no better than by a constant: "
        f"{max(explained, 0.0):.1%} of their loss is explained, with {n_columns:,} columns and "
        f"{n_rows:,} rows, so {cause}. Remedy: {trees}a linear model such as scikit-learn's "
        f"{linear}, or other columns."
    )

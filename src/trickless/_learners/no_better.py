"""Warnings where a fit has learned nothing: of rows that it left out, or even of its own rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless._rules import warn

#: Rows below which chance decides, and how many columns of noise may explain what was explained.
_LEAST_ROWS, _COLUMNS_OF_NOISE = 20, 2
#: Rows below which one pass is too short to tell, the most that are looked at, and the share of
#: their variance that a pass should explain.
_LEAST_OF_A_PASS, _MOST_OF_A_PASS, _SHARE_OF_A_PASS = 400, 1000, 0.05


def warn_if_no_better(learner: Any, explained: float | None, n_rows: int) -> None:
    """Warn if left-out rows say that no more of the loss is explained than noise would explain.

    A column of noise explains 1 / n of the variance of n rows. None says that it is not known.
    """
    if explained is None or n_rows < _LEAST_ROWS or explained > _COLUMNS_OF_NOISE / n_rows:
        return
    n_columns = learner.n_features_in_
    own = type(learner).__name__
    linear = "LogisticRegressionCV" if hasattr(learner, "classes_") else "LassoCV"
    others = f"a linear model such as scikit-learn's {linear}, or other columns"
    if own.startswith("Auto"):  # which has tried these
        others = "other columns, or more rows"
    elif not own.startswith("BoostedTrees"):
        others = f"boosted trees, {others}"
    cause = "the columns may not tell the targets"
    if n_columns > n_rows:
        cause = "most columns may not matter"
    elif own.startswith(("BoostedTrees", "Auto")):
        cause = "the columns may not tell the targets, or there are too few rows"
    warn(
        f"{own}: rows that are left out of the fit are predicted no better than by a constant: "
        f"{max(explained, 0.0):.1%} of their loss is explained, with {n_columns:,} columns and "
        f"{n_rows:,} rows, so {cause}. Remedy: {others}."
    )


def warn_if_hardly_learned(learner: Any, X: Any, targets: np.ndarray) -> None:
    """Warn if a function hardly explains the targets of the rows that one pass has learned."""
    n_rows = len(targets)
    if n_rows < _LEAST_OF_A_PASS:
        return
    some = slice(max(0, n_rows - _MOST_OF_A_PASS), n_rows)
    values, targets = np.asarray(learner._function(X[some])), targets[some]
    spread = ((targets - targets.mean(axis=0)) ** 2).sum(axis=0)
    explained = 1 - ((targets - values) ** 2).sum(axis=0)[spread > 0] / spread[spread > 0]
    if explained.size and explained.max() < _SHARE_OF_A_PASS:
        warn(
            f"{type(learner).__name__}: after one pass over {n_rows:,} rows, the function explains "
            f"{max(explained.max(), 0.0):.1%} of the variance of these rows. The columns may not "
            "tell the targets, or the pass is too short. Remedy: Kitchen Sinks with the same "
            "neurons, which solves for the coefficients; more rows; or a larger norm_bound, which "
            "makes longer steps."
        )

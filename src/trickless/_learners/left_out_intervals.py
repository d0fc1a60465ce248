"""Intervals of Kitchen Sinks, by leaving out rows one by one."""

from __future__ import annotations

from typing import Any

from trickless._arrays.likes import MatrixLike
from trickless._arrays.states import in_one_state
from trickless._errors import InvalidValueError
from trickless._learners.gaussian_process import intervals_by_deviations
from trickless._learners.growing_sums import check_statistics
from trickless._learners.half_life_experts import is_ensemble
from trickless._learners.intervals import (
    intervals_by_errors,
    intervals_by_experts,
    intervals_by_leaving_out,
)
from trickless._learners.regressor import Regressor
from trickless._rules import choice

#: Rule of the ways to make intervals.
METHODS = choice(
    "auto", "jackknife+", "full", "gaussian", remedy="method='auto' leaves rows out one by one"
)


@in_one_state
def predict_interval(
    self: Any,
    X: MatrixLike,
    confidence: float = 0.9,
    method: str = "auto",
    *,
    weighted: bool = False,
) -> Any:
    """Predict intervals that hold new targets with a probability of ``confidence``.

    Up to 2,048 rows are left out one by one, without a refit.

    Parameters
    ----------
    X : array, CSR matrix or data frame of shape (n_rows, n_features)
        Rows to predict.
    confidence : float, default=0.9
        The probability that a target is in its interval, for each output by itself. It is an
        average over rows, which must come from the same source as the training rows.
    method : {"auto", "jackknife+", "full", "gaussian"}, default="auto"
        How the intervals are made.

        - "jackknife+" [1]_ adds the errors at the rows to the predictions without them, and
          takes quantiles. For given parameters, the probability is at least
          2 ``confidence`` − 1, and in practice close to ``confidence``.
        - "full" [2]_ asks of each possible target whether the new row would be among the rows
          with the largest errors, if it had been learned with this target. For given
          parameters, the probability is at least ``confidence``.
        - "gaussian" adds and subtracts standard deviations, as if errors were normal, times
          quantiles of Student's t distribution. Intervals are wider away from the training
          rows. For a given alpha, the probability is ``confidence`` if errors are normal. If
          alpha was chosen, it is up to 1 / (n + 1) less in simulations. Nothing is known for
          other errors.
        - "auto" is "jackknife+". After passes over the rows, and without sums, it takes a
          quantile of the errors that all rows would have with the mean leverage. Intervals
          are then too narrow if there are few rows for each column. The mean leverage is only
          known for an ``alpha`` that was chosen.
    weighted : bool, default=False
        Whether rows count by their ``sample_weight``. By default each row counts once, and
        intervals hold targets of rows as they come, whatever their weights in the fit. With
        True, they hold targets of the rows that the weights stand for, if these are ratios of
        densities. In both cases, rows fade with ``half_life``.

    Returns
    -------
    float64 array of shape (n_rows, 2) or (n_rows, n_outputs, 2)
        Lower and upper ends, in the library and on the device of X.

    Raises
    ------
    ValueError
        If there are too few rows for the confidence, or if the model cannot leave rows out.

    Notes
    -----
    With several half-lives, the errors are those at the last 1,024 rows before they were
    learned, relative to the standard deviations that were predicted. They fade as the experts
    do. "gaussian" then multiplies the deviations by the root mean square of these errors.

    Rows must differ by chance. Copies of a row, as from oversampling, know each other's target,
    so that intervals become too narrow.

    Alpha and the length scale are chosen by the same rows, so that errors at these rows are a
    little too small. Quantiles are therefore taken one rank further for the choice of alpha,
    and another one for learned relevance, as simulations say. A rank adds about 1 / (n + 1) to
    the probability, so this hardly matters for many rows. It is too little for learned
    relevance of 50 rows or fewer.

    References
    ----------
    .. [1] R. Foygel Barber et al., "Predictive inference with the jackknife+", Annals of
       Statistics 49(1), 2021.
    .. [2] I. Nouretdinov, T. Melluish and V. Vovk, "Ridge regression confidence machine", ICML
       2001, with the errors of E. Burnaev and V. Vovk, "Efficiency of conformalized ridge
       regression", COLT 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import KitchenSinksRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KitchenSinksRegressor(n_neurons=200, random_state=0).fit(X[:300], y[:300])
    >>> low, high = model.predict_interval(X[300:]).T
    >>> bool(((low <= y[300:]) & (y[300:] <= high)).mean() > 0.8)
    True
    """
    return Regressor.predict_interval(self, X, confidence, method, weighted=weighted)


def intervals(self: Any, X: MatrixLike, confidence: float, method: str, weighted: bool) -> Any:
    """Return intervals by a method that suits the model."""
    if is_ensemble(self):
        return intervals_by_experts(self, X, confidence, method, weighted)
    if method == "gaussian":
        return intervals_by_deviations(self, X, confidence, weighted)
    if has_errors_only(self, method):
        return intervals_by_errors(self, X, confidence, weighted)
    return intervals_by_leaving_out(self, X, confidence, method, weighted)


def has_errors_only(learner: Any, method: str = "auto") -> bool:
    """Return whether intervals come from errors of a kind; else rows can be left out.

    Raises an error if they can come from neither.
    """
    sums = learner._sums_
    if sums.has_groups:
        if method != "auto":
            raise InvalidValueError(
                f"{type(learner).__name__}: method={method!r} leaves rows out one by one, but the "
                "model was fitted with groups, whose rows know each other's targets",
                "method='auto', which leaves out groups",
            )
        return True
    if method == "auto" and sums.has_unseen and not sums.has_left_out:
        _check_leverage(learner)
        return True
    _check_left_out(learner)
    return False


def _check_left_out(learner: Any) -> None:
    """Raise an error if a fitted model cannot leave rows out."""
    if not learner._sums_.has_left_out:
        check_statistics(learner)


def _check_leverage(learner: Any) -> None:
    """Raise an error if a model of passes only has errors at rows that it has learned from."""
    if learner._solution().leverage is None:
        raise InvalidValueError(
            f"{type(learner).__name__}: the model was solved in passes over the rows for alpha="
            f"{learner.alpha!r}, which does not tell how much its errors at these rows are too "
            "small for predict_interval",
            "error_bars=True, alpha='auto', or trickless.conformal.SplitConformal with rows of "
            "yours",
        )

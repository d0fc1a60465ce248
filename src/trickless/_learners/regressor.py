"""What every learner of numbers answers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from trickless._arrays.likes import ArrayLike, MatrixLike
from trickless._arrays.places import HOST, place_of
from trickless._arrays.states import in_one_state
from trickless._docstrings import completed_by
from trickless._learners.arguments import LEARNING, NUMBERS, PREDICTING, SCORING
from trickless._learners.base import Learner, scored_by
from trickless._learners.intervals import WEIGHTED, intervals_by_errors
from trickless._learners.quantiles import explained, quantiles_of
from trickless._rules import Rule, check_value, choice, with_remedies
from trickless._solvers.named_losses import LINK_LOSSES
from trickless._targets.means import Means
from trickless._targets.targets import Numbers, Quantiles, check_scale
from trickless.conformal.levels import check_confidence


class Regressor(RegressorMixin, Learner):
    """A learner of numbers, one column or several.

    Parameters
    ----------
    epsilon : float, default=0.1
        The error up to which "epsilon_insensitive" is 0 and "huber" is quadratic, in units of y.
        The default suits targets with a standard deviation of about 1.
    quantile : float or sequence of float, default=0.5
        For ``loss="quantile"``: the share of the targets below the prediction. With an increasing
        sequence, all are learned in one fit, and ``predict`` returns a column for each. y must be
        one column then.
    """

    _numeric = True
    _interval_methods: ClassVar[Rule] = choice(
        "auto", "held-out", remedy="method='auto' uses the errors at rows that were not learned"
    )

    def _new_targets(self, y: np.ndarray, classes: Any) -> Numbers:
        owner, loss, levels = type(self).__name__, self._value("loss"), quantiles_of(self)
        if levels is not None:
            return Quantiles(owner, y, self._value("dtype"), len(levels))
        if loss in LINK_LOSSES:
            return Means(owner, y, self._value("dtype"), loss, LINK_LOSSES[loss])
        return Numbers(owner, y, self._value("dtype"))

    @in_one_state
    @completed_by(PREDICTING)
    def predict(self, X: MatrixLike) -> Any:
        """Predict targets.

        Returns
        -------
        float64 array of shape (n_rows,) or (n_rows, n_outputs), as y in ``fit``
            Predicted targets, in the library and on the device of X.
        """
        decisions = self._decide(X)
        return self._targets_.shaped(self._targets_.values(decisions))

    @in_one_state
    @completed_by(PREDICTING)
    def predict_interval(
        self,
        X: MatrixLike,
        confidence: float = 0.9,
        method: str = "auto",
        *,
        weighted: bool = False,
    ) -> Any:
        """Predict intervals that hold new targets with a probability of ``confidence``.

        They are the predictions plus and minus a quantile of the errors at rows that the model had
        not learned from when it predicted them. They need a learner that holds rows out. For other
        learners, use :class:`trickless.conformal.SplitConformal` with a calibration set.

        Parameters
        ----------
        method : {"auto", "held-out"}, default="auto"
            There is one method, which "auto" uses.
        weighted : bool, default=False
            Whether rows count by their ``sample_weight``. By default each row counts once, and
            intervals hold targets of rows as they come, whatever their weights in the fit. With
            True, they hold targets of the rows that the weights stand for, if these are ratios of
            densities.

        Returns
        -------
        float64 array of shape (n_rows, 2) or (n_rows, n_outputs, 2)
            Lower and upper ends, in the library and on the device of X.

        Raises
        ------
        ValueError
            If the model has no rows that it has not learned from, or too few for the confidence.
        """
        check_is_fitted(self)
        check_confidence(type(self).__name__, confidence)
        check_value(type(self).__name__, "method", method, self._interval_methods)
        check_value(type(self).__name__, "weighted", weighted, WEIGHTED)
        return self._intervals(X, confidence, method, weighted)

    def _intervals(self, X: Any, confidence: float, method: str, weighted: bool) -> Any:
        return intervals_by_errors(self, X, confidence, weighted)

    @in_one_state
    @completed_by(NUMBERS, SCORING)
    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the coefficient of determination R²: 1 is perfect, the mean of y has 0.

        If the model was fitted with the loss "quantile" or "absolute_error", the score is D², the
        share of the pinball loss of a constant that is explained: 1 is perfect, and the quantile of
        y has 0. Of several quantiles it is the mean. See :func:`sklearn.metrics.d2_pinball_score`.
        If the loss has a log link, such as "poisson", the score is D², the share of the deviance
        that is explained.
        """
        check_is_fitted(self)
        owner = type(self).__name__
        with with_remedies(owner):
            y = self._scored(y)
            sample_weight = scored_by(owner, y, sample_weight)
            if place_of(y) is HOST:
                check_scale(owner, np.asarray(y, dtype=np.float64), np.dtype(np.float64))
            return explained(self, y, self.predict(X), sample_weight)

    @property
    def n_outputs_(self) -> int:
        """Number of columns of y."""
        return self._targets_.n_outputs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


@completed_by(NUMBERS, LEARNING)
def partial_fit_numbers(self: Any, X: MatrixLike, y: ArrayLike) -> Any:
    """Continue to learn from more rows, in the order given."""
    return self._partial_fit(X, y)

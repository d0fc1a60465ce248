"""Random Kitchen Sinks that predict a number for each row of a River stream."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any

import numpy as np
from river import base

from trickless._docstrings import documented
from trickless._errors import InvalidValueError
from trickless._rules import is_real, shown
from trickless._solvers.experts.opinions import LARGEST_TARGET, NumberOpinions
from trickless.river.learner import RiverLearner


@partial(documented, below=base.MiniBatchRegressor)
class RiverRegressor(RiverLearner, base.MiniBatchRegressor):
    r"""Random Kitchen Sinks that predict a number in a River stream, and forget as it drifts.

    Least squares on random cosines [1]_ is solved again and again, with one set of sums for each
    half-life, as in :class:`~trickless.river.RiverClassifier`. Each machine predicts both
    the target and its change since the last row. Two more experts are the last target and a faded
    mean of all targets. The prediction is the average of all experts, whose weights follow their
    absolute errors, by fixed share [2]_. The last target has half of the weight at first.
    Machines also have the last target as an input.

    Nothing needs to be set. Rows are dictionaries of numbers, Booleans, strings, dates and
    datetimes, and need no scaler. Targets may be delayed, as in the classifier.

    After some rows, a target counts as at most 20 recent root mean squared errors away from its
    prediction, so that a wrong number such as 1e9 does no harm. The limit grows tenfold each time
    it is reached, and returns with a half-life of 500 rows. A new level of the targets is therefore
    learned within a few rows, and a rare category whose targets are far away after a few of them.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks", NIPS 2008.
    .. [2] M. Herbster and M. Warmuth, "Tracking the best expert", Machine Learning 32, 1998.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from trickless.river import RiverRegressor
    >>> model = RiverRegressor(seed=0)
    >>> evaluate.progressive_val_score(datasets.AirlinePassengers(), model, metrics.MAE())
    MAE: 17.90948
    """

    _kind = NumberOpinions

    def predict_one(self, x: dict[Hashable, Any]) -> float:
        """Predict the target of a row, which is 0 before the first.

        Parameters
        ----------
        x : dict
            Features by their names.
        """
        return float(self._average(x))

    def predict_many(self, X: Any) -> Any:
        """Predict the targets of the rows of a data frame.

        Parameters
        ----------
        X : pandas.DataFrame
            Features.
        """
        import pandas as pd

        return pd.Series([self.predict_one(x) for x in X.to_dict("records")], X.index, float)

    def _check_answer(self, y: Any) -> None:
        is_number = is_real(y) or isinstance(y, np.bool_ | bool)
        if not is_number or not abs(float(y)) <= LARGEST_TARGET:
            raise InvalidValueError(
                f"{type(self).__name__}: the target of a row is {shown(y)}",
                f"a number of at most {LARGEST_TARGET:g} in size; learn only rows whose target is "
                "known",
            )

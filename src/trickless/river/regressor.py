"""Random Kitchen Sinks that predict a number for each row of a River stream."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from river import base

from trickless.errors import InvalidValueError
from trickless.functions.stream import as_seed
from trickless.river.mixture import FixedShare
from trickless.river.options import HALF_LIVES, check
from trickless.river.questions import Question, Questions
from trickless.river.simple import LARGEST_TARGET, AbsoluteErrors, LastAndMean
from trickless.river.stream import Stream, last_number
from trickless.rules import is_real, shown

#: The prior weight of the last target.
_LAST = 0.5


class KitchenSinksRegressor(base.MiniBatchRegressor):
    r"""Random Kitchen Sinks that predict a number in a River stream, and forget as it drifts.

    Least squares on random cosines [1]_ is solved again and again, with one set of sums for each
    half-life, as in :class:`~trickless.river.KitchenSinksClassifier`. Each machine predicts both
    the target and its change since the last row. Two more experts are the last target and a faded
    mean of all targets. The prediction is the average of all experts, whose weights follow their
    absolute errors, by fixed share [2]_. The last target has half of the weight at first.
    Machines also have the last target as an input.

    Nothing needs to be set. Rows are dictionaries of numbers, Booleans, strings, dates and
    datetimes, and need no scaler. Targets may be delayed, as in the classifier.

    Parameters
    ----------
    n_neurons : int, default=96
        Number of random cosines and sines of the machines with long half-lives. Those with a
        half-life of up to 2,000 rows use half of them, and those of up to 200 rows the first 16.
    half_lives : tuple of float, default=(50.0, 500.0, 5000.0)
        Half-lives in rows. ``inf`` forgets nothing.
    seed : int or None, default=None
        Seed of the neurons. The same integer gives the same model.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks", NIPS 2008.
    .. [2] M. Herbster and M. Warmuth, "Tracking the best expert", Machine Learning 32, 1998.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from trickless.river import KitchenSinksRegressor
    >>> model = KitchenSinksRegressor(seed=0)
    >>> evaluate.progressive_val_score(datasets.AirlinePassengers(), model, metrics.MAE())
    MAE: 17.994937
    """

    def __init__(
        self,
        n_neurons: int = 96,
        half_lives: tuple[float, ...] = HALF_LIVES,
        seed: int | None = None,
    ) -> None:
        self.n_neurons = n_neurons
        self.half_lives = half_lives
        self.seed = seed
        check(self)
        self._stream = Stream(type(self).__name__, n_neurons, half_lives, as_seed(seed), 2)
        self._simple, self._questions = LastAndMean(), Questions()
        n_experts = 2 * self._stream.machines.n_experts + LastAndMean.n_experts
        prior = np.full(n_experts, (1 - _LAST) / (n_experts - 1))
        prior[-LastAndMean.n_experts] = _LAST
        self._mixture, self._errors = FixedShare(prior), AbsoluteErrors(n_experts)
        self._origin = 0.0

    def learn_one(self, x: dict[Hashable, Any], y: float) -> None:
        """Learn a row.

        Parameters
        ----------
        x : dict
            Features by their names.
        y : float
            Target.

        Raises
        ------
        TypeError
            If a feature is neither a number nor hashable. The model is then unchanged, as after
            the next error.
        ValueError
            If the target is not a number of at most 1e100 in size.
        """
        self._check_target(y)
        y = float(y)
        now = self._ask(x)
        asked = self._questions.answer(x) or now
        self._mixture.learn(self._errors.learn(y - asked.opinions), now.at - asked.at)
        last = self._simple.last if self._simple.weight else y
        self._stream.learn(x, asked.last, (y, last), last_number(y), self._as_targets)
        self._simple.learn(y)

    def predict_one(self, x: dict[Hashable, Any]) -> float:
        """Predict the target of a row, which is 0 before the first.

        Parameters
        ----------
        x : dict
            Features by their names.

        Returns
        -------
        float
            Prediction.
        """
        question = self._ask(x)
        self._questions.ask(x, question)
        return float(self._mixture.weights @ question.opinions)

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a data frame one after the other.

        Parameters
        ----------
        X : pandas.DataFrame
            Features. NaN is a missing value.
        y : pandas.Series
            Targets.

        Raises
        ------
        TypeError, ValueError
            As in ``learn_one``, or if there are more or fewer targets than rows. No row is then
            learned.
        """
        for x, target in self._stream.rows.records(X, y, self._check_target):
            self.learn_one(x, target)

    def predict_many(self, X: Any) -> Any:
        """Predict the targets of the rows of a data frame.

        Parameters
        ----------
        X : pandas.DataFrame
            Features.

        Returns
        -------
        pandas.Series
            Predictions.
        """
        import pandas as pd

        return pd.Series([self.predict_one(x) for x in X.to_dict("records")], X.index, float)

    def _check_target(self, y: Any) -> None:
        is_number = is_real(y) or isinstance(y, np.bool_ | bool)
        if not is_number or not abs(float(y)) <= LARGEST_TARGET:
            raise InvalidValueError(
                f"{type(self).__name__}: the target of a row is {shown(y)}",
                f"a number of at most {LARGEST_TARGET:g} in size; learn only rows whose target is "
                "known",
            )

    def _ask(self, x: dict[Hashable, Any]) -> Question:
        """Return the predictions of all experts for a row."""
        ours, lasts = self._stream.see(x)[0].outputs.T
        simple = self._simple.predictions()
        changes = simple[0] + ours - lasts
        opinions = np.concatenate([ours + self._origin, changes, simple])
        return Question(self._stream.rows.n_rows, self._stream.last, opinions)

    def _as_targets(self, answers: list[tuple[float, float]]) -> np.ndarray:
        targets = np.array(answers)
        if len(targets) > 1:  # the machines start over
            self._origin = float(targets[:, 0].mean())
        return targets - self._origin

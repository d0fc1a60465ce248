r"""Intervals in a stream, whose level follows how often they were right.

Adaptive conformal inference [1]_ moves the level α of the next interval by
:math:`\gamma (\alpha - \mathrm{err})` after each row, where err is 1 if its target was outside. A
small γ is right for a calm stream and a large one after a change, so several run side by side, and
their mean counts each by how well it did lately [2]_.

Over many rows the share outside is α for each γ alone, whatever the stream does, but not for their
mean. The level that is used is therefore the mean plus c, which takes such steps itself:

.. math:: c \leftarrow c + g n (\alpha - \overline{\mathrm{err}})

after a batch of n rows, all of which had intervals of one level, with g = 0.005. The level of each
γ turns back beyond 0 and 1, and steps are below 0.13, so the mean is in [−0.13, 1.13]. If
c < −1.13, intervals are infinite, so err = 0 and c increases. If c > 1.13, err = 1 and c decreases.
|c| therefore stays below 1.13 + g n, where n is the largest batch. The steps add up to c, so after
T rows

.. math:: \Big|\frac{1}{T} \sum_t \mathrm{err}_t - \alpha\Big| \le \frac{1.13 / g + n}{T}

for every sequence of rows [1]_, Proposition 4.1. Batches of more than 200 rows take the step of
200, so for them this is true if all batches are equally large, with T / n batches instead of T
rows, 1 instead of n, and g = 1.

References
----------
.. [1] I. Gibbs and E. J. Candès, "Adaptive conformal inference under distribution shift", NeurIPS
   2021.
.. [2] I. Gibbs and E. J. Candès, "Conformal inference for online prediction with arbitrary
   distribution shifts", JMLR 25, 2024, Algorithm 1 (DtACI).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from trickless._arrays.likes import ArrayLike, MatrixLike
from trickless._docstrings import pages
from trickless._errors import InvalidValueError
from trickless._rules import check_value, integer
from trickless.conformal.intervals import absolute_errors
from trickless.conformal.levels import check_confidence, check_enough, check_has, rows_needed
from trickless.conformal.models import as_predicted, targets_beside, within_range

#: The step g for each row of what is added to the mean of the levels, and the most for a batch.
_STEP, _MOST = 0.005, 1.0
#: Steps γ of the levels that run side by side, and the rows over which they compete.
_STEPS, _ROWS = np.array([0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128]), 500
_WINDOW = integer(10, "window_size=1000 keeps the errors of the last 1,000 rows")


class AdaptiveInterval(BaseEstimator):
    """Intervals for a stream that may drift, around the predictions of an online regressor.

    Each batch is predicted before it is learned. Errors of the last ``window_size`` rows give the
    intervals, and their level follows the share of targets that were outside. After T rows in
    batches of up to 200, that share differs from 1 − ``confidence`` by less than 430 / T, without
    any assumption about the rows. After T equal batches of more rows, it is less than 2.2 / T. At a
    single time it may be more, above all just after a change. The level follows changes within
    some batches, so pass small ones.

    Parameters
    ----------
    estimator : regressor
        A regressor with ``partial_fit``, of any library that follows scikit-learn. It learns from
        the rows that ``partial_fit`` of this object receives.
    confidence : float, default=0.9
        The share of targets that the intervals hold.
    window_size : int, default=1000
        How many rows to keep the errors of, at least 10, and at least
        ``confidence`` / (1 − ``confidence``).

    Attributes
    ----------
    levels_ : array of shape (n_outputs,)
        The levels of the next intervals, which are above ``confidence`` if earlier ones held too
        few targets.
    coverage_ : array of shape (n_outputs,)
        The share of targets that were inside the intervals of ``predict_interval`` before their
        batch was learned, of the rows that had an interval.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless import KitchenSinksRegressor
    >>> from trickless.conformal import AdaptiveInterval
    >>> rng = np.random.default_rng(0)
    >>> stream = AdaptiveInterval(KitchenSinksRegressor(n_neurons=50, random_state=0))
    >>> for _ in range(10):
    ...     X = rng.standard_normal((100, 2))
    ...     stream = stream.partial_fit(X, X[:, 0] + rng.standard_normal(100))
    >>> stream.predict_interval(X).shape
    (100, 2)
    """

    _doc_link_module = "trickless"
    _doc_link_template = pages("trickless.conformal")
    _has_learned = False

    def __init__(self, estimator: Any, confidence: float = 0.9, window_size: int = 1000) -> None:
        self.estimator = estimator
        self.confidence = confidence
        self.window_size = window_size

    def partial_fit(self, X: MatrixLike, y: ArrayLike, **options: Any) -> Self:
        """Compare a batch with its predictions, and let the model learn from it.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            The next rows of the stream, in any form that the model accepts.
        y : array of shape (n_rows,) or (n_rows, n_outputs)
            Their targets.
        **options
            Further arguments of the model's ``partial_fit``, such as ``sample_weight``.

        Returns
        -------
        self
        """
        check_confidence("AdaptiveInterval", self.confidence)
        check_value("AdaptiveInterval", "window_size", self.window_size, _WINDOW)
        if self.window_size < (least := rows_needed(self.confidence)):
            raise InvalidValueError(
                f"AdaptiveInterval: window_size={self.window_size!r}, but "
                f"confidence={self.confidence!r} needs the errors of at least {least:,} rows",
                f"window_size={least} or more",
            )
        self._check_same_confidence()
        targets, predicted = targets_beside(self, X, y), self._before(X)
        if predicted is not None:
            errors = absolute_errors("AdaptiveInterval", targets, predicted)
        self.estimator.partial_fit(X, y, **options)
        self._has_learned = True
        if predicted is not None and len(errors):
            self._see(errors)
        return self

    def predict(self, X: MatrixLike) -> Any:
        """Predict with the model.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Rows to predict, in any form that the model accepts.

        Returns
        -------
        array
            What the model predicts.
        """
        return self.estimator.predict(X)

    def predict_interval(self, X: MatrixLike) -> np.ndarray:
        """Predict intervals for the next rows.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Rows to predict, in any form that the model accepts.

        Returns
        -------
        float64 array of shape (n_rows, 2) or (n_rows, n_outputs, 2)
            Lower and upper ends. They are infinite while targets are outside so often that no
            error seen so far is large enough.

        Raises
        ------
        ValueError
            If too few rows were predicted before they were learned.
        """
        check_has(self, "errors_", "partial_fit(X, y) with several batches")
        self._check_same_confidence()
        check_enough(
            "AdaptiveInterval",
            "partial_fit has predicted",
            len(self.errors_),
            self.confidence,
            "more batches before predict_interval",
        )
        mean = as_predicted(self.estimator.predict(X))
        far = self._far().reshape(mean.shape[1:])
        return within_range(self.estimator, np.stack([mean - far, mean + far], axis=-1))

    @property
    def levels_(self) -> np.ndarray:
        """The levels of the next intervals, shape (n_outputs,)."""
        check_has(self, "errors_", "partial_fit(X, y) with several batches")
        return 1 - (self._shares * self._alphas).sum(axis=0) - self._added

    @property
    def coverage_(self) -> np.ndarray:
        """The share of targets that were inside, shape (n_outputs,)."""
        check_has(self, "errors_", "partial_fit(X, y) with several batches")
        if not self.n_seen_:
            raise InvalidValueError(
                "AdaptiveInterval: no row had an interval so far", "more batches for partial_fit"
            )
        return self.inside_ / self.n_seen_

    def _check_same_confidence(self) -> None:
        """Raise an error if the levels have followed another confidence."""
        before = getattr(self, "_followed", self.confidence)
        if before != self.confidence:
            raise InvalidValueError(
                f"AdaptiveInterval: confidence={self.confidence!r}, but the levels have followed "
                f"confidence={before!r} so far",
                f"AdaptiveInterval(model, confidence={self.confidence!r}) with the same model",
            )

    def _before(self, X: Any) -> np.ndarray | None:
        """Return predictions of a batch that the model has not learned; None if it cannot yet."""
        try:
            return as_predicted(self.estimator.predict(X))
        except NotFittedError:
            return None
        except AttributeError:
            if self._has_learned:
                raise
            return None  # a model of another library that has not been fitted

    def _far(self) -> np.ndarray:
        """Return half the width of the next intervals, shape (n_outputs,)."""
        n = len(self.errors_)
        ordered = np.concatenate([np.zeros((1, self.errors_.shape[1])), np.sort(self.errors_, 0)])
        ranks = np.ceil(np.maximum(self.levels_, 0) * (n + 1) - 1e-9).astype(int)
        far = ordered[np.minimum(ranks, n), np.arange(len(ranks))]
        return np.where(ranks > n, np.inf, far)

    def _see(self, errors: np.ndarray) -> None:
        """Move the levels after a batch, and keep its errors."""
        if not hasattr(self, "errors_"):
            shape = len(_STEPS), errors.shape[1]
            self.errors_ = np.empty((0, errors.shape[1]))
            self._alphas, self._followed = np.full(shape, 1 - self.confidence), self.confidence
            self._shares = np.full(shape, 1 / len(_STEPS))
            self._added = np.zeros(errors.shape[1])
            self.inside_, self.n_seen_ = np.zeros(errors.shape[1]), 0
        old = np.sort(self.errors_, axis=0)
        if (n := len(old)) >= rows_needed(self.confidence):
            above = [n - np.searchsorted(c, e) for c, e in zip(old.T, errors.T, strict=True)]
            self._move((np.transpose(above) + 1) / (n + 1))
        self.errors_ = np.concatenate([self.errors_, errors])[-self.window_size :]

    def _move(self, betas: np.ndarray) -> None:
        """Move the levels after a batch whose rows were outside at levels α from ``betas`` on."""
        alpha, k, n_rows = 1 - self.confidence, len(_STEPS), len(betas)
        inside = (1 - self.levels_ < betas).sum(axis=0)
        self.inside_, self.n_seen_ = self.inside_ + inside, self.n_seen_ + n_rows
        self._added = self._added + min(n_rows * _STEP, _MOST) * (alpha - 1 + inside / n_rows)
        square = (1 - alpha) ** 2 * alpha**3 + alpha**2 * (1 - alpha) ** 3
        rate = np.sqrt(3 / _ROWS * (np.log(k * _ROWS) + 2) / square)
        mixed = 1 / (2 * _ROWS)
        for beta in betas:
            apart = beta - self._alphas
            loss = alpha * apart - np.minimum(apart, 0)
            weight = self._shares * np.exp(-rate * (loss - loss.min(axis=0)))
            weight /= weight.sum(axis=0)
            self._shares = (1 - mixed) * weight + mixed / k
        outside = (self._alphas >= betas[:, None]).mean(axis=0)
        steps = np.minimum(n_rows * _STEPS, _STEPS.max())[:, None]
        self._alphas = self._alphas + steps * (alpha - outside)  # eq. 2 of [1]

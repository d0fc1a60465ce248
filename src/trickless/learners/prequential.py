"""Predictions of rows one by one, each before it is learned."""

from __future__ import annotations

from typing import Any

from trickless.docstrings import completed_by
from trickless.learners.arguments import LABELS, LEARNING, NUMBERS
from trickless.learners.refusals import check_method
from trickless.learners.streams import predict_and_learn


class PredictThenLearnNumbers:
    """A regressor that can predict each row of a stream before it learns it."""

    @completed_by(NUMBERS, LEARNING)
    def predict_then_learn(
        self: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        timestamps: Any = None,
        return_std: bool = False,
    ) -> Any:
        """Predict each row by the rows before it, then learn it.

        This is the same as a loop over the rows of ``predict`` and ``partial_fit``, up to rounding,
        but takes a fraction of the time. Only the first row of a category that appears later may
        be predicted otherwise, since the model knows the categories of the whole batch.

        Parameters
        ----------
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows, all above 0.
        return_std : bool, default=False
            Whether to return standard deviations of the targets as well. They need a ``half_life``
            of "auto" or a list.

        Returns
        -------
        y_pred : float64 array of the shape of y
            Predictions. The first row of a new model cannot be predicted, and has NaN.
        std : array of the same shape, if ``return_std``

        Notes
        -----
        With a single ``half_life``, or none, the model must have learned some rows before. Its
        predictions use the alpha that was chosen last. It is chosen again when there are twice as
        many rows, or after 1,024 rows. In between, the ridge fades like the rows, and is restored
        before it is 30 % too small for the present weight of all rows. A loop of ``predict`` and
        ``partial_fit`` over single rows does the same if there is a ``half_life``. Without one,
        each ``predict`` solves again.

        Examples
        --------
        >>> import numpy as np
        >>> from trickless import KitchenSinksRegressor
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> y = np.sin(X[:, 0]) * np.where(np.arange(500) < 250, 1, -1)  # an abrupt change
        >>> model = KitchenSinksRegressor(n_neurons=100, half_life="auto", random_state=0)
        >>> predicted = model.predict_then_learn(X, y)
        >>> bool(np.abs(predicted - y)[-100:].mean() < 0.2)
        True
        """
        if return_std:
            check_method(self, "predict_then_learn(return_std=True)")
        decisions, std, new = predict_and_learn(self, X, y, sample_weight, None, timestamps)
        mean = new.targets_.shaped(decisions)
        return (mean, new.targets_.shaped(std)) if return_std else mean


class PredictThenLearnLabels:
    """A classifier that can predict each row of a stream before it learns it."""

    @completed_by(LABELS, LEARNING)
    def predict_then_learn(
        self: Any,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        timestamps: Any = None,
        return_proba: bool = False,
    ) -> Any:
        """Predict each row by the rows before it, then learn it.

        This is the same as a loop over the rows of ``predict`` and ``partial_fit``, up to rounding,
        but takes a fraction of the time. See :meth:`KitchenSinksRegressor.predict_then_learn`.

        Parameters
        ----------
        classes : array of shape (n_classes,), optional
            All labels that may occur, for the first call. Default: the labels of the first batch.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows, all above 0.
        return_proba : bool, default=False
            Whether to return probabilities of the classes as well.

        Returns
        -------
        labels : array of the shape of y
            Predicted labels. For the first row of a new model, all classes are equally likely.
        probabilities : array of shape (n_rows, n_classes), if ``return_proba``
        """
        if return_proba:
            check_method(self, "predict_then_learn(return_proba=True)")
        decisions, _, new = predict_and_learn(self, X, y, sample_weight, classes, timestamps)
        labels = new.targets_.labels(decisions)
        return (labels, new._probabilities(decisions)) if return_proba else labels

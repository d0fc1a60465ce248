"""Random Kitchen Sinks that classify the rows of a River stream."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any

from river import base

from trickless._arrays.missing import is_missing
from trickless._docstrings import documented
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._rules import shown
from trickless._solvers.experts.opinions import LabelOpinions
from trickless.river.learner import RiverLearner
from trickless.river.rows import is_hashable


@partial(documented, below=base.MiniBatchClassifier)
class RiverClassifier(RiverLearner, base.MiniBatchClassifier):
    r"""Random Kitchen Sinks that classify a River stream, and forget as fast as it drifts.

    Least squares on random cosines [1]_ is solved again and again, with one set of sums for each
    half-life: the sums of a machine with the half-life h fade by :math:`2^{-1 / h}` a row. Each
    machine is solved with a strong and with a weak ridge. Two more machines take a step of
    normalised least mean squares after each row, and two experts are the frequencies of the labels,
    and of the labels after the last one. The prediction is the average of all experts,
    whose weights follow the probabilities that they gave to the labels so far, by fixed share [2]_.
    Machines also have the last label as an input.

    Nothing needs to be set. Rows are dictionaries of numbers, Booleans, strings, dates, datetimes
    and durations, and need no scaler. Numbers are standardised by their recent mean and deviation,
    and count as at most 5 deviations, for both of these as well, so that outliers do no harm. A
    missing number counts as the mean, or as 0 in a ``collections.Counter``. Each string or other
    hashable value has a column of its own. Dates become numbers, with cosine and sine of the time
    of day, of the week and of the year. Features may be missing, appear later or disappear, and so
    may labels.

    Labels may be delayed. Experts are then judged by what they predicted when you called
    ``predict_one`` with the same features, for which the last 1,024 such calls are kept, and
    machines learn from the last label that was known at that time. After a delay of d rows, a row
    moves the weights by the power 1 / (1 + d) of what it would otherwise, since the errors of
    neighbours are alike [3]_.

    Notes
    -----
    A machine is solved again after 1/16 of its half-life, or of the rows so far if these are fewer,
    and after at most 256 rows. The first 256 rows are kept, and learned again as the scale of their
    features becomes known. Memory does not depend on the number of rows. There are at most 512
    columns: further numbers and categories are left out with a warning.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks", NIPS 2008.
    .. [2] M. Herbster and M. Warmuth, "Tracking the best expert", Machine Learning 32, 1998.
    .. [3] P. Joulani, A. György and C. Szepesvári, "Online learning under delayed feedback",
       ICML 2013.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from trickless.river import RiverClassifier
    >>> model = RiverClassifier(seed=0)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 90.71%
    """

    _steps = 0.1, 0.5  # for streams whose rows resemble their neighbours

    _kind = LabelOpinions

    @property
    def _multiclass(self) -> bool:
        return True

    def predict_proba_one(self, x: dict[Hashable, Any], **kwargs: Any) -> dict[Hashable, float]:
        """Return the probability of each label so far, or an empty dictionary before the first.

        Parameters
        ----------
        x : dict
            Features by their names.
        **kwargs : dict
            Ignored, as River allows more arguments.
        """
        if not self._opinions.numbers:
            return {}
        return dict(zip(self._opinions.numbers, self._average(x).tolist(), strict=True))

    def predict_proba_many(self, X: Any) -> Any:
        """Return the probability of each label, in a column each, for the rows of a data frame.

        Parameters
        ----------
        X : pandas.DataFrame
            Features.
        """
        import pandas as pd

        rows = [self.predict_proba_one(x) for x in X.to_dict("records")]
        return pd.DataFrame(rows, index=X.index, columns=list(self._opinions.numbers))

    def _check_answer(self, y: Any) -> None:
        if is_missing(y):
            raise InvalidValueError(
                f"{type(self).__name__}: the label of a row is {y!r}",
                "learn only rows whose label is known",
            )
        if not is_hashable(y):
            raise InvalidTypeError(
                f"{type(self).__name__}: the label of a row is {shown(y)}, of type "
                f"{type(y).__name__}",
                "a hashable label, such as a string, an integer or a tuple",
            )

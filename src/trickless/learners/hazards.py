"""Survival curves of regressors with the loss "cox"."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from trickless.arrays.places import to_device_of, to_host
from trickless.arrays.states import in_one_state
from trickless.errors import InvalidValueError, MissingAttributeError
from trickless.intake.survival import Survival
from trickless.rules import shown, with_remedies

#: The largest logarithm of a ratio of hazards.
_LARGEST = 700.0


def _has_hazards(estimator: Any) -> bool:
    if (loss := estimator._of_loss("loss", "squared_error")) != "cox":
        raise MissingAttributeError(
            f"loss={loss!r} does not learn from times of events, so there is no predict_survival",
            "loss='cox'",
        )
    return True


class HazardMixin:
    """Survival curves, from the baseline hazard of the rows that were learned."""

    @available_if(_has_hazards)
    @in_one_state
    def predict_survival(self: Any, X: Any, times: Any) -> Any:
        r"""Predict the probability of no event until each of some times, for ``loss="cox"``.

        It is :math:`\exp(-\Lambda_0(t)\, e^{f(x)})`. The cumulative baseline hazard
        :math:`\Lambda_0` is Breslow's estimate [1]_ on the rows that were learned, with Efron's
        weights for ties. It is constant after the last event.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Rows to predict.
        times : array of shape (n_times,)
            Times, in the unit of y.

        Returns
        -------
        float64 array of shape (n_rows, n_times)

        References
        ----------
        .. [1] N. E. Breslow, discussion of D. R. Cox, "Regression models and life-tables", Journal
           of the Royal Statistical Society B 34(2), 1972.
        """
        check_is_fitted(self)
        given = times
        with with_remedies(type(self).__name__):
            times = np.asarray(times, dtype=np.float64)
        if times.ndim != 1 or not (times >= 0).all():
            raise InvalidValueError(
                f"{type(self).__name__}: times={shown(given)}, but it must be a list of numbers of "
                "at least 0",
                "times=[30, 365], for example",
            )
        decisions = self._decide(X)
        # A finite ratio of hazards times a baseline of 0, before the first event, is 0.
        ratio = np.exp(np.minimum(to_host(decisions), _LARGEST, dtype=np.float64))
        hazard = self.targets_.baseline(times) * ratio
        return to_device_of(decisions, np.exp(-hazard))


def keep_baseline(learner: Any, X: Any, targets: np.ndarray, weight: np.ndarray | None) -> None:
    """Keep the baseline hazard of the rows of a fit, if the targets have one."""
    if isinstance(learner.targets_, Survival):
        f = to_host(learner._function(X))[:, 0]
        learner.targets_ = learner.targets_.with_baseline(f, targets[:, 0], weight)

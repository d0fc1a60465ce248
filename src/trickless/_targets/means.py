"""Targets of losses with a log link: counts, and positive numbers.

Decision values are the logarithms of means.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from trickless._arrays.places import place_of
from trickless._arrays.stated import Within
from trickless._errors import InvalidValueError
from trickless._targets.targets import Numbers


class Means(Numbers):
    """Targets whose mean is the exponential of a decision value.

    Attributes
    ----------
    loss : str
        The name of the loss.
    power : float
        The variance of a target is in proportion to this power of its mean.
    """

    link = "exp"

    loss: str
    power: Annotated[float, Within(1, 2)]

    def __init__(self, owner: str, y: np.ndarray, dtype: Any, loss: str, power: float) -> None:
        super().__init__(owner, y, dtype)
        self.loss, self.power = loss, float(power)
        if len(y) and (np.asarray(y) == 0).all():
            raise InvalidValueError(
                f"{owner}: y is 0 in every row, so the logarithm of its mean, with which loss="
                f"{loss!r} begins, is not finite",
                "rows with a positive target, in the first batch",
            )

    def matrix(self, y: np.ndarray, stream: bool = True) -> np.ndarray:
        targets = super().matrix(y)
        self._check_signs(targets)
        return targets

    def _check_signs(self, targets: np.ndarray) -> None:
        """Raise an error for targets that no mean with a logarithm has."""
        wrong = targets <= 0 if self.power == 2 else targets < 0
        if wrong.any():
            row, output = np.argwhere(wrong)[0]
            least = "above 0" if self.power == 2 else "0 or more"
            remedy = "loss='tweedie' takes zeros; " if targets[row, output] == 0 else ""
            raise InvalidValueError(
                f"{self.owner}: y holds {targets[row, output]:g} (row {row}), but loss="
                f"{self.loss!r} has a log link, and needs targets that are {least}",
                f"{remedy}leave these rows out, or loss='squared_error'",
            )

    def values(self, decisions: Any) -> Any:
        with np.errstate(over="ignore"):
            return place_of(decisions).xp.exp(decisions)

    def distances(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        mean = self.values(decisions)
        far = np.abs(targets - mean)
        return np.divide(far, self._spread(mean), out=np.zeros_like(far), where=far > 0)

    def ends(self, decisions: np.ndarray, far: np.ndarray) -> np.ndarray:
        mean = self.values(decisions)
        away = far * self._spread(mean)
        ends = np.stack([np.maximum(mean - away, 0.0), mean + away], axis=-1)
        return self.shaped(ends)

    def _spread(self, mean: np.ndarray) -> np.ndarray:
        """Return the deviation of targets with a mean, up to a constant factor."""
        return np.maximum(mean, np.finfo(float).tiny) ** (self.power / 2)

    def error(self, decisions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        return super().error(self.values(decisions), targets)

    def score(self, y: Any, predicted: Any, sample_weight: Any = None) -> float:
        """Return D², the share of the deviance that is explained, as the mean over outputs.

        Of targets that are all the same, it is 1 if they are predicted exactly, and 0 if not, as
        R² is.
        """
        from sklearn.metrics import d2_tweedie_score, mean_tweedie_deviance

        y, predicted = (
            np.asarray(each, dtype=float).reshape(len(y), -1) for each in (y, predicted)
        )
        self._check_signs(y)
        predicted = np.maximum(predicted, np.finfo(float).tiny)  # a mean that underflows
        how: Any = {"sample_weight": sample_weight, "power": self.power}
        scores = [
            d2_tweedie_score(truth, mean, **how)
            if len(y) < 2 or np.ptp(truth)
            else float(mean_tweedie_deviance(truth, mean, **how) <= 0)
            for truth, mean in zip(y.T, predicted.T, strict=True)
        ]
        return float(np.mean(scores))

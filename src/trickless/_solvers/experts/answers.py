"""What experts predict of targets: densities of them, and mixtures."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy.special import gammaln, log_expit

from trickless._arrays.stated import Array, Count, Size, Stated
from trickless._solvers.outputs import NewOutputs

#: Factors of the logarithms of odds that experts of classes try.
_FACTORS = (0.25, 0.5, 1.0, 2.0)
#: The least probability of an expert that takes the mean for a probability.
_UNLIKELY = 0.01
#: The logarithm of the odds that earlier rows were of a class that appeared later.
_NEVER = -20.0


class Answer(Stated):
    """How machines of targets predict, with an expert for each machine or several."""

    #: Experts of each machine.
    n_each: int = 1

    n_outputs: Size

    def __init__(self, n_outputs: int) -> None:
        self.n_outputs = n_outputs

    @property
    def n_targets(self) -> int:
        """Number of targets of each machine."""
        return self.n_outputs

    def targets(self, Y: np.ndarray) -> np.ndarray:
        """Return the targets of machines, (n_rows, n_targets)."""
        return Y

    @property
    def n_weights(self) -> int:
        """Number of outputs whose experts are weighted apart."""
        return self.n_outputs


class NumberAnswer(Answer):
    """Numbers: Student's t distribution around the mean of each expert.

    Attributes
    ----------
    n_rows : int
    sums, squares : arrays of shape (n_outputs,)
        Sums of the targets and of their squares, for the variance that is assumed at first.
    """

    n_rows: Count
    sums: Annotated[np.ndarray, Array("f8", "n_outputs")]
    squares: Annotated[np.ndarray, Array("f8", "n_outputs")]

    def __init__(self, n_outputs: int) -> None:
        super().__init__(n_outputs)
        self.n_rows = 0
        self.sums, self.squares = np.zeros(n_outputs), np.zeros(n_outputs)

    def origin(self, y: np.ndarray) -> np.ndarray:
        """Return what is subtracted from targets: those of the first row."""
        return y.copy()

    def after(self, Y: np.ndarray) -> tuple[NumberAnswer, np.ndarray]:
        """Return the same after some rows, and the variances assumed at first before each."""
        n = self.n_rows + np.arange(len(Y))[:, None]
        sums = self.sums + np.cumsum(Y, axis=0)
        squares = self.squares + np.cumsum(Y**2, axis=0)
        later = NumberAnswer(self.n_outputs)
        later.n_rows, later.sums, later.squares = self.n_rows + len(Y), sums[-1], squares[-1]
        mean, square = (sums - Y) / np.maximum(n, 1), (squares - Y**2) / np.maximum(n, 1)
        variance = square - mean**2
        return later, np.where(variance > 1e-12 * square, variance, 0.0)

    def scores(
        self, Y: np.ndarray, mean: np.ndarray, variance: np.ndarray, freedom: np.ndarray
    ) -> np.ndarray:
        """Return the logarithms of densities of targets, (n_rows, n_experts, n_outputs).

        Before the targets vary, all experts have the same.
        """
        nu = freedom[:, :, None]
        known = variance > 0
        safe = np.where(known, variance, 1.0)
        density = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi * safe)
        density = density - (nu + 1) / 2 * np.log1p((Y - mean) ** 2 / (nu * safe))
        return np.where(known, density, 0.0).transpose(1, 0, 2)

    def mixed(
        self, weights: np.ndarray, mean: np.ndarray, variance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean and variance of mixtures, (n_rows, n_outputs).

        Parameters
        ----------
        weights : array of shape (n_rows or 1, n_experts, n_outputs)
        mean, variance : arrays of shape (n_machines, n_rows, n_outputs)
        """
        weights = weights.transpose(1, 0, 2)
        mixed = (weights * mean).sum(axis=0)
        return mixed, (weights * (variance + (mean - mixed) ** 2)).sum(axis=0)


class LabelAnswer(Answer):
    """Classes, or several labels for each row: ratios of normal densities of targets ±1.

    An expert of the mean f and the variance v gives class c a probability in proportion to the
    density of the targets that stand for c, which is softmax(2 f / v). It is right if classes are
    as far apart as normal noise says. Other experts multiply 2 f / v by a factor, and one takes
    (1 + f) / 2 for the probability, which is right if f is the mean of targets ±1. The weights
    choose among them.

    With ``spare``, machines have one more target, which is −1 in all rows. A class that appears
    later continues from it.
    """

    n_each = len(_FACTORS) + 1

    exclusive: bool
    spare: bool

    def __init__(self, n_outputs: int, exclusive: bool, spare: bool = False) -> None:
        super().__init__(n_outputs)
        self.exclusive = exclusive and n_outputs > 1
        self.spare = spare

    @property
    def n_targets(self) -> int:
        return self.n_outputs + self.spare

    def targets(self, Y: np.ndarray) -> np.ndarray:
        return np.hstack([Y, np.full((len(Y), 1), -1.0)]) if self.spare else Y

    def sources(self, new: NewOutputs) -> tuple[np.ndarray, np.ndarray]:
        """Return the earlier target of machines behind each new one, and its sign."""
        appeared = new.factor == 0
        source = np.append(np.where(appeared, self.n_outputs, new.source), self.n_outputs)
        return source, np.append(np.where(appeared, 1.0, new.factor), 1.0)

    def mixed_with_new(self, decisions: np.ndarray, new: NewOutputs) -> np.ndarray:
        """Return logarithms of ``mixed`` for earlier rows, as if new classes had been unlikely."""
        if self.n_outputs > 1:
            likely = decisions[:, new.source]
        elif len(new.source) == 1:  # the class of all rows so far, and another
            return decisions * np.where(new.factor == 0, 1.0, new.factor)
        else:
            likely = log_expit(decisions * np.where(new.factor == 0, 1.0, new.factor))
        return np.where(new.factor == 0, _NEVER, likely)

    @property
    def n_weights(self) -> int:
        return 1 if self.exclusive else self.n_outputs

    def origin(self, y: np.ndarray) -> np.ndarray:
        """Return what is subtracted from targets: nothing."""
        return np.zeros_like(y)

    def after(self, Y: np.ndarray) -> tuple[LabelAnswer, np.ndarray]:
        """Return the same after some rows, and the variances assumed at first before each."""
        return self, np.ones((len(Y), self.n_targets))

    def _log_odds(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """Return logarithms of odds of all experts, (n_experts, n_rows, n_outputs)."""
        mean, variance = mean[..., : self.n_outputs], variance[..., : self.n_outputs]
        odds = 2 * mean / variance
        likely = np.maximum((1 + mean) / 2, _UNLIKELY)
        direct = np.log(likely)
        if not self.exclusive:
            direct = direct - np.log(np.maximum((1 - mean) / 2, _UNLIKELY))
        return np.concatenate([*(factor * odds for factor in _FACTORS), direct])

    def scores(
        self, Y: np.ndarray, mean: np.ndarray, variance: np.ndarray, freedom: np.ndarray
    ) -> np.ndarray:
        """Return logarithms of the probabilities of targets, (n_rows, n_experts, n_weights)."""
        odds, Y = self._log_odds(mean, variance), Y[:, : self.n_outputs]
        if self.exclusive:
            likely = odds - _log_sum(odds, axis=2)
            of_true = np.take_along_axis(likely, Y.argmax(axis=1)[None, :, None], axis=2)
            return of_true.transpose(1, 0, 2)
        return log_expit(Y * odds).transpose(1, 0, 2)

    def mixed(
        self, weights: np.ndarray, mean: np.ndarray, variance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return logarithms of odds, or of probabilities of exclusive classes; and variances of f.

        Both have the shape (n_rows, n_outputs).
        """
        odds = self._log_odds(mean, variance)
        mean, variance = mean[..., : self.n_outputs], variance[..., : self.n_outputs]
        weights = weights.transpose(1, 0, 2)
        of_machine = weights.reshape(self.n_each, -1, *weights.shape[1:]).sum(axis=0)
        centre = (of_machine * mean).sum(axis=0)
        spread = (of_machine * (variance + (mean - centre) ** 2)).sum(axis=0)
        log_weights = np.log(weights)
        if self.exclusive:
            likely = odds - _log_sum(odds, axis=2)
            return _log_sum(log_weights + likely, axis=0)[0], spread
        yes, no = (_log_sum(log_weights + log_expit(sign * odds), axis=0) for sign in (1, -1))
        return (yes - no)[0], spread


def _log_sum(logarithms: np.ndarray, axis: int) -> np.ndarray:
    """Return the logarithm of a sum, whose axis stays; quicker than SciPy's for few numbers."""
    largest = logarithms.max(axis=axis, keepdims=True)
    return largest + np.log(np.exp(logarithms - largest).sum(axis=axis, keepdims=True))

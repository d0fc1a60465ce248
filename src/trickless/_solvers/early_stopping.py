r"""Early stopping: what held-out rows lose along a fit, and when that has stopped improving.

At each look the loss of every held-out row is compared with that at the last progress. With d the
difference of a row, the fit has progressed if

.. math:: \bar d > \max(\mathrm{tol} \cdot \bar\ell, \; \mathrm{se}(\bar d)),

where :math:`\bar\ell` is what is lost now and se the standard error of the mean. Both scale with
what remains to be learned, so the last per cent of a loss counts as much as the first. A look
without progress counts as one if the rows lose more by a standard error, and otherwise as half a
look, because then noise may hide progress. The patience is five such looks, or a quarter of all
looks so far if that is more.

The rows are compared with themselves, so what they have in common cancels. Few rows are held out in
folds, and all folds look together (``held_out``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trickless._solvers.losses import Loss
from trickless.conformal.unseen import MOST, Unseen

#: The least progress relative to what is lost now, and looks without progress to wait for.
_TOL, _PATIENCE = 1e-3, 5
#: A share of the loss at the start that is not worth learning.
_NOTHING = 1e-8
#: What a look without progress counts if noise may hide it, and the share of looks to wait for.
_HIDDEN, _SHARE = 0.5, 0.25


class HeldOut(NamedTuple):
    """Held-out rows at a look: decision values now and at the start, targets, weights and groups.

    ``groups`` numbers the group of each row, if rows of one group are alike.
    """

    f: np.ndarray
    start: np.ndarray
    targets: np.ndarray
    weight: np.ndarray | None
    groups: np.ndarray | None = None

    def unseen(self, shift: np.ndarray | float = 0.0) -> Unseen:
        """Return some of the rows, spread evenly, with decision values that are moved."""
        some = kept(len(self.f))
        weight = None if self.weight is None else self.weight[some]
        return Unseen.of(self.f[some] + shift, self.targets[some], weight)

    def lost(self, loss: Loss) -> np.ndarray:
        """Return the loss of each row, in units of the mean loss at the start.

        It uses the loss, since the accuracy of a few rows, or of a rare class, is coarse. It is the
        mean over outputs, so that outputs count equally in any units.
        """
        n_apart = 1 if loss.coupled else self.targets.shape[1]
        values = np.stack([self.f, self.start, self.targets])
        lost = []
        for now, start, targets in np.split(values, n_apart, axis=2):
            unit = np.average(loss.value(start, targets), weights=self.weight)
            value = loss.value(now, targets)
            lost.append(value / unit if unit > 0 else np.ones_like(value))
        return np.mean(lost, axis=0)


def kept(n_rows: int) -> np.ndarray:
    """Return the numbers of the held-out rows that a model keeps, spread evenly."""
    return np.arange(n := min(n_rows, MOST)) * n_rows // max(n, 1)


def mean_and_error(
    values: np.ndarray, weight: np.ndarray | None, groups: np.ndarray | None = None
) -> tuple[float, float]:
    """Return the mean of values of rows, and its standard error.

    Rows of one group count together, since they are not independent.
    """
    shares = np.full(len(values), 1 / len(values)) if weight is None else weight / weight.sum()
    mean = float(shares @ values)
    off = shares * (values - mean)
    if groups is not None:
        off = np.bincount(groups, off)
    return mean, float(np.sqrt(off @ off))


class Looks:
    """The looks at held-out rows in a fit.

    A score is the share of the loss that is explained. For the squared loss it is R², with the
    intercept instead of the mean.
    """

    def __init__(self, loss: Loss) -> None:
        self._loss, self.scores = loss, list[float]()
        self._reference, self._waited = np.empty(0), 0.0

    def look(self, rows: HeldOut) -> bool:
        """Look at the rows. Return whether the fit has stopped improving."""
        lost = rows.lost(self._loss)
        self.scores.append(1 - float(np.average(lost, weights=rows.weight)))
        if 1 - self.scores[-1] < _NOTHING:
            return True
        if not len(self._reference):
            self._reference = lost
            return False
        gain, error = mean_and_error(self._reference - lost, rows.weight, rows.groups)
        if gain > max(_TOL * np.average(lost, weights=rows.weight), error):
            self._reference, self._waited = lost, 0.0
        else:
            self._waited += 1.0 if gain < -error else _HIDDEN
        return self._waited >= max(_PATIENCE, _SHARE * len(self.scores))

r"""Early stopping: what held-out rows lose along a fit, and when that has stopped improving.

At each look the loss of every held-out row is compared with that at the last progress. With d the
difference of a row, the fit has progressed if

.. math:: \bar d > \max(\mathrm{tol} \cdot \bar\ell, \; \mathrm{se}(\bar d)),

where :math:`\bar\ell` is what is lost now and se the standard error of the mean. Both scale with
what remains to be learned, so the last per cent of a loss counts as much as the first. A look
without progress counts as one if the rows lose more by a standard error, and otherwise as half a
look, because then noise may hide progress. The patience is ``n_iter_no_change`` such looks, or a
quarter of all looks so far if that is more.

The rows are compared with themselves, so what they have in common cancels. Few rows are held out in
folds, and all folds look together (``folds``).
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from trickless.arrays.places import to_host
from trickless.conformal.unseen import MOST, Unseen
from trickless.solvers.descent.batches import MiniBatch
from trickless.solvers.descent.growing_network import GrowingNetwork
from trickless.solvers.descent.held_out import EQUAL
from trickless.solvers.descent.options import DescentOptions
from trickless.solvers.descent.slopes import constant_of
from trickless.solvers.losses import Loss

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

    @classmethod
    def of(cls, network: GrowingNetwork, rows: MiniBatch, groups: np.ndarray | None = None) -> Self:
        """Return the rows of a batch, whose f is up to date."""
        targets = rows.targets_on_host
        start = np.broadcast_to(network.constant, targets.shape)
        return cls(to_host(rows.f) + network.intercept, start, targets, rows.weight, groups)

    @classmethod
    def together(cls, parts: list[HeldOut]) -> Self:
        """Return the rows of several parts."""
        f, start, targets, *others = zip(*parts, strict=True)
        every = map(np.concatenate, (f, start, targets))
        return cls(*every, *(None if part[0] is None else np.concatenate(part) for part in others))

    def unseen(self, shift: np.ndarray | float = 0.0) -> Unseen:
        """Return some of the rows, spread evenly, with decision values that are moved."""
        some = np.arange(n := min(len(self.f), MOST)) * len(self.f) // max(n, 1)
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
    """The looks at held-out rows in a fit of ``owner``, which has their scores.

    A score is the share of the loss that is explained. For the squared loss it is R², with the
    intercept instead of the mean.
    """

    def __init__(self, owner: GrowingNetwork, options: DescentOptions, n_batches: int) -> None:
        assert options.stopping is not None
        self._owner, self._step, self._stopping = owner, options.step, options.stopping
        self._n_scores, self._n_steps = len(owner.validation_scores), owner.n_steps
        #: Steps between two looks.
        self.wait = options.step.wait(n_batches)
        self._reference, self._waited = np.empty(0), 0.0

    def due(self, network: GrowingNetwork) -> bool:
        """Return whether it is time for a look, as it is at the end of a fit."""
        if self._step.keeps_best and len(network.coef) >= self._step.n_neurons:
            return True
        return (network.n_steps - self._n_steps) % self.wait == 0

    @property
    def scores(self) -> list[float]:
        """The scores of this fit."""
        return self._owner.validation_scores[self._n_scores :]

    def stop(self, rows: HeldOut, n_neurons: int) -> bool:
        """Look at the rows. Return whether the fit has stopped improving."""
        owner, loss = self._owner, self._step.loss
        lost = rows.lost(loss)
        found = 1 - float(np.average(lost, weights=rows.weight))
        is_best = found > max(self.scores, default=-np.inf) and self._step.keeps_best
        if is_best and self._step.levels and (rare := owner.rarity(loss) ** 2 - 1) > EQUAL:
            # Rows that trees have learned from have the right mean probability, and new rows of a
            # rare class are predicted with too small probabilities. The held-out rows tell by how
            # much.
            owner.level = constant_of(loss, rows.f, rows.targets, rows.weight, 1 / rare)
        owner.validation_scores.append(found)
        owner.scored.append(n_neurons)
        return self._stalled(lost, rows)

    def _stalled(self, lost: np.ndarray, rows: HeldOut) -> bool:
        if not len(self._reference):
            self._reference = lost
            return False
        gain, error = mean_and_error(self._reference - lost, rows.weight, rows.groups)
        if gain > max(self._stopping.tol * np.average(lost, weights=rows.weight), error):
            self._reference, self._waited = lost, 0.0
        else:
            self._waited += 1.0 if gain < -error else _HIDDEN
        return self._waited >= max(self._stopping.n_iter_no_change, _SHARE * len(self.scores))

    def best(self) -> tuple[int, int]:
        """Return how many neurons had the best score, and after how many steps.

        Both are 0 if a constant has a better one.
        """
        best = int(np.argmax(self.scores))
        if self._n_steps == 0 and self.scores[best] < 0:
            return 0, 0
        n_steps = min(self._n_steps + (best + 1) * self.wait, self._owner.n_steps)
        return self._owner.scored[self._n_scores + best], n_steps

"""Which rows are held out: a share of them, or each row once in one of several folds.

All rows of a group are on the same side. Rows of one group, such as those of one patient, are
alike, so a model that has seen some of them is too good on the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trickless._errors import InvalidValueError
from trickless._functions.stream import Purpose, generator
from trickless._solvers.losses import Loss

#: Share of the rows that early stopping holds out.
SHARE = 0.1
#: Excess of the curvature of equal classes from which classes are not equal.
_EQUAL = 0.5


def rarity(loss: Loss, start: np.ndarray) -> float:
    """Return the factor by which rare classes increase the damping of trees.

    Their curvature at the ``start`` is small, and the damping is relative to it, so that a few rows
    would move f far. The factor is 1 for equal classes and for losses without probabilities.
    """
    if not loss.has_link:
        return 1.0
    equal, now = (
        loss.newton(f[None], np.ones((1, len(f))))[1].mean() for f in (np.zeros_like(start), start)
    )
    return float(np.sqrt(equal / now))


class Holding(NamedTuple):
    """How rows are held out.

    Attributes
    ----------
    owner : str
        The name of the learner, in messages.
    seed : int
        Seed of the order of rows.
    share : float
        The share of the rows to hold out.
    excess : float
        By how much the curvature of equal classes exceeds the curvature of the given classes. If
        some classes are much rarer than others, the same share of rows of each is held out, up to
        one row.
    """

    owner: str
    seed: int
    share: float
    excess: float

    @classmethod
    def of(cls, owner: str, seed: int, share: float, loss: Loss, start: np.ndarray) -> Holding:
        """Return how to hold out rows, given the constant that learning starts from."""
        return cls(owner, seed, share, rarity(loss, start) ** 2 - 1)

    @property
    def uneven(self) -> bool:
        """Whether some classes are much rarer than others."""
        return self.excess > _EQUAL

    def split(
        self, targets: np.ndarray, groups: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of held-out rows and of training rows.

        With ``groups``, which are numbers from 0 on, whole groups are held out instead.
        """
        n_rows, n_held_out = len(targets), self._count(len(targets))
        order = self._order(n_rows, groups)
        if groups is not None:
            n_held_out = _whole_groups(groups[order], n_held_out)
        elif self.uneven:
            held_out = np.arange(n_held_out) * n_rows // n_held_out
            where = _by_target(targets[order])
            order = order[np.append(where[held_out], np.delete(where, held_out))]
        return order[:n_held_out], np.sort(order[n_held_out:])

    def folds(
        self, targets: np.ndarray, n_folds: int, groups: np.ndarray | None = None
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the held-out and the training rows of each fold. Each row is held out once.

        The rows of rare classes are spread evenly, and groups are whole.
        """
        n_folds = min(n_folds, len(targets))
        if n_folds < 2:
            self._count(len(targets))  # which says that rows are too few
        order = self._order(len(targets), groups)
        if groups is not None:
            _, first, which = np.unique(groups[order], return_index=True, return_inverse=True)
            place = np.argsort(np.argsort(first))[which]  # the groups in the order of their rows
            n_folds = min(n_folds, len(first))
        else:
            if self.uneven:
                order = order[_by_target(targets[order])]
            place = np.arange(len(order))
        return [
            (np.sort(order[place % n_folds == i]), np.sort(order[place % n_folds != i]))
            for i in range(n_folds)
        ]

    def _count(self, n_rows: int) -> int:
        """Return how many of the rows are held out, if that leaves rows to learn from."""
        n_held_out = int(np.ceil(self.share * n_rows))
        if not 2 <= n_held_out < n_rows:
            raise InvalidValueError(
                f"{self.owner}: early_stopping holds out {n_held_out} of {n_rows} rows, a share of "
                f"{self.share!r}, but needs at least two rows held out and one to learn from",
                "more rows, another share, or early_stopping=False",
            )
        return n_held_out

    def _order(self, n_rows: int, groups: np.ndarray | None) -> np.ndarray:
        """Return the numbers of rows in a random order, with the rows of a group side by side."""
        rng = generator(self.seed, Purpose.VALIDATION)
        if groups is None:
            return rng.permutation(n_rows)
        n_groups = int(groups.max()) + 1
        if n_groups < 2:
            raise InvalidValueError(
                f"{self.owner}: groups has one value only, so that no group is left to learn "
                "from while another is held out",
                "at least two groups, rows of your own by X_val and y_val, or early_stopping=False",
            )
        return np.argsort(rng.permutation(n_groups)[groups], kind="stable")


def _by_target(targets: np.ndarray) -> np.ndarray:
    """Return an order in which rows of equal targets are side by side."""
    _, stratum = np.unique(targets, axis=0, return_inverse=True)
    return np.argsort(stratum.ravel(), kind="stable")


def _whole_groups(groups: np.ndarray, wanted: int) -> int:
    """Return the number of rows of the first whole groups that is nearest to the one wanted.

    ``groups`` are in order. At least one group is taken, and one is left.
    """
    ends = np.append(np.flatnonzero(np.diff(groups)) + 1, len(groups))[:-1]
    return int(ends[np.argmin(np.abs(ends - wanted))])

"""Which rows are held out: a share of them, or each row once in one of several folds.

All rows of a group are on the same side. Rows of one group, such as those of one patient, are
alike, so a model that has seen some of them is too good on the others.
"""

from __future__ import annotations

import numpy as np

from trickless.errors import InvalidValueError
from trickless.functions.stream import Purpose, generator
from trickless.solvers.descent.growing_network import GrowingNetwork
from trickless.solvers.descent.options import DescentOptions

#: Excess of the curvature of equal classes from which classes are not equal.
EQUAL = 0.5


def split(
    network: GrowingNetwork,
    targets: np.ndarray,
    options: DescentOptions,
    groups: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return held-out rows for early stopping, and training rows.

    If classes are rare, the same share of rows of each is held out, up to one row. With
    ``groups``, which are numbers from 0 on, whole groups are held out instead.
    """
    n_rows = len(targets)
    n_held_out = share_of(n_rows, options)
    order = in_order(network, targets, options, groups)
    if groups is not None:
        n_held_out = _whole_groups(groups[order], n_held_out)
    elif is_uneven(network, options):
        _, stratum = np.unique(targets[order], axis=0, return_inverse=True)
        held_out = np.arange(n_held_out) * n_rows // n_held_out
        where = np.argsort(stratum.ravel(), kind="stable")
        order = order[np.append(where[held_out], np.delete(where, held_out))]
    return order[:n_held_out], np.sort(order[n_held_out:])


def folds(
    network: GrowingNetwork,
    targets: np.ndarray,
    options: DescentOptions,
    groups: np.ndarray | None = None,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the held-out and the training rows of each fold. Each row is held out once.

    The rows of rare classes are spread evenly, and groups are whole.
    """
    assert options.stopping is not None
    share_of(len(targets), options)
    n_folds = options.stopping.n_folds
    order = in_order(network, targets, options, groups)
    if groups is not None:
        _, first, which = np.unique(groups[order], return_index=True, return_inverse=True)
        place = np.argsort(np.argsort(first))[which]  # the groups in the order of their rows
        n_folds = min(n_folds, len(first))
    else:
        if is_uneven(network, options):
            _, stratum = np.unique(targets[order], axis=0, return_inverse=True)
            order = order[np.argsort(stratum.ravel(), kind="stable")]
        place = np.arange(len(order))
    return [
        (np.sort(order[place % n_folds == i]), np.sort(order[place % n_folds != i]))
        for i in range(n_folds)
    ]


def share_of(n_rows: int, options: DescentOptions) -> int:
    """Return how many of the rows are held out, if that leaves rows to learn from."""
    assert options.stopping is not None
    share = options.stopping.validation_fraction
    n_held_out = int(np.ceil(share * n_rows))
    if not 2 <= n_held_out < n_rows:
        raise InvalidValueError(
            f"{options.step.owner}: validation_fraction={share!r} of {n_rows} rows is "
            f"{n_held_out}, which leaves {n_rows - n_held_out} to learn from; early_stopping needs "
            "at least two rows held out and one to learn from",
            "more rows, another validation_fraction, or early_stopping=False",
        )
    return n_held_out


def in_order(
    network: GrowingNetwork,
    targets: np.ndarray,
    options: DescentOptions,
    groups: np.ndarray | None,
) -> np.ndarray:
    """Return the numbers of rows in a random order, with the rows of a group side by side."""
    rng = generator(network.stream.seed, Purpose.VALIDATION)
    if groups is None:
        return rng.permutation(len(targets))
    n_groups = int(groups.max()) + 1
    if n_groups < 2:
        raise InvalidValueError(
            f"{options.step.owner}: groups has one value only, so that no group is left to learn "
            "from while another is held out",
            "at least two groups, rows of your own by X_val and y_val, or early_stopping=False",
        )
    return np.argsort(rng.permutation(n_groups)[groups], kind="stable")


def is_uneven(network: GrowingNetwork, options: DescentOptions) -> bool:
    """Return whether some classes are much rarer than others."""
    return network.rarity(options.step.loss) ** 2 - 1 > EQUAL


def _whole_groups(groups: np.ndarray, wanted: int) -> int:
    """Return the number of rows of the first whole groups that is nearest to the one wanted.

    ``groups`` are in order. At least one group is taken, and one is left.
    """
    ends = np.append(np.flatnonzero(np.diff(groups)) + 1, len(groups))[:-1]
    return int(ends[np.argmin(np.abs(ends - wanted))])

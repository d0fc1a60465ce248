"""Early stopping: held-out rows, their score, and when it has stopped improving."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trickless.functions.stream import Purpose, generator
from trickless.solvers.descent.growing_network import GrowingNetwork
from trickless.solvers.descent.slopes import constant_of
from trickless.solvers.losses import Loss

#: Excess of the curvature of equal classes from which classes are not equal.
_EQUAL = 0.5


class EarlyStopping(NamedTuple):
    """Share of the rows to hold out, and scores without an improvement by ``tol`` to wait for."""

    validation_fraction: float
    n_iter_no_change: int
    tol: float


class HeldOut(NamedTuple):
    """Values of the network at held-out rows, without the intercept; targets and weights."""

    f: np.ndarray
    targets: np.ndarray
    weight: np.ndarray | None


def split(
    network: GrowingNetwork,
    targets: np.ndarray,
    stopping: EarlyStopping | None,
    owner: str,
    loss: Loss,
) -> tuple[np.ndarray | None, np.ndarray]:
    """Return held-out rows for early stopping, if any, and training rows.

    If classes are rare, the same share of rows of each is held out, up to one row.
    """
    n_rows = len(targets)
    if stopping is None:
        return None, np.arange(n_rows)
    share = stopping.validation_fraction
    n_held_out = int(np.ceil(share * n_rows))
    if not 2 <= n_held_out < n_rows:
        raise ValueError(
            f"{owner}: validation_fraction={share!r} of {n_rows} rows is {n_held_out}, "
            f"which leaves {n_rows - n_held_out} to learn from; early_stopping needs at least "
            "two rows held out and one to learn from. Remedy: more rows, another "
            "validation_fraction, or early_stopping=False."
        )
    order = generator(network.stream.seed, Purpose.VALIDATION).permutation(n_rows)
    if network.rarity(loss) ** 2 - 1 > _EQUAL:
        _, stratum = np.unique(targets[order], axis=0, return_inverse=True)
        held_out = np.arange(n_held_out) * n_rows // n_held_out
        where = np.argsort(stratum.ravel(), kind="stable")
        order = order[np.append(where[held_out], np.delete(where, held_out))]
    return order[:n_held_out], np.sort(order[n_held_out:])


def score(network: GrowingNetwork, rows: HeldOut, loss: Loss) -> float:
    """Return the score of held-out rows: the share of their loss that is explained.

    It uses the loss, since the accuracy of a few rows, or of a rare class, is coarse. It is the
    mean over outputs, so that outputs count equally in any units. For the squared loss it is
    R², with the intercept instead of the mean.
    """
    f, targets, weight = rows
    constant = np.broadcast_to(network.constant, targets.shape)
    n_apart = 1 if loss.coupled else targets.shape[1]
    outputs = np.split(np.stack([f + network.intercept, constant, targets]), n_apart, axis=2)
    means = [
        [np.average(loss.value(some, y), weights=weight) for some in (value, start)]
        for value, start, y in outputs
    ]
    return float(np.mean([1 - lost / start if start > 0 else 0.0 for lost, start in means]))


def level(network: GrowingNetwork, rows: HeldOut, loss: Loss) -> np.ndarray | None:
    """Return what the held-out rows would add to the intercept, if classes are rare.

    Rows that trees have learned from have the right mean probability, and new rows of a rare
    class are predicted with too small probabilities. The held-out rows tell by how much.
    """
    rare = network.rarity(loss) ** 2 - 1  # 0 for equal classes, which a few rows move
    if rare <= _EQUAL:
        return None
    return constant_of(loss, rows.f + network.intercept, rows.targets, rows.weight, 1 / rare)


def stalled(scores: list[float], n_iter_no_change: int, tol: float) -> bool:
    """Return whether the last scores improved the earlier best by less than tol."""
    last = n_iter_no_change
    return len(scores) > last and max(scores[-last:]) < max(scores[:-last]) + tol

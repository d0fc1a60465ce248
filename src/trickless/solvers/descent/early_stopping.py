"""Early stopping: held-out rows, their score, and when it has stopped improving."""

from __future__ import annotations

import numpy as np

from trickless.errors import InvalidValueError
from trickless.functions.stream import Purpose, generator
from trickless.solvers.descent.batches import MiniBatch
from trickless.solvers.descent.growing_network import GrowingNetwork
from trickless.solvers.descent.options import DescentOptions
from trickless.solvers.descent.slopes import constant_of
from trickless.solvers.losses import Loss

#: Excess of the curvature of equal classes from which classes are not equal.
_EQUAL = 0.5


def split(
    network: GrowingNetwork, targets: np.ndarray, options: DescentOptions
) -> tuple[np.ndarray | None, np.ndarray]:
    """Return held-out rows for early stopping, if any, and training rows.

    If classes are rare, the same share of rows of each is held out, up to one row.
    """
    n_rows = len(targets)
    if options.stopping is None:
        return None, np.arange(n_rows)
    share = options.stopping.validation_fraction
    n_held_out = int(np.ceil(share * n_rows))
    if not 2 <= n_held_out < n_rows:
        raise InvalidValueError(
            f"{options.step.owner}: validation_fraction={share!r} of {n_rows} rows is "
            f"{n_held_out}, which leaves {n_rows - n_held_out} to learn from; early_stopping needs "
            "at least two rows held out and one to learn from",
            "more rows, another validation_fraction, or early_stopping=False",
        )
    order = generator(network.stream.seed, Purpose.VALIDATION).permutation(n_rows)
    if network.rarity(options.step.loss) ** 2 - 1 > _EQUAL:
        _, stratum = np.unique(targets[order], axis=0, return_inverse=True)
        held_out = np.arange(n_held_out) * n_rows // n_held_out
        where = np.argsort(stratum.ravel(), kind="stable")
        order = order[np.append(where[held_out], np.delete(where, held_out))]
    return order[:n_held_out], np.sort(order[n_held_out:])


def look(network: GrowingNetwork, rows: MiniBatch, n_before: int, options: DescentOptions) -> None:
    """Score the held-out rows. If the score is the best of this fit, note their level.

    The first ``n_before`` scores were made by earlier fits.
    """
    step = options.step
    found = score(network, rows, step.loss)
    is_best = found > max(network.validation_scores[n_before:], default=-np.inf)
    moves = is_best and step.keeps_best and step.levels
    if moves and (rare := network.rarity(step.loss) ** 2 - 1) > _EQUAL:
        # Rows that trees have learned from have the right mean probability, and new rows of a rare
        # class are predicted with too small probabilities. The held-out rows tell by how much.
        f = rows.f + network.intercept
        network.level = constant_of(step.loss, f, rows.targets, rows.weight, 1 / rare)
    network.validation_scores.append(found)
    network.scored.append(len(network.coef))


def score(network: GrowingNetwork, rows: MiniBatch, loss: Loss) -> float:
    """Return the score of held-out rows: the share of their loss that is explained.

    It uses the loss, since the accuracy of a few rows, or of a rare class, is coarse. It is the
    mean over outputs, so that outputs count equally in any units. For the squared loss it is
    R², with the intercept instead of the mean.
    """
    f, targets, weight = rows.f, rows.targets, rows.weight
    constant = np.broadcast_to(network.constant, targets.shape)
    n_apart = 1 if loss.coupled else targets.shape[1]
    outputs = np.split(np.stack([f + network.intercept, constant, targets]), n_apart, axis=2)
    means = [
        [np.average(loss.value(some, y), weights=weight) for some in (value, start)]
        for value, start, y in outputs
    ]
    return float(np.mean([1 - lost / start if start > 0 else 0.0 for lost, start in means]))


def stalled(scores: list[float], n_iter_no_change: int, tol: float) -> bool:
    """Return whether the last scores improved the earlier best by less than tol."""
    last = n_iter_no_change
    return len(scores) > last and max(scores[-last:]) < max(scores[:-last]) + tol

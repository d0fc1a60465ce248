"""Errors and warnings about steps that learn nothing."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from trickless._rules import warn
from trickless._solvers.descent.growing_network import GrowingNetwork
from trickless._solvers.descent.options import DescentOptions
from trickless._solvers.progress import check_progress

#: Steps, and the share of a constant's loss, from which there is a warning that nothing is learned.
_LEAST_LOST, _LOST = 8, 1.3


def check_loss(
    network: GrowingNetwork, value: float, start: float, gamma: np.ndarray, options: DescentOptions
) -> None:
    """Raise an error if the loss is far above ``start``, that of the intercept alone.

    The theorem's first steps may go that far. They stop only if numbers overflow.
    """
    if options.sizes.schedule == "theorem" and np.isfinite(value):
        return
    network.largest_loss = max(network.largest_loss, float(start))
    remedy = _remedy(network, options, gamma.max())
    check_progress(options.step.owner, value, network.largest_loss, network.n_steps, remedy)


def warn_if_lost(network: GrowingNetwork, n_before: int, options: DescentOptions) -> None:
    """Warn if rows were predicted worse than by a constant before most of the last steps.

    A long stream is checked whenever its number of steps has doubled. ``n_before`` steps had
    been taken at the last check. The theorem's first steps go far beyond the targets, so they
    are checked at the end of a fit.
    """
    last = network.history[len(network.history) // 2 :]
    doubled = network.n_steps.bit_length() > n_before.bit_length()
    if network.n_steps < _LEAST_LOST or not doubled or options.sizes.schedule == "theorem":
        return
    weighted, start = (sum(getattr(seen, name) for seen in last) for name in ("weighted", "start"))
    if weighted > _LOST * start > 0:
        warn(
            f"{options.step.owner}: nothing is learned: the loss of rows before the last "
            f"{len(last)} steps is {weighted / start:.3g} times that of predicting a constant. "
            f"Remedy: {_remedy(network, options)}.",
            ConvergenceWarning,
        )


def _remedy(network: GrowingNetwork, options: DescentOptions, longest: float = np.inf) -> str:
    """Return the remedy for steps that are too long, the longest of which is about ``longest``."""
    alpha = np.array(network.steps.alpha)
    known = alpha, network.spread, network.eigenvalue, network.neurons.bound
    stable = min(float(np.min(options.step.first_size(*known))), longest / 2)
    return options.step.remedy(network, options.sizes.step_size, stable, longest)

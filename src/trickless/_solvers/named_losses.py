"""Losses by their names, which are scikit-learn's."""

from __future__ import annotations

from trickless._rules import Rule, choice, non_negative
from trickless._solvers.class_losses import Hinge, Logistic, Softmax, SquaredHinge
from trickless._solvers.log_link import LogLink
from trickless._solvers.losses import Loss
from trickless._solvers.number_losses import EpsilonInsensitive, Huber, Squared
from trickless._solvers.pinball import Pinball, Quantile

#: Losses of numbers, and those for classes.
REGRESSION_LOSSES = ("squared_error", "huber", "epsilon_insensitive")
CLASSIFICATION_LOSSES = ("log_loss", "hinge", "squared_hinge", "squared_error")
#: Losses whose minimisers are quantiles.
QUANTILE_LOSSES = ("absolute_error", "quantile")
#: Losses of regressors whose decision values are logarithms of means, and the power of the mean to
#: which the variance of a target is proportional.
LINK_LOSSES = {"poisson": 1.0, "gamma": 2.0, "tweedie": 1.5}
#: What the losses are for, in remedies.
FOR_MORE_NUMBERS = (
    "loss='squared_error' for the mean; loss='absolute_error' for the median; loss='quantile' for "
    "other quantiles"
)
FOR_MEANS = (
    "loss='poisson' for counts; loss='gamma' for positive numbers; loss='tweedie' for positive "
    "numbers and zeros"
)
FOR_LABELS = (
    "loss='log_loss' for probabilities; loss='hinge' for support vector machines; "
    "loss='squared_error' for the least time"
)
#: Rules of the parameters that choose a loss of numbers, and for classes.
OF_NUMBERS: dict[str, Rule] = {
    "loss": choice(
        *(*REGRESSION_LOSSES, *QUANTILE_LOSSES, *LINK_LOSSES),
        remedy=f"{FOR_MEANS}; {FOR_MORE_NUMBERS}",
    ),
    "epsilon": non_negative("epsilon=0.1 suits standardised targets"),
}
OF_LABELS: dict[str, Rule] = {"loss": choice(*CLASSIFICATION_LOSSES, remedy=FOR_LABELS)}


def make_loss(
    name: str,
    n_outputs: int = 1,
    epsilon: float = 0.1,
    quantile: Quantile = 0.5,
) -> Loss:
    """Make the loss of a name; ``"log_loss"`` is the logistic loss for one output, else softmax."""
    match name:
        case "poisson" | "gamma" | "tweedie":
            return LogLink(LINK_LOSSES[name])
        case "absolute_error":
            return Pinball(1.0, 1.0)
        case "quantile":
            return Pinball.of(quantile)
        case "squared_error":
            return Squared()
        case "huber":
            return Huber(epsilon)
        case "epsilon_insensitive":
            return EpsilonInsensitive(epsilon)
        case "hinge":
            return Hinge()
        case "squared_hinge":
            return SquaredHinge()
        case "log_loss":
            return Logistic() if n_outputs == 1 else Softmax()
    raise ValueError(f"loss={name!r} is not a known loss")

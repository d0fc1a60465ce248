"""Constants and bounds of the papers, as functions."""

from trickless.theory.doubly_stochastic import doubly_stochastic_bound
from trickless.theory.kitchen_sinks import kitchen_sinks_bound
from trickless.theory.shrinking_gradient import (
    shrinking_gradient_constants,
    shrinking_gradient_draws,
    shrinking_gradient_regret,
)

__all__ = [
    "doubly_stochastic_bound",
    "kitchen_sinks_bound",
    "shrinking_gradient_constants",
    "shrinking_gradient_draws",
    "shrinking_gradient_regret",
]

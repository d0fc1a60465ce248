"""Constants and bounds of the papers, as functions."""

from trickless.theory.concentration import empirical_bernstein_radius, hoeffding_radius
from trickless.theory.doubly_stochastic import DoublyStochasticBound, doubly_stochastic_bound
from trickless.theory.kitchen_sinks import KitchenSinksBound, kitchen_sinks_bound
from trickless.theory.shrinking_gradient import (
    ShrinkingGradientConstants,
    shrinking_gradient_constants,
    shrinking_gradient_draws,
    shrinking_gradient_guarantee,
    shrinking_gradient_regret,
)
from trickless.theory.tracking import shrinking_gradient_tracking_regret

__all__ = [
    "DoublyStochasticBound",
    "KitchenSinksBound",
    "ShrinkingGradientConstants",
    "doubly_stochastic_bound",
    "empirical_bernstein_radius",
    "hoeffding_radius",
    "kitchen_sinks_bound",
    "shrinking_gradient_constants",
    "shrinking_gradient_draws",
    "shrinking_gradient_guarantee",
    "shrinking_gradient_regret",
    "shrinking_gradient_tracking_regret",
]

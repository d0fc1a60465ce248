"""Constants and bounds of the papers, as functions."""

from trickless.theory.concentration import empirical_bernstein_radius, hoeffding_radius
from trickless.theory.kitchen_sinks import (
    KitchenSinksBound,
    kitchen_sinks_bound,
    kitchen_sinks_neurons,
)
from trickless.theory.shrinking_gradient import (
    ShrinkingGradientConstants,
    shrinking_gradient_constants,
    shrinking_gradient_draws,
    shrinking_gradient_guarantee,
    shrinking_gradient_horizon,
    shrinking_gradient_regret,
)

__all__ = [
    "KitchenSinksBound",
    "ShrinkingGradientConstants",
    "empirical_bernstein_radius",
    "hoeffding_radius",
    "kitchen_sinks_bound",
    "kitchen_sinks_neurons",
    "shrinking_gradient_constants",
    "shrinking_gradient_draws",
    "shrinking_gradient_guarantee",
    "shrinking_gradient_horizon",
    "shrinking_gradient_regret",
]

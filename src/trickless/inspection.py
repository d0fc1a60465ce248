"""What a model has learned, what kernel its neurons have, and what a fitted model is made of.

A fitted model may have a :class:`Network` as ``network_``, and importances as
``feature_importances_``.
"""

from trickless._functions.expansion import Expansion
from trickless._functions.kernel import KernelDisplay, estimate_kernel
from trickless._functions.network import Network
from trickless._learners.displays import HalfLifeDisplay, IntervalDisplay
from trickless._learners.importances import FeatureImportancesDisplay
from trickless._learners.occlusion import occlusion_importance

__all__ = [
    "Expansion",
    "FeatureImportancesDisplay",
    "HalfLifeDisplay",
    "IntervalDisplay",
    "KernelDisplay",
    "Network",
    "estimate_kernel",
    "occlusion_importance",
]

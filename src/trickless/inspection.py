"""What a model has learned, what kernel its neurons have, and what a fitted model is made of.

A fitted model may have a :class:`Network` as ``network_``, and importances as
``feature_importances_``.
"""

from trickless.functions.expansion import Expansion
from trickless.functions.kernel import KernelDisplay, estimate_kernel
from trickless.functions.network import Network
from trickless.functions.stream import NeuronStream
from trickless.learners.importances import FeatureImportancesDisplay
from trickless.learners.occlusion import occlusion_importance

__all__ = [
    "Expansion",
    "FeatureImportancesDisplay",
    "KernelDisplay",
    "Network",
    "NeuronStream",
    "estimate_kernel",
    "occlusion_importance",
]

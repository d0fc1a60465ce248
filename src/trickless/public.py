"""Public names of the package, each imported when it is first used."""

from trickless.export import to_c, to_js, to_onnx
from trickless.files.format import load, save
from trickless.functions.expansion import Expansion
from trickless.functions.kernel import KernelDisplay, estimate_kernel
from trickless.functions.network import Network
from trickless.functions.stream import NeuronStream
from trickless.inference.dependence import KernelTestResult
from trickless.inference.drift import DriftDetector
from trickless.inference.hypotheses import hsic_test, mmd_test
from trickless.inference.scan import Drift
from trickless.learners.boosted_trees import BoostedTreesClassifier, BoostedTreesRegressor
from trickless.learners.doubly_stochastic import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
)
from trickless.learners.importances import FeatureImportancesDisplay
from trickless.learners.kernel_gradient import KernelGradientClassifier, KernelGradientRegressor
from trickless.learners.kitchen_sinks import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.learners.occlusion import occlusion_importance
from trickless.learners.random_features import RandomFeatures
from trickless.learners.shrinking_gradient import (
    ShrinkingGradientClassifier,
    ShrinkingGradientRegressor,
)
from trickless.learners.streaming_scaler import StreamingScaler
from trickless.stack.auto import AutoClassifier, AutoRegressor

__all__ = [
    "AutoClassifier",
    "AutoRegressor",
    "BoostedTreesClassifier",
    "BoostedTreesRegressor",
    "DoublyStochasticClassifier",
    "DoublyStochasticRegressor",
    "Drift",
    "DriftDetector",
    "Expansion",
    "FeatureImportancesDisplay",
    "KernelDisplay",
    "KernelGradientClassifier",
    "KernelGradientRegressor",
    "KernelTestResult",
    "KitchenSinksClassifier",
    "KitchenSinksRegressor",
    "Network",
    "NeuronStream",
    "RandomFeatures",
    "ShrinkingGradientClassifier",
    "ShrinkingGradientRegressor",
    "StreamingScaler",
    "estimate_kernel",
    "hsic_test",
    "load",
    "mmd_test",
    "occlusion_importance",
    "save",
    "to_c",
    "to_js",
    "to_onnx",
]

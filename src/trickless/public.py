"""The public names of the package."""

from trickless.files.format import load, save
from trickless.functions.expansion import Expansion
from trickless.functions.kernel import KernelDisplay, estimate_kernel
from trickless.functions.network import Network
from trickless.functions.stream import NeuronStream
from trickless.inference.independence import hsic_test
from trickless.inference.result import KernelTestResult
from trickless.inference.two_samples import mmd_test
from trickless.learners.candidates_curve import CandidatesDisplay
from trickless.learners.doubly_stochastic import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
)
from trickless.learners.importances import FeatureImportancesDisplay
from trickless.learners.kernel_gradient import KernelGradientClassifier, KernelGradientRegressor
from trickless.learners.kitchen_sinks import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.learners.noisy_kernel import NoisyKernelClassifier, NoisyKernelRegressor
from trickless.learners.norma import NORMAClassifier, NORMARegressor
from trickless.learners.pegasos import PegasosClassifier
from trickless.learners.random_features import RandomFeatures
from trickless.learners.sdca import SDCAClassifier, SDCARegressor
from trickless.learners.shrinking_gradient import (
    ShrinkingGradientClassifier,
    ShrinkingGradientRegressor,
)
from trickless.solvers.regret import RegretDisplay
from trickless.tables.model import TableColumn, TableModel

__all__ = [
    "CandidatesDisplay",
    "DoublyStochasticClassifier",
    "DoublyStochasticRegressor",
    "Expansion",
    "FeatureImportancesDisplay",
    "KernelDisplay",
    "KernelGradientClassifier",
    "KernelGradientRegressor",
    "KernelTestResult",
    "KitchenSinksClassifier",
    "KitchenSinksRegressor",
    "NORMAClassifier",
    "NORMARegressor",
    "Network",
    "NeuronStream",
    "NoisyKernelClassifier",
    "NoisyKernelRegressor",
    "PegasosClassifier",
    "RandomFeatures",
    "RegretDisplay",
    "SDCAClassifier",
    "SDCARegressor",
    "ShrinkingGradientClassifier",
    "ShrinkingGradientRegressor",
    "TableColumn",
    "TableModel",
    "estimate_kernel",
    "hsic_test",
    "load",
    "mmd_test",
    "save",
]

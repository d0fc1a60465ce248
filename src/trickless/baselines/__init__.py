"""Kernel learners from the literature, as baselines for the learners of this package."""

from trickless.baselines.kernel_gradient import KernelGradientClassifier, KernelGradientRegressor
from trickless.baselines.norma import NORMAClassifier, NORMARegressor
from trickless.baselines.pegasos import PegasosClassifier
from trickless.baselines.sdca import SDCAClassifier, SDCARegressor

__all__ = [
    "KernelGradientClassifier",
    "KernelGradientRegressor",
    "NORMAClassifier",
    "NORMARegressor",
    "PegasosClassifier",
    "SDCAClassifier",
    "SDCARegressor",
]

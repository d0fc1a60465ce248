"""Online learners with a kernel that is given, by name or as a function that may be noisy."""

from trickless._learners.kernel_gradient import KernelGradientClassifier, KernelGradientRegressor

__all__ = ["KernelGradientClassifier", "KernelGradientRegressor"]

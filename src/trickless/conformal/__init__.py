"""Conformal prediction: intervals and sets that hold new targets with a given probability."""

from trickless.conformal.adaptive import AdaptiveInterval
from trickless.conformal.split import SplitConformal

__all__ = ["AdaptiveInterval", "SplitConformal"]

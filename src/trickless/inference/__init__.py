"""Tests of hypotheses by neurons: of equal distributions, of independence, and of drift."""

from trickless.inference.drift import DriftDetector
from trickless.inference.hypotheses import hsic_test, mmd_test

__all__ = ["DriftDetector", "hsic_test", "mmd_test"]

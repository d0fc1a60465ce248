"""Coordinates: neurons that read one random feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless._arrays.places import namespace
from trickless._rules import positive
from trickless.neurons.base import Weights
from trickless.neurons.projected import Projected


class Coordinates(Projected):
    r"""Neurons that read one random feature, clipped to [-1, 1].

    .. math:: \psi(x; j) = \mathrm{clip}(x_j / c, -1, 1), \qquad j \sim U\{1, \dots, d\}

    The kernel is the scaled inner product :math:`\frac{1}{d} \sum_j \psi(x; j) \psi(x'; j)`.
    Learning is therefore linear and looks at a few features of each row, as in the experiment of
    [1]_.

    Parameters
    ----------
    scale : float, default=1.0
        Value c at which a feature is clipped.

    References
    ----------
    .. [1] R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the
       kernel trick", ICML 2017, section 6.
    """

    _rules = {"scale": positive("scale=1.0 suits inputs in [-1, 1]")}

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        return (rng.integers(self.n_features_in_, size=n),)

    def respond(self, t: Any) -> Any:
        return namespace(t).clip(t / float(self.scale), -1, 1)

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return self.respond(X) @ self.respond(Y).T / self.n_features_in_

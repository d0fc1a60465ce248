"""Random hidden units: a nonlinearity of a random affine function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.special
from scipy.sparse import issparse

from trickless._arrays.places import namespace
from trickless._rules import choice, non_negative, positive
from trickless.neurons.base import Weights
from trickless.neurons.projected import Projected
from trickless.neurons.unit_sphere import angles, append_constant, unit_rows


class Dense(Projected):
    r"""Hidden units of a dense layer with random weights.

    .. math:: \psi(x; w) = \sigma(\langle w, \tilde x \rangle), \qquad
        \tilde x = (x / s, b), \; w \sim N(0, I_{d+1})

    Parameters
    ----------
    activation : {"tanh", "erf", "sigmoid", "sign", "step", "relu"}, default="tanh"
        Activation function. "sign" is -1, 0 or 1, and "step" is 1 for positive arguments and 0
        otherwise. Only "relu" is unbounded, so with "relu", :math:`\tilde x` and w are scaled to
        length 1, which makes w uniform on the sphere and keeps activations in [0, 1].
    length_scale : float, default=1.0
        Divisor s of the inputs. Larger values give smoother functions.
    bias_scale : float, default=1.0
        Standard deviation b of the offset.

    Notes
    -----
    These activation functions have closed-form kernels:

    - "erf": the arcsine kernel [1]_;
    - "sign": :math:`1 - 2\theta/\pi`, where :math:`\theta` is the angle between :math:`\tilde x`
      and :math:`\tilde x'`;
    - "step" and "relu": the arc-cosine kernels of order 0 and 1 [2]_.

    References
    ----------
    .. [1] C. K. I. Williams, "Computing with infinite networks", NIPS 1996.
    .. [2] Y. Cho and L. K. Saul, "Kernel methods for deep learning", NIPS 2009.
    """

    _rules = {
        "activation": choice(
            *("tanh", "erf", "sigmoid", "sign", "step", "relu"),
            remedy="activation='tanh' is a good default",
        ),
        "length_scale": positive("length_scale=1.0 suits standardised inputs"),
        "bias_scale": non_negative("bias_scale=1.0 is the default"),
    }

    def __init__(
        self, activation: str = "tanh", length_scale: float = 1.0, bias_scale: float = 1.0
    ) -> None:
        self.activation = activation
        self.length_scale = length_scale
        self.bias_scale = bias_scale

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        return (self.directions(rng, n, self.n_features_in_ + 1),)

    def directions(self, rng: np.random.Generator, *shape: int) -> np.ndarray:
        """Draw the weights of units independently. The last axis has the weights of one unit."""
        w = rng.standard_normal(shape)
        if _ACTIVATIONS[self.activation].on_sphere:
            w /= np.linalg.norm(w, axis=-1, keepdims=True)
        return w

    def prepare(self, X: Any) -> Any:
        extended = append_constant(X / float(self.length_scale), float(self.bias_scale))
        if _ACTIVATIONS[self.activation].on_sphere:
            extended = unit_rows(extended)
        return extended.astype(X.dtype) if issparse(X) else extended

    def respond(self, t: Any) -> Any:
        return _ACTIVATIONS[self.activation].function(t)

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        closed_form = _ACTIVATIONS[self.activation].kernel
        if closed_form is None:
            return super().closed_form(X, Y)
        return closed_form(self.prepare(X), self.prepare(Y))


def _arcsine(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Compute Williams's kernel of the error function."""
    x, y = 1 + 2 * (X**2).sum(1), 1 + 2 * (Y**2).sum(1)
    return 2 / np.pi * np.arcsin(2 * (X @ Y.T) / np.sqrt(x[:, None] * y[None, :]))


def _sign_angle(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Compute P(same sign) − P(different signs): signs differ with probability θ/π at angle θ."""
    angle, nonzero = angles(X, Y)
    return nonzero * (1 - 2 * angle / np.pi)


def _arc_cosine_0(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Compute P(both positive) = (π − θ) / 2π, half of Cho and Saul's kernel of degree 0."""
    angle, nonzero = angles(X, Y)
    return nonzero * (np.pi - angle) / (2 * np.pi)


def _arc_cosine_1(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Halve Cho and Saul's kernel of degree 1, divided by d since w has length 1, not √d."""
    angle, nonzero = angles(X, Y)
    kernel = np.sin(angle) + (np.pi - angle) * np.cos(angle)
    return nonzero * kernel / (2 * np.pi * X.shape[1])


class _Activation(NamedTuple):
    function: Callable[[Any], Any]
    kernel: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    on_sphere: bool = False


_ACTIVATIONS = {
    "tanh": _Activation(lambda t: namespace(t).tanh(t)),
    "erf": _Activation(lambda t: getattr(namespace(t), "erf", scipy.special.erf)(t), _arcsine),
    "sigmoid": _Activation(lambda t: 0.5 + 0.5 * namespace(t).tanh(0.5 * t)),
    "sign": _Activation(lambda t: namespace(t).sign(t), _sign_angle),
    "step": _Activation(lambda t: namespace(t).astype(t > 0, t.dtype), _arc_cosine_0),
    "relu": _Activation(lambda t: namespace(t).clip(t, 0, 1), _arc_cosine_1, on_sphere=True),
}

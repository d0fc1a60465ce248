"""Deep neurons: each is a random network of several layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.stats import binom

from trickless._arrays.places import namespace, place_of
from trickless._rules import anything, is_count
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.dense import Dense
from trickless.neurons.unit_sphere import angles

#: The most hidden activations at a time: on the host, within its cache, and on a device.
_CELLS, _CELLS_ON_DEVICE = 2**19, 2**27


class Deep(Dense):
    r"""Dense networks with random weights in every layer. Each network is one neuron.

    .. math:: \psi(x; W_0, \dots, W_L) = \sigma(\langle W_L, u_L \rangle), \qquad
        u_{l+1} = \frac{\sigma(W_l u_l)}{\|\sigma(W_l u_l)\|}, \qquad u_0 = (x / s, b)

    Every unit is drawn like a neuron of :class:`Dense`, and networks share no weights. The output
    of a hidden layer is scaled to length 1, so that signals neither fade nor grow with depth. In
    wide layers, the law of large numbers would have the same effect.

    Parameters
    ----------
    hidden : tuple of int, default=(32, 32)
        Number of units of each hidden layer. ``()`` is :class:`Dense`. Larger networks take more
        time: a neuron draws a weight for each connection, and a row needs as many multiplications.
        Shrinking Gradient draws fresh neurons in every round, so use small networks there.
    activation : {"tanh", "erf", "sigmoid", "sign", "step", "relu"}, default="tanh"
        Activation function of all layers. With "relu", the weights of each unit and :math:`u_0`
        have length 1, which keeps activations in [0, 1]. Their mean square is then about 1 / (2 h),
        where h is the number of units of the last hidden layer.

    Notes
    -----
    With hidden layers, only "sign" has a closed-form kernel. Two inputs at angle :math:`\theta`
    differ in :math:`B \sim \mathrm{Bin}(m, \theta/\pi)` of the m signs of a layer, and are
    therefore at the angle :math:`\arccos(1 - 2B/m)` for the next layer. As layers grow wide, the
    kernels of all activation functions approach compositions of the kernels of Dense [1]_.

    References
    ----------
    .. [1] Y. Cho and L. K. Saul, "Kernel methods for deep learning", NIPS 2009, section 2.3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from trickless import KitchenSinksClassifier
    >>> from trickless.neurons import Deep
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> neurons = Deep(hidden=(16, 8), length_scale=5.0)
    >>> model = KitchenSinksClassifier(neurons, n_neurons=200, random_state=0).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.95)
    True
    """

    _rules = {
        "hidden": anything(
            "a tuple of integers of at least 1",
            "hidden=(32, 32) is two hidden layers of 32 units",
            lambda v: isinstance(v, tuple | list) and all(map(is_count, v)),
        ),
        **Dense._rules,
    }

    def __init__(
        self,
        hidden: Sequence[int] = (32, 32),
        activation: str = "tanh",
        length_scale: float = 1.0,
        bias_scale: float = 1.0,
    ) -> None:
        super().__init__(activation, length_scale, bias_scale)
        self.hidden = hidden

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        """Draw matrices of shape (units, inputs) for each layer of n networks."""
        inputs, units = (self.n_features_in_ + 1, *self.hidden), (*self.hidden, 1)
        return tuple(self.directions(rng, n, *shape) for shape in zip(units, inputs, strict=True))

    def activate(self, X: Any, weights: Weights) -> Any:
        U, n = self.prepare(X), weights[0].shape[0]
        most = place_of(X).sized(_CELLS, _CELLS_ON_DEVICE)
        at_once = most // max(1, X.shape[0] * max(self.hidden, default=1)) or 1
        groups = [slice(i, min(i + at_once, n)) for i in range(0, max(1, n), at_once)]
        parts = [self._networks(U, *(W[some, ...] for W in weights)) for some in groups]
        return namespace(X).concat(parts, axis=1)

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        first, *rest = weights
        U = self.prepare(X)
        U = U.toarray() if issparse(U) else U
        t = U[:, None, :] @ namespace(U).matrix_transpose(first)
        return self._deeper(t, *rest)[:, 0, :]

    def _networks(self, U: Any, first: Any, *rest: Any) -> Any:
        """Evaluate the networks of one group on all rows: shape (n_rows, n)."""
        xp = namespace(U)
        n, units, inputs = first.shape
        t = U @ xp.reshape(first, (n * units, inputs)).T
        t = xp.permute_dims(xp.reshape(t, (U.shape[0], n, units)), (1, 0, 2))
        return self._deeper(t, *rest)[:, :, 0].T

    def _deeper(self, t: Any, *layers: Any) -> Any:
        """Compute activations from the projections of the first layer, both (n, n_rows, units)."""
        xp = namespace(t)
        h = self.respond(t)
        for layer in layers:
            norm = xp.sqrt(xp.vecdot(h, h))[:, :, None]
            u = h / xp.where(norm > 0, norm, xp.ones_like(norm))
            h = self.respond(u @ xp.matrix_transpose(layer))
        return h

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        if not self.hidden:
            return super().closed_form(X, Y)
        if self.activation != "sign":
            return Neurons.closed_form(self, X, Y)
        angle, nonzero = angles(self.prepare(X), self.prepare(Y))
        return nonzero * _mean_product(angle, *self.hidden)


def _mean_product(angle: np.ndarray, *hidden: int) -> np.ndarray:
    """Compute the kernel E ψ(x) ψ(x′) of networks of signs, for inputs at given angles."""
    if not hidden:
        return 1 - 2 * angle / np.pi
    m, *deeper = hidden
    differ = np.arange(m + 1)
    chance = binom.pmf(differ, m, angle[..., None] / np.pi)
    return chance @ _mean_product(np.arccos(1 - 2 * differ / m), *deeper)

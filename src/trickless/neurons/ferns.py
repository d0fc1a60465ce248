"""Ferns: small random trees that make the same cut on every branch of a level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from trickless._arrays.places import namespace
from trickless._arrays.stated import check_array, check_same
from trickless._rules import Rule, is_integer
from trickless.neurons.base import Weights
from trickless.neurons.projected import check_features, project, project_pairs
from trickless.neurons.stumps import Stumps

_DEEPEST = 8


class Ferns(Stumps):
    r"""Random trees of a few stumps, with a random sign on every leaf.

    .. math:: \psi(x; w) = s_\ell, \qquad
        \ell = \sum_{i=0}^{D-1} 2^i \, \mathbb{1}[x_{j_i} > \theta_i], \qquad
        s_0, \dots, s_{2^D - 1} \in \{-1, 1\}

    The D cuts :math:`(j_i, \theta_i)` are independent, and drawn like the cuts of :class:`Stumps`.
    The signs are fair, whereas [1]_ learns a table of class frequencies for the leaves. The kernel
    is the probability that two rows share a leaf,
    :math:`k(x, x') = \big( (1 + k_{\mathrm{stumps}}(x, x')) / 2 \big)^D`. Whereas stumps add up
    functions of single features, ferns see interactions of up to D features.

    Parameters
    ----------
    depth : int, default=3
        Number of cuts D of a fern, from 1 to 8. A fern has :math:`2^D` leaves.
    thresholds : {"data", "normal"}, default="data"
        How thresholds are drawn, as in :class:`Stumps`.

    References
    ----------
    .. [1] M. Özuysal, M. Calonder, V. Lepetit and P. Fua, "Fast keypoint recognition using random
       ferns", IEEE TPAMI 32(3), 2010.

    Examples
    --------
    An interaction, which no sum of stumps can learn:

    >>> import numpy as np
    >>> from trickless import KitchenSinksClassifier
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> for neurons in ("stumps", "ferns"):
    ...     model = KitchenSinksClassifier(neurons, n_neurons=300, random_state=0).fit(X, y)
    ...     print(neurons, bool(model.score(X, y) > 0.9))
    stumps False
    ferns True
    """

    _rules = {
        "depth": Rule(
            f"an integer from 1 to {_DEEPEST}",
            "depth=3 has 8 leaves; deeper ferns need more neurons",
            is_integer,
            lambda depth: 1 <= depth <= _DEEPEST,
        ),
        **Stumps._rules,
    }

    def __init__(
        self, depth: int = 3, thresholds: str = "data", feature_weights: Any = None
    ) -> None:
        super().__init__(thresholds, feature_weights)
        self.depth = depth

    def _check_weights(self, weights: Weights) -> None:
        columns, thresholds, signs = weights
        check_features(self, columns)
        check_same("cuts of stored ferns", columns.shape[1:], (self.depth,))
        check_array("thresholds of stored ferns", thresholds, "f4 f8", columns.shape)
        check_array("signs of stored ferns", signs, "f4 f8", (len(columns), 2**self.depth))

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        cuts = super().draw(rng, n * self.depth)
        columns, thresholds = (array.reshape(n, self.depth) for array in cuts)
        return columns, thresholds, rng.choice([-1.0, 1.0], size=(n, 2**self.depth))

    def activate(self, X: Any, weights: Weights) -> Any:
        return _signs(lambda columns: project(X, columns), *weights)

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        return _signs(lambda columns: project_pairs(X, columns)[None, :], *weights).T

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return ((1 + super().closed_form(X, Y)) / 2) ** self.depth


def _signs(pick: Callable[[Any], Any], columns: Any, thresholds: Any, signs: Any) -> Any:
    """Find the sign of the leaf of each row. ``pick`` reads one column for each fern."""
    xp = namespace(signs)
    n, depth = columns.shape
    leaf = xp.arange(n, device=signs.device) * 2**depth
    for i in range(depth):
        above = pick(columns[:, i]) > thresholds[:, i]
        leaf = leaf + xp.astype(above, leaf.dtype) * 2**i
    flat = xp.take(xp.reshape(signs, (-1,)), xp.reshape(leaf, (-1,)))
    return xp.reshape(flat, leaf.shape)

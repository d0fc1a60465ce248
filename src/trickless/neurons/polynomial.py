"""Polynomials: products of random projections."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from trickless.neurons.base import Neurons, Weights
from trickless.neurons.unit_sphere import append_constant, unit_rows
from trickless.rules import NONE, count, either, non_negative, positive


class Polynomial(Neurons):
    r"""Products of random projections, for the normalised polynomial kernel.

    .. math:: \psi(x; w) = \prod_{i=1}^{p} \langle w_i, \tilde x \rangle, \qquad
        \tilde x = \frac{(\sqrt{\gamma} \, x, \sqrt{c})}{\|(\sqrt{\gamma} \, x, \sqrt{c})\|},
        \qquad w_1, \dots, w_p \sim U(S^d)

    The kernel is the polynomial kernel of degree p, normalised to 1 at :math:`x = x'` and divided
    by :math:`(d + 1)^p`:

    .. math:: k(x, x') = \frac{1}{(d + 1)^p} \,
        \frac{(\gamma \langle x, x' \rangle + c)^p}
             {(\gamma \|x\|^2 + c)^{p/2} \, (\gamma \|x'\|^2 + c)^{p/2}}

    Parameters
    ----------
    degree : int, default=3
        Degree p.
    gamma : float or None, default=None
        Factor :math:`\gamma` of the inner product. None is 1 / n_features, as in scikit-learn.
    coef0 : float, default=1.0
        Constant c. Larger values give the lower degrees more weight. 0 leaves them out.

    Attributes
    ----------
    gamma_ : float
        Factor :math:`\gamma` in use.

    Notes
    -----
    The divisor makes the bound 1: a product of projections can reach 1, but its mean square is only
    :math:`(d + 1)^{-p}`. This matters neither to Kitchen Sinks, which chooses ``alpha`` relative to
    the mean square, nor to Doubly Stochastic Gradients with ``preconditioner="block"``. All other
    steps are sized for the bound, and make no progress with more than a few features.

    References
    ----------
    .. [1] P. Kar and H. Karnick, "Random feature maps for dot product kernels", AISTATS 2012 (with
       random signs for w, and a degree that is drawn).

    Examples
    --------
    >>> import numpy as np
    >>> from trickless import KitchenSinksRegressor
    >>> from trickless.neurons import Polynomial
    >>> X = np.random.default_rng(0).uniform(-1, 1, (300, 3))
    >>> y = X[:, 0] * X[:, 1] - X[:, 2] ** 2
    >>> model = KitchenSinksRegressor(Polynomial(degree=4), n_neurons=200, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.99)
    True
    """

    accepts_sparse = True

    _rules = {
        "degree": count("degree=3 is the default"),
        "gamma": either(positive("gamma=None is 1 / n_features, for standardised inputs"), NONE),
        "coef0": non_negative("coef0=1.0 keeps lower degrees as well"),
    }

    def __init__(self, degree: int = 3, gamma: float | None = None, coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Polynomial:
        super().fit(X, rng, sample_weight)
        self.gamma_ = 1 / self.n_features_in_ if self.gamma is None else float(self.gamma)
        return self

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        w = rng.standard_normal((n, self.degree, self.n_features_in_ + 1))
        return (w / np.linalg.norm(w, axis=-1, keepdims=True),)

    def prepare(self, X: Any) -> Any:
        """Append the constant to the rows, and scale them to length 1."""
        extended = unit_rows(append_constant(X * self.gamma_**0.5, self.coef0**0.5))
        return extended.astype(X.dtype) if issparse(X) else extended

    def activate(self, X: Any, weights: Weights) -> Any:
        (w,) = weights
        X = self.prepare(X)
        Z = X @ w[:, 0, :].T
        for i in range(1, self.degree):
            Z *= X @ w[:, i, :].T
        return Z

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        (w,) = weights
        X = self.prepare(X)
        X = X.toarray() if issparse(X) else X
        return np.prod(w @ X[:, :, None], axis=1)

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        X, Y = self.prepare(X), self.prepare(Y)
        return (X @ Y.T / X.shape[1]) ** self.degree

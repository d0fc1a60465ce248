"""Fourier neurons of kernels that are products over the features.

The coordinates of a frequency are independent, and each has the spectrum of its factor of the
kernel.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtr

from trickless._arrays.distances import distances
from trickless._rules import choice
from trickless.neurons.fourier import LARGEST_FREQUENCY, Fourier


class Separable(Fourier):
    """A family whose kernel is a product over the features.

    Orthogonal sampling is not possible here, because it needs frequencies of uniform direction, and
    only Gaussian frequencies have both a uniform direction and independent coordinates.

    Parameters
    ----------
    sampling : {"iid", "sobol"}, default="iid"
        How the frequencies of a draw depend on each other. "iid" draws them independently, which
        standard errors need. "sobol" spreads them more evenly; choose it with few features. See
        :class:`Gaussian`.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007,
       Figure 1.
    """

    _rules = Fourier._rules | {
        "sampling": choice(
            "iid",
            "sobol",
            remedy="sampling='iid', since 'orthogonal' and 'structured' are only for kernels of "
            "the Euclidean distance: Gaussian, Laplace, Matern, RationalQuadratic",
        )
    }


class Cauchy(Separable):
    r"""Fourier neurons of the Cauchy kernel, a product over the features.

    .. math:: k(x, x') = \prod_{j=1}^{d} \frac{1}{1 + (x_j - x'_j)^2 / s_j^2}, \qquad
        p(w) = \prod_j \frac{s_j}{2} \exp(-s_j |w_j|)

    The coordinates of a frequency are independent and have a Laplace distribution [1]_.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless.neurons import Cauchy
    >>> X = np.array([[0.0, 0.0], [3.0, 2.0]])
    >>> Cauchy(length_scale=[3.0, 1.0]).fit(X, np.random.default_rng(0)).kernel(X)
    array([[1. , 0.1],
           [0.1, 1. ]])
    """

    def frequencies(self, z: np.ndarray, g: np.ndarray) -> np.ndarray:
        return -np.sign(z) * (np.log(2) + log_ndtr(-np.abs(z)))

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        X, Y = X / self.length_scale_, Y / self.length_scale_
        log_kernel = np.zeros((len(X), len(Y)))
        for a, b in zip(X.T, Y.T, strict=True):
            log_kernel -= np.log1p((a[:, None] - b[None, :]) ** 2)
        return np.exp(log_kernel)


class Laplace1(Separable):
    r"""Fourier neurons of the Laplace kernel with the 1-norm, a product over the features.

    .. math:: k(x, x') = \exp\Bigl(-\sum_{j=1}^{d} |x_j - x'_j| / s_j\Bigr), \qquad
        p(w) = \prod_j \frac{s_j}{\pi (1 + s_j^2 w_j^2)}

    This is scikit-learn's ``laplacian_kernel`` with ``gamma = 1 / s``. The coordinates of a
    frequency are independent and have a Cauchy distribution [1]_, so a neuron varies fast along a
    few axes. For the Euclidean norm, see :class:`Laplace`.

    Parameters
    ----------
    length_scale : float, array or {"median", "auto", "relevance"}, default="auto"
        The length scale s, in the units of the inputs; see :class:`Gaussian`. The median is taken
        of distances in the 1-norm.

    Notes
    -----
    Coordinates above 10⁶ / s are set to 10⁶ / s. This happens to one coordinate in 1.6 million.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless.neurons import Laplace1
    >>> X = np.array([[0.0, 0.0], [3.0, 4.0]])
    >>> Laplace1(length_scale=7.0).fit(X, np.random.default_rng(0)).kernel(X).round(2)
    array([[1.  , 0.37],
           [0.37, 1.  ]])
    """

    metric = "cityblock"

    def frequencies(self, z: np.ndarray, g: np.ndarray) -> np.ndarray:
        inverse = np.tan(np.pi * ndtr(-np.abs(z)))
        return np.sign(z) / np.maximum(inverse, 1 / LARGEST_FREQUENCY)

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        X, Y = X / self.length_scale_, Y / self.length_scale_
        return np.exp(-distances(X, Y))

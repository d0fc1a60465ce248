"""Fourier neurons of kernels of the Euclidean distance.

Each kernel is a mixture of Gaussian kernels with different length scales: a frequency is a normal
vector times one random number. A random number for each coordinate would instead give a product of
kernels of one coordinate, which is a different kernel unless it is Gaussian.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import gammaincinv, gammaln, kve, ndtr

from trickless._arrays.distances import squared_distances
from trickless._rules import Rule, choice, either, is_real, positive
from trickless.neurons.fourier import LARGEST_FREQUENCY, Fourier

_LARGEST_NU = 50
#: Beyond this distance every Matérn kernel with such a nu is 0 in double precision.
_FAR = 1e4
#: Squared distances below this count as this, where a slope is infinite at 0.
_CLOSE = 1e-20


class Isotropic(Fourier):
    """A family whose kernel is a function of the Euclidean distance over the length scale."""

    _rules = Fourier._rules | {
        "length_scale": either(
            Fourier._rules["length_scale"],
            choice("evidence", remedy=""),
        ),
    }

    @abstractmethod
    def profile(self, square: np.ndarray) -> np.ndarray:
        """Compute the kernel as a function of the squared distance, for length scale 1."""

    @abstractmethod
    def slope(self, square: np.ndarray) -> np.ndarray:
        """Compute the derivative of ``profile``. Where it is infinite, at 0, any finite number."""

    @property
    def _wants_relevance(self) -> bool:
        return super()._wants_relevance or self._by_evidence

    @property
    def _by_evidence(self) -> bool:
        return isinstance(self.length_scale, str) and self.length_scale == "evidence"

    @property
    def may_have_own_scales(self) -> bool:
        """Whether the learner may choose a length scale for each feature."""
        return isinstance(self.length_scale, str) and self.length_scale == "auto"

    def _by_relevance(self, relevance: Any) -> Fourier:
        if not self._by_evidence:
            return super()._by_relevance(relevance)
        return relevance.most_likely(self, prior=np.inf)

    def closed_form(self, X: Any, Y: Any) -> Any:
        inverse = 1 / np.asarray(self.length_scale_)
        x, y = (M.multiply(inverse) if issparse(M) else M / self.length_scale_ for M in (X, Y))
        return self.profile(squared_distances(x, y))


class Gaussian(Isotropic):
    r"""Fourier neurons of the Gaussian kernel.

    .. math:: k(x, x') = \exp(-\|x - x'\|^2 / (2 s^2)), \qquad w \sim N(0, I / s^2)

    A neuron is the cosine and the sine of :math:`\langle w, x \rangle` [1]_.

    Parameters
    ----------
    length_scale : float, array or {"median", "auto", "relevance", "evidence"}, default="auto"
        Length scale s, in the units of the inputs. Larger values give smoother functions.

        - A number is the length scale of all features. An array of shape (n_features,) has a length
          scale for each feature, which divides the feature.
        - "median" is the median distance between distinct training rows (at most 1,000 of them). A
          row of weight 2 counts as two rows.
        - "auto" chooses among six multiples of the median, from 1/8 to 4, by cross-validation on
          some rows. If the targets are numbers, it also tries a length scale for each feature of
          dense rows. With fewer than 20 rows, it is "median".
        - "relevance" learns a length scale for each feature. Use it if some features matter more
          than others.
        - "evidence" takes the length scale of each feature under which the targets are most likely
          for the exact kernel, as Gaussian processes do. It is for dense rows, of which it uses
          2,000, and for kernels of the Euclidean distance.
    sampling : {"iid", "orthogonal", "sobol", "structured"}, default="iid"
        How the frequencies of a draw depend on each other. Keep "iid" if you need standard errors
        or certificates, which are proved bounds on the error of drawing neurons. Otherwise, "sobol"
        is best with up to 16 features, and "orthogonal" with more. Each frequency has the
        distribution above, so estimates of the kernel are unbiased. With "structured", they are
        nearly unbiased.

        - "iid" draws independent frequencies.
        - "orthogonal" makes directions orthogonal, in groups of n_features [2]_. It helps most with
          16 to 256 features.
        - "sobol" derives frequencies from a Sobol sequence, whose points fill space more evenly
          than independent points. The sequence is scrambled at random. It is no better than "iid"
          with hundreds of features.
        - "structured" uses rows of products of random signs and Hadamard matrices, which are
          orthogonal matrices with entries ±1, up to scale [2]_. It needs 256 features or more, is
          as accurate as "orthogonal", and is much faster to draw.

    Notes
    -----
    *Length scales.* "auto" compares its candidates by ridge regression with 256 neurons on at most
    4,096 rows, and by the exact kernel on up to 600. Then the half with the lower scores, at least
    two, is compared again with 512 neurons on 16,384 rows. This continues up to 2,048 neurons on
    32,768 rows. It ends earlier if there are too few rows, or if a comparison would take long
    compared to the fit. If the targets are numbers, "auto" then tries a length scale for each
    feature, of at most 300 features. These maximise the evidence of at most 600 rows, times a prior
    that keeps them near each other, and must lower the error of left-out rows by more than 4 d / n
    of it. For classes, rows that chose so many numbers would seem too easy when they are left out.

    "relevance" is automatic relevance determination [3]_. With up to 600 rows, it maximises the
    same product for an exact Gaussian kernel, whatever the family. With more rows, it makes twenty
    steps of gradient descent on the logarithm of the generalised cross-validation score, as in
    [4]_. Each step uses 160 new Gaussian neurons, whatever the family, and at most 8,192 rows. If
    one length scale for all features is as good in the end, it is used. The family then chooses
    among six multiples of the length scales, from 1/4 to 8, as with "auto".

    *Sampling.* A learner draws blocks of 256 neurons, so its estimates gain as much as one block
    gains (``benchmarks/frequencies.py``). The table has the mean squared error of a Gaussian
    kernel, relative to "iid". With 784 features, there are more features than neurons in a block.

    ============  ==========  ===========  ============
    sampling      4 features  64 features  784 features
    ============  ==========  ===========  ============
    "orthogonal"  0.4         0.1          0.7
    "sobol"       0.05        0.4          1.25
    ============  ==========  ===========  ============

    The gain is smaller for heavy-tailed frequencies (:class:`Laplace`, :class:`Matern`), because
    their lengths vary more. Standard errors and certificates need independent neurons, and raise an
    error for all samplings except "iid".

    With "orthogonal", lengths are drawn independently of the directions, so each frequency is
    exactly normal. With "structured", the directions are rows of :math:`H D_1 H D_2 H D_3`, which
    are not quite uniform. With a constant length of :math:`\sqrt d / s`, the kernel would be off by
    at most :math:`6 \|x - x'\| / (s \sqrt d)` ([2]_, Theorem 3). Here the lengths are drawn, and
    the benchmark shows no bias.

    Frequencies are kept as dense vectors. A fast Hadamard transform computes thousands of
    projections together, and takes no less time than a product with a block of 256.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007.
    .. [2] F. X. Yu, A. T. Suresh, K. Choromanski, D. Holtmann-Rice and S. Kumar, "Orthogonal random
       features", NIPS 2016.
    .. [3] R. M. Neal, "Bayesian learning for neural networks", Springer 1996.
    .. [4] O. Chapelle, V. Vapnik, O. Bousquet and S. Mukherjee, "Choosing multiple parameters for
       support vector machines", Machine Learning 46, 2002 (the gradient of an estimate of the
       error).

    Examples
    --------
    >>> from trickless import KitchenSinksRegressor
    >>> from trickless.neurons import Gaussian
    >>> KitchenSinksRegressor(Gaussian(length_scale=0.5)).get_params()["neurons__length_scale"]
    0.5
    """

    def frequencies(self, z: np.ndarray, g: np.ndarray) -> np.ndarray:
        return z

    def profile(self, square: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * square)

    def slope(self, square: np.ndarray) -> np.ndarray:
        return -0.5 * np.exp(-0.5 * square)


class Laplace(Isotropic):
    r"""Fourier neurons of the Laplace kernel with the Euclidean norm.

    .. math:: k(x, x') = \exp(-\|x - x'\|_2 / s), \qquad w = z / (|g| s), \; z \sim N(0, I), \;
        g \sim N(0, 1)

    This is the kernel of ``Matern(nu=0.5)``. The frequencies have a multivariate Cauchy
    distribution: one g divides the whole vector z. For the kernel with the 1-norm, see
    :class:`Laplace1`.

    Notes
    -----
    Values of :math:`1/|g|` above 10⁶ are set to 10⁶. This happens to one value in 1.3 million.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless.neurons import Laplace
    >>> X = np.array([[0.0, 0.0], [3.0, 4.0]])
    >>> Laplace(length_scale=5.0).fit(X, np.random.default_rng(0)).kernel(X).round(2)
    array([[1.  , 0.37],
           [0.37, 1.  ]])
    """

    mixed = True

    def frequencies(self, z: np.ndarray, g: np.ndarray) -> np.ndarray:
        return z / np.maximum(np.abs(g), 1 / LARGEST_FREQUENCY)

    def profile(self, square: np.ndarray) -> np.ndarray:
        return np.exp(-np.sqrt(square))

    def slope(self, square: np.ndarray) -> np.ndarray:
        r = np.sqrt(np.maximum(square, _CLOSE))
        return -np.exp(-r) / (2 * r)


class Matern(Isotropic):
    r"""Fourier neurons of the Matérn kernel, for functions of a chosen smoothness.

    .. math:: k(x, x') = \frac{2^{1 - \nu}}{\Gamma(\nu)} \rho^\nu K_\nu(\rho), \quad
        \rho = \sqrt{2 \nu} \frac{\|x - x'\|}{s}, \qquad
        w = \frac{z}{s \sqrt{u / (2 \nu)}}, \; z \sim N(0, I), \; u \sim \chi^2_{2 \nu}

    Here :math:`K_\nu` is the modified Bessel function. The frequencies have a multivariate t
    distribution with :math:`2 \nu` degrees of freedom [1]_: one u divides the whole vector z.

    Parameters
    ----------
    nu : float, default=1.5
        Smoothness :math:`\nu`, above 0 and at most 50. Functions are :math:`\lceil \nu \rceil - 1`
        times differentiable: once for 1.5, and twice for 2.5. 0.5 gives the Laplace kernel. Large
        values approach the Gaussian kernel.

    Notes
    -----
    The factor of z is at most 10⁶, because single precision does not resolve the phase of larger
    frequencies. At distances of a millionth of the length scale, neurons with a nu below about 0.3
    are therefore smoother than the formula.

    References
    ----------
    .. [1] C. E. Rasmussen and C. K. I. Williams, "Gaussian processes for machine learning", MIT
       Press 2006, Equations 4.14 and 4.15.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless.neurons import Matern
    >>> X = np.array([[0.0, 0.0], [3.0, 4.0]])
    >>> Matern(nu=2.5, length_scale=5.0).fit(X, np.random.default_rng(0)).kernel(X).round(2)
    array([[1.  , 0.52],
           [0.52, 1.  ]])
    """

    mixed = True
    _rules = Isotropic._rules | {
        "nu": Rule(
            f"a number above 0 and at most {_LARGEST_NU}",
            "nu=1.5 is a good default; above 50, Gaussian() is the same to within about 1 %",
            is_real,
            lambda nu: 0 < nu <= _LARGEST_NU,
        )
    }

    def __init__(
        self, nu: float = 1.5, length_scale: Any = "auto", *, sampling: str = "iid"
    ) -> None:
        super().__init__(length_scale, sampling=sampling)
        self.nu = nu

    def frequencies(self, z: np.ndarray, g: np.ndarray) -> np.ndarray:
        return z / np.maximum(_root_gamma(self.nu, g), 1 / LARGEST_FREQUENCY)

    def profile(self, square: np.ndarray) -> np.ndarray:
        r = np.sqrt(2 * self.nu * square)
        if self.nu == 0.5:
            return np.exp(-r)
        if self.nu == 1.5:
            return (1 + r) * np.exp(-r)
        if self.nu == 2.5:
            return (1 + r + r**2 / 3) * np.exp(-r)
        r = np.clip(r, np.finfo(np.float64).tiny, _FAR)
        log_bessel = np.log(kve(self.nu, r)) - r
        log_kernel = (1 - self.nu) * np.log(2) - gammaln(self.nu) + self.nu * np.log(r) + log_bessel
        return np.exp(np.minimum(log_kernel, 0))  # the Bessel function overflows where k is 1

    def slope(self, square: np.ndarray) -> np.ndarray:
        r = np.sqrt(2 * self.nu * np.maximum(square, _CLOSE))
        if self.nu == 1.5:
            return -1.5 * np.exp(-r)
        if self.nu == 2.5:
            return -5 / 6 * (1 + r) * np.exp(-r)
        # d/dr of r^ν K_ν(r) is −r^ν K_(ν−1)(r), and dr/d(square) is ν / r.
        log_bessel = np.log(kve(self.nu - 1, np.minimum(r, _FAR))) - r
        log_slope = (1 - self.nu) * np.log(2) - gammaln(self.nu) + (self.nu - 1) * np.log(r)
        return -self.nu * np.exp(np.minimum(log_slope + log_bessel, -np.log(_CLOSE)))


class RationalQuadratic(Isotropic):
    r"""Fourier neurons of the rational quadratic kernel, which has many length scales at once.

    .. math:: k(x, x') = \left(1 + \frac{\|x - x'\|^2}{2 \alpha s^2}\right)^{-\alpha}, \qquad
        w = \sqrt{\tau} z / s, \; z \sim N(0, I), \; \tau \sim \mathrm{Gamma}(\alpha, 1/\alpha)

    It is a mixture of Gaussian kernels whose inverse squared length scales have a gamma
    distribution of mean :math:`1 / s^2` [1]_: one :math:`\tau` multiplies the whole vector z.

    Parameters
    ----------
    mixture : float, default=1.0
        Shape :math:`\alpha`. With smaller values, the length scales differ more and the kernel
        falls off more slowly. Large values approach the Gaussian kernel.

    References
    ----------
    .. [1] C. E. Rasmussen and C. K. I. Williams, "Gaussian processes for machine learning", MIT
       Press 2006, Equations 4.19 and 4.20.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless.neurons import RationalQuadratic
    >>> X = np.array([[0.0, 0.0], [3.0, 4.0]])
    >>> RationalQuadratic(length_scale=5.0).fit(X, np.random.default_rng(0)).kernel(X).round(2)
    array([[1.  , 0.67],
           [0.67, 1.  ]])
    """

    mixed = True
    _rules = Isotropic._rules | {"mixture": positive("mixture=1.0 is a good default")}

    def __init__(
        self, mixture: float = 1.0, length_scale: Any = "auto", *, sampling: str = "iid"
    ) -> None:
        super().__init__(length_scale, sampling=sampling)
        self.mixture = mixture

    def frequencies(self, z: np.ndarray, g: np.ndarray) -> np.ndarray:
        return z * _root_gamma(self.mixture, g)

    def profile(self, square: np.ndarray) -> np.ndarray:
        return np.exp(-self.mixture * np.log1p(square / (2 * self.mixture)))

    def slope(self, square: np.ndarray) -> np.ndarray:
        return -0.5 * np.exp(-(self.mixture + 1) * np.log1p(square / (2 * self.mixture)))


def _root_gamma(shape: float, g: np.ndarray) -> np.ndarray:
    """Compute the root of a gamma variable of mean 1 by inversion of a standard normal one."""
    chance = np.minimum(ndtr(g), 1 - np.finfo(np.float64).eps)  # ndtr may round to 1
    return np.sqrt(gammaincinv(shape, chance) / shape)

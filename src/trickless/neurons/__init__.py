"""Families of neurons, a family a file.

The names listed here are public; the modules beside this one are private.

==========================  ===================================================  ==================
family                      one neuron                                           kernel
==========================  ===================================================  ==================
:class:`Gaussian`           cosine and sine at a normal frequency                Gaussian
:class:`Laplace`            cosine and sine at a Cauchy frequency                exp(-distance)
:class:`Matern`             cosine and sine at a t-distributed frequency         Matérn
:class:`RationalQuadratic`  cosine and sine, normal of random size               rational quadratic
:class:`Cauchy`             cosine and sine, Laplace-distributed coordinates     Cauchy, a product
:class:`Laplace1`           cosine and sine, Cauchy-distributed coordinates      exp(-1-norm)
:class:`Stumps`             sign of one coordinate against a threshold           closed form
:class:`Ferns`              random sign of a leaf of a small random tree         closed form
:class:`Dense`              tanh, erf, sigmoid, sign, step or relu of an affine  all but two
:class:`Deep`               a network of several such layers                     sign
:class:`Polynomial`         product of projections                               polynomial, scaled
:class:`Chi2`               cosine and sine of the logarithm of one bin          chi-squared
:class:`Intersection`       whether one bin holds more than a random level       intersection
:class:`Coordinates`        one coordinate                                       inner product
:class:`Tabular`            rule or wave on ranks and categories                 closed form
:class:`Trees`              leaf of a random tree of cuts                        closed form
:class:`Patches`            a random convolution of an image, rectified, pooled  no closed form
:class:`FromFunction`       two functions of yours: sample w, evaluate psi       whatever they give
:class:`FromPoint`          the same for one row and one w: simpler, and slow    whatever they give
:class:`FromTorch`          a freshly initialised torch module                   whatever it gives
:class:`FromJax`            a freshly initialised JAX function                   whatever it gives
==========================  ===================================================  ==================

========================  =====================================================  ==================
made of other families    one neuron                                             kernel
========================  =====================================================  ==================
:class:`Mixture`          one of a family that is drawn                          weighted sum
:class:`Product`          product of one of each                                 product
:class:`On`               one that sees some of the columns                      on these columns
:class:`Scaled`           one times a number                                     times a number
:class:`Landmarks`        kernel of a family at a random training row            mean of products
========================  =====================================================  ==================

``a + b``, ``a * b`` and ``2 * a`` are short for the sum, the product and the multiple. Subclass
:class:`Neurons` for a family of your own.
"""

from __future__ import annotations

from difflib import get_close_matches

from trickless.neurons.auto import Auto
from trickless.neurons.base import Inputs, Neurons, Relevance, Weights
from trickless.neurons.composed import Product, Scaled
from trickless.neurons.coordinates import Coordinates
from trickless.neurons.deep import Deep
from trickless.neurons.dense import Dense
from trickless.neurons.ferns import Ferns
from trickless.neurons.from_function import FromFunction, FromPoint
from trickless.neurons.from_jax import FromJax
from trickless.neurons.from_torch import FromTorch
from trickless.neurons.histograms import Chi2, Intersection
from trickless.neurons.isotropic import Gaussian, Laplace, Matern, RationalQuadratic
from trickless.neurons.landmarks import Landmarks
from trickless.neurons.mixture import Mixture
from trickless.neurons.on import On
from trickless.neurons.patches import Patches
from trickless.neurons.polynomial import Polynomial
from trickless.neurons.separable import Cauchy, Laplace1
from trickless.neurons.stumps import Stumps
from trickless.neurons.tabular import Tabular
from trickless.neurons.trees import Trees

#: Families that can be asked for by name, with their default parameters.
FAMILIES: dict[str, type[Neurons]] = {
    "auto": Auto,
    "gaussian": Gaussian,
    "laplace": Laplace,
    "matern": Matern,
    "rational_quadratic": RationalQuadratic,
    "cauchy": Cauchy,
    "laplace1": Laplace1,
    "stumps": Stumps,
    "ferns": Ferns,
    "dense": Dense,
    "deep": Deep,
    "polynomial": Polynomial,
    "chi2": Chi2,
    "intersection": Intersection,
    "coordinates": Coordinates,
    "landmarks": Landmarks,
    "patches": Patches,
    "tabular": Tabular,
    "trees": Trees,
}

#: What to write for the names of other libraries, and for families that need parameters.
_HINTS = {
    "rbf": "'gaussian'",
    "rbfsampler": "'gaussian'",
    "nystroem": "'landmarks'",
    "laplacian": "'laplace1', whose kernel is scikit-learn's laplacian_kernel",
    "linear": "'coordinates'",
    "poly": "'polynomial'",
    "additive_chi2": "'chi2'",
    "sigmoid": "Dense('tanh')",
    "tanh": "Dense('tanh')",
    "relu": "Dense('relu')",
    "arccos": "Dense('relu')",
    "forest": "'trees'",
    "random_forest": "'trees'",
    "extra_trees": "'trees'",
    "boosting": "'trees', with a DoublyStochastic learner",
    "ard": "Gaussian('relevance')",
    "convolutions": "Patches(shape=(28, 28)), with the shape of your images",
    "mixture": "Mixture([Gaussian(), Stumps()]), with families of your choice",
    "product": "Product([Gaussian(), Stumps()]), with families of your choice",
    "on": "On([0, 1], Gaussian()), with columns of your choice",
    "scaled": "Scaled(Gaussian(), 2.0), with a family of your choice",
}

__all__ = [
    "FAMILIES",
    "Auto",
    "Cauchy",
    "Chi2",
    "Coordinates",
    "Deep",
    "Dense",
    "Ferns",
    "FromFunction",
    "FromJax",
    "FromPoint",
    "FromTorch",
    "Gaussian",
    "Inputs",
    "Intersection",
    "Landmarks",
    "Laplace",
    "Laplace1",
    "Matern",
    "Mixture",
    "Neurons",
    "On",
    "Patches",
    "Polynomial",
    "Product",
    "RationalQuadratic",
    "Relevance",
    "Scaled",
    "Stumps",
    "Tabular",
    "Trees",
    "Weights",
    "make_neurons",
]


def make_neurons(neurons: Neurons | str) -> Neurons:
    """The family itself, or the default of the family with this name.

    Examples
    --------
    >>> from trickless.neurons import make_neurons
    >>> make_neurons("stumps")
    Stumps()
    """
    if isinstance(neurons, Neurons):
        return neurons
    if isinstance(neurons, str) and neurons in FAMILIES:
        return FAMILIES[neurons]()
    if isinstance(neurons, type) and issubclass(neurons, Neurons):
        name = neurons.__name__
        raise TypeError(
            f"neurons={neurons!r} is a class, and an instance is needed. Remedy: {name}(...), with "
            "parentheses."
        )
    names = ", ".join(repr(name) for name in FAMILIES)
    if not isinstance(neurons, str):
        raise TypeError(
            f"neurons={neurons!r} is not a family of neurons. Remedy: one of {names}, or an "
            "instance of a subclass of trickless.neurons.Neurons."
        )
    plain = neurons.strip().lower().replace(" ", "_").replace("-", "_")
    hint = repr(plain) if plain in FAMILIES else _HINTS.get(plain)
    if hint is None:
        close = get_close_matches(plain, FAMILIES, 1)
        hint = repr(close[0]) if close else f"one of {names}"
    raise ValueError(f"neurons={neurons!r} is not the name of a family. Remedy: {hint}.")

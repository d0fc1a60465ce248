"""Families of neurons: what a neuron computes, and the kernel of many neurons.

The names listed here are public. The modules of this package are private.

.. table::

   ==========================  ================================================  ===================
   family                      one neuron                                        kernel
   ==========================  ================================================  ===================
   :class:`Gaussian`           cosine and sine at a normal frequency             Gaussian
   :class:`Laplace`            cosine and sine at a Cauchy frequency             exp(-distance)
   :class:`Matern`             cosine and sine at a t-distributed frequency      Matérn
   :class:`RationalQuadratic`  cosine and sine, normal frequency of random size  rational quadratic
   :class:`Cauchy`             cosine and sine, Laplace-distributed coordinates  Cauchy, a product
   :class:`Laplace1`           cosine and sine, Cauchy-distributed coordinates   exp(-L1 distance)
   :class:`Periodic`           cosine and sine at multiples of one frequency     periodic, a product
   :class:`Stumps`             whether a feature is above a threshold            closed form
   :class:`Ferns`              random sign of a leaf of a small random tree      closed form
   :class:`Dense`              tanh, erf, sign, relu, … of a projection          closed form of most
   :class:`Deep`               network of several such layers                    closed form of sign
   :class:`Coordinates`        one feature                                       inner product
   :class:`Tabular`            rule or wave on ranks and categories              closed form
   :class:`Trees`              leaf of a random tree                             closed form
   :class:`Patches`            random convolution of an image, pooled            no closed form
   :class:`Convolutions`       random convolutions of a time series, pooled      no closed form
   :class:`FromFunction`       your functions of arrays: draw w, evaluate psi    depends on them
   :class:`FromPoint`          your functions of one row and one w (slow)        depends on them
   :class:`FromTorch`          torch module with random weights                  depends on it
   :class:`FromJax`            JAX function with random parameters               depends on it
   ==========================  ================================================  ===================

.. table::

   ======================  ===========================================  ================
   made of other families  one neuron                                   kernel
   ======================  ===========================================  ================
   :class:`Mixture`        neuron of one of the families                weighted sum
   :class:`Product`        product of a neuron of each family           product
   :class:`On`             neuron that sees only some columns           on these columns
   :class:`Scaled`         neuron times a number                        times a number
   :class:`Landmarks`      kernel of a family at a random training row  mean of products
   :class:`Layers`         neuron that sees values of other neurons     composed
   :class:`Given`          neuron of a list, such as a model's trees    mean of products
   ======================  ===========================================  ================

``a + b``, ``a * b`` and ``2 * a`` are short for the sum, the product and the multiple. To write a
family of your own, subclass :class:`Neurons`.
"""

from __future__ import annotations

from difflib import get_close_matches

from trickless.errors import InvalidTypeError, InvalidValueError
from trickless.neurons.auto import Auto
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.composed import Product, Scaled
from trickless.neurons.convolutions import Convolutions
from trickless.neurons.coordinates import Coordinates
from trickless.neurons.deep import Deep
from trickless.neurons.dense import Dense
from trickless.neurons.ferns import Ferns
from trickless.neurons.from_function import FromFunction, FromPoint
from trickless.neurons.from_jax import FromJax
from trickless.neurons.from_torch import FromTorch
from trickless.neurons.given import Given
from trickless.neurons.inputs import Inputs, Relevance
from trickless.neurons.isotropic import Gaussian, Laplace, Matern, RationalQuadratic
from trickless.neurons.landmarks import Landmarks
from trickless.neurons.layers import Layers
from trickless.neurons.mixture import Mixture
from trickless.neurons.on import On
from trickless.neurons.patches import Patches
from trickless.neurons.periodic import Periodic
from trickless.neurons.separable import Cauchy, Laplace1
from trickless.neurons.stumps import Stumps
from trickless.neurons.tabular import Tabular
from trickless.neurons.tanimoto import Tanimoto
from trickless.neurons.trees import Trees

#: Families by name. A name gives the family with its default parameters.
FAMILIES: dict[str, type[Neurons]] = {
    "auto": Auto,
    "gaussian": Gaussian,
    "laplace": Laplace,
    "matern": Matern,
    "rational_quadratic": RationalQuadratic,
    "cauchy": Cauchy,
    "laplace1": Laplace1,
    "periodic": Periodic,
    "stumps": Stumps,
    "ferns": Ferns,
    "dense": Dense,
    "deep": Deep,
    "tanimoto": Tanimoto,
    "convolutions": Convolutions,
    "coordinates": Coordinates,
    "landmarks": Landmarks,
    "patches": Patches,
    "tabular": Tabular,
    "trees": Trees,
}

#: Suggestions for the names of other libraries, and for families that need parameters.
_HINTS = {
    "rbf": "'gaussian'",
    "rbfsampler": "'gaussian'",
    "nystroem": "'landmarks'",
    "laplacian": "'laplace1', whose kernel is scikit-learn's laplacian_kernel",
    "linear": "'coordinates'",
    "jaccard": "'tanimoto'",
    "minmax": "'tanimoto'",
    "sigmoid": "Dense('tanh')",
    "tanh": "Dense('tanh')",
    "relu": "Dense('relu')",
    "arccos": "Dense('relu')",
    "forest": "'trees'",
    "random_forest": "'trees'",
    "extra_trees": "'trees'",
    "boosting": "'trees', or a BoostedTrees learner",
    "expsinesquared": "Periodic(period=12.0), with the period of your data",
    "seasonal": "Periodic(period=12.0), with the period of your data",
    "ard": "Gaussian('relevance')",
    "rocket": "'convolutions'",
    "minirocket": "'convolutions'",
    "hydra": "'convolutions'",
    "mixture": "Mixture([Gaussian(), Stumps()]), with families of your choice",
    "product": "Product([Gaussian(), Stumps()]), with families of your choice",
    "on": "On([0, 1], Gaussian()), with columns of your choice",
    "layers": "Layers([Patches(), Gaussian()]), with families of your choice",
    "given": "Given.of(model), with a fitted model",
    "scaled": "Scaled(Gaussian(), 2.0), with a family of your choice",
}

__all__ = [
    "FAMILIES",
    "Auto",
    "Cauchy",
    "Convolutions",
    "Coordinates",
    "Deep",
    "Dense",
    "Ferns",
    "FromFunction",
    "FromJax",
    "FromPoint",
    "FromTorch",
    "Gaussian",
    "Given",
    "Inputs",
    "Landmarks",
    "Laplace",
    "Laplace1",
    "Layers",
    "Matern",
    "Mixture",
    "Neurons",
    "On",
    "Patches",
    "Periodic",
    "Product",
    "RationalQuadratic",
    "Relevance",
    "Scaled",
    "Stumps",
    "Tabular",
    "Tanimoto",
    "Trees",
    "Weights",
    "make_neurons",
]


def make_neurons(neurons: Neurons | str) -> Neurons:
    """Return a family of neurons, given as an object or by name.

    Parameters
    ----------
    neurons : Neurons or str
        A family, which is returned unchanged, or the name of one, such as "stumps". A name gives
        the family with its default parameters.

    Returns
    -------
    Neurons
        The family.

    Raises
    ------
    TypeError, ValueError
        If ``neurons`` is not a family or the name of one. The message suggests names.

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
        raise InvalidTypeError(
            f"neurons={neurons!r} is a class, but it must be an instance",
            f"{name}(...), with parentheses",
        )
    names = ", ".join(repr(name) for name in FAMILIES)
    if not isinstance(neurons, str):
        raise InvalidTypeError(
            f"neurons={neurons!r} is not a family of neurons",
            f"one of {names}, or an instance of a subclass of trickless.neurons.Neurons",
        )
    plain = neurons.strip().lower().replace(" ", "_").replace("-", "_")
    hint = repr(plain) if plain in FAMILIES else _HINTS.get(plain)
    if hint is None:
        close = get_close_matches(plain, FAMILIES, 1)
        hint = repr(close[0]) if close else f"one of {names}"
    raise InvalidValueError(f"neurons={neurons!r} is not the name of a family", hint)

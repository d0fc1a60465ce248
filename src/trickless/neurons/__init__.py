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
   :class:`Tanimoto`           random sign of a feature and its level            Tanimoto
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
   ``a + b``               the same, with the weights 1 and 1           sum
   ``a * b``               product of a neuron of each family           product
   ``2 * a``               neuron times √2                              times 2
   :class:`On`             neuron that sees only some columns           on these columns
   :class:`Landmarks`      kernel of a family at a random training row  mean of products
   :class:`Layers`         neuron that sees values of other neurons     composed
   :class:`Given`          neuron of a list, such as a model's trees    mean of products
   ======================  ===========================================  ================

To write a family of your own, subclass :class:`Neurons`, and test it with :func:`check_family`.
"""

from trickless.neurons.base import Neurons
from trickless.neurons.convolutions import Convolutions
from trickless.neurons.coordinates import Coordinates
from trickless.neurons.deep import Deep
from trickless.neurons.dense import Dense
from trickless.neurons.ferns import Ferns
from trickless.neurons.from_function import FromFunction, FromPoint
from trickless.neurons.from_jax import FromJax
from trickless.neurons.from_torch import FromTorch
from trickless.neurons.given import Given
from trickless.neurons.isotropic import Gaussian, Laplace, Matern, RationalQuadratic
from trickless.neurons.landmarks import Landmarks
from trickless.neurons.layers import Layers
from trickless.neurons.mixture import Mixture
from trickless.neurons.on import On
from trickless.neurons.own import check_family
from trickless.neurons.patches import Patches
from trickless.neurons.periodic import Periodic
from trickless.neurons.separable import Cauchy, Laplace1
from trickless.neurons.stumps import Stumps
from trickless.neurons.tabular import Tabular
from trickless.neurons.tanimoto import Tanimoto
from trickless.neurons.trees import Trees

__all__ = [
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
    "RationalQuadratic",
    "Stumps",
    "Tabular",
    "Tanimoto",
    "Trees",
    "check_family",
]

"""Families by their names."""

from __future__ import annotations

from difflib import get_close_matches

from trickless._errors import InvalidTypeError, InvalidValueError
from trickless.neurons.auto import Auto
from trickless.neurons.base import Neurons
from trickless.neurons.convolutions import Convolutions
from trickless.neurons.coordinates import Coordinates
from trickless.neurons.deep import Deep
from trickless.neurons.dense import Dense
from trickless.neurons.ferns import Ferns
from trickless.neurons.isotropic import Gaussian, Laplace, Matern, RationalQuadratic
from trickless.neurons.landmarks import Landmarks
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
    "product": "Gaussian() * Stumps(), with families of your choice",
    "on": "On([0, 1], Gaussian()), with columns of your choice",
    "layers": "Layers([Patches(), Gaussian()]), with families of your choice",
    "given": "Given.of(model), with a fitted model",
    "scaled": "2.0 * Gaussian(), with a family of your choice",
}


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
    >>> from trickless.neurons.named import make_neurons
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

"""Kernel-quality learning from random neurons, in scikit-learn's interface.

A *neuron* is a function that is drawn at random, such as a cosine, a tree or a convolution. A
network of infinitely many neurons is a kernel machine, which the learners of this package approach
with the neurons that they draw, without a kernel matrix.

- ``KitchenSinksRegressor``, ``KitchenSinksClassifier``: draw once and solve. Start here.
- ``BoostedTreesRegressor``, ``BoostedTreesClassifier``: boost trees, which read data frames.
- ``DoublyStochasticRegressor``, ``DoublyStochasticClassifier``: proceed in steps, with fresh
  neurons in each.
- ``ShrinkingGradientRegressor``, ``ShrinkingGradientClassifier``: learn row by row.
- ``RandomFeatures``: a transformer for pipelines.

The families of neurons are in ``trickless.neurons``, intervals with a guarantee for any model in
``trickless.conformal``, the bounds of the papers in ``trickless.theory``, and learning on clusters
in ``trickless.dask``. All other modules are private. The public names are imported when you first
use one of them.
"""

from __future__ import annotations

from importlib import import_module

# Importing typing would take most of the time before the command line can answer Ctrl-C.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trickless.public import *  # noqa: F403

__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    """Import all public names, and return one of them."""
    if name != "__all__" and name.startswith("__"):
        raise AttributeError(f"module 'trickless' has no attribute {name!r}")
    public = import_module("trickless.public")
    globals().update({other: getattr(public, other) for other in ("__all__", *public.__all__)})
    if name not in globals():
        raise AttributeError(f"module 'trickless' has no attribute {name!r}")
    return globals()[name]


def __dir__() -> list[str]:
    """Return the names that are there, and those that can be asked for."""
    return sorted({*globals(), *import_module("trickless.public").__all__})

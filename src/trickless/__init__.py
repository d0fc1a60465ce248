"""Kernel-quality learning from random neurons, in scikit-learn's interface.

A *neuron* is a function that is drawn at random, such as a cosine, a tree or a convolution. A
network of infinitely many neurons is a kernel machine, which the learners of this package approach
with the neurons that they draw, without a kernel matrix.

- ``AutoRegressor``, ``AutoClassifier``: a stack of other learners, with nothing to set. Start here.
- ``KitchenSinksRegressor``, ``KitchenSinksClassifier``: draw once and solve.
- ``BoostedTreesRegressor``, ``BoostedTreesClassifier``: boost trees, which read data frames.
- ``DoublyStochasticRegressor``, ``DoublyStochasticClassifier``: proceed in steps, with fresh
  neurons in each.
- ``ShrinkingGradientRegressor``, ``ShrinkingGradientClassifier``: learn row by row.
- ``RandomFeatures``: a transformer for pipelines.

Other public modules:

- ``trickless.neurons``: families of neurons.
- ``trickless.conformal``: intervals with a guarantee, for any model.
- ``trickless.inspection``: importances, kernels, and what a fitted model is made of.
- ``trickless.inference``: tests of hypotheses, and detection of drift.
- ``trickless.export``: models as files of ONNX, C and JavaScript.
- ``trickless.kernels``: online learners with a kernel that is given.
- ``trickless.theory``: bounds of the papers.
- ``trickless.dask``, ``trickless.river``: learning on clusters, and in River's interface.

All other modules are private. Each name of ``trickless`` is imported when you first use it.
"""

from __future__ import annotations

from importlib import import_module

# Importing typing would take most of the time before the command line can answer Ctrl-C.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trickless._public import *  # noqa: F403

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Return a public name, and import the module that it comes from."""
    if name == "__all__":
        return [*_modules()]
    if name.startswith("__") or name not in (modules := _modules()):
        raise AttributeError(f"module 'trickless' has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(modules[name]), name)
    return found


def __dir__() -> list[str]:
    """Return the names that are there, and those that can be asked for."""
    return sorted({*globals(), *_modules()})


def _modules() -> dict[str, str]:
    """Return the module of each public name, as ``_public.py`` imports them."""
    if not _known:
        from ast import ImportFrom, parse
        from pkgutil import get_data

        for line in parse(get_data(__name__, "_public.py") or b"").body:
            if isinstance(line, ImportFrom):
                _known.update((alias.name, str(line.module)) for alias in line.names)
    return _known


_known: dict[str, str] = {}

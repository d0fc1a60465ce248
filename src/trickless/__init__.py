"""Kernel-quality learning without the kernel trick.

A *neuron* is a function ψ(x; w) whose w can be drawn at random. A network of infinitely many of
them is a kernel machine, which the learners of this package learn from drawn neurons alone. Read
downwards, the folders tell how:

neurons     what is drawn, and how it is evaluated: a family a file
functions   what neurons are made into: networks, expansions, and estimates of what they predict
solvers     how coefficients are found: sums, steps on rows and neurons, online rounds
selection   how a family is chosen by the data
learners    what users call: a paper a file, a regressor and a classifier in each
inference   tests of hypotheses: do two samples differ, are two parts of rows dependent

Beside them, ``arrays`` has threads and devices, ``tables`` data frames, ``files`` saved models and
checkpoints, ``theory`` the bounds of the papers, and ``rules`` what parameters must be. ``cli`` is
the command ``trickless``, ``dask`` learns on clusters. Each folder imports those above it only.

Public are the names that ``trickless.public`` imports, and those in ``trickless.neurons``,
``trickless.theory`` and ``trickless.dask``. All other modules are private. The names are imported
when the first of them is asked for, so the command ``trickless`` can be interrupted before NumPy
and scikit-learn are there.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trickless.public import *  # noqa: F403

__version__ = "0.1.0"


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
    """The names that are there, and those that can be asked for."""
    return sorted({*globals(), *import_module("trickless.public").__all__})

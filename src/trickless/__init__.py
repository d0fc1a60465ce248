"""Kernel-quality learning without the kernel trick.

A *neuron* is a function ψ(x; w) whose w can be drawn at random. A network of infinitely many of
them is a kernel machine, which the learners of this package learn from drawn neurons alone. Read
downwards, the folders tell how:

neurons     what is drawn, and how it is evaluated: a family a file
functions   what neurons are made into: networks, expansions, and estimates of what they predict
solvers     how coefficients are found: sums, steps on rows and neurons, online rounds
selection   how a family is chosen by the data
learners    what users call: a paper a file, a regressor and a classifier in each

Beside them, ``arrays`` has threads and devices, ``tables`` data frames, ``files`` saved models and
checkpoints, ``theory`` the bounds of the papers, and ``rules`` what parameters must be. ``cli`` is
the command ``trickless``, ``dask`` learns on clusters. Each folder imports those above it only.

Public are the names below, and those in ``trickless.neurons``, ``trickless.theory`` and
``trickless.dask``. All other modules are private.
"""

from trickless.files.format import load, save
from trickless.functions.expansion import Expansion
from trickless.functions.kernel import KernelDisplay, estimate_kernel
from trickless.functions.network import Network
from trickless.functions.stream import NeuronStream
from trickless.learners.doubly_stochastic import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
)
from trickless.learners.kernel_gradient import KernelGradientClassifier, KernelGradientRegressor
from trickless.learners.kitchen_sinks import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.learners.noisy_kernel import NoisyKernelClassifier, NoisyKernelRegressor
from trickless.learners.norma import NORMAClassifier, NORMARegressor
from trickless.learners.pegasos import PegasosClassifier
from trickless.learners.sdca import SDCAClassifier, SDCARegressor
from trickless.learners.shrinking_gradient import (
    ShrinkingGradientClassifier,
    ShrinkingGradientRegressor,
)
from trickless.solvers.regret import RegretDisplay
from trickless.tables.model import TableColumn, TableModel

__version__ = "0.1.0"

__all__ = [
    "DoublyStochasticClassifier",
    "DoublyStochasticRegressor",
    "Expansion",
    "KernelDisplay",
    "KernelGradientClassifier",
    "KernelGradientRegressor",
    "KitchenSinksClassifier",
    "KitchenSinksRegressor",
    "NORMAClassifier",
    "NORMARegressor",
    "Network",
    "NeuronStream",
    "NoisyKernelClassifier",
    "NoisyKernelRegressor",
    "PegasosClassifier",
    "RegretDisplay",
    "SDCAClassifier",
    "SDCARegressor",
    "ShrinkingGradientClassifier",
    "ShrinkingGradientRegressor",
    "TableColumn",
    "TableModel",
    "estimate_kernel",
    "load",
    "save",
]

"""The classes that a saved file may hold, by the names that stand for them there.

A name here is part of the format: it stays, whatever happens to the module that the class is in.
Learners read and write files themselves (``_checkpoint``). So files know no class until this module
is imported, which the package does.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from trickless.arrays.growing import Growing, GrowingSparse
from trickless.files.checkpoint import Progress
from trickless.files.recorder import CLASSES
from trickless.functions.exact_kernel import ExactKernel
from trickless.functions.expansion import Expansion
from trickless.functions.network import Network
from trickless.functions.pilot import Variances
from trickless.functions.stream import NeuronStream, StoredNeurons
from trickless.learners.doubly_stochastic import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
)
from trickless.learners.kernel_gradient import KernelGradientClassifier, KernelGradientRegressor
from trickless.learners.kernel_learner import RowsOfKernel
from trickless.learners.kitchen_sinks import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.learners.neuron_learner import RowsOfNeurons
from trickless.learners.noisy_kernel import NoisyKernelClassifier, NoisyKernelRegressor
from trickless.learners.norma import NORMAClassifier, NORMARegressor
from trickless.learners.pegasos import PegasosClassifier
from trickless.learners.rows import Matrix, Rows
from trickless.learners.sdca import SDCAClassifier, SDCARegressor
from trickless.learners.shrinking_gradient import (
    ShrinkingGradientClassifier,
    ShrinkingGradientRegressor,
)
from trickless.learners.targets import Labels, Numbers, Range
from trickless.neurons import Inputs, Neurons
from trickless.solvers.coefficients import Coefficients
from trickless.solvers.descent import Descent, Seen
from trickless.solvers.estimates import Measured, Noise
from trickless.solvers.norma import NORMA
from trickless.solvers.ridge import Solution
from trickless.solvers.rounds import Rounds
from trickless.solvers.statistics import KeptRows, Statistics
from trickless.solvers.step_sizes import Steps
from trickless.solvers.sums import Sums
from trickless.tables.encoder import TableEncoder
from trickless.tables.model import TableColumn, TableModel

_LEARNERS = (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KernelGradientClassifier,
    KernelGradientRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    NORMAClassifier,
    NORMARegressor,
    NoisyKernelClassifier,
    NoisyKernelRegressor,
    PegasosClassifier,
    SDCAClassifier,
    SDCARegressor,
    ShrinkingGradientClassifier,
    ShrinkingGradientRegressor,
)
#: What learners keep, beside neurons.
_PARTS = (
    Coefficients,
    Descent,
    ExactKernel,
    Expansion,
    Growing,
    GrowingSparse,
    Inputs,
    Network,
    NeuronStream,
    Progress,
    KeptRows,
    Labels,
    Matrix,
    Measured,
    Noise,
    NORMA,
    Numbers,
    Range,
    Rounds,
    Rows,
    RowsOfKernel,
    RowsOfNeurons,
    Seen,
    Sums,
    Solution,
    Statistics,
    Steps,
    StoredNeurons,
    TableColumn,
    TableEncoder,
    TableModel,
    Variances,
)


def _families(base: type[Neurons] = Neurons) -> Iterator[type[Neurons]]:
    """The families of this package, all of them."""
    for family in base.__subclasses__():
        yield from _families(family)
        if family.__module__.startswith("trickless.") and not inspect.isabstract(family):
            yield family


CLASSES.update({cls.__name__: cls for cls in (*_LEARNERS, *_PARTS, *dict.fromkeys(_families()))})

"""Kernel-quality learning without the kernel trick.

A *neuron* is a function ψ(x; w) whose w can be drawn at random. A network of infinitely many of
them is a kernel machine, which the first three learners below learn from drawn neurons alone:

====================  =========================================================================
the learners
kitchen_sinks         draw K neurons, solve for coefficients (Rahimi & Recht 2008)
doubly_stochastic     fresh rows and fresh neurons at every step (Dai et al. 2014)
shrinking_gradient    online, for any bounded ψ, with a regret guarantee (Livni et al. 2017)
kernel_gradient       the same online algorithm with an exact kernel, for reference
noisy_kernel          the same with a kernel that is observed with noise
norma                 online descent of any loss with an exact kernel (Kivinen et al. 2004)
pegasos               support vector machines by stochastic descent (Shalev-Shwartz et al. 2011)
sdca                  dual coordinate ascent to a duality gap (Shalev-Shwartz & Zhang 2013)
theory                the constants of the theorems, and bounds
what they are made of
neurons               families (ψ, μ): what is drawn, and how it is evaluated
_stream               (neurons, seed) → block b of drawn weights
_columns              columns of activations, and the neurons that they belong to
_network              the finite weighted sum of neurons, by which their learners predict
_online               Algorithm 1 of Shrinking Gradient: the rounds that its file and two more share
_coefficients         coefficients that shrink as a whole, and their average over rounds
_kernels              what learners of an exact kernel share: its rules, sums, rows within a budget
_expansion            support points and coefficients, and estimates of what they predict
_steps                sizes of doubly stochastic steps
_variances            what single neurons let such estimates vary by, and its pilot
_support_points       picking support points by their coefficients
_projection           the nearest function with fewer support points, for long streams
_curve                errors along a stream, at constant memory
_certificate          estimates to within a tolerance
_regret               regret against the best function in a ball, and its display
_statistics, _gram    sums over rows, which merge, and their products
_least_squares        ridge regression and its regularisation path
_conjugate            least squares on many columns, by conjugate gradients
_search, _contest     choosing among families of neurons by the data, and what they are compared by
_relevance            how much each feature matters, for families that go by it
_risk                 regularised risk of other losses, minimised in passes over the rows
_losses               value, derivative and link
_kernel_estimate      the kernel of a family, estimated from draws, and its display
how data reach them
_learner              from X, y to validated batches: the path of the data, for all learners
_neuron_learner       what learners of drawn neurons add: their family, tables, the network
_tasks                regression and classification: from y to targets, from values to answers
_validation/          checks of user input that several modules share
_tables, _frames      data frames of pandas and polars as matrices of numbers
_spelling             categories as text, alike for files and data frames
_blocks               row blocks, threads, array namespaces
_devices              arrays of other libraries, on their devices
_growing              rows that are appended to
_checkpoint           fits that go on after the end of their process
_interrupts           Ctrl-C between steps, and not inside one
dask/                 fits and predictions from Dask collections, on many machines
files of models
_files                save and load: layout, checksum, and what a file is refused for
_recorder, _reader    objects as plain data and arrays, and back
_registry             the classes that a file may hold
_random_states        generators of random numbers as plain data
from the command line
cli                   the command ``trickless``: fit, predict, evaluate, describe, demo
table_model           a learner with the columns of its table: what ``trickless fit`` saves
_demo                 what ``trickless demo`` shows
_datasets             real data, fetched and verified
_report               measured runs, and where they were made
====================  =========================================================================
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

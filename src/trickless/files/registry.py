"""The classes of this package that a saved file may hold.

Files refer to a class by its name here. So a name is part of the format. It stays, even if the
class moves to another module. Classes are imported when the first file is written or read, since
learners are among them, and learners import this folder.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

#: Names in files, by the module that has their class.
_NAMES = {
    "arrays.growing": "Growing GrowingSparse",
    "files.checkpoint": "Progress",
    "functions.exact_kernel": "ExactKernel",
    "functions.expansion": "Expansion",
    "functions.network": "Network",
    "functions.pilot": "Variances",
    "functions.stream": "NeuronStream StoredNeurons",
    "learners.doubly_stochastic": "DoublyStochasticClassifier DoublyStochasticRegressor",
    "learners.first_batch": "FirstBatch",
    "learners.kernel_gradient": "KernelGradientClassifier KernelGradientRegressor",
    "learners.kernel_learner": "RowsOfKernel",
    "learners.labels": "LabelSets Labels",
    "learners.kitchen_sinks": "KitchenSinksClassifier KitchenSinksRegressor",
    "learners.noisy_kernel": "NoisyKernelClassifier NoisyKernelRegressor",
    "learners.norma": "NORMAClassifier NORMARegressor",
    "learners.pegasos": "PegasosClassifier",
    "learners.random_features": "RandomFeatures",
    "learners.rows": "Matrix Rows RowsOfNeurons",
    "learners.sdca": "SDCAClassifier SDCARegressor",
    "learners.shrinking_gradient": "ShrinkingGradientClassifier ShrinkingGradientRegressor",
    "learners.targets": "Numbers Range",
    "neurons": "Auto Cauchy Chi2 Coordinates Deep Dense Ferns FromFunction FromJax FromPoint "
    "FromTorch Gaussian Inputs Intersection Landmarks Laplace Laplace1 Matern Mixture On Patches "
    "Polynomial Product RationalQuadratic Scaled Stumps Tabular Tanimoto Trees",
    "neurons.bins": "Bins",
    "neurons.block": "Block",
    "neurons.tabular": "_Rules _Waves",
    "neurons.turns": "Turns",
    "solvers.certainty": "Certainty",
    "solvers.coefficients": "Coefficients",
    "solvers.descent": "Descent",
    "solvers.estimates": "Measured Noise",
    "solvers.growing_network": "Seen",
    "solvers.newton": "Units",
    "solvers.norma": "NORMA",
    "solvers.ridge": "Solution",
    "solvers.rounds": "Rounds",
    "solvers.row_sample": "RowSample",
    "solvers.statistics": "KeptRows Statistics",
    "solvers.step_sizes": "Steps",
    "solvers.sums": "Sums",
    "tables.encoder": "TableEncoder",
    "tables.model": "TableColumn TableModel",
    "tables.spellings": "Spelling",
}


@cache
def classes() -> dict[str, type]:
    """The classes, by their names in files."""
    return {
        name: getattr(import_module(f"trickless.{module}"), name)
        for module, names in _NAMES.items()
        for name in names.split()
    }

"""The classes of this package that a saved file may hold.

Files refer to a class by its name here, so a name is part of the format, and stays even if the
class moves to another module. Classes are imported when the first file is written or read, since
learners are among them, and learners import this folder.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

#: Names in files, by the module that has their class.
_NAMES = {
    "arrays.growing": "Growing GrowingSparse",
    "conformal.unseen": "Counted Scores Unseen",
    "functions.exact_kernel": "ExactKernel",
    "functions.expansion": "Expansion",
    "functions.network": "Network",
    "functions.pilot": "Variances",
    "functions.stream": "NeuronStream StoredNeurons",
    "learners.doubly_stochastic": "DoublyStochasticClassifier DoublyStochasticRegressor",
    "learners.first_batch": "FirstBatch",
    "inference.drift": "DriftDetector",
    "inference.features": "WhitenedFeatures",
    "inference.scan": "Drift Scan",
    "targets.growing_labels": "GrowingLabels",
    "targets.labels": "LabelSets Labels",
    "learners.kitchen_sinks": "KitchenSinksClassifier KitchenSinksRegressor",
    "learners.kernel_gradient": "KernelGradientClassifier KernelGradientRegressor",
    "learners.random_features": "RandomFeatures",
    "targets.means": "Means",
    "rows.kinds": "Kind",
    "rows.rows": "Rows",
    "learners.streaming_scaler": "StreamingScaler",
    "learners.shrinking_gradient": "ShrinkingGradientClassifier ShrinkingGradientRegressor",
    "targets.targets": "Numbers Quantiles Range",
    "neurons": "Auto Cauchy Convolutions Coordinates Deep Dense Ferns FromFunction FromJax "
    "FromPoint FromTorch Gaussian Given Inputs Landmarks Laplace Laplace1 Layers "
    "Matern Mixture On Patches Periodic Product RationalQuadratic Scaled Stumps Tabular "
    "Tanimoto Trees",
    "neurons.bins": "Bins",
    "neurons.block": "Block",
    "neurons.crosses": "Crosses",
    "neurons.layouts": "Grids Images Layout Series",
    "neurons.linear_leaves": "LinearLeaves",
    "neurons.nystroem": "Basis",
    "neurons.tabular": "_Rules _Waves",
    "neurons.turns": "Turns",
    "solvers.least_squares.certainty": "Certainty",
    "solvers.least_squares.delayed": "Delayed",
    "solvers.clock": "Clock",
    "solvers.moments": "Moments",
    "learners.ensembles": "EarlyRows",
    "solvers.experts.answers": "LabelAnswer NumberAnswer",
    "solvers.experts.experts": "Experts Recent",
    "solvers.experts.noise": "NoiseVariances",
    "solvers.experts.reach": "Reach",
    "solvers.experts.recursion": "Recursion",
    "solvers.experts.shares": "Shares",
    "solvers.rounds.coefficients": "Coefficients",
    "solvers.descent.descent": "Descent",
    "solvers.rounds.estimates": "Measured Noise",
    "solvers.descent.ages": "Ages",
    "solvers.descent.history": "Seen",
    "solvers.descent.slopes": "Units",
    "solvers.least_squares.left_out": "LeftOut",
    "solvers.least_squares.paths": "Solution",
    "solvers.rounds.rounds": "Rounds",
    "solvers.least_squares.row_sample": "RowSample",
    "solvers.least_squares.statistics": "KeptRows Statistics",
    "solvers.descent.step_sizes": "Steps",
    "solvers.least_squares.sums": "Sums",
    "rows.categories": "Categories NewCategories",
    "rows.columns": "Columns",
}


@cache
def classes() -> dict[str, type]:
    """Return the classes, by their names in files."""
    return {
        name: getattr(import_module(f"trickless.{module}"), name)
        for module, names in _NAMES.items()
        for name in names.split()
    }

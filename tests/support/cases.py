"""The families and learners over which laws are tested."""

import hashlib

import numpy as np
from array_api_compat import array_namespace
from sklearn.base import is_regressor
from sklearn.metrics.pairwise import rbf_kernel

from trickless import (
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    ShrinkingGradientClassifier,
    ShrinkingGradientRegressor,
)
from trickless._files.format import _parts
from trickless._files.records import Recorder
from trickless.kernels import KernelGradientClassifier, KernelGradientRegressor
from trickless.neurons import (
    Cauchy,
    Convolutions,
    Coordinates,
    Deep,
    Dense,
    Ferns,
    FromFunction,
    Gaussian,
    Landmarks,
    Laplace,
    Laplace1,
    Layers,
    Matern,
    Mixture,
    On,
    Patches,
    Periodic,
    RationalQuadratic,
    Stumps,
    Tabular,
    Tanimoto,
    Trees,
)
from trickless.neurons.composed import Product, Scaled

ACTIVATIONS = ("tanh", "erf", "sigmoid", "sign", "step", "relu")


def waves(rng, n, n_features):
    """Frequencies and phases."""
    return rng.standard_normal((n, n_features)), rng.uniform(-np.pi, np.pi, n)


def soft_waves(X, frequencies, phases):
    """Two numbers, of norm 1 at most, of a projection that cannot overflow."""
    xp = array_namespace(X)
    t = xp.tanh(X / 10) @ frequencies.T + phases
    return xp.concat([xp.cos(t), xp.sin(t) / 2], axis=1)


#: One of each family and option, by name.
FAMILIES = {
    "gaussian": Gaussian(),
    "gaussian-orthogonal": Gaussian(sampling="orthogonal"),
    "laplace": Laplace(),
    "matern": Matern(),
    "rational-quadratic": RationalQuadratic(),
    "cauchy": Cauchy(sampling="sobol"),
    "periodic": Periodic(3.0),
    "stumps": Stumps(),
    "stumps-normal": Stumps(thresholds="normal"),
    "coordinates": Coordinates(scale=2.0),
    "ferns": Ferns(),
    "deep": Deep(hidden=(6, 4)),
    "deep-relu": Deep(hidden=(6, 4), activation="relu"),
    "tanimoto": Tanimoto(),
    "function": FromFunction(waves, soft_waves, width=2),
    "mixture": Mixture([Gaussian(), Stumps()], weights=[0.5, 0.3]),
    "mixture-trees": Mixture([Gaussian(), Trees(depth=3)]),
    "product": Product([On([0, 1], Gaussian()), Stumps(), Gaussian()]),
    "on": On([-1, 0], Laplace()),
    "scaled": Scaled(Stumps(), 0.5),
    "landmarks": Landmarks(Laplace1()),
    # Some laws need each of its functions equally often.
    "landmarks-fixed": Landmarks(Gaussian(1.0), n_points=16, selection="rpcholesky"),
    "tabular": Tabular(),
    "trees": Trees(depth=3),
    "trees-linear": Trees(depth=3, leaves="linear"),
    "trees-binary": Trees(depth=3, shape="binary", max_leaves=6),
    "layers": Layers([Laplace(), Gaussian()], hidden=2),  # as many columns as other rows have
    "patches": Patches((2, 2), patch=2, pool=1),
    "patches-data": Patches((2, 2), patch=2, pool=1, filters="data"),
} | {f"dense-{name}": Dense(name) for name in ACTIVATIONS}
#: Those whose rows are series, which are longer than other rows.
SERIES = {
    "convolutions": Convolutions(kernels=3),
    "convolutions-channels": Convolutions((2, 9), kernels=2),
}
FAMILIES |= SERIES

#: Enough for classifiers, which learn by the steps of regressors.
SOME = ("gaussian", "tabular", "trees")
#: Those that take sparse rows.
SPARSE = [name for name, family in FAMILIES.items() if family.accepts_sparse]

#: Kitchen Sinks chooses a length scale, and spends most of its time on that. The others choose in
#: the same way, and are given one.
REGRESSORS = (
    KitchenSinksRegressor(n_neurons=60),
    DoublyStochasticRegressor(Gaussian("median"), 200),
    ShrinkingGradientRegressor(Gaussian("median"), 150, n_draws=40),
)
CLASSIFIERS = (
    KitchenSinksClassifier(n_neurons=60),
    DoublyStochasticClassifier(Gaussian("median"), 200),
    ShrinkingGradientClassifier(Gaussian("median"), 150, n_draws=40),
)
LEARNERS = REGRESSORS + CLASSIFIERS


def shots(X, Y, rng):
    """A Gaussian kernel that is seen in fifty yes-or-no measurements."""
    return rng.binomial(50, rbf_kernel(X, Y)) / 50


#: Learners that draw no neurons.
KERNEL_LEARNERS = (
    KernelGradientRegressor(),
    KernelGradientRegressor(shots),
    KernelGradientClassifier(),
    KernelGradientClassifier(shots),
)

#: Learners of trees that they choose.
TREE_LEARNERS = (BoostedTreesRegressor(n_trees=20), BoostedTreesClassifier(n_trees=20))
#: Learners without a parameter for the family.
OTHERS = KERNEL_LEARNERS + TREE_LEARNERS
EVERY = LEARNERS + OTHERS


def takes_gaps(learner):
    """Whether rows may have missing values."""
    return learner.__sklearn_tags__().input_tags.allow_nan


def name_of(learner):
    name = type(learner).__name__
    return f"Noisy{name}" if callable(getattr(learner, "kernel", None)) else name


def inputs(rows, columns, seed=0):
    return np.random.default_rng(seed).standard_normal((rows, columns))


def suited(family, X):
    """Rows that a family takes, by its name."""
    if family in SERIES:
        return np.cumsum(np.hstack([X, X[:, ::-1], 2 * X, -X, X[:, :2]]), axis=1)
    return np.abs(X) if family == "tanimoto" else X


def problem(learner, rows=120, columns=4, seed=0):
    """Rows and targets that suit a regressor (one output) or a classifier (three classes)."""
    X = inputs(rows, columns, seed)
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    return (X, f) if is_regressor(learner) else (X, np.digitize(f, [-0.7, 0.7]))


def answers(learner, X):
    """What the learner says of rows, as numbers."""
    return (learner.decision_function if hasattr(learner, "classes_") else learner.predict)(X)


def digest(model):
    """The checksum of the parts of a model, in the bytes of a file."""
    sha = hashlib.sha256()
    for part in _parts(model, Recorder()):
        sha.update(part)
    return sha.hexdigest()

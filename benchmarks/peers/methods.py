"""What is compared: ours and its peers, each along a size of its own.

A method is made from a task, a size and the parameters of its grid. Length scales are multiples of
the median distance of two rows; ``alpha`` is that of a sum of squares over the rows and features
with |z|² = 1, scikit-learn's unit, in which the best depends little on the numbers of both.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import trickless
from adapters import XRFM, Rfflearn, River, torchkm
from summary import ALIKE_GIVEN, SOME_ROWS
from tasks import Task, families
from trickless.neurons import Landmarks, Laplace1, Neurons, Patches
from trickless.neurons.named import make_neurons

OURS, KERNEL, TREES = "ours", "kernel", "trees"
MULTIPLES = (1 / 2, 1 / 8, 1 / 4, 1.0, 2.0, 4.0, 8.0, 16.0)
ALPHAS = (1.0, 0.001, 0.01, 0.1, 10.0, 100.0)
CS = (1.0, 0.1, 10.0, 100.0)
DEPTHS = (3, 1, 2, 4, 6)
#: As many columns, if a neuron has two.
NEURONS = (12, 25, 50, 100, 200, 500, 1000, 1400, 2000, 4000)
COLUMNS = (25, 50, 100, 200, 400, 1000, 2000, 2800, 4000, 8000)
LANDMARKS = (25, 50, 100, 200, 400, 1000, 2000, 2800, 4000)
SUBSETS = (500, 1000, 2000, 4000, 8000, 16_000, 32_000)
ROUNDS = (10, 30, 100, 300, 1000)
GROWING = (2048, 8192, 32_768)
#: Parameters of families that may be "relevance".
RELEVANCE = {"length_scale", "feature_weights", "neurons__length_scale"}
#: Linear models are fitted to all rows, and to so many for each column.
ROWS_A_COLUMN = 16
STREAM = (500, 1000, 2000, 4000, 8000, 16_000, 32_000)


class Method(NamedTuple):
    """How one is made and along what.

    Where the unit is "rows", a point is a fit of as many rows, in all others of all rows, or of
    ``rows_a_unit`` times its size.
    """

    make: Callable[..., Any]  # (task, size, **parameters), with fit and predict
    kind: str
    unit: str
    sizes: tuple[int, ...]
    grid: dict[str, tuple[Any, ...]]
    pilot: int  # the size at which the grid is tried
    growth: float  # seconds are about size ** growth
    threads: str  # "all", or "one" where it knows no threads
    package: str | None = None  # if that is not one of ours
    test_rows: int | None = None  # the most, where a prediction is slow
    rows_a_unit: int | None = None


def some_rows(method: Method, rows: int) -> Method:
    """The same, of so many rows for each unit of its size."""
    return method._replace(growth=2.5, rows_a_unit=rows)


def gamma(scale: float) -> float:
    return 1 / (2 * scale**2)


def make_family(name: str) -> Neurons:
    if name == "landmarks":
        return Landmarks(Laplace1())
    return Patches() if name == "patches" else make_neurons(name)  # images of 28 by 28 pixels


def kitchen_sinks(
    task: Task, size: int, *, family: str, alpha: float | None = None, **parameters: Any
) -> Any:
    neurons = make_family(family).set_params(**parameters)
    given = {} if alpha is None else {"alpha": alpha / len(task.X)}  # theirs is of a mean
    return learner(task, "KitchenSinks")(neurons, size, random_state=0, **given)


def doubly_stochastic(task: Task, size: int, *, scale: float, step_size: Any) -> Any:
    return learner(task, "DoublyStochastic")(
        make_neurons("gaussian").set_params(length_scale=scale),
        size,
        schedule="block",
        batch_size=16_384,
        neurons_per_step=512,
        step_size=step_size,
        random_state=0,
    )


def learner(task: Task, name: str) -> Any:
    return getattr(trickless, name + ("Classifier" if task.n_classes else "Regressor"))


def features(task: Task, size: int, *, sampler: Any, head: Any, scale: float, **rest: Any) -> Any:
    map_ = sampler(gamma=gamma(scale), n_components=size, random_state=0)
    return make_pipeline(map_, head(task, **rest))


def laplacian(*, gamma: float, **rest: Any) -> Any:
    """Landmarks of the Laplacian kernel exp(-|x - x'|₁ / scale), for ``gamma(scale)``."""
    return Nystroem("laplacian", gamma=np.sqrt(2 * gamma), **rest)


def ridge(task: Task, alpha: float) -> Any:
    # The features are made for it alone, and need no copy.
    return (RidgeClassifier if task.n_classes else Ridge)(alpha, copy_X=False)


def ridge_cv(task: Task) -> Any:
    return (RidgeClassifierCV if task.n_classes else RidgeCV)(sorted(ALPHAS))


def logistic(task: Task, C: float) -> Any:
    return LogisticRegression(C=C, max_iter=300)


def descent(task: Task, alpha: float) -> Any:
    if task.n_classes:
        options = {"n_jobs": -1} if task.n_classes > 2 else {}
        return SGDClassifier("log_loss", alpha=alpha / len(task.X), random_state=0, **options)
    alpha, rate = alpha / len(task.X), {"learning_rate": "adaptive", "eta0": 0.1}
    return SGDRegressor(alpha=alpha, random_state=0, **rate)


def exact(task: Task, size: int, *, scale: float, alpha: float = 1.0, C: float = 1.0) -> Any:
    if task.n_classes:
        return SVC(C=C, gamma=gamma(scale), cache_size=1000)
    return KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma(scale))


def low_rank(task: Task, size: int) -> Any:
    # Half as many dimensions as landmarks, as its defaults have it; the scale is its own estimate.
    return torchkm(task.n_classes, None, low_rank=True, num_landmarks=size, nys_k=size // 2)


def adaboost(task: Task, size: int, *, depth: int) -> Any:
    if task.n_classes:
        return AdaBoostClassifier(
            DecisionTreeClassifier(max_depth=depth), n_estimators=size, random_state=0
        )
    return AdaBoostRegressor(
        DecisionTreeRegressor(max_depth=depth), n_estimators=size, random_state=0
    )


def boosted(task: Task, size: int, *, learning_rate: float) -> Any:
    boosting = HistGradientBoostingClassifier if task.n_classes else HistGradientBoostingRegressor
    # With more than 10,000 rows it stops early by default, so that more rounds may be the same fit.
    return boosting(max_iter=size, learning_rate=learning_rate, random_state=0)


def methods(task: Task) -> dict[str, Method]:
    """All methods for a task by their names; those that cannot do it are not among them."""
    scales = {"scale": tuple(multiple * task.median for multiple in MULTIPLES)}
    alphas, cs = {"alpha": ALPHAS}, {"C": CS}
    binary, classes = task.n_classes == 2, task.n_classes > 0
    all_: dict[str, Method] = {}
    grids = {"length_scale": scales["scale"], "depth": DEPTHS}
    grids["neurons__length_scale"] = grids["length_scale"]
    for family in families(task.name):
        known = make_family(family).get_params()
        grid = {name: values for name, values in grids.items() if name in known}
        if family == "gaussian":
            grid["sampling"] = ("iid", "orthogonal")
            make = partial(kitchen_sinks, family=family)
            all_[ALIKE_GIVEN] = Method(
                make, *(OURS, "neurons", NEURONS, grid | alphas, 500, 1.5, "all")
            )
        make = partial(kitchen_sinks, family=family)
        all_[f"Kitchen Sinks, {family}"] = Method(
            make, *(OURS, "neurons", NEURONS, grid, 500, 1.5, "all")
        )
        for option in RELEVANCE & known.keys():
            rest = {name: values for name, values in grid.items() if name == "depth"}
            all_[f"Kitchen Sinks, {family}, relevance"] = Method(
                partial(make, **{option: "relevance"}),
                *(OURS, "neurons", NEURONS, rest, 500, 1.5, "all"),
            )
    for name, method in list(all_.items()):
        if "ferns" not in name:  # whose columns a neuron are chosen
            width = make_family(name.split(", ")[1]).width
            all_[name + SOME_ROWS] = some_rows(method, width * ROWS_A_COLUMN)
    if len(task.X) > 2 * 16_384 or task.n_classes > 2:
        grid = scales | {"step_size": ("auto", 0.5)}
        all_["Doubly Stochastic, block"] = Method(
            doubly_stochastic, OURS, "neurons", GROWING, grid, 2048, 1.0, "all"
        )

    def mapped(name: str, sampler: Any, head: Any, grid: dict[str, Any], threads: str = "all"):
        some = COLUMNS if sampler is RBFSampler else LANDMARKS
        make = partial(features, sampler=sampler, head=head)
        unit = "columns" if sampler is RBFSampler else "landmarks"
        all_[name] = Method(make, KERNEL, unit, some, scales | grid, 1000, 1.5, threads)
        if head is ridge:
            all_[name + SOME_ROWS] = some_rows(all_[name], ROWS_A_COLUMN)

    mapped("RBFSampler + Ridge", RBFSampler, ridge, alphas)
    mapped("RBFSampler + RidgeCV", RBFSampler, ridge_cv, {})
    mapped("RBFSampler + SGD", RBFSampler, descent, alphas)
    mapped("Nystroem + Ridge", Nystroem, ridge, alphas)
    mapped("Nystroem, Laplacian + Ridge", laplacian, ridge, alphas)
    if binary:
        mapped("RBFSampler + LogisticRegression", RBFSampler, logistic, cs)
        mapped("Nystroem + LogisticRegression", Nystroem, logistic, cs)
    if classes:
        name, grid, growth, threads = "SVC", scales | cs, 2.0, "one"
    else:
        name, grid, growth, threads = "KernelRidge", scales | alphas, 2.5, "all"
    all_[name] = Method(exact, KERNEL, "rows", SUBSETS, grid, 4000, growth, threads)
    all_["rfflearn"] = Method(
        lambda task, size, **rest: Rfflearn(task.n_classes, size, **rest),
        *(KERNEL, "columns", COLUMNS, scales | alphas, 500, 1.5, "all", "rfflearn"),
    )
    all_["xRFM"] = Method(
        lambda task, size, **rest: XRFM(task.n_classes, **rest),
        *(KERNEL, "rows", SUBSETS),
        {"bandwidth": (10.0, 0.3, 1.0, 3.0, 30.0), "reg": (1e-3, 1e-1, 1e-5, 1e-7, 1.0, 10.0)},
        *(4000, 2.5, "all", "xrfm"),
    )
    if classes:
        grid = {"scale": (None, *scales["scale"])}  # None is its own estimate
        all_["torchkm"] = Method(
            lambda task, size, **rest: torchkm(task.n_classes, **rest),
            *(KERNEL, "rows", SUBSETS, grid, 1000, 2.5, "all", "torchkm"),
        )
        all_["torchkm, Nyström"] = Method(
            low_rank, KERNEL, "landmarks", LANDMARKS, {}, 100, 1.0, "all", "torchkm"
        )
    all_["River"] = Method(
        lambda task, size, **rest: River(task.n_classes, task.X.shape[1], **rest),
        *(KERNEL, "rows", STREAM),
        {"gamma": (0.1, 1.0, 0.01), "step": (1e-3, 1e-5, 1e-4, 1e-2, 1e-1)},
        *(4000, 1.0, "one", "river", 1000),
    )
    all_["AdaBoost"] = Method(
        adaboost, TREES, "rounds", ROUNDS, {"depth": (1, 3, 6, 10)}, 30, 1.0, "one"
    )
    all_["HistGradientBoosting"] = Method(
        boosted, TREES, "rounds", ROUNDS, {"learning_rate": (0.1, 0.03, 0.3)}, 100, 1.0, "all"
    )
    return all_

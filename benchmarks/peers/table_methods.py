"""Methods that learn raw tables: ours, boosted trees and others, each with time stamps of its fit.

A method fits a table and says when it had how many trees (or neurons, or rows). A clock is started
before it, so encoding and binning count. ``SETTINGS`` of each are a few combinations of what its
documentation says to tune first; for boosted trees the same for all, two learning rates by three
sizes of a tree.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stdout, suppress
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import trickless
from adapters import XRFM
from equal_seconds import BINARY, BOOSTED, CHIMERA, DEFAULTS, FAST_CHIMERA, OTHER, OURS, TREES
from raw_tables import Table
from trickless.neurons import Ferns, Gaussian, Landmarks, Laplace1, Tabular

CORES = 2
MOST_TREES = 3_000
#: Numbers of trees, neurons and rows for which there is a fit of its own.
TREES_OF_OURS = (10, 30, 100, 300, 1_000, 3_000)
NEURONS = (100, 300, 1_000, 3_000)
ROWS = (1_000, 3_000, 8_000, 16_000)
FOREST = (5, 10, 20, 50, 100, 200)
#: Of a forest's trees, that take gigabytes on all rows of Covertype.
MOST_FOREST_BYTES = 4e9

#: Predictions of the test rows by the first of so many trees, for each of some numbers.
Predict = Callable[[Sequence[int]], Iterable[np.ndarray]]


class Clock:
    """Seconds since it was made, at each size that a fit has reached."""

    def __init__(self, limit: float) -> None:
        self.limit, self.stamps = limit, {}
        self.start = time.perf_counter()

    def tick(self, size: int | None = None) -> bool:
        """Keep the seconds at a size, or at one tree more; whether the fit should end."""
        seconds = time.perf_counter() - self.start
        self.stamps[size or len(self.stamps) + 1] = seconds
        return seconds > self.limit


class Method(NamedTuple):
    """How it is fitted, and along what.

    ``fit(table, size, seed, clock, **setting)`` gives predictions. Methods with ``sizes`` have a
    fit for each; of others one fit goes through all sizes, until the clock ends it.
    """

    name: str
    group: str
    unit: str
    fit: Callable[..., Predict]
    settings: tuple[dict[str, Any], ...] = ({},)
    sizes: tuple[int | None, ...] = ()
    pilot: int = MOST_TREES  # size that settings are compared at
    growth: float = 1.0  # seconds are about size ** growth
    package: str | None = None
    random: bool = True  # whether it draws anything at random
    seeds: int | None = None  # the most


def grid(**values: Sequence[Any]) -> tuple[dict[str, Any], ...]:
    """All combinations."""
    return tuple(dict(zip(values, some, strict=True)) for some in product(*values.values()))


def pick(table: Table, classifier: Any, regressor: Any) -> Any:
    return classifier if table.n_classes else regressor


def once(clock: Clock, size: int | None, predict: Callable[[], np.ndarray]) -> Predict:
    """The predictions of a fit of one size, which ends here."""
    clock.tick(size or 1)
    return lambda sizes: [predict() for _ in sizes]


# Ours


def ours(table: Table, size: int, seed: int, clock: Clock) -> Predict:
    """Up to so many trees. The held-out rows decide how many are used, as with nothing set."""
    return ours_of("auto", table, size, seed, clock)


def ours_binary(table: Table, size: int, seed: int, clock: Clock) -> Predict:
    return ours_of("binary", table, size, seed, clock)


def ours_of(shape: str, table: Table, size: int, seed: int, clock: Clock) -> Predict:
    load_loops()
    model = learner(table, "BoostedTrees")(size, shape=shape, random_state=seed)
    model.fit(table.X, table.y)
    return once(clock, size, lambda: model.predict(table.X_test))


def ours_with_defaults(table: Table, size: None, seed: int, clock: Clock) -> Predict:
    load_loops()
    model = learner(table, "BoostedTrees")(random_state=seed).fit(table.X, table.y)
    return once(clock, size, lambda: model.predict(table.X_test))


def load_loops() -> None:
    """Load compiled loops before the clock, as packages of others are."""
    X = np.arange(40.0)[:, None]
    for shape in ("oblivious", "binary"):
        trickless.BoostedTreesRegressor(2, shape=shape, random_state=0).fit(X, X[:, 0])


def kitchen_sinks(table: Table, size: int, seed: int, clock: Clock, *, neurons: str) -> Predict:
    family, as_it_is = {
        "tabular": (Tabular(), True),
        "gaussian, relevance": (Gaussian("relevance"), False),
        "laplace1, auto": (Laplace1("auto"), False),
        "ferns, relevance": (Ferns(feature_weights="relevance"), False),
        "landmarks, relevance": (Landmarks(Laplace1("relevance")), False),
    }[neurons]
    model = learner(table, "KitchenSinks")(family, size, random_state=seed)
    if not as_it_is:
        model = make_pipeline(codes(table), StandardScaler(), model)
    model.fit(table.X, table.y)
    return once(clock, size, lambda: model.predict(table.X_test))


def learner(table: Table, name: str) -> Any:
    return getattr(trickless, name + pick(table, "Classifier", "Regressor"))


def codes(table: Table, numbers: Any = "passthrough") -> Any:
    """Categories as codes of 0 and 1, and numbers as they are or transformed."""
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.float32)
    return make_column_transformer((encoder, table.categories), remainder=numbers)


# Boosted trees

LEARNING_RATES = (0.05, 0.15)
LEAVES = (15, 63, 255)


def hist_gradient_boosting(
    table: Table, size: int, seed: int, clock: Clock, **setting: Any
) -> Predict:
    make = pick(table, HistGradientBoostingClassifier, HistGradientBoostingRegressor)
    model = make(
        max_iter=size,
        early_stopping=False,
        categorical_features="from_dtype",
        random_state=seed,
        verbose=2,  # a line for each round
        **setting,
    )
    with suppress(OutOfTimeError), redirect_stdout(Rounds(clock)):
        model.fit(table.X, table.y)

    def predict(sizes: Sequence[int]) -> Iterator[np.ndarray]:
        staged = enumerate(model.staged_predict(table.X_test), start=1)
        return (predicted for i, predicted in staged if i in sizes)

    return predict


class OutOfTimeError(Exception):
    """Ends a fit that has no callbacks."""


class Rounds(io.StringIO):
    """Ticks a clock at each line that HistGradientBoosting prints after a round."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock

    def write(self, text: str) -> int:
        if "max depth" in text and self.clock.tick():
            raise OutOfTimeError
        return len(text)


def lightgbm(table: Table, size: int, seed: int, clock: Clock, **setting: Any) -> Predict:
    import lightgbm

    def tick(round_: Any) -> None:
        if clock.tick():
            raise lightgbm.callback.EarlyStopException(round_.iteration, [])

    make = pick(table, lightgbm.LGBMClassifier, lightgbm.LGBMRegressor)
    model = make(n_estimators=size, random_state=seed, n_jobs=CORES, verbosity=-1, **setting)
    model.fit(table.X, table.y, callbacks=[tick])
    return lambda sizes: (model.predict(table.X_test, num_iteration=i) for i in sizes)


def xgboost(table: Table, size: int, seed: int, clock: Clock, **setting: Any) -> Predict:
    import xgboost

    class Tick(xgboost.callback.TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            return clock.tick()

    make = pick(table, xgboost.XGBClassifier, xgboost.XGBRegressor)
    options = {"tree_method": "hist", "enable_categorical": True, "callbacks": [Tick()]}
    model = make(n_estimators=size, random_state=seed, n_jobs=CORES, **options, **setting)
    classes, y = np.unique(table.y, return_inverse=True)  # it wants all of 0, 1, ...
    model.fit(table.X, y if table.n_classes else table.y)

    def predict(sizes: Sequence[int]) -> Iterator[np.ndarray]:
        for i in sizes:
            predicted = model.predict(table.X_test, iteration_range=(0, i))
            yield classes[predicted] if table.n_classes else predicted

    return predict


def catboost(table: Table, size: int, seed: int, clock: Clock, **setting: Any) -> Predict:
    import catboost

    class Tick:
        def after_iteration(self, info: Any) -> bool:
            return not clock.tick()

    make = pick(table, catboost.CatBoostClassifier, catboost.CatBoostRegressor)
    options = {"thread_count": CORES, "verbose": False, "allow_writing_files": False}
    model = make(iterations=size, random_seed=seed, **options, **setting)
    X, X_test = known(table, table.X), known(table, table.X_test)
    model.fit(X, table.y, cat_features=table.categories, callbacks=[Tick()])
    return lambda sizes: (model.predict(X_test, ntree_end=i) for i in sizes)


def known(table: Table, X: Any) -> Any:
    """The same with a category of their own for those that are missing, as CatBoost wants it."""
    gaps = [name for name in table.categories if X[name].isna().any()]
    return X.assign(**{name: X[name].astype(object).fillna("missing") for name in gaps})


def chimeraboost(table: Table, size: None, seed: int, clock: Clock, **setting: Any) -> Predict:
    """ChimeraBoost, which stops early by its own held-out rows and fits them afterwards."""
    load_chimera()
    import chimeraboost

    make = pick(table, chimeraboost.ChimeraBoostClassifier, chimeraboost.ChimeraBoostRegressor)
    model = make(random_state=seed, thread_count=CORES, **setting)
    model.fit(table.X, table.y, cat_features=table.categories)
    return once(clock, size, lambda: model.predict(table.X_test))


@cache
def load_chimera() -> None:
    """Load its compiled loops, as its documentation advises for processes with a single fit.

    The fit before the clock does so. Its first run on a machine takes 15 s, so that it should come
    before all fits: ``python -m chimeraboost``.
    """
    import chimeraboost

    chimeraboost.warmup()


# Others


def extra_trees(table: Table, size: int, seed: int, clock: Clock, **setting: Any) -> Predict:
    make = pick(table, ExtraTreesClassifier, ExtraTreesRegressor)
    model = make(warm_start=True, random_state=seed, n_jobs=CORES, **setting)
    encoder = OrdinalEncoder(
        handle_unknown="use_encoded_value",
        unknown_value=-1,
        encoded_missing_value=-1,
        dtype=np.float32,
    )
    encoder = make_column_transformer((encoder, table.categories), remainder="passthrough")
    X = encoder.fit_transform(table.X)
    for n in FOREST:
        if n > size or forest_bytes(model) * n > MOST_FOREST_BYTES:
            break
        model.set_params(n_estimators=n).fit(X, table.y)
        if clock.tick(n):
            break
    X_test = encoder.transform(table.X_test)

    def predict(sizes: Sequence[int]) -> Iterator[np.ndarray]:
        total: Any = 0.0
        for i, tree in enumerate(model.estimators_[: max(sizes)], start=1):
            total = total + (tree.predict_proba if table.n_classes else tree.predict)(X_test)
            if i in sizes:
                yield model.classes_[total.argmax(axis=1)] if table.n_classes else total / i

    return predict


def forest_bytes(model: Any) -> float:
    """Of a tree of a forest, on average; 0 if there is none yet."""
    trees = [tree.tree_ for tree in getattr(model, "estimators_", [])]
    return max((64 + 8 * tree.value.shape[-1] for tree in trees), default=0) * float(
        np.mean([tree.node_count for tree in trees] or [0])
    )


def xrfm(table: Table, size: int, seed: int, clock: Clock, **setting: Any) -> Predict:
    table, encoder = table.head(size), codes(table, StandardScaler())
    model = XRFM(table.n_classes, seed=seed, **setting)
    model.fit(encoder.fit_transform(table.X), table.y)
    return once(clock, size, lambda: model.predict(encoder.transform(table.X_test)))


METHODS = (
    Method(TREES, OURS, "trees", ours, sizes=TREES_OF_OURS),
    Method(BINARY, OURS, "trees", ours_binary, sizes=(100, 300)),
    Method(DEFAULTS, OURS, "trees", ours_with_defaults, sizes=(None,)),
    Method(
        "Kitchen Sinks",
        OURS,
        "neurons",
        kitchen_sinks,
        grid(
            neurons=(
                "tabular",
                "laplace1, auto",
                "gaussian, relevance",
                "ferns, relevance",
                "landmarks, relevance",
            )
        ),
        sizes=NEURONS,
        pilot=1_000,
        growth=1.5,
    ),
    Method(
        "HistGradientBoosting",
        BOOSTED,
        "trees",
        hist_gradient_boosting,
        grid(learning_rate=LEARNING_RATES, max_leaf_nodes=LEAVES),
        random=False,
    ),
    Method(
        "LightGBM",
        BOOSTED,
        "trees",
        lightgbm,
        grid(learning_rate=LEARNING_RATES, num_leaves=LEAVES),
        package="lightgbm",
        random=False,
    ),
    Method(
        "XGBoost",
        BOOSTED,
        "trees",
        xgboost,
        grid(learning_rate=LEARNING_RATES, max_depth=(4, 7, 10)),
        package="xgboost",
        random=False,
    ),
    Method(
        "CatBoost",
        BOOSTED,
        "trees",
        catboost,
        grid(learning_rate=LEARNING_RATES, depth=(6, 8, 10)),
        package="catboost",
    ),
    Method(CHIMERA, BOOSTED, "trees", chimeraboost, sizes=(None,), package="chimeraboost"),
    Method(
        FAST_CHIMERA,
        BOOSTED,
        "trees",
        chimeraboost,
        grid(quality=(1,)),
        sizes=(None,),
        package="chimeraboost",
    ),
    Method(
        "ExtraTrees",
        OTHER,
        "trees",
        extra_trees,
        grid(max_features=("sqrt", 0.5, 1.0), min_samples_leaf=(1, 3)),
        pilot=50,
    ),
    Method(
        "xRFM",
        OTHER,
        "rows",
        xrfm,
        grid(bandwidth=(3.0, 10.0, 30.0), reg=(1e-3, 1e-1)),
        sizes=ROWS,
        pilot=3_000,
        growth=2.5,
        package="xrfm",
    ),
)

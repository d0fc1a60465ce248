"""Models that are written for other runtimes, with rows and what the models answer."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import (
    CLASSIFIERS,
    FAMILIES,
    KERNEL_LEARNERS,
    REGRESSORS,
    TREE_LEARNERS,
    name_of,
    problem,
    suited,
)
from trickless import (
    BoostedTreesRegressor,
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    RandomFeatures,
)
from trickless.conformal import SplitConformal
from trickless.neurons import Gaussian

#: Labels that must be escaped: quotes, trigraphs, tags, comments, digits after codes.
ODD = np.array(['a"\\b', "??/x", "é7\n", "</script>", "*/ 名"])
#: Rows of a case, and the probability of intervals and sets.
N, CONFIDENCE = 24, 0.8


class Case(NamedTuple):
    """A model, its rows as Python takes them, as columns of a graph, and what it answers."""

    model: object
    rows: object
    answers: dict
    exact: bool = True


def answers_of(model, rows, outputs, inner=None):
    """What Python answers, by the names of outputs."""
    inner = model if inner is None else inner
    methods = {
        "prediction": lambda: inner.predict(rows),
        "std": lambda: inner.predict(rows, return_std=True)[1],
        "interval": lambda: model.predict_interval(rows, CONFIDENCE),
        "label": lambda: inner.predict(rows),
        "probabilities": lambda: inner.predict_proba(rows),
        "decision": lambda: inner.decision_function(rows),
        "set": lambda: model.predict_set(rows, CONFIDENCE),
        "features": lambda: inner.transform(rows),
    }
    return {name: methods[name]() for name in outputs}


def case(model, X, y, *outputs, rows=None, exact=True):
    """Fit a model, and ask it about some of the rows or about others."""
    model.fit(X, y)
    rows = X[:N] if rows is None else rows
    return Case(model, rows, answers_of(model, rows, outputs), exact)


def usual(model):
    """The usual outputs of a model."""
    if is_regressor(model):
        return ("prediction",)
    return ("label", "probabilities" if hasattr(model, "predict_proba") else "decision")


def of_family(family):
    """Least squares in double precision, with all error bars."""
    X, y = problem(REGRESSORS[0], 60)
    y = y + 0.3 * np.random.default_rng(1).standard_normal(60)
    n = 4 if "trees" in family or "convolutions" in family else 20  # of many activations each
    model = KitchenSinksRegressor(FAMILIES[family], n, alpha=0.01, dtype="float64", random_state=0)
    return case(model, suited(family, X), y, "prediction", "std", "interval")


def of_learner(learner):
    """A learner with its usual answers."""
    X, y = problem(learner, 100)
    model = clone(learner).set_params(random_state=0)
    if "neurons" in model.get_params():
        model.set_params(neurons=FAMILIES["gaussian"], n_neurons=20)
        if "alpha" in model.get_params():
            model.set_params(alpha=1e-2)
    return case(model, X, y, *usual(model), exact=False)


def with_gaps(X):
    X = X.copy()
    X[::5, 0] = X[::7, 3] = np.nan
    return X


def trees(**options):
    X, y = problem(REGRESSORS[0], 120)
    y = y + (X[:, 0] * X[:, 3] > 0)
    model = BoostedTreesRegressor(12, random_state=0, early_stopping=True, **options)
    return case(model, with_gaps(X), y, "prediction", "interval")


def frame(n=120):
    """A data frame with columns of every kind and gaps, and targets."""
    X, y = problem(REGRESSORS[0], n)
    table = pd.DataFrame(X[:, :2], columns=["length", 'wid"th'])
    table["constructor"] = np.array([*ODD, None], dtype=object)[np.arange(n) % 6]
    table["day"] = pd.Timestamp("2024-02-28") + pd.to_timedelta(np.arange(n) % 50, "D")
    table.loc[::9, "length"] = np.nan
    table["t1"] = X[:, 2]  # a name as graphs have it
    moment = pd.Timestamp("1969-12-25 17:30", tz="Asia/Kolkata")
    table["moment"] = moment + pd.to_timedelta(np.arange(n) % 13, "D")
    table.loc[::8, "moment"] = pd.NaT
    return table, y + np.arange(n) % 6


def of_frame(learner):
    table, y = frame()
    model = learner.fit(table, y)
    rows = table[:N].copy()
    rows.loc[3, "constructor"] = "new"
    return Case(model, rows, answers_of(model, rows, ("prediction",)), False)


def split(model, classes):
    """A model with the errors of rows that it has not learned from, which its sets must keep."""
    X, y = problem(REGRESSORS[0], 80)
    y = ODD[np.digitize(y, [-0.7, 0.7])] if classes else np.exp(np.stack([y, -y], axis=1))
    model.fit(X[:40], y[:40])
    conformal = SplitConformal(FrozenEstimator(model)).calibrate(X[40:], y[40:])
    outputs = ("label", "set") if classes else ("prediction", "interval")
    return Case(conformal, X[40:], answers_of(conformal, X[40:], outputs, model), False)


def classes(model, n, *outputs):
    X, y = problem(CLASSIFIERS[0], 100)
    y = ODD[y + 1] if n > 2 else ODD[(y > 0).astype(int)]
    return case(model, X, y, *outputs)


def label_sets():
    X, y = problem(CLASSIFIERS[0], 100)
    model = KitchenSinksClassifier("gaussian", 20, loss="squared_error", dtype="float64")
    y = np.stack([y > 0, y > 1, X[:, 3] > 0], axis=1)
    return case(model.set_params(random_state=0), X, y, "label", "probabilities", "decision")


def targets(model, change, *outputs):
    X, y = problem(REGRESSORS[0], 120)
    return case(model.set_params(random_state=0), X, change(y), *outputs)


def features():
    X, _ = problem(REGRESSORS[0], 60)
    return case(
        RandomFeatures("gaussian", 10, dtype="float64", random_state=0), X, None, "features"
    )


def scaled():
    X, y = problem(REGRESSORS[0], 60)
    neurons = Gaussian("median")
    model = make_pipeline(StandardScaler(), KitchenSinksRegressor(neurons, 20, dtype="float64"))
    return case(
        model.set_params(kitchensinksregressor__random_state=0), 3 + 20 * X, y, "prediction"
    )


_EXACT = {"dtype": "float64", "random_state": 0}
_HELD_OUT = {"early_stopping": True, "random_state": 0}
#: Families that only draw their numbers in another way than one that is tried.
DRAWN = {"gaussian-orthogonal", "laplace", "matern", "rational-quadratic", "stumps-normal"}
#: Makes each case, by name.
CASES = {
    f"family_{name}".replace("-", "_"): (of_family, name) for name in FAMILIES if name not in DRAWN
}
CASES |= {
    name_of(learner): (of_learner, learner)
    for learner in (*REGRESSORS, *CLASSIFIERS, *KERNEL_LEARNERS, *TREE_LEARNERS)
    if not name_of(learner).startswith("Noisy")
}
CASES |= {
    "oblivious": (trees,),
    "linear": lambda: trees(leaves="linear"),
    "binary": lambda: trees(shape="binary"),
    "frame_trees": lambda: of_frame(BoostedTreesRegressor(12, random_state=0)),
    "frame_tabular": lambda: of_frame(KitchenSinksRegressor("tabular", 20, **_EXACT)),
    "intervals_of_others": lambda: split(KitchenSinksRegressor(n_neurons=20, **_EXACT), False),
    "intervals_of_counts": lambda: split(
        DoublyStochasticRegressor("gaussian", 20, loss="poisson", **_EXACT), False
    ),
    "sets_of_others": lambda: split(KitchenSinksClassifier(n_neurons=20, **_EXACT), True),
    "two": lambda: classes(
        KitchenSinksClassifier("gaussian", 20, **_EXACT), 2, "label", "probabilities", "set"
    ),
    "several": lambda: classes(
        KitchenSinksClassifier("gaussian", 20, **_EXACT), 3, "label", "probabilities", "set"
    ),
    "softmax": lambda: classes(
        DoublyStochasticClassifier("gaussian", 20, **_EXACT), 3, "label", "probabilities"
    ),
    "label_sets": label_sets,
    "counts": lambda: targets(
        BoostedTreesRegressor(12, loss="poisson", **_HELD_OUT),
        lambda y: np.exp(y).round(),
        "prediction",
        "interval",
    ),
    "quantiles": lambda: targets(
        BoostedTreesRegressor(12, loss="quantile", quantile=[0.3, 0.5, 0.7], **_HELD_OUT),
        lambda y: y,
        "prediction",
        "interval",
    ),
    "outputs": lambda: targets(
        KitchenSinksRegressor(n_neurons=20, alpha=0.01, dtype="float64"),
        lambda y: np.stack([y, 10 + np.exp(y)], axis=1),
        "prediction",
        "std",
        "interval",
    ),
    "features": features,
    "scaled": scaled,
}


def made(name):
    """Make a case."""
    make = CASES[name]
    return make() if callable(make) else make[0](*make[1:])


def as_columns(rows, missing):
    """Rows of a data frame as numbers and texts, where dates are days since 1970."""
    rows = rows.copy()
    for name in ("day", "moment"):
        zone = rows[name].dt.tz and "UTC"
        rows[name] = (rows[name] - pd.Timestamp(0, tz=zone)) / pd.Timedelta("1D")
    rows["constructor"] = rows["constructor"].where(rows["constructor"].notna(), missing)
    return rows


def tolerance(case, expected):
    """What answers may be off: units of rounding of the largest answer."""
    return 16 * np.finfo(np.float64 if case.exact else np.float32).eps * np.abs(expected).max()

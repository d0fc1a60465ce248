"""Models that are written in C and JavaScript, with rows and what the models answer."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from trickless import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    ShrinkingGradientClassifier,
    ShrinkingGradientRegressor,
)
from trickless.conformal import SplitConformal
from trickless.neurons import Cauchy, Dense, Gaussian, Laplace, Matern, Periodic, Trees

#: Labels that must be escaped in C or JavaScript: quotes, trigraphs, tags, digits after codes.
ODD = np.array(['a"\\b', "??/x", "é7\n", "</script>", "*/ 名"])
_EXACT = {"random_state": 0, "dtype": "float64"}


class Case(NamedTuple):
    """A model, its rows as Python takes them and as numbers, and which error bars it has."""

    model: object
    rows: object
    numbers: np.ndarray
    deviates: bool = False
    interval: float | None = None

    @property
    def options(self):
        return {"error_bars": self.deviates, "interval": self.interval}


def _problem(n=80, d=4):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(n)


def _of_numbers(model, y=None, X=None, deviates=False, interval=None):
    rows, target = _problem()
    X = rows if X is None else X
    model.fit(X, target if y is None else y(X, target))
    return Case(model, X, np.asarray(X), deviates, interval)


def _with_gaps():
    X, _ = _problem()
    X[::5, 0] = X[::7, 3] = np.nan
    return X


def _frame():
    X, y = _problem(120)
    frame = pd.DataFrame(X[:, :2], columns=["length", 'wid"th'])
    frame["town"] = np.array([*ODD, None], dtype=object)[np.arange(120) % 6]
    frame["day"] = pd.Timestamp("2024-02-28") + pd.to_timedelta(np.arange(120) % 50, "D")
    frame.loc[::9, "length"] = np.nan
    return frame, y + np.arange(120) % 6


def _coded(frame):
    """The numbers of a frame: codes of sorted categories, and days since 1970."""
    known = {town: code for code, town in enumerate(sorted(ODD.tolist()))}
    numbers = frame[["length", 'wid"th']].to_numpy()
    town = [np.nan if pd.isna(t) else known.get(t, -1) for t in frame["town"]]
    days = (frame["day"] - pd.Timestamp(0)) / pd.Timedelta("1D")
    return np.column_stack([numbers, town, days])


def _of_frame(model):
    frame, y = _frame()
    model.fit(frame, y)
    frame.loc[3, "town"] = "new"
    return Case(model, frame, _coded(frame))


def _grown():
    X, y = _problem()
    model = DoublyStochasticClassifier(Gaussian(1.0), 40, **_EXACT)
    labels = np.where(y > 0, "up", "down")
    return Case(model.partial_fit(X, labels, classes="grow"), X, X)


def _crossed():
    """Trees on differences and products of columns, with linear leaves and gaps."""
    X, _ = _problem(300)
    X[::9, 0] = np.nan
    y = np.where(X[:, 1] * X[:, 2] > 0, 1.0, -1.0) + X[:, 3]
    model = DoublyStochasticRegressor(
        Trees(leaves="linear", crosses="auto"), 10, step_size=0.3, random_state=0
    ).fit(X, y)
    assert model.neurons_.crosses_ is not None
    return Case(model, X, X)


def _several(X, y):
    return np.column_stack([y, 10 + X[:, 0] + X[:, 1] ** 2])


def _counts(X, y):
    return np.exp(y).round()


def _classes(n):
    return lambda X, y: ODD[np.digitize(X[:, 0] + y / 3, np.linspace(-1, 1, n - 1))]


def _sets(X, y):
    return np.column_stack([X[:, 0] > 0, y > 0, X[:, 1] > X[:, 2]]).astype(int)


def _trees(learner, **options):
    return learner(Trees(**options), 12, random_state=0, n_candidates=4, early_stopping=False)


def _held_out(**loss):
    return DoublyStochasticRegressor("trees", 12, early_stopping=True, random_state=0, **loss)


def _split(model, y):
    """A model with the errors at rows that it has not learned from."""
    X, target = _problem(160)
    y = y(X, target)
    conformal = SplitConformal(model.fit(X[:80], y[:80])).calibrate(X[80:], y[80:])
    return Case(conformal, X[:80], X[:80], interval=0.8)


#: Makes each case, by name.
CASES = {
    "gaussian": lambda: _of_numbers(
        KitchenSinksRegressor("gaussian", 300, **_EXACT), deviates=True
    ),
    "single": lambda: _of_numbers(KitchenSinksRegressor("gaussian", 40, random_state=0)),
    "two_outputs": lambda: _of_numbers(
        KitchenSinksRegressor(Matern(2.5), 40, **_EXACT), _several, deviates=True
    ),
    "laplace": lambda: _of_numbers(KitchenSinksRegressor(Laplace(), 40, **_EXACT)),
    "cauchy": lambda: _of_numbers(DoublyStochasticRegressor(Cauchy(), 64, **_EXACT)),
    "periodic": lambda: _of_numbers(KitchenSinksRegressor(Periodic(3.0), 40, **_EXACT)),
    "tanh": lambda: _of_numbers(KitchenSinksRegressor(Dense("tanh"), 40, **_EXACT), deviates=True),
    "sigmoid": lambda: _of_numbers(KitchenSinksRegressor(Dense("sigmoid"), 40, **_EXACT)),
    "sign": lambda: _of_numbers(KitchenSinksRegressor(Dense("sign"), 40, **_EXACT)),
    "step": lambda: _of_numbers(KitchenSinksRegressor(Dense("step"), 40, **_EXACT)),
    "relu": lambda: _of_numbers(KitchenSinksRegressor(Dense("relu", 2.0), 40, **_EXACT)),
    "poisson": lambda: _of_numbers(
        DoublyStochasticRegressor("gaussian", 40, loss="poisson", **_EXACT), _counts
    ),
    "quantiles": lambda: _of_numbers(
        DoublyStochasticRegressor(
            Gaussian(1.0), 40, loss="quantile", quantile=[0.3, 0.5, 0.7], **_EXACT
        )
    ),
    "online": lambda: _of_numbers(ShrinkingGradientRegressor("gaussian", 300, **_EXACT)),
    "scaled": lambda: _of_numbers(
        make_pipeline(StandardScaler(), KitchenSinksRegressor("gaussian", 40, **_EXACT)),
        X=3 + 20 * _problem()[0],
        deviates=True,
    ),
    "scaled_only": lambda: _of_numbers(
        make_pipeline(
            StandardScaler(with_mean=False), KitchenSinksRegressor("gaussian", 40, **_EXACT)
        ),
        X=3 + 20 * _problem()[0],
    ),
    "centred": lambda: _of_numbers(
        make_pipeline(
            StandardScaler(with_std=False), KitchenSinksRegressor("gaussian", 40, **_EXACT)
        ),
        X=3 + 20 * _problem()[0],
    ),
    "leaves": lambda: _of_numbers(KitchenSinksRegressor(Trees(depth=3), 30, **_EXACT)),
    "oblivious": lambda: _of_numbers(_trees(DoublyStochasticRegressor), X=_with_gaps()),
    "interval": lambda: _of_numbers(_held_out(), interval=0.8),
    "intervals": lambda: _of_numbers(_held_out(), _several, interval=0.8),
    "interval_of_counts": lambda: _of_numbers(_held_out(loss="poisson"), _counts, interval=0.5),
    "interval_of_quantiles": lambda: _of_numbers(
        _held_out(loss="quantile", quantile=[0.3, 0.5, 0.7]), interval=0.2
    ),
    "interval_of_passes": lambda: _of_numbers(
        KitchenSinksRegressor("gaussian", 40, solver="iterative", **_EXACT), interval=0.8
    ),
    "linear": lambda: _of_numbers(
        _trees(DoublyStochasticRegressor, leaves="linear"), X=_with_gaps()
    ),
    "crossed": _crossed,
    "constant": lambda: _of_numbers(
        DoublyStochasticRegressor("trees", 4, random_state=0), lambda X, y: 0 * y + 3
    ),
    "binary": lambda: _of_numbers(
        _trees(DoublyStochasticRegressor, shape="binary"), X=_with_gaps()
    ),
    "numbered": lambda: _of_numbers(
        _trees(DoublyStochasticRegressor), X=pd.DataFrame(_with_gaps())
    ),
    "frame": lambda: _of_frame(_trees(DoublyStochasticRegressor)),
    "binary_frame": lambda: _of_frame(_trees(DoublyStochasticRegressor, shape="binary")),
    "intervals_of_others": lambda: _split(
        KitchenSinksRegressor("gaussian", 40, **_EXACT), _several
    ),
    "counts_of_others": lambda: _split(
        DoublyStochasticRegressor("gaussian", 40, loss="poisson", **_EXACT), _counts
    ),
    "classes_of_others": lambda: _split(
        make_pipeline(StandardScaler(), DoublyStochasticClassifier("gaussian", 64, **_EXACT)),
        _classes(3),
    ),
    "set": lambda: _of_numbers(
        KitchenSinksClassifier("gaussian", 40, **_EXACT), _classes(5), interval=0.9
    ),
    "two_temperatures": lambda: _of_numbers(
        KitchenSinksClassifier("gaussian", 40, **_EXACT), _classes(2)
    ),
    "one_temperature": lambda: _of_numbers(
        KitchenSinksClassifier("gaussian", 40, **_EXACT), _classes(5)
    ),
    "logistic": lambda: _of_numbers(
        KitchenSinksClassifier("gaussian", 40, loss="log_loss", **_EXACT), _classes(2)
    ),
    "softmax": lambda: _of_numbers(
        DoublyStochasticClassifier("gaussian", 64, **_EXACT), _classes(3)
    ),
    "hinge": lambda: _of_numbers(
        KitchenSinksClassifier("gaussian", 40, loss="hinge", **_EXACT), _classes(2)
    ),
    "sets": lambda: _of_numbers(
        KitchenSinksClassifier("gaussian", 40, loss="squared_error", **_EXACT), _sets
    ),
    "grown": _grown,
    "online_classes": lambda: _of_numbers(
        ShrinkingGradientClassifier("gaussian", 300, **_EXACT), _classes(2)
    ),
    "classes_of_trees": lambda: _of_numbers(
        _trees(DoublyStochasticClassifier), lambda X, y: np.digitize(y, [-1, 1]) - 1, _with_gaps()
    ),
}


def expected(case):
    """The answers of a model in Python, by name: arrays of shape (n_rows, n)."""
    model, n = case.model, len(case.rows)
    conformal, model = model, getattr(model, "model", model)
    if not hasattr(model, "classes_"):
        answers = {"predict": model.predict(case.rows)}
        if case.interval is not None:
            answers["interval"] = conformal.predict_interval(case.rows, case.interval)
        if case.deviates:
            rows = case.rows
            if isinstance(model[0] if hasattr(model, "steps") else None, StandardScaler):
                rows, model = model[0].transform(rows), model[1]
            answers["std"] = model.predict(rows, return_std=True)[1]
    else:
        labels = model.predict(case.rows)
        if labels.ndim == 1:
            labels = np.array([model.classes_.tolist().index(label) for label in labels.tolist()])
        answers = {"predict": labels}
        if hasattr(model, "decision_function"):
            answers["decide"] = model.decision_function(case.rows)
        if case.interval is not None:
            answers["set"] = conformal.predict_set(case.rows, case.interval)
        if hasattr(model, "predict_proba"):
            answers["proba"] = model.predict_proba(case.rows)
    return {name: np.reshape(values, (n, -1)).astype(float) for name, values in answers.items()}


def tolerance(case):
    """How far an answer may be off, as a share of the spread of all."""
    model = getattr(case.model, "model", case.model)
    learner = getattr(model, "learner", model)
    learner = learner[-1] if hasattr(learner, "steps") else learner
    exact = learner.dtype == "float64" or getattr(learner.neurons_, "one_hot", False)
    return 1e-9 if exact else 1e-6

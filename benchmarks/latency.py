"""Time of a prediction of one row, and rows a second of streams that are predicted and learned.

One row: ``predict`` of our learners beside the same sum in bare NumPy, the Ridge
and HistGradientBoosting of scikit-learn, LightGBM, and our models in onnxruntime. All predict the
same rows of 20 columns, in turn, ten calls of each.

Streams: each row is predicted and then learned, by learners of two classes with 500 neurons, beside
River's. The same rows of 8 columns go through all of them, 50 rows of each in turn. It is the time
of the processor, which does not count the time that other programs take.

Run as ``make bench-latency``, which takes about two minutes; writes
``benchmarks/results/latency.json``. ``--quick`` takes few rows and ``--busy`` says that other
programs were running, and the file says so. Rows of libraries that are not installed are left out,
and the file says so, too.
"""

from __future__ import annotations

import gc
import importlib.metadata
import json
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge

from circumstances import circumstances
from trickless import BoostedTreesRegressor, KitchenSinksClassifier, KitchenSinksRegressor
from trickless.export import to_onnx
from trickless.neurons import Gaussian

PATH = Path(__file__).parent / "results" / "latency.json"
#: Libraries beside scikit-learn, with which some rows are made.
OTHERS = "lightgbm", "onnx", "onnxruntime", "river"
COLUMNS, ROWS, NEURONS, TREES = 20, 5000, 1000, 300
#: Turns of each action, and its calls in a turn.
ROUNDS, QUICK_ROUNDS, IN_A_ROW = 200, 10, 10
STREAM_NEURONS, STREAM_COLUMNS, FIRST, TOGETHER = 500, 8, 1000, 50
CHUNKS, QUICK_CHUNKS = 20, 3


def problem(n_rows, n_columns, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + np.abs(X[:, 3])
    return X, f + 0.1 * rng.standard_normal(n_rows)


class BareNumPy:
    """The sum of Kitchen Sinks at one row, as one would write it by hand."""

    def __init__(self, model):
        network = model.network_
        pieces = network.source.pieces(0, network.n_neurons)
        self.weights = np.concatenate([weights[0] for _, weights in pieces])
        self.cosines, self.sines = (np.ascontiguousarray(network.coef[:, k, 0]) for k in range(2))
        self.intercept = network.intercept[0]

    def __call__(self, x):
        t = self.weights @ x
        return np.cos(t) @ self.cosines + np.sin(t) @ self.sines + self.intercept


def versions():
    """Return the version of each of ``OTHERS``, None if it is not installed."""
    found = {}
    for name in OTHERS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
            print(f"without {name}, which is not installed: pip install -e '.[bench]'", flush=True)
    return found


def as_onnx(model):
    """Return a session of onnxruntime on one thread, as a function of a row."""
    import onnxruntime

    graph = to_onnx(model).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    kind = {"tensor(float)": np.float32, "tensor(double)": np.float64}[session.get_inputs()[0].type]
    return partial(_run, session, session.get_inputs()[0].name, kind)


def _run(session, name, kind, x):
    return session.run(None, {name: x[None].astype(kind)})[0]


def of_rows(predict):
    """A method of many rows, for one row."""
    return lambda x: predict(x[None])


def one_row_actions(others):
    """What predicts a row, by name. Each takes an array of ``COLUMNS`` numbers."""
    X, y = problem(ROWS, COLUMNS)
    ours = {
        "Kitchen Sinks, 1,000 Gaussian": KitchenSinksRegressor(Gaussian(4.0), NEURONS),
        "Kitchen Sinks, float64": KitchenSinksRegressor(Gaussian(4.0), NEURONS, dtype="float64"),
        "Kitchen Sinks, tabular": KitchenSinksRegressor("tabular", NEURONS),
        "Boosted trees, 300": BoostedTreesRegressor(TREES, leaves="constant"),
        "Boosted trees, 300, linear leaves": BoostedTreesRegressor(TREES, leaves="linear"),
        "Boosted trees, 300 binary": BoostedTreesRegressor(TREES, shape="binary"),
    }
    actions = {}
    for name, model in ours.items():
        model.set_params(random_state=0, n_jobs=1).fit(X, y)
        actions[f"{name}, `predict`"] = of_rows(model.predict)
        if others["onnx"] and others["onnxruntime"]:
            actions[f"{name}, onnxruntime"] = as_onnx(model)
        if name.endswith(("Gaussian", "float64")):
            actions[f"{name}, bare NumPy"] = BareNumPy(model)
    actions["Ridge"] = of_rows(Ridge().fit(X, y).predict)
    boosted = HistGradientBoostingRegressor(max_iter=TREES, early_stopping=False).fit(X, y)
    actions["HistGradientBoosting, 300 trees"] = of_rows(boosted.predict)
    if others["lightgbm"]:
        import lightgbm

        leaves = lightgbm.LGBMRegressor(n_estimators=TREES, n_jobs=1, verbose=-1).fit(X, y)
        actions["LightGBM, 300 trees"] = of_rows(leaves.predict)
        actions["LightGBM, 300 trees, its Booster"] = of_rows(
            partial(leaves.booster_.predict, num_threads=1)
        )
    return actions


def one_row(rounds, others):
    """Percentiles of the seconds of each action, timed in turn."""
    actions = one_row_actions(others)
    rows, _ = problem(500, COLUMNS, seed=1)
    single = rows.astype(np.float32)
    seconds = {name: [] for name in actions}
    for turn in range(rounds):
        for name, action in actions.items():
            of_action = single if name.endswith("Gaussian, bare NumPy") else rows
            action(of_action[turn % len(rows)])  # not counted, as its data are not in the cache
            for i in range(IN_A_ROW):
                x = of_action[(turn * IN_A_ROW + i) % len(rows)]
                began = time.perf_counter()
                action(x)
                seconds[name].append(time.perf_counter() - began)
    return {name: percentiles(some) for name, some in seconds.items()}


def percentiles(seconds):
    p50, p99 = np.percentile(seconds, [50, 99]).tolist()
    return {"p50": p50, "p99": p99}


class RowByRow:
    """A learner of ours, which predicts and learns one row at a time."""

    def __init__(self, X, y, **options):
        self.model = KitchenSinksClassifier(
            Gaussian(3.0), STREAM_NEURONS, random_state=0, n_jobs=1, **options
        ).partial_fit(X, y)

    def __call__(self, X, y):
        found = []
        for i in range(len(y)):
            found.append(self.model.predict(X[i : i + 1])[0])
            self.model.partial_fit(X[i : i + 1], y[i : i + 1])
        return found


class Together(RowByRow):
    """The same, which predicts each row before it learns it, 50 in a call."""

    def __call__(self, X, y):
        return self.model.predict_then_learn(X, y)


class OfRiver:
    """A learner in River's interface."""

    def __init__(self, X, y, learner):
        self.learner = learner
        self(X, y)

    def __call__(self, X, y):
        found = []
        for x, label in zip(X.tolist(), y.tolist(), strict=True):
            row = dict(enumerate(x))
            found.append(self.learner.predict_one(row))
            self.learner.learn_one(row, label)
        return found


def of_river():
    """Return learners of River, and ours in its interface, by name."""
    from river import compose, forest, linear_model, preprocessing

    from trickless.river import RiverClassifier

    def scaled(model):
        return compose.Pipeline(preprocessing.StandardScaler(), model)

    return {
        "`trickless.river`, 500 neurons": RiverClassifier(500, seed=0),
        "`trickless.river`, 96 neurons": RiverClassifier(seed=0),
        "River, logistic regression": scaled(linear_model.LogisticRegression()),
        "River, ALMA": scaled(linear_model.ALMAClassifier()),
        "River, adaptive random forest": forest.ARFClassifier(seed=0),
    }


def streams(chunks, others):
    """Percentiles of the seconds of a row that is predicted and learned, and the accuracy."""
    X, f = problem(FIRST + chunks * TOGETHER, STREAM_COLUMNS, seed=2)
    y = f > np.median(f)
    first = X[:FIRST], y[:FIRST]
    makers = {
        "Kitchen Sinks, `predict` and `partial_fit`": partial(RowByRow, half_life=1000.0),
        "Kitchen Sinks, `predict_then_learn`": partial(Together, half_life=1000.0),
    }
    if others["river"]:
        makers |= {name: partial(OfRiver, learner=each) for name, each in of_river().items()}
    learners = {name: make(*first) for name, make in makers.items()}
    seconds, hits = ({name: [] for name in learners} for _ in range(2))
    for start in range(FIRST, len(y), TOGETHER):
        part = slice(start, start + TOGETHER)
        for name, learner in learners.items():
            began = time.process_time()
            found = learner(X[part], y[part])
            if start > FIRST:  # as some solve for the coefficients first
                seconds[name].append((time.process_time() - began) / TOGETHER)
                hits[name].append(np.mean(np.asarray(found) == y[part]))
    return {
        name: percentiles(some) | {"accuracy": float(np.mean(hits[name]))}
        for name, some in seconds.items()
    }


def main():
    quick = "--quick" in sys.argv[1:]
    gc.collect()
    gc.disable()
    others = versions()
    rows = one_row(QUICK_ROUNDS if quick else ROUNDS, others)
    for name, each in rows.items():
        print(f"{name:<52}{1e6 * each['p50']:>10.1f} µs{1e6 * each['p99']:>10.1f} µs", flush=True)
    gc.enable()
    found = streams(QUICK_CHUNKS if quick else CHUNKS, others)
    for name, each in found.items():
        print(f"{name:<52}{1 / each['p50']:>10,.0f} rows/s {each['accuracy']:>8.3f}")
    result = {
        "circumstances": circumstances(),
        "others": others,
        "quick": quick,
        "busy": "--busy" in sys.argv[1:],
        "calls": IN_A_ROW * (QUICK_ROUNDS if quick else ROUNDS),
        "rows": rows,
        "streams": found,
    }
    PATH.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()

"""Streams, row by row: ours beside River's learners, and beside repeating the last answer.

Each row is predicted before it is learned. The score is the accuracy, or the mean absolute error
for numbers. Every learner has its defaults, and the scaler that its documentation shows. Rows a
second count predicting and learning, in seconds of the processor. Memory is the size of the pickled
model after the last row.

River's learners do not read datetimes: they get their timestamp, month, day of the week and hour as
numbers. scikit-learn's is told all classes and the names of all features beforehand.

Data are those that River ships, and four sets that scikit-multiflow ships. Shuttle and moving
squares are cut after 20,000 rows.

Run as ``make bench-streams``, in about 20 minutes. It writes ``benchmarks/results/streams.json``
after each run, and continues there if it is interrupted. ``--data "Elec2;Weather"`` and
``--methods "ours;ALMA"`` run only these, and ``--again`` runs them although they are stored.
``--rows 2000 --out try.json`` is a try with the first rows.
"""

from __future__ import annotations

import argparse
import datetime
import json
import pickle
import tarfile
import time
from collections.abc import Callable
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from river import datasets, dummy, ensemble, forest, linear_model, multiclass, preprocessing, tree
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

import data
from circumstances import circumstances
from trickless._arrays.threads import linear_algebra
from trickless.river import RiverClassifier, RiverRegressor

PATH = Path(__file__).parent / "results" / "streams.json"
SEED, LONGEST = 1, 20_000
Row = tuple[dict, Any]


def shipped_by_multiflow(name: str, most: int | None = None) -> list[Row]:
    """Rows of a table of numbers in scikit-multiflow, whose last column is the class."""
    member = f"scikit-multiflow-0.4.1/src/skmultiflow/data/datasets/{name}.csv"
    with tarfile.open(data.fetched(data.MULTIFLOW)) as archive:
        file = archive.extractfile(member)
        next(file)
        table = np.loadtxt(file, delimiter=",", max_rows=most)
    names = [f"x{j}" for j in range(table.shape[1] - 1)]
    two = len(np.unique(table[:, -1])) == 2
    as_label: Callable[[float], Any] = bool if two else int
    return [(dict(zip(names, row[:-1], strict=True)), as_label(row[-1])) for row in table.tolist()]


def shipped_by_river(name: str, most: int | None = None) -> list[Row]:
    """Rows of a set in River's wheel."""
    rows = list(islice(iter(getattr(datasets, name)()), most))
    if {y for _, y in rows} == {0, 1}:
        return [(x, bool(y)) for x, y in rows]
    return rows


CLASSES: dict[str, Callable[[], list[Row]]] = {
    "Bananas": lambda: shipped_by_river("Bananas"),
    "Phishing": lambda: shipped_by_river("Phishing"),
    "Image segments": lambda: shipped_by_river("ImageSegments"),
    "Shuttle": lambda: shipped_by_river("Shuttle", LONGEST),
    "Elec2": lambda: shipped_by_multiflow("elec"),
    "SEA": lambda: shipped_by_multiflow("sea_stream"),
    "Weather": lambda: shipped_by_multiflow("weather"),
    "Moving squares": lambda: shipped_by_multiflow("moving_squares", LONGEST),
}
NUMBERS: dict[str, Callable[[], list[Row]]] = {
    "Trump approval": lambda: shipped_by_river("TrumpApproval"),
    "Chick weights": lambda: shipped_by_river("ChickWeights"),
    "Water flow": lambda: shipped_by_river("WaterFlow"),
    "Airline passengers": lambda: shipped_by_river("AirlinePassengers"),
    "S&P 500": lambda: shipped_by_river("SP500Stocks"),
}


def in_numbers(x: dict) -> dict:
    """The same row with numbers instead of datetimes."""
    row = {}
    for name, value in x.items():
        if isinstance(value, datetime.datetime):
            row[f"{name} time"] = value.timestamp()
            row |= {f"{name} {part}": getattr(value, part) for part in ("month", "hour")}
            row[f"{name} weekday"] = value.weekday()
        else:
            row[name] = value
    return row


class LastNumber:
    """The last target."""

    last = 0.0

    def predict_one(self, x: dict) -> float:
        return self.last

    def learn_one(self, x: dict, y: float) -> None:
        self.last = y


class RandomCosines:
    """Pipeline of scikit-learn, which is told names and classes beforehand."""

    def __init__(self, rows: list[Row]) -> None:
        self.names, self.classes = list(rows[0][0]), sorted({y for _, y in rows})
        self.scaler = StandardScaler()
        self.sampler = RBFSampler(gamma=1 / len(self.names), random_state=SEED)
        self.sampler.fit(np.zeros((1, len(self.names))))
        self.model = SGDClassifier(loss="log_loss", random_state=SEED)
        self.begun = False

    def row(self, x: dict) -> np.ndarray:
        return np.array([[x[name] for name in self.names]], float)

    def predict_one(self, x: dict) -> Any:
        if not self.begun:
            return None
        return self.model.predict(self.sampler.transform(self.scaler.transform(self.row(x))))[0]

    def learn_one(self, x: dict, y: Any) -> None:
        row = self.row(x)
        Z = self.sampler.transform(self.scaler.partial_fit(row).transform(row))
        self.model.partial_fit(Z, [y], classes=self.classes)
        self.begun = True


def alma(rows: list[Row]) -> Any:
    model = linear_model.ALMAClassifier()
    if len({y for _, y in rows}) > 2:
        model = multiclass.OneVsRestClassifier(model)
    return preprocessing.StandardScaler() | model


def bagging(rows: list[Row]) -> Any:
    return ensemble.LeveragingBaggingClassifier(tree.HoeffdingTreeClassifier(), seed=SEED)


def minmax(model: Any) -> Any:
    return preprocessing.MinMaxScaler() | model


def scaled(model: Any) -> Any:
    return preprocessing.StandardScaler() | model


OURS, LAST = "ours", "last answer"
CLASSIFIERS: dict[str, Callable[[list[Row]], Any]] = {
    OURS: lambda rows: RiverClassifier(seed=SEED),
    LAST: lambda rows: dummy.NoChangeClassifier(),
    "ARF": lambda rows: forest.ARFClassifier(seed=SEED),
    "SRP": lambda rows: ensemble.SRPClassifier(seed=SEED),
    "Leveraging Bagging": bagging,
    "AMF": lambda rows: minmax(forest.AMFClassifier(seed=SEED)),
    "ALMA": alma,
    "RBFSampler, SGD": RandomCosines,
}
REGRESSORS: dict[str, Callable[[list[Row]], Any]] = {
    OURS: lambda rows: RiverRegressor(seed=SEED),
    LAST: lambda rows: LastNumber(),
    "ARF": lambda rows: scaled(forest.ARFRegressor(seed=SEED)),
    "SRP": lambda rows: scaled(ensemble.SRPRegressor(seed=SEED)),
    "AMF": lambda rows: minmax(forest.AMFRegressor(seed=SEED)),
    "Hoeffding": lambda rows: scaled(tree.HoeffdingAdaptiveTreeRegressor(seed=SEED)),
    "linear": lambda rows: scaled(linear_model.LinearRegression()),
}


def run(rows: list[Row], model: Any, numeric: bool) -> dict[str, float]:
    """Predict and learn each row. Targets that no learner could predict yet count as 0, or wrong.

    Returns
    -------
    dict
        Score, rows a second of the processor, and bytes of the model.
    """
    losses = 0.0
    start = time.process_time()
    for x, y in rows:
        said = model.predict_one(x)
        losses += abs((said or 0.0) - y) if numeric else said != y
        model.learn_one(x, y)
    seconds = time.process_time() - start
    score = losses / len(rows)
    return {
        "score": score if numeric else 1 - score,
        "rows_per_second": len(rows) / seconds,
        "bytes": len(pickle.dumps(model)),
    }


def listed(text: str | None, every: list[str]) -> list[str]:
    """Names that semicolons separate, or all."""
    names = text.split(";") if text else every
    if wrong := set(names) - set(every):
        raise SystemExit(f"none of {', '.join(every)}: {', '.join(sorted(wrong))}")
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", help="names separated by semicolons")
    parser.add_argument("--methods", help="names separated by semicolons")
    parser.add_argument("--rows", type=int, help="only the first rows of each set")
    parser.add_argument("--again", action="store_true", help="run what is stored as well")
    parser.add_argument("--out", type=Path, default=PATH, help="the JSON file to write")
    args = parser.parse_args()
    if args.rows and args.out == PATH:
        parser.error("--rows is for tries: name another file with --out")
    report = json.loads(args.out.read_text()) if args.out.exists() else {"data": {}}
    report["circumstances"] = circumstances()
    report["circumstances"]["packages"]["river"] = version("river")
    methods = listed(args.methods, list(dict.fromkeys([*CLASSIFIERS, *REGRESSORS])))
    for name in listed(args.data, [*CLASSES, *NUMBERS]):
        numeric = name in NUMBERS
        makers = REGRESSORS if numeric else CLASSIFIERS
        entry = report["data"].setdefault(name, {"numeric": numeric, "methods": {}})
        missing = [m for m in makers if m in methods and (args.again or m not in entry["methods"])]
        rows = ((NUMBERS if numeric else CLASSES)[name]() if missing else [])[: args.rows]
        for method in missing:
            theirs = rows if method == OURS else [(in_numbers(x), y) for x, y in rows]
            with linear_algebra(1):
                entry["methods"][method] = run(theirs, makers[method](theirs), numeric)
            entry["rows"] = len(rows)
            print(f"{name:<20}{method:<20}{json.dumps(entry['methods'][method])}", flush=True)
            args.out.write_text(json.dumps(report, indent=1) + "\n")
    print(f"wrote {args.out}")


if __name__ == "__main__":
    main()

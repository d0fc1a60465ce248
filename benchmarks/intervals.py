"""How often prediction intervals hold new targets, how wide they are, and how long they take.

Each split draws ``TRAIN`` rows to learn from, and predicts up to ``TEST`` others, at 90 %. The
tables are scikit-learn's diabetes and small tables of numbers. Two are simulated: Friedman's first
function with errors of Student's t with two degrees of freedom, and with errors that grow along a
feature. Inputs are standardised.

- Kitchen Sinks leaves rows out (jackknife+, full), or takes errors to be normal. All three have the
  same fit, whose seconds count for each.
- Trees are boosted trees, at most 200, and the errors at held-out rows.
- MAPIE (CV+, ten folds) and crepes (a quarter of the rows apart) are around the same Kitchen Sinks,
  so that they differ in the intervals only.
- HistGradientBoosting fits the quantiles of 5 and 95 %, and a Gaussian process maximises the
  likelihood of a length scale and the noise.

Slow methods take one split of a few (``EVERY``). All run on one thread.

Widths are in standard deviations of the targets, and so is the CRPS, which is estimated from
intervals of 30, 60 and 90 %. Seconds are those of a fit and the intervals of 90 %.
Splits of one table share
rows, so their standard errors are for the table, and not for tables like it.

Run as ``make bench-intervals``; writes ``benchmarks/results/intervals.json``. With ``--splits 4``
it is a trial of a minute.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from crepes import WrapRegressor
from mapie.regression import CrossConformalRegressor
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from threadpoolctl import threadpool_limits

import small_data
from circumstances import circumstances
from trickless import BoostedTreesRegressor, KitchenSinksRegressor

TRAIN, TEST, LEVEL = 200, 200, 0.9
TABLES = "diabetes", "airfoil", "autoMPG6", "ele-1", "laser", "yacht"
SIMULATED = "heavy tails", "unequal noise"
#: Levels of the intervals that stand for the whole predicted distribution; the last is ``LEVEL``.
LEVELS = [0.3, 0.6, 0.9]

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
#: Gives the intervals of a level.
At = Callable[[float], np.ndarray]


def kitchen_sinks(seed: int) -> KitchenSinksRegressor:
    return KitchenSinksRegressor(n_neurons=300, random_state=seed, n_jobs=1)


def trees(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, seed: int) -> At:
    model = BoostedTreesRegressor(200, random_state=seed, n_jobs=1).fit(X, y)
    return lambda level: model.predict_interval(X_test, level)


def mapie(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, seed: int) -> At:
    model = CrossConformalRegressor(
        kitchen_sinks(seed), confidence_level=LEVELS, method="plus", cv=10
    )
    ends = model.fit_conformalize(X, y).predict_interval(X_test)[1]
    return lambda level: ends[:, :, LEVELS.index(level)]


def crepes(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, seed: int) -> At:
    n = 3 * len(X) // 4
    model = WrapRegressor(kitchen_sinks(seed).fit(X[:n], y[:n]))
    model.calibrate(X[n:], y[n:])
    return lambda level: model.predict_int(X_test, confidence=level)


def boosting(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, seed: int) -> At:
    def quantile(q: float) -> np.ndarray:
        model = HistGradientBoostingRegressor(loss="quantile", quantile=q, random_state=seed)
        return model.fit(X, y).predict(X_test)

    return lambda level: np.stack([quantile(0.5 - level / 2), quantile(0.5 + level / 2)], axis=1)


def gaussian_process(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, seed: int) -> At:
    kernel = ConstantKernel() * RBF(X.shape[1] ** 0.5) + WhiteKernel()
    model = GaussianProcessRegressor(kernel, normalize_y=True).fit(X, y)
    mean, std = model.predict(X_test, return_std=True)

    def ends(level: float) -> np.ndarray:
        far = NormalDist().inv_cdf(0.5 + level / 2) * std
        return np.stack([mean - far, mean + far], axis=1)

    return ends


#: Methods of Kitchen Sinks, and the other methods with how many splits they take one of.
LEFT_OUT = {
    "Kitchen Sinks, jackknife+": "jackknife+",
    "Kitchen Sinks, full": "full",
    "Kitchen Sinks, Gaussian": "gaussian",
}
EVERY = {
    "trees, held-out": (trees, 1),
    "MAPIE, CV+": (mapie, 5),
    "crepes, split": (crepes, 1),
    "HistGradientBoosting, quantiles": (boosting, 5),
    "Gaussian process": (gaussian_process, 5),
}


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return all rows of a table, with numbers only."""
    if name == "diabetes":
        return load_diabetes(return_X_y=True)
    table = small_data.load(name)
    return table.X.select_dtypes("number").to_numpy(float), table.y


def simulated(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return new rows."""
    rng = np.random.default_rng(seed)
    X, y = make_friedman1(TRAIN + TEST, random_state=seed)
    if name == "heavy tails":
        return X, y + rng.standard_t(2, len(y))
    return X, y + 4 * X[:, 5] * rng.standard_normal(len(y))


def split_of(X: np.ndarray, y: np.ndarray, seed: int) -> Split:
    """Return standardised rows to learn from and to predict."""
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:TRAIN], order[TRAIN : TRAIN + TEST]
    mean, std = X[train].mean(axis=0), X[train].std(axis=0)
    X = (X - mean) / np.where(std > 0, std, 1)
    return X[train], y[train], X[test], y[test]


def measured(split: Split, seed: int) -> Iterator[tuple[str, list[float]]]:
    """Yield each method with the share inside, the width, the score and seconds on a split."""
    X, y, X_test, y_test = split

    def judged(at: At, ends: np.ndarray, seconds: float) -> list[float]:
        low, high = ends.T
        inside = (low <= y_test) & (y_test <= high)
        width = np.mean(high - low) / np.std(y)
        return [inside.mean(), width, crps(at, ends, y_test) / np.std(y), seconds]

    start = time.perf_counter()
    model = kitchen_sinks(seed).fit(X, y)
    fit = time.perf_counter() - start
    for name, method in LEFT_OUT.items():

        def at(level: float, method: str = method) -> np.ndarray:
            return model.predict_interval(X_test, level, method)

        start = time.perf_counter()
        ends = at(LEVEL)
        yield name, judged(at, ends, fit + time.perf_counter() - start)
    for name, (intervals, every) in EVERY.items():
        if seed % every == 0:
            start = time.perf_counter()
            found = intervals(X, y, X_test, seed)
            ends = found(LEVEL)
            yield name, judged(found, ends, time.perf_counter() - start)


def crps(at: At, ends: np.ndarray, y: np.ndarray) -> float:
    """Return the weighted interval score: the mean pinball loss of all ends, times two.

    It approaches the CRPS as levels are added (Bracher, Ray, Gneiting & Reich, PLoS Computational
    Biology 17(2), 2021, eq. 1 and 2).
    """
    losses = []
    for level in LEVELS:
        low, high = (ends if level == LEVEL else at(level)).T
        for q, end in ((0.5 - level / 2, low), (0.5 + level / 2, high)):
            losses.append(2 * np.mean(np.maximum(q * (y - end), (q - 1) * (y - end))))
    return float(np.mean(losses))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of convergence
    threadpool_limits(1)
    runs = []
    for name in (*TABLES, *SIMULATED):
        rows = None if name in SIMULATED else read(name)
        found: dict[str, list[list[float]]] = {method: [] for method in (*LEFT_OUT, *EVERY)}
        for seed in range(options.splits):
            split = split_of(*(simulated(name, seed) if rows is None else rows), seed)
            for method, values in measured(split, seed):
                found[method].append(values)
        for method, each in found.items():
            share, width, score, seconds = np.transpose(each)
            error = share.std(ddof=1) / len(share) ** 0.5 if len(share) > 1 else 0.0
            run: dict[str, Any] = {
                "data": name,
                "method": method,
                "splits": len(share),
                "coverage": float(share.mean()),
                "error": float(error),
                "width": float(width.mean()),
                "crps": float(score.mean()),
                "seconds": float(np.median(seconds)),
            }
            runs.append(run)
            print(json.dumps(run), flush=True)
    about = circumstances()
    about["packages"] |= {name: version(name) for name in ("mapie", "crepes")}
    report = {
        "circumstances": about,
        "level": LEVEL,
        "train": TRAIN,
        "quick": options.splits < 200,
        "runs": runs,
    }
    path = options.out or Path(__file__).parent / "results" / "intervals.json"
    path.write_text(json.dumps(report, indent=1) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()

"""Seconds and errors along the number of rows, from 50 on, with nothing set.

1. Friedman's function of ten columns, of which five matter, with noise of variance 1. Kitchen Sinks
   by default, and with the length scales of ``"evidence"``, beside what scikit-learn's users take:
   1,000 random Fourier features and ``RidgeCV``, ``KernelRidge``, ``Nystroem`` with ``RidgeCV``, a
   Gaussian process with a length scale for each column, and ``HistGradientBoostingRegressor``.
   Errors are 1 - R² against the function without noise on 2,000 other rows, means over seeds.
   Seconds are medians of CPU seconds, where methods take turns. All columns are standardised.
2. On 600 rows, errors and deviations beside those of the Gaussian process: the root mean square
   error over the standard deviation of the function, and the mean of |z| of left-out targets, which
   is 0.798 where standard deviations are right.

Run as ``make bench-few-rows``; writes ``benchmarks/results/few_rows.json`` and ``few_rows.png``.
``--draw`` draws the stored result.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from circumstances import circumstances
from pictures import BLACK, BLUE, GREEN, ORANGE, PINK, RED, SKY, panels, redraw
from trickless import KitchenSinksRegressor
from trickless.neurons import Gaussian

PATH = Path(__file__).parent / "results" / "few_rows.json"
ROWS = 50, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000
FEATURES, NEW, NOISE, SEEDS, COLUMNS = 10, 2000, 1.0, 3, 1000
ALPHAS = np.logspace(-4, 3, 20)


def process():
    kernel = ConstantKernel(1.0, (1e-3, 1e5)) * RBF(np.full(FEATURES, 3.0), (1e-2, 1e5))
    return GaussianProcessRegressor(kernel + WhiteKernel(0.1, (1e-6, 1e2)), normalize_y=True)


#: What makes a model from a seed, the most rows that it gets, and its colour.
METHODS = {
    "Kitchen Sinks": (lambda s: KitchenSinksRegressor(random_state=s), np.inf, RED),
    "Kitchen Sinks, evidence": (
        lambda s: KitchenSinksRegressor(Gaussian("evidence"), random_state=s),
        3000,
        ORANGE,
    ),
    "RBFSampler + RidgeCV": (
        lambda s: make_pipeline(
            RBFSampler(gamma="scale", n_components=COLUMNS, random_state=s), RidgeCV(ALPHAS)
        ),
        np.inf,
        BLUE,
    ),
    "Nystroem + RidgeCV": (
        lambda s: make_pipeline(Nystroem(n_components=300, random_state=s), RidgeCV(ALPHAS)),
        np.inf,
        SKY,
    ),
    "KernelRidge": (lambda s: KernelRidge(kernel="rbf"), 10_000, GREEN),
    "Gaussian process": (lambda s: process(), 1000, BLACK),
    "HistGradientBoosting": (
        lambda s: HistGradientBoostingRegressor(random_state=s),
        np.inf,
        PINK,
    ),
}


def rows(n, seed):
    """Rows with noise, and others with the function itself."""
    X, f = make_friedman1(n + NEW, FEATURES, random_state=seed)
    y = f + NOISE * np.random.default_rng(seed).standard_normal(n + NEW)
    return X[:n], y[:n], X[n:], y[n:], f[n:]


def along_rows(sizes):
    lines = []
    for n in sizes:
        found = {name: [] for name, (_, most, _) in METHODS.items() if n <= most}
        for seed in range(SEEDS if n <= 30_000 else 1):
            X, y, X_new, _, f = rows(n, seed)
            for name, runs in found.items():
                model = make_pipeline(StandardScaler(), METHODS[name][0](seed))
                start = time.process_time()
                model.fit(X, y)
                seconds = time.process_time() - start
                runs.append((seconds, np.mean((model.predict(X_new) - f) ** 2) / np.var(f)))
        for name, runs in found.items():
            seconds, errors = np.transpose(runs)
            line = {"rows": n, "method": name, "seconds": float(np.median(seconds))}
            lines.append(line | {"error": float(errors.mean()), "errors": errors.tolist()})
            print(json.dumps(lines[-1]), flush=True)
    return lines


def beside_exact(n=600):
    """Errors and standard deviations beside those of an exact process, for several seeds."""
    found = {name: [] for name in ("Gaussian process", "Kitchen Sinks", "Kitchen Sinks, evidence")}
    for seed in range(2 * SEEDS):
        X, y, X_new, y_new, f = rows(n, seed)
        for name, runs in found.items():
            scaler, model = StandardScaler().fit(X), METHODS[name][0](seed)
            start = time.process_time()
            model.fit(scaler.transform(X), y)
            seconds = time.process_time() - start
            mean, std = model.predict(scaler.transform(X_new), return_std=True)
            error = np.sqrt(np.mean((mean - f) ** 2)) / f.std()
            runs.append((error, np.mean(np.abs(y_new - mean) / std), seconds))
    lines = []
    for name, runs in found.items():
        error, z, seconds = np.mean(runs, axis=0)
        lines.append({"method": name, "error": error, "z": z, "seconds": seconds})
        print(json.dumps(lines[-1]), flush=True)
    return {"rows": n, "seeds": 2 * SEEDS, "lines": lines}


def draw(result):
    figure, axes = panels(2, 2, 3.6)
    for name, (_, _, colour) in METHODS.items():
        lines = [line for line in result["along_rows"] if line["method"] == name]
        for axis, key in zip(axes, ("seconds", "error"), strict=True):
            at = [line["rows"] for line in lines], [line[key] for line in lines]
            axis.loglog(*at, marker="o", markersize=3, color=colour, label=name)
    for axis, title in zip(axes, ("CPU seconds of the fit", "Error, 1 − R²"), strict=True):
        axis.set(xlabel="rows", title=title)
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", action="store_true", help="draw the stored result")
    parser.add_argument("--rows", type=int, default=ROWS[-1], help="the most rows")
    options = parser.parse_args()
    if not options.draw:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")  # of length scales at their bounds
            rows_of_each = [n for n in ROWS if n <= options.rows]
            result = {"circumstances": circumstances(), "along_rows": along_rows(rows_of_each)}
            result["exact"] = beside_exact()
        PATH.write_text(json.dumps(result, indent=1) + "\n")
        print(f"wrote {PATH}")
    redraw(draw, PATH)


if __name__ == "__main__":
    main()

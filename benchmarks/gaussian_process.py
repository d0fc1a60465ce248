"""A Gaussian process on a million rows, and beside the exact one on few rows.

1. Rows come from a generator, 20,000 at a time, into ``partial_fit``, so that memory is bounded.
   Then the model is solved with ``alpha="evidence"``, and gives its likelihood, error bars of
   10,000 new rows, and 100 functions drawn from the posterior. It has a process of its own.
2. scikit-learn's ``GaussianProcessRegressor`` with the same kernel, prior and noise, on up to 4,000
   rows: the root mean square difference of means and standard deviations, in units of the standard
   deviation of the noise, for several seeds of the neurons, and how much it differs between seeds.

Run as ``make bench-gaussian-process``; writes ``benchmarks/results/gaussian_process.json``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from circumstances import circumstances
from measurement import resident_mib
from trickless import KitchenSinksRegressor
from trickless.neurons import Gaussian

PATH = Path(__file__).parent / "results" / "gaussian_process.json"
ROWS, BATCH, NEW, FEATURES = 1_000_000, 20_000, 10_000, 8
NEURONS, NOISE, LENGTH, FUNCTIONS = 1000, 0.5, 2.5, 100
EXACT, EXACT_NEURONS, SEEDS = (1000, 4000), (250, 1000), 3
LEVEL = 0.9


def batch(rng, n=BATCH, noise=NOISE):
    """Rows, and a smooth function of them with noise."""
    X = rng.standard_normal((n, FEATURES), dtype=np.float32)
    y = np.sin(X[:, 0]) + np.tanh(X[:, 1] * X[:, 2] / 2) + np.cos(X[:, 3:].sum(axis=1) / 2)
    return X, y + noise * rng.standard_normal(n)


def million(n_rows):
    """Seconds of each step, and the resident memory after it, as lines of JSON."""
    rng = np.random.default_rng(0)
    model = KitchenSinksRegressor(Gaussian(LENGTH), NEURONS, alpha="evidence", random_state=0)

    def step(name, work, **more):
        start = time.perf_counter()
        value = work()
        seconds = time.perf_counter() - start
        line = {"step": name, "seconds": seconds, "resident_mib": resident_mib()}
        return value, line | {key: float(f(value)) for key, f in more.items()}

    learned, most = 0.0, 0.0
    for _ in range(n_rows // BATCH):
        rows = batch(rng)
        start = time.perf_counter()
        model.partial_fit(*rows)
        learned += time.perf_counter() - start
        most = max(most, resident_mib())
    lines = [{"step": "fit", "seconds": learned, "resident_mib": most}]
    _, solved = step("solve by evidence", lambda: model.alpha_, alpha=float)
    X, y = batch(rng, NEW)
    truth = batch(np.random.default_rng(1), NEW, noise=0.0)
    _, likely = step("likelihood", lambda: model.log_marginal_likelihood_, likelihood=float)
    (mean, std), bars = step("error bars", lambda: model.predict(X, return_std=True))
    within = np.abs(y - mean) < norm.ppf(0.5 + LEVEL / 2) * std
    bars["within"] = float(within.mean())
    bars["noise_variance"] = model.noise_variance_
    functions, drawn = step("functions", lambda: model.sample_y(truth[0], FUNCTIONS))
    drawn["spread"] = float(functions.std(axis=1).mean())
    drawn["error"] = float(np.sqrt(np.mean((model.predict(truth[0]) - truth[1]) ** 2)))
    for line in (*lines, solved, likely, bars, drawn):
        print(json.dumps(line), flush=True)


def in_a_process_of_its_own(n_rows):
    arguments = [sys.executable, __file__, "--million", str(n_rows)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        lines = [json.loads(line) for line in process.stdout]
    if process.returncode:
        sys.exit(process.returncode)
    return lines


def beside_exact(n):
    """Differences from the exact process on n rows, and seconds."""
    rng = np.random.default_rng(2)
    (X, y), (X_new, _), alpha = batch(rng, n), batch(rng, 1000), 1e-3
    prior, start = NOISE**2 / (n * alpha), time.perf_counter()
    kernel = ConstantKernel(prior) * RBF(LENGTH) + WhiteKernel(NOISE**2)
    exact = GaussianProcessRegressor(kernel, optimizer=None, alpha=0).fit(X, y)
    mean, std = exact.predict(X_new, return_std=True)
    result = {"rows": n, "exact_seconds": time.perf_counter() - start, "ours": []}
    for n_neurons in EXACT_NEURONS:
        runs, start = [], time.perf_counter()
        for seed in range(SEEDS):
            model = KitchenSinksRegressor(
                Gaussian(LENGTH), n_neurons, alpha=alpha, fit_intercept=False, random_state=seed
            ).fit(X, y)
            ours, bars = model.predict(X_new, return_std=True)
            bars = bars * NOISE / model.noise_variance_**0.5  # for the same noise
            off = [np.sqrt(np.mean(d**2)) for d in (ours - mean, bars - std)]
            runs.append(off)
        means, spread = np.mean(runs, axis=0) / NOISE, np.std(runs, axis=0, ddof=1) / NOISE
        result["ours"].append(
            {
                "neurons": n_neurons,
                "seconds": (time.perf_counter() - start) / SEEDS,
                "mean": float(means[0]),
                "mean_between_seeds": float(spread[0]),
                "std": float(means[1]),
                "std_between_seeds": float(spread[1]),
            }
        )
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="rows of the stream")
    parser.add_argument("--million", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.million:
        million(options.million)
        return
    result = {
        "circumstances": circumstances(),
        "rows": options.rows,
        "neurons": NEURONS,
        "noise_variance": NOISE**2,
        "functions": FUNCTIONS,
        "new_rows": NEW,
        "seeds": SEEDS,
        "level": LEVEL,
        "million": in_a_process_of_its_own(options.rows),
    }
    print(json.dumps(result["million"], indent=1), flush=True)
    result["exact"] = [beside_exact(n) for n in EXACT]
    print(json.dumps(result["exact"], indent=1), flush=True)
    PATH.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()

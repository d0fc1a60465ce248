"""Bayesian optimisation with Kitchen Sinks, beside a Gaussian process with the same acquisition.

1. Branin's function of 2 variables and Hartmann's of 6 are minimised from random rows. At each step
   a model is fitted to all rows so far, with a length scale for each variable, and the next row is
   the candidate with the least mean minus two standard deviations of the function. Kitchen Sinks
   also minimises one function that is drawn from the posterior, by its gradient. The simple regret
   is the least value so far minus the minimum of the function, over several seeds.
2. The milliseconds of one round without a choice of length scales, at 100 rows: ``partial_fit`` of
   a row, means and standard deviations of 1,000 candidates, and a sample at these. The least of
   some rounds counts, on one thread.

Run as ``make bench-bayesian-optimisation``; writes
``benchmarks/results/bayesian_optimisation.json``.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from threadpoolctl import threadpool_limits

from circumstances import circumstances
from trickless import KitchenSinksRegressor
from trickless.neurons import Gaussian

PATH = Path(__file__).parent / "results" / "bayesian_optimisation.json"
SEEDS, NEURONS, SPREAD, CANDIDATES, NEAR = 20, 1000, 2.0, 1000, 500
ROUND_NEURONS, ROUND_ROWS, ROUNDS = (250, 500, 1000), 100, 30

# Dixon and Szegö (1978), on the unit square and the unit cube.
HARTMANN = (
    np.array([1.0, 1.2, 3.0, 3.2]),
    np.array(
        [
            [10, 3, 17, 3.5, 1.7, 8],
            [0.05, 10, 17, 0.1, 8, 14],
            [3, 3.5, 1.7, 10, 17, 8],
            [17, 8, 0.05, 10, 0.1, 14],
        ]
    ),
    1e-4
    * np.array(
        [
            [1312, 1696, 5569, 124, 8283, 5886],
            [2329, 4135, 8307, 3736, 1004, 9991],
            [2348, 1451, 3522, 2883, 3047, 6650],
            [4047, 8828, 8732, 5743, 1091, 381],
        ]
    ),
)


def branin(X):
    """Branin's function, less its minimum."""
    a, b = 15 * X[:, 0] - 5, 15 * X[:, 1]
    square = (b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6) ** 2
    return square + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10 - 0.39788735772973816


def hartmann(X):
    """Hartmann's function, less its minimum."""
    heights, widths, places = HARTMANN
    squares = np.einsum("kj,nkj->nk", widths, (X[:, None] - places) ** 2)
    return 3.32236801141551 - np.exp(-squares) @ heights


#: Functions, their variables, rows to begin with, and rows in the end.
PROBLEMS = {"Branin": (branin, 2, 8, 28), "Hartmann-6": (hartmann, 6, 20, 60)}


def kitchen_sinks(X, y, seed):
    model = KitchenSinksRegressor(
        Gaussian("evidence"), NEURONS, alpha="evidence", random_state=seed
    ).fit(X, y)
    return model, model.noise_variance_


def gaussian_process(X, y, seed):
    scales = RBF(np.full(X.shape[1], 0.5), (1e-2, 1e2))
    kernel = ConstantKernel() * scales + WhiteKernel(1e-3, (1e-8, 1.0))
    model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed).fit(X, y)
    return model, model.kernel_.k2.noise_level * y.var()


def by_bound(fitted, X, y, rng):
    """The candidate with the least mean minus some standard deviations of the function."""
    model, noise = fitted
    near = X[y.argmin()] + 0.05 * rng.standard_normal((NEAR, X.shape[1]))
    rows = np.vstack([rng.uniform(size=(CANDIDATES, X.shape[1])), np.clip(near, 0, 1)])
    mean, std = model.predict(rows, return_std=True)
    return rows[(mean - SPREAD * np.sqrt(np.maximum(std**2 - noise, 0))).argmin()]


def by_sample(fitted, X, y, rng):
    """The minimum of a function from the posterior, from the best of some candidates."""
    f = fitted[0].sample_function(int(rng.integers(2**31)))
    rows = np.vstack([rng.uniform(size=(CANDIDATES, X.shape[1])), X[y.argsort()[:5]]])
    ends = [
        minimize(
            lambda x: f(x[None])[0],
            start,
            jac=lambda x: f.gradient(x[None])[0],
            method="L-BFGS-B",
            bounds=[(0, 1)] * X.shape[1],
        )
        for start in rows[f(rows).argsort()[:3]]
    ]
    return min(ends, key=lambda end: end.fun).x


METHODS = {
    "Kitchen Sinks, bound": (kitchen_sinks, by_bound),
    "Kitchen Sinks, Thompson": (kitchen_sinks, by_sample),
    "Gaussian process, bound": (gaussian_process, by_bound),
}


def optimise(problem, method, seed):
    """The least value after each row, and the mean seconds of a fit and of a choice."""
    function, n_features, begin, end = PROBLEMS[problem]
    fit, choose = METHODS[method]
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(begin, n_features))
    y, fits, choices = function(X), 0.0, 0.0
    while len(y) < end:
        start = time.perf_counter()
        fitted = fit(X, y, seed)
        middle = time.perf_counter()
        x = choose(fitted, X, y, rng)
        fits, choices = fits + middle - start, choices + time.perf_counter() - middle
        X, y = np.vstack([X, x]), np.append(y, function(x[None]))
    return np.minimum.accumulate(y), fits / (end - begin), choices / (end - begin)


def of_seeds(problem, name, n_seeds):
    each = (optimise(problem, name, seed) for seed in range(n_seeds))
    values, fits, choices = zip(*each, strict=True)
    regrets = np.array(values)[:, -1]
    found = {
        "problem": problem,
        "method": name,
        "median": float(np.median(regrets)),
        "quartiles": np.quantile(regrets, [0.25, 0.75]).tolist(),
        "regrets": regrets.tolist(),
        "course": np.median(values, axis=0).tolist(),
        "fit_seconds": float(np.mean(fits)),
        "choice_seconds": float(np.mean(choices)),
    }
    print({key: value for key, value in found.items() if key not in ("regrets", "course")})
    return found


def round_of(n_neurons, alpha):
    """The least milliseconds of one thread for a row, 1,000 candidates and a sample."""
    rng, seconds = np.random.default_rng(0), []
    X, new = rng.uniform(size=(ROUND_ROWS, 6)), rng.uniform(size=(1000, 6))
    y = hartmann(X)
    model = KitchenSinksRegressor(Gaussian(0.5), n_neurons, alpha=alpha, random_state=0, n_jobs=1)
    for seed in range(ROUNDS):
        model.fit(X[1:], y[1:]).predict(new[:1], return_std=True)
        start = time.thread_time()
        model.partial_fit(X[:1], y[:1])
        model.predict(new, return_std=True)
        model.sample_y(new, 1, seed)
        seconds.append(time.thread_time() - start)
    found = {"neurons": n_neurons, "alpha": alpha, "milliseconds": 1e3 * min(seconds)}
    print(found)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # at the bounds of its parameters
    with threadpool_limits(1):
        rounds = [round_of(n, a) for n in ROUND_NEURONS for a in (1e-5, "evidence", "auto")]
        runs = [of_seeds(problem, name, options.seeds) for problem in PROBLEMS for name in METHODS]
    result = {
        "circumstances": circumstances(),
        "seeds": options.seeds,
        "neurons": NEURONS,
        "rows": {problem: each[2:] for problem, each in PROBLEMS.items()},
        "runs": runs,
        "round_rows": ROUND_ROWS,
        "rounds": rounds,
    }
    PATH.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()

"""Which estimate of ⟨f, Φ(x)⟩ reaches an error soonest, and whether "auto" knows.

For every kernel width, sign pattern of the coefficients, size of the support and number of rows,
each method gets as many neurons as it takes to reach the variance of full sums over 512 neurons;
activations and seconds to get there are compared. "auto" chooses for itself, with a pilot each time
that one is worth it (as ``Expansion.estimate`` does) and with a pilot's variances at hand (as in
the rounds of a learner, which measures them anew when the support has grown by a quarter).

Run as ``make bench-estimators``; writes ``benchmarks/results/estimators.json``.
"""

from __future__ import annotations

import json
import time
from itertools import product
from pathlib import Path

import numpy as np

from trickless import Expansion
from trickless._report import circumstances
from trickless.neurons import Gaussian

WIDTHS = (0.5, 4.0, 32.0)  # for standard normal inputs of 10 columns
SIGNS = ("one", "mixed", "learned")
SUPPORTS = (100, 1_000, 10_000)
ROWS = (1, 32, 1_024)
COLUMNS = 10
NEURONS = 512
MOST = 100_000  # a method that needs more neurons is timed with so many, and scaled
VARIANCE_RUNS = 48
TIMED_RUNS, SHORT_RUNS = 9, 45
SHORT = 0.03


def expansion(width, signs, t, rng):
    """A family, support points and coefficients of a sign pattern."""
    X = rng.standard_normal((t, COLUMNS)).astype("float32")
    neurons = Gaussian(width).fit(X, rng)
    size = rng.exponential(size=t) / t
    if signs == "learned":  # the sign of a function's residual varies with x
        alpha = size * np.sign(np.sin(X[:, 0]) + 0.5 * rng.standard_normal(t))
    else:
        alpha = size * (rng.choice([-1.0, 1.0], t) if signs == "mixed" else 1.0)
    return Expansion(neurons, X, alpha[:, None])


def variance(f, X, method, n, seed=0):
    """Variance of an estimate from n neurons over runs, mean over some rows."""
    runs = [f.freeze(n, method, seed * VARIANCE_RUNS + run)(X) for run in range(VARIANCE_RUNS)]
    return float(np.var(runs, axis=0, ddof=1).mean())


def neurons_for(f, X, method, target):
    """Neurons with which a method reaches a variance."""
    n = NEURONS
    for _ in range(3):  # the variance of strata does not fall exactly like 1/n
        tried = int(min(max(n, 16), MOST // 10))
        n = tried * variance(f, X, method, tried) / target
    return max(1, int(np.ceil(n)))


def seconds(actions):
    """Median seconds of each action, in turn; of more turns where it is short.

    What a long action leaves in the caches is no fault of the next one. So a short one is run
    twice, and its second run counts.
    """
    times = {name: [] for name in actions}
    for run in range(SHORT_RUNS + 1):
        for name, action in actions.items():
            if run > TIMED_RUNS and times[name][-1] > SHORT:
                continue
            for _ in range(2):
                start = time.perf_counter()
                action(run)
                elapsed = time.perf_counter() - start
                if elapsed > SHORT:
                    break
            times[name].append(elapsed)
    return {name: float(np.median(values[1:])) for name, values in times.items()}


def cell(width, signs, t, n_rows):
    """One line of the table."""
    rng = np.random.default_rng(0)
    f = expansion(width, signs, t, rng)
    X = rng.standard_normal((n_rows, COLUMNS)).astype("float32")
    several = rng.standard_normal((64, COLUMNS)).astype("float32")
    target = variance(f, several, "full", NEURONS, seed=1)
    needed = {"full": NEURONS} | {
        method: neurons_for(f, several, method, target) for method in ("index", "stratified")
    }
    timed = {method: min(n, MOST) for method, n in needed.items()}
    at_hand = f.variances(X, np.random.default_rng(1))
    choice, n_auto = f.cheapest(NEURONS, n_rows, at_hand)
    times = seconds(
        {
            method: lambda run, n=n, method=method: f.estimate(X, n, method, run)
            for method, n in timed.items()
        }
        | {
            "auto": lambda run: f.estimate(X, NEURONS, "auto", run),
            "auto, measured": lambda run: f.estimate(X, NEURONS, "auto", run, at_hand),
        }
    )
    # Time to the error: what is short of the target's variance would take so much longer.
    reached = target if choice == "full" else variance(f, several, choice, n_auto, seed=2)
    for method, n in timed.items():
        times[method] *= needed[method] / n
    if f.variances_if_worth(X, NEURONS, np.random.default_rng(1)) is not None:
        times["auto"] *= reached / target  # and otherwise "auto" takes full sums
    times["auto, measured"] *= reached / target
    activations = {
        "full": NEURONS * (t + n_rows),
        "index": needed["index"] * (1 + n_rows),
        "stratified": needed["stratified"] * (1 + n_rows),
        "auto, measured": n_auto * ((t if choice == "full" else 1) + n_rows) * reached / target,
    }
    best = min(times[method] for method in needed)
    fewest = min(activations[method] for method in needed)
    return {
        "width": width,
        "signs": signs,
        "support": t,
        "rows": n_rows,
        "neurons": needed,
        "seconds": times,
        "activations": activations,
        "choice": choice,
        "auto_ratio": times["auto"] / best,
        "measured_ratio": times["auto, measured"] / best,
        "activation_ratio": activations["auto, measured"] / fewest,
    }


def main():
    cells = []
    print(
        "width  signs    support   rows |  index strat.   full  (ms) | choice      auto  measured"
    )
    for width, signs, t, n_rows in product(WIDTHS, SIGNS, SUPPORTS, ROWS):
        c = cell(width, signs, t, n_rows)
        cells.append(c)
        ms = {method: 1e3 * value for method, value in c["seconds"].items()}
        print(
            f"{width:>5} {signs:>8} {t:>8} {n_rows:>6} | {ms['index']:>6.3g} "
            f"{ms['stratified']:>6.3g} {ms['full']:>6.3g}       | {c['choice']:<10} "
            f"{c['auto_ratio']:>5.2f} {c['measured_ratio']:>5.2f}",
            flush=True,
        )
    for key in ("auto_ratio", "measured_ratio", "activation_ratio"):
        ratios = np.array([c[key] for c in cells])
        print(
            f"{key}: median {np.median(ratios):.2f}, largest {ratios.max():.2f}, "
            f"{(ratios <= 1.3).mean():.0%} within 1.3"
        )
    path = Path(__file__).parent / "results" / "estimators.json"
    path.write_text(json.dumps({"circumstances": circumstances(), "cells": cells}, indent=1) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()

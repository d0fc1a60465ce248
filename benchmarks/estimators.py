"""Which estimate of ⟨f, Φ(x)⟩ reaches an error soonest, and whether "auto" knows.

For every kernel width, sign pattern of the coefficients, size of the support and number of rows,
each estimator gets as many neurons as it takes to reach the variance of full sums over 512 neurons;
activations and seconds to get there are compared. "auto" chooses for itself, by a pilot at support
points, which the first estimate of an expansion runs ("first") and later ones share ("auto"), or by
one at rows ("rounds", as in the rounds of a learner, which measures anew when the support has grown
by a quarter). What it chooses depends on its pilot, so its runs have pilots and rows of their own,
and what counts is its mean squared error over them, times its seconds.

Run as ``make bench-estimators``; writes ``benchmarks/results/estimators.json``.
"""

from __future__ import annotations

import json
import time
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from circumstances import circumstances
from trickless._functions.pilot import PILOT_ROWS, SHARED_BY, is_pilot_worthwhile
from trickless.inspection import Expansion
from trickless.neurons import Gaussian

WIDTHS = (0.5, 4.0, 32.0)  # for standard normal inputs of 10 columns
SIGNS = ("one", "mixed", "learned")
SUPPORTS = (100, 1_000, 10_000)
ROWS = (1, 32, 1_024)
COLUMNS = 10
NEURONS = 512
MOST = 100_000  # an estimator that needs more neurons is timed with so many, and scaled
VARIANCE_RUNS = 200
SEVERAL = 64  # rows at which variances are measured
PILOTS = 40  # whose variances are at hand
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


def squared_error(f, rows, exact, estimate):
    """Mean squared error over runs, each with rows and a seed of its own."""
    n_rows = len(rows) // VARIANCE_RUNS
    errors = [
        estimate(rows[some], run) - exact[some]
        for run in range(VARIANCE_RUNS)
        for some in [slice(run * n_rows, (run + 1) * n_rows)]
    ]
    return float(np.mean(np.square(errors)))


def neurons_for(estimator, target, error_of):
    """Neurons with which an estimator reaches a mean squared error."""
    n = NEURONS
    for _ in range(3):  # the variance of strata does not fall exactly like 1/n
        tried = int(min(max(n, 16), MOST // 10))
        n = tried * error_of(estimator, tried) / target
    return max(1, int(np.ceil(n)))


def problem(width, signs, t):
    """An expansion, the mean squared error to reach, and the neurons that each estimator needs."""
    rng = np.random.default_rng(0)
    f = expansion(width, signs, t, rng)
    rows = rng.standard_normal((VARIANCE_RUNS * SEVERAL, COLUMNS)).astype("float32")
    exact = exactly(f, rows)

    def error_of(estimator, n):
        return squared_error(f, rows, exact, lambda X, run: f.freeze(n, estimator, run)(X))

    target = error_of("full", NEURONS)
    needed = {
        estimator: neurons_for(estimator, target, error_of) for estimator in ("index", "stratified")
    }
    return f, target, {"full": NEURONS} | needed


def exactly(f, rows):
    """⟨f, Φ(x)⟩ by the kernel, for some rows at a time."""
    parts = np.array_split(rows, max(1, len(rows) * len(f.support) // 10**7))
    return np.concatenate([f.neurons.kernel(part, f.support) @ f.dual_coef for part in parts])


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


def chosen(f, rows, exact, target, pilots):
    """What "auto" takes in each run, by variances of one of the pilots, and its mean squared error.

    That of the runs which take full sums is known: the target.
    """
    n_rows = len(rows) // VARIANCE_RUNS
    choices, errors = [], []
    for run in range(VARIANCE_RUNS):
        some = slice(run * n_rows, (run + 1) * n_rows)
        choice = f.cheapest(NEURONS, n_rows, pilots[run % PILOTS])
        choices.append(choice)
        if choice[0] == "full":
            errors.append(target)
        else:
            error = f.freeze(choice[1], choice[0], run)(rows[some]) - exact[some]
            errors.append(np.square(error).mean())
    return choices, float(np.mean(errors))


def cell(f, target, needed, n_rows):
    """What one number of rows costs by each estimator, and by "auto"."""
    t = len(f.support)
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((VARIANCE_RUNS * n_rows, COLUMNS)).astype("float32")
    exact = exactly(f, rows)
    at_rows = [f.variances(rows[i * n_rows :][:PILOT_ROWS], 1000 + i) for i in range(PILOTS)]
    at_support: list = [None] * PILOTS  # "auto" takes full sums then, and "first" runs no pilot
    if is_pilot_worthwhile(t, n_rows, NEURONS, SHARED_BY):
        for i in range(PILOTS):
            first = i * PILOT_ROWS % (t - PILOT_ROWS)
            at_support[i] = f.variances(f.support[first:][:PILOT_ROWS], 2000 + i)
    shared, with_shared = chosen(f, rows, exact, target, at_support)
    rounds, with_rounds = chosen(f, rows, exact, target, at_rows)
    X = rows[:n_rows]
    timed = {estimator: min(n, MOST) for estimator, n in needed.items()}

    fresh = partial(Expansion, f.neurons, f.support, f.dual_coef)
    times = seconds(
        {
            estimator: lambda run, n=n, estimator=estimator: f.estimate(X, n, estimator, run)
            for estimator, n in timed.items()
        }
        | {
            "first": lambda run: fresh().estimate(X, NEURONS, "auto", run),
            "auto": lambda run: f.estimate(X, NEURONS, "auto", run, at_support[run % PILOTS]),
            "rounds": lambda run: f.estimate(X, NEURONS, "auto", run, at_rows[run % PILOTS]),
        }
    )
    # Time to the error: what is short of the target would take so much longer.
    for estimator, n in timed.items():
        times[estimator] *= needed[estimator] / n
    times["first"] *= with_shared / target
    times["auto"] *= with_shared / target
    times["rounds"] *= with_rounds / target
    activations = {
        "full": NEURONS * (t + n_rows),
        "index": needed["index"] * (1 + n_rows),
        "stratified": needed["stratified"] * (1 + n_rows),
    }
    spent = [n * ((t if estimator == "full" else 1) + n_rows) for estimator, n in shared]
    activations["auto"] = float(np.mean(spent)) * with_shared / target
    best = min(times[estimator] for estimator in needed)
    fewest = min(activations[estimator] for estimator in needed)
    return {
        "support": t,
        "rows": n_rows,
        "neurons": needed,
        "seconds": times,
        "activations": activations,
        "squared_error": {"target": target, "auto": with_shared, "rounds": with_rounds},
        "full": {
            "auto": float(np.mean([estimator == "full" for estimator, _ in shared])),
            "rounds": float(np.mean([estimator == "full" for estimator, _ in rounds])),
        },
        "first_ratio": times["first"] / best,
        "auto_ratio": times["auto"] / best,
        "rounds_ratio": times["rounds"] / best,
        "activation_ratio": activations["auto"] / fewest,
    }


def main():
    cells = []
    print(
        "width  signs    support   rows |  index strat.   full  (ms) | full by  first   auto rounds"
    )
    for width, signs, t in product(WIDTHS, SIGNS, SUPPORTS):
        found = problem(width, signs, t)
        for n_rows in ROWS:
            c = {"width": width, "signs": signs} | cell(*found, n_rows)
            cells.append(c)
            ms = {estimator: 1e3 * value for estimator, value in c["seconds"].items()}
            print(
                f"{width:>5} {signs:>8} {t:>8} {n_rows:>6} | {ms['index']:>6.3g} "
                f"{ms['stratified']:>6.3g} {ms['full']:>6.3g}       | {c['full']['auto']:>4.0%} "
                f"{c['first_ratio']:>6.2f} {c['auto_ratio']:>6.2f} {c['rounds_ratio']:>6.2f}",
                flush=True,
            )
    for key in ("first_ratio", "auto_ratio", "rounds_ratio", "activation_ratio"):
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

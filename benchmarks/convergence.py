"""Doubly Stochastic Gradients converge at rate 1/t, as Dai et al. 2014 prove.

Rows are drawn with replacement from a set of 100, so that the minimiser f* of the regularised risk
is kernel ridge regression on that set. One row and one neuron a step; the steps θ/i of the theorem
with θ alpha = 1. The mean of |f_t(x) − f*(x)|² over the rows, and over independent runs, should
fall as 1/t: the slope of its logarithm against that of t is fitted over two decades.

Run as ``make bench-convergence``; writes ``benchmarks/results/convergence.json`` and ``.png``.
"""

from __future__ import annotations

import json

import numpy as np
from matplotlib.figure import Figure

from circumstances import circumstances
from pictures import RESULTS, band, redraw
from trickless import DoublyStochasticRegressor
from trickless.neurons import Gaussian, Stumps

ROWS, COLUMNS, RUNS = 100, 2, 24
STEPS = (100, 178, 316, 562, 1_000, 1_778, 3_162, 5_623, 10_000)
PROBLEMS = {"gaussian": (Gaussian(1.0), 1.0), "stumps": (Stumps(), 1.0)}


def problem():
    """Inputs, and noisy targets of mean 0."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, COLUMNS))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * rng.standard_normal(ROWS)
    return X, y - y.mean()


def distances(neurons, alpha, seed):
    """Mean square distance from the minimiser after each number of steps."""
    X, y = problem()
    visits = np.random.default_rng((1, seed)).integers(ROWS, size=STEPS[-1])
    model = DoublyStochasticRegressor(
        neurons,
        alpha=alpha,
        schedule="theorem",
        batch_size=1,
        neurons_per_step=1,
        random_state=seed,
        n_jobs=1,
        dtype="float64",
    )
    result = []
    for start, stop in zip((0, *STEPS[:-1]), STEPS, strict=True):
        rows = visits[start:stop]
        model.partial_fit(X[rows], y[rows])
        K = model.neurons_.kernel(X)
        offset = model.intercept_[0]  # the mean of the first batch, which f is added to
        best = offset + K @ np.linalg.solve(K + ROWS * alpha * np.eye(ROWS), y - offset)
        result.append(np.mean((model.predict(X) - best) ** 2))
    return result


def slope(t, values):
    """Least squares slope of log values against log t."""
    return float(np.polyfit(np.log(t), np.log(values), 1)[0])


def measure(family):
    neurons, alpha = PROBLEMS[family]
    runs = np.array([distances(neurons, alpha, seed) for seed in range(RUNS)])
    rng = np.random.default_rng(0)
    means = [runs[rng.integers(RUNS, size=RUNS)].mean(axis=0) for _ in range(1000)]
    return {
        "family": family,
        "alpha": alpha,
        "distance": runs.mean(axis=0).tolist(),
        "standard_error": (runs.std(axis=0, ddof=1) / np.sqrt(RUNS)).tolist(),
        "slope": slope(STEPS, runs.mean(axis=0)),
        "slope_standard_error": float(np.std([slope(STEPS, mean) for mean in means])),
    }


def draw(result):
    """Distance from the minimiser along steps; bands are two standard errors on each side."""
    figure = Figure()
    axes = figure.subplots()
    steps, lines = np.array(result["steps"]), result["lines"]
    for line, marker in zip(lines, "os", strict=True):
        label = f"{line['family']}: slope {line['slope']:.2f} ± {line['slope_standard_error']:.2f}"
        mean, error = np.array(line["distance"]), 2 * np.array(line["standard_error"])
        band(axes, steps, mean, mean - error, mean + error, marker=marker, label=label)
    axes.plot(steps, lines[0]["distance"][0] * steps[0] / steps, "k--", lw=1, label="1/t")
    axes.set(
        xscale="log",
        yscale="log",
        title="Doubly Stochastic converges at the rate 1/t",
        xlabel="steps t",
        ylabel="mean square distance from the minimiser",
    )
    axes.legend()
    return figure


def main():
    lines = []
    for family in PROBLEMS:
        lines.append(measure(family))
        print(json.dumps(lines[-1]), flush=True)
    result = {"circumstances": circumstances(), "runs": RUNS, "steps": STEPS, "lines": lines}
    (RESULTS / "convergence.json").write_text(json.dumps(result, indent=1) + "\n")
    redraw(draw, RESULTS / "convergence.json")
    print(f"wrote {RESULTS / 'convergence.json'}")


if __name__ == "__main__":
    main()

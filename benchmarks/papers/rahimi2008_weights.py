"""Figure 2 of Rahimi and Recht 2008: the largest coefficient against the number of neurons.

The paper bounds the largest coefficient by C/K in its theorem and drops the bound in practice,
since ‖α‖∞ falls with K by itself, as its Figure 2 shows over 500 runs on Adult. Here are ‖α‖∞, as
in the paper, and K ‖α‖∞, which is the least C that does not change the fit.

- Stumps with normal thresholds, the squared loss and all 32,561 training rows of Adult. Each of the
  ``RUNS`` runs for a K draws its own neurons.
- The coefficients minimise the mean squared error plus alpha K |α|², with targets ±1 and an
  intercept. alpha is chosen by cross-validation, constant, or as good as 0. It is not 0, since
  stumps coincide on columns with two values, and the solution is not unique then.
- The sums over the rows are the library's, and so is the fit with the chosen alpha. The others are
  solved for with the same sums.
- The exponent is the slope of log(mean of ‖α‖∞) along log K.

Run as ``python benchmarks/papers/rahimi2008_weights.py``; writes
``benchmarks/results/rahimi2008_weights.json``, after each K, and ``.png`` in about 5 minutes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from scipy.linalg import solve

from trickless import KitchenSinksClassifier
from trickless.neurons import Stumps

sys.path.insert(0, str(Path(__file__).parents[1]))
import data
from circumstances import circumstances
from pictures import BLACK, RESULTS, WIDTH, plain_numbers, redraw

SIZES, RUNS, PERCENTILES = (10, 30, 100, 300, 600), 500, (5, 50, 95)
CHOSEN, ALPHAS = "auto", (1e-2, 1e-3, 1e-8)


def largest_weights(X: np.ndarray, y: np.ndarray, K: int, run: int) -> list[float]:
    """‖α‖∞ with the chosen alpha, and with each constant one, for one draw of K neurons."""
    model = KitchenSinksClassifier(Stumps("normal"), K, random_state=run, n_jobs=1).fit(X, y)
    sums, n = model.statistics_, len(X)
    means = sums.z_sum / n
    covariance = sums.gram / n - np.outer(means, means)
    cross = (sums.cross - np.outer(means, sums.y_sum)) / n
    solved = [solve(covariance + alpha * K * np.eye(K), cross, assume_a="pos") for alpha in ALPHAS]
    return [float(np.abs(coef).max()) for coef in (model.neuron_coef_, *solved)]


def slope(x: Sequence[int], y: Sequence[float]) -> float:
    """Exponent p of the best y ~ x^p."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def measure() -> Iterator[list[dict[str, Any]]]:
    """Largest weights for each alpha, after each K."""
    X, y = data.adult()[:2]
    lines: list[dict[str, Any]] = [{"alpha": alpha, "points": []} for alpha in (CHOSEN, *ALPHAS)]
    for K in SIZES:
        runs = (delayed(largest_weights)(X, y, K, run) for run in range(RUNS))
        drawn = np.array(Parallel(n_jobs=-1)(runs))
        for line, values in zip(lines, drawn.T, strict=True):
            low_to_high = np.percentile(values, PERCENTILES).tolist()
            point = {"neurons": K, "mean": float(values.mean()), "percentiles": low_to_high}
            line["points"].append(point)
            sizes, means = zip(*((p["neurons"], p["mean"]) for p in line["points"]), strict=True)
            if len(means) > 1:
                line["exponent"] = slope(sizes, means)
                line["last_exponent"] = slope(sizes[-2:], means[-2:])
        shown = (f"{line['alpha']}: {line['points'][-1]['mean']:.4f}" for line in lines)
        print(f"K = {K:>4}: largest weight {', '.join(shown)}", flush=True)
        yield lines


def draw(result: dict[str, Any]) -> Figure:
    """The largest weight along K, as it is and times K; bars hold 90 % of the runs."""
    figure = Figure(figsize=(WIDTH, 4))
    left, right = figure.subplots(1, 2)
    for i, line in enumerate(result["lines"]):
        K = np.array([point["neurons"] for point in line["points"]])
        mean = np.array([point["mean"] for point in line["points"]])
        low, _, high = np.transpose([point["percentiles"] for point in line["points"]])
        look = {"marker": "osDv"[i], "color": f"C{i}", "label": f"alpha = {line['alpha']}"}
        for axes, factor in ((left, 1), (right, K)):
            beside = K * 1.06**i  # so that bars do not cover each other
            axes.plot(beside, factor * mean, **look)
            axes.vlines(beside, factor * low, factor * high, color=look["color"], lw=1)
    left.plot(K, 3 / K, color=BLACK, ls="--", lw=1, label="slope of 1/K")
    left.set(title="The largest coefficient", ylabel=r"$\Vert\alpha\Vert_\infty$")
    right.set(title="Times K", ylabel=r"$K\,\Vert\alpha\Vert_\infty$")
    for axes in (left, right):
        axes.set(xscale="log", yscale="log", xlabel="neurons K")
        plain_numbers(axes.xaxis)
        plain_numbers(axes.yaxis)
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def main() -> None:
    path = RESULTS / "rahimi2008_weights.json"
    settings = {"runs": RUNS, "percentiles": PERCENTILES}
    for lines in measure():
        result = {"settings": settings, "lines": lines, "circumstances": circumstances()}
        path.write_text(json.dumps(result, indent=1) + "\n")
    redraw(draw, path)


if __name__ == "__main__":
    main()

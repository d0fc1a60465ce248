"""Figure 1 of Livni, Carmon and Globerson 2017 as the online loss along one pass.

The paper's figure has one error for each learner and number of coordinates D. Here is the loss that
its theorem is about: (f_t(x_t) − y_t)² of each row before it is learned, in the order of the pass.

- Rows, targets, budgets and learners are those of the paper's recipe in ``livni2017``, with K = 100
  and 20 repetitions. Fresh targets have variance 1. Those of these rows have more, since ten of the
  rows make up the target, and their own targets lie far from the others.
- The loss of Shrinking Gradient is that of f_t = Σ_i α_i k(x_i, x_t), as in the theorem. "As
  estimated" is that of E_t, which the learner estimates from its m draws and learns from.
- The schedule and the first step of each learner and D have the least mean loss over the pass, of
  the same grid and repetitions as in ``livni2017``. They may differ from those chosen there by the
  test error of the function after the pass. "auto" takes the steps of full sums, as there.

Run as ``python benchmarks/papers/livni2017_online.py``; writes
``benchmarks/results/livni2017_online.json``, after each D, and ``.png`` in about 7 minutes.
"""

from __future__ import annotations

import json
import sys
import warnings
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning

from trickless._solvers.rounds.estimates import Drawn
from trickless._solvers.rounds.regret import played_values

sys.path.insert(0, str(Path(__file__).parents[1]))
import livni2017 as figure_1

from circumstances import circumstances
from pictures import BLACK, RESULTS, WIDTH, band, plain_numbers, redraw

BUDGET, DIMENSIONS = 100, range(550, 801, 50)
#: The D of the curve along the pass, and how many rows a point of it has.
SHOWN, WINDOW = 650, 10
ESTIMATED = f"{figure_1.INDEX}, as estimated"


# A learner returns its prediction of each row before that is learned.


def descend(Z, y, eta):
    """Online gradient descent over weights of the features Z."""
    weights, predictions = np.zeros(Z.shape[1]), []
    for z, target, step in zip(Z, y, eta, strict=True):
        predictions.append(z @ weights)
        weights = weights + step * (target - predictions[-1]) * z
    return np.array(predictions)


def exact_kernel(data, schedule, first, budget, seed):
    Z = data.X / np.sqrt(data.X.shape[1])
    return descend(Z, data.y, figure_1.steps(schedule, first))


def fixed_random(data, schedule, first, budget, seed):
    drawn = np.random.default_rng(seed).integers(data.X.shape[1], size=budget)
    Z = data.X[:, drawn] / np.sqrt(budget)
    return descend(Z, data.y, figure_1.steps(schedule, first))


def shrinking_gradient(data, schedule, first, budget, seed, estimate="index"):
    options = {"schedule": schedule, "first": first, "budget": budget, "seed": seed}
    model, scale = figure_1.learned_by_rounds(data, estimate=estimate, **options)
    return scale * played_values(model._rounds_, model.neurons_.kernel)[:, 0]


def as_estimated(data, schedule, first, budget, seed):
    estimates, estimate = [0.0], Drawn.__call__  # f_1 = 0

    def noted(*arguments):
        values = estimate(*arguments)
        estimates.append(values.item())
        return values

    options = {"schedule": schedule, "first": first, "budget": budget, "seed": seed}
    with mock.patch.object(Drawn, "__call__", noted):
        _, scale = figure_1.learned_by_rounds(data, **options)
    return scale * np.array(estimates)


def doubly_stochastic(data, schedule, first, budget, seed):
    model = figure_1.learned_by_steps(data, schedule, first, budget, seed)
    k = figure_1.neurons_per_step(budget)
    coef = model.neuron_coef_[k:, 0, 0]  # without those of the row of zeros
    Z = model.neurons_(data.X, model._stream_.between(k, k + len(coef)))
    by_step = (Z * coef).reshape(len(Z), -1, k).sum(axis=2)
    return np.tril(by_step, -1).sum(axis=1)


LEARNERS = {
    "exact kernel": exact_kernel,
    figure_1.FULL: partial(shrinking_gradient, estimate="full"),
    figure_1.AUTO: partial(shrinking_gradient, estimate="auto"),
    figure_1.INDEX: shrinking_gradient,
    ESTIMATED: as_estimated,
    "Fixed-Random": fixed_random,
    "Doubly Stochastic": doubly_stochastic,
}
COLORS = figure_1.COLORS | {ESTIMATED: figure_1.COLORS[figure_1.INDEX]}


def as_last_and_average(learn, *arguments, **options):
    """What ``figure_1.tune`` asks of a learner, whose predictions online have no average."""
    predictions = learn(*arguments, **options)
    return predictions, predictions, None


def made(dimension, seed):
    """Rows to learn from, which are to be predicted as well."""
    data = figure_1.make_data(figure_1.PAPER, dimension, seed)
    return data._replace(X_test=data.X, y_test=data.y)


def best_constant(dimension):
    """Mean loss over the pass of the best constant in hindsight."""
    return figure_1.mean_and_error([made(dimension, s).y.var() for s in figure_1.REPORTED])


def measure(dimension):
    """Losses of all learners along the pass, each tuned and then repeated."""
    warnings.simplefilter("ignore", ConvergenceWarning)  # of those that learn nothing
    validation = {seed: made(dimension, seed) for seed in figure_1.VALIDATION}
    tuned = {}
    for name, learn in LEARNERS.items():
        if name != figure_1.AUTO:
            tuned[name] = figure_1.tune(partial(as_last_and_average, learn), validation, BUDGET)
    tuned[figure_1.AUTO] = tuned[figure_1.FULL]
    lines = {}
    for name, learn in LEARNERS.items():
        schedule, first, _ = tuned[name]
        losses = []
        for seed in figure_1.REPORTED:
            data = made(dimension, seed)
            predictions = learn(data, schedule, first, BUDGET, seed)
            losses.append((predictions - data.y) ** 2)
        along = np.mean(np.reshape(losses, (len(losses), -1, WINDOW)), axis=2)
        mean, error = zip(*map(figure_1.mean_and_error, along.T), strict=True)
        lines[name] = {
            "schedule": schedule,
            "first_step": first,
            "loss": figure_1.mean_and_error(np.mean(losses, axis=1)),
            "mean": mean,
            "standard_error": error,
        }
    return {"dimension": dimension, "best_constant": best_constant(dimension), "learners": lines}


def draw(result):
    """Loss along the pass for one D, and its mean over the pass along D."""
    figure = Figure(figsize=(WIDTH, 3.9))
    left, right = figure.subplots(1, 2)
    points = {point["dimension"]: point["learners"] for point in result["points"]}
    at = WINDOW * (1 + np.arange(figure_1.ROUNDS // WINDOW))
    for (name, line), marker in zip(points[SHOWN].items(), "osx^vDP", strict=True):
        style = ":" if name in (figure_1.AUTO, ESTIMATED) else "-"
        look = {"color": COLORS[name], "ls": style, "label": name}
        mean, error = np.array(line["mean"]), np.array(line["standard_error"])
        band(left, at, mean, mean - error, mean + error, **look)
        mean, error = np.transpose([some[name]["loss"] for some in points.values()])
        band(right, list(points), mean, mean - error, mean + error, marker=marker, **look)
    left.set(title=f"Along the pass, D = {SHOWN}", xlabel="rows seen", ylabel="loss of a row")
    right.set(title="The whole pass", xlabel="coordinates D", ylabel="mean loss of a row")
    constants = {point["dimension"]: point["best_constant"][0] for point in result["points"]}
    left.axhline(constants[SHOWN], color=BLACK, ls="--", lw=1)
    right.plot(
        [*constants], [*constants.values()], color=BLACK, ls="--", lw=1, label="best constant"
    )
    for axes in (left, right):
        axes.set(yscale="log")
        plain_numbers(axes.yaxis)
    figure.legend(*right.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def main():
    path = RESULTS / "livni2017_online.json"
    result = {
        "settings": {"rounds": figure_1.ROUNDS, "budget": BUDGET, "window": WINDOW},
        "repetitions": {
            "reported": len(figure_1.REPORTED),
            "validation": len(figure_1.VALIDATION),
        },
        "circumstances": circumstances(),
        "points": [],
    }
    for point in Parallel(n_jobs=-1, return_as="generator")(map(delayed(measure), DIMENSIONS)):
        losses = ", ".join(f"{n} {line['loss'][0]:.2f}" for n, line in point["learners"].items())
        print(f"D = {point['dimension']}: {losses}", flush=True)
        result["points"].append(point)
        path.write_text(json.dumps(result, indent=1) + "\n")
    redraw(draw, path)


if __name__ == "__main__":
    main()

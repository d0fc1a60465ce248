"""Figure 1 of Livni, Carmon and Globerson 2017: learning from few features of each row.

R. Livni, D. Carmon and A. Globerson, "Learning infinite layer networks without the kernel trick",
ICML 2017, section 6: online regression where a neuron reads one random coordinate of D, so the
kernel is (1/D) Σ_j x_j x'_j, and learners with the same budget of features are compared along D.

The idea of the experiment, T = 200 rounds and the D are the paper's. The rest is chosen here:

- The paper's recipe: inputs are standard normal with negative values set to zero, the target is
  y = ⟨a, x⟩ without noise, and a is a random sparse linear combination of the rows to learn from:
  here of 10 of the 200, with standard normal coefficients, drawn anew for each repetition. y is
  divided by its standard deviation, so that the error is that over the variance, and x by that of
  its coordinates about 0, so that k(x, x) is 1 on average. The mean of y is some ten times its
  deviation, and is to be learned as well.
- Sums of coordinates: inputs are independent standard normal coordinates, clipped to [0, 1]; and,
  since inputs and targets have a common mean then, clipped to [-1, 1] as well. The target is the
  sum of 10 coordinates, drawn anew for each repetition, without noise. Weights that are sums of T
  rows, as those of any kernel, explain about T/D of its variance, so that even the exact kernel is
  far from 0.
- Error: mean squared error on 500 fresh rows of the function learned in one pass, evaluated as it
  is: for Shrinking Gradient Σ_i α_i k(x_i, x), which no budget limits. Where K neurons, drawn once,
  predict in its place, as many as in Fixed-Random, is a row of its own.
- Budget: an activation is one coordinate of one row, looked at in learning. K T of them are
  allowed. They are counted in the run, with repetition and with the thousand or so by which the
  library tries a family out. Fixed-Random looks at the same K coordinates of every row. Index
  sampling, the paper's, makes m = K/2 draws a round, each of which looks at the new row and at an
  earlier one. Doubly Stochastic looks at the coordinates of all its neurons so far, k t in round t,
  which leaves k = 2K/(T + 1) neurons a step, rounded.
- The other count, of coordinates of the new row a round, stands beside the first: K, m and, on
  average, k (T + 1)/2. Full sums and "auto", with the same m, equal index sampling in this count
  alone ("auto" may look at more): each draw looks at all earlier rows, so that their activations
  exceed the budget some T/4 times. The exact kernel looks at all D coordinates of every row.
- Steps: the schedule, the first step, and whether the last or the average function predicts are
  those with the least mean error of a grid over 8 repetitions that are not among the 20 reported,
  for each learner and each point of the figure; steps that are not among the best 3 after 3
  repetitions are dropped. In Shrinking Gradient the library refuses constant steps above 1/κ and
  keeps the others to 1/(2κ), where κ is the largest k(x, x) that the bound of the neurons allows:
  1 for clipped inputs. Normal inputs have no bound; so in the paper's recipe, which is outside the
  premises of its theorem, κ is the largest k(x, x) of the rows to learn from, about 1.2, in place
  of that of a single coordinate, about 40. Nothing limits the rest. "auto", which aims at the error
  of full sums, takes their steps.
- No learner has a regulariser or an intercept.

The exact kernel is Fixed-Random with every coordinate once. Two panels vary K, to show where the
order ends. Differences from index sampling are paired, repetition by repetition.

Run as ``python benchmarks/papers/livni2017.py``; writes ``benchmarks/results/livni2017.json`` and
``.png`` in about 8 minutes.
"""

from __future__ import annotations

import json
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from trickless import DoublyStochasticRegressor, ShrinkingGradientRegressor
from trickless._solvers.rounds.estimates import Drawn
from trickless.neurons import Coordinates

sys.path.insert(0, str(Path(__file__).parents[1]))
from circumstances import circumstances
from pictures import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    RED,
    band,
    panels,
    plain_numbers,
    redraw,
)

ROUNDS, TEST_ROWS, NONZERO = 200, 500, 10
PAPER = "the paper's"
LOWEST = {"[0, 1]": 0, "[-1, 1]": -1}
#: Inputs, D and K of the points of each panel.
PANELS = {
    "the paper's recipe, K = 100": [(PAPER, D, 100) for D in range(550, 801, 50)],
    "the paper's recipe, D = 650": [(PAPER, 650, K) for K in (100, 200, 400)],
    "inputs in [0, 1], K = 100": [("[0, 1]", D, 100) for D in range(550, 801, 50)],
    "inputs in [-1, 1], K = 100": [("[-1, 1]", D, 100) for D in (550, 650, 800)],
    "inputs in [0, 1], D = 650": [("[0, 1]", 650, K) for K in (100, 200, 400)],
}
REPORTED, VALIDATION = range(20), range(1000, 1008)
FIRST_STEPS = {
    "constant": (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8),
    "sqrt": (1 / 4, 1 / 2, 1, 2, 4, 8),
    "inverse": (1 / 4, 1, 2, 4, 8, 16, 32, 64),
}
#: All first steps are tried on so many validation repetitions, and so many of them on the rest.
SCREENED_ON, KEPT = 3, 3
PREDICTORS = "last", "average"
ROW_BY_ROW = {"batch_size": 1, "n_jobs": 1, "dtype": "float64"}
RESULTS = Path(__file__).parents[1] / "results"


class Data(NamedTuple):
    """Rows to learn from, in order, and rows to test on."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


class Counted(Coordinates):
    """Coordinates as they are, up to a bound, that count their activations.

    ``square_bound`` is the largest k(x, x), which a mean over coordinates keeps far from that of
    the largest coordinate.
    """

    _rules: ClassVar[dict] = {}
    activations = 0

    def __init__(self, bound=1.0, square_bound=1.0):
        self.bound = bound
        self.square_bound = square_bound

    def respond(self, t):
        return t

    def __call__(self, X, weights):
        Counted.activations += len(X) * len(weights[0])
        return super().__call__(X, weights)

    def activate_pairs(self, X, weights):
        Counted.activations += len(X)
        return super().activate_pairs(X, weights)


class Sized(Drawn):
    """Estimates whose steps are sized by the rows' k(x, x)."""

    @property
    def square_bound(self):
        return self.neurons.square_bound


class SizedShrinkingGradient(ShrinkingGradientRegressor):
    """Shrinking Gradient with steps up to what the rows' k(x, x) allows."""

    @property
    def estimates_(self):
        return Sized(**vars(super().estimates_))


def make_data(inputs, dimension, seed):
    rng = np.random.default_rng((seed, dimension))
    X = rng.standard_normal((ROUNDS + TEST_ROWS, dimension))
    if inputs == PAPER:
        X = np.sqrt(2) * np.maximum(X, 0)
        of_rows = rng.choice(ROUNDS, NONZERO, replace=False)
        y = X @ (rng.standard_normal(NONZERO) @ X[of_rows])
        y /= y[ROUNDS:].std()
    else:
        X = np.clip(X, LOWEST[inputs], 1)
        y = X[:, rng.choice(dimension, NONZERO, replace=False)].sum(axis=1)
    return Data(X[:ROUNDS], y[:ROUNDS], X[ROUNDS:], y[ROUNDS:])


def neurons_for(X):
    """Coordinates of the rows to learn from: those within ±1 are what the library's are."""
    largest = np.abs(X).max()
    return Counted() if largest <= 1 else Counted(largest, np.mean(X**2, axis=1).max())


def steps(schedule, first):
    t = np.arange(1, ROUNDS + 1)
    return first / {"constant": np.ones(ROUNDS), "sqrt": np.sqrt(t), "inverse": t}[schedule]


def neurons_per_step(budget):
    """How many Doubly Stochastic may draw: k Σ_t t activations are about K T."""
    return max(1, round(2 * budget / (ROUNDS + 1)))


# A learner returns predictions of the last and of the average function, and its activations.


def descend(Z, Z_test, y, eta):
    """Online gradient descent over weights of the features Z."""
    weights, total = np.zeros(Z.shape[1]), np.zeros(Z.shape[1])
    for z, target, step in zip(Z, y, eta, strict=True):
        total += weights
        weights = weights + step * (target - z @ weights) * z
    return Z_test @ weights, Z_test @ total / len(y), Z.size


def exact_kernel(data, schedule, first, budget, seed):
    scale = np.sqrt(data.X.shape[1])
    return descend(data.X / scale, data.X_test / scale, data.y, steps(schedule, first))


def fixed_random(data, schedule, first, budget, seed):
    drawn = np.random.default_rng(seed).integers(data.X.shape[1], size=budget)
    Z, Z_test = (X[:, drawn] / np.sqrt(budget) for X in (data.X, data.X_test))
    return descend(Z, Z_test, data.y, steps(schedule, first))


def learned_by_rounds(data, schedule, first, budget, seed, estimate="index"):
    """Shrinking Gradient after its pass over the rows, and what its targets are divided by."""
    scale = max(NONZERO, np.abs(data.y).max())  # all that a target can be
    model = SizedShrinkingGradient(
        neurons_for(data.X),
        n_neurons=budget,
        n_draws=budget // 2,
        estimate=estimate,
        schedule=schedule,
        step_size=first,
        y_range=(-scale, scale),
        random_state=seed,
        **ROW_BY_ROW,
    ).partial_fit(data.X, data.y)  # keeps the order of the rows
    return model, scale


def shrinking_gradient(data, schedule, first, budget, seed, estimate="index", frozen=False):
    Counted.activations = 0
    model, scale = learned_by_rounds(data, schedule, first, budget, seed, estimate)
    activations, predictions = Counted.activations, []
    for average in (False, True):
        model.set_params(average=average)
        f = model.expansion_
        exact = scale * f.neurons.kernel(data.X_test, f.support) @ f.dual_coef[:, 0]
        predictions.append(model.predict(data.X_test) if frozen else exact)
    return *predictions, activations


def learned_by_steps(data, schedule, first, budget, seed):
    """Doubly Stochastic after a row of zeros and its pass over the rows."""
    k = neurons_per_step(budget)
    options = {"alpha": 0, "neurons_per_step": k, "random_state": seed, "schedule": "constant"}
    model = DoublyStochasticRegressor(neurons_for(data.X), **options, **ROW_BY_ROW)
    # The mean of the first batch is the intercept: of a row of zeros, whose neurons get no weight.
    model.partial_fit(np.zeros_like(data.X[:1]), [0.0])
    together = ROUNDS if schedule == "constant" else 1  # else the step size is that of one row
    for t in range(0, ROUNDS, together):
        model.set_params(step_size=steps(schedule, first)[t])
        model.partial_fit(data.X[t : t + together], data.y[t : t + together])
    return model


def doubly_stochastic(data, schedule, first, budget, seed):
    Counted.activations = 0
    model = learned_by_steps(data, schedule, first, budget, seed)
    activations, network = Counted.activations, model.network_
    last = network(data.X_test)[:, 0]
    rounds_since = np.repeat(ROUNDS - np.arange(ROUNDS + 1), neurons_per_step(budget))
    network.coef *= rounds_since[:, None, None] / ROUNDS
    return last, network(data.X_test)[:, 0], activations


INDEX, FULL, AUTO = (f"Shrinking Gradient, {how}" for how in ("index", "full", "auto"))
FROZEN = f"{INDEX}, K predict"
LEARNERS = {
    "exact kernel": exact_kernel,
    FULL: partial(shrinking_gradient, estimate="full"),
    AUTO: partial(shrinking_gradient, estimate="auto"),
    INDEX: shrinking_gradient,
    FROZEN: partial(shrinking_gradient, frozen=True),
    "Fixed-Random": fixed_random,
    "Doubly Stochastic": doubly_stochastic,
}
COLORS = dict(zip(LEARNERS, (BLUE, GREEN, ORANGE, RED, RED, GREY, PINK), strict=True))


def coordinates_a_round(name, dimension, budget):
    """How many coordinates of the new row a learner looks at, with repetition."""
    doubly = neurons_per_step(budget) * (ROUNDS + 1) / 2
    others = {"exact kernel": dimension, "Fixed-Random": budget, "Doubly Stochastic": doubly}
    return others.get(name, budget // 2)


def mean_squares(learn, data, **options):
    """Errors of the last and the average function, infinite for steps that are too large."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of steps that are too large
            *predictions, activations = learn(data, **options)
    except ValueError:  # the library refuses the step, or stops a divergence
        return [np.inf, np.inf], np.nan
    return np.mean((np.array(predictions) - data.y_test) ** 2, axis=1), activations


def tune(learn, sets, budget):
    """The schedule, first step and predictor with the least mean error on the validation sets."""
    left = [(schedule, first) for schedule, firsts in FIRST_STEPS.items() for first in firsts]
    errors = {option: [] for option in left}
    seeds = list(sets)
    for some in seeds[:SCREENED_ON], seeds[SCREENED_ON:]:
        for schedule, first in left:
            options = {"schedule": schedule, "first": first, "budget": budget}
            runs = [mean_squares(learn, sets[seed], seed=seed, **options)[0] for seed in some]
            errors[schedule, first] += runs
        left = sorted(left, key=lambda option: np.mean(errors[option], axis=0).min())[:KEPT]
    return *left[0], PREDICTORS[np.mean(errors[left[0]], axis=0).argmin()]


def mean_and_error(values):
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


def measure(inputs, dimension, budget):
    """One point of the figure: every learner, tuned and then repeated."""
    validation = {seed: make_data(inputs, dimension, seed) for seed in VALIDATION}
    reported = {seed: make_data(inputs, dimension, seed) for seed in REPORTED}
    tuned = {n: tune(learn, validation, budget) for n, learn in LEARNERS.items() if n != AUTO}
    tuned[AUTO] = tuned[FULL]
    errors, learners = {}, {}
    for name, learn in LEARNERS.items():
        schedule, first, predictor = tuned[name]
        options = {"schedule": schedule, "first": first, "budget": budget}
        runs = [mean_squares(learn, data, seed=s, **options) for s, data in reported.items()]
        errors[name] = np.array([error[PREDICTORS.index(predictor)] for error, _ in runs])
        mean, standard_error = mean_and_error(errors[name])
        learners[name] = {
            "error": mean,
            "standard_error": standard_error,
            "schedule": schedule,
            "first_step": first,
            "predictor": predictor,
            "activations": float(np.mean([activations for _, activations in runs])),
            "coordinates_a_round": coordinates_a_round(name, dimension, budget),
        }
    for name, row in learners.items():
        row["above_index"] = mean_and_error(errors[name] - errors[INDEX])
    targets = [data.y_test for data in reported.values()]
    return {
        "inputs": inputs,
        "dimension": dimension,
        "budget": budget,
        "zero": mean_and_error([np.mean(y**2) for y in targets]),
        "best_constant": mean_and_error([np.var(y) for y in targets]),
        "learners": learners,
    }


def show(point):
    zero, constant = point["zero"][0], point["best_constant"][0]
    print(
        f"\ninputs: {point['inputs']}, D = {point['dimension']}, K = {point['budget']}: 0 has "
        f"{zero:.2f}, the best constant {constant:.2f}\n{'learner':<38}{'error':>13}"
        f"{'- index':>15}{'activations':>13}{'new row':>9}  steps"
    )
    for name, row in point["learners"].items():
        above, its_error = row["above_index"]
        print(
            f"{name:<38}{row['error']:>7.3f} ±{row['standard_error']:.3f}{above:>+9.3f} "
            f"±{its_error:.3f}{row['activations']:>13,.0f}{row['coordinates_a_round']:>9g}  "
            f"{row['schedule']} {row['first_step']:g}, {row['predictor']}",
            flush=True,
        )


def draw(result):
    """Error along D and along the budget, by the paper's recipe and for sums of coordinates.

    Bands are a standard error on each side.
    """
    points = {(p["inputs"], p["dimension"], p["budget"]): p for p in result["points"]}
    figure, (*all_, rest) = panels(len(PANELS) + 1, 2, 2.7)
    for axes, (title, cells) in zip(all_, PANELS.items(), strict=True):
        some = [points[cell] for cell in cells]
        along = "dimension" if cells[0][1] != cells[1][1] else "budget"
        at = [point[along] for point in some]
        for (name, color), marker in zip(COLORS.items(), "osx^vDP", strict=True):
            rows = [point["learners"][name] for point in some]
            mean, error = (np.array([r[key] for r in rows]) for key in ("error", "standard_error"))
            style = ":" if name in (AUTO, FROZEN) else "-"
            look = {"color": color, "marker": marker, "ls": style, "label": name}
            band(axes, at, mean, mean - error, mean + error, **look)
        constant = [point["best_constant"][0] for point in some]
        axes.plot(at, constant, color=BLACK, ls="--", lw=1, label="best constant")
        axes.set(title=title[:1].upper() + title[1:], xticks=at)
        axes.set_xlabel("coordinates D" if along == "dimension" else "budget K")
        axes.set_ylabel("mean squared test error")
        if cells[0][0] == PAPER:
            axes.set(yscale="log", ylabel="test error over variance")
            plain_numbers(axes.yaxis)
    rest.axis("off")
    rest.legend(*axes.get_legend_handles_labels(), loc="center")
    return figure


def main():
    cells = dict.fromkeys(cell for cells in PANELS.values() for cell in cells)
    measured = Parallel(n_jobs=-1, return_as="generator")(delayed(measure)(*c) for c in cells)
    points = {}
    for cell, point in zip(cells, measured, strict=True):
        points[cell] = point
        show(point)
    result = {
        "settings": {"rounds": ROUNDS, "test_rows": TEST_ROWS, "nonzero": NONZERO},
        "repetitions": {"reported": len(REPORTED), "validation": len(VALIDATION)},
        "first_steps": FIRST_STEPS,
        "counts": {
            "activations": "one coordinate of one row, in learning: about budget × rounds allowed",
            "coordinates_a_round": "of the new row, with repetition: beside it, not limited",
        },
        "circumstances": circumstances(),
        "points": list(points.values()),
    }
    path = RESULTS / "livni2017.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    redraw(draw, path)
    print(f"\nwrote {path} and {path.with_suffix('.png').name}")


if __name__ == "__main__":
    main()

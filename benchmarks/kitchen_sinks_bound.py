"""Excess risk of constrained Kitchen Sinks over the best function of the class, and its bound.

Each case has a best function E_w <f(w), ψ(x; w)> with |f(w)| <= C that is known, so that the excess
risk of the fitted function over it is an integral, taken on a fine grid:

- logistic: labels have the log-odds C sin(πx)/π, which steps at uniform thresholds represent with
  f(w) = C cos(πw). This minimises the logistic risk over all functions.
- logistic, pairs: the same with log-odds C exp(-x²/2), cosines and sines, and f(w) = (C, 0).
- squared: the same with the mean C sin(πx)/π of the labels.
- hinge: x has two signs, of which the first is the label and the second a coin; a neuron is one of
  them, at random. For C <= 1 the hinge is linear, and the least risk is 1 - C/2.

``KitchenSinksClassifier`` meets the premises of Theorem 1 with ``weight_bound=C``, ``alpha=0`` and
``fit_intercept=False``. Rows and neurons are drawn anew for each seed.

Run as ``make bench-kitchen-sinks``; writes ``benchmarks/results/kitchen_sinks_bound.json`` in about
five minutes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from circumstances import circumstances
from trickless import KitchenSinksClassifier
from trickless.neurons import Gaussian, Neurons
from trickless.theory import kitchen_sinks_bound

SEEDS, DELTA = 200, 0.05
SIZES = ((200, 10), (200, 100), (2000, 10), (2000, 100))
RESULTS = Path(__file__).parent / "results"
GRID = (np.arange(4000)[:, None] + 0.5) / 2000 - 1
SIGNS = np.array([[a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)])


class Steps(Neurons):
    """sign(x - w) with w uniform on [-1, 1]."""

    def draw(self, rng, n):
        return (rng.uniform(-1, 1, n),)

    def activate(self, X, weights):
        return np.where(weights[0] <= X, 1.0, -1.0).astype(X.dtype)


class OneOfTwo(Neurons):
    """One of two columns, at random."""

    def draw(self, rng, n):
        return (rng.integers(0, 2, n),)

    def activate(self, X, weights):
        return X[:, weights[0]]


class Case(NamedTuple):
    """A loss, neurons, C, Lipschitz constant, P(y = 1 | x), points of equal weight, best f."""

    name: str
    loss: str
    neurons: Neurons
    C: float
    lipschitz: float
    probability: Callable[[np.ndarray], np.ndarray]
    points: np.ndarray
    best: Callable[[np.ndarray], np.ndarray]


def wave(x):
    return np.sin(np.pi * x[:, 0]) / np.pi


def bump(x):
    return np.exp(-(x[:, 0] ** 2) / 2)


CASES = [
    Case("logistic", "log_loss", Steps(), 3.0, 1.0, lambda x: expit(3 * wave(x)), GRID,
         lambda x: 3 * wave(x)),
    Case("logistic, pairs", "log_loss", Gaussian(1.0), 3.0, 1.0, lambda x: expit(3 * bump(x)), GRID,
         lambda x: 3 * bump(x)),
    Case("squared", "squared_error", Steps(), 1.0, 4.0, lambda x: (1 + wave(x)) / 2, GRID, wave),
    Case("hinge", "hinge", OneOfTwo(), 1.0, 1.0, lambda x: (x[:, 0] > 0) * 1.0, SIGNS,
         lambda x: x[:, 0] / 2),
]  # fmt: skip

LOSSES = {
    "log_loss": lambda margin: np.logaddexp(0, -margin),
    "squared_error": lambda margin: (1 - margin) ** 2,
    "hinge": lambda margin: np.maximum(1 - margin, 0),
}


def risk(case: Case, f: np.ndarray) -> float:
    p, loss = case.probability(case.points), LOSSES[case.loss]
    return float((p * loss(f) + (1 - p) * loss(-f)).mean())


def excess(case: Case, n_rows: int, n_neurons: int, seed: int) -> float:
    """Excess risk of one fit."""
    rng = np.random.default_rng(seed)
    X = case.points[rng.integers(0, len(case.points), n_rows)]
    if case.points is GRID:
        X = X + rng.uniform(-1 / 4000, 1 / 4000, X.shape)
    y = rng.random(n_rows) < case.probability(X)
    model = KitchenSinksClassifier(
        case.neurons,
        n_neurons,
        loss=case.loss,
        alpha=0.0,
        weight_bound=case.C,
        fit_intercept=False,
        random_state=seed,
        dtype="float64",
        n_jobs=1,
    ).fit(X, y)
    return risk(case, model.decision_function(case.points)) - risk(case, case.best(case.points))


def line(case: Case, n_rows: int, n_neurons: int) -> dict[str, float | str]:
    found = np.array([excess(case, n_rows, n_neurons, seed) for seed in range(SEEDS)])
    width = case.neurons.width
    bound = kitchen_sinks_bound(n_rows, n_neurons, case.C, case.lipschitz, DELTA, width=width)
    return {
        "case": case.name,
        "rows": n_rows,
        "neurons": n_neurons,
        "mean": float(found.mean()),
        "standard_error": float(found.std(ddof=1) / np.sqrt(SEEDS)),
        "quantile": float(np.quantile(found, 1 - 2 * DELTA)),
        "largest": float(found.max()),
        "bound": bound.excess_risk,
        "violations": int((found > bound.excess_risk).sum()),
    }


def main() -> None:
    lines = []
    for case in CASES:
        for size in SIZES:
            lines.append(line(case, *size))
            print(json.dumps(lines[-1]), flush=True)
    result = {"circumstances": circumstances(), "seeds": SEEDS, "delta": DELTA, "lines": lines}
    path = RESULTS / "kitchen_sinks_bound.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()

"""Neurons and weights fitted together, which Rahimi and Recht 2008 compare with random neurons.

Kitchen Sinks minimise over the weights β of neurons that stay as they were drawn. Here conjugate
gradients minimise the same risk over the neurons as well, which is not convex:

    J(W, β, b) = (1/n) Σ_i (y_i − b − Σ_j β_j σ(⟨w_j, x̃_i⟩))² + alpha K |β|²

- Sigmoidal ridge functions on Adult and Covertype, with the rows, length scales and targets ±1 of
  ``rahimi2008``. alpha is what cross-validation chooses for Kitchen Sinks with the same K.
- The joint fit starts from the solution of Kitchen Sinks, so its J is never larger. It is
  ``scipy.optimize.minimize(method="CG")`` with the analytic gradient, in double precision, on all
  cores, for ``STEPS[-1]`` steps.
- Seconds are those of learning, on all cores. Those of the joint fit begin with the fit of Kitchen
  Sinks. They do not include tests, which are made when the fit is over.

Run as ``python benchmarks/papers/rahimi2008_joint.py``; writes
``benchmarks/results/rahimi2008_joint.json``, after each fit, and ``.png`` in about 4 minutes.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize
from scipy.special import expit

sys.path.insert(0, str(Path(__file__).parents[1]))
from rahimi2008 import NEURONS, SIGMOIDS, load, make

from circumstances import circumstances
from pictures import BLACK, RESULTS, WIDTH, plain_numbers, redraw

#: Neurons of the joint fits, and of Kitchen Sinks; steps after which a joint fit is tested.
JOINT, SIZES = (10, 30, 100), (10, 30, 100, 300, 1000, 3000)
STEPS = (1, 3, 10, 30, 100, 300)


class Network(NamedTuple):
    """Neurons, one a row, the weights of their sum, and a constant."""

    W: np.ndarray
    beta: np.ndarray
    b: float

    def flat(self) -> np.ndarray:
        return np.concatenate([self.W.ravel(), self.beta, [self.b]])

    @classmethod
    def of(cls, flat: np.ndarray, K: int) -> Network:
        return cls(flat[: -K - 1].reshape(K, -1), flat[-K - 1 : -1], flat[-1])

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return expit(X @ self.W.T) @ self.beta + self.b


def risk(flat: np.ndarray, X: np.ndarray, y: np.ndarray, K: int, alpha: float) -> Any:
    """J and its gradient."""
    network, n = Network.of(flat, K), len(X)
    Z = expit(X @ network.W.T)
    r = Z @ network.beta + network.b - y
    value = r @ r / n + alpha * K * network.beta @ network.beta
    slopes = Z * (1 - Z) * network.beta * r[:, None]  # of J n/2, in the arguments of the neurons
    ridge = 2 * alpha * K * network.beta
    return value, Network(2 / n * slopes.T @ X, 2 / n * Z.T @ r + ridge, 2 * r.mean()).flat()


def kitchen_sinks(name: str, split: Any, K: int) -> tuple[Any, float]:
    """A fitted model of K drawn neurons, and its seconds."""
    model = make(name, SIGMOIDS, K)
    start = time.perf_counter()
    model.fit(split.X_train, split.y_train)
    return model, time.perf_counter() - start


def joint(name: str, split: Any, K: int) -> dict[str, Any]:
    """J, seconds and test errors along the joint fit; the first are those of Kitchen Sinks."""
    model, before = kitchen_sinks(name, split, K)
    alpha, y = float(np.max(model.alpha_)), 2.0 * (split.y_train == model.classes_[1]) - 1
    X, X_test = (np.asarray(model.neurons_.prepare(X)) for X in (split.X_train, split.X_test))
    X = X.astype(float)
    (W,) = model._stream_.between(0, K)
    drawn = Network(W.astype(float), model.neuron_coef_[:, 0, 0], float(model.intercept_[0]))
    steps, seen, arguments = 0, [(0, before, drawn.flat())], (X, y, K, alpha)
    start = time.perf_counter()

    def note(flat: np.ndarray) -> None:
        nonlocal steps
        if (steps := steps + 1) in STEPS:
            seen.append((steps, before + time.perf_counter() - start, flat.copy()))

    options = {"maxiter": STEPS[-1]}
    end = minimize(
        risk, drawn.flat(), arguments, method="CG", jac=True, callback=note, options=options
    )
    points = []
    for step, seconds, flat in seen:
        is_second = Network.of(flat, K)(X_test) > 0
        error = float(np.mean(model.classes_[is_second.astype(int)] != split.y_test))
        value = float(risk(flat, *arguments)[0])
        points.append({"steps": step, "seconds": seconds, "risk": value, "error": error})
    return {"neurons": K, "alpha": alpha, "evaluations": int(end.nfev), "points": points}


def measure(name: str) -> Iterator[dict[str, Any]]:
    """Kitchen Sinks and joint fits on a data set, after each of these."""
    split = load(name)
    result: dict[str, Any] = {
        "name": name,
        "rows": [len(split.X_train), len(split.X_test)],
        "family": repr(NEURONS[name][SIGMOIDS]),
        "drawn": [],
        "joint": [],
    }
    kitchen_sinks(name, split, SIZES[0])  # since the first fit of a process takes longer
    for K in SIZES:
        model, seconds = kitchen_sinks(name, split, K)
        error = float(np.mean(model.predict(split.X_test) != split.y_test))
        result["drawn"].append({"neurons": K, "seconds": seconds, "error": error})
        print(f"{name:<10} drawn  K = {K:>5,} {seconds:>8.2f} s  {error:.4f}", flush=True)
    for K in JOINT:
        result["joint"].append(joint(name, split, K))
        for point in result["joint"][-1]["points"]:
            after = f"{point['seconds']:>8.2f} s  {point['error']:.4f}  {point['steps']} steps"
            print(f"{name:<10} joint  K = {K:>5,} {after}", flush=True)
        yield result


def draw(result: dict[str, Any]) -> Figure:
    """Error along seconds: of Kitchen Sinks along K, and of each joint fit along its steps."""
    figure = Figure(figsize=(WIDTH, 3.8))
    all_ = figure.subplots(1, len(result["data"]), squeeze=False)[0]
    for axes, one in zip(all_, result["data"], strict=True):
        x, y = ([point[key] for point in one["drawn"]] for key in ("seconds", "error"))
        axes.loglog(x, y, color=BLACK, marker="o", ls="--", label="Kitchen Sinks, more neurons")
        for fit, marker in zip(one["joint"], "sD^", strict=False):
            x, y = ([point[key] for point in fit["points"]] for key in ("seconds", "error"))
            axes.loglog(x, y, marker=marker, label=f"joint fit, K = {fit['neurons']}")
        axes.set(title=one["name"], xlabel="seconds of the fit", ylabel="test error")
        plain_numbers(axes.yaxis)
        axes.xaxis.set_major_formatter("{x:g}")
    figure.legend(*all_[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def main() -> None:
    path = RESULTS / "rahimi2008_joint.json"
    done: dict[str, dict[str, Any]] = {}
    for name in NEURONS:
        for measured in measure(name):
            done[name] = measured
            result = {"data": [*done.values()], "circumstances": circumstances()}
            path.write_text(json.dumps(result, indent=1) + "\n")
    redraw(draw, path)


if __name__ == "__main__":
    main()

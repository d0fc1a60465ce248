"""Kitchen Sinks and Doubly Stochastic Gradients on a graphics card, beside bare torch.

Gaussian neurons on random rows, in single precision, on one device; medians of turns after one
that does not count; every time ends when the device has finished. The bare versions have their
weights on the device, and do with torch's matrix products and factorisations alone:

- activations: the product of the rows with the weights. Ours are its cosines and sines as well,
  in panels of rows, as a fit makes them;
- fit: those products panel by panel, the Gram matrix in double precision, and a Cholesky solve.
  Ours is ``fit`` as a user calls it, at a given alpha and with ``alpha="auto"``;
- step: products of the rows of a batch with the weights of all neurons and their coefficients, and
  of the new activations with the slopes; for steps on blocks the Gram matrix and a Cholesky
  solve. Ours is ``partial_fit`` as a user calls it, and a copy of the coefficients before it, which
  every turn begins from.

``aims.py`` says what the ratios should be, and ``count.py`` what a step does that takes time on a
card. ``published.py`` says what is fitted beside Falkon and EigenPro.

Run as ``SCIPY_ARRAY_API=1 python benchmarks/gpu/run.py``; writes ``benchmarks/results/gpu.json``.
Without a graphics card it says so and ends with exit code 2. ``--device cpu --small --out FILE``
runs small shapes anywhere, which says that the code works, and nothing of its speed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np
import sklearn
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))
import published
from circumstances import circumstances
from trickless import DoublyStochasticRegressor, KitchenSinksRegressor
from trickless._functions.activations import panels as panels_of
from trickless.neurons import Gaussian

RESULTS = Path(__file__).parents[1] / "results"
#: Rows, features, columns (two a neuron) and rows of a panel; the small shapes are for tests.
FIT = {False: (1_000_000, 784, 16_384, 8192), True: (600, 8, 64, 256)}
#: Rows of a batch, features, neurons before it, neurons drawn, outputs, schedule.
STEPS = {
    False: (
        (512, 784, 8_192, 32, 1, "inverse"),
        (16_384, 784, 8_192, 2_048, 10, "inverse"),
        (16_384, 784, 8_192, 2_048, 10, "block"),
    ),
    True: ((64, 8, 64, 16, 2, "inverse"), (64, 8, 64, 16, 2, "block")),
}
ALPHA, LENGTH_SCALE = 1e-6, 10.0


def in_turn(actions, repeats, finish):
    """Median seconds of each action, the device's work included; the first turn does not count."""
    times = {name: [] for name in actions}
    for _ in range(repeats + 1):
        for name, action in actions.items():
            finish()
            start = time.perf_counter()
            action()
            finish()
            times[name].append(time.perf_counter() - start)
    return {name: float(np.median(values[1:])) for name, values in times.items()}


def rows_of(n_rows, n_inputs, n_outputs, device):
    """Random rows and smooth targets, made on the device."""
    generator = torch.Generator(device).manual_seed(0)
    X = torch.randn((n_rows, n_inputs), generator=generator, device=device)
    shift = torch.arange(n_outputs, device=device)
    return X, torch.sin(X[:, :1] + shift) + X[:, 1:2]


def weights_of(model, n_neurons, X):
    (W,) = model._stream_.between(0, n_neurons, X)
    return W


def kitchen_sinks(device, small, repeats, finish):
    """Activations and fits, their bare parts, and what they come to."""
    n_rows, n_inputs, n_columns, n_panel = FIT[small]
    X, Y = rows_of(n_rows, n_inputs, 1, device)
    y = Y[:, 0]
    neurons = Gaussian(LENGTH_SCALE)
    options = {"n_neurons": n_columns // 2, "random_state": 0}
    fixed = KitchenSinksRegressor(neurons, alpha=ALPHA, **options)
    auto = KitchenSinksRegressor(neurons, **options)
    W = weights_of(fixed.fit(X[:n_panel], y[:n_panel]), n_columns // 2, X)
    panels = [slice(i, i + n_panel) for i in range(0, n_rows, n_panel)]

    def products():
        for panel in panels:
            X[panel] @ W.T

    def gram():
        total = torch.zeros((n_columns, n_columns), dtype=torch.float64, device=device)
        cross = torch.zeros((n_columns, 1), dtype=torch.float64, device=device)
        for panel in panels:
            t = X[panel] @ W.T
            Z = torch.cat((t, t), dim=1).double()
            total.addmm_(Z.T, Z)
            cross.addmm_(Z.T, Y[panel].double())
        total.diagonal().add_(n_rows)
        return torch.cholesky_solve(cross, torch.linalg.cholesky(total))

    seconds = in_turn(
        {
            "activations": lambda: [None for _ in panels_of(fixed._stream_, n_columns // 2, X)],
            "bare products": products,
            "fit": lambda: fixed.fit(X, y),
            "fit, alpha='auto'": lambda: auto.fit(X, y),
            "bare fit": gram,
            "predict": lambda: fixed.predict(X),
        },
        repeats,
        finish,
    )
    return {
        "rows": n_rows,
        "inputs": n_inputs,
        "columns": n_columns,
        "seconds": seconds,
        "ratio": {
            "activations": seconds["activations"] / seconds["bare products"],
            "fit": seconds["fit"] / seconds["bare fit"],
            "fit, alpha='auto'": seconds["fit, alpha='auto'"] / seconds["bare fit"],
        },
    }


def step(shape, device, repeats, finish):
    """A step of a stream, and its bare products."""
    n_rows, n_inputs, before, k, n_outputs, schedule = shape
    X, Y = rows_of(n_rows, n_inputs, n_outputs, device)
    model = DoublyStochasticRegressor(
        Gaussian(LENGTH_SCALE),
        n_neurons=before + k,
        batch_size=n_rows,
        neurons_per_step=k,
        schedule=schedule,
        random_state=0,
    )
    while not hasattr(model, "_descent_") or len(model._descent_.coef) < before:
        model.partial_fit(X, Y)
    W = weights_of(model, before, X)
    new = W[:k]
    coef = torch.zeros((2 * before, n_outputs), device=device)

    def bare():
        t = X @ W.T
        f = torch.cat((t, t), dim=1) @ coef
        t = X @ new.T
        Z = torch.cat((t, t), dim=1)
        gradient = Z.T @ (f - Y)
        if schedule == "block":
            covariance = (Z.T @ Z).double()
            covariance.diagonal().add_(n_rows)
            torch.cholesky_solve(gradient.double(), torch.linalg.cholesky(covariance))

    from_here = model._descent_

    def ours():
        model._descent_ = from_here.copy()
        model.partial_fit(X, Y)

    seconds = in_turn({"step": ours, "bare step": bare}, repeats, finish)
    names = "rows", "inputs", "neurons before", "neurons drawn", "outputs", "schedule"
    return {
        **dict(zip(names, shape, strict=True)),
        "seconds": seconds,
        "ratio": seconds["step"] / seconds["bare step"],
    }


def no_card(device):
    """Why nothing can be measured on a device; None if it is there."""
    if device.type != "cuda" or torch.cuda.is_available():
        return None
    return (
        "benchmarks/gpu: there is no CUDA device here, so nothing was measured. Remedy: a machine "
        "with one, or --device cpu --small to test the code."
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cuda", help="a torch device")
    parser.add_argument("--small", action="store_true", help="small shapes, to test the code")
    parser.add_argument("--susy", type=Path, help="SUSY.csv of UCI, for published.py")
    parser.add_argument("--out", type=Path, default=RESULTS / "gpu.json")
    arguments = parser.parse_args()
    device = torch.device(arguments.device)
    if (why := no_card(device)) is not None:
        print(why, file=sys.stderr)
        return 2
    sklearn.set_config(array_api_dispatch=True)
    repeats = 1 if arguments.small else 5
    result = {
        "circumstances": circumstances()
        | {
            "torch": torch.__version__,
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else str(device),
        },
    }

    def finish():
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    small, shapes = arguments.small, STEPS[arguments.small]
    parts = {
        "kitchen_sinks": lambda: kitchen_sinks(device, small, repeats, finish),
        "steps": lambda: [step(shape, device, repeats, finish) for shape in shapes],
        "published": lambda: published.compare(device, small, arguments.susy, finish),
    }
    for name, measure in parts.items():
        result[name] = measure()
        arguments.out.write_text(json.dumps(result, indent=1) + "\n")  # what there is so far
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

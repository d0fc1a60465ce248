"""Whether learners on a graphics card are as near to bare torch as they aim to be, in 4 minutes.

Medians of interleaved turns, with the shapes and the bare versions of ``run.py``:

- activations at most 1.3 times bare torch, and a fit with ``alpha="auto"`` at most 1.2 times;
- a step of Doubly Stochastic at most 5 times at 512 rows, and 1.5 times at 16,384;
- MNIST by steps on blocks in seconds, with an error of at most 1.8 %, if ``--mnist`` names a file
  with the arrays ``X`` and ``y``, whose last 10,000 rows are for testing;
- rows that are streamed from the memory of the host: ``partial_fit`` on their chunks takes as long
  as the slower of the transfer and the arithmetic of bare torch.

A part that would begin after ``--seconds`` is left out, and the result says so.

Run as ``SCIPY_ARRAY_API=1 python benchmarks/gpu/aims.py``; writes
``benchmarks/results/gpu_aims.json``. ``--device cpu --small --out FILE`` tests the code.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import numpy as np
import sklearn
import torch

from circumstances import circumstances
from run import FIT, LENGTH_SCALE, RESULTS, STEPS, in_turn, kitchen_sinks, no_card, rows_of, step
from trickless import DoublyStochasticClassifier, KitchenSinksRegressor
from trickless.neurons import Gaussian

#: The largest ratios to bare torch: of parts of Kitchen Sinks, and of steps by their rows.
SINKS, FEW_ROWS, STEP, FEW = {"activations": 1.3, "fit, alpha='auto'": 1.2}, 512, 1.5, 5.0
#: Turns of Kitchen Sinks and of steps, after one that does not count.
TURNS = {False: (2, 20), True: (1, 1)}
#: Rows, features, columns and rows of a chunk of the stream.
STREAM = {False: (1_000_000, 100, 16_384, 65_536), True: (600, 8, 64, 256)}
TEST_ROWS = 10_000


def of_sinks(device, small, finish):
    found = kitchen_sinks(device, small, TURNS[small][0], finish)
    return {f"Kitchen Sinks, {name}": (found["ratio"][name], most) for name, most in SINKS.items()}


def of_steps(device, small, finish):
    found = {}
    for shape in STEPS[small]:
        most = FEW if shape[0] <= FEW_ROWS else STEP
        name = f"a step on {shape[0]:,} rows, schedule={shape[-1]!r}"
        found[name] = (step(shape, device, TURNS[small][1], finish)["ratio"], most)
    return found


def of_stream(device, small, finish):
    """Seconds of a stream of chunks over the slower of their transfer and their arithmetic."""
    n_rows, n_inputs, n_columns, size = STREAM[small]
    X, Y = rows_of(n_rows, n_inputs, 1, "cpu")
    if device.type == "cuda":
        X, Y = X.pin_memory(), Y.pin_memory()
    chunks = [slice(i, min(i + size, n_rows)) for i in range(0, n_rows, size)]
    options = {"n_neurons": n_columns // 2, "alpha": 1e-6, "random_state": 0}
    model = KitchenSinksRegressor(Gaussian(LENGTH_SCALE), **options)
    there = X[chunks[0]].to(device)
    (W,) = model.fit(there, Y[chunks[0], 0].to(device))._stream_.between(0, n_columns // 2, there)
    panel = FIT[small][3]

    def moved():
        for chunk in chunks:
            X[chunk].to(device)

    def arithmetic():
        total = torch.zeros((n_columns, n_columns), dtype=torch.float64, device=device)
        for chunk in chunks:
            for some in torch.split(there[: chunk.stop - chunk.start], panel):
                t = some @ W.T
                Z = torch.cat((t.cos(), t.sin()), dim=1).double()
                total.addmm_(Z.T, Z)

    def ours():
        model = KitchenSinksRegressor(Gaussian(LENGTH_SCALE), **options)
        for chunk in chunks:
            model.partial_fit(X[chunk].to(device, non_blocking=True), Y[chunk, 0].to(device))

    seconds = in_turn({"ours": ours, "transfer": moved, "arithmetic": arithmetic}, 1, finish)
    slower = max(seconds["transfer"], seconds["arithmetic"])
    return {f"a stream of {n_rows:,} rows": (seconds["ours"] / slower, 1.5)}


def of_mnist(path, device, finish):
    """Seconds and error of MNIST by steps on blocks."""
    if path is None:
        return {}
    with np.load(path) as file:
        X, y = file["X"].reshape(len(file["y"]), -1).astype(np.float32) / 255, file["y"].astype(int)
    X, y = torch.tensor(X, device=device), torch.tensor(y, device=device)
    train, test = slice(None, -TEST_ROWS), slice(-TEST_ROWS, None)
    finish()
    begin = time.perf_counter()
    model = DoublyStochasticClassifier(random_state=0).fit(X[train], y[train])
    finish()
    seconds = time.perf_counter() - begin
    wrong = float((model.predict(X[test]) != y[test]).double().mean())
    return {"MNIST, seconds": (seconds, 10.0), "MNIST, error in %": (100 * wrong, 1.8)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cuda", help="a torch device")
    parser.add_argument("--small", action="store_true", help="small shapes, to test the code")
    parser.add_argument("--mnist", type=Path, help="a NumPy archive of MNIST")
    parser.add_argument("--seconds", type=float, default=200.0, help="begin no part after these")
    parser.add_argument("--out", type=Path, default=RESULTS / "gpu_aims.json")
    arguments = parser.parse_args()
    device, small = torch.device(arguments.device), arguments.small
    if (why := no_card(device)) is not None:
        print(why, file=sys.stderr)
        return 2
    sklearn.set_config(array_api_dispatch=True)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)
    result = {"circumstances": circumstances() | {"torch": torch.__version__, "device": name}}

    def finish():
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    parts = {
        "steps": lambda: of_steps(device, small, finish),
        "MNIST": lambda: of_mnist(arguments.mnist, device, finish),
        "stream": lambda: of_stream(device, small, finish),
        "Kitchen Sinks": lambda: of_sinks(device, small, finish),
    }
    begin, missed = time.perf_counter(), []
    result |= {"aims": {}, "left out": []}
    for part, measure in parts.items():
        if time.perf_counter() - begin > arguments.seconds:
            result["left out"].append(part)
            continue
        for what, (value, most) in measure().items():
            result["aims"][what] = {"found": value, "at most": most}
            missed += [what] * (value > most)
            print(f"{what}: {value:.3g}, and at most {most:g} is the aim", flush=True)
        arguments.out.write_text(json.dumps(result, indent=1) + "\n")  # what there is so far
    print(f"{len(missed)} of {len(result['aims'])} are missed; left out: {result['left out']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

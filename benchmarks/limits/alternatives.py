"""Ways to make the engine faster that were tried, and what each would save.

All on one thread, in seconds of the processor, minima of ``REPEATS`` repeats made in turn; a block
is 512 rows of 100 features by 256 Gaussian neurons in single precision, a panel 4,096 rows.

- cosines and sines written straight into the panel, without arrays of a block in between;
- weights drawn while the block before is multiplied: what a draw takes beside the activations;
- blocks of other numbers of rows;
- the Gram matrix in products of other numbers of rows than 512, and tiles of other numbers of
  columns than 500; as one product a panel in double precision, which is exact, or in single;
- cosines by numexpr and torch, where they are installed.

Run as ``make bench-limits``; writes ``benchmarks/results/engine_alternatives.json``.
"""

from __future__ import annotations

import json
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from bare import blocks, one_blas_thread

from circumstances import circumstances
from trickless._functions.stream import BLOCK, NeuronStream
from trickless._solvers.least_squares import gram as gram_module
from trickless.neurons import Gaussian

PATH = Path(__file__).parents[1] / "results" / "engine_alternatives.json"
PANEL, ROWS, INPUTS, COLUMNS, REPEATS = 4096, 512, 100, 2000, 7


def least(actions, times=1):
    """Least processor seconds of each action, made so many times in a row."""
    found = dict.fromkeys(actions, np.inf)
    for _ in range(REPEATS):
        for name, action in actions.items():
            start = time.process_time()
            for _ in range(times):
                action()
            found[name] = min(found[name], (time.process_time() - start) / times)
    return found


def activations(rng):
    """Our way, the way in place, other sizes of blocks, and a draw."""
    X = rng.standard_normal((PANEL, INPUTS), dtype="float32")
    neurons = Gaussian(10.0).fit(X, rng)
    stream = NeuronStream(neurons, 0)
    weights = stream.block(0)
    (W,) = weights
    Z = np.empty((PANEL, 2 * BLOCK), dtype="float32")

    def ours(size=ROWS):
        for rows in blocks(PANEL, size):
            Z[rows] = neurons(X[rows], weights)

    def in_place():
        for rows in blocks(PANEL, ROWS):
            t = X[rows] @ W.T
            np.cos(t, out=Z[rows, :BLOCK])
            np.sin(t, out=Z[rows, BLOCK:])

    actions = {"blocks of 512 rows": ours, "in place": in_place, "draw": lambda: stream._draw(1)}
    for size in (128, 256, 1024, 2048):
        actions[f"blocks of {size:,} rows"] = lambda size=size: ours(size)
    return least(actions, 5)


def gram(rng):
    """Our way with several sizes of tiles, and one product in either precision."""
    Z = rng.standard_normal((PANEL, COLUMNS), dtype="float32")
    total, cross, ones = np.zeros((COLUMNS, COLUMNS)), np.zeros((COLUMNS, 1)), np.ones((PANEL, 1))
    ours = gram_module._ROWS, gram_module._TILE

    def tiles(*size):
        gram_module._ROWS, gram_module._TILE = size
        gram_module.add_products(total, cross, Z, ones, np.inf, 1)
        gram_module._ROWS, gram_module._TILE = ours

    def product(dtype):
        part = Z.astype(dtype, copy=False)
        np.add(total, part.T @ part, out=total)

    sizes = [ours, (256, 500), (1024, 500), (512, 250), (512, 1000)]
    actions = {f"{r:,} rows, {c} columns": lambda r=r, c=c: tiles(r, c) for r, c in sizes}
    actions["double"] = lambda: product("float64")
    actions["single"] = lambda: product("float32")
    return least(actions)


def cosines(rng):
    """Seconds for one block, by each library that is installed."""
    t = 5 * rng.standard_normal((ROWS, BLOCK), dtype="float32")
    out = np.empty_like(t)
    actions = {"numpy": lambda: np.cos(t, out=out)}
    if find_spec("numexpr"):
        import numexpr

        numexpr.set_num_threads(1)
        actions["numexpr"] = lambda: numexpr.evaluate("cos(t)", {"t": t}, out=out)
    if find_spec("torch"):
        import torch

        torch.set_num_threads(1)
        source, target = torch.from_numpy(t), torch.from_numpy(out)
        actions["torch"] = lambda: torch.cos(source, out=target)
    return least(actions, 20)


def main():
    rng = np.random.default_rng(0)
    result = {"circumstances": circumstances()}
    with one_blas_thread():
        for part in (activations, gram, cosines):
            result[part.__name__] = part(rng)
    result["versions"] = {name: version(name) for name in result["cosines"]}
    print(json.dumps(result, indent=1))
    PATH.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()

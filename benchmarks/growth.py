"""How the time of a fit grows, and whether it jumps where work is cut into blocks.

Growth: seconds of fits along one size at a time, four of them (or two) to a decade in turn, medians
of at most ``REPEATS`` repeats that count, fewer where one takes long. The exponent is the slope of
log seconds against log size by least squares, with its standard error: over all sizes, and over the
largest decade, where what a fit costs in any case matters least. The theory says for Kitchen Sinks
n c² + n c d for n rows, c columns and d features: 1, 1 and at most 2. A pass of Doubly Stochastic
steps evaluates for each row the neurons drawn before it, and Shrinking Gradient for each round the
support so far: exponents of at most 2 in neurons and in rounds, and 1 in features.

Boundaries: two sizes next to each other, one below and one above where a panel or a block of
rows, a block of neurons, a budget or a threshold ends. The ratio is that of the time per row (or
neuron), the median over pairs of fits or predictions made in turn. Below 1 is a gain.

Run as ``make bench-growth``; writes ``benchmarks/results/growth.json`` in about 8 minutes. With
``--quick`` it takes a minute, leaves out the largest decade, and says so in the file.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

from circumstances import circumstances
from trickless import (
    DoublyStochasticRegressor,
    KitchenSinksRegressor,
    ShrinkingGradientRegressor,
)
from trickless._arrays.threads import _WORTH_SHARING, ROWS_PER_BLOCK
from trickless._functions.activations import PANEL_ROWS
from trickless._functions.stream import BLOCK
from trickless._solvers.least_squares.statistics import ROUNDED_FROM
from trickless._solvers.least_squares.sums import PASSES_ABOVE
from trickless.neurons import Gaussian

PATH = Path(__file__).parent / "results" / "growth.json"
#: Repeats that count, and seconds after which a size is not repeated; pairs at a boundary.
REPEATS, ENOUGH, PAIRS = 7, 20.0, 21
#: Seconds before each timed call: BLAS threads of the one before wait busily for a while.
REST = 0.05

Action = Callable[[], Any]


def problem(n_rows: int, n_inputs: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).standard_normal((n_rows, n_inputs), dtype="float32")
    return X, np.sin(X[:, 0]) + X[:, 1]


def gaussian(n_inputs: int) -> Gaussian:
    """Neurons that take nothing from the data."""
    return Gaussian(float(np.sqrt(n_inputs)))


def kitchen_sinks(n_rows: int = 5000, n_inputs: int = 10, n_neurons: int = 100) -> Action:
    model = KitchenSinksRegressor(gaussian(n_inputs), n_neurons, alpha=1e-6, random_state=0)
    return partial(model.fit, *problem(n_rows, n_inputs))


def doubly_stochastic(n_inputs: int = 10, n_neurons: int = 512) -> Action:
    """One pass: a step has 128 rows and 32 neurons."""
    model = DoublyStochasticRegressor(
        gaussian(n_inputs),
        n_neurons,
        batch_size=128,
        neurons_per_step=32,
        step_size=0.1,
        random_state=0,
    )
    return partial(model.fit, *problem(4 * n_neurons, n_inputs))


def shrinking_gradient(n_rows: int = 2000, n_inputs: int = 10) -> Action:
    """Rounds of 32 rows and 64 neurons, whose full sums go over the whole support."""
    model = ShrinkingGradientRegressor(
        gaussian(n_inputs),
        64,
        n_draws=64,
        batch_size=32,
        step_size=1 / 32,
        estimate="full",
        random_state=0,
    )
    return partial(model.fit, *problem(n_rows, n_inputs))


#: Learner, what grows, the range of it, sizes to a decade, exponent of the theory.
LINES: tuple[tuple[Callable[..., Action], str, tuple[float, float], int, str], ...] = (
    (kitchen_sinks, "n_rows", (1e3, 1e6), 4, "1"),
    (kitchen_sinks, "n_inputs", (1e1, 1e4), 4, "1"),
    (kitchen_sinks, "n_neurons", (1e2, 1e4), 4, "≤ 2"),
    (doubly_stochastic, "n_neurons", (1e3, 3e4), 4, "≤ 2"),
    (doubly_stochastic, "n_inputs", (1e1, 1e4), 2, "1"),
    (shrinking_gradient, "n_rows", (1e3, 3e4), 4, "≤ 2"),
    (shrinking_gradient, "n_inputs", (1e1, 1e4), 2, "1"),
)
#: Sizes beyond this are left out of a quick run.
QUICK = {"n_rows": 1e4, "n_inputs": 1e3, "n_neurons": 1e3}


def seconds_of(actions: dict[int, Action], repeats: int) -> dict[int, float]:
    """Median seconds of each, in turn; the first turn counts only where there is no other."""
    times: dict[int, list[float]] = {size: [] for size in actions}
    for _ in range(repeats + 1):
        for size, action in actions.items():
            if sum(times[size]) < ENOUGH:
                times[size].append(timed(action))
    return {size: float(np.median(values[1:] or values)) for size, values in times.items()}


def timed(action: Action) -> float:
    time.sleep(REST)
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def exponent(sizes: np.ndarray, seconds: np.ndarray) -> dict[str, float]:
    """Slope of log seconds against log size, and its standard error."""
    x, y = np.log(sizes), np.log(seconds)
    x, y = x - x.mean(), y - y.mean()
    slope = x @ y / (x @ x)
    residual = y - slope * x
    error = np.sqrt(residual @ residual / max(len(x) - 2, 1) / (x @ x))
    return {"exponent": float(slope), "standard_error": float(error)}


def growth(quick: bool) -> list[dict[str, Any]]:
    lines = []
    for make, what, (first, last), per_decade, theory in LINES:
        last = last / 10 if quick else last
        n_sizes = round(per_decade * np.log10(last / first)) + 1
        sizes = np.geomspace(first, last, n_sizes).round().astype(int)
        actions = {int(size): make(**{what: int(size)}) for size in sizes}
        seconds = seconds_of(actions, 1 if quick else REPEATS)
        spent = np.array([seconds[size] for size in sizes])
        largest = sizes >= 0.99 * last / 10
        lines.append(
            {
                "learner": make.__name__,
                "size": what,
                "theory": theory,
                "seconds": {str(size): value for size, value in seconds.items()},
                "all": exponent(sizes, spent),
                "largest decade": exponent(sizes[largest], spent[largest]),
            }
        )
        print(json.dumps(lines[-1]), flush=True)
    return lines


def fit(n_rows: int, n_neurons: int, alpha: float | str = 1e-6) -> Action:
    model = KitchenSinksRegressor(gaussian(10), n_neurons, alpha=alpha, random_state=0)
    return partial(model.fit, *problem(n_rows, 10))


def predict(n_rows: int, n_neurons: int, n_inputs: int = 10, kept: int = 2**28) -> Action:
    X, y = problem(max(n_rows, 1000), n_inputs)
    model = KitchenSinksRegressor(gaussian(n_inputs), n_neurons, alpha=1e-6, random_state=0)
    with sklearn.config_context(working_memory=4 * kept / 2**20):
        model.fit(X[:1000], y[:1000])
    return partial(model.predict, X[:n_rows])


def boundaries(quick: bool) -> list[dict[str, Any]]:
    """What ends, and actions below and above it with what their seconds are counted per."""
    four = 4 * BLOCK * 100 * 4  # bytes of four blocks of weights
    cases: list[tuple[str, tuple[Action, int], tuple[Action, int]]] = []
    for n in (ROWS_PER_BLOCK, 2 * ROWS_PER_BLOCK, 8 * ROWS_PER_BLOCK):
        cases.append(
            (f"rows of a block: {n:,}", (predict(n, 2048), n), (predict(n + 1, 2048), n + 1))
        )
    n = PANEL_ROWS
    cases.append((f"rows of a panel: {n:,}", (fit(n, 500), n), (fit(n + 1, 500), n + 1)))
    n = ROUNDED_FROM
    cases.append(
        (f"products in double precision: {n:,} rows", (fit(n - 1, 500), n - 1), (fit(n, 500), n))
    )
    for k in (BLOCK, 4 * BLOCK):
        cases.append((f"neurons of a block: {k:,}", (fit(5000, k), k), (fit(5000, k + 1), k + 1)))
    n = _WORTH_SHARING // (2 * 512)
    cases.append(
        (f"worth two threads: {n:,} rows", (predict(n - 1, 512), n - 1), (predict(n, 512), n))
    )
    below, above = (predict(10_000, 1024, 100, kept=size) for size in (four, four - 1))
    cases.append(("weights kept: 4 blocks and 3", (below, 1), (above, 1)))
    k = PASSES_ABOVE // 2
    if not quick:
        cases.append(
            (f"direct solver: {2 * k:,} columns", (fit(5000, k), k), (fit(5000, k + 1), k + 1))
        )
    found = []
    for name, (below, small), (above, large) in cases:
        pairs: list[tuple[float, float]] = []
        while len(pairs) < (6 if quick else PAIRS + 1) and np.sum(pairs) < ENOUGH:
            pairs.append((timed(below) / small, timed(above) / large))
        counted = np.array(pairs[1:] or pairs)
        ratios = counted[:, 1] / counted[:, 0]
        spread = np.quantile(ratios, (0.25, 0.75))
        found.append(
            {
                "boundary": name,
                "pairs": len(ratios),
                "seconds": (np.median(counted, axis=0) * (small, large)).tolist(),
                "ratio": float(np.median(ratios)),
                "quartiles": spread.tolist(),
            }
        )
        print(json.dumps(found[-1]), flush=True)
    return found


def main() -> None:
    quick = "--quick" in sys.argv[1:]
    result = {
        "circumstances": circumstances(),
        "quick": quick,
        "boundaries": boundaries(quick),
        "growth": growth(quick),
    }
    PATH.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()

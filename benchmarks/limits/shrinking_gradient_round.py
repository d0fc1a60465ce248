"""What a round of Shrinking Gradient costs beyond the arithmetic that it cannot avoid.

A round with a support of t points, b rows and m neurons in "full" mode needs the activations of
the support and of the rows, and two products: of the support's activations with the coefficients,
and of the rows' with the sums. The bare version does these with NumPy and nothing else, on weights
drawn beforehand, once on whole matrices with BLAS on all threads, and once by blocks of 512 rows on
as many threads; the faster one counts. All are timed in turn in one process, medians of 15.

Run as ``make bench-limits``; writes ``benchmarks/results/shrinking_gradient_round.json``.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from bare import activations, in_turn, one_blas_thread

from circumstances import circumstances
from trickless import ShrinkingGradientRegressor
from trickless._arrays.threads import n_threads
from trickless.neurons import Gaussian

SHAPES = (
    (1_000, 32, 512),
    (10_000, 1, 512),
    (10_000, 32, 512),
    (10_000, 256, 512),
    (50_000, 32, 512),
)
COLUMNS = 100
REPEATS = 15


def bare(support, alpha, X, W):
    """Whole matrices."""
    coef = activations(support, W).T @ alpha / len(W)
    return activations(X, W) @ coef


def bare_in_blocks(support, alpha, X, W, pool, rows=512, neurons=256):
    """The same by blocks on threads, each with BLAS on one."""

    def part(start):
        some = slice(start, start + rows)
        sums = [
            activations(support[some], W[first : first + neurons]).T @ alpha[some]
            for first in range(0, len(W), neurons)
        ]
        return np.concatenate(sums)

    sums = sum(pool.map(part, range(0, len(support), rows))) / len(W)
    total = 0.0
    for first in range(0, len(W), neurons):
        some = slice(2 * first, 2 * first + 2 * neurons)
        total = total + activations(X, W[first : first + neurons]) @ sums[some]
    return total


def fitted(t, m, rng):
    """A learner whose support has t points, by way of one batch of tiny steps."""
    X = rng.standard_normal((t, COLUMNS))
    model = ShrinkingGradientRegressor(
        Gaussian(10.0),
        n_draws=m,
        estimate="full",
        schedule="constant",
        step_size=1e-6,
        batch_size=t,
        y_range=(-1, 1),
        random_state=0,
    )
    return model.partial_fit(X, np.sin(X[:, 0]))


def measure(t, b, m, pool):
    """Medians of the three, in turn."""
    rng = np.random.default_rng(0)
    model = fitted(t, m, rng)
    X = rng.standard_normal((b, COLUMNS)).astype("float32")
    W = model.neurons_.draw(rng, m)[0].astype("float32")
    support = model._rounds_.support.rows
    alpha = model._rounds_.coefficients.last().astype("float32")

    def in_blocks():
        with one_blas_thread():
            bare_in_blocks(support, alpha, X, W, pool)

    actions = {
        "round": lambda: model.estimates_(X, model._rounds_),
        "bare": lambda: bare(support, alpha, X, W),
        "bare in blocks": in_blocks,
        "draw": lambda: model.neurons_.draw(rng, m)[0].astype("float32"),
    }
    median = in_turn(actions, REPEATS)
    result = {"support": t, "rows": b, "neurons": m, "seconds": median}
    result["ratio"] = median["round"] / min(median["bare"], median["bare in blocks"])
    print(
        f"t={t:>6} b={b:>4} m={m}: round {1e3 * median['round']:.2f} ms, bare "
        f"{1e3 * median['bare']:.2f}, in blocks {1e3 * median['bare in blocks']:.2f}, drawing "
        f"{1e3 * median['draw']:.2f}; ratio {result['ratio']:.2f}",
        flush=True,
    )
    return result


def main():
    with ThreadPoolExecutor(n_threads(None)) as pool:
        runs = [measure(*shape, pool) for shape in SHAPES]
    result = {"circumstances": circumstances(), "columns": COLUMNS, "runs": runs}
    path = Path(__file__).parents[1] / "results" / "shrinking_gradient_round.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()

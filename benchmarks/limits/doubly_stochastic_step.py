"""What a step of Doubly Stochastic Gradients costs beyond the arithmetic that it cannot avoid.

A step of a stream on b rows and k neurons, after n neurons, needs the activations of the rows by
all n + k neurons, their products with the coefficients, and the products of the new activations
with the slopes of the loss; for steps on blocks also their Gram matrix and its Cholesky
factor. The bare version does these with NumPy and SciPy, by blocks of 512 rows (of 256 neurons,
where there is one such block) on as many threads as BLAS would use, or on whole matrices with BLAS
on all threads; the faster one counts. Weights are drawn and cached beforehand for both. Ours is the
step that ``fit`` takes, and ``partial_fit`` as a user calls it, with checks of its input. All are
timed in turn in one process, medians of 9.

The second part is what keeping f at the training rows saves: seconds of ``fit`` against the same
steps by ``partial_fit``, which predicts every batch from scratch.

Run as ``make bench-limits``; writes ``benchmarks/results/doubly_stochastic_step.json``.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from bare import ROWS, activations, blocks, in_turn, network, one_blas_thread
from scipy import linalg

from circumstances import circumstances
from trickless import DoublyStochasticRegressor
from trickless._arrays.threads import n_threads
from trickless._learners.descent_sizes import size_up
from trickless._solvers.descent.batches import MiniBatch
from trickless.neurons import Gaussian

#: Rows b, new neurons k, earlier neurons n, features, outputs, schedule.
SHAPES = (
    (512, 32, 20_000, 100, 1, "inverse"),
    (512, 32, 2_048, 100, 1, "inverse"),
    (4_096, 256, 20_480, 100, 1, "inverse"),
    (8_192, 512, 8_192, 784, 10, "inverse"),
    (8_192, 512, 8_192, 784, 10, "block"),
)
#: Rows, rows a step, neurons a step, passes.
FITS = ((10_000, 1_000, 100, 1), (10_000, 1_000, 100, 4), (10_000, 1_000, 100, 16))
DAMPING, REPEATS = 1e-4, 9
RESULTS = Path(__file__).parents[1] / "results"


def data(rows, columns, outputs):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns)).astype("float32")
    return X, np.sin(X[:, :1] + np.arange(outputs))


def bare_step(X, y, W, coef, new, block, f, pool):
    """Predict, then a step of the squared loss on the new neurons."""
    slope = (f(X, W, coef) - y).astype("float32") / len(X)
    Z = np.empty((len(X), 2 * len(new)), dtype="float32")
    if pool is None:
        Z = activations(X, new)
    else:

        def fill(rows):
            Z[rows] = activations(X[rows], new)

        list(pool.map(fill, blocks(len(X), ROWS)))
    gradient = Z.T @ slope
    if block:
        covariance = (Z.T @ Z).astype("float64") / len(X)
        covariance.flat[:: len(covariance) + 1] += DAMPING / 2
        gradient = linalg.cho_solve(linalg.cho_factor(covariance), gradient)
    return gradient


def measure_step(b, k, n, columns, outputs, schedule, pool):
    X, y = data(b, columns, outputs)
    y = y[:, 0] if outputs == 1 else y
    model = DoublyStochasticRegressor(
        Gaussian(10.0),
        batch_size=b,
        neurons_per_step=n,
        step_size=0.1,
        schedule="inverse",
        random_state=0,
    ).partial_fit(X, y)
    model.set_params(neurons_per_step=k, schedule=schedule)
    (W,) = model._stream_.between(0, n)
    new = W[:k]
    model._stream_.between(n, n + k)
    order = [
        np.concatenate([model.neuron_coef_[s, 0], model.neuron_coef_[s, 1]]) for s in blocks(n, 256)
    ]
    coef = np.concatenate(order)
    targets = y.reshape(b, -1)

    def in_blocks():
        with one_blas_thread():
            f = lambda X, W, coef: network(X, W, coef, pool)  # noqa: E731
            bare_step(X, targets, W, coef, new, schedule, f, pool)

    def whole():
        f = lambda X, W, coef: activations(X, W) @ coef  # noqa: E731
        bare_step(X, targets, W, coef, new, schedule, f, None)

    def after(action):
        """The action, after which there are n neurons again: its next run is the same."""

        def run():
            action()
            model._descent_.coef.keep(np.arange(n))

        return run

    options = size_up(model, len(targets), True)

    def step():
        model._descent_.step(MiniBatch(X, targets), k, options)

    actions = {"step": after(step), "bare in blocks": in_blocks}
    actions |= {"partial_fit": after(lambda: model.partial_fit(X, y)), "bare": whole}
    seconds = in_turn(actions, REPEATS)
    result = {
        "rows": b,
        "new": k,
        "neurons": n,
        "columns": columns,
        "outputs": outputs,
        "schedule": schedule,
        "seconds": seconds,
        "ratio": seconds["step"] / min(seconds["bare"], seconds["bare in blocks"]),
        "ratio of partial_fit": seconds["partial_fit"]
        / min(seconds["bare"], seconds["bare in blocks"]),
    }
    print(json.dumps(result), flush=True)
    return result


def measure_fit(rows, b, k, passes):
    X, y = data(rows, 50, 1)
    y = y[:, 0]
    steps = passes * rows // b
    options = {"batch_size": b, "neurons_per_step": k, "step_size": 0.1, "random_state": 0}

    def scratch():
        model = DoublyStochasticRegressor(Gaussian(7.0), **options)
        for step in range(steps):
            some = slice(step * b % rows, step * b % rows + b)
            model.partial_fit(X[some], y[some])

    actions = {
        "kept": lambda: DoublyStochasticRegressor(Gaussian(7.0), k * steps, **options).fit(X, y),
        "scratch": scratch,
    }
    seconds = in_turn(actions, 3)
    result = {"rows": rows, "batch": b, "new": k, "passes": passes, "seconds": seconds}
    result["speed_up"] = seconds["scratch"] / seconds["kept"]
    print(json.dumps(result), flush=True)
    return result


def main():
    with ThreadPoolExecutor(n_threads(None)) as pool:
        steps = [measure_step(*shape, pool) for shape in SHAPES]
    fits = [measure_fit(*shape) for shape in FITS]
    result = {"circumstances": circumstances(), "steps": steps, "fits": fits}
    path = RESULTS / "doubly_stochastic_step.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()

"""Operations, waits and transfers of a step on a graphics card, counted without one.

``crossings.py`` says what is counted, on torch for processors. Counts of operations depend on the
numbers of neurons and blocks, and not on rows and features up to 65,536 rows. Bytes depend on both.

- A step of a stream is ``partial_fit`` as a user calls it, on a model that has neurons already. The
  call checks its rows, and evaluates the earlier neurons.
- A step of a fit is the difference of two fits, so what begins and ends a fit does not count.
- A panel of Kitchen Sinks is a difference as well, and its fit has what comes before and after.
- A tree is chosen and learned by torch alone, cut by cut, from eight columns with eight thresholds
  each. Nothing of it is in the package: it says how many operations trees would need. Beside it are
  the seconds of the processor for a tree of the package on one thread of the host.

Run as ``SCIPY_ARRAY_API=1 python benchmarks/gpu/count.py``; writes the part ``now`` of
``benchmarks/results/gpu_counts.json``. ``--label before`` writes another part, with the package of
an older commit on ``PYTHONPATH``. ``--small`` counts small shapes, to test the code.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from functools import partial
from pathlib import Path
from unittest import mock

os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np
import sklearn
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))
from circumstances import circumstances
from crossings import counting
from run import rows_of
from trickless import BoostedTreesRegressor, DoublyStochasticRegressor, KitchenSinksRegressor
from trickless._functions import activations
from trickless.neurons import Gaussian

RESULTS = Path(__file__).parents[1] / "results"
#: Rows of a batch, features, neurons before it, neurons drawn, outputs, schedule.
STEPS = {
    False: (
        (512, 784, 8_192, 32, 1, "inverse"),
        (1_024, 16, 8_192, 2_048, 10, "inverse"),
        (1_024, 16, 8_192, 512, 10, "block"),
    ),
    True: ((64, 8, 512, 16, 2, "inverse"), (64, 8, 512, 16, 2, "block")),
}
#: Rows of a panel, features, neurons.
PANEL = {False: (1_024, 16, 512), True: (256, 8, 32)}
LENGTH_SCALE = 10.0
#: Rows, features, depth, columns and thresholds of a tree.
TREE = (4_096, 54, 10, 8, 8)
#: Rows of trees on the host.
HOST_ROWS = {False: (4_096, 65_536), True: (256,)}
#: Trees of two fits on the host.
TREES = {False: (10, 40), True: (3, 4)}


def counted(call):
    """What a call counts, after one that leaves its constants and weights on the device."""
    call()
    with counting() as counts:
        call()
    return counts.numbers()


def less(more, fewer, n):
    """The difference of two counts, for each of n steps."""
    return {name: (more[name] - fewer[name]) / n for name in more}


def steps(shape):
    n_rows, n_inputs, before, k, n_outputs, schedule = shape
    options = {
        "batch_size": n_rows,
        "neurons_per_step": k,
        "schedule": schedule,
        "random_state": 0,
    }
    neurons = Gaussian(LENGTH_SCALE)
    X, Y = rows_of(n_rows, n_inputs, n_outputs, "cpu")
    model = DoublyStochasticRegressor(neurons, before, **options | {"neurons_per_step": before})
    model.set_params(schedule="inverse").partial_fit(X, Y)
    model.set_params(neurons_per_step=k, schedule=schedule)
    from_here = model._descent_

    def step():
        model._descent_ = from_here.copy()
        model.partial_fit(X, Y)

    all_rows = rows_of(4 * n_rows, n_inputs, n_outputs, "cpu")
    few, many = (
        counted(lambda n=n: DoublyStochasticRegressor(neurons, n * k, **options).fit(*all_rows))
        for n in (4, 8)
    )
    names = "rows", "inputs", "neurons before", "neurons drawn", "outputs", "schedule"
    return {
        **dict(zip(names, shape, strict=True)),
        "a step of a stream": counted(step),
        "a step of a fit": less(many, few, 4),
    }


def kitchen_sinks(shape):
    n_panel, n_inputs, n_neurons = shape
    bytes_of_panel = n_panel * 8 * 2 * n_neurons
    found = {"rows of a panel": n_panel, "inputs": n_inputs, "columns": 2 * n_neurons}
    with mock.patch.object(activations, "PANEL_BYTES_ON_DEVICE", bytes_of_panel):
        X, Y = rows_of(6 * n_panel, n_inputs, 1, "cpu")
        y = Y[:, 0]
        for alpha in (1e-6, "auto"):
            model = KitchenSinksRegressor(
                Gaussian(LENGTH_SCALE), n_neurons, alpha=alpha, random_state=0
            )
            few, many = (
                counted(partial(model.fit, X[: n * n_panel], y[: n * n_panel])) for n in (4, 6)
            )
            panel = less(many, few, 2)
            rest = {name: few[name] - 4 * panel[name] for name in few}
            found |= {"a panel": panel, f"the rest of a fit, alpha={alpha!r}": rest}
        found["a prediction"] = counted(lambda: model.predict(X[:n_panel]))
    return found


def tree(small):
    """Choose a tree of the best cuts, and take a Newton step on its leaves."""
    n_rows, n_features, depth, n_columns, n_thresholds = TREE
    generator = torch.Generator().manual_seed(0)
    bins = torch.randint(0, 255, (n_features, n_rows), generator=generator, dtype=torch.uint8)
    g, f = torch.randn(n_rows, generator=generator, dtype=torch.float64), torch.zeros(n_rows)
    sums = torch.stack([g, torch.ones_like(g)])
    drawn = torch.randint(0, n_features, (depth, n_columns), generator=generator)
    cuts = torch.randint(1, 255, (depth, n_columns, n_thresholds), generator=generator)
    rows = torch.arange(n_rows)

    def grow():
        leaf = torch.zeros(n_rows, dtype=torch.long)
        for d in range(depth):
            candidates = (bins[drawn[d]][:, None] > cuts[d][:, :, None]).flatten(0, 1)
            number = 2 * leaf + candidates + 2 ** (d + 1) * torch.arange(len(candidates))[:, None]
            total = torch.zeros(2, len(candidates) * 2 ** (d + 1), dtype=torch.float64)
            total.index_add_(1, number.flatten(), sums.repeat(1, len(candidates)))
            gain = (total[0] ** 2 / (total[1] + 1.0)).view(len(candidates), -1).sum(dim=1)
            best = gain.argmax()
            leaf = 2 * leaf + candidates.index_select(0, best[None])[0]
        total = torch.zeros(2, 2**depth, dtype=torch.float64).index_add_(1, leaf, sums)
        f.add_((total[0] / (total[1] + 1.0))[leaf], alpha=0.05)
        return rows

    names = "rows", "features", "depth", "columns", "thresholds"
    return dict(zip(names, TREE, strict=True)) | {
        "a tree": counted(grow),
        "seconds of a tree on the host": {n: host_tree(n, *TREES[small]) for n in HOST_ROWS[small]},
    }


def host_tree(n_rows, fewer, more):
    """Seconds of the processor for a tree, on one thread of the host."""
    X = np.random.default_rng(0).standard_normal((n_rows, TREE[1])).astype(np.float32)
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    options = {"early_stopping": False, "random_state": 0, "n_jobs": 1}

    def seconds(n_trees):
        model = BoostedTreesRegressor(n_trees, max_depth=TREE[2], **options)
        begin = time.process_time()
        model.fit(X, y)
        return time.process_time() - begin

    seconds(1)
    return min((seconds(more) - seconds(fewer)) / (more - fewer) for _ in range(fewer // 3))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--label", default="now", help="name of this part of the results")
    parser.add_argument("--commit", help="the commit of the package, if it is not checked out")
    parser.add_argument("--small", action="store_true", help="small shapes, to test the code")
    parser.add_argument("--out", type=Path, default=RESULTS / "gpu_counts.json")
    arguments = parser.parse_args()
    sklearn.set_config(array_api_dispatch=True)
    small = arguments.small
    parts = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    made = circumstances() | {"torch": torch.__version__}
    parts[arguments.label] = {
        "circumstances": made | ({"commit": arguments.commit} if arguments.commit else {}),
        "steps": [steps(shape) for shape in STEPS[small]],
        "kitchen_sinks": kitchen_sinks(PANEL[small]),
        "trees": tree(small),
    }
    arguments.out.write_text(json.dumps(parts, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

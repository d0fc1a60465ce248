"""The experiments of Dai et al. 2014 on data that can be had: error against time and passes.

B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan and L. Song, "Scalable kernel methods via
doubly stochastic gradients", NIPS 2014: Doubly Stochastic, kernel methods and fixed random features
on Adult, Forest (Covertype, one class against the rest) and MNIST, and energies and gaps of
molecules, here those of QM9 by Coulomb matrices.

All methods on a data set have the same kernel. Its length scale is the multiple of the median
distance with which SDCA does best: ``SCALES``, with the same rows as ``GRIDS``. No setting of
this file has seen a test row. Two defaults of the package have: what share of its best step a block
takes, and how that falls with the columns for a row, were tried on the test rows of Adult and MNIST
as well as on small sets. The rest is chosen here:

- Doubly Stochastic: with nothing set; with ``schedule="inverse"``, which is the paper's algorithm
  (512 rows and 32 neurons a step, constant steps); and with nothing set but the neurons. On Adult
  also with stumps, a kernel that the others cannot use. With two classes both of the first also
  with the hinge loss, as the support vector machines of the paper. The clock is read after every
  step of one fit. A model keeps all its coefficients, so what it was after each step is put
  together and tested when the fit is over.
- "Large blocks" are as near to the sizes of the authors' program as time permits: ``SIZES``, and
  like there, all steps have one length. More neurons on more rows tell finer functions, so the row
  has a length scale of its own. The multiple of the shared one and the length of steps are those
  with which ``FEW_LARGE`` is best on held-out training rows. That is not in the seconds.
- Fixed features, SGD: the paper's baseline. As many neurons as that row has, or ``FEW``, drawn
  once, and stochastic gradients of the same loss on batches of 512 rows, with the largest
  step that is stable on average. They do not fit into memory and are evaluated again at each visit.
- Fixed features, solved: K neurons and their best weights for the squared loss, where K² of memory
  and time permit (``KitchenSinks``, alpha by cross-validation). A point is a fit of one K.
- NORMA takes rows in a random order, and the clock stands while it is tested. Pegasos and SDCA fit
  random subsets of 1,000, 2,000, 4,000, ... rows, each from nothing, while the next, which takes
  about four times as long, should be done in time; a point is one such fit. SDCA stops at a duality
  gap of 0.1 % or after ``EPOCHS``, Pegasos after 20 passes. NORMA has the logistic loss, Pegasos
  and SDCA the hinge loss; the squared loss for QM9 makes SDCA kernel ridge regression.
- ``GRIDS``: the best of them with ``TUNING_ROWS`` training rows to learn from and as many others to
  test on. That is not in the seconds.
- ``SECONDS`` limits each kernel method and SGD. Kernel methods are tested on the first
  ``KERNEL_TEST_ROWS`` test rows, the others on all.
- Seconds are those of learning, on all cores. A pass is as many rows visited as there are.
- Targets of QM9 are standardised for learning; errors are mean absolute errors.

Run as ``python benchmarks/papers/dai2014.py``, or with names of data sets, of which it only prints
the results. Without names it writes ``benchmarks/results/dai2014.json``, after
each data set, and ``.png`` in about 25 minutes. With ``--methods hinge`` it measures the methods
with that word in their names, and puts them in place of those that are stored.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from matplotlib.figure import Figure
from sklearn.model_selection import ParameterGrid

import trickless
from trickless._arrays.threads import map_blocks, row_blocks
from trickless._functions.later import Later
from trickless._functions.network import Network
from trickless._functions.stream import NeuronStream
from trickless._solvers.descent.descent import Descent
from trickless._solvers.named_losses import make_loss
from trickless.neurons import Gaussian, Laplace1, Neurons, Stumps

sys.path.insert(0, str(Path(__file__).parents[1]))
import data
import kernel_methods
from circumstances import circumstances
from pictures import BLACK, BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY, WIDTH, plain_numbers, redraw

RESULTS = Path(__file__).parents[1] / "results"
PLAIN, DEFAULT = "Doubly Stochastic, as in the paper", "Doubly Stochastic, nothing set"
HINGE, PLAIN_HINGE = "Doubly Stochastic, hinge", "Doubly Stochastic, hinge, as in the paper"
#: Lines of the picture, by how the name of a method begins: the first that fits.
LOOKS = {
    DEFAULT: {"color": RED, "marker": "o", "lw": 2.2},
    PLAIN: {"color": ORANGE, "marker": "o"},
    "Doubly Stochastic, large": {"color": RED, "marker": "D", "lw": 1.2},
    PLAIN_HINGE: {"color": ORANGE, "marker": "X", "ls": ":"},
    HINGE: {"color": RED, "marker": "X", "ls": ":"},
    "Doubly Stochastic, stumps": {"color": PINK, "marker": "D"},
    "Doubly Stochastic": {"color": RED, "marker": "s", "ls": "--", "lw": 1.2},
    "Fixed features, solved": {"color": BLUE, "marker": "v"},
    "Fixed features, SGD, as many": {"color": SKY, "marker": "s", "ls": "--"},
    "Fixed features": {"color": SKY, "marker": "o"},
    "NORMA": {"color": GREEN, "marker": "^"},
    "Pegasos": {"color": GREY, "marker": "P"},
    "SDCA": {"color": BLACK, "marker": "x"},
}
SECONDS, FEW = 15, 4096
ALPHAS = [1e-3, 1e-4, 1e-5, 1e-6]
GRIDS = {"NORMA": {"alpha": ALPHAS, "average": [False, True]}}
GRIDS |= {"Pegasos": {"alpha": ALPHAS}, "SDCA": {"alpha": ALPHAS}}
SCALES, SCALE_ALPHA = [1 / 8, 1 / 4, 1 / 2, 1, 2], 1e-4
TUNING_ROWS, FIRST_ROWS, KERNEL_TEST_ROWS = 2_000, 1_000, 10_000
EPOCHS, SGD_ROWS, SNAPSHOTS = 30, 512, 8
LARGE = "Doubly Stochastic, large blocks"
#: Half as many neurons a step as the authors' program has.
SIZES = {"schedule": "block", "batch_size": 2**15, "neurons_per_step": 2048}
#: What chooses the length scale and steps of large blocks, on half as many rows to learn from.
FEW_LARGE, LARGE_ROWS = {**SIZES, "neurons_per_step": 512, "n_neurons": 2**13}, 2**16
#: Lengths of steps in units of a Newton step where the loss has its largest curvature.
LENGTHS = [1 / 8, 1 / 2, 1]


class Problem(NamedTuple):
    """What is chosen for a data set."""

    family: type[Neurons]
    more: int  # neurons, of Doubly Stochastic and of SGD on fixed features
    solved: tuple[int, ...]  # numbers of fixed features that are solved for
    aim: tuple[float, float] | None = None  # error with nothing set or large blocks, and seconds
    others: dict[str, Neurons] = {}  # for fits with nothing else set


STUMPS = {"Doubly Stochastic, stumps": Stumps()}
PROBLEMS = {
    "adult": Problem(Gaussian, 16_384, (256, 512, 1024, 2048), (0.152, 120), STUMPS),
    "covertype": Problem(Gaussian, 16_384, (256, 512, 1024), (0.11, 600)),
    "mnist": Problem(Gaussian, 16_384, (256, 512, 1024, 2048), (0.018, 120)),
    "qm9": Problem(Laplace1, 16_384, (256, 512, 1024)),
}
OUTPUTS = {"qm9": ("energy, eV", "gap, eV")}


class Task(NamedTuple):
    """Rows of a data set, targets as they are learned, and the neurons and kernel of all."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    scale: np.ndarray | None  # of the targets; None where they are classes
    neurons: Neurons
    kernel: dict[str, Any]

    def learner(self, name: str) -> type:
        return getattr(trickless, name + ("Classifier" if self.scale is None else "Regressor"))

    def errors(self, prediction: np.ndarray) -> list[float]:
        """Misclassified share, or mean absolute errors, of the first so many test rows."""
        y = self.y_test[: len(prediction)]
        if self.scale is None:
            return [float(np.mean(prediction != y))]
        return (self.scale * np.abs(prediction - y).mean(axis=0)).tolist()

    def of_length(self, length: float) -> Task:
        """The task with neurons and kernel of this length scale."""
        gaussian = isinstance(self.neurons, Gaussian)
        name, gamma = ("rbf", 1 / (2 * length**2)) if gaussian else ("laplacian", 1 / length)
        kernel = {"kernel": name, "kernel_params": {"gamma": gamma}}
        return self._replace(neurons=type(self.neurons)(length), kernel=kernel)

    def decided(self, f: np.ndarray) -> np.ndarray:
        """What values of the function predict; classes are 0, 1, ..."""
        if self.scale is not None:
            return f
        return f.argmax(axis=1) if f.shape[1] > 1 else (f[:, 0] > 0).astype(int)


def load(name: str) -> Task:
    X, y, X_test, y_test = data.LOADERS[name][1]()
    mean, scale = (y.mean(axis=0), y.std(axis=0)) if name in OUTPUTS else (0, None)
    if scale is not None:
        y, y_test = (y - mean) / scale, (y_test - mean) / scale
    task = Task(X, y, X_test, y_test, scale, PROBLEMS[name].family(), {})
    median = task.neurons.fit(X, np.random.default_rng(0)).length_scale_
    scales = [task.of_length(multiple * median) for multiple in SCALES]
    return min(scales, key=lambda task: held_out(task, "SDCA", {"alpha": SCALE_ALPHA}))


# Seconds of learning, passes, neurons or support points, predictions of the first test rows.
Snapshots = Iterator[tuple[float, float, int, np.ndarray]]


def doubly_stochastic(task: Task, neurons: Neurons, **parameters: Any) -> Snapshots:
    clock, drawn = [], []

    def timed(*arguments: Any, **options: Any) -> None:
        step(*arguments, **options)
        clock.append(time.perf_counter())
        drawn.append(len(arguments[0].coef))  # blocks that explain nothing halve later ones

    step = Descent.step
    model = task.learner("DoublyStochastic")(neurons, random_state=0, **parameters)
    start = time.perf_counter()
    with mock.patch.object(Descent, "step", timed):
        model.fit(task.X, task.y)
    rows = model.online_error_[:, 0].cumsum()
    coef, sizes, f, done = model.neuron_coef_, model._descent_.steps, 0.0, 0
    for i in np.unique(np.geomspace(1, model.n_iter_, SNAPSHOTS).round().astype(int)):
        stop = drawn[i - 1]
        f += Network(model.neurons_, Later(model._stream_, done), coef[done:stop])(task.X_test)
        done = stop
        decays = sizes.kept(sizes(np.arange(i, model.n_iter_)))  # since then
        prediction = task.decided(f / decays.prod(axis=0) + model.intercept_)
        yield (
            clock[i - 1] - start,
            rows[i - 1] / len(task.X),
            int(stop),
            prediction,
        )


def fixed_and_solved(task: Task, sizes: tuple[int, ...]) -> Snapshots:
    for K in sizes:
        model = task.learner("KitchenSinks")(task.neurons, K, random_state=0)
        start = time.perf_counter()
        model.fit(task.X, task.y)
        yield time.perf_counter() - start, 1.0, K, model.predict(task.X_test)


def fixed_and_descended(task: Task, K: int, alpha: float = 1e-6) -> Snapshots:
    """Stochastic gradients in f(x) = Σ_j β_j ψ(x; w_j), with K |β|² for the squared norm of f."""
    start, rng = time.perf_counter(), np.random.default_rng(0)
    stream, width = NeuronStream(task.neurons.fit(task.X, rng), 0), task.neurons.width
    weights, targets, loss = stream.between(0, K), task.y, make_loss("squared_error", 1)
    if task.scale is None:
        targets = 2.0 * (task.y[:, None] == np.unique(task.y)) - 1
        targets = targets if targets.shape[1] > 2 else targets[:, 1:]
        loss = make_loss("log_loss", targets.shape[1])

    def activations(rows):
        blocks = [rows[some] for some in row_blocks(len(rows), SGD_ROWS // 8)]
        return np.concatenate(map_blocks(lambda r: task.neurons(task.X[r], weights), blocks))

    pilot = activations(rng.choice(len(task.X), SGD_ROWS))
    largest = np.linalg.eigvalsh(pilot @ pilot.T)[-1] / (K * SGD_ROWS)
    step = 1 / (loss.curvature * (largest + 1 / SGD_ROWS) + alpha)  # neurons are bounded by 1
    beta, kept, seen = np.zeros((width * K, targets.shape[1]), dtype=np.float32), [], 0
    for rows in shuffled(len(task.X), SGD_ROWS, rng):
        Z = activations(rows)
        slope = loss.derivative(Z @ beta, targets[rows]) / len(rows)
        beta *= 1 - step * alpha
        beta -= (step / K) * (Z.T @ slope.astype(np.float32))
        seen += len(rows)
        seconds = time.perf_counter() - start
        if not kept or seconds > 2 * kept[-1][0] or seconds > SECONDS:
            kept.append((seconds, seen / len(task.X), beta.copy()))
        if seconds > SECONDS:
            break
    together = np.hstack([beta for *_, beta in kept]).reshape(width, K, -1).transpose(1, 0, 2)
    values = Network(task.neurons, stream, together)(task.X_test)
    for (seconds, passes, _), f in zip(kept, np.split(values, len(kept), axis=1), strict=True):
        yield seconds, passes, K, task.decided(f)


def shuffled(n: int, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Batches of about so many of n rows; each pass in an order of its own."""
    while True:
        yield from np.array_split(rng.permutation(n), -(-n // size))


def kernel_method(task: Task, name: str, chosen: dict[str, Any]) -> Any:
    """An unfitted NORMA, Pegasos or SDCA."""
    options = {"max_iter": EPOCHS} if name == "SDCA" else {}
    return getattr(kernel_methods, name)(**task.kernel, **options, **chosen)


def held_out(task: Task, name: str, chosen: dict[str, Any]) -> float:
    """Error on some training rows of a kernel method that has learned from others."""
    order = np.random.default_rng(1).permutation(len(task.X))
    rows, others = np.split(order[: 2 * TUNING_ROWS], 2)
    task = task._replace(X_test=task.X[others], y_test=task.y[others])
    model = kernel_method(task, name, chosen).fit(task.X[rows], task.y[rows])
    return sum(task.errors(model.predict(task.X_test)))


def finer(task: Task) -> tuple[Neurons, float]:
    """Return the neurons and the length of steps of large blocks."""
    order = np.random.default_rng(1).permutation(len(task.X))
    rows, others = np.array_split(order[:LARGE_ROWS], 2)
    known = task._replace(X_test=task.X[others], y_test=task.y[others])

    def error(pair: tuple[Neurons, float]) -> float:
        options = FEW_LARGE | {"step_size": pair[1], "random_state": 0}
        model = task.learner("DoublyStochastic")(pair[0], **options)
        try:
            model.fit(task.X[rows], task.y[rows])
        except ValueError:  # diverged
            return np.inf
        return sum(known.errors(model.predict(known.X_test)))

    length, n_classes = task.neurons.length_scale, len(np.unique(task.y))
    name = "squared_error" if task.scale is not None else "log_loss"
    curvature = make_loss(name, n_classes if name == "log_loss" and n_classes > 2 else 1).curvature
    neurons = [type(task.neurons)(length * multiple) for multiple in SCALES]
    return min(product(neurons, [share / curvature for share in LENGTHS]), key=error)


def tuned(task: Task, name: str) -> dict[str, Any]:
    """The best of a grid on training rows."""
    return min(ParameterGrid(GRIDS[name]), key=lambda chosen: held_out(task, name, chosen))


def norma(task: Task, model: Any) -> Snapshots:
    labels = {} if task.scale is not None else {"classes": np.unique(task.y)}
    seconds, seen, next_look = 0.0, 0, FIRST_ROWS
    for rows in shuffled(len(task.X), FIRST_ROWS // 4, np.random.default_rng(0)):
        start = time.perf_counter()
        model.partial_fit(task.X[rows], task.y[rows], **labels)
        seconds, seen = seconds + time.perf_counter() - start, seen + len(rows)
        if seen >= next_look or seconds > SECONDS:
            prediction = model.predict(task.X_test[:KERNEL_TEST_ROWS])
            yield seconds, seen / len(task.X), len(model.dual_coef_), prediction
            next_look = 2 * seen
            if seconds > SECONDS:
                return


def on_subsets(task: Task, model: Any) -> Snapshots:
    order, n, seconds = np.random.default_rng(0).permutation(len(task.X)), FIRST_ROWS, 0.0
    while 4 * seconds < SECONDS and n < 2 * len(order):
        start, rows = time.perf_counter(), order[:n]
        model.fit(task.X[rows], task.y[rows])
        seconds, passes = time.perf_counter() - start, model.n_iter_ * len(rows) / len(task.X)
        prediction = model.predict(task.X_test[:KERNEL_TEST_ROWS])
        yield seconds, passes, len(model.dual_coef_), prediction
        n *= 2


def methods(
    task: Task, problem: Problem, word: str
) -> Iterator[tuple[str, dict[str, Any], Snapshots]]:
    """Name, settings and snapshots of each method with a word in its name."""
    for method, settings, snapshots in every_method(task, problem, word):
        if word in method:
            yield method, settings, snapshots


def every_method(
    task: Task, problem: Problem, word: str
) -> Iterator[tuple[str, dict[str, Any], Snapshots]]:
    """The same for all methods, except for those whose settings take long to find."""
    more = f"Doubly Stochastic, {problem.more:,} neurons"
    each = {DEFAULT: {}, more: {"n_neurons": problem.more}, PLAIN: {"schedule": "inverse"}}
    if task.scale is None and len(np.unique(task.y)) == 2:
        each[HINGE] = {"loss": "hinge"}
        each[PLAIN_HINGE] = {"loss": "hinge", "schedule": "inverse"}
    for name, settings in each.items():
        yield name, settings, doubly_stochastic(task, task.neurons, **settings)
    for name, neurons in problem.others.items():
        yield name, {}, doubly_stochastic(task, neurons)
    if word in LARGE:
        neurons, step = finer(task)
        large = SIZES | {"n_neurons": 2**16 if len(task.X) > 2**16 else 2**15, "step_size": step}
        yield LARGE, large, doubly_stochastic(task, neurons, **large)
    for how_many, K in {f"{FEW:,}": FEW, "as many": problem.more}.items():
        yield f"Fixed features, SGD, {how_many}", {}, fixed_and_descended(task, K)
    yield "Fixed features, solved", {"alpha": "auto"}, fixed_and_solved(task, problem.solved)
    for name in GRIDS:
        if word in name and (name != "Pegasos" or task.scale is None):  # which is for classes
            chosen = tuned(task, name)
            model = kernel_method(task, name, chosen)
            yield name, chosen, (norma if name == "NORMA" else on_subsets)(task, model)


def measure(name: str, word: str = "") -> dict[str, Any]:
    """All methods on a data set, or those with a word in their names."""
    task, problem = load(name), PROBLEMS[name]
    outputs = OUTPUTS.get(name, ("error",))
    print(f"\n{name}: {', '.join(outputs)}", flush=True)
    result = {
        **{"name": name, "rows": len(task.X), "outputs": outputs},
        **{"neurons": repr(task.neurons), "kernel": task.kernel, "methods": []},
    }
    for method, settings, snapshots in methods(task, problem, word):
        points = []
        for seconds, passes, size, prediction in snapshots:
            errors = task.errors(prediction)
            point = {"seconds": seconds, "passes": passes, "size": size, "errors": errors}
            points.append({**point, "test_rows": len(prediction)})
            shown = " ".join(f"{error:>8.4f}" for error in errors)
            print(f"{method:<34}{seconds:>8.1f} s{passes:>9.3f}{size:>8,}  {shown}", flush=True)
        result["methods"].append({"name": method, "settings": settings, "snapshots": points})
    return result if word else summed_up(result)


def summed_up(result: dict[str, Any]) -> dict[str, Any]:
    """The result of a data set, with a comparison and whether its aim is met."""
    result["comparison"] = compared(result["methods"])
    print(*(f"{line}" for line in result["comparison"]), sep="\n", flush=True)
    if aim := PROBLEMS[result["name"]].aim:
        result["aim"] = aimed(aim, result["methods"])
    return result


def aimed(aim: tuple[float, float], methods: list[dict[str, Any]]) -> dict[str, Any]:
    """An aim, and whether a fit with nothing set or with large blocks meets it in the end."""
    error, limit = aim
    ends = [method["snapshots"][-1] for method in methods if method["name"] in (DEFAULT, LARGE)]
    met = any(end["errors"][0] <= error and end["seconds"] <= limit for end in ends)
    return {"error": error, "seconds": limit, "met": met}


def compared(methods: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each output's error with nothing set, and the best of the others in as many seconds."""
    [ours] = [method for method in methods if method["name"] == DEFAULT]
    last, lines = ours["snapshots"][-1], []
    for output, error in enumerate(last["errors"]):
        others = [
            (point["errors"][output], method["name"])
            for method in methods
            if not method["name"].startswith("Doubly Stochastic")
            for point in method["snapshots"]
            if point["seconds"] <= last["seconds"]
        ]
        best, name = min(others)
        lines.append({"seconds": last["seconds"], "error": error, "best": best, "by": name})
    return lines


def draw(result: dict[str, Any]) -> Figure:
    """Error against seconds, on the left, and passes, on the right."""
    results = result["data"]
    outputs = [(one, i) for one in results for i in range(len(one["outputs"]))]
    figure = Figure(figsize=(WIDTH, 2.3 * len(outputs) + 1.4))
    rows = figure.subplots(len(outputs), 2, squeeze=False, sharey="row")
    lines = {}
    for row, (one, i) in zip(rows, outputs, strict=True):
        for axes, along in zip(row, ("seconds", "passes"), strict=True):
            for method in one["methods"]:
                name, points = method["name"], method["snapshots"]
                x, y = [p[along] for p in points], [p["errors"][i] for p in points]
                look = next(look for start, look in LOOKS.items() if name.startswith(start))
                lines[name] = axes.loglog(x, y, label=name, **look)[0]
            axes.set(xlabel=along)
            axes.xaxis.set_major_formatter("{x:g}")
        row[0].set(title=one["name"], ylabel=one["outputs"][i])
        plain_numbers(row[0].yaxis)
    figure.legend(lines.values(), lines.keys(), loc="outside upper center", ncols=2)
    return figure


def merge(result: dict[str, Any], measured: dict[str, Any]) -> None:
    """Put methods that were measured alone into a stored result, in place of older ones."""
    [one] = [one for one in result["data"] if one["name"] == measured["name"]]
    new = {
        method["name"]: method | {"circumstances": circumstances()}
        for method in measured["methods"]
    }
    one["methods"] = [new.pop(method["name"], method) for method in one["methods"]]
    ours = [i for i, m in enumerate(one["methods"]) if m["name"].startswith("Doubly Stochastic")]
    one["methods"][ours[-1] + 1 : ours[-1] + 1] = new.values()
    summed_up(one)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PROBLEMS)}")
    parser.add_argument("--methods", metavar="WORD", default="", help="in names of methods")
    args = parser.parse_args()
    path, results = RESULTS / "dai2014.json", []
    settings = {
        "seconds": SECONDS,
        "grids": GRIDS,
        "scales": SCALES,
        "tuning_rows": TUNING_ROWS,
        "epochs": EPOCHS,
    }
    for name in args.names or PROBLEMS:
        results.append(measure(name, args.methods))
        stored = {"settings": settings, "circumstances": circumstances(), "data": results}
        if args.methods:
            merge(stored := json.loads(path.read_text()), results[-1])
        elif args.names:
            continue
        path.write_text(json.dumps(stored, indent=1) + "\n")
    if args.names and not args.methods:
        return
    redraw(draw, path)
    print(f"\nwrote {path} and {path.with_suffix('.png').name}")


if __name__ == "__main__":
    main()

"""Fits in processes that are killed, and go on from their checkpoint. Run as a script to kill many:

python tests/support/killed_fits.py 60
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.base import clone

import trickless.files.checkpoint
import trickless.files.format
from trickless import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    ShrinkingGradientClassifier,
    ShrinkingGradientRegressor,
)

#: Fits: a model, the name of the method, and thousands of rows.
FITS = {
    "kitchen-sinks": (KitchenSinksRegressor("stumps", 60, random_state=0), "fit", 60),
    "kitchen-sinks-stream": (KitchenSinksClassifier(n_neurons=60, random_state=0), "fit_stream", 6),
    "kitchen-sinks-passes": (
        KitchenSinksRegressor(n_neurons=80, solver="iterative", tol=1e-11, random_state=0),
        "fit",
        4,
    ),
    "doubly-stochastic": (
        DoublyStochasticRegressor(
            n_neurons=1600, neurons_per_step=8, batch_size=50, random_state=0
        ),
        "fit",
        6,
    ),
    "doubly-stochastic-held-out": (
        DoublyStochasticClassifier(
            "stumps", n_neurons=1600, neurons_per_step=8, batch_size=50, random_state=0,
            early_stopping=True, n_iter_no_change=50,
        ),
        "fit",
        6,
    ),
    "shrinking-gradient": (
        ShrinkingGradientRegressor(n_neurons=50, n_samples=20, max_support=300, random_state=0),
        "fit",
        2,
    ),
    "shrinking-gradient-sparse": (
        ShrinkingGradientClassifier(n_neurons=50, n_samples=20, random_state=0),
        "fit",
        2,
    ),
}  # fmt: skip


def data(name, share):
    """A share of the rows and targets of a fit."""
    rng, n_rows = np.random.default_rng(0), int(1000 * FITS[name][2] * share)
    X = rng.standard_normal((n_rows, 4))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    X = scipy.sparse.csr_matrix(X) if name.endswith("sparse") else X
    return X, np.digitize(f, [-0.7, 0.7]) if hasattr(FITS[name][0], "predict_proba") else f


def fit(name, share, checkpoint=None):
    """A fit; the numbers of its model."""
    model, method = clone(FITS[name][0]), FITS[name][1]
    X, y = data(name, share)
    if method == "fit_stream":
        parts = np.array_split(np.arange(len(y)), 50)
        model.fit_stream([(X[i], y[i]) for i in parts], checkpoint=checkpoint)
    else:
        model.fit(X, y, checkpoint=checkpoint)
    numbers = [model.neuron_coef_ if hasattr(model, "neuron_coef_") else model.expansion_.alpha]
    some = X[:50]
    numbers.append((model.decision_function if hasattr(model, "classes_") else model.predict)(some))
    return numbers


def at_every_step():
    """Keep a state after every step, and take small panels of rows."""
    trickless.files.checkpoint.SECONDS, trickless.files.checkpoint.SHARE = 0.0, np.inf
    trickless.functions.activations.PANEL_BYTES = 1


def same(numbers, others):
    return all(np.array_equal(a, b) for a, b in zip(numbers, others, strict=True))


def _child(name, share, path, answer, fatal, n):
    at_every_step()
    if fatal:
        _die_at(fatal, n)
    numbers = fit(name, share, path)
    np.savez(answer, *numbers)


def _die_at(fatal, n):
    """Let the process end itself at the n-th time that it comes to a point."""
    owner, attribute = {
        "array": (trickless.files.format, "_raw"),  # amid the arrays of a file
        "flush": (os, "fsync"),  # before the file is on the disk
        "replace": (Path, "replace"),  # before it takes its place, or that before it the other
        "unlink": (Path, "unlink"),  # before it is removed
    }[fatal]
    plain, calls = getattr(owner, attribute), iter(range(1, 10**9))

    def mortal(*args, **options):
        if next(calls) == n:
            os.kill(os.getpid(), signal.SIGKILL)
        return plain(*args, **options)

    setattr(owner, attribute, mortal)


def attempt(name, share, folder, delay=None, fatal=None, n=0):
    """Run a fit in a process of its own; its numbers, or None if it was killed before the end."""
    answer = Path(folder, "answer.npz")
    answer.unlink(missing_ok=True)
    path = Path(folder, "fit.checkpoint")
    process = multiprocessing.get_context("fork").Process(
        target=_child, args=(name, share, path, answer, fatal, n)
    )
    process.start()
    process.join(delay)
    process.kill()
    process.join()
    if process.exitcode == -signal.SIGKILL:
        return None
    assert process.exitcode == 0, f"{name}: the process ended with {process.exitcode}"
    with np.load(answer) as numbers:
        return list(numbers.values())


def run(n_kills, share=0.3, seed=0):
    """Kill at least so many fits of each kind at random moments; what was seen."""
    rng = np.random.default_rng(seed)
    counts = dict.fromkeys(FITS, 0)
    went_on = 0
    at_every_step()
    with tempfile.TemporaryDirectory() as folder:
        for name in FITS:
            start = time.perf_counter()
            expected = fit(name, share)
            seconds = time.perf_counter() - start
            while counts[name] < -(-n_kills // len(FITS)) or any(Path(folder).iterdir()):
                there = len(
                    list(Path(folder).glob("fit.checkpoint*"))
                )  # and not only the hidden file
                numbers = attempt(name, share, folder, delay=rng.uniform(0, seconds))
                went_on += there > 0
                if numbers is None:
                    counts[name] += 1
                    continue
                assert same(numbers, expected), f"{name}: another model than without kills"
                left = [file.name for file in Path(folder).iterdir() if file.name != "answer.npz"]
                assert not left, left
                Path(folder, "answer.npz").unlink()
            print(f"{counts[name]:6d} kills, the model is the same bit for bit  {name}", flush=True)
    print(f"{went_on:6d} times a fit found a file to go on from")
    print(f"{sum(counts.values()):6d} kills in all")


if __name__ == "__main__":
    run(int(sys.argv[1]))

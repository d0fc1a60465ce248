"""Streams of odd batches: labels of mixed integer types, read-only memory, first batches that lack.

The model of a stream must be that of plain batches, bit for bit, or it must warn that the first
batch does not suit the others. Run as a script to try many:

python tests/support/fuzz_batches.py 1000
"""

import sys
import tempfile
import warnings
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import joblib
import numpy as np
import pandas as pd
import polars as pl
from sklearn.base import clone, is_classifier

from cases import EVERY, FAMILIES, answers, name_of, suited

FIRST_LABELS = [0, 2**31 - 1, 2**53 - 1, 2**53, 2**62]
#: Types that hold labels, by what makes them of an int64 array.
TYPES = [
    np.asarray,
    lambda y: y.astype(np.uint64),
    lambda y: y.astype(np.uint64).astype(object).tolist(),
    lambda y: y.tolist(),
    lambda y: pd.Series(y, dtype="Int64"),
    lambda y: pd.Series(y, dtype="UInt64"),
    lambda y: pd.Series(y, dtype="int64[pyarrow]"),
    lambda y: pd.Categorical(y) if y.max() < 2**53 else pd.Series(y),
    pl.Series,
]
#: What a first batch may lack; "nothing" must not be warned of.
LACKS = ["nothing", "a constant column", "a narrow column", "all scale"]
WARNED = "predictions will be inaccurate. Remedy: begin with a batch"


def read_only(array):
    array = np.array(array)
    array.setflags(write=False)
    return array


def from_memory_map(model, folder):
    path = Path(folder) / str(uuid4())  # memory that is mapped must not be overwritten
    joblib.dump(model, path)
    return joblib.load(path, mmap_mode="r")


def learn(model, batches, labels, odd, rng, folder):
    """The model of a stream, in odd containers or plain ones, and what it warned of."""
    said = []
    for number, (X, y) in enumerate(batches):
        given = {"classes": labels} if labels is not None and number == 0 else {}
        if odd:
            X, y = read_only(X), read_only(y)
            if labels is not None:
                y = TYPES[rng.integers(len(TYPES))](y)
                if given:
                    given["classes"] = TYPES[rng.integers(len(TYPES))](labels)
            if number and rng.random() < 0.5:
                model = from_memory_map(model, folder)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                model.partial_fit(X, y, **given)
            except ValueError as error:  # a first batch of another scale misleads steps
                if "diverged" not in str(error):
                    raise
                said.append(str(error))
        said += [str(each.message) for each in caught]
    return model, said


def check(seed, folder):
    """Try one random stream."""
    rng = np.random.default_rng(seed)
    learners = [m for m in EVERY if hasattr(m, "partial_fit")]
    learner = clone(learners[rng.integers(len(learners))])
    family = sorted(FAMILIES)[rng.integers(len(FAMILIES))]
    rows = suited(family, rng.standard_normal((160, 4)))
    lacks = "nothing"
    options = {"random_state": seed, "y_range": (-9.0, 9.0), "n_neurons": 40}
    options["neurons"] = FAMILIES[family]
    params = learner.get_params(deep=False)
    options = {name: value for name, value in options.items() if name in params}
    if hasattr(learner, "neurons"):
        lacks = LACKS[rng.integers(len(LACKS))]
    f = np.sin(2 * rows[:, 0]) + rows[:, 1]
    if lacks == "a constant column":
        rows[:80, 2] = rows[0, 2]
    elif lacks == "a narrow column":
        rows[:80, 2] = rows[0, 2] + 1e-3 * rows[:80, 2]
    elif lacks == "all scale":
        rows[:80] *= 1e-3
    labels, y = None, np.clip(f, -8, 8)
    if is_classifier(learner):
        labels = FIRST_LABELS[rng.integers(len(FIRST_LABELS))] + np.arange(rng.integers(2, 4))
        cut = np.quantile(f, np.arange(1, len(labels)) / len(labels))
        y = labels[np.digitize(f, cut)]
    cuts = [0, 80, *sorted(rng.choice(np.arange(81, 160), 2, replace=False)), 160]
    batches = [(rows[a:b], y[a:b]) for a, b in pairwise(cuts)]
    model = learner.set_params(**options)
    plain, expected = learn(clone(model), batches, labels, False, rng, folder)
    odd, said = learn(clone(model), batches, labels, True, rng, folder)
    where = f"seed {seed}: {name_of(learner)} {family} {lacks}"
    np.testing.assert_array_equal(answers(odd, rows), answers(plain, rows), err_msg=where)
    if labels is not None:
        assert odd.classes_.tolist() == labels.tolist(), where
        assert odd.score(rows, y) == plain.score(rows, y), where
    assert said == expected, where
    warned = any(WARNED in each for each in said)
    assert not (lacks == "nothing" and warned), where
    if lacks != "nothing" and getattr(model.neurons, "_by_order", False):
        assert warned, where
    return warned


def fuzz(n, start=0):
    """Try many streams; returns how many of them warned."""
    n_warned = 0
    for seed in range(start, start + n):
        with tempfile.TemporaryDirectory() as folder:
            n_warned += check(seed, folder)
    return n_warned


if __name__ == "__main__":
    count = int(sys.argv[1])
    print(f"{count} streams, of which {fuzz(count)} warned of their first batch", file=sys.stdout)

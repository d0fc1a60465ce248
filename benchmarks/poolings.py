"""Time series: what each way of pooling the responses of random kernels adds.

- Neurons are those of ``Convolutions``: their kernels, dilations, channels and thresholds. Each way
  of pooling gives a value for each of a neuron's kernels (``POOLINGS``).
- A variant is a choice of poolings. All have the same number of columns, so that a variant of more
  values has fewer neurons (``VARIANTS``). A ridge classifier learns them, whose penalty comes from
  leave-one-out errors.
- The data are those with which poolings may be chosen: two sets that ``series.py`` does not report,
  and the training series of the archive of the others, in two halves at random.

Run as ``python benchmarks/poolings.py``; writes ``benchmarks/results/poolings.json`` in some 20
minutes. ``--draws 1 --splits 2`` takes a few.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import StratifiedShuffleSplit

from circumstances import circumstances
from series_data import FOR_CHOICE, NAMES, Series, load
from trickless._arrays.series import HEAVY, LEAST, TAPS, views
from trickless.neurons import Convolutions

PATH = Path(__file__).parent / "results" / "poolings.json"
#: All sets but PigCVP. A half of it has one series of each class, so that nothing is left out of a
#: class to choose a penalty by.
SETS = [*FOR_CHOICE, *(name for name in NAMES if name != "PigCVP")]
#: Columns of a model, and series that are pooled together.
COLUMNS, ROWS = 2048, 64

POOLINGS = {
    "most": "share in the largest responses (Hydra, soft)",
    "least": "share in the smallest responses (Hydra, soft)",
    "wins": "share of the times of the largest response (Hydra, hard)",
    "losses": "share of the times of the smallest response (Hydra, hard)",
    "positive": "share of the times above the threshold (MiniRocket)",
    "longest": "longest stretch above the threshold (MultiRocket)",
    "mean": "mean of the values above the threshold (MultiRocket)",
    "place": "mean of the times above the threshold (MultiRocket)",
    "maximum": "largest response (ROCKET)",
}
BASE = "most", "least", "positive"
#: Poolings of a neuron; one of several is drawn for each neuron if they are in a tuple.
VARIANTS: dict[str, tuple[Any, ...]] = {
    "most, least, positive": BASE,
    "positive": ("positive",),
    "positive, longest, mean, place": ("positive", "longest", "mean", "place"),
    "most, losses": ("most", "losses"),
    "most, least": ("most", "least"),
    **{f"and {name}": (*BASE, name) for name in POOLINGS if name not in BASE},
    **{
        f"and {' or '.join(others)} instead of some positive": (
            *BASE[:2],
            ("positive", *others),
        )
        for others in (("longest",), ("mean",), ("longest", "mean"), ("longest", "mean", "place"))
    },
}
#: Variants of the base with neurons of one view only.
VIEWS = {"no differences": 0, "differences only": 1}


def pooled(X: np.ndarray, neurons: Convolutions, weights: Any) -> dict[str, np.ndarray]:
    """Pool responses in all ways, each of shape (n_rows, n_neurons, n_kernels)."""
    blocks = [X[start : start + ROWS] for start in range(0, len(X), ROWS)]
    parts = [pooled_block(block, neurons, weights) for block in blocks]
    return {name: np.concatenate([part[name] for part in parts]) for name in POOLINGS}


def pooled_block(X: np.ndarray, neurons: Convolutions, weights: Any) -> dict[str, np.ndarray]:
    n_channels = neurons.shape[0]
    both, _ = views(X.astype(np.float32), n_channels, neurons.scale_, neurons.level_)
    kinds, _, mixes, *_ = weights
    seen = zip(*neurons._seen(kinds, mixes), strict=True)
    values: dict[str, list[np.ndarray]] = {name: [] for name in POOLINGS}
    for (kind, mix), (_, d, _, numbers, sign, thresholds) in zip(
        seen, zip(*weights, strict=True), strict=True
    ):
        along, there = both[kind]
        z = responses(np.tensordot(mix.astype(np.float32), along, 1), d, HEAVY[numbers], sign)
        for name, value in pool(z * there, there, thresholds.astype(np.float32)).items():
            values[name].append(value.T)
    return {name: np.stack(value, axis=1)[: len(X)] for name, value in values.items()}


def responses(x: np.ndarray, d: int, heavy: np.ndarray, sign: np.ndarray) -> np.ndarray:
    """Responses of the kernels of a neuron, (n_kernels, n_positions, n_rows)."""
    length = len(x)
    padded = np.zeros((length + (TAPS - 1) * d, x.shape[1]), x.dtype)
    padded[TAPS // 2 * d :][:length] = x
    reached = np.stack([padded[i * d :][:length] for i in range(TAPS)])
    return sign[:, None, None].astype(x.dtype) * (
        3 * reached[heavy].sum(axis=1) - reached.sum(axis=0)
    )


def limits(highest: np.ndarray) -> np.ndarray:
    """Return what a response must exceed to be the highest, up to rounding errors, and not zero."""
    least = highest.dtype.type(LEAST)
    return np.maximum(highest - (least * highest + least), least)


def pool(z: np.ndarray, there: np.ndarray, thresholds: np.ndarray) -> dict[str, np.ndarray]:
    """Pool over time in all ways, each of shape (n_kernels, n_rows), with norms like the base's."""
    times, n_kernels = np.maximum(there.sum(axis=0), 1), len(z)
    high, low = limits(z.max(axis=0)), -limits(-z.min(axis=0))
    most, least = np.where(z > high, z, 0), np.where(z < low, -z, 0)
    above = (z > thresholds[:, :, None]) & (there > 0)
    excess = np.where(there > 0, z - thresholds[:, :, None], 0)
    count, clock = above.sum(axis=1), np.cumsum(there, axis=0)
    before = np.maximum.accumulate(np.where(above | (there == 0), 0, clock), axis=1)
    longest = np.where(above, clock - before, 0).max(axis=1)
    mean = np.where(above, excess, 0).sum(axis=1) / np.maximum(np.abs(excess).sum(axis=1), 1e-30)
    place = np.where(above, clock, 0).sum(axis=1) / np.maximum(count, 1) / times
    largest = np.maximum(z.max(axis=1), 0)
    of_positions = 2 / np.sqrt(n_kernels)
    return {
        "most": shares(most.sum(axis=1)),
        "least": shares(least.sum(axis=1)),
        "wins": np.sqrt((most > 0).sum(axis=1) / times),
        "losses": np.sqrt((least > 0).sum(axis=1) / times),
        "positive": of_positions * np.sqrt(count / times),
        "longest": of_positions * np.sqrt(longest / times),
        "mean": of_positions * np.sqrt(mean),
        "place": of_positions * place,
        "maximum": 2 * shares(largest),
    }


def shares(sums: np.ndarray) -> np.ndarray:
    return np.sqrt(sums / np.maximum(sums.sum(axis=0), 1e-30))


def columns(values: dict[str, np.ndarray], parts: tuple[Any, ...], some: np.ndarray) -> np.ndarray:
    """The columns of a variant, from as many of some neurons as fill ``COLUMNS``."""
    n_kernels = values["most"].shape[2]
    some = some[: COLUMNS // (n_kernels * len(parts))]
    blocks = []
    for part in parts:
        names = part if isinstance(part, tuple) else (part,)
        for i, name in enumerate(names):
            blocks.append(values[name][:, some[i :: len(names)]].reshape(len(values[name]), -1))
    return np.concatenate(blocks, axis=1)


def splits(name: str, series: Series, n: int) -> tuple[np.ndarray, Iterator[Any]]:
    """The series with which poolings may be chosen, and their splits."""
    if name in FOR_CHOICE:
        return np.arange(len(series.y)), series.resamples(n)
    few = np.arange(series.n_train)
    halves = StratifiedShuffleSplit(n, test_size=0.5, random_state=0)
    return few, halves.split(few, series.y[few])


def measure(name: str, n_draws: int, n_splits: int) -> dict[str, list[float]]:
    """Accuracy of each variant on each split, averaged over draws of neurons."""
    series = load(name)
    some, halves = splits(name, series, n_splits)
    X, y, halves = series.X[some].reshape(len(some), -1), series.y[some], list(halves)
    n_neurons = COLUMNS // Convolutions().kernels
    found: dict[str, list[np.ndarray]] = {}
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        neurons = Convolutions(series.X.shape[1:]).fit(X, rng)
        weights = neurons.draw(rng, n_neurons)
        values, everyone = pooled(X, neurons, weights), np.arange(n_neurons)
        tried = {variant: (parts, everyone) for variant, parts in VARIANTS.items()}
        tried |= {view: (BASE, np.flatnonzero(weights[0] % 2 == k)) for view, k in VIEWS.items()}
        for variant, (parts, chosen) in tried.items():
            if len(chosen):
                Z = columns(values, parts, chosen)
                scores = [score(Z, y, *half) for half in halves]
                found.setdefault(variant, []).append(np.array(scores))
        print(name, seed, file=sys.stderr, flush=True)
    return {variant: np.mean(scores, axis=0).tolist() for variant, scores in found.items()}


def score(Z: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    model = RidgeClassifierCV(10.0 ** np.arange(-5, 4, 0.5))
    return float(model.fit(Z[train], y[train]).score(Z[test], y[test]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--sets", nargs="*", default=SETS)
    given = parser.parse_args()
    result = {
        "draws": given.draws,
        "splits": given.splits,
        "columns": COLUMNS,
        "circumstances": circumstances(),
        "sets": {},
    }
    for name in given.sets:
        result["sets"][name] = measure(name, given.draws, given.splits)
        PATH.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()

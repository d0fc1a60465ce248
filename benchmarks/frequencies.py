"""How far kernels estimated from drawn frequencies are off, for each way of drawing them.

For rows of d standard normal numbers, and for the images of MNIST (784 pixels), the kernel between
all pairs of some rows is estimated from K frequencies, drawn at once, and compared with the exact
one; length scales are medians. The figures are the mean squared error relative to that of
independent draws, its standard error over independent draws, the mean error (which is 0 but for
noise where a sampling is unbiased), and the seconds of a draw.

A learner draws blocks of 256 neurons, so K = 256 shows what it gains with any number of them; an
expansion is frozen into neurons that are drawn at once.

Run as ``make bench-frequencies``; writes ``benchmarks/results/frequencies.json`` in about
a minute.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np

import data
from circumstances import circumstances
from trickless._functions.stream import Purpose, generator
from trickless.neurons import Cauchy, Gaussian, Laplace, Matern

DIMENSIONS = (4, 16, 64, 256)
NEURONS = (256, 1024)
FAMILIES = {"gaussian": Gaussian, "matern": Matern, "laplace": Laplace, "cauchy": Cauchy}
SAMPLINGS = ("iid", "orthogonal", "sobol", "structured")
ROWS, DRAWS = 64, 40


def possible(family, sampling, d):
    """Whether a family has a sampling for so many features."""
    return (family is not Cauchy or sampling in ("iid", "sobol")) and (
        sampling != "structured" or d >= 256
    )


def errors(neurons, X, n):
    """Mean squared and mean error of each of some draws over the pairs of rows, and seconds."""
    pairs = np.triu_indices(len(X), k=1)
    exact = neurons.kernel(X)[pairs]
    squares, means, seconds = [], [], []
    for run in range(DRAWS):
        rng = generator(0, Purpose.BLOCKS, run)
        start = time.perf_counter()
        weights = neurons.draw(rng, n)
        seconds.append(time.perf_counter() - start)
        Z = neurons(X, weights)
        error = (Z @ Z.T)[pairs] / n - exact
        squares.append((error**2).mean())
        means.append(error.mean())
    return np.array(squares), np.array(means), float(np.median(seconds))


def cells(name, X):
    """The figures of a data set."""
    for family_name, family in FAMILIES.items():
        for n in NEURONS:
            for sampling in SAMPLINGS:
                if not possible(family, sampling, X.shape[1]):
                    continue
                neurons = family(sampling=sampling).fit(X, np.random.default_rng(0))
                squares, means, seconds = errors(neurons, X, n)
                if sampling == "iid":
                    independent = squares
                relative = [
                    values.std(ddof=1) / np.sqrt(DRAWS) / values.mean()
                    for values in (squares, independent)
                ]
                ratio = squares.mean() / independent.mean()
                yield {
                    "data": name,
                    "features": X.shape[1],
                    "family": family_name,
                    "neurons": n,
                    "sampling": sampling,
                    "mean_squared_error": squares.mean(),
                    "ratio": ratio,
                    "ratio_error": 0.0 if sampling == "iid" else ratio * np.hypot(*relative),
                    "mean_error": means.mean(),
                    "mean_error_error": means.std(ddof=1) / np.sqrt(DRAWS),
                    "seconds": seconds,
                }


def main():
    rng = np.random.default_rng(0)
    sets = {f"normal, {d}": rng.standard_normal((ROWS, d)) for d in DIMENSIONS}
    digits = data.mnist().X_test
    sets["MNIST"] = digits[rng.choice(len(digits), ROWS, replace=False)].astype(np.float64)
    result = []
    print(
        "data          family    neurons  sampling      ratio           mean error        ms a draw"
    )
    for name, X in sets.items():
        for cell in cells(name, X):
            result.append(cell)
            print(
                f"{name:<12}  {cell['family']:<8}  {cell['neurons']:>7}  {cell['sampling']:<10}  "
                f"{cell['ratio']:>6.3f} ± {cell['ratio_error']:.3f}  "
                f"{cell['mean_error']:>9.5f} ± {cell['mean_error_error']:.5f}  "
                f"{1e3 * cell['seconds']:>6.1f}",
                flush=True,
            )
    path = Path(__file__).parent / "results" / "frequencies.json"
    path.write_text(
        json.dumps({"circumstances": circumstances(), "cells": result}, indent=1) + "\n"
    )
    print(f"wrote {path}")


if __name__ == "__main__":
    main()

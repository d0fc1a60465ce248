"""Tests of hypotheses by neurons beside the quadratic tests with the exact kernel.

Three problems: the mean of a sample is shifted, its scale is another, and some rows of two columns
lie on a circle, so that they are dependent and not correlated. The more rows there are, the less of
it, so that power is about the same at all sizes. The quadratic tests know the Gaussian kernel in
closed form, with the length scale that the neurons take, the median distance; they permute the rows
as often. Their permutations are one product of the kernel matrix with the labels, or a sum over the
matrix with its rows and columns in another order. Power is the share of p-values of at most 0.05,
with its standard error, and seconds are medians. At sizes at which the matrix would take too long,
neurons are alone.

Run as ``make bench-two-samples``; writes ``benchmarks/results/two_samples.json``. With ``--quick``
sizes are small and runs few, and the file says so.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
from scipy.spatial.distance import pdist

from circumstances import circumstances
from trickless.inference import hsic_test, mmd_test
from trickless.neurons import Gaussian

PATH = Path(__file__).parent / "results" / "two_samples.json"
#: Rows of a sample, and how often the tests are run on them.
BESIDE, ALONE = {500: 100, 2_000: 40, 5_000: 5}, {100_000: 3, 500_000: 1}
QUICK_BESIDE, QUICK_ALONE = {200: 6, 400: 3}, {1_000: 1}
FEATURES, PERMUTATIONS, LEVEL, MEDIAN_ROWS = 5, 199, 0.05, 1000


def shift(n, rng):
    """Two samples, of which one has another mean."""
    return rng.standard_normal((n, FEATURES)), rng.standard_normal((n, FEATURES)) + 1.3 / n**0.5


def scale(n, rng):
    """Two samples, of which one has another variance."""
    return rng.standard_normal((n, FEATURES)), rng.standard_normal((n, FEATURES)) * (1 + 2 / n**0.5)


def circle(n, rng):
    """Two columns, of which some rows lie on a circle."""
    angle = rng.uniform(0, 2 * np.pi, (n, 1))
    near = rng.random((n, 1)) < 6 / n**0.5
    noise = rng.standard_normal((2, n, 1))
    on_it = 1.4 * np.stack([np.cos(angle), np.sin(angle)])
    return tuple(np.where(near, on_it, noise))


def kernel_matrix(X, rng):
    """The Gaussian kernel between all rows, at the median distance of some."""
    some = X if len(X) <= MEDIAN_ROWS else X[rng.choice(len(X), MEDIAN_ROWS, replace=False)]
    return Gaussian(float(np.median(pdist(some)))).fit(X, rng).kernel(X)


def quadratic_mmd(X, Y, seed):
    """P-value of the unbiased MMD² with the exact kernel."""
    rng, m, n = np.random.default_rng(seed), len(X), len(Y)
    K = kernel_matrix(np.vstack([X, Y]), rng)
    np.fill_diagonal(K, 0)
    first = np.arange(m + n) < m
    labels = np.array([first, *(rng.permutation(first) for _ in range(PERMUTATIONS))], dtype=float)
    products, total = labels @ K, K.sum()
    within = np.einsum("ij,ij->i", products, labels)
    across = products.sum(axis=1) - within
    others = total - within - 2 * across
    values = within / (m * (m - 1)) + others / (n * (n - 1)) - 2 * across / (m * n)
    return (values >= values[0] - 1e-12).sum() / (1 + PERMUTATIONS)


def quadratic_hsic(X, Y, seed):
    """P-value of the sum of products of the exact kernels, of which one is centred."""
    rng = np.random.default_rng(seed)
    K, L = kernel_matrix(X, rng), kernel_matrix(Y, rng)
    K -= K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    orders = [np.arange(len(X)), *(rng.permutation(len(X)) for _ in range(PERMUTATIONS))]
    values = np.array([np.vdot(K, L[np.ix_(order, order)]) for order in orders])
    return (values >= values[0] * (1 - 1e-12)).sum() / (1 + PERMUTATIONS)


def by_neurons(test, method):
    """P-value of a test of this package."""

    def run(X, Y, seed):
        options = {"n_permutations": PERMUTATIONS, "random_state": seed}
        return test(X, Y, method=method, **options).pvalue

    return run


PROBLEMS = {
    "mean": (shift, mmd_test, quadratic_mmd),
    "variance": (scale, mmd_test, quadratic_mmd),
    "circle": (circle, hsic_test, quadratic_hsic),
}


def measure(make, run, n, repeats):
    """Median seconds, and the share of rejections with its standard error."""
    seconds, rejected = [], []
    for seed in range(repeats):
        X, Y = make(n, np.random.default_rng(seed))
        start = time.perf_counter()
        rejected.append(run(X, Y, seed) <= LEVEL)
        seconds.append(time.perf_counter() - start)
    power = float(np.mean(rejected))
    return {
        "rows": n,
        "runs": repeats,
        "seconds": float(np.median(seconds)),
        "power": power,
        "power_error": float(np.sqrt(power * (1 - power) / repeats)),
    }


def main():
    quick = "--quick" in sys.argv[1:]
    beside, alone = (QUICK_BESIDE, QUICK_ALONE) if quick else (BESIDE, ALONE)
    cells = []
    print(f"{'problem':<10}{'test':<14}{'rows':>9}{'seconds':>9}{'power':>8}")
    for problem, (make, test, quadratic) in PROBLEMS.items():
        tests = {
            "permutation": by_neurons(test, "permutation"),
            "asymptotic": by_neurons(test, "asymptotic"),
            "quadratic": quadratic,
        }
        for n, repeats in (beside | alone).items():
            for name, run in tests.items():
                if name == "quadratic" and n not in beside:
                    continue
                cell = measure(make, run, n, repeats)
                cells.append({"problem": problem, "test": name} | cell)
                print(
                    f"{problem:<10}{name:<14}{n:>9,}{cell['seconds']:>9.2f}{cell['power']:>8.0%}",
                    flush=True,
                )
    result = {
        "circumstances": circumstances(),
        "quick": quick,
        "permutations": PERMUTATIONS,
        "level": LEVEL,
        "cells": cells,
    }
    PATH.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()

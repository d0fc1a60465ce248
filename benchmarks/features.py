"""Random features beside scikit-learn's approximations, and what stands on them at 500,000 rows.

First, transformers in the same pipelines, with the same number of columns: scaled rows, features, a
logistic regression, whose C is chosen from ``CS`` on a quarter of the rows, since the scale of
features differs. Length scales are the median distance between rows for both sides. Then
kernel methods by linear ones on ``RandomFeatures``, beside the exact method at 5,000 rows, and
alone at 500,000. Covertype, but for CCA and the Poisson regression, which are simulated. Means of
``SEEDS`` seeds, medians of seconds, and methods take turns.

Run as ``make bench-features``; writes ``benchmarks/results/features.json``.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.cross_decomposition import CCA
from sklearn.decomposition import PCA, KernelPCA, TruncatedSVD
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.kernel_approximation import (
    Nystroem,
    RBFSampler,
)
from sklearn.linear_model import LogisticRegression, PoissonRegressor, SGDOneClassSVM
from sklearn.manifold import SpectralEmbedding
from sklearn.metrics import d2_tweedie_score, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, OneClassSVM

import data
from circumstances import circumstances
from peers.tasks import prepare
from trickless import RandomFeatures
from trickless.neurons import Gaussian, Landmarks, Trees

PATH = Path(__file__).parent / "results" / "features.json"
SEEDS, COLUMNS, ROWS = 3, 1000, 10_000
CS = 1e0, 1e2, 1e4, 1e6
SIZES, TEST_ROWS = (5000, 500_000), 10_000


def transformers(scale, seed):
    """Pairs of scikit-learn's and ours; "chi" and "trees" have their own numbers of columns."""
    gamma, state = 1 / (2 * scale**2), {"random_state": seed}
    ours, fixed = state | {"scale": "unit"}, {"n_points": COLUMNS}
    trees = {"n_estimators": 100, "max_depth": 4}
    return {
        "RBFSampler": RBFSampler(gamma=gamma, n_components=COLUMNS, **state),
        "Gaussian": RandomFeatures(Gaussian(scale), COLUMNS // 2, **ours),
        "Gaussian, relevance": RandomFeatures(Gaussian("relevance"), COLUMNS // 2, **ours),
        "Nystroem": Nystroem(gamma=gamma, n_components=COLUMNS, **state),
        "Nystroem, twice the columns": Nystroem(gamma=gamma, n_components=2 * COLUMNS, **state),
        "Landmarks": RandomFeatures(Landmarks(Gaussian(scale), **fixed), COLUMNS, **ours),
        "Landmarks, pivoted": RandomFeatures(
            Landmarks(Gaussian(scale), selection="rpcholesky", **fixed), COLUMNS, **ours
        ),
        "Landmarks, not orthonormal": RandomFeatures(Landmarks(Gaussian(scale)), COLUMNS, **ours),
        "RandomTreesEmbedding": RandomTreesEmbedding(**trees, **state),
        "Trees": RandomFeatures(Trees(4), 100, **ours),
        "Trees, best of 8": RandomFeatures(Trees(4), 100, n_candidates=8, **ours),
    }


def side_by_side(name, methods, known):
    """Errors and seconds of each transformer before a logistic regression.

    If there are ``methods``, only these are measured, and the others stay as they are known.
    """
    task = prepare(name, quick=False, full=False)
    X, y = task.X[:ROWS], task.y[:ROWS]
    runs = {}
    for seed in range(SEEDS):
        for method, transformer in transformers(task.median, seed).items():
            if methods and method not in methods:
                continue
            start = time.perf_counter()
            Z = transformer.fit_transform(X, y)
            spent = time.perf_counter() - start
            Z_test = transformer.transform(task.X_test[:TEST_ROWS])
            error, C = error_of(Z, y, Z_test, task.y_test[:TEST_ROWS])
            runs.setdefault(method, []).append((error, spent, Z.shape[1], C))
    cells = [
        {
            "method": method,
            "columns": int(of[0][2]),
            "error": float(np.mean([run[0] for run in of])),
            "deviation": float(np.std([run[0] for run in of], ddof=1)),
            "seconds": float(np.median([run[1] for run in of])),
            "C": float(np.median([run[3] for run in of])),
        }
        for method, of in runs.items()
    ]
    measured = [cell["method"] for cell in cells]
    cells += [cell for cell in known.get(name, []) if cell["method"] not in measured]
    order = list(transformers(1.0, 0))
    cells.sort(key=lambda cell: order.index(cell["method"]))
    return {"data": name, "rows": len(X), "cells": cells}


def error_of(Z, y, Z_test, y_test):
    """The test error of a logistic regression, and its C, the best on the last quarter of rows."""
    part, scores = len(y) * 3 // 4, []
    for C in CS:
        linear = LogisticRegression(C=C, max_iter=300, tol=1e-3).fit(Z[:part], y[:part])
        scores.append(linear.score(Z[part:], y[part:]))
    C = CS[int(np.argmax(scores))]
    linear = LogisticRegression(C=C, max_iter=300, tol=1e-3).fit(Z, y)
    return 1 - linear.score(Z_test, y_test), C


def covertype(n):
    """Rows and labels to learn from, and others to test on."""
    split = data.covertype()
    rows = np.random.default_rng(0).permutation(len(split.X_train))[:n]
    return (
        split.X_train[rows],
        split.y_train[rows],
        split.X_test[:TEST_ROWS],
        split.y_test[:TEST_ROWS],
    )


def scale_of(X):
    """The median distance between some rows."""
    some = X[np.random.default_rng(1).integers(len(X), size=(2, 2000))].astype(float)
    return float(np.median(np.linalg.norm(some[0] - some[1], axis=1)))


def components(n, exact, seed):
    """Kernel PCA: lodgepole pines by a logistic regression on 20 components."""
    X, y, X_test, y_test = covertype(n)
    s = scale_of(X)
    features = RandomFeatures(Gaussian(s), 250, random_state=seed)
    method = make_pipeline(features, PCA(20, random_state=seed))
    if exact:
        method = KernelPCA(20, kernel="rbf", gamma=1 / (2 * s**2), random_state=seed)
    start = time.perf_counter()
    Z = method.fit_transform(X)
    spent = time.perf_counter() - start
    Z = np.asarray(Z) / Z.std(axis=0)
    linear = LogisticRegression(max_iter=1000).fit(Z, y)
    return linear.score(method.transform(X_test) / method.transform(X).std(axis=0), y_test), spent


def classes(n, exact, seed):
    """Lodgepole pines by logistic regression on features, or a support vector machine."""
    X, y, X_test, y_test = covertype(n)
    s = scale_of(X) / 2
    method = make_pipeline(
        RandomFeatures(Gaussian(s), 500, random_state=seed),
        LogisticRegression(C=100.0, max_iter=200, tol=1e-3),
    )
    method = SVC(C=10.0, gamma=1 / (2 * s**2)) if exact else method
    start = time.perf_counter()
    method.fit(X, y)
    return method.score(X_test, y_test), time.perf_counter() - start


def novelties(n, exact, seed):
    """One-class SVM: rows with shuffled numbers are found; the area under the curve."""
    X, _, X_test, _ = covertype(n)
    X, X_test = X[:, :10], X_test[:, :10]
    s = scale_of(X) / 4
    rng = np.random.default_rng(0)
    odd = rng.permuted(X_test, axis=0)
    method = make_pipeline(
        RandomFeatures(Gaussian(s), 500, random_state=seed),
        SGDOneClassSVM(nu=0.1, random_state=seed),
    )
    method = OneClassSVM(nu=0.1, gamma=1 / (2 * s**2)) if exact else method
    start = time.perf_counter()
    method.fit(X)
    spent = time.perf_counter() - start
    f = method.decision_function(np.vstack([X_test, odd]))
    return roc_auc_score(np.arange(len(f)) < len(X_test), f), spent


def clusters(n, exact, seed):
    """k-means in kernel space: what its seven clusters explain of the distances of new rows."""
    X, _, X_test, _ = covertype(n)
    s = scale_of(X) / 2
    features = RandomFeatures(Gaussian(s), 250, random_state=seed)
    method = make_pipeline(features, MiniBatchKMeans(7, batch_size=4096, random_state=seed))
    if exact:
        method = make_pipeline(
            KernelPCA(300, kernel="rbf", gamma=1 / (2 * s**2), random_state=seed),
            KMeans(7, n_init=3, random_state=seed),
        )
    start = time.perf_counter()
    method.fit(X)
    spent = time.perf_counter() - start
    judge = RandomFeatures(Gaussian(s), 2000, random_state=99)  # neurons that neither knows
    Z, label = judge.fit_transform(X_test), method.predict(X_test)
    within = sum(((Z[label == k] - Z[label == k].mean(axis=0)) ** 2).sum() for k in set(label))
    return 1 - within / ((Z - Z.mean(axis=0)) ** 2).sum(), spent


def by_degree(Z):
    """Features divided by the roots of the row sums of the kernel, which are kept away from 0."""
    degree = Z @ Z.sum(axis=0)
    return Z / np.sqrt(np.maximum(degree, 0.01 * np.median(degree)))[:, None]


def by_first(U):
    """Coordinates relative to the first, which is about the root of the degree."""
    return U[:, 1:] / U[:, :1]


def embedding(n, exact, seed):
    """A spectral embedding in 10 numbers, and lodgepole pines by the neighbours in it."""
    X, y, _, _ = covertype(n)
    s = scale_of(X) / 2
    method = make_pipeline(
        RandomFeatures(Gaussian(s), 500, random_state=seed),
        FunctionTransformer(by_degree),
        TruncatedSVD(11, random_state=seed),
        FunctionTransformer(by_first),
    )
    if exact:
        gamma = 1 / (2 * s**2)
        method = SpectralEmbedding(10, affinity="rbf", gamma=gamma, random_state=seed)
    start = time.perf_counter()
    U = method.fit_transform(X)
    spent = time.perf_counter() - start
    U, half = U / U.std(axis=0), min(len(U) // 2, TEST_ROWS)
    model = KNeighborsClassifier().fit(U[half : 10 * half], y[half : 10 * half])
    return model.score(U[:half], y[:half]), spent


def views(n, exact, seed):
    """CCA: the correlation of new rows of two views, one the square of the other."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n + TEST_ROWS, 3)).astype("float32")
    Y = np.column_stack([X[:, 0] ** 2 - 1, *rng.standard_normal((2, len(X)))]).astype("float32")
    Y += 0.2 * rng.standard_normal(Y.shape, dtype="float32")
    start = time.perf_counter()
    parts = [
        KernelPCA(40, kernel="rbf", gamma=1 / 6, random_state=seed)
        if exact
        else RandomFeatures(Gaussian(3**0.5), 40, random_state=seed)
        for _ in range(2)
    ]
    A, B = (part.fit(V[:n]).transform(V[:n]) for part, V in zip(parts, (X, Y), strict=True))
    model = CCA(1, max_iter=1000).fit(A, B)
    spent = time.perf_counter() - start
    a, b = model.transform(*(p.transform(V[n:]) for p, V in zip(parts, (X, Y), strict=True)))
    return abs(float(np.corrcoef(a[:, 0], b[:, 0])[0, 1])), spent


def counts(n, exact, seed):
    """Poisson regression: the share of the deviance of new rows that is explained."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (n + TEST_ROWS, 2)).astype("float32")
    y = rng.poisson(np.exp(1 + np.sin(3 * X[:, 0]) * X[:, 1]))
    features = RandomFeatures(Gaussian(0.7), 100, random_state=seed)
    if exact:
        features = KernelPCA(200, kernel="rbf", gamma=1 / (2 * 0.7**2), random_state=seed)
    method = make_pipeline(features, PoissonRegressor(alpha=1e-5, solver="newton-cholesky"))
    start = time.perf_counter()
    method.fit(X[:n], y[:n])
    spent = time.perf_counter() - start
    return d2_tweedie_score(y[n:], method.predict(X[n:]), power=1), spent


TASKS = {
    "kernel PCA, accuracy": components,
    "logistic regression, accuracy": classes,
    "one-class SVM, area": novelties,
    "kernel k-means, explained": clusters,
    "spectral embedding, accuracy": embedding,
    "kernel CCA, correlation": views,
    "Poisson regression, explained": counts,
}


def on_top(sizes):
    """Quality and seconds on features, and of the exact method at the first size."""
    cells = []
    for name, task in TASKS.items():
        cell = {"task": name}
        for n in sizes:
            runs = {"features": [], "exact": []}
            for seed in range(SEEDS if n == sizes[0] else 1):
                for kind in runs if n == sizes[0] else ("features",):
                    runs[kind].append(task(n, kind == "exact", seed))
            for kind, of in runs.items():
                if of:
                    quality, seconds = np.mean([q for q, _ in of]), np.median([s for _, s in of])
                    cell[f"{kind} {n}"] = {"quality": float(quality), "seconds": float(seconds)}
        print(json.dumps(cell), flush=True)
        cells.append(cell)
    return {"sizes": list(sizes), "cells": cells}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--skip-transformers", action="store_true")
    parser.add_argument("--method", action="append", help="only this transformer; keep the rest")
    options = parser.parse_args()
    result = {"circumstances": circumstances(), "seeds": SEEDS}
    before = json.loads(PATH.read_text()) if options.method else {"transformers": []}
    known = {part["data"]: part["cells"] for part in before["transformers"]}
    if not options.skip_transformers:
        sets = ("adult", "covertype", "mnist")
        result["transformers"] = [side_by_side(name, options.method, known) for name in sets]
        print(json.dumps(result["transformers"], indent=1), flush=True)
    if options.method:  # the rest keeps the circumstances of its own run
        result["circumstances"] = before["circumstances"]
        result["again"] = {"methods": options.method, "circumstances": circumstances()}
    result["on_top"] = before["on_top"] if options.method else on_top(options.sizes)
    if tuple(options.sizes) == SIZES and not options.skip_transformers:
        PATH.write_text(json.dumps(result, indent=1) + "\n")
        print(f"wrote {PATH}")


if __name__ == "__main__":
    main()

"""Kitchen Sinks beside the arithmetic that it cannot avoid: activations, fit, prediction, memory.

All on 40,000 rows of 100 features and 1,000 Gaussian neurons, that is 2,000 columns, in single
precision, in one process, in turn, medians of 9. The bare versions have their weights drawn, and do
with NumPy and SciPy alone:

- activations: the product of the rows with 2,000 weights, as a cosine with a phase would need it,
  as one array, in new memory and in memory that is there, and by blocks of rows that stay in the
  cache and are not kept; and the parts of ours, the product with 1,000 weights and its cosines and
  sines, by blocks of 512 rows on as many threads as BLAS would use;
- fit: these parts, the Gram matrix (a symmetric rank-k update) panel by panel and a Cholesky
  factorisation; once with the update in double precision, and once in single, although the rounding
  of such large products in single is not good enough for a light regularisation;
- predict: activations of blocks and their products with the coefficients.

Small problems are put to scikit-learn's RBFSampler and ridge with as many columns: a fit of 200
rows with 100 columns and with 2,000, as many as there are by default; and with 100, a grid search
on the digits, three values of alpha by five folds, in one process.
Memory is the peak of a fit above its beginning, next to 3 c² doubles for c columns and the byte
budgets.

Run as ``make bench-limits``; writes ``benchmarks/results/kitchen_sinks_limits.json`` in about 2
minutes. With ``--quick`` it only prints what a tenth of the rows and three repeats give.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from bare import ROWS, activations, blocks, in_turn, network, one_blas_thread, product
from scipy import linalg
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from circumstances import circumstances
from measurement import measured
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless._arrays.threads import n_threads
from trickless._functions.activations import PANEL_BYTES
from trickless._functions.activations import panels as panels_of
from trickless.neurons import Gaussian

N_ROWS, N_INPUTS, N_NEURONS, ALPHA, REPEATS = 40_000, 100, 1000, 1e-6, 9
PANEL = 4096
#: Columns of activations in small problems.
COLUMNS, DEFAULT_COLUMNS = 100, 2000
RESULTS = Path(__file__).parents[1] / "results"


def problem(n_rows, n_inputs):
    X = np.random.default_rng(0).standard_normal((n_rows, n_inputs)).astype("float32")
    return X, np.sin(X[:, 0]) + X[:, 1]


def large(pool, n_rows=N_ROWS, repeats=REPEATS):
    """Seconds of ours and of the bare parts, and what they come to."""
    X, y = problem(n_rows, N_INPUTS)
    options = {"alpha": ALPHA, "random_state": 0}
    model = KitchenSinksRegressor(Gaussian(10.0), N_NEURONS, **options).fit(X, y)
    (W,) = model._stream_.between(0, N_NEURONS)
    twice = np.concatenate([W, W])
    coef = np.concatenate(list(model.neuron_coef_.swapaxes(0, 1))).astype("float32")
    panels = blocks(n_rows, PANEL)
    ready = [activations(X[panel], W) for panel in panels[:2]]
    there = X @ twice.T

    def parts():
        with one_blas_thread():
            for panel in panels:
                Z = np.empty((len(X[panel]), 2 * N_NEURONS), dtype="float32")

                def fill(rows, Z=Z, panel=panel):
                    Z[rows] = activations(X[panel][rows], W)

                list(pool.map(fill, blocks(len(Z), ROWS)))

    def gram(dtype):
        total = np.zeros((2 * N_NEURONS, 2 * N_NEURONS))
        for i, panel in enumerate(panels):
            Z = ready[i % 2][: len(X[panel])].astype(dtype, copy=False)
            total += Z.T @ Z
        return total

    matrix = gram("float64") / n_rows
    matrix.flat[:: len(matrix) + 1] += ALPHA * N_NEURONS

    def predict():
        with one_blas_thread():
            network(X, W, coef, pool)

    def by_blocks():
        with one_blas_thread():
            product(X, twice, pool)

    auto = KitchenSinksRegressor(Gaussian(10.0), N_NEURONS, random_state=0)
    fixed = KitchenSinksRegressor(Gaussian(10.0), N_NEURONS, **options)
    seconds = in_turn(
        {
            "activations": lambda: [None for _ in panels_of(model._stream_, N_NEURONS, X)],
            "product with 2,000 columns": lambda: X @ twice.T,
            "product with 2,000 columns, in memory": lambda: np.matmul(X, twice.T, out=there),
            "product with 2,000 columns, by blocks": by_blocks,
            "product, cosine and sine": parts,
            "Gram matrix": lambda: gram("float64"),
            "Gram matrix, single precision": lambda: gram("float32"),
            "Cholesky": lambda: linalg.cho_factor(matrix, check_finite=False),
            "fit": lambda: fixed.fit(X, y),
            "fit, alpha='auto'": lambda: auto.fit(X, y),
            "predict": lambda: model.predict(X),
            "bare predict": predict,
        },
        repeats,
    )
    others = seconds["product, cosine and sine"] + seconds["Cholesky"]
    bare, single = (
        others + seconds[name] for name in ("Gram matrix", "Gram matrix, single precision")
    )
    ratios = {
        "activations to the product": seconds["activations"]
        / seconds["product with 2,000 columns"],
        "activations to the product in memory": seconds["activations"]
        / seconds["product with 2,000 columns, in memory"],
        "activations to the product by blocks": seconds["activations"]
        / seconds["product with 2,000 columns, by blocks"],
        "activations to their parts": seconds["activations"] / seconds["product, cosine and sine"],
        "fit": seconds["fit"] / bare,
        "fit, alpha='auto'": seconds["fit, alpha='auto'"] / bare,
        "fit, single precision": seconds["fit"] / single,
        "fit, alpha='auto', single precision": seconds["fit, alpha='auto'"] / single,
        "predict": seconds["predict"] / seconds["bare predict"],
    }
    return {"seconds": seconds, "ratio": ratios}


def small(columns, repeats=15):
    """A fit of 200 rows by so many columns beside scikit-learn's."""
    X, y = problem(200, 10)
    ours = KitchenSinksRegressor(Gaussian(3.0), columns // 2, alpha=1e-4, random_state=0)
    auto = KitchenSinksRegressor(Gaussian(3.0), columns // 2, random_state=0)
    theirs = make_pipeline(RBFSampler(gamma=1 / 18, n_components=columns, random_state=0), Ridge())
    seconds = in_turn(
        {
            "Kitchen Sinks": lambda: ours.fit(X, y),
            "Kitchen Sinks, alpha='auto'": lambda: auto.fit(X, y),
            "RBFSampler and Ridge": lambda: theirs.fit(X, y),
        },
        repeats,
    )
    return {"seconds": seconds, "ratio": seconds["Kitchen Sinks"] / seconds["RBFSampler and Ridge"]}


def grid_search(repeats=REPEATS):
    """Three values of alpha by five folds on the digits, beside scikit-learn's."""
    X, y = load_digits(return_X_y=True)
    sampler = RBFSampler(gamma=1 / 1800, n_components=COLUMNS, random_state=0)
    models = {
        "Kitchen Sinks": (KitchenSinksClassifier(Gaussian(30.0), COLUMNS // 2, random_state=0), ""),
        "RBFSampler and Ridge": (make_pipeline(sampler, RidgeClassifier()), "ridgeclassifier__"),
    }
    searches = {
        name: GridSearchCV(model, {f"{prefix}alpha": [1e-6, 1e-4, 1e-2]}, cv=5)
        for name, (model, prefix) in models.items()
    }
    seconds = in_turn(
        {name: lambda search=search: search.fit(X, y) for name, search in searches.items()},
        repeats,
    )
    return {
        "seconds": seconds,
        "score": {name: search.best_score_ for name, search in searches.items()},
        "ratio": seconds["Kitchen Sinks"] / seconds["RBFSampler and Ridge"],
    }


def memory():
    """MiB at the peak of a fit above its beginning, and what it may be."""
    X, y = problem(N_ROWS, N_INPUTS)
    model = KitchenSinksRegressor(Gaussian(10.0), 2 * N_NEURONS, random_state=0)
    with measured() as fitting:
        model.fit(X, y)
    matrices = 3 * 8 * (4 * N_NEURONS) ** 2
    return {
        "columns": 4 * N_NEURONS,
        "peak_mib": fitting.peak_mib,
        "matrices_mib": matrices / 2**20,
        "budget_mib": (model._stream_.cache_bytes + PANEL_BYTES) / 2**20,
    }


def main():
    quick = "--quick" in sys.argv[1:]
    result = {"circumstances": circumstances()}
    with ThreadPoolExecutor(n_threads(None)) as pool:
        if quick:
            result |= {"large": large(pool, N_ROWS // 10, 3)}
            result |= {"small": small(COLUMNS, 10), "small, wide": small(DEFAULT_COLUMNS, 10)}
            result |= {"grid search": grid_search(3)}
        else:
            result |= {"memory": memory(), "large": large(pool)}
            result |= {"small": small(COLUMNS), "small, wide": small(DEFAULT_COLUMNS)}
            result |= {"grid search": grid_search()}
    print(json.dumps(result, indent=1))
    if not quick:
        path = RESULTS / "kitchen_sinks_limits.json"
        path.write_text(json.dumps(result, indent=1) + "\n")
        print(f"wrote {path}")


if __name__ == "__main__":
    main()

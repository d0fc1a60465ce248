"""Compile the loops that tests use, and keep them on disk.

    python tests/support/compile_loops.py oblivious

The argument is a shape of trees, or ``series``. Several processes may compile side by side.
"""

import sys

import numpy as np

from trickless import BoostedTreesRegressor, KitchenSinksRegressor
from trickless.neurons import Convolutions, Trees


def main(loops):
    """Fit a small model, whose parts are compiled."""
    X = np.random.default_rng(0).standard_normal((100, 30)).round(1)
    y = X[:, 0]
    family = Convolutions() if loops == "series" else Trees(shape=loops)
    for dtype in ("float32", "float64"):
        KitchenSinksRegressor(family, 20, alpha=1.0, dtype=dtype).fit(X, y).predict(X[:1])
    if loops != "series":
        trees = BoostedTreesRegressor(20, shape=loops).fit(X[:, :2], y)
        trees.predict(X[:1, :2])
        trees.shap_values(X[:1, :2])


if __name__ == "__main__":
    main(sys.argv[1])

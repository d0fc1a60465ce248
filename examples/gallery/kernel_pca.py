"""Kernel PCA without a kernel matrix: PCA of random features.

Two rings cannot be told apart along any line. In the space of a Gaussian kernel they can: the
first components tell the inner ring from the outer one.
"""

import numpy as np
from sklearn.datasets import make_circles
from sklearn.decomposition import PCA, KernelPCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from trickless import RandomFeatures
from trickless.neurons import Gaussian

ROWS, COMPONENTS, SCALE = 2000, 3, 0.3


def main():
    X, ring = make_circles(ROWS, factor=0.4, noise=0.05, random_state=0)
    methods = {
        "PCA": PCA(COMPONENTS - 1),
        "kernel PCA": KernelPCA(COMPONENTS, kernel="rbf", gamma=1 / (2 * SCALE**2)),
        "PCA of random features": make_pipeline(
            RandomFeatures(Gaussian(SCALE), 500, random_state=0), PCA(COMPONENTS, random_state=0)
        ),
    }
    for name, method in methods.items():
        Z = method.fit_transform(X)
        right = LogisticRegression().fit(Z[::2], ring[::2]).score(Z[1::2], ring[1::2])
        print(f"{name:<24}{right:>8.1%} of the rings are told apart by {Z.shape[1]} components")
    return np.asarray(Z)


if __name__ == "__main__":
    main()

"""An embedding like the spectral one: the SVD of features that are divided by their degree.

The spectral embedding takes eigenvectors of D^(-1/2) K D^(-1/2), where K is a kernel matrix and D
its row sums. With features Z, K is Z Zᵀ, so these are left singular vectors of D^(-1/2) Z, and no
matrix of n by n numbers is needed.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.manifold import SpectralEmbedding
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from trickless import RandomFeatures
from trickless.neurons import Gaussian

COMPONENTS, SCALE = 10, 1.5


def by_degree(Z):
    degree = Z @ Z.sum(axis=0)
    return Z / np.sqrt(np.maximum(degree, 0.01 * np.median(degree)))[:, None]


def by_first(U):
    """Coordinates relative to the first, which is about the root of the degree."""
    return U[:, 1:] / U[:, :1]


def main():
    X, digit = load_digits(return_X_y=True)
    embeddings = {
        "exact": SpectralEmbedding(
            COMPONENTS, affinity="rbf", gamma=1 / (2 * SCALE**2), random_state=0
        ),
        "random features": make_pipeline(
            RandomFeatures(Gaussian(SCALE), 2000, random_state=0),
            FunctionTransformer(by_degree),
            TruncatedSVD(COMPONENTS + 1, random_state=0),
            FunctionTransformer(by_first),
        ),
    }
    scores = {}
    for name, embedding in embeddings.items():
        U = embedding.fit_transform(X / 16)
        scores[name] = cross_val_score(KNeighborsClassifier(), U / U.std(axis=0), digit).mean()
        print(f"{name:<18}{scores[name]:.1%} of the digits by their neighbours, in 10 numbers each")
    return scores


if __name__ == "__main__":
    main()

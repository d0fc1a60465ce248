"""Kernel canonical correlation: CCA of the random features of two views.

The second view is the square of the first, in other coordinates, so no straight line relates them.
"""

import numpy as np
from sklearn.cross_decomposition import CCA
from sklearn.preprocessing import StandardScaler

from trickless import RandomFeatures

ROWS, NEURONS = 2000, 40


def correlation(A, B, n_train):
    """Of the first pair of canonical variables, on rows that were not seen."""
    model = CCA(1, max_iter=2000).fit(A[:n_train], B[:n_train])
    a, b = model.transform(A[n_train:], B[n_train:])
    return float(np.corrcoef(a[:, 0], b[:, 0])[0, 1])


def main():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, 3))
    Y = np.column_stack([X[:, 0] ** 2, *rng.standard_normal((2, ROWS))])
    Y = StandardScaler().fit_transform(Y + 0.2 * rng.standard_normal(Y.shape))
    features = RandomFeatures(n_neurons=NEURONS, random_state=0)
    views = {
        "as they are": (X, Y),
        "as random features": (features.fit_transform(X), features.fit_transform(Y)),
    }
    found = {name: correlation(*pair, ROWS // 2) for name, pair in views.items()}
    for name, value in found.items():
        print(f"CCA of the views {name:<20}correlation {value:.2f}")
    return found


if __name__ == "__main__":
    main()

"""Write the golden file of the format, a small model: python tests/support/make_golden.py"""

from pathlib import Path

import numpy as np

import trickless
from trickless.neurons import Gaussian

GOLDEN = Path(__file__).parents[1] / "golden" / "model.trickless"
#: What the model predicts for its first four rows.
ANSWERS = [0.999965805569305, 1.0146151131899401, 1.3365720714991909, 1.0630838523898163]


def rows():
    """Inputs from arithmetic, not from a generator that may change."""
    i = np.arange(24.0)
    return np.column_stack([np.sin(i), np.cos(2 * i)])


if __name__ == "__main__":
    X = rows()
    model = trickless.KitchenSinksRegressor(Gaussian(1.0), 6, dtype="float64", random_state=0)
    trickless.save(model.fit(X, X[:, 0] + X[:, 1] ** 2), GOLDEN)
    print(model.predict(X[:4]).tolist())

"""Write the golden files of this version of the format: small models, and what they predict.

python tests/support/make_golden.py    (once for a version; files of older versions stay)
"""

import json
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.base import is_regressor

import trickless
from cases import KERNEL_LEARNERS, LEARNERS, answers, name_of
from trickless.files.format import VERSION
from trickless.neurons import Dense, Gaussian, Stumps

FOLDER = Path(__file__).parents[1] / "golden"


def rows():
    """Inputs from arithmetic, not from a generator that may change."""
    i = np.arange(24.0)
    return np.column_stack([np.sin(i), np.cos(2 * i)])


def golden_models():
    """A small fitted model of each learner."""
    X = rows()
    f = X[:, 0] + X[:, 1] ** 2
    labels = np.array(["a", "b", "c"])[np.digitize(f, [0, 0.8])]
    families = Gaussian(length_scale=1.0), Stumps(), Dense("tanh")
    for i, learner in enumerate((*LEARNERS, *KERNEL_LEARNERS)):
        if name_of(learner).startswith("Noisy"):
            continue  # has a function of the caller's
        params = {"random_state": 0, "dtype": "float64"}
        if "neurons" in learner.get_params():
            params |= {"n_neurons": 6, "neurons": families[i % 3]}
        model = type(learner)(**params)
        sparse = not name_of(learner).startswith("Shrinking")
        model.fit(scipy.sparse.csr_matrix(X) if sparse else X, f if is_regressor(model) else labels)
        yield model


if __name__ == "__main__":
    folder = FOLDER / f"version-{VERSION}"
    folder.mkdir(parents=True)
    expected = {}
    for model in golden_models():
        trickless.save(model, folder / f"{name_of(model)}.trickless")
        expected[name_of(model)] = answers(model, rows()[:4]).tolist()
    (folder / "answers.json").write_text(json.dumps(expected, indent=1) + "\n")

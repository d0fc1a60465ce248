"""Expansions on a few rows, for the tests of what is estimated of them."""

import numpy as np

from cases import inputs
from trickless.inspection import Expansion
from trickless.neurons import Dense, Gaussian, Stumps

FAMILIES = {"gaussian": Gaussian(length_scale=1.5), "stumps": Stumps(), "erf": Dense("erf")}
ALPHAS = {
    "signs": lambda rng, t: rng.standard_normal((t, 2)),
    "positive": lambda rng, t: rng.random((t, 2)),
    "sparse": lambda rng, t: rng.standard_normal((t, 2)) * (np.arange(t) % 3 == 0)[:, None],
}


def expansion(family="gaussian", alpha="signs", t=40, n_jobs=None):
    rng = np.random.default_rng(7)
    X = inputs(t, 3)
    neurons = FAMILIES[family].fit(X, rng)
    return Expansion(neurons, X, ALPHAS[alpha](rng, t), n_jobs)

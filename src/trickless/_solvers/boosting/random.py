"""Random numbers of compiled loops: the generator splitmix64, with one seed for each tree."""

from __future__ import annotations

import numpy as np

from trickless._solvers.boosting.compiled import compiled


@compiled
def uniform(state):  # type: ignore[no-untyped-def]
    """Return a random number in [0, 1), and advance the state, a uint64 array of one number."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.float64(z >> np.uint64(11)) * 2.0**-53

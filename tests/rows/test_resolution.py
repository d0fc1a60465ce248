"""Warnings of values that a precision cannot tell apart."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from trickless import KitchenSinksRegressor
from trickless._rows.resolution import warn_of_resolution
from trickless.neurons import Stumps

RNG = np.random.default_rng(0)
HOURS = np.arange(5000)
TENTHS = RNG.integers(-200, 400, 1000) / 10


def waves(period):
    angle = 2 * np.pi * HOURS / period
    return np.column_stack([np.sin(angle), np.cos(angle)])


NOISE = {
    "days": waves(24),
    "weeks": waves(168),
    "years": waves(8766),
    "few rows": waves(12)[:500],
    "sums": np.concatenate([np.cumsum(0.1 * RNG.permutation(np.arange(1, 9))) for _ in range(99)]),
    "grid": np.linspace(0, 1, 50)[RNG.integers(0, 50, 1000)] * (1 + 1e-15 * RNG.random(1000)),
    "tenths": TENTHS + 0.1,
    "units": np.append(TENTHS, (TENTHS * 9 / 5 + 32 - 32) * 5 / 9),
    "shares": np.append(TENTHS, 100 * (TENTHS / 7) / (100 / 7)),
    "mostly zero": np.where(RNG.random(5000) < 0.9, 0, waves(24)[:, 0]),
    "missing": np.where(RNG.random(5000) < 0.1, np.nan, waves(24)[:, 0]),
}
LOST = {
    "ids": 1e9 + np.arange(1000.0),
    "times": 1.7e9 + RNG.integers(0, 10**6, 1000) / 1000,
    "prices": 1e8 + RNG.integers(0, 1000, 1000) / 100,
    "an outlier": np.append(1e8 + RNG.integers(0, 1000, 1000) / 100, 1e12),
    "missing": np.append(1e9 + np.arange(1000.0), np.nan),
    "tiny": 10 ** -RNG.uniform(0, 60, 1000),
    "all tiny": 1e-50 * RNG.random(1000),
}


@pytest.mark.parametrize("values", NOISE.values(), ids=NOISE)
def test_rounding_noise_is_not_warned_of(values):
    assert not warn_of_resolution("", values.reshape(len(values), -1), "float32", True, True)


@pytest.mark.parametrize("values", LOST.values(), ids=LOST)
def test_losses_of_resolution_are_warned_of(values):
    with pytest.warns(UserWarning, match="Remedy"):
        assert warn_of_resolution("", values[:, None], "float32", True, True)


@pytest.mark.parametrize("neurons", ["gaussian", Stumps()], ids=["distances", "order"])
def test_the_column_is_named_as_it_was_passed(neurons):
    X = np.column_stack([HOURS[:1000] % 7, 1e9 + np.arange(1000) % 40])
    model = KitchenSinksRegressor(neurons, n_neurons=9, random_state=0)
    if isinstance(neurons, str):
        X[:, 0] = 0
        X[:, 1] += 1e12
    for rows, name in (
        (X, "1"),
        (scipy.sparse.csr_matrix(X), "1"),
        (pd.DataFrame(X, columns=["day", "id"]), "'id'"),
    ):
        with pytest.warns(UserWarning, match=f"column {name} of X"):
            model.fit(rows, X[:, 0] + np.arange(1000.0))

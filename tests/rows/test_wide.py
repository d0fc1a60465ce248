"""Tables of many columns: what a column costs does not depend on how many there are."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from trickless import KitchenSinksRegressor

ROWS = 5
#: Twice the columns may take this many times the work: 2, and a little for what all share.
MOST = 2.2


def numbers(n):
    return np.random.default_rng(0).standard_normal((ROWS, n))


def texts(n):
    return np.where(numbers(n) > 0, "u", "v").astype(object)


def names(n):
    return [f"c{j}" for j in range(n)]


FRAMES = {
    "pandas": lambda n: pd.DataFrame(numbers(n), columns=names(n)),
    "pandas-integers": lambda n: pd.DataFrame(numbers(n), columns=names(n)).round().astype("Int64"),
    "pandas-text": lambda n: pd.DataFrame(texts(n), columns=names(n)),
    "pandas-categories": lambda n: pd.DataFrame(texts(n), columns=names(n)).astype("category"),
    "polars": lambda n: pl.DataFrame(numbers(n), schema=names(n)),
    "polars-text": lambda n: pl.DataFrame(
        {name: column.tolist() for name, column in zip(names(n), texts(n).T, strict=True)}
    ),
}


def events(function):
    """How many functions are called and returned from, in Python and in C."""
    count = 0

    def tick(frame, event, argument):
        nonlocal count
        count += 1

    sys.setprofile(tick)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("kind", FRAMES)
def test_work_is_linear_in_columns(kind):
    def learn(frame):
        model = KitchenSinksRegressor("tabular", n_neurons=8, random_state=0, n_jobs=1)
        model.fit(frame, np.arange(ROWS)).predict(frame)

    learn(FRAMES[kind](20))  # imports, and what is cached
    few, many = (events(lambda n=n: learn(FRAMES[kind](n))) for n in (100, 200))
    assert few > 100
    assert many <= MOST * few


@pytest.mark.parametrize("kind", ["pandas", "pandas-integers"])
def test_numbers_are_read_together(kind):
    """A frame of numbers only takes no column by itself, and gives the same codes."""
    frame = FRAMES[kind](60)
    mixed = frame.assign(town=["A", "B", "A", "B", "A"])
    model = KitchenSinksRegressor("tabular", n_neurons=8, random_state=0).fit(frame, np.arange(5.0))
    other = KitchenSinksRegressor("tabular", n_neurons=8, random_state=0).fit(mixed, np.arange(5.0))
    together = model._rows_.to_predict(model, frame)
    np.testing.assert_array_equal(together, other._rows_.to_predict(other, mixed)[:, :-1])

"""Text that is numbers with a decimal comma, or signs between thousands, is told."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from trickless import BoostedTreesRegressor
from trickless._rows.signs import Signs, signs_of

PLAIN, COMMA = Signs(), Signs(",")


@pytest.mark.parametrize(
    ("texts", "signs"),
    [
        (["12", "1.5", "-3"], PLAIN),
        (["23,5", "24", " -0,25 "], COMMA),
        (["1,200", "950"], Signs(".", ",")),
        (["12,34,567", "1"], Signs(".", ",")),
        (["1,200.5", "950"], Signs(".", ",")),
        (["0,125", "0,250"], COMMA),
        (["1,125", "2,5"], COMMA),
        (["1.008,87", "665,51"], Signs(",", ".")),
        (["1'000", "2"], Signs(".", "'")),
        (["1 000,5", "7"], Signs(",", " ")),
        (["23,5"] * 19 + ["k.A."], COMMA),
        (["23,5"] * 18 + ["k.A."] * 2, None),
        (["04.04.2023"], None),
        (["$1,200"], None),
        (["10.0.0.1"], None),
        ([""], None),
        ([], None),
    ],
)
def test_signs_of_numbers(texts, signs):
    assert signs_of(texts) == signs


def table(values):
    return {"size": values, "age": [float(i) for i in range(len(values))]}


def told(frame):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        BoostedTreesRegressor(3, random_state=0).fit(frame, np.arange(len(frame)) % 7.0)
    return [str(each.message) for each in caught if "'size'" in str(each.message)]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_decimal_comma_is_told_once(make):
    texts = [f"{15 + i % 90 / 10:.1f}".replace(".", ",") for i in range(300)]
    texts[0], texts[7] = "k.A.", None
    (said,) = told(make(table(texts)))
    assert "column 'size' of X is text that looks like numbers, such as '15,1'" in said
    assert "pandas.read_csv(decimal=',')" in said
    (said,) = told(make(table([f"{1000 + 7 * i:,},5".replace(",", ".", 1) for i in range(300)])))
    assert "pandas.read_csv(decimal=',', thousands='.')" in said


def test_what_is_no_decimal_comma_is_not_told():
    texts = np.array([f"{i % 9},5" for i in range(300)], dtype=object)
    for values in (
        pd.Categorical(texts),  # the remedy for names
        [text.replace(",", ".") for text in texts],
        [f"${text}" for text in texts],
        [float(text.replace(",", ".")) for text in texts],
        [None, 1.5, "2,5"] * 100,
    ):
        assert not told(pd.DataFrame(table(values)))

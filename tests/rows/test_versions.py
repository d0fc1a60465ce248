"""What pandas 3 and polars 2 changed: the types of text, copies on write, and categories.

Each test makes the new types or arrays itself where an older version has them under another name.
"""

from inspect import signature

import numpy as np
import pandas as pd
import polars as pl
import pytest

from trickless import BoostedTreesRegressor, DoublyStochasticRegressor, KitchenSinksRegressor
from trickless.neurons import Gaussian

ROWS = np.arange(120)
TEXTS = [f"t{i % 5}" if i % 7 else None for i in ROWS]
Y = np.where(ROWS % 7 > 0, ROWS % 5, 6) * 1.0

#: Types of text: of pandas 2, of pandas 3 with and without Arrow, and of Arrow.
TEXT = {
    "object": object,
    "string": "string",
    "Arrow": "string[pyarrow]",
}
if "na_value" in signature(pd.StringDtype).parameters:
    TEXT |= {
        "str": pd.StringDtype(na_value=np.nan),
        "str of Python": pd.StringDtype("python", na_value=np.nan),
        "str of Arrow": pd.StringDtype("pyarrow", na_value=np.nan),
    }


TABULAR = KitchenSinksRegressor("tabular", 60, random_state=0)
TREES = BoostedTreesRegressor(n_trees=20, random_state=0)


@pytest.mark.parametrize(
    ("learner", "dtype"), [*((TABULAR, dtype) for dtype in TEXT.values()), (TREES, TEXT["Arrow"])]
)
def test_text_of_any_type_is_the_same(learner, dtype):
    plain = pd.DataFrame({"a": pd.Series(TEXTS, dtype=object), "b": ROWS})
    expected = learner.fit(plain, Y).predict(plain)
    frame = plain.astype({"a": dtype})
    np.testing.assert_array_equal(learner.predict(frame), expected)
    np.testing.assert_array_equal(learner.fit(frame, Y).predict(plain), expected)


def test_names_and_targets_of_the_str_type():
    labels = pd.Series([f"l{i % 2}" for i in ROWS], dtype=TEXT.get("str", "string"))
    frame = pd.DataFrame({"a": pd.Series(TEXTS, dtype=TEXT.get("str", "string")), "y": Y})
    frame.columns = frame.columns.astype(TEXT.get("str", "string"))
    learner = KitchenSinksRegressor("tabular", 60, random_state=0)
    assert learner.fit(frame[["a"]], Y).feature_names_in_.tolist() == ["a"]
    model = KitchenSinksRegressor("tabular", 20, random_state=0)
    with pytest.raises(ValueError, match="Remedy"):  # labels are no numbers
        model.fit(frame[["a"]], labels)


@pytest.mark.parametrize("neurons", ["tabular", Gaussian(1.0)])
@pytest.mark.parametrize(
    "learner", [KitchenSinksRegressor(n_neurons=20), DoublyStochasticRegressor(n_neurons=600)]
)
def test_arrays_that_copy_on_write_made_read_only_are_taken(learner, neurons):
    """A frame of one block gives its own memory, which must stay as it is."""
    values = np.random.default_rng(0).standard_normal((120, 3))
    values.flags.writeable = False
    frame = pd.DataFrame(values, columns=list("abc"), copy=False)
    y = pd.Series(values[:, 0])
    target = y.to_numpy()
    target.flags.writeable = False
    model = learner.set_params(neurons=neurons, random_state=0)
    expected = model.fit(values.copy(), target.copy()).predict(values.copy())
    for X in (frame, frame[["a", "b", "c"]], frame.iloc[:]):
        np.testing.assert_array_equal(model.fit(X, y).predict(X), expected)
    np.testing.assert_array_equal(model.fit(values, target).predict(values), expected)


@pytest.mark.parametrize(
    "type_", [pl.String, pl.Categorical, pl.Enum([f"t{i}" for i in range(5)])], ids=str
)
def test_categories_of_polars_do_not_depend_on_what_was_met_before(type_):
    """Since 1.32 all columns of categories share their codes, whose order tells nothing."""
    pl.Series(["t4", "t2", "other"], dtype=pl.Categorical)
    plain = pd.DataFrame({"a": pd.Series(TEXTS, dtype=object), "b": ROWS})
    model = KitchenSinksRegressor("tabular", 60, random_state=0)
    expected = model.fit(plain, Y).predict(plain)
    frame = pl.DataFrame({"a": pl.Series(TEXTS, dtype=type_), "b": ROWS})
    np.testing.assert_array_equal(model.predict(frame), expected)
    np.testing.assert_array_equal(model.fit(frame, Y).predict(plain), expected)
    parts = frame[::-1], frame[:0], frame[7:30]
    for part in parts[:1] + parts[2:]:
        np.testing.assert_array_equal(model.predict(part), model.predict(part.to_pandas()))


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_in_the_unit_of_any_version_are_the_same(unit):
    """pandas 3 infers microseconds where pandas 2 inferred nanoseconds."""
    days = pd.date_range("2024-01-01", periods=120)
    plain = pd.DataFrame({"a": days.astype("M8[us]"), "b": ROWS})
    frame = plain.astype({"a": f"M8[{unit}]"})
    for neurons in ("tabular", Gaussian(30.0)):
        model = KitchenSinksRegressor(neurons, 30, random_state=0).fit(plain, Y)
        np.testing.assert_array_equal(model.predict(frame), model.predict(plain))

"""Rows, labels and targets of any type in the estimators for River."""

import collections
import datetime
import pickle
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from river import compose, feature_extraction

from trickless.river import RiverClassifier, RiverFeatures, RiverRegressor
from trickless.river.rows import MOST

MISSING = [
    None,
    pd.NA,
    pd.NaT,
    float("nan"),
    Decimal("NaN"),
    Decimal("sNaN"),
    np.datetime64("NaT"),
    np.timedelta64("NaT"),
    np.ma.masked,
]


@pytest.mark.parametrize("value", MISSING, ids=repr)
def test_a_missing_value_is_like_no_value(value):
    transformer = RiverFeatures(8, seed=0)
    for i in range(20):
        transformer.learn_one({"a": i % 3, "b": i % 5})
    expected = transformer.transform_one({"a": 1})
    assert transformer.transform_one({"a": 1, "b": value}) == expected
    transformer.learn_one({"a": 1, "c": value})
    assert len(transformer._rows.places) == 2


@pytest.mark.parametrize("label", MISSING, ids=repr)
def test_a_missing_label_raises_an_error(label):
    with pytest.raises(ValueError, match="the label of a row is"):
        RiverClassifier(seed=0).learn_one({"a": 1}, label)


@pytest.mark.parametrize(
    "duration",
    [
        datetime.timedelta(minutes=1),
        pd.Timedelta("60s"),
        np.timedelta64(60, "s"),
        np.timedelta64(60 * 10**9, "ns"),
        np.timedelta64(1, "m"),
    ],
)
def test_durations_are_numbers_in_seconds(duration):
    model = RiverRegressor(seed=0)
    for value in (1.0, 2.0):
        model.learn_one({"t": value}, value)
    raw, unseen = model._rows.read({"t": duration})
    assert not unseen
    assert raw[0] == 60.0


def test_counters_are_read_by_their_names():
    # A counter has the number 0 for every name that it lacks.
    columns = RiverFeatures(seed=0)
    columns.learn_one(collections.Counter("ab"))
    _, unseen = columns._rows.read(collections.Counter("cd"))
    assert unseen == [("c",), ("d",)]
    defaults = collections.defaultdict(float, {"c": 1.0, "d": 1.0})
    columns.learn_one(defaults)
    assert set(defaults) == {"c", "d"}


def test_words_that_are_absent_are_counted():
    rng, right = np.random.default_rng(0), 0
    counts = compose.FuncTransformer(collections.Counter)
    model = feature_extraction.BagOfWords() | counts | RiverClassifier(seed=0)
    for i in range(500):
        good = bool(rng.random() < 0.5)
        text = " ".join([*rng.choice(["film", "plot", "actor"], 2), "good" if good else "bad"])
        right += i >= 300 and model.predict_one(text) == good
        model.learn_one(text, good)
    assert right > 190


@pytest.mark.parametrize("estimator", [RiverClassifier, RiverRegressor])
@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (None, 1, "the row is None, of type NoneType"),
        ([1.0], 1, "the row is .*, of type list"),
        ({"a": np.ones(2)}, 1, "feature 'a' is .*, of type ndarray"),
        ({"a": 1.0, "b": 2.0}, [1], "is .1.*Remedy"),
        ({"a": 1.0, "b": 2.0}, np.ones(2), "is array.*Remedy"),
    ],
)
def test_bad_rows_change_nothing(estimator, x, y, message):
    model = estimator(seed=0)
    model.learn_one({"a": 1.0}, 1)
    before = pickle.dumps(model)
    with pytest.raises((TypeError, ValueError), match=f"{estimator.__name__}: .*{message}"):
        model.learn_one(x, y)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("estimator", [RiverClassifier, RiverRegressor])
@pytest.mark.parametrize(
    ("column", "y"),
    [([1.0, 2.0], [1, None]), ([1.0, 2.0], [1]), ([1.0, [2.0]], [1, 2])],
    ids=["label", "length", "feature"],
)
def test_a_bad_row_of_a_data_frame_changes_nothing(estimator, column, y):
    model = estimator(seed=0)
    model.learn_one({"a": 1.0}, 1)
    before = pickle.dumps(model)
    with pytest.raises((TypeError, ValueError)):
        model.learn_many(pd.DataFrame({"a": column}), pd.Series(y, dtype=object))
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("y", [Fraction(1, 3), np.float32(0.5), np.bool_(1), np.int8(3)])
def test_targets_are_any_real_number(y):
    model = RiverRegressor(seed=0)
    model.learn_one({"a": 1.0}, y)
    assert model.predict_one({"a": 1.0}) == pytest.approx(float(y))


@pytest.mark.parametrize("y", [1e308, -1e101, np.longdouble("1e4000"), 10**400])
def test_targets_whose_squares_overflow_raise_an_error(y):
    with pytest.raises(ValueError, match=r"at most 1e\+100 in size"):
        RiverRegressor(seed=0).learn_one({"a": 1.0}, y)


@pytest.mark.parametrize("first", [0.0, 1e-300, 1.0])
def test_a_constant_target_may_jump_to_a_huge_one(first):
    model = RiverRegressor(seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(300):
            y = first if i < 270 else 1e100
            model.learn_one({"a": i % 7}, y)
            assert np.isfinite(model.predict_one({"a": 1}))


def test_columns_are_whole_after_a_warning_that_is_an_error():
    model = RiverFeatures(4, seed=0)
    model.learn_one({f"n{i}": 1.0 for i in range(MOST - 1)})
    row = {f"c{i}": "x" for i in range(3)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(UserWarning, match="Further ones are left out"):
                model.learn_one(row)
    assert len(model.transform_one(row)) == 8


def test_the_number_of_neurons_may_be_a_numpy_integer():
    assert len(RiverFeatures(np.int64(3), seed=0).transform_one({"a": 1.0})) == 6

"""Integers that float64 cannot tell apart: labels keep their digits, and rows and targets warn."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.base import clone, is_classifier

from cases import CLASSIFIERS, OTHERS, inputs, name_of
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless._targets.labels import positions, together
from trickless.neurons import Gaussian

FIRST = 2**53
X = inputs(60, 3)
Y = np.where(X[:, 0] > 0, FIRST + 1, FIRST)

KINDS = {
    "int64": lambda y: y,
    "uint64": lambda y: y.astype(np.uint64),
    "list": lambda y: y.tolist(),
    "Int64": lambda y: pd.Series(y, dtype="Int64"),
    "UInt64": lambda y: pd.Series(y, dtype="UInt64"),
    "Arrow": lambda y: pd.Series(y, dtype="int64[pyarrow]"),
    "polars": pl.Series,
}
every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
@pytest.mark.parametrize(
    "learner",
    [m for m in (*CLASSIFIERS, *OTHERS) if is_classifier(m)],
    ids=name_of,
)
def test_labels_of_all_types_of_integers_are_told_apart(learner, kind):
    if hasattr(learner, "random_state"):
        learner = clone(learner).set_params(random_state=0)
    expected = clone(learner).fit(X, Y == FIRST + 1).predict(X)
    model = clone(learner).fit(X, KINDS[kind](Y))
    np.testing.assert_array_equal(model.classes_, [FIRST, FIRST + 1])
    np.testing.assert_array_equal(model.predict(X) == FIRST + 1, expected)
    right = (expected == (Y == FIRST + 1)).mean()
    assert model.score(X, KINDS[kind](Y)) == pytest.approx(right, abs=1e-12)


@every_kind
@pytest.mark.parametrize("named", [list, set, np.uint64, "Int64", "int32"])
def test_classes_and_later_batches_may_have_another_type(kind, named):
    y, labels = Y, [FIRST, FIRST + 1]
    if named == "int32":
        y, labels = Y - FIRST, [0, 1]
    if isinstance(named, str):
        classes = pd.array(labels, dtype=named) if named == "Int64" else np.array(labels, named)
    else:
        classes = np.array(labels, named) if named is np.uint64 else named(labels)
    model = KitchenSinksClassifier(Gaussian(1.0), 40, random_state=0)
    model.partial_fit(X, KINDS[kind](y), classes=classes).partial_fit(X, y, classes=labels)
    assert model.classes_.tolist() == labels
    expected = clone(model).fit(np.vstack([X, X]), np.append(y, y)).predict(X)
    np.testing.assert_array_equal(model.predict(X), expected)
    with pytest.raises(ValueError, match=rf"label\(s\) \[{labels[1] + 1}\].*not among the classes"):
        model.partial_fit(X, KINDS[kind](np.maximum(y, labels[1]) + 1))
    with pytest.raises(ValueError, match="but the first batch fixed the classes"):
        model.partial_fit(X, y, classes=[labels[0], labels[1] + 1])


def test_weights_of_classes_are_those_of_the_labels_named():
    weights = {FIRST: 0.0, FIRST + 1: 1.0}
    three = np.where(X[:, 1] > 0, FIRST + 2, Y)
    model = KitchenSinksClassifier(n_neurons=40, class_weight=weights, random_state=0)
    assert FIRST not in model.fit(X, three.astype(np.uint64)).predict(X)


def test_positions_are_those_of_python():
    classes = np.array([FIRST, FIRST + 1, 2**63 + 1], dtype=np.uint64)
    labels = np.array([FIRST + 1, -1, FIRST + 2, FIRST])
    assert positions(classes, labels).tolist() == [1, -1, -1, 0]
    assert positions(classes, np.array([float(FIRST), 0.5])).tolist() == [0, -1]
    assert positions(classes, np.array([str(FIRST)])).tolist() == [-1]
    joined = together([np.array([-1, FIRST + 1]), classes])
    assert joined.tolist() == [-1, FIRST + 1, *classes.tolist()]


def rounded(whole):
    """The same integers, of every type that holds them, as rows of one column."""
    column = whole[:, None]
    yield from (column, column.astype(np.uint64), column.tolist(), column.astype(object))
    yield scipy.sparse.csr_matrix(column)


@pytest.mark.filterwarnings("ignore:Gaussian:UserWarning")
@pytest.mark.parametrize("number", range(5))
def test_rows_that_float64_rounds_too_far_are_warned_of(number):
    y = np.sin(np.arange(100) / 10)
    model = KitchenSinksRegressor(n_neurons=40, random_state=0)
    rows = list(rounded(2**60 + np.arange(100)))[number]
    with pytest.warns(UserWarning, match=r"X holds integers such as .*float64 rounds.*Remedy"):
        model.fit(rows, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model.fit(list(rounded(np.arange(100)))[number], y)
        assert model.score(list(rounded(np.arange(100)))[number], y) > 0.99


@pytest.mark.filterwarnings("error")
def test_integers_of_data_frames_are_read_exactly():
    y = np.sin(np.arange(100) / 10)
    frame = pd.DataFrame({"id": 2**60 + np.arange(100)})
    model = KitchenSinksRegressor(n_neurons=40, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.99
    arrow = frame.astype("int64[pyarrow]")
    for other in (frame.astype("Int64"), arrow, pl.DataFrame(frame), pa.table(frame)):
        np.testing.assert_array_equal(model.predict(other), model.predict(frame))


def test_integers_that_float64_tells_apart_are_not_warned_of():
    y = np.sin(np.arange(100) / 10)
    model = KitchenSinksRegressor(n_neurons=40, dtype="float64", random_state=0)
    for whole in (2**60 + 2**30 * np.arange(100), 2**60 + 2**20 * np.arange(100) + 1):
        model.fit(whole[:, None], y)  # a warning would be an error


def test_integers_of_which_there_are_none_are_not_looked_at():
    rows = scipy.sparse.csr_matrix((20, 2), dtype=int)
    assert KitchenSinksRegressor(n_neurons=4).fit(rows, np.ones(20)).score(rows, np.ones(20)) == 1
    with pytest.raises(ValueError, match=r"0 sample.*Remedy"):
        KitchenSinksRegressor(n_neurons=4).fit(np.zeros((0, 2), dtype=int), np.ones(0))


@pytest.mark.parametrize("kind", KINDS)
def test_targets_that_float64_rounds_too_far_are_warned_of(kind):
    rows = np.arange(100.0)[:, None] / 30
    model = KitchenSinksRegressor(n_neurons=40, random_state=0)
    with pytest.warns(UserWarning, match=r"y holds integers such as .*float64 rounds.*Remedy"):
        model.fit(rows, KINDS[kind](2**60 + np.arange(100)))
    assert model.fit(rows, KINDS[kind](np.arange(100))).score(rows, np.arange(100)) > 0.99


def test_columns_of_tables_are_read_exactly_for_families_of_tables():
    y = np.sin(np.arange(100) / 10)
    frame = pd.DataFrame({"id": 2**60 + np.arange(100)})
    model = KitchenSinksRegressor("tabular", n_neurons=200, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.99


@pytest.mark.parametrize("size", [400, 5000])
def test_integers_beyond_all_floats_are_refused_with_a_remedy(size):
    huge = 10**size
    model = KitchenSinksRegressor(Gaussian(1.0), 5, random_state=0)
    for rows in ([[huge, 1, 2.0]] * 60, [[1.0, 2, huge], *X[1:].tolist()]):
        with pytest.raises(ValueError, match=r"KitchenSinksRegressor: .*too large.*Remedy"):
            clone(model).fit(rows, X[:, 0])
    model.fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"too large.*Remedy"):
        model.predict([[huge, 1, 2]])

"""Later rows that do not suit what a family took from the first batch are warned of."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone

import fuzz_batches
from cases import FAMILIES, LEARNERS, TREE_LEARNERS, inputs, name_of, suited
from trickless import DoublyStochasticRegressor, KitchenSinksRegressor, load, save
from trickless.neurons import Gaussian, Stumps

X = inputs(2000, 4)
WARNING = r"first batch.*predictions will be inaccurate. Remedy: begin with"
#: Families of neurons that do not depend on where rows are.
FIXED = {"stumps-normal", "coordinates", "deep", "deep-relu", "function", "patches"}
FIXED |= {"tanimoto"}
FIXED |= {name for name in FAMILIES if name.startswith("dense")}


def target(rows):
    return np.nan_to_num(np.sin(2 * rows[:, 0])) + rows[:, 1]


def constant(rows):
    rows[:100, 0] = 1.0


def narrow(rows):
    rows[:100] *= 0.1


def streamed(model, rows, y, size=100):
    """The model after batches of the rows, and the warnings of its stream."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for start in range(0, len(rows), size):
            model.partial_fit(rows[start : start + size], y[start : start + size])
    return model, [str(each.message) for each in caught]


@pytest.mark.parametrize(
    ("family", "spoil"),
    [
        *((family, narrow) for family in FAMILIES),
        *((family, constant) for family in ("gaussian", "stumps", "landmarks", "tabular", "trees")),
    ],
)
def test_a_stream_is_as_good_as_a_fit_or_warned_of(family, spoil):
    rows = suited(family, X).copy()
    spoil(rows)
    y = target(rows)
    model = KitchenSinksRegressor(FAMILIES[family], n_neurons=100, random_state=0)
    stream, caught = streamed(clone(model), rows, y)
    assert len(caught) == (family not in FIXED)
    if not caught:
        assert stream.score(rows, y) > model.fit(rows, y).score(rows, y) - 0.01
    else:
        assert "predictions will be inaccurate. Remedy: " in caught[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_batches_in_random_order_are_not_warned_of(family):
    rows = suited(family, X)
    model = KitchenSinksRegressor(FAMILIES[family], n_neurons=100, random_state=0)
    assert streamed(model, rows, target(rows))[1] == []


@pytest.mark.parametrize("learner", LEARNERS + TREE_LEARNERS, ids=name_of)
def test_every_learner_warns_once_also_when_rows_come_one_by_one(learner):
    rows = X[:300].copy()
    constant(rows)
    y = np.sign(rows[:, 1])
    model = clone(learner).set_params(random_state=0)
    if learner in LEARNERS:
        model.set_params(neurons=Stumps())
    model.partial_fit(rows[:100], y[:100])
    with pytest.warns(UserWarning, match=r"column 0 held one value, 1, in the .*" + WARNING):
        for i in range(100, 140):
            model.partial_fit(rows[i : i + 1], y[i : i + 1])
    model.partial_fit(rows[140:], y[140:])  # a second warning would be an error


@pytest.mark.parametrize("family", ["tabular", "trees"])
def test_columns_that_were_missing_are_named(family):
    frame = pd.DataFrame(X.copy(), columns=["a", "b", "c", "d"])  # pandas 2 would share X
    frame.loc[:99, "c"] = np.nan
    model = KitchenSinksRegressor(family, n_neurons=100, random_state=0)
    model.partial_fit(frame[:100], X[:100, 0])
    with pytest.warns(UserWarning, match=r"column 'c' held no value in the " + WARNING):
        model.partial_fit(frame[100:], X[100:, 0])


def test_learned_relevance_counts_as_scales_of_columns():
    rows = X.copy()
    constant(rows)
    model = DoublyStochasticRegressor(Gaussian("relevance"), n_neurons=200, random_state=0)
    model.partial_fit(rows[:1000], target(rows)[:1000])
    later = X + 100.0
    with pytest.warns(UserWarning, match=r"most later values of column 0 are beyond.*" + WARNING):
        model.partial_fit(later, target(X))


def test_few_rows_are_too_few_for_cuts():
    model = KitchenSinksRegressor("stumps", n_neurons=100, random_state=0)
    model.partial_fit(X[:12], target(X[:12]))
    inner = X[np.abs(X).max(axis=1) < 1]
    with pytest.warns(UserWarning, match="the first batch had 12 rows only.*" + WARNING[13:]):
        model.partial_fit(inner, target(inner))


def test_families_that_take_nothing_from_data_keep_no_first_batch():
    model = KitchenSinksRegressor(Gaussian(1.0), 20, random_state=0)
    assert model.partial_fit(X[:50], X[:50, 0])._first_batch_ is None
    model.partial_fit(X[50:] * 100, X[50:, 0])  # a warning would be an error


def test_rare_values_of_a_column_are_not_warned_of():
    rows = X.copy()
    rows[:, 3] = 0
    rows[150:1900:50, 3] = 1  # about 2 % of the rows
    for family in ("stumps", "gaussian"):
        model = KitchenSinksRegressor(family, n_neurons=100, random_state=0)
        assert streamed(model, rows, target(rows))[1] == []


def test_what_is_known_of_the_first_batch_goes_with_the_model(tmp_path):
    rows = scipy.sparse.csr_matrix(np.where(X > 1, X, 0.0))
    model = KitchenSinksRegressor(n_neurons=50, random_state=0).partial_fit(rows[:500], X[:500, 0])
    save(model, tmp_path / "model")
    with pytest.warns(UserWarning, match="times as far from the mean of the " + WARNING):
        load(tmp_path / "model").partial_fit(rows[500:] * 10, X[500:, 0])
    assert model.compact()._first_batch_ is None


def test_odd_streams_are_those_of_plain_batches():
    """A sample of what ``make fuzz-inputs`` tries."""
    assert fuzz_batches.fuzz(20, start=45) >= 2

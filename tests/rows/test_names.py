"""Names of columns: compared as text, whatever type they have in memory or in a file."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from cases import LEARNERS, TREE_LEARNERS, answers, inputs, name_of
from trickless import KitchenSinksRegressor
from trickless.kernels import KernelGradientClassifier
from trickless.neurons import On, Stumps

X = inputs(40, 3)
NUMBERED = pd.DataFrame(X)
#: The same columns under the names 0, 1 and 2, in all types that have them.
SAME = {
    "integers": NUMBERED,
    "texts": NUMBERED.rename(columns=str),
    "objects": NUMBERED.set_axis(pd.Index([0, "1", np.int64(2)], dtype=object), axis=1),
    "polars": pl.DataFrame(X, schema=["0", "1", "2"]),
}
every_pair = pytest.mark.parametrize(
    ("learned", "asked"), [(one, other) for one in SAME for other in SAME]
)


def with_words(frame):
    """The same frame, whose first column holds categories."""
    words = ["u" if x > 0 else "v" for x in X[:, 0]]
    if isinstance(frame, pl.DataFrame):
        return frame.with_columns(pl.Series("0", words))
    frame = frame.copy()
    frame[frame.columns[0]] = words
    return frame


@every_pair
@pytest.mark.parametrize("neurons", ["gaussian", "tabular", "words"])
def test_names_of_any_type_are_the_same(learned, asked, neurons):
    one, other = SAME[learned], SAME[asked]
    if neurons == "words":
        one, other, neurons = with_words(one), with_words(other), "tabular"
    model = KitchenSinksRegressor(neurons, n_neurons=20, random_state=0)
    np.testing.assert_array_equal(
        model.fit(one, X[:, 0]).predict(other), model.predict(one), strict=True
    )
    model.partial_fit(other, X[:, 0])


@every_pair
@pytest.mark.parametrize("neurons", ["gaussian", "tabular"])
def test_columns_in_another_order_are_refused(learned, asked, neurons):
    model = KitchenSinksRegressor(neurons, n_neurons=20, random_state=0)
    model.fit(SAME[learned], X[:, 0])
    frame = SAME[asked]
    for order in ([2, 1, 0], [1, 0, 2]):
        with pytest.raises(ValueError, match=r"(?s)feature names should match.*Remedy"):
            model.predict(frame[[frame.columns[j] for j in order]])


@pytest.mark.parametrize(
    "learner", [*LEARNERS, *TREE_LEARNERS, KernelGradientClassifier()], ids=name_of
)
def test_every_learner_compares_names_as_text(learner):
    y = (X[:, 0] > 0).astype(int)
    one, other = NUMBERED[[2, 0]], NUMBERED.rename(columns=str)[["2", "0"]]
    model = type(learner)(random_state=0).fit(one, y)
    assert model.feature_names_in_.tolist() == ["2", "0"]
    np.testing.assert_array_equal(answers(model, other), answers(model, one))
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*Remedy"):
        model.predict(NUMBERED[[0, 2]])
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*Remedy"):
        model.predict(NUMBERED[[2, 1]])


def test_numbered_columns_are_those_of_an_array():
    y = X[:, 0]
    with warnings.catch_warnings(action="error"):
        for one in (X, NUMBERED):
            model = KitchenSinksRegressor(n_neurons=20, random_state=0).fit(one, y)
            assert not hasattr(model, "feature_names_in_")
            for other in (X, *SAME.values()):
                np.testing.assert_array_equal(model.predict(other), model.predict(X))
            with pytest.raises(ValueError, match=r"numbers in order\. Remedy: X\[sorted"):
                model.predict(NUMBERED[[1, 0, 2]])
    named = KitchenSinksRegressor(n_neurons=20, random_state=0).fit(
        NUMBERED.set_axis(["a", "b", "c"], axis=1), y
    )
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        named.predict(NUMBERED)
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*Remedy"):
        named.predict(SAME["texts"])


def test_the_frame_that_was_passed_keeps_its_names():
    frame = SAME["objects"].copy()
    KitchenSinksRegressor("tabular", n_neurons=9).fit(frame, X[:, 0]).predict(frame)
    assert frame.columns.tolist() == [0, "1", 2]


def test_a_name_that_is_there_twice_as_text_is_refused():
    frame = NUMBERED.set_axis(pd.Index([0, "0", 1], dtype=object), axis=1)
    with pytest.raises(ValueError, match=r"X has 2 columns '0'.*Remedy"):
        KitchenSinksRegressor("tabular").fit(frame, X[:, 0])


def test_families_find_columns_by_names_that_were_no_text():
    frame = NUMBERED.set_axis(pd.Index([2026, 2027, 1.5], dtype=object), axis=1)
    model = KitchenSinksRegressor(On(["2027", "1.5"], Stumps()), 20).fit(frame, X[:, 0])
    assert model.neurons_.indices_.tolist() == [1, 2]

"""Names in two Unicode forms, of an accent as a part of its letter or after it, are one name."""

import unicodedata

import numpy as np
import pandas as pd
import polars as pl
import pytest

from trickless import DoublyStochasticClassifier, KitchenSinksClassifier, KitchenSinksRegressor
from trickless._rows.columns import Columns
from trickless.inference import mmd_test
from trickless.neurons import Gaussian, On


def formed(text, form):
    return unicodedata.normalize(form, text)


def table(form, rows=120):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            formed("größe", form): rng.standard_normal(rows),
            formed("straße é", form): [formed(t, form) for t in rng.choice(["Köln", "Åre"], rows)],
        }
    )
    return frame, frame.iloc[:, 0] + frame.iloc[:, 1].str.startswith("K")


@pytest.mark.parametrize(("form", "other"), [("NFC", "NFD"), ("NFD", "NFC")])
@pytest.mark.parametrize("library", ["pandas", "polars", "categories"])
def test_a_model_finds_columns_and_levels_in_another_form(library, form, other):
    X, y = table(form)
    Z, _ = table(other)
    if library == "categories":
        Z = Z.astype({Z.columns[1]: "category"})
    for neurons in ("tabular", On(formed("größe", other), Gaussian(1.0))):
        model = KitchenSinksRegressor(neurons, 30, random_state=0).fit(X, y)
        assert model.feature_names_in_.tolist() == list(X.columns)
        rows = pl.from_pandas(Z) if library == "polars" else Z
        np.testing.assert_array_equal(model.predict(rows), model.predict(X))
        model.partial_fit(rows, y)
        assert model.feature_names_in_.tolist() == list(X.columns)


def test_families_without_tables_compare_names_in_any_form():
    (X, y), (Z, _) = table("NFC"), table("NFD")
    X, Z = X.iloc[:, :1], Z.iloc[:, :1]
    model = KitchenSinksRegressor(Gaussian(1.0), 30, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(Z), model.predict(X))


def test_both_forms_of_a_level_in_one_column_are_one_level():
    towns = [formed("Köln", "NFD"), "Köln", "Ulm", formed("Köln", "NFD")]
    columns = Columns("me", pd.DataFrame({"a": towns}))
    assert list(columns.codes[0]) == [formed("Köln", "NFD"), "Ulm"]
    assert columns.read("me", pd.DataFrame({"a": towns}))[:, 0].tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("learner", [KitchenSinksClassifier, DoublyStochasticClassifier])
def test_labels_in_two_forms_are_one_class(learner):
    X = np.random.default_rng(0).standard_normal((60, 2))
    first, other = (
        np.where(X[:, 0] > 0, formed("größe", form), "klein") for form in ("NFC", "NFD")
    )
    both = np.where(X[:, 1] > 0, first, other)

    def fitted(y, weights="balanced"):
        return learner(Gaussian(1.0), 40, random_state=0, class_weight=weights).fit(X, y)

    model = fitted(both)
    assert len(model.classes_) == 2
    wanted = fitted(first)
    np.testing.assert_array_equal(model.decision_function(X), wanted.decision_function(X))
    scores = {m.score(X, y.astype(t)) for m in (model, wanted) for y in (first, both) for t in "UO"}
    assert len(scores) == 1
    assert scores.pop() > 0.8
    weighted = [fitted(first, {formed("größe", form): 3.0}) for form in ("NFC", "NFD")]
    np.testing.assert_array_equal(*(m.decision_function(X) for m in weighted))
    stream = learner(Gaussian(1.0), 40, random_state=0).partial_fit(X, first)
    assert stream.partial_fit(X, other).classes_.tolist() == ["größe", "klein"]


def test_labels_that_only_look_alike_are_two_classes():
    X = np.random.default_rng(0).standard_normal((20, 1))
    y = np.where(X[:, 0] > 0, "\ufb01", "fi")
    assert len(KitchenSinksClassifier(Gaussian(1.0), 20).fit(X, y).classes_) == 2


@pytest.mark.parametrize("neurons", ["tabular", "gaussian"])
def test_two_columns_that_differ_by_form_only_are_refused(neurons):
    X = pd.DataFrame({formed("é", "NFC"): [1.0, 2.0], formed("é", "NFD"): [3.0, 5.0]})
    with pytest.raises(ValueError, match=r"U\+00E9 and U\+0065 U\+0301.*Remedy"):
        KitchenSinksRegressor(neurons, 5).fit(X, [0.0, 1.0])


def test_two_samples_may_have_names_in_two_forms():
    (X, _), (Z, _) = table("NFC"), table("NFD")
    assert mmd_test(X, Z, neurons="tabular", random_state=0).pvalue > 0.1

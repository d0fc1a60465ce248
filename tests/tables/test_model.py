"""Models that take tables by the names of their columns."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import trickless
from tables import frame
from trickless import KitchenSinksClassifier, KitchenSinksRegressor, TableColumn, TableModel

COLUMNS = [
    TableColumn("age", "number", 48.0, 18.0),
    TableColumn("height", "number", 170.0, 10.0, has_missing=True),
    TableColumn("town", "category", categories=["Bonn", "Köln", "Ulm"], has_missing=True),
    TableColumn("day", "date", 20_000.0, 150.0),
]


def classifier(neurons="tabular"):
    learner = KitchenSinksClassifier(neurons, n_neurons=200, random_state=0)
    return TableModel(learner, COLUMNS, "label", np.array(["no", "yes"]))


@pytest.mark.parametrize("neurons", ["tabular", "gaussian"])
def test_columns_are_found_by_name_in_any_order_among_others(neurons):
    table = frame()
    model = classifier(neurons).fit(table)
    assert model.score(table) > 0.8
    backwards = table[table.columns[::-1]].drop(columns=["label", "price"])
    np.testing.assert_array_equal(model.predict(backwards), model.predict(table))
    np.testing.assert_array_equal(model.predict(pa.table(table)), model.predict(table))
    probabilities = model.predict_proba(table)
    np.testing.assert_array_equal(probabilities[:, 1] > 0.5, model.predict(table) == "yes")


def test_what_other_families_see_of_a_table():
    rows = pd.DataFrame(
        {
            "age": [66, 48],
            "height": [np.nan, 180.0],
            "town": [None, "Ulm"],
            "day": pd.to_datetime(["1970-01-02", "2024-10-04"]),
        }
    )
    expected = [
        [1, 0, 1, 0, 0, 0, 1, (1 - 20_000) / 150],
        [0, 1, 0, 0, 0, 1, 0, 0],
    ]
    np.testing.assert_allclose(classifier("gaussian")._prepared(rows), expected)
    rows["town"] = "Paris"
    np.testing.assert_array_equal(classifier("gaussian")._prepared(rows)[:, 3:7], 0)


def test_unknown_categories_are_counted_and_are_not_missing_ones():
    table = frame()
    model = classifier().fit(table)
    assert model.unknown_categories(table) == {}
    paris, gap = table.assign(town="Paris"), table.assign(town=None)
    assert model.unknown_categories(paris) == {"town": {"Paris": len(table)}}
    assert model.unknown_categories(gap) == {}
    with pytest.warns(UserWarning, match="all values in column 'town' of X are new, such as 'Par"):
        answers = model.predict_proba(paris)
    assert np.abs(answers - model.predict_proba(gap)).max() > 0.01


def test_categories_that_the_first_batch_lacks_are_known():
    table = frame()
    table = table[table.town.notna()]
    model = classifier()
    model.partial_fit(table[table.town != "Ulm"]).partial_fit(table[table.town == "Ulm"])
    ulm = table[table.town == "Ulm"]
    assert model.score(ulm) > 0.9
    assert model.learner.neurons_.known_inputs(np.zeros((1, 4))).n_categories[2] == 3 + 2


def test_rows_without_a_target_are_left_out():
    table = frame()
    gaps = table.copy()
    gaps.loc[300:, "label"] = None
    some, cut = classifier().fit(gaps), classifier().fit(table[:300])
    np.testing.assert_array_equal(some.predict_proba(table), cut.predict_proba(table))
    some.partial_fit(gaps[300:])
    assert some.learner.statistics_.weight == 300


@pytest.mark.parametrize("labels", [np.array([0, 1]), np.array([False, True])], ids=str)
def test_labels_keep_their_type(labels):
    table = frame()
    table["label"] = labels[(table.label == "yes").astype(int)]
    model = classifier()
    model.classes = labels
    assert model.fit(table).predict(table).dtype == labels.dtype
    table["label"] = table.label.astype(float)
    assert model.score(table) > 0.9


def test_numbers_that_are_categories_have_one_text():
    column = TableColumn("zip", "category", categories=["7", "12"])
    learner = KitchenSinksRegressor("gaussian", n_neurons=10, random_state=0)
    model = TableModel(learner, [column], "price")
    for values in ([7, 12], [7.0, 12.0], ["7", "12"], pd.Categorical([7, 12])):
        rows = model._prepared(pd.DataFrame({"zip": values}))
        np.testing.assert_array_equal(rows, [[1, 0], [0, 1]])


def test_it_is_saved_and_goes_on_learning(tmp_path):
    table = frame()
    model = classifier().fit(table[:300])
    trickless.save(model, tmp_path / "model")
    again = trickless.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    again.partial_fit(table[300:])
    model.partial_fit(table[300:])
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))


def test_bad_tables_are_explained():
    model = classifier().fit(frame())
    with pytest.raises(TypeError, match=r"X is a ndarray.* Remedy: pass a data frame"):
        model.predict(np.zeros((2, 4)))
    with pytest.raises(ValueError, match=r"no column 'town'.* Remedy: .*'age', 'height'"):
        model.predict(frame().drop(columns="town"))
    with pytest.raises(ValueError, match=r"column 'age' has the type .*fitted to numbers"):
        model.predict(frame().assign(age="old"))


def test_dates_of_arrow_are_dates():
    table = frame()
    model = classifier().fit(table)
    dates = table.assign(day=table.day.dt.date)
    dates.loc[3, "day"] = None
    of_arrow = dates.astype({"day": pd.ArrowDtype(pa.date32())})
    gap = table.copy()
    gap.loc[3, "day"] = pd.NaT
    expected = model.predict_proba(gap)
    np.testing.assert_array_equal(model.predict_proba(dates), expected)
    np.testing.assert_array_equal(model.predict_proba(of_arrow), expected)
    arrow = pa.table(gap).set_column(3, "day", pa.array(dates.day, pa.date32()))
    np.testing.assert_array_equal(model.predict_proba(arrow), expected)


def test_a_number_that_is_no_label_is_not_taken_for_one():
    table = frame()
    table["label"] = (table.label == "yes").astype(int)
    model = classifier()
    model.classes = np.array([0, 1])
    right = model.fit(table).score(table)
    halves = table.assign(label=table.label + 0.5)
    assert model.score(halves) == 0
    assert right > 0.8
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        model.partial_fit(halves)


def test_a_column_that_is_there_twice_is_refused():
    table = frame()
    model = classifier().fit(table)
    for name in ("age", "town", "label"):
        twice = pd.concat([table, table[[name]]], axis=1)
        with pytest.raises(ValueError, match=rf"there are 2 columns '{name}'.*Remedy"):
            model.score(twice)


def prepared(values, kind="category", categories=()):
    """What a family of numbers sees of a column."""
    column = TableColumn("c", kind, categories=list(categories))
    learner = KitchenSinksRegressor("gaussian", n_neurons=10, random_state=0)
    return TableModel(learner, [column], "y")._prepared(pd.DataFrame({"c": values}))


@pytest.mark.parametrize(
    ("categories", "values"),
    [
        (["007", "012"], [7, 12]),
        (["007", "012"], [7.0, 12.0]),
        (["007", "012"], [Decimal("7.00"), Decimal(12)]),
        (["7.50", "1.5e-7"], [7.5, 1.5e-7]),
        (["7.5", "8"], [Decimal("7.50"), 8]),
        (["True", "False"], [True, False]),
        (["2026-01-31", "2026-02-01"], pd.to_datetime(["2026-01-31", "2026-02-01"])),
        (
            ["2026-01-31T10:30", "2026-02-01"],
            pd.to_datetime(["2026-01-31 10:30", "2026-02-01 00:00"]),
        ),
        (["2026-01-31", "2026-02-01"], [date(2026, 1, 31), date(2026, 2, 1)]),
        ([str(2**60), str(2**60 + 1)], [2**60, 2**60 + 1]),
    ],
    ids=str,
)
def test_a_value_is_the_category_that_would_be_read_as_it(categories, values):
    np.testing.assert_array_equal(prepared(values, categories=categories), np.eye(2))


def test_a_value_that_may_be_several_categories_is_refused():
    with pytest.raises(ValueError, match=r"column 'c': the category 7 may be .*'007', '7'"):
        prepared([7, 12], categories=["007", "12", "7"])
    with pytest.raises(ValueError, match=r"stands for several whole numbers\. Remedy: keep"):
        prepared([2.0**60, 1.0], categories=["1"])
    with pytest.raises(ValueError, match=r"objects that cannot be categories.*Remedy: one text"):
        prepared([[1], [2]], categories=["1"])


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ([1, 2], "date", r"int64, but .* dates: such as .*1.*Remedy: pass dates"),
        (["a", "b"], "date", r"fitted to dates: such as 'a'\. Remedy: pass dates"),
        (pd.to_datetime(["2026-01-31"]), "number", r"fitted to numbers: such as Timestamp"),
        (pd.to_timedelta([1], "D"), "number", r"fitted to numbers: such as Timedelta"),
        ([1 + 2j], "number", r"complex128, but the model was fitted to numbers"),
        ([0.0, np.inf], "number", r"column 'c' holds inf in row 1 .*Remedy: NaN stands"),
    ],
)
def test_a_column_of_another_kind_is_refused(values, kind, message):
    with pytest.raises(ValueError, match=message):
        prepared(values, kind)


def test_a_column_without_a_value_is_missing_whatever_its_type():
    for values in ([None], [np.nan], [pd.NaT]):
        for kind in ("number", "date"):
            np.testing.assert_array_equal(prepared(values, kind), [[0]])
        np.testing.assert_array_equal(prepared(values, categories=["a", "b"]), [[0, 0]])


def test_a_table_without_rows_is_explained():
    table = frame()
    model = classifier().fit(table)
    for answer in (model.predict, model.predict_proba, model.score, model.fit):
        with pytest.raises(ValueError, match=r"TableModel: X has no rows.*Remedy: pass"):
            answer(table[:0])
    before = model.predict_proba(table)
    np.testing.assert_array_equal(model.partial_fit(table[:0]).predict_proba(table), before)

"""Models that take tables by the names of their columns."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.model_selection import cross_val_score
from sklearn.utils.validation import check_is_fitted

import trickless
from table_files import frame
from trickless import (
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    ShrinkingGradientRegressor,
    TableColumn,
    TableModel,
)

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


def test_other_families_get_scaled_numbers_and_indicators_of_a_table():
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
    np.testing.assert_allclose(classifier("gaussian")._rows.of_frame(rows), expected)
    rows["town"] = "Paris"
    np.testing.assert_array_equal(classifier("gaussian")._rows.of_frame(rows)[:, 3:7], 0)


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


def test_numbers_that_are_categories_have_one_spelling():
    column = TableColumn("zip", "category", categories=["7", "12"])
    learner = KitchenSinksRegressor("gaussian", n_neurons=10, random_state=0)
    model = TableModel(learner, [column], "price")
    for values in ([7, 12], [7.0, 12.0], ["7", "12"], pd.Categorical([7, 12])):
        rows = model._rows.of_frame(pd.DataFrame({"zip": values}))
        np.testing.assert_array_equal(rows, [[1, 0], [0, 1]])


def test_a_saved_table_model_continues_learning(tmp_path):
    table = frame()
    model = classifier().fit(table[:300])
    trickless.save(model, tmp_path / "model")
    again = trickless.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    again.partial_fit(table[300:])
    model.partial_fit(table[300:])
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))


def test_invalid_tables_are_refused_with_an_explanation():
    model = classifier().fit(frame())
    with pytest.raises(TypeError, match=r"X is a ndarray.* Remedy: pass a pandas data"):
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
        with pytest.raises(ValueError, match=rf"X has 2 columns '{name}'.*Remedy"):
            model.score(twice)


NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def prepared(values, kind="category", categories=()):
    """What a family of numbers sees of a column."""
    column = TableColumn("c", kind, categories=list(categories))
    learner = KitchenSinksRegressor("gaussian", n_neurons=10, random_state=0)
    return TableModel(learner, [column], "y")._rows.of_frame(pd.DataFrame({"c": values}))


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
    with pytest.raises(ValueError, match=r"column 'c': the category 7 matches .*'007', '7'"):
        prepared([7, 12], categories=["007", "12", "7"])
    with pytest.raises(ValueError, match=r"one of several whole numbers\. Remedy: store"):
        prepared([2.0**60, 1.0], categories=["1"])
    with pytest.raises(ValueError, match=r"objects that cannot be categories.*Remedy: put"):
        prepared([[1], [2]], categories=["1"])


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ([1, 2], "date", r"int64, but .* dates: found .*1.*Remedy: pass dates"),
        (["a", "b"], "date", r"fitted to dates: found 'a'\. .*X\['c'\] = pandas\.to_datetime\(X"),
        (["31/01/2026"], "date", r"found '31/01/2026'\. Remedy: .*format='%d/%m/%Y'"),
        (["2026-02-30"], "date", r"found '2026-02-30'\. Remedy"),
        (pd.to_datetime(["2026-01-31"]), "number", r"fitted to numbers: found .*Timestamp"),
        (pd.to_timedelta([1], "D"), "number", r"fitted to numbers: found .*Timedelta"),
        ([timedelta(1)], "date", r"fitted to dates: found Timedelta"),
        ([date(2026, 1, 31), 5], "date", r"fitted to dates: found 5\. Remedy: pass dates"),
        ([date(2026, 1, 31), 5], "number", r"fitted to numbers: found .*date.* Remedy: pass num"),
        ([5, "five"], "number", r"fitted to numbers: found 'five'\. Remedy: pass numbers"),
        (["1_000", "2"], "number", r"fitted to numbers: found '1_000'"),
        (["True", "2"], "number", r"fitted to numbers: it holds truth values and 2"),
        ([1e200], "number", r"holds 1e\+200 in row 0 .* with a size up to 1e\+150.*Remedy"),
        ([1 + 2j], "number", r"complex128, but the model was fitted to numbers"),
        ([0.0, np.inf], "number", r"column 'c' holds inf in row 1 .*Remedy: .*or pass NaN"),
        ([NOON], "date", r"fitted to dates: .*utc=True\)\.dt\.tz_localize\(None\), if"),
        (["2026-01-31T12:00Z"], "date", r"fitted to dates: found '2026-01-31T12:00Z'.*utc=True"),
        (
            [NOON.replace(tzinfo=None)],
            "zoned date",
            r"with a time zone: .*\.dt\.tz_localize\('UTC'\)",
        ),
        ([date(2026, 1, 31)], "zoned date", r"with a time zone: .*\.dt\.tz_localize\('UTC'\)"),
        (["2026-01-31 12:00"], "zoned date", r"with a time zone: found '2026-01-31 12:00'.*UTC"),
        ([NOON, NOON.replace(tzinfo=None)], "date", r"fitted to dates: .*utc=True"),
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


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["1.5", " -2e3 ", "NA", None, ""], "number", [1.5, -2000, 0, 0, 0]),
        (["True", "false", "TRUE", "1"], "number", [1, 0, 1, 1]),
        ([True, "0.5", Decimal("0.25"), 2], "number", [1, 0.5, 0.25, 2]),
        (["1970-01-02", "1970-01-03T12:00", "1970-01-02 12:00:00.5", "null"], "date", "days"),
        (["1970-01-02T12:00Z", "1970-01-02T14:00:00+02:00"], "zoned date", [1.5, 1.5]),
        ([NOON, pd.Timestamp(NOON).tz_convert("Asia/Tokyo")], "zoned date", [20_484.5] * 2),
    ],
)
def test_text_is_read_as_the_cells_of_a_csv_file(values, kind, expected):
    expected = [1, 2.5, 1.5 + 0.5 / 86_400, 0] if expected == "days" else expected
    for type_ in (object, "string", "category"):
        if type_ == "string" and not all(isinstance(v, str | None) for v in values):
            continue
        column = pd.Series(values, dtype=type_)
        np.testing.assert_allclose(prepared(column, kind)[:, 0], expected)


@pytest.mark.parametrize("known", [["NA", "B"], ["A", "B"]])
def test_texts_for_missing_values_are_missing_unless_they_are_known(known):
    values = ["NA", "", None, "B", "n/a"]
    expected = np.array([[known[0] == "NA", 0], [0, 0], [0, 0], [0, 1], [0, 0]])
    np.testing.assert_array_equal(prepared(values, categories=known), expected)


def test_targets_that_stand_for_missing_values_are_left_out():
    table = frame()
    model = classifier().fit(table[:300])
    gaps = table.assign(label=table.label.where(table.index < 300, "NA"))
    np.testing.assert_array_equal(
        classifier().fit(gaps).predict_proba(table), model.predict_proba(table)
    )
    assert model.score(gaps) == model.score(table[:300])
    assert model.targets(gaps).tolist() == table.label[:300].tolist()
    number = regressor(KitchenSinksRegressor("tabular", n_neurons=50, random_state=0))
    prices = table.price.astype(object).where(table.index < 300, "n/a")
    assert number.score(table.assign(price=prices)) == number.score(table[:300])


def test_targets_may_be_passed_beside_the_rows():
    table = frame()
    model, rows, y = classifier().fit(table), table.drop(columns="label"), table["label"]
    for target in (y, y.to_numpy(), y.tolist(), y.astype("category"), pa.array(y)):
        again = classifier().fit(rows, target)
        np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(table))
        assert again.score(rows, target) == model.score(table)
    again = classifier().partial_fit(rows, y.sample(frac=1, random_state=0).sort_index())
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(table))
    assert model.score(table, np.where(y == "yes", "no", "yes")) < 0.1
    gaps = y.where(table.index < 300)
    assert model.score(rows, gaps) == model.score(table[:300])
    weight = np.where(table.index < 300, 2.0, 0.0)
    assert model.score(rows, y, sample_weight=weight) == model.score(table[:300])
    for wrong in (y[:5], y.to_frame(), 1):
        with pytest.raises(ValueError, match=r"y has the shape .*X has 600 rows.*Remedy"):
            model.score(rows, wrong)


def regressor(learner):
    return TableModel(learner, COLUMNS[:3], "price").fit(frame())


def test_predictions_have_the_deviations_and_errors_of_the_learner(monkeypatch):
    table = frame()
    model = regressor(KitchenSinksRegressor("tabular", n_neurons=50, random_state=0))
    mean, std = model.predict(table, return_std=True)
    np.testing.assert_array_equal(mean, model.predict(table))
    expected = model.learner.predict(model._rows.of_frame(table), return_std=True)
    np.testing.assert_array_equal(std, expected[1])
    monkeypatch.setattr(trickless.learners.table_model, "_CELLS", 100)  # by parts
    np.testing.assert_allclose(model.predict(table, return_std=True), (mean, std))
    with pytest.raises(ValueError, match=r"return_standard_error=True, but a KitchenSinksReg.*Rem"):
        model.predict(table, return_standard_error=True)
    with pytest.raises(ValueError, match=r"return_std=True, but a KitchenSinksClassifier.*Remedy"):
        classifier().fit(table).predict(table, return_std=True)
    shrinking = ShrinkingGradientRegressor("tabular", n_neurons=50, n_samples=20, random_state=0)
    model = regressor(shrinking.set_params(y_range=(0, 20)))
    mean, error = model.predict(table, return_standard_error=True)
    assert mean.shape == error.shape == (600,) and (error > 0).any()


def test_a_table_model_is_an_estimator_of_scikit_learn():
    table = frame()
    columns = ["age", "height", "town", "day", "member"]
    rows, model = table[columns], classifier().fit(table)
    for scoring in (None, "accuracy", "neg_log_loss", "roc_auc"):
        found = permutation_importance(
            model, rows, table["label"], scoring=scoring, n_repeats=2, random_state=0
        )
        means = dict(zip(columns, found.importances_mean, strict=True))
        assert means["age"] > 0.05 and means["town"] > 0.05 and means["member"] == 0
    number = regressor(KitchenSinksRegressor("tabular", n_neurons=50, random_state=0))
    found = permutation_importance(number, rows, table["price"], n_repeats=2, random_state=0)
    assert found.importances_mean.argmax() == 0 and found.importances_mean[4] == 0
    assert is_classifier(model) and is_regressor(number)
    assert not hasattr(number, "predict_proba") and not hasattr(number, "classes_")
    scores = cross_val_score(model, rows, table["label"], cv=3)
    assert scores.mean() > 0.8
    check_is_fitted(model)
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(model))


def test_integers_of_arrow_and_polars_keep_their_digits():
    ids = [2**60, None, 2**60 + 1]
    column = TableColumn("c", "category", categories=[str(2**60), str(2**60 + 1)])
    learner = KitchenSinksRegressor("gaussian", n_neurons=10, alpha=1e-6, random_state=0)
    model = TableModel(learner, [column], "y").fit(pd.DataFrame({"c": column.categories}), [0, 1])
    expected = model.predict(pd.DataFrame({"c": [str(2**60), None, str(2**60 + 1)]}))
    assert expected[2] - expected[0] > 0.5
    dictionary = pa.array(ids).dictionary_encode()
    for table in (pa.table({"c": ids}), pl.DataFrame({"c": ids}), pa.table({"c": dictionary})):
        np.testing.assert_array_equal(model.predict(table), expected)


def weighted(**options):
    """A table whose first half has other targets than its second, and weights."""
    x = np.tile(np.arange(20.0), 10)
    table = pd.DataFrame({"x": x, "y": np.where(np.arange(200) < 100, x, -x)})
    table["w"] = np.where(np.arange(200) < 100, 3.0, 0.0)
    learner = KitchenSinksRegressor(n_neurons=60, random_state=0)
    return table, TableModel(learner, [TableColumn("x", "number", 9.5, 5.8)], "y", **options)


def test_weights_are_passed_or_a_column():
    """Both give the model of the weighted rows alone, in a fit and in a stream."""
    table, given = weighted()
    _, named = weighted(weight="w")
    given.fit(table, sample_weight=table["w"])
    named.fit(table)
    np.testing.assert_array_equal(given.predict(table), named.predict(table))
    np.testing.assert_allclose(named.predict(table), table["x"], atol=0.2)
    assert named.score(table) < 0.1
    assert named.score(table, sample_weight=table["w"]) > 0.99
    stream = weighted(weight="w")[1].partial_fit(table[50:150]).partial_fit(table[:50])
    np.testing.assert_allclose(stream.predict(table), table["x"], atol=0.3)


def test_a_weighted_row_stands_for_rows_without_a_target_as_well():
    """Weights belong to their rows when rows without a target are left out."""
    table, model = weighted()
    table.loc[::3, "y"] = np.nan
    known = table.dropna()
    some = model.fit(table, sample_weight=table["w"].to_numpy()).predict(table)
    again = weighted()[1].fit(known, sample_weight=known["w"]).predict(table)
    np.testing.assert_array_equal(some, again)


@pytest.mark.parametrize("wrong", [np.nan, -1.0, np.inf])
def test_a_wrong_weight_names_its_column_and_row(wrong):
    table, model = weighted(weight="w")
    table.loc[7, "w"] = wrong
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=r"column 'w' holds .* in row 7 .*Remedy"):
            learn(table)


def test_weights_need_one_for_each_row_and_a_learner_that_takes_them():
    table, model = weighted()
    with pytest.raises(ValueError, match=r"shape \(5,\), but X has 200 rows"):
        model.fit(table, sample_weight=np.ones(5))
    with pytest.raises((TypeError, ValueError), match=r"NaN \(row 100\)"):
        model.fit(table, sample_weight=np.ma.array(table["w"], mask=table["w"] == 0))
    column = [TableColumn("x", "number")]
    with pytest.raises(ValueError, match="ShrinkingGradientRegressor takes no weights"):
        TableModel(ShrinkingGradientRegressor(), column, "y", weight="w").fit(table)


def test_categories_of_a_later_batch_are_learned():
    frame = pd.DataFrame({"town": ["A", "B"] * 9, "y": [1.0, 2.0] * 9})
    columns = [TableColumn("town", "category", categories=["A", "B"])]
    for name, n_new in (("tabular", 0), ("trees", 9)):
        learner = KitchenSinksRegressor(name, n_neurons=50, random_state=0)
        model = TableModel(learner, columns, "y").partial_fit(frame)
        later = frame.replace({"B": "C", 2.0: 9.0})
        assert model.unknown_categories(later) == {"town": {"C": 9}}
        model.partial_fit(later)
        assert model.unknown_categories(later).get("town", {}).get("C", 0) == n_new
        np.testing.assert_allclose(model.predict(later)[:2], [1.0, 9.0], atol=0.3)


@pytest.mark.parametrize(
    ("columns", "classes", "said"),
    [
        ([TableColumn("town", "category", categories=[1, 2])], None, "categories: a int"),
        ([TableColumn("age", "number", mean=10**400)], None, "mean: 1000"),
        (COLUMNS, ["no", "yes"], "classes: a list"),
        (COLUMNS, np.array(["no", 1], dtype=object), "classes: the type is object"),
    ],
)
def test_descriptions_that_describe_nothing_are_refused(columns, classes, said):
    model = TableModel(KitchenSinksClassifier(n_neurons=5), columns, "label", classes)
    with pytest.raises(ValueError, match=f"TableModel: {said}.*Remedy"):
        model.fit(pd.DataFrame({"town": [1, 2], "age": [1.0, 2.0], "label": ["no", "yes"]}))

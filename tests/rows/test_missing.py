"""Missing values and times of every container, in targets, labels, weights and rows."""

from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone, is_regressor

from cases import EVERY, TREE_LEARNERS, name_of, problem, takes_gaps
from trickless import KitchenSinksClassifier, KitchenSinksRegressor, RandomFeatures
from trickless.inference import hsic_test, mmd_test
from trickless.inspection import estimate_kernel

REGRESSORS = [learner for learner in EVERY if is_regressor(learner)]
CLASSIFIERS = [learner for learner in EVERY if not is_regressor(learner)]
ROW = 3


def with_gap(values, gap, dtype=object):
    """Values with a gap in one row."""
    values = np.array(values, dtype=dtype)
    values[ROW] = gap
    return values


def masked(values):
    return np.ma.array(values, mask=np.arange(len(values)) == ROW)


#: A gap in any values, by what a message calls it.
GAPS = {
    "objects-none": (lambda v: with_gap(v, None), "None"),
    "objects-nan": (lambda v: with_gap(v, float("nan")), "NaN"),
    "objects-na": (lambda v: with_gap(v, pd.NA), "<NA>"),
    "objects-nat": (lambda v: with_gap(v, pd.NaT), "NaT"),
    "objects-numpy-nat": (lambda v: with_gap(v, np.timedelta64("NaT", "s")), "NaT"),
    "objects-decimal": (lambda v: with_gap(v, Decimal("NaN")), "NaN"),
    "list": (lambda v: with_gap(v, None).tolist(), "None"),
    "list-nan": (lambda v: with_gap(v, np.nan).tolist(), "NaN"),
    "masked": (masked, "a masked value"),
    "series": (lambda v: pd.Series(with_gap(v, None)), "None|NaN"),
    "series-nullable": (
        lambda v: pd.Series(with_gap(v, None).tolist()).convert_dtypes(), "<NA>|NaN",
    ),
    "series-categories": (lambda v: pd.Series(with_gap(v, None), dtype="category"), "NaN"),
    "frame": (lambda v: pd.DataFrame({"a": with_gap(v, None)}), "None|NaN"),
    "polars": (lambda v: pl.Series(with_gap(v, None).tolist(), strict=False), "None|NaN"),
    "arrow": (lambda v: pa.array(with_gap(v, None).tolist()), "None|NaN"),
}  # fmt: skip
#: The same in numbers.
NUMBERS = {
    "floats": (lambda v: with_gap(v, np.nan, float), "NaN"),
    "decimals": (lambda v: with_gap([Decimal(str(x)) for x in v], None), "None"),
    "text": (lambda v: with_gap([str(x) for x in v], None), "None"),
    "text-nan": (lambda v: np.array([str(x) for x in with_gap(v, np.nan)]), "NaN"),
    "two-outputs": (lambda v: np.column_stack([with_gap(v, np.nan, float), v]), "NaN"),
    "two-masked": (lambda v: np.ma.array(np.column_stack([v, v]), mask=np.eye(len(v), 2, -ROW)),
                   "a masked value"),
    "frame-objects": (lambda v: pd.DataFrame({"a": v, "b": with_gap(v, None)}), "None"),
    "polars-decimals": (
        lambda v: pl.Series([None if i == ROW else Decimal(str(x)) for i, x in enumerate(v)]),
        "None",
    ),
    "polars-frame": (lambda v: pl.DataFrame({"a": with_gap(v, None).tolist()}), "None|NaN"),
    "arrow-series": (
        lambda v: pd.Series(with_gap(v, None).tolist(), dtype="double[pyarrow]"), "NaN|<NA>",
    ),
}  # fmt: skip
DAYS = np.datetime64("2020-01-01") + np.arange(40).astype("timedelta64[D]")
TIMES = {
    "dates": DAYS,
    "dates-with-nat": with_gap(DAYS, np.datetime64("NaT", "D"), "M8[D]"),
    "dates-ns": DAYS.astype("M8[ns]"),
    "durations": DAYS - DAYS[0],
    "durations-with-nat": with_gap(DAYS - DAYS[0], np.timedelta64("NaT", "D"), "m8[D]"),
    "series": pd.Series(DAYS),
    "series-of-durations": pd.Series(DAYS - DAYS[0]),
    "series-with-a-zone": pd.Series(DAYS).dt.tz_localize("Europe/Berlin"),
    "frame": pd.DataFrame({"a": DAYS, "b": DAYS}),
    "polars": pl.Series(DAYS),
    "arrow": pa.array(DAYS.astype("M8[us]")),
    "objects": DAYS.astype(object),
    "objects-of-numpy": np.array([*DAYS - DAYS[0], None], dtype=object)[:-1],
    "list": [date(2020, 1, 1) + timedelta(days=i) for i in range(40)],
    "list-of-timestamps": [pd.Timestamp(day) for day in DAYS],
}


def refuses(call, what):
    with pytest.raises(ValueError, match=what) as caught:
        call()
    assert "Remedy: " in str(caught.value)


def fitted(learner, X, y):
    return clone(learner).set_params(random_state=0).fit(X, y)


@pytest.mark.parametrize("learner", REGRESSORS, ids=name_of)
def test_gaps_in_targets_are_refused_by_row(learner):
    X, y = problem(learner)
    y = np.round(y, 3)
    model = fitted(learner, X, y)
    for kind, (make, what) in (GAPS | NUMBERS).items():
        gap, said = (
            make(y.tolist()),
            rf"{type(learner).__name__}: y contains ({what}) \(row {ROW}\)",
        )
        calls = [clone(learner).fit, model.score]
        if hasattr(learner, "partial_fit"):
            calls += [clone(learner).partial_fit, model.partial_fit]
        if kind.startswith(("two", "frame-")):
            calls = calls[:1]
        for call in calls:
            refuses(lambda call=call, gap=gap: call(X, gap), said)


@pytest.mark.parametrize("learner", CLASSIFIERS, ids=name_of)
def test_gaps_in_labels_are_refused_by_row(learner):
    X, y = problem(learner)
    for labels in (y, np.array(["u", "v", "w"])[y]):
        model = fitted(learner, X, labels)
        for make, what in GAPS.values():
            gap = make(labels.tolist())
            said = rf"{type(learner).__name__}: y contains ({what}) \(row {ROW}\)"
            calls = [clone(learner).fit, model.score]
            if hasattr(learner, "partial_fit"):
                calls += [clone(learner).partial_fit, model.partial_fit]
            for call in calls:
                refuses(lambda call=call, gap=gap: call(X, gap), said)


def test_gaps_in_label_sets_classes_and_weights_of_classes_are_refused():
    X, y = problem(CLASSIFIERS[0])
    sets = np.column_stack([y > 0, y > 1])
    model = KitchenSinksClassifier(n_neurons=20)
    refuses(lambda: model.fit(X, np.ma.array(sets, mask=np.eye(len(y), 2))), "a masked value")
    refuses(lambda: model.fit(X, with_gap(sets, [None, 1])), r"None \(row 3\)")
    for classes in ([0, 1, None], [0, 1, pd.NA], np.ma.array([0, 1, 2], mask=[0, 0, 1])):
        refuses(lambda c=classes: model.partial_fit(X, y, classes=c), "classes=")
    classes = pl.Series(["u", "v", None])
    refuses(lambda: model.partial_fit(X, np.array(["u", "v"])[y % 2], classes=classes), "None")
    for weight in (np.nan, None, np.ma.masked, pd.NA):
        with pytest.raises((TypeError, ValueError), match=r"class_weight=.*Remedy"):
            clone(model).set_params(class_weight={0: weight}).fit(X, y)


@pytest.mark.parametrize("kind", [*GAPS, "floats", "decimals", "arrow-series"])
def test_gaps_in_weights_are_refused_by_row(kind):
    X, y = problem(REGRESSORS[0])
    make, _ = (GAPS | NUMBERS)[kind]
    weight, model = make([1.0] * len(y)), KitchenSinksRegressor(n_neurons=20)
    if kind == "frame":
        weight = weight["a"]
    for call in (model.fit, model.partial_fit, model.fit(X, y).score):
        refuses(lambda call=call: call(X, y, weight), r"sample_weight holds NaN \(row 3\)")


@pytest.mark.parametrize(
    "weight",
    [
        np.arange(40) * np.timedelta64(1, "s"),
        np.array([np.timedelta64(1, "s")] * 40 + [0], dtype=object)[:-1],
        pd.Series([pd.Timedelta(1, "s")] * 40),
    ],
)
def test_weights_that_are_times_are_refused(weight):
    X, y = problem(REGRESSORS[0])
    with pytest.raises(TypeError, match=r"sample_weight (has the type|contains times).*Remedy"):
        KitchenSinksRegressor(n_neurons=20).fit(X[:40], y[:40], weight)


@pytest.mark.parametrize("learner", REGRESSORS, ids=name_of)
def test_times_are_no_targets(learner):
    """Their unit depends on the container, so a stream could mix several."""
    X, y = problem(learner)
    X, y = X[:40], y[:40]
    model = fitted(learner, X, y)
    for times in TIMES.values():
        said = r"y (holds|contains) .*Remedy: numbers in a unit of your choice"
        if "NaT" in str(np.asarray(times)) or "None" in str(np.asarray(times)):
            said = r"y (holds|contains) .*Remedy: (numbers in a unit|leave these)"
        for call in (clone(learner).fit, model.score):
            refuses(lambda call=call, times=times: call(X, times), said)


def test_labels_may_be_times_of_any_unit():
    X, y = problem(CLASSIFIERS[0])
    days = DAYS[:3]
    model = KitchenSinksClassifier(n_neurons=50, random_state=0).partial_fit(X, days[y])
    model.partial_fit(X, days.astype("M8[ns]")[y]).partial_fit(X, pd.Series(days[y]))
    assert model.classes_.tolist() == days.astype("M8[us]").tolist()
    assert model.score(X, days[y]) == model.score(X, days.astype("M8[ns]")[y]) > 0.6
    plain = KitchenSinksClassifier(n_neurons=50, random_state=0).partial_fit(X, y)
    plain.partial_fit(X, y).partial_fit(X, y)
    np.testing.assert_array_equal(model.predict(X), days[plain.predict(X)])
    refuses(lambda: model.fit(X, days.astype("M8[ns]")[y] + y), "nanoseconds")
    refuses(lambda: model.fit(X, with_gap(days[y], np.datetime64("NaT", "D"), "M8[D]")), "NaT")


def masks(X):
    mask = np.zeros(X.shape, dtype=bool)
    mask[ROW, 1] = True
    return np.ma.array(X, mask=mask)


@pytest.mark.parametrize(
    "learner", [*(m for m in EVERY if not takes_gaps(m)), RandomFeatures()], ids=name_of
)
def test_masked_rows_are_refused_where_gaps_are(learner):
    X, y = problem(EVERY[0])
    y = y if is_regressor(learner) else (y > 0).astype(int)
    integers = np.round(4 * X).astype(int)
    model = fitted(learner, X, y)
    answer = getattr(model, "predict", getattr(model, "transform", None))
    for rows in (masks(X), masks(integers), masks(X.astype(object)), list(masks(X))):
        said = f"{type(learner).__name__}: column 1 of X contains missing values"
        refuses(lambda rows=rows: clone(learner).fit(rows, y), said)
        refuses(lambda rows=rows: answer(rows), said)
    np.testing.assert_array_equal(answer(np.ma.array(X)), answer(X))


@pytest.mark.parametrize(
    "learner",
    [
        RandomFeatures("tabular", 30, sparse_output=False),
        RandomFeatures("trees", 30, sparse_output=False),
        *TREE_LEARNERS,
    ],
    ids=str,
)
def test_masked_rows_and_objects_have_gaps_where_they_may(learner):
    X, y = problem(learner)
    expected = X.copy()
    expected[ROW, 1] = np.nan
    model = fitted(learner, expected, y)
    answer = "transform" if hasattr(model, "transform") else "predict"
    marked = [with_gap(X, [X[ROW, 0], gap, *X[ROW, 2:]]) for gap in (None, pd.NA, pd.NaT)]
    for rows in (masks(X), masks(X.astype(object)), list(masks(X)), *marked, marked[1].tolist()):
        for each in (model, clone(model).fit(rows, y)):
            np.testing.assert_array_equal(
                getattr(each, answer)(rows), getattr(model, answer)(expected)
            )


@pytest.mark.parametrize(
    ("value", "held"),
    [
        ("red", "text, 'red'"),
        (pd.Timestamp("2020-01-01"), r"dates, Timestamp\('2020-01-01 00:00:00'\)"),
        (np.timedelta64(3, "D"), r"durations, np\.timedelta64\(3,'D'\)"),
        ([1.0], r"a value of the type list, \[1\.0\]"),
    ],
)
def test_objects_in_an_array_are_called_what_they_are(value, held):
    X, y = problem(EVERY[0])
    rows = X.astype(object)
    rows[ROW, 1] = value
    wanted = "a cell must hold one number" if "list" in held else "an array must hold numbers"
    said = f"column 1 of X contains {held}, but {wanted}"
    refuses(lambda: KitchenSinksRegressor("tabular").fit(rows, y), said)


def test_arrays_of_records_are_told_what_to_become():
    X, y = problem(EVERY[0])
    records = pd.DataFrame(X, columns=list("abcd")).to_records(index=False)
    said = r"X is an array of records with the fields 'a', .*Remedy: pandas\.DataFrame\(X\)"
    for neurons in ("gaussian", "tabular"):
        refuses(lambda n=neurons: KitchenSinksRegressor(n).fit(records, y), said)
    with pytest.raises(TypeError, match=r"y is an array of records.*Remedy: y\['a'\]"):
        KitchenSinksRegressor().fit(X, records)


def test_masked_samples_and_rows_of_kernels_are_refused():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((2, 60, 2))
    broken = np.ma.array(np.where(np.arange(60)[:, None] < 20, 50.0, Y), mask=np.zeros((60, 2)))
    broken.mask[:20] = True  # far away, but not there
    refuses(lambda: mmd_test(X, broken, random_state=0), "column 0 of Y contains missing values")
    refuses(lambda: mmd_test(broken, X, random_state=0), "column 0 of X contains missing values")
    refuses(lambda: hsic_test(X, broken, random_state=0), "column 0 of Y contains missing values")
    refuses(lambda: estimate_kernel("gaussian", broken), "column 0 of X contains missing values")
    filled = broken.filled(np.nan)
    options = {"neurons": "tabular", "random_state": 0}
    assert mmd_test(X, broken, **options).pvalue == mmd_test(X, filled, **options).pvalue

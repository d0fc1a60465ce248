"""Categories: one spelling and one reading, whatever type a column has."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from trickless import KitchenSinksRegressor, TableColumn, TableModel
from trickless.tables.categories import _meanings, known_as
from trickless.tables.encoder import TableEncoder
from trickless.tables.format_text import as_text

DAY = date(2026, 1, 31)
DAYS = [DAY, date(2026, 2, 1)]
ZONED = datetime(2026, 1, 31, 10, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (["A", b"A", np.str_("A")], "A"),
        ([7, 7.0, np.float32(7), np.int8(7), Decimal("7.00"), Decimal("7E+0")], "7"),
        ([0, 0.0, -0.0, Decimal("-0.0")], "0"),
        ([0.1, np.float32(0.1), Decimal("0.10")], "0.1"),
        ([1e-7, Decimal("1E-7"), Decimal("0.00000010")], "1e-07"),
        ([Decimal("0.12345678901234567890")], "0.1234567890123456789"),
        ([2**60 + 1, Decimal(2**60 + 1)], "1152921504606846977"),
        ([True, np.True_], "true"),
        ([np.inf, float("inf")], "inf"),
        ([DAY, pd.Timestamp(DAY), np.datetime64(DAY), datetime(2026, 1, 31)], "2026-01-31"),
        ([datetime(2026, 1, 31, 10, 30), pd.Timestamp("2026-01-31T10:30")], "2026-01-31 10:30:00"),
        (
            [ZONED, ZONED.astimezone(timezone(timedelta(hours=9))), pd.Timestamp(ZONED)],
            "2026-01-31 10:30:00+00:00",
        ),
        ([timedelta(1, 5), pd.Timedelta(days=1, seconds=5)], "1 day, 0:00:05"),
        ([pd.Interval(0, 10), pd.Interval(0.0, 10.0)], "(0, 10]"),
    ],
    ids=str,
)
def test_the_spelling_of_a_value_does_not_depend_on_its_type(values, text):
    assert {as_text(value) for value in values} == {text}


@pytest.mark.parametrize("value", [2.0**53, np.float32(2**24), b"\xff"], ids=str)
def test_values_without_a_spelling_are_refused(value):
    with pytest.raises(ValueError, match="Remedy"):
        as_text(value)


#: A known category, and values of all types that are read as it.
SAME = {
    "00501": [501, 501.0, np.float32(501), Decimal("501.0"), "501", "501.0", "+501", "000501"],
    "1": [1, 1.0, "1.0", "01", True, "True", "TRUE", Decimal("1.00"), b"1"],
    "0": [0, -0.0, "-0", "0.0", "-0.0", False, "false"],
    "True": [True, np.True_, "true", "TRUE", " true ", 1, "1"],
    "1.1": [1.1, np.float32(1.1), Decimal("1.10"), "1.10", "01.1"],
    "1.10": [1.1, Decimal("1.1"), "1.1", "1.100"],
    "1.5e-7": [1.5e-7, "1.5E-07", "0.00000015", Decimal("0.00000015")],
    "2026-01-31": [date(2026, 1, 31), pd.Timestamp("2026-01-31"), "2026-01-31T00:00:00.000"],
    "2026-01-31T10:30": [
        datetime(2026, 1, 31, 10, 30),
        pd.Timestamp("2026-01-31 10:30"),
        "2026-01-31 10:30:00",
        "2026-01-31T10:30:00.000000000",
    ],
    "2026-01-31T10:30:00Z": [
        ZONED, "2026-01-31 10:30:00+00:00", "2026-01-31T11:30+01", "2026-01-31 10:30 UTC",
    ],
    "2026-01-31 10:30:00.123456789": [
        pd.Timestamp("2026-01-31 10:30:00.123456789"),
        "2026-01-31T10:30:00.123456789",
    ],
    "10:30": [time(10, 30), "10:30:00", "10:30:00.0"],
    "1 days 00:00:05": [timedelta(1, 5), pd.Timedelta("1D5s"), "1 day, 0:00:05"],
    "(0.0, 10.0]": [pd.Interval(0, 10), "(0, 10]"],
}  # fmt: skip


@pytest.mark.parametrize("known", SAME)
def test_a_value_is_the_known_category_that_means_the_same(known):
    others = ["A", "17", "2001-01-01", "2001-01-01T10:00:00Z", "11:11", "(1, 2]"]
    for value in [known, *SAME[known]]:
        assert known_as([value], {known: 0} | dict.fromkeys(others, 1)) == [known], value


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("1e5", "100000"), ("1_000", "1000"), ("A ", "A"), ("a", "A"), ("\u0661", "1"),
        ("2026-01-31", "2026-01-31T00:00:00Z"),
        ("2026-01-31 10:30:00.1234567", "2026-01-31 10:30:00.123456"),
        ("2026-02-30", "2026-03-02"), ("20260131", "2026-01-31"), ("(0, 10)", "(0, 10]"),
        ("10:30", "10.5"), ("nan", "NaN"), ("0x10", "16"), ("1,5", "1.5"), ("7 ", "8"),
    ],
)  # fmt: skip
def test_a_name_means_nothing_but_itself(text, known):
    assert known_as([text], {known: 0}) == [text]


def test_strings_that_mean_the_same_are_names_if_both_are_known():
    versions = dict.fromkeys(["1.1", "1.10", "2.0"])
    texts = ["1.10", "1.1", "1.100", "2"]
    assert known_as(texts, versions) == texts
    assert known_as([2, Decimal("2.00")], versions) == ["2.0", "2.0"]
    with pytest.raises(ValueError, match=r"1\.1 matches .* \['1\.1', '1\.10'\].*Remedy: pass"):
        known_as([1.1], versions)


#: The same two values in columns of many types; each may be learned from, or predicted.
COLUMNS = {
    "digits": [
        ["1", "2"], pd.Categorical(["1", "2"]), pd.Categorical([1, 2]), pd.Categorical([1.0, 2.0]),
        pd.Series([1, 2], dtype=object), pd.Series([1, 2], dtype="Int64"), [1.0, 2.0],
        ["1.0", "2.0"], pd.Series([1, "2"], dtype=object), pd.Categorical(["01", "02"]),
        pl.Series(["1", "2"]), pl.Series(["1", "2"], dtype=pl.Categorical),
        pl.Series(["1", "2"], dtype=pl.Enum(["2", "1"])),
        pl.Series([1, 2]), pl.Series([1.0, 2.0]), pl.Series([1, 2], dtype=pl.Object),
        pl.Series([Decimal("1.0"), Decimal("2.0")]), pl.Series([b"1", b"2"]),
        pd.Series([Decimal("1.00"), Decimal("2.00")]), pd.Categorical(np.array([1, 2], np.float32)),
    ],
    "truth": [
        ["True", "False"], ["true", "false"], pd.Categorical([True, False]), [True, False],
        pd.Categorical(["TRUE", "FALSE"]), pd.Series([True, False], dtype="boolean"),
        pd.Series([True, False], dtype=object), pl.Series([True, False]),
        pl.Series(["true", "false"]), pd.Categorical([1, 0]), ["1", "0"], [1.0, 0.0],
    ],
    "fractions": [
        ["0.1", "2.50"], pd.Categorical([0.1, 2.5]), np.array([0.1, 2.5], np.float32),
        pd.Categorical(np.array([0.1, 2.5], np.float32)), pl.Series([0.1, 2.5], dtype=pl.Float32),
        pl.Series([0.1, 2.5]), pd.Series([Decimal("0.10"), Decimal("2.5")]),
    ],
    "days": [
        ["2026-01-31", "2026-02-01"], ["2026-01-31T00:00:00", "2026-02-01T00:00:00"], DAYS,
        pd.Categorical(["2026-01-31", "2026-02-01"]), pd.to_datetime(DAYS),
        pd.Categorical(pd.to_datetime(DAYS)), pl.Series(DAYS),
        pl.Series(DAYS).cast(pl.Datetime), pd.period_range(DAY, periods=2),
    ],
    "bins": [
        pd.cut([5, 15], [0, 10, 20]), pd.cut([5.0, 15.0], [0.0, 10.0, 20.0]),
        ["(0, 10]", "(10, 20]"], ["(0.0, 10.0]", "(10.0, 20.0]"],
    ],
}  # fmt: skip


def frame_of(column):
    """A frame of the library that the column is of."""
    library = pl if isinstance(column, pl.Series) else pd
    return library.DataFrame({"a": column})


def is_category(frame):
    return TableEncoder("me", frame).codes[0] is not None


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_may_change_their_type(name):
    frames = list(map(frame_of, COLUMNS[name]))
    learned = [frame for frame in frames if is_category(frame)]
    assert len(learned) > 1
    for first in learned:
        encoder = TableEncoder("me", first)
        expected = np.asarray(encoder("me", first))
        assert sorted(expected.ravel()) == [0, 1]
        for other in frames:
            np.testing.assert_array_equal(
                encoder("me", other), expected, err_msg=f"{first} {other}"
            )


@pytest.mark.parametrize(
    "type_", [pl.Datetime("ns"), pl.Datetime("ns", "UTC"), pl.Duration("ns"), pl.Time]
)
def test_nanoseconds_of_polars_are_not_cut(type_):
    """Objects of Python have microseconds, and would make one category of two times."""
    encoder = TableEncoder("me", pl.DataFrame({"a": ["x", "y"]}))
    with pytest.warns(UserWarning, match="all values in column 'a' of X are new"):
        encoder("me", pl.DataFrame({"a": pl.Series([1000, 2000, 3000]).cast(type_)}))
    with pytest.raises(ValueError, match=r"column 'a' of X: times with nanoseconds.*Remedy: store"):
        encoder("me", pl.DataFrame({"a": pl.Series([1000, 1001]).cast(type_)}))


@pytest.mark.parametrize("neurons", ["tabular", "gaussian"])
@pytest.mark.parametrize("name", COLUMNS)
def test_models_of_tables_read_them_alike(name, neurons):
    frames = list(map(frame_of, COLUMNS[name]))
    for first in (frame for frame in frames if is_category(frame)):
        categories = list(TableEncoder("me", first).codes[0])
        column = TableColumn("a", "category", categories=categories)
        learner = KitchenSinksRegressor(neurons, n_neurons=20, random_state=0)
        model = TableModel(learner, [column], "y").fit(first, [0.0, 1.0])
        expected = model.predict(first)
        assert expected[1] - expected[0] > 0.5
        for other in frames:
            assert model.unknown_categories(other) == {}
            np.testing.assert_array_equal(model.predict(other), expected)


@pytest.mark.parametrize("neurons", ["tabular", "gaussian"])
def test_a_model_of_a_table_warns_of_columns_that_are_mostly_unknown(neurons):
    column = TableColumn("a", "category", categories=["Bonn", "Ulm"])
    learner = KitchenSinksRegressor(neurons, n_neurons=20, random_state=0)
    model = TableModel(learner, [column], "y").fit(pd.DataFrame({"a": ["Ulm", "Bonn"]}), [0, 1])
    for values, n in ((["ulm", "bonn"] * 3, "all"), (["ulm", "bonn"] * 10 + ["Ulm"], "20 of 21")):
        with pytest.warns(UserWarning, match=rf"{n} values .*'a' .* 'ulm'\. .* 'Bonn', 'Ulm'"):
            model.predict(pd.DataFrame({"a": values}))


def test_values_that_are_declared_and_do_not_occur_are_no_matter():
    encoder = TableEncoder("me", pd.DataFrame({"a": ["007", "7", "12"]}))
    codes = pd.Categorical([12, 12], categories=[7, 12])
    assert encoder("me", pd.DataFrame({"a": codes}))["a"].tolist() == [1, 1]
    with pytest.raises(ValueError, match=r"me: column 'a' of X: the category 7 matches .*Remedy"):
        encoder("me", pd.DataFrame({"a": pd.Categorical([7, 12])}))


def test_known_categories_are_read_once_for_a_column():
    known = {str(i): i for i in range(2000)}
    _meanings.cache_clear()
    assert known_as(range(2000), known) == list(known)
    assert known_as(map("{}.0".format, range(2000)), known) == list(known)
    info = _meanings.cache_info()
    assert (info.misses, info.hits) == (1, 1)

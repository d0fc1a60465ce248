"""Categories: one spelling and one reading, whatever type a column has."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from trickless import BoostedTreesRegressor
from trickless._rows.categories import known_as
from trickless._rows.columns import Columns
from trickless._rows.values import as_text

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


def test_a_value_is_the_known_category_that_is_spelled_like_it():
    known = ["00501", "7", "true", "2026-01-31", "1.10"]
    values = [501, 7.0, True, DAY, Decimal("1.10"), "501", "7.0", "True", "2026-01-31T00:00"]
    new = ["501", "7.0", "True", "2026-01-31T00:00"]
    assert known_as(values, known) == ["501", "7", "true", "2026-01-31", "1.1", *new]


#: What programs write for numbers, dates, Booleans and missing values.
TEXTS = [
    ["1", "2"], ["1,234", "2,5"], ["$5", "-7"], ["5 kg", "6 kg"], ["true", "false"],
    ["2026-01-31", "2026-02-01"], ["10:30", "11:00"], ["NA", ""], ["0049 30 1234", "00501"],
]  # fmt: skip


@pytest.mark.parametrize("texts", TEXTS, ids=str)
@pytest.mark.parametrize("library", [pd, pl])
def test_text_is_a_category_whatever_it_spells(texts, library, recwarn):
    frame = library.DataFrame({"a": texts})
    columns = Columns("me", frame)
    assert columns.codes == [{text: code for code, text in enumerate(sorted(texts))}]
    assert sorted(np.asarray(columns.read("me", frame)).ravel()) == [0, 1]
    assert not recwarn.list


def test_text_after_numbers_is_refused_with_the_line_that_converts_it():
    columns = Columns("me", pd.DataFrame({"a": [1.5, 2.0]}))
    with pytest.raises(ValueError, match=r"a.* held numbers .*X\['a'\] = pandas\.to_numeric\(X"):
        columns.read("me", pd.DataFrame({"a": ["1.5", "2.0"]}))


#: The same two values in columns of many types; each may be learned from, or predicted.
COLUMNS = {
    "digits": [
        ["1", "2"], pd.Categorical(["1", "2"]), pd.Categorical([1, 2]), pd.Categorical([1.0, 2.0]),
        pd.Series([1, 2], dtype=object), pd.Series([1, 2], dtype="Int64"), [1.0, 2.0],
        pd.Series([1, "2"], dtype=object), pl.Series(["1", "2"]),
        pl.Series(["1", "2"], dtype=pl.Categorical),
        pl.Series(["1", "2"], dtype=pl.Enum(["2", "1"])),
        pl.Series([1, 2]), pl.Series([1.0, 2.0]), pl.Series([1, 2], dtype=pl.Object),
        pl.Series([Decimal("1.0"), Decimal("2.0")]), pl.Series([b"1", b"2"]),
        pd.Series([Decimal("1.00"), Decimal("2.00")]), pd.Categorical(np.array([1, 2], np.float32)),
    ],
    "truth": [
        ["true", "false"], pd.Categorical([True, False]), [True, False],
        pd.Series([True, False], dtype="boolean"), pl.Series([True, False]),
        pd.Series([True, False], dtype=object), pl.Series(["true", "false"]),
    ],
    "fractions": [
        ["0.1", "2.5"], pd.Categorical([0.1, 2.5]), np.array([0.1, 2.5], np.float32),
        pd.Categorical(np.array([0.1, 2.5], np.float32)), pl.Series([0.1, 2.5], dtype=pl.Float32),
        pl.Series([0.1, 2.5]), pd.Series([Decimal("0.10"), Decimal("2.5")]),
    ],
    "days": [
        ["2026-01-31", "2026-02-01"], DAYS, pd.Categorical(["2026-01-31", "2026-02-01"]),
        pd.to_datetime(DAYS), pd.Categorical(pd.to_datetime(DAYS)), pl.Series(DAYS),
        pl.Series(DAYS).cast(pl.Datetime), pd.period_range(DAY, periods=2),
    ],
    "bins": [
        pd.cut([5, 15], [0, 10, 20]), pd.cut([5.0, 15.0], [0.0, 10.0, 20.0]),
        ["(0, 10]", "(10, 20]"],
    ],
}  # fmt: skip


def frame_of(column):
    """A frame of the library that the column is of."""
    library = pl if isinstance(column, pl.Series) else pd
    return library.DataFrame({"a": column})


def is_category(frame):
    return Columns("me", frame).codes[0] is not None


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_may_change_their_type(name):
    frames = list(map(frame_of, COLUMNS[name]))
    learned = [frame for frame in frames if is_category(frame)]
    assert len(learned) > 1
    for first in learned:
        columns = Columns("me", first)
        expected = np.asarray(columns.read("me", first))
        assert sorted(expected.ravel()) == [0, 1]
        for other in frames:
            np.testing.assert_array_equal(
                columns.read("me", other), expected, err_msg=f"{first} {other}"
            )


@pytest.mark.parametrize(
    "type_", [pl.Datetime("ns"), pl.Datetime("ns", "UTC"), pl.Duration("ns"), pl.Time]
)
def test_nanoseconds_of_polars_are_not_cut(type_):
    """Objects of Python have microseconds, and would make one category of two times."""
    columns = Columns("me", pl.DataFrame({"a": ["x", "y"]}))
    with pytest.warns(UserWarning, match="all values in column 'a' of X are new"):
        columns.read("me", pl.DataFrame({"a": pl.Series([1000, 2000, 3000]).cast(type_)}))
    with pytest.raises(ValueError, match=r"column 'a' of X: times with nanoseconds.*Remedy: store"):
        columns.read("me", pl.DataFrame({"a": pl.Series([1000, 1001]).cast(type_)}))


def test_values_that_are_declared_and_do_not_occur_are_no_matter():
    columns = Columns("me", pd.DataFrame({"a": ["7", "12"]}))
    codes = pd.Categorical([12, 12], categories=[5, 12])
    assert columns.read("me", pd.DataFrame({"a": codes})).tolist() == [[0], [0]]


@pytest.mark.parametrize("text", ["Rome ", "rome", " ROME"])
def test_a_category_that_differs_by_blanks_or_case_is_told(text):
    table = pd.DataFrame({"town": ["Rome", "Oslo"] * 20, "x": np.arange(40.0)})
    model = BoostedTreesRegressor(4, random_state=0).fit(table, 1.0 * (table["town"] == "Rome"))
    row = pd.DataFrame({"town": [text, "Rome", "Oslo"], "x": [1.0, 2.0, 3.0]})
    with pytest.warns(UserWarning, match=r"differs from 'Rome' by blanks .* Remedy: spell"):
        model.predict(row)

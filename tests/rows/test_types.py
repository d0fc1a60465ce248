"""One table in many types: the same codes, the same model, the same predictions."""

import pickle
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from trickless import DoublyStochasticRegressor, KitchenSinksRegressor, load, save
from trickless._rows.columns import Columns
from trickless._rows.values import as_numbers
from trickless.neurons import Gaussian, On

NOON = datetime(2024, 2, 29, 12, 0, 0, 250_000)
TOKYO = timezone(timedelta(hours=9))
SIZES = ["S", "M", "L"]
WORDS = pa.dictionary(pa.int32(), pa.string())


def of_categories(values):
    return pd.Categorical(values, SIZES)


def in_order(values):
    return pd.Categorical(values, SIZES, ordered=True)


def stamps(unit, zone=None):
    def series(values):
        times = pd.Series(pd.to_datetime(values, utc=zone is not None).astype(f"M8[{unit}, UTC]"))
        return times.dt.tz_convert(zone)

    return series if zone else f"datetime64[{unit}]"


#: Some values of a column, and types of pandas, Arrow (in pandas) and polars that hold them.
TYPES = {
    "int": (
        [3, -1, 2**40, 3],
        ["int64", "Int64", "float64", "object", "Sparse[float]"],
        [pa.int64(), pa.decimal128(30, 2)],
        [pl.Int64, pl.Float64, pl.Object],
    ),
    "gaps": (
        [3, None, 7, 1],
        ["float64", "Int16", "UInt8", "object"],
        [pa.int64(), pa.uint8(), pa.float64()],
        [pl.Int64, pl.UInt8, pl.Decimal(10, 1), pl.Object],
    ),
    "float": (
        [0.5, None, -2.25, 1e9],
        ["float64", "Float64", "object"],
        [pa.float64(), pa.decimal128(20, 3)],
        [pl.Float64, pl.Decimal(20, 3)],
    ),
    "decimal": (
        [Decimal("0.1"), None, Decimal("-2.25"), Decimal("7")],
        ["object", "float64"],
        [pa.decimal128(20, 3), pa.float64()],
        [pl.Decimal(20, 3), pl.Float64, pl.Object],
    ),
    "bool": (
        [True, False, False, True],
        ["bool", "boolean", "object", "float64", "int8"],
        [pa.bool_()],
        [pl.Boolean, pl.Object],
    ),
    "bool-gaps": (
        [True, None, False, True],
        ["boolean", "object", "float64"],
        [pa.bool_()],
        [pl.Boolean, pl.Float32],
    ),
    "text": (
        ["b", None, "a", "ß"],
        ["object", "string", "string[pyarrow]", "str", "category"],
        [pa.string(), pa.large_string(), WORDS],
        [pl.String, pl.Categorical, pl.Object],
    ),
    "categories": (
        ["M", None, "S", "M"],
        [of_categories, in_order],
        [],
        [pl.Enum(SIZES)],
    ),
    "mixed": (["1", 1, None, 2.5], ["object"], [], [pl.Object]),
    "bytes": ([b"b", None, b"a", b"b"], ["object"], [pa.binary()], [pl.Binary]),
    "nothing": ([None] * 4, ["object", "category"], [pa.null(), pa.string()], [pl.Null, pl.String]),
    "no-numbers": ([None] * 4, ["float64", "Int64", "boolean"], [pa.int64()], [pl.Int8]),
    "date": (
        [date(2024, 2, 29), None, date(1969, 12, 31), date(2024, 3, 1)],
        ["object", stamps("s"), stamps("ns"), "period[D]"],
        [pa.date32(), pa.date64(), pa.timestamp("s")],
        [pl.Date, pl.Datetime("ms")],
    ),
    "datetime": (
        [NOON, None, datetime(1923, 1, 1, 0, 0, 0, 1), NOON + timedelta(seconds=1)],
        [stamps("us"), stamps("ns"), "object"],
        [pa.timestamp("us"), pa.timestamp("ns")],
        [pl.Datetime("us"), pl.Datetime("ns"), pl.Object],
    ),
    "zoned": (
        [NOON.replace(tzinfo=UTC), None, NOON.replace(tzinfo=TOKYO), NOON.replace(tzinfo=UTC)],
        [stamps("us", "UTC"), stamps("ns", "Europe/Berlin"), "object"],
        [pa.timestamp("us", "America/New_York")],
        [pl.Datetime("us", "UTC"), pl.Datetime("ns", "Asia/Tokyo"), pl.Object],
    ),
    "duration": (
        [timedelta(1), None, timedelta(seconds=-5), timedelta(microseconds=250_000)],
        ["timedelta64[us]", "timedelta64[ns]", "timedelta64[ms]", "object"],
        [pa.duration("us"), pa.duration("ms")],
        [pl.Duration("us"), pl.Duration("ns"), pl.Object],
    ),
    "time": (
        [time(12), None, time(0), time(23, 59, 59, 999_999)],
        ["object"],
        [pa.time64("us"), pa.time64("ns")],
        [pl.Time, pl.Object],
    ),
}
#: A quarter of a second, in days.
LATER = 0.25 / 86_400
#: Numbers that some columns become.
NUMBERS = {
    "decimal": [0.1, np.nan, -2.25, 7],
    "bool": [1, 0, 0, 1],
    "bool-gaps": [1, np.nan, 0, 1],
    "text": [1, 3, 0, 2],
    "categories": [1, 3, 2, 1],
    "nothing": [0, 0, 0, 0],
    "no-numbers": [np.nan] * 4,
    "date": [19_782, np.nan, -1, 19_783],
    "zoned": [19_782.5 + LATER, np.nan, 19_782.125 + LATER, 19_782.5 + LATER],
    "duration": [1, np.nan, -5 / 86_400, LATER],
    "time": [0.5, np.nan, 0, (86_400e6 - 1) / 86_400e6],
}


def of_pandas(values, kind):
    column = pd.Series(kind(values)) if callable(kind) else pd.Series(values, dtype=kind)
    return pd.DataFrame({"a": column})


def of_arrow(values, kind):
    array = pa.array(values)
    array = array if array.type == kind else array.cast(kind)
    return pd.DataFrame({"a": pd.Series(pd.arrays.ArrowExtensionArray(array))})


def of_polars(values, kind):
    return pl.DataFrame({"a": pl.Series(values, dtype=kind, strict=False)})


def frames(name, rows=4):
    """A column of a kind in all types, whose values come again and again."""
    values, *types = TYPES[name]
    values = (values * rows)[:rows]
    for make, kinds in zip((of_pandas, of_arrow, of_polars), types, strict=True):
        for kind in kinds:
            yield make(values, kind)


@pytest.mark.parametrize("name", TYPES)
def test_codes_are_the_same_in_all_types(name):
    first, *others = frames(name)
    columns = Columns("me", first)
    expected = np.asarray(columns.read("me", first))
    if name in NUMBERS:
        np.testing.assert_array_equal(expected[:, 0], NUMBERS[name])
    for frame in others:
        other = Columns("me", frame)
        assert (other.kinds, other.codes) == (columns.kinds, columns.codes), frame.dtypes
        np.testing.assert_array_equal(other.read("me", frame), expected)
        np.testing.assert_array_equal(columns.read("me", frame), expected)
        np.testing.assert_array_equal(columns.read("me", frame[:0]), expected[:0])


def tables(rows=90):
    """Tables of all columns: each takes the next type of its kind, if it has one more."""
    columns = {name: list(frames(name, rows)) for name in TYPES}
    for library, chosen in (("iloc", 0), ("iloc", -1), ("get_column", 0), ("get_column", -1)):
        of_it = {
            name: [frame for frame in of_name if hasattr(frame, library)][chosen]["a"]
            for name, of_name in columns.items()
        }
        yield pd.DataFrame(of_it) if library == "iloc" else pl.DataFrame(of_it)


@pytest.mark.parametrize("learner", [KitchenSinksRegressor, DoublyStochasticRegressor])
def test_models_are_the_same_in_all_types(learner):
    y = np.resize([1.0, 2.0, 3.0, 5.0], 90)
    expected = None
    for i, table in enumerate(tables()):
        model = learner("tabular", 30, random_state=0).fit(table, y)
        for j, other in enumerate(tables()):
            answers = model.predict(other)
            expected = answers if expected is None else expected
            np.testing.assert_array_equal(answers, expected, err_msg=f"{i} {j}")
    assert np.ptp(expected) > 0.1


STEPS = np.arange(400)
#: Columns of values that single precision merges, from the first to the last of 400 steps.
CLOSE = {
    "seconds": pd.Timestamp("2024-02-29 12:00") + pd.to_timedelta(3 * STEPS, "s"),
    "microseconds": pd.Timestamp("2024-02-29 12:00", tz="UTC") + pd.to_timedelta(STEPS, "us"),
    "epoch": 1_700_000_000 + STEPS,
    "floats": 1.7e9 + STEPS / 1000,
    "ids": 10**18 + STEPS,
    "unsigned": (2**63 + STEPS.astype(np.uint64)),
    "beyond": pd.Series([10**25 + int(i) for i in STEPS], dtype=object),
    "decimals": pd.Series([Decimal(10) ** 20 + int(i) for i in STEPS], dtype=object),
}


@pytest.mark.parametrize("name", CLOSE)
def test_close_values_are_told_apart_in_single_precision(name, tmp_path):
    frame, y = pd.DataFrame({"a": CLOSE[name], "b": 1.0}), np.sin(STEPS / 30)
    model = KitchenSinksRegressor("tabular", 200, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.99
    save(model, tmp_path / "model")
    answers = model.predict(frame)
    for copy in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.predict(frame), answers)
    if name != "beyond":
        np.testing.assert_array_equal(model.predict(pl.from_pandas(frame)), answers)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_arrays_after_a_frame_are_read_like_it():
    y = np.sin(STEPS / 30)
    for name in ("epoch", "seconds", "ids"):
        frame = pd.DataFrame({"a": CLOSE[name]})
        model = KitchenSinksRegressor("tabular", 100, random_state=0).fit(frame, y)
        np.testing.assert_array_equal(model.predict(frame.to_numpy()), model.predict(frame))


def test_a_warning_says_where_times_are_not_told_apart():
    times = np.where(STEPS % 2, STEPS, STEPS + 10**9).astype("M8[s]")
    model = KitchenSinksRegressor("tabular", 20, random_state=0)
    with pytest.warns(UserWarning, match=r"of 400 different values of column 'a'.*Remedy: dtype"):
        model.fit(pd.DataFrame({"a": times}), np.sin(STEPS / 30))


def test_times_do_not_come_back_as_something_else():
    held = {name: next(frames(name)) for name in ("date", "zoned", "duration", "time", "float")}
    for name, first in held.items():
        columns = Columns("me", first)
        for other, frame in [*held.items(), ("text", next(frames("text")))]:
            if other == name:
                continue
            with pytest.raises(ValueError, match=rf"'a' of X held {columns.kinds[0]}.*Remedy"):
                columns.read("me", frame)
        nothing = columns.read("me", pd.DataFrame({"a": [None, None]}))
        assert np.isnan(nothing).all()


def test_times_and_other_objects_do_not_share_a_column():
    day, noon = date(2024, 2, 29), NOON.replace(tzinfo=UTC)
    for values, what in (
        ([day, "1 March"], "dates and other objects"),
        ([day, 1], "dates and numbers"),
        ([NOON, noon], "dates and dates with a time zone"),
        ([timedelta(1), day], "dates and durations"),
    ):
        frame = pd.DataFrame({"a": pd.Series(values, dtype=object)})
        with pytest.raises(ValueError, match=rf"column 'a' of X holds {what}\. Remedy"):
            Columns("me", frame)


def test_models_that_take_times_from_other_origins_do_not_merge():
    neurons, frame = On("b", Gaussian(1.0)), pd.DataFrame({"a": CLOSE["seconds"], "b": STEPS / 400})
    one, other = (
        KitchenSinksRegressor(neurons, 20, random_state=0).fit(rows, rows["b"])
        for rows in (frame[:200], frame[200:])
    )
    with pytest.raises(ValueError, match=r"from another date.*Remedy: begin both"):
        one.merge(other)


@pytest.mark.parametrize("neurons", ["tabular", "gaussian"])
def test_arrays_of_times_are_days_in_any_unit(neurons):
    days = np.arange(20)[:, None]
    model = KitchenSinksRegressor(neurons, 20, random_state=0).fit(days, days[:, 0])
    for unit in ("D", "s", "ns"):
        for kind in "mM":
            times = days.astype(f"{kind}8[D]").astype(f"{kind}8[{unit}]")
            np.testing.assert_array_equal(model.predict(times), model.predict(days))


def test_times_in_any_unit_are_days():
    text = ["1969-12-31T23:59:59.999999", "NaT", "2024-02-29T12:00"]
    expected = as_numbers(np.array(text, "M8[us]"))
    np.testing.assert_array_equal(expected[1:], [np.nan, 19_782.5])
    np.testing.assert_array_equal(as_numbers(np.array(text, "M8[ns]")), expected)
    assert as_numbers(np.array(["300000-01-01"], "M8[s]")) > 100e6  # beyond 64 bits of microseconds
    assert as_numbers(np.array(["1971"], "M8[Y]")) == 365
    assert as_numbers(np.array([2], "m8[W]")) == 14


@pytest.mark.parametrize(("zone", "end"), [(None, r"\)"), ("UTC", r", utc=True\)")])
def test_other_text_after_times_is_refused_with_the_line_that_converts_it(zone, end):
    when = pd.date_range("2026-01-31", periods=3, tz=zone)
    columns = Columns("me", pd.DataFrame({"when": when}))
    text = pd.DataFrame({"when": when.strftime("%d %b %Y")})
    with pytest.raises(ValueError, match=rf"X\['when'\] = pandas\.to_datetime\(X\['when'\]{end}\."):
        columns.read("me", text)
    text["when"] = pd.to_datetime(text["when"], utc=zone is not None)
    np.testing.assert_array_equal(columns.read("me", text)[:, 0], 20_484 + np.arange(3))


@pytest.mark.filterwarnings("ignore:Gaussian. distances")  # times beside small numbers
@pytest.mark.parametrize("name", ["date", "datetime", "zoned", "duration", "time"])
@pytest.mark.parametrize(
    "neurons", [pytest.param(Gaussian("median"), id="gaussian"), "stumps", "tabular"]
)
def test_every_family_takes_times_of_all_types(neurons, name):
    """Alone, and beside a column of numbers."""
    for beside in ([], ["z"]):
        expected = None
        for frame in frames(name, 40):
            column = (
                frame["a"].drop_nulls() if isinstance(frame, pl.DataFrame) else frame["a"].dropna()
            )
            library = pl if isinstance(frame, pl.DataFrame) else pd
            z = np.arange(len(column)) / 30
            rows = library.DataFrame({"a": column, **dict.fromkeys(beside, z)})
            model = KitchenSinksRegressor(neurons, 20, random_state=0, dtype="float64")
            answers = model.fit(rows, np.cos(z)).predict(rows)
            expected = answers if expected is None else expected
            np.testing.assert_array_equal(answers, expected, err_msg=str(frame.dtypes))


def test_times_that_are_missing_are_refused_where_gaps_are():
    frame = pd.DataFrame({"a": pd.to_datetime(["2024-01-01", None, "2024-01-03"])})
    with pytest.raises(ValueError, match=r"column 'a' of X contains missing values.*Remedy"):
        KitchenSinksRegressor("gaussian", 20).fit(frame, [1.0, 2.0, 3.0])

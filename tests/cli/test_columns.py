"""Columns are what they are meant to be: types that are found, or that options name."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from sklearn.metrics import r2_score

import fuzz_tables
import trickless
from table_files import frame, write
from trickless import cli
from trickless.readers import csv_file as csv
from trickless.readers import dataset
from trickless.readers.dataset import Dataset

DAYS = pd.date_range("2024-01-01", periods=60).strftime("%Y-%m-%d")


def call(command, *arguments, code=0, capsys=None):
    """The result and the messages of a command that ends with this exit code."""
    assert cli.main([command, *map(str, arguments)]) == code, capsys.readouterr().err
    done = capsys.readouterr()
    assert "Traceback" not in done.err
    return done


@pytest.fixture
def fit(tmp_path, capsys):
    """Fits a model; what is said and the kinds of its columns, or what is said of a refusal."""
    fixed = "--learner", "kitchen-sinks", "--n-neurons", 9

    def fitted(data, *options, target="label", code=0):
        out = tmp_path / "model"
        options = "--target", target, *fixed, "--out", out, *options, "--json"
        done = call("fit", data, *options, code=code, capsys=capsys)
        if code:
            assert "Remedy" in done.err
            return done.err
        about = json.loads(done.out)
        return done.err, {column["name"]: column for column in about["columns"]}

    return fitted


def model_of(folder):
    return trickless.load(folder / "model")


def folders(base, name, values, ending, **columns):
    """A table a folder, which is called name=value; labels follow the values."""
    for i, value in enumerate(values):
        inside = base / f"{name}={value}"
        inside.mkdir(parents=True)
        table = pd.DataFrame({"x": np.arange(30.0) % 7, "label": float(i)})
        write(table.assign(**columns), inside / f"part{ending}")
    return base


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather"])
class TestFolders:
    def test_spellings_of_a_number_stay_apart_as_categories(self, ending, tmp_path, fit, capsys):
        data = folders(tmp_path / "data", "code", ["7", "007", "07", "8"], ending)
        _, columns = fit(data, "--category", "code", "--task", "regression", "--n-neurons", 200)
        assert columns["code"]["categories"] == ["007", "07", "7", "8"]
        done = call("evaluate", tmp_path / "model", data, "--json", capsys=capsys)
        assert json.loads(done.out)["r2"] > 0.99

    def test_leading_zeros_are_categories_unless_they_are_said_to_be_numbers(
        self, ending, tmp_path, fit
    ):
        data = folders(tmp_path / "data", "code", ["7", "007"], ending)
        said, columns = fit(data)
        assert "column 'code': its numbers have leading zeros" in said
        assert "--number 'code'" in said
        assert columns["code"]["categories"] == ["007", "7"]
        said, columns = fit(data, "--number", "code")
        assert "leading zeros" not in said
        assert (columns["code"]["kind"], columns["code"]["mean"]) == ("number", 7)

    def test_numbers_in_folder_names_are_read_as_numbers(self, ending, tmp_path, fit):
        values = ["1", "2.5", str(2**40), "-3"]
        data = folders(tmp_path / "data", "code", values, ending)
        _, columns = fit(data)
        assert columns["code"]["mean"] == np.mean([float(value) for value in values])

    @pytest.mark.parametrize(
        ("values", "mean"),
        [
            (["2024-01-01", "2024-01-03"], "2024-01-02T00:00:00"),
            (["2024-01-01 06%3A00%3A00", "2024-01-01 18%3A00%3A00"], "2024-01-01T12:00:00"),
            (["2024-01-01T06:00:00Z", "2024-01-01T18:00:00Z"], "2024-01-01T12:00:00Z"),
            (["9999-12-30", "9999-12-31"], "9999-12-30T12:00:00"),
            (["9999-12-31 00:00:00.000001", "9999-12-31"], "9999-12-31T00:00:00"),
        ],
    )
    def test_days_in_folder_names_are_read_as_dates(
        self, values, mean, ending, tmp_path, fit, capsys
    ):
        data = folders(tmp_path / "data", "dt", values, ending)
        _, columns = fit(data)
        kind = "zoned date" if mean.endswith("Z") else "date"
        assert (columns["dt"]["kind"], columns["dt"]["mean"]) == (kind, mean)
        call("predict", tmp_path / "model", data, "--out", tmp_path / "out.csv", capsys=capsys)

    def test_days_in_folder_names_in_another_format_need_an_option(
        self, ending, tmp_path, fit, capsys
    ):
        values = [f"{day:02}.01.2024" for day in range(1, 13)]
        data = folders(tmp_path / "data", "dt", values, ending)
        said = fit(data, code=2)
        assert "column 'dt', row 1: '01.01.2024' looks like a number or a date" in said
        assert "--date-format" in said
        options = "--date", "dt", "--date-format", "%d.%m.%Y"
        _, columns = fit(data, *options)
        assert columns["dt"]["mean"] == "2024-01-06T12:00:00"
        call("evaluate", tmp_path / "model", data, capsys=capsys)

    def test_folder_names_may_be_escaped_or_missing(self, ending, tmp_path, fit):
        values = ["a%2Fb", "NA", "null", "__HIVE_DEFAULT_PARTITION__", "Köln", "x=y"]
        data = folders(tmp_path / "data", "town%20name", values, ending)
        said, columns = fit(data)
        assert columns["town name"]["categories"] == ["Köln", "a/b", "x=y"]
        assert "read as missing values: 'NA' in 30 rows, 'null' in 30 rows" in said
        _, columns = fit(data, "--keep-na", "town name")
        assert columns["town name"]["categories"] == ["Köln", "NA", "a/b", "null", "x=y"]
        assert columns["town name"]["has_missing"]

    def test_a_column_in_both_folder_name_and_file_must_have_one_value(self, ending, tmp_path, fit):
        data = folders(tmp_path / "same", "dt", ["2024-01-01"], ending, dt="2024-01-01")
        _, columns = fit(data, "--task", "regression", "--date", "dt")
        assert columns["dt"]["mean"] == "2024-01-01T00:00:00"
        data = folders(tmp_path / "other", "dt", ["2024-01-01"], ending, dt="2024-01-02")
        said = fit(data, "--task", "regression", "--date", "dt", code=2)
        assert "column 'dt', row 1: the file has 2024-01-02" in said
        assert "the name of its folder 2024-01-01" in said

    def test_folder_names_that_are_no_text_or_repeat_a_column_are_refused(
        self, ending, tmp_path, fit
    ):
        data = folders(tmp_path / "bytes", "code", ["%FF", "2"], ending)
        assert "has bytes that are not valid UTF-8" in fit(data, code=2)
        data = folders(tmp_path / "twice" / "code=1", "code", ["2"], ending)
        assert "two of its folders name this column" in fit(data.parent, code=2)

    def test_a_file_without_the_folder_of_a_column_is_refused(self, ending, tmp_path, fit):
        data = folders(tmp_path / "data", "code", ["1", "2"], ending)
        write(pd.DataFrame({"x": [1.0], "label": [1.0]}), data / f"a{ending}")
        assert f"a{ending}, column 'code': there is no such column" in fit(data, code=2)


FAR = [
    (pa.date32(), [2**31 - 1, -(2**31)]),
    (pa.date64(), [86_400_000 * 10**11, -86_400_000 * 10**11]),
    (pa.timestamp("s"), [2**62, -(2**63)]), (pa.timestamp("ms"), [2**62, -(2**63)]),
    (pa.timestamp("us"), [-(2**63)]), (pa.timestamp("s", "UTC"), [2**50]),
    (pa.timestamp("us", "Europe/Berlin"), [-(2**63)]),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "far"), FAR, ids=str)
@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
@pytest.mark.parametrize("as_category", [False, True])
@pytest.mark.parametrize("encoded", [False, True])
def test_dates_out_of_range_never_wrap(
    type_, far, ending, as_category, encoded, tmp_path, fit, monkeypatch
):
    """No wrapped date moves the mean of a column."""
    monkeypatch.setattr(dataset, "_BATCH_ROWS", 16)
    day = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000}.get(getattr(type_, "unit", ""), 1)
    day = 86_400_000 if type_ == pa.date64() else day
    days = [(19_000 + i) * day for i in range(60)]
    raw = pa.int32() if type_ == pa.date32() else pa.int64()
    data = tmp_path / f"data{ending}"
    options = ["--category", "when"] if as_category else []

    def saved(values):
        column = pa.array(values, raw).view(type_)
        column = column.dictionary_encode() if encoded else column
        save(pa.table({"x": range(60), "when": column, "label": ["a", "b"] * 30}), data)

    saved(days)
    _, columns = fit(data, *options)
    if not options and encoded and ending == ".arrow":
        assert len(columns["when"]["categories"]) == 60
    elif not as_category:
        assert columns["when"]["mean"].startswith("2022-02-")
    for value in far:
        if ending == ".parquet" and getattr(type_, "unit", "") == "s" and abs(value) > 2**53:
            continue  # Parquet has no seconds, and what writes it may wrap them
        try:
            saved([*days[:41], value, *days[42:]])
        except (pa.ArrowException, NotImplementedError):
            continue
        said = fit(data, *options, code=2)
        assert f"{data}, column 'when', row 42: the date " in said
        assert "is out of range" in said


def save(table, path):
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, path)
    else:
        pa.feather.write_feather(table, path)


def test_old_timestamps_of_spark_do_not_wrap(tmp_path, fit):
    path = tmp_path / "data.parquet"
    when = pa.array(np.array(["3000-01-01"] * 60, "M8[us]"))
    table = pa.table({"x": range(60), "when": when, "label": ["a", "b"] * 30})
    pa.parquet.write_table(table, path, use_deprecated_int96_timestamps=True, store_schema=False)
    _, columns = fit(path)
    assert columns["when"]["mean"] == "3000-01-01T00:00:00"


class TestFirstParts:
    """What a column holds is found by the first values in it, wherever they are."""

    @pytest.fixture
    def column(self):
        return {
            "date": (DAYS, {"kind": "date", "mean": "2024-01-30T12:00:00"}),
            "truth": (["true", "false"] * 30, {"kind": "number", "mean": 0.5}),
            "number": (np.arange(60) + 0.5, {"kind": "number", "mean": 30.0}),
            "text": (["red", "blue"] * 30, {"kind": "category", "categories": ["blue", "red"]}),
        }

    @pytest.mark.parametrize("first", ["names", "empty", "NA"])
    @pytest.mark.parametrize("kind", ["date", "truth", "number", "text"])
    @pytest.mark.parametrize("n_first", [1, 3])
    def test_columns_without_values_in_the_first_part_are_learned(
        self, n_first, kind, first, column, tmp_path, fit, capsys
    ):
        values, expected = column[kind]
        table = pd.DataFrame({"x": np.arange(60), "c": values, "label": ["a", "b"] * 30})
        folder = tmp_path / "data"
        folder.mkdir()
        for i in range(n_first):
            nothing = table[:0] if first == "names" else table.assign(c=None)[:20]
            nothing.to_csv(folder / f"{i}.csv", index=False, na_rep="NA" if first == "NA" else "")
        table.to_csv(folder / "9.csv", index=False)
        _, columns = fit(folder)
        assert {name: columns["c"][name] for name in expected} == expected
        assert columns["c"]["has_missing"] == (first != "names")
        for part in (folder, folder / "9.csv"):
            call("predict", tmp_path / "model", part, "--out", tmp_path / "o.csv", capsys=capsys)

    @pytest.mark.parametrize("kind", ["date", "truth", "number", "text"])
    def test_columns_whose_values_come_late_have_the_type_of_the_values(
        self, kind, column, tmp_path, fit, monkeypatch
    ):
        monkeypatch.setattr(csv, "_BLOCK", 2**8)
        values, expected = column[kind]
        table = pd.DataFrame({"x": np.arange(260), "label": ["a", "b"] * 130})
        table["c"] = [*[None] * 200, *values]
        table.to_csv(tmp_path / "late.csv", index=False)
        _, columns = fit(tmp_path / "late.csv")
        assert {name: columns["c"][name] for name in expected} == expected

    @pytest.mark.parametrize("values", [["a", "b"], ["true", "false"], ["1", "0"]])
    def test_a_target_that_is_empty_in_the_first_part(self, values, tmp_path, fit):
        (tmp_path / "data").mkdir()
        (tmp_path / "data/a.csv").write_text("x,label\n1,\n2,\n")
        (tmp_path / "data/b.csv").write_text(
            "x,label\n" + "".join(f"{i},{values[i % 2]}\n" for i in range(60))
        )
        said, _ = fit(tmp_path / "data")
        assert "62 rows; 2 without a target. This is classification" in said

    def test_parquet_columns_of_type_null_take_the_type_of_other_parts(self, tmp_path, fit):
        """As pandas writes a column of objects in which all is missing."""
        (tmp_path / "data").mkdir()
        table = frame(60).assign(town=None)
        write(table, tmp_path / "data/a.parquet")
        assert pa.parquet.read_schema(tmp_path / "data/a.parquet").field("town").type == pa.null()
        write(frame(60), tmp_path / "data/b.parquet")
        _, columns = fit(tmp_path / "data")
        assert columns["town"]["categories"] == ["Bonn", "Köln", "Ulm"]

    def test_a_column_without_any_value_is_left_out(self, tmp_path, fit, capsys):
        (tmp_path / "data.csv").write_text("x,c,label\n" + "1,,a\n2,NA,b\n" * 30)
        said, columns = fit(tmp_path / "data.csv")
        assert "column 'c': left out, since it is empty in all rows." in said
        assert list(columns) == ["x"]
        _, columns = fit(tmp_path / "data.csv", "--number", "c")
        assert list(columns) == ["x", "c"]
        (tmp_path / "none.csv").write_text("c,label\n" + ",a\n,b\n" * 30)
        assert "all columns except the target are empty" in fit(tmp_path / "none.csv", code=2)

    @pytest.mark.parametrize("ending", [".csv", ".parquet"])
    @pytest.mark.parametrize("without", ["a", "b"])
    def test_a_column_that_one_part_lacks_is_refused(self, without, ending, tmp_path, fit):
        """Whichever part it is: no column is passed over."""
        (tmp_path / "data").mkdir()
        for name in ("a", "b"):
            table = frame(60).drop(columns="age") if name == without else frame(60)
            write(table, tmp_path / f"data/{name}{ending}")
        said = fit(tmp_path / "data", code=2)
        assert f"data/{without}{ending}, column 'age': there is no such column" in said
        _, columns = fit(tmp_path / "data", "--drop", "age")
        assert "age" not in columns

    def test_booleans_in_one_part_and_digits_in_another(self, tmp_path, fit):
        (tmp_path / "data").mkdir()
        for name, values in (("a", ["true", "false"]), ("b", ["1", "0"])):
            table = pd.DataFrame({"c": values * 30, "label": ["x", "y"] * 30})
            table.to_csv(tmp_path / f"data/{name}.csv", index=False)
        _, columns = fit(tmp_path / "data")
        assert columns["c"]["mean"] == 0.5
        (tmp_path / "data/b.csv").rename(tmp_path / "data/0.csv")
        _, columns = fit(tmp_path / "data", "--number", "c")
        assert columns["c"]["mean"] == 0.5


class TestOptions:
    def test_dates_in_another_way_are_read_in_all_commands(self, tmp_path, fit, capsys):
        table = frame(200)
        mean = table.day.mean()
        table["day"] = table.day.dt.strftime("%d/%m/%Y")
        data = write(table, tmp_path / "data.csv")
        options = "--date", "day", "--date-format", "%d/%m/%Y"
        _, columns = fit(data, *options)
        days = (pd.Timestamp(columns["day"]["mean"]) - mean) / pd.Timedelta(1, "D")
        assert abs(days) < 1e-4
        plain = call("evaluate", tmp_path / "model", data, "--json", capsys=capsys)
        again = write(frame(200), tmp_path / "iso.parquet")
        other = call("evaluate", tmp_path / "model", again, "--json", capsys=capsys)
        assert json.loads(plain.out)["accuracy"] == json.loads(other.out)["accuracy"]
        table.loc[7, "day"] = "2024-01-01"
        data = write(table, tmp_path / "data.csv")
        said = fit(data, *options, code=2)
        assert f"{data}, column 'day', row 8: '2024-01-01'" in said
        assert "is not a date in the format '%d/%m/%Y'" in said

    @pytest.mark.parametrize(
        ("date_format", "texts", "days"),
        [
            ("%d.%m.%Y", ["31.12.9999", "01.01.0001"], [2932896, -719162]),
            ("%Y%m%d", ["20240131", "20240201"], [19753, 19754]),
            ("%d %b %y", ["01 Jan 70", "02 Feb 70"], [0, 32]),
            ("%Y-%m-%dT%H:%M:%S%z", ["1970-01-01T01:00:00+0100", "1970-01-02T00:00:00Z"], [0, 1]),
            ("%m/%d/%Y %I:%M %p", ["01/01/1970 12:00 PM", "01/02/1970 12:00 AM"], [0.5, 1]),
        ],
    )
    @pytest.mark.parametrize("ending", [".csv", ".parquet"])
    def test_dates_are_read_in_the_given_format(
        self, ending, date_format, texts, days, tmp_path, fit
    ):
        table = pd.DataFrame({"x": 1.5, "d": texts * 30, "label": ["a", "b"] * 30})
        data = write(table, tmp_path / f"data{ending}")
        fit(data, "--date", "d", "--date-format", date_format)
        assert model_of(tmp_path).columns[1].mean == pytest.approx(np.mean(days))

    @pytest.mark.parametrize("whole", [np.int32, np.int64])
    def test_dates_in_digits_are_read_in_the_given_format(self, whole, tmp_path, fit):
        days = np.array([20240131, 20240202] * 30, dtype=whole)
        data = write(pd.DataFrame({"d": days, "label": ["a", "b"] * 30}), tmp_path / "data.parquet")
        _, columns = fit(data, "--date", "d", "--date-format", "%Y%m%d")
        assert columns["d"]["mean"] == "2024-02-01T00:00:00"
        assert "column 'd': its values have the type int" in fit(data, "--date", "d", code=2)

    @pytest.mark.parametrize("text", ["31.02.2024", "1.1.24", "01.01.2024x", "x", "now"])
    def test_text_that_is_no_date_in_the_given_format_is_refused(self, text, tmp_path, fit):
        texts = ["01.02.2024"] * 59
        table = pd.DataFrame({"d": [*texts[:20], text, *texts[20:]], "label": ["a", "b"] * 30})
        data = write(table, tmp_path / "data.csv")
        said = fit(data, "--date", "d", "--date-format", "%d.%m.%Y", code=2)
        assert f"{data}, column 'd', row 21: {text!r}" in said

    @pytest.mark.parametrize("date_format", ["d.m.Y", "%Q", "%d.%m.%", "mixed", "%Y %Z", "%Y %W"])
    def test_invalid_date_formats_are_refused(self, date_format, tmp_path, fit):
        data = write(frame(60), tmp_path / "data.csv")
        said = fit(data, "--date", "day", "--date-format", date_format, code=2)
        assert "--date-format" in said
        assert "it cannot read dates" in said

    def test_options_that_contradict_each_other_are_refused(self, tmp_path, fit):
        data = write(frame(60), tmp_path / "data.csv")
        said = fit(data, "--date", "age", "--number", "age", code=2)
        assert "column 'age': --number and --date contradict each other" in said
        assert "--keep-na and --number" in fit(data, "--keep-na", "age", "--number", "age", code=2)
        assert "--date-format: no column" in fit(data, "--date-format", "%Y", code=2)
        assert "--date names a column that is not there" in fit(data, "--date", "no", code=2)

    @pytest.mark.parametrize("ending", [".csv", ".parquet"])
    def test_numbers_and_dates_in_text_are_read_if_an_option_says_so(self, ending, tmp_path, fit):
        texts = pd.DataFrame({"n": [" 07", "1e2"] * 30, "d": DAYS, "label": ["a", "b"] * 30})
        data = write(texts, tmp_path / f"data{ending}")
        _, columns = fit(data, "--number", "n", "--date", "d")
        assert columns["n"]["mean"] == 53.5
        assert columns["d"]["mean"] == "2024-01-30T12:00:00"
        texts.loc[[7, 9], ["n", "d"]] = "old", "NA"
        data = write(texts, tmp_path / f"data{ending}")
        said = fit(data, "--number", "n", code=2)
        assert f"{data}, column 'n', row 8: " in said
        assert "'old'" in said
        _, columns = fit(data, "--category", "n", "--date", "d")
        assert columns["d"]["has_missing"]

    @pytest.mark.parametrize("option", ["--number", "--date"])
    def test_an_option_that_does_not_fit_a_column_type_is_refused(self, option, tmp_path, fit):
        data = write(frame(60), tmp_path / "data.parquet")
        name = {"--number": "day", "--date": "height"}[option]
        assert f"{data}, column '{name}': its values have the type" in fit(
            data, option, name, code=2
        )

    def test_dates_with_and_without_a_time_zone_are_not_mixed(self, tmp_path, fit):
        texts = ["2024-01-01T01:00:00+01:00", "2024-01-02T00:00:00.123456789Z"] * 30
        table = pd.DataFrame({"d": texts, "label": ["a", "b"] * 30})
        for ending, options in (
            (".csv", []),
            (".csv", ["--date", "d"]),
            (".parquet", ["--date", "d"]),
        ):
            _, columns = fit(write(table, tmp_path / f"data{ending}"), *options)
            assert columns["d"]["kind"] == "zoned date"
            assert columns["d"]["mean"] == "2024-01-01T12:00:00Z"
        table.loc[40, "d"] = "2024-01-01 01:00:00"
        said = fit(write(table, tmp_path / "data.csv"), "--date", "d", code=2)
        assert "column 'd', row 41: '2024-01-01 01:00:00'" in said
        assert "is not a date with a time zone" in said

    @pytest.mark.parametrize("ending", [".csv", ".parquet"])
    def test_files_with_and_without_a_time_zone_are_not_mixed(self, ending, tmp_path, fit):
        (tmp_path / "data").mkdir()
        times = pd.date_range("2024-01-01", periods=60, freq="h")
        for name, zone in (("a", None), ("b", "UTC"), ("c", "Europe/Berlin")):
            table = pd.DataFrame({"d": times.tz_localize(zone), "label": ["a", "b"] * 30})
            write(table, tmp_path / f"data/{name}{ending}")
        said = fit(tmp_path / "data", code=2)
        row = ", row 1: '2024-01-01 00:00:00+00:00'" if ending == ".csv" else ": it"
        assert f"b{ending}, column 'd'{row}" in said
        assert "date without a time zone" in said
        (tmp_path / f"data/a{ending}").unlink()
        _, columns = fit(tmp_path / "data")
        assert columns["d"]["mean"] == "2024-01-02T05:00:00Z"


class TestPostcodes:
    @pytest.mark.parametrize("quote", ["", '"'])
    def test_leading_zeros_are_names(self, quote, tmp_path, fit, capsys):
        rows = "".join(f"{quote}{zip_}{quote},{zip_}\n" for zip_ in ["01234", "1234", "90210"] * 20)
        (tmp_path / "data.csv").write_text("zip,label\n" + rows)
        said, columns = fit(tmp_path / "data.csv", "--category", "label")
        assert "column 'zip': its numbers have leading zeros, like postcodes" in said
        assert columns["zip"]["categories"] == ["01234", "1234", "90210"]
        said, columns = fit(tmp_path / "data.csv", "--number", "zip", target="label")
        assert columns["zip"]["kind"] == "number"
        assert model_of(tmp_path).classes.tolist() == ["01234", "1234", "90210"]

    @pytest.mark.parametrize("files", [1, 3])
    def test_leading_zeros_far_down_a_file_are_found(self, files, tmp_path, fit, monkeypatch):
        monkeypatch.setattr(csv, "_BLOCK", 2**8)
        (tmp_path / "data").mkdir()
        zips = [f"{90_000 - 300 * (i // 3):05}" for i in range(900)]
        table = pd.DataFrame({"zip": zips, "label": ["a", "b"] * 450})
        for i, part in enumerate(np.array_split(np.arange(900), files)):
            table.iloc[part].to_csv(tmp_path / f"data/{i}.csv", index=False)
        _, columns = fit(tmp_path / "data")
        assert len(columns["zip"]["categories"]) == 300
        assert "00300" in columns["zip"]["categories"]

    @pytest.mark.parametrize(
        ("cells", "is_padded"),
        [
            (["0", "1"], False),
            (["0.5", "0.25"], False),
            (["007.5", "1.5"], False),
            (["0123", "1.5"], False),
            (["00", "1"], True),
            (["0123456789012345678901", "1"], True),
            (["12345678901234567890123", "1"], False),
            (["0123", ""], True),
            (["0123", "NA"], True),
            (["-1", "10"], False),
        ],
    )
    def test_cells_with_leading_zeros_are_told_from_other_numbers(self, cells, is_padded, tmp_path):
        path = tmp_path / "data.csv"
        path.write_text("c,x\n" + "".join(f"{cell},1\n" for cell in cells))
        assert Dataset(path).padded(["c", "x"]) == (["c"] if is_padded else [])

    def test_a_target_of_postcodes_has_classes(self, tmp_path, fit):
        (tmp_path / "data.csv").write_text("x,zip\n" + "1,01234\n2,90210\n" * 30)
        said, _ = fit(tmp_path / "data.csv", target="zip")
        assert "'zip' holds text" in said
        assert model_of(tmp_path).classes.tolist() == ["01234", "90210"]
        said, _ = fit(tmp_path / "data.csv", "--number", "zip", target="zip")
        assert model_of(tmp_path).classes.tolist() == [1234, 90210]


class TestNames:
    """A name may be spelled as a missing value is."""

    @pytest.mark.parametrize("quote", ["", '"'])
    def test_names_of_missing_values_are_labels_and_categories_on_request(
        self, quote, tmp_path, fit, capsys
    ):
        names = ["EU", "NA", "SA", ""]
        rows = "".join(f"{quote}{name}{quote},NA,{name}\n{i},4,NA\n" for i, name in
                       enumerate(names) for _ in range(15))  # fmt: skip
        path = tmp_path / "data.csv"
        path.write_text("c,x,label\n" + rows)
        said, _ = fit(path)
        assert "120 rows; 90 without a target" in said
        assert "column 'label': read as missing values: 'NA' in 75 rows" in said
        assert "--keep-na 'label'" in said
        said, columns = fit(path, "--keep-na", "label", "--keep-na", "c")
        assert "120 rows; 15 without a target" in said
        assert "read as missing" not in said
        assert columns["c"]["categories"] == ["0", "1", "2", "3", "EU", "NA", "SA"]
        assert columns["x"]["kind"] == "number"
        assert columns["x"]["has_missing"]
        assert model_of(tmp_path).classes.tolist() == ["EU", "NA", "SA"]
        done = call("evaluate", tmp_path / "model", path, "--json", capsys=capsys)
        assert json.loads(done.out)["rows_without_target"] == 15
        assert json.loads(done.out)["unknown_categories"] == {}

    @pytest.mark.parametrize("other", ["EU", "NA"])
    def test_the_option_is_named_where_no_classes_are_left(self, other, tmp_path, fit):
        table = pd.DataFrame({"x": np.arange(60), "label": ["NA", other] * 30})
        data = tmp_path / "data.csv"
        table.to_csv(data, index=False)
        options = ["--category", "label"] if other == "NA" else []
        said = fit(data, *options, code=2)
        assert "'NA' in " in said
        assert "--keep-na 'label'" in said
        assert ("'EU' in every row" in said) == (other == "EU")

    @pytest.mark.parametrize("name", ["NA", "null", ""])
    @pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow"])
    def test_all_formats_share_one_rule_for_names_of_missing_values(
        self, ending, name, tmp_path, fit, capsys
    ):
        table = pd.DataFrame({"c": [name, "b"] * 30, "label": ["x", "y"] * 29 + ["x", name]})
        data = write(table, tmp_path / f"data{ending}")
        said, columns = fit(data)
        assert (columns["c"]["categories"], columns["c"]["has_missing"]) == (["b"], True)
        assert ("column 'c': read as missing values: 'NA' in 30 rows" in said) == (name == "NA")
        assert "60 rows; 1 without a target" in said
        _, columns = fit(data, "--keep-na", "c")
        assert columns["c"]["categories"] == sorted({name, "b"} - {""})
        for other in (".csv", ".parquet"):
            asked = write(table, tmp_path / f"asked{other}")
            done = call("evaluate", tmp_path / "model", asked, "--json", capsys=capsys)
            scores = json.loads(done.out)
            assert (scores["accuracy"], scores["unknown_categories"]) == (1.0, {})
            assert scores["rows_without_target"] == 1
            assert model_of(tmp_path).score(table) == 1.0

    def test_the_text_none_is_a_category(self, tmp_path, fit):
        (tmp_path / "data.csv").write_text("c,label\n" + "None,a\nb,c\n" * 30)
        _, columns = fit(tmp_path / "data.csv")
        assert columns["c"]["categories"] == ["None", "b"]

    @pytest.mark.parametrize("name", ["NA", "null", ""])
    def test_models_that_know_names_of_missing_values_read_them_as_categories(
        self, name, tmp_path, capsys
    ):
        """As those that are made in Python; only a CSV file cannot tell an empty name."""
        columns = [trickless.TableColumn("c", "category", categories=sorted([name, "b"]))]
        learner = trickless.KitchenSinksClassifier("tabular", n_neurons=50, random_state=0)
        classes = np.array(sorted([name, "y"]))
        table = pd.DataFrame({"c": [name, "b"] * 30, "label": [name, "y"] * 30})
        model = trickless.TableModel(learner, columns, "label", classes).fit(table)
        trickless.save(model, tmp_path / "model")
        for ending in (".csv", ".parquet"):
            data = write(table, tmp_path / f"data{ending}")
            done = call("evaluate", tmp_path / "model", data, "--json", capsys=capsys)
            scores = json.loads(done.out)
            assert (scores["accuracy"], scores["unknown_categories"]) == (1.0, {})
            assert scores["rows"] == 60
            is_lost = ending == ".csv" and name == ""
            assert scores["rows_without_target"] == (30 if is_lost else 0)

    def test_evaluation_warns_of_names_of_missing_values(self, tmp_path, fit, capsys):
        table = pd.DataFrame({"x": [1.0, 2.0] * 30, "label": ["a", "b"] * 30})
        fit(write(table, tmp_path / "data.csv"))
        table.loc[:9, "label"] = "NA"
        data = write(table, tmp_path / "data.csv")
        done = call("evaluate", tmp_path / "model", data, "--json", capsys=capsys)
        assert json.loads(done.out)["rows_without_target"] == 10
        assert "column 'label': read as missing values: 'NA' in 10 rows" in done.err


def test_tables_in_odd_files_are_read_or_refused():
    """A sample of those that ``make fuzz-inputs`` tries."""
    fuzz_tables.fuzz(60, derandomize=True)


class TestWeights:
    """``--weight`` names a column with the weight of each row."""

    @staticmethod
    def table(n=400):
        """Two answers to each x: the second has half of the rows, and little weight."""
        x = np.arange(n) % 20
        other = np.arange(n) % 40 >= 20
        label = np.where((x > 9) ^ other, "up", "down")
        return pd.DataFrame({"x": x, "w": np.where(other, 0.25, 4.0), "label": label})

    @pytest.mark.parametrize("ending", [".csv", ".parquet"])
    def test_weights_of_rows_decide_what_is_learned_and_how_it_is_scored(
        self, ending, tmp_path, capsys
    ):
        data, out = write(self.table(), tmp_path / f"data{ending}"), tmp_path / "model"
        options = "--target", "label", "--out", out, "--validate", 0.3, "--json"
        done = call("fit", data, *options, "--weight", "w", capsys=capsys)
        about = json.loads(done.out)
        assert [column["name"] for column in about["columns"]] == ["x"]
        assert about["validation"]["accuracy"] == pytest.approx(4 / 4.25, abs=0.02)
        scored = json.loads(call("evaluate", out, data, "--json", capsys=capsys).out)
        assert scored["accuracy"] == pytest.approx(0.5)
        done = call("evaluate", out, data, "--weight", "w", "--json", capsys=capsys)
        scored = json.loads(done.out)
        assert scored["accuracy"] == pytest.approx(4 / 4.25)
        assert scored["rows"] == sum(each["rows"] for each in scored["classes"]) == 400

    def test_scores_of_numbers_are_weighted(self, tmp_path, capsys):
        table = self.table().assign(label=lambda t: np.where(t["label"] == "up", 1.5, -0.5))
        data, out = write(table, tmp_path / "data.csv"), tmp_path / "model"
        call("fit", data, "--target", "label", "--out", out, "--weight", "w", capsys=capsys)
        done = call("evaluate", out, data, "--weight", "w", "--json", capsys=capsys)
        predicted = trickless.load(out).predict(table)
        expected = r2_score(table["label"], predicted, sample_weight=table["w"])
        scored = json.loads(done.out)
        assert scored["r2"] == pytest.approx(expected)
        errors = table["label"] - predicted
        assert scored["mean_absolute_error"] == pytest.approx(
            np.average(abs(errors), weights=table["w"])
        )

    @pytest.mark.parametrize("learner", ["kitchen-sinks", "doubly-stochastic"])
    def test_a_weight_of_two_is_the_row_twice_and_of_zero_no_row(self, learner, tmp_path, capsys):
        """In means, standard deviations, categories, missing values and labels."""
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"x": rng.exponential(size=90), "town": rng.choice(["A", "B"], 90)})
        table["label"] = np.where(table.x > 1, "up", "down")
        table["w"] = np.arange(90) % 3
        table.loc[table.w == 0, ["town", "label"]] = "Z"
        table.loc[30, "x"], table.loc[60, "x"] = np.nan, 1e9
        models, options = [], ("--target", "label", "--learner", learner, "--n-neurons", 20)
        for name, rows, more in (
            ("weighted", table, ("--weight", "w")),
            ("repeated", table.loc[table.index.repeat(table.w)], ("--drop", "w")),
        ):
            data, out = write(rows, tmp_path / f"{name}.csv"), tmp_path / name
            call("fit", data, *options, *more, "--out", out, capsys=capsys)
            models.append(trickless.load(out))
        one, other = models
        for a, b in zip(one.columns, other.columns, strict=True):
            assert (a.categories, a.has_missing) == (b.categories, b.has_missing)
            assert (a.mean, a.scale) == pytest.approx((b.mean, b.scale))
        assert one.learner.classes_.tolist() == ["down", "up"]

    def test_a_weight_of_zero_in_every_row_is_refused(self, tmp_path, capsys):
        data = write(self.table(40).assign(w=0), tmp_path / "data.csv")
        options = "--target", "label", "--weight", "w", "--out", tmp_path / "model"
        assert (
            "weight 'w' is 0 in all rows" in call("fit", data, *options, code=2, capsys=capsys).err
        )

    @pytest.mark.parametrize("wrong", ["", "-1", "inf", "nan"])
    def test_a_wrong_weight_is_refused_by_its_place(self, wrong, tmp_path, capsys):
        lines = ["x,w,label", *(f"{i % 9},1,{i % 2}.5" for i in range(40))]
        lines[12] = f"3,{wrong},0.5"
        data = tmp_path / "data.csv"
        data.write_text("\n".join(lines))
        options = "--target", "label", "--weight", "w", "--out", tmp_path / "model"
        done = call("fit", data, *options, code=2, capsys=capsys)
        assert "column 'w', row 12" in done.err
        assert "Remedy" in done.err

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (("--weight", "label"), "this column is the --target"),
            (("--weight", "town"), "weights are numbers"),
            (("--weight", "missing"), "--weight names a column that is not there"),
            (("--weight", "x", "--drop", "x"), "contradict"),
            (("--weight", "x", "--learner", "shrinking-gradient"), "takes no weights"),
        ],
    )
    def test_columns_that_cannot_be_weights_are_refused(self, options, said, tmp_path, capsys):
        table = self.table().assign(town="Ulm", other=1.5)
        data = write(table, tmp_path / "data.csv")
        fixed = "--target", "label", "--out", tmp_path / "model"
        assert said in call("fit", data, *fixed, *options, code=2, capsys=capsys).err


def test_evaluating_a_table_without_the_target_advises_nothing_of_fit(tmp_path, capsys):
    data, out = write(frame(60), tmp_path / "data.csv"), tmp_path / "model"
    call("fit", data, "--target", "label", "--out", out, "--n-neurons", 9, capsys=capsys)
    bare = write(frame(60).drop(columns="label"), tmp_path / "bare.csv")
    said = call("evaluate", out, bare, code=2, capsys=capsys).err
    assert "column 'label'" in said
    assert "trickless predict" in said
    assert "--drop" not in said

"""One table as CSV, as Parquet, as Arrow and as data frames: the shell and Python answer alike."""

import tempfile
from datetime import time, timedelta
from decimal import Decimal
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import trickless
from trickless import cli
from trickless.learners.table_rows import TableRows
from trickless.neurons import Tabular
from trickless.readers.kinds import in_kind
from trickless.tables.kinds import as_numbers
from trickless.tables.parse_text import MISSING

ROWS = 120
#: Columns of two or more values, in all types that a table may have them in.
TYPES = {
    "postcodes": [["00501", "10001", "90210"], [501, 10001, 90210], [501.0, 10001.0, 90210.0]],
    "truth": [[True, False], ["True", "False"], ["TRUE", "FALSE"], [1, 0]],
    "decimals": [
        [Decimal("1.10"), Decimal("2.00"), Decimal("0.50")], [1.1, 2.0, 0.5],
        ["1.10", "2.00", "0.50"],
    ],
    "times": [
        ["2026-01-31T10:30:00", "2026-02-01T00:00:00"], ["2026-01-31 10:30", "2026-02-01"],
        pd.to_datetime(["2026-01-31T10:30:00", "2026-02-01T00:00:00"]).to_list(),
    ],
    "zoned": [
        ["2026-01-31T10:30:00Z", "2026-02-01T00:00:00Z"],
        pd.to_datetime(["2026-01-31T10:30:00Z", "2026-02-01T00:00:00Z"]).to_list(),
    ],
    "zeros": [
        [-0.0, 1.5], [0, 1.5], ["-0", "1.5"], ["0.0", "1.50"], [Decimal("0.00"), Decimal("1.5")],
    ],
    "short": [np.array([0.1, 2.5], np.float32), [0.1, 2.5], ["0.1", "2.50"]],
    "clock": [
        [time(10, 30), time(0, 0, 1)], ["10:30:00", "00:00:01"], ["10:30", "00:00:01.000000"],
    ],
    "duration": [
        [timedelta(1, 5), timedelta(-2)], ["1 day, 0:00:05", "-2 days, 0:00:00"],
        ["1 days 00:00:05", "-2 days +00:00:00"],
    ],
    "bytes": [[b"K\xc3\xb6ln", b"Ulm"], ["Köln", "Ulm"]],
    "big": [[2**60, 2**60 + 1], [str(2**60), str(2**60 + 1)]],
}  # fmt: skip
ENDINGS = ".csv", ".parquet"
PLACES = np.random.default_rng(0).integers(0, 6, ROWS)


def table_of(values):
    """A table of Arrow with a column of these values and gaps, and a target that follows it."""
    places = PLACES % len(values)
    has_gaps = not any(values is big for big in TYPES["big"])  # pandas makes floats of them
    column = [values[p] if row % 9 or not has_gaps else None for row, p in enumerate(places)]
    return pa.table({"x": column, "z": PLACES % 5, "label": np.where(places == 0, "yes", "no")})


def write(table, path):
    if path.suffix == ".csv":
        if pa.types.is_duration(table["x"].type):  # which Arrow writes as whole numbers
            texts = [None if value is None else str(value) for value in table["x"].to_pylist()]
            table = table.set_column(0, "x", pa.array(texts))
        pyarrow.csv.write_csv(table, path)
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, path)
    return path


def shell(*arguments):
    assert cli.main([str(argument) for argument in arguments]) == 0


def frames(table, folder):
    """A table in files, and in data frames that have it from files or from elsewhere."""
    folder = Path(tempfile.mkdtemp(dir=folder))
    paths = [write(table, folder / f"asked{ending}") for ending in ENDINGS]
    return paths, {
        "arrow": table,
        "pandas": table.to_pandas(),
        "categories": table.to_pandas().astype({"x": "category"}),
        "polars": pl.from_arrow(table),
        "read_csv": pd.read_csv(paths[0]),
        "read_parquet": pd.read_parquet(paths[1]),
        "pyarrow": pd.read_parquet(paths[1], dtype_backend="pyarrow"),
        "polars_csv": pl.read_csv(paths[0]),
    }


def check(asked, model, folder, expected=None):
    """The answers of a model, which the shell and Python give for all forms of the tables."""
    for paths, tables in asked:
        found = {}
        for path in paths:
            out = folder / "out.parquet"
            shell("predict", folder / "model", path, "--out", out, "--probabilities")
            found[path] = pd.read_parquet(out)["probability_yes"].to_numpy()
        for name, frame in tables.items():
            found[name] = model.predict_proba(frame)[:, 1]
        for name, answer in found.items():
            expected = answer if expected is None else expected
            np.testing.assert_array_equal(answer, expected, err_msg=f"{tables['arrow']} {name}")
    assert np.ptp(expected) > 0.5


def fitted(learned, folder, *options):
    options = [*options, "--target", "label", "--n-neurons", 8, "--out", folder / "model"]
    shell("fit", learned, *options)
    return trickless.load(folder / "model")


@pytest.mark.parametrize("name", TYPES)
def test_categories_of_all_types_get_the_same_answer(name, tmp_path):
    tables = list(map(table_of, TYPES[name]))
    asked = [frames(table, tmp_path) for table in tables]
    for table, ending in zip((tables[0], tables[-1]), ENDINGS, strict=True):
        learned = write(table, tmp_path / f"learned{ending}")
        check(asked, fitted(learned, tmp_path, "--category", "x"), tmp_path)


@pytest.mark.parametrize("name", ["truth", "decimals", "times", "zoned", "zeros"])
def test_numbers_and_dates_of_all_types_get_the_same_answer(name, tmp_path):
    tables = [table_of(values) for values in TYPES[name] if not isinstance(values[0], str)]
    asked = [frames(table, tmp_path) for table in tables]
    for table in tables:
        model = fitted(write(table, tmp_path / "learned.parquet"), tmp_path)
        assert model.columns[0].kind != "category"
        check(asked, model, tmp_path)
        expected = model.predict_proba(tables[0])
        for values in TYPES[name]:
            np.testing.assert_array_equal(model.predict_proba(table_of(values)), expected)


@pytest.mark.parametrize(
    ("date_format", "forms"),
    [
        ("%d.%m.%Y", [["31.01.2026", "01.02.2026"], [" 31.01.2026", "1.2.2026"]]),
        ("%Y%m%d", [[20260131, 20260201], [20260131.0, 20260201.0], ["20260131", "20260201"]]),
        ("%d/%m/%Y %H:%M%z", [["31/01/2026 01:00+0100", "01/02/2026 02:00+02:00"]]),
    ],
)
def test_dates_in_a_format_get_the_same_answer(date_format, forms, tmp_path):
    zone = "UTC" if "z" in date_format else None
    forms = [*forms, list(pd.to_datetime(["2026-01-31", "2026-02-01"]).tz_localize(zone))]
    tables = list(map(table_of, forms))
    asked = [frames(table, tmp_path) for table in tables[:-1]]
    for table in tables[:-1]:
        learned = write(table, tmp_path / "learned.parquet")
        model = fitted(learned, tmp_path, "--date", "x", "--date-format", date_format)
        check(asked, model, tmp_path, expected=model.predict_proba(tables[-1])[:, 1])
    with pytest.raises(ValueError, match=rf"column 'x' .* found '2026-01-3'.*{date_format}"):
        model.predict(table_of(["2026-01-3"]))


def test_a_number_that_may_be_several_texts_is_refused_everywhere(tmp_path, capsys):
    learned = table_of(["501", "00501", "7"])
    model = fitted(write(learned, tmp_path / "learned.parquet"), tmp_path)
    asked = table_of([501, 7])
    arguments = ["predict", tmp_path / "model", write(asked, tmp_path / "asked.parquet")]
    arguments += ["--out", tmp_path / "out.csv"]
    assert cli.main(list(map(str, arguments))) == 2
    assert "column 'x': the category 501 matches several known ones" in capsys.readouterr().err
    with pytest.raises(ValueError, match=r"column 'x': the category 501 matches.*Remedy"):
        model.predict(asked)


@pytest.mark.parametrize("ending", ENDINGS)
def test_times_with_a_zone_and_without_one_are_not_taken_for_each_other(ending, tmp_path, capsys):
    plain, zoned = (table_of(TYPES[name][-1]) for name in ("times", "zoned"))
    for learned, asked in ((plain, zoned), (zoned, plain)):
        model = fitted(write(learned, tmp_path / "learned.csv"), tmp_path)
        path = write(asked, tmp_path / f"asked{ending}")
        arguments = ["predict", tmp_path / "model", path, "--out", tmp_path / "out.csv"]
        capsys.readouterr()
        assert cli.main(list(map(str, arguments))) == 2
        wanted = f"date {'without' if learned is plain else 'with'} a time zone"
        where = ", row 2: " if ending == ".csv" else ": its values have the type"
        said = capsys.readouterr().err
        assert f"{path}, column 'x'{where}" in said
        assert wanted in said
        with pytest.raises(ValueError, match=r"column 'x' .* fitted to dates.*Remedy: X\['x'\] ="):
            model.predict(asked)


@pytest.mark.parametrize("ending", ENDINGS)
def test_unknown_categories_are_told_with_examples(ending, tmp_path, capsys):
    table = table_of(["Bonn", "Köln", "Ulm", "Aachen"])
    model = fitted(write(table, tmp_path / "learned.csv"), tmp_path)
    asked = table_of(["bonn", "köln", "Ulm"])
    path = write(asked, tmp_path / f"asked{ending}")
    capsys.readouterr()
    shell("predict", tmp_path / "model", path, "--out", tmp_path / "out.csv")
    n = sum(model.unknown_categories(asked)["x"].values())
    assert capsys.readouterr().err == (
        f"Warning: column 'x': {n} values are categories that the model was not fitted to, such as "
        "'bonn'. It was fitted to 'Aachen', 'Bonn', 'Köln', …\n"
    )


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
@pytest.mark.parametrize("name", ["clock", "duration", "bytes"])
def test_other_types_are_categories_where_an_option_says_it(name, ending, tmp_path, capsys):
    path = write(table_of(TYPES[name][0]), tmp_path / f"data{ending}")
    options = ["--target", "label", "--n-neurons", "9", "--out", str(tmp_path / "model")]
    assert cli.main(["fit", str(path), *options]) == 2
    assert "--drop 'x', or fit with --category 'x' if they are names." in capsys.readouterr().err


def test_nanoseconds_of_categories_are_kept_or_refused(tmp_path, capsys):
    """Python has microseconds; two times that differ by less are not one category."""
    times = np.array([0, 1], "m8[ns]")
    for values, is_read in ((times + np.datetime64("2026-01-31"), True), (times, True),
                            (pa.array([0, 1]).view(pa.time64("ns")), False)):  # fmt: skip
        column = pa.array(values).take(pa.array(PLACES % 2))
        table = pa.table({"x": column, "label": np.where(PLACES % 2, "yes", "no")})
        path = write(table, tmp_path / "data.parquet")
        options = ["--target", "label", "--n-neurons", "20", "--out", str(tmp_path / "model")]
        assert cli.main(["fit", str(path), "--category", "x", *options]) == (0 if is_read else 2)
        if is_read:
            model = trickless.load(tmp_path / "model")
            for frame in (table, table.to_pandas(), pl.from_arrow(table)):
                assert model.score(frame) == 1
            assert cli.main(["evaluate", str(tmp_path / "model"), str(path)]) == 0
            continue
        assert f"{path}, column 'x', from row 1: " in capsys.readouterr().err
        with pytest.raises(ValueError, match=r"nanoseconds.*Remedy"):
            model.predict(table)


def cells():
    """Texts that may be numbers, dates, or dates with a time zone."""
    days = "2024-01-01", "0001-01-01", "9999-12-31", "0000-01-01", "2024-02-30", "2024-1-1"
    clocks = (
        "",
        " 10",
        "T10:30",
        " 00:10:20.5",
        "T23:50:20.123456789",
        " 24:00",
        " 1:30",
        " 10:30:60",
    )
    zones = "", "Z", " UTC", "+01", " -0100", "+23:59", "+01:60", "z", " GMT", "+1:00"
    yield from map("".join, product(days, clocks, zones))
    yield from (
        "1",
        "1.",
        "+.5",
        "1e5",
        "-1E-5",
        "1e400",
        "1e151",
        "-Infinity",
        "INF",
        "nan",
        "+NaN",
    )
    yield from (
        "0x10",
        "1_000",
        "1,5",
        " 1\t",
        "1e",
        "--1",
        "TRUE",
        "false",
        "t",
        "00012",
        "1d",
        "",
    )
    yield from ("NA", " NA ", "null", "None", "n/a", "\u00a01", "\uff11", "20240101", "2024/01/01")


@pytest.mark.parametrize("kind", ["number", "date", "zoned date"])
def test_a_cell_is_the_same_in_a_file_and_in_a_frame(kind):
    rows = TableRows([trickless.TableColumn("x", kind)], Tabular())
    n_read = 0
    for cell in cells():
        try:
            in_file = as_numbers(in_kind(pa.array([cell]), kind).to_numpy(zero_copy_only=False))
        except (ValueError, pa.ArrowInvalid):
            with pytest.raises(ValueError, match="column 'x'"):
                rows.of_frame(pd.DataFrame({"x": [cell]}))
        else:
            in_frame = rows.of_frame(pd.DataFrame({"x": [cell]})).x
            np.testing.assert_array_equal(in_frame, in_file, err_msg=repr(cell))
            n_read += 1
    assert n_read > 15


def test_missing_cells_of_a_csv_file_are_those_of_arrow():
    assert set(pyarrow.csv.ConvertOptions().null_values) == MISSING

"""Cells and files that cannot be read: quotes, bytes that are no text, dates out of range."""

import re
import time

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from trickless import cli
from trickless.readers import csv_quotes, dataset, schema
from trickless.readers.dataset import Dataset
from trickless.readers.errors import CommandError

ROWS = "".join(f"{i},a{i % 2}\n" for i in range(60))


def fit(path, *options, code=2, capsys=None):
    out = str(path.parent / "model")
    arguments = ["fit", str(path), "--target", "label", "--n-neurons", "9", "--out", out]
    assert cli.main([*arguments, *map(str, options)]) == code
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert code == 0 or len(said.splitlines()) <= 2
    return said


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f'x,label\n{ROWS}5,"a\n', 62),
        (f'x,label\n{ROWS}5,"a\n{ROWS}', 62),
        (f'x,label\n{ROWS}5,"a\n{ROWS}5,"b\n{ROWS}', 62),
        (f'x,label\n{ROWS}"5,a\n{ROWS}', 62),
        (f'x,label\n{ROWS}5,"a', 62),
        (f'x,label\n{ROWS}5,"', 62),
        (f'x,label\n{ROWS}5,"a""', 62),
        (f'x,label\n{ROWS}5,"a"b\n{ROWS}', 62),
        (f'x,label\n1,"two\nlines"\n{ROWS}5,"a\n{ROWS}', 64),
        (f'"x,label\n{ROWS}', 1),
        (f'\ufeff"x","label\n{ROWS}', 1),
        (f'x,label\n1,"Smith "Bob" Jones"\n{ROWS}', 2),
    ],
)
def test_unclosed_quotes_are_refused_by_line(text, line, ending, tmp_path, capsys):
    """Everything after them would be one cell, and rows would be lost."""
    path = tmp_path / "data.csv"
    path.write_bytes(text.replace("\n", ending).encode())
    said = fit(path, capsys=capsys)
    where = f"{path}, line {line}" if ending != "\r" else f"{path}, line "
    assert f"{where}: " in said if ending != "\r" else where in said
    assert "a quote that begins a cell is" in said
    assert "Remedy: close it" in said


@pytest.mark.parametrize(
    "cells",
    ['"a"', '""', '"a""b"', '""""', 'a"b', '5" pipe', '"a,b"', '"a\nb"', '"a\n\n\nb"', '"a" ', "'a",
     '"a\r\nb"', 'a""', "“a”", '"\n"', '","'],
)  # fmt: skip
def test_closed_quotes_are_read(cells):
    for sign, size in [*((",", size) for size in (1, 2, 3, 7, 2**22)), *((s, 1) for s in ";\t|")]:
        for text in (
            f"x{sign}y\n{cells}{sign}1\n1{sign}{cells}\n",
            f"{cells}{sign}{cells}\n1{sign}{cells}",
            cells,
        ):
            data = text.replace(",", sign).encode()
            good = csv_quotes.checked("file", chunks(data, size), sign, 2**20)
            assert b"".join(good) == data


def chunks(data, size):
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1, 2, 5, 64, 2**22])
def test_quotes_are_found_however_the_file_is_read(size):
    rng = np.random.default_rng(0)
    for _ in range(300):
        text = "".join(rng.choice(list('"",\n a'), 30))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csv_quotes, "_is_simple", lambda *_: False)
            expected = outcome(text, 2**22)
        assert outcome(text, size) == expected


def outcome(text, size):
    try:
        for _ in csv_quotes.checked("file", chunks(text.encode(), size), ",", 2**20):
            pass
    except CommandError as error:
        return str(error)
    return None


def test_well_formed_text_is_checked_quickly():
    text = chunks(b'"some text","1.5","more ""text"""\n' * 300_000, 2**22)
    start = time.perf_counter()
    for _ in csv_quotes.checked("file", text, ",", 2**22):
        pass
    assert time.perf_counter() - start < 5  # a tenth of that, and quadratic were hours


@pytest.mark.parametrize(
    ("cell", "cause"),
    [
        ('"' + "z" * 10**7 + '"', "the line is longer than 4,194,304 bytes"),
        ("z" * 10**7, "the line is longer than 4,194,304 bytes"),
        ('"' + "z\n" * 10**7, "is not closed within 4,194,304 bytes"),
    ],
)
def test_cells_that_are_too_long_are_refused(cell, cause, tmp_path, capsys):
    path = tmp_path / "data.csv"
    path.write_text(f"x,label\n{ROWS}5,{cell}\n{ROWS}")
    said = fit(path, capsys=capsys)
    assert f"{path}, line 62: " in said
    assert cause in said
    assert "Remedy" in said


@pytest.mark.parametrize(
    "text", [f"x,label\n{ROWS}5,a\0\n", f"x\0,label\n{ROWS}", f"x,label\n\0{ROWS}"]
)
def test_nul_bytes_are_refused(text, tmp_path, capsys):
    """NumPy would take the labels 'a' and 'a\\0' for one."""
    path = tmp_path / "data.csv"
    for data in (text.encode(), text.encode("utf-16"), text.encode("utf-16-le")):
        path.write_bytes(data)
        assert "the file has NUL bytes, which text does not have" in fit(path, capsys=capsys)
    path = tmp_path / "data.parquet"
    pa.parquet.write_table(pa.table({"x": [1, 2], "label": ["a", "a\0"]}), path)
    assert "the labels have NUL characters, which they cannot have" in fit(path, capsys=capsys)


@pytest.mark.parametrize("kind", ["string", "dictionary", "large_string"])
@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_bytes_that_are_no_text_are_refused(kind, ending, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(dataset, "_BATCH_ROWS", 16)
    monkeypatch.setattr(schema, "_ROWS", 16)
    values = [b"a"] * 50 + [b"\xff\xfe"] + [b"b"] * 9
    text = pa.array(values, pa.large_binary() if kind == "large_string" else pa.binary())
    text = text.view(pa.large_string() if kind == "large_string" else pa.string())
    column = text.dictionary_encode() if kind == "dictionary" else text
    table = pa.table({"x": range(60), "town": column, "label": ["a", "b"] * 30})
    path = tmp_path / f"data{ending}"
    if ending == ".parquet":
        pa.parquet.write_table(table, path)
    else:
        pa.feather.write_feather(table, path)
    said = fit(path, capsys=capsys)
    assert re.search(r"column 'town', (from )?row \d+: the text is not valid UTF-8. R", said)
    if kind != "dictionary":
        assert "row 51:" in said


BIG = 2**62
TYPES = [
    (pa.timestamp("s"), BIG), (pa.timestamp("s"), -BIG), (pa.timestamp("s"), 2**50),
    (pa.timestamp("ms"), BIG), (pa.timestamp("us"), BIG), (pa.timestamp("us"), -BIG),
    (pa.timestamp("us", "Europe/Berlin"), BIG), (pa.timestamp("us", "No/Where"), 0),
    (pa.timestamp("us", "+99:99"), 0), (pa.date32(), 2**31 - 1), (pa.date32(), -(2**31)),
    (pa.date64(), BIG), (pa.duration("s"), BIG), (pa.duration("us"), 1), (pa.time64("us"), BIG),
    (pa.time32("s"), 2**31 - 1), (pa.decimal128(38), 0), (pa.float16(), 0),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "value"), TYPES, ids=str)
@pytest.mark.parametrize(
    ("as_", "ending"),
    [
        ("date", ".parquet"),
        ("category", ".feather"),
        ("dictionary", ".feather"),
        ("target", ".parquet"),
    ],
)
def test_values_that_python_cannot_hold_are_refused_or_read_exactly(
    type_, value, ending, as_, tmp_path, capsys
):
    """Each is refused with a place, or read as it is."""
    if pa.types.is_decimal(type_) or pa.types.is_float16(type_):
        column = pa.array([1, 2, 3] * 20).cast(pa.float32()).cast(type_)
    else:
        bits = pa.int64() if type_.bit_width == 64 else pa.int32()
        column = pa.array([value, 0, 7] * 20, bits).view(type_)
    try:
        column = column.dictionary_encode() if as_ == "dictionary" else column
        name = "label" if as_ == "target" else "when"
        table = pa.table({"x": range(60), "label": ["a", "b"] * 30} | {name: column})
        path = tmp_path / f"data{ending}"
        if ending == ".parquet":
            pa.parquet.write_table(table, path)
        else:
            pa.feather.write_feather(table, path)
    except (pa.ArrowException, NotImplementedError):
        pytest.skip("cannot be written")
    options = [] if as_ in ("date", "dictionary") else ["--category", name]
    out = ["--target", "label", "--n-neurons", "9", "--out", str(tmp_path / "model")]
    code = cli.main(["fit", str(path), *out, *options])
    said = capsys.readouterr().err
    assert code in (0, 2), said
    assert "Traceback" not in said
    if code:
        assert f"{path}, column '{name}'" in said
        assert "Remedy" in said
        return
    out = ["--out", str(tmp_path / "out.csv")]
    assert cli.main(["predict", str(tmp_path / "model"), str(path), *out]) in (0, 2)
    assert cli.main(["evaluate", str(tmp_path / "model"), str(path)]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err
    read = Dataset(path)
    kind = read.kind(name) if as_ == "date" else "category"
    if as_ == "date" and read.types[name] == column.type and pa.types.is_timestamp(type_):
        (batch,) = read.batches({name: kind})
        assert batch.data[name][0].value == value


@pytest.mark.parametrize("option", ["--n-neurons", "--seed"])
@pytest.mark.parametrize(
    "value", ["1" + "0" * 30, str(2**64), "9" * 5000, "-1", "1e3", "nan", "", "٣x"]
)
@pytest.mark.parametrize("learner", ["kitchen-sinks", "doubly-stochastic", "shrinking-gradient"])
def test_number_options_must_be_positive(option, value, learner, tmp_path, capsys):
    path = tmp_path / "data.csv"
    path.write_text(f"x,label\n{ROWS}")
    said = fit(path, option, value, "--learner", learner, capsys=capsys)
    assert f"Invalid value for '{option}'" in said
    assert "Remedy: see trickless fit --help" in said


def test_an_empty_file_is_refused(tmp_path, capsys):
    path = tmp_path / "data.csv"
    for text in ("", "\ufeff", "x,label"):
        path.write_text(text)
        assert f"{path}: there are no names, or no rows. Remedy" in fit(path, capsys=capsys)

"""CSV files in other encodings, and files that are no CSV files at all."""

import bz2
import gzip
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import trickless
from table_files import frame, write
from trickless import cli
from trickless.readers import csv_file


def fit(data, out, *options, code=0):
    fixed = "--target", "label", "--learner", "kitchen-sinks", "--n-neurons", "9"
    assert cli.main(["fit", str(data), *fixed, "--out", str(out), "--json", *options]) == code
    return out


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A table, and a model of it in UTF-8."""
    folder = tmp_path_factory.mktemp("plain")
    table = frame(150).rename(columns={"town": "Ört \U0001f600"})
    return table, fit(write(table, folder / "plain.csv"), folder / "model")


@pytest.mark.parametrize("chunk", [7, 2**16])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize(("ending", "sign"), [(".tsv", "\t"), (".csv", "\t"), (".csv.gz", ";")])
def test_the_encoding_of_a_file_changes_no_model(
    ending, sign, encoding, chunk, plain, tmp_path, monkeypatch
):
    """Spreadsheets write UTF-16 with tabs as 'Unicode text'."""
    monkeypatch.setattr(csv_file, "_CHUNK", chunk)
    table, model = plain
    text = table.to_csv(index=False, sep=sign, decimal=",", lineterminator="\r\n")
    other = tmp_path / f"other{ending}"
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    data = (mark + text).encode(encoding)
    other.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    models = [trickless.load(path) for path in (model, fit(other, tmp_path / "model"))]
    assert models[0].columns == models[1].columns
    np.testing.assert_array_equal(*(model.predict(table) for model in models))


def test_utf_16_without_a_mark_is_named(tmp_path, capsys):
    path = tmp_path / "data.csv"
    path.write_bytes(frame(60).to_csv(index=False).encode("utf-16-le"))
    fit(path, tmp_path / "model", code=2)
    assert "UTF-16 is read only if the file begins with its mark" in capsys.readouterr().err


def test_a_row_of_utf_16_that_is_wrong_is_named(tmp_path, capsys):
    rows = [f"{i}\ta" for i in range(60)]
    path = tmp_path / "data.csv"
    for row, said in (("x\ta", "column 'x', row 31: "), ("1\ta\tb", "row 31: Expected 2 columns")):
        path.write_text("\n".join(["x\tlabel", *rows[:30], row, *rows]), encoding="utf-16")
        fit(path, tmp_path / "model", "--number", "x", code=2)
        assert said in capsys.readouterr().err
    path.write_bytes(path.read_bytes()[:-1])
    fit(path, tmp_path / "model", code=2)
    assert "the text is not valid UTF-16. Remedy" in capsys.readouterr().err


FORMATS = {
    "gzip": (lambda data: gzip.compress(data), ".csv.gz"),
    "bzip2": (lambda data: bz2.compress(data), ".csv.bz2"),
    "Parquet": (lambda data: frame(60).to_parquet(), ".parquet"),
    "ZIP": (lambda data: b"PK\x03\x04" + bytes(30), "as CSV"),
}


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
def test_other_formats_under_the_name_of_csv_are_refused(format_, ending, tmp_path, capsys):
    """The message names the format, and has no bytes of the file."""
    made, remedy = FORMATS[format_]
    data = made(b"x,label\n1,a\n2,b\n")
    path = tmp_path / f"data{ending}"
    path.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    fit(path, tmp_path / "model", code=2)
    said = capsys.readouterr()
    assert said.out == ""
    assert f"{path}: its name is that of a CSV file, but its content is {format_}" in said.err
    assert remedy in said.err
    assert said.err.isascii()
    assert "\\x" not in said.err


@pytest.mark.parametrize("name", ["PAR1", "ARROW1", "Obj", "%PDF-", "BZh", "FEA1"])
def test_column_names_that_begin_like_other_formats_are_read(name, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(f"{name},label\n" + "1,a\n2,b\n" * 30)
    model = trickless.load(fit(path, tmp_path / "model"))
    assert [column.name for column in model.columns] == [name]


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".csv.gz"])
def test_csv_files_under_other_names_are_refused(ending, tmp_path, capsys):
    path = tmp_path / f"data{ending}"
    path.write_bytes("Größe,label\n1,a\n2,b\n".encode())
    fit(path, tmp_path / "model", code=2)
    said = capsys.readouterr().err
    assert "its ending names its format" in said
    assert "\ufffd" not in said


@pytest.mark.parametrize(
    "text", ["x,label\n1,a\n2,\xff\n", "\xff,label\n1,a\n", "x,label\n\xff,a\n"]
)
def test_latin_1_is_refused_with_a_remedy(text, tmp_path, capsys):
    path = tmp_path / "data.csv"
    path.write_bytes(text.encode("latin-1"))
    fit(path, tmp_path / "model", code=2)
    assert "the text is not valid UTF-8. Remedy: save" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["pipe", "link", "descriptor"])
@pytest.mark.parametrize("command", ["fit", "predict", "evaluate"])
def test_pipes_are_refused_at_once(command, kind, plain, tmp_path, capsys):
    model, pipe = plain[1], tmp_path / "pipe.csv"
    if kind == "descriptor":
        reader, writer = os.pipe()
        pipe = f"/dev/fd/{reader}"
    else:
        os.mkfifo(tmp_path / "fifo")
        pipe.symlink_to(tmp_path / "fifo") if kind == "link" else os.mkfifo(pipe)
    out = ["--out", str(tmp_path / "out.csv")]
    first = {"fit": [], "predict": [str(model)], "evaluate": [str(model)]}[command]
    rest = {"fit": ["--target", "label", *out], "predict": out, "evaluate": []}[command]
    assert cli.main([command, *first, str(pipe), *rest]) == 2
    said = capsys.readouterr().err
    assert "it is not a file but a device, pipe or socket, but a table is read twice" in said
    assert "Remedy: write the table to a file" in said
    if kind == "descriptor":
        os.close(reader)
        os.close(writer)


def test_names_beyond_ascii_in_the_locale_c(tmp_path):
    folder = tmp_path / "Straße=ö"
    folder.mkdir()
    table = frame(60).rename(columns={"label": "Größe", "town": "Ört"})
    data = write(table, folder / "Köln.csv")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHONIO"))}
    elsewhere = tmp_path.with_name(f"{tmp_path.name}ö")
    elsewhere.mkdir()
    model, out = elsewhere / "mödel", elsewhere / "aus\U0001f600.csv"

    def run(command, *arguments):
        line = [sys.executable, "-m", "trickless.cli", command, *map(str, arguments)]
        line = [part.encode() for part in line]
        done = subprocess.run(line, capture_output=True, env=env | {"LC_ALL": "C"}, check=False)
        assert done.returncode == 0, done.stderr
        return done

    options = "--target", "Größe", "--category", "Ört", "--learner", "kitchen-sinks"
    options += "--n-neurons", 9
    done = run("fit", tmp_path, *options, "--out", model, "--json")
    about = json.loads(done.stdout)
    assert (about["target"], about["model"]) == ("Größe", str(model))
    assert "Straße" in [column["name"] for column in about["columns"]]
    run("predict", model, data.parent.parent, "--keep", "Ört", "--out", out)
    assert list(pd.read_csv(out)) == ["Ört", "prediction"]

"""What is printed: JSON whatever the encoding, and no text that a terminal would obey."""

import io
import json
import os
import subprocess
import sys
import unicodedata

import numpy as np
import pandas as pd
import pytest

from table_files import frame, write
from trickless import _cli as cli
from trickless._cli import screen

#: Escape, C1, carriage return, bell, bidi override, line separator, tag, markup of rich, a smiley.
NASTY = "\x1b[31m\x9b2J\r\a\u202e\u2028\U000e0041\x7f[red]é\U0001f600"
ENCODINGS = {
    "utf-8": {"PYTHONIOENCODING": "utf-8"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    """A folder with a table, of which names and labels are nasty, and a model of it."""
    folder = tmp_path_factory.mktemp("nasty") / "\x1b[32mé\U0001f600"
    folder.mkdir()
    table = pd.DataFrame({NASTY: np.arange(60.0), f"town{NASTY}": [NASTY, "b", "c"] * 20})
    table["y"] = [f"yes{NASTY}", "no"] * 30
    data = write(table, folder / "data.parquet")
    options = ["--target", "y", "--n-neurons", "9", "--out", str(folder / "model")]
    assert cli.main(["fit", str(data), *options]) == 0
    write(table.assign(**{f"town{NASTY}": f"new{NASTY}"}), folder / "new.parquet")
    return folder


def commands(folder):
    model, data = str(folder / "model"), str(folder / "new.parquet")
    return [
        ["describe", model],
        ["evaluate", model, data, "--target", "y"],
        ["predict", model, data, "--out", str(folder / "out.csv")],
        ["fit", data, "--target", "y", "--n-neurons", "9", "--out", str(folder / "again")],
    ]


def is_safe(text):
    unsafe = {"Cc", "Zl", "Zp", "Cs"}
    return not any(
        (unicodedata.category(c) in unsafe and c != "\n") or c in "\u202e\U000e0041" for c in text
    )


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_json_is_json_whatever_the_encoding(encoding, nasty):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHONIO"))}
    command = [sys.executable, "-m", "trickless", *commands(nasty)[0], "--json"]
    done = subprocess.run(command, capture_output=True, env=env | ENCODINGS[encoding], check=True)
    about = json.loads(done.stdout)
    assert about["classes"] == ["no", f"yes{NASTY}"]
    assert about["columns"][0]["name"] == NASTY
    assert done.stdout.isascii()
    assert is_safe(done.stdout.decode())


@pytest.mark.parametrize(
    ("number", "json_", "encoding"),
    [
        *((number, json_, "ascii") for number in range(4) for json_ in (True, False)),
        *((number, False, "utf-8") for number in range(4)),
        *((0, True, encoding) for encoding in ("latin-1", "cp1252", "utf-16")),
    ],
)
def test_no_command_prints_what_a_terminal_obeys(number, json_, encoding, nasty, monkeypatch):
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding) for _ in range(2))
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    err.reconfigure(errors="backslashreplace")
    assert cli.main([*commands(nasty)[number], *(["--json"] if json_ else [])]) == 0
    out.seek(0)
    err.flush()
    printed, said = out.read(), err.buffer.getvalue().decode(encoding)
    assert is_safe(printed)
    assert is_safe(said)
    if json_:
        assert "\U0001f600" in json.dumps(json.loads(printed), ensure_ascii=False)
    if number == 0 and not json_:
        assert "[red]" in printed.replace("\n", "")


def test_errors_and_warnings_show_no_escapes(nasty, capsys):
    data, model = nasty / "data.parquet", nasty / "model"
    write(frame(10), nasty / "other.csv")
    (nasty / f"a{NASTY}".replace("/", "")).touch()
    for command in (
        ["fit", str(data), "--target", NASTY, "--drop", f"x{NASTY}", "--out", str(nasty / "o")],
        ["fit", str(data), "--target", "y", "--out", str(nasty / NASTY / "o")],
        ["fit", str(nasty), "--target", "y", "--out", str(nasty / "o")],
        ["fit", NASTY, "--target", "y", "--out", "o"],
        ["predict", str(model), str(nasty / "other.csv"), "--out", str(nasty / "o.csv")],
        ["describe", str(data)],
        ["describe", NASTY],
        [NASTY],
        ["fit", f"--{NASTY}"],
        ["fit", str(data), "--target", "y", "--out", "o", "--learner", NASTY],
        ["fit", str(data), "--target", "y", "--out", "o", "--n-neurons", NASTY],
        ["fit", str(data), "--target", "y", "--out", "o", "--neurons", NASTY],
    ):
        assert cli.main(command) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert "Remedy" in said.err
        assert is_safe(said.err), command


def test_file_names_that_are_no_text_are_shown_escaped(tmp_path, capsys):
    data = write(frame(60), tmp_path / "data.csv")
    model = tmp_path / os.fsdecode(b"\xff\xfe")
    options = ["--target", "label", "--n-neurons", "9", "--json", "--out", str(model)]
    assert cli.main(["fit", str(data), *options]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == str(model)
    assert cli.main(["describe", str(model), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == str(model)
    odd = tmp_path / os.fsdecode(b"a\xff.csv")
    odd.write_bytes(data.read_bytes())
    assert cli.main(["fit", str(odd), *options]) == 2
    said = capsys.readouterr().err
    assert "\\udcff.csv: it cannot be read" in said
    assert "Remedy" in said


@pytest.mark.parametrize(
    "text",
    [
        "Köln",
        "日本語",
        "नमस्ते",
        "نامه‌ای",
        "👩‍👩‍👧",
        "a b",
        "‘quoted’",
        "5 µm ± 1",
        "[bold]x[/bold]",
        ":smile:",
    ],
)
def test_text_of_all_scripts_stays_as_it_is(text):
    assert screen.visible(text) == text


def test_numbers_that_json_lacks_are_null(capsys):
    screen.result({"a": [float("nan"), {"b": float("inf")}], "c": 1.5}, True)
    assert json.loads(capsys.readouterr().out) == {"a": [None, {"b": None}], "c": 1.5}


def test_a_message_is_one_line(capsys):
    screen.say("first\r\n  second\x0bthird")
    assert capsys.readouterr().err == "first second\\x0bthird\n"

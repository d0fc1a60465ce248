"""What the command line says of bad input, and what it leaves behind: no traceback, exit code 2."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import trickless
from table_files import frame, write
from trickless import KitchenSinksRegressor, NeuronStream, cli
from trickless.cli import learn, output
from trickless.cli.app import app
from trickless.readers import csv_file as csv
from trickless.readers import dataset, profile


def refused(*arguments):
    """What is said of bad input."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr.replace("\n", " ")


@pytest.fixture
def folder(tmp_path):
    write(frame(), tmp_path / "data.csv")
    write(frame(), tmp_path / "data.parquet")
    return tmp_path


@pytest.fixture
def model(folder):
    path = folder / "model.trickless"
    options = ["--target", "label", "--drop", "price", "--n-neurons", "20", "--out", str(path)]
    done = CliRunner().invoke(app, ["fit", str(folder / "data.csv"), *options])
    assert done.exit_code == 0
    return path


def fit(data, *options, target="label"):
    out = data.parent / "new.trickless"
    said = refused("fit", data, "--target", target, "--out", out, *options)
    assert not list(data.parent.glob("*new.trickless*"))
    return said


def test_a_late_cell_is_told_with_its_row(folder, monkeypatch):
    """Threads of the reader do not know the row, and a second look without them does."""
    monkeypatch.setattr(csv, "_BLOCK", 2**12)
    data, lines = folder / "late.csv", [f"{i},{i % 2}" for i in range(5000)]
    for cell, cause in (("oops,1", "column 'x', row 4,001: .*'oops'"), ("7", "row 4,001: .*got 1")):
        lines[4000] = cell
        data.write_text("\n".join(["x,y", *lines]))
        assert re.search(rf"late.csv, {cause}.*Remedy", fit(data, target="y"))


def test_a_full_disk_is_told_with_the_name_of_the_file(folder, model, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    out = folder / "out.csv"
    said = refused("predict", model, folder / "data.csv", "--out", out)
    assert re.search(
        r"--out: \S*out.csv' cannot be written \(No space left.*Remedy: free some space", said
    )
    said = fit(folder / "data.csv", "--n-neurons", "9")
    assert re.search(r"new.trickless' cannot be written \(No space.*Remedy: free some space", said)


def test_wrong_names_of_columns_are_refused(folder):
    data = folder / "data.csv"
    said = fit(data, target="lable")
    assert f"{data}, column 'lable': --target names a column that is not there" in said
    assert "'age', 'height', 'town'" in said
    assert "--drop names" in fit(data, "--drop", "nothing")
    assert "--category names" in fit(data, "--category", "nothing")
    (folder / "one.csv").write_text("label\na\nb\n")
    assert "the target is the only column" in fit(folder / "one.csv")
    (folder / "two.csv").write_text("x,x,label\n1,2,a\n")
    said = fit(folder / "two.csv")
    assert "two.csv, column 'x': there are two columns of this name. Remedy" in said


def test_unreadable_files_are_refused_by_name(folder):
    assert "no such file or folder" in fit(folder / "nothing.csv")
    (folder / "data.xlsx").touch()
    assert "this ending is not a format of tables" in fit(folder / "data.xlsx")
    (folder / "junk.parquet").write_text("junk")
    assert "junk.parquet: it cannot be read" in fit(folder / "junk.parquet")
    whole = (folder / "data.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(whole[:100] + bytes(500) + whole[600:])
    assert "cut.parquet" in fit(folder / "cut.parquet")
    (folder / "empty.csv").touch()
    assert "empty.csv" in fit(folder / "empty.csv")
    (folder / "inside").mkdir()
    assert "no table in this folder" in fit(folder / "inside")
    write(frame(), folder / "inside/a.csv")
    write(frame(), folder / "inside/b.parquet")
    assert "different formats" in fit(folder / "inside")


def test_tables_that_are_packed_in_other_ways_are_not_passed_over(folder):
    (folder / "inside").mkdir()
    write(frame(), folder / "inside/a.csv")
    (folder / "inside/b.csv.zst").touch()
    said = fit(folder / "inside")
    assert f"{folder / 'inside/b.csv.zst'}: this table is compressed in a way that" in said


def test_labels_that_double_precision_makes_equal_are_refused_unless_categories(folder):
    values = 2**53 + np.arange(30) % 3
    path = folder / "large.parquet"
    pd.DataFrame({"x": np.arange(30.0), "label": values}).to_parquet(path)
    assert "beyond 9,007,199,254,740,992" in fit(path)
    options = ["--target", "label", "--category", "label", "--out", str(folder / "new.trickless")]
    done = CliRunner().invoke(app, ["fit", str(path), *options, "--n-neurons", "20", "--json"])
    assert json.loads(done.stdout)["classes"] == [str(2**53 + i) for i in range(3)]


def test_a_target_that_never_changes_can_be_regressed_on(folder):
    pd.DataFrame({"x": np.arange(30.0), "y": 2.5}).to_csv(folder / "same.csv", index=False)
    options = ["--target", "y", "--learner", "shrinking-gradient", "--out", str(folder / "m")]
    done = CliRunner().invoke(app, ["fit", str(folder / "same.csv"), *options])
    assert done.exit_code == 0, done.output


def test_models_too_large_for_the_memory_are_refused(folder):
    many = "--n-neurons", str(10**8), "--learner"
    assert "memory is too small" in fit(folder / "data.csv", *many, "kitchen-sinks")
    many = "--n-neurons", str(10**9), "--learner"
    assert "GiB of coefficients" in fit(folder / "data.csv", *many, "doubly-stochastic")


def test_tables_without_rows_or_classes_are_refused(folder):
    (folder / "names.csv").write_text("x,label\n")
    assert "there are no rows" in fit(folder / "names.csv")
    (folder / "gaps.csv").write_text("x,label\n1,\n2,\n")
    assert "the target 'label' is missing in all" in fit(folder / "gaps.csv")
    (folder / "same.csv").write_text("x,label\n1,a\n2,a\n")
    assert "'label' is 'a' in every row" in fit(folder / "same.csv")


@pytest.mark.parametrize("file", ["text.csv", "text.tsv"])
def test_a_cell_of_another_type_is_named(folder, file, monkeypatch):
    monkeypatch.setattr(csv, "_BLOCK", 4096)
    table = frame(n=2000)
    table["height"] = table["height"].astype(object)
    table.loc[1500, "height"] = "tall"
    table.to_csv(folder / file, index=False, sep="," if file.endswith("csv") else "\t")
    said = fit(folder / file)
    assert f"{folder / file}, column 'height', row 1,501: 'tall' is not a number" in said


def test_a_few_strings_among_numbers_are_no_categories(folder):
    """However early they come, in the target as well, and unless they are said to be names."""
    table, path = frame(), folder / "some.csv"
    table["height"] = table["height"].astype(object)
    table.loc[[7, 9], "height"] = "tall"
    table.to_csv(path, index=False)
    for target in ("label", "height"):
        said = fit(path, target=target)
        assert f"{path}, column 'height', row 8: 'tall' is not a number or date" in said
        assert "--category 'height'" in said
    out = folder / "named.trickless"
    options = ["--target", "label", "--category", "height", "--n-neurons", "9", "--out", str(out)]
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        done = CliRunner().invoke(app, ["fit", str(path), *options])
    assert done.exit_code == 0
    assert "in column 'height' of X occur once or twice only" in done.output


@pytest.mark.parametrize(
    "write", ["{:,.0f}", "({:.1f} %)", "${:,.0f}", "{:02.0f}/01/2026", "1.{:.0f}.26"]
)
def test_numbers_and_dates_that_cannot_be_read_are_no_categories(folder, write):
    path = folder / "some.csv"
    scale = 10_000 if "," in write else 1
    texts = [write.format(scale * (i % 12 + 1)) for i in range(30)]
    pd.DataFrame({"x": texts, "label": np.arange(30) / 7}).to_csv(path, index=False)
    said = fit(path)
    assert f"{path}, column 'x', row " in said
    assert "looks like a number or a date, but cannot be read as one" in said


def test_names_with_digits_are_categories(folder):
    names = [f"{sign}{i}" for i in range(12) for sign in ("A", "", "no. ", "4-")]
    table = pd.DataFrame({"x": names, "label": np.arange(48) / 7})
    table.to_csv(folder / "some.csv", index=False)
    options = ["--target", "label", "--out", str(folder / "named.trickless")]
    done = CliRunner().invoke(app, ["fit", str(folder / "some.csv"), *options])
    assert done.exit_code == 0, done.output


def test_lines_of_another_length_and_bytes_that_are_no_text_are_refused(folder):
    path = folder / "long.csv"
    path.write_text("x,label\n1,a\n2,b,c\n")
    assert f"{path}, row 2: Expected 2 columns, got 3" in fit(path)
    path.write_bytes(b"x,label\n1,a\n2,\xff\xfe\n")
    said = f"{path}, column 'label', row 2: the text is not valid UTF-8. Remedy: save"
    assert said in fit(path)
    path.write_bytes("Größe,label\n1,a\n2,b\n".encode("cp1252"))
    assert f"{path}: the text is not valid UTF-8. Remedy: save" in fit(path)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_infinite_numbers_are_refused_by_row(folder, ending, monkeypatch):
    monkeypatch.setattr(dataset, "_BATCH_ROWS", 10)
    table = frame()
    table.loc[41, "height"] = -np.inf
    data = write(table, folder / f"infinite{ending}")
    assert f"{data}, column 'height', row 42: the number -inf is too large" in fit(data)


def test_more_categories_than_a_model_holds_are_refused(folder, monkeypatch):
    table = frame(3000).assign(town=[f"n{i}" for i in range(3000)])
    data = write(table, folder / "many.parquet")
    monkeypatch.setattr(learn, "_MOST_TEXT", 2**14)
    said = fit(data)
    assert "column 'town': the category names of all columns are" in said
    assert "Remedy: leave this column out with --drop 'town'" in said


def test_files_of_different_delimiters_are_refused(folder):
    inside = folder / "inside"
    inside.mkdir()
    write(frame(), inside / "a.csv")
    frame().to_csv(inside / "b.csv", index=False, sep=";")
    said = fit(inside)
    assert f"{inside / 'b.csv'}: its columns are separated by ';', but the columns of" in said
    assert "Remedy: use one separator in all files of a folder" in said


def test_a_pipe_is_no_place_for_an_output(folder):
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    said = refused("fit", folder / "data.csv", "--target", "label", "--out", pipe)
    assert f"--out: {str(pipe)!r} is not a file but a device, pipe or socket. Remedy" in said
    assert pipe.is_fifo()


def test_a_column_of_another_type_in_the_second_file_is_refused(folder):
    inside = folder / "inside"
    inside.mkdir()
    write(frame(), inside / "a.parquet")
    second = write(frame().assign(age="old"), inside / "b.parquet")
    said = fit(inside)
    assert f"{second}, column 'age', row 1: 'old' is not a number" in said
    write(frame().assign(age=[[1]] * 600), inside / "b.parquet")
    said = fit(inside)
    assert f"{second}, column 'age': its values have the type list" in said
    assert "but a number is needed" in said
    write(frame().drop(columns="age"), inside / "b.parquet")
    assert f"{second}, column 'age': there is no such column" in fit(inside)
    for file in inside.iterdir():
        file.unlink()
    write(frame(), inside / "a.csv")
    write(frame().assign(age="old"), inside / "b.csv")
    assert f"{inside / 'b.csv'}, column 'age', row 1: 'old' is not a number" in fit(inside)


def test_numbers_of_one_kind_may_have_several_types(folder):
    inside = folder / "inside"
    inside.mkdir()
    for name, type_ in (("a", np.int32), ("b", np.float64), ("c", np.uint8)):
        write(frame().assign(age=frame().age.astype(type_)), inside / f"{name}.parquet")
    options = ["--target", "label", "--n-neurons", "10", "--out", str(folder / "m"), "--json"]
    done = CliRunner().invoke(app, ["fit", str(inside), *options])
    assert json.loads(done.stdout)["rows"] == 1800


def test_column_types_that_nothing_can_be_learned_from_are_refused(folder, monkeypatch):
    path = folder / "lists.parquet"
    pa.parquet.write_table(pa.table({"x": [1, 2], "l": [[1], [2]], "label": ["a", "b"]}), path)
    assert "column 'l': its values have the type list" in fit(path)
    assert "the target has the type" in fit(path, target="l")
    monkeypatch.setattr(profile, "_MOST_CATEGORIES", 2)
    said = fit(folder / "data.csv")
    assert "column 'town': there are more than 2 different texts" in said
    assert "--drop 'town'" in said


def test_targets_that_do_not_suit_the_task_are_refused(folder, monkeypatch):
    data = folder / "data.csv"
    assert "the target has the type date32" in fit(data, target="day")
    assert "'label' holds text" in fit(data, "--task", "regression")
    assert "holds fractions" in fit(data, "--task", "classification", target="height")
    monkeypatch.setattr(profile, "MOST_LABELS", 1)
    assert "too many for classes" in fit(data)


def test_wrong_options_are_refused_with_a_remedy(folder):
    data = folder / "data.csv"
    assert "neurons='gausian' is not the name of a family. Remedy: 'gaussian'" in fit(
        data, "--neurons", "gausian"
    )
    for options in (["--n-neurons", "0"], ["--learner", "boosting"], ["--task", "ranking"]):
        assert options[0] in fit(data, *options)
    assert "Missing" in refused("fit", data)
    assert "No such command" in refused("guess")


@pytest.mark.parametrize("place", ["missing/out.csv", "folder.csv", "model.trickless", "data.csv"])
def test_outputs_that_cannot_be_written_are_refused(model, place):
    folder = model.parent
    (folder / "folder.csv").mkdir()
    before = (folder / "data.csv").read_bytes(), model.read_bytes()
    if place != "model.trickless":
        said = refused("predict", model, folder / "data.csv", "--out", folder / place)
        assert "--out" in said
        assert str(folder / place) in said or "there is no folder" in said
    if place != "model.trickless":
        data = folder / "data.csv"
        assert "--out" in refused("fit", data, "--target", "label", "--out", folder / place)
    assert "does not name a format of tables" in refused(
        "predict", model, folder / "data.csv", "--out", folder / "out.xlsx"
    )
    assert before == ((folder / "data.csv").read_bytes(), model.read_bytes())


@pytest.mark.parametrize("command", ["predict", "evaluate", "describe"])
def test_files_that_are_no_models_are_refused(command, folder):
    rest = [] if command == "describe" else [folder / "data.csv"]
    rest += ["--out", folder / "out.csv"] if command == "predict" else []
    assert "there is no such file" in refused(command, folder / "nothing", *rest)
    assert "not a file of trickless.save" in refused(command, folder / "data.csv", *rest)
    trickless.save(KitchenSinksRegressor(), folder / "bare")
    if command != "describe":
        assert "it holds a KitchenSinksRegressor" in refused(command, folder / "bare", *rest)


def test_tables_that_do_not_suit_the_model_are_refused(model):
    folder = model.parent
    out = folder / "out.csv"
    data = write(frame().drop(columns="town"), folder / "other.csv")
    said = refused("predict", model, data, "--out", out)
    assert f"{data}, column 'town': there is no such column" in said
    data = write(frame().drop(columns="label"), folder / "other.csv")
    assert f"{data}, column 'label': the table has no column of this name" in refused(
        "evaluate", model, data
    )
    data = write(frame().assign(label=None), folder / "other.csv")
    assert "no row has a value in the target 'label'" in refused("evaluate", model, data)
    table = frame().astype({"age": object})
    table.loc[17, "age"] = "old"
    data = write(table, folder / "other.csv")
    said = refused("predict", model, data, "--out", out)
    assert f"{data}, column 'age', row 18: 'old' is not a number" in said
    assert not out.exists()
    regressor = folder / "regressor"
    done = ["--target", "price", "--n-neurons", "10", "--out", str(regressor)]
    CliRunner().invoke(app, ["fit", str(folder / "data.csv"), *done])
    said = refused("predict", regressor, folder / "data.csv", "--out", out, "--probabilities")
    assert "--probabilities: this model has none" in said


@pytest.mark.parametrize("ending", list(output._WRITERS))
@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, ValueError])
def test_an_output_that_is_half_written_replaces_nothing(model, ending, interrupt, monkeypatch):
    folder = model.parent
    out = folder / f"out{ending}"
    out.write_text("good")
    monkeypatch.setattr(dataset, "_BATCH_ROWS", 100)
    predict, calls = trickless.TableModel.predict, []

    def fail(self, X):
        calls.append(len(X))
        if len(calls) == 3:
            raise interrupt
        return predict(self, X)

    monkeypatch.setattr(trickless.TableModel, "predict", fail)
    arguments = ["predict", str(model), str(folder / "data.csv"), "--out", str(out)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == (130 if interrupt is KeyboardInterrupt else 2)
    assert len(calls) == 3
    assert out.read_text() == "good"
    assert not list(folder.glob(".*"))
    assert "Traceback" not in done.stderr


def test_each_warning_is_one_line(model, monkeypatch):
    folder = model.parent

    def warn(*arguments):
        warnings.warn("mind the gap", UserWarning, stacklevel=1)
        return {}

    monkeypatch.setattr(trickless.TableModel, "unknown_categories", warn)
    arguments = ["predict", str(model), str(folder / "data.csv"), "--out", str(folder / "o.csv")]
    with warnings.catch_warnings(action="default"):
        done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0
    assert done.stderr == "Warning: mind the gap\n"


def test_an_interrupted_fit_leaves_the_model_that_was_there(folder):
    table = pd.concat([frame(seed=seed) for seed in range(50)])
    data, out = write(table, folder / "long.csv"), folder / "model.trickless"
    out.write_text("good")
    command = [sys.executable, "-m", "trickless.cli", "fit", data, "--target", "label"]
    command += ["--learner", "shrinking-gradient", "--out", out]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert "This is classification" in process.stderr.readline()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == 130
    assert "Traceback" not in said
    assert out.read_text() == "good"
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("missing", ["typer", "rich", "pyarrow", "pandas"])
def test_without_the_extra_it_says_what_to_install(missing, capsys, monkeypatch):
    gone = "trickless.cli.", f"{missing}."
    for name in [n for n in sys.modules if n.startswith(gone)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    assert cli.main(["fit"]) == 2
    said = capsys.readouterr().err
    assert f"needs {missing}, which is not installed" in said
    assert "pip install 'trickless[cli]'" in said


def test_damaged_compressed_files_are_refused(folder):
    text = (folder / "data.csv").read_bytes()
    whole = gzip.compress(text, mtime=0)
    for torn in (whole[:12] + b"\xff" * 40 + whole[52:], whole[:40]):
        (folder / "data.csv.gz").write_bytes(torn)
        assert "data.csv.gz: it cannot be read" in fit(folder / "data.csv.gz")


def test_a_model_whose_neurons_cannot_be_drawn_again_is_refused(folder, monkeypatch):
    model = folder / "drawn.trickless"
    options = [
        "--target",
        "label",
        "--n-neurons",
        "20",
        "--neurons",
        "tabular",
        "--out",
        str(model),
    ]
    assert CliRunner().invoke(app, ["fit", str(folder / "data.csv"), *options]).exit_code == 0

    def verify(self):
        raise RuntimeError("Tabular: the neurons are not those of the model. Remedy: fit it again.")

    monkeypatch.setattr(NeuronStream, "_verify", verify)
    said = refused("predict", model, folder / "data.csv", "--out", folder / "out.csv")
    assert "the neurons are not those of the model" in said
    assert not (folder / "out.csv").exists()

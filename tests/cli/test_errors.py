"""Errors of the command line: one line, which names file, line or column, cause and remedy."""

import os

import numpy as np
import pandas as pd
import pytest

import trickless
from table_files import frame, write
from trickless import KitchenSinksRegressor
from trickless import _cli as cli
from trickless.neurons import Gaussian


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files that are good, and files that are not."""
    folder = tmp_path_factory.mktemp("errors")
    data = write(frame(60), folder / "data.csv")
    write(frame(60), folder / "data.parquet")
    options = ["--target", "price", "--drop", "label", "--n-neurons", "9", "--learner"]
    out = ["--out", str(folder / "model")]
    assert cli.main(["fit", str(data), *options, "kitchen-sinks", *out]) == 0
    for name, target in (("trees", "price"), ("labels", "label")):
        options = ["--target", target, "--n-neurons", "5", "--out", str(folder / name)]
        assert cli.main(["fit", str(data), *options]) == 0
    X = np.arange(20.0)[:, None]
    array = KitchenSinksRegressor(Gaussian(1.0), 5, random_state=0)
    trickless.save(array, folder / "unfitted")
    trickless.save(array.fit(X, X[:, 0]), folder / "array")
    trickless.save(Gaussian(1.0), folder / "family")
    many = "".join("1,2\n" for _ in range(2_000_000))
    texts = {
        "broken.csv": f"a,y\n{many}1,x\n",
        "ragged.csv": "a,y\n1,2\n1,2,3\n",
        "quote.csv": 'y,a\n1,"x\n2,y\n3,z\n',
        "quotes.csv": 'a,y\n1,"b\nc"\n2,d\n',
        "empty.csv": "",
        "names.csv": "a,y\n",
        "twice.csv": "a,a,y\n1,2,3\n",
        "gaps.csv": "a,y\n1,\n2,\n",
        "same.csv": "a,y\n1,b\n2,b\n",
        "one.csv": "y\n1\n2\n",
        "weights.csv": "a,w,y\n1,1,1\n2,-1,2\n",
        "zero.csv": "a,w,y\n1,0,1\n2,0,2\n",
        "inf.csv": "a,y\n1,1.5\ninf,2.5\n",
        "fractions.csv": "a,y\n1,1.5\n2,2.5\n",
        "times.csv": "a,y\n1,10:30\n2,11:30\n",
        "table.txt": "a,y\n1,2\n",
        "damaged.parquet": "PAR1 and nothing",
        "days.csv": "a,day,y\n1,31/01/2026,2.5\n2,01/02/2026,2.5\n",
        "price.csv": "a,price,y\n1,5,1\n2,five,2\n",
        "names with text.csv": "age,height,town,day,member\nold,1,Ulm,2026-01-31,true\n",
        "pounds.csv": "a,y\n" + "".join(f'{i},"£{300 + i},{i:03}"\n' for i in range(30)),
        "many.csv": "a,y\n" + "".join(f"{i},t{i}\n" for i in range(1100)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "latin.csv").write_bytes("a,y\nKöln,1.5\nUlm,2.5\n".encode("latin-1"))
    (folder / "head.csv").write_bytes("Straße,y\nKoeln,1.5\nUlm,2.5\n".encode("latin-1"))
    (folder / "utf16.csv").write_text("a,y\nKöln,1.5\nUlm,2.5\n", encoding="utf-16")
    (folder / "late.csv").write_bytes(b"a,y\n" + b"Ulm,1.5\n" * 600_000 + b"K\xf6ln,2.5\n")
    (folder / "both").mkdir()
    (folder / "both" / "a.csv").write_text("a,y\n1,1.5\n")
    write(frame(3), folder / "both" / "b.parquet")
    (folder / "lacks").mkdir()
    (folder / "lacks" / "a.csv").write_text("a,y\n1,1.5\n")
    (folder / "lacks" / "b.csv").write_text("y\n2.5\n")
    (folder / "differ").mkdir()
    (folder / "differ" / "a.csv").write_text("a,y\n1,1.5\n")
    (folder / "differ" / "b.csv").write_text("a,y\nx,2.5\n")
    (folder / "none").mkdir()
    lists = pd.DataFrame({"a": [[1.0], [2.0]], "y": [1.5, 2.5]})
    lists.to_parquet(folder / "lists.parquet")
    os.mkfifo(folder / "pipe.csv")
    return folder


FIT = [
    ("broken.csv", "broken.csv, column 'y', row 2,000,001: double: invalid value 'x'"),
    ("ragged.csv", "ragged.csv, row 2: Expected 2 columns, got 3"),
    ("quote.csv", "quote.csv, column 'a', row 1: a cell has several lines"),
    ("quotes.csv", "quotes.csv, column 'y', row 1: a cell has several lines"),
    ("empty.csv", "empty.csv: the file is empty"),
    ("names.csv", "there are no rows"),
    ("twice.csv", "twice.csv: there are two columns 'a'. Remedy: give each column its own name"),
    ("gaps.csv", "column 'y': the target is missing in all rows"),
    ("same.csv", "the target is 'b' in every row"),
    ("one.csv", "there is no column to learn from"),
    ("weights.csv --weight w", "weights.csv, column 'w', row 2: the weight of a row is -1.0"),
    ("zero.csv --weight w", "the weight 'w' is 0 in all rows"),
    ("weights.csv --weight y", "this column is the --target"),
    ("data.csv --weight town --target price", "--weight names a column of the type string"),
    ("weights.csv --weight a --learner shrinking-gradient", "takes no weights"),
    ("inf.csv", "contains infinity"),
    ("fractions.csv --task classification", "--task classification, but the target holds frac"),
    ("same.csv --task regression", "--task regression, but the target holds text"),
    ("times.csv", "column 'y': the target has the type time32"),
    ("many.csv", "there are more than 1,000 different strings"),
    ("pounds.csv", "looks like numbers, such as '£300,000'"),
    ("table.txt", "this ending is not a format of tables"),
    ("damaged.parquet", "damaged.parquet: it cannot be read: "),
    ("latin.csv", "latin.csv, column 'a': the text is not valid UTF-8"),
    ("head.csv", "head.csv: the text is not valid UTF-8. Remedy: save the file as UTF-8, from a"),
    ("utf16.csv", "utf16.csv: the text is not valid UTF-8"),
    ("late.csv", "late.csv, column 'a', row 600,001: the text is not valid UTF-8"),
    ("days.csv --types day=date", "days.csv, column 'day', row 1: timestamp"),
    ("price.csv --types price=number", "price.csv, column 'price', row 2: double: invalid value"),
    ("price.csv --types price=money", "--types price=money: it must be the name of a column, ="),
    ("price.csv --types price", "--types price: it must be the name of a column, ="),
    ("price.csv --types cost=number", "column 'cost': there is no such column"),
    ("price.csv --drop cost", "column 'cost': there is no such column. The columns are 'a', 'pri"),
    ("price.csv --target cost", "column 'cost': there is no such column"),
    ("price.csv --decimal , --thousands ,", "one sign has two meanings"),
    ("price.csv --thousands ,,", "--thousands ',,': it must be one character"),
    ("both", "there are files of different formats, csv, parquet"),
    ("lacks", "b.csv, column 'a': there is no such column, but other files have it"),
    ("differ", "column 'a': the files have the types double, string"),
    ("none", "there is no table in this folder"),
    ("pipe.csv", "it is a device, pipe or socket"),
    ("missing.csv", "missing.csv' does not exist"),
    ("lists.parquet", "in each cell; --drop a."),
    ("lists.parquet", "column 'a' has the type"),
    ("fractions.csv --validate 1", "--validate 1.0: it must be a share of the rows"),
    ("fractions.csv --neurons none", "--neurons 'none'"),
    ("data.csv --neurons gaussian --target price", "Remedy: --neurons tabular, which takes"),
    ("fractions.csv --learner auto --neurons gaussian", "--neurons gaussian: auto chooses the"),
    ("fractions.csv --learner auto --n-neurons 9", "another --learner, or leave --n-neurons out"),
    ("fractions.csv --out -", "a model cannot go to the standard output"),
    ("fractions.csv --out missing/model", "'missing/model' cannot be written (No such file"),
]  # fmt: skip
OTHERS = [
    ("predict family data.csv --out o.csv", "family: it holds a Gaussian, but predictions need a"),
    ("predict unfitted data.csv --out o.csv", "but predictions need a learner that was fitted to"),
    ("predict array data.csv --out o.csv", "was fitted to a table whose columns have names"),
    ("predict data.csv data.csv --out o.csv", "data.csv"),
    ("predict missing data.csv --out o.csv", "'missing' does not exist"),
    ("predict model price.csv --out o.csv", "price.csv, column 'age': there is no such column"),
    ("predict model data.csv --out o.txt", "this ending does not name a format of tables"),
    ("predict model data.csv --out data.csv", "this file is also an input"),
    ("predict model data.csv --out - --json", "cannot both go to the standard output"),
    ("predict model data.csv --out o.csv --probabilities", "KitchenSinksRegressor, which has none"),
    ("predict model data.csv --out o.csv --probabilities", "Remedy: --std, or --interval 0.9, or"),
    ("predict trees data.csv --out o.csv --std", "BoostedTreesRegressor, which has none."),
    ("predict trees data.csv --out o.csv --std", "or fit again with --learner kitchen-sinks"),
    ("export trees --out o.c --std", "Remedy: --interval 0.9, or leave the option out; or fit aga"),
    ("predict labels data.csv --out o.csv --std", "Remedy: --probabilities, or --interval"),
    ("predict model data.csv --out o.csv --interval 2", "--interval 2.0"),
    ("predict model data.csv --out o.csv --keep x", "column 'x': there is no such column"),
    ("predict model names_with_text.csv --out o.csv", "column 'age', row 1: double: invalid"),
    ("predict model head.csv --out o.csv", "head.csv: the text is not valid UTF-8"),
    ("evaluate model head.csv --target y", "head.csv: the text is not valid UTF-8"),
    ("evaluate model price.csv --target price", "column 'age': there is no such column"),
    ("evaluate model data.csv --target cost", "column 'cost': there is no such column"),
    ("describe missing", "'missing' does not exist"),
]  # fmt: skip


def refused(command, folder, capsys):
    capsys.readouterr()
    assert cli.main(command) == 2
    said = capsys.readouterr()
    assert said.out == ""
    last = said.err.splitlines()[-1]
    assert last.startswith(f"trickless {command[0]}: ")
    assert "Remedy: " in last
    assert len(last) < 1500
    assert not (folder / "out").exists()
    return last


@pytest.mark.parametrize(("options", "said"), FIT, ids=[o for o, _ in FIT])
def test_what_cannot_be_learned_is_refused(options, said, folder, capsys):
    file, *options = options.split()
    for name, value in (("--target", "y"), ("--out", str(folder / "out"))):
        options += [] if name in options else [name, value]
    assert said in refused(["fit", str(folder / file), *options], folder, capsys)


@pytest.mark.parametrize(("command", "said"), OTHERS, ids=[c for c, _ in OTHERS])
def test_what_cannot_be_predicted_is_refused(command, said, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "names_with_text.csv").write_bytes((folder / "names with text.csv").read_bytes())
    assert said in refused(command.split(), folder, capsys)
    assert not (folder / "o.csv").exists()


def test_a_hostile_cell_does_not_flood_the_screen(tmp_path, capsys):
    cell = "x" * 1_000_000
    rows = "".join(f"{cell},{i % 2}\nb,{i % 2}\n" for i in range(4))
    (tmp_path / "data.csv").write_text(f"a,{cell}\n{rows}")
    options = ["--target", cell, "--n-neurons", "5", "--out", str(tmp_path / "model")]
    assert cli.main(["fit", str(tmp_path / "data.csv"), *options]) == 0
    assert cli.main(["describe", str(tmp_path / "model")]) == 0
    assert cli.main(["fit", str(tmp_path / "data.csv"), *options, "--drop", f"{cell}y"]) == 2
    (tmp_path / "bad.csv").write_text(f"a,y\n1,2\n{cell},3,{cell}\n")
    options = ["--target", "y", "--out", str(tmp_path / "model")]
    assert cli.main(["fit", str(tmp_path / "bad.csv"), *options]) == 2
    said = capsys.readouterr()
    assert len(said.out) + len(said.err) < 20_000
    assert len(said.out.splitlines()) + len(said.err.splitlines()) < 150


def test_a_damaged_model_is_refused(folder, capsys):
    rng = np.random.default_rng(0)
    whole = (folder / "model").read_bytes()
    for _ in range(20):
        content = bytearray(whole)
        content[rng.integers(len(content))] ^= 1 << rng.integers(8)
        (folder / "damaged").write_bytes(content)
        for command in ("describe", "predict"):
            options = [str(folder / "data.csv"), "--out", str(folder / "o.csv")]
            options = options if command == "predict" else []
            refused([command, str(folder / "damaged"), *options], folder, capsys)

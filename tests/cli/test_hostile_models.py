"""Files of models whose checksum is right and whose content is not what trickless wrote."""

import json

import numpy as np
import pytest

import trickless
from mutated_files import hostile, parts, whole
from table_files import frame, write
from trickless import TableColumn, TableModel, cli


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    data = write(frame(60), folder / "data.csv")
    for target, drop in (("label", "price"), ("price", "label")):
        options = ["--target", target, "--drop", drop, "--n-neurons", "9", "--neurons"]
        for neurons in ("tabular", "gaussian"):
            out = str(folder / f"{target}-{neurons}")
            assert cli.main(["fit", str(data), *options, neurons, "--out", out]) == 0
    return folder


def commands(folder, model):
    data, out = str(folder / "data.csv"), str(folder / "out.csv")
    return (
        ["describe", str(model)],
        ["describe", str(model), "--json"],
        ["predict", str(model), data, "--out", out, "--probabilities"],
        ["predict", str(model), data, "--out", out],
        ["evaluate", str(model), data, "--json"],
    )


def attacked(folder, model, capsys):
    """The exit codes of all commands, each of which says what is wrong in one line."""
    codes = []
    for command in commands(folder, model):
        codes.append(cli.main(command))
        said = capsys.readouterr()
        if not codes[-1]:
            continue
        assert codes[-1] == 2, said.err
        *before, last = said.err.splitlines()
        assert all(line.startswith("Warning: ") for line in before), said.err
        assert last.startswith(f"trickless {command[0]}: "), said.err
        assert "Remedy" in last
        assert said.out == ""
    return codes


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("default")
def test_mutated_model_files_end_with_a_one_line_error(folder, seed, capsys, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    models = sorted(path for path in folder.iterdir() if "-" in path.name and not path.suffix)
    rng, path = np.random.default_rng(seed), folder / "mutated"
    codes = []
    for i in range(40):
        path.write_bytes(hostile(models[i % len(models)].read_bytes(), rng))
        codes += attacked(folder, path, capsys)
    assert codes.count(2) > 50


def rebuilt(folder, name, change):
    """A file in which the attributes of the objects of a class are changed."""
    lines, arrays = parts((folder / "label-tabular").read_bytes())
    records = list(map(json.loads, lines))
    for record in records[1:]:
        if record[0] == name:
            change(record[1])
    path = folder / "rebuilt"
    path.write_bytes(whole([json.dumps(record).encode() for record in records], arrays))
    return path


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("TableModel", {"columns": []}),
        ("TableModel", {"columns": {"a": 1}}),
        ("TableModel", {"columns": [1]}),
        ("TableModel", {"columns": "age"}),
        ("TableModel", {"target": None}),
        ("TableModel", {"target": ["label"]}),
        ("TableModel", {"learner": "os:system"}),
        ("TableModel", {"learner": None}),
        ("TableModel", {"more": 1}),
        ("TableModel", {"task": "regression"}),
        ("TableColumn", {"kind": "truth"}),
        ("TableColumn", {"kind": ["number"]}),
        ("TableColumn", {"name": 1}),
        ("TableColumn", {"name": "age"}),
        ("TableColumn", {"mean": "0"}),
        ("TableColumn", {"mean": {"$float": "nan"}}),
        ("TableColumn", {"scale": 0}),
        ("TableColumn", {"scale": -1.0}),
        ("TableColumn", {"median": None}),
        ("TableColumn", {"has_missing": 2}),
        ("TableColumn", {"categories": [1, 2]}),
        ("TableColumn", {"categories": ["a", "a"]}),
        ("TableColumn", {"categories": "abc"}),
        ("TableColumn", {"categories": {"$tuple": ["a"]}}),
    ],
)
def test_invalid_table_descriptions_in_files_are_refused(folder, name, change, capsys):
    path = rebuilt(folder, name, lambda attributes: attributes.update(change))
    assert attacked(folder, path, capsys) == [2] * 5


@pytest.mark.parametrize("attribute", ["learner", "columns", "target", "classes"])
def test_model_files_that_lack_attributes_are_refused(folder, attribute, capsys):
    path = rebuilt(folder, "TableModel", lambda attributes: attributes.pop(attribute))
    assert attacked(folder, path, capsys) == [2] * 5


@pytest.mark.parametrize(
    "change",
    [
        lambda model: setattr(model, "classes", None),
        lambda model: setattr(model, "classes", model.classes[::-1].copy()),
        lambda model: setattr(model, "classes", np.array([0, 1])),
        lambda model: setattr(model, "classes", np.array([["no", "yes"]])),
        lambda model: setattr(model, "classes", np.array(["no"])),
        lambda model: setattr(model, "classes", ["no", "yes"]),
        lambda model: setattr(model, "learner", trickless.load(model.folder / "price-tabular")),
        lambda model: setattr(model, "columns", tuple(model.columns)),
    ],
)
def test_table_models_that_do_not_suit_their_learner_are_refused(folder, change, capsys):
    model = trickless.load(folder / "label-tabular")
    model.folder = folder
    change(model)
    del model.folder
    trickless.save(model, folder / "changed")
    assert attacked(folder, folder / "changed", capsys) == [2] * 5


def test_table_models_of_unfitted_or_narrower_learners_are_refused(folder, capsys, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    bare = trickless.KitchenSinksRegressor(n_neurons=5)
    trickless.save(TableModel(bare, [TableColumn("age", "number")], "price"), folder / "bare")
    assert attacked(folder, folder / "bare", capsys) == [0, 0, 2, 2, 2]
    model = trickless.load(folder / "price-gaussian")
    model.columns = model.columns[:2]
    trickless.save(model, folder / "narrow")
    assert attacked(folder, folder / "narrow", capsys) == [0, 0, 2, 2, 2]

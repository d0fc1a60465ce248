"""``trickless export`` writes models as source code, or says why it cannot, without a file."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import trickless
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless._cli.app import app
from trickless._cli.export import WRITERS
from trickless.neurons import Gaussian

X = np.random.default_rng(0).standard_normal((60, 3))


@pytest.fixture
def folder(tmp_path):
    models = {
        "model": KitchenSinksRegressor(Gaussian(1.0), 5, random_state=0).fit(X, X[:, 0]),
        "unfitted": KitchenSinksRegressor(Gaussian(1.0), 5),
        "labels": KitchenSinksClassifier(Gaussian(1.0), 5, random_state=0).fit(X, X[:, 0] > 0),
    }
    for name, model in models.items():
        trickless.save(model, tmp_path / f"{name}.trk")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, ["export", *map(str, arguments)])


@pytest.mark.parametrize("options", [(), ("--std",)])
def test_a_model_is_written_in_c(options, folder):
    done = run(folder / "model.trk", "--out", folder / "model.c", *options)
    assert done.exit_code == 0, done.output
    assert f"{(folder / 'model.c').stat().st_size:,}" in done.stdout
    header = (folder / "model.h").read_text()
    assert "int model_prediction(const double *x, double *out);" in header
    assert ("model_std" in header) == ("--std" in options)


@pytest.mark.parametrize(
    ("model", "outputs"),
    [
        ("model.trk", ("prediction", "interval")),
        ("labels.trk", ("label", "probabilities", "set")),
    ],
)
def test_graphs_have_intervals_or_sets(folder, monkeypatch, model, outputs):
    given = {}

    def write(model, path, **options):
        given.update(options)
        path.write_bytes(b"")

    monkeypatch.setitem(WRITERS, ".onnx", write)
    done = run(folder / model, "--out", folder / "model.onnx", "--interval", 0.5)
    assert done.exit_code == 0, done.output
    assert given == {"outputs": outputs, "confidence": 0.5}


def test_a_model_is_written_in_javascript(folder):
    done = run(folder / "labels.trk", "--out", folder / "model.mjs", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["bytes"] == (folder / "model.mjs").stat().st_size
    assert "export const labels = [false, true];" in (folder / "model.mjs").read_text()


@pytest.mark.parametrize(
    ("model", "out", "options", "said"),
    [
        ("model.trk", "model.txt", (), "does not name a format of models"),
        ("unfitted.trk", "model.c", (), "the model in this file is not fitted"),
        ("unfitted.trk", "model.js", (), "the model in this file is not fitted"),
        ("nothing.trk", "model.c", (), "does not exist"),
        ("model.trk", "nowhere/model.c", (), "check the spelling of the path, and that its folder"),
        ("model.trk", "model.trk/model.c", (), "a part of it that should be a folder is a file"),
        ("labels.trk", "model.c", ("--std",), "KitchenSinksClassifier, which has none"),
    ],
)
def test_what_cannot_be_written_is_refused(model, out, options, said, folder):
    before = sorted(folder.iterdir())
    done = run(folder / model, "--out", folder / out, *options)
    assert done.exit_code == 2, done.output
    text = " ".join(done.stderr.split())
    assert said in text
    assert "Remedy: " in text
    assert sorted(folder.iterdir()) == before


def test_the_model_is_not_overwritten(folder):
    for name, out in (("model.c", "model.c"), ("model.h", "model.c"), ("model.js", "model.js")):
        text = (folder / "model.trk").read_bytes()
        (folder / name).write_bytes(text)
        done = run(folder / name, "--out", folder / out)
        assert done.exit_code == 2, done.output
        assert (folder / name).read_bytes() == text
        (folder / name).unlink()
    assert run(folder / "model.trk", "--out", "-").exit_code == 2

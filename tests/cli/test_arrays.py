"""The command line on arrays of images, series and rows in NumPy's files."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from typer.testing import CliRunner

import trickless
from trickless import KitchenSinksClassifier, RandomFeatures
from trickless.cli import arrays
from trickless.cli.app import app
from trickless.neurons import Convolutions, Patches


def run(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    return done


def refused(*arguments):
    said = run(*arguments, code=2).stderr.replace("\n", " ")
    assert "Remedy: " in said
    return said


@pytest.fixture
def series(tmp_path):
    """Series with a wave in every second one, and their labels, in a file of each kind."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 2, 30)), np.arange(80) % 2
    X[y == 1, 0] += 3 * np.sin(np.arange(30))
    X[:20, :, 25:] = np.nan
    np.savez(tmp_path / "data.npz", X=X, y=y, text=np.where(y, "wave", "none"), w=y + 0.5)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y.astype(float)[:, None])
    return X, y


FIT = "--neurons", "convolutions", "--n-neurons", "20"


@pytest.mark.parametrize(("data", "target"), [("data.npz", "y"), ("X.npy", "y.npy")])
def test_a_model_of_arrays_is_that_of_python(data, target, series, tmp_path):
    X, y = series
    data, model = tmp_path / data, tmp_path / "model.trickless"
    target = tmp_path / target if target.endswith(".npy") else target
    about = json.loads(run("fit", data, "--target", target, *FIT, "--out", model, "--json").stdout)
    assert about["task"] == "classification"
    assert about["rows"] == 80
    assert about["shape_of_rows"] == "2 x 30"
    expected = KitchenSinksClassifier(Convolutions(), 20, random_state=0).fit(X, y)
    predictions = tmp_path / "out.parquet"
    run("predict", model, data, "--out", predictions, "--probabilities")
    found = pd.read_parquet(predictions)
    assert list(found) == ["prediction", "probability_0", "probability_1"]
    np.testing.assert_array_equal(found.prediction, expected.predict(X))
    np.testing.assert_array_equal(found.iloc[:, 1:], expected.predict_proba(X))
    scores = json.loads(run("evaluate", model, data, "--target", target, "--json").stdout)
    assert scores["accuracy"] == expected.score(X, y)
    assert "2 x 30" in run("describe", model).stdout


def test_targets_decide_and_rows_without_a_target_or_weight_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "_CELLS", 640)  # a few rows at a time
    digits = load_digits()
    X, y = digits.images[:200] / 16, digits.images[:200].mean(axis=(1, 2))
    y[::10] = np.nan
    weight = np.where(np.arange(200) % 3, 1.0, 0.0)
    data, out = tmp_path / "data.npz", tmp_path / "model.trickless"
    np.savez(data, images=X, y=y, weight=weight)
    options = "--target", "y", "--weight", "weight"
    fit = "fit", data, *options, "--neurons", "gaussian", "--out", out, "--json", "--rows", "images"
    assert "--neurons patches for images" in refused(*fit)
    fit = "fit", data, *options, "--out", out, "--json", "--validate", "0.3", "--n-neurons", "30"
    np.savez(data, images=X.reshape(200, -1), y=y, weight=weight)
    about = json.loads(run(*fit).stdout)
    assert 60 < about["rows"] < 110
    assert about["learner"] == "DoublyStochasticRegressor"
    assert 20 < about["validation"]["rows"] < 100
    scores = json.loads(run("evaluate", out, data, *options, "--json").stdout)
    assert scores["rows_without_target"] == 20
    assert scores["r2"] > 0.3
    csv = tmp_path / "out.csv"
    run("predict", out, data, "--rows", "images", "--out", csv)
    np.testing.assert_allclose(
        pd.read_csv(csv).prediction, trickless.load(out).predict(X.reshape(200, -1))
    )


def test_patches_suit_small_images(tmp_path):
    digits, data, out = load_digits(), tmp_path / "data.npz", tmp_path / "model.trickless"
    np.savez(data, X=digits.images[:300], y=digits.target[:300])
    run("fit", data, "--target", "y", "--neurons", "patches", "--n-neurons", "10", "--out", out)
    model = trickless.load(out)
    assert model.neurons_.get_params() == Patches(patch=4).get_params()
    assert model.score(digits.images[300:600], digits.target[300:600]) > 0.7


def test_text_is_a_class(series, tmp_path):
    out = tmp_path / "model.trickless"
    run("fit", tmp_path / "data.npz", "--target", "text", "--weight", "w", *FIT, "--out", out)
    X, y = series
    expected = KitchenSinksClassifier(Convolutions(), 20, random_state=0)
    expected.fit(X, np.where(y, "wave", "none"), y + 0.5)
    np.testing.assert_array_equal(trickless.load(out).predict(X), expected.predict(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "z"], r"--target 'z': there is no array of this name in .*'y'"),
        (["--target", "y", "--rows", "Z"], "there is no array 'Z'. The arrays are 'X', 'y'"),
        (["--target", "X"], "the shape is (80, 2, 30), but there are 80 rows"),
        (["--target", "y", "--rows", "y"], "array 'y' has the shape (80,), but it must hold rows"),
        (["--target", "y", "--drop", "a"], "--drop: an array has no columns with names"),
        (["--target", "y", "--weight", "text"], "--weight 'text': weights must be numbers"),
        (["--target", "y", "--learner", "kitchen-sinks"], "--neurons convolutions for series"),
        (["--target", "none.npy"], "none.npy: there is no such file"),
        (["--target", "objects"], "objects.*holds Python objects, which are not read"),
    ],
)
def test_arrays_that_cannot_be_learned_are_refused(options, message, series, tmp_path):
    data = tmp_path / "data.npz"
    if options[1] == "objects":
        np.savez(data, X=series[0], objects=np.array([[1], [2, 3]] * 40, dtype=object))
        message = "holds Python objects, which are not read"
    said = refused("fit", data, *options, "--out", tmp_path / "model.trickless")
    assert message.removesuffix(r" in .*'y'") in said
    assert not (tmp_path / "model.trickless").exists()


def test_files_that_are_no_arrays_are_refused(series, tmp_path):
    broken, out = tmp_path / "broken.npz", tmp_path / "model.trickless"
    fit = "--target", "y", *FIT, "--out", out
    broken.write_bytes((tmp_path / "data.npz").read_bytes()[:500])
    assert "it cannot be read" in refused("fit", broken, *fit)
    broken.write_bytes((tmp_path / "X.npy").read_bytes())
    assert "rename it to end in .npy" in refused("fit", broken, *fit)
    broken.write_bytes(b"1,2,3")
    assert "it is no file of NumPy arrays" in refused("fit", broken, *fit)
    assert "no such file" in refused("fit", tmp_path / "none.npy", *fit)
    run("fit", tmp_path / "data.npz", *fit)
    predict = "--out", tmp_path / "out.csv"
    np.save(tmp_path / "one.npy", series[0][:, :1])
    assert "1 channel(s), but the neurons read 2" in refused(
        "predict", out, tmp_path / "one.npy", *predict
    )
    assert "holds one array, which has no name" in refused(
        "predict", out, tmp_path / "X.npy", *predict, "--rows", "X"
    )
    assert "--keep 'a'" in refused("predict", out, tmp_path / "X.npy", *predict, "--keep", "a")
    assert "--target does not say" in refused("evaluate", out, tmp_path / "X.npy")
    pd.DataFrame({"a": [1, 2]}).to_csv(tmp_path / "table.csv")
    assert "no columns of a table" in refused("predict", out, tmp_path / "table.csv", *predict)
    assert "--rows 'X'" in refused("predict", out, tmp_path / "table.csv", *predict, "--rows", "X")
    trickless.save(RandomFeatures().fit(series[0][20:, 0]), out)
    assert "predicts nothing" in refused("predict", out, tmp_path / "X.npy", *predict)
    trickless.save(KitchenSinksClassifier(), out)
    assert "not fitted" in refused("predict", out, tmp_path / "X.npy", *predict)

"""What commands give: columns beside predictions, intervals, scores on held-out rows, dates."""

import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.metrics import mean_pinball_loss

import trickless
from table_files import frame, write
from trickless import cli


def call(command, *arguments, code=0, capsys=None):
    """The result and the messages of a command that ends with this exit code."""
    assert cli.main([command, *map(str, arguments)]) == code, capsys.readouterr().err
    done = capsys.readouterr()
    assert code == 0 or ("Remedy" in done.err and not done.out)
    return done


@pytest.fixture
def run(capsys):
    return lambda *arguments, **code: call(*arguments, capsys=capsys, **code)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outputs")
    table = frame(200)
    table["id"] = [f"{i:04}" for i in range(200)]
    write(table, folder / "data.csv")
    write(table, folder / "data.parquet")
    sums = "--learner", "kitchen-sinks", "--n-neurons", "50"
    for name, target, options in (
        ("numbers", "price", sums),
        ("classes", "label", sums),
        ("trees", "price", ("--n-neurons", "32")),
        ("points", "price", ("--learner", "shrinking-gradient", "--n-neurons", "50")),
    ):
        others = {"price", "label"} - {target}
        options = ["--target", target, "--drop", "id", "--drop", *others, *options]
        arguments = ["fit", str(folder / "data.csv"), *options, "--out", str(folder / name)]
        assert cli.main(arguments) == 0
    return folder


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow"])
@pytest.mark.parametrize("data", ["data.csv", "data.parquet"])
def test_kept_columns_are_as_they_were(data, ending, folder, tmp_path, run):
    """In the model or not, with leading zeros, missing values and types of their own."""
    out = tmp_path / f"out{ending}"
    names = ["id", "age", "day", "town", "label", "member"]
    options = [option for name in [*names, "id"] for option in ("--keep", name)]
    run("predict", folder / "numbers", folder / data, "--out", out, *options)
    table = frame(200).assign(id=[f"{i:04}" for i in range(200)])
    read = (
        pd.read_csv
        if ending == ".csv"
        else {".arrow": pd.read_feather}.get(ending, pd.read_parquet)
    )
    found = read(out, dtype=str) if ending == ".csv" else read(out)
    assert list(found) == [*names, "prediction"]
    np.testing.assert_array_equal(found.id, table.id)
    np.testing.assert_array_equal(found.age.astype(int), table.age)
    np.testing.assert_array_equal(pd.to_datetime(found.day), table.day)
    np.testing.assert_array_equal(found.town.replace("", None).isna(), table.town.isna())
    model = trickless.load(folder / "numbers")
    np.testing.assert_allclose(found.prediction.astype(float), model.predict(table))
    if data == "data.parquet" and ending != ".csv":
        assert found.age.dtype == np.int64
        assert found.member.dtype == bool


def test_kept_columns_of_odd_types_are_written(folder, tmp_path, run):
    """Decimal commas, spellings of missing values, names of folders, dictionaries, nulls."""
    inside = tmp_path / "data" / "place=007"
    inside.mkdir(parents=True)
    table = frame(60).assign(void=None, height=frame(60).height.round(1))
    table.to_csv(inside / "a.csv", sep=";", decimal=",", na_rep="NA", index=False)
    names = ["place", "height", "town", "void"]
    options = [option for name in names for option in ("--keep", name)]
    run("predict", folder / "numbers", tmp_path / "data", "--out", tmp_path / "o.csv", *options)
    found = pd.read_csv(tmp_path / "o.csv", dtype=str, keep_default_na=False)
    assert set(found.place) == {"007"}
    assert found.town[0] == found.void[0] == found.height[0] == "NA"
    assert found.height[1] == f"{table.height[1]}".replace(".", ",")
    predicted = trickless.load(folder / "numbers").predict(table)
    np.testing.assert_allclose(found.prediction.astype(float), predicted)
    arrow = pa.Table.from_pandas(frame(60).astype({"town": "category"}).assign(void=None))
    pa.parquet.write_table(arrow, tmp_path / "a.parquet")
    run("predict", folder / "numbers", tmp_path / "a.parquet", "--out", tmp_path / "o.csv",
        "--keep", "town", "--keep", "void")  # fmt: skip
    assert pd.read_csv(tmp_path / "o.csv").town[1] == frame(60).town[1]


def test_columns_that_cannot_be_kept_are_refused(folder, tmp_path, run):
    data, out = folder / "data.csv", tmp_path / "out.csv"
    said = run("predict", folder / "trees", data, "--out", out, "--keep", "no", code=2).err
    assert f"{data}, column 'no': there is no such column to keep" in said
    table = frame(60).assign(prediction=1.0, list=[[1]] * 60)
    path = write(table, tmp_path / "data.parquet")
    said = run("predict", folder / "trees", path, "--out", out, "--keep", "prediction", code=2).err
    assert "--keep 'prediction': the output has its own column of this name" in said
    said = run("predict", folder / "trees", path, "--out", out, "--keep", "list", code=2).err
    assert "a column cannot be written in this format" in said
    assert not out.exists()
    run("predict", folder / "trees", path, "--out", tmp_path / "o.parquet", "--keep", "list")
    assert pd.read_parquet(tmp_path / "o.parquet").list[3].tolist() == [1]


def test_kept_cells_that_a_spreadsheet_would_run_are_warned_of(folder, tmp_path, run):
    data = write(frame(60).assign(id=["-1.5", "=1+1"] * 30), tmp_path / "data.parquet")
    for ending, is_said in ((".csv", True), (".parquet", False)):
        out = tmp_path / f"out{ending}"
        said = run("predict", folder / "trees", data, "--out", out, "--keep", "id").err
        assert said.count("a cell of 'id' as a formula: '=1+1'") == is_said


def test_predictions_may_have_standard_deviations_and_intervals(folder, tmp_path, run):
    data, out = folder / "data.csv", tmp_path / "out.parquet"
    options = "--std", "--interval", 0.9
    run("predict", folder / "numbers", data, "--out", out, *options)
    found = pd.read_parquet(out)
    assert list(found) == ["prediction", "standard_deviation", "lower", "upper"]
    model = trickless.load(folder / "numbers")
    mean, std = model.predict(frame(200), return_std=True)
    np.testing.assert_allclose(found.prediction, mean)
    np.testing.assert_allclose(found.standard_deviation, std)
    ends = model.predict_interval(frame(200), 0.9)
    np.testing.assert_allclose(found[["lower", "upper"]], ends)
    inside = (found.lower < frame(200).price) & (frame(200).price < found.upper)
    assert 0.82 < inside.mean() < 1
    run("predict", folder / "numbers", data, "--out", out, "--std")
    assert list(pd.read_parquet(out)) == ["prediction", "standard_deviation"]


@pytest.mark.parametrize("quantile", [0.9, [0.1, 0.5, 0.9]])
def test_quantiles_have_columns_and_scores_of_their_own(quantile, folder, tmp_path, run):
    table, levels, out = frame(200), np.atleast_1d(quantile), tmp_path / "out.parquet"
    model = trickless.load(folder / "trees")
    model.learner.set_params(loss="quantile", quantile=quantile)
    trickless.save(model.fit(table), tmp_path / "model")
    run("predict", tmp_path / "model", folder / "data.csv", "--out", out)
    found = pd.read_parquet(out)
    assert list(found) == [f"quantile_{q:g}" for q in levels]
    np.testing.assert_allclose(found.to_numpy(), model.predict(table).reshape(200, -1))
    scores = json.loads(run("evaluate", tmp_path / "model", folder / "data.csv", "--json").out)
    each = zip(levels.tolist(), found.to_numpy().T, strict=True)
    losses = [mean_pinball_loss(table.price, values, alpha=q) for q, values in each]
    assert scores["mean_pinball_loss"] == pytest.approx(np.mean(losses))
    assert [one["quantile"] for one in scores["quantiles"]] == levels.tolist()
    below = (table.price.to_numpy()[:, None] < found).mean()
    assert [one["below"] for one in scores["quantiles"]] == pytest.approx(below.tolist())


@pytest.mark.parametrize("model", ["classes", "trees", "points"])
def test_models_without_standard_deviations_refuse_them(model, folder, tmp_path, run):
    arguments = folder / model, folder / "data.csv", "--out", tmp_path / "out.csv"
    said = run("predict", *arguments, "--std", code=2).err
    assert f"--std: {folder / model} holds a " in said
    assert "which has no standard deviations" in said


def test_trees_have_intervals_and_models_without_them_say_what_to_do(folder, tmp_path, run):
    data, out = folder / "data.csv", tmp_path / "out.parquet"
    run("predict", folder / "trees", data, "--out", out, "--interval", "0.5")
    ends = trickless.load(folder / "trees").predict_interval(frame(200), 0.5)
    np.testing.assert_allclose(pd.read_parquet(out)[["lower", "upper"]], ends)
    said = run("predict", folder / "classes", data, "--out", out, "--interval", "0.5", code=2).err
    assert "which has no intervals" in said
    said = run("predict", folder / "points", data, "--out", out, "--interval", "0.5", code=2).err
    assert "kept no rows that it has not learned from" in said


@pytest.mark.parametrize("share", ["0", "1", "-0.1", "1.5", "nan"])
def test_invalid_shares_of_held_out_rows_are_refused(share, folder, tmp_path, run):
    data = folder / "data.csv"
    said = run("predict", folder / "numbers", data, "--out", tmp_path / "o.csv", "--interval",
               share, code=2).err  # fmt: skip
    assert f"--interval {float(share)}: it must be a probability" in said
    said = run("fit", data, "--target", "label", "--out", tmp_path / "m", "--validate", share,
               code=2).err  # fmt: skip
    assert f"--validate {float(share)}: it must be a share of the rows" in said


def test_predictions_go_to_the_standard_output(folder, tmp_path, run):
    data, out = folder / "data.csv", tmp_path / "out.csv"
    options = "--keep", "id", "--probabilities"
    run("predict", folder / "classes", data, "--out", out, *options)
    command = [sys.executable, "-m", "trickless.cli", "predict", folder / "classes", data]
    done = subprocess.run(
        [*map(str, command), "--out", "-", *options], capture_output=True, check=True
    )
    assert done.stdout == out.read_bytes()
    assert pd.read_csv(io.BytesIO(done.stdout), dtype=str).id[7] == "0007"
    said = run("predict", folder / "trees", data, "--out", "-", "--json", code=2).err
    assert "the predictions and --json cannot both go to the standard output" in said
    said = run("fit", data, "--target", "label", "--out", "-", code=2).err
    assert "--out -: a model cannot go to the standard output" in said


def test_a_terminal_is_shown_nothing_that_it_obeys(tmp_path, run, monkeypatch):
    table = frame(60).replace({"label": {"yes": "\x1b[31my"}})
    data = write(table, tmp_path / "data.parquet")
    options = "--learner", "kitchen-sinks", "--n-neurons", 99
    run("fit", data, "--target", "label", *options, "--out", tmp_path / "m")
    for is_terminal in (True, False):
        stdout = io.TextIOWrapper(io.BytesIO(), "utf-8")
        stdout.isatty = lambda is_terminal=is_terminal: is_terminal
        monkeypatch.setattr(sys, "stdout", stdout)
        assert cli.main(["predict", str(tmp_path / "m"), str(data), "--out", "-"]) == 0
        printed = stdout.buffer.getvalue().decode()
        assert ("\x1b" in printed) != is_terminal
        assert ("\\x1b[31my" in printed) == is_terminal
        assert len(printed.splitlines()) == 61


@pytest.mark.parametrize("target", ["label", "price"])
@pytest.mark.parametrize("options", [(), ("--learner", "kitchen-sinks"), ("--neurons", "stumps")])
def test_fits_are_scored_on_held_out_rows(target, options, tmp_path, run):
    """The model is that of the other rows, and the score that of evaluate on these."""
    table = frame(600).assign(row=np.arange(600.0))
    table.loc[5, target] = None
    data = write(table, tmp_path / "data.parquet")
    drop = "--drop", {"label": "price", "price": "label"}[target]
    fixed = "--target", target, *drop, "--n-neurons", 64, *options, "--json"
    done = run("fit", data, *fixed, "--validate", 0.2, "--seed", 3, "--out", tmp_path / "m")
    about = json.loads(done.out)
    assert about["rows"] + about["validation"]["rows"] == 600
    assert 80 < about["validation"]["rows"] < 160
    rng = np.random.default_rng([3, 1])
    held_out = rng.random(600) < 0.2
    write(table[held_out], tmp_path / "held.parquet")
    write(table[~held_out], tmp_path / "others.parquet")
    run("fit", tmp_path / "others.parquet", *fixed, "--seed", 3, "--out", tmp_path / "again")
    for model in ("m", "again"):
        done = run("evaluate", tmp_path / model, tmp_path / "held.parquet", "--json")
        scores = json.loads(done.out)
        assert {name: scores[name] for name in about["validation"]} == about["validation"]


def test_scores_are_shown(tmp_path, run):
    data = write(frame(200), tmp_path / "data.csv")
    options = "--target", "label", "--n-neurons", 9, "--out", tmp_path / "m", "--validate"
    shown = run("fit", data, *options, 0.3).out
    assert "On the held-out rows:" in shown
    assert "error of always guessing the largest class" in shown
    done = run("fit", data, *options, 1e-9, "--json")
    assert "Warning: no row with a target was held out" in done.err
    assert json.loads(done.out)["validation"] is None


def test_dates_are_described_as_dates(tmp_path, run):
    days = pd.to_datetime(["2024-01-31", "2024-02-10"] * 30)
    far = pd.to_datetime(["1815-12-10 12:00", "1815-12-10 18:00"] * 30)
    table = pd.DataFrame({"day": days, "far": far, "label": ["a", "b"] * 30})
    data = write(table, tmp_path / "data.parquet")
    run("fit", data, "--target", "label", "--n-neurons", 9, "--out", tmp_path / "m")
    shown = run("describe", tmp_path / "m").out
    assert "2024-02-05 00:00:00 ± 5 days" in shown
    assert "1815-12-10 15:00:00 ± 0.125 days" in shown
    columns = json.loads(run("describe", tmp_path / "m", "--json").out)["columns"]
    assert columns[0] == {
        "name": "day", "kind": "date", "mean": "2024-02-05T00:00:00",
        "standard_deviation_in_days": 5.0, "has_missing": False,
    }  # fmt: skip


@pytest.mark.parametrize("neurons", ["auto", "gaussian", "trees"])
def test_the_chosen_neurons_are_reported(neurons, tmp_path, run):
    data = write(frame(200), tmp_path / "data.csv")
    options = "--neurons", neurons, "--learner", "doubly-stochastic", "--out", tmp_path / "m"
    run("fit", data, "--target", "price", "--drop", "label", *options)
    about = json.loads(run("describe", tmp_path / "m", "--json").out)
    learner = trickless.load(tmp_path / "m").learner
    assert about["parameters"]["neurons"] == neurons
    assert about["chosen_neurons"].startswith(type(learner.neurons_).__name__)
    assert ("length scale" in about["chosen_neurons"]) == (neurons == "gaussian")
    assert about["chosen_n_neurons"] == learner.network_.n_neurons > 1
    shown = run("describe", tmp_path / "m").out
    lines = [line.split() for line in shown.splitlines()]
    assert ["chosen", "n", "neurons", f"{learner.network_.n_neurons:,}"] in lines

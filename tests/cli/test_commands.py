"""The command line: what its commands do, on tables in files."""

import gzip
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.metrics import (
    mean_absolute_error,
    mean_pinball_loss,
    precision_score,
    r2_score,
    recall_score,
    root_mean_squared_error,
)
from typer.testing import CliRunner

import trickless
from table_files import frame, write
from trickless import BoostedTreesRegressor, KitchenSinksClassifier, KitchenSinksRegressor
from trickless._cli import learn
from trickless._cli.app import app
from trickless._readers import table as tables


def run(*arguments, code=0):
    """The result of a command that ends with this exit code."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    return done


def fit(data, folder, *options, target="label", n_neurons=200):
    """A model, and what the command printed."""
    out = folder / "model.trickless"
    options = "--target", target, "--n-neurons", n_neurons, "--out", out, *options
    done = run("fit", data, *options, "--json")
    return trickless.load(out), json.loads(done.stdout)


@pytest.fixture
def table():
    return frame()


@pytest.fixture
def small_batches(monkeypatch):
    """Batches of 64 rows, blocks of some lines, and a first sample of 256 rows."""
    monkeypatch.setattr(tables, "_BATCH_ROWS", 64)
    monkeypatch.setattr(tables, "_BLOCK", 2**12)
    monkeypatch.setattr(learn, "FIRST_CELLS", 0)
    monkeypatch.setattr(learn, "MEMORY_CELLS", 0)


@pytest.mark.parametrize("ending", [".csv.gz", ".parquet", ".feather"])
def test_a_model_is_fitted_and_evaluated_and_predicts(ending, table, tmp_path):
    data = tmp_path / f"data{ending}"
    if ending == ".csv.gz":
        data.write_bytes(gzip.compress(table.to_csv(index=False).encode()))
    else:
        write(table, data)
    model, about = fit(data, tmp_path, "--drop", "price")
    assert about["task"] == "classification"
    assert about["classes"] == ["no", "yes"]
    assert about["rows"] == len(table)
    kinds = {column["name"]: column["kind"] for column in about["columns"]}
    numbers = dict.fromkeys(["age", "height", "member"], "number")
    assert kinds == numbers | {"town": "category", "day": "date"}
    assert about["columns"][2]["categories"] == ["Bonn", "Köln", "Ulm"]

    rows = table.drop(columns=["label", "price"])
    options = data, "--target", "label", "--json"
    scores = json.loads(run("evaluate", tmp_path / "model.trickless", *options).stdout)
    assert scores["accuracy"] == model.score(rows, table["label"]) > 0.9

    out = tmp_path / "out.parquet"
    options = "--out", out, "--probabilities", "--keep", "town"
    run("predict", tmp_path / "model.trickless", data, *options)
    predicted = pd.read_parquet(out)
    assert list(predicted) == ["town", "prediction", "probability_no", "probability_yes"]
    assert (predicted.town.isna() == table.town.isna()).all()
    np.testing.assert_array_equal(predicted.prediction, model.predict(rows))
    np.testing.assert_array_equal(predicted.iloc[:, 2:], model.predict_proba(rows))


def test_a_large_file_is_streamed_to_the_model_of_its_rows(table, tmp_path, small_batches):
    """The sample comes first, and then every other row once."""
    data = write(table, tmp_path / "data.csv")
    options = "--drop", "price", "--learner", "kitchen-sinks"
    model, about = fit(data, tmp_path, *options)
    assert model.statistics_.weight == about["rows"] == len(table)
    rows = table.drop(columns=["label", "price"])
    whole = KitchenSinksClassifier("tabular", 200, random_state=0).fit(rows, table["label"])
    assert model.score(rows, table["label"]) == pytest.approx(
        whole.score(rows, table["label"]), abs=0.03
    )
    again, _ = fit(data, tmp_path, *options)
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))


def test_the_order_of_a_file_does_not_matter_to_a_stream(tmp_path, small_batches):
    """The first batch is a uniform sample, of which neurons take ranks."""
    table = frame(3000).sort_values("age")
    data = write(table, tmp_path / "data.parquet")
    options = "--drop", "label", "--learner", "kitchen-sinks"
    model, _ = fit(data, tmp_path, *options, target="price")
    assert model.score(table.drop(columns=["label", "price"]), table["price"]) > 0.9


def test_other_learners_say_that_they_take_a_sample(table, tmp_path, small_batches):
    data = write(table, tmp_path / "data.parquet")
    out = tmp_path / "model"
    options = "--target", "label", "--drop", "price", "--n-neurons", 20, "--out", out
    said = run("fit", data, *options).stderr
    assert "learns from a uniform sample of 256 of 600 rows" in said
    assert "Remedy: --learner kitchen-sinks" in said


def test_formats_and_folders_give_the_same_model(table, tmp_path):
    paths = [write(table, tmp_path / f"data{ending}") for ending in (".csv", ".parquet")]
    for ending in (".csv", ".parquet"):
        folder = tmp_path / ending[1:]
        folder.mkdir()
        write(table[:200], folder / f"a{ending}")
        write(table[200:], folder / f"b{ending}")
        (folder / "README.txt").touch()
        paths.append(folder)
    rows = table.drop(columns=["label"])
    answers = [fit(path, tmp_path, n_neurons=9)[0].predict_proba(rows) for path in paths]
    for other in answers[1:]:
        np.testing.assert_allclose(other, answers[0], rtol=0, atol=1e-6)


def test_names_of_folders_are_columns_and_other_files_are_named(tmp_path):
    for year in (2025, 2026):
        folder = tmp_path / "data" / f"year={year}"
        folder.mkdir(parents=True)
        rows = pd.DataFrame({"x": np.arange(40.0), "y": np.arange(40.0) + 100 * (year == 2026)})
        rows.to_parquet(folder / "part.parquet")
    (tmp_path / "data" / "notes.txt").touch()
    (tmp_path / "data" / "_part.parquet").touch()
    out = tmp_path / "model"
    done = run("fit", tmp_path / "data", "--target", "y", "--out", out, "--n-neurons", 50)
    assert "_part.parquet, notes.txt left out. Remedy" in done.stderr
    model = trickless.load(out)
    assert model.feature_names_in_.tolist() == ["x", "year"]
    found = model.predict(pd.DataFrame({"x": [20.0, 20.0], "year": [2025, 2026]}))
    assert found[1] - found[0] == pytest.approx(100, abs=20)


def test_types_say_what_columns_hold(tmp_path):
    """By default, types are what pyarrow infers: an integer may be the name of something."""
    path = tmp_path / "data.csv"
    lines = [f"{i % 4:03};{i % 7},5;{1000 * i:_}.0;{i % 4 % 2}" for i in range(80)]
    text = "\n".join(["zip;size;price;y", *lines]).replace("_", "'").replace(".0", ",0")
    path.write_text(text)
    _, plain = fit(path, tmp_path, target="y", n_neurons=5)
    kinds = {c["name"]: c["kind"] for c in plain["columns"]}
    assert kinds == {"zip": "number", "size": "category", "price": "category"}
    dialect = "--decimal", ",", "--thousands", "'"
    options = "--types", "zip=category", "--types", "price=number", *dialect
    model, about = fit(path, tmp_path, *options, target="y", n_neurons=5)
    kinds = {c["name"]: c["kind"] for c in about["columns"]}
    assert kinds == {"zip": "category", "size": "number", "price": "number"}
    assert about["columns"][0]["categories"] == ["000", "001", "002", "003"]
    out = tmp_path / "out.csv"
    run("predict", tmp_path / "model.trickless", path, "--out", out, *dialect, "--keep", "zip")
    rows = {"zip": [f"{i % 4:03}" for i in range(80)], "size": [i % 7 + 0.5 for i in range(80)]}
    rows = pd.DataFrame(rows | {"price": [1000.0 * i for i in range(80)]})
    np.testing.assert_array_equal(pd.read_csv(out).prediction, model.predict(rows))
    scores = run("evaluate", tmp_path / "model.trickless", path, "--target", "y", *dialect)
    assert "accuracy" in scores.stdout


def test_a_parquet_file_has_its_own_types(tmp_path):
    n = 60
    columns = {
        "code": pa.array(np.arange(n) % 3),
        "kind": pa.array(["a", "b", None] * 20).dictionary_encode(),
        "price": pa.array([f"{i}" for i in range(n)]),
        "when": pa.array(np.arange(n) * 1000, pa.timestamp("ms", "UTC")),
        "day": pa.array([f"2026-01-{1 + i % 28:02}" for i in range(n)]),
        "text": pa.array([["2026-01-31", "", "NA"][i % 3] for i in range(n)]),
        "y": pa.array(np.arange(n) % 3 / 2),
    }
    path = tmp_path / "data.parquet"
    pa.parquet.write_table(pa.table(columns), path)
    types = ["--types", "code=category", "--types", "price=number", "--types", "day=date"]
    model, about = fit(path, tmp_path, *types, "--task", "regression", target="y", n_neurons=20)
    kinds = {column["name"]: column["kind"] for column in about["columns"]}
    assert kinds == {
        "code": "category", "kind": "category", "price": "number", "text": "category",
        "when": "dates with a time zone", "day": "date",
    }  # fmt: skip
    assert about["columns"][5]["categories"] == ["", "2026-01-31", "NA"]  # text is text
    run("predict", tmp_path / "model.trickless", path, "--out", tmp_path / "out.csv")
    rows = pa.table(columns).to_pandas().drop(columns="y")
    rows["price"], rows["day"] = pd.to_numeric(rows["price"]), pd.to_datetime(rows["day"])
    np.testing.assert_allclose(pd.read_csv(tmp_path / "out.csv").prediction, model.predict(rows))


def test_scores_are_those_of_scikit_learn(table, tmp_path):
    weight = 1.0 + np.arange(len(table)) % 3
    data = write(table.assign(w=weight), tmp_path / "data.parquet")
    rows = table.drop(columns=["label", "price"])
    path = tmp_path / "model"

    def scores(model, target):
        trickless.save(model, path)
        options = "--target", target, "--weight", "w", "--json"
        return json.loads(run("evaluate", path, data, *options).stdout)

    model = KitchenSinksRegressor("tabular", 30, random_state=0).fit(rows, table["price"])
    found, predicted = scores(model, "price"), model.predict(rows)
    for name, score in (
        ("r2", r2_score),
        ("mean_absolute_error", mean_absolute_error),
        ("root_mean_squared_error", root_mean_squared_error),
    ):
        expected = score(table["price"], predicted, sample_weight=weight)
        assert found[name] == pytest.approx(expected, rel=1e-9)
    classifier = KitchenSinksClassifier("tabular", 30, random_state=0).fit(rows, table["label"])
    found, predicted = scores(classifier, "label"), classifier.predict(rows)
    assert found["accuracy"] == pytest.approx(
        np.average(predicted == table["label"], weights=weight)
    )
    for each in found["classes"]:
        chosen = {"pos_label": each["class"], "sample_weight": weight}
        assert each["rows"] == (table["label"] == each["class"]).sum()
        assert each["recall"] == pytest.approx(recall_score(table["label"], predicted, **chosen))
        assert each["precision"] == pytest.approx(
            precision_score(table["label"], predicted, **chosen)
        )
    options = {"loss": "quantile", "quantile": [0.1, 0.9], "random_state": 0}
    model = BoostedTreesRegressor(10, **options).fit(rows, table["price"])
    found, predicted = scores(model, "price"), model.predict(rows)
    for j, each in enumerate(found["quantiles"]):
        of_all = {"sample_weight": weight, "alpha": each["quantile"]}
        loss = mean_pinball_loss(table["price"], predicted[:, j], **of_all)
        assert each["pinball_loss"] == pytest.approx(loss)


def test_rows_that_are_held_out_are_scored(table, tmp_path):
    data = write(table, tmp_path / "data.csv")
    options = "--drop", "price", "--validate", 0.3
    _, about = fit(data, tmp_path, *options, n_neurons=50)
    held_out = about["validation"]
    assert about["rows"] + held_out["rows"] == len(table)
    spread = (0.3 * 0.7 / len(table)) ** 0.5
    assert abs(held_out["rows"] / len(table) - 0.3) < 4 * spread
    assert held_out["accuracy"] > 0.8


def test_weights_are_those_of_the_learner(table, tmp_path):
    table["w"] = np.where(table["age"] > 40, 2.0, 0.0)
    data = write(table, tmp_path / "data.parquet")
    options = "--drop", "label", "--weight", "w", "--learner", "kitchen-sinks"
    model, _ = fit(data, tmp_path, *options, target="price")
    assert model.feature_names_in_.tolist() == ["age", "height", "town", "day", "member"]
    assert model.statistics_.weight == table["w"].sum()


def test_intervals_deviations_and_the_standard_output(table, tmp_path):
    data = write(table, tmp_path / "data.csv")
    options = "--drop", "label", "--learner", "kitchen-sinks"
    model, _ = fit(data, tmp_path, *options, target="price")
    path = tmp_path / "model.trickless"
    done = run("predict", path, data, "--out", "-", "--std", "--interval", 0.9)
    lines = done.stdout.splitlines()
    assert lines[0] == '"prediction","standard_deviation","lower","upper"'
    rows = table.drop(columns=["label", "price"])
    expected = [*model.predict(rows, return_std=True), *model.predict_interval(rows, 0.9).T]
    np.testing.assert_allclose([float(v) for v in lines[1].split(",")], [v[0] for v in expected])
    assert len(lines) == len(table) + 1


@pytest.mark.parametrize(("target", "other"), [("price", "label"), ("label", "price")])
def test_auto_does_all_that_others_do(target, other, tmp_path):
    table = frame(300)
    data, path = write(table, tmp_path / "data.csv"), tmp_path / "model.trickless"
    options = "--target", target, "--drop", other, "--learner", "auto", "--out", path
    about = json.loads(run("fit", data, *options, "--json").stdout)
    model, rows = trickless.load(path), table.drop(columns=["label", "price"])
    weights = [part["weight"] for part in about["chosen_parts"]]
    assert about["learner"] == type(model).__name__
    assert about["learner"].startswith("Auto")
    np.testing.assert_array_equal(weights, model.weights_)
    scores = json.loads(run("evaluate", path, data, "--target", target, "--json").stdout)
    assert scores["r2" if target == "price" else "accuracy"] == pytest.approx(
        model.score(rows, table[target])
    )
    more = ["--probabilities"] * (target == "label")
    run("predict", path, data, "--out", tmp_path / "out.csv", "--interval", 0.9, *more)
    found = pd.read_csv(tmp_path / "out.csv")
    if target == "price":
        np.testing.assert_allclose(found[["lower", "upper"]], model.predict_interval(rows, 0.9))
    else:
        chances = found[["probability_no", "probability_yes"]]
        np.testing.assert_allclose(chances, model.predict_proba(rows))
        sets = found[["in_set_no", "in_set_yes"]]
        np.testing.assert_array_equal(sets, model.predict_set(rows, 0.9))
    run("describe", path)
    run("export", path, "--out", tmp_path / "model.c", "--interval", 0.9)


def test_columns_and_sizes_are_described(table, tmp_path):
    table["ticket"] = [f"T{i}" for i in range(len(table))]
    _, about = fit(write(table, tmp_path / "data.csv"), tmp_path, n_neurons=7)
    assert about["chosen_n_neurons"] == 7
    merged = {column["name"]: column["rare_values_merged"] for column in about["columns"]}
    assert (merged["ticket"], merged["town"], merged["age"]) == (len(table), 0, None)
    assert f"{len(table)}" in run("describe", tmp_path / "model.trickless").stdout


def test_targets_of_integers_are_classes_if_they_are_few(tmp_path):
    table = pd.DataFrame({"x": np.arange(60.0), "few": np.arange(60) % 3, "many": np.arange(60)})
    table["truth"] = table["x"] > 30
    data = write(table, tmp_path / "data.csv")
    for target, options, task, classes in (
        ("few", [], "classification", [0, 1, 2]),
        ("few", ["--types", "few=category"], "classification", ["0", "1", "2"]),
        ("few", ["--task", "regression"], "regression", None),
        ("many", [], "regression", None),
        ("truth", [], "classification", [False, True]),
    ):
        _, about = fit(data, tmp_path, *options, target=target, n_neurons=5)
        assert (about["task"], about["classes"]) == (task, classes)
        run("evaluate", tmp_path / "model.trickless", data, "--target", target)


def test_a_model_of_a_data_frame_is_used_in_the_shell(table, tmp_path):
    """Files of models hold a learner, wherever it was fitted."""
    rows, data = table[["town", "age"]], write(table, tmp_path / "data.csv")
    model = KitchenSinksRegressor("tabular", 30, random_state=0).fit(rows, table["price"])
    trickless.save(model, tmp_path / "model")
    run("predict", tmp_path / "model", data, "--out", tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv").prediction
    np.testing.assert_allclose(found, model.predict(rows), rtol=1e-12)


def test_families_of_numbers_take_columns_of_numbers(table, tmp_path):
    data = write(table[["age", "member", "price"]], tmp_path / "data.csv")
    options = "--neurons", "stumps"
    model, about = fit(data, tmp_path, *options, target="price")
    assert about["chosen_neurons"].startswith("Stumps")
    scores = run("evaluate", tmp_path / "model.trickless", data, "--target", "price", "--json")
    rows = table[["age", "member"]]
    assert json.loads(scores.stdout)["r2"] == pytest.approx(model.score(rows, table["price"]))


def test_cells_in_quotes_may_hold_the_sign_that_separates_columns(tmp_path):
    """A comma between thousands in a file whose columns a comma separates."""
    path, areas = tmp_path / "areas.csv", np.arange(500, 3500, 50)
    lines = ["area,price", *(f'"{area:,}","{100 * area:,}"' for area in areas.tolist())]
    path.write_text("\n".join(lines) + "\n")
    types = "--types", "price=number", "--types", "area=number"
    model, _ = fit(path, tmp_path, "--thousands", ",", *types, target="price", n_neurons=50)
    assert model.feature_names_in_.tolist() == ["area"]
    assert abs(model.predict(pd.DataFrame({"area": [2000.0]}))[0] - 200_000) < 5000

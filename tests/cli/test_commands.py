"""The command line: what its commands do, on tables in files."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import trickless
from table_files import frame, write
from trickless import KitchenSinksRegressor, TableColumn, TableModel, cli
from trickless.cli import learn
from trickless.cli.app import app
from trickless.readers import dataset, profile, shuffle
from trickless.readers.moments import Moments


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
    """Batches of 64 rows, a sample of 128, and parts of 200 rows or so."""
    monkeypatch.setattr(dataset, "_BATCH_ROWS", 64)
    monkeypatch.setattr(profile, "SAMPLE_ROWS", 128)
    monkeypatch.setattr(learn, "PART_CELLS", 1200)
    monkeypatch.setattr(shuffle, "PART_CELLS", 1200)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather"])
def test_a_model_is_fitted_and_evaluated_and_predicts(ending, table, tmp_path):
    data = write(table, tmp_path / f"data{ending}")
    model, about = fit(data, tmp_path, "--drop", "price")
    assert about["task"] == "classification"
    assert about["classes"] == ["no", "yes"]
    assert about["rows"] == len(table)
    kinds = {column["name"]: column["kind"] for column in about["columns"]}
    numbers = dict.fromkeys(["age", "height", "member"], "number")
    assert kinds == numbers | {"town": "category", "day": "date"}
    missing = {column["name"] for column in about["columns"] if column["has_missing"]}
    assert missing == {"town", "height"}

    scores = json.loads(run("evaluate", tmp_path / "model.trickless", data, "--json").stdout)
    assert scores["accuracy"] == model.score(table) > 0.9

    out = tmp_path / "out.parquet"
    run("predict", tmp_path / "model.trickless", data, "--out", out, "--probabilities")
    predicted = pd.read_parquet(out)
    assert list(predicted) == ["prediction", "probability_no", "probability_yes"]
    np.testing.assert_array_equal(predicted.prediction, model.predict(table))
    np.testing.assert_array_equal(predicted.iloc[:, 1:], model.predict_proba(table))


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather"])
def test_categories_are_spelled_as_those_of_data_frames(ending, table, tmp_path):
    rng = np.random.default_rng(0)
    some = {
        "fraction": [7.0, 0.5, 1.5e-7],
        "code": [7, 2**60, 2**60 + 1],
        "truth": [True, False, True],
        "day": pd.to_datetime(["2026-01-31", "2026-02-01", "2026-02-02"]),
        "time": pd.date_range("2026-01-31", periods=3, freq="36h500ms"),
    }
    places = rng.integers(0, 3, len(table))
    table = pd.DataFrame({name: pd.Series(values)[places] for name, values in some.items()})
    table = table.reset_index(drop=True).assign(label=np.where(places == 2, "yes", "no"))
    data = write(table, tmp_path / f"data{ending}")
    options = [option for name in some for option in ("--category", name)]
    model, _ = fit(data, tmp_path, *options)
    assert [len(about.categories) for about in model.columns] == [3, 3, 2, 3, 3]
    assert model.unknown_categories(table) == {}
    assert model.score(table) == 1
    run("predict", tmp_path / "model.trickless", data, "--out", tmp_path / "out.csv")
    np.testing.assert_array_equal(pd.read_csv(tmp_path / "out.csv").prediction, table.label)


def test_formats_give_the_same_model(table, tmp_path):
    answers = [
        fit(write(table, tmp_path / f"data{ending}"), tmp_path, n_neurons=9)[0].predict_proba(table)
        for ending in (".csv", ".parquet", ".feather")
    ]
    np.testing.assert_allclose(answers[0], answers[1], atol=1e-6)
    np.testing.assert_array_equal(answers[1], answers[2])


def test_a_file_is_streamed_to_the_model_of_one_fit(table, tmp_path, small_batches):
    data = write(table, tmp_path / "data.csv")
    model, about = fit(data, tmp_path, "--drop", "price", "--learner", "kitchen-sinks")
    assert model.learner.statistics_.weight == about["rows"] == len(table)
    # Ranks from the same sample, and then all other rows at once.
    kinds = {column.name: column.kind for column in model.columns} | {"label": "category"}
    seen = profile.profile(dataset.Dataset(data), kinds, "label", 0, print)
    assert seen.columns == model.columns
    assert seen.sample.num_rows == 128
    learner = trickless.KitchenSinksClassifier(**model.learner.get_params())
    again = TableModel(learner, model.columns, "label", model.classes)
    again.partial_fit(seen.sample).partial_fit(table.drop(index=seen.sampled))
    np.testing.assert_allclose(again.predict_proba(table), model.predict_proba(table), atol=1e-4)


def test_moments_are_those_of_standard_scaler_whatever_a_batch_lacks():
    rng = np.random.default_rng(0)
    X = rng.normal([1e6, -3, 0, 5], [1, 10, 1, 1], (300, 4))
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:100, 1], X[:, 2], X[:, 3] = np.nan, np.nan, 5.0
    moments = Moments(4)
    for some in np.array_split(X, 7):
        moments.add(some)
    scaler = StandardScaler().fit(X[:, [0, 1, 3]])
    np.testing.assert_allclose(moments.mean, [*scaler.mean_[:2], 0, 5], rtol=1e-12)
    deviations = [*np.sqrt(scaler.var_[:2]), 0, 0]
    np.testing.assert_allclose(moments.deviation(), deviations, rtol=1e-9)


def test_the_first_pass_finds_moments_and_categories(table, tmp_path, small_batches):
    table["empty"] = np.nan
    data = write(table, tmp_path / "data.parquet")
    model, _ = fit(data, tmp_path, "--drop", "price")
    about = {column.name: column for column in model.columns}
    assert list(about) == [name for name in table if name not in ("label", "price")]
    days = (table.day - pd.Timestamp("1970-01-01")).dt.days
    for name, values in (("age", table.age), ("height", table.height), ("day", days)):
        assert about[name].mean == pytest.approx(values.mean(), rel=1e-12)
        assert about[name].scale == pytest.approx(values.std(ddof=0), rel=1e-9)
        assert about[name].has_missing == values.isna().any()
        assert about[name].median == pytest.approx(values.median(), abs=values.std() / 2)
    assert about["empty"] == TableColumn("empty", "number", has_missing=True)


def test_the_index_of_pandas_is_no_column(table, tmp_path):
    path = tmp_path / "odd.parquet"
    table.set_index("price").rename_axis(None).to_parquet(path)
    model, _ = fit(path, tmp_path)
    assert "__index_level_0__" in dataset.Dataset(path).types
    assert [c.name for c in model.columns] == ["age", "height", "town", "day", "member"]


def test_a_sample_is_uniform_and_of_rows_with_a_target(table, tmp_path, small_batches):
    table.loc[::2, "label"] = None
    data = write(table, tmp_path / "data.parquet")
    counts = np.zeros(len(table))
    for seed in range(40):
        seen = profile.profile(
            dataset.Dataset(data), {"age": "number", "label": "category"}, "label", seed, print
        )
        assert (seen.n_rows, seen.n_without_target) == (600, 300)
        np.testing.assert_array_equal(
            np.sort(seen.sample["age"].to_numpy()), np.sort(table.age[seen.sampled])
        )
        counts[seen.sampled] += 1
    assert counts[::2].sum() == 0
    # 40 draws of 128 of 300 rows: five standard errors of the count of half of them.
    share = counts[: len(table) // 2].sum() / counts.sum()
    assert abs(share - 0.5) < 5 * 0.5 / np.sqrt(40 * 128)


def test_shuffled_rows_are_all_rows_in_a_random_order(table, tmp_path, small_batches):
    data = dataset.Dataset(write(table.sort_values("age"), tmp_path / "data.parquet"))
    batches = [batch.data for batch in data.batches({"age": "number", "price": "number"})]
    parts = list(shuffle.shuffled(batches, len(table), 50, np.random.default_rng(0)))
    ages = np.concatenate([part["age"].to_numpy() for part in parts])
    np.testing.assert_array_equal(np.sort(ages), np.sort(table.age))
    assert max(part.num_rows for part in parts) <= 60
    means = [part["age"].to_numpy().mean() for part in parts]
    assert np.std(means) < 3 * table.age.std() / np.sqrt(40)


@pytest.mark.parametrize(
    ("learner", "n_rows"), [("doubly-stochastic", 3000), ("shrinking-gradient", 600)]
)
@pytest.mark.parametrize("target", ["label", "price"])
def test_online_learners_do_not_depend_on_the_order_of_rows(
    learner, n_rows, target, tmp_path, small_batches
):
    table = frame(n_rows).drop(columns={"label": "price", "price": "label"}[target])
    data = write(table.sort_values(target), tmp_path / "data.parquet")
    model, _ = fit(data, tmp_path, "--learner", learner, target=target, n_neurons=600)
    assert model.score(table) > (0.75 if target == "label" else 0.3)


@pytest.mark.parametrize("learner", ["doubly-stochastic", "shrinking-gradient"])
def test_a_small_table_is_fitted_in_memory(learner, table, tmp_path):
    data = write(table, tmp_path / "data.csv")
    options = "--learner", learner, "--neurons", "tabular"
    model, _ = fit(data, tmp_path, *options, n_neurons=2000)
    assert model.score(table) > 0.8
    assert model.learner.network_.n_neurons == 2000


def test_a_table_is_learned_by_trees(table, tmp_path):
    data = write(table, tmp_path / "data.csv")
    model, about = fit(data, tmp_path, "--drop", "price")
    assert about["learner"] == "DoublyStochasticClassifier"
    assert about["parameters"]["neurons"] == "trees"
    assert model.score(table) > 0.9
    model, about = fit(data, tmp_path, "--neurons", "gaussian", n_neurons=20)
    assert about["learner"] == "KitchenSinksClassifier"


def test_other_families_get_standardised_numbers_and_ones_for_categories(table, tmp_path):
    data = write(table, tmp_path / "data.csv")
    model, _ = fit(data, tmp_path, "--neurons", "gaussian", "--drop", "price", n_neurons=500)
    assert model.score(table) > 0.9
    rows = model._rows.of_frame(table)
    assert rows.shape == (600, 1 + 2 + 4 + 1 + 1)
    np.testing.assert_allclose(rows[:, 0].mean(), 0, atol=1e-12)
    np.testing.assert_allclose(rows[:, 0].std(), 1, atol=1e-12)


def test_a_regression_is_scored_and_predicts(table, tmp_path):
    data = write(table, tmp_path / "data.csv")
    model, about = fit(data, tmp_path, "--drop", "label", target="price")
    assert about["task"] == "regression"
    scores = json.loads(run("evaluate", tmp_path / "model.trickless", data, "--json").stdout)
    assert scores["r2"] == pytest.approx(model.score(table), abs=1e-9)
    error = model.predict(table) - table.price
    assert scores["root_mean_squared_error"] == pytest.approx(np.sqrt((error**2).mean()))
    assert scores["mean_absolute_error"] == pytest.approx(np.abs(error).mean())
    assert scores["standard_deviation_of_target"] == pytest.approx(table.price.std(ddof=0))
    out = tmp_path / "out.csv"
    run("predict", tmp_path / "model.trickless", data, "--out", out)
    np.testing.assert_allclose(pd.read_csv(out).prediction, model.predict(table))


@pytest.mark.parametrize(
    ("values", "options", "task", "classes"),
    [
        ([0, 1], (), "classification", [0, 1]),
        ([0.0, 1.0], (), "classification", [0, 1]),
        (list(range(10)), (), "classification", list(range(10))),
        (list(range(11)), (), "regression", None),
        (list(range(11)), ("--task", "classification"), "classification", list(range(11))),
        ([0, 1], ("--task", "regression"), "regression", None),
        ([0.5, 1.0], (), "regression", None),
        ([True, False], (), "classification", [False, True]),
        (["b", "a"], (), "classification", ["a", "b"]),
        ([20, 30], ("--category", "y"), "classification", ["20", "30"]),
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_the_type_of_the_target_decides_the_task(ending, values, options, task, classes, tmp_path):
    n = 20 * len(values)
    table = pd.DataFrame({"x": np.arange(n), "y": values * 20})
    data = write(table, tmp_path / f"data{ending}")
    model, about = fit(data, tmp_path, *options, target="y", n_neurons=20)
    assert (about["task"], about["classes"]) == (task, classes)
    scores = json.loads(run("evaluate", tmp_path / "model.trickless", data, "--json").stdout)
    name = "accuracy" if task == "classification" else "r2"
    assert scores[name] == pytest.approx(model.score(table))


def test_the_choice_of_the_task_is_said(table, tmp_path):
    data = write(table, tmp_path / "data.csv")
    done = run("fit", data, "--target", "label", "--out", tmp_path / "m", "--n-neurons", 20)
    assert "600 rows. This is classification: 'label' holds text." in done.stderr
    assert "town" in done.stdout


def test_a_folder_is_one_table_and_its_names_are_columns(table, tmp_path):
    for town, part in table.groupby("member"):
        folder = tmp_path / "data" / f"member={int(town)}"
        folder.mkdir(parents=True)
        write(part.drop(columns="member"), folder / "part.parquet")
        (folder / "_SUCCESS").touch()
    model, about = fit(tmp_path / "data", tmp_path, "--drop", "label", target="price")
    assert about["rows"] == len(table)
    assert "member" in [column["name"] for column in about["columns"]]
    assert model.score(table) > 0.9


def test_csv_files_of_many_dialects_are_read(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text('\ufeffx;town;y\n1;"Ulm; old";0,5\n;NA;1,5\n3;"two\nlines";2,5\n')
    read = dataset.Dataset(path)
    assert list(read.types) == ["x", "town", "y"]
    (batch,) = read.batches({"x": "number", "town": "category", "y": "number"})
    assert batch.data["x"].to_pylist() == [1.0, None, 3.0]
    assert batch.data["y"].to_pylist() == [0.5, 1.5, 2.5]
    assert batch.data["town"].to_pylist() == ["Ulm; old", None, "two\nlines"]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
def test_decimal_commas_are_read_as_numbers(ending, table, tmp_path):
    """As spreadsheets write them where a comma parts no columns."""
    comma, point = tmp_path / f"comma{ending}", tmp_path / "point.csv"
    table.to_csv(comma, index=False, sep="\t" if ending == ".tsv" else ";", decimal=",")
    table.to_csv(point, index=False, sep=";")
    models = [fit(data, tmp_path, target="price", n_neurons=9)[0] for data in (comma, point)]
    np.testing.assert_array_equal(*(model.predict(table) for model in models))


def test_files_of_a_folder_may_differ_in_their_decimal_signs(tmp_path):
    (tmp_path / "a.csv").write_text("x;y\n1;0\n2;1\n")
    (tmp_path / "b.csv").write_text("x;y\n1,5;0\n2,5;1\n")
    batches = dataset.Dataset(tmp_path).batches({"x": "number", "y": "number"})
    assert [batch.data["x"].to_pylist() for batch in batches] == [[1, 2], [1.5, 2.5]]


@pytest.mark.parametrize(
    ("cells", "types"),
    [
        ("1,5;0.5 2,5;1.5", ["double", "double"]),
        ("1,5;0.5e1 2,5;1", ["double", "double"]),
        ("1,234;5 12,000;6", ["string", "int64"]),
        ("1,234;5 12,5;6", ["double", "int64"]),
        (",5;5 -1,5e3;6", ["double", "int64"]),
        ('"a;b";5 c;6', ["string", "int64"]),
        ("1;5 2;6", ["int64", "int64"]),
    ],
)
def test_commas_are_decimal_where_they_can_be_nothing_else(cells, types, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["x;y", *cells.split(" ")]) + "\n")
    found = dataset.Dataset(path).types
    assert [str(found[name]) for name in "xy"] == types


def test_empty_cells_of_a_single_column_are_rows(tmp_path):
    (tmp_path / "data.csv").write_text("x\n1\n\n3\n")
    (batch,) = dataset.Dataset(tmp_path / "data.csv").batches({"x": "number"})
    assert batch.data["x"].to_pylist() == [1.0, None, 3.0]


def test_delimiters_inside_quoted_names_separate_no_columns(tmp_path):
    (tmp_path / "data.csv").write_text('"Price, EUR";"Size, m2"\n1;2\n')
    assert list(dataset.Dataset(tmp_path / "data.csv").types) == ["Price, EUR", "Size, m2"]


def test_missing_numbers_are_no_category(tmp_path):
    path = tmp_path / "data.parquet"
    pyarrow.parquet.write_table(pa.table({"x": pa.array([1.0, np.nan, None])}), path)
    (batch,) = dataset.Dataset(path).batches({"x": "category"})
    assert batch.data["x"].to_pylist() == ["1", None, None]


def test_a_name_may_be_as_long_as_the_system_allows(table, tmp_path):
    data = write(table, tmp_path / "data.csv")
    out = tmp_path / ("m" * 240 + ".trickless")
    run("fit", data, "--target", "label", "--out", out, "--n-neurons", 20)
    predictions = tmp_path / ("p" * 250 + ".csv")
    run("predict", out, data, "--out", predictions)
    assert len(predictions.read_text().splitlines()) == len(table) + 1


def test_the_numbers_of_rows_that_pandas_writes_are_no_column(table, tmp_path):
    table.to_csv(tmp_path / "data.csv")
    model, _ = fit(tmp_path / "data.csv", tmp_path, n_neurons=9)
    table.to_csv(tmp_path / "plain.csv", index=False)
    plain, _ = fit(tmp_path / "plain.csv", tmp_path, n_neurons=9)
    assert [c.name for c in model.columns] == [c.name for c in plain.columns]
    options = "--target", "label", "--n-neurons", 9, "--out", tmp_path / "model"
    assert "without a name" in run("fit", tmp_path / "data.csv", *options).stderr


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "describe", "demo"])
def test_help_exits_without_an_error(command):
    done = run(command, "--help")
    assert f"Usage: trickless {command}" in done.stdout.replace("root", "trickless")
    assert done.stderr == ""


def test_compressed_files_and_tables_without_rows_are_read(table, tmp_path):
    table.to_csv(tmp_path / "data.csv.gz", index=False)
    _, about = fit(tmp_path / "data.csv.gz", tmp_path)
    assert about["rows"] == len(table)
    write(table[:0], tmp_path / "none.parquet")
    out = tmp_path / "out.csv"
    run("predict", tmp_path / "model.trickless", tmp_path / "none.parquet", "--out", out)
    assert out.read_text() == '"prediction"\n'


def test_rows_are_counted_before_they_are_read(table, tmp_path):
    assert dataset.Dataset(write(table, tmp_path / "data.parquet")).expected_rows() == 600
    assert dataset.Dataset(write(table, tmp_path / "data.feather")).expected_rows() == 600
    about = dataset.Dataset(write(table, tmp_path / "data.csv")).expected_rows()
    assert about == pytest.approx(600, rel=0.01)


def test_predict_needs_no_target_and_says_which_categories_are_new(table, tmp_path):
    fit(write(table, tmp_path / "data.parquet"), tmp_path, "--drop", "price")
    table.loc[:4, "town"] = "Paris"
    data = write(table.drop(columns=["label", "price"]), tmp_path / "new.csv")
    out = tmp_path / "out.csv"
    done = run("predict", tmp_path / "model.trickless", data, "--out", out, "--json")
    told = {"out": str(out), "rows": 600, "unknown_categories": {"town": 5}}
    assert json.loads(done.stdout) == told
    assert "column 'town': 5 values are categories that the model was not" in done.stderr


def test_evaluation_counts_labels_that_are_no_classes(table, tmp_path):
    model, _ = fit(write(table, tmp_path / "data.parquet"), tmp_path)
    table.loc[:99, "label"] = "perhaps"
    table.loc[100:199, "label"] = None
    data = write(table, tmp_path / "new.csv")
    done = run("evaluate", tmp_path / "model.trickless", data, "--json")
    scores = json.loads(done.stdout)
    assert (scores["rows_without_target"], scores["rows_of_unknown_classes"]) == (100, 100)
    largest = table.label[200:].value_counts().max()
    assert scores["error_of_always_guessing_the_largest_class"] == pytest.approx(1 - largest / 500)
    right = model.predict(table[200:]) == table.label[200:]
    assert scores["accuracy"] == pytest.approx(right.sum() / 500)
    yes = scores["classes"][1]
    assert yes["recall"] == pytest.approx(right[table.label == "yes"].mean())
    shown = run("evaluate", tmp_path / "model.trickless", data).stdout
    assert "error of always guessing the largest class" in shown


def test_describe_shows_what_a_model_is(table, tmp_path):
    fit(write(table, tmp_path / "data.csv"), tmp_path)
    path = tmp_path / "model.trickless"
    about = json.loads(run("describe", path, "--json").stdout)
    assert about["bytes"] == path.stat().st_size
    assert about["parameters"]["neurons"] == "trees"
    town = next(column for column in about["columns"] if column["name"] == "town")
    assert town["categories"] == ["Bonn", "Köln", "Ulm"]
    shown = run("describe", path).stdout
    assert "Bonn, Köln, Ulm" in shown
    trickless.save(KitchenSinksRegressor(n_neurons=5), path)
    assert "KitchenSinksRegressor" in run("describe", path).stdout
    assert json.loads(run("describe", path, "--json").stdout)["parameters"]["n_neurons"] == 5
    X = np.random.default_rng(0).random((150, 2))
    trickless.save(
        KitchenSinksRegressor("auto", 20, random_state=0).fit(X, np.sin(9 * X[:, 0])), path
    )
    chosen = json.loads(run("describe", path, "--json").stdout)["chosen_neurons"]
    assert chosen.startswith("Gaussian(length_scale='relevance'), length scales from 0.")


def test_the_package_runs_as_a_command(table, tmp_path):
    data = write(table, tmp_path / "data.csv")
    command = [sys.executable, "-m", "trickless.cli"]
    out = tmp_path / "model.trickless"
    arguments = ["fit", data, "--target", "label", "--out", out, "--n-neurons", "20", "--json"]
    done = subprocess.run([*command, *map(str, arguments)], capture_output=True, check=True)
    assert json.loads(done.stdout)["model"] == str(out)
    assert cli.main(["--version"]) == 0


@pytest.mark.parametrize("n_neurons", [1, 32, 320, 20_000])
@pytest.mark.parametrize("n_others", [1, 1000, 123_457])
def test_steps_of_one_pass_fit_into_memory_and_draw_no_more_than_asked_for(n_others, n_neurons):
    learner = trickless.DoublyStochasticRegressor(n_neurons=n_neurons)
    n_parts = -(-(100 + n_others) * 2**12 // shuffle.PART_CELLS)
    rows = learner._plan_one_pass(100, n_others, n_parts)
    n_steps = -(-100 // rows) - (-n_others // rows)
    drawn = n_steps * learner.neurons_per_step
    assert drawn <= max(2, n_neurons)
    assert drawn > 0.8 * n_neurons or rows == 1  # a row each
    assert rows * 2**12 <= 2 * shuffle.PART_CELLS or learner.neurons_per_step == 1


@pytest.mark.parametrize("sample_rows", [100, 400, 10_000])
def test_one_pass_draws_about_the_neurons_asked_for(
    sample_rows, tmp_path, small_batches, monkeypatch
):
    """However large a share of the rows is in the sample; here some batches are larger."""
    monkeypatch.setattr(profile, "SAMPLE_ROWS", sample_rows)
    data = write(frame(), tmp_path / "data.parquet")
    options = "--learner", "doubly-stochastic", "--neurons", "tabular"
    model, _ = fit(data, tmp_path, *options, n_neurons=320)
    assert 288 <= model.learner.network_.n_neurons <= 320


def test_a_value_that_stands_for_no_data_leaves_the_others_apart(table, tmp_path):
    table["age"] = table["age"].where(np.arange(len(table)) % 50 > 0, -3.4e38)
    table["day"] = (table.day - pd.Timestamp("1970-01-01")).dt.total_seconds() + 1e11
    data = write(table, tmp_path / "data.parquet")
    model, _ = fit(data, tmp_path, "--drop", "price")
    assert model.score(table) > 0.9
    assert table.day.nunique() == model._rows.of_frame(table).day.astype(np.float32).nunique()


def test_rows_of_many_categories_are_sparse(tmp_path, small_batches, monkeypatch):
    names = [f"n{i}" for i in range(700)]
    table = frame(700).assign(town=names)[["age", "town", "label"]]
    table.loc[::5, "town"] = None
    data = write(table, tmp_path / "data.parquet")
    model, _ = fit(data, tmp_path, "--neurons", "gaussian", n_neurons=50)
    assert scipy.sparse.issparse(model._rows.of_frame(table))
    sparse = model.predict_proba(table)
    monkeypatch.setattr("trickless.learners.table_rows._SPARSE", 0)
    assert not scipy.sparse.issparse(model._rows.of_frame(table))
    np.testing.assert_allclose(model.predict_proba(table), sparse, atol=1e-5)
    dense, _ = fit(data, tmp_path, "--neurons", "gaussian", n_neurons=50)
    np.testing.assert_allclose(dense.predict_proba(table), sparse, atol=1e-3)


@pytest.mark.parametrize("value", [0.1, 1e6 + 0.3, -7.7])
def test_a_number_that_is_always_the_same_has_no_deviation(value, tmp_path):
    moments = Moments(1)
    for n in (10, 3, 1000):
        moments.add(np.full((n, 1), value))
    assert moments.deviation() == 0
    table = frame().assign(price=value, member=value)
    data = write(table, tmp_path / "data.parquet")
    model, _ = fit(data, tmp_path, target="price")
    scores = json.loads(run("evaluate", tmp_path / "model.trickless", data, "--json").stdout)
    assert scores["r2"] is None
    assert {column.name: column.scale for column in model.columns}["member"] == 1

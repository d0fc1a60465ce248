"""Numbers in disguise, and names in two Unicode forms, in files: read alike by every command."""

import itertools
import json
import unicodedata

import numpy as np
import pandas as pd
import pytest

import trickless
from table_files import write
from trickless import cli
from trickless.readers import csv_file as csv

VALUES = np.random.default_rng(0).integers(-99_999, 99_999, 200)
DISGUISES = {
    "no-break space": lambda v: f"{v:,}".replace(",", "\u00a0"),
    "narrow space": lambda v: f"{v:,}".replace(",", "\u202f"),
    "thin space": lambda v: f"{v:,}".replace(",", "\u2009"),
    "apostrophe": lambda v: f"{v:,}".replace(",", "\u2019"),
    "minus": lambda v: str(v).replace("-", "\u2212"),
    "accounts": lambda v: f"({-v})" if v < 0 else str(v),
    "unit": lambda v: f"{v} kg",
    "percent": lambda v: f"{v}%",
    "dollars": lambda v: f"${v:,}" if v >= 0 else f"(${-v:,})",
    "commas": lambda v: f"{v:.2f}".replace(".", ","),
}


@pytest.fixture
def call(capsys):
    """The result and the messages of a command."""

    def called(*arguments, code=0):
        assert cli.main(list(map(str, arguments))) == code, capsys.readouterr().err
        done = capsys.readouterr()
        assert "Traceback" not in done.err
        return (json.loads(done.out) if done.out.startswith("{") else done.out), done.err

    return called


@pytest.fixture
def fit(call, tmp_path):
    def fitted(data, *options, code=0, target="y"):
        fixed = "--target", target, "--n-neurons", 12, "--out", tmp_path / "model", "--json"
        return call("fit", data, *fixed, *options, code=code)

    return fitted


def formed(text, form):
    return unicodedata.normalize(form, text)


@pytest.fixture(scope="module", params=[".csv", ".parquet"])
def undisguised(request, tmp_path_factory):
    """The ending of a file, the table of numbers in it, and their model."""
    folder = tmp_path_factory.mktemp("plain")
    plain = pd.DataFrame({"x": VALUES, "z": VALUES % 3, "y": VALUES * 2.0})
    data = str(write(plain, folder / f"plain{request.param}"))
    options = ["--target", "y", "--n-neurons", "12", "--out", str(folder / "model")]
    assert cli.main(["fit", data, *options]) == 0
    return request.param, plain, trickless.load(folder / "model")


@pytest.mark.parametrize("name", DISGUISES)
def test_a_column_in_disguise_gives_the_model_of_its_numbers(
    name, undisguised, tmp_path, fit, call
):
    ending, plain, expected = undisguised
    told = plain.assign(x=list(map(DISGUISES[name], VALUES.tolist())))
    fit(write(told, tmp_path / f"told{ending}"))
    model = trickless.load(tmp_path / "model")
    for field in ("kind", "mean", "scale", "median"):
        assert getattr(model.columns[0], field) == getattr(expected.columns[0], field)
    answers = expected.predict(plain)
    for rows in (told, plain):
        np.testing.assert_array_equal(model.predict(rows), answers)
        out = tmp_path / "out.parquet"
        call("predict", tmp_path / "model", write(rows, tmp_path / f"asked{ending}"), "--out", out)
        np.testing.assert_array_equal(pd.read_parquet(out)["prediction"], answers)


@pytest.mark.parametrize(
    ("name", "ending"), list(zip(DISGUISES, itertools.cycle([".csv", ".parquet"]), strict=False))
)
def test_a_target_in_disguise_is_numbers_in_every_command(name, ending, tmp_path, fit, call):
    table = pd.DataFrame({"x": VALUES, "y": list(map(DISGUISES[name], VALUES.tolist()))})
    data = write(table, tmp_path / f"data{ending}")
    about, _ = fit(data, "--validate", "0.2")
    assert about["task"] == "regression"
    assert about["validation"]["r2"] > 0.9
    scores, _ = call("evaluate", tmp_path / "model", data, "--json")
    assert scores["r2"] == pytest.approx(trickless.load(tmp_path / "model").score(table))


def test_a_unit_is_reported_and_another_one_is_refused(tmp_path, fit, call):
    table = pd.DataFrame({"x": [f"{v} kg" for v in VALUES], "y": VALUES * 2.0})
    _, said = fit(write(table, tmp_path / "data.csv"))
    assert "column 'x': its text is read as numbers, with the unit 'kg'" in said
    table.loc[7, "x"] = "12 lb"
    other = write(table, tmp_path / "other.csv")
    _, said = call("predict", tmp_path / "model", other, "--out", tmp_path / "out.csv", code=2)
    assert "column 'x', row 8: '12 lb' is not a number" in said
    with pytest.raises(ValueError, match=r"column 'x'.*12 lb.*Remedy"):
        trickless.load(tmp_path / "model").predict(table)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("target", ["x", "y"])
def test_a_few_cells_that_are_no_numbers_are_told(target, ending, tmp_path, fit):
    for cell in ("12 kg", "-", "broken"):
        texts = [*map(str, VALUES[:90]), cell]
        table = pd.DataFrame({"x": texts, "y": np.arange(91.0)})
        _, said = fit(write(table, tmp_path / f"data{ending}"), target=target, code=2)
        assert f"column 'x', row 91: {cell!r} is not a number or date" in said
        assert "Remedy" in said
    texts = [*(f"{v / 7:.3f}" for v in range(1100)), "12 kg"]
    table = pd.DataFrame({"x": texts, "y": np.arange(1101.0)})
    _, said = fit(write(table, tmp_path / f"data{ending}"), target=target, code=2)
    assert "column 'x'" in said
    assert "'12 kg'" in said
    table = pd.DataFrame({"x": ["1", "2", "3", "4", "-"] * 20, "y": np.arange(100.0)})
    _, said = fit(write(table, tmp_path / f"data{ending}"), target=target)
    assert "Warning" in said
    assert "column 'x', row 5: '-' is not a number or date" in said


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_labels_of_text_are_those_that_a_csv_file_has(ending, tmp_path, fit, call):
    for texts, labels in (
        (["true", "FALSE"], [False, True]),
        (["1", "0"], [0, 1]),
        (["01", "02"], ["01", "02"]),
        (["yes", "no"], ["no", "yes"]),
    ):
        table = pd.DataFrame({"x": [1.0, 2.0] * 30, "y": texts * 30})
        data = write(table, tmp_path / f"data{ending}")
        about, _ = fit(data)
        assert about["classes"] == labels
        scores, _ = call("evaluate", tmp_path / "model", data, "--json")
        assert scores["accuracy"] == 1
        assert trickless.load(tmp_path / "model").score(table) == 1


def test_a_month_is_a_date(tmp_path, fit):
    months = [f"20{y:02}-{m:02}" for y in range(10, 20) for m in range(1, 13)]
    table = pd.DataFrame({"month": months, "y": np.arange(120.0)})
    about, _ = fit(write(table, tmp_path / "data.csv"))
    assert about["columns"][0]["kind"] == "date"
    expected = pd.to_datetime(months).astype("M8[s]").astype(int).to_numpy().mean() / 86_400
    assert trickless.load(tmp_path / "model").columns[0].mean == pytest.approx(expected)


def test_cells_beyond_the_first_block_are_read_the_same_way(tmp_path, fit, monkeypatch):
    monkeypatch.setattr(csv, "_BLOCK", 2**10)
    late = [*map(str, range(400)), *(f"\u2212{v}" for v in range(400))]
    table = pd.DataFrame({"x": late, "y": np.arange(800.0)})
    fit(write(table, tmp_path / "data.csv"))
    model = trickless.load(tmp_path / "model")
    assert model.columns[0].kind == "number"
    assert model.columns[0].mean == pytest.approx(0, abs=1e-9)
    table.loc[700, "x"] = "twelve"
    _, said = fit(write(table, tmp_path / "data.csv"), code=2)
    assert "column 'x', row 701: 'twelve' is not a number" in said


PARTS = {
    "whole": pd.Series(range(40)),
    "digits": pd.Series(map(str, range(40)), dtype="str"),
    "spaced": pd.Series(f"1\u202f{v:03}" for v in range(40)),
    "fractions": pd.Series(np.arange(40) / 4),
    "words": pd.Series(f"x{v}" for v in range(40)),
    "named": pd.Series(pd.Categorical(f"c{v}" for v in range(40))),
    "nothing": pd.Series([None] * 40, dtype=object),
}


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("parts", list(itertools.combinations(PARTS, 2)))
def test_the_order_of_parts_does_not_matter(parts, ending, tmp_path, fit):
    if ending == ".csv" and "named" in parts:
        return  # CSV declares no categories
    found = []
    for order in (parts, parts[::-1]):
        folder = tmp_path / "_to_".join(order)
        folder.mkdir()
        for i, name in enumerate(order):
            table = pd.DataFrame({"x": PARTS[name], "y": np.arange(40.0) % 7})
            write(table, folder / f"{i}{ending}")
        about, _ = fit(folder, "--task", "regression")
        found.append(about["columns"])
    kinds = [columns[0]["kind"] for columns in found]
    assert kinds[0] == kinds[1]
    assert (kinds[0] == "category") == bool({"words", "named"} & set(parts))
    if kinds[0] == "category":
        assert found[0][0]["categories"] == found[1][0]["categories"]
    else:
        assert found[0][0]["mean"] == pytest.approx(found[1][0]["mean"])


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize(("form", "other"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_unicode_forms_are_one_name_one_level_and_one_class(
    form, other, ending, tmp_path, fit, call
):
    rng = np.random.default_rng(0)

    def table(form):
        towns = ["Köln" if v > 0 else "Zürich" for v in VALUES]
        columns = {
            "größe": VALUES,
            "stadt": towns,
            "zïel": ["jä" if v > 0 else "nö" for v in VALUES],
        }
        columns["weg"] = rng.standard_normal(len(VALUES))
        return pd.DataFrame(
            {
                formed(name, form): [formed(v, form) for v in values]
                if isinstance(values[0], str)
                else values
                for name, values in columns.items()
            }
        )

    folder = tmp_path / "both"
    folder.mkdir()
    paths = [write(table(f), folder / f"{f}{ending}") for f in (form, other)]
    names = formed("zïel", other), formed("größe", other)
    for path in (
        folder,
        write(
            pd.concat([table("NFC"), table("NFD").set_axis(table("NFC").columns, axis=1)]),
            tmp_path / f"mixed{ending}",
        ),
    ):
        about, _ = fit(path, "--drop", names[1], target=names[0])
        assert len(about["classes"]) == 2
    assert [len(c.get("categories", "xx")) for c in about["columns"]] == [2, 2]
    fit(paths[0], target=formed("zïel", form))
    model = trickless.load(tmp_path / "model")
    assert model.classes.tolist() == sorted(formed(text, form) for text in ("jä", "nö"))
    for path, of in zip(paths, (form, other), strict=True):
        scores, said = call("evaluate", tmp_path / "model", path, "--json")
        assert scores["accuracy"] == 1
        assert "not fitted to" not in said
        assert model.score(table(of)) == 1
        assert not model.unknown_categories(table(of))
        out = tmp_path / "out.parquet"
        call("predict", tmp_path / "model", path, "--keep", names[1], "--out", out)
        np.testing.assert_array_equal(pd.read_parquet(out).iloc[:, 0].astype(int), VALUES)


def test_two_columns_of_one_name_in_two_forms_are_refused(tmp_path, fit):
    table = pd.DataFrame({formed("é", "NFC"): [1.0], formed("é", "NFD"): [2.0], "y": [1]})
    _, said = fit(write(table, tmp_path / "data.csv"), code=2)
    assert "U+00E9 and U+0065 U+0301" in said
    assert "Remedy" in said

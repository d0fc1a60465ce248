"""Files with a decimal comma or signs between thousands: what is read, and what errors advise."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from trickless import _cli as cli

OPTIONS = "--decimal", ",", "--thousands", "."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table as Excel writes it in German, and others."""
    folder = tmp_path_factory.mktemp("signs")
    rng = np.random.default_rng(0)
    areas, wet = rng.integers(400, 2000, 1200) / 10, rng.integers(30, 99, 1200)
    days = pd.Timestamp("2000-01-01") + pd.to_timedelta(rng.integers(0, 9000, 1200), "D")
    lines = ["Fläche;Feuchte;Einzug;kunde;Miete"]
    for i, (area, day) in enumerate(zip(areas.tolist(), days, strict=True)):
        rent = f"{15 * area:,.2f}".translate(str.maketrans(",.", ".,"))
        lines.append(f"{area};{wet[i]};{day:%d.%m.%Y};K{i};{rent}".replace(".", ",", 1))
    (folder / "eu.csv").write_text("\n".join(lines) + "\n")
    (folder / "few.csv").write_text("a;y\n" + "".join(f"{i};{i % 5},5\n" for i in range(40)))
    cells = "".join(f'{i},"${i % 9},{i % 7}00","{1 + i % 9},{i % 7}00",{i}.5\n' for i in range(90))
    (folder / "usd.csv").write_text(f"a,usd,n,y\n{cells}")
    (folder / "tens.csv").write_text("a;y\n23,5;1.5\n1,200;2.5\n")
    (folder / "day.csv").write_text("day;y\n04.04.2023;1.5\n05.04.2023;2.5\n")
    options = "--target", "Miete", "--drop", "Einzug", "--drop", "kunde", *OPTIONS, *QUICK
    assert cli.main(["fit", str(folder / "eu.csv"), "--out", str(folder / "model"), *options]) == 0
    return folder


QUICK = "--n-neurons", "9"


def said_by(capsys, *command):
    capsys.readouterr()
    code = cli.main([str(part) for part in command])
    said = capsys.readouterr()
    return code, said.out, said.err


def fit(capsys, folder, file, *options):
    out = "--out", folder / "other", "--json", *QUICK
    return said_by(capsys, "fit", folder / file, *out, *options)


def test_cells_that_all_fit_the_signs_are_numbers(folder, capsys):
    code, out, err = fit(capsys, folder, "eu.csv", "--target", "Miete", *OPTIONS)
    kinds = {column["name"]: column["kind"] for column in json.loads(out)["columns"]}
    texts = {"Einzug": "category", "kunde": "category"}
    assert (code, kinds) == (0, {"Fläche": "number", "Feuchte": "number", **texts})
    assert "This is regression" in err
    scores = said_by(capsys, "evaluate", folder / "model", folder / "eu.csv", "--target", "Miete")
    assert scores[0] == 2
    scores = "evaluate", folder / "model", folder / "eu.csv", "--target", "Miete", *OPTIONS
    assert said_by(capsys, *scores)[0] == 0


def test_amounts_with_a_currency_are_categories(folder, capsys):
    _, out, err = fit(capsys, folder, "usd.csv", "--target", "y", "--thousands", ",")
    kinds = {column["name"]: column["kind"] for column in json.loads(out)["columns"]}
    assert kinds == {"a": "number", "usd": "category", "n": "number"}
    assert "looks like numbers" not in err


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        ("fit eu.csv --target Miete", "pass --decimal , --thousands . or, if they are names, --ta"),
        ("fit eu.csv --target Miete --decimal ,", "pass --decimal , --thousands . or, if"),
        ("fit few.csv --target y", "pass --decimal , or, if they are names, --task classification"),
        ("fit tens.csv --target y --thousands , --types a=number", "pass --decimal , or, if the"),
        (
            "fit usd.csv --target y --decimal , --delimiter ,",
            "pass --decimal . or, if they are nam",
        ),
        ("fit tens.csv --target y --types y=number --decimal ,", "pass --decimal . or, if the col"),
        ("fit day.csv --target y --types day=date", "dates as 2026-01-31 or, if the column holds"),
        ("predict model eu.csv", "pass --decimal , as in the fit; the model was fitted to numbers"),
        (
            "evaluate model eu.csv --target Miete --decimal ,",
            "pass --decimal , --thousands . as in",
        ),
    ],
)
def test_errors_name_the_options_that_help(command, remedy, folder, capsys):
    name, *files, options = [*command.partition(" --")[0].split(), command.partition(" --")[2]]
    options = shlex.split(f"--{options}") if options else []
    options += {"fit": ["--out", folder / "no"], "predict": ["--out", folder / "no.csv"]}.get(
        name, []
    )
    code, _, err = said_by(capsys, name, *(folder / file for file in files), *options)
    assert code == 2
    assert f"Remedy: {remedy}" in err.replace("write dates", "dates")
    assert "--types" not in err or name == "fit"


def test_warnings_speak_of_options(folder, capsys):
    """Each names its column once, and what ``fit`` can do about it."""
    _, _, err = fit(capsys, folder, "eu.csv", "--target", "Feuchte")
    area, rent = "--types 'Fläche=category'", "--types Miete=category"
    assert f"pass --decimal , or, if they are names, {area}." in err
    assert f"pass --decimal , --thousands . or, if they are names, {rent}." in err
    assert "--drop kunde, or derive" in err
    assert "--types Einzug=date if it holds dates such as 2026-01-31" in err
    for python in ("pandas", " of X", "astype"):
        assert python not in err
    assert err.count("Fläche") == 2
    told = "--types", "Fläche=category", "--types", "Miete=category"
    _, _, err = fit(capsys, folder, "eu.csv", "--target", "Feuchte", *told)
    assert "looks like numbers" not in err

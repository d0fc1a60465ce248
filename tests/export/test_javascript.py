"""Models in JavaScript answer as in Python."""

import json
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from export_cases import CASES, expected, tolerance
from trickless import DoublyStochasticRegressor, KitchenSinksClassifier, to_js
from trickless.neurons import Gaussian

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(
    NODE is None, reason="there is no Node.js. Remedy: apt install nodejs"
)

RUN = """
import fs from "node:fs";
const rows = JSON.parse(fs.readFileSync("rows.json")), found = {};
for (const name of Object.keys(rows)) {
  const model = await import(`./${name}.mjs`);
  const of = (answer) => answer && rows[name].map((row) => answer(row));
  found[name] = {predict: of(model.predict), decide: of(model.decide),
    proba: of(model.predictProba), std: of(model.predictStd), classes: model.classes,
    interval: of(model.predictInterval), set: of(model.predictSet)};
}
const { predict } = await import("./frame.mjs"), row = rows.frame[0];
function said(row) {
  try {
    return predict(row);
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
}
const rest = row.slice(1), named = {length: row[0], 'wid"th': row[1], town: row[2], day: row[3]};
const missing = {...named, length: null}, when = {...named, day: new Date(0)};
found.odd = [rest, ["text", ...rest], [Infinity, ...rest], {}, when, missing, named].map(said);
fs.writeFileSync("found.json", JSON.stringify(found));
"""


@pytest.fixture(scope="module")
def cases():
    return {name: make() for name, make in CASES.items()}


@pytest.fixture(scope="module")
def found(cases, tmp_path_factory):
    """What all models answer in one process."""
    folder, rows = tmp_path_factory.mktemp("javascript"), {}
    for name, case in cases.items():
        to_js(case.model, folder / f"{name}.mjs", **case.options)
        rows[name] = [[None if v != v else v for v in row] for row in case.numbers.tolist()]
        if "town" in getattr(case.rows, "columns", ()):  # categories are strings
            for row, town in zip(rows[name], case.rows["town"], strict=True):
                row[2] = town if isinstance(town, str) else None
    (folder / "rows.json").write_text(json.dumps(rows))
    (folder / "run.mjs").write_text(RUN)
    subprocess.run([NODE, "run.mjs"], cwd=folder, check=True)
    return json.loads((folder / "found.json").read_text())


@needs_node
@pytest.mark.parametrize("name", CASES)
def test_a_model_in_javascript_answers_as_in_python(name, cases, found):
    case, answers = cases[name], found[name]
    for what, wanted in expected(case).items():
        values = answers[what]
        if what == "predict" and "classes" in answers and wanted.shape[1] == 1:
            model = getattr(case.model, "model", case.model)
            assert answers["classes"] == model.classes_.tolist()
            values = [answers["classes"].index(label) for label in values]
        if what == "set":
            values = [[label in some for label in answers["classes"]] for some in values]
        values = np.reshape(values, wanted.shape)
        spread = np.ptp(wanted, axis=0) + 1e-3
        assert (np.abs(values - wanted) <= tolerance(case) * spread).all(), what


@needs_node
def test_odd_rows_are_refused_with_their_cause(cases, found):
    short, text, infinite, nothing, date, missing, by_name = found["odd"]
    assert short == "RangeError: a row has 4 values, but this one has 3"
    assert text == "TypeError: value 0 of the row is no number"
    assert infinite.startswith("RangeError: the row holds a value that the model cannot use")
    assert nothing == 'RangeError: the row has no value "length"'
    assert date == "TypeError: value 3 of the row is a Date: pass the days since 1970"
    assert isinstance(missing, float)
    assert by_name == pytest.approx(cases["frame"].model.predict(cases["frame"].rows)[0])


@needs_node
def test_categories_may_be_numbers_or_empty(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"k": rng.choice([1, 2, 5], 200), "t": rng.choice(["", "a", "b"], 200)})
    X["k"] = X["k"].astype("category")
    y = X["k"].astype(float) ** 2 + 7 * (X["t"] == "")
    model = DoublyStochasticRegressor("trees", 30, random_state=0).fit(X, y)
    to_js(model, tmp_path / "model.mjs")
    rows = [{"k": 5, "t": "a"}, {"k": "5", "t": "a"}, {"k": 2, "t": ""}]
    code = f"import {{ predict }} from './model.mjs'; const rows = {json.dumps(rows)};"
    code += "console.log(JSON.stringify(rows.map(predict)));"
    (tmp_path / "run.mjs").write_text(code)
    said = subprocess.run([NODE, "run.mjs"], cwd=tmp_path, check=True, stdout=subprocess.PIPE)
    asked = pd.DataFrame([[5, "a"], [5, "a"], [2, ""]], columns=["k", "t"])
    np.testing.assert_allclose(json.loads(said.stdout), model.predict(asked), rtol=1e-9)


@pytest.mark.parametrize("label", [2**53 + 1, "\ud800"])
def test_labels_that_javascript_cannot_hold_are_refused(label, tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 3))
    y = np.where(X[:, 0] > 0, label, type(label)(0))
    model = KitchenSinksClassifier(Gaussian(1.0), 5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"to_js: the label .*Remedy"):
        to_js(model, tmp_path / "model.js")
    with pytest.raises(ValueError, match=re.escape("does not end in .js or .mjs")):
        to_js(model, tmp_path / "model.txt")
    assert not list(tmp_path.iterdir())

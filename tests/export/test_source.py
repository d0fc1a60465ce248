"""Models in C and JavaScript answer as in Python, and no text or row can break them."""

import json
import os
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from cases import shots
from export_cases import CASES, CONFIDENCE, ODD, as_columns, frame, made, tolerance
from trickless import (
    BoostedTreesRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    RandomFeatures,
)
from trickless._learners.kernel_gradient import KERNELS
from trickless.export import to_c, to_js
from trickless.kernels import KernelGradientRegressor
from trickless.neurons import Gaussian, Laplace, Tanimoto

CC, NODE = shutil.which("cc"), shutil.which("node")
needs_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler. Remedy: apt install gcc")
needs_node = pytest.mark.skipif(NODE is None, reason="there is no Node.js. Remedy: apt install it")
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O0"]
CHECKED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
#: Whose programs the sanitizers check: integers of 64 bits, bins, long buffers, sorting, text.
SAMPLE = ["family_tanimoto", "family_convolutions", "family_landmarks_fixed", "linear", "binary"]
SAMPLE += ["frame_tabular", "sets_of_others", "quantiles", "label_sets", "outputs"]


def columns_of(each, missing=np.nan):
    """The columns of a case's rows, as lists of rows."""
    if isinstance(each.rows, pd.DataFrame):
        return as_columns(each.rows, missing).to_numpy(dtype=object).tolist()
    return np.asarray(each.rows).tolist()


def c_text(text):
    return '"' + "".join(f"\\{byte:03o}" for byte in text.encode()) + '"'


def c_number(value):
    return "NAN" if np.isnan(value) else repr(float(value))


def program(name, each):
    """A function that prints what a model in C says of its rows."""
    rows, upper = columns_of(each), name.upper()
    cells = [
        [f"{name}_category({j}, {c_text(v)})" if isinstance(v, str) else c_number(v)
         for j, v in enumerate(row)] for row in rows
    ]  # fmt: skip
    lines = [f"static void run_{name}(void) {{"]
    for output, values in each.answers.items():
        kind = "double" if np.asarray(values).dtype.kind == "f" else "int"
        kind = "int" if output in ("label", "set") else kind
        lines.append(f"  {kind} {output}[{upper}_{output.upper()}_SIZE];")
    table = ",\n".join(f"{{{', '.join(row)}}}" for row in cells)
    lines.append(f"  double x[{len(cells)}][{upper}_N_COLUMNS] = {{{table}}};")
    lines.append(f"  for (int row = 0; row < {len(cells)}; row++) {{")
    for output in each.answers:
        lines.append(f"    if ({name}_{output}(x[row], {output})) exit(1);")
        lines.append(f"    for (int i = 0; i < {upper}_{output.upper()}_SIZE; i++) "
                     f'printf("%.17g ", (double){output}[i]);')  # fmt: skip
    return "\n".join([*lines, '    printf("\\n");', "  }", "}"])


def built(folder, names, cases, options):
    """Compile models into one program, and return what it prints for each."""
    for name in names:
        outputs = tuple(cases[name].answers)
        to_c(cases[name].model, folder / f"{name}.c", outputs=outputs, confidence=CONFIDENCE)
    text = ["#include <math.h>", "#include <stdio.h>", "#include <stdlib.h>"]
    text += [f'#include "{name}.h"' for name in names]
    text += [program(name, cases[name]) for name in names]
    calls = "".join(f' run_{name}(); printf("\\f");' for name in names)
    (folder / "main.c").write_text("\n".join([*text, f"int main(void) {{{calls} return 0; }}", ""]))
    sources = ["main.c", *(f"{name}.c" for name in names)]
    subprocess.run([CC, *STRICT, *options, *sources, "-o", "main", "-lm"], cwd=folder, check=True)
    done = subprocess.run(["./main"], cwd=folder, capture_output=True, text=True, check=True)
    assert not done.stderr
    return dict(zip(names, done.stdout.split("\f"), strict=False))


@pytest.fixture(scope="module")
def cases():
    return {name: made(name) for name in CASES}


@pytest.fixture(scope="module")
def in_c(cases, tmp_path_factory):
    """What programs in C say, some of them under sanitizers."""
    found = built(tmp_path_factory.mktemp("checked"), SAMPLE, cases, CHECKED)
    others = [name for name in CASES if name not in SAMPLE]
    return found | built(tmp_path_factory.mktemp("c"), others, cases, [])


@pytest.fixture(scope="module")
def in_js(cases, tmp_path_factory):
    """What modules of JavaScript say."""
    folder = tmp_path_factory.mktemp("js")
    lines = ["import { readFileSync } from 'node:fs';", "const found = {};"]
    for name, each in cases.items():
        outputs = tuple(each.answers)
        to_js(each.model, folder / f"{name}.mjs", outputs=outputs, confidence=CONFIDENCE)
        rows = columns_of(each, None)
        rows = [[None if v != v else v for v in row] for row in rows]
        if isinstance(each.rows, pd.DataFrame):
            rows = [dict(zip(each.rows.columns, row, strict=True)) for row in rows]
        (folder / f"{name}.json").write_text(json.dumps(rows))
        lines.append(
            f"{{ const m = await import('./{name}.mjs'); const answers = {{}};"
            f"const rows = JSON.parse(readFileSync('{name}.json'));"
            f"for (const o of {json.dumps(outputs)}) answers[o] = rows.map(m[o]);"
            f"found['{name}'] = answers; }}"
        )
    (folder / "run.mjs").write_text("\n".join([*lines, "console.log(JSON.stringify(found));"]))
    done = subprocess.run([NODE, "run.mjs"], cwd=folder, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def check(each, output, found):
    """Compare what is found with the answer of Python: numbers by units of rounding."""
    expected = np.asarray(each.answers[output])
    if expected.dtype.kind != "f" or output == "label":
        np.testing.assert_array_equal(np.reshape(found, expected.shape), expected, output)
    else:
        off = np.abs(np.reshape(found, expected.shape) - expected)
        assert off.max() <= tolerance(each, expected), output


@needs_cc
@pytest.mark.parametrize("name", CASES)
def test_a_model_in_c_answers_as_in_python(name, cases, in_c):
    each = cases[name]
    found = np.array([line.split() for line in in_c[name].splitlines() if line], dtype=float)
    start = 0
    for output, expected in each.answers.items():
        width = 1 if expected.ndim == 1 else int(np.prod(expected.shape[1:]))
        values = found[:, start : start + width]
        if output == "label" and expected.ndim == 1:
            labels = getattr(each.model, "estimator", each.model).classes_
            values = labels[values[:, 0].astype(int)]
        check(each, output, values)
        start += width
    assert start == found.shape[1]


@needs_node
@pytest.mark.parametrize("name", CASES)
def test_a_model_in_javascript_answers_as_in_python(name, cases, in_js):
    for output in cases[name].answers:
        check(cases[name], output, in_js[name][output])


def run_js(folder, code):
    (folder / "run.mjs").write_text(code)
    done = subprocess.run([NODE, "run.mjs"], cwd=folder, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


@needs_cc
@needs_node
def test_what_python_takes_for_missing_is_missing_everywhere(tmp_path):
    table, y = frame()
    model = BoostedTreesRegressor(12, random_state=0).fit(table, y)
    row = table[:1].copy()
    row["constructor"] = None
    missing = model.predict(row)[0]
    row["constructor"] = "unknown"
    unknown = model.predict(row)[0]
    assert missing != unknown
    row["constructor"] = ""
    assert model.predict(row)[0] == unknown
    to_js(model, tmp_path / "model.mjs")
    to_c(model, tmp_path / "model.c")
    texts = ["", "NA", "nan", "unknown", "toString", "__proto__"]
    row = json.dumps([None if v != v else v for v in columns_of(made("frame_trees"))[0]])
    code = f"""import {{ prediction }} from './model.mjs'; const row = {row};
      const answer = (cell) => {{ row[2] = cell; return prediction(row); }};
      console.log(JSON.stringify([null, undefined, NaN, ...{json.dumps(texts)}].map(answer)));"""
    found = run_js(tmp_path, code)
    np.testing.assert_allclose(found, [missing] * 3 + [unknown] * 6, rtol=1e-12)
    calls = "".join(
        f'printf("%d", model_category(2, {c_text(text)}) == model_category(2, "unknown"));'
        for text in texts
    )
    text = f'#include <stdio.h>\n#include "model.h"\nint main(void) {{ {calls} return 0; }}'
    (tmp_path / "main.c").write_text(text)
    subprocess.run([CC, *STRICT, "main.c", "model.c", "-lm"], cwd=tmp_path, check=True)
    done = subprocess.run(["./a.out"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "111111"


@needs_node
@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, "named"], ids=str)
@pytest.mark.parametrize(
    "learner",
    [
        BoostedTreesRegressor(12, random_state=0),
        *(KitchenSinksRegressor(name, 20, random_state=0) for name in ("tabular", "gaussian")),
    ],
    ids=str,
)
def test_every_container_of_rows_is_written(learner, container, tmp_path):
    """A frame made of an array has numbers for names, which scikit-learn does not keep."""
    X = np.random.default_rng(0).standard_normal((60, 2))
    table = pd.DataFrame(X, columns=["a", "b"]) if container == "named" else container(X)
    learner = clone(learner).fit(table, np.sin(X[:, 0]) + X[:, 1])
    to_c(learner, tmp_path / "model.c")
    to_js(learner, tmp_path / "model.mjs")
    names = ["a", "b"] if container == "named" else ["0", "1"]
    row = X[0].tolist()
    cells = [*zip(names, row, strict=True)]
    code = f"""import {{ columns, prediction }} from './model.mjs';
      const named = columns ? [Object.fromEntries({json.dumps(cells)})] : [];
      console.log(JSON.stringify([{json.dumps(row)}, ...named].map(prediction)));"""
    expected = learner.predict(table[:1])[0]
    np.testing.assert_allclose(run_js(tmp_path, code), expected, rtol=1e-5)


def refuses(model, row):
    try:
        model.predict([row])
    except ValueError:
        return True
    return False


@needs_cc
@needs_node
def test_rows_that_python_refuses_are_refused(tmp_path):
    X = np.random.default_rng(0).standard_normal((50, 2))
    model = KitchenSinksRegressor(Gaussian(1.0), 10, random_state=0).fit(X, X[:, 0])
    trees = BoostedTreesRegressor(4, random_state=0).fit(X, X[:, 0])
    for name, each in (("model", model), ("trees", trees)):
        to_c(each, tmp_path / f"{name}.c")
        to_js(each, tmp_path / f"{name}.mjs")
    rows = ["{NAN, 0}", "{INFINITY, 0}", "{-INFINITY, 0}", "{1e39, 0}", "{1e38, 0}"]
    rows += ["{0, 3.4028235e38}"]  # which single precision rounds to its largest number
    text = (
        '#include <math.h>\n#include <stdio.h>\n#include "model.h"\n#include "trees.h"\n'
        f"int main(void) {{ double rows[6][2] = {{{', '.join(rows)}}}, y[1];\n"
        'for (int i = 0; i < 6; i++) printf("%d%d ", model_prediction(rows[i], y), '
        "trees_prediction(rows[i], y)); }"
    )
    (tmp_path / "main.c").write_text(text)
    command = [CC, *STRICT, *CHECKED, "main.c", "model.c", "trees.c", "-o", "main", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True)
    cells = [[np.nan, 0], [np.inf, 0], [-np.inf, 0], [1e39, 0], [1e38, 0], [0, 3.4028235e38]]
    expected = ["".join(str(int(refuses(each, row))) for each in (model, trees)) for row in cells]
    assert done.stdout.split() == expected
    assert expected[:5] == ["10", "11", "11", "10", "00"]  # trees read double precision
    code = """import { prediction } from './model.mjs';
      const rows = [[1], ["x", 1], [null, 1], [new Date(0), 1], [Infinity, 1], {}];
      const said = rows.map((row) => {
        try { return prediction(row); } catch (e) { return `${e}`; }
      });
      console.log(JSON.stringify(said));"""
    short, text, gap, date, infinite, named = run_js(tmp_path, code)
    assert short == "RangeError: a row has 2 values, but this one has 1"
    assert text.startswith("TypeError: value 0 of the row is no number")
    assert date.startswith("TypeError: value 0 of the row is no number")
    assert gap.startswith("RangeError: the row holds a value that the model cannot use")
    assert infinite == gap
    assert named == "TypeError: the row is no array"


#: Dates, with what they are as numbers of days: before 1970, with a time of day, and missing.
MOMENTS = ["1970-01-01", "1969-12-30 06:00", "1968-02-29 23:59:59.999999", "2026-01-31 12:00", None]
DAYS = [0, -1.75, -671 - 1e-6 / 86_400, 20_484.5, np.nan]
#: Numbers that are no days: seconds and milliseconds since 1970, and digits.
NO_DAYS = [1.7e9, -1.7e12, 20_260_131]


def said_of_dates(model, folder):
    """What C and JavaScript say of rows (0, day), and JavaScript of dates; NaN if refused."""
    to_c(model, folder / "model.c")
    to_js(model, folder / "model.mjs")
    days = [*DAYS, *NO_DAYS]
    text = f"""#include <math.h>\n#include <stdio.h>\n#include "model.h"\nint main(void) {{
      double x[][2] = {{{", ".join(f"{{0, {c_number(day)}}}" for day in days)}}}, y[1];
      for (int i = 0; i < {len(days)}; i++)
        if (model_prediction(x[i], y)) puts("nan"); else printf("%.17g\\n", y[0]); }}"""
    (folder / "main.c").write_text(text)
    subprocess.run([CC, *STRICT, "main.c", "model.c", "-lm"], cwd=folder, check=True)
    done = subprocess.run(["./a.out"], cwd=folder, capture_output=True, text=True, check=True)
    code = f"""import {{ prediction }} from './model.mjs';
      const answer = (d) => {{ try {{ return prediction([0, d]); }} catch (e) {{ return null; }} }};
      const dates = {json.dumps(MOMENTS[:2] + MOMENTS[3:4])}.map((text) => new Date(text + "Z"));
      const all = [...{json.dumps([None if d != d else d for d in days])}, ...dates, new Date("x")];
      console.log(JSON.stringify(all.map(answer)));"""
    from_js = np.array(run_js(folder, code), dtype=float)
    return np.array(done.stdout.split(), dtype=float), from_js[: len(days)], from_js[len(days) :]


@needs_cc
@needs_node
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Kolkata"])
@pytest.mark.parametrize(
    "learner",
    [
        BoostedTreesRegressor(12, random_state=0),
        KitchenSinksRegressor("tabular", 20, dtype="float64", random_state=0),
        KitchenSinksRegressor(Gaussian(9.0), 20, dtype="float64", random_state=0),
    ],
    ids=["trees", "tabular", "gaussian"],
)
def test_a_date_is_days_since_1970_wherever_rows_have_no_types(learner, zone, tmp_path):
    """One rule for rows of numbers in Python, C and JavaScript; frames have dates only."""
    rng = np.random.default_rng(0)
    days = np.concatenate([DAYS[:4], rng.uniform(-900, 900, 96)])
    moments = pd.Series(pd.Timestamp(0) + pd.to_timedelta(days, "D"))

    def frame_of(moments):
        moments = moments if zone is None else moments.dt.tz_localize("UTC").dt.tz_convert(zone)
        return pd.DataFrame({"a": np.zeros(len(moments)), "day": moments})

    gaps = "gaussian" not in str(learner).lower()
    table = frame_of(moments)
    if gaps:
        table.loc[50:60, "day"] = pd.NaT
    model = clone(learner).fit(table, np.sin(days / 300) + (days > 10_000))
    n = len(DAYS) if gaps else 4
    rows = frame_of(pd.Series(pd.to_datetime(MOMENTS[:n], format="ISO8601")))
    expected = model.predict(rows)
    tolerance = {"rtol": 1e-9, "atol": 1e-9}
    numbers = np.stack([np.zeros(n), DAYS[:n]], axis=1)
    for same in (numbers, numbers.tolist(), numbers.astype(object), rows.to_numpy()):
        np.testing.assert_allclose(model.predict(same), expected, **tolerance)
        one_by_one = [model.predict(same[i : i + 1])[0] for i in range(n)]
        np.testing.assert_allclose(one_by_one, expected, **tolerance)
    in_c, in_js, of_dates = said_of_dates(model, tmp_path)
    padded = np.append(expected, [np.nan] * (len(in_c) - n))
    np.testing.assert_allclose(in_c, padded, **tolerance)
    np.testing.assert_allclose(in_js, padded, **tolerance)
    refused = [np.nan] * 4 if zone is None else [*expected[[0, 1, 3]], np.nan]
    np.testing.assert_allclose(of_dates, refused, **tolerance)
    with pytest.raises(ValueError, match=r"'day' of X held dates.*Remedy: "):
        model.predict(rows.assign(day=DAYS[:n]))
    for number in NO_DAYS:
        with pytest.raises(ValueError, match=r"days from 1970-01-01.*Remedy: days"):
            model.predict([[0, number]])


@needs_node
@pytest.mark.parametrize(
    ("model", "output", "row"),
    [
        (RandomFeatures(Laplace(0.1), 60, dtype="float32", random_state=0), "features", [3e38] * 3),
        (KitchenSinksRegressor(Tanimoto(), 5, random_state=0), "prediction", [-1, 1, 1]),
    ],
    ids=["overflow", "negative"],
)
def test_answers_that_python_refuses_are_refused(model, output, row, tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 3))
    X = np.abs(X) if output == "prediction" else X
    model = clone(model).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="Remedy: "):
        model.transform([row]) if output == "features" else model.predict([row])
    to_js(model, tmp_path / "model.mjs", outputs=output)
    code = f"""import {{ {output} }} from './model.mjs'; let said;
      try {{ said = {output}({row}); }} catch (e) {{ said = `${{e}}`; }}
      console.log(JSON.stringify(said));"""
    assert run_js(tmp_path, code).startswith("RangeError: the row holds a value that the model")


@needs_node
def test_kernels_of_huge_rows_overflow_where_they_do_in_python(tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 3))
    rows = [[size, -size / 3, 1.0] for size in 10.0 ** np.array([10, 13, 20, 30, 38, 110, 300])]
    code, expected = f"const all = [], rows = {json.dumps(rows)};", []
    for i, kernel in enumerate(KERNELS):
        model = KernelGradientRegressor(kernel, random_state=0).fit(X, X[:, 0])
        to_js(model, tmp_path / f"m{i}.mjs")
        code += f"""all.push(await import('./m{i}.mjs').then((m) => rows.map((row) => {{
          try {{ return m.prediction(row); }} catch (e) {{ return null; }} }})));"""
        expected.append([np.nan if refuses(model, r) else model.predict([r])[0] for r in rows])
    found = run_js(tmp_path, f"{code} console.log(JSON.stringify(all));")
    np.testing.assert_allclose(np.array(found, dtype=float), expected, rtol=1e-5)
    assert np.isnan(expected).any()
    assert np.isfinite(expected).any()


@needs_cc
@pytest.mark.filterwarnings("ignore:Boosted")
def test_a_constant_model_of_a_frame_compiles(tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((40, 2)))
    to_c(BoostedTreesRegressor(4, random_state=0).fit(X, np.zeros(40)), tmp_path / "model.c")
    subprocess.run([CC, *STRICT, "-c", "model.c"], cwd=tmp_path, check=True)


@needs_node
def test_names_of_columns_are_own_properties(cases, tmp_path):
    to_js(cases["frame_trees"].model, tmp_path / "model.mjs")
    code = """import { prediction } from './model.mjs'; let said;
      try { said = prediction({ length: 1, 'wid"th': 2, day: 3 }); } catch (e) { said = `${e}`; }
      console.log(JSON.stringify(said));"""
    assert run_js(tmp_path, code) == 'RangeError: the row has no value "constructor"'


@needs_cc
@needs_node
def test_no_label_ends_its_string(cases, tmp_path):
    model = cases["several"].model
    to_c(model, tmp_path / "model.c", outputs="label")
    to_js(model, tmp_path / "model.mjs", outputs="label")
    labels = sorted(ODD[:3].tolist()) if len(model.classes_) == 3 else model.classes_.tolist()
    code = "import { labels } from './model.mjs'; console.log(JSON.stringify(labels));"
    assert run_js(tmp_path, code) == model.classes_.tolist()
    assert len(labels) == 3
    assert "</script>" not in (tmp_path / "model.mjs").read_text()
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "model.h"\nint main(void) { '
        'for (int i = 0; i < MODEL_N_LABELS; i++) printf("%s%c", model_labels[i], 1); return 0; }'
    )
    subprocess.run([CC, *STRICT, "main.c", "model.c", "-lm"], cwd=tmp_path, check=True)
    done = subprocess.run(["./a.out"], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout.decode().split("\1")[:-1] == model.classes_.tolist()


@needs_cc
def test_functions_of_small_models_allocate_nothing(cases, tmp_path):
    to_c(cases["frame_tabular"].model, tmp_path / "model.c")
    subprocess.run([CC, *STRICT, "-c", "model.c"], cwd=tmp_path, check=True)
    command = ["nm", "-u", "model.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    used = set(re.findall(r"U (\w+)", done.stdout))
    assert used <= {"cos", "sin", "floor", "strcmp", "bsearch", "memset", "_GLOBAL_OFFSET_TABLE_"}


def fitted(learner, y=None):
    X = np.random.default_rng(0).standard_normal((60, 3))
    return learner.fit(X, X[:, 0] if y is None else y(X))


def text_of(label):
    return lambda X: np.where(X[:, 0] > 0, label, "b")


SMALL = Gaussian(1.0), 5
WRONG = {
    "not fitted": lambda: KitchenSinksRegressor(),
    "kernel=<function shots": lambda: fitted(KernelGradientRegressor(shots)),
    "model=object": lambda: object(),
}


@pytest.mark.parametrize("said", WRONG)
def test_what_cannot_be_written_is_refused_and_leaves_no_file(said, tmp_path):
    model = WRONG[said]()
    for write, path in ((to_c, "model.c"), (to_js, "model.js")):
        with pytest.raises((ValueError, TypeError), match=said):
            write(model, tmp_path / path)
    assert not list(tmp_path.iterdir())


def test_parameters_are_checked(tmp_path):
    model = fitted(KitchenSinksRegressor(*SMALL))
    labels = fitted(KitchenSinksClassifier(*SMALL), text_of("a\0b"))
    halves = fitted(KitchenSinksClassifier(*SMALL), text_of("\ud800"))
    numbers = fitted(KitchenSinksClassifier(*SMALL), lambda X: np.where(X[:, 0] > 0, 2**53 + 1, 0))
    path = tmp_path / "model.c"
    for error, call, said in (
        (
            TypeError,
            lambda: to_c(model, path, name=3),
            "to_c: name=3, but it must be ASCII letters",
        ),
        (ValueError, lambda: to_c(model, path, name="2x"), "to_c: name='2x', but it must be"),
        (ValueError, lambda: to_c(halves, path), "to_c: .* half of a pair"),
        (ValueError, lambda: to_c(model, tmp_path / "model.h"), "does not end in .c"),
        (ValueError, lambda: to_js(model, tmp_path / "model.txt"), "does not end in .js"),
        (ValueError, lambda: to_c(model, path, outputs="median"), "to_c: outputs='median'"),
        (ValueError, lambda: to_c(model, path, confidence=2), "to_c: confidence=2"),
        (ValueError, lambda: to_c(labels, path), "to_c: .* null character"),
        (ValueError, lambda: to_js(numbers, tmp_path / "model.js"), "to_js: the label"),
    ):
        with pytest.raises(error, match=f"{said}.*Remedy"):
            call()
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="folders that cannot be written are of POSIX")
def test_both_files_are_written_or_none(tmp_path):
    model = fitted(KitchenSinksRegressor(*SMALL))
    (tmp_path / "model.h").mkdir()
    with pytest.raises((ValueError, OSError), match=r"model\.h"):
        to_c(model, tmp_path / "model.c")
    assert [path.name for path in tmp_path.iterdir()] == ["model.h"]

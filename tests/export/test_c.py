"""Models in C answer as in Python, in programs that the compiler and its sanitizers check."""

import errno
import os
import re
import shutil
import subprocess

import numpy as np
import pytest

import trickless
from cases import shots
from export_cases import CASES, ODD, expected, tolerance
from trickless import (
    DoublyStochasticRegressor,
    KernelGradientRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    RandomFeatures,
    to_c,
    to_js,
)
from trickless.neurons import Dense, Gaussian, Stumps

CC = shutil.which("cc")
needs_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler. Remedy: apt install gcc")
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O0"]
CHECKED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

#: Reads rows, and writes the status and the values of each function of a model, row by row.
RUN = """
static void run_@(FILE *rows, FILE *out) {
  double x[$_N_FEATURES], values[64];
  while (fread(x, sizeof x, 1, rows) == 1) {
    for (int i = 0; i < 64; i++) values[i] = -77.0;
    double status = CALL;
    fwrite(&status, sizeof status, 1, out);
    fwrite(values, sizeof(double), SIZE, out);
  }
}
"""
CALLS = {
    "predict": ("@_predict(x, values)", "$_N_OUTPUTS"),
    "std": ("@_std(x, values)", "$_N_OUTPUTS"),
    "interval": ("@_interval(x, values)", "$_N_ENDS"),
    "decide": ("@_decide(x, values)", "$_N_OUTPUTS"),
    "proba": ("@_proba(x, values)", "$_N_LABELS"),
    "set": ("call_sets_@(x, values)", "$_N_LABELS"),
    "label": ("(values[0] = @_predict(x), values[0] < 0.0)", "1"),
    "labels": ("call_sets_@(x, values)", "$_N_LABELS"),
}
SETS = """
static int call_sets_@(const double *x, double *values) {
  int y[$_N_LABELS];
  int status = @_FUNCTION(x, y);
  for (int i = 0; i < $_N_LABELS; i++) values[i] = y[i];
  return status;
}
"""


CALLED = """
  {
    FILE *rows = fopen("@.rows", "rb"), *out = fopen("@.WHAT", "wb");
    run_@_WHAT(rows, out);
    fclose(rows);
    fclose(out);
  }
"""
TABLES = """
  for (int i = 0; i < ONE_TEMPERATURE_N_LABELS; i++) printf("%s%c", one_temperature_labels[i], 1);
  for (int i = 0; i < 5; i++) printf("%d ", frame_category(2, towns[i]));
  printf("%d %d", frame_category(2, "x"), frame_category(9, "x"));
"""


def named(text, name):
    return text.replace("@", name).replace("$", name.upper())


def driver(cases, answers):
    """A program that answers all rows of all cases, and prints tables of text."""
    text = ["#include <stdio.h>", '#include "towns.h"', *(f'#include "{name}.h"' for name in cases)]
    calls = []
    for name in cases:
        for what in answers[name]:
            key = what
            if what == "predict" and not {"decide", "proba"}.isdisjoint(answers[name]):
                key = "labels" if answers[name]["predict"].shape[1] > 1 else "label"
            if key in ("labels", "set"):
                text.append(named(SETS.replace("FUNCTION", what), name))
            call, size = CALLS[key]
            body = RUN.replace("run_@", f"run_@_{what}").replace("CALL", call)
            text.append(named(body.replace("SIZE", size), name))
            calls.append(named(CALLED.replace("WHAT", what), name))
    return "\n".join([*text, "int main(void) {", *calls, TABLES, "  return 0;", "}", ""])


@pytest.fixture(scope="module")
def cases():
    return {name: make() for name, make in CASES.items()}


@pytest.fixture(scope="module")
def folder(cases, tmp_path_factory):
    """A folder in which a program has answered all rows of all cases."""
    folder = tmp_path_factory.mktemp("c")
    answers = {name: expected(case) for name, case in cases.items()}
    for name, case in cases.items():
        to_c(case.model, folder / f"{name}.c", **case.options)
        np.ascontiguousarray(case.numbers, dtype=float).tofile(folder / f"{name}.rows")
    towns = ["".join(f"\\{byte:03o}" for byte in town.encode()) for town in sorted(ODD.tolist())]
    literals = ", ".join(f'"{town}"' for town in towns)
    (folder / "towns.h").write_text(f"static const char *const towns[5] = {{{literals}}};")
    (folder / "main.c").write_text(driver(cases, answers))
    sources = [f"{name}.c" for name in cases]
    command = [CC, *STRICT, *CHECKED, "main.c", *sources, "-o", "main", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    done = subprocess.run(["./main"], cwd=folder, capture_output=True, check=True)
    assert not done.stderr
    (folder / "printed").write_bytes(done.stdout)
    return folder


@needs_cc
@pytest.mark.parametrize("name", CASES)
def test_a_model_in_c_answers_as_in_python(name, cases, folder):
    case = cases[name]
    for what, wanted in expected(case).items():
        found = np.fromfile(folder / f"{name}.{what}").reshape(len(wanted), -1)
        assert not found[:, 0].any()
        spread = np.ptp(wanted, axis=0) + 1e-3
        assert (np.abs(found[:, 1:] - wanted) <= tolerance(case) * spread).all(), what


@needs_cc
def test_labels_and_categories_are_text_of_c(folder):
    printed = (folder / "printed").read_bytes()
    *labels, codes = printed.decode().split("\1")
    assert labels == sorted(ODD.tolist())
    assert codes == "0 1 2 3 4 -1 -1"


@needs_cc
def test_nothing_is_allocated(cases, tmp_path):
    to_c(cases["laplace"].model, tmp_path / "model.c", error_bars=True)
    subprocess.run([CC, *STRICT, "-c", "model.c"], cwd=tmp_path, check=True)
    done = subprocess.run(
        ["nm", "-u", "model.o"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    used = set(re.findall(r"U (\w+)", done.stdout))
    assert used <= {"cos", "sin", "exp", "floor", "sqrt", "strcmp", "_GLOBAL_OFFSET_TABLE_"}


@needs_cc
def test_rows_that_python_refuses_have_a_status(tmp_path):
    X = np.random.default_rng(0).standard_normal((50, 2))
    model = KitchenSinksRegressor(Gaussian(1.0), 10, random_state=0).fit(X, X[:, 0])
    trees = DoublyStochasticRegressor("trees", 4, random_state=0).fit(X, X[:, 0])
    for name, each in (("model", model), ("trees", trees)):
        to_c(each, tmp_path / f"{name}.c")
    rows = ["{NAN, 0}", "{INFINITY, 0}", "{-INFINITY, 0}", "{1e39, 0}", "{1e38, 0}"]
    rows += ["{0, 3.4028235e38}"]  # which single precision rounds to its largest number
    text = (
        '#include <math.h>\n#include <stdio.h>\n#include "model.h"\n#include "trees.h"\n'
        f"int main(void) {{ double rows[6][2] = {{{', '.join(rows)}}}, y[1];\n"
        'for (int i = 0; i < 6; i++) printf("%d%d ", model_predict(rows[i], y), '
        "trees_predict(rows[i], y)); }"
    )
    (tmp_path / "main.c").write_text(text)
    command = [CC, *STRICT, *CHECKED, "main.c", "model.c", "trees.c", "-o", "main", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "10 11 11 11 00 00 "
    for row in ([np.nan, 0], [np.inf, 0], [1e39, 0]):
        with pytest.raises(ValueError):
            model.predict([row])
    model.predict([[1e38, 0]])
    trees.predict([[np.nan, 0], [0, 3.4028235e38]])


def fitted(learner, y=None):
    X = np.random.default_rng(0).standard_normal((60, 3))
    return learner.fit(X, X[:, 0] if y is None else y(X))


class Bent(Gaussian):
    """Responds otherwise than its base."""

    def respond(self, t):
        return super().respond(t) / 2


def text_of(label):
    return lambda X: np.where(X[:, 0] > 0, label, "b")


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (lambda: KitchenSinksRegressor(), "not fitted"),
        (lambda: fitted(KitchenSinksRegressor(Stumps(), 10)), "neurons=Stumps cannot be written"),
        (lambda: fitted(KitchenSinksRegressor(Bent(1.0), 10)), "neurons=Bent cannot be written"),
        (lambda: fitted(KitchenSinksRegressor(Dense("erf"), 10)), "activation='erf'"),
        (lambda: fitted(KernelGradientRegressor(shots)), "no finite network"),
        (lambda: fitted(RandomFeatures("gaussian", 10)), "no finite network"),
        (lambda: fitted(KitchenSinksClassifier(Gaussian(1.0), 5), text_of("a\0b")), "null char"),
        (lambda: fitted(KitchenSinksClassifier(Gaussian(1.0), 5), text_of("\ud800")), "surrogates"),
        (lambda: fitted(KitchenSinksRegressor(Gaussian(1.0), 5, half_life="auto")), "to_c: half"),
        (lambda: object(), "no finite network"),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_no_file(model, said, tmp_path):
    model = model()
    with pytest.raises((ValueError, TypeError), match=re.escape(said)):
        to_c(model, tmp_path / "model.c")
    assert not list(tmp_path.iterdir())


def test_error_bars_that_cannot_be_written_are_refused(cases, tmp_path):
    for name, said in (
        ("oblivious", "a DoublyStochasticRegressor has no standard deviations"),
        ("softmax", "has no standard deviations"),
        ("leaves", "standard deviations of trees"),
    ):
        with pytest.raises(ValueError, match=f"{said}.*Remedy"):
            to_c(cases[name].model, tmp_path / "model.c", error_bars=True)
    for name, interval, said in (
        ("gaussian", 0.9, "intervals of a KitchenSinksRegressor leave out each row"),
        ("oblivious", 0.9, "kept no rows that it has not learned from"),
        ("softmax", 0.9, "kept no rows that it has not learned from"),
        ("hinge", 0.9, "sets of classes need probabilities"),
        ("sets", 0.9, "predict_set is for one label for each row"),
        ("interval", 0.999, "needs the errors of at least 999"),
        ("interval", 1, "interval=1"),
        ("interval", "0.9", "interval='0.9'"),
    ):
        for write in (to_c, to_js):
            with pytest.raises(
                (ValueError, TypeError), match=f"^{write.__name__}: .*{said}.*Remedy"
            ):
                write(
                    cases[name].model, tmp_path / f"model.{write.__name__[3:]}", interval=interval
                )
    with pytest.raises(ValueError, match=r"Remedy: interval=0\.9"):
        to_c(cases["interval"].model, tmp_path / "model.c", interval=90)
    many = KitchenSinksRegressor(Gaussian(1.0), 1100, random_state=0)
    with pytest.raises(ValueError, match=r"2,200 columns of activations.*Remedy"):
        to_c(fitted(many), tmp_path / "model.c", error_bars=True)
    assert not list(tmp_path.iterdir())


def test_places_that_cannot_be_written_are_refused(cases, tmp_path):
    model = cases["tanh"].model
    with pytest.raises(ValueError, match=r"does not end in \.c"):
        to_c(model, tmp_path / "model.txt")
    for name in ('a"b.c', "a\nb.c", "a\\b.c", "\udcff.c"):
        with pytest.raises(ValueError, match=r"a name that C cannot include.*Remedy"):
            to_c(model, tmp_path / name)
    with pytest.raises(ValueError, match=r"cannot be written.*Remedy"):
        to_c(model, tmp_path / "nowhere" / "model.c")
    for write in (to_c, to_js):
        with pytest.raises(TypeError, match=rf"{write.__name__}: path=3, but .*Remedy"):
            write(model, 3)
        with pytest.raises(ValueError, match=rf"{write.__name__}: .*null character.*Remedy"):
            write(model, str(tmp_path / "a\0b.js"))
        with pytest.raises(TypeError, match=r"a type has no finite network.*Remedy"):
            write(KitchenSinksRegressor, tmp_path / f"model.{write.__name__[3:]}")
    (tmp_path / "model.h").mkdir()  # the header, and not the source
    with pytest.raises(ValueError, match=r"is a folder.*Remedy"):
        to_c(model, tmp_path / "model.c")
    assert [path.name for path in tmp_path.iterdir()] == ["model.h"]


@pytest.mark.parametrize("failing", [1, 2])
def test_a_full_disk_leaves_neither_the_source_nor_the_header(
    failing, cases, tmp_path, monkeypatch
):
    calls = []

    def fsync(number):
        calls.append(number)
        if len(calls) == failing:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match=r"to_c: .*model.*No space left.*Remedy"):
        to_c(cases["tanh"].model, tmp_path / "model.c")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("file", "name", "found"),
    [
        ("my-model 2.c", None, "my_model_2"),
        ("2.c", None, "model_2"),
        ("double.c", None, "model_double"),
        ("é.c", None, "model__"),
        ("a.c", "other", "other"),
    ],
)
def test_names_of_functions_are_names_of_c(file, name, found, cases, tmp_path):
    to_c(cases["tanh"].model, tmp_path / file, name=name)
    header = (tmp_path / file).with_suffix(".h").read_text()
    assert f"int {found}_predict(const double *x, double *y);" in header


@pytest.mark.parametrize("name", ["2nd", "int", "a-b", "é", ""])
def test_other_names_are_refused(name, cases, tmp_path):
    with pytest.raises(ValueError, match=r"to_c: name=.*Remedy"):
        to_c(cases["tanh"].model, tmp_path / "model.c", name=name)


def test_the_same_model_gives_the_same_file(cases, tmp_path):
    case = cases["frame"]
    trickless.save(case.model, tmp_path / "model", for_prediction=True)
    to_c(case.model, tmp_path / "first.c", name="model")
    to_c(trickless.load(tmp_path / "model"), tmp_path / "second.c", name="model")
    first, second = ((tmp_path / f"{name}.c").read_text() for name in ("first", "second"))
    assert first.replace("first.h", "second.h") == second

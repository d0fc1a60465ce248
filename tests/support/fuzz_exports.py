"""Random models in C and JavaScript, which must answer odd rows as Python does.

Names, labels and categories try to leave their strings. C runs under sanitizers. A model or a row
that Python refuses with a remedy may be refused everywhere. Run as a script to try many, from a
seed if one is given:

python tests/support/fuzz_exports.py 200
"""

import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier
from sklearn.frozen import FrozenEstimator

sys.path.insert(0, str(Path(__file__).parents[1] / "export"))
from test_source import CC, CHECKED, NODE, STRICT, check, program

from cases import EVERY, FAMILIES, SERIES, name_of, suited
from export_cases import CONFIDENCE, ODD, Case, answers_of
from trickless import RandomFeatures
from trickless.conformal import SplitConformal
from trickless.export import answers, to_c, to_js

TEXTS = [
    *ODD.tolist(), "", "nan", "NA", "'", "`", "\\", "${x}", "??/\n", "/*", "//", "<!--", "%s%n",
    "\r\n", "\x011", "constructor", "__proto__", "length", "toString", "\u2028", "\u202e", "\ufeff",
    "e\u0301", "😀", "a\0b", "X", "x", "t1", "t2", "t3", "c1", "c2", "true", "7",
]  # fmt: skip
NUMBERS = [np.nan, 0.0, 5e-324, -1e-300, 1e30, -1e30, 1e38, 1e300, -1e300]
DATES = ["NaT", "1700-01-01", "1969-12-31 23:59:59.999999", "2024-02-29", "2262-01-01"]
#: Families whose answers to huge numbers do not depend on the last digits.
STEADY = ("stumps", "ferns", "trees", "trees-binary", "tabular", "dense-sign", "dense-step")
OF_TABLES = ("tabular", "trees", "trees-linear", "trees-binary")
SMALL = {"n_neurons": 30, "n_trees": 10, "n_draws": 20, "random_state": 0}
#: Values of parameters. Those that a learner does not combine are refused.
CHOICES = {
    "alpha": [0.1, 0.01], "dtype": ["float32", "float64"], "fit_intercept": [False],
    "kernel": ["rbf", "linear", "poly", "sigmoid", "cosine", "laplacian"], "max_support": [5],
    "leaves": ["linear"], "shape": ["binary"], "early_stopping": [True], "max_depth": [9],
    "average": [False], "weight_bound": [1.0], "quantile": [0.3, [0.1, 0.5, 0.9]],
}  # fmt: skip
MEANS = ["poisson", "gamma", "tweedie"]
LOSSES = [*MEANS, "huber", "absolute_error", "epsilon_insensitive", "quantile", "quantile"]
LOSSES_OF_CLASSIFIERS = ["log_loss", "hinge", "squared_hinge", "squared_error"]
MODELS = [*(each for each in EVERY if "Noisy" not in name_of(each)), RandomFeatures()]


def table_of(rng, n, only_numbers):
    """A frame of numbers, or of categories, dates and truth values too, with gaps."""
    names = rng.choice(np.array(TEXTS, dtype=object), rng.integers(2, 6), replace=False)
    columns = {name: pd.Series(rng.standard_normal(n)) for name in names}
    for name in [] if only_numbers else names:
        few = rng.choice(np.array(TEXTS, dtype=object), 5, replace=False)
        hours = pd.to_timedelta(rng.integers(-9999, 9999, n), "h")
        kinds = [columns[name], pd.Series(rng.choice(few, n), dtype=object), hours.to_series(),
                 pd.Series(rng.choice(few, n)).astype("category"),
                 pd.Series(pd.Timestamp("2024-02-28") + hours)]  # fmt: skip
        columns[name] = kinds[rng.integers(len(kinds))].reset_index(drop=True)
        if rng.random() < 0.4:
            columns[name][rng.random(n) < 0.2] = None
        elif rng.random() < 0.3:
            columns[name] = pd.Series(rng.random(n) > 0.5)
    return pd.DataFrame(columns)


def odd_rows(rng, rows):
    """Single rows, most of which have an odd value, and whether that is a huge number."""
    found = [(rows[i : i + 1], False) for i in range(6)]
    for i in range(6, 26):
        row, j, value = rows[i : i + 1].copy(), rng.integers(rows.shape[1]), rng.choice(NUMBERS)
        kind = row.dtypes.iloc[j].kind if isinstance(row, pd.DataFrame) else "array"
        if kind == "array":
            row[0, j] = value
        elif kind == "f":
            row.isetitem(j, [value])
        elif kind == "O":  # categories, too
            row.isetitem(j, pd.Series([rng.choice([*TEXTS, None])], row.index, dtype=object))
        elif kind == "M":
            row.isetitem(j, pd.to_datetime([rng.choice(DATES)]))
        elif kind == "m":
            row.isetitem(j, pd.to_timedelta([rng.integers(-(10**8), 10**8)], "s"))
        found.append((row, kind in ("array", "f") and abs(value) > 1))
    return found


def cells_of(row):
    """The values of a row in other languages: numbers, days, texts, NaN."""
    if not isinstance(row, pd.DataFrame):
        return row[0].tolist()
    units = {pd.Timestamp: lambda v: (v - pd.Timestamp(0)) / pd.Timedelta("1D"),
             pd.Timedelta: lambda v: v / pd.Timedelta("1D"), str: str}  # fmt: skip
    return [np.nan if pd.isna(v) else units.get(type(v), float)(v) for v in row.iloc[0]]


def targets_of(rng, learner, rows):
    """Targets of several shapes: numbers, labels of many types, sets of labels."""
    signal = pd.DataFrame(rows).iloc[:, 0].astype(str).rank(pct=True).fillna(0).to_numpy()
    f = 4 * signal[:, None] - 2 + 0.3 * rng.standard_normal((len(rows), rng.integers(1, 4)))
    if not is_classifier(learner):
        positive = learner.get_params().get("loss") in MEANS
        f = np.exp(f) if positive else f * 10.0 ** rng.integers(-3, 4)
        return f[:, 0] if f.shape[1] == 1 else f
    if name_of(learner).startswith("KitchenSinks") and rng.random() < 0.2:
        return (f > 0).astype(int)
    kinds = [rng.permutation(TEXTS), rng.permutation(TEXTS).astype(object), np.arange(-2, 3),
             np.array([True, False]), np.array([0.5, -1e300, 3]), np.array([2**40, 0])]  # fmt: skip
    labels = kinds[rng.integers(len(kinds))][: rng.integers(2, 5)]
    return labels[np.clip((f[:, 0] + 2) / 4 * len(labels), 0, len(labels) - 1).astype(int)]


def drawn(rng):
    """A learner, its family by name, rows, and targets."""
    learner = clone(MODELS[rng.integers(len(MODELS))])
    name, params, n = name_of(learner), learner.get_params(), int(rng.integers(60, 120))
    losses = LOSSES_OF_CLASSIFIERS if is_classifier(learner) else LOSSES
    for key, values in (CHOICES | {"loss": losses}).items():
        if key in params and (key == "alpha" or rng.random() < 0.4):
            learner.set_params(**{key: values[rng.integers(len(values))]})
    learner.set_params(**{key: value for key, value in SMALL.items() if key in params})
    family, rows, is_frame = name, rng.standard_normal((n, 4)), rng.random() < 0.5
    if "neurons" in params:
        is_table = is_frame and rng.random() < 0.7
        family = str(rng.choice(OF_TABLES if is_table else list(FAMILIES)))
        learner.set_params(neurons=FAMILIES[family])
    takes_gaps = name.startswith("Boosted") or family in OF_TABLES
    if family in (*SERIES, "tanimoto"):
        rows = suited(family, rows)
    elif is_frame:
        rows = table_of(rng, n, not takes_gaps)
    elif takes_gaps:
        rows[rng.random(rows.shape) < 0.1] = np.nan
    return learner, family, rows, targets_of(rng, learner, rows)


def allowed(function, *args, **kwargs):
    """The answer of a call, or None if it is refused with a remedy."""
    try:
        return function(*args, **kwargs)
    except (ValueError, TypeError, NotImplementedError) as error:
        if "Remedy: " not in str(error):
            raise
        return None


def shown(command, folder):
    """What a command prints; an error shows its last lines."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    if done.returncode or done.stderr:
        raise AssertionError(f"{command[0]}: {done.returncode}: {done.stderr[:600]}")
    return done.stdout


def in_c(folder, expected, cells, names, labels):
    """What the model in C says of rows, by output; None for a row that it refuses."""
    each = Case(None, np.array(cells, dtype=object), dict.fromkeys(expected, np.zeros(1)))
    text = program("model", each).replace("exit(1);\n    for", 'printf("! ");\n    else for')
    lines = ["#include <math.h>", "#include <stdio.h>", '#include "model.h"', text]
    lines.append("int main(void) {")
    for kind in ["columns"] * (names is not None) + ["labels"] * (labels is not None):
        lines.append(
            f"for (int i = 0; i < MODEL_N_{kind.upper()}; i++) {{ for (const char *c = "
            f'model_{kind}[i]; *c; c++) printf("%02x", (unsigned char)*c); puts("."); }}'
        )
    (folder / "main.c").write_text("\n".join([*lines, "run_model(); return 0; }"]))
    shown([CC, *STRICT, *CHECKED, "main.c", "model.c", "-o", "main", "-lm"], folder)
    printed = iter(shown(["./main"], folder).splitlines())
    for texts in (names, labels):
        found = [bytes.fromhex(next(printed)[:-1]).decode() for _ in texts or ()]
        assert found == [*map(str, texts or ())], f"C: {found} != {texts}"
    said = {output: [] for output in expected}
    for row in map(str.split, printed):
        for output, wanted in expected.items():
            n = 1 if row[0] == "!" else next(np.size(v) for v in wanted if v is not None)
            said[output].append(None if row[0] == "!" else [*map(float, row[:n])])
            del row[:n]
    return said


def in_js(folder, expected, rows, names, labels):
    """What the module says of rows, as lists or objects."""
    rows = [[None if v != v else v for v in row] for row in rows]
    (folder / "rows.json").write_text(json.dumps(rows))
    (folder / "run.mjs").write_text(
        "import * as m from './model.mjs'; import { readFileSync } from 'node:fs';"
        "const rows = JSON.parse(readFileSync('rows.json'));"
        "const say = (f, r) => { try { return [f(r)]; } catch (e) {"
        " if (e instanceof RangeError) return null; throw e; } };"
        "const named = (r, i) => m.columns === null || i % 2 ? r :"
        " Object.fromEntries(r.map((v, j) => [m.columns[j], v]));"
        f"const answers = {json.dumps([*expected])}.map((o) => rows.map((r, i) =>"
        " say(m[o], named(r, i))));"
        "console.log(JSON.stringify([m.columns, m.labels ?? null, answers]));"
    )
    columns, found, said = json.loads(shown([NODE, "run.mjs"], folder))
    assert columns == names, f"JavaScript: {columns} != {names}"
    assert found == labels, f"JavaScript: {found} != {labels}"
    return {o: [v and v[0] for v in values] for o, values in zip(expected, said, strict=True)}


def compare(said, expected, is_wild, has_gap, family):
    """Answers are those of Python, and rows are refused where it refuses them."""
    for output, wanted in expected.items():
        found = said[output]
        differ = [i for i, w in enumerate(wanted) if (w is None) != (found[i] is None)]
        if family in SERIES:  # exports interpolate no gaps
            differ = [i for i in differ if not has_gap[i]]
        assert not differ, f"{output}: rows {differ} are refused on one side only"
        answered = [i for i, w in enumerate(wanted) if w is not None and found[i] is not None]
        numbers = [found[i] for i in answered if not isinstance(found[i], str)]
        assert all(np.all(np.isfinite(v)) for v in numbers), f"{output}: not finite"
        sure = np.array([i in answered for i in range(len(wanted))])
        if output in ("label", "set") and "decision" in expected:
            f = [0.0 if v is None else np.abs(v).min() for v in expected["decision"]]
            sure &= np.array(f) > 1e-4  # others are ties but for rounding
        if len(group := np.flatnonzero(sure & ~is_wild)):
            each = Case(None, None, {output: np.array([wanted[i] for i in group])}, False)
            got = np.array([found[i] for i in group])
            if output == "set":  # it has ties at its bound as well, up to rounding
                of_python = each.answers[output].astype(bool)
                assert (got >= of_python).all() and (got == of_python).mean() > 0.7, output
            else:
                check(each, output, got)


def check_seed(seed, folder):
    """Try one model: what it is, a fault or "", and whether something was refused."""
    rng = np.random.default_rng(seed)
    learner, family, rows, y = drawn(rng)
    where = f"{learner} family={family} {type(rows).__name__} y={y.dtype}{y.shape}"
    where, half, model = " ".join(where.split()), len(rows) // 2, learner
    try:
        if allowed(learner.fit, rows[half:], y[half:]) is None:
            return where, "", True
        if y.ndim == 1 and not isinstance(learner, RandomFeatures) and rng.random() < 0.3:
            model, where = SplitConformal(FrozenEstimator(learner)), f"SplitConformal of {where}"
            if allowed(model.calibrate, rows[:half], y[:half]) is None:
                return where, "", True
        asked = odd_rows(rng, rows)
        expected = {}
        for output in answers.answers_of(learner)[0]:
            said = [allowed(answers_of, model, row, [output], learner) for row, _ in asked]
            if any(each is not None for each in said[:6]):
                said = [each and each[output] for each in said]
                said = [each.toarray() if hasattr(each, "toarray") else each for each in said]
                expected[output] = [None if each is None else np.asarray(each)[0] for each in said]
        if not expected:
            return where, "", True
        outputs, cells = tuple(expected), [cells_of(row) for row, _ in asked]
        is_steady = family in STEADY or getattr(learner, "leaves", "linear") != "linear"
        is_wild = np.array([is_huge and not is_steady for _, is_huge in asked])
        has_gap = [any(value != value for value in row) for row in cells]
        names = rows.columns.tolist() if isinstance(rows, pd.DataFrame) else None
        labels = learner.classes_.tolist() if hasattr(learner, "classes_") else None
        refused = False
        for write, path, ask in ((to_c, "model.c", in_c), (to_js, "model.mjs", in_js)):
            how = {"outputs": outputs, "confidence": CONFIDENCE}
            allowed(write, model, folder / path, **how)
            if not (folder / path).exists():
                refused = True
                continue
            said = ask(folder, expected, cells, names, labels)
            if write is to_c and "label" in said and y.ndim == 1:
                said["label"] = [v and learner.classes_[int(v[0])] for v in said["label"]]
            try:
                compare(said, expected, is_wild, has_gap, family)
            except AssertionError as error:
                return where, f"{path}: {error}", refused
    except Exception as error:
        return where, f"{type(error).__name__}: {error}", False
    return where, "", refused


def fuzz(n, start=0):
    """Try many models, and print their faults; returns how many were refused, and had faults."""
    warnings.simplefilter("ignore")
    n_refused = n_faults = 0
    for seed in range(start, start + n):
        with tempfile.TemporaryDirectory() as folder:
            where, fault, refused = check_seed(seed, Path(folder))
        n_refused, n_faults = n_refused + refused, n_faults + bool(fault)
        if fault:
            print(f"seed {seed}: {' '.join(fault.split())[:500]} | {where}", flush=True)
    return n_refused, n_faults


if __name__ == "__main__":
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    n_refused, n_faults = fuzz(count, first)
    print(f"{count} models, {n_refused} refused, {n_faults} faults")

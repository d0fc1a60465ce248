"""Each warning is given once for each line of code that leads to it, as Python's own are."""

import json
import re
import subprocess
import sys

import pytest

LOOPS = {
    "rows that no model explains": """
for _ in range(4):
    KitchenSinksRegressor(n_neurons=30, random_state=0).fit(X, y)
""",
    "columns of other units": """
for _ in range(4):
    KitchenSinksRegressor(n_neurons=30, random_state=0).fit(X * [1, 1e5], X[:, 0])
""",
    "labels that are all different": """
for _ in range(4):
    KitchenSinksClassifier(n_neurons=30, random_state=0).fit(X, np.arange(100))
""",
    "rows and columns of other numbers": """
for n in (40, 60, 80, 100):
    KitchenSinksRegressor(n_neurons=30, random_state=0).fit(X[:n], y[:n])
""",
}
SETUP = """
import numpy as np
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
rng = np.random.default_rng(0)
X, y = rng.standard_normal((100, 2)), rng.standard_normal(100)
"""


#: More that a program does, by name.
OTHERS = {
    "growing classes": """
model = KitchenSinksClassifier(n_neurons=30, random_state=0)
for start in range(0, 100, 25):
    some = slice(start, start + 25)
    model.partial_fit(X[some], np.arange(100)[some] // 2, classes="grow" if not start else None)
""",
    "columns": """
from trickless._rules import warn
for name in ("column 1", "column 2", "column 'x1'", "column 'x2'"):
    for share in (0.5, 0.25):
        warn(f"{share} of {name} are new in 7 rows")
""",
}
#: Runs programs in turn, each as a script of its own with its own file, and stores what they warn.
RUN = """
import contextlib, io, json, sys
programs, found = json.load(sys.stdin), {}
for name, program in programs.items():
    with contextlib.redirect_stderr(io.StringIO()) as said:
        exec(compile(program, name, "exec"), {"__name__": name})
    found[name] = said.getvalue()
json.dump(found, sys.stdout)
"""


@pytest.fixture(scope="module")
def said():
    """What each program says on standard error, where Python shows warnings by default."""
    programs = {name: SETUP + code for name, code in (LOOPS | OTHERS).items()}
    command = [sys.executable, "-W", "default", "-c", RUN]
    given = json.dumps(programs)
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    assert not done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_of_fits_warns_once(loop, said):
    said = said[loop]
    lines = [re.sub(r"[\d.,%]+", "", line) for line in said.splitlines() if "Warning: " in line]
    assert lines
    assert len(lines) == len(set(lines)), said


def test_a_user_who_wants_every_warning_gets_it():
    command = [sys.executable, "-W", "always", "-c", SETUP + LOOPS["rows that no model explains"]]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert said.count("no better than by a constant") == 4


def test_growing_classes_do_not_warn_of_the_labels_of_a_batch(said):
    assert "unique" not in said["growing classes"]
    assert said["growing classes"].count("different labels") <= 1


def test_columns_are_causes_of_their_own(said):
    assert said["columns"].count("are new") == 4

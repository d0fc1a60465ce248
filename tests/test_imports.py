"""What ``import trickless`` brings along, and how its modules import each other."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import trickless

PROBE = """
from contextlib import suppress
import sys
def packages():
    return {name.partition(".")[0] for name in sys.modules} - sys.stdlib_module_names
import sklearn
with suppress(ImportError):
    import sklearn.callback  # which brings rich, if that is there
before = packages()
import trickless
print(*sorted(packages() - before))
from trickless import *
print(*sorted(packages() - before))
print(*sorted(name for name in sys.modules if name in ("sklearn.metrics", "sklearn.linear_model")))
"""
ROOT = Path(trickless.__file__).parent
#: Each imports those before it only.
LAYERS = (
    "_errors _docstrings _rules _pictures theory _arrays neurons _rows conformal _functions "
    "_solvers _selection _files _targets _learners _stack inference export inspection kernels "
    "_public dask river _readers _cli"
)
LAYERS = LAYERS.split()


def test_the_package_brings_little_more_than_scikit_learn_does():
    """No matplotlib, torch or JAX, pandas only where scikit-learn imports it, and no metrics."""
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    at_once, brought, parts = done.stdout.split("\n")[:3]
    assert at_once == "trickless"
    assert "trickless" in brought.split()
    known = {"trickless", "array_api_compat", "narwhals", "threadpoolctl", "tqdm"}
    assert set(brought.split()) <= known
    assert not parts


def imported(path):
    """The modules that a module imports, inside functions as well."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} has a relative import"
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def modules():
    """The modules of the package, by their names."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def layer(name):
    """Number of the folder of a module; the package itself is above all, and so is its command."""
    part = f"{name}.".split(".")[1]
    return len(LAYERS) if part in ("", "__main__") else LAYERS.index(part)


def test_imports_go_one_way_and_in_no_circle():
    graph = {
        name: imported(path) & set(MODULES) - {name, "trickless"} for name, path in MODULES.items()
    }
    above = {(name, other) for name in graph for other in graph[name] if layer(other) > layer(name)}
    assert not above
    order = list(TopologicalSorter(graph).static_order())  # raises CycleError, naming the circle
    assert set(order) == set(MODULES)


def test_every_folder_is_a_layer():
    folders = {path.name.removesuffix(".py") for path in ROOT.iterdir()}
    assert folders - {"__init__", "__main__", "__pycache__", "py.typed", "style.mplstyle"} == set(
        LAYERS
    )

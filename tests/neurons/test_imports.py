"""How the modules of neurons/ import each other."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import trickless.neurons

FOLDER = Path(trickless.neurons.__file__).parent


def imported(path):
    """The modules that a module of neurons/ imports, inside functions as well."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path.name} has a relative import"
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_no_module_imports_itself_by_way_of_others():
    package = trickless.neurons.__name__
    paths = {f"{package}.{path.stem}": path for path in FOLDER.glob("*.py")}
    paths[package] = paths.pop(f"{package}.__init__")
    graph = {name: imported(path) & set(paths) for name, path in paths.items()}
    order = list(TopologicalSorter(graph).static_order())  # raises CycleError, naming the circle
    assert order[-1] == package


def test_families_import_nothing_that_is_made_of_them():
    below = tuple(f"trickless.{name}" for name in ("arrays", "neurons", "rules"))
    for path in FOLDER.glob("*.py"):
        own = {name for name in imported(path) if name.partition(".")[0] == "trickless"}
        assert all(name.startswith(below) for name in own), path.name

"""Print each public name with its parameters, and how many there are: run as ``make api``."""

import ast
import inspect
from importlib import import_module
from pathlib import Path

import trickless
from trickless._errors import MissingLibraryError

ROOT = Path(trickless.__file__).parent


def public_names():
    """The names of each public module. A module is public if it has ``__all__``."""
    found = {}
    for path in sorted([*ROOT.glob("*.py"), *ROOT.glob("*/__init__.py")]):
        name = (path.parent if path.stem == "__init__" else path).stem
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                module = "trickless" if name == "_public" else f"trickless.{name}"
                found[module] = sorted(ast.literal_eval(node.value))
    return found


def public_things():
    """What the public modules have whose libraries are here, by its whole name."""
    found = {}
    for module, names in public_names().items():
        try:
            there = import_module(module)
        except MissingLibraryError:
            continue
        found.update({f"{module}.{name}": getattr(there, name) for name in names})
    return found


def main():
    things, modules = public_things(), public_names()
    for module, names in modules.items():
        print(f"{module}: {len(names)} names")
        for name in names:
            thing = things.get(f"{module}.{name}")
            parameters = "..." if thing is None else ", ".join(inspect.signature(thing).parameters)
            print(f"    {name}({parameters})")
    print(f"all: {sum(map(len, modules.values()))} names")


if __name__ == "__main__":
    main()

"""The classes of this package that a file may hold."""

from contextlib import suppress
from functools import cache
from importlib import import_module
from inspect import isabstract
from pathlib import Path

import trickless
from trickless._arrays.stated import _TUPLES, Stated
from trickless._files.records import _OURS, name_of


@cache
def stated_classes():
    """Return the classes by their names in files. All modules that a file can name are imported."""
    folder = Path(trickless.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        module = ".".join(path.relative_to(folder.parent).with_suffix("").parts)
        if _OURS.fullmatch(f"{module.removesuffix('.__init__')}:Any"):
            with suppress(ImportError):
                import_module(module.removesuffix(".__init__"))
    found = {cls for cls in _below(Stated) if cls.__module__.startswith("trickless.")} | _TUPLES
    return {name_of(cls): cls for cls in found if not isabstract(cls)}


def _below(cls):
    for each in cls.__subclasses__():
        yield each
        yield from _below(each)

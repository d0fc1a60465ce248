"""From objects to records: plain data and arrays.

A record is the name of a class and the attributes of one object, in JSON. Plain data stand for
themselves; everything else is a JSON object with one key that begins with ``$``
(``docs/file-format.md`` lists them).
"""

from __future__ import annotations

import copyreg
import re
from math import isfinite
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np
import scipy.sparse

from trickless.files.random_states import state_of

#: The classes of this package that a record may name, by the names that stand for them there:
#: ``_registry``, which knows them all, puts them here.
CLASSES: dict[str, type] = {}
SPARSE = {cls.__name__: cls for cls in (scipy.sparse.csr_matrix, scipy.sparse.csr_array)}
#: Types that a parameter such as ``dtype`` may be.
TYPES: dict[str, type] = {
    cls.__name__: cls
    for cls in (bool, int, float, str, np.float16, np.float32, np.float64, np.int32, np.int64)
}
_TYPE_NAMES = {cls: name for name, cls in TYPES.items()}
#: Types of arrays: truth values, numbers, and text of a fixed length, little-endian.
PLAIN = re.compile(r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<c(8|16)|(\|S|<U)[1-9][0-9]{0,8}")


def name_of(thing: Any) -> str:
    """Where a class or function can be imported from: ``module:qualified.name``."""
    return f"{thing.__module__}:{thing.__qualname__}"


class Recorder:
    """Turns objects into records.

    Attributes
    ----------
    records : list
        ``[class name, attributes]`` of each object, what an object needs before it.
    arrays : list of array
        The arrays that records refer to, each of them once.
    foreign : dict of str to class or function
        What the caller has to trust to read the records.
    """

    def __init__(self) -> None:
        self.records: list[list[Any]] = []
        self.arrays: list[np.ndarray] = []
        self.foreign: dict[str, Any] = {}
        self._seen: dict[int, tuple[int, Any]] = {}
        self._path: list[tuple[str, Any]] = []

    def add(self, value: Any) -> int:
        """Record an object, once; its number."""
        if id(value) in self._seen:
            return self._seen[id(value)][0]
        cls = type(value)
        if any(value is outer for _, outer in self._path):
            raise self._refused(f"a {cls.__name__} that holds itself")
        state = self._state(value)
        attributes = {}
        for name, part in state.items():
            self._path.append((f"{cls.__name__}.{name}", value))
            attributes[name] = self._value(part)
            self._path.pop()
        name = cls.__name__ if CLASSES.get(cls.__name__) is cls else self._foreign(cls)
        self.records.append([name, attributes])
        self._seen[id(value)] = len(self.records) - 1, value
        return len(self.records) - 1

    def _state(self, value: Any) -> dict[str, Any]:
        """All that there is to an object: its attributes."""
        cls = type(value)
        if isinstance(value, tuple) and hasattr(cls, "_fields"):
            return dict(zip(cls._fields, value, strict=True))
        try:
            reduced = value.__reduce_ex__(2)
        except TypeError:
            reduced = ""
        if reduced[:2] == (copyreg.__newobj__, (cls,)):  # type: ignore[attr-defined]
            state = {} if reduced[2] is None else reduced[2]
            if type(state) is dict and not any(part is not None for part in reduced[3:]):
                return state
        raise self._refused(f"{cls.__module__}.{cls.__qualname__}")

    def _refused(self, what: str) -> TypeError:
        place = f"{self._path[-1][0]} is or holds" if self._path else "the model is"
        return TypeError(
            f"save: {place} {what}, which a file cannot hold. Remedy: replace it by plain data, "
            "arrays, a function or an object of a Python class with such attributes; or use pickle."
        )

    def _foreign(self, thing: Any) -> str:
        name = name_of(thing)
        if self.foreign.setdefault(name, thing) is not thing:
            raise ValueError(
                f"save: the model has two different functions or classes called {name}, which "
                "could not be told apart. Remedy: define them in a module, under names of their "
                "own (not as lambdas)."
            )
        return name

    def _array(self, array: np.ndarray) -> int:
        self._dtype(array.dtype)
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _dtype(self, dtype: np.dtype) -> str:
        if not PLAIN.fullmatch(name := little(dtype).str):
            raise self._refused(f"numbers or an array of the type {dtype}")
        return name

    def _value(self, value: Any) -> Any:
        """What stands for a value in JSON."""
        cls = type(value)
        if value is None or cls in (bool, int, str) or (cls is float and isfinite(value)):
            return value
        if cls is float:
            return {"$float": str(value)}
        if cls is list:
            return [self._value(item) for item in value]
        if cls is tuple:
            return {"$tuple": [self._value(item) for item in value]}
        if cls is dict:
            if all(type(key) is str and not key.startswith("$") for key in value):
                return {key: self._value(item) for key, item in value.items()}
            return {"$dict": [[self._value(key), self._value(value[key])] for key in value]}
        if cls is slice:
            return {"$slice": [self._value(end) for end in (value.start, value.stop, value.step)]}
        if isinstance(value, np.generic):
            return {"$scalar": self._array(np.asarray(value))}
        if cls in (np.ndarray, np.memmap):
            if value.dtype == object:
                items = [self._value(item) for item in value.ravel()]
                return {"$objects": [list(value.shape), items]}
            return {"$array": self._array(value)}
        if cls in SPARSE.values():
            arrays = [self._value(part) for part in (value.data, value.indices, value.indptr)]
            return {"$sparse": [cls.__name__, *arrays, list(map(int, value.shape))]}
        if isinstance(value, np.dtype):
            return {"$dtype": self._dtype(value)}
        if cls in (np.random.Generator, np.random.RandomState):
            return {"$random": [cls.__name__, self._value(state_of(value))]}
        if isinstance(value, type) and value in _TYPE_NAMES:
            return {"$type": _TYPE_NAMES[value]}
        if isinstance(value, type | FunctionType | BuiltinFunctionType):
            return {"$foreign": self._foreign(value)}
        return {"$object": self.add(value)}


def little(dtype: np.dtype) -> np.dtype:
    """The same type, little-endian."""
    return dtype.newbyteorder("<")

"""Objects as records, and records as objects.

A record is a line of JSON with the name of a class and the attributes of one object. Plain data are
written directly, and any other value is a JSON object with one key that begins with ``$``.
``_KINDS`` has these keys, and how the values of each are written and read. Reading makes instances
of the stated classes of this package, and of classes that the caller trusts, without calling their
``__init__``, and looks up no other name. ``docs/reference/file-format.md`` has the details.
"""

from __future__ import annotations

import copyreg
import inspect
import json
import re
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import cached_property, lru_cache
from importlib import import_module
from math import isfinite
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import MetadataRequest

from trickless._arrays.growing import Growing, GrowingSparse
from trickless._arrays.sparse import checked_csr, parts_of
from trickless._arrays.stated import is_stated
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._files import routing
from trickless._files.random_states import from_state, state_of

#: The most objects of a file. Each takes some microseconds to make.
MOST_OBJECTS = 2**17
#: How deep values may be nested in a model, and in the JSON of a record. JSON has up to three
#: levels for two levels of the model. The depth that Python can follow depends on its version.
_DEEPEST, _DEEPEST_JSON = 100, 200
#: A string in JSON. It matches anything after a quote, in linear time since it never backtracks.
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*+"?')
#: The change in open brackets at each sign, and the number of signs that are read at a time.
_STEP = np.zeros(256, dtype=np.int8)
_STEP[list(b"[{")], _STEP[list(b"]}")], _BLOCK = 1, -1, 2**12
#: Types that a parameter such as ``dtype`` may be.
_TYPES: dict[str, type] = {
    cls.__name__: cls
    for cls in (bool, int, float, str, np.float16, np.float32, np.float64, np.int32, np.int64)
}
#: Names of classes of this package that a file may hold, and the folders that have them, whose
#: modules import only what every model needs.
_FOLDERS = "_arrays|_functions|_learners|_rows|_solvers|_stack|_targets|conformal|inference|neurons"
_OURS = re.compile(rf"trickless\.({_FOLDERS})(\.[a-z][a-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*")
_SPARSE = {cls.__name__: cls for cls in (scipy.sparse.csr_matrix, scipy.sparse.csr_array)}
#: Types of arrays: Booleans, numbers, and text of a fixed length, little-endian.
_PLAIN = re.compile(r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<c(8|16)|(\|S|<U)[1-9][0-9]{0,8}")


def name_of(thing: Any) -> str:
    """Return the name to import a class or function from: ``module:qualified.name``."""
    return f"{thing.__module__}:{thing.__qualname__}"


#: The usual remedy for what a file cannot hold.
_PLAINLY = (
    "replace it by plain data, arrays, a function or an object of a Python class with such "
    "attributes; or use pickle"
)
#: The callbacks of an estimator, and what they receive while it learns, are no part of a model.
_CALLBACKS = "_skl_callbacks", "_skl_callbacks_to_teardown", "_callback_fit_ctx", "_callback_watch"


class Recorder:
    """Writer of objects as records, ``[class name, attributes]``. Parts come before their object.

    Records refer to ``arrays``, each only once, and to ``foreign`` classes and functions.
    """

    def __init__(self) -> None:
        self.records: list[list[Any]] = []
        self.arrays: list[np.ndarray] = []
        self.foreign: dict[str, Any] = {}
        self._seen: dict[int, tuple[int, Any]] = {}
        self._path: list[tuple[str, Any]] = []
        self._depth = 0

    def add(self, value: Any) -> int:
        """Record an object, unless it has a record. Return the number of its record."""
        if id(value) in self._seen:
            return self._seen[id(value)][0]
        cls = type(value)
        if any(base.__module__.partition(".")[0] == "river" for base in cls.__mro__):
            raise self.refused(
                f"a River estimator ({cls.__name__}), which keeps names and values of any type",
                "pickle.dump(model, file), and load only pickles that you trust; or a learner with "
                "partial_fit, such as KitchenSinksClassifier(half_life='auto')",
            )
        if any(value is outer for _, outer in self._path):
            raise self.refused(f"a {cls.__name__} that contains itself")
        attributes = {}
        for name, part in self._state(value).items():
            if name == routing.ATTRIBUTE and isinstance(part, MetadataRequest):
                part = routing.requests_of(part)
            self._path.append((f"{cls.__name__}.{name}", value))
            attributes[name] = self.write(part)
            self._path.pop()
        if len(self.records) >= MOST_OBJECTS:
            raise self.refused(f"more than {MOST_OBJECTS} objects")
        name = name_of(cls) if is_stated(cls) else self.add_foreign(cls)
        self.records.append([name, attributes])
        self._seen[id(value)] = len(self.records) - 1, value
        return len(self.records) - 1

    def write(self, value: Any) -> Any:
        if self._depth == _DEEPEST:
            raise self.refused(f"more than {_DEEPEST} nested values")
        self._depth += 1
        written = self._write(value)
        self._depth -= 1
        return written

    def _write(self, value: Any) -> Any:
        cls = type(value)
        if value is None or cls in (bool, int, str) or (cls is float and isfinite(value)):
            return value
        if cls is list:
            return [self.write(item) for item in value]
        if cls is dict and all(type(key) is str and not key.startswith("$") for key in value):
            return {key: self.write(item) for key, item in value.items()}
        key, kind = next((key, kind) for key, kind in _KINDS.items() if kind.holds(value))
        return {key: kind.write(self, value)}

    def add_array(self, array: np.ndarray) -> int:
        self.type_name(array.dtype)
        self.arrays.append(array)
        return len(self.arrays) - 1

    def add_foreign(self, thing: Any) -> str:
        """Add a class or function that the caller must trust, and return its name."""
        name = name_of(thing)
        if self.foreign.setdefault(name, thing) is not thing:
            raise InvalidValueError(
                f"save: the model has two different functions or classes called {name}, which "
                "a file cannot tell apart",
                "define them in a module, each with its own name (not as lambdas)",
            )
        return name

    def type_name(self, dtype: np.dtype) -> str:
        """Return the name of the type of an array."""
        if not _PLAIN.fullmatch(name := dtype.newbyteorder("<").str):
            raise self.refused(f"numbers or an array of the type {dtype}")
        return name

    def _state(self, value: Any) -> dict[str, Any]:
        """Return the attributes of an object, which must have nothing else."""
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
                return {name: part for name, part in state.items() if name not in _CALLBACKS}
        raise self.refused(f"{cls.__module__}.{cls.__qualname__}")

    def refused(self, what: str, remedy: str = _PLAINLY) -> InvalidTypeError:
        """Make an error with the place in the model of something that a file cannot hold."""
        place = f"{self._path[-1][0]} is or holds" if self._path else "the model is"
        return InvalidTypeError(f"save: {place} {what}, which a file cannot hold", remedy)


class Reader:
    """Reader of records as objects of stated classes, or of ``trusted`` ones by name."""

    def __init__(self, arrays: Iterable[np.ndarray], trusted: dict[str, Any]) -> None:
        self.trusted = trusted
        self._arrays: list[np.ndarray | None] = list(arrays)
        self._objects: list[Any] = []

    def read(self, lines: Iterable[bytes]) -> Any:
        """Read records, one in each line, and return the object of the last one."""
        lines = list(lines)
        if len(lines) > MOST_OBJECTS:
            raise ValueError(f"there are {len(lines)} objects, but a file can have {MOST_OBJECTS}")
        for line in lines:
            name, attributes = _list(parse(line, self._pairs), 2)
            self._objects.append(self._build(name, attributes))
        if any(array is not None for array in self._arrays):
            raise ValueError("there are arrays that belong to no object")
        return self._objects[-1]

    def take_array(self, i: Any) -> np.ndarray:
        """Return the array with a number, which only one value may have."""
        array, self._arrays[i] = self._arrays[_index(i)], None
        if array is None:
            raise ValueError("an array belongs to two objects")
        return array

    def take_object(self, i: Any) -> Any:
        """Return the object of a record. Only one value may have a buffer, which grows in place."""
        value = self._objects[_index(i)]
        if isinstance(value, Growing | GrowingSparse):
            self._objects[i] = None
        if value is None:
            raise ValueError("a buffer belongs to two objects")
        return value

    def _pairs(self, pairs: list[tuple[str, Any]]) -> Any:
        """Return the value of a JSON object."""
        if len(pairs) == 1 and pairs[0][0].startswith("$"):
            return _known(pairs[0][0], _KINDS).read(self, pairs[0][1])
        if any(key.startswith("$") for key, _ in pairs):
            raise ValueError("a key with a $ is not the only key")
        return unique(pairs)

    def _build(self, name: Any, attributes: Any) -> Any:
        """Build an object with these attributes, without calling its ``__init__``."""
        cls = _stated(name) or _known(name, self.trusted)
        if not isinstance(cls, type) or type(attributes) is not dict:
            raise ValueError(f"{_shown(name)} is not a class, or has no attributes")
        if issubclass(cls, tuple):
            return _named_tuple(cls, attributes)
        for attribute in attributes:
            _check_attribute(cls, attribute)  # type: ignore[arg-type]
        value = cls.__new__(cls)
        requests = attributes.pop(routing.ATTRIBUTE, {})
        if isinstance(value, BaseEstimator):
            _check_parameters(cls, attributes)
        if hasattr(value, "__setstate__"):
            value.__setstate__(attributes)
        else:
            value.__dict__.update(attributes)
        routing.set_requests(value, requests)
        return value


class _Kind(NamedTuple):
    """A kind of value: a test of values, and how to write them as JSON and read them."""

    holds: Callable[[Any], bool]
    write: Callable[[Recorder, Any], Any]
    read: Callable[[Reader, Any], Any]


def _read_object_array(reader: Reader, parts: Any) -> np.ndarray:
    shape, items = _list(parts, 2)
    array = np.fromiter(_list(items), dtype=object, count=len(items))
    return array.reshape([_index(n) for n in _list(shape)])


def _write_dict(recorder: Recorder, mapping: dict[Any, Any]) -> list[Any]:
    for key in mapping:
        if not _may_be_key(key):
            raise recorder.refused(f"a dictionary with the key {ascii(key)[:60]}")
    return [recorder.write(list(pair)) for pair in mapping.items()]


def _key(value: Any) -> Any:
    if not _may_be_key(value):
        raise ValueError(f"{_shown(value)} cannot be a key of a dictionary")
    return value


def _may_be_key(value: Any) -> bool:
    """Return whether this may be a key: a string, or a number whose hash few others share.

    Many keys with one hash would take quadratic time, and an attacker can find such integers beyond
    64 bits, complex numbers and tuples of numbers. The hash of a string depends on a secret of the
    process.
    """
    if isinstance(value, np.generic):
        return value.dtype.kind in "biufSU"
    if type(value) is int:
        return -(2**63) <= value < 2**64
    return value is None or type(value) in (bool, float, str)


def _write_sparse(recorder: Recorder, matrix: Any) -> list[Any]:
    return recorder.write([type(matrix).__name__, *parts_of(matrix), list(map(int, matrix.shape))])


def _read_sparse(reader: Reader, parts: Any) -> Any:
    name, data, indices, ends, shape = _list(parts, 5)
    return checked_csr(_known(name, _SPARSE), data, indices, ends, _list(shape, 2))


#: Kinds of values that are not plain data, by key. A value has the first kind that holds it.
_KINDS: dict[str, _Kind] = {
    "$float": _Kind(
        lambda value: type(value) is float,  # infinite or NaN; other floats are plain
        lambda _, value: str(value),
        lambda _, name: float(_known(name, {text: text for text in ("nan", "inf", "-inf")})),
    ),
    "$tuple": _Kind(
        lambda value: type(value) is tuple,
        lambda recorder, value: recorder.write(list(value)),
        lambda _, items: tuple(_list(items)),
    ),
    "$dict": _Kind(
        lambda value: type(value) is dict,
        _write_dict,
        lambda _, pairs: unique([(_key(k), v) for k, v in (_list(p, 2) for p in _list(pairs))]),
    ),
    "$slice": _Kind(
        lambda value: type(value) is slice,
        lambda recorder, value: recorder.write([value.start, value.stop, value.step]),
        lambda _, ends: slice(*_list(ends, 3)),
    ),
    "$timedelta": _Kind(
        lambda value: isinstance(value, timedelta),
        lambda _, value: [value.days, value.seconds, value.microseconds],
        lambda _, parts: timedelta(*map(_integer, _list(parts, 3))),
    ),
    "$scalar": _Kind(
        lambda value: isinstance(value, np.generic),
        lambda recorder, value: recorder.add_array(np.asarray(value)),
        lambda reader, i: reader.take_array(i)[()],
    ),
    "$objects": _Kind(
        lambda value: type(value) in (np.ndarray, np.memmap) and value.dtype == object,
        lambda recorder, array: recorder.write([list(array.shape), list(array.ravel())]),
        _read_object_array,
    ),
    "$array": _Kind(
        lambda value: type(value) in (np.ndarray, np.memmap), Recorder.add_array, Reader.take_array
    ),
    "$sparse": _Kind(lambda value: type(value) in _SPARSE.values(), _write_sparse, _read_sparse),
    "$dtype": _Kind(
        lambda value: isinstance(value, np.dtype),
        Recorder.type_name,
        lambda _, name: dtype_of(name),
    ),
    "$random": _Kind(
        lambda value: type(value) in (np.random.Generator, np.random.RandomState),
        lambda recorder, value: recorder.write([type(value).__name__, state_of(value)]),
        lambda _, parts: from_state(*_list(parts, 2)),
    ),
    "$type": _Kind(
        lambda value: isinstance(value, type) and value in _TYPES.values(),
        lambda _, value: value.__name__,
        lambda _, name: _known(name, _TYPES),
    ),
    "$foreign": _Kind(
        lambda value: isinstance(value, type | FunctionType | BuiltinFunctionType),
        Recorder.add_foreign,
        lambda reader, name: _known(name, reader.trusted),
    ),
    "$object": _Kind(lambda value: True, Recorder.add, Reader.take_object),
}


def parse(line: bytes, hook: Callable[[list[tuple[str, Any]]], Any]) -> Any:
    """Parse strict JSON: no NaN, no infinities, no number out of range, no deep nesting."""
    if _nesting(line) > _DEEPEST_JSON:
        raise ValueError(f"there are more than {_DEEPEST_JSON} nested lists")
    return json.loads(
        line.decode("ascii"), object_pairs_hook=hook, parse_constant=_finite, parse_float=_finite
    )


def _nesting(line: bytes) -> int:
    """Count the most open brackets in a line of JSON. Brackets in strings do not count."""
    signs = np.frombuffer(_TEXT.sub(b"", line), dtype=np.uint8)
    deepest = depth = 0
    for start in range(0, len(signs), _BLOCK):
        block = signs[start : start + _BLOCK]
        depths = depth + np.cumsum(_STEP[block], dtype=np.int64)
        deepest, depth = max(deepest, int(depths.max())), int(depths[-1])
    return deepest


def unique(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """Make a dictionary of pairs, whose keys must all differ."""
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key occurs twice")
    return result


def dtype_of(name: Any) -> np.dtype:
    """Return the array type with this name."""
    if type(name) is not str or not _PLAIN.fullmatch(name):
        raise ValueError(f"{_shown(name)} is not a plain type of an array")
    return np.dtype(name)


def _check_parameters(cls: Any, attributes: dict[str, Any]) -> None:
    for name in cls._get_param_names():
        if name not in attributes:
            raise ValueError(f"a {cls.__name__} has no {name}")


def _named_tuple(cls: Any, fields: dict[str, Any]) -> Any:
    if sorted(fields) != sorted(getattr(cls, "_fields", ())):
        raise ValueError(f"a {cls.__name__} cannot have these fields")
    return tuple.__new__(cls, (fields[name] for name in cls._fields))


@lru_cache(maxsize=2**12)
def _check_attribute(cls: Any, name: str) -> None:
    """Raise an error for an attribute that would replace a method or has a special name."""
    known = inspect.getattr_static(cls, name, None)
    method = hasattr(type(known), "__get__") and not isinstance(known, cached_property)
    if not name.isidentifier() or (name.startswith("__") and name.endswith("__")) or method:
        raise ValueError(f"a {cls.__name__} cannot have an attribute {name!r}")


def _stated(name: Any) -> Any:
    """Return the stated class of this package with this name, or None. Its module is imported."""
    if type(name) is not str or not _OURS.fullmatch(name):
        return None
    module, _, qualified = name.partition(":")
    try:
        cls = getattr(import_module(module), qualified, None)
    except ImportError:
        return None
    return cls if is_stated(cls) else None


def _known(name: Any, table: dict[str, Any]) -> Any:
    if type(name) is not str or name not in table:
        raise ValueError(f"{_shown(name)} is not an allowed name here")
    return table[name]


def _shown(value: Any) -> str:
    """Show a value in an error message. For an object from the file, only its type is shown."""
    return ascii(value)[:100] if type(value) in (str, int) else f"a {type(value).__name__}"


def _list(value: Any, n: int | None = None) -> list[Any]:
    if type(value) is not list or n not in (None, len(value)):
        raise ValueError(f"a {type(value).__name__} is where a list of {n or 'some'} should be")
    return value


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"{_shown(value)} is not an integer")
    return value


def _index(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{_shown(value)} is not a count or an index")
    return value


def _finite(text: str) -> float:
    if not isfinite(value := float(text)):
        raise ValueError(f"{text} is out of range")
    return value

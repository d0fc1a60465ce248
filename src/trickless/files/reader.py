"""From records to objects.

Reading makes instances of the registered classes and of what the caller trusts, without calling
their ``__init__``, and looks no other name up.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from trickless.arrays.growing import Growing, GrowingSparse
from trickless.files.random_states import from_state
from trickless.files.recorder import CLASSES, PLAIN, SPARSE, TYPES


class Reader:
    """Turns records into objects.

    Parameters
    ----------
    arrays : list of array
        The arrays that records refer to.
    trusted : dict of str to class or function
        What records may name beside the registered classes.
    """

    def __init__(self, arrays: Iterable[np.ndarray], trusted: dict[str, Any]) -> None:
        self._arrays: list[np.ndarray | None] = list(arrays)
        self._trusted = trusted
        self._objects: list[Any] = []
        self._kinds: dict[str, Callable[[Any], Any]] = {
            "$float": self._float,
            "$tuple": lambda items: tuple(_list(items)),
            "$dict": self._dict,
            "$slice": lambda ends: slice(*_list(ends, 3)),
            "$scalar": lambda i: self._array(i)[()],
            "$objects": self._object_array,
            "$array": self._array,
            "$sparse": self._sparse,
            "$dtype": dtype_of,
            "$random": lambda parts: from_state(*_list(parts, 2)),
            "$type": lambda name: _known(name, TYPES),
            "$foreign": lambda name: _known(name, self._trusted),
            "$object": self._object,
        }

    def read(self, lines: Iterable[bytes]) -> Any:
        """The object of the last record; each line holds one.

        Raises
        ------
        ValueError, TypeError, LookupError, RecursionError, OverflowError
            If the records are not those of an object.
        """
        for line in lines:
            name, attributes = _list(parse(line, self._pairs), 2)
            self._objects.append(self._build(name, attributes))
        if any(array is not None for array in self._arrays):
            raise ValueError("there are arrays that belong to nothing")
        return self._objects[-1]

    def _pairs(self, pairs: list[tuple[str, Any]]) -> Any:
        """What a JSON object stands for."""
        if len(pairs) == 1 and pairs[0][0].startswith("$"):
            return _known(pairs[0][0], self._kinds)(pairs[0][1])
        if any(key.startswith("$") for key, _ in pairs):
            raise ValueError("a key with a $ is not alone")
        return unique(pairs)

    def _build(self, name: Any, attributes: Any) -> Any:
        """An object with these attributes, made without calling its ``__init__``."""
        cls = _known(name, self._trusted if ":" in name else CLASSES)
        if not isinstance(cls, type) or type(attributes) is not dict:
            raise ValueError(f"{_shown(name)} is not a class, or has no attributes")
        if issubclass(cls, tuple):
            return _named_tuple(cls, attributes)
        for attribute in attributes:
            _check_attribute(cls, attribute)
        value = cls.__new__(cls)
        if isinstance(value, BaseEstimator):
            attributes = _with_parameters(cls, attributes)
        if hasattr(value, "__setstate__"):
            value.__setstate__(attributes)
        else:
            value.__dict__.update(attributes)
        return value

    def _object(self, i: Any) -> Any:
        value = self._objects[_index(i)]
        if isinstance(value, Growing | GrowingSparse):  # it grows in place
            self._objects[i] = None
        if value is None:
            raise ValueError("a buffer belongs to two objects")
        return value

    def _array(self, i: Any) -> np.ndarray:
        array, self._arrays[i] = self._arrays[_index(i)], None
        if array is None:
            raise ValueError("an array belongs to two objects")
        return array

    def _float(self, name: Any) -> float:
        return float(_known(name, {"nan": "nan", "inf": "inf", "-inf": "-inf"}))

    def _dict(self, pairs: Any) -> dict[Any, Any]:
        return unique([(key, value) for key, value in (_list(pair, 2) for pair in _list(pairs))])

    def _object_array(self, parts: Any) -> np.ndarray:
        shape, items = _list(parts, 2)
        array = np.empty(len(_list(items)), dtype=object)
        for i, item in enumerate(items):
            array[i] = item
        return array.reshape([_index(n) for n in _list(shape)])

    def _sparse(self, parts: Any) -> Any:
        name, data, indices, ends, shape = _list(parts, 5)
        matrix = _known(name, SPARSE)((data, indices, ends), tuple(map(_index, _list(shape))))
        matrix.check_format(full_check=True)
        return matrix


def parse(line: bytes, hook: Callable[[list[tuple[str, Any]]], Any]) -> Any:
    """A line of strict JSON: no NaN, no infinities, no number out of range."""
    return json.loads(
        line.decode("ascii"),
        object_pairs_hook=hook,
        parse_constant=_no_constant,
        parse_float=_finite,
    )


def unique(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """A dictionary of pairs, whose keys differ."""
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key is there twice")
    return result


def dtype_of(name: Any) -> np.dtype:
    """The type of an array of this name."""
    if type(name) is not str or not PLAIN.fullmatch(name):
        raise ValueError(f"{_shown(name)} is not a plain type of an array")
    return np.dtype(name)


def _with_parameters(cls: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes, with the defaults of parameters that are newer than the file."""
    parameters = inspect.signature(cls.__init__).parameters
    for name in cls._get_param_names():
        default = parameters[name].default
        if name not in attributes and default is inspect.Parameter.empty:
            raise ValueError(f"a {cls.__name__} has no {name}")
        attributes.setdefault(name, default)
    return attributes


def _named_tuple(cls: Any, fields: dict[str, Any]) -> Any:
    fields = getattr(cls, "_field_defaults", {}) | fields
    if sorted(fields) != sorted(getattr(cls, "_fields", ())):
        raise ValueError(f"a {cls.__name__} cannot have these fields")
    return tuple.__new__(cls, (fields[name] for name in cls._fields))


def _check_attribute(cls: type, name: str) -> None:
    """An attribute may not take the place of a method, nor have a special name."""
    known = inspect.getattr_static(cls, name, None)
    method = hasattr(type(known), "__get__") and not isinstance(known, cached_property)
    if not name.isidentifier() or (name.startswith("__") and name.endswith("__")) or method:
        raise ValueError(f"a {cls.__name__} cannot have an attribute {name!r}")


def _known(name: Any, table: dict[str, Any]) -> Any:
    if type(name) is not str or name not in table:
        raise ValueError(f"{_shown(name)} is not a name that may stand here")
    return table[name]


def _shown(value: Any) -> str:
    """A value in an error; objects are named by their type, since the file made them."""
    return ascii(value)[:100] if type(value) in (str, int) else f"a {type(value).__name__}"


def _list(value: Any, n: int | None = None) -> list[Any]:
    if type(value) is not list or n not in (None, len(value)):
        raise ValueError(f"a {type(value).__name__} stands where a list of {n or 'some'} should be")
    return value


def _index(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{_shown(value)} is not a number of something")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    if not isfinite(value := float(text)):
        raise ValueError(f"{text} is out of range")
    return value

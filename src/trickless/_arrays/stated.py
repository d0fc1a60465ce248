"""Declarations of what an object holds, checked wherever its state comes from elsewhere.

A class declares its fields once, as annotations. Files and pickles restore objects through
``Stated.__setstate__``, which compares every field with its declaration, so compiled code, and code
that looks up values by their position, can rely on it::

    @stated
    class Solution(NamedTuple):
        coef: Annotated[np.ndarray, Array("f4 f8", "n_columns", "n_outputs")]
        intercept: Annotated[np.ndarray, Array("f8", "n_outputs")]
        n_iter: Count = 1

A length in a shape is an integer, None for any, or a name. The name is an attribute of the object,
such as ``"neurons.width"``; otherwise it stands for one length wherever the object, and the named
tuples in it, use it. What types and shapes cannot say is in ``check_state``.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from copy import deepcopy
from functools import cache, cached_property
from operator import attrgetter
from typing import Annotated, Any, ClassVar, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np
from sklearn.base import BaseEstimator

from trickless._rules import MOST_THINGS

#: The largest finite number.
_MOST = sys.float_info.max
#: A check of a value with a name. The scope has the lengths that names stand for.
_Check = Callable[[str, Any, "Scope"], Any]


class Stated:
    """Object whose fields are declared, and checked when its state is restored.

    A field without a value of the class must be there, as must every field of a dataclass. In an
    estimator, ``fit`` sets the fields that are not parameters. They are all there, or none of them
    is, and ``check_state`` is not called.
    """

    def __copy__(self) -> Any:
        """Copy an object without a check, since its state is known."""
        other = object.__new__(type(self))
        other._take_state(self.__getstate__())
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """Copy an object and its parts without a check. A fit that failed may leave some out."""
        memo[id(self)] = other = object.__new__(type(self))
        other._take_state(deepcopy(self.__getstate__(), memo))
        return other

    def _take_state(self, state: Any) -> None:
        if type(self).__setstate__ is Stated.__setstate__:
            self.__dict__.update(state or {})
        else:  # of a user's family
            self.__setstate__(state)

    def check_state(self) -> None:
        """Raise a ValueError that names parts that do not agree with each other.

        The fields that are there have the types and shapes that the class declares.
        """

    def __setstate__(self, state: Any) -> None:
        restore = getattr(super(), "__setstate__", self.__dict__.update)
        restore(state)
        cls: Any = type(self)
        try:
            if check_fields(self):
                self.check_state()
        except (ValueError, TypeError, AttributeError, LookupError) as error:
            raise ValueError(f"{cls.__name__}: {error}") from error


#: Named tuples of this package that files may hold.
_TUPLES = set[type]()


def stated(cls: Any) -> Any:
    """Let files hold a named tuple. Its fields are checked with the object that it is in."""
    _TUPLES.add(cls)
    return cls


def is_stated(cls: Any) -> bool:
    """Return whether this is a class of this package that declares its fields."""
    return isinstance(cls, type) and _is_ours(cls) and (cls in _TUPLES or issubclass(cls, Stated))


class Scope:
    """The lengths that names of shapes stand for, in an object and the named tuples in it."""

    def __init__(self, owner: Any, outer: Scope | None = None) -> None:
        self.owner, self.outer, self.lengths = owner, outer, dict[str, int]()

    def length(self, size: int | str | None) -> int | None:
        """Return the length of a name, or None if it stands for none yet."""
        scope: Scope | None = self
        while isinstance(size, str) and scope is not None:
            if size in scope.lengths:
                return scope.lengths[size]
            first, owner = size.partition(".")[0], scope.owner
            if hasattr(type(owner), first) or first in getattr(owner, "__dict__", ()):
                value = attrgetter(size)(owner)
                return int(value) if isinstance(value, int | np.integer) else len(value)
            scope = scope.outer
        return None if isinstance(size, str) else size

    def name(self, size: int | str | None, length: int, what: str) -> None:
        """Let a name stand for a length, unless it stands for one."""
        if (known := self.length(size)) is not None:
            check_same(what, length, known)
        elif size is not None:
            self.lengths[str(size)] = length


class Array:
    """What an array must be, or the rows of one that grows.

    ``types`` are names such as "f4 f8": kinds of numbers, with their bytes; "" is any. All values
    must be at least ``least`` and below ``below``, which may be the name of a length. ``some`` says
    that the array is not empty.
    """

    def __init__(
        self,
        types: str,
        *shape: int | str | None,
        least: float | None = None,
        below: float | str | None = None,
        some: bool = False,
    ) -> None:
        self.types, self.shape, self.least, self.below = types, shape, least, below
        self.some = some

    def __call__(self, name: str, value: Any, scope: Scope) -> None:
        value = getattr(value, "rows", value)
        shape = tuple(scope.length(size) for size in self.shape)
        below = scope.length(self.below) if isinstance(self.below, str) else self.below
        check_array(name, value, self.types, shape, self.least, below)
        if self.some:
            check_count(f"number of {name}", len(value), 1)
        for size, length in zip(self.shape, value.shape, strict=True):
            scope.name(size, length, name)


class Within(NamedTuple):
    """Ends of a range of finite numbers, which includes both."""

    least: float = -_MOST
    most: float = _MOST

    def __call__(self, name: str, value: Any, scope: Scope | None = None) -> None:
        if not self.least <= value <= self.most:
            least, most = self
            wanted = f"at least {least}" if most == _MOST else f"from {least} to {most}"
            raise ValueError(f"{name}: {str(value)[:50]} is not {wanted}")


class Length(NamedTuple):
    """The length of a list or of anything else."""

    size: int | str

    def __call__(self, name: str, value: Any, scope: Scope) -> None:
        scope.name(self.size, len(value), f"length of {name}")


def _is_floating(name: str, value: Any, scope: Scope) -> None:
    check_same(name, value.kind, "f")


#: An integer of at least 0 or 1, a number of things to make, a finite number, such a number of at
#: least 0, and a type of real numbers.
Count = Annotated[int, Within(0)]
Size = Annotated[int, Within(1)]
Things = Annotated[int, Within(1, MOST_THINGS)]
Finite = Annotated[float, Within()]
Amount = Annotated[float, Within(0)]
Floating = Annotated[np.dtype, _is_floating]


class _Field(NamedTuple):
    """A declared field: whether it must be there, whether ``fit`` sets it, and how to check it."""

    name: str
    required: bool
    learned: bool
    check: _Check


def check_fields(owner: Any, outer: Scope | None = None) -> bool:
    """Check the fields of an object. Return False for an estimator that is not fitted.

    A value of the class stands for one that is not there.
    """
    cls: Any = type(owner)
    scope, is_tuple = Scope(owner, outer), issubclass(cls, tuple)
    fields: list[_Field] = _fields(cls)
    state = dict(zip(cls._fields, owner, strict=True)) if is_tuple else vars(owner)
    learned = [name in state for name, _, learned, _ in fields if learned]
    for name, required, is_learned, check in fields:
        if name in state:
            check(name, state[name], scope)
        elif required and (not is_learned or any(learned)):
            raise ValueError(f"there is no {name}")
    return any(learned) or not learned


@cache
def _fields(cls: Any) -> list[_Field]:
    """Return the fields that classes of this package declare, those of a base class first."""
    fields: dict[str, _Field] = {}
    known = getattr(cls, "__dataclass_fields__", {})
    estimates = issubclass(cls, BaseEstimator)
    for base in filter(_is_ours, reversed(cls.__mro__)):
        hints = get_type_hints(base, include_extras=True)
        for name in vars(base).get("__annotations__", {}):
            if get_origin(hints[name]) not in (ClassVar, Callable):
                missing = name in known or not hasattr(cls, name)
                required = missing and (_is_ours(cls) or not estimates)
                fields[name] = _Field(name, required, missing and estimates, _check_of(hints[name]))
        for name, member in vars(base).items():
            if isinstance(member, cached_property):
                hint = get_type_hints(member.func, include_extras=True)["return"]
                fields[name] = _Field(name, False, False, _check_of(hint))
    if estimates:  # parameters may have any value until a fit
        for name in cls._get_param_names():
            fields[name] = _Field(name, True, False, _KINDS[Any])
    return list(fields.values())


def _is_ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "trickless"


@cache
def _check_of(hint: Any) -> _Check:
    """Return the check of a declared type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _each(_check_of(arguments[0]), *arguments[1:])
    if origin in (Union, types.UnionType):
        return _either([_check_of(each) for each in arguments])
    if origin in (list, tuple, dict):
        return _each(_of_type(origin), _of_items(origin, arguments))
    if hint in _TUPLES:
        return _each(_of_type(hint), lambda name, value, scope: check_fields(value, scope))
    return _KINDS.get(hint) or _of_type(origin or hint)


def _each(*checks: _Check) -> _Check:
    def check(name: str, value: Any, scope: Scope) -> None:
        for each in checks:
            each(name, value, scope)

    return check


def _either(checks: list[_Check]) -> _Check:
    """Return the check of a union, which raises the error of the first type."""

    def check(name: str, value: Any, scope: Scope) -> None:
        errors = []
        for each in checks:
            try:
                return each(name, value, scope)
            except ValueError as error:
                errors.append(error)
        raise errors[0]

    return check


def _of_type(cls: Any) -> _Check:
    return lambda name, value, scope: check_is(name, value, cls)


def _of_items(origin: type, hints: tuple[Any, ...]) -> _Check:
    """Return the check of the items of a list, tuple or dictionary."""
    if origin is tuple and hints[-1] is not ...:
        checks = [_check_of(hint) for hint in hints]

        def check_tuple(name: str, value: Any, scope: Scope) -> None:
            check_same(f"length of {name}", len(value), len(checks))
            for check, item in zip(checks, value, strict=True):
                check(name, item, scope)

        return check_tuple
    key, item = (_check_of(hint) for hint in (hints if origin is dict else (Any, hints[0])))

    def check_items(name: str, value: Any, scope: Scope) -> None:
        for one in value:
            key(name, one, scope)
        for one in value.values() if origin is dict else value:
            item(name, one, scope)

    return check_items


def _check_integer(name: str, value: Any, scope: Scope | None = None) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise ValueError(f"{name}: a {type(value).__name__} is where an integer should be")


def _check_number(name: str, value: Any, scope: Scope) -> None:
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        raise ValueError(f"{name}: a {type(value).__name__} is where a number should be")


def _check_array(name: str, value: Any, scope: Scope | None = None) -> None:
    if type(value) is not np.ndarray and not isinstance(value, np.memmap):
        raise ValueError(f"{name}: a {type(value).__name__} is where an array should be")


#: Checks of types that other types may stand for.
_KINDS: dict[Any, _Check] = {
    Any: lambda name, value, scope: None,
    bool: _of_type(bool | np.bool_),
    int: _check_integer,
    float: _check_number,
    np.ndarray: _check_array,
}


def check_array(
    name: str,
    value: Any,
    types: str,
    shape: tuple[int | None, ...],
    least: float | None = None,
    below: float | None = None,
) -> None:
    """Check the type, shape and range of an array.

    ``types`` are names such as "f4 f8": kinds of numbers, with their bytes. None in the ``shape``
    is any length. All values must be at least ``least`` and below ``below``.
    """
    _check_array(name, value)
    if types and value.dtype not in _dtypes(types):
        raise ValueError(f"{name}: the type is {value.dtype}, not one of {types}")
    fits = len(shape) == value.ndim
    for n, m in zip(shape, value.shape, strict=False):
        fits = fits and (n is None or n == m)
    if not fits:
        wanted = " x ".join("any" if n is None else str(n) for n in shape)
        raise ValueError(f"{name}: the shape is {value.shape}, not {wanted}")
    if value.size and least is not None and not value.min() >= least:
        raise ValueError(f"{name}: {value.min()} is below {least}")
    if value.size and below is not None and not value.max() < below:
        raise ValueError(f"{name}: {value.max()} is not below {below}")


@cache
def _dtypes(types: str) -> frozenset[np.dtype]:
    return frozenset(map(np.dtype, types.split()))


def check_count(name: str, value: Any, least: int, most: float = _MOST) -> None:
    """Check that this is an integer in a range, which includes both ends."""
    _check_integer(name, value)
    Within(least, most)(name, value)


def check_is(name: str, value: Any, types: Any) -> None:
    """Check that this is an instance of a type, or of one of several."""
    if not isinstance(value, types):
        raise ValueError(f"{name}: a {type(value).__name__} cannot be there")


def check_same(name: str, value: Any, expected: Any) -> None:
    """Check that a value is the one that follows from other parts."""
    if value != expected:
        raise ValueError(f"{name}: {str(value)[:50]} is not the {expected} of the other parts")

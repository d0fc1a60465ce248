"""Generators of random numbers as plain data, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

_BIT_GENERATORS: dict[str, Any] = {
    cls.__name__: cls
    for cls in (
        np.random.MT19937,
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.Philox,
        np.random.SFC64,
    )
}
#: Parts of a state that are positions in a buffer, and the last position. NumPy checks neither.
_LAST = {"pos": 624, "buffer_pos": 4}


def state_of(random: np.random.Generator | np.random.RandomState) -> dict[str, Any]:
    """The state of a generator: integers, floats, arrays and dictionaries of them."""
    if isinstance(random, np.random.Generator):
        return dict(random.bit_generator.state)
    return dict(random.get_state(legacy=False))


def from_state(kind: Any, state: Any) -> np.random.Generator | np.random.RandomState:
    """A generator with a state from :func:`state_of`; a ValueError if NumPy has none such."""
    name = state.get("bit_generator") if type(state) is dict else None
    if type(name) is not str or name not in _BIT_GENERATORS:
        raise ValueError("a random generator is of no kind that a file may name")
    bits = _BIT_GENERATORS[name](0)
    if kind == "Generator":
        _check(state, bits.state)
        bits.state = state
        return np.random.Generator(bits)
    if kind != "RandomState":
        raise ValueError("a random generator is neither a Generator nor a RandomState")
    random = np.random.RandomState(bits)
    _check(state, random.get_state(legacy=False))
    random.set_state(state)
    return random


def _check(given: Any, known: Any, name: str = "state") -> None:
    """Refuse a state whose parts, types or shapes differ from those of a valid one."""
    if type(given) is not type(known):
        raise ValueError(f"the {name} of a random generator is a {type(given).__name__}")
    if isinstance(known, dict):
        if given.keys() != known.keys():
            raise ValueError(f"the {name} of a random generator has other parts")
        for part in known:
            _check(given[part], known[part], part)
    elif isinstance(known, np.ndarray):
        if given.shape != known.shape or given.dtype != known.dtype:
            raise ValueError(f"the {name} of a random generator has another shape or type")
    elif isinstance(known, int) and not 0 <= given <= _LAST.get(name, 2**128 - 1):
        raise ValueError(f"the {name} of a random generator is out of range")

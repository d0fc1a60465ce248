"""Random generators as plain data, and back."""

from __future__ import annotations

from math import isfinite
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
#: The largest values of some parts of a state: of positions in a buffer, which NumPy does not
#: check, and of half a number that is kept for the next draw.
_LAST = {"pos": 624, "buffer_pos": 4, "has_uint32": 1, "has_gauss": 1, "uinteger": 2**32 - 1}


def state_of(random: np.random.Generator | np.random.RandomState) -> dict[str, Any]:
    """Return the state of a generator: integers, floats, arrays and dictionaries of them."""
    if isinstance(random, np.random.Generator):
        return dict(random.bit_generator.state)
    return dict(random.get_state(legacy=False))


def from_state(kind: Any, state: Any) -> np.random.Generator | np.random.RandomState:
    """Make a generator from a state of :func:`state_of`. Raise a ValueError if it is invalid."""
    name = state.get("bit_generator") if type(state) is dict else None
    if type(name) is not str or name not in _BIT_GENERATORS:
        raise ValueError("a random generator is not of a known kind")
    bits = _BIT_GENERATORS[name](0)
    if kind == "Generator":
        _check(state, bits.state)
        _check_turns(name, state["state"])
        bits.state = state
        return np.random.Generator(bits)
    if kind != "RandomState":
        raise ValueError("a random generator is neither a Generator nor a RandomState")
    random = np.random.RandomState(bits)
    _check(state, random.get_state(legacy=False))
    _check_turns(name, state["state"])
    random.set_state(state)
    return random


def _check_turns(name: str, parts: dict[str, Any]) -> None:
    """Raise an error for a state that never changes: a rejection sampler would loop forever."""
    if name in ("PCG64", "PCG64DXSM") and parts["inc"] % 2 == 0:
        raise ValueError("the increment of a random generator is even")
    if name == "MT19937" and not (parts["key"][0] & 0x80000000 or parts["key"][1:].any()):
        raise ValueError("the key of a random generator is zero")


def _check(given: Any, known: Any, name: str = "state") -> None:
    """Raise an error for a state whose parts, types or shapes differ from a valid one's."""
    if type(given) is not type(known):
        raise ValueError(f"the {name} of a random generator is a {type(given).__name__}")
    if isinstance(known, dict):
        if given.keys() != known.keys():
            raise ValueError(f"the {name} of a random generator has unexpected parts")
        for part in known:
            _check(given[part], known[part], part)
    elif isinstance(known, np.ndarray):
        if given.shape != known.shape or given.dtype != known.dtype:
            raise ValueError(f"the {name} of a random generator has another shape or type")
    elif isinstance(known, int) and not 0 <= given <= _LAST.get(name, 2**128 - 1):
        raise ValueError(f"the {name} of a random generator is out of range")
    elif isinstance(known, float) and not isfinite(given):
        raise ValueError(f"the {name} of a random generator is not finite")

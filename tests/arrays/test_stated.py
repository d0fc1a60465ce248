"""Declarations of what an object holds, and the checks that follow from them."""

import pickle
import re
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, get_type_hints

import numpy as np
import pytest

from trickless._arrays import stated
from trickless._arrays.growing import Growing
from trickless._arrays.stated import Amount, Array, Count, Floating, Length, Stated, Within


@stated.stated
class Part(NamedTuple):
    """A named tuple whose lengths are those of its owner, except its own rows."""

    values: Annotated[np.ndarray, Array("f8", "n", "n_columns")]
    limits: Annotated[np.ndarray, Array("f8", "n")] | None = None


class Whole(Stated):
    dtype: Floating
    weights: Annotated[np.ndarray, Array("f4 f8", "n_columns", least=0, some=True)]
    where: Annotated[np.ndarray, Array("i8", None, least=0, below="n_columns")]
    parts: list[Part]
    names: Annotated[dict[str, Count], Length("weights")]
    grown: Annotated[Growing, Array("f8", None, "n_columns")]
    share: Annotated[float, Within(0, 1)]
    pair: tuple[int, str] | None
    several: tuple[bool, ...]
    late: Amount = 0.0
    anything: Any = None


class Later(Whole):
    more: Annotated[np.ndarray, Array("b1", "n_columns")]


@dataclass
class Plain(Stated):
    count: Count = 3


GROWN = Growing()
GROWN.append(np.zeros((4, 2)))
STATE = {
    "dtype": np.dtype("f4"),
    "weights": np.ones(2),
    "where": np.array([0, 1, 1]),
    "parts": [Part(np.ones((3, 2)), np.ones(3)), Part(np.ones((5, 2)))],
    "names": {"a": 0, "b": 7},
    "grown": GROWN,
    "share": 0.5,
    "pair": (1, "one"),
    "several": (True, False),
}


@pytest.fixture(autouse=True)
def ours(monkeypatch):
    """Classes of these tests count as classes of the package."""
    for cls in (Part, Whole, Later, Plain):
        monkeypatch.setattr(cls, "__module__", "trickless.tests")
    monkeypatch.setattr(stated, "get_type_hints", hints)
    stated._fields.cache_clear()
    yield
    stated._fields.cache_clear()


def hints(thing, include_extras):
    """The types of annotations, which are no text in this module."""
    if getattr(thing, "__module__", None) == "trickless.tests":
        return dict(vars(thing).get("__annotations__", {}))
    return get_type_hints(thing, include_extras=include_extras)


def restored(cls=Whole, **changes):
    state = {name: value for name, value in (STATE | changes).items() if value is not ...}
    whole = object.__new__(cls)
    whole.__setstate__(state)
    return whole


def test_a_state_that_is_as_declared_is_restored():
    assert restored().share == 0.5
    assert restored(pair=None, late=2, anything=object()).late == 2
    assert restored(Later, more=np.zeros(2, bool)).more.shape == (2,)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": ...}, "Whole: there is no weights"),
        ({"weights": [1.0, 2.0]}, "weights: a list is where an array should be"),
        ({"weights": np.ones(2, int)}, "weights: the type is int64"),
        ({"weights": np.ones((2, 1))}, "weights: the shape is (2, 1), not any"),
        ({"weights": -np.ones(2)}, "weights: -1.0 is below 0"),
        ({"weights": np.ones(0), "where": np.zeros(0, int)}, "number of weights: 0"),
        ({"weights": np.ones(3)}, "values: the shape is (3, 2), not any x 3"),
        ({"where": np.array([2])}, "where: 2 is not below 2"),
        ({"where": np.array([-1])}, "where: -1 is below 0"),
        ({"dtype": np.dtype("i4")}, "dtype: i is not"),
        ({"dtype": "f4"}, "dtype: a str cannot be there"),
        ({"parts": [Part(np.ones((3, 2)), np.ones(4))]}, "limits: the shape is (4,), not 3"),
        ({"parts": [Part(np.ones((3, 1)))]}, "values: the shape is (3, 1), not any x 2"),
        ({"parts": [(np.ones((3, 2)), None)]}, "parts: a tuple cannot be there"),
        ({"parts": ()}, "parts: a tuple cannot be there"),
        ({"names": {"a": 0}}, "length of names: 1 is not the 2"),
        ({"names": {"a": 0, "b": -1}}, "names: -1 is not at least 0"),
        ({"names": {"a": 0, 1: 1}}, "names: a int cannot be there"),
        ({"names": {"a": 0, "b": True}}, "names: a bool is where an integer should be"),
        ({"grown": np.zeros((4, 2))}, "grown: a ndarray cannot be there"),
        ({"share": 1.5}, "share: 1.5 is not from 0 to 1"),
        ({"share": float("nan")}, "share: nan"),
        ({"share": "1"}, "share: a str is where a number should be"),
        ({"late": float("inf")}, "late: inf"),
        ({"pair": (1,)}, "length of pair: 1 is not the 2"),
        ({"pair": (1, 2)}, "pair: a int cannot be there"),
        ({"several": (True, 1)}, "several: a int cannot be there"),
    ],
)
def test_other_states_raise_an_error_that_names_the_field(changes, message):
    pattern = "|".join(map(re.escape, message.split("|")))
    with pytest.raises(ValueError, match=pattern):
        restored(**changes)


def test_a_dataclass_has_all_its_fields_and_a_subclass_those_of_its_base():
    plain = object.__new__(Plain)
    with pytest.raises(ValueError, match="there is no count"):
        plain.__setstate__({})
    with pytest.raises(ValueError, match="Later: there is no more"):
        restored(Later)
    with pytest.raises(ValueError, match="more: the shape"):
        restored(Later, more=np.zeros(3, bool))


def test_a_pickle_is_checked():
    growing = pickle.loads(pickle.dumps(GROWN))
    np.testing.assert_array_equal(growing.rows, GROWN.rows)
    with pytest.raises(ValueError, match="_length: 3 is not the 2"):
        growing.__setstate__({"_buffer": np.zeros(2), "_length": 3})

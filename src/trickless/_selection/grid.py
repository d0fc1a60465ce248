"""Families of neurons with all combinations of some values of their parameters."""

from __future__ import annotations

from typing import Any

import sklearn
from sklearn.base import clone

from trickless._errors import InvalidValueError
from trickless.neurons import Neurons


def families_of_grid(owner: str, family: Neurons, search: dict[str, Any] | None) -> list[Neurons]:
    """Return a family for each combination of parameters such as ``neurons__length_scale``."""
    if search is None:
        return [family]
    known = sorted(f"neurons__{name}" for name in family.get_params())
    for name in search:
        if name not in known:
            raise InvalidValueError(
                f"{owner}: search={dict(search)!r} names {name!r}, which "
                "is not a parameter of the neurons",
                f"one of {', '.join(known) or 'none'}",
            )
    grid = {name.removeprefix("neurons__"): each for name, each in search.items()}
    return [
        clone(clone(family).set_params(**params))
        for params in sklearn.model_selection.ParameterGrid(grid)
    ]

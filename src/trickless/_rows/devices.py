"""Checks of the library and device of rows, targets and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import is_jax_array

from trickless._arrays.places import HOST, Place, dispatches, place_of
from trickless._errors import InvalidTypeError, InvalidValueError


def check_readable(owner: str, X: Any, place: Place, on_devices: bool) -> None:
    """Check that the learner can process the rows of another library.

    Without scikit-learn's array API dispatch, they must be convertible to NumPy arrays.
    """
    if not dispatches():
        try:
            np.asarray(X)
        except Exception as error:
            raise InvalidTypeError(
                f"{owner}: X is an array of {place}, which NumPy cannot read ({error})",
                "set the environment variable SCIPY_ARRAY_API=1 and call "
                "sklearn.set_config(array_api_dispatch=True), to compute on the device of X; "
                "or pass a NumPy array",
            ) from error
        return
    if not on_devices:
        raise InvalidTypeError(
            f"{owner}: X is an array of {place}, but this learner works on NumPy arrays only",
            "pass a NumPy array, or choose KitchenSinks or DoublyStochastic, which work on devices",
        )
    if is_jax_array(X):
        raise InvalidTypeError(
            f"{owner}: X is an array of JAX, which cannot be changed in place, as sums over rows "
            "must be",
            "pass a NumPy array, numpy.asarray(X)",
        )
    if "sparse" in str(getattr(X, "layout", "")):
        raise InvalidTypeError(
            f"{owner}: X is a sparse array of {place}, but sparse rows must be SciPy's",
            "pass a scipy.sparse.csr_matrix, or X.to_dense()",
        )
    _check_no_gradient(owner, "X", X)


def _check_no_gradient(owner: str, name: str, array: Any) -> None:
    if getattr(array, "requires_grad", False):
        raise InvalidValueError(
            f"{owner}: {name} is an array of {place_of(array)} that requires a gradient, but "
            "learners compute none",
            f"{name}.detach()",
        )


def check_together(owner: str, place: Place, **others: Any) -> None:
    """Check that targets and weights are on the host, or at the place of the rows."""
    for name, array in others.items():
        _check_no_gradient(owner, name, array)
    if not dispatches():
        return
    for name, array in others.items():
        there = place_of(array)
        if there is not HOST and there is not place:
            raise InvalidValueError(
                f"{owner}: {name} is an array of {there}, but X is one of {place}",
                f"move {name} to where X is, or pass it as a NumPy array",
            )


def check_place(owner: str, place: Place, begun: Place | None) -> None:
    """Check that later rows are where the first were; ``begun`` is None for a model from a file."""
    if begun is not None and place is not begun:
        raise InvalidValueError(
            f"{owner}: X is an array of {place}, but the model was begun with rows of {begun}",
            "move X there; or save and load the model, or pickle it: the copy works on any "
            "device. (Arrays of other libraries are read as NumPy's unless "
            "sklearn.set_config(array_api_dispatch=True) is called.)",
        )


def check_double(owner: str, place: Place, dtype: np.dtype) -> None:
    """Check that the place of the rows supports the precision."""
    if dtype == np.float64 and not place.has_double:
        raise InvalidValueError(
            f"{owner}: dtype='float64', but X is an array of {place}, which does not support it",
            "dtype='float32'",
        )

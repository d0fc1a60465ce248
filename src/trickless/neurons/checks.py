"""Checks of a family: of its fit, its draws, its activations and its kernel."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array

from trickless._arrays.missing import unmasked
from trickless._arrays.places import HOST, namespace, place_of, to_host
from trickless._arrays.series import TAPS
from trickless._arrays.weighted import median
from trickless._errors import InvalidTypeError, InvalidValueError, remedy_in
from trickless._rules import check_value, count, positive, warn, with_remedies

#: Rounding may change this share of activations by a lot, for neurons with steps.
_FEW_APART = 0.1
#: Columns whose standard deviations differ by more than this factor have different units.
_UNITS = 100.0
#: Errors of activations that matter, relative to their size; and the share of neurons that may have
#: them.
_DIGITS, _MANY = 0.01, 0.05
#: Rounding may give a constant column a deviation of this times its value.
_ROUNDING = 1e-7


def check_fit_takes_weights(neurons: Any) -> None:
    """Check that a family's own ``fit`` accepts rows, a generator and weights."""
    try:
        inspect.signature(neurons.fit).bind(None, None, None)
    except TypeError as error:
        raise InvalidTypeError(
            f"{type(neurons).__name__}.fit cannot be called with rows, a generator and weights "
            f"({error})",
            "def fit(self, X, rng, sample_weight=None)",
        ) from error


def check_fitted_family(neurons: Any) -> None:
    """Check that a family's own ``fit`` has called ``fit`` of the base class."""
    if not hasattr(neurons, "n_features_in_"):
        raise InvalidTypeError(
            f"{type(neurons).__name__}.fit did not set n_features_in_",
            "call super().fit(X, rng, sample_weight) in it",
        )


def check_columns(owner: str, X: Any, n_features: int) -> None:
    """Check that rows have the number of columns that a family was fitted on."""
    if X.shape[1] != n_features:
        raise InvalidValueError(
            f"{owner}: X has {X.shape[1]} columns, but the neurons were fitted on {n_features}",
            "pass the same columns as in fit",
        )


def shape_of(X: Any) -> tuple[int, ...] | None:
    """Return the shape of an array, or of a list of rows; None for anything else."""
    if not isinstance(X, list | tuple):
        return tuple(X.shape) if isinstance(getattr(X, "shape", None), tuple) else None
    try:
        return np.shape(X)
    except ValueError:  # of several lengths
        return None


def check_shape(owner: str, name: str, shape: tuple[int, ...], least: int = 1) -> None:
    """Check that there are two dimensions, and at least some rows and columns."""
    if len(shape) > 2:
        raise InvalidValueError(
            f"{owner}: {name} has the shape {shape}, but it must have two dimensions, rows and "
            "columns",
            for_images(name, shape),
        )
    if len(shape) < 2:
        raise InvalidValueError(
            f"{owner}: Expected 2D array, got {'1D' if shape else 'scalar'} array instead",
            f"Reshape your data: {name}.reshape(-1, 1) if it is one feature, "
            f"{name}.reshape(1, -1) if it is one row; a data frame instead of a series",
        )
    for n, what, one, enough in zip(
        shape, ("sample", "feature"), ("row", "column"), (least, 1), strict=True
    ):
        if n < enough:
            raise InvalidValueError(
                f"{owner}: {name} has {n} {what}(s) (shape={shape}) while a minimum of {enough} "
                "is required",
                f"pass at least one {one}",
            )


def for_images(name: str, shape: tuple[int, ...]) -> str:
    """Describe how to learn from rows of this shape: by a family for arrays, or as flat rows."""
    families = []
    if len(shape) == 3 and shape[2] >= TAPS:
        families.append("neurons=Convolutions() for series")
    if (sizes := patches_for(shape)) is not None:
        options = ", ".join(f"{option}={size}" for option, size in sizes.items())
        families.append(f"neurons=Patches({options}) for images")
    return ", or ".join([*families, f"{name}.reshape(len({name}), -1)"])


def patches_for(shape: tuple[int, ...]) -> dict[str, int] | None:
    """Return sizes of patches that suit an array of images; None if it holds no images."""
    side = min(sorted(shape[1:])[-2:])  # channels are fewer than the pixels of a side
    if len(shape) > 4 or side < 2:
        return None
    patch = min(7, max(2, side // 2))
    return {"patch": patch, "pool": min(3, side - patch + 1)}


def check_one_each(owner: str, name: str, values: Any, n_features: int) -> None:
    """Check that a parameter given as an array has one number for each feature."""
    if len(values) != n_features:
        raise InvalidValueError(
            f"{owner}: {name} has {len(values)} values, but X has {n_features} features",
            f"one for each column of X, or the default of {name}",
        )


def warn_of_units(owner: str, X: Any, weight: np.ndarray, inputs: Any) -> None:
    """Warn if distances between rows hardly depend on some columns, as others vary far more.

    There is no warning for columns that hold one value in most rows, such as pixels at the edge of
    images, because they may vary little in the same units. Sparse rows get no warning either.
    """
    if scipy.sparse.issparse(X) or len(X) < 2:
        return
    X = np.asarray(X, dtype=np.float64)
    largest = np.abs(X).max() or 1.0
    X = X / largest  # so that no square overflows
    mean = np.average(X, axis=0, weights=weight)
    spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    spread[spread <= _ROUNDING * np.abs(mean)] = 0
    most = int(spread.argmax())
    small = np.flatnonzero((spread > 0) & (_UNITS * spread < spread[most]))
    middle = np.array([median(X[:, i], weight) for i in small])
    small = small[np.average(X[:, small] == middle, axis=0, weights=weight) <= 0.5]
    if not len(small):
        return
    names = inputs.names if inputs is not None and inputs.names else range(len(spread))
    shown = ", ".join(f"{names[i]!r}" for i in small[:5])
    more = f" and {len(small) - 5} more" if len(small) > 5 else ""
    ratio = spread[most] / spread[small].max()
    warn(
        f"{owner}: distances between rows hardly depend on column {shown}{more}, because column "
        f"{names[most]!r} varies at least {ratio:,.0f} times as much. Remedy: StandardScaler "
        f"before the learner, or {owner}(length_scale='relevance'), which learns a length scale "
        "for each column."
    )


def warn_of_rounding(neurons: Any, X: Any, single: Any, double: Any) -> None:
    """Warn if single precision is too inexact for many neurons, by trying some rows.

    ``single`` and ``double`` are weights of the same neurons.
    """
    expected = neurons(X.astype(np.float64), double)
    error = np.abs(neurons(X, single) - expected).max(axis=0)
    share = float((error > _DIGITS * np.sqrt((expected**2).mean())).mean())
    if share > _MANY:
        warn(
            f"{type(neurons).__name__}: at the scale of X, dtype='float32' gives {share:.0%} of "
            f"neurons an error of more than {_DIGITS:.0%}: predictions will be inaccurate. "
            "Remedy: dtype='float64', or a larger length scale or a smoother kernel."
        )


def check_kernel_rows(neurons: Any, X: Any, name: str) -> np.ndarray:
    """Check rows for a closed-form kernel, and make them a dense matrix in double precision."""
    owner = type(neurons).__name__
    if not hasattr(neurons, "n_features_in_"):
        raise NotFittedError(
            f"{owner}: this family is not fitted, but its kernel depends on the training rows. "
            "Remedy: neurons.fit(X, np.random.default_rng(0)), or neurons_ of a fitted learner."
        )
    if (shape := shape_of(X)) is not None:
        check_shape(owner, name, shape, least=0)
    with with_remedies(owner):
        rows = check_array(
            unmasked(X),
            accept_sparse="csr" if neurons.accepts_sparse else False,
            dtype=np.float64,
            ensure_all_finite="allow-nan" if neurons.accepts_tables else True,
            ensure_min_samples=0,
            input_name=name,
        )
    check_columns(owner, rows, neurons.n_features_in_)
    return rows.toarray() if scipy.sparse.issparse(rows) else rows


def draw_neurons(neurons: Any, rng: np.random.Generator, n: int, start: int | None = None) -> Any:
    """Draw n neurons of a family and check their weights. ``start`` numbers those of a learner.

    A single array becomes a tuple of one, which the family notes.
    """
    call = f"{type(neurons).__name__}.draw(rng, n={n})"
    draw = neurons.draw if start is None else partial(neurons._draw_from, start)
    weights = called(call, draw, rng, n)
    if not isinstance(weights, tuple):
        weights, neurons._draws_array = (weights,), True
    if not weights or any(np.shape(array)[:1] != (n,) for array in weights):
        check_drawn(call, weights, n)
    return weights


def called(call: str, function: Callable[..., Any], *args: Any) -> Any:
    """Call a user's function, and explain errors in its arguments."""
    try:
        return function(*args)
    except (TypeError, AttributeError) as error:
        if remedy_in(error):
            raise
        raise InvalidTypeError(
            f"{call} failed with {type(error).__name__}: {error}",
            "accept these arguments "
            "in this order; rng is a numpy Generator, and the others are numbers",
        ) from error


def check_drawn(call: str, weights: Any, n: int) -> None:
    """Check that drawn weights are a tuple of arrays with n entries each."""
    arrays = isinstance(weights, tuple) and len(weights) > 0
    if not arrays or any(np.shape(array)[:1] != (n,) for array in weights):
        what = (
            f"arrays of shapes {[np.shape(array) for array in weights]}"
            if isinstance(weights, tuple)
            else f"a {type(weights).__name__}"
        )
        raise InvalidTypeError(
            f"{call} returned {what}, but it must return an array with n = {n} entries along the "
            "first axis, or a tuple of such arrays",
            "one entry for each neuron",
        )


def check_repeatable(call: str, draw: Callable[[np.random.Generator], Any], remedy: str) -> None:
    """Check that the same seed gives the same weights, because a stream may draw them again."""
    first, again = (draw(np.random.default_rng(0)) for _ in range(2))
    if not _same_weights(first, again):
        raise InvalidValueError(
            f"{call} gave different weights from the same seed, but a model needs the same neurons "
            "whenever it predicts",
            remedy,
        )


def check_same_draws(name: str, weights: Any, again: Any) -> None:
    """Check that weights drawn twice from one seed are the same."""
    if not _same_weights(weights, again):
        raise InvalidValueError(
            f"{name}.draw(rng, n) gave different weights from the same seed, but neurons are not "
            "stored, and are drawn again to predict",
            "take all random numbers from rng, and change nothing in the family",
        )


def _same_weights(one: Any, other: Any) -> bool:
    return all(
        np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f")
        for a, b in zip(one, other, strict=True)
    )


def check_activations(call: str, Z: Any, n_rows: int, n: int, width: int) -> None:
    """Check that activations are an array of width * n real numbers for each row."""
    shape = getattr(Z, "shape", None)
    array = hasattr(Z, "dtype") and not scipy.sparse.issparse(Z)
    if not array or isinstance(Z, np.ma.MaskedArray):
        raise InvalidTypeError(
            f"{call} returned {type(Z).__name__}, but it must return an array of shape "
            f"(n_rows, width * n) = ({n_rows}, {width * n})",
            "return a plain array: numpy.asarray(Z) for a data frame, Z.toarray() for a sparse "
            "matrix, Z.filled(0) for a masked array",
        )
    if shape != (n_rows, width * n):
        what = type(Z).__name__ if shape is None else f"an array of shape {tuple(shape)}"
        raise InvalidTypeError(
            f"{call} returned {what} for {n_rows} rows and {n} neurons of width {width}, but it "
            f"must return an array of shape (n_rows, width * n) = ({n_rows}, {width * n})",
            "one column for each value of each neuron; set width if a neuron has several values",
        )
    if isinstance(Z, np.ndarray) and Z.dtype.kind not in "biuf":
        raise InvalidTypeError(
            f"{call} returned an array of type {Z.dtype}, but activations must be real numbers",
            "return floating-point numbers; for a complex number, its real and imaginary "
            "part, with width = 2",
        )


def check_pairs(owner: str, Z: Any, n: int, width: int) -> None:
    """Check that ``activate_pairs`` returned width numbers for each pair of row and neuron."""
    if (shape := np.shape(Z)) != (n, width):
        raise InvalidTypeError(
            f"{owner}.activate_pairs(X, weights) returned an array of shape {shape} for {n} pairs "
            f"of a row and a neuron, but its shape must be ({n}, {width})",
            "a family that "
            "overrides activate must also override activate_pairs, or derive from Neurons",
        )


def check_finite_activations(name: str, values: np.ndarray) -> None:
    """Check that activations of finite rows, or their norms, are finite."""
    xp = namespace(values)
    if not bool(xp.all(xp.isfinite(values))):
        raise InvalidValueError(
            f"{name} gave activations that are not finite for finite rows",
            "scale X if its "
            "values are extreme; otherwise avoid overflows and divisions by zero in the family",
        )


def check_independent(owner: str, what: str, neurons: Any) -> None:
    """Check that neurons are independent, as standard errors and guarantees assume."""
    if not neurons.independent:
        sampling = getattr(neurons, "sampling", None)
        how = "" if sampling is None else f" with sampling={sampling!r}"
        raise InvalidValueError(
            f"{owner}: {what} needs independent neurons, but the neurons of "
            f"{type(neurons).__name__}{how} depend on each other",
            "sampling='iid', or a family whose attribute independent is True",
        )


def check_values(neurons: Any, X: Any, weights: Any, bounded: bool) -> None:
    """Check a family on a few rows and neurons. Its bound is checked only if ``bounded``."""
    name = type(neurons).__name__
    check_value(name, "width", neurons.width, count("width is the number of values of a neuron"))
    check_value(name, "bound", neurons.bound, positive("bound is the largest norm of a neuron"))
    before = X.copy() if isinstance(X, np.ndarray) else X
    Z = activations_to_host(name, neurons, X, weights)
    if isinstance(X, np.ndarray) and not np.array_equal(before, X, equal_nan=True):
        raise InvalidValueError(
            f"{name}.activate(X, weights) changed X, but other code uses the same rows",
            "make new arrays: X = X - 1 makes one, and X -= 1 does not",
        )
    norms = np.linalg.norm(Z.reshape(len(Z), neurons.width, -1), axis=1)
    check_finite_activations(name, norms)
    if bounded and norms.max(initial=0) > neurons.bound * (1 + 1e-4):
        raise InvalidValueError(
            f"{name} declares bound={neurons.bound!r}, but a neuron has a norm of "
            f"{norms.max():g}, so steps that are sized for the bound would diverge",
            "scale the activations down, or set bound to their largest norm; Kitchen Sinks needs "
            "no bound",
        )


def check_rows_alone(neurons: Any, X: Any, weights: Any) -> None:
    """Check, on a few rows, that the activations of a row depend on that row alone."""
    name = type(neurons).__name__
    Z = activations_to_host(name, neurons, X, weights)
    if not np.allclose(activations_to_host(name, neurons, X, weights), Z, 1e-4, 1e-6):
        raise InvalidValueError(
            f"{name}.activate(X, weights) gave different numbers for the same rows and weights",
            "draw everything random in draw(rng, n)",
        )
    half = X.shape[0] // 2
    if not half:  # a family does not have to accept an empty X
        return
    fewer = activations_to_host(name, neurons, X[:half, ...], weights)
    apart = abs(fewer - Z[:half]) > 1e-3 * abs(Z).max(initial=0)
    if apart.mean() > _FEW_APART:
        raise InvalidValueError(
            f"{name}.activate(X, weights) gave different numbers for the same rows in a smaller "
            "block, but blocks may have any size",
            "treat rows independently; compute "
            "statistics of the training rows, such as a mean, in fit",
        )


def activations_to_host(name: str, neurons: Any, X: Any, weights: Any) -> np.ndarray:
    """Evaluate a few rows, check the device of the activations, and copy them to the host."""
    place = place_of(X)
    if place is HOST:
        try:
            return np.asarray(neurons(X, weights))
        except (TypeError, AttributeError, IndexError) as error:
            if remedy_in(error):
                raise
            shapes = ", ".join(str(np.shape(array)) for array in weights)
            raise InvalidTypeError(
                f"{name}.activate(X, weights) failed with {type(error).__name__}: {error}. X has "
                f"the shape {X.shape}, and weights are what draw returned, of shape {shapes}",
                "return one column for each neuron from these",
            ) from error
    try:
        Z = neurons(X, weights)
        there = place_of(Z)
    except Exception as error:
        raise InvalidTypeError(
            f"{name}.activate does not work on arrays of {place}: {error!r}",
            "pass NumPy "
            "arrays, or use the functions of array_api_compat.array_namespace(X) in activate",
        ) from error
    if there is not place:
        raise InvalidTypeError(
            f"{name}.activate returned an array of {there} for rows of {place}",
            "use the functions of array_api_compat.array_namespace(X) in activate",
        )
    return to_host(Z)

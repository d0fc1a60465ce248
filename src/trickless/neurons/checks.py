"""Checks of what a family says: of its fit, its draws, its activations and its kernel."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array

from trickless.arrays.devices import place, take, to_host
from trickless.arrays.namespaces import namespace, on_host
from trickless.rules import check_value, count, positive, warn, with_remedies

#: Rounding may change this share of activations by much, where neurons have steps.
_FEW_APART = 0.1
#: Columns whose deviations differ by more than this have different units.
_UNITS = 100.0
#: Errors of activations that matter, relative to their size; and the share of neurons that may have
#: them.
_DIGITS, _MANY = 0.01, 0.05
#: Rounding may give a constant column a deviation of this times its value.
_ROUNDING = 1e-7


def check_fit_takes_weights(neurons: Any) -> None:
    """Check that a family's own ``fit`` takes rows, a generator and weights."""
    try:
        inspect.signature(neurons.fit).bind(None, None, None)
    except TypeError as error:
        raise TypeError(
            f"{type(neurons).__name__}.fit cannot be called with rows, a generator and weights "
            f"({error}). Remedy: def fit(self, X, rng, sample_weight=None)."
        ) from error


def check_fitted_family(neurons: Any) -> None:
    """Check that a family's own ``fit`` has called that of the base class."""
    if not hasattr(neurons, "n_features_in_"):
        raise TypeError(
            f"{type(neurons).__name__}.fit did not set n_features_in_. Remedy: call "
            "super().fit(X, rng, sample_weight) in it."
        )


def check_columns(owner: str, X: Any, n_features: int) -> None:
    """Check that rows have as many columns as those that a family was fitted on."""
    if X.shape[1] != n_features:
        raise ValueError(
            f"{owner}: X has {X.shape[1]} columns, but the neurons were fitted on {n_features}. "
            "Remedy: pass the same columns as in fit."
        )


def check_one_each(owner: str, name: str, values: Any, n_features: int) -> None:
    """Check that a parameter that is an array has one number for each feature."""
    if len(values) != n_features:
        raise ValueError(
            f"{owner}: {name} has {len(values)} values, but X has {n_features} features. Remedy: "
            f"one for each column of X, or the default of {name}."
        )


def warn_of_units(owner: str, X: Any, weight: np.ndarray, inputs: Any) -> None:
    """Warn if distances between rows hardly depend on some columns, as others vary far more.

    Columns that hold one value in most rows are left alone, as at the edge of images: they may vary
    little in the same units. So are sparse rows.
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
    small = small[(X[:, small] == np.median(X[:, small], axis=0)).mean(axis=0) <= 0.5]
    if not len(small):
        return
    names = inputs.names if inputs is not None and inputs.names else range(len(spread))
    shown = ", ".join(f"{names[i]!r}" for i in small[:5])
    more = f" and {len(small) - 5} more" if len(small) > 5 else ""
    ratio = spread[most] / spread[small].max()
    warn(
        f"{owner}: column {names[most]!r} varies at least {ratio:,.0f} times as much as column "
        f"{shown}{more}, so distances between rows hardly depend on the latter. Remedy: "
        f"StandardScaler before the learner, or {owner}(length_scale='relevance'), which finds a "
        "scale for each column."
    )


def warn_of_rounding(neurons: Any, X: Any, single: Any, double: Any) -> None:
    """Warn if single precision gives many neurons few digits, by the activations of some rows.

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
            f"{owner}: its kernel depends on what fit takes from rows, and it is not fitted. "
            "Remedy: neurons.fit(X, np.random.default_rng(0)), or neurons_ of a fitted learner."
        )
    with with_remedies(owner):
        rows = check_array(
            X,
            accept_sparse="csr" if neurons.accepts_sparse else False,
            dtype=np.float64,
            ensure_all_finite="allow-nan" if neurons.accepts_tables else True,
            ensure_min_samples=0,
            input_name=name,
        )
    check_columns(owner, rows, neurons.n_features_in_)
    return rows.toarray() if scipy.sparse.issparse(rows) else rows


def drawn(call: str, draw: Callable[..., Any], *args: Any, n: int) -> Any:
    """The weights of n neurons as a tuple of arrays, which a function of the user draws.

    ``call`` shows how it is called. A single array stands for a tuple of one.
    """
    weights = called(call, draw, *args)
    weights = weights if isinstance(weights, tuple) else (weights,)
    check_drawn(call, weights, n)
    return weights


def called(call: str, function: Callable[..., Any], *args: Any) -> Any:
    """What a function of the user returns."""
    try:
        return function(*args)
    except (TypeError, AttributeError) as error:
        if "Remedy: " in str(error):
            raise
        raise TypeError(
            f"{call} failed with {type(error).__name__}: {error}. Remedy: take these arguments in "
            "this order; rng is a numpy Generator, and the others are numbers."
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
        raise TypeError(
            f"{call} returned {what}, but it must return an array with n = {n} entries along the "
            "first axis, or a tuple of such arrays. Remedy: one entry for each neuron."
        )


def check_repeatable(call: str, draw: Callable[[np.random.Generator], Any], remedy: str) -> None:
    """Check that the same seed gives the same weights, since a stream may draw them again."""
    first, again = (draw(np.random.default_rng(0)) for _ in range(2))
    if not _same_weights(first, again):
        raise ValueError(
            f"{call} gave other weights from the same seed, but a model needs the same neurons "
            f"whenever it predicts. Remedy: {remedy}."
        )


def check_same_draws(name: str, weights: Any, again: Any) -> None:
    """Check that weights that were drawn twice from one seed are the same."""
    if not _same_weights(weights, again):
        raise ValueError(
            f"{name}.draw(rng, n) gave other weights from the same seed, but neurons are thrown "
            "away, and drawn again for a prediction. Remedy: take all random numbers from rng, and "
            "keep nothing in the family."
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
        raise TypeError(
            f"{call} returned {type(Z).__name__}, but it must return an array of shape "
            f"(n_rows, width * n) = ({n_rows}, {width * n}). Remedy: a plain array, as "
            "numpy.asarray makes it of a data frame, .toarray() of a sparse matrix and .filled(0) "
            "of a masked array."
        )
    if shape != (n_rows, width * n):
        what = type(Z).__name__ if shape is None else f"an array of shape {tuple(shape)}"
        raise TypeError(
            f"{call} returned {what} for {n_rows} rows and {n} neurons of width {width}, but it "
            f"must return an array of shape (n_rows, width * n) = ({n_rows}, {width * n}). Remedy: "
            "one column for each number of each neuron; set width if a neuron gives more than one."
        )
    if isinstance(Z, np.ndarray) and Z.dtype.kind not in "biuf":
        raise TypeError(
            f"{call} returned an array of the type {Z.dtype}, but activations are real numbers. "
            "Remedy: return floating-point numbers; of a complex number the real and the imaginary "
            "part, with width = 2."
        )


def check_pairs(owner: str, Z: Any, n: int, width: int) -> None:
    """Check that ``activate_pairs`` gave width numbers for each pair of a row and a neuron."""
    if (shape := np.shape(Z)) != (n, width):
        raise TypeError(
            f"{owner}.activate_pairs(X, weights) returned an array of shape {shape} for {n} pairs "
            f"of a row and a neuron, but it must return one of shape ({n}, {width}). Remedy: a "
            "family that overrides activate must override activate_pairs to match, or derive from "
            "Neurons."
        )


def check_finite_activations(name: str, values: np.ndarray) -> None:
    """Check that activations of finite rows, or their norms, are finite."""
    xp = namespace(values)
    if not bool(xp.all(xp.isfinite(values))):
        raise ValueError(
            f"{name} gave activations that are not finite for finite rows. Remedy: scale X, if its "
            "values are extreme; otherwise keep overflows and divisions by zero out of the family."
        )


def check_independent(owner: str, what: str, neurons: Any) -> None:
    """Check that neurons are independent, as standard errors and guarantees assume."""
    if not neurons.independent:
        sampling = getattr(neurons, "sampling", None)
        how = "" if sampling is None else f" with sampling={sampling!r}"
        raise ValueError(
            f"{owner}: {what} needs neurons that are drawn independently of each other, but those "
            f"of {type(neurons).__name__}{how} are not. Remedy: sampling='iid', or a family whose "
            "attribute independent is True."
        )


def check_family(neurons: Any, X: Any, weights: Any, bounded: bool) -> None:
    """Check what a family declares, on a few rows and neurons; the bound only if ``bounded``."""
    name = type(neurons).__name__
    check_value(name, "width", neurons.width, count("width counts the numbers of a neuron"))
    check_value(name, "bound", neurons.bound, positive("bound is the largest norm of a neuron"))
    before = X.copy() if isinstance(X, np.ndarray) else X
    Z = activations_to_host(name, neurons, X, weights)
    if isinstance(X, np.ndarray) and not np.array_equal(before, X, equal_nan=True):
        raise ValueError(
            f"{name}.activate(X, weights) wrote into X, the rows that it is to evaluate. Remedy: "
            "make new arrays, as X = X - 1 does where X -= 1 does not."
        )
    norms = np.linalg.norm(Z.reshape(len(Z), neurons.width, -1), axis=1)
    check_finite_activations(name, norms)
    if bounded and norms.max(initial=0) > neurons.bound * (1 + 1e-4):
        raise ValueError(
            f"{name} declares bound={neurons.bound!r}, but a neuron gave a value of norm "
            f"{norms.max():g}, and steps sized for the bound would diverge. Remedy: scale the "
            "activations down, or set bound to what they reach; Kitchen Sinks takes unbounded "
            "neurons as well."
        )


def check_rows_alone(neurons: Any, X: Any, weights: Any) -> None:
    """Check, on a few rows, that finite activations of a row depend on that row alone."""
    name = type(neurons).__name__
    Z = activations_to_host(name, neurons, X, weights)
    if not np.allclose(activations_to_host(name, neurons, X, weights), Z, 1e-4, 1e-6):
        raise ValueError(
            f"{name}.activate(X, weights) gave other numbers for the same rows and weights. "
            "Remedy: draw all that is random in draw(rng, n)."
        )
    half = X.shape[0] // 2
    if not half:  # a family need not accept an empty X
        return
    fewer = activations_to_host(name, neurons, take(X, slice(half)), weights)
    apart = abs(fewer - Z[:half]) > 1e-3 * abs(Z).max(initial=0)
    if apart.mean() > _FEW_APART:
        raise ValueError(
            f"{name}.activate(X, weights) gave other numbers for rows that have fewer rows beside "
            "them, but rows come in blocks of any size. Remedy: treat rows independently; keep "
            "what is known of the training rows, such as a mean, in fit."
        )


def activations_to_host(name: str, neurons: Any, X: Any, weights: Any) -> np.ndarray:
    """Activations of a few rows on the host, after a check that they are on the rows' device."""
    if on_host(X):
        return np.asarray(neurons(X, weights))
    try:
        Z = neurons(X, weights)
        there = place(Z)
    except Exception as error:
        raise TypeError(
            f"{name}.activate does not work on arrays of {place(X)}: {error!r}. Remedy: pass NumPy "
            "arrays, or write it with the functions of the namespace of X, "
            "array_api_compat.array_namespace(X)."
        ) from error
    if there != place(X):
        raise TypeError(
            f"{name}.activate gave an array of {there} for rows of {place(X)}. Remedy: use the "
            "functions of the namespace of X, array_api_compat.array_namespace(X)."
        )
    return to_host(Z)

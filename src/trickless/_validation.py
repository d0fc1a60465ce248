"""Checks of user input that several modules share, and their wording.

Each message names the parameter, the value, the cause and the remedy.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from types import MethodType
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight

_RESOLUTION_ROWS = 1000
#: Errors of rounding that a sum of bounded terms is granted.
_ROUNDINGS = 8
#: A mean loss this many times that of a constant is taken for divergence.
_DIVERGED = 1e3


class Rule(NamedTuple):
    """What a parameter must be: its type, its value, and a remedy for the user who missed it."""

    wanted: str
    remedy: str
    has_type: Callable[[Any], bool]
    accepts: Callable[[Any], bool] = lambda value: True


def is_real(value: Any) -> bool:
    """Whether a value is a number and not a boolean."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def is_integer(value: Any) -> bool:
    """Whether a value is an integer and not a boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def is_none(value: Any) -> bool:
    """Whether a value is None."""
    return value is None


def integer(low: int, remedy: str) -> Rule:
    """An integer of at least ``low``."""
    return Rule(f"an integer of at least {low}", remedy, is_integer, lambda v: v >= low)


def positive(remedy: str) -> Rule:
    """A finite number above 0."""
    return Rule("a finite number above 0", remedy, is_real, lambda v: 0 < v < np.inf)


def positives(remedy: str) -> Rule:
    """An array of finite numbers above 0."""
    return Rule(
        "an array of finite numbers above 0, one for each feature",
        remedy,
        lambda v: isinstance(v, np.ndarray | list | tuple),
        _all_positive,
    )


def _all_positive(values: Any) -> bool:
    try:
        values = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return values.ndim == 1 and bool(((values > 0) & (values < np.inf)).all())


def non_negative(remedy: str) -> Rule:
    """A finite number of at least 0."""
    return Rule("a finite number of at least 0", remedy, is_real, lambda v: 0 <= v < np.inf)


def fraction(remedy: str) -> Rule:
    """A number strictly between 0 and 1."""
    return Rule("a number between 0 and 1", remedy, is_real, lambda v: 0 < v < 1)


def choice(*options: str, remedy: str) -> Rule:
    """One of the named options."""
    names = " or ".join(repr(option) for option in options)
    return Rule(names, remedy, lambda v: isinstance(v, str), lambda v: v in options)


def anything(wanted: str, remedy: str, accepts: Callable[[Any], bool]) -> Rule:
    """Whatever ``accepts`` accepts."""
    return Rule(wanted, remedy, lambda value: True, accepts)


def either(*rules: Rule) -> Rule:
    """Any of several rules; the remedy of the first is shown."""
    return Rule(
        " or ".join(rule.wanted for rule in rules),
        rules[0].remedy,
        lambda value: any(rule.has_type(value) for rule in rules),
        lambda value: any(rule.has_type(value) and rule.accepts(value) for rule in rules),
    )


def _is_class_weight(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(is_real(weight) and 0 <= weight < np.inf for weight in value.values())
    return value is None or (isinstance(value, str) and value == "balanced")


CLASS_WEIGHT = anything(
    "None, 'balanced' or a dictionary of non-negative weights",
    "class_weight={'rare': 5.0} counts each row of a class five times",
    _is_class_weight,
)


def is_grid(value: Any) -> bool:
    """Whether a value is a dictionary of non-empty lists."""
    return (
        isinstance(value, dict)
        and len(value) > 0
        and all(isinstance(v, list | tuple | np.ndarray) and len(v) > 0 for v in value.values())
    )


def is_range(value: Any) -> bool:
    """Whether a value is a pair of finite numbers, the lower first."""
    pair = isinstance(value, tuple | list) and len(value) == 2 and all(map(is_real, value))
    return pair and -np.inf < value[0] < value[1] < np.inf


N_JOBS = anything(
    "None or an integer other than 0",
    "n_jobs=None uses as many threads as BLAS, n_jobs=-1 every core",
    lambda v: v is None or (is_integer(v) and v != 0),
)


def _is_precision(value: Any) -> bool:
    try:
        return value is not None and np.dtype(value).name in ("float32", "float64")
    except TypeError:
        return False


DTYPE = anything(
    "'float32' or 'float64'",
    "dtype='float32' is faster; dtype='float64' for badly scaled inputs",
    _is_precision,
)


def check_parameters(owner: Any, rules: Mapping[str, Rule]) -> None:
    """Check an object's parameters against its rules.

    Raises
    ------
    TypeError, ValueError
        Naming the object, the parameter, its value, what it must be and a remedy.
    """
    for name, rule in rules.items():
        check_value(type(owner).__name__, name, getattr(owner, name), rule)


def check_value(owner: str, name: str, value: Any, rule: Rule) -> None:
    """Check one value against a rule."""
    typed = rule.has_type(value)
    if typed and rule.accepts(value):
        return
    error = ValueError if typed else TypeError
    raise error(f"{owner}: {name}={value!r}, but it must be {rule.wanted}. Remedy: {rule.remedy}.")


def check_sparse(owner: str, neurons: Any, X: Any) -> None:
    """Refuse a sparse X where the neurons cannot take it."""
    if scipy.sparse.issparse(X) and not neurons.accepts_sparse:
        raise TypeError(
            f"{owner}: X is a sparse matrix of shape {X.shape}, but "
            f"neurons={type(neurons).__name__}() works on dense rows only. Remedy: pass "
            "X.toarray(), or choose neurons that take sparse rows, such as 'gaussian'."
        )


def check_weights(owner: str, sample_weight: Any, X: Any) -> np.ndarray | None:
    """Validate sample weights; ``None`` stays ``None``."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight)
    if weight.size and not weight.any():
        raise ValueError(
            f"{owner}: sample_weight is zero for all {weight.size} rows, so there is nothing to "
            "learn from. Remedy: give at least one row a positive weight."
        )
    weight = _check_sample_weight(weight, X, dtype=np.float64, ensure_non_negative=True)
    some = weight[weight > 0]
    if some.size and not 1e-100 <= some.min() <= some.max() <= 1e100:
        raise ValueError(
            f"{owner}: sample_weight has values from {some.min():g} to {some.max():g}, whose "
            "squares cannot be summed. Remedy: divide the weights by their mean."
        )
    return weight


def check_class_weight(owner: str, class_weight: Any, classes: np.ndarray, stream: bool) -> None:
    """A weight for known classes only; "balanced" needs all rows at once."""
    if isinstance(class_weight, str) and stream:
        raise ValueError(
            f"{owner}: class_weight={class_weight!r} needs the shares of the classes in all rows, "
            "which partial_fit does not know. Remedy: pass the weights as a dictionary, or call "
            "fit."
        )
    named = [] if isinstance(class_weight, str) else list(class_weight)
    unknown = [label for label in named if label not in classes.tolist()]
    if unknown:
        raise ValueError(
            f"{owner}: class_weight={class_weight!r} has weights for {unknown!r}, but the "
            f"classes are {classes.tolist()}. Remedy: use the labels that y holds as keys."
        )


def check_some_weight(owner: str, class_weight: Any, weight: np.ndarray) -> None:
    """Some row must count."""
    if not weight.any():
        raise ValueError(
            f"{owner}: class_weight={class_weight!r} gives every one of {len(weight)} rows the "
            "weight 0, so there is nothing to learn from. Remedy: a positive weight for one of the "
            "classes in y."
        )


def check_huber(epsilon: float) -> None:
    """The Huber loss of width 0 is 0."""
    if epsilon == 0:
        raise ValueError(
            f"epsilon={epsilon!r} with loss='huber' makes the loss 0 everywhere. Remedy: a "
            "positive epsilon, or loss='epsilon_insensitive' for the absolute error."
        )


def check_targets(owner: str, targets: np.ndarray, dtype: Any) -> None:
    """Targets must be finite in the precision of the coefficients."""
    largest = float(np.abs(targets).max(initial=0.0))
    if largest > 1e-2 * float(np.finfo(dtype).max):
        raise ValueError(
            f"{owner}: y reaches {largest:g}, which is too large for dtype="
            f"{np.dtype(dtype).name!r}. Remedy: scale y, or dtype='float64'."
        )


def check_more_neurons(owner: str, n_neurons: int, there_are: int) -> None:
    """A fit that goes on must have neurons left to draw."""
    if n_neurons <= there_are:
        raise ValueError(
            f"{owner}: warm_start=True with n_neurons={n_neurons!r}, but the model has "
            f"{there_are} neurons already, so there are none to add. Remedy: a larger n_neurons, "
            "or warm_start=False to begin anew."
        )


def check_mergeable(model: Any, other: Any) -> None:
    """Only statistics of the same activations and targets can be added up."""
    owner = type(model).__name__
    if type(other) is not type(model):
        raise TypeError(
            f"{owner}: merge takes another {owner}, not a {type(other).__name__}. Remedy: fit the "
            "parts with the same class."
        )
    if not other.__sklearn_is_fitted__():
        raise ValueError(f"{owner}: other={other!r} is not fitted. Remedy: fit it first.")
    for name, mine in model._begun_with.items():
        check_unchanged(owner, name, other._begun_with[name], mine)
    for name in ("classes_", "n_outputs_", "n_features_in_", "feature_names_in_"):
        here, there = getattr(model, name, 0), getattr(other, name, 0)
        if not np.array_equal(here, there):
            raise ValueError(
                f"{owner}: {name} is {there!r} in other and {here!r} here. Remedy: fit the parts "
                "on the same columns, and with classes= if some lack a label."
            )
    if getattr(model._encoder, "codes", None) != getattr(other._encoder, "codes", None):
        raise ValueError(
            f"{owner}: the columns of other hold other categories than those here, so their codes "
            "differ. Remedy: the same columns of the type category, with the same categories, in "
            "both parts."
        )
    mine, theirs = model.stream_.fingerprint(), other.stream_.fingerprint()
    drawn_alike = np.allclose(mine, theirs, rtol=1e-4)
    if not (drawn_alike and _same_fit(vars(model.neurons_), vars(other.neurons_))):
        raise ValueError(
            f"{owner}: the neurons of other={type(other).__name__}(random_state="
            f"{other.random_state!r}) are not those of this model, so their statistics do not add "
            "up. Remedy: the same integer random_state, and a family that takes nothing from the "
            "data, such as Gaussian(length_scale=1.0)."
        )


def _same_fit(mine: Any, theirs: Any) -> bool:
    """Whether two families took the same from the data: their attributes, as far as comparable."""
    if type(mine) is not type(theirs):
        return False
    if isinstance(mine, dict):
        names = [name for name in mine if name.endswith("_")]
        return all(name in theirs and _same_fit(mine[name], theirs[name]) for name in names)
    if isinstance(mine, list | tuple):
        return len(mine) == len(theirs) and all(map(_same_fit, mine, theirs))
    if hasattr(mine, "get_params"):
        return _same_fit(vars(mine), vars(theirs))
    if isinstance(mine, np.ndarray) and mine.dtype.kind == "f":
        return mine.shape == theirs.shape and np.allclose(
            mine, theirs, rtol=1e-4, atol=0, equal_nan=True
        )
    return not isinstance(mine, np.ndarray) or np.array_equal(mine, theirs)


def check_search(model: Any, grid: Mapping[str, Any]) -> None:
    """Only parameters of the neurons can be searched for."""
    known = sorted(f"neurons__{name}" for name in model._families()[0].get_params())
    for name in grid:
        if name not in known:
            raise ValueError(
                f"{type(model).__name__}: search={dict(grid)!r} names {name!r}, which is not a "
                f"parameter of the neurons. Remedy: one of {', '.join(known) or 'none'}."
            )


def check_stream(model: Any) -> None:
    """A stream must have held a batch."""
    if not model.__sklearn_is_fitted__():
        raise ValueError(
            f"{type(model).__name__}: batches held nothing to learn from. Remedy: an iterable of "
            "(X, y) that has not been used up."
        )


def check_streamable(owner: str, loss: str) -> None:
    """Only the squared loss has statistics that add up."""
    if loss != "squared_error":
        raise ValueError(
            f"{owner}: loss={loss!r} needs several passes over all rows, so it cannot be learned "
            "from a stream. Remedy: loss='squared_error', fit, or DoublyStochasticClassifier."
        )


def check_alpha(owner: str, alpha: Any) -> None:
    """Leaving a row out needs the rows once more."""
    if alpha == "loo":
        raise ValueError(
            f"{owner}: alpha='loo' needs a second pass over all rows, which a stream does not "
            "give. Remedy: fit, or alpha='auto' (generalised cross-validation from the statistics)."
        )


def check_statistics(model: Any) -> None:
    """What goes by sums over the rows needs a model that has, or will have, them."""
    fitted = model.__sklearn_is_fitted__()
    if not hasattr(model, "statistics_") if fitted else model.solver == "iterative":
        raise ValueError(
            f"{type(model).__name__}: solved in passes over all rows, as solver='iterative' does "
            "and 'auto' for many columns, a model keeps no statistics, which partial_fit, merge, "
            "return_std and noise_variance_ need. Remedy: solver='direct' from the beginning."
        )


def check_passes(owner: str, **parameters: Any) -> None:
    """What solver="iterative" does not go with."""
    for name, (value, goes) in parameters.items():
        if not goes:
            raise ValueError(
                f"{owner}: solver='iterative' does not go with {name}={value!r}. Remedy: "
                "solver='direct'."
            )


def check_no_weight_bound(owner: str, weight_bound: Any, loss: str | None = None) -> None:
    """What a bound of the weights does not go with."""
    if weight_bound is not None:
        what = "return_std=True" if loss is None else f"loss={loss!r}"
        raise ValueError(
            f"{owner}: weight_bound={weight_bound!r} does not go with {what}. Remedy: "
            "weight_bound=None."
        )


def check_validation_rows(owner: str, share: float, n_held_out: int, n_rows: int) -> None:
    """Both parts of the rows must hold some."""
    if not 2 <= n_held_out < n_rows:
        raise ValueError(
            f"{owner}: validation_fraction={share!r} of {n_rows} rows is {n_held_out}, which "
            f"leaves {n_rows - n_held_out} to learn from; early_stopping needs at least two rows "
            "held out and one to learn from. Remedy: more rows, another validation_fraction, or "
            "early_stopping=False."
        )


def check_classes(owner: str, source: str, classes: np.ndarray) -> None:
    """A classifier needs two classes at least."""
    if len(classes) < 2:
        held = f"only one class, {classes.tolist()[0]!r}" if len(classes) else "no classes"
        raise ValueError(
            f"{owner}: {source} holds {held}, and a classifier needs at least two classes. Remedy: "
            "check the split (rows of weight 0 do not count), or pass classes= with all labels to "
            "partial_fit."
        )


def check_same_classes(owner: str, classes: Any, fixed: np.ndarray) -> None:
    """The classes given with a later batch must be those of the first."""
    if classes is not None and not np.array_equal(np.unique(classes), fixed):
        raise ValueError(
            f"{owner}: classes={list(classes)!r}, but the first batch fixed the classes "
            f"{fixed.tolist()}. Remedy: pass all labels in the first call of partial_fit, or leave "
            "classes out of later ones."
        )


def check_unchanged(owner: str, name: str, now: Any, then: Any) -> None:
    """Parameters that shape a model may not change between its batches."""
    if not _same(now, then):
        raise ValueError(
            f"{owner}: {name}={now!r}, but the model was begun with {name}={then!r}, and its "
            f"coefficients belong to that. Remedy: set {name} back, or call fit to begin anew."
        )


def check_known_labels(owner: str, labels: np.ndarray, classes: np.ndarray) -> None:
    """Labels of a later batch must be among the classes fixed by the first."""
    unknown = np.setdiff1d(labels, classes)
    if unknown.size:
        raise ValueError(
            f"{owner}: y holds the label(s) {unknown.tolist()}, which are not among the classes "
            f"{classes.tolist()} fixed by the first batch. Remedy: pass classes= with all labels "
            "to the first call of partial_fit."
        )


def _same(now: Any, then: Any) -> bool:
    """Whether two parameters are equal; objects that cannot be compared are if their types are."""
    if hasattr(now, "get_params"):
        mine, other = now.get_params(deep=False), getattr(then, "__dict__", {})
        return type(now) is type(then) and all(_same(mine[key], other.get(key)) for key in mine)
    if hasattr(now, "__array__") or hasattr(then, "__array__"):
        return np.array_equal(now, then)
    if isinstance(now, MethodType) and isinstance(then, MethodType):
        return now.__func__ is then.__func__ and _same(now.__self__, then.__self__)
    if isinstance(now, list | tuple) and type(now) is type(then):
        return len(now) == len(then) and all(map(_same, now, then))
    incomparable = type(now).__eq__ is object.__eq__  # type: ignore[comparison-overlap]
    return (incomparable and type(now) is type(then)) or bool(now == then)


def check_drawn(call: str, weights: Any, n: int) -> None:
    """What draws weights must return a tuple of arrays with n entries each."""
    arrays = isinstance(weights, tuple) and len(weights) > 0
    if not arrays or any(np.shape(array)[:1] != (n,) for array in weights):
        what = (
            f"arrays of shapes {[np.shape(array) for array in weights]}"
            if isinstance(weights, tuple)
            else f"a {type(weights).__name__}"
        )
        raise TypeError(
            f"{call} returned {what}, but it must return a tuple of arrays with n = {n} entries "
            f"along the first axis. Remedy: return (array,) for a single array."
        )


def check_repeatable(call: str, draw: Callable[[np.random.Generator], Any], remedy: str) -> None:
    """The same seed must give the same weights, which a stream may have to draw again."""
    first, again = (draw(np.random.default_rng(0)) for _ in range(2))
    if not all(np.array_equal(a, b) for a, b in zip(first, again, strict=True)):
        raise ValueError(
            f"{call} gave other weights from the same seed, but a model needs the same neurons "
            f"whenever it predicts. Remedy: {remedy}."
        )


def check_stackable(call: str, drawn: list[tuple[np.ndarray, ...]]) -> None:
    """Weights that are drawn one at a time must have the same shapes."""
    shapes = {tuple(array.shape for array in weights) for weights in drawn}
    if len(shapes) > 1:
        one, other = sorted(shapes)[:2]
        raise TypeError(
            f"{call} returned arrays of shapes {list(one)} in one call and {list(other)} in "
            "another, but all must have the same. Remedy: pad what is short."
        )


def check_numbers(call: str, values: list[Any], width: int) -> np.ndarray:
    """Values of single neurons on single rows must be width real numbers each."""
    try:
        array = np.array(values)
    except ValueError:  # of different shapes
        array = np.empty(0, dtype=object)
    shapes = [(len(values), width), (len(values),)][: 2 if width == 1 else 1]
    if values and (array.dtype.kind not in "biuf" or array.shape not in shapes):
        raise TypeError(
            f"{call} returned {values[0]!r} for the first row and neuron, but it must return "
            f"width = {width} real number(s) for each. Remedy: return numbers, always as many, and "
            "set width to how many."
        )
    return array.reshape(len(values), width)


def check_varied(call: str, weights: Any) -> None:
    """Two neurons drawn one after the other must differ."""
    if not weights:
        raise ValueError(
            f"{call} has nothing to draw: there are no parameters. Remedy: a function with random "
            "parameters."
        )
    if all(np.array_equal(array[0], array[1]) for array in weights):
        raise ValueError(
            f"{call} gave the same weights twice, so all neurons would be one function. Remedy: "
            "build anew at each call, with a random initialisation, and share nothing trained."
        )


def check_input_shape(owner: str, input_shape: tuple[int, ...] | None, n_features: int) -> None:
    """A row must fill its shape."""
    size = n_features if input_shape is None else int(np.prod(input_shape))
    if size != n_features:
        raise ValueError(
            f"{owner}: input_shape={input_shape!r} holds {size} numbers, but X has {n_features} "
            f"columns. Remedy: a shape whose product is {n_features}, with the axes in the order "
            "in which the columns run (C order)."
        )


def check_module(module: Any, module_class: type, called: bool) -> None:
    """``module_factory`` must be a function that builds a module, and not a module itself."""
    if isinstance(module, module_class) != called:
        what = f"returned a {type(module).__name__}" if called else "is a module itself"
        raise TypeError(
            f"FromTorch: module_factory {what}, but it must be a function that builds a new "
            "torch.nn.Module whenever it is called. Remedy: module_factory=lambda: "
            "torch.nn.Sequential(...), or a function with a name, which can be pickled."
        )


def check_outputs(owner: str, Z: Any, n: int, n_rows: int, width: int) -> None:
    """A foreign function must give width numbers for each row, whatever rows are around it."""
    if Z.shape[:2] != (n, n_rows) or Z.size != n * n_rows * width:
        raise TypeError(
            f"{owner}: for {n_rows} row(s) a neuron gave an array of shape {Z.shape[1:]}, but it "
            f"must give width = {width} number(s) a row, as it did for a single one. Remedy: keep "
            "the first axis, which is that of the rows."
        )


def check_one_output(owner: str, sizes: list[int]) -> None:
    """A foreign function must give one array, and not an empty one."""
    if len(sizes) != 1 or sizes[0] == 0:
        raise TypeError(
            f"{owner}: for a row the function gives arrays of sizes {sizes}, but it must give one "
            "array with at least one number. Remedy: return a single array, such as the first of "
            "several."
        )


def check_activations(call: str, Z: Any, n_rows: int, n: int, width: int) -> None:
    """What evaluates neurons must return width * n numbers for each row."""
    shape = getattr(Z, "shape", None)
    if shape != (n_rows, width * n):
        what = type(Z).__name__ if shape is None else f"an array of shape {tuple(shape)}"
        raise TypeError(
            f"{call} returned {what} for {n_rows} rows and {n} neurons of width {width}, but it "
            f"must return an array of shape (n_rows, width * n) = ({n_rows}, {width * n}). Remedy: "
            "one column for each number of each neuron; set width if a neuron gives more than one."
        )


def check_pairs(owner: str, Z: Any, n: int, width: int) -> None:
    """``Neurons.activate_pairs`` must return width numbers for each pair of a row and a neuron."""
    if (shape := np.shape(Z)) != (n, width):
        raise TypeError(
            f"{owner}.activate_pairs(X, weights) returned an array of shape {shape} for {n} pairs "
            f"of a row and a neuron, but it must return one of shape ({n}, {width}). Remedy: a "
            "family that overrides activate must override activate_pairs to match, or derive from "
            "Neurons."
        )


def check_columns(owner: str, X: Any, n_features: int) -> None:
    """Rows must have as many columns as a family was fitted on."""
    if X.shape[1] != n_features:
        raise ValueError(
            f"{owner}: X has {X.shape[1]} columns, but the neurons were fitted on {n_features}. "
            "Remedy: pass the same columns as in fit."
        )


def check_non_negative(owner: str, lowest: float) -> None:
    """Histograms hold no negative values."""
    if lowest < 0:
        raise ValueError(
            f"{owner}: X holds negative values, down to {lowest:g}, but its rows must be "
            "histograms: counts, shares or intensities of at least 0. Remedy: leave out the "
            "centring (StandardScaler), or choose neurons for any inputs, such as 'gaussian'."
        )


def check_length_scales(owner: str, length_scale: Any, n_features: int) -> None:
    """An array of length scales has one for each feature."""
    if len(length_scale) != n_features:
        raise ValueError(
            f"{owner}: length_scale has {len(length_scale)} values, but X has {n_features} "
            "features. Remedy: one length scale for each column of X, or a single number."
        )


def check_feature_count(
    owner: str, sampling: str, n_features: int, least: int, most: int | None
) -> None:
    """Some ways of drawing frequencies are made for few features, some for many."""
    if n_features < least:
        raise ValueError(
            f"{owner}: sampling={sampling!r} is for {least:,} features or more, since it is biased "
            f"with fewer, but X has {n_features:,}. Remedy: sampling='orthogonal'."
        )
    if most is not None and n_features > most:
        raise ValueError(
            f"{owner}: sampling={sampling!r} is for {most:,} features at most, but X has "
            f"{n_features:,}. Remedy: sampling='iid'."
        )


def check_independent(owner: str, what: str, neurons: Any) -> None:
    """Errors and guarantees that count neurons as independent draws need them to be."""
    if not neurons.independent:
        sampling = getattr(neurons, "sampling", None)
        how = "" if sampling is None else f" with sampling={sampling!r}"
        raise ValueError(
            f"{owner}: {what} needs neurons that are drawn independently of each other, but those "
            f"of {type(neurons).__name__}{how} are not. Remedy: sampling='iid', or a family whose "
            "attribute independent is True."
        )


def check_fitted_family(neurons: Any) -> None:
    """A family's own ``fit`` must call that of the base class."""
    if not hasattr(neurons, "n_features_in_"):
        raise TypeError(
            f"{type(neurons).__name__}.fit did not set n_features_in_. Remedy: call "
            "super().fit(X, rng, sample_weight) in it."
        )


def check_family(neurons: Any, X: Any, weights: Any, bounded: bool) -> None:
    """A family must keep what it declares; tried on a few rows and neurons before learning.

    The bound matters where steps are sized for it.
    """
    name = type(neurons).__name__
    check_value(name, "width", neurons.width, integer(1, "width counts the numbers of a neuron"))
    check_value(name, "bound", neurons.bound, positive("bound is the largest norm of a neuron"))
    Z = np.asarray(neurons(X, weights))
    norms = np.linalg.norm(Z.reshape(len(Z), neurons.width, -1), axis=1)
    if not np.isfinite(norms).all():
        raise ValueError(
            f"{name} gave activations that are not finite for finite rows. Remedy: keep overflows "
            "and divisions by zero out of them."
        )
    if bounded and norms.max(initial=0) > neurons.bound * (1 + 1e-4):
        raise ValueError(
            f"{name} declares bound={neurons.bound!r}, but a neuron gave a value of norm "
            f"{norms.max():g}, and steps sized for the bound would diverge. Remedy: scale the "
            "activations down, or set bound to what they reach; Kitchen Sinks takes unbounded "
            "neurons as well."
        )


def check_expansion(support: Any, alpha: Any) -> None:
    """Support points must be rows of real numbers, each with one row of coefficients."""
    shapes = np.shape(support), np.shape(alpha)
    if scipy.sparse.issparse(support):
        shapes = support.shape, np.shape(alpha)
    if len(shapes[0]) != 2 or len(shapes[1]) != 2 or shapes[0][0] != shapes[1][0]:
        raise ValueError(
            f"Expansion: support has shape {shapes[0]} and alpha {shapes[1]}, but they must be "
            "(t, n_features) and (t, n_outputs). Remedy: pass alpha[:, None] for a single output."
        )
    if getattr(support, "dtype", None) not in (np.float32, np.float64):
        raise TypeError(
            f"Expansion: support has dtype {getattr(support, 'dtype', type(support).__name__)}, "
            "but it must be a float32 or float64 array. Remedy: support.astype('float32')."
        )


def check_probability(owner: str, name: str, value: Any) -> None:
    """A probability strictly between 0 and 1."""
    rule = anything(
        "a number above 0 and below 1",
        f"{name}=0.05 or 0.95 are common choices",
        lambda v: is_real(v) and 0 < v < 1,
    )
    check_value(owner, name, value, rule)


def check_certificate(owner: str, return_std: Any, tolerance: Any, confidence: Any) -> None:
    """A tolerance takes the place of a standard error."""
    check_probability(owner, "confidence", confidence)
    if tolerance is not None and return_std:
        raise ValueError(
            f"{owner}: predict with tolerance={tolerance!r} and return_std={return_std!r}, but "
            "predictions within a tolerance have a certificate in the place of a standard error. "
            "Remedy: ask for one of them."
        )
    if tolerance is not None:
        check_value(owner, "tolerance", tolerance, positive("it is in the units of y"))


def check_kernel_bound(owner: str, diagonal: np.ndarray, bound: float) -> None:
    """Every k(x, x) must be at most the bound that the steps are sized for."""
    if bound <= 0:
        raise ValueError(
            f"{owner}: the kernel gives k(x, x) = 0 for every row of the first batch, but steps "
            "are sized for the largest, which must be positive. Remedy: another kernel, or other "
            "kernel_params."
        )
    if diagonal.max() > bound * (1 + 1e-6):
        row = int(diagonal.argmax())
        raise ValueError(
            f"{owner}: k(x, x) is {diagonal[row]:g} for row {row}, above the kernel_bound of "
            f"{bound:g} that the steps are sized for. Remedy: kernel_bound={diagonal[row]:.3g} "
            "from the start, or a kernel with k(x, x) = 1."
        )


def check_diagonal(owner: str, diagonal: np.ndarray) -> None:
    """No k(x, x) may be negative: it is a squared norm."""
    if diagonal.min() < 0:
        row = int(diagonal.argmin())
        raise ValueError(
            f"{owner}: the kernel gives k(x, x) = {diagonal[row]:g} for row {row}, but it is the "
            "squared norm of a feature vector, which cannot be negative. Remedy: a positive "
            "semi-definite kernel, or other kernel_params."
        )


def check_kernel_values(owner: str, values: np.ndarray) -> None:
    """Values of a kernel must be finite."""
    finite = np.isfinite(values)
    if not finite.all():
        i, j = np.argwhere(~finite)[0]
        raise ValueError(
            f"{owner}: the kernel gives k(x, x') = {values[i, j]} for two rows that are finite, "
            "but its values must be finite. Remedy: scale X (StandardScaler), another kernel, or "
            "other kernel_params."
        )


def check_kernel_params(owner: str, kernel: str, params: Mapping[str, Any], known: list) -> None:
    """A kernel's parameters must be among those that it has."""
    unknown = [name for name in params if name not in known]
    if unknown:
        raise ValueError(
            f"{owner}: kernel_params={dict(params)!r}, but kernel={kernel!r} has no parameter "
            f"{unknown[0]!r}. Remedy: it takes {', '.join(known) or 'none'}."
        )


def check_positive_semidefinite(owner: str, squares: np.ndarray, scale: np.ndarray) -> None:
    """No ‖f‖² of an output may be negative, up to rounding of the terms that it is summed from."""
    if (squares < -1e-6 * scale).any():
        raise ValueError(
            f"{owner}: the kernel gives a function of squared norm {squares.min():g}, so it is not "
            "positive semi-definite, and there is no optimum to approach. Remedy: another kernel "
            "(the 'sigmoid' kernel is one that is not), or other kernel_params."
        )


def check_progress(owner: str, now: float, start: float, n_steps: int, remedy: str) -> None:
    """Stop where the mean loss has grown far beyond that of predicting a constant."""
    if not np.isfinite(now) or now > _DIVERGED * start > 0:
        raise ValueError(
            f"{owner}: training diverged within {n_steps} steps: the mean loss is {now:.3g}, "
            f"where predicting a constant has {start:.3g}. Remedy: {remedy}."
        )


def check_no_average(owner: str, average: bool, max_support: int | None) -> None:
    """An average over rounds has a term for every row that any round had."""
    if average and max_support is not None:
        raise ValueError(
            f"{owner}: average=True with max_support={max_support!r}, but an average over rounds "
            "needs the terms that are dropped. Remedy: average=False, or max_support=None."
        )


def check_forgetting(owner: str, schedule: str, step_size: float | str, alpha: float) -> None:
    """A step may not decay what was learned to nothing, or turn its signs."""
    if schedule != "inverse" and not isinstance(step_size, str) and step_size * alpha >= 1:
        raise ValueError(
            f"{owner}: step_size={step_size!r} with alpha={alpha!r} decays earlier terms by "
            f"1 - step * alpha = {1 - step_size * alpha:g}, which must be above 0. Remedy: a "
            f"step_size below {1 / alpha:g}, or a smaller alpha."
        )


def check_estimates(values: Any, X: Any, Y: Any) -> np.ndarray:
    """A user's estimates of a kernel must be one finite number a pair."""
    values = np.asarray(values)
    wanted = X.shape[0], Y.shape[0]
    if values.shape != wanted:
        raise ValueError(
            f"estimate(X, Y, rng) returned an array of shape {values.shape} for {wanted[0]} rows "
            f"of X and {wanted[1]} of Y, but it must have the shape {wanted}. Remedy: one estimate "
            "of k(x, x') for every pair."
        )
    if not np.issubdtype(values.dtype, np.number) or np.iscomplexobj(values):
        raise TypeError(
            f"estimate(X, Y, rng) returned values of type {values.dtype}, but they must be real "
            "numbers. Remedy: return a float array."
        )
    finite = np.isfinite(values)
    if not finite.all():
        i, j = np.argwhere(~finite)[0]
        raise ValueError(
            f"estimate(X, Y, rng) returned {values[i, j]} for row {i} of X and row {j} of Y, but "
            "estimates must be finite. Remedy: repeat a measurement that fails."
        )
    return values


def check_regret(owner: str, played: Any, n_rows: int, most: int) -> None:
    """Regret is worked out from every row and its place in the stream."""
    if played is None:
        raise ValueError(
            f"{owner}: regret_ needs every row, but max_support has replaced some of them. Remedy: "
            "max_support=None."
        )
    if n_rows > most:
        raise ValueError(
            f"{owner}: regret_ of {n_rows:,} rows would need the eigenvalues of a kernel matrix of "
            f"that size, and it is worked out for at most {most:,}. Remedy: look at a shorter "
            "stream; online_error_ has the error of any."
        )


def check_draws(owner: str, horizon: Any, norm_bound: Any, constants: Any, most: int) -> None:
    """Rounds of the theorem that would take hours each are refused."""
    if constants.n_samples > most:
        raise ValueError(
            f"{owner}: horizon={horizon!r} with norm_bound={norm_bound!r} asks for "
            f"{constants.n_samples:,} draws in each round, and more than {most:,} are refused. "
            "Remedy: a smaller norm_bound or horizon, or schedule='sqrt', which takes n_samples "
            "draws."
        )


def check_tolerance(owner: str, tolerance: Any, alpha: np.ndarray, dtype: Any) -> np.ndarray:
    """A positive tolerance for each output, and one that the precision of the sums can keep."""
    try:
        wanted = np.broadcast_to(np.asarray(tolerance, dtype=np.float64), alpha.shape[1])
        known = bool((wanted > 0).all() and np.isfinite(wanted).all())
    except (TypeError, ValueError):
        known = False
    if not known:
        raise ValueError(
            f"{owner}: tolerance={tolerance!r}, but it must be a finite number above 0, or one for "
            "each output. Remedy: tolerance=0.05 lets values be 0.05 off."
        )
    rounding = _ROUNDINGS * np.finfo(dtype).eps * np.abs(alpha).sum(axis=0)
    if (wanted < rounding).any():
        raise ValueError(
            f"{owner}: tolerance={tolerance!r}, but sums in {np.dtype(dtype).name} may be off by "
            f"{rounding.max():.1g} themselves. Remedy: dtype='float64', or a larger tolerance."
        )
    return wanted


def check_finite(owner: str, values: np.ndarray) -> None:
    """What a network answers must be finite."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"{owner}: the network's values are not finite, so its activations or its coefficients "
            "are not. Remedy: check the family's activations on these rows, and the step size."
        )


def check_overflow(owner: str, X: Any, dtype: Any) -> None:
    """Finite inputs must stay finite in the precision of the activations."""
    values = X.data if scipy.sparse.issparse(X) else X
    if np.isinf(values).any():
        raise ValueError(
            f"{owner}: X contains a value too large for dtype={np.dtype(dtype).name!r}, whose "
            f"largest is {np.finfo(dtype).max:.1e}. Remedy: scale X (StandardScaler), or "
            "dtype='float64'."
        )


def warn_of_resolution(owner: str, X: Any, dtype: Any, apart: bool) -> None:
    """Warn where a large offset leaves inputs few digits in the precision of the activations.

    ``apart`` says that columns count each by itself, and not by the distances between rows.
    """
    if scipy.sparse.issparse(X) or np.finfo(X.dtype).eps >= 1e-3:
        return
    rows = np.asarray(X[:: max(1, X.shape[0] // _RESOLUTION_ROWS)], dtype=np.float64)
    known = rows if np.isfinite(rows).all() else np.ma.masked_invalid(rows)
    largest = np.ma.filled(np.abs(known).max(axis=0), 0)
    unit = largest.max() or 1
    shifted = known / unit - (known / unit).min(axis=0)
    spread = unit * np.sqrt(np.ma.filled(shifted.var(axis=0), 0))
    if not apart:
        spread = np.full_like(spread, unit * np.linalg.norm(spread / unit))
    rounding = np.finfo(dtype).eps * largest
    column = int((rounding / np.where(spread > 0, spread, np.inf)).argmax())
    if rounding[column] > 1e-3 * spread[column] > 0:
        warnings.warn(
            f"{owner}: column {column} of X reaches {largest[column]:g}, which "
            f"dtype={np.dtype(dtype).name!r} rounds to within {rounding[column]:.1g}, while the "
            f"{'values' if apart else 'rows'} differ by about {spread[column]:.1g} in all: "
            "predictions will be inaccurate. Remedy: standardise X (StandardScaler), or "
            "dtype='float64'.",
            UserWarning,
            stacklevel=5,  # the caller of fit or partial_fit
        )


def warn_of_convergence(message: str) -> None:
    """Warn the first caller outside the package that a solver did not converge."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("trickless."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, ConvergenceWarning, stacklevel=level)


def check_range(owner: str, targets: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Targets must lie in the range that is mapped to [-1, 1]."""
    outside = (targets < low) | (targets > high)
    if outside.any():
        row, output = np.argwhere(outside)[0]
        raise ValueError(
            f"{owner}: y holds {targets[row, output]:g} (row {row}), outside of y_range="
            f"({low[output]:g}, {high[output]:g}), which is mapped to the [-1, 1] that the online "
            "guarantee assumes. Remedy: declare y_range=(low, high) wide enough for every batch."
        )

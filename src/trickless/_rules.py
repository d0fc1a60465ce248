"""Rules that parameters must follow, and the errors and warnings that users see."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from numbers import Integral, Real
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError

from trickless._errors import InvalidTypeError, InvalidValueError, RemedyError

#: Limits of factors of a kernel. Their square roots fit into single precision.
SMALLEST_SCALE, LARGEST_SCALE = 1e-60, 1e60
#: The least number that counts as not 0. Its inverse is finite, and it keeps its digits.
LEAST = 1e-300
#: The largest integer that compiled code can hold, and the largest number of things to make.
MOST, MOST_THINGS = 2**63 - 1, 2**40
#: Types of values that never change, so that a check is valid forever.
_UNCHANGING = (bool, int, float, str, type(None))
#: The most characters of a value in an error message.
_SHOWN = 200
#: Remedies for messages of scikit-learn and NumPy. The first pattern that matches counts.
_REMEDIES = {
    "unique column names": "pass each column once, each under its own name",
    "features, but|feature names|Feature names|column names": (
        "pass the columns that the model was fitted to, in the same order and with the same names"
    ),
    "contains infinity|too large to convert": (
        "replace it by a finite number, or leave these rows out"
    ),
    "contains NaN": "leave these rows out, or fill them in (sklearn.impute)",
    "^Sparse data": "dense rows, X.toarray()",
    "inconsistent numbers": "one target and one weight for each row of X",
    "requires y": "pass the targets y",
    "^Complex data": "pass real and imaginary parts as separate columns",
    "^Unknown label type|should be a 1d array|legacy multi-label|^Mix of label": (
        "a 1d array with one label for each row, text or integers; for numbers, use a regressor"
    ),
    "^Classification metrics": "labels of the kind that the model was fitted to",
    "different number of output": "y with a column for each output that the model predicts",
}
_REMEDY = (
    "pass X as a 2d NumPy array of numbers, a CSR matrix or a data frame, and y as an array with a "
    "number or a label for each row"
)
#: Messages whose later lines only show the data.
_SHOWS_DATA = re.compile(r"(Complex data|Input \w* ?contains)[^\n]*")


class Rule(NamedTuple):
    """A rule for a parameter: its type, its values, and a remedy for the error message."""

    wanted: str
    remedy: str
    has_type: Callable[[Any], bool]
    accepts: Callable[[Any], bool] = lambda value: True


#: Types that are registered as numbers or derived from them, and are none.
_NO_NUMBERS = bool | np.bool_ | np.timedelta64


def is_real(value: Any) -> bool:
    """Return whether a value is a number that fits into a float, and not a Boolean."""
    if not isinstance(value, Real) or isinstance(value, _NO_NUMBERS):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer and not a Boolean."""
    return isinstance(value, Integral) and not isinstance(value, _NO_NUMBERS)


def is_none(value: Any) -> bool:
    """Return whether a value is None."""
    return value is None


def is_count(value: Any) -> bool:
    """Return whether a value is an integer of at least 1, and not too large for a count."""
    return is_integer(value) and 1 <= value <= MOST_THINGS


def plain(value: Any) -> Any:
    """Convert a NumPy number or span of time to Python, whose products do not overflow.

    Other values stay, and spans that have no length, such as months.
    """
    if isinstance(value, np.timedelta64):
        unit = np.datetime_data(value.dtype)[0]
        has_length = unit not in ("Y", "M", "generic") and not np.isnat(value)
        return value.astype("m8[us]").item() if has_length else value
    if isinstance(value, np.integer):
        return int(value)
    return float(value) if isinstance(value, np.floating) else value


def integer(low: int, remedy: str, most: float = MOST) -> Rule:
    """Require an integer of at least ``low``, and at most ``most``."""
    wanted = f"an integer of at least {low}"
    if most < np.inf:
        wanted += f" and at most {most:,}"
    return Rule(wanted, remedy, is_integer, lambda v: low <= v <= most)


def count(remedy: str) -> Rule:
    """Require a number of things to make: an integer of at least 1."""
    return integer(1, remedy, MOST_THINGS)


def positive(remedy: str) -> Rule:
    """Require a finite number above 0."""
    return Rule(
        f"a finite number above 0, at least {LEAST:g}",
        remedy,
        is_real,
        lambda v: LEAST <= v < np.inf,
    )


def scale(remedy: str) -> Rule:
    """Require a factor of a kernel, whose square root stays above 0 in single precision."""
    return Rule(
        f"a number from {SMALLEST_SCALE:g} to {LARGEST_SCALE:g}",
        remedy,
        is_real,
        lambda v: SMALLEST_SCALE <= v <= LARGEST_SCALE,
    )


def positives(remedy: str) -> Rule:
    """Require an array of finite numbers above 0."""
    wanted = f"an array of finite numbers above 0, at least {LEAST:g}, one for each feature"
    return _vector(wanted, remedy, lambda v: ((v >= LEAST) & (v < np.inf)).all())


def shares(remedy: str) -> Rule:
    """Require an array of finite numbers of at least 0, with a finite sum above 0."""
    wanted = "an array of finite numbers of at least 0, one for each feature and not all 0"
    return _vector(wanted, remedy, lambda v: (v >= 0).all() and 0 < v.sum() < np.inf)


def _vector(wanted: str, remedy: str, holds: Callable[[np.ndarray], Any]) -> Rule:
    def accepts(values: Any) -> bool:
        try:
            vector = np.asarray(values)
        except ValueError:  # parts have different shapes
            return False
        numbers = vector.ndim == 1 and vector.dtype.kind in "iuf"
        return numbers and bool(holds(vector.astype(float)))

    return Rule(wanted, remedy, lambda v: isinstance(v, np.ndarray | list | tuple), accepts)


def non_negative(remedy: str) -> Rule:
    """Require a finite number of at least 0."""
    return Rule(
        f"0 or a finite number of at least {LEAST:g}",
        remedy,
        is_real,
        lambda v: v == 0 or LEAST <= v < np.inf,
    )


def fraction(remedy: str) -> Rule:
    """Require a number strictly between 0 and 1."""
    return Rule("a number between 0 and 1", remedy, is_real, lambda v: 0 < v < 1)


def choice(*options: str, remedy: str) -> Rule:
    """Require one of the named options."""
    names = " or ".join(repr(option) for option in options)
    return Rule(names, remedy, lambda v: isinstance(v, str), lambda v: v in options)


def anything(wanted: str, remedy: str, accepts: Callable[[Any], bool]) -> Rule:
    """Require a value that ``accepts`` accepts, of any type."""
    return Rule(wanted, remedy, lambda value: True, accepts)


#: Values that parameters may have instead of others, whose rule has the remedy.
NONE, AUTO = anything("None", "", is_none), choice("auto", remedy="")


def boolean(remedy: str, or_integer: bool = False) -> Rule:
    """Require True or False, from Python or NumPy. With ``or_integer``, allow an integer too."""
    types = (bool, np.bool_, int) if or_integer else (bool, np.bool_)
    wanted = "a boolean or an integer" if or_integer else "a boolean"
    return anything(wanted, remedy, lambda v: isinstance(v, types))


def either(*rules: Rule) -> Rule:
    """Require one of several rules. Errors show the remedy of the first."""
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
    """Return whether a value is a dictionary of non-empty lists."""
    return (
        isinstance(value, dict)
        and len(value) > 0
        and all(isinstance(v, list | tuple | np.ndarray) and len(v) > 0 for v in value.values())
    )


def is_range(value: Any) -> bool:
    """Return whether a value is a pair of finite numbers, the lower first."""
    pair = isinstance(value, tuple | list) and len(value) == 2 and all(map(is_real, value))
    return pair and -np.inf < value[0] < value[1] < np.inf


N_JOBS = anything(
    "None or an integer other than 0",
    "n_jobs=None uses as many threads as NumPy's linear algebra, n_jobs=-1 all cores",
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


#: A remedy for rows or targets that need more digits.
DOUBLE = "dtype='float64', if the learner has this parameter"


def check_parameters(owner: Any, rules: Mapping[str, Rule]) -> None:
    """Check an object's parameters against its rules."""
    for name, rule in rules.items():
        check_value(type(owner).__name__, name, getattr(owner, name), rule)


@lru_cache(maxsize=1024)
def _follows(rule: Rule, kind: str, value: Any) -> bool:
    """Return whether a value follows a rule, by its kind too, as True == 1 == 1.0.

    Each prediction asks this again.
    """
    return rule.has_type(value) and rule.accepts(value)


def check_value(owner: str, name: str, value: Any, rule: Rule) -> None:
    """Check one value against a rule: TypeError or ValueError."""
    if type(value) in _UNCHANGING and _follows(rule, type(value).__name__, value):
        return
    typed = rule.has_type(value)
    if typed and rule.accepts(value):
        return
    error = InvalidValueError if typed else InvalidTypeError
    raise error(f"{owner}: {name}={shown(value)}, but it must be {rule.wanted}", rule.remedy)


def shown(value: Any) -> str:
    """Show a value in an error message, without the middle of long text."""
    try:
        text = repr(value)
    except ValueError:  # Python does not print integers of too many digits
        if isinstance(value, int):
            return f"an integer of {value.bit_length():,} bits"
        return f"a {type(value).__name__} of very large integers"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]}…{text[-_SHOWN // 2 :]}"


@contextmanager
def with_remedies(owner: str) -> Iterator[None]:
    """Name the learner and a remedy in scikit-learn and NumPy errors that lack them."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, RemedyError | NotFittedError):
            raise
        said = str(error)
        shown = _SHOWS_DATA.match(said)
        message = (shown[0] if shown else said).rstrip(".\n ")
        kind = InvalidTypeError if isinstance(error, TypeError) else InvalidValueError
        raise kind(f"{owner}: {message}", _remedy(message)) from error


def _remedy(message: str) -> str:
    found = (text for pattern, text in _REMEDIES.items() if re.search(pattern, message))
    return next(found, _REMEDY)


#: A function that changes the text of warnings.
_WORDING: ContextVar[Callable[[str], str]] = ContextVar("wording", default=str)


@contextmanager
def reworded(change: Callable[[str], str]) -> Iterator[None]:
    """Change the text of errors and warnings, for callers whose parameters have other names."""
    token = _WORDING.set(change)
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = InvalidValueError if isinstance(error, ValueError) else InvalidTypeError
        if isinstance(error, UnicodeError):  # which has more arguments
            raise
        if not isinstance(error, RemedyError):
            raise type(error)(change(str(error))) from error
        cause, _, remedy = change(str(error)).rpartition(". Remedy: ")
        raise kind(cause, remedy.removesuffix(".")) from error
    finally:
        _WORDING.reset(token)


#: Whether warnings are left out, for callers to whom they would say what is expected.
_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Leave out the warnings of this package, in this thread alone."""
    token = _QUIET.set(True)
    try:
        yield
    finally:
        _QUIET.reset(token)


#: Numbers in a message, but not those in names, or of columns.
_NUMBER = re.compile(r"(?<!column )(?<![\w'])\d[\d.,e+%-]*")
#: Lines that were warned, with the texts, whose numbers are left out.
_WARNED: set[tuple[str, int, str]] = set()


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and point to the line outside the package that led here.

    A line is warned once of each cause, whatever the numbers are, unless the user's filters ask for
    more. Python forgets which lines it has warned whenever a library uses ``catch_warnings``.
    """
    if _QUIET.get():
        return
    level, outside, frame = 1, 1, sys._getframe()
    user = frame
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("trickless."):
            outside, user = level + 1, frame.f_back or frame
        frame, level = frame.f_back, level + 1  # type: ignore[assignment]
    message = _WORDING.get()(message)
    cause = user.f_code.co_filename, user.f_lineno, _NUMBER.sub("", message)
    if cause in _WARNED and _action(message, category, user) == "default":
        return
    _WARNED.add(cause)
    warnings.warn(message, category, stacklevel=outside)


def _action(message: str, category: type[Warning], frame: FrameType) -> str:
    """Return what the filters of warnings do with a message."""
    module = frame.f_globals.get("__name__") or "<unknown>"
    for action, text, kind, where, line in warnings.filters:
        if (
            (text is None or text.match(message))
            and issubclass(category, kind)
            and (where is None or where.match(module))
            and line in (0, frame.f_lineno)
        ):
            return action
    return getattr(warnings, "defaultaction", "default")

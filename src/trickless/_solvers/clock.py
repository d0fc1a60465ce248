"""Clocks by which the rows of a stream lose their weight: in rows, or in time stamps.

With a half-life h, a row that is a units old counts with the weight 2^(−a / h). In rows, this is
the exponential forgetting of recursive least squares, S ← λS + zzᵀ with λ = 2^(−1 / h) (S. Haykin,
"Adaptive filter theory", Section 10.3).
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from trickless._arrays.stated import Count, Finite, Stated
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._rows.values import DATES, NUMBERS, ZONED, kind_of_time
from trickless._rules import LEAST, Rule, is_real, plain

#: Half-lives after which what has faded may be dropped.
SPAN = 8.0
#: The most half-lives that pass within a batch whose rows are learned together.
BATCH = 1 / 8
#: Weights below this count as 0: beside a row of weight 1 they are below any rounding.
_LEAST_WEIGHT = 1e-30
#: The most distance between neighbouring numbers of a clock, in half-lives.
_MOST_SPACING = 0.01
_ONE_KIND = "dates with a time zone in all batches, or in none"
_REMEDY = (
    "one number or datetime for each row, in the order of the rows, none before the latest so far"
)


class Ages(NamedTuple):
    """What becomes of weights when rows come.

    Attributes
    ----------
    fade : float
        The factor of the weights of all earlier rows.
    weights : array of shape (n_rows,) or None
        Factors of the weights of the new rows, the latest of which has 1. None if all have 1.
    passed : array of shape (n_rows,) or None
        Half-lives between the latest earlier row and each of the new rows, if there are any.
    """

    fade: float
    weights: np.ndarray | None
    passed: np.ndarray | None = None


@dataclass(frozen=True)
class Clock(Stated):
    """The time of the latest row.

    Attributes
    ----------
    now : float
        Number of rows so far, or the latest time stamp; in seconds since 1970 for datetimes.
    stamped : bool or None
        Whether the clock counts in time stamps. None before the first row.
    n_rows : int
        Number of rows so far.
    forgets : bool
        Whether rows have ever lost weight.
    kind : str or None
        What time stamps are: numbers, dates, or dates with a time zone. None before the first.
    """

    now: Finite = 0.0
    stamped: bool | None = None
    n_rows: Count = 0
    forgets: bool = False
    kind: str | None = None

    def after(self, owner: str, n_rows: int, timestamps: Any, half_life: Any) -> tuple[Clock, Ages]:
        """Return the clock after some rows, and how they age the earlier ones and each other."""
        times = self._times(owner, n_rows, timestamps, half_life)
        if not n_rows:
            return self, Ages(1.0, None)
        now, rate = float(times[-1]), 1 / in_units(half_life)
        stamped, n_rows = timestamps is not None, self.n_rows + n_rows
        kind = kind_of_stamps(owner, timestamps) if stamped else None
        later = Clock(now, stamped, n_rows, self.forgets or rate > 0, kind)
        if rate == 0:
            return later, Ages(1.0, None)
        since = 0.0 if stamped and self.stamped is None else (now - self.now) * rate
        weights = np.exp2((times - now) * rate)
        weights[weights < _LEAST_WEIGHT] = 0.0
        return later, Ages(float(np.exp2(-since)), weights, since + (times - now) * rate)

    def lapses(
        self, owner: str, n_rows: int, timestamps: Any, half_life: Any
    ) -> tuple[Clock, np.ndarray]:
        """Return the clock after some rows, and the half-lives between each and the one before."""
        times = self._times(owner, n_rows, timestamps, half_life)
        begins = self.stamped is None and timestamps is not None
        before = np.concatenate([times[:1] if begins else [self.now], times[:-1]])
        later, _ = self.after(owner, n_rows, timestamps, half_life)
        return later, (times - before[:n_rows]) / in_units(half_life)

    def _times(self, owner: str, n_rows: int, timestamps: Any, half_life: Any) -> np.ndarray:
        """Return the times of rows that come after those so far."""
        self.check_kind(owner, timestamps, half_life)
        if timestamps is None:
            return self.now + np.arange(1.0, n_rows + 1)
        times = as_times(owner, timestamps, n_rows)
        self._check_order(owner, times, self._checked_kind(owner, timestamps))
        check_spacing(owner, times, half_life)
        return times

    def factors(self, owner: str, n_rows: int, timestamps: Any, half_life: Any) -> np.ndarray:
        """Return the factors of the weights of rows that came at these times."""
        if timestamps is None or not self.stamped:
            raise InvalidValueError(
                f"{owner}: with half_life={half_life!r}, the weight that a row still has depends "
                "on when it came, which is unknown without time stamps",
                "timestamps= here and in partial_fit, for instance the numbers of the rows",
            )
        times = as_times(owner, timestamps, n_rows)
        kind = self._checked_kind(owner, timestamps)
        if n_rows and times.max() > self.now:
            raise InvalidValueError(
                f"{owner}: timestamps are up to {_moment(times.max(), kind)}, but the latest row "
                f"that was learned came at {_moment(self.now, kind)}",
                "the time stamps with which the rows were learned",
            )
        return np.exp2((times - self.now) / in_units(half_life))

    def together(self, owner: str, other: Clock, half_life: Any) -> tuple[Clock, float, float]:
        """Return the clock of two models that are merged, and the factor of the weights of each."""
        if self.stamped != other.stamped or not (self.stamped or self.now == other.now):
            here, there = (
                f"by time stamps, up to {_moment(each.now, each.kind)}"
                if each.stamped
                else f"{each.n_rows:,} rows"
                for each in (self, other)
            )
            raise InvalidValueError(
                f"{owner}: the clock of this model counts {here}, and that of other {there}, so "
                "it is unknown how old the rows of one are for the other",
                "timestamps= in both models, or as many rows in both",
            )
        if self.kind != other.kind and self.kind and other.kind:
            raise InvalidValueError(
                f"{owner}: the time stamps of this model are {self.kind}, and those of other are "
                f"{other.kind}",
                _ONE_KIND,
            )
        now, rate = max(self.now, other.now), 1 / in_units(half_life)
        mine, theirs = (float(np.exp2((each.now - now) * rate)) for each in (self, other))
        n_rows, forgets = self.n_rows + other.n_rows, self.forgets or other.forgets
        return replace(self, now=now, n_rows=n_rows, forgets=forgets), mine, theirs

    def check_kind(self, owner: str, timestamps: Any, half_life: Any) -> None:
        """Raise an error if rows come with time stamps and should not, or the other way round."""
        if timestamps is None and isinstance(half_life, datetime.timedelta):
            raise InvalidValueError(
                f"{owner}: half_life={half_life!r} is a span of time, but the rows have no time "
                "stamps",
                "timestamps=, or half_life as a number of rows",
            )
        if self.stamped is None or self.stamped == (timestamps is not None):
            return
        raise InvalidValueError(
            f"{owner}: timestamps={'None' if timestamps is None else '...'}, but the rows so far "
            f"came {'with' if self.stamped else 'without'} time stamps",
            "time stamps in all batches or in none, or call fit to start over",
        )

    def _checked_kind(self, owner: str, timestamps: Any) -> str:
        """Return the kind of time stamps. Raise an error if those so far had another."""
        kind = kind_of_stamps(owner, timestamps)
        if self.kind is not None and self.kind != kind:
            raise InvalidValueError(
                f"{owner}: timestamps are {kind}, but those of earlier rows were {self.kind}, so "
                "the time between them is unknown",
                _ONE_KIND,
            )
        return kind

    def _check_order(self, owner: str, times: np.ndarray, kind: str) -> None:
        """Raise an error for time stamps that run backwards."""
        before = np.concatenate([[self.now if self.stamped else -np.inf], times[:-1]])
        wrong = times < before
        if wrong.any():
            row = int(wrong.argmax())
            raise InvalidValueError(
                f"{owner}: timestamps run backwards: that of row {row} is "
                f"{before[row] - times[row]:g}{'' if kind == NUMBERS else ' seconds'} before the "
                "latest",
                "sort the rows by time, and leave out rows that come too late",
            )


def _moment(time: float, kind: str | None) -> str:
    """Show a time stamp: a number with all its digits, or a datetime."""
    is_date = kind in (DATES, ZONED)
    return str(np.datetime64(round(1e6 * time), "us")) if is_date else f"{time:.15g}"


def as_times(owner: str, timestamps: Any, n_rows: int) -> np.ndarray:
    """Time stamps as finite numbers: numbers unchanged, and datetimes in seconds since 1970."""
    try:
        given = np.asarray(timestamps)
        if given.dtype.kind == "O":  # such as datetimes of Python, or of pandas with a time zone
            given = np.asarray([_naive(each) for each in given.ravel()]).reshape(given.shape)
        if given.dtype.kind == "M":
            whole = given.astype("datetime64[s]")  # nanoseconds end in the year 2262
            times = whole.astype(np.int64) + (given - whole) / np.timedelta64(1, "s")
            times = np.where(np.isnat(given), np.nan, times)
        elif given.dtype.kind in "iuf":
            times = given.astype(np.float64)
        else:
            raise TypeError(f"the type is {given.dtype}")
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidTypeError(
            f"{owner}: timestamps cannot be read as numbers or datetimes ({error})", _REMEDY
        ) from error
    if times.ndim == 0:
        times = np.full(n_rows, float(times))
    if times.shape != (n_rows,):
        raise InvalidValueError(
            f"{owner}: timestamps has the shape {times.shape}, but there are {n_rows} rows", _REMEDY
        )
    if not np.isfinite(times).all():
        row = int((~np.isfinite(times)).argmax())
        raise InvalidValueError(
            f"{owner}: the time stamp of row {row} is missing or infinite", _REMEDY
        )
    return times


def kind_of_stamps(owner: str, timestamps: Any) -> str:
    """Return what time stamps are: numbers, dates, or dates with a time zone."""
    dtype = getattr(timestamps, "dtype", None)
    if getattr(dtype, "tz", None) is not None or getattr(dtype, "time_zone", None) is not None:
        return ZONED  # of pandas and polars
    given = np.asarray(timestamps)
    kinds = {kind_of_time(each) for each in given.flat} if given.dtype.kind == "O" else set()
    if kinds >= {DATES, ZONED}:
        raise InvalidValueError(
            f"{owner}: timestamps are {DATES} and {ZONED}, so the time between them is unknown",
            _ONE_KIND,
        )
    if ZONED in kinds:
        return ZONED
    return DATES if given.dtype.kind == "M" or kinds else NUMBERS


def check_spacing(owner: str, times: np.ndarray, half_life: Any) -> None:
    """Raise an error if double precision cannot tell times apart that a half-life should."""
    spacing = float(np.spacing(np.abs(times).max(initial=0.0)))
    if spacing > _MOST_SPACING * in_units(half_life):
        raise InvalidValueError(
            f"{owner}: timestamps reach {np.abs(times).max():g}, where numbers of double precision "
            f"are {spacing:.2g} apart, which is too coarse for half_life={half_life!r}",
            "numbers that begin near 0: subtract the first time stamp, and divide by the unit of "
            "half_life",
        )


def _naive(moment: Any) -> Any:
    """Return a datetime in UTC without its time zone, and anything else unchanged."""
    if isinstance(moment, datetime.datetime) and moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(moment) if isinstance(moment, datetime.date) else moment


def in_units(half_life: Any) -> float:
    """Return a half-life in rows, in the unit of time stamps, or in seconds; None is infinity."""
    if half_life is None:
        return np.inf
    half_life = plain(half_life)
    if isinstance(half_life, datetime.timedelta):
        return half_life.total_seconds()
    return float(half_life)


def is_half_life(value: Any) -> bool:
    """Return whether a value is None, a number above 0 or a positive span of time."""
    return bool(in_units(value) >= LEAST)


def are_several(half_life: Any) -> bool:
    """Return whether half-lives are chosen by the data: "auto", or from a list."""
    return isinstance(half_life, str | list | tuple | np.ndarray)


def _has_type(value: Any) -> bool:
    return value is None or is_real(value) or isinstance(plain(value), datetime.timedelta)


def _accepts(value: Any) -> bool:
    if isinstance(value, str):
        return value == "auto"
    if not are_several(value):
        return is_half_life(value)
    return len(value) > 0 and all(_has_type(each) and is_half_life(each) for each in value)


_HALVES = "half_life=1000 halves the weight of a row after 1,000 later rows; None forgets nothing"

HALF_LIFE = Rule("None, a number above 0 or a positive timedelta", _HALVES, _has_type, is_half_life)

#: For learners that can choose among several.
HALF_LIVES = Rule(
    "None, a number above 0, a positive timedelta, a list of such, or 'auto'",
    _HALVES,
    lambda v: _has_type(v) or are_several(v),
    _accepts,
)

"""Standardisation of columns by robust means and deviations that forget."""

from __future__ import annotations

import numpy as np

from trickless.solvers.moments import FAR, Moments

#: Half-life in rows: slower than most drifts, so that features keep their meaning.
HALF_LIFE = 2000.0
#: Numbers from here on have squares beyond the range of floats: they are clipped, and not averaged.
_MOST = 1e100


class Scaler:
    """Faded mean and deviation of the columns of numbers; other columns stay unchanged.

    Values count as at most ``FAR`` deviations from the mean, and are clipped there.
    """

    def __init__(self) -> None:
        self.moments = Moments.none(0)
        self.is_number = np.zeros(0, bool)
        self.shift, self.rate = np.zeros((2, 0))

    def grow(self, is_number: np.ndarray) -> None:
        """Make room for new columns, which begin with a factor of 0 if they are numbers."""
        new = is_number[len(self.is_number) :]
        old, none = self.moments.__getstate__(), Moments.none(len(new)).__getstate__()
        self.moments = Moments(**{name: np.append(old[name], none[name]) for name in old})
        self.shift, self.rate = np.append(self.shift, 0.0 * new), np.append(self.rate, 1.0 - new)
        self.is_number = is_number

    def start_over(self, rows: np.ndarray) -> None:
        """Forget all rows, and learn these."""
        self.moments = Moments.none(len(self.is_number))
        self.learn(rows)

    def learn(self, rows: np.ndarray) -> None:
        """Add rows, the latest of which counts most. NaN and huge numbers do not count."""
        rows = np.where((np.abs(rows) < _MOST) & self.is_number, rows, np.nan)
        weight = 0.5 ** (np.arange(len(rows) - 1, -1, -1) / HALF_LIFE)
        self.moments = self.moments.after(rows, weight, 0.5 ** (len(rows) / HALF_LIFE))
        known = ~np.isnan(self.moments.mean)
        self.shift = np.where(known, self.moments.mean, 0.0)
        self.rate = np.where(self.is_number, known / np.where(known, self.moments.scale, 1.0), 1.0)

    def __call__(self, raw: np.ndarray) -> np.ndarray:
        """Standardise rows, with 0 for a missing value."""
        with np.errstate(invalid="ignore", over="ignore"):  # of infinities
            x = raw - self.shift
            x *= self.rate
        missing = x != x  # also an infinity in a column without numbers
        if missing.any():
            x[missing] = 0.0
        return np.minimum(np.maximum(x, -FAR, out=x), FAR, out=x)

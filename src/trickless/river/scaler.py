"""Means and deviations of columns that forget."""

from __future__ import annotations

import numpy as np

#: Half-life in rows: slower than most drifts, so that features keep their meaning.
HALF_LIFE = 2000.0
#: Standardised values are clipped at this many deviations.
LARGEST = 5.0
#: A deviation below this share of the mean is rounding.
_LEAST = 1e-12
#: Numbers from here on have squares beyond the range of floats: they are clipped, and not averaged.
_MOST = 1e100


class Scaler:
    """Faded mean and variance of the columns of numbers; other columns stay unchanged."""

    def __init__(self) -> None:
        self.weight, self.mean, self.squares = np.zeros((3, 0))
        self.shift, self.rate = np.zeros((2, 0))

    def grow(self, is_number: np.ndarray) -> None:
        """Make room for new columns, which begin with a factor of 0 if they are numbers."""
        more = len(is_number) - len(self.shift)
        for name in ("weight", "mean", "squares", "shift"):
            setattr(self, name, np.append(getattr(self, name), np.zeros(more)))
        self.rate = np.append(self.rate, 1.0 - is_number[len(is_number) - more :])
        self.is_number = is_number

    def learn(self, rows: np.ndarray) -> None:
        """Add rows, the latest of which counts most. NaN and huge numbers do not count."""
        seen = (np.abs(rows) < _MOST) & self.is_number
        weight = 0.5 ** (np.arange(len(rows) - 1, -1, -1) / HALF_LIFE)[:, None] * seen
        values = np.where(seen, rows, 0.0)
        new = weight.sum(axis=0)
        mean = (weight * values).sum(axis=0) / np.maximum(new, 1e-300)
        squares = (weight * (values - mean) ** 2).sum(axis=0)
        fade = 0.5 ** (len(rows) / HALF_LIFE)
        old = fade * self.weight
        total = np.maximum(old + new, 1e-300)
        gap = mean - self.mean
        self.mean = self.mean + gap * new / total
        self.squares = fade * self.squares + squares + gap**2 * old * new / total
        self.weight = old + new
        self.shift = np.where(self.is_number, self.mean, 0.0)
        deviation = np.sqrt(self.squares / total)
        known = deviation > _LEAST * np.abs(self.mean)
        rate = np.where(known, 1 / np.where(known, deviation, 1.0), 0.0)
        self.rate = np.where(self.is_number, rate, 1.0)

    def __call__(self, raw: np.ndarray) -> np.ndarray:
        """Standardise rows, with 0 for a missing value."""
        with np.errstate(invalid="ignore", over="ignore"):  # of infinities
            x = raw - self.shift
            x *= self.rate
        missing = x != x  # also an infinity in a column without deviation
        if missing.any():
            x[missing] = 0.0
        return np.minimum(np.maximum(x, -LARGEST, out=x), LARGEST, out=x)

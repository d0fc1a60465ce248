"""How far targets may be from their predictions."""

from __future__ import annotations

import math

from trickless._arrays.stated import Amount, Stated
from trickless._solvers.moments import FAR

#: What is left after a row of the squares of residuals, and of what a far one adds to the reach.
_FADE_SQUARES, _FADE_REACH = 0.5 ** (1 / 50), 0.5 ** (1 / 500)
#: A target is at most so many root mean square errors away from its prediction: so few that one
#: wrong number does little, and so many that a change of level is hardly held back.
_REACH = 20.0


class Reach(Stated):
    """How far targets may be from their predictions.

    A residual counts as at most 20 recent root mean squares. These are robust: for them it counts
    as at most ``FAR``, as in :mod:`trickless._solvers.moments`. The reach grows tenfold after each
    residual that is clipped, and returns with a half-life of 500 rows. It does not hold back what
    comes again and again, such as another level of the targets or a rare category.

    Attributes
    ----------
    weight, square, far : float
        Faded number and mean square of residuals, and what those beyond ``FAR`` add to it.
    factor : float
        The reach in root mean squares.
    """

    weight: Amount = 0.0
    square: Amount = 0.0
    far: Amount = 0.0
    factor: Amount = _REACH

    def __call__(self, residual: float) -> float:
        """Return a residual, or the nearest number within reach."""
        self.weight = 1.0 + _FADE_SQUARES * self.weight
        share = 1 / self.weight
        kept, rest = (1 - share) * self.square, 1 - FAR**2 * share
        self.far *= 1 - share
        self.square = kept + share * residual**2
        self.factor = _REACH + _FADE_REACH * (self.factor - _REACH)
        if not residual**2 > FAR**2 * self.square:
            return residual
        if not (kept > 0 and rest * (1 - self.far / kept) > 1 / FAR**2):
            self.far += share * residual**2
            return residual
        self.square = kept / rest
        self.far += share * FAR**2 * self.square
        most = self.factor * math.sqrt(self.square)
        if abs(residual) <= most:
            return residual
        self.factor *= 10.0
        return math.copysign(most, residual)

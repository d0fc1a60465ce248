"""Regressors that also learn quantiles, counts and positive numbers."""

from __future__ import annotations

from trickless.learners.quantiles import QUANTILE
from trickless.rules import TWEEDIE_POWER
from trickless.solvers.pinball import Quantile

#: Rules of the parameters that these losses have.
OF_LOSSES = {"quantile": QUANTILE, "tweedie_power": TWEEDIE_POWER}


class ManyLosses:
    """What regressors say about the losses that they share.

    Parameters
    ----------
    tweedie_power : float, default=1.5
        The power p of ``loss="tweedie"``, above 1 and below 2. The variance of a target is taken
        to be in proportion to the p-th power of its mean. 1 would be "poisson", and 2 "gamma".
    quantile : float or sequence of float, default=0.5
        For ``loss="quantile"``: the share of the targets below the prediction. With an increasing
        sequence, all quantiles are learned in one fit, with the same neurons. ``predict`` then
        returns a column for each quantile, in increasing order. They never cross, because the
        values of a row are sorted, which never increases their pinball loss (Chernozhukov,
        Fernández-Val and Galichon, Econometrica 78(3), 2010). y must be one column then.

    Notes
    -----
    Counts that were observed for different exposures, such as days, are learned as rates:
    ``fit(X, count / exposure, sample_weight=exposure)``. For "poisson" this is the same likelihood
    as that of the counts with log(exposure) as an offset. The expected count of a row is
    ``exposure * predict(X)``. With a log link, ``network_(X)`` is the logarithm of the mean.
    """

    # In files of older versions.
    quantile: Quantile = 0.5
    tweedie_power: float = 1.5

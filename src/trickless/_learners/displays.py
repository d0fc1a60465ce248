"""Plots of the intervals of a model, and of the half-lives of its experts."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless._arrays.likes import ArrayLike, MatrixLike
from trickless._arrays.places import to_host
from trickless._docstrings import completed_by
from trickless._errors import InvalidValueError
from trickless._pictures import PLOTTING, axes_for, ink
from trickless._rows.given import as_targets, targets_of
from trickless._rules import check_value, integer
from trickless.conformal.models import as_predicted

#: Points of rows inside and outside of their intervals.
_INSIDE, _OUTSIDE = {"s": 9, "zorder": 3}, {"s": 18, "zorder": 4, "color": "C1"}


class IntervalDisplay:
    """Plot of prediction intervals and the targets of new rows, in the order of the predictions.

    Create it with :meth:`from_estimator`, from any model that has ``predict_interval``.

    Parameters
    ----------
    y_true : array of shape (n_rows,)
        Targets.
    low, high : arrays of shape (n_rows,)
        Ends of the intervals.
    confidence : float
        The share of targets that the intervals should hold.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure of these axes.
    bars_ : matplotlib LineCollection
        The intervals.
    coverage_ : float
        The share of all targets that are inside.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import KitchenSinksRegressor
    >>> from trickless.inspection import IntervalDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KitchenSinksRegressor(random_state=0).fit(X[:300], y[:300])
    >>> display = IntervalDisplay.from_estimator(model, X[300:], y[300:])
    >>> bool(display.coverage_ > 0.8)
    True
    """

    def __init__(
        self, *, y_true: np.ndarray, low: np.ndarray, high: np.ndarray, confidence: float
    ) -> None:
        self.y_true = y_true
        self.low = low
        self.high = high
        self.confidence = confidence

    @classmethod
    @completed_by(PLOTTING)
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: ArrayLike,
        *,
        confidence: float = 0.9,
        n_rows: int = 200,
        ax: Any = None,
        **kwargs: Any,
    ) -> IntervalDisplay:
        """Predict intervals of rows, and plot them.

        Parameters
        ----------
        estimator : regressor
            A fitted regressor with ``predict_interval``.
        X : array or data frame of shape (n_rows, n_features)
            Rows that the estimator has not learned.
        y : array of shape (n_rows,)
            Their targets.
        confidence : float, default=0.9
            The share of targets that the intervals should hold.
        n_rows : int, default=200
            The most rows shown, evenly spaced. The coverage counts all rows.
        **kwargs
            Passed to matplotlib's ``vlines``.

        Raises
        ------
        ValueError
            If there are several targets for each row, or another number of them, or if a target is
            missing.
        """
        given = as_targets("IntervalDisplay", to_host(y), numeric=True)
        targets = np.asarray(targets_of("IntervalDisplay", estimator, given, given, numeric=True))
        ends = as_predicted(estimator.predict_interval(X, confidence=confidence))
        if targets.ndim != 1 or ends.shape != (len(targets), 2):
            raise InvalidValueError(
                f"IntervalDisplay: y has the shape {targets.shape}, and the intervals have the "
                f"shape {ends.shape}",
                "one target for each row of X; pass one output of several",
            )
        display = cls(y_true=targets, low=ends[:, 0], high=ends[:, 1], confidence=confidence)
        return display.plot(ax, n_rows=n_rows, **kwargs)

    @completed_by(PLOTTING)
    def plot(self, ax: Any = None, *, n_rows: int = 200, **kwargs: Any) -> IntervalDisplay:
        """Plot the intervals and the targets.

        Parameters
        ----------
        n_rows : int, default=200
            The most rows shown.
        **kwargs
            Passed to matplotlib's ``vlines``.
        """
        check_value("IntervalDisplay", "n_rows", n_rows, integer(1, "n_rows=200 is the default"))
        inside = (self.low <= self.y_true) & (self.y_true <= self.high)
        order = np.argsort(self.low + self.high, kind="stable")
        shown = order[np.linspace(0, len(order) - 1, min(n_rows, len(order))).astype(int)]
        place = np.arange(len(shown))
        self.coverage_ = float(inside.mean())
        with axes_for(ax) as ax:
            how = {"color": "C0", "alpha": 0.35, "linewidth": 2.0} | kwargs
            self.bars_ = ax.vlines(place, self.low[shown], self.high[shown], **how)
            for which, name, style in ((True, "inside", _INSIDE), (False, "outside", _OUTSIDE)):
                some = inside[shown] == which
                colour = {"color": ink(ax)} if which else {}
                ax.scatter(place[some], self.y_true[shown][some], label=name, **style, **colour)
            ax.set(xlabel="rows, by their predictions", ylabel="target")
            held = f"{self.coverage_:.0%} of {len(inside):,} targets"
            ax.set_title(f"{held} in {self.confidence:.0%} intervals")
            ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


class HalfLifeDisplay:
    """Plot of the weights of half-lives along a stream, stacked.

    Create it with :meth:`from_estimator`, from Kitchen Sinks with ``half_life="auto"`` or a list.

    Parameters
    ----------
    rows : array of shape (n_entries,)
        Numbers of rows of the stream.
    weights : array of shape (n_entries, n_half_lives)
        Weights of the half-lives after these rows, which sum to 1.
    half_lives : array of shape (n_half_lives,)
        Half-lives, in increasing order.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure of these axes.
    areas_ : list of matplotlib PolyCollection
        An area for each half-life.

    Examples
    --------
    >>> import numpy as np
    >>> from trickless import KitchenSinksRegressor
    >>> from trickless.inspection import HalfLifeDisplay
    >>> X = np.random.default_rng(0).standard_normal((400, 2))
    >>> y = np.sin(X[:, 0] + np.arange(400) / 40)
    >>> model = KitchenSinksRegressor(n_neurons=50, half_life=[20, 500], random_state=0)
    >>> display = HalfLifeDisplay.from_estimator(model.partial_fit(X, y))
    >>> len(display.areas_)
    2
    """

    def __init__(self, *, rows: np.ndarray, weights: np.ndarray, half_lives: np.ndarray) -> None:
        self.rows = rows
        self.weights = weights
        self.half_lives = half_lives

    @classmethod
    @completed_by(PLOTTING)
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> HalfLifeDisplay:
        """Plot the weights of the half-lives of a fitted model.

        Parameters
        ----------
        estimator : KitchenSinksRegressor or KitchenSinksClassifier
            A fitted model with ``half_life="auto"`` or a list.
        **kwargs
            Passed to matplotlib's ``stackplot``.

        Raises
        ------
        AttributeError
            If the model has one half-life, or none.
        """
        check_is_fitted(estimator)
        rows, history = estimator.weight_history_
        of_experts = estimator.expert_weights_["half_life"]
        half_lives, which = np.unique(of_experts, return_inverse=True)
        weights = np.asarray(history) @ np.eye(len(half_lives))[which]
        display = cls(rows=np.asarray(rows), weights=weights, half_lives=half_lives)
        return display.plot(ax, **kwargs)

    @completed_by(PLOTTING)
    def plot(self, ax: Any = None, **kwargs: Any) -> HalfLifeDisplay:
        """Plot the weights.

        Parameters
        ----------
        **kwargs
            Passed to matplotlib's ``stackplot``.
        """
        import matplotlib as mpl

        colours = mpl.colormaps["viridis"](np.linspace(0.1, 0.9, len(self.half_lives)))
        names = [f"{each:,.4g}" for each in self.half_lives]
        with axes_for(ax) as ax:
            how = {"colors": colours, "labels": names} | kwargs
            self.areas_ = ax.stackplot(self.rows, self.weights.T, **how)
            ax.set(xlabel="rows", ylabel="weight", ylim=(0, 1))
            ax.margins(x=0)
            ax.legend(title="half-life", loc="center left", bbox_to_anchor=(1.0, 0.5))
        self.ax_, self.figure_ = ax, ax.figure
        return self

"""How much each feature matters to a model, and the plot of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trickless._docstrings import completed_by
from trickless._pictures import PLOTTING, axes_for
from trickless._rules import check_value, integer


class FeatureImportancesDisplay:
    """Plot of how much each feature matters to a model, as horizontal bars.

    Create it with :meth:`from_estimator`, from a model that has ``feature_importances_``: one of
    trees whose cuts were chosen, or of a family that learns the relevance of features.

    Parameters
    ----------
    importances : array of shape (n_features,)
        Shares, which sum to 1.
    names : list of str
        Names of the features.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure of these axes.
    bars_ : matplotlib BarContainer
        The bars of the features shown, the most important first.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import BoostedTreesRegressor
    >>> from trickless.inspection import FeatureImportancesDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = BoostedTreesRegressor(50, random_state=0).fit(X, y)
    >>> display = FeatureImportancesDisplay.from_estimator(model, n_features=5)
    >>> len(display.bars_)
    5
    """

    def __init__(self, *, importances: np.ndarray, names: list[str]) -> None:
        self.importances = importances
        self.names = names

    @classmethod
    @completed_by(PLOTTING)
    def from_estimator(
        cls, estimator: Any, *, n_features: int = 20, ax: Any = None, **kwargs: Any
    ) -> FeatureImportancesDisplay:
        """Plot the ``feature_importances_`` of a fitted model.

        Parameters
        ----------
        estimator : estimator
            A fitted model with ``feature_importances_``.
        n_features : int, default=20
            The most features shown: those that matter most.
        **kwargs
            Passed to matplotlib's ``barh``.

        Raises
        ------
        AttributeError
            If the model does not know how much its features matter.
        """
        owner = "FeatureImportancesDisplay"
        check_value(owner, "n_features", n_features, integer(1, "n_features=20 is the default"))
        check_is_fitted(estimator)
        importances = np.asarray(estimator.feature_importances_)
        known = getattr(estimator, "feature_names_in_", None)
        names = range(len(importances)) if known is None else known
        display = cls(importances=importances, names=[str(name) for name in names])
        return display.plot(ax, n_features=n_features, **kwargs)

    @completed_by(PLOTTING)
    def plot(
        self, ax: Any = None, *, n_features: int = 20, **kwargs: Any
    ) -> FeatureImportancesDisplay:
        """Plot the bars.

        Parameters
        ----------
        n_features : int, default=20
            The most features shown.
        **kwargs
            Passed to matplotlib's ``barh``.
        """
        first = np.argsort(-self.importances, kind="stable")[:n_features]
        is_new = ax is None
        with axes_for(ax) as ax:
            self.bars_ = ax.barh([self.names[i] for i in first], self.importances[first], **kwargs)
            ax.invert_yaxis()
            ax.set(xlabel="share of the importance")
            if is_new:
                ax.grid(visible=False, axis="y")
        self.ax_, self.figure_ = ax, ax.figure
        return self

"""Plot of the scores between drawing neurons at random and choosing them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor

from trickless.docstrings import completed_by
from trickless.errors import InvalidValueError
from trickless.pictures import PLOTTING, axes_for, ink
from trickless.rules import Rule, check_value, is_count

_OWNER, _PARAMETER = "CandidatesDisplay", "n_candidates"
_COUNTS = Rule(
    "a sequence of different integers from 1 on",
    "n_candidates=(1, 3, 10, 30) is the default",
    lambda value: isinstance(value, Sequence | np.ndarray) and not isinstance(value, str),
    lambda value: len(value) > 0 and all(map(is_count, value)) and len({*value}) == len(value),
)


class CandidatesDisplay:
    """Plot of a score along ``n_candidates``, from randomly drawn neurons to chosen ones.

    Create it with :meth:`from_estimator`. With 1 candidate, neurons are drawn at random. With more
    candidates, each neuron, or each cut of a tree, is the best of that many draws, so the curve of
    trees leads from random trees to boosted trees.

    Parameters
    ----------
    n_candidates : array of shape (n_values,)
        The numbers of candidates.
    scores : array of shape (n_values, n_splits)
        A score for each number of candidates and each split.
    reference : array of shape (n_splits,), optional
        Scores of another model on the same splits.
    score_name : str, default="score"
        Label of the axis of scores.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    line_ : matplotlib Line2D
        Means over the splits.
    band_ : matplotlib PolyCollection
        The band of one standard deviation over the splits, on each side of the means.
    reference_ : matplotlib Line2D or None
        Mean score of the reference.

    See Also
    --------
    sklearn.model_selection.ValidationCurveDisplay : The same for any parameter.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> from trickless import CandidatesDisplay, DoublyStochasticRegressor
    >>> X, y = make_friedman1(100, random_state=0)
    >>> display = CandidatesDisplay.from_estimator(
    ...     DoublyStochasticRegressor("trees", 20, random_state=0),
    ...     X,
    ...     y,
    ...     n_candidates=(1, 3, 10),
    ...     cv=2,
    ...     reference=HistGradientBoostingRegressor(max_iter=20),
    ... )
    >>> display.scores.shape
    (3, 2)
    """

    def __init__(
        self,
        *,
        n_candidates: np.ndarray,
        scores: np.ndarray,
        reference: np.ndarray | None = None,
        score_name: str = "score",
    ) -> None:
        self.n_candidates = n_candidates
        self.scores = scores
        self.reference = reference
        self.score_name = score_name

    @classmethod
    @completed_by(PLOTTING)
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_candidates: Sequence[int] = (1, 3, 10, 30),
        cv: Any = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        reference: Any = None,
        ax: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> CandidatesDisplay:
        """Cross-validate a model with each number of candidates, and plot the scores.

        Parameters
        ----------
        estimator : estimator
            A learner with the parameter ``n_candidates``, or a pipeline with one such step.
        X : array or data frame of shape (n_rows, n_features)
            Training data.
        y : array of shape (n_rows,) or (n_rows, n_outputs)
            Target values or class labels.
        n_candidates : sequence of int, default=(1, 3, 10, 30)
            The numbers of candidates to compare.
        cv : int, cross-validation generator or iterable, optional
            The splits, as in ``sklearn.model_selection.cross_val_score``. Default: 5 folds.
        scoring : str or callable, optional
            The score, as in ``sklearn.model_selection.cross_val_score``. Default: the score of the
            estimator.
        n_jobs : int or None, default=None
            Number of splits to fit at the same time.
        reference : estimator, optional
            Another model, scored on the same splits. A dashed line shows its mean score.
        name : str, optional
            The curve's name in the legend. Default: the name of the class.

        Raises
        ------
        ValueError
            If the estimator has no parameter ``n_candidates``, or several.
        """
        from sklearn.model_selection import check_cv, cross_val_score

        check_value(_OWNER, _PARAMETER, n_candidates, _COUNTS)
        parameter = _parameter(estimator)
        splits = list(check_cv(cv, y, classifier=is_classifier(estimator)).split(X, y))

        def scores_of(model: Any) -> np.ndarray:
            options = {"cv": splits, "scoring": scoring, "n_jobs": n_jobs, "error_score": "raise"}
            return np.asarray(cross_val_score(model, X, y, **options))

        values = np.sort(np.asarray(n_candidates))
        models = [clone(estimator).set_params(**{parameter: int(m)}) for m in values]
        display = cls(
            n_candidates=values,
            scores=np.array([scores_of(model) for model in models]),
            reference=None if reference is None else scores_of(reference),
            score_name=_score_name(estimator, scoring),
        )
        names = {"name": name or _name(estimator)}
        if reference is not None:
            names["reference_name"] = _name(reference)
        return display.plot(ax, **names, **kwargs)

    @completed_by(PLOTTING)
    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        reference_name: str = "reference",
        **kwargs: Any,
    ) -> CandidatesDisplay:
        """Plot the curve, and the reference if there is one.

        Parameters
        ----------
        reference_name : str, default="reference"
            The name of the reference in the legend.
        """
        mean, deviation = self.scores.mean(axis=1), self.scores.std(axis=1)
        with axes_for(ax) as ax:
            look = {"label": name, "marker": "o"} | kwargs
            (self.line_,) = ax.plot(self.n_candidates, mean, **look)
            look = {"color": self.line_.get_color(), "alpha": 0.2, "linewidth": 0}
            edges = mean - deviation, mean + deviation
            self.band_ = ax.fill_between(self.n_candidates, *edges, **look)
            self.reference_ = None
            if self.reference is not None:
                look = {"color": ink(ax), "linestyle": "--", "linewidth": 1}
                level = self.reference.mean()
                self.reference_ = ax.axhline(level, label=reference_name, **look)
            ax.set(xscale="log", xlabel="candidates (n_candidates)", ylabel=self.score_name)
            ax.set_xticks(self.n_candidates, [f"{m}" for m in self.n_candidates])
            ax.set_xticks([], minor=True)
            if name or self.reference_:
                ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _parameter(estimator: Any) -> str:
    """Return the name of the parameter, which is a longer one in a pipeline."""
    names = list(estimator.get_params()) if isinstance(estimator, BaseEstimator) else []
    found = [name for name in names if name.rpartition("__")[2] == _PARAMETER]
    if len(found) == 1:
        return found[0]
    what = f"has {len(found)} parameters {_PARAMETER}" if found else f"has no {_PARAMETER}"
    raise InvalidValueError(
        f"{_OWNER}: estimator={_name(estimator)} {what}, and one is needed",
        "DoublyStochasticClassifier, DoublyStochasticRegressor, or a pipeline with RandomFeatures",
    )


def _name(estimator: Any) -> str:
    return type(estimator).__name__


def _score_name(estimator: Any, scoring: Any) -> str:
    """Return what the axis of scores is called."""
    if isinstance(scoring, str):
        return scoring.replace("_", " ")
    if scoring is not None:
        return "score"
    if is_classifier(estimator):
        return "accuracy"
    return "R²" if is_regressor(estimator) else "score"

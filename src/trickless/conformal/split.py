"""Split conformal prediction for any model, by rows that it has not learned from."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from trickless._arrays.likes import ArrayLike, MatrixLike
from trickless._arrays.missing import missing, unmasked
from trickless._arrays.places import to_host
from trickless._docstrings import completed_by, pages
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._rows.weights import check_weights
from trickless._rules import anything, check_value, shown
from trickless.conformal.intervals import absolute_errors, distances, widened
from trickless.conformal.levels import check_confidence, check_enough, check_has
from trickless.conformal.models import as_predicted, targets_beside, within_range
from trickless.conformal.quantiles import shifted_quantiles, upper_quantiles
from trickless.conformal.sets import BY_CLASS, scores_of_classes

_SCALE = anything(
    "None or 'std'",
    "scale='std' divides errors by the standard deviations of predict(X, return_std=True)",
    lambda v: v is None or v == "std",
)
_MORE = "pass more rows to calibrate"
#: What intervals and sets are asked for.
_NEW_ROWS = """
Parameters
----------
X : array of shape (n_rows, n_features)
    Rows to predict, in any form that the model accepts.
confidence : float, default=0.9
    The probability that a target is in its interval, or the true class in its set.
sample_weight : array of shape (n_rows,), optional
    Ratios of densities at these rows, in the unit of those of ``calibrate``.
groups : array of shape (n_rows,), optional
    The group of each row.

Raises
------
ValueError
    If there are too few rows for the confidence, in all or in a group.
"""


class SplitConformal(BaseEstimator):
    r"""Intervals and prediction sets from a calibration set, for any fitted model.

    ``calibrate`` takes rows that the model has not learned from. An interval holds the target of a
    new row with a probability of at least ``confidence``, and of at most ``confidence`` +
    1 / (n + 1) for n rows whose errors differ, if these rows and the new one are exchangeable
    [1]_. This is an average over rows. Intervals of one width hold it more often where the noise
    is small, and less often where it is large.

    - **Groups** (Mondrian): with ``groups``, it is true within each group.
    - **Covariate shift**: with ``sample_weight``, the ratio of the density of new rows to the
      density of these rows, it is true for the new rows [2]_.
    - **Quantiles**: a model that predicts several quantiles of a vector gets intervals whose width
      follows the noise [3]_. They start from its quantiles next to (1 ± ``confidence``) / 2.
    - **Classes**: a set holds the most likely classes, as many as are needed [4]_. It is never
      empty, so it holds the true class more often than asked if the model does so itself.

    Parameters
    ----------
    estimator : estimator
        A fitted regressor, or a fitted classifier with ``predict_proba``, of any library that
        follows scikit-learn. Scikit-learn's ``FrozenEstimator(model)`` stays fitted in a ``clone``.
        Intervals of losses with a log link, such as "poisson", end at 0.
    scale : {None, "std"}, default=None
        What the errors of a regressor are divided by. "std" are the standard deviations of
        ``estimator.predict(X, return_std=True)``, so that intervals are wider where these are.

    References
    ----------
    .. [1] J. Lei et al., "Distribution-free predictive inference for regression", JASA 113, 2018.
    .. [2] R. J. Tibshirani et al., "Conformal prediction under covariate shift", NeurIPS 2019.
    .. [3] Y. Romano et al., "Conformalized quantile regression", NeurIPS 2019.
    .. [4] Y. Romano et al., "Classification with valid and adaptive coverage", NeurIPS 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import KitchenSinksRegressor
    >>> from trickless.conformal import SplitConformal
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KitchenSinksRegressor(n_neurons=200, random_state=0).fit(X[:200], y[:200])
    >>> conformal = SplitConformal(model).calibrate(X[200:300], y[200:300])
    >>> low, high = conformal.predict_interval(X[300:], confidence=0.9).T
    >>> bool(((low <= y[300:]) & (y[300:] <= high)).mean() > 0.8)
    True
    """

    _doc_link_module = "trickless"
    _doc_link_template = pages("trickless.conformal")
    _takes_sets = False

    def __init__(self, estimator: Any, scale: str | None = None) -> None:
        self.estimator = estimator
        self.scale = scale

    def calibrate(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Keep the errors of the model at rows that it has not learned from.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Rows that the model has not learned from, in any form that it accepts.
        y : array of shape (n_rows,) or (n_rows, n_outputs)
            Targets or labels.
        sample_weight : array of shape (n_rows,), optional
            The density of new rows at these rows, divided by their own density, up to a factor.
            New rows then need theirs as well.
        groups : array of shape (n_rows,), optional
            The group of each row. New rows then need theirs as well.

        Returns
        -------
        self
        """
        check_value("SplitConformal", "scale", self.scale, _SCALE)
        ends = which = None
        try:
            if hasattr(self.estimator, "classes_"):
                scores, which = self._of_classes(X, y)
            else:
                mean, spread = self._predicted(X)
                targets = targets_beside(self, X, y)
                if mean.ndim == 2 and mean.shape[1] > 1 and targets.size == len(mean):
                    ends, scores = mean, targets.astype(np.float64).reshape(-1, 1)
                else:
                    errors = absolute_errors("SplitConformal", targets, mean)
                    scores = errors / spread.reshape(-1, errors.shape[1] if spread.ndim else 1)
        except NotFittedError as error:
            raise NotFittedError(
                f"SplitConformal: estimator={type(self.estimator).__name__} is not fitted. "
                "Remedy: fit it before; SplitConformal(FrozenEstimator(model)), of sklearn.frozen, "
                "stays fitted in clones"
            ) from error
        if not (np.isfinite(scores).all() and (ends is None or np.isfinite(ends).all())):
            raise InvalidValueError(
                "SplitConformal: the model predicts numbers that are not finite",
                "leave these rows out",
            )
        weight = check_weights("SplitConformal", to_host(sample_weight), len(scores))
        groups = None if groups is None else _groups(groups, len(scores))
        self.scores_, self.ends_, self.which_ = scores, ends, which
        self.sample_weight_, self.groups_ = weight, groups
        return self

    #: The same, by scikit-learn's name. The model itself is not fitted.
    fit = calibrate

    def predict(self, X: MatrixLike) -> Any:
        """Predict with the model.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Rows to predict, in any form that the model accepts.

        Returns
        -------
        array
            What the model predicts.
        """
        return self.estimator.predict(X)

    @completed_by(_NEW_ROWS)
    def predict_interval(
        self,
        X: MatrixLike,
        confidence: float = 0.9,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> np.ndarray:
        """Predict intervals that hold new targets with a probability of ``confidence``.

        Returns
        -------
        float64 array of shape (n_rows, 2) or (n_rows, n_outputs, 2)
            Lower and upper ends. They are infinite where the weight of a new row is too large.
        """
        check_has(self, "scores_", "calibrate(X, y)")
        check_confidence("SplitConformal", confidence)
        self._check_kind(False)
        mean, spread = self._predicted(X)
        scores, ends = self.scores_, np.stack([mean, mean], axis=-1)
        if self.ends_ is not None:
            low, high = self._columns(confidence)
            scores = distances(self.ends_[:, [low, high]], scores[:, 0])[:, None]
            ends = mean[:, [low, high]]
        far = self._bounds(scores, len(mean), confidence, sample_weight, groups)
        return within_range(self.estimator, widened(ends, far.reshape(ends.shape[:-1]) * spread))

    @completed_by(_NEW_ROWS)
    def predict_set(
        self,
        X: MatrixLike,
        confidence: float = 0.9,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        by_class: bool = False,
    ) -> np.ndarray:
        """Predict sets of classes that hold the true one with a probability of ``confidence``.

        Parameters
        ----------
        by_class : bool, default=False
            Whether sets hold the true class with this probability in each class, and not on average
            over classes [1]_. Each class then needs enough rows.

        Returns
        -------
        bool array of shape (n_rows, n_classes)
            Which classes are in the set of each row, in the order of ``estimator.classes_``.

        References
        ----------
        .. [1] V. Vovk, "Conditional validity of inductive conformal predictors", ACML 2012.
        """
        check_has(self, "scores_", "calibrate(X, y)")
        check_confidence("SplitConformal", confidence)
        self._check_kind(True)
        check_value("SplitConformal", "by_class", by_class, BY_CLASS)
        scores = scores_of_classes(as_predicted(self.estimator.predict_proba(X)))
        how = len(scores), confidence, sample_weight, groups
        if not by_class:
            return scores <= self._bounds(self.scores_, *how)
        labels = enumerate(np.asarray(self.estimator.classes_).tolist())
        which = np.asarray(self.which_)
        far = [self._bounds(self.scores_, *how, (which == j, label)) for j, label in labels]
        return scores <= np.hstack(far)

    def _fixed_bounds(self, confidence: float) -> np.ndarray:
        """Return the bounds of scores that all rows share, (n_outputs,), for other languages."""
        check_has(self, "scores_", "calibrate(X, y)")
        if self.scale is not None or self.ends_ is not None:
            raise InvalidValueError(
                "SplitConformal: intervals whose width depends on the row, by scale='std' or by "
                "quantiles, are not written in other languages",
                "scale=None, and a model that predicts one number",
            )
        return self._bounds(self.scores_, 1, confidence, None, None)[0]

    def _check_kind(self, of_classes: bool) -> None:
        """Raise an error for sets of numbers, and for intervals of classes."""
        if hasattr(self.estimator, "classes_") != of_classes:
            kind, use = (
                ("regressor", "predict_interval") if of_classes else ("classifier", "predict_set")
            )
            raise InvalidValueError(
                f"SplitConformal: estimator={type(self.estimator).__name__} is a {kind}", use
            )

    def _predicted(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return predictions, and what their errors are divided by."""
        if self.scale is None:
            return as_predicted(self.estimator.predict(X)), np.ones(())
        try:
            mean, spread = self.estimator.predict(X, return_std=True)
        except TypeError as error:
            raise InvalidTypeError(
                "SplitConformal: scale='std' needs predict(X, return_std=True), but estimator="
                f"{type(self.estimator).__name__} raises a TypeError for it",
                "KitchenSinksRegressor or a Gaussian process, which have standard deviations; or "
                "scale=None and BoostedTreesRegressor(loss='quantile', quantile=[0.05, 0.95])",
            ) from error
        return as_predicted(mean), as_predicted(spread)

    def _of_classes(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of the true classes, (n_rows, 1), and their numbers."""
        scores = scores_of_classes(as_predicted(self.estimator.predict_proba(X)))
        labels = targets_beside(self, X, y, numeric=False).tolist()
        numbers = {label: j for j, label in enumerate(np.asarray(self.estimator.classes_).tolist())}
        which = np.array([numbers.get(label, -1) for label in labels], dtype=int)
        if (which < 0).any():
            raise InvalidValueError(
                f"SplitConformal: y holds {labels[which.argmin()]!r}, which is not a class of the "
                "model",
                "leave rows of other classes out, or fit the model to all classes",
            )
        return scores[np.arange(len(which)), which, None], which

    def _columns(self, confidence: float) -> tuple[int, int]:
        """Return the columns of the quantiles that an interval starts from."""
        assert self.ends_ is not None
        quantiles = np.atleast_1d(getattr(self.estimator, "quantile", ()))
        if len(quantiles) != self.ends_.shape[1]:
            return 0, self.ends_.shape[1] - 1
        low, high = (np.abs(quantiles - (1 + s * confidence) / 2).argmin() for s in (-1, 1))
        return int(low), int(high)

    def _bounds(
        self,
        scores: np.ndarray,
        n_new: int,
        confidence: float,
        weight: Any,
        groups: Any,
        one_class: tuple[np.ndarray, Any] | None = None,
    ) -> np.ndarray:
        """Return what bounds the scores of each new row, shape (n_new, n_outputs).

        The rows of ``one_class``, and its label, are all that count.
        """
        for name, given, kept in (
            ("sample_weight", weight, self.sample_weight_),
            ("groups", groups, self.groups_),
        ):
            if (given is None) != (kept is None):
                there = "calibrate" if given is None else "new rows"
                raise InvalidValueError(
                    f"SplitConformal: {name} was given for {there} only",
                    f"{name} for both, or for neither",
                )
        of_new = check_weights("SplitConformal", to_host(weight), n_new, may_be_empty=True)
        if of_new is not None and not of_new.all():
            raise InvalidValueError(
                f"SplitConformal: sample_weight is 0 for new row {int(of_new.argmin())}, as if new "
                "rows did not occur there, so nothing is known of it",
                "ratios of densities above 0 for new rows",
            )
        found = np.empty((n_new, scores.shape[1]))
        known, of_class = np.ones(len(scores), dtype=bool), ""
        if one_class is not None:
            known, of_class = one_class[0], f"class {one_class[1]!r} "
        if self.groups_ is None:
            parts = [(f"{of_class or 'calibrate '}had", known, slice(None))]
        else:
            of_rows = _groups(groups, n_new)
            parts = [
                (f"{of_class}group {group} had", known & (self.groups_ == group), of_rows == group)
                for group in np.unique(of_rows)
            ]
        for what, old, new in parts:
            some = scores[old]
            if not len(some):
                remedy = "rows of this class for calibrate, or by_class=False"
                if not of_class and self.groups_ is not None:
                    names = np.unique(self.groups_).tolist()
                    remedy = f"rows of this group for calibrate, or groups of {shown(names)}"
                raise InvalidValueError(
                    f"SplitConformal: {what} no rows in calibrate, so nothing is known of its "
                    "errors",
                    remedy,
                )
            check_enough("SplitConformal", what, len(some), confidence, _MORE)
            for output, column in enumerate(some.T):
                if of_new is None:
                    found[new, output] = upper_quantiles(column, confidence)
                else:
                    assert self.sample_weight_ is not None
                    ratios = self.sample_weight_[old], of_new[new]
                    found[new, output] = shifted_quantiles(column, confidence, *ratios)
        return found


def _groups(given: Any, n_rows: int) -> np.ndarray:
    groups = np.asarray(unmasked(to_host(given)))
    if groups.shape != (n_rows,):
        raise InvalidValueError(
            f"SplitConformal: groups has the shape {groups.shape}, but there are {n_rows} rows",
            "one group for each row",
        )
    if (where := missing(groups)).any():
        raise InvalidValueError(
            f"SplitConformal: groups has a missing value (row {int(where.argmax())})",
            "a group of its own for such rows, such as 'unknown'",
        )
    return groups

"""scikit-learn's linear models along a path of regularisation strengths, as plain numbers."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import scipy.sparse

from trickless._arrays.functions import softmax
from trickless._arrays.stated import Array, Stated
from trickless._stack.training import Training

#: Strengths of the path, relative to the one at which nothing is left of a lasso, for ridges in
#: units of the mean square of a row, and for logistic regression their inverse.
_LASSO, _RIDGE, _INVERSE = (
    np.geomspace(0.7, 0.01, 12),
    np.geomspace(1e-3, 1e2, 11),
    np.geomspace(1e-2, 1e3, 6),
)
_ITERATIONS = 500


class LinearModel(Stated):
    """A linear function of the features, or the softmax function of several.

    Attributes
    ----------
    coef : array of shape (n_features, n_outputs)
    intercept : array of shape (n_outputs,)
    classes_ : int array of shape (n_outputs,) or None
        Numbers of the classes; None for numbers.
    """

    coef: Annotated[np.ndarray, Array("f8", None, "n_outputs")]
    intercept: Annotated[np.ndarray, Array("f8", "n_outputs")]
    classes_: Annotated[np.ndarray, Array("i8", "n_outputs", least=0)] | None

    def __init__(
        self, coef: np.ndarray, intercept: np.ndarray, classes: np.ndarray | None = None
    ) -> None:
        self.coef, self.intercept, self.classes_ = coef, intercept, classes

    def predict(self, X: Any) -> Any:
        """Return the values of the function, (n_rows, n_outputs)."""
        return X @ self.coef + self.intercept

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes, (n_rows, n_outputs)."""
        return softmax(self.predict(X))


def path(X: Any, rows: Training) -> list[LinearModel]:
    """Fit linear models to columns X of rows, from the strongest regularisation on.

    They are lassos for dense columns, ridge regression for sparse ones, and logistic regression for
    classes.
    """
    if rows.n_classes:
        return _logistic(X, rows)
    return _ridge(X, rows) if scipy.sparse.issparse(X) else _lasso(X, rows)


def _lasso(X: np.ndarray, rows: Training) -> list[LinearModel]:
    from sklearn.linear_model import lasso_path

    share, targets = rows.share, rows.targets
    x_mean, y_mean = share @ X, share @ targets
    root = np.sqrt(share * rows.n_rows)[:, None]
    X, targets = (X - x_mean) * root, (targets - y_mean) * root
    coef = np.empty((len(_LASSO), X.shape[1], targets.shape[1]))
    for output, y in enumerate(targets.T):
        largest = max(float(np.abs(X.T @ y).max()) / rows.n_rows, np.finfo(float).tiny)
        how = {"alphas": largest * _LASSO, "max_iter": _ITERATIONS, "tol": 1e-3}
        coef[:, :, output] = lasso_path(X, y, **how)[1].T
    return [LinearModel(each, y_mean - x_mean @ each) for each in coef]


def _ridge(X: Any, rows: Training) -> list[LinearModel]:
    from sklearn.linear_model import Ridge

    square = float(rows.share @ np.asarray(X.multiply(X).sum(axis=1)).ravel())
    weight = rows.share * rows.n_rows
    found = []
    for strength in _RIDGE[::-1]:
        model = Ridge(strength * square, max_iter=_ITERATIONS, tol=1e-4)
        model.fit(X, rows.targets, sample_weight=weight)
        coef = model.coef_.reshape(rows.targets.shape[1], -1).T
        found.append(LinearModel(coef.copy(), np.atleast_1d(model.intercept_).astype(float)))
    return found


def _logistic(X: Any, rows: Training) -> list[LinearModel]:
    from sklearn.linear_model import LogisticRegression

    y, weight, found = rows.y, rows.share * rows.n_rows, []
    model = LogisticRegression(max_iter=_ITERATIONS, tol=1e-3, warm_start=True)
    for inverse in _INVERSE:
        model.set_params(C=float(inverse)).fit(X, y, sample_weight=weight)
        coef, intercept = model.coef_.T.astype(float), model.intercept_.astype(float)
        if len(model.classes_) == 2:  # the first class has the value 0
            coef, intercept = (
                np.concatenate([np.zeros_like(each), each], axis=-1) for each in (coef, intercept)
            )
        found.append(LinearModel(coef, intercept.copy(), model.classes_.copy()))
    return found

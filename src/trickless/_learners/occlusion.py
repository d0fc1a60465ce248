"""Where in a series a model looks: its answers with a part of the series missing."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from trickless._arrays.likes import MatrixLike
from trickless._errors import InvalidValueError
from trickless._rules import anything, check_value, either, integer, is_none, with_remedies
from trickless.neurons import Convolutions
from trickless.neurons.checks import shape_of
from trickless.neurons.layouts import Layout, Series
from trickless.neurons.unequal import is_unequal

_OWNER = "occlusion_importance"
#: The default window is this share of the series.
_SHARE = 20
_WINDOW = either(integer(1, "window_size=10 hides ten times"), anything("None", "", is_none))


def occlusion_importance(
    estimator: Any,
    X: MatrixLike,
    *,
    shape: int | tuple[int, int] | None = None,
    window_size: int | None = None,
) -> np.ndarray:
    r"""Measure where in series a model looks, by hiding a window of them at a time.

    The values of a channel within a window become missing, and the model predicts again [1]_. The
    importance of a window is the root mean square of the changes of its answers :math:`f`, over
    rows and outputs:

    .. math:: I_w = \Big(\frac1n \sum_{i=1}^n \frac1m \sum_{j=1}^m
        \big(f_j(x_i) - f_j(x_i \text{ without } w)\big)^2\Big)^{1/2}.

    Windows move by half of their width, and the importance of a time is the mean over the windows
    that hold it. Pass several rows to learn where a model looks in general, and a single row to
    explain its answer. The model must accept missing values, as with
    :class:`~trickless.neurons.Convolutions`, which leave missing times out.

    Parameters
    ----------
    estimator : fitted classifier or regressor
        Answers are values of ``decision_function``, or else of ``predict_proba`` or ``predict``.
    X : array of shape (n_rows, n_channels, length) or (n_rows, n_features), or list of series
        Series as the model takes them, or as flat rows, one channel after the other. Arrays and
        lists may hold longer series than the fit if the model predicts such series.
    shape : int, tuple of int or None, default=None
        Length of the series, or (channels, length). None means the shape of the estimator's
        neurons, if they have one, and otherwise one channel.
    window_size : int or None, default=None
        Number of times that are hidden together. None means a twentieth of the series. Wide windows
        find what only long stretches show, whereas narrow windows tell more exactly where it is.

    Returns
    -------
    array of shape (n_channels, length)
        Importances, in the units of the answers.

    Raises
    ------
    ValueError
        If the model does not accept missing values, or the shape does not suit the columns.

    Notes
    -----
    The model predicts the rows about 40 times for each channel. An event that occurs twice in a
    series may have no importance, since the model still sees it if one of both is hidden.

    References
    ----------
    .. [1] M. D. Zeiler and R. Fergus, "Visualizing and understanding convolutional networks", ECCV
       2014, section 4.2.

    Examples
    --------
    A wave at the times 40 to 60 tells two classes apart:

    >>> import numpy as np
    >>> from trickless import KitchenSinksClassifier
    >>> from trickless.inspection import occlusion_importance
    >>> from trickless.neurons import Convolutions
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((60, 100)), np.arange(60) % 2
    >>> X[y == 1, 40:60] += 2 * np.sin(np.arange(20))
    >>> model = KitchenSinksClassifier(Convolutions(), n_neurons=30, random_state=0).fit(X, y)
    >>> importances = occlusion_importance(model, X)
    >>> importances.shape
    (1, 100)
    >>> bool(importances[0, 45:55].mean() > 3 * importances[0, :30].mean())
    True
    """
    check_value(_OWNER, "shape", shape, Convolutions._rules["shape"])
    check_value(_OWNER, "window_size", window_size, _WINDOW)
    check_is_fitted(estimator)
    given, layout = X, Layout()
    if (rows := getattr(estimator, "_rows_", None)) is not None:
        layout = rows.kind.layout
        X = layout.flat(_OWNER, X, longer=True)
    elif is_unequal(X) or len(shape_of(X) or ()) > 2:  # of a pipeline, which reads flat rows too
        layout, X = Series().learned(_OWNER, X)
        shape = shape or layout.shape  # type: ignore[assignment]
    are_flat = X is given and (shape is None or not layout.shape)
    with with_remedies(_OWNER):
        X = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
    are_flat |= X.shape[1] == getattr(estimator, "n_features_in_", X.shape[1])
    if layout.shape and not are_flat:  # series of another length than in the fit
        shape = shape or (layout.shape[0], X.shape[1] // layout.shape[0])
    n_channels, length = _shape_of(estimator, X, shape)
    answer = _answers(estimator, (-1,) if are_flat else (n_channels, length))
    before, width = answer(X), min(window_size or -(-length // _SHARE), length)
    starts = np.minimum(np.arange(0, length, max(1, width // 2)), length - width)
    importances, n_windows = np.zeros((n_channels, length)), np.zeros(length)
    for start in np.unique(starts):
        covered = slice(start, start + width)
        n_windows[covered] += 1
        for channel in range(n_channels):
            change = _without(answer, X, channel * length + start, width) - before
            importances[channel, covered] += np.sqrt(np.mean(change**2))
    return importances / n_windows


def _without(answer: Any, X: np.ndarray, start: int, width: int) -> np.ndarray:
    """Return the answers without some columns."""
    hidden = X.copy()
    hidden[:, start : start + width] = np.nan
    try:
        return answer(hidden)
    except ValueError as error:
        raise InvalidValueError(
            f"{_OWNER}: the model does not accept missing values, which hide parts of a series",
            "a model with neurons=Convolutions(), or another model that accepts NaN",
        ) from error


def _answers(estimator: Any, of_row: tuple[int, ...]) -> Callable[[np.ndarray], np.ndarray]:
    """Return the most graded answers that an estimator has for rows that it reads in a shape."""
    for name in ("decision_function", "predict_proba", "predict"):
        if hasattr(estimator, name):
            break
    predict = getattr(estimator, name)
    return lambda X: np.asarray(predict(X.reshape(len(X), *of_row)), dtype=np.float64)


def _shape_of(estimator: Any, X: np.ndarray, shape: Any) -> tuple[int, int]:
    """Find the numbers of channels and of times."""
    if shape is None:
        shape = getattr(getattr(estimator, "neurons_", None), "shape_", None)
    n = X.shape[1]
    n_channels, length = shape if isinstance(shape, tuple | list) else (1, shape or n)
    if prod((n_channels, length)) != n:
        raise InvalidValueError(
            f"{_OWNER}: shape={shape!r} makes series of {n_channels * length} values, but X has "
            f"{n} columns",
            "the length, or (channels, length), of the series whose flat rows X holds",
        )
    return n_channels, length

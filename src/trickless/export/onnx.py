"""Models for other runtimes. What writes them is imported when it is first used."""

from __future__ import annotations

import os
from typing import Any


def to_onnx(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    outputs: tuple[str, ...] | None = None,
    dtype: Any = None,
    confidence: float = 0.9,
) -> Any:
    """Write a fitted model as an ONNX graph, which runs without Python.

    The graph uses opset 18, and version 3 of the operators for machine learning. It makes the same
    predictions as the model. It does not make the model's checks: rows that raise an error in
    Python, such as NaN for a family of finite numbers, give NaN or another number there.

    A learner of a matrix has the input ``X``, of shape (n_rows, n_features). A
    learner that was fitted to a data frame with :class:`~trickless.neurons.Tabular` or
    :class:`~trickless.neurons.Trees`, has an input of shape (n_rows, 1) for each column, by its
    name:

    - Numbers and Booleans are numbers, and NaN where they are missing.
    - Dates are numbers of days since 1970, in UTC if they have a time zone. Durations and times of
      day are days.
    - Categories are strings, spelled as in training. Other strings are new categories, except that
      "" is a missing value.

    Parameters
    ----------
    model : estimator
        A fitted learner or a :class:`RandomFeatures`. It may also be a
        :class:`~trickless.conformal.SplitConformal` of a learner, for intervals and sets
        from the rows that it was calibrated on. After ``import trickless.onnx``,
        ``skl2onnx.to_onnx`` writes scikit-learn's pipelines that hold learners.
    path : str or path, optional
        Where to write the graph as well. The file is written whole or not at all.
    outputs : tuple of str, optional
        The outputs, in this order.

        - Regressors have "prediction", the default, "std" where ``predict`` has ``return_std``, and
          "interval", as from ``predict_interval``.
        - Classifiers have "label", "probabilities", "decision" and "set", as from ``predict_set``.
          Default: labels and probabilities, or decision values where the loss does not determine
          probabilities.
        - :class:`RandomFeatures` has "features".
    dtype : {"float32", "float64"}, optional
        Precision of the inputs that are numbers. Default: that in which the model reads them, which
        is double for tables. The graph computes in the precision of the model in any case. Answers
        are in double precision.
    confidence : float, default=0.9
        The probability that a target is in its interval, or the true class in its set.

    Returns
    -------
    onnx.ModelProto
        The graph, which has passed the checks of the package onnx.

    Raises
    ------
    ImportError
        Without the package onnx: ``pip install 'trickless[onnx]'``.
    NotFittedError
        Before ``fit``.
    ValueError
        If a family, a kernel, a label or an output has no operators of ONNX. The message names it.

    Notes
    -----
    A graph holds the weights of all neurons, whereas a model may draw them again from its seed.
    Each neuron of a Fourier family takes 4 bytes for each feature. Trees have the size of
    the model. Standard deviations and intervals take 8 bytes for each pair of columns, or of a
    column and a row that is left out.

    The error function of ``Dense("erf")`` is in single precision, because onnxruntime has no other.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import trickless
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = trickless.KitchenSinksRegressor(n_neurons=50, random_state=0).fit(X, y)
    >>> graph = trickless.to_onnx(model, "diabetes.onnx")  # doctest: +SKIP
    """
    from trickless.onnx.export import model_of

    return model_of(model, path, outputs, dtype, confidence)

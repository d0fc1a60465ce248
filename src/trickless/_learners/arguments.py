"""What the methods of learners take and return, where several methods share it.

``completed_by`` adds these sections to the docstrings of the methods.
"""

from __future__ import annotations

#: Of methods that learn from rows, such as ``fit``.
LEARNING = """
Parameters
----------
X : array, CSR matrix or data frame of shape (n_rows, n_features)
    Training data. Kernels, and families of images and series, also accept arrays of more
    dimensions. :class:`~trickless.neurons.Convolutions` also accepts a list of series.
y : array of shape (n_rows,), or (n_rows, n_outputs) for a regressor
    Target values or class labels.
sample_weight : array of shape (n_rows,), optional
    Weights of the rows, as for ``fit``.
timestamps : array of shape (n_rows,), optional
    Times of the rows, for a ``half_life`` in time instead of rows: numbers or datetimes that never
    decrease, within a batch and from batch to batch.

Returns
-------
self
"""

#: Of fits that held-out rows stop early.
HELD_OUT = """
Parameters
----------
X_val : array, CSR matrix or data frame of shape (n_val, n_features), optional
    Rows for early stopping, which are not learned from. Without them, ``early_stopping`` holds out
    some of the rows of X.
y_val : array of shape (n_val,), or (n_val, n_outputs) for a regressor, optional
    Targets of these rows.
sample_weight_val : array of shape (n_val,), optional
    Weights of these rows.
groups : array of shape (n_rows,), optional
    The group of each row, if rows of one group are alike, such as those of one patient. Whole
    groups are then held out for early stopping. Otherwise rows of one group would be on both
    sides, and the scores of the held-out rows would be too good.
"""

#: Of methods of regressors.
NUMBERS = """
Parameters
----------
y : array of shape (n_rows,) or (n_rows, n_outputs)
    Target values.
"""

#: Of methods of classifiers.
LABELS = """
Parameters
----------
y : array of shape (n_rows,)
    Class labels.
"""

#: Of ``partial_fit`` of classifiers that learn an output for labels that have not come yet.
GROWING = f"""{LABELS.rstrip()}
classes : array of shape (n_classes,) or "grow", optional
    All labels that may occur, for the first call. With "grow", from the first call on, new labels
    may appear in any batch, and the first one may hold a single label. There is then one more
    output than labels, for a label that has not come yet, with targets −1. A new label continues
    from this output. With losses that learn each class against the rest, it is thus the output of a
    label that was declared from the beginning. With "log_loss", the softmax function has counted
    one label that has not come, however many do. The output is the last one in coefficients, and
    not in decision values and probabilities, whose columns follow ``classes_``. Default: the labels
    of the first batch.
"""

#: Of methods that predict.
PREDICTING = """
Parameters
----------
X : array, CSR matrix or data frame of shape (n_rows, n_features)
    Rows to predict, in any form that ``fit`` accepts.
confidence : float, default=0.9
    The probability that a target is in its interval, for each output by itself. It is an average
    over rows, which must come from the same source as the training rows.
"""

#: Of ``score``.
SCORING = """
Parameters
----------
X : array, CSR matrix or data frame of shape (n_rows, n_features)
    Test data, in any form that ``fit`` accepts.
sample_weight : array of shape (n_rows,), optional
    Weights of the rows.

Returns
-------
float
    The score.
"""

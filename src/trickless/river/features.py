"""Random features of the rows of a River stream."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from river import base

from trickless._functions.stream import as_seed
from trickless._rules import check_value
from trickless.river.learner import N_NEURONS
from trickless.river.rows import DictionaryRows


class RiverFeatures(base.MiniBatchTransformer):
    r"""Random cosines and sines of rows, for linear models in River's pipelines.

    The features of a row x are :math:`\cos(w_i^\top x)` and :math:`\sin(w_i^\top x)` [1]_. They
    are not divided by the root of their number, which suits the steps of River's linear models.
    Neuron i depends on 1, 2, 4 or all of the features, by turns. Rows are read and standardised as
    by :class:`~trickless.river.RiverClassifier`, and need no scaler.

    Parameters
    ----------
    n_neurons : int, default=100
        Number n of neurons. There are twice as many features.
    seed : int or None, default=None
        Seed of the neurons. The same integer gives the same features.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007.

    Examples
    --------
    >>> from river import datasets, evaluate, linear_model, metrics
    >>> from trickless.river import RiverFeatures
    >>> model = RiverFeatures(seed=0) | linear_model.LogisticRegression()
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 87.96%
    """

    def __init__(self, n_neurons: int = 100, seed: int | None = None) -> None:
        self.n_neurons = n_neurons
        self.seed = seed
        check_value(type(self).__name__, "n_neurons", n_neurons, N_NEURONS)
        self._rows = DictionaryRows(type(self).__name__, n_neurons, as_seed(seed))
        self._names = [f"{kind} {i}" for kind in ("cos", "sin") for i in range(n_neurons)]

    def learn_one(self, x: dict[Hashable, Any]) -> None:
        """Update columns and their scale by a row.

        Parameters
        ----------
        x : dict
            Features by their names.
        """
        self._rows.learn(self._rows.read_new(x))

    def transform_one(self, x: dict[Hashable, Any]) -> dict[Hashable, Any]:
        """Return the random features of a row, "cos 0" to "sin 99" for 100 neurons.

        Parameters
        ----------
        x : dict
            Features by their names.
        """
        raw, _ = self._rows.read(x)
        cosines = self._rows.activate(raw)[1 : len(self._names) + 1]
        return dict(zip(self._names, cosines.tolist(), strict=True))

    def learn_many(self, X: Any) -> None:
        """Update columns and their scale by the rows of a data frame.

        Parameters
        ----------
        X : pandas.DataFrame
            Features. NaN is a missing value.
        """
        for x in X.to_dict("records"):
            self.learn_one(x)

    def transform_many(self, X: Any) -> Any:
        """Return the random features of the rows of a data frame, in a column each.

        Parameters
        ----------
        X : pandas.DataFrame
            Features.
        """
        import pandas as pd

        rows = [self.transform_one(x) for x in X.to_dict("records")]
        return pd.DataFrame(rows, index=X.index, columns=self._names)

"""A family that the learner chooses from the data."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from trickless._arrays.places import to_host
from trickless._errors import InvalidTypeError
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.ferns import Ferns
from trickless.neurons.inputs import Relevance
from trickless.neurons.isotropic import Gaussian
from trickless.neurons.landmarks import Landmarks
from trickless.neurons.separable import Laplace1
from trickless.neurons.tabular import Tabular

#: Families for dense numbers, for sparse ones, and for tables with categories or gaps.
_NUMBERS: tuple[Neurons, ...] = (
    Gaussian("auto"),
    Gaussian("relevance"),
    Laplace1("relevance"),
    Landmarks(Laplace1("relevance")),
    Ferns(feature_weights="relevance"),
)
_SPARSE: tuple[Neurons, ...] = (
    Gaussian("auto"),
    Gaussian("relevance"),
    Landmarks(Gaussian("auto")),
)
#: If there are more features than rows, length scales of all features would fit the noise.
_WIDE: tuple[Neurons, ...] = (Gaussian("auto"), Landmarks(Gaussian("auto")))
_TABLES: tuple[Neurons, ...] = (Tabular(),)
#: Least number of rows for which families are compared.
_COMPARED_FROM = 100


class Auto(Neurons):
    """The best of several families, chosen by cross-validation on some rows.

    The learner compares smooth neurons with one length scale, smooth neurons with a length scale
    for each feature, rough neurons, landmarks and small trees. For sparse rows, it compares the
    first two, and landmarks of smooth neurons. With more features than rows, it leaves out the
    second. Data frames with categories or missing values get :class:`Tabular`, and fewer than 100
    rows get :class:`Gaussian`. A fitted model has the chosen family as ``neurons_``, and the scores
    of all candidates as ``search_scores_``.

    Attributes
    ----------
    parts_ : list of Neurons
        The fitted families.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import KitchenSinksRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KitchenSinksRegressor("auto", n_neurons=200, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.4)
    True
    """

    _doc_link_module = ""  # it has no page

    accepts_sparse = True
    accepts_tables = True

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Self:
        super().fit(X, rng, sample_weight)
        families = _NUMBERS
        if issparse(X):
            families = _WIDE if X.shape[1] > X.shape[0] else _SPARSE
        if X.shape[0] < _COMPARED_FROM:
            families = _SPARSE[:1]
        if not issparse(X) and (self._known_inputs(X).n_categories.any() or _has_gaps(X)):
            families = _TABLES
        self.parts_: list[Neurons] = [clone(family) for family in families]
        for part in self.parts_:
            part.inputs_ = self.inputs_
            part.fit(X, rng, sample_weight)
        return self

    @property
    def _wants_relevance(self) -> bool:
        return any(part._wants_relevance for part in self.parts_)

    def _by_relevance(self, relevance: Relevance) -> Auto:
        family = copy(self)
        family.parts_ = list(self.parts_)
        for i, part in enumerate(self.parts_):
            if part._wants_relevance:
                family.parts_[i] = part._by_relevance(relevance)
                family.parts_[i].relevance_ = relevance.importances
        return family

    def _candidates(self) -> list[Neurons]:
        return [candidate for part in self.parts_ for candidate in part._candidates()]

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        raise InvalidTypeError(
            "Auto has no neurons of its own",
            "fit a learner with neurons='auto', and use its neurons_",
        )

    def activate(self, X: Any, weights: Weights) -> Any:
        return self.draw(np.random.default_rng(0), 1)


def _has_gaps(X: Any) -> bool:
    return bool(np.isnan(to_host(X)).any())

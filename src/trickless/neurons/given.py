"""Given neurons: a list of neurons that exist already, such as the chosen trees of a model."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from trickless._arrays.places import to_host
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._rules import anything
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.checks import check_columns
from trickless.neurons.composed import FAMILY, Composed


class Given(Composed):
    r"""Neurons that are given as a list: those of a fitted model, to be solved for again.

    .. math:: \psi(x; i) = \psi_1(x; w_i), \qquad i \sim \text{uniform on } 1, \dots, N, \qquad
        k(x, x') = \frac{1}{N} \sum_{i=1}^N \psi_1(x; w_i) \cdot \psi_1(x'; w_i)

    A stream of these neurons goes through the list, and starts over at its end. Random Kitchen
    Sinks takes each neuron once at most, so with ``n_neurons`` of N or more it solves for the
    coefficients of all N. Where boosting chose the neurons, that is the "search" of boosting and
    the "solve" of the paper [1]_, one after the other.

    If the same rows chose the neurons, cross-validation on them is too optimistic, and
    ``alpha="auto"`` is too small where targets are noisy. Then choose the neurons by some of the
    rows and solve by others, or compare values of alpha on rows that are held out. For the same
    reason, ``predict_interval`` and ``predict_set`` then hold too few targets, and standard
    deviations are too small. They need rows that chose neither neurons nor coefficients, by
    :class:`trickless.conformal.SplitConformal`.

    Parameters
    ----------
    neurons : Neurons
        A family that has been fitted. Rows must have the same columns as those it was fitted to.
    weights : tuple of arrays
        Weights of N neurons of this family.

    See Also
    --------
    Trees : Trees, which Doubly Stochastic Gradients chooses from the data.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks: replacing minimization
       with randomization in learning", NIPS 2008.

    Examples
    --------
    Solve again for the leaves of all trees that a model has chosen, together:

    >>> from sklearn.datasets import load_diabetes
    >>> from trickless import BoostedTreesRegressor, KitchenSinksRegressor
    >>> from trickless.neurons import Given
    >>> X, y = load_diabetes(return_X_y=True)
    >>> boosted = BoostedTreesRegressor(20, random_state=0).fit(X, y)
    >>> solved = KitchenSinksRegressor(Given.of(boosted), alpha=1e-2).fit(X, y)
    >>> solved.neuron_coef_.shape[0] == len(boosted.neuron_coef_)
    True
    """

    _rules = {
        "neurons": FAMILY,
        "weights": anything(
            "a tuple of arrays with an entry for each neuron",
            "Given.of(model) takes the neurons of a fitted model",
            lambda v: (
                isinstance(v, tuple)
                and len(v) > 0
                and len({len(array) if np.ndim(array) else 0 for array in v}) == 1
                and len(v[0]) > 0
            ),
        ),
    }

    def __init__(self, neurons: Neurons, weights: Weights) -> None:
        self.neurons = neurons
        self.weights = weights

    @classmethod
    def of(cls, model: Any) -> Given:
        """Take the neurons of a fitted model.

        Parameters
        ----------
        model : estimator
            A fitted model of drawn neurons, such as ``BoostedTrees*``, ``DoublyStochastic*``,
            ``KitchenSinks*`` or ``RandomFeatures``.

        Returns
        -------
        Given
            Its neurons, in the order in which they were drawn or chosen.

        Raises
        ------
        TypeError
            If the object is not such a model, or not fitted.
        """
        network = getattr(model, "network_", None)
        source = getattr(network, "source", getattr(model, "source_", None))
        if source is None or not hasattr(model, "neurons_"):
            raise InvalidTypeError(
                f"Given.of: model={model!r} has no drawn neurons",
                "a fitted BoostedTrees, DoublyStochastic, KitchenSinks or RandomFeatures model",
            )
        n = model._n_drawn if network is None else network.n_neurons
        pieces = [weights for _, weights in source.pieces(0, n)]
        weights = tuple(np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
        return cls(model.neurons_, tuple(map(to_host, weights)))

    def __sklearn_clone__(self) -> Given:
        return type(self)(self.neurons, self.weights)  # the family stays fitted

    @property
    def independent(self) -> bool:
        """False, because a stream takes each neuron of the list in turn."""
        return False

    @property
    def _wants_relevance(self) -> bool:
        """False, because the family has been fitted."""
        return False

    @property
    def _may_know_targets(self) -> bool:  # type: ignore[override]
        """True, because nothing says which rows chose the neurons."""
        return True

    @property
    def _n_given(self) -> int:  # type: ignore[override]
        """Number of neurons in the list."""
        return len(self.weights[0])

    @property
    def _n_nonzero(self) -> int | None:  # type: ignore[override]
        """The most values of a neuron that are not 0, as for the family."""
        return self.neurons._n_nonzero

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Self:
        Neurons.fit(self, X, rng, sample_weight)
        family = self.neurons
        if not family.__sklearn_is_fitted__():
            raise InvalidValueError(
                f"Given: neurons={family!r} has not been fitted",
                "Given.of(model), with a fitted model",
            )
        check_columns("Given", X, family.n_features_in_)
        known, there = family._known_inputs(X), self._known_inputs(X)
        if known.n_categories.tolist() != there.n_categories.tolist():
            raise InvalidValueError(
                f"Given: the columns of X have {there.n_categories.tolist()} codes of categories, "
                f"but those that {type(family).__name__} was fitted to had "
                f"{known.n_categories.tolist()}",
                "the same rows, or rows with the same categories",
            )
        family._check_weights(self.weights)
        self._with_parts([family])
        return self

    def check_state(self) -> None:
        super().check_state()
        self.parts_[0]._check_weights(self.weights)

    def _set_depth(self, n_rows: int, deepest: int | None = None) -> None:
        pass

    def _candidates(self) -> list[Neurons]:
        return [self]

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        return self._at(rng.integers(self._n_given, size=n))

    def _draw_from(self, start: int, rng: np.random.Generator, n: int) -> Weights:
        return self._at(np.arange(start, start + n) % self._n_given)

    def _at(self, numbers: np.ndarray) -> Weights:
        return tuple(np.take(array, numbers, axis=0) for array in self.weights)

    def activate(self, X: Any, weights: Weights) -> Any:
        return self.parts_[0](X, weights)

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        return self.parts_[0].activate_pairs(X, self.parts_[0]._as_drawn(weights))

    def _read(self, X: Any, n_jobs: int | None = None) -> Any:
        return self.parts_[0]._read(X, n_jobs)

    def _combine(self, X: Any, weights: Weights, coef: Any) -> Any:
        return self.parts_[0]._combine(X, weights, coef)

    def _nonzeros(self, X: np.ndarray, weights: Weights) -> tuple[np.ndarray, np.ndarray]:
        """Find the values of each neuron that are not 0, as the family does."""
        return self.parts_[0]._nonzeros(X, weights)

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        weights = self._at(np.arange(self._n_given))
        Z, W = (self.parts_[0](rows, weights).astype(np.float64) for rows in (X, Y))
        return Z @ W.T / self._n_given

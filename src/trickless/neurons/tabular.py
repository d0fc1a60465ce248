"""Neurons for tables of numbers, categories and missing values, on any scale."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Annotated, Any, Self

import numpy as np
from array_api_compat import device

from trickless._arrays.functions import count_below
from trickless._arrays.places import namespace, to_host
from trickless._arrays.stated import (
    Array,
    Length,
    check_same,
)
from trickless._rules import Rule, count, is_real
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.bins import midpoints
from trickless.neurons.mixture import Mixture
from trickless.neurons.projected import check_features
from trickless.neurons.samples import sample_rows

_RANK_ROWS = 16_384
_RANK_VALUES = 8_000_000
#: The largest rank. It is below 1, because the fractional part of 1 is 0.
TOP = 1 - 2.0**-20
#: Standard deviation of the frequencies of waves, in turns over the whole range of ranks.
_TURNS = 0.5


class Tabular(Neurons):
    r"""Rules and waves on the ranks of numbers and on categories, a default for tables.

    Each number is replaced by its rank :math:`u \in [0, 1)`. The midpoints between consecutive
    distinct values of the training rows are the thresholds of a column, and the rank is the share
    of them below the number. Neither the scale nor any monotone transformation of a column
    therefore matters, as long as the learner's ``dtype`` tells its values apart. The learner warns
    if it does not. Nor does it matter how often a value occurs, or what its rows weigh.

    A neuron sees m variables, where m is uniform on 1 to ``depth``. Each variable is a random
    column. There are two kinds of neurons:

    - A rule is 1 if m conditions hold, and -1 otherwise. A condition on a number is :math:`u >
      \theta` or :math:`u < \theta` with :math:`\theta \sim U(0, 1)`. A condition on a category is
      that it is in a random set. The set holds each category with probability 1/2, and any two
      categories independently.
    - A wave is :math:`\cos 2\pi \sum_i (a_i u_i + b_i)` with :math:`a_i \sim N(0, 1/4)` for a
      number and :math:`b_i \sim U(0, 1)`. For a category, the term is a random phase of this
      category.

    A missing number is like a category of its own: it is on a random side of each threshold, and
    has a random phase.

    Learners with these neurons accept pandas and polars data frames and Arrow tables directly:

    - Columns of numbers and of Booleans hold numbers.
    - Dates, durations and times of day become numbers of days.
    - Columns of categories, of text, whatever it spells, and of other objects hold categories.
    - Missing categories are one more category. Another is shared by all categories that were not in
      the first batch, together with those that occurred once or twice, if these were ten or more. A
      warning names a column if most of its values are new, or if they occurred so rarely.
    - In a stream, ``partial_fit`` learns a category as itself from the batch on in which it
      appears, as if it had been known from the beginning. Up to 32,768 categories of a column can
      appear later. Columns most of whose values occurred once or twice in the first batch have
      none, since their values name rows.

    An array is a table of numbers, in which NaN is a missing number.

    Parameters
    ----------
    depth : int, default=3
        Largest number m of variables that a neuron sees. 1 gives a sum of functions of single
        variables.
    smooth : float, default=0.2
        Share of waves among the neurons, from 0 to 1.

    Attributes
    ----------
    cuts_ : list of (array or None)
        Midpoints between the values of each column of numbers, from at most 16,384 training rows,
        or None for categories. For dates, they count days from the median date of the first batch.
        They also count from the median for numbers that the learner's precision would not tell
        apart.

    Notes
    -----
    The learner's precision limits the codes of categories. In a column of 100,000 categories or
    more, the last categories are in fewer sets than others, unless ``dtype="float64"``. Columns
    with so many categories usually identify the rows, so leave them out.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from trickless import KitchenSinksClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"age": rng.integers(18, 80, 500), "town": rng.choice(["A", "B"], 500)})
    >>> y = (X["age"] > 40) & (X["town"] == "A")
    >>> X.loc[::10, "town"] = None
    >>> model = KitchenSinksClassifier("tabular", n_neurons=200, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    accepts_tables = True
    _any_code = True
    _by_order = True

    _rules = {
        "depth": count("depth=3 sees interactions of up to three variables"),
        "smooth": Rule(
            "a number from 0 to 1", "smooth=0.2 is the default", is_real, lambda v: 0 <= v <= 1
        ),
    }

    mixture_: Mixture
    cuts_: Annotated[
        list[Annotated[np.ndarray, Array("f4 f8", None)] | None], Length("n_features_in_")
    ]

    def __init__(self, depth: int = 3, smooth: float = 0.2) -> None:
        self.depth = depth
        self.smooth = smooth

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Self:
        super().fit(X, rng, sample_weight)
        inputs = self._known_inputs(X)
        n_rows = max(2, min(_RANK_ROWS, _RANK_VALUES // X.shape[1]))
        rows, _ = sample_rows(X, rng, n_rows, sample_weight)
        self.cuts_ = [
            None if n_categories else midpoints(np.unique(column[~np.isnan(column)]))
            for column, n_categories in zip(np.asarray(rows).T, inputs.n_categories, strict=True)
        ]
        kinds = (_Rules(self.depth), 1 - self.smooth), (_Waves(self.depth), self.smooth)
        used, shares = zip(*(pair for pair in kinds if pair[1]), strict=True)
        self.mixture_ = Mixture(list(used), list(shares))
        self.mixture_.inputs_ = inputs
        self.mixture_.fit(self._ranks(X), rng, sample_weight)
        return self

    def check_state(self) -> None:
        super().check_state()
        check_same("features of mixture_", self.mixture_.n_features_in_, self.n_features_in_)
        check_same("width", self.width, self.mixture_.width)

    def _check_weights(self, weights: Weights) -> None:
        self.mixture_._check_weights(weights)

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        return self.mixture_.draw(rng, n)

    def _last_layer(self, X: Any) -> tuple[Neurons, Any]:
        return self.mixture_, self._ranks(X)

    def activate(self, X: Any, weights: Weights) -> Any:
        return self.mixture_.activate(self._ranks(X), weights)

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        return self.mixture_.activate_pairs(self._ranks(X), weights)

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return self.mixture_.closed_form(self._ranks(X), self._ranks(Y))

    def _ranks(self, X: Any) -> Any:
        """Replace numbers by their ranks. Missing numbers stay NaN."""
        xp = namespace(X)
        every = [np.empty(0) if cuts is None else cuts for cuts in self.cuts_]
        if isinstance(X, np.ndarray):
            columns = zip(every, X.T, strict=True)
            below = np.stack([np.searchsorted(cuts.astype(X.dtype), x) for cuts, x in columns], 1)
        else:
            below = count_below(X, every)
        n = np.array([max(1, len(cuts)) for cuts in every])
        is_number = np.array([cuts is not None for cuts in self.cuts_])
        n, is_number = (xp.asarray(each, device=device(X)) for each in (n, is_number))
        rank = xp.astype(below, X.dtype) / xp.astype(n, X.dtype) * TOP  # at most TOP
        return xp.where(xp.isnan(X) | ~is_number, X, rank)


class _Terms(Neurons):
    """Neurons that see up to ``depth`` variables, each by a term t = a x + b.

    Here x is a rank, or the code of a category. With a and b uniform on (0, 1) the fractional parts
    of t are uniform, and independent for any two categories.
    """

    _doc_link_module = ""  # it has no page

    is_category_: Annotated[np.ndarray, Array("b1", "n_features_in_")]
    variables_: Annotated[np.ndarray, Array("i8", None, least=0, below="n_features_in_", some=True)]

    def __init__(self, depth: int) -> None:
        self.depth = depth

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Self:
        super().fit(X, rng, sample_weight)
        self.is_category_ = self._known_inputs(X).n_categories > 0
        xp, first = namespace(X), X[:1, :]
        differs = (first != X) & ~(xp.isnan(X) & xp.isnan(first))
        varies = to_host(xp.any(differs, axis=0))
        self.variables_ = np.flatnonzero(varies | ~varies.any())
        return self

    def _check_weights(self, weights: Weights) -> None:
        check_features(self, weights[0])

    def terms(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
        """Draw columns, and say which are categories and which are used: shapes (n, depth)."""
        columns = rng.choice(self.variables_, (n, self.depth))
        used = np.arange(self.depth) < rng.integers(1, self.depth + 1, size=(n, 1))
        return columns, self.is_category_[columns], used

    def activate(self, X: Any, weights: Weights) -> Any:
        # One row for each neuron, so that its column is picked at once for all rows of X.
        return self.respond(lambda columns: namespace(X).take(X.T, columns, axis=0), weights).T

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        rows = np.arange(len(X))
        return self.respond(lambda columns: X[rows, columns][:, None], weights)

    @abstractmethod
    def respond(self, pick: Callable[[Any], Any], weights: Weights) -> Any:
        """Compute activations of shape (n, n_rows). ``pick`` reads a column for each neuron."""

    def mean_kernel(
        self, X: np.ndarray, Y: np.ndarray, of_one: Callable[..., Any], of_terms: Callable[..., Any]
    ) -> np.ndarray:
        """Compute the kernel of neurons of 1 to ``depth`` terms, each number equally likely.

        X and Y hold ranks and codes. ``of_one(x, y)`` is the kernel of one term for two different
        ranks, or for a rank and a missing number. ``of_terms(k, m)`` is the kernel of m terms,
        where k is the kernel of one term, averaged over the variables.
        """
        k = np.zeros((len(X), len(Y)))
        for j in self.variables_:
            x, y = X[:, j, None], Y[None, :, j]
            apart = 0 if self.is_category_[j] else of_one(x, y)
            same = (x == y) | (np.isnan(x) & np.isnan(y))
            k += np.where(same, 1, apart) / len(self.variables_)
        return np.mean([of_terms(k, m) for m in range(1, self.depth + 1)], axis=0)


def _term(x: Any, slope: Any, offset: Any, missing: Any) -> Any:
    """Compute a x + b, or ``missing`` where x is missing, for x of shape (n, n_rows)."""
    xp = namespace(x)
    t = x * slope[:, None] + offset[:, None]
    gaps = xp.isnan(t)
    if isinstance(t, np.ndarray) and not gaps.any():  # a device would have to wait for this
        return t
    return xp.where(gaps, missing[:, None], t)


class _Rules(_Terms):
    """1 where up to ``depth`` conditions hold, each that frac(t) > θ, and -1 elsewhere."""

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        columns, categories, used = self.terms(rng, n)
        sign = rng.choice([-1.0, 1.0], columns.shape)
        random = rng.random((4, *columns.shape))
        slope = np.where(categories, random[0], sign)
        offset = np.where(categories, random[1], np.where(sign > 0, 0, TOP))
        threshold = np.where(categories, 0.5, random[2])
        return columns, slope, offset, random[3], np.where(used, threshold, -1)

    def respond(self, pick: Callable[[Any], Any], weights: Weights) -> Any:
        columns, slope, offset, missing, threshold = weights
        holds: Any = True
        xp = namespace(slope)
        for i in range(self.depth):
            t = _term(pick(columns[:, i]), slope[:, i], offset[:, i], missing[:, i])
            holds = (t - xp.floor(t) > threshold[:, i][:, None]) & holds
        return xp.astype(holds, slope.dtype) * 2 - 1

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        def of_one(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            u = np.where(np.isnan(x), y, x)
            return np.where(np.isnan(x + y), 2 * u * (1 - u), 1 - 2 * np.abs(x - y))

        return self.mean_kernel(X, Y, of_one, lambda k, m: 1 - 4 * 0.5**m + 4 * ((1 + k) / 4) ** m)


class _Waves(_Terms):
    """Cosine of the sum of up to ``depth`` terms, which are angles in turns."""

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        columns, categories, used = self.terms(rng, n)
        frequency = rng.standard_normal(columns.shape) * _TURNS
        random = rng.random((3, *columns.shape))
        slope = np.where(categories, random[0], frequency)
        return columns, slope * used, random[1] * used, random[2] * used

    def respond(self, pick: Callable[[Any], Any], weights: Weights) -> Any:
        columns, slope, offset, missing = weights
        t: Any = 0
        for i in range(self.depth):
            t = t + _term(pick(columns[:, i]), slope[:, i], offset[:, i], missing[:, i])
        return namespace(t).cos(2 * np.pi * t)

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        def of_one(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            return np.where(np.isnan(x + y), 0, np.exp(-2 * (np.pi * _TURNS * (x - y)) ** 2))

        return self.mean_kernel(X, Y, of_one, lambda k, m: 0.5 * k**m)

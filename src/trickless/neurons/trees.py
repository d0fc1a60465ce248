"""Trees: the leaf of a random tree that a row is in."""

from __future__ import annotations

from copy import copy
from typing import Annotated, Any, Self

import numpy as np

from trickless._arrays import loops
from trickless._arrays.loops import MOST_LEVELS
from trickless._arrays.places import namespace
from trickless._arrays.stated import Array, Size, check_count, check_same
from trickless._arrays.threads import row_blocks
from trickless._errors import InvalidValueError
from trickless._rules import AUTO, choice, either, integer, warn
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.binary import Binary
from trickless.neurons.bins import Bins
from trickless.neurons.geometry import Geometry
from trickless.neurons.levels import MISSING
from trickless.neurons.linear_leaves import LinearLeaves, covariance_of_inputs
from trickless.neurons.oblivious import Oblivious
from trickless.neurons.samples import sample_rows

#: The most rows, and values in all, from which thresholds are found.
_BIN_ROWS, _BIN_VALUES = 65_536, 32_000_000
#: Trees whose leaves are looked up together on a device, and leaves if there are few rows.
_TREES_TOGETHER, _LEAVES_TOGETHER = 16, 2**20
#: The shapes of trees.
SHAPES: dict[str, Any] = {"oblivious": Oblivious, "binary": Binary}


class Trees(Neurons):
    r"""Random trees: the indicator of the leaf that a row is in.

    .. math:: \psi(x; w) = e_\ell \in \{0, 1\}^L, \qquad
        \ell = \text{the leaf of } x \text{ in the tree } w

    There are two shapes. An oblivious tree makes the same cut in all branches of a level, so it has
    :math:`2^D` leaves. A binary tree cuts each node on its own. It can be deep where the data need
    it, and takes more time and memory.

    A cut of a column of numbers is a random threshold, uniform on at most 254 quantiles of the
    column, in which a row of weight 2 counts as two rows. A cut of a column of categories is a
    random set, which holds each category with probability 1/2. Missing values go to a random side.
    A column of more than 255 categories has several groupings of them, and a cut uses one at
    random.

    The kernel is the probability that two rows share a leaf, :math:`k(x, x') = \big( \frac{1}{d}
    \sum_j s_j(x_j, x'_j) \big)^D`, where :math:`s_j` is the probability that a cut of column j does
    not separate the two values. For two numbers, it is one minus the share of the thresholds
    between them. For two different categories, or a number and a missing value, it is 1/2. Two
    of more than 255 categories are not separated by groupings that have them in one group. The
    formula holds for both shapes, since the cuts from the root to a leaf are independent. Binary
    trees that are drawn have D full levels, as many as ``depth`` and ``max_leaves`` allow.

    With linear leaves, the activations are :math:`e_\ell` times :math:`(1, z_1, \dots, z_m)`, of
    norm :math:`\sqrt{1 + m}` at most, where z are the values of at most four columns. The kernel
    then has a second term, the mean of :math:`\sum_i z_i z_i'` over trees in which two rows share a
    leaf.

    :class:`~trickless.BoostedTreesRegressor` and :class:`~trickless.BoostedTreesClassifier` fit the
    cuts of such trees to the data, as in [4]_ if they are oblivious. Other learners draw them
    blindly, as the ferns of [1]_ and the trees of [3]_ are drawn. In between is the choice of the
    best of some random cuts [2]_. Learners with these neurons accept data frames directly, as with
    :class:`Tabular`. Categories that were not in the first batch, or rare there, count as one
    category, even if a stream has learned from them since. :class:`Tabular` learns such categories
    as themselves.

    Parameters
    ----------
    depth : int or "auto", default="auto"
        The most cuts D from the root of a tree to a leaf, from 1 to 16. An oblivious tree has
        :math:`2^D` leaves, each with a coefficient. "auto" chooses 2 to 12 cuts for oblivious
        trees, so that a leaf has 16 rows of the first batch on average, and 20 for binary trees.
        For learners other than boosted trees, it chooses at most 4, because they evaluate all
        leaves of all trees.
    shape : {"auto", "oblivious", "binary"}, default="auto"
        Whether all branches of a level share a cut, or each node has its own. With "auto", trees
        are oblivious, unless ``fit`` of boosted trees has 65,536 rows or more. It then takes binary
        trees if the first 50 of them lose at least one per cent less on held-out rows. Without
        early stopping, with ``leaves="linear"``, and with other learners, "auto" is "oblivious".
    max_leaves : int or "auto", default="auto"
        The most leaves of a binary tree, from 2 to 65,536. "auto" chooses a power of two from 4 to
        4,096, so that a leaf has at least 16 rows of the first batch on average. The ``depth`` of
        oblivious trees determines the number of their leaves.
    leaves : {"auto", "constant", "linear"}, default="auto"
        What a leaf of an oblivious tree predicts: a constant, or a linear function of the columns
        of numbers among the first four cuts of its tree. The value of a column is the mean of its
        bin, centred, and scaled to [-1, 1] over three standard deviations. Beyond the training
        rows it stays that of the outermost bin, so predictions stay bounded. With "auto", the
        ``fit`` of boosted trees learns a few trees of both kinds, and takes linear leaves if their
        loss on held-out rows is less by one per cent. Binary trees, other learners and several
        outputs have constant leaves with "auto", and so have fits without early stopping.

    Attributes
    ----------
    depth_ : int
        The most cuts from the root of a tree to a leaf.
    width : int
        The most leaves of a tree.
    bins_ : object
        Object that maps each value of the table to one byte, or one of more than 255 categories to
        up to 16 bytes. Its ``thresholds`` is a list with the thresholds of each column of numbers,
        from at most 65,536 training rows.

    References
    ----------
    .. [1] M. Özuysal, M. Calonder, V. Lepetit and P. Fua, "Fast keypoint recognition using random
       ferns", IEEE TPAMI 32(3), 2010 (random oblivious trees).
    .. [2] P. Geurts, D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning
       63(1), 2006 (the best of some random cuts; LightGBM has it as ``extra_trees``).
    .. [3] M. Balog, B. Lakshminarayanan, Z. Ghahramani, D. M. Roy and Y. W. Teh, "The Mondrian
       kernel", UAI 2016 (a kernel that random trees make).
    .. [4] L. Prokhorenkova, G. Gusev, A. Vorobev, A. V. Dorogush and A. Gulin, "CatBoost: unbiased
       boosting with categorical features", NeurIPS 2018 (boosting of oblivious trees).

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from trickless import BoostedTreesClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"age": rng.integers(18, 80, 500), "town": rng.choice(["A", "B"], 500)})
    >>> y = (X["age"] > 40) & (X["town"] == "A")
    >>> X.loc[::10, "town"] = None
    >>> model = BoostedTreesClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    accepts_tables = True
    _by_order = True
    _one_hot = True

    _rules = {
        "depth": either(integer(1, "depth=6 has 64 leaves a tree", MOST_LEVELS), AUTO),
        "shape": choice("auto", *SHAPES, remedy="shape='auto' suits most tables"),
        "leaves": choice("auto", "constant", "linear", remedy="leaves='auto' takes the better"),
        "max_leaves": either(integer(2, "max_leaves=256", 2**MOST_LEVELS), AUTO),
    }
    bins_: Bins
    depth_: Size
    variables_: Annotated[np.ndarray, Array("i8", None, least=0, below="n_features_in_", some=True)]
    shape_: str = "oblivious"
    #: The inputs of linear leaves. None if leaves are constant.
    linear_: LinearLeaves | None = None
    # The inputs that a race between constant and linear leaves may take.
    spare_: LinearLeaves | None = None

    def __init__(
        self,
        depth: int | str = "auto",
        shape: str = "auto",
        max_leaves: int | str = "auto",
        leaves: str = "auto",
    ) -> None:
        self.depth = depth
        self.shape = shape
        self.max_leaves = max_leaves
        self.leaves = leaves

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Self:
        super().fit(X, rng, sample_weight)
        rows, weight = sample_rows(X, rng, most_rows(X.shape[1]), sample_weight)
        self.bins_ = Bins(np.asarray(rows), self._known_inputs(X).n_categories, weight)
        missing = self.bins_(rows)[:, : X.shape[1]] == MISSING
        some_missing = missing.any(axis=0) & ~missing.all(axis=0)
        varies = (self.bins_.counts[: X.shape[1]] > 1) | some_missing
        if not varies.any():
            warn(
                "Trees: no column of X varies, so all rows share all leaves, and the model is a "
                "constant. Remedy: pass columns with different values."
            )
        self.variables_ = np.flatnonzero(varies | ~varies.any())
        self.linear_ = self.spare_ = None
        self.shape_ = "binary" if self.shape == "binary" else "oblivious"  # until a race
        if self.leaves == "linear" and self.shape == "binary":
            raise InvalidValueError(
                f"{type(self).__name__}: leaves='linear' with shape='binary', but only leaves of "
                "oblivious trees can be linear",
                "leaves='constant', or shape='oblivious'",
            )
        if self.leaves != "constant" and self.shape != "binary":
            self.spare_ = LinearLeaves(np.asarray(rows), self.bins_, weight)
        if self.leaves == "linear":
            self.linear_, self.spare_ = self.spare_, None
        self._set_depth(X.shape[0])
        return self

    def with_linear_leaves(self) -> Trees | None:
        """Return the same trees with linear leaves, or None if ``leaves`` or columns forbid it."""
        if self.spare_ is None or not self.spare_.n_inputs(self.depth_):
            return None
        other = copy(self)
        other.linear_, other.spare_ = self.spare_, None
        other.width = self.geometry.width * (1 + other.n_inputs)
        other.bound = (1 + other.n_inputs) ** 0.5
        return other

    def as_binary(self, n_rows: int) -> Trees | None:
        """Return binary trees on the same bins, or None if leaves must be linear."""
        if self.leaves == "linear":
            return None
        other = copy(self)
        other.shape_, other.linear_, other.spare_ = "binary", None, None
        other._set_depth(n_rows)
        return other

    def importances(self, wins: np.ndarray) -> np.ndarray:
        """Return the share of each feature in cuts that were counted by ``cuts_by_feature``."""
        return wins / wins.sum()

    @property
    def n_inputs(self) -> int:
        """The most columns that a leaf is linear in."""
        return 0 if self.linear_ is None else self.linear_.n_inputs(self.depth_)

    @property
    def _n_nonzero(self) -> int:  # type: ignore[override]
        """The leaf of a row, and the inputs of its linear function."""
        return 1 + (self.n_inputs if hasattr(self, "depth_") else 0)

    def check_state(self) -> None:
        super().check_state()
        if self.shape_ not in SHAPES:
            raise ValueError(f"shape_: {self.shape_!r} is not a shape of trees")
        check_same("features of bins_", self.bins_.n_features, self.n_features_in_)
        for name in ("linear_", "spare_"):
            if (linear := getattr(self, name)) is not None:
                check_same(f"columns of {name}", len(linear.steps), len(self.bins_.counts))
        check_count("depth_", self.depth_, 1, SHAPES[self.used_shape].deepest)
        if self.linear_ is not None and self.used_shape != "oblivious":
            raise ValueError("linear_: only leaves of oblivious trees are linear")
        check_same("inputs of leaves in width", self.width % (1 + self.n_inputs), 0)
        self.geometry.check_size()
        of_code = self.bins_.of_code[: self.n_features_in_]
        codes = [0 if codes is None else len(codes) for codes in of_code]
        n_categories = self._known_inputs(np.empty((0, self.n_features_in_))).n_categories
        check_same("numbers of codes in bins_", codes, n_categories.tolist())

    def _check_weights(self, weights: Weights) -> None:
        self.geometry.check(weights, len(self.bins_.counts))

    @property
    def geometry(self) -> Geometry:
        """The shape of the trees, with its size."""
        return SHAPES[self.used_shape](self.depth_, self.width // (1 + self.n_inputs))

    @property
    def used_shape(self) -> str:
        """The shape of the trees in use, "oblivious" or "binary"."""
        return self.shape if self.shape in SHAPES else self.shape_

    def _set_depth(self, n_rows: int, deepest: int | None = None) -> None:
        if self.shape in ("auto", "oblivious") and self.max_leaves != "auto":
            raise InvalidValueError(
                f"{type(self).__name__}: max_leaves={self.max_leaves!r} with shape={self.shape!r}, "
                "but oblivious trees have 2^depth leaves",
                "shape='binary', or depth instead of max_leaves",
            )
        geometry = SHAPES[self.used_shape].sized(self.depth, self.max_leaves, n_rows, deepest)
        self.depth_ = geometry.depth
        self.bound = (1 + self.n_inputs) ** 0.5
        self.width = geometry.width * (1 + self.n_inputs)

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        return self.geometry.draw(rng, n, self.variables_, self.bins_)

    def _read(self, X: Any, n_jobs: int | None = None) -> Any:
        if _are_bins(X):
            return X
        return self.filled(self.bins_(X, n_jobs))

    def filled(self, bins: Any) -> Any:
        """Return bins (n_rows, n_columns) with gaps as linear leaves read them."""
        return bins if self.linear_ is None else self.linear_.filled(namespace(bins), bins)

    def activate(self, X: Any, weights: Weights) -> Any:
        xp = namespace(X)
        leaf = self.geometry.leaves_on_device(xp, self._read(X), weights)
        n_rows, n = leaf.shape
        numbers = xp.arange(self.geometry.width, device=leaf.device)
        hot = leaf[:, None, :] == numbers[None, :, None]
        dtype = xp.float32 if _are_bins(X) else X.dtype
        hot = xp.astype(hot, dtype)
        if self.linear_ is not None:
            inputs = self.linear_.everywhere(xp, self._read(X), weights, dtype)
            hot = inputs[:, :, None, :] * hot[:, None, :, :]
        return xp.reshape(hot, (n_rows, self.width * n))

    def leaf_numbers(self, X: Any, weights: Weights) -> np.ndarray:
        """Find the leaf of each row in each tree, shape (n_rows, n)."""
        if not isinstance(X, np.ndarray):
            return self.geometry.leaves_on_device(namespace(X), self._read(X), weights)
        bins = self._read(X).T
        leaf = list(self.geometry.leaves(bins, weights))
        return np.stack(leaf, axis=1) if leaf else np.empty((bins.shape[1], 0), dtype=np.intp)

    def _nonzeros(self, X: np.ndarray, weights: Weights) -> tuple[np.ndarray, np.ndarray]:
        """Find the leaf of each row in each tree, and the values of its activations."""
        bins = self._read(X)
        leaf = self.leaf_numbers(bins, weights)[..., None]
        if self.linear_ is None:
            return leaf, np.ones(leaf.shape)
        numbers = leaf + self.geometry.width * np.arange(1 + self.n_inputs)
        inputs = self.linear_.everywhere(np, bins, weights, np.float64)
        return numbers, inputs.swapaxes(1, 2)

    def _combine(self, X: Any, weights: Weights, coef: Any) -> Any:
        if not isinstance(X, np.ndarray):
            return self._gathered(X, weights, coef)
        bins = self._read(X).T
        if self.linear_ is None:
            return self.geometry.combine(bins, weights, coef)
        self._check_weights(weights)
        parts = coef.reshape(len(coef), 1 + self.n_inputs, self.geometry.width, coef.shape[2])
        columns, sets = weights
        return loops.combine(bins, columns, sets, parts, self.linear_.of_bins())

    def _gathered(self, X: Any, weights: Weights, coef: Any) -> Any:
        """Compute ``combine`` on any device, a few trees at a time."""
        xp, bins, (n, width, n_outputs) = namespace(coef), self._read(X), coef.shape
        flat = xp.reshape(coef, (n * width, n_outputs))
        total = xp.zeros((X.shape[0], n_outputs), dtype=coef.dtype, device=coef.device)
        for some in row_blocks(n, max(_TREES_TOGETHER, _LEAVES_TOGETHER // max(1, X.shape[0]))):
            few = tuple(array[some, ...] for array in weights)
            first = xp.arange(some.start, some.stop, device=coef.device) * width
            leaf = self.geometry.leaves_on_device(xp, bins, few) + first
            inputs: Any = None
            if self.linear_ is not None:
                inputs = self.linear_.everywhere(xp, bins, few, coef.dtype)
            for i in range(1 + self.n_inputs):
                where = xp.reshape(leaf + i * self.geometry.width, (-1,))
                values = xp.reshape(xp.take(flat, where, axis=0), (*leaf.shape, n_outputs))
                total += xp.sum(values if i == 0 else values * inputs[:, i, :, None], axis=1)
        return total

    def cuts_by_feature(self, weights: Weights) -> np.ndarray:
        """Count the cuts of each feature, except cuts that send all rows to the left."""
        return self.geometry.cuts_by_feature(weights, self.bins_)

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        bins = np.asarray(self._read(X))
        leaf = self.geometry.leaves_of_pairs(bins, weights)
        hot = (leaf[:, None] == np.arange(self.geometry.width)).astype(X.dtype)
        if self.linear_ is None:
            return hot
        rows = np.arange(len(bins))
        inputs = self.linear_.everywhere(np, bins, weights, X.dtype)[rows, :, rows]
        return (inputs[:, :, None] * hot[:, None, :]).reshape(len(bins), self.width)

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        B, C = self._read(X), self._read(Y)
        of_features = np.zeros(self.n_features_in_)
        of_features[self.variables_] = 1 / len(self.variables_)
        shares = self.bins_.spread(of_features)
        together = np.zeros((len(shares), len(B), len(C)))
        for j in np.flatnonzero(shares):
            x, y = B[:, j, None].astype(int), C[None, :, j].astype(int)
            apart: Any = 0.5
            if self.bins_.of_code[j] is None:
                between = np.abs(x - y) / max(self.bins_.counts[j] - 1, 1)
                apart = np.where((x == 0) | (y == 0), 0.5, 1 - between)
            together[j] = shares[j] * np.where(x == y, 1, apart)
        n_levels = self.geometry.n_levels
        kernel = together.sum(axis=0) ** n_levels
        if self.linear_ is not None:
            kernel += covariance_of_inputs(self.linear_, B, C, together, n_levels)
        return kernel


def most_rows(n_features: int) -> int:
    """Return the most rows from which thresholds are found."""
    return max(2, min(_BIN_ROWS, _BIN_VALUES // n_features))


def _are_bins(X: Any) -> bool:
    """Return whether rows are bins already. Validated rows are never bytes."""
    if isinstance(X, np.ndarray):
        return X.dtype == np.uint8
    return str(X.dtype).endswith("uint8")

"""Landmarks: the kernel of another family between a row and a random training row."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse

from trickless._arrays.places import to_device_of, to_host
from trickless._arrays.sparse import Matrix, parts_of
from trickless._arrays.stated import Array, check_array, check_count
from trickless._arrays.weighted import at_shares
from trickless._errors import InvalidValueError
from trickless._rules import NONE, anything, check_value, choice, count, either
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.composed import FAMILY, Composed
from trickless.neurons.isotropic import Gaussian, Isotropic
from trickless.neurons.nystroem import Basis, random_pivots
from trickless.neurons.samples import sample_numbers, sample_rows

#: The most rows, and the most numbers in these rows, that landmarks are drawn from.
_ROWS, _VALUES = 16_384, 4_000_000
#: The mean of the kernel is taken between 100 rows, at these shares of the total weight. The shares
#: are evenly spaced, and do not fall between two rows for likely numbers of rows.
_EVENLY = (np.arange(100) + 0.381966) / 100
#: The most numbers of the factor by which landmarks are chosen.
_PIVOTED = 2**22
#: The default kernel.
_GAUSSIAN = Gaussian()


def _is_matrix(value: Any) -> bool:
    """Return whether this is a matrix of finite numbers, dense or sparse, with rows."""
    numbers = value.data if issparse(value) else value
    if not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in "fiu":
        return False
    return len(value.shape) == 2 and value.shape[0] > 0 and bool(np.isfinite(numbers).all())


class Landmarks(Composed):
    r"""The kernel of a family at a random training row, the landmark, minus a constant.

    .. math:: \psi(x; z) = k_1(x, z) - c, \quad z \sim \hat{P}, \qquad
        k(x, x') = \sum_i p_i \, (k_1(x, z_i) - c) \, (k_1(x', z_i) - c)

    Here :math:`\hat{P}` is the distribution of the training rows :math:`z_i`, with probabilities
    :math:`p_i` in proportion to their weights. The constant c is the mean of :math:`k_1` between
    them. A fit of n neurons is a sum of kernels at n landmarks, as in Nyström's method [1]_. Here,
    however, the regulariser is the sum of squares of the coefficients, and not the norm in the
    space of the kernel.

    With ``n_points`` or ``points``, the landmarks are fixed and the kernels at them are made
    orthonormal, so that the sum of squares is this norm:

    .. math:: \psi(x; j) = \sqrt m \, \big(L^{-1} (k_1(z_1, x), \dots, k_1(z_m, x))\big)_j, \qquad
        k(x, x') = k_1(x, Z) \, k_1(Z, Z)^{-1} \, k_1(Z, x')

    Here L is the Cholesky factor of the kernel matrix :math:`k_1(Z, Z)` of the m landmarks. A
    learner's neurons are then j = 1, 2, ..., m in this order, and again from 1 if it has more;
    Kitchen Sinks and ``RandomFeatures`` use no more than m. With m neurons it is Nyström's method,
    as in :class:`sklearn.kernel_approximation.Nystroem`, whose columns are a rotation of these.
    With fewer neurons, it is Nyström's method with as many landmarks, up to a factor of the kernel.
    In a :class:`Mixture` or a product of families, the functions are drawn at random.

    Landmarks lie where the data lie, so a few hundred of them often describe more than as many
    cosines. Each landmark is compared with a row feature by feature, however, so thousands of
    landmarks take longer than cosines.

    Parameters
    ----------
    neurons : Neurons, default=Gaussian()
        Family of the kernel :math:`k_1`, which must have a closed form. Its neurons are never
        drawn. Sparse rows need a kernel of the Euclidean distance: :class:`Gaussian`,
        :class:`Laplace`, :class:`Matern` or :class:`RationalQuadratic`.
    points : array or CSR matrix of shape (n_given, n_features), optional
        Your own landmarks, in the columns that the family sees. Default: training rows. Length
        scales and ranks always come from training rows.
    n_points : int, optional
        The number m of fixed landmarks, and a good ``n_neurons`` for the learner. There are fewer
        if there are fewer distinct rows. Default: all of ``points``, or no fixed landmarks without
        ``points``.
    selection : {"uniform", "rpcholesky"}, default="uniform"
        How ``n_points`` landmarks are chosen from ``points``, or from training rows.

        - "uniform" draws them in proportion to their weights, without replacement.
        - "rpcholesky" is randomly pivoted Cholesky [2]_. It prefers rows that earlier landmarks
          represent badly, and needs fewer landmarks for the same error of the kernel where rows are
          clustered. It takes time of order m² times the number of rows it chooses from.

    Attributes
    ----------
    rows_ : array or CSR matrix of shape (n_rows, n_features)
        Training rows from which landmarks are drawn with replacement: at most 16,384 rows, and at
        most 4,000,000 numbers in all. Of sparse rows, only stored numbers count.
    row_weights_ : array of shape (n_rows,)
        Probability of each of these rows.
    mean_ : float
        Constant c, the mean over 100 of these rows. A model with an intercept can express the same
        functions without it. With a long length scale, however, the kernel is nearly constant.
        Without c, single precision would lose its differences, and descent would be slow.
    basis_ : Basis
        The fixed landmarks ``basis_.points`` in order, and ``basis_.inverse``, which is L⁻¹.
    bound : float
        Square of the family's bound, which bounds its kernel, plus the absolute value of c. With
        fixed landmarks, the family's bound times √m.

    References
    ----------
    .. [1] C. K. I. Williams and M. Seeger, "Using the Nyström method to speed up kernel machines",
       NIPS 2000.
    .. [2] Y. Chen, E. N. Epperly, J. A. Tropp and R. J. Webber, "Randomly pivoted Cholesky:
       practical approximation of a kernel matrix with few entry evaluations", Communications on
       Pure and Applied Mathematics 78, 2025, Algorithm 1.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from trickless import KitchenSinksClassifier
    >>> from trickless.neurons import Landmarks, Laplace1
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = KitchenSinksClassifier(Landmarks(Laplace1()), n_neurons=30, random_state=0)
    >>> bool(model.fit(X, y).score(X, y) > 0.95)
    True
    """

    _rules = {
        "neurons": FAMILY,
        "points": either(
            anything("a matrix of finite numbers", "points=X[:100], say", _is_matrix), NONE
        ),
        "n_points": either(count("n_points=1000, with n_neurons=1000"), NONE),
        "selection": choice(
            "uniform", "rpcholesky", remedy="selection='uniform' draws random rows"
        ),
    }

    rows_: Annotated[Any, Matrix("n_rows", "n_features_in_", some=True)]
    row_weights_: Annotated[np.ndarray, Array("f8", "n_rows", least=0)]
    mean_: float

    def __init__(
        self,
        neurons: Neurons = _GAUSSIAN,
        points: Any = None,
        *,
        n_points: int | None = None,
        selection: str = "uniform",
    ) -> None:
        self.neurons = neurons
        self.points = points
        self.n_points = n_points
        self.selection = selection

    @property
    def accepts_sparse(self) -> bool:  # type: ignore[override]
        """Whether the kernel depends on the Euclidean distance, which is quick for sparse rows."""
        return isinstance(self.neurons, Isotropic)

    @property
    def independent(self) -> bool:
        """Whether landmarks are drawn independently, even if the family's neurons are not."""
        return not self._fixed

    @property
    def _n_given(self) -> int | None:  # type: ignore[override]
        """The number of fixed landmarks, once they are chosen."""
        return self.basis_.size if self._fixed and hasattr(self, "_places") else None

    @property
    def _fixed(self) -> bool:
        return self.n_points is not None or self.points is not None

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Self:
        owner = type(self).__name__
        check_value(owner, "points", self.points, self._rules["points"])
        if self.selection != "uniform" and not self._fixed:
            raise InvalidValueError(
                f"{owner}: selection={self.selection!r} chooses fixed landmarks, but n_points=None "
                "does not say how many",
                "n_points=1000, with n_neurons=1000",
            )
        given = X if self.points is None else _like(owner, self.points, X)
        each = max(1, given.nnz // given.shape[0]) if issparse(given) else given.shape[1]
        n_rows = max(1, min(_ROWS, _VALUES // each))
        if self.points is not None and self.n_points is None:
            n_rows = given.shape[0]
        if self.points is None:
            rows, weight = sample_rows(X, rng, n_rows, sample_weight)
        else:
            numbers, weight = sample_numbers(given.shape[0], rng, n_rows)
            rows = given[numbers]
        self.rows_ = rows.copy() if issparse(given) else np.array(rows)
        self.row_weights_ = weight / weight.sum()
        if self._fixed:
            self._seed = int(rng.integers(2**32))
        super().fit(X, rng, sample_weight)
        return self

    def check_state(self) -> None:
        super().check_state()
        if self._fixed:
            check_count("_seed", self._seed, 0)

    def _check_weights(self, weights: Weights) -> None:
        (landmarks,) = weights
        if self._fixed:
            check_array("stored landmarks", landmarks, "i8", (None,), 0, self.basis_.size)
        elif issparse(self.rows_):
            check_array("stored landmarks", landmarks, "i8", (None,), 0, self.rows_.shape[0])
        else:
            check_array("stored landmarks", landmarks, "f4 f8", (None, self.n_features_in_))

    def _wide(self) -> int:
        return 1

    def _measure(self) -> None:
        (part,) = self.parts_
        _check_closed_form(type(self).__name__, part, self.rows_[:1])
        rows = self.rows_[at_shares(self.row_weights_, _EVENLY)].astype(np.float64)
        self.mean_ = float(part.closed_form(rows, rows).mean())
        self.bound = float(part.bound**2 + abs(self.mean_))
        if self._fixed:
            self.__dict__.pop("basis_", None)  # of another part
            most = self.rows_.shape[0] if self.n_points is None else self.n_points
            self.bound = float(part.bound * np.sqrt(min(most, self.rows_.shape[0])))

    @cached_property
    def basis_(self) -> Basis:
        """The fixed landmarks, chosen when they are first needed."""
        (part,) = self.parts_
        return Basis.of(self.rows_[self._chosen(part)], part.closed_form)

    def _chosen(self, part: Neurons) -> np.ndarray:
        """Return the indices of the fixed landmarks among the rows, in order."""
        if self.n_points is None:
            return np.arange(self.rows_.shape[0])
        first, weight = _distinct(self.rows_, self.row_weights_)
        n, rng = len(first), np.random.Generator(np.random.SFC64(self._seed))
        m = min(self.n_points, n)
        if self.selection == "uniform":
            return first[rng.choice(n, m, replace=False, p=weight)]
        some = np.sort(rng.choice(n, min(n, max(m, _PIVOTED // m)), replace=False))
        rows, weight = self.rows_[first[some]], weight[some]
        return first[some[random_pivots(rows, weight, m, part.closed_form, rng)]]

    def _draw_from(self, start: int, rng: np.random.Generator, n: int) -> Weights:
        if not self._fixed:
            return self.draw(rng, n)
        return ((start + np.arange(n)) % self.basis_.size,)

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        if self._fixed:
            rounds = range(-(-n // self.basis_.size))
            each = [rng.permutation(self.basis_.size) for _ in rounds]
            return (np.concatenate([*each, np.empty(0, dtype=int)])[:n],)
        index = at_shares(self.row_weights_, rng.random(n))
        return (index,) if issparse(self.rows_) else (self.rows_[index],)

    def activate(self, X: Any, weights: Weights) -> Any:
        (landmarks,) = weights
        rows, landmarks = to_host(X), to_host(landmarks)
        if self._fixed:
            values = self.basis_(rows.astype(np.float64), landmarks, self.parts_[0].closed_form)
            values = (values * np.sqrt(self.basis_.size)).astype(rows.dtype, copy=False)
            return values if issparse(X) else to_device_of(X, values)
        if issparse(self.rows_):
            landmarks = self.rows_[landmarks]
        values = self._values(rows.astype(np.float64), landmarks.astype(np.float64))
        values = values.astype(rows.dtype, copy=False)
        return values if issparse(X) else to_device_of(X, values)

    def _values(self, X: np.ndarray, landmarks: np.ndarray) -> np.ndarray:
        """Compute the kernel minus c, in double precision because the difference loses digits."""
        return self.parts_[0].closed_form(X, landmarks) - self.mean_

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        if self._fixed:
            every, kernel = np.arange(self.basis_.size), self.parts_[0].closed_form
            return self.basis_(X, every, kernel) @ self.basis_(Y, every, kernel).T
        rows = self.rows_.astype(np.float64)
        return (self._values(X, rows) * self.row_weights_) @ self._values(Y, rows).T


def _distinct(rows: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of distinct rows, and the sums of their weights."""
    index: dict[bytes, int] = {}
    if issparse(rows):
        data, columns, ends = parts_of(rows)
        each = (slice(*pair) for pair in pairwise(ends))
        numbers = (np.concatenate([columns[row], data[row]]) for row in each)
    else:
        numbers = iter(rows + 0.0)  # −0.0 as 0.0
    which = np.array([index.setdefault(row.tobytes(), len(index)) for row in numbers])
    return np.unique(which, return_index=True)[1], np.bincount(which, weight)


def _like(owner: str, points: Any, X: Any) -> Any:
    """Return landmarks that a user gives, in the form and the precision of the rows."""
    if points.shape[1] != X.shape[1]:
        raise InvalidValueError(
            f"{owner}: points has {points.shape[1]} columns, but the rows have {X.shape[1]}",
            "the same columns as in X, after categories became codes",
        )
    if issparse(X):
        return csr_array(points, dtype=X.dtype)
    dense = points.toarray() if issparse(points) else np.asarray(points)
    return dense.astype(to_host(X[:1]).dtype)


def _check_closed_form(owner: str, part: Any, rows: np.ndarray) -> None:
    try:
        part.closed_form(rows, rows)
    except NotImplementedError as error:
        raise InvalidValueError(
            f"{owner}: neurons={part!r} has no closed-form kernel, but Landmarks needs one to "
            "compare rows",
            "a family that has one, such as Laplace1() or Gaussian()",
        ) from error

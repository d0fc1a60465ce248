"""Landmarks: the kernel of another family between a row and a random training row."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from trickless.arrays.places import to_device_of, to_host
from trickless.arrays.sparse import check_rows
from trickless.arrays.stated import check_array, check_count, check_is
from trickless.arrays.weighted import at_shares
from trickless.errors import InvalidValueError
from trickless.neurons.base import Neurons, Weights, sample_rows
from trickless.neurons.composed import FAMILY, Composed
from trickless.neurons.isotropic import Gaussian, Isotropic

#: The most rows, and the most numbers in these rows, that landmarks are drawn from.
_ROWS, _VALUES = 16_384, 4_000_000
#: The mean of the kernel is taken between 100 rows, at these shares of the total weight. The shares
#: are evenly spaced, and do not fall between two rows for likely numbers of rows.
_EVENLY = (np.arange(100) + 0.381966) / 100
#: The default kernel.
_GAUSSIAN = Gaussian()


class Landmarks(Composed):
    r"""The kernel of a family at a random training row, the landmark, minus a constant.

    .. math:: \psi(x; z) = k_1(x, z) - c, \quad z \sim \hat{P}, \qquad
        k(x, x') = \sum_i p_i \, (k_1(x, z_i) - c) \, (k_1(x', z_i) - c)

    Here :math:`\hat{P}` is the distribution of the training rows :math:`z_i`, with probabilities
    :math:`p_i` in proportion to their weights. The constant c is the mean of :math:`k_1` between
    them. A fit of n neurons is a sum of kernels at n landmarks, as in Nyström's method [1]_. Here,
    however, the regulariser is the sum of squares of the coefficients, and not the norm in the
    space of the kernel.

    Landmarks lie where the data lie, so a few hundred of them often describe more than as many
    cosines. Each landmark is compared with a row feature by feature, however, so thousands of
    landmarks take longer than cosines.

    Parameters
    ----------
    neurons : Neurons, default=Gaussian()
        Family of the kernel :math:`k_1`, which must have a closed form. Its neurons are never
        drawn. Sparse rows need a kernel of the Euclidean distance: :class:`Gaussian`,
        :class:`Laplace`, :class:`Matern` or :class:`RationalQuadratic`.

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
    bound : float
        Square of the family's bound, which bounds its kernel, plus the absolute value of c.

    References
    ----------
    .. [1] C. K. I. Williams and M. Seeger, "Using the Nyström method to speed up kernel machines",
       NIPS 2000.

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

    _rules = {"neurons": FAMILY}

    def __init__(self, neurons: Neurons = _GAUSSIAN) -> None:
        self.neurons = neurons

    @property
    def accepts_sparse(self) -> bool:  # type: ignore[override]
        """Whether the kernel depends on the Euclidean distance, which is quick for sparse rows."""
        return isinstance(self.neurons, Isotropic)

    @property
    def independent(self) -> bool:
        """True, because landmarks are independent even if the family's neurons are not."""
        return True

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Landmarks:
        each = max(1, X.nnz // X.shape[0]) if issparse(X) else X.shape[1]
        n_rows = max(1, min(_ROWS, _VALUES // each))
        rows, weight = sample_rows(X, rng, n_rows, sample_weight)
        self.rows_ = rows.copy() if issparse(X) else np.array(rows)
        self.row_weights_ = weight / weight.sum()
        super().fit(X, rng, sample_weight)
        return self

    def check_state(self) -> None:
        super().check_state()
        if hasattr(self, "_places"):
            check_rows("rows_", self.rows_, None, self.n_features_in_)
            n_rows = self.rows_.shape[0]
            check_count("number of rows_", n_rows, 1)
            check_array("row_weights_", self.row_weights_, "f8", (n_rows,), 0)
            check_is("mean_", self.mean_, float)

    def check_weights(self, weights: Weights) -> None:
        (landmarks,) = weights
        if issparse(self.rows_):
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

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        index = at_shares(self.row_weights_, rng.random(n))
        return (index,) if issparse(self.rows_) else (self.rows_[index],)

    def activate(self, X: Any, weights: Weights) -> Any:
        (landmarks,) = weights
        rows, landmarks = to_host(X), to_host(landmarks)
        if issparse(self.rows_):
            landmarks = self.rows_[landmarks]
        values = self._values(rows.astype(np.float64), landmarks.astype(np.float64))
        values = values.astype(rows.dtype, copy=False)
        return values if issparse(X) else to_device_of(X, values)

    def _values(self, X: np.ndarray, landmarks: np.ndarray) -> np.ndarray:
        """Compute the kernel minus c, in double precision because the difference loses digits."""
        return self.parts_[0].closed_form(X, landmarks) - self.mean_

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        rows = self.rows_.astype(np.float64)
        return (self._values(X, rows) * self.row_weights_) @ self._values(Y, rows).T


def _check_closed_form(owner: str, part: Any, rows: np.ndarray) -> None:
    try:
        part.closed_form(rows, rows)
    except NotImplementedError as error:
        raise InvalidValueError(
            f"{owner}: neurons={part!r} has no closed-form kernel, but Landmarks needs one to "
            "compare rows",
            "a family that has one, such as Laplace1() or Gaussian()",
        ) from error

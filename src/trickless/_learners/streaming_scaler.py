"""Standardisation of columns whose mean and scale drift."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_array as check_matrix
from sklearn.utils.validation import check_is_fitted, validate_data

from trickless._arrays.likes import ArrayLike, MatrixLike
from trickless._arrays.missing import unmasked
from trickless._arrays.places import to_host
from trickless._arrays.stated import Stated, Things, check_same
from trickless._arrays.states import in_one_state
from trickless._docstrings import completed_by, documented, pages
from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._learners.arguments import LEARNING
from trickless._learners.row_ages import age, merge_clocks
from trickless._learners.training_copy import training_copy
from trickless._rows.frames import check_frame
from trickless._rows.weights import check_weights
from trickless._rules import Rule, boolean, with_remedies
from trickless._solvers.clock import HALF_LIFE, Clock
from trickless._solvers.moments import ColumnMoments


@documented
class StreamingScaler(OneToOneFeatureMixin, TransformerMixin, Stated, BaseEstimator):
    r"""Standardise columns of a stream by their recent mean and standard deviation.

    A value x becomes :math:`(x - m) / s`, with the weighted mean m and standard deviation s of its
    column. With a half-life h, a row that is followed by :math:`a` others has the weight
    :math:`2^{-a / h}`. Missing values (NaN) are left out of both, and stay missing. A constant
    column is centred and not scaled. Mean and standard deviation are updated batch by batch [1]_
    [2]_.

    Outliers do no harm: a value beyond :math:`m \pm 5 s` counts as this bound [3]_. As long as
    there is none, m and s are the plain mean and standard deviation up to rounding, the same for
    batches of any size, and without a half-life those of scikit-learn's ``StandardScaler``.

    Parameters
    ----------
    half_life : float, timedelta or None, default=None
        How long a row counts for half, as for :class:`~trickless.KitchenSinksRegressor`: a number
        of later rows, or with ``timestamps`` a span in their unit. None forgets nothing.
    with_mean : bool, default=True
        Whether to subtract the mean.
    with_std : bool, default=True
        Whether to divide by the standard deviation.

    Attributes
    ----------
    mean_, var_ : arrays of shape (n_features,)
        Weighted mean and variance of each column, of clipped values. NaN as long as it has no
        value.
    scale_ : array of shape (n_features,) or None
        What columns are divided by: the square root of ``var_``, or 1 for a constant column. None
        if ``with_std=False``.
    n_samples_seen_ : float or array of shape (n_features,)
        Sum of the weights of the values of each column, which is the number of rows if nothing is
        forgotten. It is one number if it is the same for all columns.
    n_features_in_ : int
        Number of columns.

    See Also
    --------
    KitchenSinksRegressor : Ridge regression on random neurons, which forgets by a half-life, too.

    Notes
    -----
    **In a stream.** Learn each batch before you transform it: its own rows are then among those
    that give the scale. No targets are used, so errors on new rows stay errors on new rows.

    **Outliers.** Bounds follow from all rows up to the end of a batch, or of 4,096 rows of it. One
    outlier among n rows multiplies the variance by :math:`1 / (1 - 25 / n)` at most, and a share of
    :math:`\varepsilon` by :math:`1 / (1 - 25 \varepsilon)`. If values beyond the bound have about
    4% of the weight or more, they count in full: they are no exception, and a change of scale is
    thus followed within a fifth of a half-life. They also count in full in the first 26 rows, and
    where all other values are equal, as in the counts of a rare event. Begin with a batch of 50
    rows or more if you can. Values themselves are not clipped by ``transform``.

    **With Kitchen Sinks.** The family of Kitchen Sinks takes its length scale from the first batch,
    which suits later rows only if they have the same scale. If the scale drifts, let the scaler
    forget as fast as the learner, or more slowly. Sums over earlier rows were taken at earlier
    scales, and fade at the learner's half-life. A scaler that forgets much faster would change the
    meaning of the columns under these sums.

    References
    ----------
    .. [1] D. H. D. West, "Updating mean and variance estimates: an improved method",
       Communications of the ACM 22, 1979.
    .. [2] T. F. Chan, G. H. Golub and R. J. LeVeque, "Algorithms for computing the sample variance:
       analysis and recommendations", The American Statistician 37, 1983.
    .. [3] P. J. Huber, "Robust estimation of a location parameter", Annals of Mathematical
       Statistics 35, 1964, Proposal 2.

    Examples
    --------
    Rows whose scale grows a thousandfold:

    >>> import numpy as np
    >>> from trickless import KitchenSinksRegressor, StreamingScaler
    >>> from trickless.neurons import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> scaler = StreamingScaler(half_life=500)
    >>> model = KitchenSinksRegressor(
    ...     Gaussian(1.0), n_neurons=100, half_life=500, random_state=0
    ... )
    >>> for scale in np.geomspace(1, 1000, 50):
    ...     X = rng.standard_normal((100, 2))
    ...     Z = scaler.partial_fit(scale * X).transform(scale * X)
    ...     model = model.partial_fit(Z, np.sin(X[:, 0]))
    >>> bool(model.score(Z, np.sin(X[:, 0])) > 0.95)
    True
    """

    _doc_link_module = "trickless"
    _doc_link_template = pages()
    #: Remedy if memory is too small.
    _smaller = "fewer rows at a time"
    _rules: dict[str, Rule] = {
        "half_life": HALF_LIFE,
        "with_mean": boolean("with_mean=False does not move columns"),
        "with_std": boolean("with_std=False only centres columns"),
    }

    _clock_: Clock | None = None
    moments_: ColumnMoments
    n_features_in_: Things

    def __init__(
        self, half_life: Any = None, *, with_mean: bool = True, with_std: bool = True
    ) -> None:
        self.half_life = half_life
        self.with_mean = with_mean
        self.with_std = with_std

    @completed_by(LEARNING)
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        timestamps: ArrayLike | None = None,
    ) -> Self:
        """Compute the mean and standard deviation of each column, and forget earlier batches.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Numbers, of which some may be missing, in the order of the stream.
        y : array, optional
            Ignored. It is here for scikit-learn's interface.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows, besides those of their age.
        """
        with training_copy(self, _is_fitted) as new:
            new._learn(X, sample_weight, timestamps)
        return self

    @completed_by(LEARNING)
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        timestamps: ArrayLike | None = None,
    ) -> Self:
        """Learn the mean and standard deviation from a batch, after earlier ones.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Numbers, of which some may be missing, in the order of the stream.
        y : array, optional
            Ignored. It is here for scikit-learn's interface.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows, besides those of their age.

        Raises
        ------
        ValueError
            If the columns differ from earlier ones, values are infinite, or time stamps run
            backwards. The scaler is unchanged then.
        """
        with training_copy(self, _is_fitted, resumes=True) as new:
            new._learn(X, sample_weight, timestamps)
        return self

    @completed_by(LEARNING)
    def merge(self, other: StreamingScaler) -> Self:
        """Add the rows of another scaler, as if this one had learned them as well.

        Each row counts as it did in its own scaler, where it was compared with the rows of that
        scaler alone.

        Parameters
        ----------
        other : StreamingScaler
            A scaler of the same columns with the same ``half_life``. If it forgets, both need time
            stamps or as many rows.
        """
        check_is_fitted(self)
        owner = type(self).__name__
        if not isinstance(other, StreamingScaler):
            raise InvalidTypeError(
                f"{owner}: merge takes another {owner}, not a {type(other).__name__}",
                "fit the parts with the same class",
            )
        check_is_fitted(other)
        for name in ("half_life", "n_features_in_", "feature_names_in_"):
            here, there = getattr(self, name, ""), getattr(other, name, "")
            if not np.array_equal(here, there):
                raise InvalidValueError(
                    f"{owner}: {name} is {there!r} in other and {here!r} here",
                    "fit the parts on the same columns, with the same half_life",
                )
        with training_copy(self, _is_fitted, resumes=True) as new:
            fades = merge_clocks(new, other)
            new.moments_ = self.moments_.faded(fades[0]).merged(other.moments_.faded(fades[1]))
        return self

    @in_one_state
    def transform(self, X: MatrixLike) -> np.ndarray:
        """Subtract the mean of each column, and divide by its standard deviation.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows with the columns that were learned.

        Returns
        -------
        float array of shape (n_rows, n_features)
            A new array, in single precision if X is, or else in double precision.
        """
        check_is_fitted(self)
        return self._scaled(self._validated(X, reset=False))

    @in_one_state
    def inverse_transform(self, X: MatrixLike) -> np.ndarray:
        """Multiply by the standard deviation of each column, and add its mean.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Rows as ``transform`` returns them.

        Returns
        -------
        float array of shape (n_rows, n_features)
            A new array, in the precision of X.
        """
        check_is_fitted(self)
        with with_remedies(type(self).__name__):
            X = check_matrix(unmasked(X), dtype=_TYPES, ensure_all_finite="allow-nan")
            if X.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input"
                )
        moments = self.moments_
        values = np.multiply(X, moments.scale if self.with_std else 1.0, dtype=np.float64)
        return (values + moments.mean if self.with_mean else values).astype(X.dtype)

    @property
    def mean_(self) -> np.ndarray:
        """Weighted mean of each column, shape (n_features,)."""
        check_is_fitted(self)
        return self.moments_.mean.copy()

    @property
    def var_(self) -> np.ndarray:
        """Weighted variance of each column, shape (n_features,)."""
        check_is_fitted(self)
        return self.moments_.var.copy()

    @property
    def scale_(self) -> np.ndarray | None:
        """What columns are divided by, shape (n_features,)."""
        check_is_fitted(self)
        return self.moments_.scale.copy() if self.with_std else None

    @property
    def n_samples_seen_(self) -> Any:
        """Sum of the weights of the values of each column."""
        check_is_fitted(self)
        weight = self.moments_.weight
        return float(weight[0]) if np.ptp(weight) == 0 else weight.copy()

    def check_state(self) -> None:
        check_same("columns of moments_", len(self.moments_.mean), self.n_features_in_)

    def _learn(self, X: Any, sample_weight: Any, timestamps: Any) -> None:
        """Learn a batch."""
        first = not _is_fitted(self)
        X = self._validated(X, reset=first)
        weight, owner = to_host(sample_weight), type(self).__name__
        weight = check_weights(owner, weight, len(X), may_be_empty=not first)
        aged = age(self, X, weight, timestamps)
        moments = ColumnMoments.none(X.shape[1]) if first else self.moments_
        with np.errstate(over="ignore", invalid="ignore"):
            self.moments_ = moments = moments.after(X, aged.weight, aged.fade)
        if np.isinf(moments.var).any() or np.isinf(moments.mean).any():
            raise InvalidValueError(
                f"{owner}: X reaches {np.nanmax(np.abs(X)):g}, and squares of such numbers are too "
                "large for double precision",
                "divide the column by its largest value",
            )

    def _validated(self, X: Any, reset: bool) -> np.ndarray:
        """Return rows in double or single precision."""
        check_frame(type(self).__name__, X)
        with with_remedies(type(self).__name__):
            return validate_data(
                self, unmasked(X), reset=reset, dtype=_TYPES, ensure_all_finite="allow-nan"
            )

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        """Return validated rows, standardised in their precision."""
        moments = self.moments_
        values = np.subtract(X, moments.mean if self.with_mean else 0.0, dtype=np.float64)
        if self.with_std:
            values /= moments.scale
        return values.astype(X.dtype, copy=False)

    def __sklearn_is_fitted__(self) -> bool:
        return _is_fitted(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


#: Precisions of rows. Others become double precision.
_TYPES = np.float64, np.float32


def _is_fitted(scaler: StreamingScaler) -> bool:
    return "moments_" in vars(scaler)

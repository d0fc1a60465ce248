"""The one abstraction: a function that can be drawn at random and evaluated on inputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from trickless.arrays.devices import take, to_host
from trickless.arrays.namespaces import namespace
from trickless.neurons.checks import check_activations, check_columns, check_kernel_rows
from trickless.rules import Rule, check_parameters, is_real, plain, warn

#: Weights of n neurons: a tuple of arrays, each with n entries along its first axis.
Weights = tuple[Any, ...]

#: What ``a + b``, ``a * b`` and ``2 * a`` make of families. The modules of the composed families,
#: which import this one, fill it in.
OPERATORS: dict[str, Callable[[Any, Any], Neurons]] = {}

_PAIRS_AT_ONCE = 8


class Inputs(NamedTuple):
    """What a learner knows of the columns of its inputs, beyond the numbers in them.

    Attributes
    ----------
    n_categories : int array of shape (n_features,)
        How many codes 0, 1, ... a categorical column has; 0 for a column of numbers. The last two
        codes stand for a missing category, and for one that is new.
    names : tuple of str, optional
        Names of the columns, where they came in a data frame.
    """

    n_categories: np.ndarray
    names: tuple[str, ...] | None = None

    def take(self, indices: np.ndarray) -> Inputs:
        """The same for some of the columns."""
        names = None if self.names is None else tuple(self.names[i] for i in indices)
        return Inputs(self.n_categories[indices], names)


class Relevance(NamedTuple):
    """How much each feature matters for what is to be learned.

    Attributes
    ----------
    length_scale : array of shape (n_features,)
        The length scale of each feature, for a kernel of the Euclidean distance. All are equal
        where one length scale for all features did best.
    spread : array of shape (n_features,)
        Standard deviation of the feature.
    X : array or CSR matrix of shape (n_rows, n_features)
        Some training rows.
    sample_weight : array of shape (n_rows,), optional
        Their weights.
    importances : array of shape (n_features,), optional
        How much each feature matters to a function that was fitted; they sum to 1.
    """

    length_scale: np.ndarray
    spread: np.ndarray
    X: Any
    sample_weight: np.ndarray | None = None
    importances: np.ndarray | None = None

    def shares(self) -> np.ndarray:
        """The spread of each feature in units of its length scale, divided by their sum.

        Equal shares if no feature varies.
        """
        matters = self.spread / self.length_scale
        total = matters.sum()
        return matters / total if total else np.full(len(matters), 1 / len(matters))


class Neurons(BaseEstimator, ABC):
    r"""A family of neurons: a function :math:`\psi(x; w)` and a distribution :math:`\mu` of w.

    It stands for the kernel :math:`k(x, x') = E_{w \sim \mu}[\psi(x; w) \cdot \psi(x'; w)]`,
    which never has to be known. To add a family, subclass this class and write :meth:`draw` and
    :meth:`activate`; everything in the package then works with it.

    ``draw`` may depend on its arguments and on what :meth:`fit` resolved, such as
    ``n_features_in_``, and on nothing else: the same seed must give the same neurons.
    ``activate`` is called on blocks of rows from several threads at a time, and must treat rows
    independently.

    Attributes
    ----------
    width : int
        How many numbers one neuron gives (2 for a cosine-sine pair). Class attribute.
    bound : float
        Supremum of the Euclidean norm of those numbers. The guarantees of the learners assume 1.
    accepts_sparse : bool
        Whether :meth:`activate` takes SciPy CSR matrices.
    independent : bool
        Whether the neurons of one draw are independent of each other, as standard errors and
        certificates assume; they are refused where it is False. Different draws are independent
        in any case.
    accepts_tables : bool
        Whether :meth:`activate` takes missing values (NaN) and categories. The learner then reads
        data frames with columns of any type: a category as its code, a date as a number of days.
    by_order : bool
        Whether the order of a column's values matters, however close they are, as it does to ranks
        and to thresholds taken from the rows. The learner then warns where its precision cannot
        tell values apart.
    one_hot : bool
        Whether one of the numbers of a neuron is 1 and the others are 0, as for the leaves of a
        tree. The family then has a method ``leaves``, which says which of them.
    inputs_ : Inputs or None
        Names and kinds of the columns. The learner sets it before :meth:`fit`; None if a family is
        fitted by hand.

    Examples
    --------
    Which side of a random hyperplane:

    >>> import numpy as np
    >>> from trickless import KitchenSinksClassifier
    >>> from trickless.neurons import Neurons
    >>> class Halfspaces(Neurons):
    ...     def draw(self, rng, n):
    ...         return rng.standard_normal((n, self.n_features_in_)), rng.standard_normal(n)
    ...     def activate(self, X, weights):
    ...         directions, offsets = weights
    ...         return np.sign(X @ directions.T + offsets)
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = KitchenSinksClassifier(Halfspaces(), n_neurons=300, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    #: The page of the class in the reference, to which scikit-learn's picture of it links.
    _doc_link_module = "trickless"
    _doc_link_template = "https://trickless.readthedocs.io/en/latest/generated/trickless.neurons.{estimator_name}.html"

    def __setattr__(self, name: str, value: Any) -> None:
        # Parameters are numbers of Python, since products of those of NumPy may overflow.
        super().__setattr__(name, value if name.endswith("_") else plain(value))

    width: int = 1
    bound: float = 1.0
    accepts_sparse: bool = False
    accepts_tables: bool = False
    by_order: bool = False
    one_hot: bool = False
    inputs_: Inputs | None = None

    _rules: ClassVar[dict[str, Rule]] = {}

    @property
    def independent(self) -> bool:
        """Whether the neurons of one draw are independent of each other."""
        return True

    @property
    def has_trees(self) -> bool:
        """Whether its neurons, or those of some turns, are trees, which take Newton steps."""
        return self.one_hot

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Neurons:
        """Resolve what depends on data, such as the number of features or a length scale.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Inputs, already validated.
        rng : numpy.random.Generator
            Source of randomness for subsampling.
        sample_weight : array of shape (n_rows,), optional
            Positive weights of the rows; 2 counts as the row twice.

        Returns
        -------
        Neurons
            This object.
        """
        check_parameters(self, self._rules)
        self.n_features_in_ = X.shape[1]
        return self

    def set_depth(self, n_rows: int, deepest: int) -> None:
        """Set the depth of the trees of a fitted family, if any, for so many rows."""

    def candidates(self) -> list[Neurons]:
        """Fitted families from which the learner chooses by the data; by default, this one."""
        return [self]

    @property
    def wants_relevance(self) -> bool:
        """Whether the learner must find how much each feature matters, for ``by_relevance``."""
        return False

    def by_relevance(self, relevance: Relevance) -> Neurons:
        """A fitted family that uses how much each feature matters; by default, this one.

        Parameters
        ----------
        relevance : Relevance

        Returns
        -------
        Neurons
        """
        return self

    @abstractmethod
    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        """Draw n w from the distribution, independently unless ``independent`` is False.

        Parameters
        ----------
        rng : numpy.random.Generator
            The only source of randomness.
        n : int
            How many.

        Returns
        -------
        array or tuple of arrays
            Each with n entries along the first axis. ``activate`` gets them as a tuple. Floating-
            point arrays are drawn in double precision; they are converted to the learner's
            precision afterwards.
        """

    @abstractmethod
    def activate(self, X: Any, weights: Weights) -> Any:
        """Evaluate n neurons on rows of inputs.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            In the learner's precision. CSR only if ``accepts_sparse``.
        weights : tuple of arrays
            Some of what :meth:`draw` gave, floating-point arrays in the precision of X.

        Returns
        -------
        array of shape (n_rows, width * n)
            Column ``k * n + j`` holds the k-th number of neuron j.
        """

    def __call__(self, X: Any, weights: Weights) -> Any:
        """Activations in the precision of X, after a check of their shape.

        Everything in the package evaluates neurons through this method. Overflows on the way are
        not reported, since a response may saturate. Whoever uses activations refuses those that are
        not finite.
        """
        name = type(self).__name__
        check_columns(name, X, self.n_features_in_)
        weights = weights if isinstance(weights, tuple) else (weights,)
        with np.errstate(over="ignore", invalid="ignore"):
            Z = self.activate(X, weights)
            call = f"{name}.activate(X, weights)"
            check_activations(call, Z, X.shape[0], weights[0].shape[0], self.width)
            return Z if Z.dtype == X.dtype else namespace(Z).astype(Z, X.dtype)

    def read(self, X: Any, n_jobs: int | None = None) -> Any:
        """Rows as ``combine`` reads them fastest; by default, as they are.

        Learners that evaluate the same rows many times convert them once.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        n_jobs : int or None, default=None
            Threads.

        Returns
        -------
        array or CSR matrix of shape (n_rows, n_features)
            :meth:`combine` accepts it in place of X. Its precision may be another.
        """
        return X

    def combine(self, X: Any, weights: Weights, coef: Any) -> Any:
        """The sum of n neurons times their coefficients, on rows of inputs.

        By default this is the product of the activations with the coefficients. A family overrides
        it where there is a faster way.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        weights : tuple of arrays
        coef : array of shape (n, width, n_outputs)

        Returns
        -------
        array of shape (n_rows, n_outputs)
        """
        xp = namespace(coef)
        columns = xp.permute_dims(coef, (1, 0, 2))
        return self(X, weights) @ xp.reshape(columns, (-1, coef.shape[2]))

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        """Evaluate neuron i on row i only, for as many rows as neurons.

        The default evaluates eight neurons on eight rows at a time and keeps the diagonal, at eight
        times the cost of the pairs alone. A family overrides it where it can evaluate pairs
        directly.

        Returns
        -------
        array of shape (n, width)
        """
        n = X.shape[0]
        pairs = np.empty((n, self.width), dtype=X.dtype)
        for start in range(0, n, _PAIRS_AT_ONCE):
            some = slice(start, min(start + _PAIRS_AT_ONCE, n))
            side = some.stop - start
            square = self(X[some], tuple(array[some] for array in weights))
            square = square.reshape(side, self.width, side)
            pairs[some] = np.diagonal(square, axis1=0, axis2=2).T
        return pairs

    def kernel(self, X: Any, Y: Any = None) -> np.ndarray:
        """The kernel of a fitted family between rows, where there is a closed form.

        It is for tests and for reference: learners that draw neurons do not need it.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_x, n_features)
        Y : array or sparse matrix of shape (n_y, n_features), optional
            Default: ``X``.

        Returns
        -------
        array of shape (n_x, n_y)

        Raises
        ------
        NotImplementedError
            If no closed form is known for this family.
        NotFittedError
            Before :meth:`fit`.
        """
        X = check_kernel_rows(self, X, "X")
        return self.closed_form(X, X if Y is None else check_kernel_rows(self, Y, "Y"))

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """The kernel between checked rows; a family with a closed form overrides this method.

        Parameters
        ----------
        X : array of shape (n_x, n_features)
            In double precision.
        Y : array of shape (n_y, n_features)

        Returns
        -------
        array of shape (n_x, n_y)
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no closed-form kernel. Remedy: "
            "trickless.estimate_kernel(neurons, X, Y) estimates it."
        )

    def known_inputs(self, X: Any) -> Inputs:
        """What is known of the columns of X; if the learner said nothing, all hold numbers."""
        return self.inputs_ or Inputs(np.zeros(X.shape[1], dtype=int))

    def __add__(self, other: Any) -> Neurons:
        """A family whose kernel is the sum of the kernels."""
        return OPERATORS["sum"](self, other) if isinstance(other, Neurons) else NotImplemented

    def __mul__(self, other: Any) -> Neurons:
        """A family whose kernel is the product of the kernels, or of the kernel and a number."""
        if is_real(other):
            return OPERATORS["multiple"](self, other)
        return OPERATORS["product"](self, other) if isinstance(other, Neurons) else NotImplemented

    __rmul__ = __mul__

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")


def sample_rows(
    X: Any, rng: np.random.Generator, size: int, sample_weight: Any = None
) -> tuple[Any, np.ndarray]:
    """At most ``size`` rows of X and their weights.

    If there are no more rows than that, they keep their weights. Otherwise rows are drawn in
    proportion to their weights: with replacement if the weights differ, and the new weight of a row
    counts how often it was drawn. The rows are on the host, wherever X is.
    """
    n = X.shape[0]
    if n == 1:
        warn(
            "X has one row, from which the neurons take their length scale, ranks or thresholds "
            "for good: predictions will be inaccurate. Remedy: begin with a batch of some hundred "
            "rows, or a family that needs none, such as Gaussian(length_scale=1.0)."
        )
    numbers, weight = sample_numbers(n, rng, size, sample_weight)
    return to_host(X if n <= size else take(X, numbers)), weight


def sample_numbers(
    n: int, rng: np.random.Generator, size: int, sample_weight: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the rows that ``sample_rows`` takes of n rows, in order, and their weights."""
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if n <= size:
        return np.arange(n), weight
    equal = bool((weight == weight[0]).all())
    drawn = rng.choice(n, size, replace=not equal, p=weight / weight.sum())
    rows, counts = np.unique(drawn, return_counts=True)
    return rows, counts.astype(float)

"""Neurons: functions that can be drawn at random and evaluated on inputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import prod
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from trickless._arrays.places import namespace
from trickless._arrays.stated import Stated, Things, check_same
from trickless._docstrings import documented, pages
from trickless._errors import InvalidValueError
from trickless._rules import Rule, check_parameters, is_real, plain
from trickless.neurons.checks import check_activations, check_columns, check_kernel_rows
from trickless.neurons.inputs import Inputs, Relevance
from trickless.neurons.layouts import Grids, Layout

#: Weights of n neurons: a tuple of arrays, each with n entries along its first axis.
Weights = tuple[Any, ...]

#: The families that ``a + b``, ``a * b`` and ``2 * a`` make. Their modules fill it in.
OPERATORS: dict[str, Callable[[Any, Any], Neurons]] = {}

_PAIRS_AT_ONCE = 8


class Neurons(Stated, BaseEstimator, ABC):
    r"""A family of neurons: a function :math:`\psi(x; w)` and a distribution :math:`\mu` of w.

    The family has the kernel :math:`k(x, x') = E_{w \sim \mu}[\psi(x; w) \cdot \psi(x'; w)]`, whose
    formula you never need to know. To add a family, subclass this class and write :meth:`draw` and
    :meth:`activate`. Everything in the package then works with it.

    The same seed must give the same neurons, so ``draw`` may depend only on its arguments and on
    what :meth:`fit` has set, such as ``n_features_in_``. ``activate`` is called on blocks of rows,
    from several threads at a time, and must treat each row independently of the others.

    Attributes
    ----------
    width : int
        Number of values of one neuron, such as 2 for a pair of cosine and sine. Class attribute.
    bound : float
        Largest possible Euclidean norm of these values. The guarantees of the learners assume 1.
    accepts_sparse : bool
        Whether :meth:`activate` accepts SciPy CSR matrices.
    independent : bool
        Whether the neurons of one draw are independent of each other. Standard errors and
        certificates assume it, and raise an error if it is False. Different draws are always
        independent.
    accepts_tables : bool
        Whether :meth:`activate` accepts missing values (NaN) and categories. The learner then reads
        data frames with columns of any type: categories become codes, and dates become numbers of
        days.
    accepts_arrays : bool
        Whether learners accept arrays of more than two dimensions, such as images. ``activate``
        still gets flat rows, and ``inputs_.shape`` is the shape of each.
    inputs_ : Inputs or None
        Names and kinds of the columns. The learner sets it before it calls :meth:`fit`. It is None
        if you call :meth:`fit` yourself.

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

    #: The page of the class in the reference. scikit-learn's diagram of an estimator links to it.
    _doc_link_module = "trickless"
    _doc_link_template = pages("trickless.neurons")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__module__.startswith("trickless."):
            documented(cls, Neurons)

    def __setattr__(self, name: str, value: Any) -> None:
        # Parameters become Python numbers, because products of NumPy numbers may overflow.
        super().__setattr__(name, value if name.endswith("_") else plain(value))

    n_features_in_: Things
    width: Things = 1
    bound: float = 1.0
    accepts_sparse: bool = False
    accepts_arrays: bool = False
    accepts_tables: bool = False
    #: Whether ``activate`` accepts codes of categories from ``n_categories`` on. Categories that
    #: appear later in a stream have such codes. Otherwise they have the code of new categories.
    _any_code: bool = False
    #: Whether missing values are left out, so that gaps need not be in the training rows.
    _skips_missing: bool = False
    #: Whether the order of close values in a column matters, as it does for ranks. The learner then
    #: warns if its precision cannot tell values apart.
    _by_order: bool = False
    #: Whether one of the values of a neuron is 1 and the others are 0, as for the leaves of a tree.
    #: The family then has a method ``leaves``, which returns the index of the 1.
    _one_hot: bool = False
    #: The most values of a neuron that are not 0, which ``_nonzeros`` finds. None if there may be
    #: many.
    _n_nonzero: int | None = None
    #: Number of neurons that exist. None if any number can be drawn.
    _n_given: int | None = None
    #: Whether the targets of the same rows may have chosen the neurons. Errors at rows that are
    #: left out are then too small.
    _may_know_targets: bool = False
    #: Whether ``draw`` returned one array instead of a tuple, which ``activate`` then gets.
    _draws_array: bool = False
    inputs_: Inputs | None = None

    _rules: ClassVar[dict[str, Rule]] = {}

    @property
    def _layout(self) -> Layout:
        """How arrays of more than two dimensions become flat rows."""
        return Grids() if self.accepts_arrays else Layout()

    @property
    def independent(self) -> bool:
        """Whether the neurons of one draw are independent of each other."""
        return True

    @property
    def _shared(self) -> Any:
        """What two families have in common if their last layers see the same: the same object."""
        return None

    def fit(self, X: Any, rng: np.random.Generator, sample_weight: Any = None) -> Self:
        """Set what depends on the data, such as the number of features or a length scale.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Validated inputs.
        rng : numpy.random.Generator
            Source of randomness, for example to choose some of the rows.
        sample_weight : array of shape (n_rows,), optional
            Positive weights of the rows, whatever their unit. A row of weight 2 counts as two
            rows in medians, quantiles and frequencies. Learners pass no rows of weight 0.

        Returns
        -------
        Neurons
            This object.
        """
        check_parameters(self, self._rules)
        self.n_features_in_ = X.shape[1]
        return self

    def check_state(self) -> None:
        check_parameters(self, self._rules)
        if self.inputs_ is not None and self.inputs_.shape is not None:
            check_same("size of the shape", prod(self.inputs_.shape), self.n_features_in_)

    def _check_weights(self, weights: Weights) -> None:
        """Raise a ValueError if stored weights name features that do not exist."""

    def _set_depth(self, n_rows: int, deepest: int | None = None) -> None:
        """Set the size of the trees of a fitted family for a number of rows.

        Parameters
        ----------
        n_rows : int
            Number of training rows.
        deepest : int, optional
            The largest depth that "auto" may choose. Default: that of the shape.
        """

    def _candidates(self) -> list[Neurons]:
        """List the fitted families among which the learner chooses: by default, only this one."""
        return [self]

    @property
    def _wants_relevance(self) -> bool:
        """Whether the learner must call ``by_relevance`` before it chooses among candidates."""
        return False

    def _by_relevance(self, relevance: Relevance) -> Neurons:
        """Make a fitted family that uses how much each feature matters: by default, this one."""
        return self

    @abstractmethod
    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        """Draw the weights w of n neurons, independently unless ``independent`` is False.

        Parameters
        ----------
        rng : numpy.random.Generator
            The only source of randomness.
        n : int
            Number of neurons.

        Returns
        -------
        array or tuple of arrays
            Each array has n entries along the first axis. ``activate`` gets what ``draw`` returned:
            an array or a tuple. Draw floating-point arrays in double precision, since the learner
            converts them to its own precision.
        """

    def _draw_from(self, start: int, rng: np.random.Generator, n: int) -> Weights:
        """Draw the neurons number ``start``, ``start + 1``, ... of a learner: by default, any n.

        A family of finitely many neurons overrides it, so that a learner has each of them once.
        """
        return self.draw(rng, n)

    @abstractmethod
    def activate(self, X: Any, weights: Weights) -> Any:
        """Evaluate n neurons on rows of inputs.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Rows in the precision of the learner. It is a CSR matrix only if ``accepts_sparse``.
        weights : array or tuple of arrays
            What :meth:`draw` returned for n neurons. Floating-point arrays have the precision of X.

        Returns
        -------
        array of shape (n_rows, width * n)
            Column ``k * n + j`` holds value k of neuron j, both counted from 0.
        """

    def _as_drawn(self, weights: Weights) -> Any:
        """Return weights as ``draw`` returned them: as a tuple, or as one array."""
        return weights[0] if self._draws_array else weights

    def __call__(self, X: Any, weights: Weights) -> Any:
        """Evaluate n neurons on rows, and check the shape of the activations.

        Everything in the package evaluates neurons through this method. The activations have the
        precision of X. Overflows are not reported here, because a response may saturate; code that
        uses activations raises an error if they are not finite.
        """
        (n_rows, n_features), name = X.shape, type(self).__name__
        if n_features != self.n_features_in_:
            self._check_length(X)
        several = isinstance(weights, tuple)
        first: Any = weights[0] if several else weights
        n = first.shape[0]
        with np.errstate(over="ignore", invalid="ignore"):
            Z = self.activate(X, self._as_drawn(weights) if several else weights)
            is_plain = type(Z) is np.ndarray or (type(Z) is type(X) and not issparse(Z))
            if is_plain and Z.shape == (n_rows, self.width * n) and Z.dtype == X.dtype:
                return Z
            check_activations(f"{name}.activate(X, weights)", Z, n_rows, n, self.width)
            return Z if Z.dtype == X.dtype else namespace(Z).astype(Z, X.dtype)

    def _write(self, X: Any, weights: Weights, out: Any) -> None:
        """Write the activations of n neurons on rows of a device to ``out``, a part of a matrix.

        A family overrides it if it needs no other memory for them.
        """
        out[...] = self(X, weights)

    def _check_length(self, X: Any) -> None:
        """Raise an error for rows with another number of columns than in the fit.

        A family whose layout allows any length overrides it.
        """
        check_columns(type(self).__name__, X, self.n_features_in_)

    def _last_layer(self, X: Any) -> tuple[Neurons, Any]:
        """Return the family of the last layer, and the rows that it sees.

        By default, they are this family and X. A family overrides it to compute what its neurons
        share only once for a block of rows. The other family must evaluate the same weights.
        """
        return self, X

    def _inputs_of_values(self, n: int) -> Inputs | None:
        """Return what another layer knows of the values of n neurons: nothing, by default."""
        return None

    def _read(self, X: Any, n_jobs: int | None = None) -> Any:
        """Convert rows to the form that ``_combine`` reads fastest.

        By default, they are returned unchanged. Learners that evaluate the same rows many times
        convert them once.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Rows.
        n_jobs : int or None, default=None
            Number of threads.

        Returns
        -------
        array or CSR matrix of shape (n_rows, n_features)
            :meth:`_combine` accepts it instead of X. Its precision may differ from that of X.
        """
        return X

    def _nonzeros(self, X: Any, weights: Weights) -> tuple[np.ndarray, np.ndarray]:
        """Find the values of each neuron that are not 0, if there are ``n_nonzero`` at most.

        Returns their numbers in the neuron, and the values, both of shape (n_rows, n, n_nonzero).
        """
        raise NotImplementedError

    def _combine(self, X: Any, weights: Weights, coef: Any) -> Any:
        """Sum the activations of n neurons, each times its coefficient: (n_rows, n_outputs).

        ``coef`` has the shape (n, width, n_outputs). By default, this multiplies the matrix of
        activations by the coefficients. A family overrides it if there is a faster way.
        """
        xp = namespace(coef)
        columns = xp.permute_dims(coef, (1, 0, 2))
        return self(X, weights) @ xp.reshape(columns, (-1, coef.shape[2]))

    def gradient(self, X: Any, weights: Weights, coef: Any) -> Any:
        """Compute the gradient of a sum of neurons at each row, if they have a derivative.

        The sum has the activations of n neurons, each times its coefficient.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Rows, as a NumPy array.
        weights : tuple of arrays
            Weights of n neurons.
        coef : array of shape (n, width, n_outputs)
            Coefficients.

        Returns
        -------
        array of shape (n_rows, n_features, n_outputs)
            The gradients.

        Raises
        ------
        ValueError
            If the family has no derivative in the package.
        """
        raise InvalidValueError(
            f"{type(self).__name__}: there is no gradient of these neurons",
            "Gaussian() or another Fourier family, also in a sum or On some columns; or "
            "differences of values",
        )

    def activate_pairs(self, X: Any, weights: Weights) -> Any:
        """Evaluate neuron i on row i only, for n rows and n neurons, shape (n, width).

        A family that cannot evaluate pairs directly evaluates eight neurons on eight rows at a time
        and keeps the diagonal, which takes eight times the work of the pairs alone.
        """
        n = X.shape[0]
        weights = weights if isinstance(weights, tuple) else (weights,)
        pairs = np.empty((n, self.width), dtype=X.dtype)
        for start in range(0, n, _PAIRS_AT_ONCE):
            some = slice(start, min(start + _PAIRS_AT_ONCE, n))
            side = some.stop - start
            square = self(X[some], tuple(array[some] for array in weights))
            square = square.reshape(side, self.width, side)
            pairs[some] = np.diagonal(square, axis1=0, axis2=2).T
        return pairs

    def kernel(self, X: Any, Y: Any = None) -> np.ndarray:
        """Compute the kernel of a fitted family between rows, if it has a closed form.

        It is useful for tests and comparisons. Learners that draw neurons do not need it.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_x, n_features)
            Rows.
        Y : array or sparse matrix of shape (n_y, n_features), optional
            Other rows. Default: ``X``.

        Returns
        -------
        array of shape (n_x, n_y)
            The kernel of each row of X with each row of Y.

        Raises
        ------
        NotImplementedError
            If the family has no closed form in the package.
        NotFittedError
            Before :meth:`fit`.
        """
        X = check_kernel_rows(self, X, "X")
        return self.closed_form(X, X if Y is None else check_kernel_rows(self, Y, "Y"))

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Compute the kernel between checked rows in double precision, shape (n_x, n_y).

        It raises a NotImplementedError if the family has no closed form in the package.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no closed-form kernel. Remedy: "
            "estimate it with trickless.inspection.estimate_kernel(neurons, X, Y)."
        )

    def _known_inputs(self, X: Any) -> Inputs:
        """Return names and kinds of the columns of X, which are all numbers without a learner."""
        return self.inputs_ or Inputs(np.zeros(X.shape[1], dtype=int))

    def __add__(self, other: Any) -> Neurons:
        """Return a family whose kernel is the sum of the kernels."""
        return OPERATORS["sum"](self, other) if isinstance(other, Neurons) else NotImplemented

    def __mul__(self, other: Any) -> Neurons:
        """Return a family whose kernel is a product of the kernels, or of kernel and number."""
        if is_real(other):
            return OPERATORS["multiple"](self, other)
        return OPERATORS["product"](self, other) if isinstance(other, Neurons) else NotImplemented

    __rmul__ = __mul__

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

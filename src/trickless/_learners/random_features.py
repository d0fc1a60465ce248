"""Random features: the activations of drawn neurons, for estimators of other libraries.

A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples, check_is_fitted

from trickless._arrays.likes import ArrayLike, MatrixLike, RandomStateLike
from trickless._arrays.places import HOST, place_of, to_host
from trickless._arrays.stated import check_count
from trickless._arrays.states import in_one_state
from trickless._arrays.threads import linear_algebra
from trickless._docstrings import completed_by, documented
from trickless._errors import InvalidValueError
from trickless._functions.network import check_source
from trickless._functions.sparse_activations import sparse_activations
from trickless._functions.stream import NeuronStream, StoredNeurons, as_seed
from trickless._learners.arguments import LEARNING
from trickless._learners.base import store
from trickless._learners.boosted_trees import BoostedTreesClassifier, BoostedTreesRegressor
from trickless._learners.fixed_parameters import check_fixed
from trickless._learners.neuron_learner import (
    NeuronLearner,
    choose_neurons,
    fit_neurons,
    see_later_rows,
)
from trickless._learners.training_copy import training_copy
from trickless._rows.given import as_targets
from trickless._rows.rows import Rows, precision_of
from trickless._rows.weights import check_weights, that_count
from trickless._rules import (
    DTYPE,
    MOST_THINGS,
    NONE,
    boolean,
    choice,
    either,
    integer,
    warn,
)
from trickless._targets.labels import Labels
from trickless._targets.targets import Numbers
from trickless.neurons import Neurons, Trees
from trickless.neurons.auto import Auto
from trickless.neurons.checks import check_finite_activations
from trickless.neurons.named import make_neurons

#: Rows whose columns are checked in a fit.
_JUDGED = 512


@documented
class RandomFeatures(TransformerMixin, NeuronLearner):
    r"""Random features: the activations of drawn neurons, as columns.

    Neuron j has the columns :math:`\psi(x; w_j) / \sqrt{K}`, so that inner products of rows
    estimate the kernel of the family:

    .. math:: z(x) \cdot z(x') = \frac1K \sum_{j=1}^K \psi(x; w_j) \cdot \psi(x'; w_j)
        \approx k(x, x')

    A linear method on these columns is therefore a kernel method [1]_: PCA becomes kernel PCA, and
    k-means clusters in the space of the kernel. It works with every family, such as "tabular" and
    "trees" for data frames, ``Patches`` for images, or a neuron that you write.

    Parameters
    ----------
    neurons : Neurons or str, default="gaussian"
        The family of neurons, or its name, such as "gaussian", "stumps" or "tabular". "auto"
        compares several families, and takes the best. See :mod:`trickless.neurons`. Some families
        need y: "auto", and families with ``length_scale="relevance"`` or
        ``feature_weights="relevance"``. ``length_scale="auto"`` is chosen from the data if there is
        y. Otherwise it is the median distance between rows.
    n_neurons : int, default=500
        The number K of neurons to draw. There are ``n_neurons * width`` columns. A Gaussian neuron
        has width 2, a cosine and a sine. Of a list, such as fixed ``Landmarks``, each neuron is
        taken once, so that K is at most its length.
    n_candidates : int, default=1
        For trees: how many columns are drawn for each cut. With more than 1, the cut is the best
        for what earlier trees do not explain of y, as in :class:`~trickless.BoostedTreesRegressor`.
        1 draws neurons at random.
    sparse_output : bool, default=True
        Whether columns of indicators are a CSR matrix, as for "trees". Other families have dense
        columns.
    scale : {"kernel", "unit"}, default="kernel"
        The scale of the columns. With "kernel", inner products estimate the kernel. With "unit",
        all columns are multiplied by ``scale_``, so that the squares of a row sum to 1 on average
        over the rows of ``fit``, by their weights. Most families have this norm with "kernel", too.
        The norm of ``Landmarks`` and ``Patches`` is far smaller. Choose "unit" to
        fit linear models to them.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the neurons. The same integer gives the same features. Only the seed and the fitted
        family are stored.
    verbose : bool, default=False
        Whether to show a progress bar while neurons are chosen.
    dtype : {"float32", "float64"} or None, default=None
        Precision of the columns. None keeps the precision of X, float32 or float64.

    Attributes
    ----------
    scale_ : float
        The factor of all columns. It is 1 with ``scale="kernel"``.

    Warns
    -----
    UserWarning
        If ``scale="kernel"`` and the squares of a row of columns sum to less than 0.1 on average.
        Linear models with default parameters may learn only a constant from such columns.

    See Also
    --------
    KitchenSinksRegressor : Ridge regression on these columns, in one pass without keeping them.
    :func:`~trickless.inference.mmd_test` : Test of whether two samples differ.
    :func:`~trickless.inference.hsic_test` : Test of whether two parts of the rows are dependent.
    :func:`~trickless.inspection.estimate_kernel` : Estimate of the kernel, with its standard error.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007,
       Algorithm 1, for any neuron instead of a cosine.

    Examples
    --------
    Kernel PCA:

    >>> from sklearn.datasets import make_moons
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> from trickless import RandomFeatures
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> pca = make_pipeline(RandomFeatures(random_state=0), PCA(2))
    >>> pca.fit_transform(X).shape
    (200, 2)
    """

    _fixed = ("neurons", "n_neurons", "n_candidates", "scale", "dtype")
    _bounded = False
    _on_devices = True
    _numeric = False
    _warn_below = 0.1  # the mean of the squares of a row of columns
    _smaller = "a smaller n_neurons, neurons of a smaller width, or fewer rows at a time"
    _rules = NeuronLearner._rules | {
        "n_candidates": integer(1, "n_candidates=1 takes neurons as they are drawn", 1000),
        "sparse_output": boolean("sparse_output=False gives dense columns of trees"),
        "scale": choice("kernel", "unit", remedy="scale='unit' suits linear models"),
        "dtype": either(DTYPE, NONE),
    }

    sparse_output: bool
    scale: str
    scale_: float
    n_candidates: int
    source_: NeuronStream | StoredNeurons

    def __init__(
        self,
        neurons: Neurons | str = "gaussian",
        n_neurons: int = 500,
        *,
        n_candidates: int = 1,
        sparse_output: bool = True,
        scale: str = "kernel",
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        dtype: Any = None,
    ) -> None:
        store(self, locals())

    @completed_by(LEARNING)
    def fit(
        self, X: MatrixLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the family to rows, and fix the seed of the neurons.

        Parameters
        ----------
        y : array of shape (n_rows,) or (n_rows, n_outputs), optional
            Targets, for families that need them. Numbers with fractions are targets of a
            regression, and other values are labels.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows, for what the family takes from them, such as a length scale.
        """
        with training_copy(self, _is_fitted) as new, linear_algebra(self.n_jobs):
            new._begin(X, y, sample_weight)
        return self

    @completed_by(LEARNING)
    def partial_fit(
        self, X: MatrixLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the family to the first batch, and check later batches.

        Later batches change nothing. There is a warning if they do not suit what the family
        estimated from the first batch.

        Parameters
        ----------
        y : array of shape (n_rows,) or (n_rows, n_outputs), optional
            Targets, as for ``fit``.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X, y, sample_weight)
        with training_copy(self, _is_fitted, resumes=True) as new:
            check_fixed(new)
            rows = new._rows_to_predict(X)
            if rows.shape[0] and rows.shape[1] == new.n_features_in_:  # or they are longer series
                see_later_rows(new, rows)
        return self

    def check_state(self) -> None:
        super().check_state()
        check_count("n_neurons of _fixed_", self._fixed_["n_neurons"], 1, MOST_THINGS)
        check_source("source_", self.source_, self.neurons_, self._n_drawn)

    def _begin(self, X: Any, y: Any, sample_weight: Any) -> None:
        owner = type(self).__name__
        self._fixed_ = {name: getattr(self, name) for name in self._fixed}
        if y is None:
            self._check_needs_no_targets()
        y = as_targets(owner, y, numeric=False)
        numeric = y is not None and type_of_target(y).startswith("continuous")
        if self.n_candidates > 1:
            self._learn_neurons(X, y, sample_weight, numeric)
            weight = check_weights(owner, to_host(sample_weight), _num_samples(X))
            X, _, weight = that_count(self._rows_to_predict(X), None, weight)
            self._set_scale(X, weight)
            return
        dtype = precision_of(X) if self.dtype is None else self.dtype
        self._rows_ = Rows(owner, dtype, self._kind_of_rows(), numeric)
        X, y, weight = self._rows_.first(self, X, y, sample_weight)
        self._seed_ = as_seed(self.random_state)
        if y is None:
            fit_neurons(self, X, weight)
        else:
            targets = Numbers(owner, y, dtype) if numeric else Labels(owner, y)
            choose_neurons(self, X, targets.matrix(y), weight)
        self.source_ = NeuronStream(self.neurons_, self._seed_, self._rows_.dtype)
        self._set_scale(X, weight)

    def _set_scale(self, X: Any, weight: np.ndarray | None) -> None:
        """Find the factor of the columns, from some validated rows of the fit."""
        self.scale_ = 1.0
        if self.neurons_._n_nonzero == 1:  # the activations of a neuron have a norm of 1
            return
        some = slice(None, None, -(-X.shape[0] // _JUDGED))
        Z = to_host(self._of_rows(X[some])).astype(float)
        squares = np.asarray((Z.power(2) if issparse(Z) else Z**2).sum(axis=1)).ravel()
        mean = float(np.average(squares, weights=None if weight is None else weight[some]))
        if self.scale == "unit" and mean > 0:
            self.scale_ = mean**-0.5
        elif self.scale == "kernel" and 0 < mean < self._warn_below:
            warn(
                f"RandomFeatures: neurons={self.neurons!r} has small activations on these rows: "
                f"the squares of a row of features sum to {mean:.2g} on average. A linear model "
                "with a default alpha, C or tol may learn only a constant from them. Remedy: "
                "scale='unit', and an alpha or C chosen by cross-validation."
            )

    def _learn_neurons(self, X: Any, y: Any, sample_weight: Any, numeric: bool) -> None:
        """Take the trees of a model of boosted trees."""
        family = make_neurons(self.neurons)
        if not (isinstance(family, Trees) and family.max_leaves == "auto"):
            raise InvalidValueError(
                f"RandomFeatures: n_candidates={self.n_candidates!r} chooses the cuts of trees "
                f"with max_leaves='auto', and neurons={self.neurons!r} is another family",
                "neurons='trees', or n_candidates=1",
            )
        model = (BoostedTreesRegressor if numeric else BoostedTreesClassifier)(
            self.n_neurons,
            max_depth=family.depth,
            n_candidates=self.n_candidates,
            leaves=family.leaves,
            shape=family.shape,
            early_stopping=False,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        model.dtype = precision_of(X) if self.dtype is None else self.dtype
        model.fit(X, y, sample_weight)
        # The trees come from the model, and so does what it knows of the rows.
        for name in ("_rows_", "_seed_", "neurons_", "_first_batch_", "n_features_in_"):
            setattr(self, name, getattr(model, name))
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
        self._rows_.owner = type(self).__name__
        self.source_, self.importances_ = model._forest_.trees, model._importances()

    def _importances(self) -> np.ndarray | None:
        chosen: np.ndarray | None = getattr(self, "importances_", None)
        return super()._importances() if chosen is None else chosen

    def _check_needs_no_targets(self) -> None:
        if self.n_candidates > 1:
            raise InvalidValueError(
                f"RandomFeatures: n_candidates={self.n_candidates!r} chooses neurons by y, but "
                "no y was given",
                "fit(X, y), or n_candidates=1",
            )
        if is_chosen_by_targets(make_neurons(self.neurons)):
            raise InvalidValueError(
                f"RandomFeatures: neurons={self.neurons!r} is chosen by y, but no y was given",
                "fit(X, y), or a family that needs X alone, such as 'gaussian'",
            )

    @in_one_state
    def transform(self, X: MatrixLike) -> Any:
        """Compute the random features of rows.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            Rows to transform.

        Returns
        -------
        array or CSR matrix of shape (n_rows, n_neurons * width)
            The features, in the library and on the device of X. The columns of neuron j begin at
            ``j * width``.
        """
        return self._of_rows(self._rows_to_predict(X))

    def _of_rows(self, X: Any) -> Any:
        """Return the random features of validated rows."""
        family, n_neurons = self.neurons_, self._n_drawn
        scale, place = self.scale_ * n_neurons**-0.5, place_of(X)
        with linear_algebra(self.n_jobs):
            if family._n_nonzero and self.sparse_output and place is HOST:
                pieces = partial(self.source_.pieces, 0, n_neurons)
                how = self.n_jobs, self._rows_.dtype, True
                Z = sparse_activations(family, pieces, X, n_neurons, *how)
                Z.data *= scale
                return Z
            n_columns = n_neurons * family.width
            out, xp = place.empty((X.shape[0], n_columns), self._rows_.dtype), place.xp

            def fill(rows: slice) -> None:
                n_rows = rows.stop - rows.start
                last, some = family._last_layer(X[rows, ...])
                for where, weights in self.source_.pieces(0, n_neurons, place):
                    Z = xp.reshape(last(some, weights), (n_rows, family.width, -1))
                    Z = xp.reshape(xp.permute_dims(Z, (0, 2, 1)), (n_rows, -1))
                    columns = slice(where.start * family.width, where.stop * family.width)
                    out[rows, columns] = Z * scale

            place.map_rows(fill, X.shape[0], n_columns, self.n_jobs)
        check_finite_activations(type(family).__name__, out)
        return out

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the columns by the family, the number of the neuron and the number of its part.

        Parameters
        ----------
        input_features : array of str, optional
            Ignored. It is here for scikit-learn's interface.

        Returns
        -------
        array of str of shape (n_neurons * width,)
            The names. For example, "gaussian0_0" and "gaussian0_1" are the cosine and the sine of
            the first neuron.
        """
        check_is_fitted(self)
        family, width = type(self.neurons_).__name__.lower(), self.neurons_.width
        numbers = np.arange(self._n_drawn * width)
        parts = [f"_{number % width}" if width > 1 else "" for number in numbers]
        names = [f"{family}{i // width}{part}" for i, part in zip(numbers, parts, strict=True)]
        return np.array(names, dtype=object)

    @property
    def _n_drawn(self) -> int:
        """The number of neurons at ``fit``, even if the parameter is changed later.

        If only so many are given, each is used once.
        """
        n, n_given = int(self._fixed_["n_neurons"]), self.neurons_._n_given
        return n if n_given is None else min(n, n_given)

    @property
    def _n_features_out(self) -> int:
        return self._n_drawn * self.neurons_.width

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        neurons = self.neurons
        known = isinstance(neurons, str | Neurons)
        by_targets = known and is_chosen_by_targets(make_neurons(neurons))
        tags.target_tags.required = by_targets or self.n_candidates != 1
        return tags


def is_chosen_by_targets(family: Neurons) -> bool:
    """Return whether a family, or a part of it, needs targets."""
    return isinstance(family, Auto) or "relevance" in map(str, family.get_params().values())


def _is_fitted(learner: RandomFeatures) -> bool:
    return hasattr(learner, "source_")

"""Base class of learners of drawn neurons: their rows, and the choice of a family of neurons."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from trickless._arrays.places import HOST, Place, place_of
from trickless._arrays.stated import check_same
from trickless._errors import MissingAttributeError
from trickless._functions.stream import NeuronStream, Purpose, draw, generator, kept_bytes, moved
from trickless._learners.base import Learner
from trickless._learners.first_batch import FirstBatch, takes_from_data, warn_of_later_rows
from trickless._rows.kinds import Kind
from trickless._rows.rows import Batch
from trickless._rules import DTYPE, count, is_count, warn
from trickless._selection.halving import choose
from trickless._selection.linear import compare_with_linear
from trickless._selection.relevance import learned_relevance
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.checks import (
    check_fit_takes_weights,
    check_fitted_family,
    check_rows_alone,
    check_same_draws,
    check_values,
    warn_of_rounding,
)
from trickless.neurons.named import make_neurons

#: Rows and neurons with which a family is checked, and the most columns if neurons are wide.
_TRIAL_ROWS, _TRIAL_NEURONS, _TRIAL_COLUMNS = 64, 16, 2**16

#: Multiplications for each row and neuron, of learners that take steps on blocks of neurons.
_PRODUCTS = 512
#: The most cuts of a tree of automatic depth, for learners that evaluate all leaves.
_MOST_CUTS = 4


class NeuronLearner(Learner):
    """A learner of drawn neurons.

    ``neurons_`` is the fitted family. ``_stream_`` draws its neurons from the seed, if the learner
    keeps coefficients of neurons.

    Parameters
    ----------
    neurons : Neurons or str, default="gaussian"
        The family of neurons, or its name, such as "gaussian", "stumps" or "tabular". "auto"
        compares several families. See :mod:`trickless.neurons`.

    Attributes
    ----------
    neurons_ : Neurons
        The fitted family.
    feature_importances_ : array of shape (n_features,)
        How much each feature matters, if the family learned that. See
        ``length_scale="relevance"`` of :class:`~trickless.neurons.Gaussian`.
    """

    #: Whether the learner takes steps on the leaves of trees, and need not evaluate all of them.
    _by_leaves: ClassVar[bool] = False
    #: Whether the learner relies on the bound of the activations.
    _bounded: ClassVar[bool] = True
    #: Whether it accepts arrays of other libraries, and processes them on their device.
    _on_devices: ClassVar[bool] = False
    _fixed: ClassVar[tuple[str, ...]] = ("neurons", "dtype")
    _smaller = "a smaller n_neurons, neurons of a smaller width or depth, or fewer rows at a time"
    _rules = Learner._rules | {
        "dtype": DTYPE,
        "n_neurons": count("it counts draws of w; n_neurons=1000 is a good start"),
    }

    neurons: Neurons | str
    neurons_: Neurons
    _first_batch_: FirstBatch | None = None
    _scores_of_search: tuple[float, ...] | None = None

    def check_state(self) -> None:
        super().check_state()
        check_same("features of neurons_", self.neurons_.n_features_in_, self.n_features_in_)
        if self.neurons_.inputs_ is not None:
            known, there = self._rows_.inputs(self, self.n_features_in_), self.neurons_.inputs_
            codes = known.n_categories.tolist()
            check_same("categories of neurons_", there.n_categories.tolist(), codes)
            check_same("shape of neurons_", there.shape, known.shape)
        if self._rows_.kind.layout.any_length:  # which compiled code relies on
            check_same("whether rows have any length", self.neurons_._layout.any_length, True)
        if self._first_batch_ is not None:
            check_same(
                "columns of _first_batch_", len(self._first_batch_.mean), self.n_features_in_
            )

    @property
    def _planned_neurons(self) -> int:
        """The number of neurons at the end of the fit."""
        return int(vars(self)["n_neurons"])

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much each feature matters, shape (n_features,); the shares sum to 1.

        For boosted trees, they are the shares of the features in the cuts. Otherwise they come from
        a family that learned the relevance of features. It fits a function for that. The shares are
        the mean squares of its derivatives, times the variances of the features.
        """
        check_is_fitted(self)
        found = self._importances()
        if found is None:
            raise MissingAttributeError(
                f"{type(self).__name__}: the neurons were drawn without learning which features "
                "matter, so there are no feature_importances_",
                "length_scale='relevance' or "
                "feature_weights='relevance' of the neurons; BoostedTrees; for series, "
                "trickless.inspection.occlusion_importance; or "
                "sklearn.inspection.permutation_importance",
            )
        return found

    @property
    def search_scores_(self) -> np.ndarray:
        """Scores of the compared families, if several were compared."""
        check_is_fitted(self)
        if self._scores_of_search is None:
            raise MissingAttributeError(
                f"{type(self).__name__}: no families were compared, so there are no search_scores_",
                "neurons='auto', length_scale='auto' or search=",
            )
        return np.array(self._scores_of_search)

    @property
    def _products(self) -> int:
        """About how many multiplications the fit takes for a row."""
        return self._planned_neurons * _PRODUCTS

    def _alpha_of_choice(self, n_rows: int) -> float | None:
        """Return the regularisation strength for comparing families; None if it is chosen, too."""
        alpha = getattr(self, "alpha", None)
        return None if isinstance(alpha, str) else alpha

    def _importances(self) -> np.ndarray | None:
        """Return how much each feature matters, if that is known."""
        return learned_relevance(self.neurons_)

    def _kind_of_rows(self) -> Kind:
        return Kind(make_neurons(self.neurons), self._on_devices)

    def set_params(self, **params: Any) -> NeuronLearner:
        """Set parameters of the learner.

        A learner with the parameter ``neurons`` also takes parameters of the family, as in
        ``neurons__length_scale=2``. If ``neurons`` is a name, the family of that name replaces it
        first.

        Parameters
        ----------
        **params
            Parameters and their new values.

        Returns
        -------
        self
        """
        neurons = params.get("neurons", self.neurons)
        if isinstance(neurons, str) and any(key.startswith("neurons__") for key in params):
            params["neurons"] = make_neurons(neurons)
        return super().set_params(**params)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        neurons = self.neurons
        known = isinstance(neurons, str | Neurons)
        tags.input_tags.sparse = known and make_neurons(neurons).accepts_sparse
        tags.input_tags.allow_nan = known and make_neurons(neurons).accepts_tables
        tags.input_tags.three_d_array = known and make_neurons(neurons)._layout.reads_arrays
        tags.array_api_support = self._on_devices
        return tags


def choose_neurons(
    learner: NeuronLearner,
    X: Any,
    targets: np.ndarray,
    weight: np.ndarray | None,
    families: list[Neurons] | None = None,
    groups: np.ndarray | None = None,
) -> None:
    """Fit families to the first batch, and choose one from the data.

    Sets ``neurons_``, and ``search_scores_`` if several families were compared. By default there is
    only the learner's family. ``groups`` are numbers, of rows that are left out together.
    """
    families = [clone(make_neurons(learner.neurons))] if families is None else families
    for family in families:
        _fit_family(learner, family, X, weight)
        if not learner._by_leaves:
            family._set_depth(X.shape[0], _MOST_CUTS)
    alpha = learner._alpha_of_choice(X.shape[0])
    sample = X, targets, weight, learner._products, learner._seed_, learner.n_jobs, alpha
    with learner._progress(1, "choice", "choosing neurons") as bar:
        learner.neurons_, scores = choose(families, *sample, groups)
        if scores is not None:
            learner._scores_of_search = tuple(scores.tolist())
        bar.update()
    _take_neurons(learner, X)
    _warn_of_linear(learner, X, targets, weight, groups)


def _warn_of_linear(
    learner: NeuronLearner,
    X: Any,
    targets: np.ndarray,
    weight: np.ndarray | None,
    groups: np.ndarray | None,
) -> None:
    """Warn if a linear function of many features predicts much better than the neurons."""
    family, n_neurons = learner.neurons_, learner._planned_neurons
    if learner._rows_.place is not HOST:
        return
    sample = X, targets, weight, learner._seed_, learner.n_jobs, groups
    found = compare_with_linear(family, n_neurons, *sample)
    if found is None or not found.clearly_better:
        return
    model = "RidgeClassifier" if isinstance(learner, ClassifierMixin) else "Ridge"
    name = type(family).__name__
    remedy = f"{model} of scikit-learn"
    if name != "Landmarks":
        remedy = f"neurons='auto', which tries Landmarks, in a KitchenSinks model; or {remedy}"
    warn(
        f"{type(learner).__name__}: neurons={name}: a linear function of the {X.shape[1]:,} "
        "features predicts rows that are left out much better than these neurons. It explains "
        f"{max(found.linear, 0):.0%} of the variance of the targets, and the neurons explain "
        f"{max(found.neurons, 0):.0%}. Remedy: {remedy}."
    )


def fit_neurons(learner: NeuronLearner, X: Any, weight: np.ndarray | None) -> None:
    """Fit the family of a learner that has no targets, and set ``neurons_``."""
    family = clone(make_neurons(learner.neurons))
    _fit_family(learner, family, X, weight)
    family._set_depth(X.shape[0], _MOST_CUTS)
    learner.neurons_ = family
    _take_neurons(learner, X)


def _fit_family(learner: NeuronLearner, family: Neurons, X: Any, weight: np.ndarray | None) -> None:
    """Fit a family to the first batch."""
    family.inputs_ = learner._rows_.inputs(learner, X.shape[1])
    check_fit_takes_weights(family)
    family.fit(X, generator(learner._seed_, Purpose.FIT), weight)
    check_fitted_family(family)


def _take_neurons(learner: NeuronLearner, X: Any) -> None:
    """Try the neurons that were chosen on the first batch, and take note of it."""
    kind = learner._rows_.kind
    if kind.tables and not learner.neurons_.accepts_tables:
        kind.without_gaps = type(learner.neurons_).__name__
    kind.any_code = learner.neurons_._any_code
    if (columns := learner._rows_.columns) is not None and not kind.any_code:
        learner._rows_.columns = columns.without_later()
    takes, place = takes_from_data(learner.neurons_), learner._rows_.place or place_of(X)
    learner._first_batch_ = FirstBatch(X, place) if takes else None
    try_neurons(learner, X, place, first=True)


def begin_stream(learner: NeuronLearner) -> None:
    """Begin the stream of the chosen neurons."""
    dtype = learner._rows_.dtype
    learner._stream_ = NeuronStream(learner.neurons_, learner._seed_, dtype, kept_bytes())


def receive_rows(
    learner: NeuronLearner,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    classes: Any = None,
    stream: bool = True,
    learned: bool = False,
) -> Batch:
    """Receive a later batch, and check the neurons on a few of its rows."""
    batch = learner._receive_later(X, y, sample_weight, classes, stream, learned)
    if len(batch[1]):
        see_later_rows(learner, batch[0])
    return batch


def see_later_rows(learner: NeuronLearner, X: Any) -> None:
    """Check that the neurons suit the rows of a later batch."""
    try_neurons(learner, X, learner._rows_.place or place_of(X))
    note_later_rows(learner, X)


def note_later_rows(learner: NeuronLearner, X: Any) -> None:
    """Take note of a later batch, and warn if its rows are unlike those of the first."""
    place = learner._rows_.place or place_of(X)
    if learner._first_batch_ is None:
        return
    owner, inputs = type(learner).__name__, learner._rows_.inputs(learner, X.shape[1])
    later = learner._first_batch_.after(X, place)
    learner._first_batch_ = warn_of_later_rows(owner, later, learner.neurons_, inputs)


def try_neurons(learner: NeuronLearner, X: Any, place: Place, first: bool = False) -> None:
    """Check on a few rows that a few neurons behave as their family declares."""
    family, rows = learner.neurons_, X[: min(_TRIAL_ROWS, X.shape[0]), ...]
    trial = _trial(learner) if first else ()
    there = moved(trial, place) if first else _kept_trial(learner, place)
    check_values(family, rows, there, learner._bounded)
    if first:
        check_same_draws(type(family).__name__, trial, _trial(learner))
        check_rows_alone(family, rows, there)
        if place is HOST and learner._rows_.dtype == np.float32 and learner._rows_.resolved:
            warn_of_rounding(family, rows, trial, _trial(learner, np.float64))


def _kept_trial(learner: NeuronLearner, place: Place) -> Weights:
    """Return the same few neurons, which are kept with those of the stream, if there is one."""
    stream: NeuronStream | None = vars(learner).get("_stream_")
    if stream is None:
        return moved(_trial(learner), place)
    return stream.kept(f"trial on {place}", lambda: moved(_trial(learner), place))


def _trial(learner: NeuronLearner, dtype: Any = None) -> Weights:
    rng = generator(learner._seed_, Purpose.TRIAL)
    width, n = learner.neurons_.width, _TRIAL_NEURONS
    if is_count(width):  # as is checked later
        n = max(1, min(n, _TRIAL_COLUMNS // width))
    return draw(learner.neurons_, rng, n, learner._rows_.dtype if dtype is None else dtype)

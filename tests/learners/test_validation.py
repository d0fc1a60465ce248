"""Bad input: the parameter, the value, the cause and the remedy are named."""

import datetime
import inspect
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError

from cases import (
    CLASSIFIERS,
    EVERY,
    LEARNERS,
    REGRESSORS,
    TREE_LEARNERS,
    answers,
    inputs,
    name_of,
    problem,
    takes_gaps,
)
from trickless import (
    DoublyStochasticClassifier,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    ShrinkingGradientClassifier,
    ShrinkingGradientRegressor,
)
from trickless._rows.refusals import why_no_numbers
from trickless._solvers.least_squares.sums import Sums
from trickless.inspection import Expansion
from trickless.neurons import Dense, Gaussian, Neurons, Stumps
from trickless.neurons.composed import Scaled

every_classifier = pytest.mark.parametrize(
    "learner", [model for model in EVERY if is_classifier(model)], ids=name_of
)
every_regressor = pytest.mark.parametrize(
    "learner", [model for model in EVERY if is_regressor(model)], ids=name_of
)
with_neurons = pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
every_learner = pytest.mark.parametrize("learner", EVERY, ids=name_of)

WRONG = {
    "n_neurons": [0, -5, 1.5, "many", None, True],
    "neurons": ["gaussain", Gaussian, 3, None],
    "random_state": [-1, "seed", 1.5],
    "n_jobs": [0, 1.5, "all"],
    "dtype": ["float16", "int", None, int],
    "verbose": ["yes"],
    "error_bars": ["yes", None],
    "half_life": [0, -1.0, "long", True, np.nan, datetime.timedelta(0)],
    "alpha": [-1.0, "best", np.nan, np.inf, None],
    "step_size": [0, -1.0, "large", np.inf],
    "schedule": ["cosine", None],
    "class_weight": ["even", 3, {0: -1.0}, {0: "heavy"}],
    "early_stopping": ["yes", None],
    "search": ["neurons__length_scale", {}, {"neurons__length_scale": 1.0}, {"alpha": [1.0]}],
    "weight_bound": [0, -1.0, "tight"],
    "fit_intercept": ["yes", None, 2],
    "solver": ["cholesky", None, 3],
    "tol": [-1.0, "small", None],
    "warm_start": ["yes", None],
    "horizon": [0, 2.5, "long"],
    "batch_size": [0, -3, 2.5, "small"],
    "neurons_per_step": [0, 2.5],
    "n_candidates": [0, 2.5, 1001],
    "n_trees": [0, -5, 1.5, "many", None, True],
    "learning_rate": [0, 1.5, "fast", None],
    "max_depth": [0, 17, 1.5, "deep", None],
    "l2_regularization": [-1.0, "much", None],
    "leaves": ["curved", None],
    "shape": ["round", None],
    "monotonic_cst": ["up", 3],
    "interaction_cst": ["all", 3],
    "loss": ["l1", None],
    "epsilon": [-0.1, "small"],
    "quantile": [0, 1.0, -0.1, "median", None, [], [0.5, 0.1], [0.1, 0.1], [0.1, 1.0], [[0.1]]],
    "n_draws": [0, 2.5],
    "norm_bound": [0, -1.0, np.inf],
    "estimate": ["best", None],
    "average": ["yes", None],
    "max_support": [1, 0, 2.5, "all"],
    "kernel": ["gauss", None, 3],
    "kernel_params": ["gamma", 0.5],
    "kernel_bound": [0, -1.0, "large"],
    "estimate_bound": [0, -1.0, "large"],
    "max_iter": [0, 2.5, "many"],
    "y_range": ["wide", (1, -1), (0, 1, 2), (0, np.inf), 3, None, ("a", "b")],
}


@every_learner
def test_every_parameter_is_checked(learner):
    X, y = problem(learner)
    parameters = set(learner.get_params(deep=False))
    assert parameters <= set(WRONG)
    for name in parameters:
        for value in WRONG[name]:
            model = clone(learner).set_params(**{name: value})
            with pytest.raises((ValueError, TypeError), match=rf"{name}=.*Remedy: ") as caught:
                model.fit(X, y)
            assert repr(value) in str(caught.value)


@every_learner
def test_integers_begin_where_they_make_sense(learner):
    lowest = {"max_support": 2}  # and 1 otherwise
    for name, rule in learner._rules.items():
        for low in re.findall(r"an integer of at least (-?\d+)", rule.wanted):
            assert int(low) == lowest.get(name, 1), name
            assert rule.accepts(int(low))
            assert not rule.accepts(int(low) - 1)


@every_learner
def test_remedies_that_name_the_default_are_right(learner):
    parameters = inspect.signature(type(learner)).parameters
    for name, rule in learner._rules.items():
        for named, value in re.findall(r"(\w+)=([^ ,]+) is the default", rule.remedy):
            assert named == name
            assert float(value) == parameters[name].default


@every_learner
def test_rows_that_are_not_numbers_are_refused(learner):
    X, y = problem(learner)
    refused = [(np.inf, "infinity"), (-np.inf, "infinity")]
    if not takes_gaps(learner):
        refused.append((np.nan, "NaN"))
    if np.dtype(learner._row_dtype or learner._value("dtype")) == np.float32:
        refused.append((1e300, "too large for dtype"))
    for bad, message in refused:
        broken = X.copy()
        broken[3, 1] = bad
        with pytest.raises(ValueError, match=f"X contains .*{message}"):
            clone(learner).fit(broken, y)
        model = clone(learner).fit(X, y)
        with pytest.raises(ValueError, match=f"X contains .*{message}"):
            model.predict(broken)


@every_learner
def test_shapes_are_checked(learner):
    X, y = problem(learner)
    model = clone(learner)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.predict(X)
    model.fit(X, y)
    calls = [model.predict]
    if hasattr(learner, "partial_fit"):
        calls.append(lambda X: model.partial_fit(X, y))
    for call in calls:
        with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4"):
            call(X[:, :3])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match="0 sample"):
        model.fit(X[:0], y[:0])
    with pytest.raises(ValueError, match="0 feature"):
        model.fit(X[:, :0], y)


@every_learner
def test_a_refused_batch_leaves_the_model_as_it_was(learner):
    if not hasattr(learner, "partial_fit"):
        pytest.skip("learns from all rows at once")
    X, y = problem(learner)
    model = clone(learner).set_params(random_state=0).fit(X, y)
    before = answers(model, X)
    bad_y = y.astype(float)
    bad_y[0] = np.nan
    for batch in ((X[:, :3], y), (np.full_like(X, np.inf), y), (X, bad_y)):
        with pytest.raises(ValueError, match=r"features|infinity|NaN"):
            model.partial_fit(*batch)
        np.testing.assert_array_equal(answers(model, X), before)


@every_classifier
def test_labels_are_checked(learner):
    X, y = problem(learner)
    with pytest.raises(ValueError, match=r"only one class, 1.*Remedy: check the split"):
        clone(learner).fit(X, np.ones(len(X), dtype=int))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        clone(learner).fit(X, y + 0.5 * X[:, 0])
    model = clone(learner).partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"label\(s\) \[7\].*classes \[0, 1, 2\].*Remedy"):
        model.partial_fit(X, np.where(y == 0, 7, y))


@every_regressor
def test_a_different_number_of_outputs_is_refused(learner):
    X, y = problem(learner)
    model = clone(learner).fit(X, y)
    with pytest.raises(ValueError, match=r"2 outputs, but the first batch had 1.*Remedy"):
        model.partial_fit(X, np.column_stack([y, y]))


@pytest.mark.parametrize(
    "learner",
    [m for m in EVERY if "sample_weight" in inspect.signature(m.fit).parameters],
    ids=name_of,
)
def test_weights_are_checked(learner):
    X, y = problem(learner)
    ones = np.ones(len(X))
    for weight, message in (
        (-ones, r"sample_weight holds -1 \(row 0\).*cannot be negative.*Remedy"),
        (0 * ones, r"sample_weight is zero for all 120 rows.*Remedy"),
        (ones[:-1], r"sample_weight has the shape \(119,\), but 120 rows.*Remedy"),
        (ones[:, None], r"sample_weight has the shape \(120, 1\).*Remedy: .*ravel"),
        (np.nan * ones, r"sample_weight holds NaN \(row 0\).*Remedy"),
        (np.inf * ones, r"sample_weight holds inf \(row 0\).*Remedy"),
        (1e-320 * ones, r"sample_weight has values from .*1e-100 to 1e\+100.*Remedy"),
        (scipy.sparse.csr_matrix(ones), r"sample_weight is a sparse matrix.*Remedy"),
        (ones + 1j, r"sample_weight has the type complex128.*Remedy"),
        (np.full(120, "heavy"), r"sample_weight contains text, 'heavy'.*Remedy"),
        ([[1.0], [1.0, 2.0]], r"sample_weight cannot be read as numbers.*Remedy"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            clone(learner).fit(X, y, sample_weight=weight)


class DenseOnly(Neurons):
    def draw(self, rng, n):
        return (rng.standard_normal((n, self.n_features_in_)),)

    def activate(self, X, weights):
        return np.tanh(X @ weights[0].T)


@with_neurons
def test_sparse_rows_are_refused_where_the_family_cannot_take_them(learner):
    X, y = problem(learner)
    sparse = scipy.sparse.csr_matrix(X)
    model = clone(learner).set_params(neurons=DenseOnly())
    message = r"X is a sparse matrix of shape \(120, 4\).*DenseOnly neurons.*Remedy: pass X.toarray"
    with pytest.raises(TypeError, match=message):
        model.fit(sparse, y)
    model.fit(X, y)
    with pytest.raises(TypeError, match=message):
        model.predict(sparse)


@with_neurons
def test_a_user_defined_family_works_in_with_neurons(learner):
    X, y = problem(learner)
    model = clone(learner).set_params(neurons=DenseOnly(), random_state=0).fit(X, y)
    assert np.isfinite(answers(model, X)).all()


def test_losses_without_a_link_have_no_probabilities():
    X, y = problem(CLASSIFIERS[0])
    model = DoublyStochasticClassifier(n_neurons=64, loss="hinge").fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(X)


def test_a_weight_can_leave_one_class():
    X, y = problem(CLASSIFIERS[0])
    with pytest.raises(ValueError, match="only one class"):
        KitchenSinksClassifier(n_neurons=20).fit(X, y, sample_weight=(y == 1).astype(float))


def test_unusual_but_sound_data_are_learned_from():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(30)
    for X in (
        np.ones((30, 3)),
        np.repeat(inputs(3, 2), 10, axis=0),
        inputs(30, 1),
        np.asfortranarray(inputs(30, 3)),
        inputs(60, 3)[::2],
        rng.integers(0, 5, (30, 3)),
        inputs(30, 3) > 0,
        inputs(30, 3).astype("float16"),
        1e-30 * inputs(30, 3),
        1e12 * inputs(30, 3),
    ):
        for learner in REGRESSORS:
            assert np.isfinite(clone(learner).fit(X, y).predict(X)).all()


@pytest.mark.parametrize("neurons", ["gaussian", "stumps", "tabular"])
def test_one_row_is_warned_of_where_neurons_depend_on_the_rows(neurons):
    model = KitchenSinksRegressor(neurons, n_neurons=20)
    with pytest.warns(UserWarning, match=r"X has one row.* keep .*Remedy: begin with a batch"):
        model.fit([[1.0, 2.0]], [3.0])
    assert model.predict([[0, 0]]) == 3
    model.set_params(neurons=Gaussian(1.0)).fit([[1.0, 2.0]], [3.0])


@with_neurons
def test_a_refused_fit_leaves_the_model_as_it_was(learner):
    X, y = problem(learner)
    model = clone(learner).set_params(random_state=0).fit(X, y)
    before, state = answers(model, X), set(vars(model))
    other = np.array(["a", "b"])[(y > 0).astype(int)] if learner in CLASSIFIERS else 1000 * y
    with pytest.raises(TypeError, match="is a sparse matrix"):
        clone(model).set_params(neurons=DenseOnly()).fit(scipy.sparse.csr_matrix(X), other)
    model.set_params(random_state="x")
    with pytest.raises(ValueError, match="random_state='x'"):
        model.fit(X[:, :2], other)
    np.testing.assert_array_equal(answers(model, X), before)
    assert set(vars(model)) == state
    never = clone(learner).set_params(neurons=DenseOnly())
    with pytest.raises(TypeError, match="sparse"):
        never.partial_fit(scipy.sparse.csr_matrix(X), y)
    with pytest.raises(NotFittedError):
        never.predict(X)
    never.set_params(neurons="gaussian").partial_fit(X, y)


@pytest.mark.parametrize("learner", LEARNERS + TREE_LEARNERS, ids=name_of)
def test_parameters_that_shape_a_model_may_not_change_between_batches(learner):
    X, y = problem(learner)
    changes = {"dtype": "float64", "neurons": "laplace"}
    if learner in TREE_LEARNERS:
        changes = {"max_depth": 3, "leaves": "constant", "shape": "oblivious"}
        changes |= {"monotonic_cst": [1, 0, 0, 0], "interaction_cst": "pairwise"}
    if name_of(learner).startswith("Kitchen"):
        changes["n_neurons"] = 7
    if name_of(learner).startswith("Doubly"):
        changes["loss"] = "squared_error" if learner in CLASSIFIERS else "epsilon_insensitive"
    if hasattr(learner, "y_range"):
        changes["y_range"] = (-100, 100)
    for name, value in changes.items():
        model = clone(learner).set_params(random_state=0).fit(X, y)
        before = answers(model, X)
        model.set_params(**{name: value})
        np.testing.assert_array_equal(answers(model, X), before)
        with pytest.raises(ValueError, match=rf"{name}=.*begun with.*Remedy: set {name} back"):
            model.partial_fit(X, y)


@every_classifier
def test_classes_of_later_batches_must_agree(learner):
    X, y = problem(learner)
    model = clone(learner).partial_fit(X, y, classes=[0, 1, 2])
    model.partial_fit(X, y, classes=[2, 1, 0])
    with pytest.raises(ValueError, match=r"classes=\[0, 1, 2, 3\].*fixed the classes \[0, 1, 2\]"):
        model.partial_fit(X, y, classes=[0, 1, 2, 3])
    with pytest.raises(ValueError, match="classes holds no classes"):
        clone(learner).partial_fit(X, y, classes=[])


MISTAKES = {
    "returned an array of shape": {"activate": lambda self, X, w: np.ones((1, len(w[0])))},
    "returned arrays of shapes": {"draw": lambda self, rng, n: rng.standard_normal((4, n))},
    r"returned arrays of shapes \[\(4,\)\]": {"draw": lambda self, rng, n: (np.ones(4),)},
    "not finite": {"activate": lambda self, X, w: np.nan * X @ w[0].T},
    r"declares bound=1.0, but.*norm": {"activate": lambda self, X, w: 10 * np.tanh(X @ w[0].T)},
    "width=0": {"width": 0},
    "bound=-1": {"bound": -1},
    "type complex": {"activate": lambda self, X, w: np.exp(1j * (X @ w[0].T))},
    "gave different weights from the same seed": {
        "draw": lambda self, rng, n: (np.random.default_rng().standard_normal((n, 4)),)
    },
    "changed X, but": {"activate": lambda self, X, w: np.tanh(np.abs(X, out=X) @ w[0].T)},
    "different numbers for the same rows and weights": {
        "activate": lambda self, X, w: np.tanh(X @ w[0].T) * np.random.default_rng().random()
    },
    "same rows in a smaller block": {
        "activate": lambda self, X, w: np.tanh((X - X.mean(axis=0)) @ w[0].T)
    },
    "did not set n_features_in_": {"fit": lambda self, X, rng, sample_weight=None: self},
}


@pytest.mark.parametrize("message", MISTAKES)
@with_neurons
def test_mistakes_in_a_family_are_explained(learner, message):
    X, y = problem(learner)
    family = type("Mistaken", (DenseOnly,), MISTAKES[message])()
    if "declares" in message and name_of(learner).startswith("Kitchen"):
        clone(learner).set_params(neurons=family).fit(X, y)  # takes no steps, needs no bound
        return
    with pytest.raises((TypeError, ValueError), match=rf"Mistaken.*{message}.*Remedy"):
        clone(learner).set_params(neurons=family).fit(X, y)


@with_neurons
def test_activations_of_integers_are_numbers_too(learner):
    class Halfspaces(DenseOnly):
        def activate(self, X, weights):
            return (weights[0] @ X.T > 0).T

    class Floats(Halfspaces):
        def activate(self, X, weights):
            return super().activate(X, weights).astype(X.dtype)

    X, y = problem(learner)
    models = [
        clone(learner).set_params(neurons=family(), random_state=0).fit(X, y)
        for family in (Halfspaces, Floats)
    ]
    np.testing.assert_array_equal(answers(models[0], X), answers(models[1], X))


@with_neurons
def test_a_loss_of_digits_is_warned_of(learner):
    X, y = problem(learner)
    for column, offset in ((2, 1e8), (None, 1e9)):
        far = X.copy() if column is not None else np.column_stack([X, np.full(len(X), offset)])
        if column is not None:
            far[:, column] += offset
        with pytest.warns(
            UserWarning, match=r"column [24] of X reaches 1e\+0.*Remedy: standardise"
        ):
            clone(learner).fit(far, y)
        clone(learner).set_params(dtype="float64").fit(far, y)
    clone(learner).fit(X + 100, y)


@pytest.mark.parametrize("dtype", [np.float32, np.dtype("float64"), "f8"])
def test_precisions_may_be_given_as_numpy_types(dtype):
    X, y = problem(REGRESSORS[0])
    model = KitchenSinksRegressor(n_neurons=20, dtype=dtype).fit(X, y)
    assert model.network_.coef.dtype == np.dtype(dtype)


class WithParameters(DenseOnly):
    def __init__(self, table=None, helper=None):
        self.table = table
        self.helper = helper


@with_neurons
def test_parameters_of_a_family_are_compared_by_value(learner):
    X, y = problem(learner)
    family = WithParameters(np.zeros(5000), object())
    model = clone(learner).set_params(neurons=family).partial_fit(X, y)
    model.partial_fit(X, y)
    model.neurons.table[2500] = 1.0
    with pytest.raises(ValueError, match=r"(?s)neurons=.*begun with"):
        model.partial_fit(X, y)


def test_a_loss_of_digits_is_reported_at_the_line_of_the_user():
    X, y = problem(REGRESSORS[0])
    with pytest.warns(UserWarning, match="column") as caught:
        KitchenSinksRegressor(n_neurons=20).fit(X + 1e9, y)
    assert caught[0].filename == __file__


def test_wrong_expansions_are_refused():
    X = inputs(5, 2)
    neurons = Gaussian().fit(X, np.random.default_rng(0))
    for alpha in (np.ones(5), np.ones((4, 1))):
        with pytest.raises(
            ValueError, match=r"Expansion: support has shape \(5, 2\) and dual_coef"
        ):
            Expansion(neurons, X, alpha)
    with pytest.raises(TypeError, match="dtype int64"):
        Expansion(neurons, np.ones((5, 2), dtype=int), np.ones((5, 1)))


def test_a_network_checks_its_rows():
    X, y = problem(REGRESSORS[0])
    network = KitchenSinksRegressor("stumps", 20).fit(X, y).network_
    with pytest.raises(ValueError, match="X has 8 columns, but the neurons were fitted on 4"):
        network(np.hstack([X, X]))
    with pytest.raises(ValueError, match="not finite"):
        KitchenSinksRegressor("gaussian", 20).fit(X, y).network_(np.nan * X)


def test_a_model_that_was_not_begun_has_nothing_of_one():
    X, y = problem(REGRESSORS[0])
    for model in (
        DoublyStochasticClassifier(alpha=2.0, step_size=0.5, schedule="constant"),
        ShrinkingGradientClassifier(batch_size=64),
    ):
        state = set(vars(model))
        with pytest.raises(ValueError, match="Remedy"):
            model.partial_fit(X, y > 0)
        assert set(vars(model)) == state
        with pytest.raises(NotFittedError):
            model.predict(X)


@with_neurons
def test_parameters_changed_in_place_are_noticed(learner):
    X, y = problem(learner)
    model = clone(learner).set_params(neurons=Gaussian(1.0)).partial_fit(X, y)
    model.neurons.length_scale = 3.0
    with pytest.raises(ValueError, match=r"length_scale=3.0.*begun with.*length_scale=1.0"):
        model.partial_fit(X, y)


with_class_weights = pytest.mark.parametrize(
    "learner",
    [model for model in EVERY if "class_weight" in model.get_params()],
    ids=name_of,
)


@with_class_weights
def test_a_class_of_weight_zero_is_left_out(learner):
    X, y = problem(learner)
    X, y = X[np.argsort(y, kind="stable")], np.sort(y)
    model = clone(learner).set_params(class_weight={0: 0.0}, random_state=0).fit(X, y)
    assert (model.predict(X) != 0).any()
    with pytest.raises(ValueError, match=r"class_weight=.*every one of 120 rows.*Remedy"):
        clone(learner).set_params(class_weight={0: 0.0, 1: 0.0, 2: 0.0}).fit(X, y)
    if hasattr(learner, "partial_fit"):
        streamed = clone(learner).set_params(class_weight={2: 5.0})
        streamed.partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
        with pytest.raises(ValueError, match="every one of"):
            clone(learner).set_params(class_weight={0: 0.0}).partial_fit(
                X[y == 0], y[y == 0], classes=[0, 1, 2]
            )


def test_weights_beyond_squaring_are_refused():
    X, y = problem(REGRESSORS[0])
    for size in (1e-165, 1e155):
        with pytest.raises(ValueError, match=r"sample_weight has values from .*Remedy: divide"):
            KitchenSinksRegressor(n_neurons=20).fit(X, y, np.full(len(y), size))


@pytest.mark.parametrize("learner", REGRESSORS[:2], ids=name_of)
def test_targets_beyond_the_precision_are_refused(learner):
    X, y = problem(learner)
    with pytest.raises(ValueError, match=r"y reaches .*dtype='float32'.*Remedy: scale y"):
        clone(learner).fit(X, 1e39 * y)
    clone(learner).set_params(dtype="float64").fit(X, 1e39 * y)


def test_equal_rows_have_all_their_digits():
    X = np.repeat(inputs(1, 3), 20, 0)
    model = KitchenSinksRegressor("stumps", 20, random_state=0).fit(X, np.arange(20.0))
    np.testing.assert_allclose(model.predict(X), 9.5, rtol=1e-6)


@every_learner
def test_columns_that_are_not_numbers_are_named(learner):
    X, y = problem(learner)
    frame = pd.DataFrame(X, columns=list("abcd"))
    for column, held in (
        ([[1.0]] * len(X), "has the type object"),
        (["red"] * len(X), "contains text"),
        ([None, *X[1:, 0]], "contains missing values"),
    )[: 1 if takes_gaps(learner) else None]:
        with pytest.raises(ValueError, match=rf"column 'c' of X {held}.*Remedy"):
            clone(learner).fit(frame.assign(c=column), y)


@pytest.mark.parametrize(
    ("place", "value", "held"),
    [
        ((3, 1), np.nan, "column 1 of X contains missing values"),
        ((0, 2), -np.inf, "column 2 of X contains infinity"),
        ((5, 0), "red", "column 0 of X contains text, 'red'"),
        ((5, 3), None, "column 3 of X contains missing"),
        ((5, 3), pd.NA, "column 3 of X contains missing"),
        ((5, 3), b"red", "column 3 of X contains text, b'red'"),
        ((5, 3), pd.NaT, "column 3 of X contains missing"),
        ((5, 3), np.timedelta64("NaT", "s"), "column 3 of X contains missing"),
        ((5, 3), np.timedelta64(3, "D"), "column 3 of X contains durations, np.timedelta64(3,'D')"),
    ],
)
@every_learner
def test_the_column_that_holds_no_number_is_named_in_arrays_and_lists(learner, place, value, held):
    X, y = problem(learner)
    rows = X.astype(object)
    rows[place] = value
    finite = "infinity" not in held  # which no family takes
    if "missing" in held and takes_gaps(learner):
        assert np.isfinite(answers(clone(learner).fit(rows, y), rows)).all()
        return
    what = re.escape(held) + (".*Remedy: .*pipeline" if finite else ".*Remedy: replace it by")
    for broken in (rows, rows.tolist()):
        with pytest.raises(ValueError, match=what):
            clone(learner).fit(broken, y)
    if "neurons" in learner.get_params(deep=False) and finite:
        with pytest.raises(ValueError, match=r"Remedy: neurons=Tabular\(\)"):
            clone(learner).fit(rows, y)


@pytest.mark.parametrize(
    "X",
    [
        [[1.0, 2.0], [3.0]],
        np.ones((3, 2)) * 1j,
        np.ones(3),
        scipy.sparse.coo_array(np.ones(3)),
        np.ones((3, 0)),
        7,
    ],
    ids=str,
)
def test_input_that_is_no_matrix_of_numbers_is_refused(X):
    assert why_no_numbers(X, "") is None
    with pytest.raises((TypeError, ValueError)):
        KitchenSinksRegressor(random_state=0).fit(X, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("X", ["text", None, {1, 2}, {"a": [1.0]}, iter([[1.0]])], ids=type)
def test_input_that_is_no_table_is_named_by_its_value_or_type(X):
    what = re.escape(repr(X) if isinstance(X, str | None) else f"a {type(X).__name__}")
    with pytest.raises(ValueError, match=f"X is {what}, but it must be a table.*Remedy: .*"):
        KitchenSinksRegressor(random_state=0).fit(X, [1.0, 2.0, 3.0])


@every_learner
def test_a_cell_that_holds_several_numbers_is_named(learner):
    X, y = problem(learner)
    rows = X.astype(object)
    rows[5, 3] = [1.0, 2.0]
    with pytest.raises(ValueError, match=r"column 3 of X .* list, \[1.0, 2.0\].*Remedy: a column"):
        clone(learner).fit(rows, y)


def test_a_sparse_matrix_names_its_column():
    X = np.eye(40, 5)
    X[7, 4] = np.nan
    with pytest.raises(ValueError, match="column 4 of X contains missing values"):
        KitchenSinksRegressor(random_state=0).fit(scipy.sparse.csr_array(X), np.arange(40.0))


@every_learner
def test_infinite_values_of_both_signs_are_refused_without_a_warning(learner):
    X, y = problem(learner)
    X[:2, 0] = np.inf, -np.inf
    with pytest.raises(ValueError, match="X contains infinity"):
        clone(learner).fit(X.astype(object), y)


@every_classifier
def test_labels_that_have_no_order_are_refused(learner):
    X, y = problem(learner)
    with pytest.raises(TypeError, match=r"y holds labels that cannot be classes:.*Remedy"):
        clone(learner).fit(X, np.array([0, "v", 1], dtype=object)[y])
    with pytest.raises(TypeError, match=r"classes holds labels that cannot be classes.*Remedy"):
        clone(learner).partial_fit(X, y, classes=np.array([0, "v", 1], dtype=object))


@every_classifier
@pytest.mark.filterwarnings("ignore:Support for labels represented as bytes:FutureWarning")
def test_labels_of_bytes_are_refused(learner):
    X, y = problem(learner)
    said = (
        r"y holds labels that cannot be classes:.*Remedy|a legacy multi-label"  # scikit-learn 1.6
    )
    with pytest.raises((TypeError, ValueError), match=said):
        clone(learner).fit(X, np.array([b"u", b"v", b"w"], dtype=object)[y])


def test_one_weight_for_all_rows_is_no_weight():
    X, y = problem(REGRESSORS[0])
    model = KitchenSinksRegressor(n_neurons=20, random_state=0)
    expected = clone(model).fit(X, y, np.full(len(y), 2.0)).predict(X)
    np.testing.assert_array_equal(model.fit(X, y, 2.0).predict(X), expected)


@every_regressor
def test_targets_whose_squares_overflow_are_refused(learner):
    X, y = problem(learner)
    for size in (1e150, 1e307):
        model = clone(learner)
        if "dtype" in model.get_params():
            model.set_params(dtype="float64")
        said = rf"y reaches .*dtype='{np.dtype(model._value('dtype'))}'.*Remedy: scale y"
        with pytest.raises(ValueError, match=said):
            model.fit(X, size * y)
    with pytest.raises(ValueError, match=r"y_range reaches 1e\+38, .*Remedy"):
        ShrinkingGradientRegressor(y_range=(-1e38, 0.0)).fit(X, -np.abs(y))


def test_weights_beyond_the_precision_are_refused():
    X, y = problem(REGRESSORS[0])
    with pytest.raises(ValueError, match=r"Gaussian: .* weights reach .*float32.*Remedy: scale X"):
        KitchenSinksRegressor(n_neurons=20).fit(1e-42 * X, y)
    with pytest.raises(ValueError, match=r"Sinks.*: .* coefficients reach .*Remedy: scale X"):
        KitchenSinksRegressor("coordinates", 20, random_state=0).fit(1e-40 * X, X[:, 0])
    for learner in REGRESSORS:
        with pytest.raises(ValueError, match=r"not finite for finite rows. Remedy: scale X"):
            clone(learner).set_params(neurons=Gaussian(1e-5), dtype="float64").fit(1e305 * X, y)


@pytest.mark.parametrize("neurons", ["tabular", "stumps", "ferns", Scaled(Stumps(), 2.0)], ids=str)
def test_values_that_single_precision_makes_equal_are_told(neurons):
    """Times with a value that stands for none, and chances that are next to nothing."""
    rng = np.random.default_rng(0)
    times = 1_700_000_000 + rng.integers(0, 100, 500) * 1.0
    times[:5] = 0
    model = KitchenSinksRegressor(neurons, 20, random_state=0)
    for column in (times, 10.0 ** rng.uniform(-200, 0, 500)):
        X = np.stack([rng.standard_normal(500), column], axis=1)
        with pytest.warns(UserWarning, match=r"different values of column 1 of X.*Remedy: dtype"):
            model.fit(X, X[:, 0])
        clone(model).set_params(dtype="float64").fit(X, X[:, 0])
    model.fit(np.round(X, 1), X[:, 0])


def test_inputs_below_single_precision_are_told():
    X, y = problem(REGRESSORS[0])
    for learner in REGRESSORS[:2]:
        with pytest.warns(UserWarning, match=r"column \d of X reaches .*e-46.*Remedy"):
            clone(learner).set_params(neurons=Dense()).fit(1e-46 * X, y)


@every_classifier
def test_classes_are_any_collection_of_labels(learner):
    X, y = problem(learner)
    for classes in ([0, 1, 2], {0, 1, 2}, {0: "a", 1: "b", 2: "c"}.keys(), np.arange(3)):
        model = clone(learner).partial_fit(X, y, classes=classes)
        model.partial_fit(X, y, classes=classes)
        assert model.classes_.tolist() == [0, 1, 2]
    for classes, what in ((2, "must hold"), ("ab", "must hold"), ([0, 1, np.nan], "NaN")):
        with pytest.raises((TypeError, ValueError), match=rf"classes=.*{what}.*Remedy"):
            clone(learner).partial_fit(X, y, classes=classes)
        with pytest.raises((TypeError, ValueError), match=rf"classes=.*{what}.*Remedy"):
            model.partial_fit(X, y, classes=classes)


class OldFit(DenseOnly):
    def fit(self, X, rng):
        return super().fit(X, rng)


def test_families_whose_fit_takes_no_weights_are_told_what_to_take():
    X, y = problem(REGRESSORS[0])
    for family in (OldFit(), Scaled(OldFit(), 2.0)):
        with pytest.raises(TypeError, match=r"OldFit\.fit cannot .*Remedy: def fit\(self"):
            KitchenSinksRegressor(family, 20).fit(X, y)


def test_memory_that_is_too_small_is_told_with_a_remedy(monkeypatch):
    def full(*_, **__):
        raise MemoryError("Unable to allocate 15 GiB")

    X, y = problem(REGRESSORS[0])
    monkeypatch.setattr(Sums, "summed", full)
    with pytest.raises(MemoryError, match=r"Sinks.*: memory is too small: .*15 GiB\. Remedy: a sm"):
        KitchenSinksRegressor().fit(X, y)


def test_weights_that_are_no_numbers_are_not_called_zero():
    X, y = problem(REGRESSORS[0])
    with pytest.raises((TypeError, ValueError), match="NaN"):
        KitchenSinksRegressor(n_neurons=20).fit(X, y, sample_weight=[None] * len(y))


@pytest.mark.parametrize("values", [[True, False], [np.True_, np.False_], [0, 1]], ids=str)
def test_objects_that_are_all_booleans_or_integers_are_labels(values):
    X, _ = problem(KitchenSinksClassifier())
    y = np.array(values * len(X), dtype=object)[: len(X)]
    model = KitchenSinksClassifier("stumps", 20, random_state=0).fit(X, y)
    assert model.classes_.dtype.kind in "bi"
    assert model.classes_.tolist() == sorted(map(type(model.classes_.tolist()[0]), values))
    model.score(X, pd.Series(y))


@pytest.mark.parametrize(
    ("labels", "types"),
    [([1, "a"], "int and str"), ([Decimal(1), Decimal(2)], "Decimal"), ([b"a", b"b"], "bytes")],
    ids=str,
)
def test_labels_of_types_that_cannot_be_classes_are_told_by_their_types(labels, types):
    X, _ = problem(KitchenSinksClassifier())
    y = np.array(labels * len(X), dtype=None if types == "bytes" else object)[: len(X)]
    with pytest.raises(TypeError, match=f"y holds labels .*type is {types}. Remedy") as error:
        KitchenSinksClassifier("stumps", 20).fit(X, y)
    assert str(error.value).count("Remedy") == 1
    KitchenSinksClassifier("stumps", 20, random_state=0).fit(X, np.asarray(y).astype(str))


def test_equal_values_of_other_types_are_checked_apart():
    """Checks of values that never change are remembered, and True == 1 == 1.0."""
    X, y = problem(KitchenSinksClassifier())
    for _ in range(2):
        KitchenSinksClassifier("stumps", 1).fit(X, y)
        for wrong in (True, 1.0):
            with pytest.raises(TypeError, match="n_neurons="):
                KitchenSinksClassifier("stumps", wrong).fit(X, y)


def test_a_few_rows_to_predict_are_checked_as_many_are():
    """A few rows take a shorter way if they are finite numbers, and no other rows do."""
    X, y = problem(KitchenSinksClassifier())
    model = KitchenSinksClassifier("stumps", 20, random_state=0).fit(X, y)
    few = np.array(X[:3], dtype=float)
    many = np.tile(few, (5000 // few.size + 1, 1))
    np.testing.assert_array_equal(model.predict(few), model.predict(many)[:3])
    for value in (np.inf, np.nan):
        wrong = few.copy()
        wrong[1, 0] = value
        with pytest.raises(ValueError, match="Remedy"):
            model.predict(wrong)
    for wrong in (few[:, :-1], few[0], few[:0], few.astype(complex)):
        with pytest.raises((ValueError, TypeError), match="Remedy"):
            model.predict(wrong)

"""Targets, weights and parameters near the ends of the range of numbers: right, or refused."""

import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from cases import CLASSIFIERS, KERNEL_LEARNERS, REGRESSORS, TREE_LEARNERS, inputs, name_of, problem
from trickless import (
    BoostedTreesRegressor,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    ShrinkingGradientRegressor,
)
from trickless._learners.first_batch import FirstBatch
from trickless.neurons import Gaussian

LEARNERS_OF_NUMBERS = [
    *REGRESSORS,
    *(model for model in KERNEL_LEARNERS if name_of(model).endswith("Regressor")),
    KitchenSinksRegressor(n_neurons=60, alpha=1e-3),
    KitchenSinksRegressor(Gaussian("median"), 60, alpha=1e-3, solver="iterative"),
    DoublyStochasticRegressor(Gaussian("median"), 400, loss="huber"),
    DoublyStochasticRegressor(Gaussian("median"), 400, early_stopping=True),
    ShrinkingGradientRegressor(Gaussian("median"), 300, n_draws=50, max_support=20),
    TREE_LEARNERS[0],
    BoostedTreesRegressor(20, loss="huber"),
    BoostedTreesRegressor(20, loss="absolute_error"),
]
EXPONENTS = (
    -1074,
    -1060,
    -900,
    -540,
    -400,
    -340,
    -330,
    -200,
    -150,
    -140,
    -98,
    -60,
    60,
    110,
    330,
    900,
)


def begun(learner, exponent=0, **options):
    """A learner for targets times a power of 2, and with them thresholds in the units of y."""
    model = clone(learner)
    options = {"random_state": 0} | options
    model.set_params(**{k: v for k, v in options.items() if k in model.get_params()})
    if "epsilon" in model.get_params() and model.get_params().get("loss") == "huber":
        model.set_params(epsilon=float(np.ldexp(0.5, exponent)))
    return model


@pytest.mark.parametrize(
    ("learner", "dtype", "outputs"),
    [(learner, "float32", 2) for learner in LEARNERS_OF_NUMBERS]
    + [(learner, "float64", 1) for learner in REGRESSORS],
)
def test_targets_of_any_size_are_learned_alike_or_refused(learner, dtype, outputs):
    X, y = problem(learner)
    y = y if outputs == 1 else np.column_stack([y, np.cos(X[:, 0])])
    expected = begun(learner, dtype=dtype).fit(X, y).predict(X)
    refused = 0
    for exponent in EXPONENTS:
        with np.errstate(under="ignore"):
            scaled = np.ldexp(y, exponent)
        try:
            got = begun(learner, exponent, dtype=dtype).fit(X, scaled).predict(X)
        except ValueError as error:
            assert re.search(
                "(y|y_range|epsilon)( of output 0)?( varies|=| reaches).*Remedy", str(error)
            )
            refused += 1
            continue
        atol = (1e-3 if dtype == "float32" else 1e-8) * np.abs(expected).max()
        np.testing.assert_allclose(np.ldexp(got, -exponent), expected, rtol=0, atol=atol)
    assert 3 < refused < len(EXPONENTS) - 3


@pytest.mark.parametrize("learner", LEARNERS_OF_NUMBERS, ids=name_of)
def test_constant_targets_stay_legal(learner):
    X, _ = problem(learner)
    for y in (np.zeros(len(X)), np.full(len(X), 1e-170), 1 + 1e-200 * X[:, 0]):
        got = begun(learner).fit(X, y).predict(X)
        np.testing.assert_allclose(got, y, rtol=1e-6, atol=0)


def test_one_output_that_is_too_small_is_named():
    X, y = problem(REGRESSORS[0])
    with pytest.raises(ValueError, match=r"y of output 1 varies by .*Remedy: scale y"):
        begun(REGRESSORS[0]).fit(X, np.column_stack([y, 1e-170 * y]))


STREAMED = [model for model in LEARNERS_OF_NUMBERS if hasattr(model, "partial_fit")]
STREAMED = [m for m in STREAMED if m.get_params().get("solver") != "iterative"]


@pytest.mark.filterwarnings("ignore:X has one row", "ignore:.*no column of X varies")
@pytest.mark.parametrize("learner", STREAMED, ids=name_of)
def test_streams_that_begin_with_equal_or_tiny_targets(learner):
    X, y = problem(learner)
    if "neurons" in learner.get_params():
        learner = clone(learner).set_params(neurons=Gaussian(1.0))
    normal = {"y_range": (-3.0, 4.0)} if "y_range" in learner.get_params() else {}
    model = begun(learner, **normal).partial_fit(X[:40], np.zeros(40)).partial_fit(X[40:], y[40:])
    assert np.ptp(model.predict(X)) > 0.01
    model.partial_fit(X[:40], 1e-170 * y[:40])  # equal, beside the others
    if normal:
        return
    for size in (40, 1):  # a single row is constant, and the next one differs
        model = begun(learner)
        with pytest.raises(ValueError, match=r"y varies by .*Remedy"):
            for start in range(0, 80, size):
                rows = slice(start, start + size)
                model.partial_fit(X[rows], 1e-170 * y[rows])
    model = begun(learner).partial_fit(X[:40], np.zeros(40))
    with pytest.raises(ValueError, match=r"y varies by .*Remedy"):
        model.partial_fit(X[40:], 1e-170 * y[40:])


def test_models_of_different_tiny_constants_are_not_merged():
    X, _ = problem(REGRESSORS[0])
    models = [
        KitchenSinksRegressor(Gaussian(1.0), 20, random_state=0).fit(X, np.full(len(X), value))
        for value in (1e-170, 2e-170)
    ]
    with pytest.raises(ValueError, match=r"y varies by 1e-170.*Remedy"):
        models[0].merge(models[1])


@pytest.mark.parametrize("width", [1e-320, 1e-170])
def test_a_range_that_is_too_narrow_is_refused(width):
    X, _ = problem(REGRESSORS[0])
    model = ShrinkingGradientRegressor(n_neurons=30, y_range=(0.0, width))
    with pytest.raises(ValueError, match=r"y_range varies by .*Remedy"):
        model.partial_fit(X, np.zeros(len(X)))


def test_relevance_does_not_depend_on_the_unit_of_the_rows():
    X = inputs(150, 3)
    y = np.sin(2 * X[:, 0])
    model = KitchenSinksRegressor(
        Gaussian("relevance"), 60, alpha=1e-3, dtype="float64", random_state=0
    )
    expected = clone(model).fit(X, y).predict(X)
    for exponent in (-900, -560, 560, 900):
        X_scaled = np.ldexp(X, exponent)
        np.testing.assert_allclose(clone(model).fit(X_scaled, y).predict(X_scaled), expected)


def test_weights_of_rows_and_classes_are_checked_together():
    X, y = problem(CLASSIFIERS[0])
    for by_class, weight in (({0: 1e-320}, None), ({0: 1e-90}, 1e-90), ({0: 1e200}, None)):
        model = KitchenSinksClassifier(n_neurons=20, class_weight=by_class)
        weight = None if weight is None else np.full(len(X), weight)
        with pytest.raises(ValueError, match=r"class_weight.* has values from .*Remedy"):
            model.fit(X, y, weight)


def test_scores_of_targets_out_of_range_are_refused():
    X, y = problem(REGRESSORS[0])
    model = begun(REGRESSORS[0]).fit(X, y)
    for scale in (1e-170, 1e170):
        with pytest.raises(ValueError, match=r"y (varies|reaches).*Remedy: scale y"):
            model.score(X, scale * y)
    with pytest.raises((TypeError, ValueError), match=r"sample_weight.*Remedy"):
        model.score(X, y, -np.ones(len(X)))
    assert model.score(X, y, 2.0) == pytest.approx(model.score(X, y))


SMALL = {"KitchenSinks": 12, "DoublyStochastic": 96, "ShrinkingGradient": 40}
ENDS = 5e-324, 1e-310, 1e160, 1.7e308, np.float32(1e-45), np.float16(0.5), np.int64(2**62)
INTEGERS = 2**62, 2**63, 10**30, 10**400, 10**5000, 1e30, 2.0, np.uint64(2**63 + 5), np.int8(100)
#: One of each way to learn, with the parameters of regressors or of classifiers.
WITH_PARAMETERS = CLASSIFIERS[0], *REGRESSORS[1:], KERNEL_LEARNERS[2], *TREE_LEARNERS
#: Parameters whose large values mean work without end.
ENDLESS = "n_neurons", "n_draws", "max_iter", "n_trees"


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.filterwarnings("ignore:.*Remedy")
@pytest.mark.parametrize("learner", WITH_PARAMETERS, ids=name_of)
def test_numbers_at_the_ends_of_their_range_are_taken_or_refused(learner):
    X, y = (part[:24] for part in problem(learner))
    for name, rule in learner._rules.items():
        if "number" not in rule.wanted and "integer" not in rule.wanted:
            continue
        for value in ENDS + INTEGERS:
            if name in ENDLESS and rule.has_type(value) and rule.accepts(value) and value > 100:
                continue
            model = clone(learner).set_params(random_state=0)
            for beginning, n_neurons in SMALL.items():
                if name_of(learner).startswith(beginning):
                    model.set_params(n_neurons=n_neurons)
            try:
                model.set_params(**{name: value}).fit(X, y)
                assert np.isfinite(np.asarray(model.predict(X), dtype=float)).all(), (name, value)
            except (TypeError, ValueError, MemoryError) as error:
                assert "Remedy: " in str(error), (name, error)


def test_integers_of_numpy_do_not_overflow():
    X, y = problem(REGRESSORS[0])
    few = KitchenSinksRegressor(n_neurons=100, random_state=0).fit(X, y)
    same = KitchenSinksRegressor(n_neurons=np.int8(100), random_state=0).fit(X, y)
    np.testing.assert_array_equal(few.predict(X), same.predict(X))
    assert clone(same).n_neurons == 100


@pytest.mark.parametrize("values", [[1.0, -1.0] * 8, [-1.0] * 15 + [1.0]])
def test_the_largest_numbers_of_a_column_do_not_overflow_in_sums(values):
    """Sums of 1.8e308 and −1.8e308 were infinite and then no number."""
    X, y = np.finfo(float).max * np.array(values)[:, None], np.arange(16.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = BoostedTreesRegressor(random_state=0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model._first_batch_.mean).all()


@pytest.mark.parametrize("n", [2, 3, 10])
def test_means_of_the_largest_numbers_do_not_overflow(n):
    """Three thirds of 1.8e308 are rounded up to infinity."""
    assert FirstBatch(np.full((n, 1), np.finfo(float).max)).mean == np.finfo(float).max


def test_distances_beyond_all_numbers_are_no_length_scale():
    """The length scale was infinite, and the model a constant."""
    X, model = np.finfo(float).max * np.array([[1.0], [-1.0]]), Gaussian()
    with pytest.raises(ValueError, match=r"distance between rows of X is inf, .*StandardScaler"):
        KitchenSinksRegressor(model, dtype="float64", random_state=0).fit(X, [0.0, 1.0])

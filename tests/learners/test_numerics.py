"""What is computed is finite, or an error that says what to change."""

import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from cases import answers, inputs, name_of
from trickless import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    ShrinkingGradientClassifier,
    ShrinkingGradientRegressor,
    theory,
)
from trickless.kernels import KernelGradientRegressor
from trickless.neurons import FromFunction, Gaussian


def waves():
    X = inputs(600, 2)
    return X, np.sin(2 * X[:, 0])


def twice(X, frequencies):
    Z = np.cos(X @ frequencies.T + 1)
    return np.hstack([Z, Z])


def frequencies(rng, n, n_features):
    return (rng.standard_normal((n, n_features)),)


#: A family whose two numbers are the same, so that half of all columns are copies.
COPIES = FromFunction(frequencies, twice, width=2, bound=np.sqrt(2))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("options", [{}, {"weight_bound": 1.0}, {"solver": "iterative"}])
@pytest.mark.parametrize("neurons", [COPIES, Gaussian(5.0)], ids=["copies", "smooth"])
def test_collinear_activations_are_solved_or_refused(neurons, options, dtype):
    """Less regularisation fits the training rows better; what rounding would decide is refused."""
    X, y = waves()
    model = KitchenSinksRegressor(neurons, 100, dtype=dtype, random_state=0, **options)
    least = model.set_params(alpha=1e-6).fit(X, y).score(X, y)
    assert least > (0.1 if options.get("weight_bound") else 0.7)
    for alpha in (0.0, 1e-300, 1e-25, 1e-16, 1e-12, 1e-9):
        try:
            model.set_params(alpha=alpha).fit(X, y)
        except (ValueError, ConvergenceWarning) as error:
            assert re.search("alpha.*Remedy: |Remedy: .*alpha", str(error))
            continue
        assert np.isfinite(model.neuron_coef_).all()
        lost = np.sqrt(np.finfo(dtype).eps)  # half of the digits, if columns are copies
        assert model.score(X, y) > least - 2 * model.tol - lost


def test_rounding_that_spoils_the_iterative_solver_is_reported():
    """Products in single precision cannot tell a ridge of 1e-14; the residual does not show it."""
    X, y = waves()
    options = {"alpha": 1e-16, "solver": "iterative", "random_state": 0}
    with pytest.warns(ConvergenceWarning, match=r"risk is above its minimum.*Remedy:.*alpha"):
        KitchenSinksRegressor(Gaussian(5.0), 100, **options).fit(X, y)
    model = KitchenSinksRegressor(Gaussian(5.0), 100, dtype="float64", **options).fit(X, y)
    assert model.score(X, y) > 0.99


@pytest.mark.parametrize("loss", ["log_loss", "squared_hinge", "hinge"])
@pytest.mark.parametrize("classes", [2, 3])
def test_losses_of_rows_that_can_be_parted_stay_finite(loss, classes):
    """Without regularisation their minimisers are at infinity."""
    X, y = waves()
    labels = np.digitize(y, [0.0] if classes == 2 else [-0.5, 0.5])
    for alpha in (0.0, 1e-18, 1e-10):
        model = KitchenSinksClassifier("stumps", 60, alpha=alpha, loss=loss, random_state=0)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(X, labels)
        except ValueError as error:
            # A ridge below the rounding of the system is like none.
            assert alpha < np.finfo(float).eps and re.search("alpha=.*Remedy: ", str(error))
            continue
        assert np.isfinite(model.decision_function(X)).all()
        if hasattr(model, "predict_proba"):
            assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_links_of_enormous_decisions_are_probabilities(classes):
    X, y = waves()
    labels = np.digitize(y, [0.0] if classes == 2 else [-0.5, 0.5])
    model = DoublyStochasticClassifier(Gaussian(1.0), n_neurons=320, random_state=0).fit(X, labels)
    for size in (1e3, 1e20, 1e37):
        huge = model.set_params().fit(X, labels)
        huge._descent_.coef.rows[:] *= size / np.abs(huge.decision_function(X)).max()
        assert np.abs(huge.decision_function(X)).max() > 0.9 * size
        p = huge.predict_proba(X)
        assert np.isfinite(p).all()
        np.testing.assert_allclose(p.sum(axis=1), 1)


DESCENTS = [
    *(
        DoublyStochasticRegressor(
            Gaussian(1.0), 3200, loss=loss, batch_size=50, alpha=0.0, dtype=dtype, step_size=step
        )
        for loss in ("squared_error", "huber", "epsilon_insensitive")
        for dtype, step in (("float32", 1e10), ("float32", 1e39), ("float64", 1e300))
    ),
    *(
        DoublyStochasticClassifier(
            Gaussian(1.0), 3200, loss=loss, batch_size=50, alpha=0.0, step_size=1e39
        )
        for loss in ("log_loss", "hinge", "squared_hinge", "squared_error")
    ),
    ShrinkingGradientRegressor(
        Gaussian(1.0), 400, n_draws=4, schedule="constant", step_size=1.0, estimate="full"
    ),
    ShrinkingGradientRegressor(
        Gaussian(1.0), 400, n_draws=64, schedule="constant", step_size=0.5, estimate="index"
    ),
    ShrinkingGradientClassifier(
        Gaussian(1.0), 400, n_draws=1, schedule="constant", step_size=1.0, estimate="full"
    ),
]


@pytest.mark.parametrize("learner", DESCENTS, ids=name_of)
def test_steps_that_diverge_stop_within_a_pass_and_a_stable_one_is_named(learner):
    X, y = waves()
    if hasattr(learner, "decision_function"):
        y = y > 0
    with pytest.raises(ValueError, match=r"diverged within \d+ steps.*Remedy") as caught:
        clone(learner).set_params(random_state=0).fit(X, y)
    steps = int(re.search(r"within (\d+) steps", str(caught.value))[1])
    assert steps <= len(X)  # Shrinking Gradient takes a step a row
    named = re.search(r"(?:below|at most|up to) (\d[\d.e+-]*\d|\d)", str(caught.value))
    stable = float(named[1])
    model = clone(learner).set_params(random_state=0, step_size=0.99 * stable).fit(X, y)
    assert model.score(X, y) > 0


def test_the_last_finite_state_is_kept_in_a_stream():
    X, y = waves()
    first, rest = slice(0, 100), slice(100, 600)
    for learner, wild in (
        (DoublyStochasticRegressor(Gaussian(1.0), batch_size=50), {"step_size": 1e3}),
        (DoublyStochasticRegressor(Gaussian(1.0), batch_size=50), {"step_size": 1e39}),
        (ShrinkingGradientRegressor(Gaussian(1.0), 400, y_range=(-1, 1), estimate="full"),
         {"n_draws": 1, "schedule": "constant", "step_size": 1.0}),
    ):  # fmt: skip
        if name_of(learner).startswith("Doubly"):
            wild = wild | {"alpha": 0.0}
        model = clone(learner).set_params(random_state=0).partial_fit(X[first], y[first])
        before = answers(model, X)
        model.set_params(**wild)
        with pytest.raises(ValueError, match="diverged"):
            model.partial_fit(X[rest], y[rest])
        assert np.isfinite(answers(model, X)).all()
        if wild["step_size"] == 1e39:  # its first step is not taken
            np.testing.assert_array_equal(answers(model, X), before)


def test_steps_of_the_theorem_stop_where_numbers_overflow():
    X, y = waves()
    model = DoublyStochasticRegressor(
        Gaussian(1.0), batch_size=50, alpha=1e-30, schedule="theorem", random_state=0
    )
    with (
        pytest.warns(UserWarning, match="assumes a bounded slope"),
        pytest.raises(ValueError, match=r"diverged.*mean loss is inf.*Remedy"),
    ):
        model.fit(X, y)


def test_kernels_that_are_none_and_noise_that_feeds_itself_are_reported():
    X, y = waves()
    options = {"schedule": "constant", "random_state": 0}
    sigmoid = KernelGradientRegressor(
        "sigmoid", kernel_params={"coef0": 0.5}, kernel_bound=1.0, step_size=1.0, **options
    )
    with pytest.raises(ValueError, match=r"diverged.*Remedy: a positive semi-definite kernel"):
        sigmoid.fit(X, y)

    def shots(X, Y, rng):
        return rng.binomial(1, np.minimum(rbf_kernel(X, Y), 1)).astype(float)

    noisy = KernelGradientRegressor(shots, n_draws=4, step_size=0.5, **options)
    with pytest.raises(ValueError, match=r"diverged.*step_size=0.5; take a step_size of at most"):
        noisy.fit(X, y)
    noisy.set_params(schedule="sqrt").fit(X, y)


TOO_FAR = [
    (theory.shrinking_gradient_constants, (10_000, 1e-300)),
    (theory.shrinking_gradient_constants, (10**400, 1.0)),
    (theory.shrinking_gradient_regret, (10_000, 1e300, 0.005)),
    (theory.shrinking_gradient_regret, (10_000, np.float16(0.5), 1e-300)),
    (theory.kitchen_sinks_bound, (10, 10, 1e300, 1e300, 0.05)),
]


@pytest.mark.parametrize(("function", "arguments"), TOO_FAR)
def test_theory_out_of_the_range_of_numbers_is_refused(function, arguments):
    with pytest.raises(ValueError, match=rf"{function.__name__}: no result for .*Remedy"):
        function(*arguments)


@pytest.mark.parametrize("size", [-1.0, np.nan, np.inf, "1", np.array([1.0, -1.0])])
def test_distances_are_checked(size):
    with pytest.raises(ValueError, match=r"distances=.*at least 0, or an array.*Remedy"):
        theory.shrinking_gradient_regret(10, 1.0, 0.1, half_life=5, distances=size)


@pytest.mark.parametrize("bound", [1e-300, 1e-200, 1e200, 1.7e308])
@pytest.mark.parametrize("alpha", [1e-5, 1e-300, 0])
def test_extreme_bounds_of_weights_do_not_overflow(bound, alpha):
    """Units of the descent are a part of the bound only while it is moderate."""
    X = np.random.default_rng(0).standard_normal((100, 2))
    how = {"weight_bound": bound, "alpha": alpha, "random_state": 0}
    model = KitchenSinksRegressor("gaussian", 20, **how).fit(X, X[:, 0])
    assert (model.score(X, X[:, 0]) > 0.5) == (bound > 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of a minimum at infinity
        labels = X[:, 0] > 0
        model = KitchenSinksClassifier(Gaussian(1.0), 20, loss="log_loss", **how).fit(X, labels)
    assert (model.score(X, labels) > 0.9) == (bound > 1)


@pytest.mark.parametrize("loss", ["log_loss", "hinge", "squared_hinge"])
def test_the_largest_tolerance_stops_at_once(loss):
    X = np.random.default_rng(0).standard_normal((100, 2))
    model = KitchenSinksClassifier("gaussian", 20, loss=loss, tol=1e300, random_state=0)
    assert model.fit(X, X[:, 0] > 0).n_iter_ <= 8

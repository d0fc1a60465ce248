"""Shrinking Gradient in streams that drift: f fades, and old support points are dropped."""

import pickle

import numpy as np
import pytest

import trickless
from trickless import ShrinkingGradientClassifier, ShrinkingGradientRegressor
from trickless._learners.online import recipe_of
from trickless._solvers.rounds.coefficients import Coefficients
from trickless.kernels import KernelGradientRegressor
from trickless.neurons import Gaussian
from trickless.theory import shrinking_gradient_regret

HALF_LIFE = 100


def rows(n, seed=0, sign=1):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 1))
    return X, sign * np.sin(2 * X[:, 0])


def regressor(**parameters):
    how = {"half_life": HALF_LIFE, "random_state": 0, "y_range": (-1, 1), "n_neurons": 300}
    how["n_draws"] = 128
    return ShrinkingGradientRegressor(Gaussian(1.0), **how | parameters)


def learned(model, n, size=100, seed=0, sign=1):
    X, y = rows(n, seed, sign)
    for start in range(0, n, size):
        model.partial_fit(X[start : start + size], y[start : start + size])
    return model


def losses(model, sign=1):
    X, y = rows(1000, seed=99, sign=sign)
    return (model.predict(X) - y) ** 2


def n_points(model):
    return model.expansion_.support.shape[0]


def test_coefficients_and_their_average_are_those_of_literal_fading():
    rng = np.random.default_rng(0)
    lazy, literal, total, weight = Coefficients(2), np.zeros((0, 2)), np.zeros((300, 2)), 0.0
    for t in range(300):
        kept = 2.0 ** -rng.uniform(0, 0.2)
        lazy.fade(-np.log2(kept))
        literal, total, weight = literal * kept, total * kept, weight * kept
        total[: len(literal)] += literal
        weight += 1
        lazy.count_rounds(1)
        shrink = rng.random(2) < 0.05
        lazy.shrink(shrink)
        new = rng.standard_normal((1, 2))
        lazy.append(new)
        literal = np.vstack([literal / np.where(shrink, 4, 1), new])
        if t == 150:
            lazy.settle(literal.copy(), total[: len(literal)] / weight)
    np.testing.assert_allclose(lazy.last(), literal, rtol=1e-9)
    np.testing.assert_allclose(lazy.average(), total / weight, rtol=1e-9)
    assert lazy.n_counted == pytest.approx(weight)
    n = lazy.n_faded
    expected = lazy.average()[n:]
    assert 0 < n < 300
    lazy.drop(n)
    np.testing.assert_array_equal(lazy.average(), expected)
    np.testing.assert_allclose(lazy.last(), literal[n:], rtol=1e-9)


@pytest.mark.parametrize("average", [True, False])
def test_rounds_with_the_exact_kernel_are_ten_literal_lines(average):
    X, y = rows(200)
    K, eta, rho = np.exp(-0.5 * (X - X.T) ** 2), 0.2, 2 ** (-1 / 50)
    alpha, total, weight = np.zeros(200), np.zeros(200), 0.0
    for t in range(200):
        alpha, total, weight = rho * alpha, rho * total, rho * weight
        total, weight = total + alpha, weight + 1
        alpha[t] = eta * (y[t] - K[t] @ alpha)
    how = {"kernel_params": {"gamma": 0.5}, "schedule": "constant", "step_size": eta}
    model = KernelGradientRegressor(**how, batch_size=1, y_range=(-1, 1), random_state=0)
    model.partial_fit(X[:1], y[:1])
    schedule = recipe_of(model).schedule
    recipe = recipe_of(model)._replace(schedule=schedule._replace(half_life=50))
    rounds = model._rounds_.fork()
    rounds.learn(X[1:], y[1:, None], recipe)
    expected = total / weight if average else alpha
    np.testing.assert_allclose(rounds.alpha(average)[:, 0], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("parameters", [{}, {"max_support": 200}])
def test_the_memory_of_an_endless_stream_is_bounded_of_points(parameters):
    model, sizes = regressor(half_life=40, n_neurons=64, **parameters), []
    for part in range(5):
        learned(model, 400, seed=part)
        assert n_points(model) <= 9.2 * 40 + 5  # a batch has an eighth of 40 rows
        sizes.append(len(pickle.dumps(model)))
    # What grows is the curve of errors, by 80 records for each part, until it is full.
    assert sizes[-1] - sizes[1] < 3 * 80 * 40


@pytest.mark.parametrize(
    ("parameters", "average"),
    [({}, True), ({}, False), ({"max_support": 200}, True), ({"schedule": "constant"}, False)],
)
def test_a_stream_recovers_from_an_abrupt_change_of_points(average, parameters):
    """A fresh model has seen only rows after the change. What is left has faded by 2⁻⁶."""
    parameters = parameters | {"average": average}
    if "schedule" in parameters:
        parameters["step_size"] = 0.2
    models = [learned(regressor(half_life=h, **parameters), 1000) for h in (HALF_LIFE, None)]
    models.append(regressor(**parameters))
    for model in models:
        learned(model, 600, seed=1, sign=-1)
    forgets, keeps, fresh = (losses(model, sign=-1) for model in models)
    assert forgets.mean() < 1.5 * fresh.mean() + 0.01
    if average:
        assert keeps.mean() > forgets.mean() + 10 * (keeps - forgets).std() / 1000**0.5


def test_a_stationary_stream_loses_little_of_points():
    models = [learned(regressor(half_life=h), 2000) for h in (500, None)]
    forgets, keeps = (losses(model).mean() for model in models)
    assert forgets < keeps + 0.02


def test_no_half_life_is_a_half_life_without_an_end():
    models = [
        learned(regressor(half_life=h, average=a), 300) for h in (None, 1e15) for a in (False, True)
    ]
    X, _ = rows(50, seed=9)
    for average in (0, 1):
        expected, found = (model.predict(X) for model in models[average::2])
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("parameters", [{}, {"max_support": 200}])
def test_saved_in_the_middle_of_a_stream_of_points(parameters, tmp_path):
    model = learned(regressor(half_life=50, **parameters), 1000)
    trickless.save(model, tmp_path / "model")
    others = [trickless.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))]
    learned(model, 500, seed=1)
    X, _ = rows(50, seed=9)
    for other in others:
        learned(other, 500, seed=1)
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        np.testing.assert_array_equal(other.online_error_, model.online_error_)


def test_batches_of_any_size_and_fit_are_one_stream():
    """Only the order of the rows counts, so long as the rounds take the same rows together."""
    X, y = rows(600)
    options = {"batch_size": 1, "half_life": 50}
    expected = learned(regressor(**options), 600, 100)
    for model in (learned(regressor(**options), 600, 7), regressor(**options).fit(X, y)):
        np.testing.assert_array_equal(model.expansion_.dual_coef, expected.expansion_.dual_coef)


def test_an_older_state_stays():
    model = learned(regressor(half_life=50), 500)
    older, X = model._rounds_, rows(50, seed=9)[0]
    before, n = older.alpha(True).copy(), len(older.support)
    learned(model, 500, seed=1)
    np.testing.assert_array_equal(older.alpha(True), before)
    assert len(older.support) == n
    assert np.isfinite(model.predict(X)).all()


def test_classes_of_a_stream_that_turns_over():
    rng = np.random.default_rng(0)
    model = ShrinkingGradientClassifier(Gaussian(1.0), half_life=200, random_state=0)
    for turn in (False, True):
        for _ in range(10):
            X = rng.normal(size=(100, 2))
            y = (X[:, 0] > 0) ^ turn
            model.partial_fit(X, y, classes=[False, True])
    X = rng.normal(size=(500, 2))
    assert (model.predict(X) == (X[:, 0] < 0)).mean() > 0.9


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"half_life": 0}, "half_life=0"),
        ({"half_life": -2}, "half_life=-2"),
        ({"half_life": "auto"}, "half_life='auto'"),
        ({"half_life": 9, "schedule": "theorem", "horizon": 9}, "one function for all rows"),
    ],
)
def test_bad_input_changes_nothing_of_points(parameters, message):
    model = regressor(**parameters)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(*rows(3))
    assert not hasattr(model, "_rounds_")


def test_regret_is_not_known_for_rows_that_have_faded():
    model = learned(regressor(), 100)
    with pytest.raises(ValueError, match=r"half_life has .*Remedy: half_life=None"):
        _ = model.regret_


def turning(T, half_turns, rng):
    """Rows, targets, and comparators of norm 1 that turn in a plane: g_t(x_t), and distances."""
    centres = rng.normal(size=(2, 2))
    K = np.exp(-0.5 * ((centres[:, None] - centres) ** 2).sum(axis=2))
    basis = np.linalg.inv(np.linalg.cholesky(K))  # rows: orthonormal functions
    angle = np.pi * half_turns * np.arange(T) / T
    a = np.column_stack([np.cos(angle), np.sin(angle)]) @ basis
    X = centres[rng.integers(2, size=T)] + 0.3 * rng.normal(size=(T, 2))
    g = (a * np.exp(-0.5 * ((X[:, None] - centres) ** 2).sum(axis=2))).sum(axis=1)
    y = np.clip(g + 0.1 * rng.normal(size=T), -1, 1)
    return X, y, g, np.full(T - 1, 2 * np.sin(np.pi * half_turns / T / 2))


@pytest.mark.parametrize("abrupt", [False, True])
def test_the_tracking_regret_stays_below_its_bound(abrupt):
    """Comparators turn by π, slowly or at once, and estimates are noisy; over six seeds."""
    T, eta, half_life, m = 300, 0.13, 88, 40
    regrets, bounds = [], []
    for seed in range(6):
        X, y, g, distances = turning(T, 1, np.random.default_rng(seed))
        if abrupt:
            X, y, g, _ = turning(T, 0, np.random.default_rng(seed))
            turn = np.where(np.arange(T) < T // 2, 1, -1)
            y, g, distances = y * turn, g * turn, 2.0
        model = regressor(
            half_life=half_life,
            norm_bound=1.0,
            schedule="constant",
            step_size=eta,
            batch_size=1,
            n_draws=m,
            estimate="full",
            average=False,
            dtype="float64",
            random_state=seed,
        )
        model.partial_fit(X[:1], y[:1])
        rounds, recipe = model._rounds_.fork(), recipe_of(model)
        played, variance = np.zeros(T), 0.0
        for t in range(1, T):
            alpha = 2 ** (-1 / half_life) * rounds.alpha(False)[:, 0]
            played[t] = np.exp(-0.5 * ((rounds.rows - X[t]) ** 2).sum(axis=1)) @ alpha
            if t % 20 == 0:
                K = np.exp(-0.5 * ((rounds.rows[:, None] - rounds.rows) ** 2).sum(axis=2))
                variance = max(variance, alpha @ K @ alpha / m)
            rounds.learn(X[t : t + 1], y[t : t + 1, None], recipe)
        assert (g - y) @ (g - y) / 2 < T / 2
        regrets.append(((played - y) ** 2 - (g - y) ** 2).sum() / 2)
        how = {"half_life": half_life, "distances": distances}
        bounds.append(shrinking_gradient_regret(T, 1.0, eta, variance, **how))
    regrets, bounds = np.array(regrets), np.array(bounds)
    standard_error = regrets.std(ddof=1) / 6**0.5
    assert 0 < regrets.mean() < bounds.mean() - 3 * standard_error
    # The bound says something: predicting 0 loses more than it, against these comparators' norm.
    assert bounds.mean() < T / 2


def test_the_tracking_bound_is_that_computed_by_hand():
    T, B, eta, V = 100, 2.0, 0.1, 0.5
    phi = 1 - 2 ** (-1 / 10)
    S = ((eta + eta**2 * V) / (1 - (1 - phi) ** 2)) ** 0.5
    cost = 0.5 * min(2 * (S + B), 0.5 / phi) + 4.0 * min(2 * (S + B), 4.0 / phi)
    expected = B**2 * (1 + phi * T) / (2 * eta) + (1 - phi) * cost / (2 * eta)
    expected = (expected + eta * T / 2 * (1 + V)) / (1 - eta)
    found = shrinking_gradient_regret(T, B, eta, V, half_life=10, distances=np.array([0.5, 4.0]))
    assert found == pytest.approx(expected)
    assert 0.5 / phi > 2 * (S + B) or 4.0 / phi > 2 * (S + B)
    one = shrinking_gradient_regret(T, B, eta, V, half_life=1e14)
    assert one == pytest.approx(shrinking_gradient_regret(T, B, eta, V))
    with pytest.raises(ValueError, match="distances=-1"):
        shrinking_gradient_regret(T, B, eta, half_life=10, distances=-1.0)

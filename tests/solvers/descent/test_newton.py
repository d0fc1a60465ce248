"""Newton steps on leaves: slopes and curvatures of losses, sums by leaf, and whole fits."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import is_regressor

import naive
from trickless import DoublyStochasticClassifier, DoublyStochasticRegressor
from trickless.functions.stream import NeuronStream
from trickless.neurons import Trees
from trickless.solvers.class_losses import Hinge, Logistic, Softmax, SquaredHinge
from trickless.solvers.descent.batches import MiniBatch
from trickless.solvers.descent.descent import Descent
from trickless.solvers.descent.slopes import Units, in_units, safe_share, units_of
from trickless.solvers.descent.steps.leaves import Leaves, leaf_coefficients
from trickless.solvers.descent.steps.newton import Newton
from trickless.solvers.named_losses import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    make_loss,
)
from trickless.solvers.number_losses import EpsilonInsensitive, Huber, Squared

TWICE = [Squared(), Logistic(), Softmax(), SquaredHinge()]
LOSSES = [*TWICE, Huber(0.3), EpsilonInsensitive(0.3), Hinge()]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)


def points(n=200, outputs=3):
    """Decision values, and targets of which one is +1 in each row."""
    rng = np.random.default_rng(0)
    positive = np.arange(outputs) == rng.integers(outputs, size=(n, 1))
    return 2 * rng.standard_normal((n, outputs)), np.where(positive, 1.0, -1.0)


def slope_of(function, f, output, h=1e-5):
    step = h * (np.arange(f.shape[1]) == output)
    return (function(f + step) - function(f - step)) / (2 * h)


@every_loss
def test_slopes_of_newton_steps_are_minus_the_derivative(loss):
    f, y = points()
    g, _ = loss.newton(f, y)
    for k in range(f.shape[1]):
        slope = slope_of(lambda f: loss.value(f, y), f, k)
        np.testing.assert_allclose(g[:, k], -slope, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("loss", TWICE, ids=lambda loss: type(loss).__name__)
def test_curvatures_are_second_derivatives_where_there_are_any(loss):
    """The softmax loss leaves one direction of its outputs free, which makes up for k / (k − 1)."""
    for outputs in (2, 3, 7):
        f, y = points(outputs=outputs)
        f[np.abs(1 - y * f) < 1e-3] += 0.01  # away from the corner of the squared hinge
        _, h = loss.newton(f, y)
        factor = outputs / (outputs - 1) if isinstance(loss, Softmax) else 1.0
        for k in range(outputs):
            second = slope_of(lambda f, y=y, k=k: loss.derivative(f, y)[:, k], f, k)
            np.testing.assert_allclose(h[:, k], factor * second, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("loss", [Huber(0.3), EpsilonInsensitive(0.3), Hinge()])
def test_parabolas_that_touch_a_bent_loss_are_above_it(loss):
    """So a step on them descends; at least a tenth of the unit away from the corners."""
    f, y = points(outputs=1)
    y = y if isinstance(loss, Hinge) else 0 * y
    corners = (y,) if isinstance(loss, Hinge) else (y - 0.3, y + 0.3)
    far = np.min([np.abs(f - corner) for corner in corners], axis=0) > 0.1
    f, y = f[far[:, 0]], y[far[:, 0]]
    g, h = loss.newton(f, y, np.ones(1))
    value = loss.value(f, y)
    for step in np.linspace(-9, 9, 181):
        parabola = value - g[:, 0] * step + h[:, 0] * step**2 / 2
        assert (loss.value(f + step, y) <= parabola + 1e-12).all()


@every_loss
def test_curvatures_are_finite_and_not_negative_everywhere(loss):
    far = [0.0, 1.0, -1.0, 0.3, -0.3, 1e-300, 30, -30, 800, -800, 1e100, -1e100]
    for outputs in (1, 3) if not isinstance(loss, Softmax) else (3,):
        f = np.array(far)[:, None] * np.ones(outputs)
        for sign in (-1.0, 1.0):
            y = np.full(f.shape, sign) * np.where(np.arange(outputs) == 0, 1, -1)
            g, h = loss.newton(f, y, np.full(outputs, 1.0))
            assert g.shape == h.shape == f.shape
            assert np.isfinite(g).all()
            assert np.isfinite(h).all()
            assert (h >= 0).all()


def test_curvatures_of_bent_losses_are_in_the_unit_of_the_targets():
    f, y = points(outputs=1)
    for unit in (1e-6, 1e6):
        loss, scaled = EpsilonInsensitive(0.3), EpsilonInsensitive(0.3 * unit)
        g, h = scaled.newton(unit * f, unit * y, np.array([unit]))
        np.testing.assert_allclose(g, loss.newton(f, y)[0])
        np.testing.assert_allclose(h, loss.newton(f, y)[1] / unit)
        assert h.max() <= 10 / unit * (1 + 1e-12)


@pytest.mark.parametrize("name", sorted({*REGRESSION_LOSSES, *CLASSIFICATION_LOSSES, "softmax"}))
def test_steps_on_one_leaf_converge_to_the_minimiser(name):
    rng = np.random.default_rng(0)
    loss = make_loss("log_loss", 3) if name == "softmax" else make_loss(name, 1, 0.2)
    if name in REGRESSION_LOSSES:
        y = rng.exponential(size=(301, 1)) + 3
    elif name == "softmax":
        y = np.where(np.arange(3) == rng.choice(3, 300, p=[0.05, 0.25, 0.7])[:, None], 1.0, -1.0)
    else:
        y = rng.choice([1.0, -1.0], (300, 1), p=[0.9, 0.1])
    start = y.mean(axis=0) if name in REGRESSION_LOSSES else np.zeros(y.shape[1])
    unit = np.abs(y - start).mean(axis=0)
    f = np.broadcast_to(start, y.shape)
    for _ in range(400):
        g, h = loss.newton(f, y, unit)
        f = f + 0.3 * g.sum(axis=0) / h.sum(axis=0)

    def risk(c):
        return loss.value(np.broadcast_to(c, y.shape), y).mean()

    best = minimize(risk, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    share = 1e-2 if name in ("hinge", "epsilon_insensitive") else 1e-4  # steps jump at corners
    assert risk(f[0]) <= best.fun + share * (risk(start) - best.fun) + 1e-12


@every_loss
def test_bending_bounds_the_change_of_the_curvature(loss):
    """If it is 0, the curvature is constant or touches from above, and a whole step is safe."""
    if not loss.bending:
        assert not isinstance(loss, (Logistic, Softmax))
        return
    f, y = points(2000)
    f *= 3
    _, h = loss.newton(f, y)
    for k in range(3):
        third = slope_of(lambda f, k=k: loss.newton(f, y)[1][:, k], f, k)
        assert (np.abs(third) <= loss.bending * h[:, k] * (1 + 1e-5) + 1e-9).all()
        assert (np.abs(third) > 0.9 * loss.bending * h[:, k]).any()


@every_loss
@pytest.mark.parametrize("gamma", [0.07, 0.5, 1.0])
def test_a_step_on_a_leaf_of_any_rows_descends(loss, gamma):
    """Of rows that are nearly certain, too, whose curvature vanishes: there it must be cut short.

    The curvature of the hinge and of the absolute error is limited near their corners, where steps
    may ascend a little.
    """
    rng = np.random.default_rng(0)
    bounded = isinstance(loss, (Hinge, EpsilonInsensitive))
    for scale in (0.1, 1.0, 5.0, 12.0):
        f, y = points(40)
        f, y = scale / 2 * f[:, :1], y[:, :1] if not isinstance(loss, Softmax) else y
        f = f * np.ones_like(y)
        for n in (1, 3, 40):
            rows = rng.choice(40, n, replace=False)
            g, h = loss.newton(f[rows], y[rows], 1.0)
            if not h[:, 0].any():
                continue  # beyond the margin of the squared hinge
            coef = g.sum(axis=0)[:1] / h.sum(axis=0)[:1]
            share = safe_share(coef, np.array([gamma]), loss)
            assert 0 < share[0] <= 1
            assert loss.bending or share[0] == 1
            assert share[0] == 1 or gamma > 0.9 or abs(coef[0]) > 2
            moved = f[rows].copy()
            moved[:, 0] += gamma * share[0] * coef[0]
            before, after = (loss.value(values, y[rows]).sum() for values in (f[rows], moved))
            assert after <= before + 1e-9 * abs(before) + 0.05 * n * bounded


@pytest.mark.parametrize("outputs", [1, 2])
def test_coefficients_of_leaves_are_those_of_exact_fractions(outputs):
    rng = np.random.default_rng(0)
    n, width, damping = 100, 8, 0.25
    leaf, units = rng.integers(0, width - 1, n), Units(np.full(outputs, 2.0**-9), 2.0**-5)
    values = rng.integers(-(2**40), 2**40, (2 * outputs, n)).astype(float)
    values[outputs:] = np.abs(values[outputs:])
    sums = Leaves(leaf[None], width, np.array([width])).sums(values, 1)
    g, h = np.split(sums, 2, axis=2)
    coef = leaf_coefficients(g, h, units, damping).reshape(width, outputs)
    for k in range(outputs):
        G, H = ([Fraction(0)] * width for _ in range(2))
        for i, v in enumerate(leaf):
            G[v] += Fraction(int(values[k, i])) / 2**9
            H[v] += Fraction(int(values[outputs + k, i])) / 2**5
        ridge = Fraction(damping) * sum(H) / width
        exact = [float(a / (b + ridge)) for a, b in zip(G, H, strict=True)]
        np.testing.assert_allclose(coef[:, k], exact, rtol=1e-14)
        assert coef[width - 1, k] == 0  # no row is there
    none = np.zeros((width, 1, outputs))
    np.testing.assert_array_equal(leaf_coefficients(none, none, units, damping), 0)


@pytest.fixture
def many_blocks(monkeypatch):
    monkeypatch.setattr("trickless.solvers.descent.slopes._ROWS", 50)
    monkeypatch.setattr("trickless.solvers.descent.slopes._WORTH_THREADS", 1)


@every_loss
def test_slopes_are_multiples_of_units_and_sums_depend_on_no_blocks_or_threads(loss, monkeypatch):
    f, y = points(n=777)
    rng = np.random.default_rng(0)
    weight, scale = rng.exponential(size=777), np.ones(3)
    weight /= weight.mean()
    units = units_of(*loss.newton(np.zeros(y.shape), y, scale), weight)
    leaves = Leaves(rng.integers(0, 16, (2, 777)), 16, np.array([16, 16]))
    found = []
    for size, n_jobs in ((2**14, 1), (50, 1), (50, 3), (7, 2)):
        monkeypatch.setattr("trickless.solvers.descent.slopes._ROWS", size)
        monkeypatch.setattr("trickless.solvers.descent.slopes._WORTH_THREADS", size * 2)
        values = in_units(loss, f, y, weight, units, scale, n_jobs)
        found.append((values, leaves.sums(values, n_jobs)))
        moved = f.copy()
        leaves.add(moved, rng.standard_normal((32, 3)) * 0 + np.arange(96).reshape(32, 3), n_jobs)
        found[-1] += (moved,)
    values = found[0][0]
    np.testing.assert_array_equal(values, np.rint(values))
    g, h = loss.newton(f, y, scale)
    got = values.reshape(2, 3, 777) * np.stack([units.g, units.h])[..., None]
    expected = np.stack([g.T, h.T]) * weight
    np.testing.assert_allclose(got, expected, atol=1e-9 * np.abs(expected).max())
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(one, other)
    coef = np.arange(96).reshape(16, 2, 3)
    values = coef[leaves.numbers[0], 0] + coef[leaves.numbers[1], 1]
    np.testing.assert_allclose(found[0][2], f + values)


def test_units_leave_room_for_sums_and_are_those_of_each_output():
    y = np.array([[1.0, 1e20, 0.0], [-1.0, -3e20, 0.0]]).repeat(500, axis=0)
    units = units_of(*Squared().newton(np.zeros(y.shape), y), None)
    for k, largest in ((0, 1.0), (1, 3e20)):
        assert 2.0**48 <= 1000 * largest / units.g[k] <= 2.0**50
    assert units.g[2] == 0  # as nothing is to be learned
    np.testing.assert_array_equal(np.frexp(units.h)[0], 0.5)
    larger = units.at_least(Units(np.array([1.0, 0.0, 2.0]), 0.0))
    np.testing.assert_array_equal(larger.g, [1.0, units.g[1], 2.0])
    np.testing.assert_array_equal(larger.h, units.h)


FITS = [
    *(DoublyStochasticRegressor(loss=loss, epsilon=0.15) for loss in REGRESSION_LOSSES),
    *(DoublyStochasticClassifier(loss=loss) for loss in CLASSIFICATION_LOSSES),
]


@pytest.mark.parametrize("learner", FITS, ids=lambda learner: f"{learner.loss}-{learner!r:.22}")
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_fit_on_trees_as_they_are_drawn_is_that_of_loops_over_rows(learner, outputs, weighted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 3))
    X[::7, 1] = np.nan
    f = X[:, [0]] * [1, 0, -1] + np.nan_to_num(X[:, [1]]) * [0, 1, 1] + X[:, [2]] ** 2
    weight = rng.integers(1, 4, 90).astype(float)
    if is_regressor(learner):
        y = f[:, :outputs] * [1.0, 100.0, 2.0][:outputs]
        Y, start = y, np.average(y, axis=0, weights=weight if weighted else None)
    elif outputs == 1:
        y = f[:, 0] > 0.5
        share = np.average(y, weights=weight if weighted else None)
        Y, start = np.where(y, 1.0, -1.0)[:, None], np.log([share / (1 - share)])
    else:
        y = f.argmax(axis=1)
        hit = y[:, None] == np.arange(3)
        start = np.log(np.average(hit, axis=0, weights=weight if weighted else None))
        Y, start = np.where(hit, 1.0, -1.0), start - start.mean()
    if learner.loss != "log_loss" and not is_regressor(learner):
        start = np.zeros(outputs)
    model = learner.set_params(
        neurons=Trees(3), n_neurons=9, n_candidates=1, step_size=0.3, damping=0.2,
        early_stopping=False, dtype="float64", random_state=0,
    )  # fmt: skip
    model.fit(X, y, sample_weight=weight if weighted else None)
    weight = weight if weighted else np.ones(90)
    unit = np.average(np.abs(Y - start), axis=0, weights=weight)
    loss = make_loss(learner.loss, outputs, 0.15)

    def newton(f, y):
        return [some[0] for some in loss.newton(f[None], y[None], unit)]

    leaves = model.neurons_.leaf_numbers(X, model.stream_.between(0, 9))
    expected = naive.newton_on_trees(leaves, Y, newton, weight, start, 0.3, 0.2, 8)
    scale = np.abs(expected).max(axis=(0, 1))
    np.testing.assert_allclose(model.neuron_coef_ / scale, expected / scale, atol=1e-10)
    decisions = start + expected[np.arange(9), leaves].sum(axis=1)
    values = model.predict(X) if is_regressor(learner) else model.decision_function(X)
    np.testing.assert_allclose(values.reshape(90, -1) / scale, decisions / scale, atol=1e-9)


def test_a_step_is_the_sum_of_slopes_over_that_of_curvatures_in_each_leaf():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 3)), rng.choice([-1.0, 1.0], (200, 1))
    trees = Trees(depth=3).fit(X, rng)
    network = Descent(NeuronStream(trees, 0, np.float64), np.full(1, 0.5), None)
    loss = Logistic()
    network.n_rows, network.total_weight, network.spread = 200, 200.0, np.ones(1)
    network.units = units_of(*loss.newton(np.full((200, 1), 0.5), y), None)
    step = Newton("Owner", loss, 1, 200, 1, 100, damping=0.2)
    batch = MiniBatch(step.read(trees, X), y)
    weights = network.stream.between(0, 1)
    leaves = step.activations(trees, batch.X, weights, np.float64)
    sums = step.sums(network, batch, leaves, step.slopes(network, batch))
    found = step.direction(network, sums, 1, np.full(1, 0.1), 200)
    p = 1 / (1 + np.exp(-0.5))
    leaf = trees.leaf_numbers(X, weights)[:, 0]
    g = np.array([((y[:, 0] > 0) - p)[leaf == v].sum() for v in range(8)])
    h = np.array([p * (1 - p) * (leaf == v).sum() for v in range(8)])
    np.testing.assert_allclose(found[:, 0], -g / (h + 0.2 * h.mean()), rtol=1e-9)
    f = np.zeros((200, 1))
    step.add(leaves, found, f)
    np.testing.assert_array_equal(f[:, 0], found[leaf, 0])


@pytest.mark.parametrize(("n", "size"), [(4, 0.5), (100, 0.3), (900, 0.1), (10**6, 0.02)])
def test_the_size_of_steps_is_three_over_the_root_of_their_number(n, size):
    step = Newton("Owner", Squared(), 1, 100, 1, n)
    assert step.first_size(0.0, np.ones(1), 0.0, 1.0) == pytest.approx(size)

"""Steps on blocks against the formula of the authors' code, and the search for their length."""

import numpy as np
import pytest

from cases import inputs
from trickless._functions.stream import NeuronStream
from trickless._solvers.class_losses import Logistic
from trickless._solvers.descent.batches import MiniBatch
from trickless._solvers.descent.descent import Descent
from trickless._solvers.descent.step_sizes import Steps
from trickless._solvers.descent.steps import block
from trickless._solvers.descent.steps.block import BlockStep, Damping
from trickless._solvers.number_losses import Squared
from trickless.neurons import Gaussian

SIZES = {"batch_size": 60, "neurons_per_step": 5, "n_neurons": 50}


def begun(targets=None):
    """A network before its first step, a batch, and the activations of five neurons there."""
    X = inputs(60, 3)
    y = np.sin(2 * X[:, :1]) if targets is None else targets
    stream = NeuronStream(Gaussian(1.0).fit(X, np.random.default_rng(0)), 0, np.float64)
    network = Descent(stream, np.zeros(1), None)
    network.steps = Steps("constant", 1.0, 0.0)
    network.n_rows, network.total_weight, network.around = 60, 60.0, 60
    return network, MiniBatch(X, y)


def direction_of(step, network, batch):
    """The direction of a step on the next five neurons, and their activations."""
    weights = network.stream.between(0, 5)
    Z = step.activations(network.neurons, batch.X, weights, np.float64)
    network.weigh(batch)
    sums = step.sums(network, batch, Z, step.slopes(network, batch))
    return step.direction(network, sums, 5, np.ones(1), 60), Z, sums


def test_a_step_solves_the_ridge_problem_of_its_block():
    network, batch = begun()
    step = BlockStep("Owner", Squared(), 1, **SIZES)
    found, Z, _ = direction_of(step, network, batch)
    covariance = Z.T @ Z / 60
    ridge = 1e-4 * np.trace(covariance) / 10 * np.eye(10)
    expected = np.linalg.solve(covariance + ridge, Z.T @ (0 - batch.targets) / 60)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def squares_of(X, network, k, weight=None):
    """The activations of the next neurons, and the covariance of these."""
    Z = network.neurons(X, network.stream.between(0, k))
    share = np.full(len(X), 1 / len(X)) if weight is None else weight / weight.sum()
    return Z, (Z.T * share) @ Z


@pytest.mark.parametrize("k", [5, 40])  # fewer and more columns than rows
@pytest.mark.parametrize("weighted", [False, True])
def test_a_damped_step_is_an_implicit_step_of_the_gradient_flow(k, weighted):
    """c = (Σ/s + d)⁻¹ g, for a share s of the rows so far: the literal formula."""
    network, batch = begun()
    network.n_rows, network.total_weight, network.met = 240, 240.0, 180.0
    network.around = 240
    weight = np.random.default_rng(1).random(60) if weighted else None
    batch.weight = weight
    if weighted:
        network.total_weight = 4 * weight.sum()
    step = BlockStep("O", Squared(), 1, 60, k, 50, damping=Damping(0.3, 0.2))
    weights = network.stream.between(0, k)
    Z = step.activations(network.neurons, batch.X, weights, np.float64)
    network.weigh(batch)
    sums = step.sums(network, batch, Z, step.slopes(network, batch))
    found = step.direction(network, sums, k, np.ones(1), 60)
    Z, covariance = squares_of(batch.X, network, k, weight)
    share = np.full(60, 1 / 60) if weight is None else weight / weight.sum()
    damped = 4 * covariance + (0.5 + 4e-4 * np.trace(covariance) / len(covariance)) * np.eye(2 * k)
    expected = np.linalg.solve(damped, Z.T @ (share[:, None] * (0 - batch.targets)))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_one_block_of_all_neurons_is_ridge_regression():
    network, batch = begun()
    step = BlockStep("Owner", Squared(), 1, **SIZES, damping=Damping(0.5, 0.0))
    found, Z, _ = direction_of(step, network, batch)
    least = 1e-4 * np.trace(Z.T @ Z / 60) / 10
    expected = np.linalg.solve(Z.T @ Z / 60 + (0.5 + least) * np.eye(10), -Z.T @ batch.targets / 60)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_steps_are_longer_where_the_loss_is_flatter():
    """Squares against a loss with the same slopes and a quarter of the curvature."""
    network, batch = begun(np.random.default_rng(0).choice([-1.0, 1.0], (60, 1)))
    network.steps = Steps("constant", 1.0, 0.0)
    damping = Damping(0.5, 0.0)
    squares, _, _ = direction_of(
        BlockStep("O", Squared(), 1, **SIZES, damping=damping), network, batch
    )
    logistic, _, _ = direction_of(
        BlockStep("O", Logistic(), 1, **SIZES, damping=damping), network, batch
    )
    # At f = 0 the slope is a half of that of squares, and the curvature a quarter.
    np.testing.assert_allclose(logistic, 2 * squares, rtol=1e-9)


def test_the_covariance_needs_some_rows_for_each_column(monkeypatch):
    monkeypatch.setattr(block, "_ROWS_PER_COLUMN", 2)
    network, batch = begun()
    step = BlockStep("Owner", Squared(), 1, **SIZES, damping=Damping(0.1, 0.0))
    _, Z, sums = direction_of(step, network, batch)
    np.testing.assert_allclose(sums.covariance, Z[::3].T @ Z[::3] / 20)
    fixed = BlockStep("Owner", Squared(), 1, **SIZES)
    _, Z, sums = direction_of(fixed, network, batch)
    np.testing.assert_allclose(sums.covariance, Z.T @ Z / 60)


def test_tiles_of_the_covariance_do_not_matter(monkeypatch):
    Z = np.random.default_rng(0).standard_normal((30, 7))
    monkeypatch.setattr(block, "_TILE", 3)
    np.testing.assert_allclose(block._products(Z, 2), Z.T @ Z, rtol=1e-12)


def test_the_intercept_takes_a_newton_step_towards_the_shares_of_classes():
    rng = np.random.default_rng(0)
    network, batch = begun(np.where(rng.random((60, 1)) < 0.4, 1.0, -1.0))
    step = BlockStep("Owner", Logistic(), 1, **SIZES, levels=True)
    _, _, sums = direction_of(step, network, batch)
    shift = step.shift(network, sums, 60)
    expected = (np.mean(batch.targets > 0) - 0.5) / 0.25  # slope over curvature, where f is 0
    assert shift == pytest.approx(np.sign(expected) * np.log1p(abs(expected)), rel=0.05)
    assert network.met == pytest.approx(60)
    assert step.shift(network, sums, 60) == pytest.approx(shift)  # all 60 rows so far, again
    assert network.met == pytest.approx(120)
    assert BlockStep("Owner", Logistic(), 1, **SIZES).shift(network, sums, 60) == 0

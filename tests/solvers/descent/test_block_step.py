"""Steps on blocks against the formula of the authors' code, and the search for their length."""

import numpy as np
import pytest
from scipy import linalg

from cases import inputs
from trickless.functions.stream import NeuronStream
from trickless.neurons import Gaussian
from trickless.solvers.class_losses import Logistic
from trickless.solvers.descent.batches import MiniBatch
from trickless.solvers.descent.descent import Descent
from trickless.solvers.descent.step_sizes import Steps
from trickless.solvers.descent.steps.block import BlockStep, searched
from trickless.solvers.number_losses import Squared

SIZES = {"batch_size": 60, "neurons_per_step": 5, "n_neurons": 50}


def begun(targets=None):
    """A network before its first step, a batch, and the activations of five neurons there."""
    X = inputs(60, 3)
    y = np.sin(2 * X[:, :1]) if targets is None else targets
    stream = NeuronStream(Gaussian(1.0).fit(X, np.random.default_rng(0)), 0, np.float64)
    network = Descent(stream, np.zeros(1), None)
    network.steps = Steps("constant", 1.0, 0.0)
    network.n_rows, network.total_weight = 60, 60.0
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
    step = BlockStep("Owner", Squared(), 1, **SIZES, searches=False)
    found, Z, _ = direction_of(step, network, batch)
    covariance = Z.T @ Z / 60
    ridge = 1e-4 * np.trace(covariance) / 10 * np.eye(10)
    expected = np.linalg.solve(covariance + ridge, Z.T @ (0 - batch.targets) / 60)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_length_that_is_found_multiplies_the_direction():
    network, batch = begun()
    fixed, Z, _ = direction_of(
        BlockStep("O", Squared(), 1, **SIZES, searches=False), network, batch
    )
    step = BlockStep("Owner", Squared(), 1, **SIZES)
    found, _, sums = direction_of(step, network, batch)
    p, g = Z @ fixed, -batch.targets  # the fit to the slopes, and the slopes
    covariance = Z.T @ Z / 60
    ridge = 1e-4 * np.trace(covariance) / 10 * np.eye(10)
    columns = np.trace(np.linalg.solve(covariance + ridge, covariance))
    length = searched((p * g).mean(axis=0), (p * p).mean(axis=0), sums.squares, columns, Squared())
    np.testing.assert_allclose(found, length * fixed, rtol=1e-6)
    assert 0.3 < length[0] < 0.7


def test_the_length_of_a_step_is_found_by_leaving_rows_out():
    """Against a fit without each row, where all rows have the same leverage."""
    rng = np.random.default_rng(0)
    Z = linalg.hadamard(64)[:, 1:21].astype(float)
    g = Z[:, :5] @ rng.standard_normal(5) + 2 * rng.standard_normal(64)
    left_out = np.empty(64)
    for i in range(64):
        others = np.arange(64) != i
        left_out[i] = Z[i] @ np.linalg.lstsq(Z[others], g[others], rcond=None)[0]
    r = left_out @ g / (left_out @ left_out)
    p = Z @ np.linalg.lstsq(Z, g, rcond=None)[0]
    squares = np.array([[1.0], [1 / 64], [g @ g / 64], [g @ g / 64], [g @ g / 64]])
    found = searched(np.array([p @ g / 64]), np.array([p @ p / 64]), squares, 20.0, Squared())
    h, whole = 20 / 64, 0.25 + np.sqrt(2 / 20)
    assert 0.01 < r < whole
    assert found == pytest.approx(0.6 * (r / whole * (1 - h)) ** 2)
    noise = rng.standard_normal((100, 64))
    fits = noise @ Z @ Z.T / 64
    steps = []
    for p, g in zip(fits, noise, strict=True):
        squares[2:] = g @ g / 64
        steps += [
            searched(np.array([p @ g / 64]), np.array([p @ p / 64]), squares, 20.0, Squared())
        ]
    assert np.mean(np.array(steps) == 0) > 0.4  # of noise, as often as not


def test_blocks_that_explain_nothing_halve_the_next_ones():
    network, _ = begun()
    step = BlockStep("Owner", Squared(), 1, 60, neurons_per_step=256, n_neurons=1000)
    sizes = []
    for network.idle in (0, 2, 3, 6, 9, 100):
        sizes.append(step.size(network))
    assert sizes == [256, 256, 128, 64, 32, 32]  # cosines have two columns, and 64 are the least
    fixed = BlockStep("Owner", Squared(), 1, 60, 256, 1000, searches=False)
    assert fixed.size(network) == 256


def test_a_block_that_explains_nothing_takes_no_step():
    rng = np.random.default_rng(1)
    found = []
    for _ in range(20):
        network, batch = begun(rng.choice([-1.0, 1.0], (60, 1)))
        direction, _, _ = direction_of(BlockStep("Owner", Squared(), 1, **SIZES), network, batch)
        assert network.idle == (not direction.any())
        found.append(network.idle)
    assert 5 < sum(found) < 20


def test_the_intercept_takes_a_newton_step_towards_the_shares_of_classes():
    rng = np.random.default_rng(0)
    network, batch = begun(np.where(rng.random((60, 1)) < 0.4, 1.0, -1.0))
    step = BlockStep("Owner", Logistic(), 1, **SIZES, levels=True)
    _, _, sums = direction_of(step, network, batch)
    shift = step.shift(network, sums, 60)
    expected = (np.mean(batch.targets > 0) - 0.5) / 0.25  # slope over curvature, where f is 0
    assert shift == pytest.approx(np.sign(expected) * np.log1p(abs(expected)), rel=0.05)
    assert network.levelled == pytest.approx(60)
    assert step.shift(network, sums, 60) == pytest.approx(shift)  # all 60 rows so far, again
    assert BlockStep("Owner", Logistic(), 1, **SIZES).shift(network, sums, 60) == 0

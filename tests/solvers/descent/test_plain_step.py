"""Plain steps against the formula of the paper."""

import numpy as np
import pytest

import naive
from cases import inputs
from trickless._functions.stream import NeuronStream
from trickless._solvers.class_losses import Logistic
from trickless._solvers.descent.batches import MiniBatch
from trickless._solvers.descent.descent import Descent
from trickless._solvers.descent.steps.plain import Plain
from trickless._solvers.number_losses import EpsilonInsensitive, Squared
from trickless.neurons import Gaussian

STEP = Plain("Owner", Squared(), 1, batch_size=30, neurons_per_step=4, n_neurons=40)


def begun(loss=None, outputs=2):
    """A network before its first step, a batch, and the activations of four neurons there."""
    X = inputs(30, 3)
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], (30, outputs))
    stream = NeuronStream(Gaussian(1.0).fit(X, rng), 0, np.float64)
    network = Descent(stream, np.full(outputs, 0.25), None)
    return network, MiniBatch(X, y, rng.random(30))


@pytest.mark.parametrize("loss", [Squared(), Logistic(), EpsilonInsensitive(0.1)])
def test_coefficients_are_means_of_slopes_times_activations(loss):
    network, batch = begun(outputs=1)
    step = Plain("Owner", loss, 1, 30, 4, 40)
    batch.values.f[:] = np.linspace(-1, 1, 30)[:, None]
    weights = network.stream.between(0, 4)
    Z = step.activations(network.neurons, batch.X, weights, np.float64)
    batch.shares = shares = batch.weight / batch.weight.sum()
    sums = step.sums(network, batch, Z, step.slopes(network, batch))
    found = step.direction(network, sums, 4, np.ones(1), 30)
    slope = loss.derivative(batch.f + 0.25, batch.targets)
    for j in range(Z.shape[1]):
        mean = sum(shares[i] * slope[i] * Z[i, j] for i in range(30))
        np.testing.assert_allclose(found[j], mean / 4, rtol=1e-10)
    f = batch.f.copy()
    step.add(Z, found, f)
    np.testing.assert_allclose(f, batch.f + Z @ found)


def test_sums_of_parts_add_up():
    network, batch = begun()
    weights = network.stream.between(0, 4)

    def sums(some):
        some.shares = np.full(len(some), 1 / 30)
        Z = STEP.activations(network.neurons, some.X, weights, np.float64)
        return STEP.sums(network, some, Z, STEP.slopes(network, some))

    halves = [MiniBatch(batch.X[i::2], batch.targets[i::2]) for i in range(2)]
    np.testing.assert_allclose(sums(halves[0]) + sums(halves[1]), sums(batch))


def test_the_first_size_is_half_of_the_largest_stable_one():
    """Without noise to keep small, since few steps follow."""
    step = Plain("Owner", Squared(), 1, batch_size=64, neurons_per_step=32, n_neurons=32)
    limit = 0.1 + 1 / 64 + 1 / 32 + 1 / (64 * 32 * 0.1)
    found = step.first_size(0.5, np.ones(1), eigenvalue=0.1, bound=1.0)
    assert found == pytest.approx(1 / (limit + 0.5))


def test_a_fit_ends_with_the_neurons_that_are_left():
    network, _ = begun()
    assert STEP.size(network) == 4
    network.coef.append(np.zeros((38, network.neurons.width, 2)))
    assert STEP.size(network) == 2


def test_a_whole_fit_is_that_of_the_paper():
    network, batch = begun()
    X, Y = batch.X, batch.targets
    weights = network.stream.between(0, 8)
    blocks = [[weights[0][j] for j in some] for some in (range(4), range(4, 8))]

    def psi(x, w):
        return network.neurons(x[None], (w[None],))[0]

    gammas, batch.shares = [0.5, 0.4], np.full(30, 1 / 30)
    expected = naive.doubly_stochastic(
        [(X, Y - 0.25)] * 2, blocks, psi, lambda f, y: f - y, gammas, alpha=0.0
    )
    for block, gamma in zip((slice(0, 4), slice(4, 8)), gammas, strict=True):
        Z = STEP.activations(network.neurons, X, (weights[0][block],), np.float64)
        sums = STEP.sums(network, batch, Z, STEP.slopes(network, batch))
        new = -gamma * STEP.direction(network, sums, 4, np.full(1, gamma), 30)
        STEP.add(Z, new, batch.values.f)
        network.coef.append(new.reshape(network.neurons.width, 4, 2).swapaxes(0, 1))
    np.testing.assert_allclose(network.coef.rows, expected, atol=1e-12)

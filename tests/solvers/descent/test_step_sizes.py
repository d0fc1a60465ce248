"""Schedules of step sizes, the largest stable step, and how steps of a stream fall."""

import numpy as np
import pytest

from cases import inputs
from trickless._functions.stream import NeuronStream
from trickless._solvers.descent.step_sizes import (
    SizeParameters,
    Steps,
    check_steps,
    largest_eigenvalue,
    stable_step,
)
from trickless._solvers.number_losses import EpsilonInsensitive, Squared
from trickless.neurons import Gaussian

SPREAD = np.array([2.0, 0.5])


def test_schedules_give_the_documented_step_sizes():
    i = np.arange(5)
    np.testing.assert_allclose(Steps("constant", 0.3, 0.5)(i), np.full((5, 1), 0.3))
    np.testing.assert_allclose(Steps("inverse", 0.3, 0.5)(i)[:, 0], 0.3 / (1 + 0.15 * i))
    np.testing.assert_allclose(Steps("theorem", 0.3, 0.5)(i)[:, 0], 0.3 / (1 + i))
    each = Steps("inverse", (0.3, 3.0), (0.1, 1.0))
    np.testing.assert_allclose(each(i)[:, 1], 3 / (1 + 3 * i))
    np.testing.assert_allclose(each(2), each(i)[2])
    np.testing.assert_allclose(each.kept(np.array([0.5, 0.25])), [0.95, 0.75])
    assert Steps("theorem", 0.3, 0.5)(2) == pytest.approx(0.1)


def sizes_of(loss=None, alpha=0.1, is_auto=False, step_size="auto", schedule="inverse"):
    """Sizes for two outputs, where the first automatic size is 0.3."""
    given = SizeParameters(alpha, is_auto, step_size, schedule)
    return given.steps(loss or Squared(), SPREAD, lambda alpha: 0.3)


def test_sizes_are_those_given_or_automatic():
    assert sizes_of() == Steps("inverse", 0.3, 0.1)
    assert sizes_of(step_size=0.7) == Steps("inverse", 0.7, 0.1)
    assert sizes_of(schedule="theorem").first == 1 / 0.1
    assert sizes_of(alpha=0.0, schedule="theorem").first == np.inf


def test_automatic_alpha_has_the_unit_of_targets_if_slopes_have_none():
    assert sizes_of(EpsilonInsensitive(0.1), is_auto=True).alpha == (0.1 / 2, 0.1 / 0.5)
    assert sizes_of(EpsilonInsensitive(0.1)).alpha == 0.1


def test_a_decay_of_everything_is_refused():
    with pytest.raises(ValueError, match="which must be above 0"):
        check_steps("Owner", Steps("constant", 2.0, 0.5), Squared())


def test_the_largest_eigenvalue_is_that_of_the_kernel_matrix_over_its_rows():
    X = inputs(40, 2)
    family = Gaussian(1.0).fit(X, np.random.default_rng(0))
    stream = NeuronStream(family, 0, np.float64)
    found = largest_eigenvalue(stream, lambda rows: X[rows], 40, None, 1)
    Z = family(X, stream.between(0, 256))
    assert found == pytest.approx(np.linalg.eigvalsh(Z @ Z.T / 256 / 40)[-1])


def test_steps_of_a_stream_fall_beyond_the_planned_ones():
    auto = SizeParameters(0.0, False, "auto", "inverse")
    assert auto.fading(2.0, 2.0) == auto.fading(0.0, 2.0) == 1
    assert auto.fading(32.0, 2.0) == pytest.approx(16**-0.75)
    assert sum(auto.fading(float(i), 2.0) ** 2 for i in range(2, 10_000)) < 3 * 2 + 1
    for given in (auto._replace(step_size=0.1), auto._replace(schedule="constant")):
        assert given.fading(32.0, 2.0) == 1


def growth(step, scale, seeds=1000, n=40):
    """How much 150 steps on one row and one neuron multiply E f², and its standard error.

    The target is 0, and f is the first eigenfunction. The step is a function of its eigenvalue.
    """
    rng, X = np.random.default_rng(0), np.linspace(0, 1, n)
    values, vectors = np.linalg.eigh(np.exp(-((X[:, None] - X) ** 2) / (2 * scale**2)) / n)
    f = np.tile(vectors[:, -1] * np.sqrt(n), (seeds, 1))
    for _ in range(150):
        i, w = rng.integers(n, size=seeds), rng.standard_normal(seeds) / scale
        slope = f[np.arange(seeds), i, None]
        f -= step(values[-1]) * slope * np.cos(w[:, None] * (X - X[i, None]))
    squares = (f**2).mean(axis=1)
    return squares.mean(), squares.std() / np.sqrt(seeds)


@pytest.mark.parametrize("scale", [0.02, 0.05, 0.1])
def test_the_stable_step_counts_what_one_row_and_one_neuron_do_together(scale):
    mean, error = growth(lambda top: stable_step(1.0, 0.0, top, 1.0, 1, 1, 1), scale)
    assert mean + 3 * error < 1
    if scale < 0.1:  # without κ²/(bkλ), or with κ²/(bk) in its place, E f² grows
        assert growth(lambda top: 1 / (top + 2), scale)[0] > 100
    if scale < 0.05:
        assert growth(lambda top: 1 / (top + 3), scale)[0] > 10


def test_errors_in_all_directions_are_within_the_documented_bound():
    """The mean over all choices of two of seven rows and two of six neurons is exact."""
    rng, (n, J) = np.random.default_rng(0), (7, 6)
    psi = rng.uniform(-1, 1, (J, n)) * [[1], [1], [0.3], [0.3], [0.1], [0.1]]
    T, kappa = psi.T @ psi / J / n, (psi**2).max()
    values, vectors = np.linalg.eigh(T)
    top, rows, neurons = values[-1], *(np.indices((m, m)).reshape(2, -1) for m in (n, J))
    for e in [*vectors.T, *rng.standard_normal((10, n))]:
        mean = (psi[:, rows] * e[rows]).mean(axis=1)[neurons]  # of neurons 1 and 2, at two rows
        g = np.einsum("apr,apn->rpn", mean, psi[neurons]) / 2
        np.testing.assert_allclose(g.mean(axis=(0, 1)), T @ e, atol=1e-12)
        for tau, alpha, gamma in [(0.1, 0.1, 0.5), (0.02, 0.01, 0.3), (0.3, 0.0, 1.0)]:
            inverse = np.linalg.inv(T + tau * np.eye(n)) / n
            moved = (1 - gamma * alpha) * e - gamma * g
            after = np.einsum("rpi,ij,rpj->rp", moved, inverse, moved).mean()
            worst = np.einsum("ji,ik,jk->j", psi, inverse, psi)
            limit = alpha + top + kappa / 2 + top * worst.max() / 2 + kappa * worst.mean() / 4
            bound = (1 + 2 * gamma * (tau - alpha)) * (e @ inverse @ e)
            assert after <= bound - gamma * (e @ e) / n * (2 - gamma * limit)
            assert worst.mean() == pytest.approx((values / (values + tau)).sum())
    flat = np.sqrt(n) * vectors[:, 0]
    g = flat[:, None, None] * psi.T[:, :, None] * psi
    assert ((flat - 0.5 * g) ** 2).mean() > (flat**2).mean()  # so no theorem in the plain norm


def test_the_first_step_is_small_where_many_follow():
    few = stable_step(1.0, 0.0, 0.2, 1.0, batch=8, k=8, n_neurons=80)
    many = stable_step(1.0, 0.0, 0.2, 1.0, batch=8, k=8, n_neurons=80 * 10_000)
    assert few == pytest.approx(np.sqrt(0.25 * 64 / 10))
    assert many == pytest.approx(few / 100)

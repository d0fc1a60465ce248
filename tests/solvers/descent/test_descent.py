"""The descent against a literal loop."""

import numpy as np
import pytest

from cases import inputs
from trickless._functions.stream import NeuronStream
from trickless._solvers.descent.batches import BatchedRows, MiniBatch
from trickless._solvers.descent.descent import Descent
from trickless._solvers.descent.options import DescentOptions
from trickless._solvers.descent.passes import FitRows, learn_all
from trickless._solvers.descent.step_sizes import SizeParameters
from trickless._solvers.descent.steps.block import BlockStep
from trickless._solvers.descent.steps.plain import Plain
from trickless._solvers.number_losses import Squared
from trickless.neurons import Gaussian, Trees

ALPHA = 0.5
X = inputs(48, 3)
Y = np.stack([np.sin(2 * X[:, 0]), X[:, 1]], axis=1)
WEIGHT = np.random.default_rng(0).uniform(0.5, 1.5, 48)
KINDS = {
    "plain": (Plain, {}, Gaussian(1.0)),
    "block": (BlockStep, {}, Gaussian(1.0)),
    "trees": (Plain, {}, Trees(depth=3)),
}


class Errors:
    """Squared errors of rows."""

    def error(self, decisions, targets):
        return ((decisions - targets) ** 2).sum(axis=1)


def problem(kind, n_neurons=24, batch_size=16, k=4):
    """A descent before its first step, and its options."""
    cls, parameters, family = KINDS[kind]
    family.fit(X, np.random.default_rng(0))
    step = cls("Owner", Squared(), 1, batch_size, k, n_neurons, **parameters)
    sizes = SizeParameters(ALPHA, False, 0.3, "inverse")
    options = DescentOptions(step, sizes)
    start = np.average(Y, axis=0, weights=WEIGHT)
    stream = NeuronStream(family, 0, np.float64)
    return Descent(stream, start, Errors()), options


def by_hand(descent, options, n_steps):
    """Coefficients by column after the steps of a fit, each predicted from scratch."""
    step, family, coef, Zs = options.step, descent.neurons, [], []
    batches = descent.batches(np.arange(48), options)
    order = descent.in_random_order(len(batches))
    unit = WEIGHT / WEIGHT.mean()
    heaviest = max(1.0, *(unit[rows].mean() for rows in batches))
    for i in range(n_steps):
        gamma = 0.3 / (1 + 0.3 * ALPHA * i)
        rows = batches[next(order)]
        Z = family(X, descent.stream.between(4 * i, 4 * i + 4))
        f = descent.constant + sum((A @ c for A, c in zip(Zs, coef, strict=True)), 0 * Y)
        share = unit[rows] / len(rows) / heaviest
        gradient = Z[rows].T @ (share[:, None] * (f - Y)[rows])
        if isinstance(step, Plain):
            direction = gradient / 4
        else:
            covariance = Z[rows].T @ (share[:, None] / share.sum() * Z[rows])
            ridge = 1e-4 * np.trace(covariance) / len(covariance)
            direction = np.linalg.solve(covariance + ridge * np.eye(len(covariance)), gradient)
        coef = [(1 - gamma * ALPHA) * c for c in coef] + [-gamma * direction]
        Zs.append(Z)
    return coef


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_takes_the_steps_of_algorithm_1(kind):
    descent, options = problem(kind)
    expected = by_hand(descent, options, 6)
    learn_all(descent, FitRows(X, Y, WEIGHT), options)
    width = descent.neurons.width
    found = descent.coef.rows.reshape(6, 4, width, 2).swapaxes(1, 2).reshape(6, -1, 2)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert [seen.n_rows for seen in descent.history] == [16] * 6


def test_a_stream_takes_its_rows_in_order_and_fewer_rows_a_shorter_step():
    descent, options = problem("plain")
    descent.learn(X[:40], Y[:40], None, options)
    assert [seen.n_rows for seen in descent.history] == [14, 13, 13]
    assert descent.taken == pytest.approx(40 / 16)
    Z = descent.neurons(X[:14], descent.stream.between(0, 4))
    first = -14 / 16 * 0.3 * Z.T @ (descent.constant - Y[:14]) / 14 / 4
    decay = np.prod([1 - p * 0.3 / (1 + 0.15 * i) * ALPHA for i, p in ((1, 13 / 16), (2, 13 / 16))])
    found = descent.coef.rows[:4].swapaxes(0, 1).reshape(-1, 2)
    np.testing.assert_allclose(found, decay * first, atol=1e-12)


def test_a_visit_brings_f_up_to_date():
    descent, options = problem("plain")
    batch = MiniBatch(X, Y)
    for n in (4, 8, 12):
        descent.learn(X[:16], Y[:16], None, options)
        descent.bring_up_to_date(batch, 1)
        expected = descent.function(1)(X) - descent.intercept
        np.testing.assert_allclose(batch.f, expected, atol=1e-12)
        assert batch.values.n_neurons == len(descent.coef) == n


def test_batches_have_their_rows_and_share_values_with_no_other():
    rows = [np.array([3, 1]), np.array([0, 5, 2])]
    batches = BatchedRows(X, Y, WEIGHT, rows)
    for batch, where in ((batches[0], rows[0]), (batches[1], rows[1])):
        np.testing.assert_array_equal(batch.X, X[where])
        np.testing.assert_array_equal(batch.targets, Y[where])
        np.testing.assert_array_equal(batch.weight, WEIGHT[where])
    batches[1].values.f += 1
    assert [batches[i].f.sum() for i in range(2)] == [0, 6]

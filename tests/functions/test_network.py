"""The finite weighted sum, against the sum written out."""

import numpy as np
import pytest
from sklearn.base import clone

import trickless
from cases import FAMILIES, inputs, suited
from trickless._arrays.threads import ROWS_PER_BLOCK
from trickless._functions.stream import BLOCK, NeuronStream, StoredNeurons
from trickless.inspection import Expansion, Network
from trickless.neurons import FromFunction, Gaussian


def random_network(neurons, n_neurons, n_outputs, seed=0, **options):
    stream = NeuronStream(neurons, seed, "float64", **options)
    coef = np.random.default_rng(seed).standard_normal((n_neurons, neurons.width, n_outputs))
    return Network(neurons, stream, coef, intercept=np.arange(n_outputs) + 0.5)


def written_out(network, X):
    total = np.zeros((len(X), network.n_outputs)) + network.intercept
    for where, weights in network.source.pieces(0, network.n_neurons):
        for j in range(where.stop - where.start):
            Z = network.neurons.activate(X, tuple(a[j : j + 1] for a in weights))
            total += Z @ network.coef[where.start + j]
    return total


def test_standard_errors_far_below_the_values_are_no_rounding():
    X = inputs(5, 3).astype(np.float32)
    f = Expansion(Gaussian(100.0).fit(X, np.random.default_rng(0)), X, np.ones((5, 1)))
    runs = [f.estimate(X[:1], 1000, "full", random_state=seed) for seed in range(100)]
    values, errors = np.reshape(runs, (100, 2)).T
    assert values.std() < 1e-5 * values.mean()
    np.testing.assert_allclose(errors, values.std(), rtol=0.4)  # of which 0.07 a standard error


@pytest.mark.parametrize(
    ("name", "n_neurons"),
    [(name, BLOCK + 9) for name in FAMILIES]
    + [("stumps", n) for n in (1, BLOCK, 16 * BLOCK, 16 * BLOCK + 1)],
)
def test_value_is_the_weighted_sum(name, n_neurons):
    neurons = clone(FAMILIES[name]).fit(suited(name, inputs(30, 4)), np.random.default_rng(0))
    network = random_network(neurons, n_neurons, 2)
    X = suited(name, inputs(7, 4, seed=1))
    expected = written_out(network, X)
    np.testing.assert_allclose(network(X), expected, atol=1e-9)
    if neurons.independent:
        value, error = network.estimate(X)
        np.testing.assert_allclose(value, expected, atol=1e-9)
        assert error.shape == value.shape


def test_rows_threads_and_cache_change_nothing():
    neurons = Gaussian(length_scale=2.0).fit(inputs(5, 3), np.random.default_rng(0))
    n_neurons = 18 * BLOCK + 3
    network = random_network(neurons, n_neurons, 1)
    uncached = random_network(neurons, n_neurons, 1, cache_bytes=0)
    X = inputs(2 * ROWS_PER_BLOCK + 3, 3)
    whole = network(X)
    for n_jobs in (1, 3):
        network.n_jobs = uncached.n_jobs = n_jobs
        np.testing.assert_allclose(network(X), whole, rtol=1e-12, atol=1e-10)
        np.testing.assert_allclose(uncached(X), whole, rtol=1e-12, atol=1e-10)
    rows = np.concatenate([network(X[i : i + 100]) for i in range(0, len(X), 100)])
    np.testing.assert_allclose(rows, whole, rtol=1e-12, atol=1e-10)


def test_standard_error_is_that_of_a_sum_of_independent_terms():
    neurons = Gaussian(length_scale=2.0).fit(inputs(5, 3), np.random.default_rng(0))
    network = random_network(neurons, 300, 2)
    X = inputs(4, 3)
    weights = tuple(
        np.concatenate(a) for a in zip(*(w for _, w in network.source.pieces(0, 300)), strict=True)
    )
    Z = neurons.activate(X, weights).reshape(4, 2, 300)
    each = np.einsum("rkn,nko->rno", Z, network.coef)
    _, error = network.estimate(X)
    np.testing.assert_allclose(error, each.std(axis=1, ddof=1) * np.sqrt(300), rtol=1e-9)


def test_standard_error_of_draws_from_strata_by_hand():
    """Neighbours differ by 1, also the last of an odd number and the draw before its block."""
    ones = FromFunction(lambda rng, n, d: np.zeros((n, 1)), lambda X, w: np.ones((len(X), len(w))))
    source, coef = StoredNeurons((np.zeros((BLOCK + 1, 1)),)), np.arange(BLOCK + 1.0)
    neurons = ones.fit(inputs(3, 1), np.random.default_rng(0))
    network = Network(neurons, source, coef[:, None, None], stratified=True)
    value, error = network.estimate(inputs(2, 1))
    np.testing.assert_allclose(value, coef.sum())
    np.testing.assert_allclose(error, np.sqrt((BLOCK + 1) / 2))  # 1 apart is a variance of 1/2


def test_one_neuron_has_no_known_error():
    neurons = Gaussian(length_scale=2.0).fit(inputs(5, 3), np.random.default_rng(0))
    weights = neurons.draw(np.random.default_rng(0), 1)
    network = Network(neurons, StoredNeurons(weights), np.ones((1, 2, 1)))
    assert np.isinf(network.estimate(inputs(3, 3))[1]).all()


def test_values_that_are_not_finite_are_refused():
    neurons = Gaussian(length_scale=2.0).fit(inputs(5, 3), np.random.default_rng(0))
    network = random_network(neurons, 30, 1)
    for call in (network, network.estimate):
        with pytest.raises(ValueError, match="not finite"):
            call(np.nan * inputs(3, 3))


@pytest.mark.parametrize("group_bytes", [1, 10_000])
def test_how_many_weights_are_held_at_once_changes_nothing(group_bytes, monkeypatch):
    X = inputs(300, 3)
    neurons = Gaussian(1.0).fit(X, None)
    stream = NeuronStream(neurons, 0, np.float64, cache_bytes=0)
    coef = np.random.default_rng(0).standard_normal((1000, 2, 2))
    network = Network(neurons, stream, coef, np.array([1.0, 2.0]))
    expected = network(X)
    monkeypatch.setattr(trickless._functions.network, "_GROUP_BYTES", group_bytes)
    np.testing.assert_allclose(network(X), expected, rtol=1e-12)


def test_weights_of_a_network_make_its_values_again():
    X = np.random.default_rng(0).standard_normal((60, 2))
    model = trickless.KitchenSinksRegressor("dense", 300, dtype="float64", random_state=0).fit(
        X, X[:, 0]
    )
    network = model.network_
    Z = network.neurons(X, network.weights())
    values = Z @ network.coef.reshape(-1, 1) + network.intercept
    np.testing.assert_allclose(values[:, 0], model.predict(X), rtol=1e-9)

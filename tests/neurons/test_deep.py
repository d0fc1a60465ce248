"""Deep networks: against a network at a time, and against their limits."""

import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import kstest

import trickless.neurons.deep as module
from cases import ACTIVATIONS, inputs
from trickless.neurons import Deep, Dense

FUNCTIONS = {
    "tanh": np.tanh,
    "erf": erf,
    "sigmoid": lambda t: 1 / (1 + np.exp(-t)),
    "sign": np.sign,
    "step": lambda t: np.where(t > 0, 1.0, 0.0),
    "relu": lambda t: np.maximum(t, 0),
}


def forward(function, x, layers):
    """One network on one row, a layer at a time."""
    for layer in layers[:-1]:
        h = function(layer @ x)
        x = h / np.linalg.norm(h) if h.any() else h
    (value,) = function(layers[-1] @ x)
    return value


@pytest.mark.parametrize("hidden", [(5,), (4, 3, 2)])
@pytest.mark.parametrize("activation", FUNCTIONS)
def test_a_neuron_is_a_whole_network(activation, hidden, monkeypatch):
    X = inputs(7, 3)
    neurons = Deep(hidden, activation, length_scale=2.0, bias_scale=0.3)
    weights = neurons.fit(X, np.random.default_rng(0)).draw(np.random.default_rng(1), 9)
    extended = np.column_stack([X / 2, np.full(7, 0.3)])
    if activation == "relu":
        extended /= np.linalg.norm(extended, axis=1, keepdims=True)
    expected = [
        [forward(FUNCTIONS[activation], x, [W[j] for W in weights]) for j in range(9)]
        for x in extended
    ]
    for cells in (1, 7 * max(hidden) * 4, 2**19):  # networks one by one, in fours and together
        monkeypatch.setattr(module, "_CELLS", cells)
        np.testing.assert_allclose(neurons.activate(X, weights), expected, atol=1e-12)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_without_hidden_layers_it_is_a_dense_layer(activation):
    X, rng = inputs(20, 3), np.random.default_rng(0)
    deep = Deep((), activation, 2.0, 0.3).fit(X, rng)
    dense = Dense(activation, 2.0, 0.3).fit(X, rng)
    w, v = (family.draw(np.random.default_rng(1), 15) for family in (deep, dense))
    np.testing.assert_allclose(deep.activate(X, w), dense.activate(X, v), atol=1e-12)
    if activation not in ("tanh", "sigmoid"):
        np.testing.assert_array_equal(deep.kernel(X), dense.kernel(X))


def test_weights_of_every_layer_are_standard_normal():
    neurons = Deep((5, 4)).fit(inputs(9, 2), np.random.default_rng(0))
    layers = neurons.draw(np.random.default_rng(0), 500)
    assert [W.shape for W in layers] == [(500, 5, 3), (500, 4, 5), (500, 1, 4)]
    for W in layers:
        assert kstest(W.ravel(), "norm").pvalue > 1e-3


def composed_erf(cosine, square):
    """Williams's kernel of the unit outputs of a wide layer, whose inputs have this square."""
    next_cosine = np.arcsin(2 * cosine * square / (1 + 2 * square)) / np.arcsin(
        2 * square / (1 + 2 * square)
    )
    return 2 / np.pi * np.arcsin(2 * next_cosine / 3)


def composed_relu(cosine, square):
    """Cho and Saul's kernel of degree 1, twice; the last step is over two."""
    for _ in range(2):
        angle = np.arccos(cosine)
        cosine = (np.sin(angle) + (np.pi - angle) * cosine) / np.pi
    return cosine / 2


@pytest.mark.parametrize(
    ("activation", "composed"), [("erf", composed_erf), ("relu", composed_relu)]
)
def test_wide_networks_approach_the_composed_kernels_of_dense(activation, composed):
    """A layer of m units is off by O(1/m): by the curvature of the last kernel, at most 1 here."""
    X, m = 5 * np.array([[1.0, 0.0], [0.28, 0.96]]), 256
    neurons = Deep((m,), activation, bias_scale=0.0).fit(X, np.random.default_rng(0))
    x, y = neurons.activate(X, neurons.draw(np.random.default_rng(1), 20_000))
    unit = m if activation == "relu" else 1  # the weights of the last layer have length 1
    error = unit * (x * y).std() / np.sqrt(20_000)
    assert error < 0.006
    assert abs(unit * (x * y).mean() - composed(0.28, 25.0)) < 5 * error + 1 / m


def test_relu_networks_reach_their_bound():
    neurons = Deep((1,), "relu").fit(inputs(5, 1), np.random.default_rng(0))
    Z = neurons.activate(inputs(5, 1), neurons.draw(np.random.default_rng(0), 50))
    assert Z.max() == 1.0


def test_only_networks_of_signs_have_a_kernel_with_hidden_layers():
    with pytest.raises(NotImplementedError, match="Deep has no closed-form kernel"):
        Deep(activation="relu").fit(inputs(5, 2), np.random.default_rng(0)).kernel(inputs(2, 2))

"""JAX functions as neurons, and modules of Flax."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sklearn
from flax import linen as nn

from laws import Laws, X, fitted
from trickless import KitchenSinksRegressor
from trickless.neurons import FromJax, from_jax


class Convolutional(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.elu(nn.Conv(4, (3, 3), strides=2)(x))
        x = nn.relu(nn.Conv(6, (2, 2), use_bias=False)(x))
        return nn.Dense(3)(x.reshape(-1))


NET = Convolutional()
ALONE = jax.jit(NET.apply)


def init(key, x):
    return NET.init(key, x)


def apply(parameters, x):
    return NET.apply(parameters, x)


def by_hand(neurons, weights, rows):
    """The network with the given weights, called on its own."""
    wide = rows.dtype == np.float64
    with jax.enable_x64(wide):
        example = NET.init(jax.random.key(0), np.zeros((8, 8, 1), rows.dtype))
        parameters = jax.tree.unflatten(jax.tree.structure(example), map(jnp.asarray, weights))
        return np.stack([ALONE(parameters, row.reshape(8, 8, 1)) for row in rows])


class TestFlax(Laws):
    neurons = FromJax(init, apply, input_shape=(8, 8, 1))
    one = staticmethod(by_hand)


def test_methods_of_a_module_serve_as_functions():
    y = X[:, 10]
    module = FromJax(NET.init, NET.apply, input_shape=(8, 8, 1))
    model = KitchenSinksRegressor(module, n_neurons=8, random_state=0)
    plain = KitchenSinksRegressor(TestFlax.neurons, n_neurons=8, random_state=0)
    for rows in (slice(45), slice(45, None)):
        model.partial_fit(X[rows], y[rows])
        plain.partial_fit(X[rows], y[rows])
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


def test_draws_are_what_init_gives_for_keys_of_the_generator():
    neurons = fitted(TestFlax.neurons)
    weights = neurons.draw(np.random.default_rng(5), 19)
    keys = np.random.default_rng(5).integers(2**32, size=(19, 2), dtype=np.uint32)
    for j in (0, 18):
        key = jax.random.wrap_key_data(keys[j], impl="threefry2x32")
        alone = jax.tree.leaves(NET.init(key, np.zeros((8, 8, 1), np.float32)))
        for drawn, leaf in zip(weights, alone, strict=True):
            np.testing.assert_allclose(drawn[j], leaf, atol=1e-6)


def test_draws_do_not_depend_on_the_precision_of_jax():
    neurons = fitted(FromJax(lambda key, x: jax.random.normal(key), lambda w, x: w * x))
    expected = neurons.draw(np.random.default_rng(5), 3)
    with jax.enable_x64(True):
        found = neurons.draw(np.random.default_rng(5), 3)
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_few_shapes_are_compiled():
    traced = []

    def line(parameters, x):
        traced.append(x.shape)
        return x @ parameters

    neurons = fitted(FromJax(lambda key, x: jax.random.normal(key, x.shape), line, squash=False))
    traced.clear()
    for n, rows in ((1, 1), (3, 8), (300, 9), (77, 90), (256, 64), (5, 90)):
        (w,) = neurons.draw(np.random.default_rng(0), n)
        some = np.resize(X, (rows, 64))
        np.testing.assert_allclose(neurons(some, (w,)), some @ w.T, atol=1e-12)
    assert len(traced) == len(from_jax._ROWS)
    again = fitted(neurons)
    traced.clear()
    again(X, again.draw(np.random.default_rng(0), 9))
    assert not traced


def test_what_jax_compiles_inside_is_counted():
    inner = jax.jit(lambda x: jnp.outer(x, x).sum())
    neurons = fitted(FromJax(lambda key, x: jax.random.normal(key), lambda w, x: w * inner(x)))
    assert neurons._largest == 64 * 64


def outside(key, x):
    return jax.random.normal(key, x.shape) * 0 + 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"init": 3}, "init=3, but it must be a function"),
        ({"apply": None}, "apply=None, but it must be a function"),
        ({"apply": lambda w, x: (x, w)}, r"returns arrays of sizes \[64, 64\]"),
        ({"init": outside}, "gave the same weights 16 times"),
        ({"apply": lambda w, x: jnp.exp(1j * (w @ x))}, "numbers of type complex64"),
        ({"init": lambda key, x: {}, "apply": lambda w, x: x}, "draws nothing"),
    ],
)
def test_wrong_functions_are_refused(wrong, message):
    right = {"init": lambda key, x: jax.random.normal(key, x.shape), "apply": lambda w, x: w * x}
    with pytest.raises((TypeError, ValueError), match=rf"{message}.* Remedy"):
        fitted(FromJax(**right | wrong))


def test_weights_may_take_few_values():
    """So that two neurons may well be the same."""
    for m in (2, 4):
        neurons = FromJax(
            lambda key, x, m=m: jax.random.randint(key, (), 0, m), lambda w, x: jnp.tanh(x[w])
        )
        assert fitted(neurons).width == 1


def test_learners_refuse_arrays_of_jax(monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with (
        sklearn.config_context(array_api_dispatch=True),
        pytest.raises(TypeError, match=r"X is an array of JAX.*Remedy"),
    ):
        KitchenSinksRegressor().fit(jnp.asarray(X), X[:, 0])

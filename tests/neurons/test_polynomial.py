"""Products of projections: their kernel against scikit-learn's, their values one by one."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel

from cases import inputs
from trickless.neurons import Polynomial


@pytest.mark.parametrize("parameters", [{}, {"degree": 2, "gamma": 0.7, "coef0": 0.3}])
def test_the_kernel_is_scikit_learns_normalised_and_scaled(parameters):
    X, Y = inputs(6, 4), inputs(5, 4, seed=1)
    neurons = Polynomial(**parameters).fit(X, np.random.default_rng(0))
    k = polynomial_kernel(X, Y, **parameters)
    for rows, axis in ((X, 1), (Y, 0)):
        squares = np.diag(polynomial_kernel(rows, **parameters))
        k = k / np.sqrt(np.expand_dims(squares, axis))
    np.testing.assert_allclose(neurons.kernel(X, Y), k / 5**neurons.degree, rtol=1e-10)


def test_a_neuron_is_a_product_of_cosines_with_unit_vectors():
    X = inputs(7, 3)
    neurons = Polynomial(degree=3, gamma=0.5, coef0=2.0).fit(X, np.random.default_rng(0))
    (w,) = neurons.draw(np.random.default_rng(1), 9)
    np.testing.assert_allclose(np.linalg.norm(w, axis=2), 1)
    extended = np.column_stack([X * 0.5**0.5, np.full(7, 2.0**0.5)])
    extended /= np.linalg.norm(extended, axis=1, keepdims=True)
    expected = [[np.prod([v @ x for v in one]) for one in w] for x in extended]
    np.testing.assert_allclose(neurons.activate(X, (w,)), expected, atol=1e-14)


def test_the_bound_is_reached():
    X = inputs(1, 3)
    neurons = Polynomial().fit(X, np.random.default_rng(0))
    along = neurons.prepare(X)[:, None, :].repeat(3, axis=1)
    np.testing.assert_allclose(neurons.activate(X, (along,)), 1)

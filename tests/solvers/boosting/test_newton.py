"""The values of leaves against a transcription of Newton steps."""

import numpy as np
import pytest

import naive
from cases import inputs
from trickless import BoostedTreesClassifier, BoostedTreesRegressor
from trickless._solvers.named_losses import make_loss


@pytest.mark.parametrize("loss", ["squared_error", "poisson", "log_loss"])
def test_leaves_take_newton_steps_one_tree_after_the_other(loss):
    X = inputs(300, 3)
    f = np.sin(2 * X[:, 0]) + X[:, 1]
    weight = np.random.default_rng(0).uniform(0.5, 1.5, 300)
    options = {
        "learning_rate": 0.3,
        "max_depth": 3,
        "l2_regularization": 0.2,
        "leaves": "constant",
        "shape": "oblivious",
        "early_stopping": False,
        "random_state": 0,
    }
    if loss == "log_loss":
        y, model = f > 0, BoostedTreesClassifier(5, **options)
    else:
        y, model = np.exp(f), BoostedTreesRegressor(5, loss=loss, **options)
    model.fit(X, y, weight)
    family, weights = model.neurons_, model.network_.source.weights
    leaves, targets = family.leaf_numbers(X, weights), model._targets_.matrix(y)
    made = make_loss(loss)

    def newton(f, y):
        g, h = made.newton(f[None], y[None])
        return g[0], h[0]

    start = model._forest_.start
    expected = naive.newton_on_trees(leaves, targets, newton, weight, start, 0.3, 0.2, family.width)
    np.testing.assert_allclose(model.neuron_coef_, expected, atol=1e-5)

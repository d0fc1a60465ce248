"""The unit of y changes nothing: whatever the loss, the neurons and the weights."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from cases import inputs
from trickless import (
    BoostedTreesRegressor,
    DoublyStochasticRegressor,
    KitchenSinksRegressor,
    ShrinkingGradientRegressor,
)
from trickless.kernels import KernelGradientRegressor
from trickless.neurons import Gaussian, Landmarks, Laplace1, Matern

X = inputs(100, 4)
Y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
#: Over six decades.
WEIGHT = 10.0 ** np.random.default_rng(0).uniform(-3, 3, len(X))
LOSSES = ["squared_error", "huber", "epsilon_insensitive"]
FAMILIES = [Gaussian(), Matern(0.1), Matern(1.5), Laplace1(), Landmarks(), "stumps", "trees"]

MODELS = [
    *(KitchenSinksRegressor(family, 60) for family in FAMILIES),
    KitchenSinksRegressor(Matern(0.5), 60, alpha="auto"),
    KitchenSinksRegressor(Matern(0.5), 60, alpha=1e-4, solver="iterative"),
    *(
        DoublyStochasticRegressor(family, 80, loss=loss)
        for family in (Gaussian(), Matern(0.1))
        for loss in LOSSES
    ),
    *(
        DoublyStochasticRegressor(Gaussian("median"), 80, loss=loss, schedule=schedule)
        for schedule in ("block", "constant")
        for loss in LOSSES
    ),
    BoostedTreesRegressor(30),
    BoostedTreesRegressor(30, loss="huber"),
    ShrinkingGradientRegressor(Matern(0.1), 300),
    KernelGradientRegressor(random_state=0),
]


@pytest.mark.filterwarnings("ignore")  # rough kernels and slow convergence are warned of
@pytest.mark.parametrize("model", MODELS, ids=lambda model: " ".join(repr(model).split()))
def test_an_answer_has_the_unit_of_y(model):
    model = clone(model).set_params(random_state=0)
    weight = [WEIGHT] if has_fit_parameter(model, "sample_weight") else []
    expected = clone(model).fit(X, Y, *weight).predict(X)
    for unit in (2.0**-20, 2.0**20):  # so that rounding is the same
        if hasattr(model, "epsilon"):
            model.set_params(epsilon=0.1 * unit)
        got = clone(model).fit(X, unit * Y, *weight).predict(X) / unit
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-6 * np.ptp(expected))


def test_outputs_of_any_units_are_learned_as_well():
    both = np.column_stack([Y, 1e6 * Y])
    model = DoublyStochasticRegressor(loss="epsilon_insensitive", epsilon=0.0, random_state=0)
    f = model.fit(X, both).predict(X)
    shared = np.corrcoef(f[:, 1], Y)[0, 1] / np.corrcoef(f[:, 0], Y)[0, 1]
    assert shared > 0.8

"""scikit-learn's own checks of the array API, with torch."""

import pytest
from sklearn.utils.estimator_checks import check_array_api_input, check_array_api_input_and_values

from devices import DEVICES
from trickless import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    RandomFeatures,
)

MODELS = [
    KitchenSinksRegressor(n_neurons=50),
    KitchenSinksClassifier(n_neurons=50),
    DoublyStochasticRegressor(n_neurons=200),
    DoublyStochasticClassifier(n_neurons=200),
    RandomFeatures(n_neurons=20),
]


@pytest.fixture(autouse=True)
def dispatch(monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("device", DEVICES)
def test_arrays_of_torch_are_worked_on_where_they_are(model, dtype, device):
    assert model.__sklearn_tags__().array_api_support
    check_array_api_input(type(model).__name__, model, "torch", device, dtype)


@pytest.mark.parametrize("device", DEVICES)
def test_features_of_torch_are_those_of_numpy(device):
    model = RandomFeatures(n_neurons=20)
    check_array_api_input_and_values("RandomFeatures", model, "torch", device, "float64")

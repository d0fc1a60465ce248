"""What does not go together: errors before learning, and methods that a configuration lacks."""

import pytest

from make_combinations import PAGE, page
from trickless import (
    BoostedTreesRegressor,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    ShrinkingGradientRegressor,
)
from trickless.kernels import KernelGradientRegressor

X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
TOGETHER = [
    KitchenSinksRegressor(error_bars=True, weight_bound=1.0),
    KitchenSinksRegressor(solver="iterative", alpha=0),
    KitchenSinksClassifier(solver="iterative", loss="hinge"),
    BoostedTreesRegressor(leaves="linear", shape="binary"),
    BoostedTreesRegressor(leaves="linear", monotonic_cst=[1]),
    BoostedTreesRegressor(shape="binary", monotonic_cst=[1]),
    BoostedTreesRegressor(shape="binary", interaction_cst="pairwise"),
    BoostedTreesRegressor(quantile=0.9),
    DoublyStochasticRegressor(schedule="theorem", alpha=0.0),
    DoublyStochasticRegressor(schedule="theorem", loss="gamma"),
    DoublyStochasticRegressor(quantile=[0.1, 0.9]),
    DoublyStochasticRegressor(loss="huber", epsilon=0),
    ShrinkingGradientRegressor(schedule="constant"),
    ShrinkingGradientRegressor(schedule="theorem"),
    ShrinkingGradientRegressor(schedule="theorem", horizon=4, half_life=3),
]


@pytest.mark.parametrize("model", TOGETHER)
def test_parameters_that_do_not_go_together_are_named_before_learning(model):
    with pytest.raises(ValueError, match=r"=.* does not go with .*=.*, because .*Remedy: "):
        model.fit(X, y)
    assert not model.__sklearn_is_fitted__()


@pytest.mark.parametrize(
    ("model", "lacks", "has"),
    [
        (KitchenSinksClassifier(loss="hinge"), "forget", "fit"),
        (KitchenSinksClassifier(loss="log_loss"), "partial_fit", "predict_proba"),
        (KitchenSinksClassifier(loss="hinge"), "predict_proba", "decision_function"),
        (KitchenSinksClassifier(loss="hinge"), "predict_log_proba", "decision_function"),
        (KitchenSinksClassifier(loss="squared_hinge"), "predict_set", "predict"),
        (KitchenSinksRegressor(solver="iterative"), "merge", "predict_interval"),
        (KitchenSinksRegressor(half_life="auto"), "sample_y", "predict_then_learn"),
        (KitchenSinksRegressor(weight_bound=1.0), "sample_function", "predict"),
        (DoublyStochasticRegressor(early_stopping=False), "predict_interval", "fit"),
        (BoostedTreesRegressor(early_stopping=False), "predict_interval", "fit"),
        (KitchenSinksRegressor(weight_bound=1.0), "predict_interval", "partial_fit"),
        (KitchenSinksClassifier(weight_bound=1.0), "predict_set", "merge"),
        (DoublyStochasticRegressor(schedule="theorem", half_life=9), "partial_fit", "fit"),
        (KernelGradientRegressor(lambda X, Y, rng: X @ Y.T), "certify", "partial_fit"),
    ],
)
def test_a_configuration_lacks_methods_that_it_cannot_do(model, lacks, has):
    assert hasattr(model, has)
    assert not hasattr(model, lacks)
    assert hasattr(type(model), lacks)
    with pytest.raises(AttributeError, match=rf"{lacks} does not go with .*=.*Remedy: ") as error:
        getattr(model, lacks)
    assert isinstance(error.value, ValueError)


def test_a_method_is_lacking_until_the_next_fit():
    model = KitchenSinksClassifier(n_neurons=5, loss="hinge", alpha=0.1, random_state=0)
    model.fit(X, y)
    assert not hasattr(model.set_params(loss="squared_error"), "partial_fit")
    assert hasattr(model.fit(X, y), "partial_fit")


def test_the_reference_has_the_tables():
    assert PAGE.read_text() == page()

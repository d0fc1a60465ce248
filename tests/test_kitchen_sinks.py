"""Random Kitchen Sinks against ridge regression on its activations, written out."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import naive
from cases import inputs
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless._stream import BLOCK
from trickless.neurons import Gaussian


def activations(model, X):
    blocks = [
        model.neurons_.activate(X.astype(model.dtype), weights)
        for _, weights in model.stream_.pieces(0, model.n_neurons)
    ]
    return np.hstack(blocks)


def target(X):
    return np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] * X[:, 2]])


@pytest.mark.parametrize("n_neurons", [7, BLOCK + 20])
def test_fit_is_ridge_on_the_activations(n_neurons):
    X = inputs(900, 3)
    y = target(X)
    model = KitchenSinksRegressor(
        Gaussian(1.0), n_neurons, alpha=1e-4, random_state=3, dtype="float64"
    ).fit(X, y)
    Z = activations(model, X)
    coef, intercept = naive.ridge(Z, y, np.ones(len(X)), 1e-4 * n_neurons)
    X_new = inputs(50, 3, seed=1)
    expected = activations(model, X_new) @ coef + intercept
    np.testing.assert_allclose(model.predict(X_new), expected, atol=1e-7)
    assert model.coef_.shape == (n_neurons, 2, 2)
    first = min(n_neurons, BLOCK)
    by_neuron = coef[: 2 * first].reshape(2, first, 2).transpose(1, 0, 2)
    np.testing.assert_allclose(model.coef_[:first], by_neuron, atol=1e-5)


def test_more_neurons_approach_kernel_ridge_regression():
    """The same alpha means the same for every number of neurons: a ridge of n·alpha on K."""
    X, X_new = inputs(150, 2), inputs(40, 2, seed=1)
    y = target(np.hstack([X, X]))[:, :1]
    K = np.hstack([X, X])
    K = Gaussian(1.0).fit(X, None)
    alpha = 1e-2
    center = np.eye(150) - 1 / 150
    dual = np.linalg.solve(center @ K.kernel(X) @ center + 150 * alpha * np.eye(150), center @ y)
    exact = K.kernel(X_new, X) @ center @ dual
    exact += y.mean() - (K.kernel(X) @ center @ dual).mean()
    distance = [
        np.sqrt(
            np.mean(
                [
                    (
                        KitchenSinksRegressor(K, n, alpha=alpha, random_state=seed)
                        .fit(X, y)
                        .predict(X_new)
                        - exact
                    )
                    ** 2
                    for seed in range(8)
                ]
            )
        )
        for n in (100, 1600)
    ]
    # 16 times the neurons, a quarter of the distance; 8 seeds know each to about a quarter.
    assert 2.5 < distance[0] / distance[1] < 6.5
    assert distance[1] < 0.05


@pytest.mark.parametrize("alpha", ["auto", 1e-3])
def test_any_grouping_is_the_same_model(alpha):
    X = inputs(700, 3)
    y = target(X)
    options = {"n_neurons": 100, "alpha": alpha, "random_state": 0}
    whole = KitchenSinksRegressor(Gaussian(1.0), **options).fit(X, y)
    for parts in ((700,), (1, 699), (300, 50, 350), (100,) * 7):
        model = KitchenSinksRegressor(Gaussian(1.0), **options)
        for rows in np.split(np.random.default_rng(1).permutation(700), np.cumsum(parts)[:-1]):
            model.partial_fit(X[rows], y[rows])
        np.testing.assert_allclose(model.predict(X), whole.predict(X), atol=1e-6 * np.abs(y).max())
        assert model.alpha_ == pytest.approx(whole.alpha_)


def test_partial_fit_goes_on_after_fit_and_predictions_between_change_nothing():
    X = inputs(400, 3)
    y = target(X)
    whole = KitchenSinksRegressor(Gaussian(1.0), 50, random_state=0).fit(X, y)
    model = KitchenSinksRegressor(Gaussian(1.0), 50, random_state=0).fit(X[:200], y[:200])
    model.predict(X)
    model.partial_fit(X[200:], y[200:])
    np.testing.assert_allclose(model.predict(X), whole.predict(X), atol=1e-6)


def test_classifier_is_the_regression_of_signs():
    X = inputs(300, 3)
    y = np.where(target(X)[:, 0] > 0, "yes", "no")
    options = {"n_neurons": 80, "alpha": 1e-3, "random_state": 0}
    classifier = KitchenSinksClassifier(Gaussian(1.0), **options).fit(X, y)
    regressor = KitchenSinksRegressor(Gaussian(1.0), **options).fit(X, np.where(y == "yes", 1, -1))
    decision = classifier.decision_function(X)
    np.testing.assert_allclose(decision, regressor.predict(X), atol=1e-9)
    np.testing.assert_array_equal(classifier.predict(X), np.where(decision > 0, "yes", "no"))
    np.testing.assert_allclose(
        classifier.predict_proba(X)[:, 1], np.clip((1 + decision) / 2, 0, 1), atol=1e-9
    )


def test_linear_neurons_give_linear_ridge_regression():
    """With each coordinate's share of neurons equal, Coordinates is scikit-learn's Ridge."""
    X = np.clip(inputs(500, 4), -1, 1)
    y = X @ [1.0, -2, 0.5, 0] + 3
    model = KitchenSinksRegressor("coordinates", 4000, alpha=1e-6, random_state=0).fit(X, y)
    expected = Ridge(alpha=1e-6).fit(X, y).predict(X)
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-3)


def test_dependent_columns_without_alpha_are_refused():
    X = inputs(20, 2)
    with pytest.raises(ValueError, match=r"alpha=0.0 is too small.*Remedy: a larger alpha"):
        KitchenSinksRegressor("gaussian", 100, alpha=0.0, random_state=0).fit(X, X[:, 0])


def test_memory_of_activations_is_a_panel(monkeypatch):
    monkeypatch.setattr("trickless.kitchen_sinks.PANEL_BYTES", 1)
    X = inputs(700, 3)
    y = target(X)
    small = KitchenSinksRegressor(Gaussian(1.0), 50, random_state=0).fit(X, y)
    monkeypatch.undo()
    large = KitchenSinksRegressor(Gaussian(1.0), 50, random_state=0).fit(X, y)
    np.testing.assert_allclose(small.predict(X), large.predict(X), atol=1e-5)


def test_targets_far_from_zero_are_learned_as_well():
    X = inputs(300, 3)
    y = target(X)[:, 0]
    near = KitchenSinksRegressor(Gaussian(1.0), 100, random_state=0).fit(X, y)
    far = KitchenSinksRegressor(Gaussian(1.0), 100, random_state=0).fit(X, y + 1e9)
    np.testing.assert_allclose(far.predict(X) - 1e9, near.predict(X), atol=1e-5)


def test_an_interrupted_batch_counts_for_nothing(monkeypatch):
    monkeypatch.setattr("trickless.kitchen_sinks.PANEL_BYTES", 1)
    X = inputs(1000, 3)
    y = target(X)
    model = KitchenSinksRegressor(Gaussian(1.0), 50, random_state=0).fit(X[:400], y[:400])
    before = model.predict(X)
    calls = iter(range(100))

    def interrupted(self, X, weights, plain=Gaussian.activate):
        if next(calls) == 2:
            raise KeyboardInterrupt
        return plain(self, X, weights)

    with monkeypatch.context() as patch:
        patch.setattr(Gaussian, "activate", interrupted)
        for call in (model.partial_fit, model.fit):
            calls = iter(range(100))
            with pytest.raises(KeyboardInterrupt):
                call(X[400:], y[400:])
    np.testing.assert_array_equal(model.predict(X), before)
    model.partial_fit(X[400:], y[400:])
    whole = KitchenSinksRegressor(Gaussian(1.0), 50, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), whole.predict(X), atol=1e-6)


def test_weights_stay_with_their_rows_over_panels(monkeypatch):
    monkeypatch.setattr("trickless.kitchen_sinks.PANEL_BYTES", 1)
    X = inputs(700, 3)
    y = target(X)
    weight = np.random.default_rng(0).random(700)
    model = KitchenSinksRegressor(
        Gaussian(1.0), 30, alpha=1e-3, random_state=0, dtype="float64"
    ).fit(X, y, sample_weight=weight)
    coef, intercept = naive.ridge(activations(model, X), y, weight, 1e-3 * 30)
    np.testing.assert_allclose(
        model.predict(X), activations(model, X) @ coef + intercept, atol=1e-8
    )


def test_the_alpha_that_was_chosen_gives_the_model_again():
    X = inputs(300, 3)
    y = target(X)[:, 0] + np.random.default_rng(0).standard_normal(300)
    options = {"n_neurons": 40, "random_state": 0, "dtype": "float64"}
    auto = KitchenSinksRegressor(Gaussian(1.0), **options).fit(X, y)
    again = KitchenSinksRegressor(Gaussian(1.0), alpha=auto.alpha_, **options).fit(X, y)
    assert again.alpha_ == pytest.approx(auto.alpha_)
    np.testing.assert_allclose(again.predict(X), auto.predict(X), atol=1e-8)


def test_a_solve_put_off_goes_by_what_the_model_was_begun_with():
    X = inputs(300, 3)
    y = target(X)
    options = {"n_neurons": 40, "alpha": 1e-2, "random_state": 0}
    model, twin = (KitchenSinksRegressor(Gaussian(1.0), **options) for _ in range(2))
    model.partial_fit(X, y)
    model.set_params(n_neurons=7)
    np.testing.assert_array_equal(model.predict(X), twin.partial_fit(X, y).predict(X))


def test_several_classes_are_regressions_of_signs():
    X = inputs(300, 3)
    y = np.digitize(target(X)[:, 0], [-0.5, 0.5])
    options = {"n_neurons": 40, "alpha": 1e-3, "random_state": 0}
    classifier = KitchenSinksClassifier(Gaussian(1.0), **options).fit(X, y)
    signs = np.where(y[:, None] == [0, 1, 2], 1.0, -1.0)
    regressor = KitchenSinksRegressor(Gaussian(1.0), **options).fit(X, signs)
    np.testing.assert_allclose(classifier.decision_function(X), regressor.predict(X), atol=1e-9)

"""Random Kitchen Sinks against ridge regression on its activations, written out."""

import re
from copy import deepcopy

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import LogisticRegression, Ridge

import naive
import trickless
from cases import answers, inputs, problem
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless._arrays.threads import linear_algebra
from trickless._functions.stream import BLOCK
from trickless._solvers.least_squares.sums import Sums
from trickless._solvers.named_losses import make_loss
from trickless.neurons import Dense, Gaussian, Neurons
from trickless.theory import kitchen_sinks_bound


def solution(model):
    """What a fitted model's sums were solved to."""
    return model._sums_.solution(model._problem())


def activations(model, X):
    blocks = [
        model.neurons_.activate(X.astype(model.dtype), weights)
        for _, weights in model._stream_.pieces(0, model.n_neurons)
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
    assert model.neuron_coef_.shape == (n_neurons, 2, 2)
    first = min(n_neurons, BLOCK)
    by_neuron = coef[: 2 * first].reshape(2, first, 2).transpose(1, 0, 2)
    np.testing.assert_allclose(model.neuron_coef_[:first], by_neuron, atol=1e-5)


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
def test_batches_of_any_grouping_give_the_same_model(alpha):
    X = inputs(700, 3)
    y = target(X)
    options = {"n_neurons": 100, "alpha": alpha, "random_state": 0}
    whole = KitchenSinksRegressor(Gaussian(1.0), **options).fit(X, y)
    for parts in ((700,), (1, 699), (300, 50, 350), (100,) * 7):
        model = KitchenSinksRegressor(Gaussian(1.0), **options)
        for rows in np.split(np.random.default_rng(1).permutation(700), np.cumsum(parts)[:-1]):
            model.partial_fit(X[rows], y[rows])
        # Without noise, the least alphas are within 1 % of rounding errors.
        atol = (3e-5 if alpha == "auto" else 1e-6) * np.abs(y).max()
        np.testing.assert_allclose(model.predict(X), whole.predict(X), atol=atol)
        assert model.alpha_ == pytest.approx(whole.alpha_)


def test_partial_fit_continues_after_fit_whatever_was_predicted():
    X = inputs(400, 3)
    y = target(X)
    options = {"dtype": "float64", "random_state": 0}
    whole = KitchenSinksRegressor(Gaussian(1.0), 50, **options).fit(X, y)
    model = KitchenSinksRegressor(Gaussian(1.0), 50, **options).fit(X[:200], y[:200])
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


def test_linear_neurons_give_linear_ridge_regression():
    """With each coordinate's share of neurons equal, Coordinates is scikit-learn's Ridge."""
    X = np.clip(inputs(500, 4), -1, 1)
    y = X @ [1.0, -2, 0.5, 0] + 3
    model = KitchenSinksRegressor("coordinates", 4000, alpha=1e-6, random_state=0).fit(X, y)
    expected = Ridge(alpha=1e-6).fit(X, y).predict(X)
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-3)


def test_linear_algebra_is_told_how_much_there_is_to_do(monkeypatch):
    told = []

    def recorded(n_jobs, n_products):
        told.append(n_products)
        return linear_algebra(n_jobs, n_products)

    monkeypatch.setattr("trickless._solvers.least_squares.sums.linear_algebra", recorded)
    X = inputs(300, 3)
    KitchenSinksRegressor(Gaussian(1.0), 25, alpha=1.0, random_state=0).fit(X, X[:, 0]).predict(X)
    assert told == [50**3]


def test_dependent_columns_without_alpha_are_refused():
    X = inputs(20, 2)
    with pytest.raises(ValueError, match=r"alpha=0.0 is too small.*Remedy: a larger alpha"):
        KitchenSinksRegressor("gaussian", 100, alpha=0.0, random_state=0).fit(X, X[:, 0])


def test_memory_of_activations_is_a_panel(monkeypatch):
    monkeypatch.setattr("trickless._functions.activations.PANEL_BYTES", 1)
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
    np.testing.assert_allclose(far.predict(X) - 1e9, near.predict(X), atol=1e-4)


def test_an_interrupted_batch_counts_for_nothing(monkeypatch):
    monkeypatch.setattr("trickless._functions.activations.PANEL_BYTES", 1)
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
    monkeypatch.setattr("trickless._functions.activations.PANEL_BYTES", 1)
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


def test_a_deferred_solve_uses_the_parameters_of_the_fit():
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


def smooth_problem(n=150, columns=2, seed=0):
    X = inputs(n, columns, seed)
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * np.random.default_rng(seed).standard_normal(n)
    return X, y


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_alpha_is_chosen_by_leave_one_out_errors_of_brute_force(weighted, streams):
    X, y = smooth_problem(40)
    weight = np.linspace(0.5, 1.5, 40) if weighted else np.ones(40)
    model = KitchenSinksRegressor(Gaussian(1.0), 15, random_state=0, dtype="float64")
    if streams:
        for rows in np.array_split(np.arange(40), 3):
            model.partial_fit(X[rows], y[rows], weight[rows])
    else:
        model.fit(X, y, weight)
    Z = activations(model, X)
    ridges = model.cv_alphas_ * 15
    squares = np.stack([naive.left_out_errors(Z, y, weight, r) ** 2 for r in ridges], axis=1)
    scores = weight @ squares / weight.sum()
    # Both sides lose digits at small ridges.
    np.testing.assert_allclose(model.cv_values_[0], scores, rtol=1e-3)
    np.testing.assert_allclose(model.cv_values_[0, -40:], scores[-40:], rtol=1e-7)
    assert model.alpha_ == model.cv_alphas_[naive.chosen(squares, weight)]


def test_noise_that_is_larger_at_some_rows_is_not_followed():
    """The error of f relative to its variance; generalised cross-validation ends at .1 to .6."""
    rng = np.random.default_rng(0)
    X, X_test = rng.standard_normal((3000, 4)), rng.standard_normal((2000, 4))
    f = lambda X: np.sin(1.5 * X[:, 0]) + X[:, 1]  # noqa: E731
    y = f(X) + np.abs(X[:, 1]) * rng.standard_normal(3000)
    model = KitchenSinksRegressor(Gaussian("median"), random_state=0).fit(X, y)
    assert ((model.predict(X_test) - f(X_test)) ** 2).mean() < 0.06 * f(X_test).var()


def test_events_that_are_rare_are_learned_no_worse_than_by_a_constant():
    """The log loss on new rows, to 2 standard errors of the mean of six seeds."""
    gains = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, X_test = rng.standard_normal((1000, 3)), rng.standard_normal((3000, 3))
        p, p_test = (1 / (1 + np.exp(5 - 1.5 * rows[:, 0])) for rows in (X, X_test))
        y = rng.random(1000) < p
        model = KitchenSinksClassifier(
            Gaussian("median"), 300, loss="log_loss", random_state=seed
        ).fit(X, y)
        f = model.decision_function(X_test)
        loss = p_test @ np.logaddexp(0, -f) + (1 - p_test) @ np.logaddexp(0, f)
        rate = y.mean()
        constant = -(p_test.sum() * np.log(rate) + (1 - p_test).sum() * np.log(1 - rate))
        gains.append((constant - loss) / len(X_test))
    assert np.mean(gains) > 2 * np.std(gains) / np.sqrt(6)
    assert min(gains) > -0.01


@pytest.mark.parametrize("n_events", [1, 2, 4])
def test_a_few_events_of_pure_noise_are_not_followed(n_events):
    """Log loss over that of a constant, whose standard error from k events is 1/√k of it."""
    rate, ratios = n_events / 300, []
    for seed in range(5):
        X, X_test = inputs(300, 3, seed=seed), inputs(2000, 3, seed=100 + seed)
        y = np.arange(300) < n_events
        model = KitchenSinksClassifier(n_neurons=100, loss="log_loss", random_state=0).fit(X, y)
        f = model.decision_function(X_test)
        loss = rate * np.logaddexp(0, -f) + (1 - rate) * np.logaddexp(0, f)
        ratios.append(loss.mean() / -(rate * np.log(rate) + (1 - rate) * np.log(1 - rate)))
    assert np.mean(ratios) < 1 + 1 / np.sqrt(5 * n_events)


@pytest.mark.parametrize(("loss", "classes"), [("log_loss", 3), ("hinge", 2), ("squared_hinge", 3)])
def test_other_losses_choose_nearly_the_best_alpha(loss, classes):
    """The loss on new rows beside that at any alpha within a factor of a hundred."""
    X, y = smooth_problem(400)
    y = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    new, y_new = smooth_problem(2000, seed=1)
    y_new = np.digitize(y_new, np.quantile(y_new, np.arange(1, classes) / classes))

    def risk(model):
        f = model.decision_function(new).reshape(len(new), -1)
        signs = 2.0 * (y_new[:, None] == np.arange(classes)) - 1 if classes > 2 else None
        signs = 2.0 * y_new[:, None] - 1 if signs is None else signs
        return make_loss(loss, f.shape[1]).value(f, signs).mean()

    options = {"loss": loss, "random_state": 0}
    chosen = KitchenSinksClassifier(Gaussian(1.0), 120, **options).fit(X, y)
    alphas = np.max(chosen.alpha_) * 10.0 ** np.arange(-2, 3)
    others = [KitchenSinksClassifier(Gaussian(1.0), 120, alpha=a, **options) for a in alphas]
    assert risk(chosen) < 1.1 * min(risk(other.fit(X, y)) for other in others)


@pytest.mark.parametrize("n_neurons", [50, 400])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_hinges_that_no_row_comes_near_tell_that_nothing_is_learned(n_neurons, fit_intercept):
    """Labels are coins, so no function has a hinge loss below 1, and the hinge has no curvature."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 4)), np.arange(300) % 2
    options = {"loss": "hinge", "fit_intercept": fit_intercept, "random_state": 0}
    model = KitchenSinksClassifier(Gaussian(2.0), n_neurons, **options).fit(X, y)
    assert np.isfinite(model.cv_values_).all()
    f, signs = model.decision_function(rng.standard_normal((5000, 4))), rng.choice([-1, 1], 5000)
    losses = np.maximum(0, 1 - signs * f)
    assert losses.mean() < 1 + 4 * losses.std() / np.sqrt(5000)


def test_scores_need_a_choice():
    X, y = smooth_problem(40)
    model = KitchenSinksRegressor(Gaussian(1.0), 15, alpha=0.1, random_state=0).fit(X, y)
    with pytest.raises(AttributeError, match=r"alpha=0.1 was given.*Remedy: alpha='auto'"):
        _ = model.cv_values_


@pytest.mark.parametrize("alpha", [0.0, 1e-3])
def test_weights_within_a_bound_satisfy_the_kkt_conditions(alpha):
    X, y = smooth_problem(200)
    free = KitchenSinksRegressor(
        Gaussian(1.0), 12, alpha=alpha, random_state=0, dtype="float64"
    ).fit(X, y)
    C = 0.3 * 12 * np.abs(free.neuron_coef_).max()
    model = clone(free).set_params(weight_bound=C).fit(X, y)
    Z, coef = activations(model, X), solution(model).coef[:, 0]
    bound = C / 12
    assert np.abs(model.neuron_coef_).max() <= bound * (1 + 1e-12)
    Zc = Z - Z.mean(axis=0)
    gradient = Zc.T @ (Zc @ coef - (y - y.mean())) / 200 + alpha * 12 * coef
    scale = np.abs(Zc.T @ (y - y.mean())).max() / 200
    inside = np.abs(coef) < bound * (1 - 1e-9)
    assert 0 < inside.sum() < len(coef)
    assert np.abs(gradient[inside]).max() < 1e-8 * scale
    assert (gradient[~inside] * np.sign(coef[~inside])).max() < 1e-8 * scale
    assert model.intercept_[0] == pytest.approx(y.mean() - Z.mean(axis=0) @ coef)
    loose = clone(free).set_params(weight_bound=100 * C).fit(X, y)
    np.testing.assert_array_equal(loose.neuron_coef_, free.neuron_coef_)
    with pytest.raises(ValueError, match=r"return_std=True does not go with weight_bound="):
        model.predict(X, return_std=True)


def test_merged_parts_are_one_model():
    X, y = smooth_problem(120)
    options = {"n_neurons": 25, "alpha": 1e-3, "random_state": 3, "dtype": "float64"}
    whole = KitchenSinksRegressor(Gaussian(1.0), **options).fit(X, y + 5)
    parts = [
        KitchenSinksRegressor(Gaussian(1.0), **options).fit(X[rows], y[rows] + 5)
        for rows in np.split(np.arange(120), [10, 70])
    ]
    for order in ((0, 1, 2), (2, 0, 1)):
        a, b, c = (deepcopy(parts[i]) for i in order)
        left = deepcopy(a).merge(b).merge(c)
        right = deepcopy(a).merge(deepcopy(b).merge(c))
        for model in (left, right):
            np.testing.assert_allclose(model.predict(X), whole.predict(X), rtol=1e-9)
        np.testing.assert_array_equal(b.predict(X), parts[order[1]].predict(X))


def test_models_that_cannot_be_merged_are_refused():
    X, y = smooth_problem(60)

    def fitted(neurons=None, X=X, y=y, **options):
        neurons = neurons or Gaussian(1.0)
        return KitchenSinksRegressor(neurons, **{"n_neurons": 25, "random_state": 3} | options).fit(
            X, y
        )

    model = fitted()
    before = model.predict(X)
    for other, message in (
        (fitted(random_state=4), "random_state=4.* differ from the neurons of this model"),
        (fitted(neurons="gaussian"), "neurons="),
        (fitted(n_neurons=26), "n_neurons=26"),
        (fitted(X=X[:, :1]), "n_features_in_ is 1 in other and 2 here"),
        (fitted(y=np.column_stack([y, y])), "n_outputs_ is 2"),
        (KitchenSinksRegressor(), "is not fitted"),
    ):
        with pytest.raises(ValueError, match=rf"(?s){message}.*Remedy"):
            model.merge(other)
    auto = fitted("gaussian"), fitted("gaussian", X=3 * X)  # their length scales differ
    with pytest.raises(ValueError, match="takes nothing from the data"):
        auto[0].merge(auto[1])
    with pytest.raises(TypeError, match="not a KitchenSinksClassifier"):
        model.merge(KitchenSinksClassifier())
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("weights", [("balanced", "balanced"), ({1: 2.0}, None)])
def test_parts_that_weigh_classes_apart_are_not_merged(weights):
    X, y = problem(KitchenSinksClassifier())
    one, other = (
        KitchenSinksClassifier(Gaussian(1.0), 20, class_weight=given, random_state=0).fit(X, y)
        for given in weights
    )
    with pytest.raises(ValueError, match=r"class_weight=.* here and .* Remedy: the same dict"):
        one.merge(other)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_stream_of_batches_is_one_fit(weighted):
    X, y = smooth_problem(90)
    labels = y > 0
    weight = np.linspace(1, 2, 90)
    parts = np.split(np.arange(90), 3)
    options = {"n_neurons": 25, "random_state": 3, "dtype": "float64"}
    regressor = KitchenSinksRegressor(Gaussian(1.0), **options)
    classifier = KitchenSinksClassifier(Gaussian(1.0), **options)
    for model, target in ((regressor, y), (classifier, labels)):
        batches = ((X[p], target[p], *([weight[p]] if weighted else [])) for p in parts)
        streamed = clone(model).fit(X[:50], target[:50]).fit_stream(batches)
        whole = clone(model).fit(X, target, weight if weighted else None)
        np.testing.assert_allclose(answers(streamed, X), answers(whole, X), rtol=1e-6, atol=1e-8)
        with pytest.raises(ValueError, match=r"batches held nothing.*Remedy"):
            streamed.fit_stream(batches)  # used up
        np.testing.assert_allclose(answers(streamed, X), answers(whole, X), rtol=1e-6, atol=1e-8)


def test_standard_deviations_are_those_of_a_bayesian_linear_model():
    """Against the posterior written out, for two outputs of unlike noise."""
    X, y = smooth_problem(80)
    Y = np.column_stack([y, X[:, 0] + 2 * np.random.default_rng(1).standard_normal(80)])
    model = KitchenSinksRegressor(Gaussian(1.0), 15, random_state=0, dtype="float64").fit(X, Y)
    mean, std = model.predict(X[:20], return_std=True)
    np.testing.assert_array_equal(mean, model.predict(X[:20]))
    Z = activations(model, X)
    design = np.hstack([Z, np.ones((80, 1))])
    penalty = np.diag(np.append(np.ones(Z.shape[1]), 0.0))
    for output in range(2):
        precision = design.T @ design + 80 * 15 * model.alpha_[output] * penalty
        coef = np.linalg.solve(precision, design.T @ Y[:, output])
        hat = design @ np.linalg.solve(precision, design.T)
        noise = ((Y[:, output] - design @ coef) ** 2).sum() / (80 - np.trace(hat))
        assert model.noise_variance_[output] == pytest.approx(noise, rel=1e-6)
        spread = np.einsum("ij,ji->i", design[:20], np.linalg.solve(precision, design[:20].T))
        np.testing.assert_allclose(std[:, output], np.sqrt(noise * (1 + spread)), rtol=1e-6)


@pytest.mark.parametrize("alpha", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("weighted", [False, True])
def test_little_noise_is_told_from_rounding(alpha, weighted):
    """With rows that every light alpha fits exactly: against sums along singular vectors."""
    X = inputs(100, 10)
    y = np.sin(X[:, 0])
    weight = np.random.default_rng(1).integers(1, 4, 100) if weighted else np.ones(100)
    model = KitchenSinksRegressor(
        Gaussian(3.0), 100, alpha=alpha, random_state=0, dtype="float64"
    ).fit(X, y, weight)
    Z, n, ridge = activations(model, X), weight.sum(), 100 * alpha
    root = np.sqrt(weight / n)[:, None]
    mean = np.average(Z, axis=0, weights=weight)
    U, s, V = np.linalg.svd(root * (Z - mean), full_matrices=False)
    U, s, V = U[:, :99], s[:99] ** 2, V[:99]  # centred rows
    c = U.T @ (root[:, 0] * (y - np.average(y, weights=weight)))
    kept = ridge / (s + ridge)
    if weighted:  # residual times leave-one-out error
        left = U**2 @ kept
        noise = ((U @ (kept * c)) ** 2 / left).sum()
        # Squared errors of rows without themselves, less what is the function's; rows count once.
        squares = (U @ (kept * c) / root[:, 0] / left) ** 2 / (1 + (1 - left) / (weight * left))
        of_new = noise * squares.mean() / (weight @ squares / n)
        n = n**2 / (weight @ weight)
    else:
        of_new = noise = n * ((kept * c) ** 2).sum() / (n - 100 + kept.sum())
    assert model.noise_variance_ == pytest.approx(noise, rel=1e-4)
    z = activations(model, X[:7] + 0.3) - mean
    along = z @ V.T
    outside = (z**2).sum(axis=1) - (along**2).sum(axis=1)
    spread = ((along**2 / (s + ridge)).sum(axis=1) + outside / ridge + 1) / n
    std = model.predict(X[:7] + 0.3, return_std=True)[1]
    np.testing.assert_allclose(std, np.sqrt(of_new + noise * spread), rtol=1e-4)


def test_noise_that_is_lost_in_rounding_is_refused():
    X = inputs(100, 10)
    model = KitchenSinksRegressor(
        Gaussian(3.0), 100, alpha=1e-12, random_state=0, dtype="float64"
    ).fit(X, X[:, 0])
    _ = model.statistics_.gram  # takes the place of the rows
    model.partial_fit(X[:1], X[:1, 0])
    with pytest.raises(ValueError, match=r"alpha=1e-12.* degrees of freedom, .*Remedy: a larger"):
        model.predict(X, return_std=True)


def test_noise_is_refused_where_every_target_is_met():
    X = inputs(13, 2)
    model = KitchenSinksRegressor(Dense("tanh"), 12, alpha=0, random_state=0, dtype="float64").fit(
        X, X[:, 0]
    )
    with pytest.raises(ValueError, match=r"alpha=0.* leave 0 degrees of freedom.*a larger alpha"):
        model.predict(X, return_std=True)


def test_light_alphas_lose_no_digits_where_rows_are_few():
    X = inputs(100, 10)
    y = np.sin(X[:, 0])
    for alpha in (1e-14, 1e-17):
        model = KitchenSinksRegressor(
            Gaussian(3.0), 100, alpha=alpha, random_state=0, dtype="float64"
        ).fit(X, y)
        Z = activations(model, X)
        design = np.vstack([(Z - Z.mean(axis=0)) / 10, np.sqrt(100 * alpha) * np.eye(200)])
        coef = np.linalg.lstsq(design, np.append((y - y.mean()) / 10, np.zeros(200)))[0]
        expected = y.mean() + (activations(model, X + 0.3) - Z.mean(axis=0)) @ coef
        np.testing.assert_allclose(model.predict(X + 0.3), expected, atol=1e-7)


def test_ctrl_c_leaves_the_batches_of_a_stream_that_were_learned():
    X = inputs(400, 3)

    def batches(n):
        for start in range(0, n, 100):
            yield X[start : start + 100], X[start : start + 100, 0]
        raise KeyboardInterrupt

    model = KitchenSinksRegressor(Gaussian(1.0), 20, random_state=0).fit(X, -X[:, 0])
    before = model.predict(X)
    with pytest.raises(KeyboardInterrupt):
        model.fit_stream(batches(0))
    np.testing.assert_array_equal(model.predict(X), before)
    with pytest.raises(KeyboardInterrupt):
        model.fit_stream(batches(300))
    part = KitchenSinksRegressor(Gaussian(1.0), 20, random_state=0).fit(X[:300], X[:300, 0])
    np.testing.assert_allclose(model.predict(X), part.predict(X), atol=1e-6)


def test_uncertainty_approaches_that_of_a_gaussian_process():
    """With a flat prior of the constant; errors of both fall as one over the root of neurons."""
    X, y = smooth_problem(60)
    far = np.array([[0.0, 0.0], [1.0, -1.0], [4.0, 4.0], [8.0, -8.0]])
    alpha, errors = 0.01, []
    for K in (25, 100, 400):
        runs = []
        for seed in range(12):
            model = KitchenSinksRegressor(Gaussian(1.0), K, alpha=alpha, random_state=seed)
            model.fit(X, y)
            noise = model.noise_variance_
            prior = noise / (60 * alpha)
            kernel = ConstantKernel(prior) * RBF(1.0) + ConstantKernel(1e4) + WhiteKernel(noise)
            process = GaussianProcessRegressor(kernel, optimizer=None).fit(X, y)
            wanted = process.predict(far, return_std=True)
            found = model.predict(far, return_std=True)
            runs.append([(f - w) / np.sqrt(prior) for f, w in zip(found, wanted, strict=True)])
        errors.append(np.sqrt(np.mean(np.square(runs), axis=(0, 2))))
    slope = np.polyfit(np.log([25, 100, 400]), np.log(errors), 1)[0]
    assert (slope > -0.75).all()
    assert (slope < -0.3).all()


#: Both numbers of classes, and every loss.
LOSSES = [("log_loss", 2), ("log_loss", 3), ("hinge", 3), ("squared_hinge", 2)]


@pytest.mark.parametrize(("loss", "classes"), LOSSES)
def test_other_losses_reach_the_same_risk_from_memory_and_in_passes(loss, classes, monkeypatch):
    X, y = smooth_problem(200)
    y = np.digitize(y, np.linspace(-1, 1, classes + 1)[1:-1])
    model = KitchenSinksClassifier(
        Gaussian(1.0), 30, loss=loss, alpha=1e-3, random_state=0, dtype="float64", max_iter=3000
    ).fit(X, y)
    monkeypatch.setattr(trickless._functions.activations, "PANEL_BYTES", 1)
    with sklearn.config_context(working_memory=0):
        again = clone(model).fit(X, y)
    targets = model._targets_.matrix(y)
    values = []
    for fitted in (model, again):
        coef = solution(fitted).coef
        f = fitted.decision_function(X).reshape(200, -1)
        risk = fitted._loss(targets.shape[1])
        values.append(risk.value(f, targets).mean() + 1e-3 * 30 / 2 * (coef**2).sum())
    assert values[0] == pytest.approx(values[1], abs=1e-4)
    best = KitchenSinksClassifier(Gaussian(1.0), 30, alpha=1e-3, random_state=0).fit(X, y)
    f = best.decision_function(X).reshape(200, -1)
    least = risk.value(f, targets).mean() + 1e-3 * 30 / 2 * (solution(best).coef ** 2).sum()
    assert values[0] < least
    assert model.score(X, y) > 0.85
    assert hasattr(model, "predict_proba") == (loss == "log_loss")
    with pytest.raises(ValueError, match=rf"partial_fit does not go with loss='{loss}'.*Remedy"):
        model.partial_fit(X, y)


def test_logistic_loss_is_logistic_regression_on_the_activations():
    X, y = smooth_problem(200)
    y = np.digitize(y, [-0.7, 0.7])
    model = KitchenSinksClassifier(
        Gaussian(1.0), 30, loss="log_loss", alpha=1e-3, random_state=0, dtype="float64", tol=1e-8
    ).fit(X, y)
    Z = activations(model, X)
    reference = LogisticRegression(C=1 / (200 * 1e-3 * 30), tol=1e-8, max_iter=10_000).fit(Z, y)
    np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(Z), atol=1e-4)


def test_class_weights_count_for_every_loss():
    X, y = smooth_problem(200)
    y = y > 1.0
    factor = np.where(y, 5.0, 1.0)
    for loss in ("squared_error", "log_loss"):
        model = KitchenSinksClassifier(
            Gaussian(1.0), 30, loss=loss, class_weight={True: 5.0}, alpha=1e-3, random_state=0
        )
        weighted = clone(model).set_params(class_weight=None).fit(X, y, factor)
        np.testing.assert_allclose(
            model.fit(X, y).decision_function(X), weighted.decision_function(X), rtol=1e-5
        )


def heavy_tailed(n, seed):
    """Heavy-tailed inputs, four near copies of each row, and heavy-tailed noise."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.standard_t(1.5, (n // 4, 6)), 4, axis=0) + 1e-5 * rng.standard_normal((n, 6))
    f = np.log1p(np.abs(X[:, 0])) + np.tanh(X[:, 1])
    return X, f + 0.5 * rng.standard_t(2, n)


@pytest.mark.parametrize(
    ("neurons", "dtype"),
    [
        ("gaussian", "float32"),
        ("gaussian", "float64"),
        ("laplace", "float32"),
        ("stumps", "float32"),
        ("dense", "float64"),
    ],
)
def test_ill_conditioned_activations_do_no_harm(neurons, dtype):
    """Where the columns depend on each other, alpha stays above their rounding errors."""
    X, y = heavy_tailed(900, 0)
    X_test, y_test = heavy_tailed(900, 1)
    model = KitchenSinksRegressor(neurons, 300, dtype=dtype, random_state=0).fit(X, y)
    condition = np.linalg.cond(model.statistics_.moments().covariance)
    assert condition > (1e6 if neurons != "laplace" else 1e3)
    assert model.alpha_ > model.cv_alphas_[0]
    assert model.score(X_test, y_test) > -0.1  # hundreds below 0 with an alpha of nothing
    far = 1e6 * inputs(500, 6, seed=2)
    assert np.abs(model.predict(far) - y.mean()).max() < 10 * y.std()


def test_other_losses_are_not_merged():
    X, y = smooth_problem(60)
    options = {"loss": "log_loss", "alpha": 1e-2, "random_state": 0}
    parts = [KitchenSinksClassifier(Gaussian(1.0), 20, **options).fit(X, y > 0) for _ in range(2)]
    before = parts[0].predict_proba(X)
    with pytest.raises(ValueError, match="merge does not go with loss='log_loss'"):
        parts[0].merge(parts[1])
    np.testing.assert_array_equal(parts[0].predict_proba(X), before)


def test_uncertainty_where_hardly_a_degree_of_freedom_is_left():
    """20 rows, 1,000 neurons, next to no noise: standardised errors are about 1, not 10."""
    scores = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, X_new = rng.uniform(-2, 2, (20, 2)), rng.uniform(-2, 2, (500, 2))
        f = np.sin(2 * X[:, 0]) + X[:, 1]
        model = KitchenSinksRegressor(
            Gaussian(1.0), 1000, alpha=1e-6, dtype="float64", random_state=seed
        ).fit(X, f)
        mean, std = model.predict(X_new, return_std=True)
        error = np.sin(2 * X_new[:, 0]) + X_new[:, 1] - mean
        scores.append(np.sqrt(np.mean((error / std) ** 2)))
    assert np.median(scores) < 2.5
    assert np.median(scores) > 0.4


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        (5, "batches is a int"),
        ("rows", "batches is a str"),
        (np.ones((4, 3)), "batch 0 is a ndarray"),
        ([(np.ones((4, 3)),)], "batch 0 is a tuple of length 1"),
        ([(np.eye(3), np.arange(3.0)), (1, 2, 3, 4, 5)], "batch 1 is a tuple of length 5"),
    ],
)
def test_arguments_that_are_no_stream_of_batches_are_refused(batches, message):
    with pytest.raises(TypeError, match=rf"{message}.*\(X, y, sample_weight, timestamps\). Remedy"):
        KitchenSinksRegressor(n_neurons=20).fit_stream(batches)


def test_a_stream_that_breaks_off_keeps_its_batches():
    """The source fails, or a batch is bad: whole batches stay."""
    X, y = problem(KitchenSinksRegressor(), rows=300)
    parts = [(X[i : i + 50], y[i : i + 50]) for i in range(0, 300, 50)]

    def source(bad):
        yield from parts[:4]
        if bad is None:
            raise ConnectionError("gone")
        yield bad

    model = KitchenSinksRegressor(Gaussian(1.0), 30, random_state=0)
    some = clone(model).fit_stream(parts[:4])
    whole = clone(model).fit_stream(parts)
    late = X[:9].copy()
    late[3, 1] = np.nan
    for bad in (None, (late, y[:9]), (X[:9, :2], y[:9])):
        error = ConnectionError if bad is None else ValueError
        broken = clone(model)
        with pytest.raises(error) as raised:
            broken.fit_stream(source(bad))
        assert "batch 4" in raised.value.__notes__[0]
        np.testing.assert_array_equal(broken.predict(X), some.predict(X))
        for batch in parts[4:]:
            broken.partial_fit(*batch)
        np.testing.assert_array_equal(broken.predict(X), whole.predict(X))
    never = clone(model)
    with pytest.raises(ValueError, match="NaN"):
        never.fit_stream([(late, y[:9])])
    assert not never.__sklearn_is_fitted__()


def test_rows_come_together_where_a_gram_matrix_is_as_large(monkeypatch):
    """Passes without one hold no more than ``PANEL_BYTES``, however many columns there are."""
    monkeypatch.setattr(trickless._functions.activations, "PANEL_BYTES", 8 * 600 * BLOCK)
    model = KitchenSinksRegressor(Gaussian(1.0), 300, random_state=0)
    X, y = problem(model, 2000)
    seen = []
    panels = Sums._panels

    def watched(*args, **options):
        for rows, Z in panels(*args, **options):
            seen.append(len(Z))
            yield rows, Z

    monkeypatch.setattr(Sums, "_panels", watched)
    model.fit(X, y)
    assert max(seen) == 2 * BLOCK  # of 600 columns
    seen.clear()
    model.set_params(solver="iterative", alpha=1e-2)
    monkeypatch.setattr(Sums, "_n_bytes", lambda self, n_rows: 2**60)  # too much to be kept
    with sklearn.config_context(working_memory=0):
        model.fit(X, y)
    assert max(seen) == BLOCK


@pytest.mark.parametrize(("loss", "classes"), LOSSES)
def test_other_losses_keep_the_bound_and_have_the_least_risk_within_it(loss, classes):
    X, y = smooth_problem(200)
    y = np.digitize(y, np.linspace(-1, 1, classes + 1)[1:-1])
    options = {"loss": loss, "alpha": 0.0, "weight_bound": 3.0, "dtype": "float64", "tol": 1e-4}
    options["max_iter"] = 3000  # rounding, which depends on the processor, decides how many
    for fit_intercept in (True, False):
        model = KitchenSinksClassifier(
            Gaussian(1.0), 30, random_state=0, fit_intercept=fit_intercept, **options
        ).fit(X, y)
        with sklearn.config_context(working_memory=0):
            again = clone(model).fit(X, y)
        np.testing.assert_allclose(again.neuron_coef_, model.neuron_coef_, atol=1e-6)
        coef, intercept = solution(model).coef, model.intercept_
        assert np.abs(coef).max() == 3.0 / 30
        assert (intercept == 0).all() == (not fit_intercept)
        Z, targets, risk = activations(model, X), model._targets_.matrix(y), model._loss(classes)
        if classes == 2:
            risk = model._loss(1)

        def value(coef, intercept, Z=Z, targets=targets, risk=risk):
            return risk.value(Z @ coef + intercept, targets).mean()

        least, allowed = value(coef, intercept), 1e-4 * value(0 * coef, 0 * intercept)
        rng = np.random.default_rng(0)
        for step in (1e-3, 1e-2, 0.1, 1.0):
            for _ in range(20):
                towards = rng.choice([-0.1, 0.1], coef.shape)
                moved = intercept + step * rng.standard_normal() * fit_intercept
                assert value(coef + step * (towards - coef), moved) >= least - allowed


@pytest.mark.parametrize("n_neurons", [15, 200])
def test_least_squares_within_a_bound_needs_no_ridge_intercept_or_rank(n_neurons):
    """With 200 neurons there are more columns than rows."""
    X, y = smooth_problem(90)
    y = y + 2
    model = KitchenSinksRegressor(
        Gaussian(1.0), n_neurons, alpha=0.0, weight_bound=2.0, fit_intercept=False,
        random_state=0, dtype="float64",
    ).fit(X, y)  # fmt: skip
    Z, coef, bound = activations(model, X), solution(model).coef[:, 0], 2.0 / n_neurons
    gradient = Z.T @ (Z @ coef - y) / 90
    excess = (bound * np.abs(gradient) + gradient * coef).sum()
    assert np.abs(coef).max() <= bound
    assert model.intercept_ == 0
    assert excess <= 1e-9 * (y**2).mean()
    np.testing.assert_allclose(model.predict(X), Z @ coef, atol=1e-9)


INTERCEPTS = [
    {"alpha": 1e-3},
    {"alpha": 1e-3, "solver": "iterative", "tol": 1e-12},
    {"alpha": "auto"},
]


@pytest.mark.parametrize("n_rows", [30, 200])
@pytest.mark.parametrize("options", INTERCEPTS, ids=str)
def test_without_an_intercept_the_function_has_activations_alone(options, n_rows):
    X, y = smooth_problem(n_rows)
    y = np.column_stack([y + 3, 0.5 - y])
    model = KitchenSinksRegressor(
        Gaussian(1.0), 25, fit_intercept=False, random_state=0, dtype="float64", **options
    ).fit(X, y)
    Z = activations(model, X)
    assert (model.intercept_ == 0).all()
    for output, alpha in enumerate(np.broadcast_to(model.alpha_, 2)):
        matrix = Z.T @ Z / n_rows + alpha * 25 * np.eye(50)
        coef = np.linalg.solve(matrix, Z.T @ y[:, output] / n_rows)
        np.testing.assert_allclose(model.predict(X)[:, output], Z @ coef, atol=1e-5)
        if isinstance(options["alpha"], str):
            hat = Z @ np.linalg.solve(matrix, Z.T) / n_rows
            residual, leverage = y[:, output] - Z @ coef, np.diag(hat)
            score = np.mean((residual / (1 - leverage)) ** 2)
            which = list(model.cv_alphas_).index(alpha)
            assert model.cv_values_[output][which] == pytest.approx(score, rel=1e-4)


def test_parts_and_streams_without_an_intercept_are_one_model():
    X, y = smooth_problem(200)
    y = y + 10
    make = lambda: KitchenSinksRegressor(  # noqa: E731
        Gaussian(1.0), 25, fit_intercept=False, alpha=1e-3, random_state=0, dtype="float64"
    )
    whole, streamed = make().fit(X, y), make().fit_stream([(X[:20], y[:20]), (X[20:], y[20:])])
    merged = make().fit(X[:150], y[:150]).merge(make().fit(X[150:], y[150:]))
    for other in (streamed, merged):
        np.testing.assert_allclose(other.predict(X), whole.predict(X), atol=1e-8)
    _, std = whole.predict(X[:5], return_std=True)
    Z, new = activations(whole, X), activations(whole, X[:5])
    inverse = np.linalg.inv(Z.T @ Z + 200 * 1e-3 * 25 * np.eye(50))
    noise = ((y - whole.predict(X)) ** 2).sum() / (200 - np.trace(Z @ inverse @ Z.T))
    assert whole.noise_variance_ == pytest.approx(noise)
    expected = np.sqrt(noise * (1 + np.einsum("ij,jk,ik->i", new, inverse, new)))
    np.testing.assert_allclose(std, expected, rtol=1e-6)


class OneOfTwo(Neurons):
    """One of two columns, at random."""

    def draw(self, rng, n):
        return (rng.integers(0, 2, n),)

    def activate(self, X, weights):
        return X[:, weights[0]]


@pytest.mark.parametrize(("n_rows", "n_neurons"), [(50, 40), (1000, 4)])
def test_the_excess_risk_of_the_theorem_is_within_its_bound(n_rows, n_neurons):
    """The first column is the label, the second a coin. For C ≤ 1 the least risk is 1 − C/2.

    With few neurons the bound is about three times the largest excess of 60 seeds.
    """
    excess, delta, points = [], 0.05, np.array([[a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)])
    for seed in range(60):
        X = points[np.random.default_rng(seed).integers(0, 4, n_rows)]
        model = KitchenSinksClassifier(
            OneOfTwo(), n_neurons, loss="hinge", alpha=0.0, weight_bound=1.0, fit_intercept=False,
            random_state=seed, dtype="float64",
        ).fit(X, X[:, 0] > 0)  # fmt: skip
        risk = np.maximum(1 - points[:, 0] * model.decision_function(points), 0).mean()
        excess.append(risk - 0.5)
    bound = kitchen_sinks_bound(n_rows, n_neurons, 1.0, 1.0, delta).excess_risk
    violations = np.mean(np.array(excess) > bound)
    assert violations <= 2 * delta
    if n_neurons == 4:
        assert max(excess) > bound / 5


def test_a_pair_of_numbers_reaches_the_root_of_two_times_the_weight_bound():
    model = KitchenSinksRegressor(
        Gaussian(1.0), 500, alpha=0.0, weight_bound=1.0, fit_intercept=False, random_state=0
    ).fit(np.array([[2.0]]), [100.0])
    reached = model.predict(np.array([[2.0]]))[0]
    assert 1.2 < reached <= np.sqrt(2)  # the mean of |cos| + |sin| is 4/π
    steepness = kitchen_sinks_bound(10, 10, 1.0, 1.0, 0.1, width=2).estimation
    assert steepness / kitchen_sinks_bound(10, 10, 1.0, 1.0, 0.1).estimation >= reached


@pytest.mark.parametrize(
    ("options", "phases"),
    [
        ({}, ["choosing neurons", "summing", "solving"]),
        ({"solver": "iterative"}, ["choosing neurons", "solving"]),
        ({"loss": "log_loss"}, ["choosing neurons", "summing", "minimising log_loss"]),
        ({"loss": "hinge"}, ["choosing neurons", "summing", "minimising hinge"]),
    ],
)
def test_every_long_phase_is_shown(options, phases, capsys, monkeypatch):
    monkeypatch.setattr("trickless._learners.callbacks._has_rich", lambda: False)
    X, y = problem(KitchenSinksClassifier())
    neurons = Gaussian("median")
    KitchenSinksClassifier(neurons, 30, random_state=0, verbose=True, **options).fit(X, y)
    shown = capsys.readouterr().err
    found = re.findall(r"KitchenSinksClassifier, ([\w ]+):", shown)
    assert list(dict.fromkeys(found)) == phases
    if phases[-1] != "solving" or "solver" in options:  # passes over the rows are counted
        assert re.search(r" [1-9]\d*(/500|pass) .*pass/s", shown)  # fast machines skip the first


@pytest.mark.parametrize("alpha", [1e-8, 1e-5])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_class_of_one_row_in_three_thousand_is_learned_as_closely(alpha, weighted):
    X = inputs(3000, 3)
    y = np.arange(3000) == 7
    weight = np.random.default_rng(0).uniform(0.5, 1.5, 3000) if weighted else np.ones(3000)
    model = KitchenSinksClassifier(
        Gaussian(1.0), 50, loss="log_loss", alpha=alpha, random_state=0, dtype="float64"
    ).fit(X, y, weight)
    C = 1 / (weight.sum() * alpha * 50)
    reference = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    p = reference.fit(activations(model, X), y, weight).predict_proba(activations(model, X))
    np.testing.assert_allclose(model.predict_proba(X), p, atol=2e-3)


@pytest.mark.parametrize("loss", ["log_loss", "squared_hinge", "hinge"])
def test_a_rare_class_within_bounds_has_its_risk_proved(loss):
    X = inputs(1000, 3)
    y = np.arange(1000) == 7
    model = KitchenSinksClassifier(
        Gaussian(1.0), 20, loss=loss, alpha=1e-3, weight_bound=1e4, random_state=0, dtype="float64"
    )
    free, within = clone(model).set_params(weight_bound=None).fit(X, y), model.fit(X, y)
    targets, risk = np.where(y, 1.0, -1.0)[:, None], make_loss(loss)
    share = np.array([[0.001], [0.999]])
    constant = min(
        float((share[:, 0] * risk.value(np.full((2, 1), c), np.array([[1.0], [-1.0]]))).sum())
        for c in np.linspace(-8, 0, 8001)
    )

    def of(m):
        ridge = 1e-3 * 20 / 2 * (solution(m).coef ** 2).sum()
        return risk.value(m.decision_function(X)[:, None], targets).mean() + ridge

    assert abs(of(free) - of(within)) < 2e-3 * constant
    assert of(free) <= constant * (1 + 1e-6)


@pytest.mark.parametrize("how", ["fit", "stream", "merge"])
def test_the_end_of_the_grid_is_said_and_the_remedy_helps(how):
    X, new = inputs(9000, 2), inputs(500, 2, seed=1)
    f = lambda X: np.sin(2 * X[:, 0]) * np.cos(X[:, 1])  # noqa: E731

    def error(dtype):
        model = KitchenSinksRegressor(Gaussian(1.5), 150, dtype=dtype, random_state=0)
        if how == "fit":
            model.fit(X, f(X))
        elif how == "stream":
            for rows in (X[:4500], X[4500:]):
                model.partial_fit(rows, f(rows))
        else:
            other = clone(model).partial_fit(X[4500:], f(X[4500:]))
            model.partial_fit(X[:4500], f(X[:4500])).merge(other)
        return np.abs(model.predict(new) - f(new)).mean()

    with pytest.warns(UserWarning, match=r"best alpha is below .*'float32'.*Remedy: dtype='float6"):
        single = error("float32")
    assert error("float64") < single / 3


@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_targets_without_noise_are_learned_almost_exactly(n, dtype):
    """To errors that no alpha of at least 1e-7 reaches, in both precisions."""
    X, new = inputs(n, 1), inputs(100, 1, seed=1)
    f = lambda X: 5 + X[:, 0] + 0.3 * X[:, 0] ** 3  # noqa: E731
    errors = []
    for alpha in ("auto", 1.2e-7):
        model = KitchenSinksRegressor(Gaussian(3.0), 200, alpha=alpha, random_state=0, dtype=dtype)
        errors.append(np.abs(model.fit(X, f(X)).predict(new) - f(new)).mean())
    assert errors[0] < 0.1 * errors[1]
    assert errors[0] < 1e-3


def test_classes_share_alpha_and_outputs_do_not():
    X, y = inputs(200, 4), np.arange(200) % 3
    X[:, 0] += 3 * (y == 0)
    for n in (80, 200):  # fewer rows than columns, and more
        model = KitchenSinksClassifier(Gaussian(1.0), 50, random_state=0).fit(X[:n], y[:n])
        assert len(set(model.alpha_)) == 1
        numbers = np.where(y[:n, None] == np.arange(3), 1.0, -1.0)
        numbers = KitchenSinksRegressor(Gaussian(1.0), 50, random_state=0).fit(X[:n], numbers)
        np.testing.assert_allclose(model.cv_values_, numbers.cv_values_, rtol=1e-4)
        assert len(set(numbers.alpha_)) > 1

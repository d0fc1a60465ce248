"""Doubly Stochastic Gradients against a literal transcription, on the same draws."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_wine,
    make_friedman1,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score
from sklearn.utils.class_weight import compute_sample_weight

import naive
from cases import inputs
from stopping import stops_at
from trickless import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
)
from trickless._learners import descent_sizes
from trickless._learners.descent_sizes import size_up
from trickless._solvers import early_stopping
from trickless._solvers.descent.steps import block
from trickless._solvers.held_out import Holding
from trickless._solvers.named_losses import make_loss
from trickless.neurons import FromFunction, Gaussian, Stumps


def blocks_of(model, sizes):
    """The neurons of each step, one by one."""
    stops = np.cumsum(sizes)
    return [
        [
            tuple(a[j : j + 1] for a in weights)
            for where, weights in model._stream_.pieces(stop - size, stop)
            for j in range(where.stop - where.start)
        ]
        for size, stop in zip(sizes, stops, strict=True)
    ]


def psi_of(model):
    return lambda x, w: model.neurons_.activate(x[None, :], w)[0]


@pytest.mark.parametrize(
    ("learner", "loss", "classes", "neurons", "fit_intercept"),
    [
        (DoublyStochasticRegressor, "squared_error", 0, Gaussian(1.0), True),
        (DoublyStochasticRegressor, "squared_error", 0, Stumps(), False),
        (DoublyStochasticRegressor, "epsilon_insensitive", 0, Stumps(), True),
        (DoublyStochasticRegressor, "huber", 0, Gaussian(1.0), False),
        (DoublyStochasticClassifier, "log_loss", 2, Stumps(), False),
        (DoublyStochasticClassifier, "log_loss", 3, Gaussian(1.0), True),
        (DoublyStochasticClassifier, "hinge", 3, Gaussian(1.0), True),
        (DoublyStochasticClassifier, "hinge", 3, Stumps(), False),
        (DoublyStochasticClassifier, "squared_hinge", 2, Gaussian(1.0), True),
        (DoublyStochasticClassifier, "squared_error", 3, Gaussian(1.0), False),
    ],
)
def test_steps_are_those_of_the_algorithm(learner, loss, classes, neurons, fit_intercept):
    X = inputs(24, 3)
    f = np.sin(2 * X[:, 0]) + X[:, 1]
    y = np.digitize(f, np.linspace(-1, 1, classes + 1)[1:-1]) if classes else f + 7
    model = learner(
        neurons,
        loss=loss,
        alpha=0.03,
        fit_intercept=fit_intercept,
        step_size=0.8,
        batch_size=4,
        neurons_per_step=100,  # steps cross the blocks of the stream
        random_state=0,
        dtype="float64",
    )
    model.partial_fit(X, y, *([np.unique(y)] if classes else []))
    targets, b = model._targets_.matrix(y), model.intercept_
    slope = make_loss(loss, targets.shape[1], epsilon=0.1).derivative
    coef = naive.doubly_stochastic(
        [(X[i : i + 4], targets[i : i + 4]) for i in range(0, 24, 4)],
        blocks_of(model, [100] * 6),
        psi_of(model),
        lambda f_x, y_x: slope(f_x[None] + b, y_x[None])[0],
        [0.8 / (1 + 0.8 * 0.03 * i) for i in range(6)],
        alpha=0.03,
    )
    np.testing.assert_allclose(
        model.neuron_coef_, coef.reshape(model.neuron_coef_.shape), atol=1e-10
    )
    if not classes or not fit_intercept:
        assert model.intercept_ == pytest.approx(fit_intercept * y.mean())
    assert model.n_iter_ == 6


def test_without_an_intercept_nothing_moves_it():
    X = inputs(400, 3)
    y = X[:, 0] > 1.5  # a rare class, whose mean probability steps correct
    options = {"n_neurons": 128, "random_state": 0, "schedule": "block"}
    assert DoublyStochasticClassifier(**options).fit(X, y).intercept_ != 0
    without = DoublyStochasticClassifier(fit_intercept=False, **options).fit(X, y)
    assert without.intercept_ == 0
    assert without.score(X, y) > 0.95
    with pytest.raises(ValueError, match="fit_intercept=True, but the model was begun with"):
        without.set_params(fit_intercept=True).partial_fit(X, y)


def test_fit_draws_as_many_neurons_as_asked_and_visits_every_row():
    X = inputs(50, 3)
    model = DoublyStochasticRegressor(
        Gaussian(1.0), 120, batch_size=20, neurons_per_step=50, random_state=0
    ).fit(X, X[:, 0])
    assert len(model.neuron_coef_) == 120
    assert model.n_iter_ == 3
    assert sorted(model.online_error_[:3, 0]) == [16, 17, 17]
    model._descent_.history.clear()
    batches = model._descent_.batches(np.arange(50), size_up(model, 50))
    assert sorted(np.concatenate(batches)) == list(range(50))
    visits = model._descent_.in_random_order(len(batches))
    passes = [[next(visits) for _ in batches] for _ in range(9)]
    assert all(sorted(one) == list(range(len(batches))) for one in passes)
    assert len(set(map(tuple, passes))) > 1


@pytest.mark.parametrize("n_rows", [512, 513])
def test_a_row_more_than_a_batch_makes_no_difference(n_rows):
    X = inputs(n_rows + 500, 2)
    y = np.sin(X[:, 0]) + np.random.default_rng(0).standard_normal(len(X)) / 3
    model = DoublyStochasticRegressor(Gaussian(1.0), 1600, random_state=0)
    assert model.fit(X[:n_rows], y[:n_rows]).score(X[n_rows:], y[n_rows:]) > 0.6
    streamed = DoublyStochasticRegressor(Gaussian(1.0), random_state=0)
    for _ in range(30):
        streamed.partial_fit(X[:n_rows], y[:n_rows])
    assert streamed.score(X[n_rows:], y[n_rows:]) > 0.6


@pytest.mark.parametrize("loss", ["log_loss", "squared_error", "squared_hinge", "hinge"])
def test_first_step_is_stable_for_every_loss(loss):
    X = inputs(300, 2)
    y = (X[:, 0] > 0).astype(int)
    model = DoublyStochasticClassifier(Gaussian(1.0), 640, loss=loss, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.loss_curve_[-1] < model.loss_curve_[0]


def test_the_first_step_depends_on_the_largest_eigenvalue():
    """Wide neurons make the kernel nearly constant, its eigenvalue 1; narrow ones allow more."""
    X = inputs(1000, 2)
    options = {"neurons_per_step": 256, "alpha": 0.5, "random_state": 0, "schedule": "inverse"}
    steps = {}
    for scale in (0.2, 100.0):
        neurons = Gaussian(scale)
        model = DoublyStochasticRegressor(neurons, 512, **options).fit(X, X[:, 0])
        eigenvalue = np.linalg.eigvalsh(model.neurons_.kernel(X) / 1000)[-1]
        assert model._descent_.eigenvalue == pytest.approx(eigenvalue, abs=0.02)
        steps[scale] = model._descent_.steps.first
        own = 1 / (512 * 256 * model._descent_.eigenvalue)  # of one row and one neuron
        fastest = 1 / (model._descent_.eigenvalue + 1 / 512 + 1 / 256 + own + 0.5)
        assert steps[scale] == pytest.approx(fastest, rel=1e-6)
    assert steps[100.0] == pytest.approx(1 / 1.5, rel=0.01)
    assert steps[0.2] > 1.8


def test_the_largest_eigenvalue_counts_weights():
    X = inputs(90, 3)
    y = np.sin(2 * X[:, 0])
    weight = np.arange(90) % 3
    repeat = np.repeat(np.arange(90), weight)
    model = DoublyStochasticRegressor(Gaussian(1.0), 32, random_state=0, dtype="float64")
    weighted = clone(model).fit(X, y, weight)._descent_.eigenvalue
    assert weighted == pytest.approx(clone(model).fit(X[repeat], y[repeat])._descent_.eigenvalue)


def test_the_schedule_tends_to_theta_over_i_with_theta_alpha_one():
    model = DoublyStochasticRegressor(
        Gaussian(1.0), 32, alpha=0.5, schedule="inverse", random_state=0
    )
    model.fit(inputs(10, 2), np.arange(10.0))
    assert model._descent_.steps(10**6) * 0.5 * 10**6 == pytest.approx(1, rel=1e-5)


def test_the_theorem_takes_theta_over_i_and_warns_outside_its_range():
    X, y = inputs(50, 2), np.arange(50) % 2.0
    model = DoublyStochasticRegressor(
        Gaussian(1.0), 640, loss="huber", alpha=0.5, schedule="theorem", random_state=0
    ).fit(X, y)
    assert model._descent_.steps.first == 2.0
    for theta in (3.0, 4.0, 6.0):
        model.set_params(step_size=theta).fit(X, y)
    for theta in (1.0, 5.0):
        model.set_params(step_size=theta)
        with pytest.warns(UserWarning, match=rf"θ alpha = {theta / 2:g}.*Remedy: .*2 and 4") as one:
            model.fit(X, y)
        assert len(one) == 1
        model.partial_fit(X, y)  # and does not warn again
    with pytest.raises(ValueError, match="alpha above 0"):
        model.set_params(alpha=0.0, step_size="auto").fit(X, y)


def visits_of(model, rows):
    """The rows of each step of a fit, in turn."""
    begun = model._descent_.copy()
    begun.history.clear()
    batches = begun.batches(rows, size_up(model, len(rows)))
    order = begun.in_random_order(len(batches))
    return [batches[next(order)] for _ in range(model.n_iter_)]


@pytest.mark.parametrize("schedule", ["inverse", "theorem", "block"])
def test_keeping_f_up_to_date_gives_the_iterates_of_predicting(schedule, monkeypatch):
    """Passes of fit against the same batches as a stream, which is predicted from scratch."""
    start = np.zeros(1)  # a stream would begin with the shares of its first batch
    monkeypatch.setattr(descent_sizes, "starting", lambda *_: start)
    X = inputs(60, 3)
    y = X[:, 0] > 0
    model = DoublyStochasticClassifier(
        Gaussian(1.0),
        300,
        loss="log_loss" if schedule == "theorem" else "squared_error",
        alpha=0.5,
        step_size=2.0 if schedule == "theorem" else 0.5,
        schedule=schedule,
        batch_size=20,
        neurons_per_step=30,
        dtype="float64",
        random_state=0,
    )
    kept = clone(model).fit(X, y)
    for rows in visits_of(kept, np.arange(60)):
        model.partial_fit(X[rows], y[rows], [False, True])
    rounding = 1e-13 * (1e4 if schedule == "block" else 1)  # times the condition, 1 / damping
    largest = np.abs(kept.neuron_coef_).max()
    np.testing.assert_allclose(
        model.neuron_coef_, kept.neuron_coef_, atol=rounding * largest, rtol=0
    )
    np.testing.assert_allclose(model.loss_curve_, kept.loss_curve_, rtol=rounding)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_preconditioned_step_solves_the_ridge_problem_of_its_block(weighted):
    X = inputs(40, 3)
    y = np.sin(X[:, 0]) + 2
    weight = np.linspace(0.5, 1.5, 40) if weighted else None
    model = DoublyStochasticRegressor(
        Gaussian(1.0),
        alpha=0.0,
        step_size=1.0,
        schedule="block",
        batch_size=40,
        neurons_per_step=7,
        dtype="float64",
        random_state=0,
    ).partial_fit(X, y, weight)
    left = y - model.intercept_
    share = np.full(40, 1 / 40) if weight is None else weight / 40
    for step in range(2):
        Z = model.neurons_(X, model._stream_.between(7 * step, 7 * step + 7))
        covariance = Z.T @ (share[:, None] * Z)
        covariance += 1e-4 * np.trace(covariance) / 14 * np.eye(14)
        new = np.linalg.solve(covariance, Z.T @ (share * left))
        coef = model.neuron_coef_[7 * step : 7 * step + 7, :, 0]
        np.testing.assert_allclose(coef, new.reshape(2, 7).T, rtol=1e-7)
        left -= Z @ new
        model.partial_fit(X, y, weight)


def test_a_block_that_is_singular_is_reported(monkeypatch):
    monkeypatch.setattr(block, "_DAMPING", 1e-12)
    X = inputs(2000, 2)
    model = DoublyStochasticRegressor(
        Gaussian(50.0),
        512,
        schedule="block",
        batch_size=2000,
        neurons_per_step=256,
        step_size=1.0,
        random_state=0,
    )
    with pytest.raises(ValueError, match=r"neurons_per_step=256: .*512 .*2000 rows.*Remedy"):
        model.fit(X, X[:, 0])
    monkeypatch.undo()
    model.fit(X, X[:, 0])


def test_large_blocks_learn_in_a_few_steps():
    X, y = load_digits(return_X_y=True)
    options = {"n_neurons": 2400, "neurons_per_step": 300, "batch_size": 1000, "random_state": 0}
    options["neurons"] = Gaussian("median")
    block = DoublyStochasticClassifier(schedule="block", **options)
    plain = DoublyStochasticClassifier(schedule="inverse", **options)
    scores = [model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) for model in (block, plain)]
    assert scores[0] > 0.95
    assert scores[1] < scores[0] - 0.03


def explained(model, X, y, weight=None):
    """The share of the loss of rows that a model of one output explains."""
    loss = make_loss(model.loss)
    f = model.predict(X) if is_regressor(model) else model.decision_function(X)
    targets = y if is_regressor(model) else np.where(y, 1.0, -1.0)
    lost, of_constant = (
        np.average(loss.value(values[:, None], targets[:, None]), weights=weight)
        for values in (f, np.full(len(X), model.intercept_[0]))
    )
    return 1 - lost / of_constant


def held_out_by(model, y):
    """The numbers of the rows that a fit has held out."""
    loss, start = make_loss(model.loss), model._descent_.constant
    holding = Holding.of("Owner", model._seed_, 0.1, loss, start)
    return holding.split(model._targets_.matrix(y))[0]


def test_early_stopping_looks_at_rows_held_out():
    X = inputs(300, 2)
    y = np.sin(X[:, 0]) + np.random.default_rng(0).standard_normal(300)
    model = DoublyStochasticRegressor(
        Gaussian(0.5),
        20_000,
        early_stopping=True,
        schedule="inverse",
        batch_size=90,
        random_state=0,
    ).fit(X, y)
    scores = model.validation_scores_
    assert len(model.neuron_coef_) == 32 * model.n_iter_ < 20_000
    assert len(scores) == model.n_iter_ // 3  # once a pass of three batches
    held_out = held_out_by(model, y)
    assert len(held_out) == 30
    assert explained(model, X[held_out], y[held_out]) == pytest.approx(scores[-1], abs=1e-6)
    Z = model.neurons_(X[held_out], model._stream_.between(0, len(model.neuron_coef_)))
    coef = model.neuron_coef_.transpose(1, 0, 2).reshape(-1)  # alpha is too small for decay
    terms = (Z * coef).reshape(30, -1, len(scores), 96).sum(axis=(1, 3))
    f = model.intercept_ + np.cumsum(terms, axis=1).T
    losses = (y[held_out] - f) ** 2 / ((y[held_out] - model.intercept_) ** 2).mean()
    np.testing.assert_allclose(1 - losses.mean(axis=1), scores, atol=1e-4)
    assert stops_at(losses, patience=early_stopping._PATIENCE) == len(scores)
    full = DoublyStochasticRegressor(Gaussian(0.5), 6400, batch_size=100, random_state=0)
    assert full.fit(X, y).validation_scores_ == []
    assert len(full.neuron_coef_) == 6400


def test_early_stopping_looks_twenty_times_in_a_long_pass():
    X = inputs(1000, 2)
    y = X[:, 0] > 0
    model = DoublyStochasticClassifier(
        Gaussian(1.0),
        400,
        neurons_per_step=10,
        batch_size=5,
        early_stopping=True,
        schedule="inverse",
        random_state=0,
    ).fit(X, y)
    assert len(model.validation_scores_) == 20
    held_out = held_out_by(model, y)
    expected = explained(model, X[held_out], y[held_out])
    assert model.validation_scores_[-1] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("learner", [DoublyStochasticRegressor, DoublyStochasticClassifier])
def test_scores_of_rows_held_out_count_weights(learner):
    X = inputs(200, 3)
    f = np.sin(2 * X[:, 0])
    y = f if learner is DoublyStochasticRegressor else f > 0.5
    weight = np.random.default_rng(0).random(200) ** 3
    options = {"batch_size": 50, "neurons_per_step": 16, "random_state": 0, "dtype": "float64"}
    options |= {"schedule": "inverse"}
    model = learner(Gaussian(1.0), 64, early_stopping=True, **options).fit(X, y, weight)
    held_out = held_out_by(model, y)
    rows, targets = X[held_out], y[held_out]
    expected = explained(model, rows, targets, weight[held_out])
    assert model.validation_scores_[-1] == pytest.approx(expected)
    assert explained(model, rows, targets) != pytest.approx(expected, rel=0.01)


def test_early_stopping_needs_rows():
    model = DoublyStochasticRegressor(early_stopping=True)
    with pytest.raises(ValueError, match=r"holds out 1 of 9 rows, a share of 0.1.*Remedy"):
        model.fit(inputs(9, 2), np.arange(9.0))


def test_a_warm_start_continues_where_fit_stopped():
    X = inputs(60, 2)
    y = np.sin(X[:, 0])
    options = {"batch_size": 20, "step_size": 0.5, "alpha": 0.01, "random_state": 0}
    whole = DoublyStochasticRegressor(Gaussian(1.0), 320, **options).fit(X, y)
    parts = DoublyStochasticRegressor(Gaussian(1.0), 128, warm_start=True, **options).fit(X, y)
    parts.set_params(n_neurons=320).fit(X, y)
    np.testing.assert_allclose(parts.neuron_coef_, whole.neuron_coef_, rtol=1e-4, atol=1e-8)
    with pytest.raises(ValueError, match=r"warm_start=True with n_neurons=100, .*has 320 .*Remedy"):
        parts.set_params(n_neurons=100).fit(X, y)
    assert len(parts.neuron_coef_) == 320
    parts.partial_fit(X, y)
    assert len(parts.neuron_coef_) == 320 + 32 * 3
    assert len(parts.set_params(warm_start=False).fit(X, y).neuron_coef_) == 100


def test_class_weights_multiply_those_of_the_rows():
    X = inputs(120, 2)
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-1, 1])]
    options = {"n_neurons": 320, "batch_size": 40, "random_state": 0}
    weight = np.linspace(1, 2, 120)
    by_class = {"a": 2.0, "c": 0.5}
    model = DoublyStochasticClassifier(Gaussian(1.0), class_weight=by_class, **options)
    plain = DoublyStochasticClassifier(Gaussian(1.0), **options)
    factor = np.select([y == "a", y == "c"], [2.0, 0.5], 1.0)
    for given, expected in ((None, factor), (weight, factor * weight)):
        model.fit(X, y, given)
        plain.fit(X, y, expected)
        np.testing.assert_array_equal(model.neuron_coef_, plain.neuron_coef_)
    model.set_params(class_weight="balanced").fit(X, y)
    plain.fit(X, y, compute_sample_weight("balanced", y))
    np.testing.assert_array_equal(model.neuron_coef_, plain.neuron_coef_)
    with pytest.raises(ValueError, match=r"'balanced' needs .*Remedy: pass the weights as a dict"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match=r"has weights for \['d'\], but the classes are .*'a'"):
        model.set_params(class_weight={"d": 1.0}).fit(X, y)
    with pytest.raises(ValueError, match=r"class_weight=.* but it must be None, 'balanced'"):
        model.set_params(class_weight={"a": -1.0}).fit(X, y)


def test_a_model_is_its_coefficients_and_a_seed():
    X = inputs(60, 400)
    model = DoublyStochasticRegressor("gaussian", 5000, random_state=0).fit(X, X[:, 0])
    pickled = pickle.dumps(model)
    assert (
        len(pickled) < model.neuron_coef_.nbytes + 30_000
    )  # of which 10,000 are ranges of columns
    again = pickle.loads(pickled)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    again.partial_fit(X, X[:, 0])
    model.partial_fit(X, X[:, 0])
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-6)


def test_descent_converges_to_kernel_ridge_regression():
    """On a problem with strong regularisation the known minimiser is reached."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    y = np.sin(X[:, 0])
    y -= y.mean()
    neurons, alpha = Gaussian(1.0), 0.1
    K = neurons.fit(X, rng).kernel(X)
    exact = K @ np.linalg.solve(K + 200 * alpha * np.eye(200), y)
    distance = [
        np.sqrt(
            np.mean(
                (
                    DoublyStochasticRegressor(
                        neurons,
                        n,
                        alpha=alpha,
                        schedule="inverse",
                        batch_size=200,
                        neurons_per_step=64,
                        random_state=0,
                    )
                    .fit(X, y)
                    .predict(X)
                    - exact
                )
                ** 2
            )
        )
        for n in (1600, 25_600)
    ]
    assert distance[1] < 0.03
    assert distance[1] < distance[0] / 2


def test_weights_are_in_units_of_their_mean():
    """One row a step: scaled by the weight of its row over the mean so far, where that is less."""
    X = inputs(6, 2)
    y = X[:, 0] + 1
    weight = np.array([1.0, 1e-6, 2, 1, 0.5, 3])
    options = {"batch_size": 1, "neurons_per_step": 5, "alpha": 0.0, "dtype": "float64"}
    model = DoublyStochasticRegressor(Gaussian(1.0), step_size=1.0, random_state=0, **options)
    for i in range(6):
        before = model.predict(X[i : i + 1]) if i else y[:1]
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=weight[i : i + 1])
        new = model.neuron_coef_[-5:]
        psi = [model.neurons_(X[i : i + 1], w)[0] for w in blocks_of(model, [5] * (i + 1))[-1]]
        share = min(1, weight[i] / weight[: i + 1].mean())
        expected = -(before - y[i]) * share / 5 * np.array(psi)
        np.testing.assert_allclose(new[:, :, 0], expected, atol=1e-12)


def test_heavy_rows_do_not_change_what_a_fit_minimises():
    """One input; rows of weight 99 have the target 1, so that half of all weight has."""
    X, y, weight = np.zeros((200, 1)), np.zeros(200), np.ones(200)
    y[[50, 150]], weight[[50, 150]] = 1.0, 99.0
    model = DoublyStochasticRegressor(
        Gaussian(1.0), 8000, batch_size=10, neurons_per_step=4, step_size=0.1, random_state=0
    )
    values = [
        model.set_params(random_state=seed).fit(X, y, weight).predict(X[:1])[0] for seed in range(3)
    ]
    assert np.mean(values) == pytest.approx(99 / 198, abs=0.06)


def test_all_batches_are_shorter_by_the_heaviest():
    """So that a fit minimises the same whichever batches its rows fall into."""
    X = inputs(120, 3)
    y = np.sin(2 * X[:, 0])
    weight = np.random.default_rng(0).random(120) ** 4
    options = {"schedule": "constant", "step_size": 0.5, "alpha": 0.0, "dtype": "float64"}
    model = DoublyStochasticRegressor(
        Gaussian(1.0), 16, neurons_per_step=16, batch_size=30, random_state=6, **options
    ).fit(X, y, weight)
    unit = weight / weight.mean()
    heaviest = max(
        unit[rows].mean() for rows in model._descent_.batches(np.arange(120), size_up(model, 120))
    )
    [rows] = visits_of(model, np.arange(120))
    assert heaviest > max(1, 1.1 * unit[rows].mean())  # the step is on another batch
    Z = model.neurons_(X[rows], model._stream_.between(0, 16))
    slopes = unit[rows] * (model.intercept_ - y[rows]) / 30
    expected = -0.5 / 16 * Z.T @ slopes / heaviest
    np.testing.assert_allclose(model.neuron_coef_[:, :, 0].T.ravel(), expected, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_unit_of_steps_is_that_of_all_rows_of_a_stream(weighted):
    X = inputs(90, 3)
    y = np.sin(2 * X[:, 0]) + np.arange(90) / 30
    weight = np.random.default_rng(0).random(90) if weighted else None
    given = (X, y, weight) if weighted else (X, y)
    model = DoublyStochasticRegressor(loss="epsilon_insensitive", random_state=0)
    for rows in np.split(np.arange(90), [30, 50]):
        model.partial_fit(*(array[rows] for array in given))
    expected = np.average(np.abs(y - model.intercept_), weights=weight)
    assert model._descent_.spread == pytest.approx(expected)


def test_outputs_have_steps_of_their_own_where_slopes_have_no_unit():
    X = inputs(400, 2)
    Y = np.stack([np.sin(X[:, 0]), np.cos(X[:, 1])], axis=1)
    model = DoublyStochasticRegressor(
        n_neurons=2000, loss="epsilon_insensitive", epsilon=0.0, alpha=0.0, random_state=0
    ).set_params(dtype="float64")
    both = model.fit(X, Y).predict(X)
    for unit in (1e-3, 1e3):
        np.testing.assert_allclose(model.fit(X, Y * [1, unit]).predict(X), both * [1, unit])
    assert r2_score(Y, both) > 0.8


def test_a_first_row_does_not_fix_the_unit_of_steps():
    X = inputs(1500, 1)
    scores = []
    for unit in (1e-3, 1.0, 1e3):
        y = unit * np.sin(2 * X[:, 0])
        model = DoublyStochasticRegressor(
            Gaussian(0.5), batch_size=16, loss="epsilon_insensitive", epsilon=0.01 * unit, alpha=0.0
        )
        model.set_params(random_state=0).partial_fit(X[:1], y[:1])
        for rows in np.split(np.arange(1, 1500), range(16, 1500, 16)):
            model.partial_fit(X[rows], y[rows])
        scores.append(model.score(X, y))
    assert min(scores) > 0.8
    np.testing.assert_allclose(scores, scores[0], atol=0.02)


def test_divergence_stops_and_names_a_stable_step():
    X = inputs(300, 2)
    y = X[:, 0] > 0
    model = DoublyStochasticClassifier(
        Gaussian(1.0), loss="squared_error", step_size=40.0, random_state=0
    )
    with pytest.raises(
        ValueError, match=r"diverged within .*Remedy: step_size=40.0 .*take one below 2.479"
    ):
        model.fit(X, y)
    model.set_params(step_size="auto").fit(X, y)
    before = model.decision_function(X)
    model.set_params(step_size=40.0)
    with pytest.raises(ValueError, match="diverged"):
        for _ in range(200):
            model.partial_fit(X, y)
    assert np.isfinite(model.neuron_coef_).all()
    assert not np.array_equal(model.decision_function(X), before)


def test_a_decay_of_more_than_everything_is_refused():
    model = DoublyStochasticClassifier(alpha=2.0, step_size=0.5, schedule="constant")
    with pytest.raises(ValueError, match=r"alpha=2.0 decay .*Remedy: a step_size below 0.5"):
        model.fit(inputs(9, 2), np.arange(9) % 2)
    model.set_params(schedule="inverse").fit(inputs(9, 2), np.arange(9) % 2)
    model.set_params(step_size="auto", schedule="constant").fit(inputs(9, 2), np.arange(9) % 2)


def test_a_network_taken_earlier_does_not_learn_on():
    X = inputs(100, 2)
    model = DoublyStochasticRegressor(Gaussian(1.0), 64, alpha=0.1, random_state=0).fit(X, X[:, 0])
    network, coef = model.network_, model.neuron_coef_
    before = network(X.astype("float32")), coef.copy()
    model.partial_fit(X, X[:, 0])
    np.testing.assert_array_equal(network(X.astype("float32")), before[0])
    np.testing.assert_array_equal(coef, before[1])


def test_weights_stay_with_their_rows_over_batches(monkeypatch):
    monkeypatch.setattr(descent_sizes, "starting", lambda *_: np.zeros(1))
    X = inputs(24, 2)
    y = X[:, 0] > 0
    weight = (
        np.random.default_rng(0).permuted(np.tile([1.0, 3.0, 0.5, 1.5], (6, 1)), axis=1).ravel()
    )
    options = {"batch_size": 4, "neurons_per_step": 5, "random_state": 0, "dtype": "float64"}
    options |= {"schedule": "inverse"}  # the noise would come from more rows
    whole = DoublyStochasticClassifier(Gaussian(1.0), **options)
    whole.partial_fit(X, y, sample_weight=weight)
    parts = DoublyStochasticClassifier(Gaussian(1.0), **options)
    for rows in np.split(np.arange(24), 6):  # the mean weight is the same after each batch
        parts.partial_fit(X[rows], y[rows], [False, True], weight[rows])
    np.testing.assert_allclose(whole.neuron_coef_, parts.neuron_coef_, rtol=1e-12)


def test_a_short_batch_takes_a_short_step():
    X = inputs(5, 2)
    options = {"neurons_per_step": 8, "alpha": 0.0, "step_size": 0.5, "random_state": 0}
    whole = DoublyStochasticRegressor(Gaussian(1.0), batch_size=5, **options)
    quarter = DoublyStochasticRegressor(Gaussian(1.0), batch_size=20, **options)
    whole.partial_fit(X, X[:, 0])
    quarter.partial_fit(X, X[:, 0])
    np.testing.assert_allclose(quarter.neuron_coef_, whole.neuron_coef_ / 4, rtol=1e-6)


def test_the_order_of_rows_follows_the_seed():
    X = inputs(60, 2)
    orders = []
    for seed in (0, 1, 0):
        model = DoublyStochasticRegressor(Gaussian(1.0), 96, batch_size=20, random_state=seed)
        visits = visits_of(model.fit(X, X[:, 0]), np.arange(60))
        orders.append(np.concatenate(visits).tolist())
    assert orders[0] == orders[2] != orders[1]


def test_probabilities_follow_from_the_minimised_loss():
    X = inputs(60, 2)
    model = DoublyStochasticClassifier(Gaussian(1.0), 640, random_state=0).fit(X, X[:, 0] > 0)
    before = model.predict_proba(X)
    model.set_params(loss="squared_error")
    np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("outputs", [1, 2])
def test_online_error_is_the_squared_error_before_the_step(outputs):
    X = inputs(20, 2)
    y = np.column_stack([X[:, 0], 3 * X[:, 1]])[:, :outputs]
    model = DoublyStochasticRegressor(Gaussian(1.0), batch_size=20, random_state=0)
    model.partial_fit(X, y).partial_fit(X, y)
    first = ((y - y.mean(axis=0)) ** 2).sum(axis=1).mean()
    assert model.online_error_[0].tolist() == pytest.approx([20, first], rel=1e-5)
    assert model.online_error_[1, 1] < first


@pytest.mark.parametrize("classes", [2, 3])
def test_online_error_of_a_classifier_is_its_share_of_mistakes(classes):
    X = inputs(200, 2)
    y = np.digitize(X[:, 0], np.linspace(-1, 1, classes + 1)[1:-1])
    model = DoublyStochasticClassifier(Gaussian(1.0), batch_size=200, random_state=0)
    for _ in range(60):
        model.partial_fit(X, y)
    assert model.online_error_[0, 1] == pytest.approx((y != 0).mean())  # all zeros: the first
    assert model.online_error_[-1, 1] == pytest.approx(1 - model.score(X, y), abs=0.03)
    assert model.online_error_[-1, 1] < 0.15


class Tripled(Gaussian):
    bound = 3.0

    def activate(self, X, weights):
        return 3 * super().activate(X, weights)


@pytest.mark.parametrize("neurons", ["gaussian", "trees"])
def test_losses_are_those_of_the_network_before_the_step(neurons):
    X = inputs(300, 3)
    y = X[:, 0] * X[:, 1] + 3
    options = {"step_size": 0.5, "neurons_per_step": 1, "batch_size": 300, "random_state": 0}
    first, second = (
        DoublyStochasticRegressor(neurons, n, alpha=0.3, **options).fit(X, y) for n in (4, 5)
    )
    loss = ((first.predict(X) - y) ** 2).mean() / 2
    assert second.loss_curve_[4] == pytest.approx(loss, rel=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {"schedule": "inverse"},
        {"schedule": "block"},
        {"schedule": "theorem", "alpha": 0.1, "loss": "huber", "epsilon": 9.0},
    ],
)
def test_trees_learn_by_steps_of_both_kinds(options):
    X = inputs(1000, 3)
    y = X[:, 0] + X[:, 1] * X[:, 2]
    model = DoublyStochasticRegressor("trees", 200, random_state=0, **options).fit(X, y)
    assert model.score(X, y) > 0.3


def test_the_first_step_depends_on_the_bound_of_the_family():
    X = inputs(30, 2)
    one, three = (
        DoublyStochasticRegressor(family, 64, schedule="inverse", random_state=0).fit(X, X[:, 0])
        for family in (Gaussian(1.0), Tripled(1.0))
    )
    assert three._descent_.steps.first == pytest.approx(one._descent_.steps.first / 9, rel=1e-3)


def test_a_large_model_is_small_in_a_file():
    """50,000 neurons of 784 inputs, ten outputs: 4 MB of coefficients, no 157 MB of weights."""
    X = inputs(20, 784)
    model = DoublyStochasticClassifier(
        Gaussian(28.0), 50_000, neurons_per_step=12_500, random_state=0
    ).fit(X, np.arange(20) % 10)
    assert model.neuron_coef_.shape == (50_000, 2, 10)
    assert len(pickle.dumps(model)) < 4.5e6


def test_the_theorem_may_begin_with_wild_steps():
    """θ = 10, one row and one neuron a step: f grows a thousandfold before it converges."""
    X = inputs(100, 2)
    rows = np.random.default_rng(0).integers(100, size=2000)
    model = DoublyStochasticRegressor(
        Gaussian(1.0),
        alpha=0.1,
        schedule="theorem",
        batch_size=1,
        neurons_per_step=1,
        random_state=0,
    )
    with pytest.warns(UserWarning, match="assumes a bounded slope, which this loss does not"):
        model.partial_fit(X[rows], np.sin(X[rows, 0]))
    assert model.loss_curve_.max() > 1e3 * model.loss_curve_[0]
    assert model.loss_curve_[-100:].mean() < 1e-2 * model.loss_curve_.max()


def test_the_order_of_rows_does_not_decide_the_step():
    """Rows far apart come first: the kernel looks like a diagonal to them."""
    rng = np.random.default_rng(0)
    X = np.r_[10 * rng.standard_normal((1100, 5)), 0.01 * rng.standard_normal((4900, 5))]
    y = np.sin(X[:, 0]) + (np.arange(6000) >= 1100)
    model = DoublyStochasticRegressor(Gaussian(1.0), 2000, random_state=0)
    eigenvalue = np.linalg.eigvalsh(Gaussian(1.0).fit(X, rng).kernel(X[::6]))[-1] / 1000
    assert model.fit(X, y)._descent_.eigenvalue == pytest.approx(eigenvalue, abs=0.05)
    assert model.score(X, y) > 0.1


def noisy_targets():
    X = inputs(600, 3)
    return X, X[:, 0] + np.random.default_rng(1).standard_normal(600)


def test_a_warm_start_stops_early_by_scores_of_its_own():
    X, y = noisy_targets()
    model = DoublyStochasticRegressor(
        Gaussian("median"), n_neurons=5000, early_stopping=True, warm_start=True, random_state=0
    ).fit(X, y)
    stopped, looks = len(model.neuron_coef_), len(model.validation_scores_)
    assert stopped < 5000
    model.fit(X, y)
    assert len(model.validation_scores_) > looks + 5
    model.set_params(early_stopping=False, n_neurons=8000).fit(X, y)
    assert len(model.neuron_coef_) == 8000


def test_a_warm_start_that_fails_leaves_the_model_as_it_was():
    X, y = noisy_targets()
    model = DoublyStochasticRegressor(n_neurons=512, warm_start=True, random_state=0).fit(X, y)
    before = model.predict(X), model.n_iter_, model.loss_curve_
    model.set_params(n_neurons=5120, step_size=500.0)
    with pytest.raises(ValueError, match="diverged"):
        model.fit(X, y)
    np.testing.assert_array_equal(model.predict(X), before[0])
    assert model.n_iter_ == before[1] == len(model.loss_curve_)
    model.set_params(step_size="auto").fit(X, y)
    assert len(model.neuron_coef_) == 5120


def test_a_refused_batch_is_not_counted():
    X, y = noisy_targets()
    model = DoublyStochasticRegressor(random_state=0).partial_fit(X, y)
    model.set_params(alpha=1e9, schedule="constant", step_size=1.0)
    with pytest.raises(ValueError, match="decay earlier"):
        model.partial_fit(X, y)
    assert model._descent_.n_rows == 600


def test_a_light_batch_makes_a_small_step_on_blocks_too():
    X = inputs(3000, 2)
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    model = DoublyStochasticRegressor(
        Gaussian(1.0),
        neurons_per_step=64,
        batch_size=500,
        schedule="block",
        random_state=0,
    )
    for rows in np.split(np.arange(3000), 6):
        model.partial_fit(X[rows], y[rows], np.ones(500))
    before = model.score(X, y)
    model.partial_fit(X[:500], 1000 + y[:500], np.full(500, 1e-6))
    assert model.score(X, y) > before - 0.01


@pytest.mark.parametrize(
    ("loss", "schedule"),
    [
        ("squared_error", "inverse"),
        ("squared_error", "block"),
        ("huber", "block"),
        ("epsilon_insensitive", "inverse"),
    ],
)
def test_the_unit_of_the_targets_does_not_matter(loss, schedule):
    X = inputs(500, 2)
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    options = {"n_neurons": 1000, "loss": loss, "alpha": 0.0, "schedule": schedule}
    first = None
    for unit in (1.0, 2.0**-14, 2.0**14):  # powers of two, which round alike
        model = DoublyStochasticRegressor(
            Gaussian(1.0), epsilon=0.125 * unit, dtype="float64", random_state=0, **options
        )
        prediction = model.fit(X, unit * y).predict(X) / unit
        first = prediction if first is None else first
        np.testing.assert_allclose(prediction, first, rtol=1e-9, atol=1e-9)
    assert np.corrcoef(first, y)[0, 1] > (0.4 if schedule == "block" else 0.9)


def test_huber_needs_a_width():
    with pytest.raises(ValueError, match=r"epsilon=0 does not go with loss='huber'.*Remedy"):
        DoublyStochasticRegressor(loss="huber", epsilon=0).fit(inputs(9, 2), np.arange(9.0))


def test_divergence_of_blocks_asks_for_more_rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (700, 4)) * (rng.random((700, 4)) < 0.5)
    model = DoublyStochasticRegressor(
        Gaussian(1.5), 9600, batch_size=64, neurons_per_step=32, schedule="block"
    )
    model.set_params(step_size=3.0, random_state=0)
    with pytest.raises(ValueError, match=r"diverged.*64 columns needs batches of several times"):
        model.fit(X, np.sin(2 * X[:, 0]))


def test_a_family_is_never_asked_for_no_neurons():
    """A batch that is met again after its own step has no neurons to catch up with."""

    def sample(rng, n, n_features):
        return rng.standard_normal((n, n_features))

    def psi(X, w):
        return np.column_stack([np.tanh(X @ direction) for direction in w])

    X = inputs(100, 2)
    model = DoublyStochasticRegressor(
        FromFunction(sample, psi), 96, neurons_per_step=32, random_state=0
    )
    model.fit(X, X[:, 0])
    assert model.n_iter_ == 3
    assert model.score(X, X[:, 0]) > 0


@pytest.mark.parametrize("n_neurons", [5, 50])
def test_a_stream_that_runs_past_its_neurons_does_not_diverge(n_neurons):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 2))
    y = np.sin(2 * X[:, 0]) + rng.standard_normal(1500) / 4
    model = DoublyStochasticRegressor(
        Gaussian(1.0), n_neurons, batch_size=1, neurons_per_step=1, random_state=0
    ).partial_fit(X, y)
    first, *_, last = np.split(model.online_error_[:, 1], 5)
    assert last.mean() < first.mean() < y.var() + first.std() / 10


@pytest.mark.parametrize("loss", ["squared_error", "epsilon_insensitive"])
def test_blocks_by_default_beat_plain_steps_and_do_not_diverge(loss):
    X, y = make_friedman1(6000, noise=0.5, random_state=0)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    options = {"n_neurons": 3000, "loss": loss, "random_state": 0}
    options["neurons"] = Gaussian("median")
    model = DoublyStochasticRegressor(**options).fit(X[:4000], y[:4000])
    plain = DoublyStochasticRegressor(**options, schedule="inverse").fit(X[:4000], y[:4000])
    assert (model.schedule_, model.batch_size_, model.neurons_per_step_) == (
        "block",
        4000,
        256,
    )
    assert (plain.schedule_, plain.batch_size_, plain.neurons_per_step_) == ("inverse", 512, 32)
    assert model.score(X[4000:], y[4000:]) > max(0.95, plain.score(X[4000:], y[4000:]) + 0.05)


@pytest.mark.parametrize("loss", ["log_loss", "hinge", "squared_hinge"])
def test_blocks_by_default_classify_better_than_plain_steps(loss):
    X, y = load_digits(return_X_y=True)
    options = {"n_neurons": 1000, "loss": loss, "random_state": 0}
    options["neurons"] = Gaussian("median")
    scores = [
        DoublyStochasticClassifier(schedule=kind, **options)
        .fit(X[:1200], y[:1200])
        .score(X[1200:], y[1200:])
        for kind in ("auto", "inverse")
    ]
    assert scores[0] > scores[1] + 0.02


@pytest.mark.parametrize("load", [load_diabetes, load_breast_cancer, load_wine])
def test_with_nothing_set_it_is_as_good_as_kitchen_sinks_on_small_tables(load):
    """At equal numbers of neurons, up to two standard errors of the difference and 5 %."""
    X, y = load(return_X_y=True)
    X, regression = (X - X.mean(axis=0)) / X.std(axis=0), load is load_diabetes
    kinds = (
        (DoublyStochasticRegressor, KitchenSinksRegressor)
        if regression
        else (DoublyStochasticClassifier, KitchenSinksClassifier)
    )
    lost = [[], []]
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(len(X))
        train, test = np.split(order, [int(0.7 * len(X))])
        for kind, losses in zip(kinds, lost, strict=True):
            model = kind(n_neurons=1000, random_state=seed).fit(X[train], y[train])
            errors = model.predict(X[test]) - y[test]
            losses.extend(errors**2 if regression else errors != 0)
    ours, theirs = np.array(lost, dtype=float)
    more = ours - 1.05 * theirs
    assert more.mean() < 2 * more.std() / np.sqrt(len(more))


def bumps(rng, n, n_features):
    return rng.standard_normal((n, n_features))


def bump(X, centres):
    return np.exp(-((X[:, None, :] - centres) ** 2).sum(axis=2) / 2)


@pytest.mark.parametrize("n_neurons", ["auto", 200])
def test_a_family_far_below_its_bound_learns_as_in_kitchen_sinks(n_neurons):
    """Steps that were sized by the bound of ψ had an R² of .27 and, with 200 neurons, .02."""
    X = inputs(900, 3)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    y += 0.1 * np.random.default_rng(1).standard_normal(900)
    family = FromFunction(bumps, bump)
    model = DoublyStochasticRegressor(family, n_neurons, random_state=0).fit(X[:600], y[:600])
    other = KitchenSinksRegressor(family, random_state=0).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > 0.8 * other.score(X[600:], y[600:]) > 0.5


def test_small_batches_of_a_stream_learn():
    """Plain steps, of 50 rows each, had an accuracy of .66."""
    X, y = load_breast_cancer(return_X_y=True)
    X, right = (X - X.mean(axis=0)) / X.std(axis=0), []
    for seed in range(4):
        train, test = np.split(np.random.default_rng(seed).permutation(len(X)), [400])
        model = DoublyStochasticClassifier(random_state=seed)
        for rows in np.split(train, 8):
            model.partial_fit(X[rows], y[rows], classes=[0, 1])
        right.extend(model.predict(X[test]) == y[test])
    right = np.array(right, dtype=float)
    assert right.mean() + 2 * right.std() / np.sqrt(len(right)) > 0.93
    assert right.mean() > 0.9


def test_more_neurons_for_the_same_rows_do_not_follow_noise():
    """The blocks of a fit share one time of the gradient flow, however many they are."""
    X, rng = inputs(700, 3), np.random.default_rng(1)
    y = np.sin(2 * X[:, 0]) + rng.standard_normal(700)
    scores = [
        DoublyStochasticRegressor(Gaussian(1.0), n, random_state=0)
        .fit(X[:300], y[:300])
        .score(X[300:], np.sin(2 * X[300:, 0]))
        for n in (1000, 16_000)
    ]
    assert scores[1] > scores[0] - 0.03


@pytest.mark.parametrize(
    ("rows", "given"),
    [(40, {}), (300, {}), (2000, {}), (300, {"batch_size": 64, "neurons_per_step": 32})],
)
def test_blocks_of_any_size_learn_no_noise(rows, given):
    """Targets that nothing predicts; steps of one block without end took R² to −70."""
    X, rng = inputs(rows + 500, 5), np.random.default_rng(1)
    y = rng.standard_normal(rows + 500)
    model = DoublyStochasticRegressor(n_neurons=1600, schedule="block", random_state=0, **given)
    assert model.fit(X[:rows], y[:rows]).score(X[rows:], y[rows:]) > -0.5
    if rows > 1000 and not given:
        assert model.score(X[rows:], y[rows:]) > -0.02


def test_a_run_that_stays_worse_than_a_constant_warns():
    X = inputs(3000, 5)
    y = X[:, 0] + np.random.default_rng(1).standard_normal(3000)
    model = DoublyStochasticRegressor(
        Gaussian("median"),
        n_neurons=1280,
        schedule="block",
        batch_size=100,
        neurons_per_step=32,
        step_size=0.5,
        random_state=0,
    )
    with pytest.warns(ConvergenceWarning, match=r"nothing is learned.*Remedy: .* 64 columns"):
        model.fit(X, y)
    with pytest.warns(ConvergenceWarning, match="nothing is learned"):
        model.partial_fit(X, y)
    model.set_params(step_size="auto").fit(X, y)  # and this does not


def test_batches_of_any_size_take_steps_on_blocks():
    X = inputs(5000, 2)
    y = np.sin(2 * X[:, 0])
    model = DoublyStochasticRegressor(Gaussian(1.0), random_state=0)
    for rows, k in ((slice(2000), 256), (slice(2000, 2050), 32), (slice(2050, 4500), 256)):
        model.partial_fit(X[rows], y[rows])
        assert (model.schedule_, model.neurons_per_step_) == ("block", k)
    assert model.score(X[4500:], y[4500:]) > 0.9


def test_a_common_factor_of_weights_changes_no_block():
    X = inputs(1200, 2)
    y = np.sin(2 * X[:, 0])
    weight = np.random.default_rng(0).random(1200)
    model = DoublyStochasticRegressor(Gaussian(1.0), 320, random_state=0, dtype="float64")
    coef = model.fit(X, y, weight).neuron_coef_
    assert model.schedule_ == "block"
    np.testing.assert_allclose(
        model.fit(X, y, 1024 * weight).neuron_coef_, coef, rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize(
    ("loss", "missing"),
    [
        ("squared_error", "a bounded slope"),
        ("squared_hinge", "a bounded slope"),
        ("hinge", "a slope that is Lipschitz continuous"),
        ("log_loss", None),
    ],
)
def test_assumptions_of_the_theorem_are_checked(loss, missing):
    X = inputs(60, 2)
    model = DoublyStochasticClassifier(
        Gaussian(1.0), 64, loss=loss, alpha=1.0, schedule="theorem", random_state=0
    )
    if missing is None:
        model.fit(X, X[:, 0] > 0)
        return
    with pytest.warns(UserWarning, match=rf"theorem assumes {missing}, which .*Remedy"):
        model.fit(X, X[:, 0] > 0)

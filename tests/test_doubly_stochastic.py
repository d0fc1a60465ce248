"""Doubly Stochastic Gradients against a literal transcription, on the same draws."""

import pickle

import numpy as np
import pytest

import naive
from cases import inputs
from trickless import DoublyStochasticClassifier, DoublyStochasticRegressor
from trickless._losses import make_loss
from trickless.neurons import Gaussian, Stumps


def blocks_of(model, sizes):
    """The neurons of each step, one by one."""
    stops = np.cumsum(sizes)
    return [
        [
            tuple(a[j : j + 1] for a in weights)
            for where, weights in model.stream_.pieces(stop - size, stop)
            for j in range(where.stop - where.start)
        ]
        for size, stop in zip(sizes, stops, strict=True)
    ]


def psi_of(model):
    return lambda x, w: model.neurons_.activate(x[None, :], w)[0]


@pytest.mark.parametrize("neurons", [Gaussian(1.0), Stumps()])
@pytest.mark.parametrize(
    ("learner", "loss", "classes"),
    [
        (DoublyStochasticRegressor, "squared_error", 0),
        (DoublyStochasticRegressor, "epsilon_insensitive", 0),
        (DoublyStochasticClassifier, "log_loss", 2),
        (DoublyStochasticClassifier, "log_loss", 3),
        (DoublyStochasticClassifier, "hinge", 3),
        (DoublyStochasticClassifier, "squared_hinge", 2),
        (DoublyStochasticClassifier, "squared_error", 3),
    ],
)
def test_steps_are_those_of_the_algorithm(learner, loss, classes, neurons):
    X = inputs(24, 3)
    f = np.sin(2 * X[:, 0]) + X[:, 1]
    y = np.digitize(f, np.linspace(-1, 1, classes + 1)[1:-1]) if classes else f + 7
    model = learner(
        neurons,
        loss=loss,
        alpha=0.03,
        step_size=0.8,
        batch_size=4,
        neurons_per_step=100,  # steps cross the blocks of the stream
        random_state=0,
        dtype="float64",
    )
    model.partial_fit(X, y, *([np.unique(y)] if classes else []))
    targets = model._targets(y, None, first=False) - model.intercept_
    slope = make_loss(loss, targets.shape[1], epsilon=0.1).derivative
    coef = naive.doubly_stochastic(
        [(X[i : i + 4], targets[i : i + 4]) for i in range(0, 24, 4)],
        blocks_of(model, [100] * 6),
        psi_of(model),
        lambda f_x, y_x: slope(f_x[None], y_x[None])[0],
        [0.8 / (1 + 0.8 * 0.03 * i) for i in range(6)],
        alpha=0.03,
    )
    np.testing.assert_allclose(model.coef_, coef.reshape(model.coef_.shape), atol=1e-10)
    assert model.intercept_ == pytest.approx(y[:24].mean() if not classes else 0)
    assert model.n_steps_ == 6


def test_fit_draws_as_many_neurons_as_asked_and_visits_every_row():
    X = inputs(50, 3)
    model = DoublyStochasticRegressor(
        Gaussian(1.0), 110, batch_size=20, neurons_per_step=32, random_state=0
    ).fit(X, X[:, 0])
    assert len(model.coef_) == 110
    assert model.n_steps_ == 4
    assert model.online_error_[:, 0].tolist() == [20, 20, 20, 20]
    batches = model._batches(50)
    rows = np.concatenate([next(batches) for _ in range(5)])
    assert sorted(rows[:50]) == sorted(rows[50:]) == list(range(50))
    assert rows[:50].tolist() != rows[50:].tolist()


@pytest.mark.parametrize("n_rows", [512, 513])
def test_a_row_more_than_a_batch_makes_no_difference(n_rows):
    X = inputs(n_rows + 500, 2)
    y = np.sin(X[:, 0]) + np.random.default_rng(0).standard_normal(len(X)) / 3
    model = DoublyStochasticRegressor(Gaussian(1.0), 3200, random_state=0)
    assert model.fit(X[:n_rows], y[:n_rows]).score(X[n_rows:], y[n_rows:]) > 0.6
    streamed = DoublyStochasticRegressor(Gaussian(1.0), random_state=0)
    for _ in range(60):
        streamed.partial_fit(X[:n_rows], y[:n_rows])
    assert streamed.score(X[n_rows:], y[n_rows:]) > 0.6


def test_first_step_is_stable_for_every_loss():
    X = inputs(300, 2)
    y = (X[:, 0] > 0).astype(int)
    for loss, first in (("log_loss", 4), ("squared_error", 1), ("squared_hinge", 0.5)):
        model = DoublyStochasticClassifier(Gaussian(1.0), 640, loss=loss, random_state=0)
        model.fit(X, y)
        assert model._step_size(make_loss(loss)) == pytest.approx(first, rel=1e-3)
        assert model.score(X, y) > 0.9


def test_the_schedule_tends_to_theta_over_i_with_theta_alpha_one():
    model = DoublyStochasticRegressor(Gaussian(1.0), 32, alpha=0.5, random_state=0)
    model.fit(inputs(10, 2), np.arange(10.0))
    model.n_steps_ = 10**6
    assert model._step_size(make_loss("squared_error")) * 0.5 * 10**6 == pytest.approx(1, rel=1e-5)
    model.set_params(schedule="constant", step_size=0.3)
    assert model._step_size(make_loss("squared_error")) == 0.3


def test_neurons_from_the_seed_and_from_the_cache_give_one_model():
    X = inputs(100, 3)
    options = {"n_neurons": 1500, "neurons_per_step": 300, "random_state": 0}
    cached = DoublyStochasticRegressor(Gaussian(1.0), **options).fit(X, X[:, 0])
    redrawn = DoublyStochasticRegressor(Gaussian(1.0), **options, cache_bytes=0).fit(X, X[:, 0])
    np.testing.assert_array_equal(cached.coef_, redrawn.coef_)
    assert not redrawn.stream_._cache
    np.testing.assert_array_equal(cached.predict(X), redrawn.predict(X))


def test_a_model_is_its_coefficients_and_a_seed():
    X = inputs(60, 400)
    model = DoublyStochasticRegressor("gaussian", 5000, random_state=0).fit(X, X[:, 0])
    pickled = pickle.dumps(model)
    assert len(pickled) < model.coef_.nbytes + 20_000
    again = pickle.loads(pickled)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    again.partial_fit(X, X[:, 0])
    model.partial_fit(X, X[:, 0])
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-6)


def test_it_converges_to_kernel_ridge_regression():
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
                        neurons, n, alpha=alpha, batch_size=200, neurons_per_step=64, random_state=0
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
    model = DoublyStochasticRegressor(Gaussian(1.0), random_state=0, **options)
    for i in range(6):
        before = model.predict(X[i : i + 1]) if i else y[:1]
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=weight[i : i + 1])
        new = model.coef_[-5:]
        psi = [model.neurons_(X[i : i + 1], w)[0] for w in blocks_of(model, [5] * (i + 1))[-1]]
        share = min(1, weight[i] / weight[: i + 1].mean())
        expected = -(before - y[i]) * share / 5 * np.array(psi)
        np.testing.assert_allclose(new[:, :, 0], expected, atol=1e-12)


def test_divergence_stops_and_names_a_stable_step():
    X = inputs(300, 2)
    y = X[:, 0] > 0
    model = DoublyStochasticClassifier(
        Gaussian(1.0), loss="squared_error", step_size=40.0, random_state=0
    )
    with pytest.raises(
        ValueError, match=r"diverged after .*step_size=40.0.*Remedy: a step_size below 1, "
    ):
        model.fit(X, y)
    model.set_params(step_size="auto").fit(X, y)
    before = model.decision_function(X)
    model.set_params(step_size=40.0)
    with pytest.raises(ValueError, match="diverged"):
        for _ in range(200):
            model.partial_fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert not np.array_equal(model.decision_function(X), before)


def test_a_decay_of_more_than_everything_is_refused():
    model = DoublyStochasticClassifier(alpha=2.0, schedule="constant")
    with pytest.raises(ValueError, match=r"alpha=2.0 decays .*Remedy: a step_size below 0.5"):
        model.fit(inputs(9, 2), np.arange(9) % 2)
    model.set_params(schedule="inverse").fit(inputs(9, 2), np.arange(9) % 2)


def test_a_network_taken_earlier_does_not_learn_on():
    X = inputs(100, 2)
    model = DoublyStochasticRegressor(Gaussian(1.0), 64, alpha=0.1, random_state=0).fit(X, X[:, 0])
    network, coef = model.network_, model.coef_
    before = network(X.astype("float32")), coef.copy()
    model.partial_fit(X, X[:, 0])
    np.testing.assert_array_equal(network(X.astype("float32")), before[0])
    np.testing.assert_array_equal(coef, before[1])


def test_weights_stay_with_their_rows_over_batches():
    X = inputs(24, 2)
    y = X[:, 0] > 0
    weight = (
        np.random.default_rng(0).permuted(np.tile([1.0, 3.0, 0.5, 1.5], (6, 1)), axis=1).ravel()
    )
    options = {"batch_size": 4, "neurons_per_step": 5, "random_state": 0, "dtype": "float64"}
    whole = DoublyStochasticClassifier(Gaussian(1.0), **options)
    whole.partial_fit(X, y, sample_weight=weight)
    parts = DoublyStochasticClassifier(Gaussian(1.0), **options)
    for rows in np.split(np.arange(24), 6):  # the mean weight is the same after each batch
        parts.partial_fit(X[rows], y[rows], [False, True], weight[rows])
    np.testing.assert_allclose(whole.coef_, parts.coef_, rtol=1e-12)


def test_a_short_batch_takes_a_short_step():
    X = inputs(5, 2)
    options = {"neurons_per_step": 8, "alpha": 0.0, "random_state": 0, "dtype": "float64"}
    whole = DoublyStochasticRegressor(Gaussian(1.0), batch_size=5, **options)
    quarter = DoublyStochasticRegressor(Gaussian(1.0), batch_size=20, **options)
    whole.partial_fit(X, X[:, 0])
    quarter.partial_fit(X, X[:, 0])
    np.testing.assert_allclose(quarter.coef_, whole.coef_ / 4, rtol=1e-12)


def test_the_order_of_rows_follows_the_seed():
    X = inputs(60, 2)
    orders = []
    for seed in (0, 1):
        model = DoublyStochasticRegressor(Gaussian(1.0), 64, batch_size=20, random_state=seed)
        batches = model.fit(X, X[:, 0])._batches(60)
        orders.append(np.concatenate([next(batches) for _ in range(3)]))
    assert not np.array_equal(*orders)


def test_probabilities_go_by_the_loss_that_was_minimised():
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


def test_the_first_step_goes_by_the_bound():
    X = inputs(30, 2)
    model = DoublyStochasticRegressor(Tripled(1.0), 64, random_state=0).fit(X, X[:, 0])
    assert model._step_size(make_loss("squared_error")) == pytest.approx(1 / 9, rel=1e-3)

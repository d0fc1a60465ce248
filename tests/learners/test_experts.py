"""Half-lives that are chosen by the data: an ensemble that learns row after row."""

import pickle
import threading

import numpy as np
import pytest
import scipy.sparse

import trickless
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.neurons import Gaussian, Stumps


def rows(n=700, seed=0):
    """Rows whose targets change their sign in the middle."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    sign = np.where(np.arange(n) < n // 2, 1, -1)
    return X, sign * np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)


def labels(n=700):
    X, y = rows(n)
    return X, np.array(["a", "b", "c"])[np.digitize(y, [-0.4, 0.4])]


def learner(kind=KitchenSinksRegressor, neurons=None, **parameters):
    neurons = Gaussian("median") if neurons is None else neurons
    how = {"n_neurons": 30, "half_life": "auto", "random_state": 0, "dtype": "float64"}
    return kind(neurons, **how | parameters)


def answers(model, X):
    if isinstance(model, KitchenSinksClassifier):
        return model.predict_proba(X)
    return np.column_stack([*model.predict(X, return_std=True), model.predict_interval(X)])


@pytest.mark.parametrize(
    ("neurons", "size"),
    [("gaussian", 1), ("gaussian", 37), (Gaussian(1.0), 37), (Stumps(), 700)],
)
def test_rows_may_be_grouped_in_any_way(neurons, size):
    X, y = rows()
    model, expected = learner(neurons=neurons), learner(neurons=neurons).fit(X, y)
    for start in range(0, len(X), size):
        model.partial_fit(X[start : start + size], y[start : start + size])
    np.testing.assert_allclose(answers(model, X), answers(expected, X), rtol=1e-5)


@pytest.mark.parametrize("kind", [KitchenSinksRegressor, KitchenSinksClassifier])
def test_predict_then_learn_is_a_loop_over_rows_of_experts(kind):
    X, y = rows(160) if kind is KitchenSinksRegressor else labels(160)
    classes = {} if kind is KitchenSinksRegressor else {"classes": ["a", "b", "c"]}
    of_both = "return_std" if kind is KitchenSinksRegressor else "return_proba"
    blocks, model = learner(kind), learner(kind)
    found = [
        blocks.predict_then_learn(X[part], y[part], **classes, **{of_both: True})
        for part in (slice(0, 100), slice(100, 160))
    ]
    for i in range(len(X)):
        if i:
            row, part = i % 100 if i < 100 else i - 100, int(i >= 100)
            ahead = answers(model, X[i : i + 1])[0] if i > 20 else None
            assert model.predict(X[i : i + 1])[0] == (
                pytest.approx(found[part][0][row], rel=1e-6, abs=1e-9)
                if kind is KitchenSinksRegressor
                else found[part][0][row]
            )
            if i > 20:
                np.testing.assert_allclose(
                    ahead[1] if kind is KitchenSinksRegressor else ahead,
                    found[part][1][row],
                    rtol=1e-6,
                    atol=1e-12,
                )
        model.partial_fit(X[i : i + 1], y[i : i + 1], **classes)
    np.testing.assert_allclose(answers(model, X), answers(blocks, X), rtol=1e-6)


def test_the_first_row_of_a_model_is_not_predicted_by_itself():
    X, y = rows(10)
    mean, std = learner().predict_then_learn(X, 5 + y, return_std=True)
    assert np.isnan([mean[0], std[0]]).all() and np.isfinite(mean[1:]).all()
    _, likely = learner(KitchenSinksClassifier).predict_then_learn(
        X, np.arange(10) % 2, return_proba=True
    )
    assert likely[0] == pytest.approx([0.5, 0.5])


def test_a_change_is_followed_and_the_weights_tell():
    X, y = rows(3000)
    model = learner()
    error = np.abs(model.predict_then_learn(X, y) - y)
    assert error[1200:1500].mean() < 0.15  # the noise alone has 0.08
    assert error[1600:1900].mean() < 0.25
    table, (until, history) = model.expert_weights_, model.weight_history_
    assert table["weight"].sum() == pytest.approx(1)
    assert until[-1] == 3000 and len(history) <= 512
    np.testing.assert_allclose(history.sum(axis=1), 1)
    slow = history[:, table["half_life"] == np.inf].sum(axis=1)
    assert slow[(until > 1200) & (until <= 1500)].mean() > 0.4
    assert slow[(until > 1600) & (until <= 1900)].mean() < 0.1


@pytest.mark.parametrize(("outputs", "size"), [(1, 1), (2, 700)])
def test_one_wrong_target_does_no_harm_of_experts(outputs, size):
    X = np.random.default_rng(0).normal(size=(700, 2))
    signal = np.column_stack([np.sin(X[:, 0]), X[:, 1]])[:, :outputs]
    y = signal + 0.1 * np.random.default_rng(1).normal(size=signal.shape)
    wrong = y.copy()
    wrong[300, 0] = 1e9
    errors = []
    for targets in (y, wrong):
        model, found = learner(alpha=1e-3), []
        for start in range(0, 700, size):
            part = slice(start, start + size)
            found.append(
                model.predict_then_learn(
                    X[part], targets[part, 0] if outputs == 1 else targets[part]
                )
            )
        errors.append(np.abs(np.concatenate(found).reshape(700, -1) - y)[301:, 0])
    assert errors[1].mean() < errors[0].mean() + 3 * errors[0].std() / np.sqrt(399)


def test_another_level_of_the_targets_is_followed_a_few_rows_later_at_most():
    X, y = rows(360)
    errors = []
    for clips in (True, False):
        model = learner().fit(X[:300], y[:300])
        model._sums_.reaches = model._sums_.reaches if clips else []
        predicted = model.predict_then_learn(X[300:], y[300:] + 1e4)
        errors.append(np.abs(predicted - y[300:] - 1e4))
    assert errors[0][-20:].mean() < errors[1][-25:-5].mean()


def test_time_stamps_age_experts():
    """A gap of 50 half-lives leaves the prior, as if the stream began anew."""
    X, y = rows(400)
    times = np.concatenate([np.arange(200.0), 10_000 + np.arange(200.0)])
    model = learner(neurons=Gaussian(1.0), half_life=[20.0, 200.0])
    model.partial_fit(X[:300], y[:300], timestamps=times[:300])
    model.partial_fit(X[300:], y[300:], timestamps=times[300:])
    again = learner(neurons=Gaussian(1.0), half_life=[20.0, 200.0])
    again.partial_fit(X[200:], y[200:], timestamps=times[200:])
    close = np.abs(model.predict(X) - again.predict(X)).mean()
    assert close < 0.05
    with pytest.raises(ValueError, match="counts in rows, but there are time stamps"):
        learner().fit(X, y, timestamps=times)


def test_a_stream_is_saved_in_the_middle(tmp_path):
    X, y = labels()
    for n in (3, 100, 290):
        model = learner(KitchenSinksClassifier).partial_fit(X[:n], y[:n], ["a", "b", "c"])
        trickless.save(model, tmp_path / "model.trk")
        copies = [trickless.load(tmp_path / "model.trk"), pickle.loads(pickle.dumps(model))]
        model.partial_fit(X[n:], y[n:])
        for copy in copies:
            copy.partial_fit(X[n:], y[n:])
            np.testing.assert_array_equal(answers(copy, X), answers(model, X))


def test_a_batch_that_fails_changes_nothing():
    X, y = rows(300)
    model = learner().fit(X, y)
    before = answers(model, X)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((3, 2), np.nan), y[:3])
    with pytest.raises(ValueError, match="alpha"):
        model.set_params(alpha=1.0).partial_fit(X, y)
    model.set_params(alpha="auto")
    np.testing.assert_array_equal(answers(model, X), before)


def test_intervals_hold_new_targets():
    X, y = rows(3000)
    model = learner().fit(X[:2500], y[:2500])
    normal = model.predict_interval(X[2500:], method="gaussian")
    for low, high in (model.predict_interval(X[2500:]).T, normal.T):
        covered = ((low <= y[2500:]) & (y[2500:] <= high)).mean()
        assert covered == pytest.approx(0.9, abs=4 * (0.1 * 0.9 / 500) ** 0.5)
    mean, std = model.predict(X[2500:], return_std=True)  # slow experts, which are wrong, widen it
    assert (1.645 * std > 1.1 * (normal[:, 1] - mean)).all()
    with pytest.raises(ValueError, match="method='full' does not go with half_life='auto'"):
        model.predict_interval(X, method="full")


def test_old_errors_count_less_for_intervals(monkeypatch):
    X, y = rows(1200)
    y[1000:] += np.random.default_rng(1).normal(size=200)
    model = learner().fit(X, y)
    experts = model._sums_
    weights = model.expert_weights_["weight"].reshape(-1, len(experts.half_lives), 2)
    expected = [
        sum(
            weights[:, i].sum() * (1 - 1 / max(100, mass)) ** age
            for i, mass in enumerate(experts.mass)
        )
        for age in range(1023, -1, -1)
    ]
    np.testing.assert_allclose(experts.recent_weights, expected, rtol=1e-9)
    wide = np.ptp(model.predict_interval(X), axis=1)
    monkeypatch.setattr(type(experts), "recent_weights", np.ones(1024))
    assert (wide > 1.1 * np.ptp(model.predict_interval(X), axis=1)).all()


def test_compact_predicts_the_same():
    X, y = rows(300)
    model = learner().fit(X, y)
    np.testing.assert_array_equal(answers(model.compact(), X), answers(model, X))
    with pytest.raises(ValueError, match="compact"):
        model.compact().partial_fit(X, y)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda m, X, y: m.merge(m), "merge"),
        (lambda m, X, y: m.forget(X[:2], y[:2]), "forget"),
        (lambda m, X, y: m.statistics_, "statistics_"),
        (lambda m, X, y: m.alpha_, "single solution"),
        (lambda m, X, y: m.neuron_coef_, "single solution"),
        (lambda m, X, y: m.network_, "network_"),
        (lambda m, X, y: m.sample_y(X), "sample_y"),
        (lambda m, X, y: m.predict(X, return_cov=True), "return_cov"),
        (lambda m, X, y: m.noise_variance_, "noise_variance_"),
        (lambda m, X, y: m.log_marginal_likelihood_, "log_marginal_likelihood_"),
        (lambda m, X, y: m.set_params(half_life=30).partial_fit(X, y), "half_life"),
        (lambda m, X, y: m.set_params(half_life=[30]).partial_fit(X, y), "half_life"),
        (lambda m, X, y: m.set_params(alpha="evidence").fit(X, y), "alpha='evidence'"),
        (lambda m, X, y: m.set_params(solver="iterative").fit(X, y), "solver='iterative'"),
        (lambda m, X, y: m.set_params(weight_bound=1.0).fit(X, y), "weight_bound=1.0"),
        (lambda m, X, y: m.set_params(alpha=0).fit(X, y), "alpha=0"),
        (lambda m, X, y: m.set_params(alpha=1e-25).fit(X, y), "alpha=1e-25 is too small"),
        (lambda m, X, y: m.set_params(half_life=[]).fit(X, y), "half_life"),
        (lambda m, X, y: m.set_params(half_life=[3, -1]).fit(X, y), "half_life"),
        (lambda m, X, y: learner(half_life=50).fit(X, y).half_lives_, "single half-life"),
        (
            lambda m, X, y: (
                learner()
                .set_params(half_life=50)
                .fit(X, y)
                .set_params(half_life="auto")
                .partial_fit(X, y)
            ),
            "begun with a single half-life",
        ),
    ],
)
def test_what_an_ensemble_does_not_have_is_an_error(use, message):
    X, y = rows(100)
    with pytest.raises((ValueError, AttributeError), match=message) as caught:
        use(learner().fit(X, y), X, y)
    assert "Remedy: " in str(caught.value)


@pytest.mark.parametrize("alpha", ["auto", 1e-2])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_several_outputs_are_weighted_apart(alpha, fit_intercept):
    X, y = rows(600)
    Y = np.column_stack([y, X[:, 1]])  # the second does not change
    both = learner(neurons=Gaussian(1.0), alpha=alpha, fit_intercept=fit_intercept)
    predicted, std = both.predict_then_learn(X, Y, return_std=True)
    assert predicted.shape == std.shape == Y.shape
    for output in range(2):
        one = learner(neurons=Gaussian(1.0), alpha=alpha, fit_intercept=fit_intercept)
        alone = one.predict_then_learn(X, Y[:, output])
        np.testing.assert_allclose(predicted[1:, output], alone[1:], rtol=1e-6, atol=1e-8)


def test_several_labels_and_sparse_rows():
    X, y = rows(600)
    X[np.abs(X) < 0.5] = 0.0
    Y = (np.column_stack([y, X[:, 1]]) > 0).astype(int)
    neurons = Gaussian("median")  # "auto" goes by all labels
    dense = learner(KitchenSinksClassifier, neurons).fit(X, Y)
    sparse = learner(KitchenSinksClassifier, neurons).fit(scipy.sparse.csr_matrix(X), Y)
    np.testing.assert_allclose(answers(dense, X), answers(sparse, X), atol=1e-6)
    assert dense.predict(X).shape == Y.shape
    alone = learner(KitchenSinksClassifier, neurons).fit(X, Y[:, 1])
    np.testing.assert_allclose(answers(dense, X)[:, 1], answers(alone, X)[:, 1], atol=1e-6)


def test_targets_that_do_not_vary_yet():
    X, y = rows(300)
    y[:150] = 7.0
    mean, std = learner().fit(X[:150], y[:150]).predict(X, return_std=True)
    np.testing.assert_allclose(mean, 7.0)
    assert (std < 1e-6).all()
    assert np.isfinite(answers(learner().fit(X, y), X)).all()


def test_sample_weights_are_inverse_variances():
    """Noisy rows of a small weight hurt less than with the weight of the others."""
    X, y = rows(1200)
    y[:] = np.sin(X[:, 0])
    rng, noisy = np.random.default_rng(1), np.arange(1200) % 2 == 0
    y[noisy] += 3 * rng.normal(size=600)
    y[~noisy] += 0.1 * rng.normal(size=600)
    weight = np.where(noisy, 0.1**2 / 3**2, 1.0)
    equal, weighted = (learner().fit(X, y, sample_weight=w) for w in (None, weight))
    error = [np.abs(model.predict(X) - np.sin(X[:, 0])).mean() for model in (equal, weighted)]
    assert error[1] < 0.3 * error[0]


@pytest.mark.parametrize("rate", [0.8, 0.95])
def test_probabilities_of_labels_by_chance_are_their_rate(rate):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 2)), rng.random(3000) < rate
    model = learner(KitchenSinksClassifier)
    _, likely = model.predict_then_learn(X, y.astype(int), return_proba=True)
    assert likely[1000:, 1].mean() == pytest.approx(rate, abs=0.03)
    loss = -np.log(np.where(y, likely[:, 1], likely[:, 0]))[1000:].mean()
    entropy = -rate * np.log(rate) - (1 - rate) * np.log(1 - rate)
    assert loss < entropy + 0.06


@pytest.mark.parametrize("half_life", ["auto", 40.0])
def test_threads_that_predict_see_states_between_two_batches(half_life):
    X, y = rows(420)
    model = learner(neurons=Gaussian(1.0), half_life=half_life).fit(X[:300], y[:300])
    again = learner(neurons=Gaussian(1.0), half_life=half_life).fit(X[:300], y[:300])
    q, seen, done = X[:5], [], threading.Event()
    known = [again.predict(q)]
    for i in range(300, 420):
        again.partial_fit(X[i : i + 1], y[i : i + 1])
        known.append(again.predict(q))

    def look():
        while not done.is_set():
            seen.append(model.predict(q))

    thread = threading.Thread(target=look)
    thread.start()
    for i in range(300, 420):
        model.predict(q)
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    done.set()
    thread.join()
    assert seen
    far = [min(np.abs(each - one).max() for one in known) for each in seen]
    assert max(far) < 1e-9

"""Doubly Stochastic Gradients in streams that drift: neurons fade, and old ones are dropped."""

import copy
import datetime
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import trickless
from trickless import DoublyStochasticClassifier, DoublyStochasticRegressor
from trickless._solvers.ages import NeuronAges
from trickless._solvers.clock import SPAN
from trickless._solvers.progress import STRETCHES
from trickless.neurons import Gaussian, Trees

HALF_LIFE = 1000
NEURONS = {"gaussian": Gaussian(1.0), "trees": Trees(3)}


def rows(n, seed=0, sign=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, sign * np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=n)


def regressor(neurons="gaussian", **parameters):
    how = {"half_life": HALF_LIFE, "random_state": 0} | parameters
    return DoublyStochasticRegressor(NEURONS[neurons], **how)


def learned(model, n, size=100, seed=0, sign=1):
    X, y = rows(n, seed, sign)
    for start in range(0, n, size):
        model.partial_fit(X[start : start + size], y[start : start + size])
    return model


def error(model, sign=1):
    X, y = rows(2000, seed=99, sign=sign)
    return float(np.mean((model.predict(X) - y) ** 2))


def answers(model):
    return model.predict(rows(50, seed=9)[0])


def n_bytes(model):
    return len(pickle.dumps(model))


@pytest.mark.parametrize("neurons", NEURONS)
def test_the_memory_of_an_endless_stream_is_bounded(neurons):
    """50,000 rows in batches of 200, of which those of 8 half-lives of 800 rows count."""
    model = regressor(neurons, half_life=800)
    counts, sizes = [], []
    for part in range(5):
        learned(model, 10_000, 200, seed=part)
        counts.append(len(model._descent_.coef))
        sizes.append(n_bytes(model))
    # Steps on 100 rows, since no batch is longer than an eighth of a half-life.
    assert counts == [model.neurons_per_step_ * int(SPAN * 800 / 100 + 1)] * 5
    assert len(model._descent_.left) == counts[0]
    assert model.n_iter_ == 500
    assert not model._stream_._cache
    # What grows is the history, by 100 records for each part, until it is full.
    assert sizes[-1] - sizes[1] < 3 * 100 * 60


def test_the_history_of_an_endless_stream_is_bounded():
    model = learned(regressor(half_life=20), 400, 1)
    model._descent_.history *= 21
    n_rows = model.online_error_[:, 0].sum()
    losses = model._descent_.history
    mean = sum(seen.n_rows * seen.loss for seen in losses) / n_rows
    X, y = rows(5)
    model.partial_fit(X, y)
    assert STRETCHES < len(model.online_error_) < 2 * STRETCHES
    assert model.n_iter_ == 8400 + 2  # no step is on more than an eighth of the half-life
    assert model.online_error_[:, 0].sum() == n_rows + 5
    seen = model._descent_.history[:-2]
    after = sum(seen.n_rows * seen.loss for seen in seen) / n_rows
    assert after == pytest.approx(mean)


@pytest.mark.filterwarnings("ignore:.*nothing is learned")  # by the model that forgets nothing
@pytest.mark.parametrize("neurons", NEURONS)
def test_a_stream_recovers_from_an_abrupt_change(neurons):
    """Within some half-lives, a model is as good as one that never saw the old labels."""
    models, fresh = [regressor(neurons), regressor(neurons, half_life=None)], regressor(neurons)
    for model in models:
        learned(model, 6000)
        learned(model, 5000, seed=1, sign=-1)
    learned(fresh, 5000, seed=1, sign=-1)
    X, y = rows(2000, seed=99, sign=-1)
    losses = [(model.predict(X) - y) ** 2 for model in (*models, fresh)]
    apart = [losses[i] - losses[2] for i in (0, 1)]
    standard_error = [each.std() / np.sqrt(len(each)) for each in apart]
    # Noise of the draws and of the last rows is a tenth of the noise of y, by other seeds.
    assert apart[0].mean() < 3 * standard_error[0] + 0.01
    assert apart[1].mean() > 10 * standard_error[1]


@pytest.mark.parametrize("neurons", NEURONS)
def test_a_stationary_stream_loses_little(neurons):
    """With a half-life of 10,000 rows, the error is within a tenth of the variance of y."""
    model = learned(regressor(neurons, half_life=10_000), 20_000, 1000)
    variance = rows(2000)[1].var() - 0.3**2
    assert error(model) - 0.3**2 < 0.1 * variance


@pytest.mark.parametrize("neurons", NEURONS)
def test_the_level_of_the_targets_does_not_fade(neurons):
    """Targets rise by 100. The intercept takes that over, and predictions rise by as much."""
    models = [learned(regressor(neurons), 5000) for _ in range(2)]
    X, y = rows(14_000, seed=1)
    for model, level in zip(models, (0, 100), strict=True):
        for start in range(0, len(X), 100):
            model.partial_fit(X[start : start + 100], level + y[start : start + 100])
    low, high = (model.predict(rows(2000, seed=99)[0]) for model in models)
    np.testing.assert_allclose(high, 100 + low, atol=0.01)
    assert model.intercept_[0] == pytest.approx(100, abs=2)


def test_coefficients_fade_by_the_half_life_and_go_with_their_neurons():
    model = learned(regressor(batch_size=50), 50, 50)
    first = model.neuron_coef_.copy()
    learned(model, 1000, 50, seed=1)
    # 20 steps later
    n = len(first)
    np.testing.assert_allclose(model.neuron_coef_[:n], first / 2, rtol=1e-3)
    learned(model, 7100, 50, seed=2)
    assert model._descent_.ages.n_dropped > n
    weights = model._stream_.between(model._descent_.ages.n_dropped, model._descent_.n_drawn)
    for kept, drawn in zip(model._descent_.left.weights, weights, strict=True):
        np.testing.assert_array_equal(kept, drawn)


def test_ages_keep_the_youngest():
    ages = NeuronAges(2).after(3.0, 10)
    ages.append(4)
    assert ages.after(5.0, 10).born.rows.tolist() == [0, 0, 3, 3, 3, 3]
    later = ages.after(5.1, 10)
    assert later.born.rows.tolist() == [3, 3, 3, 3]
    assert later.n_dropped == 2
    assert len(ages.after(0.0, 1)) == 1
    assert len(ages.after(0.0, -1)) == 0


@pytest.mark.parametrize("neurons", NEURONS)
def test_no_more_neurons_than_n_neurons(neurons):
    model = regressor(neurons, half_life=300, n_neurons=40, neurons_per_step=2)
    model.set_params(batch_size=10)
    with pytest.warns(UserWarning, match=r"neurons are dropped after 0\.\d+ half-lives"):
        for part in range(5):
            learned(model, 100, 50, seed=part)
            assert len(model._descent_.coef) <= 40
    assert model.n_iter_ == 50


@pytest.mark.parametrize("neurons", NEURONS)
def test_a_half_life_without_end_is_no_forgetting_bit_for_bit_of_neurons(neurons):
    models = [learned(regressor(neurons, half_life=h), 400) for h in (None, np.inf)]
    np.testing.assert_array_equal(*map(answers, models))


@pytest.mark.parametrize("neurons", NEURONS)
def test_saved_in_the_middle_of_a_stream(neurons, tmp_path):
    model = learned(regressor(neurons, half_life=100), 2000)
    trickless.save(model, tmp_path / "model")
    others = [trickless.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))]
    others.append(copy.deepcopy(model))
    learned(model, 1000, seed=1)
    for other in others:
        np.testing.assert_array_equal(answers(learned(other, 1000, seed=1)), answers(model))
        np.testing.assert_array_equal(other.online_error_, model.online_error_)


@pytest.mark.parametrize("neurons", NEURONS)
def test_predictions_of_an_older_state_stay(neurons):
    model = learned(regressor(neurons, half_life=100), 1000)
    network = model.network_
    network_before = network(rows(50, seed=9)[0])[:, 0]
    older = copy.copy(model)
    before = answers(model)
    learned(model, 1000, seed=1)
    np.testing.assert_array_equal(answers(older), before)
    np.testing.assert_array_equal(network(rows(50, seed=9)[0])[:, 0], network_before)


def test_time_stamps_are_rows_if_they_count_rows():
    X, y = rows(1200)
    day = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
    by_rows = regressor(half_life=500, batch_size=100)
    by_time = regressor(half_life=datetime.timedelta(seconds=500), batch_size=100)
    for start in range(0, 1200, 100):
        some = slice(start, start + 100)
        times = [day + datetime.timedelta(seconds=i) for i in range(start, start + 100)]
        by_rows.partial_fit(X[some], y[some])
        by_time.partial_fit(X[some], y[some], timestamps=times)
    kept = [model._descent_.ages.now for model in (by_rows, by_time)]
    assert kept[0] - kept[1] == pytest.approx(1 / 500)  # there is no time before the first row
    # Every second row a long time after the others: these have gone.
    n_before = by_time._descent_.ages.n_dropped + len(by_time._descent_.coef)
    later = [times[-1] + datetime.timedelta(hours=2)] * 100
    by_time.partial_fit(*rows(100, seed=3), timestamps=later)
    assert by_time._descent_.ages.n_dropped == n_before


def test_fit_weights_rows_by_age():
    X, y = rows(800)
    weight = 0.5 ** (np.arange(800)[::-1] / 200)
    expected = regressor(half_life=None, n_neurons=400).fit(X, y, weight)
    model = regressor(half_life=200, n_neurons=400).fit(X, y)
    np.testing.assert_array_equal(answers(model), answers(expected))
    stamped = regressor(half_life=2.0, n_neurons=400).fit(X, y, timestamps=np.arange(800) / 100)
    np.testing.assert_allclose(answers(stamped), answers(model), rtol=1e-3, atol=1e-3)
    with pytest.raises(ValueError, match="came without time stamps"):
        model.partial_fit(X, y, timestamps=np.arange(800))
    learned(model, 1000, seed=1)
    assert model._descent_.ages.now == pytest.approx(5)


@pytest.mark.parametrize("neurons", NEURONS)
def test_a_model_may_begin_and_end_to_forget(neurons):
    model = learned(regressor(neurons, half_life=None), 500)
    n_first = len(model._descent_.coef)
    model.set_params(half_life=100)
    learned(model, 1000, seed=1)
    assert model._descent_.ages.n_dropped >= n_first
    model.set_params(half_life=None)
    n = len(model._descent_.coef)
    learned(model, 500, seed=2)
    assert len(model._descent_.coef) > n
    assert np.isfinite(answers(model)).all()


@pytest.mark.parametrize("neurons", NEURONS)
def test_no_time_and_nearly_none_may_pass(neurons):
    X, y = rows(200)
    model = regressor(neurons, half_life=10.0).partial_fit(X, y, timestamps=3.0)
    assert model.partial_fit(X, y, timestamps=3.0)._descent_.ages.now == 0
    long = learned(regressor(neurons, half_life=1e300), 200)
    assert 0 < long._descent_.ages.now < 1e-290
    assert np.isfinite(answers(long)).all()


def test_probabilities_follow_the_shares_of_the_classes():
    """The labels do not depend on the rows; their share goes from .8 to .2."""
    rng = np.random.default_rng(0)
    model = DoublyStochasticClassifier(Gaussian(1.0), half_life=500, random_state=0)
    for share in (0.8, 0.2):
        for _ in range(20):
            y = (rng.random(200) < share).astype(int)
            model.partial_fit(rng.normal(size=(200, 2)), y, classes=[0, 1])
        mean = model.predict_proba(rng.normal(size=(1000, 2)))[:, 1].mean()
        # 720 rows count in effect
        assert mean == pytest.approx(share, abs=4 * np.sqrt(0.16 / 720))


def test_rows_without_weight_only_pass_the_time():
    model = learned(regressor(half_life=100), 500)
    before = model.neuron_coef_.copy()
    X, y = rows(100, seed=1)
    model.partial_fit(X, y, np.zeros(100))
    np.testing.assert_allclose(model.neuron_coef_, before[-len(model.neuron_coef_) :] / 2)


@pytest.mark.parametrize(
    ("parameters", "stamps", "message"),
    [
        ({"half_life": 0}, None, "half_life=0"),
        ({"half_life": -1.0}, None, r"half_life=-1\.0"),
        ({"half_life": 10, "schedule": "theorem"}, None, "stop to follow"),
        ({"half_life": 10}, [1.0, 0.0], "timestamps run backwards"),
        ({"half_life": datetime.timedelta(1)}, None, "no time stamps"),
    ],
)
def test_bad_input_changes_nothing(parameters, stamps, message):
    model = regressor(**parameters)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(*rows(2), timestamps=stamps)
    assert not hasattr(model, "_descent_")
    assert model._clock_ is None


@pytest.mark.parametrize("half_life", ["auto", [3.0], (10, 100)])
@pytest.mark.parametrize("learner", [DoublyStochasticRegressor(), trickless.StreamingScaler()])
def test_several_half_lives_are_only_for_kitchen_sinks(learner, half_life):
    learner = clone(learner).set_params(half_life=half_life)
    message = f"{type(learner).__name__}: half_life=.* positive timedelta. Remedy"
    with pytest.raises(TypeError, match=message):
        learner.partial_fit(*rows(20))


def test_drawn_trees_forget():
    trees = Trees(depth=3)
    model = DoublyStochasticRegressor(trees, half_life=100, random_state=0)
    learned(model, 2000)
    assert model._descent_.ages.n_dropped > 0
    assert error(model) < rows(2000)[1].var()

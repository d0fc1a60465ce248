"""Intervals whose level follows a stream."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDRegressor

from trickless import DoublyStochasticRegressor, KitchenSinksRegressor
from trickless.conformal import AdaptiveInterval
from trickless.conformal import adaptive as module
from trickless.neurons import Gaussian


class Zero:
    """A model that predicts 0 and learns nothing."""

    def partial_fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


def run(noise, batch=20, **options):
    """Whether targets are inside, for noise of the given deviations, in batches."""
    rng, stream, hits = np.random.default_rng(0), AdaptiveInterval(Zero(), **options), []
    y = noise * rng.standard_normal(len(noise))
    for some in np.split(y, len(y) // batch):
        if len(getattr(stream, "errors_", ())) >= 100:
            low, high = stream.predict_interval(some[:, None]).T
            hits.append((low <= some) & (some <= high))
        stream.partial_fit(some[:, None], some)
    return np.array(hits), stream


def test_the_share_inside_is_kept_while_the_noise_grows():
    """Without adaptation, growing noise leaves more outside than asked."""
    noise = np.exp(np.linspace(0, 6, 8000))
    hits, stream = run(noise)
    fixed = []
    y = noise * np.random.default_rng(0).standard_normal(8000)
    for start in range(100, 8000, 20):
        past = np.sort(np.abs(y[max(0, start - 1000) : start]))
        fixed.append(np.abs(y[start : start + 20]) <= past[int(np.ceil(0.9 * len(past))) - 1])
    error = (0.09 / hits.size) ** 0.5
    assert np.mean(fixed) < 0.9 - 10 * error
    assert abs(hits.mean() - 0.9) < 3 * error
    assert (stream.levels_ > 0.9).all()


def test_a_sudden_change_is_followed_within_some_hundred_rows():
    hits, _ = run(np.repeat([1.0, 4.0, 0.5], 3000))
    n = 20
    assert hits[2900 // n : 3000 // n].mean() < 0.9
    error = (0.09 / 1500) ** 0.5
    for end in (3000, 6000, 9000):
        late = hits[(end - 1500 - 100) // n : (end - 100) // n]
        assert abs(late.mean() - 0.9) < 5 * error


def test_steady_noise_has_intervals_of_the_right_width():
    hits, stream = run(np.ones(6000))
    error = (0.09 / hits.size) ** 0.5
    assert abs(hits.mean() - 0.9) < 4 * error
    assert stream.predict_interval(np.zeros((1, 1)))[0, 1] == pytest.approx(1.645, rel=0.1)
    assert abs(stream.coverage_[0] - hits.mean()) < 0.01


def test_intervals_of_a_loss_with_a_log_link_end_at_0():
    rng = np.random.default_rng(0)
    model = DoublyStochasticRegressor(n_neurons=50, loss="poisson", random_state=0)
    stream = AdaptiveInterval(model)
    for _ in range(4):
        X = rng.standard_normal((50, 2))
        stream.partial_fit(X, rng.poisson(np.exp(X[:, 0] - 1)))
    low, high = stream.predict_interval(X).T
    assert low.min() == 0
    assert (high > low).all()


def test_one_step_is_the_adaptive_inference_of_gibbs_and_candes(monkeypatch):
    """With one γ only: α ← α + γ (α₀ − err) for each row, and c by the err of α + c."""
    monkeypatch.setattr(module, "_STEPS", np.array([0.05]))
    rng = np.random.default_rng(0)
    y, stream = rng.standard_normal(300), AdaptiveInterval(Zero(), window_size=50)
    level, added = 0.1, 0.0
    for i, target in enumerate(y):
        past = np.sort(np.abs(y[max(0, i - 50) : i]))
        if len(past) >= 9:
            ranks = [int(np.ceil((1 - a) * (len(past) + 1) - 1e-9)) for a in (level, level + added)]
            far, used = (
                np.inf if rank > len(past) else past[max(rank, 1) - 1] * (rank > 0)
                for rank in ranks
            )
            assert stream.predict_interval(np.zeros((1, 1)))[0, 1] == used
            level += 0.05 * (0.1 - (abs(target) > far))
            added += 0.005 * (0.1 - (abs(target) > used))
        stream.partial_fit(np.zeros((1, 1)), y[i : i + 1])
        if len(past) >= 9:
            assert stream.levels_[0] == pytest.approx(1 - level - added, abs=1e-9)


def just_outside(batch, n_rows=6_400):
    """Targets that are just above the ends of their intervals, or 0 where these are infinite."""
    stream, targets = AdaptiveInterval(Zero()), [np.random.default_rng(0).standard_normal(100)]
    stream.partial_fit(targets[0][:, None], targets[0])
    for _ in range(n_rows // batch):
        end = stream.predict_interval(np.zeros((1, 1)))[0, 1]
        y = np.full(batch, np.nextafter(end, np.inf) if np.isfinite(end) else 0.0)
        stream.partial_fit(y[:, None], y)
        targets.append(y)
    return np.concatenate(targets)


SEQUENCES = {
    "recorded against single rows": (1, just_outside),
    "recorded against batches": (20, just_outside),
    "recorded against large batches": (400, just_outside),
    "exact": (20, lambda _: np.append(np.ones(100), np.zeros(6_400))),
    "growing": (100, lambda _: np.exp(np.arange(8000) / 100)),
    "normal": (1000, lambda _: np.random.default_rng(0).standard_normal(8000)),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_the_share_outside_is_bounded_for_any_sequence(name):
    """(1.13 / g + n) / T after T rows in batches of n, and (1.13 + 1) / T after T large batches."""
    batch, make = SEQUENCES[name]
    y, stream = make(batch), AdaptiveInterval(Zero())
    for start in range(0, len(y) // batch * batch, batch):
        some = y[start : start + batch]
        stream.partial_fit(some[:, None], some)
    bound = (1.13 / 0.005 + batch) / stream.n_seen_
    if batch > 200:
        bound = 2.13 * batch / stream.n_seen_
    assert abs(stream.coverage_[0] - 0.9) < bound


@pytest.mark.parametrize("batch", [20, 400])
def test_the_promise_is_about_the_intervals_that_were_given(batch):
    """All rows of a batch have the level of its start, while the noise changes."""
    hits, stream = run(np.exp(np.sin(np.arange(16_000) / 1000)), batch=batch)
    assert abs(hits.mean() - 0.9) < 0.02
    seen = np.ravel(hits)[-stream.n_seen_ :]
    start = stream.inside_[0] - seen.sum()  # of the rows before ``run`` counts
    assert 0 <= start <= stream.n_seen_ - seen.size
    assert np.isfinite(stream.predict_interval(np.zeros((1, 1)))).all()


def test_targets_in_a_column_are_those_in_a_vector():
    X = np.random.default_rng(0).standard_normal((40, 3))
    streams = [AdaptiveInterval(Zero()).partial_fit(X, y) for y in (X[:, 0], X[:, :1])]
    np.testing.assert_array_equal(*(stream.predict_interval(X) for stream in streams))
    with pytest.raises(ValueError, match=r"y has the shape \(40, 3\), but the model predicts"):
        streams[0].partial_fit(X, X)


def test_models_learn_as_they_would_alone():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    Y = X @ rng.standard_normal((2, 2)) + rng.standard_normal((300, 2))
    alone = KitchenSinksRegressor(Gaussian(1.0), 20, alpha=1e-3, random_state=0)
    stream = AdaptiveInterval(KitchenSinksRegressor(Gaussian(1.0), 20, alpha=1e-3, random_state=0))
    for start in range(0, 300, 50):
        some = slice(start, start + 50)
        alone.partial_fit(X[some], Y[some], sample_weight=np.ones(50))
        stream.partial_fit(X[some], Y[some], sample_weight=np.ones(50))
    np.testing.assert_array_equal(stream.predict(X), alone.predict(X))
    assert stream.predict_interval(X).shape == (300, 2, 2)
    assert stream.n_seen_ == 200  # the first batch is not predicted, and the second has no errors


def test_too_few_rows_are_refused():
    stream = AdaptiveInterval(SGDRegressor(random_state=0))
    X = np.random.default_rng(0).standard_normal((5, 2))
    with pytest.raises(NotFittedError, match=r"Remedy: partial_fit"):
        stream.predict_interval(X)
    stream.partial_fit(X, X[:, 0]).partial_fit(X, X[:, 0])
    with pytest.raises(
        ValueError, match=r"needs the errors of at least 9 rows, .* predicted 5. Rem"
    ):
        stream.predict_interval(X)
    with pytest.raises(ValueError, match=r"no row had an interval so far"):
        _ = stream.coverage_
    with pytest.raises(ValueError, match=r"window_size=3, but it must be .* at least 10"):
        AdaptiveInterval(Zero(), window_size=3).partial_fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"window_size=50, .* 99 rows. Remedy: window_size=99"):
        AdaptiveInterval(Zero(), confidence=0.99, window_size=50).partial_fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"confidence=2, but"):
        AdaptiveInterval(Zero(), confidence=2).partial_fit(X, X[:, 0])
    stream.partial_fit(X, X[:, 0]).set_params(confidence=0.5)
    for again in (lambda: stream.predict_interval(X), lambda: stream.partial_fit(X, X[:, 0])):
        with pytest.raises(ValueError, match=r"confidence=0.5, but .* confidence=0.9 so far. Reme"):
            again()


def test_errors_of_a_model_that_has_learned_are_shown():
    class Broken:
        def partial_fit(self, X, y):
            return self

        def predict(self, X):
            return self.coefficients @ X

    stream = AdaptiveInterval(Broken()).partial_fit(np.zeros((5, 1)), np.zeros(5))
    with pytest.raises(AttributeError, match="coefficients"):
        stream.partial_fit(np.zeros((5, 1)), np.zeros(5))

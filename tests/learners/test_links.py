"""Counts and positive targets: losses whose decision values are logarithms."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import d2_tweedie_score

import trickless
from trickless import BoostedTreesRegressor, DoublyStochasticRegressor
from trickless._errors import InvalidValueError
from trickless.neurons import Gaussian

POWERS = {"poisson": 1.0, "tweedie": 1.5, "gamma": 2.0}
STEPS = {
    "trees": BoostedTreesRegressor(200, random_state=0),
    "blocks": DoublyStochasticRegressor(Gaussian("median"), 2000, random_state=0),
    "plain": DoublyStochasticRegressor(schedule="inverse", n_neurons=5000, random_state=0),
}
#: The least share of what could be explained, after so few steps.
LEAST = {"trees": 0.85, "blocks": 0.8, "plain": 0.5}
losses = pytest.mark.parametrize("loss", sorted(POWERS))
steps = pytest.mark.parametrize("how", sorted(STEPS))


def waves(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 3))
    return rng, X, 0.5 + np.sin(2 * X[:, 0]) + 0.5 * X[:, 1]


def positive(loss, rng, f):
    mean = np.exp(f)
    if loss == "gamma":
        return rng.gamma(2, mean / 2)
    count = rng.poisson(mean).astype(float)
    return count if loss == "poisson" else count * rng.gamma(2, 0.5, size=len(f))


@losses
@steps
def test_most_of_what_can_be_explained_is_explained(loss, how):
    rng, X, f = waves(2400)
    y = positive(loss, rng, f)
    model = clone(STEPS[how]).set_params(loss=loss).fit(X[:1200], y[:1200])
    best = d2_tweedie_score(y[1200:], np.exp(f[1200:]), power=POWERS[loss])
    found = model.score(X[1200:], y[1200:])
    mean = model.predict(X[1200:])
    assert (mean > 0).all()
    assert found == pytest.approx(d2_tweedie_score(y[1200:], mean, power=POWERS[loss]))
    assert found > LEAST[how] * best


@losses
def test_streams_learn_the_mean(loss):
    rng, X, f = waves(4096)
    y = positive(loss, rng, f)
    model = DoublyStochasticRegressor(loss=loss, random_state=0)
    for some in np.split(np.arange(3072), 3):
        model.partial_fit(X[some], y[some])
    best = d2_tweedie_score(y[3072:], np.exp(f[3072:]), power=POWERS[loss])
    assert model.score(X[3072:], y[3072:]) > LEAST["plain"] * best


def test_trees_on_rates_are_trees_on_counts():
    # A tree of one leaf for each of two groups: its minimiser is the rate of the group.
    rng = np.random.default_rng(0)
    X, exposure = np.repeat([[0.0], [1.0]], 300, axis=0), rng.uniform(0.2, 4, size=600)
    count = rng.poisson(exposure * np.where(X[:, 0] > 0, 3.0, 0.5))
    model = BoostedTreesRegressor(
        300, loss="poisson", l2_regularization=1e-9, early_stopping=False, random_state=0
    )
    model.fit(X, count / exposure, sample_weight=exposure)
    for group in (0, 1):
        some = X[:, 0] == group
        rate = count[some].sum() / exposure[some].sum()
        np.testing.assert_allclose(model.predict([[group]]), rate, rtol=1e-4)


def test_gamma_follows_the_unit_of_y():
    rng, X, f = waves(600)
    y = positive("gamma", rng, f)
    models = [
        BoostedTreesRegressor(50, loss="gamma", random_state=0, n_candidates=1)
        .set_params(early_stopping=False)
        .fit(X, scale * y)
        for scale in (1, 1024.0)
    ]
    one, other = (model.predict(X) for model in models)
    np.testing.assert_allclose(other, 1024 * one, rtol=1e-5)


@pytest.mark.parametrize("loss", ["poisson", "tweedie"])
@pytest.mark.parametrize("how", ["blocks", "plain"])
def test_means_follow_the_unit_of_y(loss, how):
    rng, X, f = waves(600)
    y = positive(loss, rng, f)
    model = DoublyStochasticRegressor(Gaussian(1.0), 200, loss=loss, dtype="float64")
    model.set_params(schedule="inverse" if how == "plain" else "block", early_stopping=False)
    model.set_params(random_state=0)
    one = model.fit(X, y).predict(X)
    assert np.ptp(np.log(one)) > 0.2
    for unit in (2.0**-30, 2.0**20):  # rates of rare events, and amounts of money
        other = model.fit(X, unit * y).predict(X)
        np.testing.assert_allclose(other, unit * one, rtol=1e-4)


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        ("poisson", [1.0, -2.0, 0.0], r"y holds -2 \(row 1\).*0 or more"),
        ("tweedie", [1.0, -2.0, 0.0], r"y holds -2 \(row 1\).*0 or more"),
        ("gamma", [1.0, 2.0, 0.0], r"y holds 0 \(row 2\).*above 0. Remedy: loss='tweedie'"),
        ("poisson", [0.0, 0.0, 0.0], "Regressor: y is 0 in every row"),
    ],
)
def test_targets_outside_of_the_range_of_a_loss(loss, y, message):
    X = np.arange(3.0)[:, None]
    with pytest.raises(InvalidValueError, match=message):
        DoublyStochasticRegressor(loss=loss).fit(X, y)


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_the_steps_of_the_theorem_would_overflow(loss):
    rng, X, f = waves(100)
    y = positive(loss, rng, f)
    with pytest.raises(InvalidValueError, match=r"overflow.*Remedy: schedule='inverse'"):
        DoublyStochasticRegressor(loss=loss, schedule="theorem").fit(X, y)


@steps
@pytest.mark.parametrize("spread", [1.0, 3.0])
def test_steps_do_not_run_away_from_heavy_tails(how, spread):
    rng, X, f = waves(1500)
    y = rng.poisson(np.exp(spread * f)).astype(float)
    y[::300] += 20 * y.max()
    model = clone(STEPS[how]).set_params(loss="poisson").fit(X, y)
    assert model.score(X, y) > -0.1
    assert np.isfinite(model.predict(4 * X)).all()


def test_files_keep_the_link(tmp_path):
    rng, X, f = waves(100)
    y = positive("tweedie", rng, f)
    model = DoublyStochasticRegressor(n_neurons=50, loss="tweedie")
    model.set_params(random_state=0).fit(X, y)
    trickless.save(model, tmp_path / "model.trickless")
    other = trickless.load(tmp_path / "model.trickless")
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    assert other.score(X, y) == model.score(X, y)


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie"])
def test_targets_that_are_all_the_same_have_a_score(loss):
    """The deviance of their mean is 0, by which scikit-learn divides."""
    X = np.random.default_rng(0).standard_normal((60, 2))
    model = BoostedTreesRegressor(4, loss=loss, random_state=0).fit(X, np.exp(X[:, 0]))
    assert model.score(X, np.full(60, 2.0)) == 0.0
    assert model._targets_.score(np.full(60, 2.0), np.full(60, 2.0)) == 1.0
    with pytest.raises(ValueError, match=r"y holds -1 \(row 0\), .* Remedy: "):
        model.score(X, np.full(60, -1.0))

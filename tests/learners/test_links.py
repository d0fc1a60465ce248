"""Counts and positive targets: losses whose decision values are logarithms."""

import numpy as np
import pytest
from sklearn.linear_model import TweedieRegressor
from sklearn.metrics import d2_tweedie_score

import trickless
from trickless import DoublyStochasticRegressor, KitchenSinksRegressor
from trickless.errors import InvalidValueError
from trickless.neurons import Gaussian

POWERS = {"poisson": 1.0, "tweedie": 1.5, "gamma": 2.0}
STEPS = {
    "trees": {"neurons": "trees", "n_neurons": 200},
    "blocks": {"neurons": "gaussian", "n_neurons": 4000},
    "plain": {"neurons": "gaussian", "preconditioner": None, "n_neurons": 10_000},
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
    rng, X, f = waves(4000)
    y = positive(loss, rng, f)
    model = DoublyStochasticRegressor(loss=loss, random_state=0, **STEPS[how])
    model.fit(X[:2000], y[:2000])
    best = d2_tweedie_score(y[2000:], np.exp(f[2000:]), power=POWERS[loss])
    found = model.score(X[2000:], y[2000:])
    mean = model.predict(X[2000:])
    assert (mean > 0).all()
    assert found == pytest.approx(d2_tweedie_score(y[2000:], mean, power=POWERS[loss]))
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
    model = DoublyStochasticRegressor(
        "trees", 300, loss="poisson", damping=1e-9, early_stopping=False, random_state=0
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
        DoublyStochasticRegressor("trees", 50, loss="gamma", random_state=0, n_candidates=1)
        .set_params(early_stopping=False)
        .fit(X, scale * y)
        for scale in (1, 1024.0)
    ]
    one, other = (model.predict(X) for model in models)
    np.testing.assert_allclose(other, 1024 * one, rtol=1e-5)


@pytest.mark.parametrize("loss", ["poisson", "tweedie"])
@pytest.mark.parametrize("how", ["kitchen sinks", "blocks", "plain"])
def test_means_follow_the_unit_of_y(loss, how):
    rng, X, f = waves(600)
    y = positive(loss, rng, f)
    model = KitchenSinksRegressor(Gaussian(1.0), 50, dtype="float64", tol=1e-7)
    if how != "kitchen sinks":
        model = DoublyStochasticRegressor(Gaussian(1.0), 200, dtype="float64")
        model.set_params(preconditioner=None if how == "plain" else "block", early_stopping=False)
    model.set_params(loss=loss, random_state=0)
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


@pytest.mark.parametrize("power", [1, 2, 0.5, np.nan, "1.5"])
def test_the_power_is_between_poisson_and_gamma(power):
    with pytest.raises((ValueError, TypeError), match=r"tweedie_power=.*between 1 and 2"):
        DoublyStochasticRegressor(loss="tweedie", tweedie_power=power).fit([[1.0], [2]], [1.0, 2])


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
    model = DoublyStochasticRegressor(loss="poisson", random_state=0, **STEPS[how]).fit(X, y)
    assert model.score(X, y) > -0.1
    assert np.isfinite(model.predict(4 * X)).all()


def kitchen(loss, **how):
    return KitchenSinksRegressor(n_neurons=100, loss=loss, random_state=0, n_jobs=1, **how)


def columns(model, X):
    """Return the activations of a model's neurons at rows."""
    return np.asarray(model.neurons_(X, model.stream_.between(0, model.n_neurons, X)), dtype=float)


@losses
@pytest.mark.parametrize("weights", [False, True])
def test_kitchen_sinks_is_scikit_learns_model_on_its_activations(loss, weights):
    rng, X, f = waves(400)
    y = positive(loss, rng, f)
    weight = rng.uniform(0.5, 2, size=400) if weights else None
    alpha, exactly = 1e-4, {"tol": 1e-9, "dtype": "float64", "neurons": Gaussian(length_scale=1.0)}
    model = kitchen(loss, alpha=alpha, **exactly).fit(X, y, sample_weight=weight)
    Z = columns(model, X)
    reference = TweedieRegressor(
        power=POWERS[loss], link="log", alpha=100 * alpha, solver="newton-cholesky", tol=1e-10
    ).fit(Z, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict(X), reference.predict(Z), rtol=1e-5)


@losses
def test_alpha_is_nearly_the_best_on_other_rows(loss):
    rng, X, f = waves(3000)
    y = positive(loss, rng, f)
    how = {"neurons": Gaussian(length_scale=1.0)}
    model = kitchen(loss, **how).fit(X[:600], y[:600])
    found = model.score(X[600:], y[600:])
    scores = [
        kitchen(loss, alpha=alpha, **how).fit(X[:600], y[:600]).score(X[600:], y[600:])
        for alpha in model.alpha_ * np.array([0.01, 0.1, 1, 10, 100, 1000])
    ]
    assert found > 0.93 * max(scores)
    assert scores[2] == pytest.approx(found, abs=1e-3)
    assert min(scores) < 0.85 * max(scores)  # so that alpha matters
    assert model.cv_values_.shape == (1, len(model.cv_alphas_))


def test_rare_events_are_not_learned_by_heart():
    gains = []
    for seed in range(6):
        rng, X, f = waves(4500, seed)
        y = rng.poisson(0.02 * np.exp(f)).astype(float)
        model = kitchen("poisson", neurons=Gaussian(length_scale=1.0)).set_params(n_neurons=50)
        gains.append(model.fit(X[:1500], y[:1500]).score(X[1500:], y[1500:]))
    # There are about 60 events for 100 columns. With a far smaller alpha, D² is about -0.5.
    assert np.mean(gains) > 2 * np.std(gains) / np.sqrt(5) - 0.1


def test_kitchen_sinks_on_rates_is_kitchen_sinks_on_counts():
    rng, X, f = waves(300)
    exposure = rng.integers(1, 4, size=300)
    count = rng.poisson(exposure * np.exp(f))
    how = {"alpha": 1e-3, "tol": 1e-9, "dtype": "float64", "neurons": Gaussian(length_scale=1.0)}
    rates = kitchen("poisson", **how).fit(X, count / exposure, sample_weight=exposure)
    # The same rows, each as often as its exposure says, with its count spread out over them.
    many = np.repeat(np.arange(300), exposure)
    spread = kitchen("poisson", **how).fit(X[many], (count / exposure)[many])
    np.testing.assert_allclose(rates.predict(X), spread.predict(X), rtol=1e-5)


def test_what_a_log_link_excludes():
    rng, X, f = waves(200)
    y = positive("poisson", rng, f)
    with pytest.raises(InvalidValueError, match=r"with 2 outputs.*Remedy: sklearn.multioutput"):
        kitchen("poisson").fit(X, np.column_stack([y, y]))
    with pytest.raises(InvalidValueError, match=r"several passes over all rows"):
        kitchen("poisson").partial_fit(X, y)
    with pytest.raises(InvalidValueError, match=r"gives no standard deviations"):
        kitchen("poisson").fit(X, y).predict(X, return_std=True)


@pytest.mark.parametrize("Learner", [DoublyStochasticRegressor, KitchenSinksRegressor])
def test_files_keep_the_link(Learner, tmp_path):
    rng, X, f = waves(100)
    y = positive("tweedie", rng, f)
    model = Learner(n_neurons=50, loss="tweedie", tweedie_power=1.2, random_state=0).fit(X, y)
    trickless.save(model, tmp_path / "model.trickless")
    other = trickless.load(tmp_path / "model.trickless")
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    assert other.score(X, y) == model.score(X, y)

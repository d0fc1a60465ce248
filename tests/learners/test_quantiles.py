"""Quantiles and medians: they never cross, are calibrated, and have the scale of the targets."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import d2_absolute_error_score, d2_pinball_score, mean_pinball_loss

import trickless
from trickless import (
    BoostedTreesRegressor,
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
)
from trickless._arrays.weighted import quantile
from trickless.neurons import Gaussian

LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]
TREES = BoostedTreesRegressor(n_trees=100, loss="quantile", quantile=LEVELS, random_state=0)
BLOCKS = DoublyStochasticRegressor(
    Gaussian("median"), 300, schedule="block", loss="quantile", quantile=LEVELS, random_state=0
)
PLAIN = clone(BLOCKS).set_params(schedule="inverse", n_neurons=100)
LEARNERS = {"trees": TREES, "blocks": BLOCKS, "plain": PLAIN}
each_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)

NOISES = {
    "unequal": lambda rng, x: (0.2 + np.abs(x)) * rng.standard_normal(len(x)),
    "heavy": lambda rng, x: rng.standard_t(1.5, len(x)),
    "skewed": lambda rng, x: np.exp(rng.standard_normal(len(x))),
}


def rows(n=600, noise="unequal", seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    return X, np.sin(3 * X[:, 0]) + NOISES[noise](rng, X[:, 1])


@each_learner
def test_quantiles_never_cross(learner, tmp_path):
    X, y = rows()
    model = clone(learner).fit(X, y)
    far = np.random.default_rng(1).uniform(-3, 3, (500, 2))
    found = model.predict(far)
    assert found.shape == (500, len(LEVELS))
    assert (np.diff(found, axis=1) >= 0).all()
    raw = model.network_(far.astype(model._value("dtype")))
    np.testing.assert_array_equal(np.sort(raw, axis=1), found)
    np.testing.assert_array_equal(model.compact().predict(far), found)
    trickless.save(model, tmp_path / "model")
    np.testing.assert_array_equal(trickless.load(tmp_path / "model").predict(far), found)


def test_extreme_quantiles_of_few_rows_are_short_and_intervals_are_not():
    """With 200 rows, 4 % of new targets are below the quantile of 0.01, as the guide says."""
    (X, y), (X_new, y_new) = rows(200), rows(4000, seed=1)
    model = clone(TREES).set_params(quantile=[0.01, 0.1, 0.5, 0.9, 0.99]).fit(X, y)
    below = (y_new[:, None] < model.predict(X_new)).mean(axis=0)
    assert abs(below[0] - 0.04) < 4 * (0.04 * 0.96 / 4000) ** 0.5
    low, high = model.predict_interval(X_new, 0.98).T
    inside = ((low <= y_new) & (y_new <= high)).mean()
    assert inside > 0.98 - 4 * (0.98 * 0.02 * (1 / 200 + 1 / 4000)) ** 0.5


@pytest.mark.parametrize(
    ("learner", "noise"),
    [
        *((learner, "unequal") for learner in LEARNERS.values()),
        (BLOCKS, "heavy"),
        (TREES, "skewed"),
    ],
)
def test_a_share_q_of_new_rows_is_below(learner, noise):
    """Within four standard errors of both samples, of the rows to learn from and the new rows.

    Learners that fit noise are a little too narrow, by at most 0.02 here.
    """
    n, n_new = 2000, 8000
    model = clone(learner).fit(*rows(n, noise))
    X, y = rows(n_new, noise, seed=1)
    share, q = (y[:, None] < model.predict(X)).mean(axis=0), np.array(LEVELS)
    error = np.sqrt(q * (1 - q) * (1 / n + 1 / n_new))
    assert (np.abs(share - q) < 4 * error + 0.02).all()


@each_learner
@pytest.mark.parametrize(("scale", "shift"), [(1e-12, 0.0), (1.0, 1000.0)])
def test_the_units_of_the_targets_change_nothing_else(learner, scale, shift):
    X, y = rows(250)
    one, other = clone(learner), clone(learner)
    one, other = one.fit(X, y).predict(X), other.fit(X, scale * y + shift).predict(X)
    loss = [
        np.mean([mean_pinball_loss(y, p, alpha=q) for p, q in zip(f.T, LEVELS, strict=True)])
        for f in (one, (other - shift) / scale)
    ]
    assert loss[1] == pytest.approx(loss[0], rel=0.02)
    assert np.corrcoef(one.ravel(), other.ravel())[0, 1] > 0.99


def test_trees_end_at_the_quantiles_of_their_leaves():
    """Rows of four kinds, which trees tell apart: the least loss is that of the quantiles."""
    rng = np.random.default_rng(0)
    kind = rng.integers(4, size=1200)
    y = kind + (1 + kind) * rng.exponential(size=1200)
    X = np.eye(4)[kind]
    model = clone(TREES).set_params(early_stopping=False, n_trees=400, learning_rate=0.2)
    found = model.fit(X, y).predict(np.eye(4))
    for i in range(4):
        own = y[kind == i]
        for q, at in zip(LEVELS, found[i], strict=True):
            least = mean_pinball_loss(own, np.full(len(own), quantile(own, q)), alpha=q)
            assert mean_pinball_loss(own, np.full(len(own), at), alpha=q) < 1.01 * least


@each_learner
def test_the_absolute_error_gives_the_median(learner):
    X, y = rows(noise="heavy")
    median = clone(learner).set_params(quantile=0.5).fit(X, y)
    absolute = clone(learner).set_params(loss="absolute_error", quantile=0.5).fit(X, y)
    assert median.predict(X).shape == (len(X),)
    np.testing.assert_allclose(
        *(np.mean(np.abs(y - model.predict(X))) for model in (median, absolute)), rtol=0.02
    )


def test_several_columns_have_the_same_quantile():
    X, y = rows()
    model = clone(TREES).set_params(quantile=0.9).fit(X, np.column_stack([y, -100 * y]))
    below = (np.column_stack([y, -100 * y]) < model.predict(X)).mean(axis=0)
    np.testing.assert_allclose(below, 0.9, atol=0.05)


def test_scores_are_shares_of_the_loss_that_is_explained():
    X, y = rows()
    weight = np.random.default_rng(0).random(len(y))
    several = clone(TREES).fit(X, y)
    scores = [
        d2_pinball_score(y, each, sample_weight=weight, alpha=q)
        for q, each in zip(LEVELS, several.predict(X).T, strict=True)
    ]
    assert several.score(X, y, weight) == pytest.approx(np.mean(scores))
    median = clone(TREES).set_params(loss="absolute_error", quantile=0.5).fit(X, y)
    assert median.score(X, y) == pytest.approx(d2_absolute_error_score(y, median.predict(X)))


def test_wrong_uses_are_refused():
    X, y = rows(100)
    other = clone(TREES).set_params(loss="squared_error")
    with pytest.raises(ValueError, match=r"quantile=\[.*loss='squared_error'.*Remedy: loss='quan"):
        other.fit(X, y)
    with pytest.raises(ValueError, match=r"y has the shape \(100, 2\).* 5 quantiles.*Remedy: one"):
        clone(TREES).fit(X, np.column_stack([y, y]))


def test_a_model_keeps_the_quantiles_that_it_was_begun_with():
    X, y = rows(100)
    model = clone(BLOCKS).fit(X, y).set_params(warm_start=True, n_neurons=600, quantile=0.1)
    with pytest.raises(
        ValueError, match=r"quantile=0\.1, but the model was begun with quantile=\["
    ):
        model.fit(X, y)
    assert model.predict(X).shape == (100, len(LEVELS))


@pytest.mark.parametrize("learner", [KitchenSinksClassifier, DoublyStochasticClassifier])
def test_classifiers_have_no_quantiles(learner):
    with pytest.raises(ValueError, match="loss='quantile', but it must be"):
        learner(loss="quantile").fit(np.eye(4), [0, 1, 0, 1])

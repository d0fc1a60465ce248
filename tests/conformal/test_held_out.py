"""Intervals and sets of classes from rows that were held out, or not yet learned."""

import numpy as np
import pytest
from sklearn.base import clone

import trickless
from trickless import (
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    ShrinkingGradientClassifier,
    ShrinkingGradientRegressor,
)
from trickless.conformal import SplitConformal
from trickless.conformal.sets import scores_of_classes
from trickless.neurons import Gaussian

TREES = BoostedTreesRegressor(20)
PLAIN = {"neurons": Gaussian(1.0), "n_neurons": 64, "early_stopping": True}


def numbers(rng, n):
    X = rng.uniform(-2, 2, (n, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + rng.standard_normal(n)


def classes(rng, n):
    X = rng.standard_normal((n, 2))
    return X, (X + rng.gumbel(size=(n, 2))).argmax(axis=1) + 2 * (X[:, 0] > 1)


@pytest.mark.parametrize("learner", [TREES, DoublyStochasticRegressor(**PLAIN)])
@pytest.mark.parametrize("n", [300, 1200])  # in folds, and a share
def test_new_targets_are_inside_as_often_as_asked(learner, n):
    shares = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = numbers(rng, n)
        model = clone(learner).set_params(random_state=seed, n_jobs=1).fit(X, y)
        X, y = numbers(rng, 500)
        low, high = model.predict_interval(X).T
        shares.append(((low <= y) & (y <= high)).mean())
    n_held_out = len(model._unseen().targets)
    assert n_held_out == (n if n == 300 and learner is TREES else n // 10)
    error = np.std(shares) / len(shares) ** 0.5
    most = 0.9 + 1 / (n_held_out + 1)
    # With all rows, the model is a little better than it was at the held-out rows.
    assert 0.9 - 4 * error < np.mean(shares) < most + 0.02 + 4 * error
    assert error < 0.03


def test_held_out_rows_are_predicted_by_the_trial():
    """The rows that are given for early stopping are never learned, so they show it directly."""
    rng = np.random.default_rng(0)
    X, y = numbers(rng, 400)
    X_val, y_val = numbers(rng, 3000)
    model = BoostedTreesRegressor(20, random_state=0)
    unseen = model.fit(X, y, X_val=X_val, y_val=y_val)._forest_.unseen
    assert len(unseen.targets) == 2048
    some = [np.flatnonzero(y_val == target)[0] for target in unseen.targets[:, 0]]
    assert np.ptp(some) > 2900
    np.testing.assert_allclose(unseen.decisions[:, 0], model.predict(X_val[some]), atol=1e-5)
    low, high = model.predict_interval(X_val).T
    assert abs(((low <= y_val) & (y_val <= high)).mean() - 0.9) < 0.02


def test_weights_and_outputs_are_those_of_the_rows(tmp_path):
    rng = np.random.default_rng(0)
    X, y = numbers(rng, 300)
    weight, Y = rng.integers(1, 4, 300), np.column_stack([y, 100 * X[:, 2] + 5 * y])
    model = BoostedTreesRegressor(20, random_state=0).fit(X, Y, weight)
    found, unseen = model.predict_interval(X, weighted=True), model._forest_.unseen
    assert found.shape == (300, 2, 2)
    which = [np.flatnonzero(Y[:, 0] == target)[0] for target in unseen.targets[:, 0]]
    counts, weight = unseen.counted.by_weight, weight[which]
    np.testing.assert_allclose(counts, weight * weight.sum() / (weight @ weight))
    assert (unseen.counted.once == 1).all()
    for output, width in enumerate(np.diff(found[0])[:, 0]):
        far = np.abs(unseen.targets - unseen.decisions)[:, output]
        share = counts[far <= width / 2 + 1e-6].sum() / (counts.sum() + 1)
        below = counts[far < width / 2 - 1e-6].sum() / (counts.sum() + 1)
        assert below < 0.9 <= share
    trickless.save(model, tmp_path / "model", for_prediction=True)
    again = trickless.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_interval(X, weighted=True), found)


CLASSIFIERS = [
    BoostedTreesClassifier(30, random_state=0),
    DoublyStochasticClassifier(**PLAIN, loss="hinge", random_state=0),
    KitchenSinksClassifier(Gaussian(1.0), 50, random_state=0),
    ShrinkingGradientClassifier(Gaussian(1.0), random_state=0),
]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_sets_hold_the_true_class_as_often_as_asked(model, n_classes, tmp_path):
    rng = np.random.default_rng(1)
    X, y = classes(rng, 3000)
    labels = np.array(["d", "b", "a", "c"])[y % n_classes]
    model.fit(X[:1000], labels[:1000])
    sets, true = model.predict_set(X[1000:]), labels[1000:]
    assert sets.shape == (2000, n_classes)
    assert sets.dtype == bool
    hit = sets[np.arange(2000), np.searchsorted(model.classes_, true)].mean()
    n_unseen = len(model._scores().values)
    error = (0.09 / n_unseen + 0.09 / 2000) ** 0.5
    assert 0.9 - 4 * error < hit
    assert hit < 0.93 + 4 * error or sets.sum(axis=1).mean() < 1.01
    assert (sets.sum(axis=1) >= 1).all()
    assert sets[np.arange(2000), np.searchsorted(model.classes_, model.predict(X[1000:]))].all()
    wider = model.predict_set(X[1000:], 0.99)
    assert (wider >= sets).all()
    trickless.save(model, tmp_path / "model", for_prediction=True)
    again = trickless.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_set(X[1000:]), sets)


def test_sets_of_kitchen_sinks_come_from_rows_left_out():
    X, y = classes(np.random.default_rng(0), 120)
    model = KitchenSinksClassifier(Gaussian(1.0), 10, alpha=1e-3, random_state=0).fit(X, y)
    rows = model._sums_.left_out(model._problem())
    likely = model._probabilities(rows.decisions)
    scores = scores_of_classes(likely)[np.arange(120), rows.targets.argmax(axis=1)]
    far = np.sort(scores)[int(np.ceil(0.9 * 121)) - 1]
    expected = scores_of_classes(model.predict_proba(X)) <= far
    np.testing.assert_array_equal(model.predict_set(X), expected)


def test_models_without_such_rows_say_what_to_do():
    X, y = numbers(np.random.default_rng(0), 60)
    model = DoublyStochasticRegressor(Gaussian(1.0), 16, random_state=0).fit(X, y)
    message = r"kept no rows .* Remedy: fit with early_stopping=True, .*; or trickless.conformal"
    with pytest.raises(ValueError, match=message):
        model.predict_interval(X)
    model.set_params(early_stopping=True).fit(X, y)
    with pytest.raises(ValueError, match=r"9 rows, but the model has kept 6. Remedy: fit"):
        model.predict_interval(X)
    assert np.isfinite(model.predict_interval(X, 0.5)).all()
    model.partial_fit(X, y)  # which learns from the rows that were held out
    with pytest.raises(ValueError, match=message):
        model.predict_interval(X, 0.5)
    online = ShrinkingGradientRegressor(Gaussian(1.0), random_state=0).fit(X[:40], y[:40])
    with pytest.raises(ValueError, match=r"kept no rows .* Remedy: trickless.conformal.Split"):
        online.predict_interval(X)
    conformal = SplitConformal(online).calibrate(X[40:], y[40:])
    assert conformal.predict_interval(X).shape == (60, 2)
    labels = np.column_stack([y > 0, X[:, 0] > 0]).astype(int)
    sets = KitchenSinksClassifier(Gaussian(1.0), 16, random_state=0).fit(X, labels)
    with pytest.raises(ValueError, match=r"2 labels for each row. Remedy: predict_proba"):
        sets.predict_set(X)
    log = KitchenSinksClassifier(Gaussian(1.0), 16, loss="log_loss", random_state=0)
    with pytest.raises(ValueError, match=r"predict_set does not go with loss='log_loss'.*Remedy"):
        log.fit(X, labels[:, 0]).predict_set(X)
    bounded = KitchenSinksClassifier(Gaussian(1.0), 16, weight_bound=9.0, random_state=0)
    with pytest.raises(ValueError, match=r"predict_set does not go .* Remedy: weight_bound=None"):
        bounded.fit(X, labels[:, 0]).predict_set(X)


def test_a_warm_start_that_holds_out_learned_rows_says_so():
    X, y = numbers(np.random.default_rng(0), 400)
    options = {"n_neurons": 64, "warm_start": True, "random_state": 0}
    model = DoublyStochasticRegressor(Gaussian(1.0), **options).fit(X, y)
    model.set_params(early_stopping=True, n_neurons=128)
    with pytest.warns(UserWarning, match=r"scores are too good, intervals too narrow.*X_val="):
        model.fit(X, y)
    model.set_params(n_neurons=192).fit(X, y)  # holds out the same rows as the fit before

"""Outliers in the streams of the estimators for River."""

import numpy as np
import pytest

from trickless.river import RiverClassifier, RiverRegressor

N, AT = 2500, 500


def features(outliers, seed=0):
    """Two normal features, of which some rows have outliers, and which rows these are."""
    X = np.random.default_rng(seed).normal(size=(N, 2))
    wrong = np.zeros(N, bool)
    wrong[
        {"one": slice(AT, AT + 1), "early": slice(10, 11), "many": slice(None, None, 200)}[outliers]
    ] = True
    dirty = X.copy()
    dirty[wrong] = X[wrong] * 1000 if outliers == "many" else 9999.0
    return X, dirty, wrong


def predicted(model, X, answers):
    """What each row is predicted to be before it is learned."""
    found = []
    for row, answer in zip(X.tolist(), answers.tolist(), strict=True):
        x = dict(zip("ab", row, strict=True))
        found.append(model.predict_one(x))
        model.learn_one(x, answer)
    return np.array([0 if each is None else each for each in found])


@pytest.mark.parametrize("outliers", ["one", "early", "many"])
def test_classes_are_predicted_as_without_outliers(outliers):
    X, dirty, wrong = features(outliers)
    y = X[:, 0] > 0
    clean = predicted(RiverClassifier(seed=0), X, y) == y
    found = predicted(RiverClassifier(seed=0), dirty, y) == y
    for start in range(0, N, 500):
        part = np.flatnonzero(~wrong[start : start + 500]) + start
        assert found[part].mean() > clean[part].mean() - 0.03


def target(X, seed=1):
    signal = np.sin(2 * X[:, 0]) + X[:, 1] / 2
    return signal, signal + 0.1 * np.random.default_rng(seed).normal(size=N)


def is_no_worse(found, clean, signal, among):
    """Whether errors are larger by at most 3 standard errors of their mean."""
    errors = np.abs(found - signal)[among], np.abs(clean - signal)[among]
    return errors[0].mean() < errors[1].mean() + 3 * errors[1].std() / np.sqrt(len(errors[1]))


@pytest.mark.parametrize("outliers", ["one", "many"])
def test_numbers_are_predicted_as_without_outliers(outliers):
    X, dirty, wrong = features(outliers)
    signal, y = target(X)
    clean = predicted(RiverRegressor(seed=0), X, y)
    found = predicted(RiverRegressor(seed=0), dirty, y)
    assert is_no_worse(found, clean, signal, ~wrong & (np.arange(N) > 256))


@pytest.mark.parametrize(("at", "since"), [(10, 1000), (AT, AT)])
def test_one_wrong_target_does_no_harm(at, since):
    """At once, or if it is among the first rows, later."""
    X, _, _ = features("one")
    signal, y = target(X)
    clean = predicted(RiverRegressor(seed=0), X, y)
    y[at] = 1e9
    found = predicted(RiverRegressor(seed=0), X, y)
    assert is_no_worse(found, clean, signal, np.arange(N) > since)


def test_another_scale_of_the_features_is_followed():
    X, _, _ = features("one")
    y = X[:, 0] > 0
    right = predicted(RiverClassifier(seed=0), X, y) == y
    X[1000:] *= 1000
    after = predicted(RiverClassifier(seed=0), X, y) == y
    rate = right[-500:].mean()
    assert after[-500:].mean() > rate - 3 * np.sqrt(2 * rate * (1 - rate) / 500)


def test_another_level_of_the_targets_is_learned():
    rng, model = np.random.default_rng(2), RiverRegressor(seed=0)
    for i in range(440):
        model.learn_one({"a": i % 7}, (1000 if i >= 400 else 0) + 0.1 * rng.normal())
    assert model.predict_one({"a": 3}) == pytest.approx(1000, abs=1)


def test_a_rare_category_with_other_targets_is_learned():
    rng, model = np.random.default_rng(2), RiverRegressor(seed=0)
    for i in range(1250):
        rare = i % 100 == 99
        model.learn_one({"kind": "rare" if rare else "usual"}, 100 * rare + 0.1 * rng.normal())
    assert abs(model.predict_one({"kind": "rare"}) - 100) < 50
    assert model.predict_one({"kind": "usual"}) == pytest.approx(0, abs=1)

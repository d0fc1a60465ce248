"""Prediction sets that hold each class with the confidence, also a rare one."""

import numpy as np
import pytest

import trickless
from trickless import (
    BoostedTreesClassifier,
    DoublyStochasticClassifier,
    KitchenSinksClassifier,
    ShrinkingGradientClassifier,
)
from trickless.conformal import SplitConformal
from trickless.neurons import Gaussian

SHARE, CONFIDENCE = 0.04, 0.8
LEARNERS = [
    KitchenSinksClassifier(Gaussian(1.0), 60, random_state=0),
    DoublyStochasticClassifier(Gaussian(1.0), 60, early_stopping=True, random_state=0),
    BoostedTreesClassifier(30, early_stopping=True, random_state=0),
    ShrinkingGradientClassifier(Gaussian(1.0), n_draws=200, n_neurons=200, random_state=0),
]


def rows(n, seed, names=("usual", "rare")):
    """Two classes that overlap, of which one is rare."""
    rng = np.random.default_rng(seed)
    rare = rng.random(n) < SHARE
    return rng.standard_normal((n, 2)) + rare[:, None], np.where(rare, names[1], names[0])


def coverage(model, sets, y):
    """The share of rows of each class whose set holds it."""
    found = [sets[y == label, j].mean() for j, label in enumerate(model.classes_)]
    return dict(zip(model.classes_.tolist(), found, strict=True))


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda each: type(each).__name__)
def test_each_class_is_held_with_the_confidence(learner):
    X, y = rows(4000, 1)
    model = learner.fit(*rows(4000, 0))
    usual = coverage(model, model.predict_set(X, CONFIDENCE), y)
    assert usual["rare"] < CONFIDENCE / 2
    found = coverage(model, model.predict_set(X, CONFIDENCE, by_class=True), y)
    n = min(np.count_nonzero(model._scores().which == 0), np.count_nonzero(y == "rare"))
    for label in ("usual", "rare"):  # by as many rows of the class here as there
        assert found[label] > CONFIDENCE - 3 * np.sqrt(2 * CONFIDENCE * (1 - CONFIDENCE) / n)


def test_a_conformal_wrapper_holds_each_class():
    X, y = rows(4000, 1)
    new, labels = rows(4000, 2)
    model = KitchenSinksClassifier(Gaussian(1.0), 60, random_state=0).fit(*rows(2000, 0))
    groups = np.where(X[:, 0] > 0, "up", "down")
    of_new = np.where(new[:, 0] > 0, "up", "down")
    for how, later in (({}, {}), ({"groups": groups}, {"groups": of_new})):
        conformal = SplitConformal(model).calibrate(X, y, **how)
        sets = conformal.predict_set(new, CONFIDENCE, by_class=True, **later)
        found = coverage(model, sets, labels)
        n = np.count_nonzero(y == "rare")
        for share in found.values():
            assert share > CONFIDENCE - 3 * np.sqrt(2 * CONFIDENCE * (1 - CONFIDENCE) / n)
    rare = np.flatnonzero(y == "rare")
    for kept, message in ((0, "class 'rare' had no rows"), (3, "class 'rare' had 3. Remedy")):
        part = np.concatenate([np.flatnonzero(y == "usual"), rare[:kept]])
        conformal = SplitConformal(model).calibrate(X[part], y[part])
        with pytest.raises(ValueError, match=message):
            conformal.predict_set(new, CONFIDENCE, by_class=True)


def test_sets_by_class_are_kept_by_compact_models_and_refused_for_few_rows(tmp_path):
    X, y = rows(2000, 0)
    model = KitchenSinksClassifier(Gaussian(1.0), 60, random_state=0).fit(X, y)
    expected = model.predict_set(X, CONFIDENCE, by_class=True)
    trickless.save(model.compact(), tmp_path / "model.trickless")
    found = trickless.load(tmp_path / "model.trickless").predict_set(X, CONFIDENCE, by_class=True)
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match=r"needs .* but of class 'rare' it has kept"):
        model.predict_set(X, 0.999, by_class=True)
    with pytest.raises(ValueError, match="by_class=1, but it must be a boolean"):
        model.predict_set(X, by_class=1)

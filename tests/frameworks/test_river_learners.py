"""The estimators in River's interface."""

import copy
import datetime
import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from river import (
    base,
    checks,
    compose,
    datasets,
    drift,
    evaluate,
    linear_model,
    metrics,
    model_selection,
    preprocessing,
)

import trickless
from trickless.river import RiverClassifier, RiverFeatures, RiverRegressor
from trickless.river.rows import MOST

ESTIMATORS = [RiverClassifier, RiverRegressor, RiverFeatures]
CHECKS = [(each, check) for each in ESTIMATORS for check in checks.yield_checks(each())]


@pytest.mark.parametrize(
    ("estimator", "check"), CHECKS, ids=lambda value: getattr(value, "__name__", "")
)
def test_checks_of_river_pass(estimator, check):
    assert not estimator()._unit_test_skips()
    check(estimator().clone())


@pytest.mark.parametrize("learned", [0, 3])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_file_holds_no_river_estimator_and_the_error_says_what_does(estimator, learned, tmp_path):
    """Whether its rows had names yet or not, alone or in a pipeline."""
    model = estimator(seed=0)
    for i in range(learned):
        model.learn_one({"a": i, "b": "text"}, *[i % 2] * hasattr(model, "predict_one"))
    for each in (model, preprocessing.StandardScaler() | model):
        with pytest.raises(
            TypeError, match=r"save: the model is a River estimator.*Remedy: pickle"
        ):
            trickless.save(each, tmp_path / "model.trickless")
    assert not list(tmp_path.iterdir())


def share_right(rows, model):
    right = 0
    for x, y in rows:
        right += model.predict_one(x) == y
        model.learn_one(x, y)
    return right / len(rows)


def test_curved_classes_are_learned_without_a_scaler():
    rows = datasets.Bananas().take(1000)
    score = evaluate.progressive_val_score(rows, RiverClassifier(seed=0), metrics.Accuracy())
    assert score.get() > 0.8  # a linear model gets 0.55


def test_a_drift_is_followed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 2))
    rows = [({"a": a, "b": b}, bool(a * b > 0) ^ (i >= 800)) for i, (a, b) in enumerate(X.tolist())]
    model = RiverClassifier(seed=0)
    before, _, after = (
        share_right(part, model) for part in (rows[:800], rows[800:1000], rows[1000:])
    )
    assert before > 0.8
    assert after > 0.75  # 3 standard errors below 0.84; without forgetting, it is below 0.5


def test_it_is_not_worse_than_repeating_the_last_label():
    rng = np.random.default_rng(1)
    labels, label = [], 0
    for change in rng.random(1000) < 0.1:
        label = (label + change * rng.integers(1, 3)) % 3
        labels.append("abc"[label])
    rows = [({"noise": float(v)}, y) for v, y in zip(rng.normal(size=1000), labels, strict=True)]
    repeated = np.mean([a == b for a, b in itertools.pairwise(labels)])
    ours = share_right(rows, RiverClassifier(seed=0))
    assert ours > repeated - 2 * math.sqrt(repeated * (1 - repeated) / 1000)


def test_it_is_not_worse_than_repeating_the_last_number():
    walk = np.random.default_rng(2).normal(size=1000).cumsum()
    model, error = RiverRegressor(seed=0), []
    for y in walk.tolist():
        error.append(abs(model.predict_one({"noise": 1.0}) - y))
        model.learn_one({"noise": 1.0}, y)
    last = np.abs(np.diff(walk))
    assert np.mean(error[1:]) < last.mean() + 2 * last.std() / math.sqrt(1000)


def test_categories_missing_values_and_dates_are_features():
    start = datetime.datetime(2024, 1, 1)
    rng = np.random.default_rng(3)
    rows = []
    for i in range(600):
        when = start + datetime.timedelta(hours=i)
        colour = "red" if rng.random() < 0.5 else "blue"
        x = {"colour": colour, "when": when, "empty": None, "number": float("nan")}
        rows.append((x, (colour == "red") ^ (when.hour < 12)))
    model = RiverClassifier(seed=0)
    assert share_right(rows[:300], model) > 0.6
    assert share_right(rows[300:], model) > 0.9


def test_a_feature_that_appears_later_is_used():
    signs = np.random.default_rng(4).choice([-1.0, 1.0], 600).tolist()
    model = RiverRegressor(seed=0)
    for sign in signs[:300]:
        model.learn_one({"constant": 1.0}, sign)
    for sign in signs[300:]:
        model.learn_one({"constant": 1.0, "sign": sign}, sign)
    assert model.predict_one({"sign": 1.0, "constant": 1.0}) == pytest.approx(1.0, abs=0.1)
    assert model.predict_one({"sign": -1.0, "constant": 1.0}) == pytest.approx(-1.0, abs=0.1)


def test_a_class_that_appears_later_is_learned():
    model = RiverClassifier(seed=0)
    places = np.random.default_rng(6).integers(3, size=600).tolist()
    for i, place in enumerate(places):
        label = place == 1 if i < 300 else ["no", "yes", "maybe"][place]
        model.learn_one({"a": float(place)}, label)
    assert [model.predict_one({"a": float(i)}) for i in range(3)] == ["no", "yes", "maybe"]
    assert sum(model.predict_proba_one({"a": 0.0}).values()) == pytest.approx(1.0)


def test_more_categories_than_columns_are_left_out():
    model = RiverClassifier(seed=0, n_neurons=8, half_lives=(50.0,))
    with pytest.warns(UserWarning, match="Further ones are left out"):
        for i in range(MOST + 100):
            model.learn_one({"name": f"n{i}", "a": i % 2}, i % 2)
    model.learn_one({"name": "another"}, 0)
    assert len(model._rows.places) == MOST
    assert [model.predict_one({"a": a}) for a in (0, 1)] == [0, 1]


@pytest.mark.parametrize("estimator", [RiverClassifier, RiverRegressor])
def test_copies_continue_bit_for_bit(estimator):
    rows = list(datasets.TrumpApproval().take(300))
    model = estimator(seed=0)
    learn = [(x, round(y) if estimator is RiverClassifier else y) for x, y in rows]
    for x, y in learn[:150]:
        model.learn_one(x, y)
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for x, y in learn[150:]:
        said = model.predict_one(x)
        assert all(each.predict_one(x) == said for each in copies)
        for each in (model, *copies):
            each.learn_one(x, y)


def test_predictions_in_between_change_nothing():
    quiet, asked = RiverRegressor(seed=0), RiverRegressor(seed=0)
    for x, y in datasets.TrumpApproval().take(200):
        for other in ({}, x | {"gallup": 0.0}, x, x | {"new": "category"}):
            asked.predict_one(other)
        quiet.learn_one(x, y)
        asked.learn_one(x, y)
    assert quiet.predict_one(x) == asked.predict_one(x)


@pytest.mark.parametrize(
    "model",
    [
        preprocessing.StandardScaler() | RiverClassifier(seed=0),
        RiverFeatures(seed=0) | linear_model.LogisticRegression(),
        compose.SelectType(float) + RiverFeatures(20, seed=0) | linear_model.LogisticRegression(),
        drift.DriftRetrainingClassifier(RiverClassifier(seed=0)),
        model_selection.GreedyRegressor(
            [RiverRegressor(n, seed=0) for n in (10, 20)], metrics.MAE()
        ),
    ],
    ids=["scaled", "features", "union", "drift", "selected"],
)
def test_they_work_with_other_parts_of_river(model):
    numeric = isinstance(model, base.Regressor)
    rows = (datasets.TrumpApproval if numeric else datasets.Phishing)().take(300)
    metric = metrics.MAE() if numeric else metrics.Accuracy()
    score = evaluate.progressive_val_score(rows, model, metric).get()
    assert score < 1 if numeric else score > 0.7


def test_data_frames_are_learned_like_rows():
    rows = list(datasets.Phishing().take(60))
    X, y = pd.DataFrame([x for x, _ in rows]), pd.Series([y for _, y in rows])
    one, many = RiverClassifier(seed=0), RiverClassifier(seed=0)
    many.learn_many(X, y)
    for x, label in zip(X.to_dict("records"), y, strict=True):
        one.learn_one(x, label)
    expected = [one.predict_proba_one(x)[True] for x in X.to_dict("records")]
    assert many.predict_proba_many(X)[True].tolist() == expected


@pytest.mark.parametrize("options", [{"n_neurons": 0}, {"half_lives": ()}, {"half_lives": (0.0,)}])
@pytest.mark.parametrize("estimator", [RiverClassifier, RiverRegressor])
def test_bad_parameters_are_named_of_river(estimator, options):
    with pytest.raises(ValueError, match=f"{estimator.__name__}: {next(iter(options))}=.*Remedy"):
        estimator(**options)


@pytest.mark.parametrize("target", [None, float("nan"), float("inf"), "text"])
def test_bad_targets_change_nothing(target):
    model = RiverRegressor(seed=0)
    model.learn_one({"a": 1.0}, 1.0)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="RiverRegressor: the target of a row is"):
        model.learn_one({"a": 2.0, "b": 1.0}, target)
    with pytest.raises(TypeError, match=r"feature 'a' is .*of type list"):
        model.learn_one({"a": [2.0]}, 1.0)
    assert pickle.dumps(model) == before

"""Labels that come later, in the estimators for River."""

import copy
import pickle

import numpy as np
import pytest
from river import datasets, evaluate, metrics

from trickless.river import RiverClassifier, RiverRegressor
from trickless.river.learner import MOST_ASKED


def test_the_last_label_that_was_known_may_mean_another_one():
    # The label changes every 50 rows, and each one comes 50 rows later.
    noise = np.random.default_rng(0).normal(size=1500).tolist()
    rows = [({"noise": a}, i // 50 % 2) for i, a in enumerate(noise)]
    model = RiverClassifier(seed=0)
    score = evaluate.progressive_val_score(rows, model, metrics.Accuracy(), delay=50)
    assert score.get() > 0.8  # 0.02 if it trusts the label before each row


@pytest.mark.parametrize("delay", [12, 48])
def test_delayed_targets_are_predicted_better_than_by_the_last_one(delay):
    rows, model, errors = list(datasets.TrumpApproval()), RiverRegressor(seed=0), []
    for i, (x, y) in enumerate(rows):
        errors.append(y - model.predict_one(x))
        if i >= delay - 1:
            model.learn_one(*rows[i - delay + 1])
    y = np.array([y for _, y in rows])
    assert np.abs(errors[delay:]).mean() < 0.9 * np.abs(y[delay:] - y[:-delay]).mean()


@pytest.mark.parametrize("estimator", [RiverClassifier, RiverRegressor])
def test_copies_with_open_questions_continue_bit_for_bit(estimator):
    def row(i):
        return {"a": i % 17 / 17, "b": float("nan"), "c": i}, i // 20 % 3

    model = estimator(seed=0)
    for i in range(100):
        model.predict_one(row(i)[0])
        if i >= 10:
            model.learn_one(*row(i - 10))
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for i in range(100, 150):
        for each in (model, *copies):
            each.predict_one(row(i)[0])
            each.learn_one(*row(i - 10))
    x = row(150)[0]
    assert [each.predict_one(x) for each in copies] == [model.predict_one(x)] * 2


def test_a_question_about_a_class_that_came_later_is_answered():
    model = RiverClassifier(seed=0)
    for i in range(60):
        model.predict_one({"a": i})
    for i in range(60):
        model.learn_one({"a": i}, i % 3)
    assert sum(model.predict_proba_one({"a": 1}).values()) == pytest.approx(1.0)


def test_questions_without_an_answer_take_bounded_memory():
    model = RiverRegressor(seed=0)
    for i in range(MOST_ASKED + 500):
        model.predict_one({"a": i})
    assert len(model._questions) == MOST_ASKED
    for i in range(MOST_ASKED + 500):
        model.learn_one({"a": i}, 1.0)
    assert not model._questions

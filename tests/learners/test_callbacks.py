"""Callbacks of scikit-learn follow every fit, and change nothing."""

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from cases import EVERY, answers, inputs, name_of, problem
from trickless import (
    BoostedTreesClassifier,
    DoublyStochasticClassifier,
    KitchenSinksRegressor,
    RandomFeatures,
)

callback = pytest.importorskip("sklearn.callback")


class Tasks:
    """Takes down what it is told."""

    def __init__(self):
        self.told = []

    def setup(self, estimator, context):
        self.told.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.told.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context):
        self.told.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.told.append(("end", context.task_name))


def seeded(learner):
    learner = clone(learner)
    return learner.set_params(random_state=0) if hasattr(learner, "random_state") else learner


@pytest.mark.parametrize("learner", EVERY, ids=name_of)
def test_scores_of_a_fit_are_monitored_and_the_model_stays_the_same(learner):
    X, y = problem(learner, rows=60)
    score = "r2" if is_regressor(learner) else "accuracy"
    monitor, tasks = callback.ScoringMonitor(scoring=score), Tasks()
    plain = seeded(learner).fit(X, y)
    model = seeded(learner).set_callbacks(monitor, tasks).fit(X, y)
    np.testing.assert_array_equal(answers(model, X), answers(plain, X))
    log = monitor.get_logs().data
    assert log[-1]["task_name"] == "fit" or log[0]["task_name"] == "fit"
    last = next(each[score] for each in log if each["task_name"] == "fit")
    assert last == pytest.approx(model.score(X, y))
    begun = [name for what, name in tasks.told if what == "begin"]
    assert begun[0] == "fit"
    assert sorted(begun) == sorted(name for what, name in tasks.told if what == "end")
    assert tasks.told[0][0] == "setup"
    assert tasks.told[-1][0] == "teardown"
    assert not hasattr(model, "_callback_watch")
    assert not hasattr(model, "_callback_fit_ctx")


def test_phases_have_their_names_and_at_most_a_hundred_steps():
    X, y = problem(KitchenSinksRegressor(), rows=2000)
    tasks = Tasks()
    KitchenSinksRegressor(n_neurons=50, random_state=0).set_callbacks(tasks).fit(X, y)
    begun = [name for what, name in tasks.told if what == "begin"]
    assert [n for n in begun if n not in ("row", "choice", "solution")] == [
        "fit", "choosing neurons", "summing", "solving",
    ]  # fmt: skip
    assert 1 <= begun.count("row") <= 100


DRAWN = DoublyStochasticClassifier(n_neurons=2000, schedule="inverse", early_stopping=True)


@pytest.mark.parametrize(
    ("learner", "unit"),
    [(DRAWN, "neuron"), (BoostedTreesClassifier(), "tree")],
    ids=["drawn", "trees"],
)
def test_scores_of_early_stopping_are_those_of_rows_held_out(learner, unit):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1200, 3))
    y = rng.integers(2, size=1200)  # noise, so rows that were learned have other scores
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = clone(learner).set_params(random_state=0).set_callbacks(monitor)
    model.fit(X, y)
    log = monitor.get_logs().data
    steps = [each["accuracy"] for each in log if each["task_name"] == unit]
    assert max(steps) < 0.7
    assert next(each["accuracy"] for each in log if each["task_name"] == "fit") > 0.5
    assert len(set(steps)) > 1


def test_callbacks_go_through_searches_and_pipelines():
    X, y = inputs(90, 3), inputs(90, 3)[:, 0] > 0
    pipeline = make_pipeline(RandomFeatures(n_neurons=20, random_state=0), LogisticRegression())
    tasks = Tasks()
    pipeline[0].set_callbacks(tasks)
    pipeline.fit(X, y)
    assert ("begin", "fit") in tasks.told
    search = GridSearchCV(KitchenSinksRegressor(n_neurons=20, random_state=0), {"alpha": [1, 2]})
    search.set_callbacks(callback.ProgressBar(max_propagation_depth=1))
    assert search.fit(X, X[:, 0]).best_score_ < 1


def test_a_fit_that_fails_ends_its_callbacks():
    tasks = Tasks()
    model = KitchenSinksRegressor(n_neurons=0).set_callbacks(tasks)
    with pytest.raises(ValueError, match="n_neurons=0"):
        model.fit(inputs(20, 2), np.arange(20.0))
    assert tasks.told[-1] == ("teardown", "fit")
    assert not hasattr(model, "_callback_watch")
    with pytest.raises(TypeError, match="callbacks must be instances"):
        model.set_callbacks("bar")


def test_verbose_is_a_progress_bar(capsys):
    X, y = problem(KitchenSinksRegressor(), rows=300)
    model = KitchenSinksRegressor(n_neurons=50, random_state=0, verbose=True).fit(X, y)
    printed = "".join(capsys.readouterr())
    assert "KitchenSinksRegressor" in printed
    assert "summing" in printed
    assert not hasattr(model, "_skl_callbacks")

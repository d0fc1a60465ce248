"""Boosting that held-out rows stop, in folds or once, and that learns from all rows in the end."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import r2_score

from cases import digest, inputs
from trickless import BoostedTreesClassifier, BoostedTreesRegressor
from trickless._solvers.boosting import boosting
from trickless._solvers.boosting.course import Course


def data(n=1200, d=3, noise=0.5, seed=0):
    X = inputs(n, d, seed)
    noise = noise * np.random.default_rng(seed).standard_normal(n)
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 4 + noise


def trees(learner=BoostedTreesRegressor, n_trees=60, **options):
    options = {"random_state": 0, "n_jobs": 1} | options
    return learner(n_trees, max_depth=4, leaves="constant", shape="oblivious", **options)


def weights_of(model):
    return model.network_.source.weights


@pytest.fixture
def runs(monkeypatch):
    """Says what courses did: "trial" if they hold rows out, "replay" with cuts given, or "fit".

    The run whose number is ``at`` is interrupted after some trees.
    """

    class Runs(list):
        at = None

    def run(self, n_trees, given=None, *others, plain=Course.run, **named):
        before = self.n_trees
        kind = "trial" if self.held_f.size else "fit" if given is None else "replay"
        runs.append((kind, n_trees - before))
        if len(runs) == runs.at:
            raise KeyboardInterrupt
        return plain(self, n_trees, given, *others, **named)

    runs = Runs()
    monkeypatch.setattr(boosting.Course, "run", run)
    return runs


def test_a_fit_that_is_interrupted_leaves_a_model_in_boosting(runs):
    X, y = data()
    whole = trees().fit(X, y)
    for at in (4, len(runs)):  # in the trial, and in the replay
        runs.clear()
        runs.at, model = at, trees()
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        assert model.score(X, y) > 0.05
        n_trees = sum(n for _, n in runs[:-1]) if at == 4 else len(whole.neuron_coef_)
        assert len(model.neuron_coef_) == n_trees
        model.check_state()
        runs.at = None
        model.partial_fit(X, y)


def test_the_number_of_rows_that_count_decides_on_folds(runs):
    X, y = data(1200)
    heavy = np.where(np.arange(1200) < 300, 1.0, 1e-6)  # 300 rows' worth
    for weight, n_folds in ((None, 1), (np.full(1200, 7.0), 1), (heavy, 4)):
        runs.clear()
        model = trees(n_trees=20).fit(X, y, weight)
        n_looks = len(model.validation_scores_)
        kinds = [kind for kind, _ in runs]
        assert kinds.count("trial") == n_folds * n_looks
        assert ("replay" in kinds) == (n_folds == 1)
    few = np.where(np.arange(1200) < 5, 1.0, 1e-9)
    assert not trees().fit(X, y, few).validation_scores_


def test_rows_apart_are_never_learned_from_in_boosting():
    """Their targets decide how many trees are kept, and nothing else."""
    X, y = data(noise=0.1)
    X_val, y_val = data(300, noise=0.1, seed=1)
    model = trees(n_trees=80).fit(X, y, X_val=X_val, y_val=y_val)
    poisoned = trees(n_trees=80).fit(X, y, X_val=0.9 * X_val[:50], y_val=-1e6 * y_val[:50])
    shifted = trees(n_trees=80).fit(X, y, X_val=X_val, y_val=y_val[::-1])
    assert len(shifted.neuron_coef_) < len(model.neuron_coef_)
    alone = trees(n_trees=80, early_stopping=False).fit(X, y)
    np.testing.assert_array_equal(alone.neuron_coef_[: len(model.neuron_coef_)], model.neuron_coef_)
    for other in (poisoned, shifted):
        n = len(other.neuron_coef_)
        np.testing.assert_array_equal(other.neuron_coef_, model.neuron_coef_[:n])
        for ours, theirs in zip(weights_of(other), weights_of(model), strict=True):
            np.testing.assert_array_equal(ours, theirs[:n])
        assert digest(other._rows_) == digest(model._rows_)
        assert digest(other._targets_) == digest(model._targets_)


def test_scores_of_rows_apart_count_their_weights_in_boosting():
    X, y = data()
    weight = np.random.default_rng(0).random(300) ** 3
    weight[:10] = 0
    model = trees().fit(X, y, X_val=X[:300], y_val=-y[:300], sample_weight_val=weight)
    assert len(model.neuron_coef_) == 0  # a constant is better
    X_val, y_val = data(300, seed=1)
    model = trees().fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight)
    lost, start = (
        np.average((y_val - f) ** 2, weights=weight) for f in (model.predict(X_val), y.mean())
    )
    assert max(model.validation_scores_) == pytest.approx(1 - lost / start, rel=1e-5)
    without = trees().fit(X, y, X_val=X_val[10:], y_val=y_val[10:], sample_weight_val=weight[10:])
    np.testing.assert_allclose(without.validation_scores_, model.validation_scores_)


def alike(n_groups=60, seed=0):
    """Rows of groups, each with features of its own and a target that is all but its own."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), 25)
    X = rng.standard_normal((n_groups, 4))[groups] + 0.02 * rng.standard_normal((len(groups), 4))
    y = rng.standard_normal(n_groups)[groups] + 0.02 * rng.standard_normal(len(groups))
    return X, y, groups


@pytest.mark.parametrize("n_groups", [30, 60])  # in folds, and once
def test_with_groups_the_score_is_that_of_new_groups(n_groups):
    X, y, groups = alike(n_groups)
    new, y_new, _ = alike(200, seed=1)
    y_new[:] = np.random.default_rng(2).permutation(y_new)
    plain = trees(n_trees=300).fit(X, y)
    assert max(plain.validation_scores_) > 0.95
    assert plain.score(new, y_new) < 0.1
    grouped = trees(n_trees=300).fit(X, y, groups=groups)
    assert max(grouped.validation_scores_) < 0.3
    assert r2_score(y_new, grouped.predict(new)) > r2_score(y_new, plain.predict(new))
    assert len(grouped.neuron_coef_) < len(plain.neuron_coef_) / 3


@pytest.mark.parametrize("n_groups", [30, 60])
def test_rows_of_weight_zero_are_as_if_they_were_not_there_in_boosting(n_groups):
    X, y, groups = alike(n_groups)
    order = np.random.default_rng(0).permutation(len(X))
    X, y, groups = X[order], y[order], groups[order]
    weight = np.where((groups % 7 == 0) | (np.arange(len(X)) % 5 == 0), 0.0, 1.0)
    kept = weight > 0
    model = trees().fit(X, y, weight, groups=groups)
    expected = trees().fit(X[kept], y[kept], groups=groups[kept])
    assert model.validation_scores_ == expected.validation_scores_
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))


@pytest.mark.parametrize("weighted", [False, True])
def test_groups_of_a_class_of_weight_zero_do_not_count_in_boosting(weighted):
    X, y, groups = alike(40)
    labels = np.where(groups % 7 == 0, 2, y > 0)
    weight = np.where(np.arange(len(X)) % 5 == 0, 0.0, 2.0) if weighted else None
    model = trees(BoostedTreesClassifier, class_weight={2: 0.0})
    expected = clone(model).fit(X, labels, weight, groups=groups)
    others = np.where(labels == 2, -1 - np.arange(len(X)), groups)
    found = clone(model).fit(X, labels, weight, groups=others)
    assert found.validation_scores_ == expected.validation_scores_
    np.testing.assert_array_equal(found.decision_function(X), expected.decision_function(X))


@pytest.mark.parametrize("n_trees", [1, 2, 7, 250])
def test_the_last_trees_are_looked_at(n_trees):
    """Though the fit may end between two looks."""
    X, y = data(noise=0.01)
    model = trees(n_trees=n_trees).fit(X, y, X_val=X, y_val=y)
    assert model._forest_.scored[-1] == n_trees
    assert len(model.neuron_coef_) == n_trees  # which is best, since the rows are the same


def test_linear_leaves_win_where_the_function_is_linear():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1500, 3))
    linear, steps = X @ [3.0, 1.0, -2.0], np.sign(X[:, 0]) + (X[:, 1] > 0.5)
    for y, wins in ((linear, True), (steps, False)):
        model = BoostedTreesRegressor(60, shape="oblivious", random_state=0)
        model.fit(X, y + 0.01 * rng.standard_normal(1500))
        assert (model.neurons_.linear_ is not None) == wins

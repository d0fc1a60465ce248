"""A fit that held-out rows stop early."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone

from cases import digest, inputs
from trickless import DoublyStochasticClassifier, DoublyStochasticRegressor
from trickless._solvers.descent.descent import Descent
from trickless.neurons import Gaussian, Tabular


def data(n=400, d=3, noise=0.5, seed=0):
    X = inputs(n, d, seed)
    noise = noise * np.random.default_rng(seed).standard_normal(n)
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 4 + noise


def model_of(learner=DoublyStochasticRegressor, n_neurons=320, **options):
    options = {"random_state": 0, "early_stopping": True} | options
    return learner(Gaussian(1.0), n_neurons, **options)


class Interrupted(Descent):
    """A descent whose step of some number is interrupted."""

    at = 0

    def step(self, *arguments, **named):
        if self.n_steps + 1 == self.at:
            raise KeyboardInterrupt
        super().step(*arguments, **named)


def test_a_fit_that_is_interrupted_leaves_a_model(monkeypatch):
    X, y = data()
    monkeypatch.setattr("trickless._learners.descent_sizes.Descent", Interrupted)
    monkeypatch.setattr(Interrupted, "at", 6)
    model = model_of(neurons_per_step=16)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert len(model.neuron_coef_) == 5 * model.neurons_per_step_
    assert model.score(X, y) > 0.05
    model.check_state()
    monkeypatch.setattr(Interrupted, "at", 0)
    model.partial_fit(X, y)


def test_rows_apart_are_never_learned_from():
    """Their targets decide when a fit stops, and nothing else."""
    X, y = data()
    X_val, y_val = data(300, seed=1)
    model = model_of(n_neurons=2000).fit(X, y, X_val=X_val, y_val=y_val)
    shifted = model_of(n_neurons=2000).fit(X, y, X_val=0.9 * X_val, y_val=-1e6 * y_val)
    n = len(shifted.neuron_coef_)
    assert n < len(model.neuron_coef_)
    alone = model_of(n_neurons=2000, early_stopping=False).fit(X, y)
    for other in (shifted, model):
        n = other.n_iter_
        np.testing.assert_array_equal(other.loss_curve_, alone.loss_curve_[:n])
        assert digest(other._rows_) == digest(alone._rows_)
        assert digest(other._targets_) == digest(alone._targets_)


def test_scores_of_rows_apart_count_their_weights():
    X, y = data()
    X_val, y_val = data(300, seed=1)
    weight = np.random.default_rng(0).random(300) ** 3
    weight[:10] = 0
    model = model_of(dtype="float64").fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight)
    lost, start = (
        np.average((y_val - f) ** 2, weights=weight)
        for f in (model.predict(X_val), model._descent_.constant)
    )
    assert model.validation_scores_[-1] == pytest.approx(1 - lost / start)
    without = model_of(dtype="float64").fit(
        X, y, X_val=X_val[10:], y_val=y_val[10:], sample_weight_val=weight[10:]
    )
    np.testing.assert_allclose(without.validation_scores_, model.validation_scores_)


@pytest.mark.parametrize("schedule", ["inverse", "block"])
def test_rows_apart_stop_steps_of_every_kind(schedule):
    X, y = data(300, noise=2.0)
    X_val, y_val = data(300, noise=2.0, seed=1)
    model = DoublyStochasticRegressor(
        "gaussian", 20_000, schedule=schedule, alpha=1e-9, random_state=0
    ).fit(X, y, X_val=X_val, y_val=y_val)
    assert len(model.neuron_coef_) < model.n_neurons
    assert model.validation_scores_


def alike(n_groups=60, n_each=10, seed=0):
    """Rows of groups, each with features of its own and a target that is all but its own."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), n_each)
    X = rng.standard_normal((n_groups, 4))[groups] + 0.02 * rng.standard_normal((len(groups), 4))
    y = rng.standard_normal(n_groups)[groups] + 0.02 * rng.standard_normal(len(groups))
    return X, y, groups


@pytest.mark.parametrize("kind", [int, str, object, "category", "series", "list"])
def test_groups_are_numbers_or_texts_of_any_kind(kind):
    X, y, groups = alike(40)
    expected = model_of().fit(X, y, groups=groups)
    names = np.char.add("p", np.char.zfill(groups.astype(str), 3))  # in the same order
    given = {
        int: groups * 5 - 3,
        str: names,
        object: names.astype(object),
        "category": pd.Categorical(names),
        "series": pd.Series(names, dtype="string"),
        "list": names.tolist(),
    }[kind]
    model = model_of().fit(X, y, groups=given)
    assert model.validation_scores_ == expected.validation_scores_


@pytest.mark.parametrize("n_groups", [30, 60])
def test_rows_of_weight_zero_are_as_if_they_were_not_there(n_groups):
    X, y, groups = alike(n_groups)
    order = np.random.default_rng(0).permutation(len(X))
    X, y, groups = X[order], y[order], groups[order]
    weight = np.where((groups % 7 == 0) | (np.arange(len(X)) % 5 == 0), 0.0, 1.0)
    kept = weight > 0
    model = model_of().fit(X, y, weight, groups=groups)
    expected = model_of().fit(X[kept], y[kept], groups=groups[kept])
    assert model.validation_scores_ == expected.validation_scores_
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))


@pytest.mark.parametrize("n_groups", [40, 80])
@pytest.mark.parametrize("weighted", [False, True])
def test_groups_of_a_class_of_weight_zero_do_not_count(n_groups, weighted):
    X, y, groups = alike(n_groups)
    labels = np.where(groups % 7 == 0, 2, y > 0)
    weight = np.where(np.arange(len(X)) % 5 == 0, 0.0, 2.0) if weighted else None
    model = model_of(DoublyStochasticClassifier, class_weight={2: 0.0})
    expected = clone(model).fit(X, labels, weight, groups=groups)
    others = np.where(labels == 2, -1 - np.arange(len(X)), groups)
    found = clone(model).fit(X, labels, weight, groups=others)
    assert found.validation_scores_ == expected.validation_scores_
    np.testing.assert_array_equal(found.decision_function(X), expected.decision_function(X))


def test_groups_of_which_one_has_a_weight_are_refused():
    X, y, groups = alike(60, 25)
    model = model_of(early_stopping=True)
    for named in (
        {"groups": 0 * groups},
        {"groups": groups, "sample_weight": np.where(groups == 1, 1.0, 0.0)},
    ):
        with pytest.raises(ValueError, match=r"groups has one value only.*Remedy"):
            clone(model).fit(X, y, **named)


@pytest.mark.parametrize("groups", [[0, 1], np.zeros((400, 2)), 3, np.zeros((400, 1)), "ab"])
def test_groups_of_another_shape_are_refused(groups):
    X, y = data()
    with pytest.raises(ValueError, match=r"groups has the shape.*400 rows.*Remedy: one number or"):
        model_of().fit(X, y, groups=groups)


def test_groups_of_several_types_are_told_apart():
    X, y = data()
    parts = np.arange(400) // 20 % 2
    model = model_of().fit(X, y, groups=np.array([1, "1"], dtype=object)[parts])
    expected = model_of().fit(X, y, groups=parts)
    assert model.validation_scores_ == expected.validation_scores_
    with pytest.raises(ValueError, match=r"groups is a list of values of several lengths.*Remedy"):
        model_of().fit(X, y, groups=[[1], [2, 3]] * 200)


@pytest.mark.parametrize("gap", [np.nan, None, pd.NA, pd.NaT])
def test_gaps_in_groups_are_refused(gap):
    X, y = data()
    groups = (np.arange(400) // 7).astype(object)
    groups[3] = gap
    with pytest.raises(ValueError, match=r"groups has a missing value \(row 3\).*Remedy"):
        model_of().fit(X, y, groups=groups)


def test_callbacks_score_the_rows_apart():
    callback = pytest.importorskip("sklearn.callback")
    X, y = data(600)
    X_val, y_val = data(100, seed=1)
    weight = np.where(np.arange(600) % 3 == 0, 0.0, 1.0)
    for named in (
        {"X_val": X_val, "y_val": y_val},
        {"sample_weight": weight, "groups": np.arange(600) // 10},
        {"sample_weight": weight},
    ):
        monitor = callback.ScoringMonitor(scoring="r2")
        plain = model_of().fit(X, y, **named)
        model = model_of().set_callbacks(monitor).fit(X, y, **named)
        np.testing.assert_array_equal(model.predict(X), plain.predict(X))
        log = monitor.get_logs().data
        steps = [each["r2"] for each in log if each["task_name"] == "neuron"]
        scores = np.array(model.validation_scores_)
        at = np.array(model._descent_.scored) * 100 // 320 - 1  # a hundred calls in a fit
        # The score of the model relative to a constant, at the same rows.
        assert np.corrcoef(np.array(steps)[at], scores)[0, 1] > 0.999


def test_rows_apart_may_be_sparse_or_frames():
    X, y = data()
    X_val, y_val = data(300, seed=1)
    model = DoublyStochasticRegressor(Gaussian(1.0), 200, random_state=0, dtype="float64")
    expected = clone(model).fit(X, y, X_val=X_val, y_val=y_val).validation_scores_
    rows, apart = scipy.sparse.csr_array(X), scipy.sparse.csr_matrix(X_val)
    sparse = clone(model).fit(rows, y, X_val=apart, y_val=y_val)
    np.testing.assert_allclose(sparse.validation_scores_, expected)
    mixed = clone(model).fit(X, y, X_val=apart, y_val=y_val)
    np.testing.assert_allclose(mixed.validation_scores_, expected)
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "u", "v"), "c": X[:, 2]})
    apart = frame[:300].assign(b=np.where(X_val[:, 1] > 1, "new", "u"))
    table = model_of().set_params(neurons=Tabular())
    model = clone(table).fit(frame, y, X_val=apart, y_val=y_val)
    assert model.validation_scores_
    with pytest.raises(ValueError, match=r"X_val"):
        table.fit(frame, y, X_val=apart[["a", "b"]], y_val=y_val)


@pytest.mark.parametrize(
    ("named", "what"),
    [
        ({"X_val": 1}, "X_val is given without y_val.*Remedy: y_val; or leave X_val out"),
        ({"y_val": 1}, "y_val is given without X_val.*Remedy: X_val; or leave y_val out"),
        ({"sample_weight_val": 1}, "sample_weight_val is given without X_val and y_val.*Remedy"),
        ({"X_val": 1, "sample_weight_val": 1}, "X_val is given without y_val.*Remedy"),
    ],
)
def test_rows_apart_need_targets(named, what):
    X, y = data()
    given = {"X_val": X, "y_val": y, "sample_weight_val": np.ones(400)}
    with pytest.raises(ValueError, match=what):
        model_of().fit(X, y, **{name: given[name] for name in named})


def test_rows_apart_that_are_not_wanted_are_refused():
    X, y = data()
    with pytest.raises(ValueError, match=r"X_val does not go with early_stop.*Remedy"):
        model_of(early_stopping=False).fit(X, y, X_val=X, y_val=y)


def broken(X, y):
    return {
        "no row": (X[:0], y[:0], None),
        "columns": (X[:, :2], y, None),
        "lengths": (X, y[:-1], None),
        "a gap in y": (X, np.where(np.arange(len(y)) == 3, np.nan, y), None),
        "infinity": (np.where(X > 1, np.inf, X), y, None),
        "outputs": (X, np.stack([y, y], axis=1), None),
        "one dimension": (y, y, None),
        "weights": (X, y, np.ones(3)),
        "no weight": (X, y, np.zeros(len(y))),
        "a negative weight": (X, y, -np.ones(len(y))),
        "text": (X, np.full(len(y), "a"), None),
        "None": (None, y, None),
    }


@pytest.mark.parametrize("name", [name for name in broken(*data(20)) if name != "None"])
def test_bad_rows_apart_are_refused_by_name(name):
    X, y = data()
    X_val, y_val, weight = broken(*data(60, seed=1))[name]
    with pytest.raises((ValueError, TypeError), match=r"X_val.*Remedy: .*\.") as error:
        model_of().fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight)
    assert str(error.value).count("Remedy") == 1


def test_new_labels_in_rows_apart_are_refused():
    X, y = data()
    labels = np.digitize(y, [0.5, 2])
    model = model_of(DoublyStochasticClassifier)
    with pytest.raises(ValueError, match=r"X_val.*y holds the label\(s\) \[7\].*Remedy: .*leave"):
        model.fit(X, labels, X_val=X[:50], y_val=np.full(50, 7))
    one = model.fit(X, labels, X_val=X[:50], y_val=np.full(50, 1))  # fewer labels are fine
    assert one.validation_scores_
    with pytest.raises(ValueError, match=r"class_weight=.* every row of X_val.*Remedy"):
        model.set_params(class_weight={1: 0.0}).fit(X, labels, X_val=X[:9], y_val=np.full(9, 1))


def test_a_warm_start_warns_of_held_out_rows_that_it_has_learned_from():
    X, y = data()
    model = model_of(n_neurons=320, warm_start=True).fit(X, y)
    model.set_params(n_neurons=640)
    with pytest.warns(UserWarning, match=r"warm_start=True with early_stopping.*Remedy: X_val="):
        clone(model).set_params(n_neurons=320, early_stopping=False).fit(X, y).set_params(
            n_neurons=640, early_stopping=True
        ).fit(X, y)
    X_val, y_val = data(seed=1)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    model.set_params(n_neurons=960, early_stopping=False).fit(X, y)
    assert len(model.neuron_coef_) == 960

"""A fit that stops early, learns from all rows in the end, and resumes at any step."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.metrics import r2_score

from cases import digest, inputs
from trickless import DoublyStochasticClassifier, DoublyStochasticRegressor
from trickless.learners.descent_sizes import options_of
from trickless.neurons import Gaussian, Mixture, Trees
from trickless.solvers.descent.descent import Descent
from trickless.solvers.descent.passes import FitRows, Found, by_folds


def data(n=1200, d=3, noise=0.5, seed=0):
    X = inputs(n, d, seed)
    noise = noise * np.random.default_rng(seed).standard_normal(n)
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 4 + noise


def trees(learner=DoublyStochasticRegressor, n_neurons=60, **options):
    options = {"random_state": 0, "n_jobs": 1, "n_iter_no_change": 2} | options
    return learner(Trees(depth=4, leaves="constant"), n_neurons, **options)


def weights_of(model):
    return model.network_.source.weights


@pytest.fixture
def calls(monkeypatch):
    """Says which steps were taken, and interrupts one of them if it is told its number."""

    class Calls(list):
        at = None

    def step(self, batch, k, options, *arguments, plain=Descent.step, **named):
        calls.append("replay" if named.get("given") is not None else "trial")
        if len(calls) == calls.at:
            raise KeyboardInterrupt
        return plain(self, batch, k, options, *arguments, **named)

    calls = Calls()
    monkeypatch.setattr(Descent, "step", step)
    return calls


def replayed_by_hand(model, X, Y, weight):
    """The coefficients of leaves, each computed from all rows after the earlier trees."""
    family, (columns, tables) = model.neurons_, weights_of(model)
    unit = np.ones(len(X)) if weight is None else weight / weight.mean()
    coef, f = [], np.broadcast_to(model.descent_.constant, Y.shape)
    for t in range(len(columns)):
        Z = family(X, (columns[t : t + 1], tables[t : t + 1]))
        g, h = Z.T @ (unit[:, None] * (Y - f)), Z.T @ unit[:, None]
        gamma = model.descent_.steps(t)
        coef.append(gamma * g / (h + model.damping_ * h.mean()))
        f = f + Z @ coef[-1]
    return np.array(coef)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("batch_size", [5000, 700])
def test_the_leaves_of_a_replay_are_those_of_all_rows(weighted, batch_size):
    X, y = data(noise=2.0)
    Y = np.stack([y, X[:, 0]], axis=1)
    weight = np.random.default_rng(0).uniform(0.8, 1.2, len(X)) if weighted else None
    model = trees(dtype="float64", batch_size=batch_size).fit(X, Y, weight)
    n = len(model.neuron_coef_)
    assert 3 < n < 60
    if batch_size < len(X):
        assert {int(seen.n_rows) for seen in model.descent_.history} == {600}
        return
    np.testing.assert_allclose(model.neuron_coef_, replayed_by_hand(model, X, Y, weight), atol=1e-9)
    f = model.predict(X)
    mean = np.average((f - Y) ** 2, axis=0, weights=weight)
    assert (mean < np.average((f.mean(axis=0) - Y) ** 2, axis=0, weights=weight)).all()


def test_a_replay_takes_the_trees_of_the_trial(calls):
    X, y = data()
    whole = trees().fit(X, y)
    n = len(whole.neuron_coef_)
    assert calls == ["trial"] * (len(calls) - n) + ["replay"] * n
    n_trial = calls.index("replay")
    assert n_trial > n
    calls.clear()
    calls.at = n_trial + 5
    model = trees()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    for ours, theirs in zip(weights_of(model), weights_of(whole), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert model.validation_scores_ == whole.validation_scores_
    assert (model.neuron_coef_ != whole.neuron_coef_).any()
    assert model.score(X, y) > 0.3


@pytest.mark.parametrize(
    "neurons", [Trees(depth=3, leaves="constant"), Mixture([Gaussian(1.0), Trees(depth=3)])]
)
def test_a_fit_that_is_interrupted_leaves_a_model(neurons, calls):
    X, y = data()
    model = DoublyStochasticRegressor(neurons, 40, n_iter_no_change=2, random_state=0)
    whole = clone(model).fit(X, y)
    n_trial = calls.index("replay")
    for at in (6, n_trial, n_trial + 1, len(calls)):
        calls.clear()
        calls.at = at
        new = clone(model)
        with pytest.raises(KeyboardInterrupt):
            new.fit(X, y)
        assert new.score(X, y) > 0.1
        assert len(new.neuron_coef_) == (at - 1 if at <= n_trial else len(whole.neuron_coef_))
        new.check_state()
        new.partial_fit(X, y)


@pytest.mark.parametrize("n_rows", [300, 1200])
def test_one_thread_or_two_give_the_same_bits(n_rows, monkeypatch):
    monkeypatch.setattr("trickless.solvers.descent.slopes._ROWS", 64)
    monkeypatch.setattr("trickless.solvers.descent.slopes._WORTH_THREADS", 64)
    X, y = data(n_rows)
    models = [trees(n_jobs=n).fit(X, y, groups=np.arange(n_rows) // 3) for n in (1, 2)]
    for ours, theirs in zip(*map(weights_of, models), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(models[0].neuron_coef_, models[1].neuron_coef_)
    assert models[0].validation_scores_ == models[1].validation_scores_


def test_rows_apart_are_never_learned_from():
    """Their targets decide how many trees are kept, and nothing else."""
    X, y = data(noise=0.1)
    X_val, y_val = data(300, noise=0.1, seed=1)
    longer = {"n_neurons": 80, "n_iter_no_change": 1}
    model = trees(**longer).fit(X, y, X_val=X_val, y_val=y_val)
    poisoned = trees(**longer).fit(X, y, X_val=0.9 * X_val[:50], y_val=-1e6 * y_val[:50])
    shifted = trees(**longer).fit(X, y, X_val=X_val, y_val=y_val[::-1])
    assert len(shifted.neuron_coef_) < len(model.neuron_coef_)
    alone = trees(**longer, early_stopping=False).fit(X, y)
    np.testing.assert_array_equal(alone.neuron_coef_[: len(model.neuron_coef_)], model.neuron_coef_)
    for other in (poisoned, shifted):
        n = len(other.neuron_coef_)
        np.testing.assert_array_equal(other.neuron_coef_, model.neuron_coef_[:n])
        for ours, theirs in zip(weights_of(other), weights_of(model), strict=True):
            np.testing.assert_array_equal(ours, theirs[:n])
        assert digest(other.rows_) == digest(model.rows_)
        assert digest(other.targets_) == digest(model.targets_)


def test_scores_of_rows_apart_count_their_weights():
    X, y = data()
    weight = np.random.default_rng(0).random(300) ** 3
    weight[:10] = 0
    model = trees(dtype="float64").fit(
        X, y, X_val=X[:300], y_val=-y[:300], sample_weight_val=weight
    )
    assert len(model.neuron_coef_) == 0  # a constant is better
    X_val, y_val = data(300, seed=1)
    model = trees(dtype="float64").fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight)
    lost, start = (
        np.average((y_val - f) ** 2, weights=weight) for f in (model.predict(X_val), y.mean())
    )
    assert max(model.validation_scores_) == pytest.approx(1 - lost / start)
    without = trees(dtype="float64").fit(
        X, y, X_val=X_val[10:], y_val=y_val[10:], sample_weight_val=weight[10:]
    )
    assert without.validation_scores_ == model.validation_scores_


@pytest.mark.parametrize("neurons", ["gaussian", "trees"])
def test_rows_apart_stop_steps_of_every_kind(neurons):
    X, y = data(300, noise=2.0)
    X_val, y_val = data(300, noise=2.0, seed=1)
    model = DoublyStochasticRegressor(neurons, 20_000 if neurons == "gaussian" else 400)
    model.set_params(random_state=0).fit(X, y, X_val=X_val, y_val=y_val)
    assert model.early_stopping_
    assert len(model.neuron_coef_) < model.n_neurons
    assert model.validation_scores_


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
    plain = trees(n_neurons=300).fit(X, y)
    assert max(plain.validation_scores_) > 0.95
    assert plain.score(new, y_new) < 0.1
    grouped = trees(n_neurons=300).fit(X, y, groups=groups)
    assert max(grouped.validation_scores_) < 0.3
    assert r2_score(y_new, grouped.predict(new)) > r2_score(y_new, plain.predict(new))
    assert len(grouped.neuron_coef_) < len(plain.neuron_coef_) / 3


@pytest.mark.parametrize("kind", [int, str, object, "category", "series", "list"])
def test_groups_are_numbers_or_texts_of_any_kind(kind):
    X, y, groups = alike(40)
    expected = trees().fit(X, y, groups=groups)
    names = np.char.add("p", np.char.zfill(groups.astype(str), 3))  # in the same order
    given = {
        int: groups * 5 - 3,
        str: names,
        object: names.astype(object),
        "category": pd.Categorical(names),
        "series": pd.Series(names, dtype="string"),
        "list": names.tolist(),
    }[kind]
    model = trees().fit(X, y, groups=given)
    assert model.validation_scores_ == expected.validation_scores_


@pytest.mark.parametrize("n_groups", [30, 60])
def test_rows_of_weight_zero_are_as_if_they_were_not_there(n_groups):
    X, y, groups = alike(n_groups)
    order = np.random.default_rng(0).permutation(len(X))
    X, y, groups = X[order], y[order], groups[order]
    weight = np.where((groups % 7 == 0) | (np.arange(len(X)) % 5 == 0), 0.0, 1.0)
    kept = weight > 0
    model = trees().fit(X, y, weight, groups=groups)
    expected = trees().fit(X[kept], y[kept], groups=groups[kept])
    assert model.validation_scores_ == expected.validation_scores_
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))


@pytest.mark.parametrize("n_groups", [40, 80])
@pytest.mark.parametrize("weighted", [False, True])
def test_groups_of_a_class_of_weight_zero_do_not_count(n_groups, weighted):
    X, y, groups = alike(n_groups)
    labels = np.where(groups % 7 == 0, 2, y > 0)
    weight = np.where(np.arange(len(X)) % 5 == 0, 0.0, 2.0) if weighted else None
    model = trees(DoublyStochasticClassifier, class_weight={2: 0.0})
    expected = clone(model).fit(X, labels, weight, groups=groups)
    others = np.where(labels == 2, -1 - np.arange(len(X)), groups)
    found = clone(model).fit(X, labels, weight, groups=others)
    assert found.validation_scores_ == expected.validation_scores_
    np.testing.assert_array_equal(found.decision_function(X), expected.decision_function(X))


def test_groups_of_which_one_has_a_weight_are_refused():
    X, y, groups = alike(60)
    model = trees(early_stopping=True)
    for named in (
        {"groups": 0 * groups},
        {"groups": groups, "sample_weight": np.where(groups == 1, 1.0, 0.0)},
    ):
        with pytest.raises(ValueError, match=r"groups has one value only.*Remedy"):
            clone(model).fit(X, y, **named)


@pytest.mark.parametrize("groups", [[0, 1], np.zeros((1200, 2)), 3, np.zeros((1200, 1)), "ab"])
def test_groups_of_another_shape_are_refused(groups):
    X, y = data()
    with pytest.raises(ValueError, match=r"groups has the shape.*1200 rows.*Remedy: one number or"):
        trees().fit(X, y, groups=groups)


def test_groups_of_several_types_are_told_apart():
    X, y = data()
    parts = np.arange(1200) // 20 % 2
    model = trees().fit(X, y, groups=np.array([1, "1"], dtype=object)[parts])
    expected = trees().fit(X, y, groups=parts)
    assert model.validation_scores_ == expected.validation_scores_
    with pytest.raises(ValueError, match=r"groups is a list of values of several lengths.*Remedy"):
        trees().fit(X, y, groups=[[1], [2, 3]] * 600)


@pytest.mark.parametrize("gap", [np.nan, None, pd.NA, pd.NaT])
def test_gaps_in_groups_are_refused(gap):
    X, y = data()
    groups = (np.arange(1200) // 7).astype(object)
    groups[3] = gap
    with pytest.raises(ValueError, match=r"groups has a missing value \(row 3\).*Remedy"):
        trees().fit(X, y, groups=groups)


def test_the_number_of_rows_that_count_decides_on_folds(calls):
    X, y = data(1200)
    heavy = np.where(np.arange(1200) < 300, 1.0, 1e-6)  # 300 rows' worth
    for weight, n_folds in ((None, 1), (np.full(1200, 7.0), 1), (heavy, 4)):
        calls.clear()
        model = trees(n_neurons=20).fit(X, y, weight)
        assert model.early_stopping_
        n_looks = len(model.validation_scores_)
        n = len(model.neuron_coef_)
        assert len(calls) == n_folds * n_looks + n
        assert ("replay" in calls) == (n_folds == 1)
    few = np.where(np.arange(1200) < 30, 1.0, 1e-9)
    assert not trees().fit(X, y, few).early_stopping_


def test_the_trees_of_folds_are_not_those_of_the_fit(calls):
    """Each fold takes as many steps as the others, and the fit then chooses its own trees."""
    X, y = data(300)
    model = trees().fit(X, y)
    n = len(model.neuron_coef_)
    assert set(calls) == {"trial"}
    alone = trees(n_neurons=n, early_stopping=False).fit(X, y)
    assert alone.descent_.steps != model.descent_.steps  # which depends on n_neurons
    exact = clone(model).set_params(n_neurons=60, early_stopping=False).fit(X, y)
    np.testing.assert_array_equal(exact.neuron_coef_[:n], model.neuron_coef_)


def test_the_score_of_folds_is_that_of_each_row_without_it():
    X, y = data(200)
    model = trees(n_neurons=8, n_iter_no_change=50).fit(X, y)
    descent = Descent(model.stream_, model.descent_.constant, model.targets_)
    options = options_of(model)
    options = options._replace(stopping=options.stopping._replace(n_folds=4))
    found = by_folds(descent, FitRows(X, y[:, None]), options)
    assert found.scores == model.validation_scores_
    assert isinstance(found, Found)
    assert found.weights is None
    assert found.scored == list(range(1, 9))


@pytest.mark.filterwarnings("ignore:.*warm_start=True with early_stopping")
@pytest.mark.parametrize("n_rows", [300, 1200])
def test_a_warm_start_adds_trees(n_rows):
    X, y = data(n_rows, noise=0.05)
    model = trees(n_neurons=40, warm_start=True, n_iter_no_change=50).fit(X, y)
    n, before = len(model.neuron_coef_), model.neuron_coef_
    first = tuple(array.copy() for array in weights_of(model))
    n_scores = len(model.validation_scores_)
    for more in (1, 40):  # fewer steps than between two looks, too
        model.set_params(n_neurons=n + more).fit(X, y)
        assert n < len(model.neuron_coef_) <= n + more
        np.testing.assert_array_equal(model.neuron_coef_[:n], before[:n])
        for ours, theirs in zip(weights_of(model), first, strict=True):
            np.testing.assert_array_equal(ours[: len(theirs)], theirs)
        assert len(model.validation_scores_) > n_scores
        n_scores = len(model.validation_scores_)
        model.check_state()
        n = len(model.neuron_coef_)
        before, first = model.neuron_coef_, tuple(array.copy() for array in weights_of(model))
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("n_neurons", [1, 2, 7, 250])
def test_the_last_trees_are_looked_at(n_neurons):
    """Though the fit may end between two looks."""
    X, y = data(noise=0.01)
    model = trees(n_neurons=n_neurons, n_iter_no_change=500).fit(X, y, X_val=X, y_val=y)
    assert model.descent_.scored[-1] == n_neurons
    assert len(model.neuron_coef_) == n_neurons  # which is best, since the rows are the same


def test_callbacks_score_the_rows_apart():
    callback = pytest.importorskip("sklearn.callback")
    X, y = data(1800)
    X_val, y_val = data(100, seed=1)
    weight = np.where(np.arange(1800) % 3 == 0, 0.0, 1.0)
    for named in (
        {"X_val": X_val, "y_val": y_val},
        {"sample_weight": weight, "groups": np.arange(1800) // 10},
        {"sample_weight": weight},
    ):
        monitor = callback.ScoringMonitor(scoring="r2")
        plain = trees().fit(X, y, **named)
        model = trees().set_callbacks(monitor).fit(X, y, **named)
        np.testing.assert_array_equal(model.predict(X), plain.predict(X))
        log = monitor.get_logs().data
        steps = [each["r2"] for each in log if each["task_name"] == "neuron"]
        scores = np.array(model.validation_scores_)
        found = np.array(steps)[:-1]
        # The score of the model relative to a constant, at the same rows.
        assert np.corrcoef(found, scores[: len(found)])[0, 1] > 0.999


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
    model = trees().fit(frame, y, X_val=apart, y_val=y_val)
    assert model.validation_scores_
    with pytest.raises(ValueError, match=r"X_val"):
        trees().fit(frame, y, X_val=apart[["a", "b"]], y_val=y_val)


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
    given = {"X_val": X, "y_val": y, "sample_weight_val": np.ones(1200)}
    with pytest.raises(ValueError, match=what):
        trees().fit(X, y, **{name: given[name] for name in named})


def test_rows_apart_that_are_not_wanted_are_refused():
    X, y = data()
    for neurons in ("trees", "gaussian"):
        model = DoublyStochasticRegressor(neurons, early_stopping=False)
        with pytest.raises(ValueError, match=r"X_val does not go with early_stop.*Remedy"):
            model.fit(X, y, X_val=X, y_val=y)


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
        trees().fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight)
    assert str(error.value).count("Remedy") == 1


def test_new_labels_in_rows_apart_are_refused():
    X, y = data()
    labels = np.digitize(y, [0.5, 2])
    model = trees(DoublyStochasticClassifier)
    with pytest.raises(ValueError, match=r"X_val.*y holds the label\(s\) \[7\].*Remedy: .*leave"):
        model.fit(X, labels, X_val=X[:50], y_val=np.full(50, 7))
    one = model.fit(X, labels, X_val=X[:50], y_val=np.full(50, 1))  # fewer labels are fine
    assert one.validation_scores_
    with pytest.raises(ValueError, match=r"class_weight=.* every row of X_val.*Remedy"):
        model.set_params(class_weight={1: 0.0}).fit(X, labels, X_val=X[:9], y_val=np.full(9, 1))


def test_a_warm_start_warns_of_held_out_rows_that_it_has_learned_from():
    X, y = data()
    model = trees(n_neurons=20, warm_start=True).fit(X, y)
    model.set_params(n_neurons=40)
    with pytest.warns(UserWarning, match=r"warm_start=True with early_stopping.*Remedy: X_val="):
        clone(model).set_params(n_neurons=20).fit(X, y).set_params(n_neurons=40).fit(X, y)
    X_val, y_val = data(seed=1)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    model.set_params(n_neurons=60, early_stopping=False).fit(X, y)
    assert len(model.neuron_coef_) == 60

"""Models that are compiled for one row answer as the model does for this row."""

import pickle
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_regressor

from cases import FAMILIES, KERNEL_LEARNERS, LEARNERS, inputs, name_of, problem, suited
from trickless import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    ShrinkingGradientClassifier,
)
from trickless.functions.stream import BLOCK
from trickless.neurons import Gaussian, Tabular, Trees

every_family = pytest.mark.parametrize("name", FAMILIES)


def of_each(answer, X):
    """Answers of a method of many rows, for each row alone."""
    return np.array([answer(X[i : i + 1])[0] for i in range(len(X))])


def check_same(model, X, **options):
    """Check that answers are equal to the last bit, also after pickling."""
    method = options.get("method", "predict")
    fast, expected = model.compiled(**options), of_each(getattr(model, method), X)
    for one_row in (fast, pickle.loads(pickle.dumps(fast))):
        np.testing.assert_array_equal([one_row(x) for x in X], expected)


@every_family
def test_families_have_the_bits_of_predict(name):
    X, y = problem(KitchenSinksRegressor(), rows=40)
    X, n_neurons = suited(name, X), BLOCK + 9 if name in ("gaussian", "dense-erf", "trees") else 12
    for dtype in ("float32", "float64"):
        model = KitchenSinksRegressor(clone(FAMILIES[name]), n_neurons, alpha=0.01, dtype=dtype)
        model.set_params(random_state=0).fit(X, np.stack([y, -y], axis=1) if dtype[5] == "6" else y)
        check_same(model, X[:4])
        # After some rows that come alone, the network is prepared for the next.
        np.testing.assert_array_equal(of_each(model.predict, X[:10]), model.predict(X[:10]))


@pytest.mark.parametrize("learner", LEARNERS + KERNEL_LEARNERS, ids=name_of)
def test_learners_answer_alike(learner):
    X, y = problem(learner, rows=60)
    model = clone(learner).set_params(random_state=0).fit(X, y)
    if is_regressor(model):
        check_same(model, X[:5])
        return
    for method in ("predict", "decision_function", "predict_proba"):
        if hasattr(model, method):
            check_same(model, X[:5], method=method)


@pytest.mark.parametrize(
    ("trees", "dtype"),
    [
        (Trees(depth=9, leaves="constant"), "float32"),
        (Trees(depth=4, leaves="linear"), "float64"),
        (Trees(shape="binary", max_leaves=9), "float64"),
        (Trees(shape="binary", max_leaves=30), "float32"),
    ],
    ids=["constant", "linear", "binary", "binary-numpy"],
)
def test_learned_trees_with_categories_and_gaps(trees, dtype, request, monkeypatch):
    if "numpy" in request.node.name:
        monkeypatch.setenv("TRICKLESS_NUMBA", "0")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (200, 4)) + np.where(rng.random((200, 1)) < 0.5, 0, 0.25)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["town"] = rng.choice(list("xyz"), 200)
    y = (frame["town"] == "x") + 9 * np.sign(X[:, 1] - X[:, 2])
    for name in ("a", "town"):
        frame.loc[rng.random(200) < 0.2, name] = None
    options = {"n_neurons": 9, "n_candidates": 4, "dtype": dtype, "early_stopping": False}
    model = DoublyStochasticRegressor(trees, random_state=0, **options).fit(frame, y)
    fast, expected = model.compiled(), of_each(model.predict, frame[:12])
    found = [fast(row) for row in frame[:12].to_dict("records")]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(found, model.predict(frame[:12]))
    new = frame[:1].assign(town="new", b=1e9)
    assert fast(new.to_dict("records")[0]) == model.predict(new)[0]
    gap = fast({**frame.to_dict("records")[1], "b": None})  # where training rows had none
    assert gap == model.predict(frame[1:2].assign(b=np.nan))[0]


def test_labels_probabilities_and_sets():
    X, y = problem(KitchenSinksClassifier(), rows=80)
    for learner in (
        KitchenSinksClassifier(n_neurons=20, random_state=0),
        DoublyStochasticClassifier(loss="hinge", n_neurons=20, random_state=0),
        ShrinkingGradientClassifier(n_neurons=20, n_samples=20, random_state=0),
    ):
        for labels in (y, y > 0, np.array(["no", "maybe", "yes"])[y]):
            model = clone(learner).fit(X, labels)
            check_same(model, X[:3])
            if name_of(model).startswith("Doubly"):
                with pytest.raises(AttributeError, match="predict_proba"):
                    model.compiled("predict_proba")
            else:
                check_same(model, X[:3], method="predict_proba")
    sets = KitchenSinksClassifier(n_neurons=20, random_state=0).fit(X, np.stack([y > 0, y > 1]).T)
    for method in ("predict", "predict_proba", "decision_function"):
        check_same(sets, X[:3], method=method)
    growing = KitchenSinksClassifier(Gaussian(1.0), n_neurons=20, random_state=0)
    growing.partial_fit(X[:1], ["a"], classes="grow")
    check_same(growing, X[:2], method="predict_proba")


@pytest.mark.parametrize("options", [{"half_life": "auto"}, {"half_life": 20}])
def test_other_functions(options):
    X, y = problem(KitchenSinksRegressor(), rows=60)
    model = KitchenSinksRegressor(n_neurons=20, random_state=0, **options).fit(X, np.abs(y))
    if options == {"half_life": 20}:
        model.predict(X)
        model.partial_fit(X[:1], np.abs(y[:1]))  # the solution follows
    check_same(model, X[:5])


def test_the_present_state_is_kept():
    X, y = problem(KitchenSinksRegressor(), rows=60)
    for learner in (
        KitchenSinksRegressor(n_neurons=20, random_state=0),
        DoublyStochasticRegressor(n_neurons=20, half_life=10, random_state=0),
    ):
        model = learner.partial_fit(X, y)
        fast = model.compiled()
        before = fast(X[0])
        model.partial_fit(X, -y)
        assert fast(X[0]) == before != model.predict(X[:1])[0]


def test_rows_that_come_alone_are_predicted_by_the_present_state():
    X, y = problem(KitchenSinksRegressor(), rows=60)
    for learner in (
        KitchenSinksRegressor(n_neurons=20, random_state=0),
        DoublyStochasticRegressor("trees", n_neurons=9, random_state=0),
    ):
        model = learner.partial_fit(X, y)
        for sign in (1, -1):
            np.testing.assert_array_equal(of_each(model.predict, X[:20]), model.predict(X[:20]))
            copy = pickle.loads(pickle.dumps(model))
            assert copy.predict(X[:1]) == model.predict(X[:1])
            model.partial_fit(X, sign * y)
        before = of_each(model.predict, X[:20])
        with pytest.raises(ValueError, match="infinity"):
            model.predict(np.full((1, 4), np.inf))
        network = model.network_
        for own in (network.coef, network.intercept, model.neuron_coef_, model.intercept_):
            own += 1  # of a copy
        np.testing.assert_array_equal(model.predict(X[:20]), before)


@pytest.mark.parametrize(("base", "options"), [(Gaussian, [1.0]), (Trees, []), (Tabular, [])])
@pytest.mark.parametrize("method", ["activate", "combine"])
def test_subclasses_may_compute_otherwise(base, options, method):
    def doubled(self, *args):
        return 2 * getattr(base, method)(self, *args)

    X, y = problem(KitchenSinksRegressor(), rows=30)
    family = type("Doubled", (base,), {method: doubled})
    model = KitchenSinksRegressor(family(*options), n_neurons=9, random_state=0).fit(X, y)
    fast, expected = model.compiled(), model.predict(X)
    np.testing.assert_array_equal([fast(x) for x in X], expected)
    np.testing.assert_array_equal(of_each(model.predict, X), expected)


@pytest.mark.parametrize("trees", [Trees(), Trees(shape="binary")], ids=["oblivious", "binary"])
def test_a_model_of_noise_has_no_neurons(trees):
    X, y = np.random.default_rng(0).standard_normal((2, 200, 3))
    model = DoublyStochasticRegressor(trees, 30, early_stopping=True, random_state=0)
    assert len(model.fit(X, y[:, 0]).neuron_coef_) == 0
    check_same(model, X[:10])


def test_threads_get_the_answers_of_one():
    X, y = problem(KitchenSinksRegressor(), rows=50)
    for learner in (
        KitchenSinksRegressor(n_neurons=300, random_state=0),
        DoublyStochasticRegressor("trees", n_neurons=9, early_stopping=False, random_state=0),
    ):
        fast, found = learner.fit(X, y).compiled(), [None] * 4
        expected = [fast(x) for x in X]

        def ask(i, fast=fast, found=found):
            found[i] = [[fast(x) for x in X] for _ in range(3)]

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert found == [[expected] * 3] * 4


def test_forms_of_a_row():
    X, y = problem(KitchenSinksRegressor(), rows=30)
    X = np.round(4 * X)
    fast = KitchenSinksRegressor(n_neurons=20, random_state=0).fit(X, y).compiled()
    expected = fast(X[0])
    for row in (X[0].tolist(), tuple(X[0]), X[0].astype(int), X[0].astype(np.float16), X[::2][0]):
        assert fast(row) == expected
    assert fast(pd.Series(X[0])) == fast(np.ma.masked_greater(X[0], 1e9)) == expected
    assert fast(np.asfortranarray(X)[0]) == expected


def test_names_of_columns():
    X, y = problem(KitchenSinksRegressor(), rows=30)
    model = KitchenSinksRegressor(n_neurons=20, random_state=0)
    fast = model.fit(pd.DataFrame(X, columns=list("abcd")), y).compiled()
    row = dict(zip("dbca", X[0][[3, 1, 2, 0]].tolist(), strict=True))
    assert fast(row) == fast(X[0]) == model.predict(pd.DataFrame([row])[list("abcd")])[0]
    # By name in any order, also where values need a closer look.
    assert fast(pd.Series(row)) == fast(row | {"b": np.array(row["b"])}) == fast(row)
    with pytest.raises(ValueError, match="now missing:\n- b"):
        fast({name: row[name] for name in "acd"})
    with pytest.raises(ValueError, match="unseen at fit time:\n- e"):
        fast(row | {"e": 1.0})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (inputs(1, 4), r"one row of 4 numbers is needed, but there is an array of shape \(1, 4\)"),
        (inputs(3, 4)[:, 0], "X has 3 features"),
        (None, "there is None"),
        (3.0, "there is 3.0"),
        ("text", "there is 'text'"),
        ([[1.0], [2.0, 3.0]], "one row of 4 numbers"),
        ([1.0, 2.0, np.nan, 4.0], "column 2 of X contains NaN"),
        ([1.0, 2.0, None, 4.0], "column 2 of X"),
        ([1.0, np.inf, 3.0, 4.0], "infinity"),
        ([1.0, 1e300, 3.0, 4.0], "too large for dtype='float32'"),
        ([1.0, "a", 3.0, 4.0], "'a'"),
        ([1.0, 1j, 3.0, 4.0], "(?i)complex"),
        ({"a": 1.0}, "columns without names"),
        (np.ma.masked_greater(np.arange(4.0), 2), "column 3 of X"),
    ],
)
def test_bad_rows_are_refused(row, message):
    X, y = problem(KitchenSinksRegressor(), rows=30)
    fast = KitchenSinksRegressor(Gaussian(1.0), 5, alpha=1.0).fit(X, y).compiled()
    with warnings.catch_warnings(), pytest.raises((ValueError, TypeError), match=message) as error:
        warnings.simplefilter("error")
        fast(row)
    assert "Remedy: " in str(error.value)


def test_other_methods_and_models_without_a_fit_are_refused():
    with pytest.raises(ValueError, match="not fitted"):
        KitchenSinksRegressor().compiled()
    X, y = problem(KitchenSinksClassifier(), rows=30)
    model = KitchenSinksClassifier(n_neurons=5).fit(X, y)
    with pytest.raises(ValueError, match="method='predict_log_proba', but it must be 'predict'"):
        model.compiled("predict_log_proba")

"""Learning from Dask collections is learning from their rows."""

import pickle
import subprocess
import sys

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone

import trickless
from trickless import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KernelGradientRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    ShrinkingGradientRegressor,
)
from trickless.dask import fit, predict
from trickless.dask.kitchen_sinks import merged, with_rows
from trickless.dask.pieces import SAMPLE, by_thread
from trickless.neurons import Gaussian, Mixture, Trees
from trickless.solvers.descent import corrective

pytestmark = pytest.mark.usefixtures("client")

N = 900


def data(labels=False, n=N):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + rng.standard_normal(n) / 9
    if labels:
        y = np.array(["low", "middle", "high"])[(y > 0).astype(int) + (y > 1)]
    return X, y, rng.integers(0, 3, n).astype(float)


def cut(array, rows=200):
    return da.from_array(array, chunks=(rows, *array.shape[1:]))


def values(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def sinks(learner=KitchenSinksRegressor, neurons=None, **options):
    return learner(neurons or Gaussian(2.0), 80, random_state=0, **options)


def descent(learner=DoublyStochasticRegressor, neurons=None, **options):
    options = {"batch_size": 150, "neurons_per_step": 32, "random_state": 0} | options
    return learner(neurons or Gaussian(2.0), 640, **options)


def trees(learner=DoublyStochasticRegressor, **options):
    options = {"n_neurons": 16, "random_state": 0} | options
    return learner("trees", **options)


MODELS = {
    "Kitchen Sinks": sinks(),
    "Kitchen Sinks, given alpha": sinks(alpha=1e-4, dtype="float64"),
    "Kitchen Sinks, stumps": sinks(neurons="stumps"),
    "Kitchen Sinks, length scale of the data": sinks(neurons="gaussian"),
    "Kitchen Sinks, classes": sinks(KitchenSinksClassifier),
    "Kitchen Sinks, balanced": sinks(KitchenSinksClassifier, class_weight="balanced"),
    "Doubly Stochastic": descent(),
    "Doubly Stochastic, decay": descent(alpha=0.05, dtype="float64"),
    "Doubly Stochastic, stumps": descent(neurons="stumps"),
    "Doubly Stochastic, blocks": descent(preconditioner="block", dtype="float64"),
    "Doubly Stochastic, classes": descent(DoublyStochasticClassifier),
    "Doubly Stochastic, balanced": descent(
        DoublyStochasticClassifier, class_weight="balanced", loss="hinge"
    ),
    "Doubly Stochastic, stopped early": descent(
        early_stopping=True, n_iter_no_change=1, tol=0.5, neurons_per_step=8
    ),
    "Doubly Stochastic, the best of three": descent(n_candidates=3, preconditioner=None),
    "Doubly Stochastic, the best of three stumps for classes": descent(
        DoublyStochasticClassifier,
        "stumps",
        n_candidates=3,
        preconditioner="block",
        dtype="float64",
    ),
    "trees, plain steps": trees(preconditioner=None, n_candidates=1, batch_size=150),
    "trees, blocks": trees(preconditioner="block", batch_size=500, dtype="float64"),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_a_cluster_fit_answers_as_a_local_fit(name, weighted):
    model = clone(MODELS[name])
    X, y, weight = data(labels=hasattr(model, "class_weight"))
    weight = weight if weighted else None
    local = clone(model).fit(X, y, weight)
    assert fit(model, cut(X), cut(y), weight if weight is None else cut(weight)) is model
    # Sums of some numbers in single precision, one of which may be rounded otherwise.
    np.testing.assert_allclose(values(model, X), values(local, X), rtol=0, atol=5e-6)
    if hasattr(local, "loss_curve_"):
        np.testing.assert_allclose(model.online_error_, local.online_error_, atol=1e-6)
        np.testing.assert_allclose(
            model.validation_scores_, local.validation_scores_, rtol=0, atol=1e-6
        )


def linear(learner=DoublyStochasticRegressor, **options):
    return trees(learner, **options).set_params(neurons=Trees(leaves="linear"))


TREES = {
    "one batch": trees(),
    "several batches, several trees a step": trees(batch_size=150, neurons_per_step=2),
    "a step for each of few rows": trees(batch_size=100, early_stopping=False, dtype="float64"),
    "decay": trees(alpha=0.05, batch_size=500),
    "as they are drawn": trees(n_candidates=1, batch_size=500),
    "without a learned prior": trees(learned_prior=False, loss="huber"),
    "two classes": trees(DoublyStochasticClassifier),
    "three classes": trees(DoublyStochasticClassifier, class_weight="balanced"),
    "hinge": trees(DoublyStochasticClassifier, loss="hinge", class_weight={"low": 2}),
    "binary": trees().set_params(neurons=Trees(shape="binary", max_leaves=20)),
    "linear": linear(n_neurons=30),
    "linear, several batches": linear(batch_size=150, neurons_per_step=2),
    "linear, three classes": linear(DoublyStochasticClassifier),
    "constant": trees().set_params(neurons=Trees(leaves="constant")),
    "either shape": trees().set_params(neurons=Trees(shape="both", max_leaves=20, crosses="auto")),
    "stopped early": trees(DoublyStochasticClassifier, n_neurons=60, n_iter_no_change=1),
    "stopped early, many rows": trees(
        n_neurons=60, n_iter_no_change=1, step_size=0.5, batch_size=900, random_state=1
    ),
    "stopped early, a rare class": trees(
        DoublyStochasticClassifier, n_neurons=40, n_iter_no_change=1, class_weight={"low": 0.02}
    ),
}


def tree_data(model, name, n=N):
    """Rows with missing values, targets and weights of which some are 0."""
    X, y, weight = data(labels=hasattr(model, "class_weight"), n=n)
    if name == "two classes":
        y = np.where(y == "high", "middle", y)
    X[::7, 2] = np.nan
    return X, y, weight * np.linspace(0.1, 1, n)


def assert_same_trees(model, local):
    """Assert that models are the same, bit for bit; the losses of the history up to rounding."""
    n = len(local.neuron_coef_)
    for ours, theirs in (
        (model.neurons_.bins_.thresholds, local.neurons_.bins_.thresholds),
        (drawn(model, n), drawn(local, n)),
        ([model.descent_.wins], [local.descent_.wins]),
        ([model.intercept_, model.neuron_coef_], [local.intercept_, local.neuron_coef_]),
    ):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)
    assert model.validation_scores_ == local.validation_scores_
    assert model.descent_.scored == local.descent_.scored
    np.testing.assert_allclose(model.online_error_, local.online_error_, rtol=1e-12)
    np.testing.assert_allclose(model.loss_curve_, local.loss_curve_, rtol=1e-12)


def drawn(model, n):
    """The weights of the first n neurons of a model."""
    return [
        np.concatenate(arrays)
        for arrays in zip(*(w for _, w in model.descent_.source.pieces(0, n)), strict=True)
    ]


@pytest.mark.parametrize("name", TREES)
def test_trees_are_those_of_a_local_fit_bit_for_bit(name):
    model = clone(TREES[name])
    X, y, weight = tree_data(model, name, 3 * N if "many" in name else N)
    local = clone(model).fit(X, y, weight)
    assert_same_trees(fit(model, cut(X), cut(y), cut(weight)), local)
    if name.startswith("stopped early"):
        assert len(model.neuron_coef_) == model.n_iter_ < model.descent_.scored[-1]
        assert model.descent_.scored[-1] < model.n_neurons


SOLVED = {
    "constant leaves": trees(),
    "linear leaves": linear(),
    "many batches": trees(batch_size=150),
    "binary": trees(step_size=0.1).set_params(neurons=Trees(shape="binary", max_leaves=20)),
    "classes": trees(DoublyStochasticClassifier, step_size=0.02),
}


def assert_same_unseen(model, local):
    """Assert that rows that were held out are the same, in any order."""
    ours, theirs = (
        np.column_stack([*each.decisions.T, *each.targets.T, *each.counted])
        for each in (model.descent_.unseen, local.descent_.unseen)
    )
    ours, theirs = (rows[np.lexsort(np.round(rows, 5).T)] for rows in (ours, theirs))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=5e-6)


@pytest.mark.parametrize("n", [N, 1800])  # in folds, and held out once
@pytest.mark.parametrize("name", SOLVED)
def test_the_corrective_solve_is_that_of_a_local_fit(name, n, monkeypatch):
    model = clone(SOLVED[name]).set_params(n_neurons=12)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 2))
    y = X[:, 0] + np.sin(2 * X[:, 1])
    y = y > 0 if hasattr(model, "class_weight") else y
    weight = rng.integers(0, 3, n) * np.linspace(0.5, 1, n)
    solved = []

    def correct(network, system, correction):
        before = network.coef.rows.copy()
        corrective.correct(network, system, correction)
        solved.append(not np.array_equal(before, network.coef.rows))

    monkeypatch.setattr("trickless.dask.doubly_stochastic.correct", correct)
    local = clone(model).fit(X, y, weight)
    assert_same_trees(fit(model, cut(X), cut(y), cut(weight)), local)
    assert solved == [True]
    assert_same_unseen(model, local)


@pytest.mark.parametrize("other_client", [1, 3], indirect=True)
@pytest.mark.parametrize("name", ["one batch", "three classes", "linear, several batches"])
def test_trees_do_not_depend_on_the_number_of_workers(name, other_client):
    model = clone(TREES[name])
    X, y, _ = tree_data(model, name)
    local = clone(model).fit(X, y)
    assert_same_trees(fit(model, cut(X), cut(y)), local)


@pytest.mark.parametrize("at", [[5], [5, 395], [0, 1, 201, 399]])
def test_trees_do_not_depend_on_where_heavy_rows_lie(at):
    model = trees()
    X, y, weight = tree_data(model, "one batch")
    weight[at] = 1e6 * np.arange(1, len(at) + 1) ** 3
    local = clone(model).fit(X, y, weight)
    for rows in (8, 150, N):
        ours = fit(clone(model), cut(X, rows), cut(y, rows), cut(weight, rows))
        assert_same_trees(ours, local)


def test_trees_of_many_rows_take_the_thresholds_and_the_depth_of_a_local_fit():
    n = 80_000
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    y = X[:, 0] * X[:, 1]
    for weight in (None, rng.integers(0, 9, n).astype(float)):
        model = trees(n_neurons=4, batch_size=40_000)
        local = clone(model).fit(X, y, weight)
        fit(model, cut(X, 4000), cut(y, 4000), weight if weight is None else cut(weight, 4000))
        assert model.neurons_.depth_ > 10  # that of a sample is 10
        assert_same_trees(model, local)


@pytest.mark.filterwarnings("ignore:.*warm_start=True with early_stopping")
def test_trees_of_outputs_continue_from_a_warm_start():
    X, y, weight = data()
    y = np.column_stack([y, X[:, 0] ** 2])
    model, local = trees(warm_start=True), trees(warm_start=True)
    for n_neurons, n_candidates in ((10, 1), (20, 8), (30, 1)):
        options = {"n_neurons": n_neurons, "n_candidates": n_candidates, "early_stopping": False}
        fit(model.set_params(**options), cut(X), cut(y), cut(weight))
        local.set_params(**options).fit(X, y, weight)
    assert len(model.neuron_coef_) == 30
    assert_same_trees(model, local)


def test_neurons_are_chosen_by_the_sample_of_a_local_fit():
    n = 12_000
    X, y, weight = data(n=n)
    model = descent(n_candidates=3, batch_size=6000, neurons_per_step=80, preconditioner=None)
    local = clone(model).fit(X, y, weight)
    fit(model, cut(X, 2000), cut(y, 2000), cut(weight, 2000))
    for ours, theirs in zip(drawn(model, 640), drawn(local, 640), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(model.predict(X), local.predict(X), rtol=0, atol=5e-6)


def test_cluster_fits_may_stop_early():
    X, y, _ = data()
    options = {"warm_start": True, "random_state": 0}
    model = fit(
        clone(MODELS["Doubly Stochastic, stopped early"]).set_params(**options), cut(X), cut(y)
    )
    assert len(model.neuron_coef_) < 640
    local = clone(model).fit(X, y)
    assert_same_unseen(model, local)
    low, high = model.predict_interval(X).T
    assert (low < high).all()
    fit(model.set_params(early_stopping=False), cut(X), cut(y))
    with pytest.raises(ValueError, match=r"has kept no rows that it has not learned from"):
        model.predict_interval(X)


def test_held_out_rows_of_a_loss_without_a_solve_are_kept():
    X, y, weight = data(n=1800)
    model = trees(loss="absolute_error")
    local = clone(model).fit(X, y, weight)
    assert_same_unseen(fit(model, cut(X), cut(y), cut(weight)), local)


@pytest.mark.parametrize("model", [sinks(), descent()], ids=["sinks", "descent"])
def test_several_outputs_sparse_rows_and_chunks_of_columns_are_learned(model):
    X, y, _ = data()
    y = np.column_stack([y, X[:, 0]])
    local = clone(model).fit(X, y)
    model = fit(clone(model), da.from_array(X, chunks=(100, 3)), da.from_array(y, (100, 1)))
    np.testing.assert_allclose(model.predict(X), local.predict(X), rtol=0, atol=1e-6)
    rows = cut(X).map_blocks(scipy.sparse.csr_matrix, dtype=X.dtype)
    model = fit(clone(model), rows, cut(y))
    local = clone(model).fit(scipy.sparse.csr_matrix(X), y)
    np.testing.assert_allclose(model.predict(X), local.predict(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("model", [sinks(), descent()], ids=["sinks", "descent"])
def test_sparse_rows_that_are_not_canonical(model):
    X, y, _ = data()

    def reversed_columns(rows):
        n, d = rows.shape
        columns, ends = np.tile(np.arange(d)[::-1], n), np.arange(0, n * d + 1, d)
        return scipy.sparse.csr_matrix((rows[:, ::-1].ravel(), columns, ends), shape=(n, d))

    plain, other = (
        cut(X).map_blocks(form, dtype=X.dtype)
        for form in (scipy.sparse.csr_matrix, reversed_columns)
    )
    expected = fit(clone(model), plain, cut(y)).predict(X)
    np.testing.assert_allclose(fit(clone(model), other, cut(y)).predict(X), expected, atol=1e-6)


def frame():
    X, y, _ = data()
    table = pd.DataFrame(X, columns=list("abcd"))
    table["kind"] = pd.Categorical(np.where(X[:, 0] > 0.3, "left", "right"))
    table.loc[::7, "b"] = np.nan
    return table, pd.Series(y, name="y")


@pytest.mark.filterwarnings("ignore:Trees. no column of X varies")  # as all are rare
@pytest.mark.parametrize("text", [0, 3])
@pytest.mark.parametrize(
    "model",
    [sinks(neurons="tabular"), descent(neurons="tabular"), trees()],
    ids=["sinks", "descent", "trees"],
)
def test_one_partition_of_text_among_numbers_makes_categories_and_says_so(model, text):
    X, y = frame()
    X = X[["a"]]
    plain = dd.from_pandas(X.assign(y=y), npartitions=5)
    parts = [plain.partitions[i] for i in range(5)]
    parts[text] = parts[text].astype({"a": object}).astype({"a": str})
    mixed = dd.concat(parts)
    with pytest.warns(UserWarning, match=r"column 'a' of X occur once.*pandas\.to_numeric"):
        fit(model, mixed[["a"]], mixed["y"])


@pytest.mark.parametrize(
    "model",
    [sinks(neurons="tabular"), descent(neurons="tabular"), trees()],
    ids=["sinks", "descent", "trees"],
)
def test_data_frames_with_categories_missing_values_and_an_empty_partition(model):
    X, y = frame()
    both = dd.from_pandas(X.assign(y=y), npartitions=5)
    both = dd.concat([both.partitions[:2], both.partitions[2].query("a > 99"), both.partitions[2:]])
    names = list(X.columns)
    local = clone(model).fit(X, y)
    fit(model, both[names], both["y"])
    np.testing.assert_allclose(model.predict(X), local.predict(X), rtol=0, atol=1e-6)
    assert model.feature_names_in_.tolist() == names
    answers = predict(model, both[names])
    assert isinstance(answers, dd.Series)
    answers = answers.compute()
    expected = pd.Series(model.predict(X), X.index)
    pd.testing.assert_series_equal(answers, expected, rtol=0, atol=1e-6)


def test_predictions_are_lazy_and_those_of_the_model():
    X, y, _ = data(labels=True)
    model = sinks(KitchenSinksClassifier, dtype="float64").fit(X, y)
    for method in ("predict", "predict_proba", "decision_function"):
        lazy = predict(model, cut(X), method)
        assert isinstance(lazy, da.Array)
        expected = getattr(model, method)(X)
        assert lazy.shape == expected.shape
        assert lazy.dtype == expected.dtype
        if method == "predict":
            np.testing.assert_array_equal(lazy.compute(), expected)
        else:  # products are rounded by their numbers of rows
            np.testing.assert_allclose(lazy.compute(), expected, rtol=0, atol=1e-9)
    one = ShrinkingGradientRegressor(Gaussian(2.0), 50, random_state=0).fit(X[:50], X[:50, 1])
    np.testing.assert_allclose(predict(one, cut(X)).compute(), one.predict(X), rtol=0, atol=1e-5)
    with pytest.raises(TypeError, match="must be a Dask array or data frame"):
        predict(model, X)
    with pytest.raises(ValueError, match=r"method='predict_log_proba', but a .*Remedy: use one of"):
        predict(model, cut(X), "predict_log_proba")


def test_kitchen_sinks_learn_on_schedulers_of_one_process(monkeypatch):
    X, y, _ = data()
    local = sinks().fit(X, y)
    monkeypatch.setattr("trickless.dask.pieces.default_client", no_client)
    with dask.config.set(scheduler="threads"):
        model = fit(sinks(), cut(X), cut(y))
    np.testing.assert_allclose(model.predict(X), local.predict(X), rtol=0, atol=1e-6)
    with pytest.raises(ValueError, match=r"Remedy: client = distributed\.Client\(\)"):
        fit(descent(), cut(X), cut(y))


def no_client():
    raise ValueError("No clients found")


@pytest.mark.parametrize("model", [sinks(), descent()], ids=["sinks", "descent"])
def test_a_model_of_a_cluster_is_an_ordinary_model(model, tmp_path):
    X, y, _ = data()
    model.set_params(random_state=np.random.RandomState(0))
    given = model.get_params()
    fit(model, cut(X), cut(y))
    assert model.get_params() == given
    assert set(vars(model)) == set(vars(clone(model).fit(X, y)))
    assert b"dask" not in pickle.dumps(model)
    trickless.save(model, tmp_path / "model.trickless")
    loaded = trickless.load(tmp_path / "model.trickless")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    model.partial_fit(X, y)


def test_kitchen_sinks_from_two_fits_merge():
    X, y, _ = data()
    half = N // 2
    first, second = (fit(sinks(), cut(X[s]), cut(y[s])) for s in (slice(half), slice(half, None)))
    together = first.merge(second).predict(X)
    np.testing.assert_allclose(together, sinks().fit(X, y).predict(X), rtol=0, atol=1e-6)


def test_kitchen_sinks_may_have_a_bound_and_no_intercept():
    X, y, _ = data()
    for options in ({"fit_intercept": False}, {"weight_bound": 2.0, "alpha": 0.0}):
        options |= {"dtype": "float64", "fit_intercept": False}
        model = fit(sinks(**options), cut(X), cut(y + 5))
        local = sinks(**options).fit(X, y + 5)
        assert model.intercept_ == 0
        np.testing.assert_allclose(model.predict(X), local.predict(X), rtol=0, atol=1e-6)


def test_a_warm_start_on_a_cluster_continues_the_model():
    X, y, weight = data()
    model, local = descent(warm_start=True, alpha=0.01), descent(warm_start=True, alpha=0.01)
    for n_neurons in (300, 700):
        fit(model.set_params(n_neurons=n_neurons), cut(X), cut(y), cut(weight))
        local.set_params(n_neurons=n_neurons).fit(X, y, weight)
    assert len(model.neuron_coef_) == 700
    np.testing.assert_allclose(model.predict(X), local.predict(X), rtol=0, atol=1e-6)


def test_neurons_are_fitted_to_a_sample_of_many_rows():
    n = 2 * SAMPLE
    X = np.random.default_rng(0).standard_normal((n, 3)) * np.linspace(0.1, 2, n)[:, None]
    median = sinks(neurons=Gaussian("median"), alpha=1e-3)
    model = fit(clone(median), cut(X, 1000), cut(X[:, 0], 1000))
    local = clone(median).fit(X, X[:, 0])
    first = clone(median).fit(X[:1000], X[:1000, 0])
    scale = local.neurons_.length_scale_
    assert first.neurons_.length_scale_ < scale / 5
    assert model.neurons_.length_scale_ == pytest.approx(scale, rel=0.2)
    assert model.statistics_.weight == n


def test_the_sample_is_of_rows_that_have_a_weight():
    X, y, weight = data(n=3 * SAMPLE)
    weight[:] = 0
    weight[20_000:20_100] = 1  # of one piece among 25
    model = fit(sinks(neurons="gaussian"), cut(X, 2000), cut(y, 2000), cut(weight, 2000))
    local = sinks(neurons="gaussian").fit(X, y, weight)
    np.testing.assert_allclose(model.predict(X[:50]), local.predict(X[:50]), atol=1e-6)


def test_pieces_stay_where_they_are_unless_a_thread_has_more_than_its_share(client):
    X, _, _ = data()
    first, second = client.nthreads()
    lazy = cut(X, 100).to_delayed().ravel().tolist()
    assert by_thread(lazy) == [(first, [0, 2, 4, 6, 8]), (second, [1, 3, 5, 7])]
    homes = [first, first, second, first, first, second]
    held = [client.submit(np.sum, [0], workers=[home], pure=False) for home in homes]
    client.gather(held)
    assert by_thread(held) == [(first, [0, 1, 3]), (second, [2, 5, 4])]


def test_tasks_change_nothing_that_they_are_given():
    X, y, _ = data()
    model = sinks().fit(X, y)
    before = pickle.dumps(model.statistics_)
    assert with_rows(model, model.statistics_, X, y, None).weight == 2 * N
    assert merged([model.statistics_, model.statistics_]).weight == 2 * N
    assert pickle.dumps(model.statistics_) == before
    few = sinks().fit(X[:100], y[:100]).statistics_  # rows are kept, and two parts are too many
    before = pickle.dumps(few)
    assert few.n_kept == 100
    assert merged([few, few]).n_kept == 0
    assert pickle.dumps(few) == before


def test_options_that_clusters_do_not_support_are_refused():
    X, y, _ = data()
    before = vars(model := sinks()).copy()
    for wrong in (X, X.tolist()):
        with pytest.raises(TypeError, match=r"takes Dask arrays and data frames\. Remedy"):
            fit(model, wrong, cut(y))
    with pytest.raises(ValueError, match=r"\(5 of up to 200 rows; 9 .*Remedy: rechunk"):
        fit(model, cut(X), cut(y, 100))
    table = dd.from_pandas(pd.DataFrame(X), npartitions=5)
    with pytest.raises(ValueError, match=r"\(5 of up to 180 rows; 5 of up to 200 rows\)"):
        fit(model, table, cut(y, 200))
    with pytest.raises(ValueError, match=r"sample_weight has 2 dimensions.*Remedy"):
        fit(model, cut(X), cut(y), cut(X))
    with pytest.raises(ValueError, match=r"half_life=50 does not go with Dask.*Remedy: sample_w"):
        fit(sinks(half_life=50), cut(X), cut(y))
    mixture = Mixture([Gaussian(), Trees()])
    with pytest.raises(ValueError, match=r"and other families.*preconditioner='block'"):
        fit(descent(neurons=mixture), cut(X), cut(y))
    with pytest.raises(ValueError, match="log_loss"):
        fit(sinks(KitchenSinksClassifier, loss="log_loss"), cut(X), cut(y > 0))
    with pytest.raises(
        TypeError, match="KernelGradientRegressor cannot be fitted to Dask collections"
    ):
        fit(KernelGradientRegressor(), cut(X), cut(y))
    with pytest.raises(ValueError, match="n_neurons=0"):
        fit(sinks().set_params(n_neurons=0), cut(X), cut(y))
    late = X.copy()
    late[-1, 0] = np.nan
    for learner in (model, descent()):
        with pytest.raises(ValueError, match="NaN"):
            fit(learner, cut(late), cut(y))
    assert vars(model) == before
    with pytest.raises(ValueError, match="diverged within"):
        fit(descent(step_size=1e4), cut(X), cut(y))


def test_without_dask_the_error_says_what_to_install():
    block = "import sys; sys.modules['dask'] = None; import trickless; import trickless.dask"
    done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True)
    assert 'Remedy: pip install "trickless[dask]"' in done.stderr


@pytest.mark.parametrize("label", ["a", "unknown"])  # before all others, and after
@pytest.mark.parametrize("class_weight", [None, {"high": 2.0}])
def test_rows_without_weight_may_have_any_label(label, class_weight):
    X, y, weight = data(labels=True)
    y = np.where(weight > 0, y, label)
    assert label in y
    model = descent(DoublyStochasticClassifier, class_weight=class_weight)
    local = clone(model).fit(X, y, weight)
    fit(model, cut(X), cut(y), cut(weight))
    np.testing.assert_array_equal(model.classes_, ["high", "low", "middle"])
    np.testing.assert_allclose(values(model, X), values(local, X), rtol=0, atol=5e-6)


def test_a_filter_that_leaves_no_rows_is_told():
    X, y, _ = data(labels=True)
    none = cut(X)[:, 0] > 1e9
    for model in (sinks(KitchenSinksClassifier), descent(DoublyStochasticClassifier)):
        with pytest.raises(ValueError, match=r"X has no rows in any of its 5 chunks.*Remedy"):
            fit(model, cut(X)[none], cut(y)[none])


@pytest.mark.parametrize(
    "model", [sinks(KitchenSinksClassifier), descent(DoublyStochasticClassifier)]
)
def test_labels_that_are_missing_are_refused(model):
    X, y, _ = data(labels=True)
    missing = np.where(np.arange(len(y)) % 7 == 0, None, y.astype(object))
    with pytest.raises((TypeError, ValueError), match=r"y contains None .*Remedy"):
        fit(clone(model), cut(X), cut(missing))
    for classes in (["low", "middle", None], [None, 1.0], [np.nan, 1.0]):
        with pytest.raises((TypeError, ValueError), match=r"classes.*Remedy"):
            fit(clone(model), cut(X), cut(y), classes=classes)


@pytest.mark.parametrize("model", [sinks(), descent()])
def test_targets_that_differ_by_too_little_are_refused(model):
    X, y, _ = data()
    with pytest.raises(ValueError, match=r"y varies by .*Remedy: scale y"):
        fit(clone(model), cut(X), cut(1e-170 * y))


@pytest.mark.parametrize("weight", [-1.0, np.nan, 1e-320])
def test_weights_of_pieces_are_checked(weight):
    X, y, _ = data(labels=True)
    model = sinks(KitchenSinksClassifier)
    with pytest.raises(ValueError, match=r"sample_weight h(as|olds) .*Remedy"):
        fit(model, cut(X), cut(y), cut(np.full(len(y), weight)))

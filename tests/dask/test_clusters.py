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
    BoostedTreesRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
    ShrinkingGradientRegressor,
)
from trickless.dask import fit, predict
from trickless.dask.fitting import merged, with_rows
from trickless.dask.pieces import SAMPLE, by_thread
from trickless.kernels import KernelGradientRegressor
from trickless.neurons import Gaussian

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


MODELS = {
    "Kitchen Sinks": sinks(),
    "Kitchen Sinks, given alpha": sinks(alpha=1e-4, dtype="float64"),
    "Kitchen Sinks, stumps": sinks(neurons="stumps"),
    "Kitchen Sinks, length scale of the data": sinks(neurons="gaussian"),
    "Kitchen Sinks, classes": sinks(KitchenSinksClassifier),
    "Kitchen Sinks, balanced": sinks(KitchenSinksClassifier, class_weight="balanced"),
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


def test_several_outputs_sparse_rows_and_chunks_of_columns_are_learned():
    model, (X, y, _) = sinks(), data()
    y = np.column_stack([y, X[:, 0]])
    local = clone(model).fit(X, y)
    model = fit(clone(model), da.from_array(X, chunks=(100, 3)), da.from_array(y, (100, 1)))
    np.testing.assert_allclose(model.predict(X), local.predict(X), rtol=0, atol=1e-6)
    rows = cut(X).map_blocks(scipy.sparse.csr_matrix, dtype=X.dtype)
    model = fit(clone(model), rows, cut(y))
    local = clone(model).fit(scipy.sparse.csr_matrix(X), y)
    np.testing.assert_allclose(model.predict(X), local.predict(X), rtol=0, atol=1e-6)


def test_sparse_rows_that_are_not_canonical():
    model, (X, y, _) = sinks(), data()

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
@pytest.mark.parametrize("model", [sinks(neurons="tabular"), sinks(neurons="trees")])
def test_one_partition_of_text_among_numbers_makes_categories_and_says_so(model, text):
    X, y = frame()
    X = X[["a"]]
    plain = dd.from_pandas(X.assign(y=y), npartitions=5)
    parts = [plain.partitions[i] for i in range(5)]
    parts[text] = parts[text].astype({"a": object}).astype({"a": str})
    mixed = dd.concat(parts)
    with pytest.warns(UserWarning, match=r"column 'a' of X occur once.*pandas\.to_numeric"):
        fit(model, mixed[["a"]], mixed["y"])


@pytest.mark.parametrize("model", [sinks(neurons="tabular"), sinks(neurons="trees")])
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


def no_client():
    raise ValueError("No clients found")


def test_a_model_of_a_cluster_is_an_ordinary_model(tmp_path):
    model, (X, y, _) = sinks(), data()
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


def test_pieces_stay_unless_a_thread_has_more_than_its_share(client):
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
    with pytest.raises(ValueError, match=r"fit does not go with half_life=50.*Remedy: sample_w"):
        fit(sinks(half_life=50), cut(X), cut(y))
    with pytest.raises(ValueError, match="log_loss"):
        fit(sinks(KitchenSinksClassifier, loss="log_loss"), cut(X), cut(y > 0))
    for learner in (KernelGradientRegressor(), BoostedTreesRegressor()):
        with pytest.raises(TypeError, match=r"cannot be fitted to Dask.*Remedy: use a Kit"):
            fit(learner, cut(X), cut(y))
    with pytest.raises(ValueError, match="n_neurons=0"):
        fit(sinks().set_params(n_neurons=0), cut(X), cut(y))
    late = X.copy()
    late[-1, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        fit(model, cut(late), cut(y))
    assert vars(model) == before


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
    model = sinks(KitchenSinksClassifier, class_weight=class_weight)
    local = clone(model).fit(X, y, weight)
    fit(model, cut(X), cut(y), cut(weight))
    np.testing.assert_array_equal(model.classes_, ["high", "low", "middle"])
    np.testing.assert_allclose(values(model, X), values(local, X), rtol=0, atol=5e-6)


def test_a_filter_that_leaves_no_rows_is_told():
    X, y, _ = data(labels=True)
    none = cut(X)[:, 0] > 1e9
    with pytest.raises(ValueError, match=r"X has no rows in any of its 5 chunks.*Remedy"):
        fit(sinks(KitchenSinksClassifier), cut(X)[none], cut(y)[none])


def test_labels_that_are_missing_are_refused():
    model, (X, y, _) = sinks(KitchenSinksClassifier), data(labels=True)
    missing = np.where(np.arange(len(y)) % 7 == 0, None, y.astype(object))
    with pytest.raises((TypeError, ValueError), match=r"y contains None .*Remedy"):
        fit(clone(model), cut(X), cut(missing))
    for classes in (["low", "middle", None], [None, 1.0], [np.nan, 1.0]):
        with pytest.raises((TypeError, ValueError), match=r"classes.*Remedy"):
            fit(clone(model), cut(X), cut(y), classes=classes)


def test_targets_that_differ_by_too_little_are_refused():
    X, y, _ = data()
    with pytest.raises(ValueError, match=r"y varies by .*Remedy: scale y"):
        fit(sinks(), cut(X), cut(1e-170 * y))


@pytest.mark.parametrize("weight", [-1.0, np.nan, 1e-320])
def test_weights_of_pieces_are_checked(weight):
    X, y, _ = data(labels=True)
    model = sinks(KitchenSinksClassifier)
    with pytest.raises(ValueError, match=r"sample_weight h(as|olds) .*Remedy"):
        fit(model, cut(X), cut(y), cut(np.full(len(y), weight)))

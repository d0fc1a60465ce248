"""Trees: their leaves cut by cut, their kernel, and what draws them."""

import array_api_strict
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.base import clone

from cases import inputs, name_of
from trickless import KitchenSinksRegressor, ShrinkingGradientRegressor
from trickless._functions.network import Network
from trickless._functions.stream import NeuronStream, StoredNeurons
from trickless.inspection import estimate_kernel
from trickless.neurons import Trees
from trickless.neurons.checks import check_activations
from trickless.neurons.inputs import Inputs

N = 20_000


def fitted(neurons, X, n_categories=None, weight=None):
    if n_categories is not None:
        neurons.inputs_ = Inputs(np.array(n_categories))
    return neurons.fit(X, np.random.default_rng(0), weight)


def drawn(neurons, n, seed=1):
    return neurons.draw(np.random.default_rng(seed), n)


def table(n=300):
    """Numbers with ties, gaps, codes of 6 and 3 categories, some of which are missing or new."""
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [
            np.repeat(rng.standard_normal(n // 3), 3),
            rng.integers(0, 8, n),
            rng.exponential(size=n),
            rng.integers(0, 5, n),
            np.where(np.arange(n) % 3, 2.0, np.nan),
            np.full(n, 7.0),
        ]
    )
    X[::4, 2] = np.nan
    return X, [0, 8, 0, 5, 0, 0]


@pytest.mark.parametrize("depth", [1, 3, 9])
def test_a_leaf_has_a_bit_for_each_cut_to_the_right_of_trees(depth):
    X, n_categories = table()
    neurons = fitted(Trees(depth), X, n_categories)
    columns, sets = weights = drawn(neurons, 20)
    assert columns.shape == (20, depth)
    bins = neurons.bins_(X)
    expected = np.zeros((len(X), 20), dtype=int)
    for row, of_row in enumerate(bins):
        for tree in range(20):
            for i in range(depth):
                bin_ = int(of_row[columns[tree, i]])
                goes_right = sets[tree, i, bin_ // 8] >> (7 - bin_ % 8) & 1
                expected[row, tree] += int(goes_right) << i
    np.testing.assert_array_equal(neurons.leaf_numbers(X, weights), expected)
    np.testing.assert_array_equal(neurons.leaf_numbers(neurons._read(X), weights), expected)
    Z = neurons(X, weights)
    assert Z.shape == (len(X), 20 * 2**depth)
    Z = Z.reshape(len(X), 2**depth, 20)
    np.testing.assert_array_equal(Z.argmax(axis=1), expected)
    np.testing.assert_array_equal(Z.sum(axis=1), 1)
    np.testing.assert_array_equal(np.unique(Z), [0, 1])


def test_cuts_of_numbers_are_thresholds_with_missing_values_on_either_side():
    X, n_categories = table()
    neurons = fitted(Trees(1), X, n_categories)
    columns, sets = drawn(neurons, 4000)
    right = np.unpackbits(sets[:, 0], axis=1)
    assert not (columns == 5).any()  # it is constant
    for j in (0, 2, 4):
        some = right[columns[:, 0] == j]
        n_bins = neurons.bins_.counts[j]
        assert (np.diff(some[:, 1 : n_bins + 1].astype(int), axis=1) >= 0).all()
        n_right = some[:, 1 : n_bins + 1].sum(axis=1)
        if n_bins > 1:
            assert 0 < n_right.min() <= n_right.max() < n_bins  # present values on both sides
            assert len(set(n_right)) > 0.9 * (n_bins - 1)
        assert binomtest(int(some[:, 0].sum()), len(some)).pvalue > 1e-4
    for j, n_bins in ((1, 6), (3, 3)):
        some = right[columns[:, 0] == j][:, : n_bins + 1]
        for each in some.T:
            assert binomtest(int(each.sum()), len(some)).pvalue > 1e-4
    for j in range(5):
        assert binomtest(int((columns == j).sum()), 4000, 0.2).pvalue > 1e-4


@pytest.mark.parametrize("depth", [1, 3])
def test_mean_of_products_is_the_kernel_of_a_table_of_trees(depth):
    X, n_categories = table()
    neurons = fitted(Trees(depth), X, n_categories)
    rows = np.vstack([X[:13], [np.nan] * 6])
    leaf = neurons.leaf_numbers(rows, drawn(neurons, N))
    together = leaf[:, None, :] == leaf[None, :, :]
    kernel = neurons.kernel(rows)
    error = together.std(axis=2, ddof=1) / np.sqrt(N)
    assert (error < 0.01).all()
    assert (np.abs(together.mean(axis=2) - kernel) <= 5 * error + 1e-12).all()
    np.testing.assert_allclose(neurons.kernel(rows, X[:5]), kernel[:, :5])
    np.testing.assert_array_equal(np.diag(kernel), 1)


def test_the_kernel_of_a_data_frame_is_that_of_what_its_learner_fitted():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.standard_normal(200), "b": rng.choice(["x", "y", "z"], 200), "c": rng.random(200)}
    )
    frame.loc[::5, "b"], frame.loc[::7, "a"] = None, np.nan
    learner = KitchenSinksRegressor(Trees(2), 20, random_state=0).fit(frame, np.arange(200.0))
    X = learner._rows_.columns.read("test", frame)  # with the codes that the family gets
    neurons = learner.neurons_
    estimate, error = estimate_kernel(neurons, X[:12], n_neurons=5000, random_state=1)
    truth = neurons.kernel(X[:12])
    assert (np.abs(estimate - truth) <= 5 * error + 1e-6).all()
    b = frame["b"].iloc[:12].fillna("missing").to_numpy()
    other = clone(neurons)  # the column of categories by itself
    other.inputs_ = Inputs(neurons.inputs_.n_categories[[1]])
    other.fit(X[:, [1]], rng)
    equal = b[:, None] == b[None, :]
    np.testing.assert_allclose(other.kernel(X[:12, [1]]), np.where(equal, 1, 0.25))


@pytest.mark.parametrize("n_levels", [300, 4100])
def test_mean_of_products_is_the_kernel_of_many_categories(n_levels):
    """Whose columns of bins are those of one feature: it is drawn as often as others."""
    rng = np.random.default_rng(0)
    codes = np.r_[np.arange(n_levels), rng.integers(0, n_levels, 200)]
    X = np.column_stack([codes, rng.standard_normal(len(codes))])
    neurons = fitted(Trees(2), X, [n_levels + 2, 0])
    weights = drawn(neurons, N)
    rows = np.vstack([X[:6], X[-6:], [[n_levels + 1, 0.0], [np.nan, 0.0]]])
    leaf = neurons.leaf_numbers(rows, weights)
    together = leaf[:, None, :] == leaf[None, :, :]
    error = together.std(axis=2, ddof=1) / np.sqrt(N)
    assert (error < 0.01).all()
    assert (np.abs(together.mean(axis=2) - neurons.kernel(rows)) <= 5 * error + 1e-12).all()
    counts = neurons.cuts_by_feature(weights)
    assert counts.sum() == 2 * N
    assert binomtest(int(counts[0]), 2 * N).pvalue > 1e-4
    neurons._check_weights(weights)


shapes = pytest.mark.parametrize(
    "family", [Trees(4), Trees(shape="binary", max_leaves=16)], ids=["oblivious", "binary"]
)


@shapes
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_sum_of_leaves_is_the_product_with_their_indicators(dtype, family):
    X, n_categories = table()
    neurons, rng = fitted(clone(family), X, n_categories), np.random.default_rng(0)
    weights, X = drawn(neurons, 300), X.astype(dtype)
    coef = rng.standard_normal((300, 16, 2)).astype(dtype)
    Z = neurons(X, weights).astype(float)
    expected = Z @ coef.astype(float).transpose(1, 0, 2).reshape(-1, 2)
    for rows in (X, neurons._read(X)):
        np.testing.assert_allclose(neurons._combine(rows, weights, coef), expected, atol=1e-12)
    network = Network(neurons, StoredNeurons(weights), coef, np.array([1.0, 2.0]))
    np.testing.assert_allclose(network(X), expected + network.intercept, atol=1e-12)


def test_values_of_a_row_do_not_depend_on_the_rows_beside_it(monkeypatch):
    X, n_categories = table()
    neurons = fitted(Trees(5), X, n_categories)
    coef = np.random.default_rng(0).standard_normal((300, 32, 3)).astype("float32")
    X, stream = X[:70], NeuronStream(neurons, 0)
    whole = Network(neurons, stream, coef)(X)
    for n_rows in (9, 2**14):
        monkeypatch.setattr("trickless._functions.network._ROWS_OF_LEAVES", n_rows)
        monkeypatch.setattr("trickless._functions.network._GROUP_BYTES", 1000 * n_rows)
        monkeypatch.setattr("trickless._arrays.threads._WORTH_SHARING", 1)
        for n_jobs in (1, 3):
            network = Network(neurons, stream, coef, n_jobs=n_jobs)
            np.testing.assert_array_equal(network(X), whole)
            parts = [network(X[i : i + 32]) for i in range(0, len(X), 32)]
            np.testing.assert_array_equal(np.concatenate(parts), whole)
    np.testing.assert_array_equal(network(X[:0]), whole[:0])


@shapes
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_device_finds_the_leaves_of_numpy(dtype, family):
    """With arrays that have nothing but the standard, whose rows are bins or are not yet."""
    X, n_categories = table()
    X, xp = X.astype(dtype), array_api_strict
    neurons = fitted(clone(family), X, n_categories)
    weights = drawn(neurons, 40)
    coef = np.random.default_rng(0).standard_normal((40, 16, 2)).astype(dtype)
    rows, there = xp.asarray(X), tuple(map(xp.asarray, weights))
    bins = neurons._read(rows)
    np.testing.assert_array_equal(np.asarray(bins), neurons._read(X))
    for each in (rows, bins):
        leaf = np.asarray(neurons.leaf_numbers(each, there))
        np.testing.assert_array_equal(leaf, neurons.leaf_numbers(X, weights))
        value = neurons._combine(each, there, xp.asarray(coef))
        assert value.dtype == getattr(xp, dtype)
        np.testing.assert_allclose(np.asarray(value), neurons._combine(X, weights, coef), atol=1e-5)
    network = Network(neurons, StoredNeurons(weights), coef, 1.0)
    np.testing.assert_allclose(np.asarray(network(rows)), network(X), atol=1e-5)
    assert neurons(rows, there).dtype == rows.dtype


@pytest.mark.parametrize("max_leaves", [2, 6, 8])
def test_binary_trees_that_are_drawn_have_full_levels(max_leaves):
    X, n_categories = table()
    neurons = fitted(Trees(shape="binary", max_leaves=max_leaves), X, n_categories)
    depth = {2: 1, 6: 2, 8: 3}[max_leaves]
    columns, children, sets = weights = drawn(neurons, 200)
    bins, leaf = neurons.bins_(X), neurons.leaf_numbers(X, weights)
    assert neurons.width == max_leaves
    assert set(np.unique(leaf)) == set(range(2**depth))
    for row, tree in ((5, 0), (100, 7), (299, 199)):
        node = 0
        for _ in range(depth):
            right = np.unpackbits(sets[tree, node])[bins[row, columns[tree, node]]]
            node = children[tree, node, right]
        assert leaf[row, tree] == -node
    Z = neurons(X, weights).reshape(len(X), max_leaves, 200)
    np.testing.assert_array_equal(Z.argmax(axis=1), leaf)
    pairs = neurons.activate_pairs(X[:200], weights)
    np.testing.assert_array_equal(pairs.argmax(axis=1), np.diag(leaf[:200]))


@pytest.mark.parametrize(
    ("n_rows", "leaves"), [(2, 4), (100, 4), (160, 8), (2000, 64), (10**6, 4096)]
)
def test_automatic_binary_trees_leave_sixteen_rows_in_a_leaf(n_rows, leaves):
    X = np.broadcast_to(np.arange(2.0)[:, None], (2, 1))[np.arange(n_rows) % 2]
    neurons = fitted(Trees(shape="binary"), X)
    assert (neurons.width, neurons.depth_) == (leaves, 20)
    assert fitted(Trees(3, shape="binary", max_leaves=50), X).width == 8
    neurons._set_depth(n_rows, 4)
    assert neurons.width == min(leaves, 16)


def test_leaves_of_oblivious_trees_follow_from_their_depth():
    with pytest.raises(ValueError, match=r"max_leaves=8 with shape='auto'.*Remedy: shape="):
        fitted(Trees(max_leaves=8), inputs(5, 2))
    with pytest.raises(ValueError, match=r"Trees: shape=.*'oblivious' or 'binary'"):
        fitted(Trees(shape="round"), inputs(5, 2))
    with pytest.raises(ValueError, match=r"Trees: max_leaves=1, .*Remedy: max_leaves=256"):
        fitted(Trees(shape="binary", max_leaves=1), inputs(5, 2))


def test_features_have_as_many_cuts_as_part_rows():
    X = inputs(50, 4)
    neurons = fitted(Trees(3), X)
    columns, sets = drawn(neurons, 100)
    counts = np.bincount(columns.ravel(), minlength=4)
    np.testing.assert_array_equal(neurons.cuts_by_feature((columns, sets)), counts)
    none = sets.copy()
    none[:, 1:] = 0  # all rows to the left, at all levels but the first
    counts = np.bincount(columns[:, 0], minlength=4)
    np.testing.assert_array_equal(neurons.cuts_by_feature((columns, none)), counts)
    np.testing.assert_array_equal(neurons.cuts_by_feature((columns[:0], sets[:0])), np.zeros(4))


@pytest.mark.parametrize(
    ("n_rows", "depth"), [(2, 2), (100, 2), (160, 3), (2000, 6), (16 * 2**12, 12), (10**6, 12)]
)
def test_automatic_depth_leaves_sixteen_rows_in_a_leaf(n_rows, depth):
    X = np.broadcast_to(np.arange(2.0)[:, None], (2, 1))[np.arange(n_rows) % 2]
    neurons = fitted(Trees(), X)
    assert neurons.depth_ == depth
    assert neurons.width == 2**depth
    assert fitted(Trees(1), X).width == 2


def test_thresholds_of_many_rows_come_from_a_weighted_sample(monkeypatch):
    monkeypatch.setattr("trickless.neurons.trees._BIN_ROWS", 1000)
    X = np.arange(4000.0)[:, None]
    assert fitted(Trees(), X).bins_.counts[0] == 255
    weight = np.where(X[:, 0] < 2000, 1, 1e-9)
    assert fitted(Trees(), X, weight=weight).bins_.thresholds[0].max() < 2000
    monkeypatch.setattr("trickless.neurons.trees._BIN_VALUES", 100)
    assert fitted(Trees(), X).bins_.counts[0] == 100


def test_two_values_of_one_row_are_always_told_apart():
    X = np.repeat([[0.0], [5.0]], [99_999, 1], axis=0)
    neurons = fitted(Trees(1), X[-300:])
    leaf = neurons.leaf_numbers(X[-2:], drawn(neurons, 100))
    np.testing.assert_array_equal(leaf, np.repeat([[0], [1]], 100, axis=1))


@pytest.mark.parametrize("X", [np.ones((9, 2)), np.full((9, 2), np.nan)], ids=["ones", "missing"])
def test_columns_that_do_not_vary_warn_and_make_a_constant(X):
    with pytest.warns(UserWarning, match=r"no column of X varies.*Remedy: pass columns with"):
        neurons = fitted(Trees(2), X)
    leaf = neurons.leaf_numbers(X, drawn(neurons, 9))
    assert (leaf == leaf[0]).all()
    np.testing.assert_array_equal(neurons.kernel(X), 1)


@pytest.mark.parametrize("depth", [0, 17, -1, 1.5, True, None, "deep", np.nan, 2.0])
def test_bad_depths_are_named(depth):
    message = r"Trees: depth=.*at least 1 and at most 16 or 'auto'\. Remedy: depth=6"
    with pytest.raises((TypeError, ValueError), match=message):
        fitted(Trees(depth), inputs(5, 2))


def test_activations_have_the_shape_that_is_checked():
    X = inputs(5, 2)
    neurons = fitted(Trees(3), X)
    check_activations("call", neurons(X, drawn(neurons, 4)), 5, 4, 8)
    assert neurons(X[:0], drawn(neurons, 4)).shape == (0, 32)
    assert neurons.leaf_numbers(X, tuple(array[:0] for array in drawn(neurons, 4))).shape == (5, 0)


def test_gaps_alone_can_be_cut():
    """A constant column that is missing in some rows, beside others with gaps as well."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 2))
    X[:, 0] = 3.0
    X[rng.random(X.shape) < 0.4] = np.nan
    family = Trees(depth=2).fit(X, np.random.default_rng(0))
    assert family.variables_.tolist() == [0, 1]
    alone = Trees(depth=2).fit(X[:, :1], np.random.default_rng(0))  # and no warning
    leaves = alone.leaf_numbers(X[:, :1], alone.draw(np.random.default_rng(0), 50))
    gap = np.isnan(X[:, 0])
    assert (leaves[gap] == leaves[gap][0]).all()
    assert (leaves[~gap] == leaves[~gap][0]).all()
    assert (leaves[gap][0] != leaves[~gap][0]).mean() > 0.5
    # Each of two cuts parts them with probability 1/2, and so does the kernel say.
    rows = np.array([[np.nan], [3.0]])
    assert alone.kernel(rows)[0, 1] == 0.25


def test_learners_that_evaluate_all_leaves_get_shallow_trees():
    X = inputs(3000, 3)
    y = np.sin(X[:, 0])
    sinks = KitchenSinksRegressor("trees", 50, random_state=0).fit(X, y)
    assert sinks.neurons_.depth_ == 4
    assert KitchenSinksRegressor(Trees(depth=5), 5).fit(X, y).neurons_.depth_ == 5


@pytest.mark.parametrize(
    "model",
    [KitchenSinksRegressor(n_neurons=60), ShrinkingGradientRegressor(n_neurons=200, n_draws=20)],
    ids=name_of,
)
def test_learners_of_trees_learn_tables(model):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 80, 400), "town": rng.choice(list("abcd"), 400)})
    f = np.where(frame.town.isin(["a", "b"]), frame.age / 10, 9 - frame.age / 20)
    frame.loc[rng.random(400) < 0.15, "town"] = None
    model = clone(model).set_params(neurons=Trees(3), random_state=0).fit(frame[:300], f[:300])
    assert model.score(frame[300:], f[300:]) > 0.35

"""Linear leaves: their inputs, kernel, activations and predictions."""

import array_api_strict
import numpy as np
import pandas as pd
import pytest

from cases import inputs
from trickless import BoostedTreesRegressor
from trickless._functions.network import Network
from trickless._functions.stream import StoredNeurons
from trickless.neurons import Trees
from trickless.neurons.inputs import Inputs
from trickless.neurons.linear_leaves import FIRST

N = 40_000


def table(n=300):
    """Numbers, a column with gaps, categories, and a column of two values."""
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [
            rng.standard_normal(n),
            rng.exponential(size=n),
            rng.integers(0, 5, n),
            rng.integers(0, 2, n),
            rng.random(n),
        ]
    )
    X[::4, 1] = np.nan
    return X


def fitted(depth=3, X=None):
    family = Trees(depth, leaves="linear")
    if X is None:
        X = table()
        family.inputs_ = Inputs(np.array([0, 0, 5, 0, 0]))
    return family.fit(X, np.random.default_rng(0))


def drawn(family, n, seed=1):
    return family.draw(np.random.default_rng(seed), n)


def test_inputs_are_the_means_of_bins_centred_and_scaled():
    X = table()
    linear, bins = fitted().linear_, fitted().bins_(X)
    assert linear.steps.any(axis=1).tolist() == [True, True, False, False, True]
    for j in (0, 1, 4):
        known = ~np.isnan(X[:, j])
        z = linear.steps[j][bins[:, j]][known] / 127
        b = bins[known, j].astype(int)
        means = np.array([X[known, j][b == v].mean() for v in range(1, b.max() + 1)])
        expected = np.clip((means - means.mean()) / (3 * means.std()), -1, 1)
        np.testing.assert_allclose(z, expected[b - 1], atol=0.5 / 127 + 1e-9)
    assert (linear.steps[:, 0] == 0).all()


def test_leaves_are_linear_in_the_columns_of_the_first_cuts():
    family = fitted(depth=6)
    columns, sets = drawn(family, 500)
    sets[7, 1] = 0  # sends all rows to the left
    found = family.linear_.columns((columns, sets))
    assert found.shape == (500, family.n_inputs) == (500, 3)
    for tree in range(500):
        expected = []
        for j, table_ in zip(columns[tree, :FIRST], sets[tree, :FIRST], strict=True):
            if j in (0, 1, 4) and table_.any() and j not in expected:
                expected.append(j)
        assert found[tree].tolist() == [*expected, -1, -1, -1][:3]
    assert family.bound == 2
    assert family.width == 4 * 64


@pytest.mark.parametrize("depth", [1, 3, 6])
def test_mean_of_products_is_the_kernel_of_a_table(depth):
    """With categories, two values, gaps as in the training rows and gaps that these lack."""
    family = fitted(depth)
    rows = np.vstack([table()[:7], [[np.nan] * 5], [[9.0, -9.0, 4.0, 1.0, np.nan]]])
    weights, width = drawn(family, N), family.width
    ZZ, squares = np.zeros((9, 9)), np.zeros((9, 9))
    for start in range(0, N, 2000):
        some = tuple(array[start : start + 2000] for array in weights)
        Z = family(rows, some).reshape(9, width, -1)
        products = np.einsum("ivt,jvt->ijt", Z, Z)
        ZZ, squares = ZZ + products.sum(axis=2), squares + (products**2).sum(axis=2)
    mean, kernel = ZZ / N, family.kernel(rows)
    error = np.sqrt((squares / N - mean**2) / N)
    assert (error < 0.02).all()
    assert (np.abs(mean - kernel) <= 5 * error + 1e-9).all()
    constant = Trees(depth, leaves="constant")
    constant.inputs_ = family.inputs_
    without = constant.fit(table(), np.random.default_rng(0)).kernel(table()[:7])
    assert np.abs(kernel[:7, :7] - without).max() > 10 * error.max()  # the test can tell


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_activations_sums_and_pairs_agree_and_on_devices(dtype):
    family, rng = fitted(4), np.random.default_rng(0)
    X = np.vstack([table()[:60], [[np.nan] * 5], [[1e30, -1e30, 4.0, 5.0, -1.0]]]).astype(dtype)
    weights = drawn(family, len(X))
    coef = rng.standard_normal((len(X), family.width, 2)).astype(dtype)
    Z = family(X, weights)
    assert Z.dtype == dtype
    each = Z.reshape(len(X), family.width, len(X))
    assert np.linalg.norm(each, axis=1).max() <= family.bound + 1e-6
    expected = Z.astype(float) @ coef.astype(float).transpose(1, 0, 2).reshape(-1, 2)
    found = family._combine(X, weights, coef)
    np.testing.assert_array_equal(family._combine(family._read(X), weights, coef), found)
    atol = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(found, expected, atol=atol)
    pairs = family.activate_pairs(X, weights)
    np.testing.assert_array_equal(pairs, np.diagonal(each, axis1=0, axis2=2).T)
    xp = array_api_strict
    rows, there = xp.asarray(X), tuple(map(xp.asarray, weights))
    np.testing.assert_array_equal(np.asarray(family._read(rows)), family._read(X))
    np.testing.assert_array_equal(np.asarray(family(rows, there)), Z)
    for each in (rows, family._read(rows)):
        value = family._combine(each, there, xp.asarray(coef))
        assert value.dtype == getattr(xp, dtype)
        np.testing.assert_allclose(np.asarray(value), expected, atol=1e-4)
    network = Network(family, StoredNeurons(weights), coef, np.array([1.0, 2.0]))
    np.testing.assert_allclose(network(X), expected + network.intercept, atol=atol)


def test_coefficients_of_another_width_are_refused():
    family = fitted()
    weights = drawn(family, 5)
    for width in (8, 16, family.width - 1, 2 * family.width):
        with pytest.raises(ValueError, match=r"reshape|coefficients"):
            family._combine(table(), weights, np.zeros((5, width, 1)))


def test_without_columns_of_numbers_leaves_are_constant():
    X = np.random.default_rng(0).integers(0, 2, (50, 3)).astype(float)
    family = fitted(X=X)
    assert (family.n_inputs, family.width, family.bound) == (0, 8, 1)
    assert Trees(3).fit(X, np.random.default_rng(0)).with_linear_leaves() is None
    constant = Trees(3, leaves="constant").fit(X, np.random.default_rng(0))
    np.testing.assert_array_equal(family.kernel(X), constant.kernel(X))
    weights, coef = drawn(family, 9), np.ones((9, 8, 1))
    expected = constant._combine(X, weights, coef)
    np.testing.assert_array_equal(family._combine(X, weights, coef), expected)


def test_rows_far_away_count_as_the_outermost_bins():
    """A prediction is therefore no further than those at the ends of the training rows."""
    X = inputs(600, 2)
    y = 5 * X[:, 0] + X[:, 1]
    model = BoostedTreesRegressor(200, leaves="linear", random_state=0).fit(X, y)
    ends = np.array([[X[:, 0].min(), 0.0], [X[:, 0].max(), 0.0]])
    for far in (1e3, 1e30):
        rows = np.array([[-far, 0.0], [far, 0.0]])
        np.testing.assert_array_equal(model.predict(rows), model.predict(ends))
    inner = model.predict(np.array([[-1.5, 0.0], [1.5, 0.0]]))
    np.testing.assert_allclose(inner, [-7.5, 7.5], atol=0.5)
    steps = np.column_stack([np.linspace(-1, 1, 201), np.zeros(201)])
    slopes = np.diff(model.predict(steps)) / 0.01
    assert (slopes != 0).mean() > 0.5  # unlike trees with a few constant leaves


def test_a_gap_that_training_rows_lack_counts_as_the_median():
    X = inputs(601, 3)
    X[::3, 2] = np.nan
    y = 3 * X[:, 0] + X[:, 1] + np.where(np.isnan(X[:, 2]), 4.0, 0.0)
    model = BoostedTreesRegressor(200, leaves="linear", random_state=0).fit(X, y)
    rows, filled = X[:50].copy(), X[:50].copy()
    rows[::2, 0], filled[::2, 0] = np.nan, np.median(X[:, 0])
    np.testing.assert_array_equal(model.predict(rows), model.predict(filled))
    rows = X[1:50:3].copy()  # gaps that the model knows are learned
    rows[:, 2] = np.nan
    np.testing.assert_allclose(model.predict(rows) - y[1:50:3], 4, atol=1.2)


def test_linear_leaves_learn_what_is_linear_from_fewer_trees():
    X = inputs(1500, 3)
    frame = pd.DataFrame(X, columns=list("abc")).assign(town=np.where(X[:, 0] > 0, "A", "B"))
    gained = []
    for seed in range(4):
        noise = 0.3 * np.random.default_rng(seed).standard_normal(1500)
        y = 2 * X[:, 0] + X[:, 1] * (X[:, 2] > 0) + noise
        scores = [
            BoostedTreesRegressor(100, leaves=leaves, random_state=seed)
            .fit(frame[:1000], y[:1000])
            .score(frame[1000:], y[1000:])
            for leaves in ("linear", "constant")
        ]
        gained.append(scores[0] - scores[1])
    assert np.mean(gained) > 3 * np.std(gained, ddof=1) / 2 > 0


def test_leaves_of_binary_trees_are_not_linear():
    with pytest.raises(ValueError, match=r"leaves='linear' with shape='binary'.*Remedy: leaves="):
        Trees(shape="binary", leaves="linear").fit(inputs(20, 2), np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"Trees: leaves='round'.*'constant' or 'linear'"):
        Trees(leaves="round").fit(inputs(20, 2), np.random.default_rng(0))
    both = Trees(shape="binary").fit(inputs(20, 2), np.random.default_rng(0))
    assert both.with_linear_leaves() is None

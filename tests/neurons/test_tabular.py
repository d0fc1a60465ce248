"""Tabular neurons: their kernel with categories and missing values, ranks, and what they see."""

import numpy as np
import pytest

from cases import inputs
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.neurons import Stumps, Tabular
from trickless.neurons.inputs import Inputs

N = 60_000


def fitted(neurons, X, n_categories=None, weight=None):
    if n_categories is not None:
        neurons.inputs_ = Inputs(np.array(n_categories))
    return neurons.fit(X, np.random.default_rng(0), weight)


def table():
    """Numbers with ties and with missing values, and codes of 6 and 3 categories."""
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [
            np.repeat(rng.standard_normal(100), 3),
            rng.integers(0, 6, 300),
            rng.exponential(size=300),
            rng.integers(0, 3, 300),
        ]
    )
    X[::4, 2] = np.nan
    return X, [0, 6, 0, 3]


@pytest.mark.parametrize(("depth", "smooth"), [(1, 0), (3, 0), (2, 1), (1, 1), (3, 0.4)])
def test_mean_of_products_is_the_kernel_of_tabular(depth, smooth):
    X, n_categories = table()
    neurons = fitted(Tabular(depth, smooth), X, n_categories)
    rows = X[:13]
    Z = neurons(rows, neurons.draw(np.random.default_rng(1), N))
    products = np.einsum("in,jn->ijn", Z, Z)
    error = products.std(axis=2, ddof=1) / np.sqrt(N)
    kernel = neurons.kernel(rows)
    assert (error < 0.01).all()
    assert (np.abs(products.mean(axis=2) - kernel) <= 5 * error + 1e-5).all()
    np.testing.assert_allclose(neurons.kernel(rows, X[:5]), kernel[:, :5])


def test_rules_of_one_condition_on_numbers_have_the_kernel_of_stumps():
    X = np.round(inputs(50, 3), 1)
    rows = np.vstack([X, 10 * inputs(5, 3, seed=1)])
    ranks = fitted(Tabular(depth=1, smooth=0), X).kernel(rows)
    np.testing.assert_allclose(ranks, fitted(Stumps(), X).kernel(rows), atol=1e-5)


@pytest.mark.parametrize("smooth", [0, 1])
def test_neurons_see_up_to_depth_variables(smooth):
    """A neuron that sees m of 50 variables changes with at most m of them."""
    X = inputs(40, 50)
    neurons = fitted(Tabular(3, smooth), X)
    weights = neurons.draw(np.random.default_rng(0), 600)
    seen = np.zeros((50, 600), dtype=bool)
    for j in range(50):
        changed = X.copy()
        changed[:, j] = X[::-1, j]
        seen[j] = (neurons(changed, weights) != neurons(X, weights)).any(axis=0)
    counts = np.bincount(seen.sum(axis=0), minlength=4)
    assert len(counts) == 4
    assert (counts[1:] > 100).all()
    assert seen.any(axis=1).all()


def test_columns_that_are_the_same_in_all_rows_are_not_drawn():
    X, n_categories = table()
    X[:, 0], X[:, 3] = 7.0, 1.0
    neurons = fitted(Tabular(1, 0), X, n_categories)
    Z = neurons(X, neurons.draw(np.random.default_rng(0), 500))
    changed = X.copy()
    changed[:, 0], changed[:, 3] = 3.0, 2.0
    np.testing.assert_array_equal(neurons(changed, neurons.draw(np.random.default_rng(0), 500)), Z)
    constant = fitted(Tabular(), np.ones((9, 2)))
    assert np.isfinite(constant(np.ones((9, 2)), constant.draw(np.random.default_rng(0), 9))).all()


def test_a_column_that_is_only_sometimes_missing_is_drawn():
    X = np.column_stack([np.ones(20), np.where(np.arange(20) % 2, np.nan, 1.0)])
    y = np.isnan(X[:, 1])
    model = KitchenSinksClassifier(Tabular(), 60, random_state=0).fit(X, y)
    assert model.score(X, y) == 1


def test_two_values_are_always_told_apart():
    X = np.repeat([[0.0], [5.0]], [99, 1], axis=0)
    neurons = fitted(Tabular(1, 0), X)
    Z = neurons(X[-2:], neurons.draw(np.random.default_rng(0), 300))
    np.testing.assert_array_equal(Z[0], -Z[1])


def test_missing_numbers_are_on_a_random_side_and_unlike_any_other():
    X = np.append(np.linspace(-1, 1, 30), np.nan)[:, None]
    neurons = fitted(Tabular(1, 0), X)
    Z = neurons(X, neurons.draw(np.random.default_rng(0), 4000))
    assert 0.4 < (Z[-1] > 0).mean() < 0.6
    # 2 u (1 - u) at the ends and in the middle of the ranks
    np.testing.assert_allclose((Z[-1] * Z[[0, 14, 29]]).mean(axis=1), [0, 0.5, 0], atol=0.08)


def test_many_categories_are_told_apart_in_single_precision():
    codes = np.arange(20_000, dtype=np.float32)[:, None]
    neurons = fitted(Tabular(1, 0), codes, [20_002])
    weights = neurons.draw(np.random.default_rng(0), 400)
    weights = tuple(w.astype("float32") if w.dtype.kind == "f" else w for w in weights)
    Z = neurons(codes[::400], weights)
    apart = (Z @ Z.T / 400)[~np.eye(len(Z), dtype=bool)]
    assert np.abs(apart).max() < 6 / np.sqrt(400)


def test_ranks_of_many_rows_come_from_a_sample_that_follows_the_weights():
    X = np.arange(40_000.0)[:, None]
    assert len(fitted(Tabular(), X).cuts_[0]) == 16_383
    weight = np.where(X[:, 0] < 20_000, 1, 1e-9)
    assert fitted(Tabular(), X, weight=weight).cuts_[0].max() < 20_000


def test_smooth_functions_of_interactions_are_learned():
    X = inputs(500, 3)
    y = np.sin(X[:, 0]) * X[:, 1]
    X[:, 1] = np.exp(3 * X[:, 1])
    scores = [
        KitchenSinksRegressor(Tabular(smooth=smooth), 400, random_state=0)
        .fit(X[:400], y[:400])
        .score(X[400:], y[400:])
        for smooth in (0, 0.2)
    ]
    assert scores[1] > max(scores[0], 0.6)


@pytest.mark.parametrize(
    ("neurons", "message"),
    [
        (Tabular(depth=0), "Tabular: depth=0.*at least 1"),
        (Tabular(smooth=1.5), r"Tabular: smooth=1.5.*from 0 to 1"),
    ],
)
def test_invalid_parameters_of_tabular_are_named(neurons, message):
    with pytest.raises(ValueError, match=message):
        fitted(neurons, inputs(5, 2))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("values", [14, 22])  # whose shares of 13 and 21 cuts round upwards
def test_the_largest_value_has_a_rank_like_any_other(values, dtype):
    X = np.arange(values)[:, None].astype(dtype)
    neurons = fitted(Tabular(depth=1, smooth=0), X)
    w = neurons.draw(np.random.default_rng(1), 20_000)
    w = tuple(a.astype(dtype) if a.dtype.kind == "f" else a for a in w)
    each = neurons(X[:-1], w) * neurons(X[-1:], w)
    error = each.std(axis=1) / np.sqrt(20_000)
    truth = neurons.kernel(X[:-1], X[-1:])[:, 0]
    assert (np.abs(each.mean(axis=1) - truth) <= 5 * error + 1e-5).all()


def test_hostile_numbers_have_ranks():
    X = np.array([[3e38], [-3e38], [0.0], [1e-45]], dtype="float32")
    np.testing.assert_allclose(
        fitted(Tabular(), X)._ranks(X)[:, 0], [1, 0, 1 / 3, 2 / 3], atol=1e-5
    )


def test_columns_that_single_precision_cannot_hold_are_told_one_by_one():
    t = 1.7e9 + np.arange(300.0)
    for other in (np.where(np.arange(300) % 7, 1.0, np.nan), 1e10 * np.sin(t)):
        model = KitchenSinksRegressor(Tabular(), 20, alpha=1e-3)
        with pytest.warns(UserWarning, match=r"of 300 different values of column 0 of X.*Remedy"):
            model.fit(np.column_stack([t, other]), t - t[0])
    constant = np.full(300, 1e30)
    KitchenSinksRegressor(Tabular(), 20, alpha=1e-3).fit(np.column_stack([t - t[0], constant]), t)

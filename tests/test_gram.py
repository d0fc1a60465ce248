"""Gram matrices by tiles, against one product in double precision."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from trickless import KitchenSinksRegressor, _gram
from trickless._gram import add_products
from trickless._least_squares import Statistics, solve
from trickless.neurons import FromFunction, Gaussian


def rows(n, k, dtype="float32", mean=0.0, seed=0):
    return (np.random.default_rng(seed).standard_normal((n, k)) + mean).astype(dtype)


def products(Z, Y, n_jobs=None):
    gram, cross = np.zeros((Z.shape[1],) * 2), np.zeros((Z.shape[1], Y.shape[1]))
    add_products(gram, cross, Z, Y, n_jobs)
    return gram, cross


@pytest.mark.parametrize("shape", [(1, 1), (700, 3), (513, 256), (512, 257), (1100, 700)])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12)])
def test_tiles_come_to_the_product(shape, dtype, tolerance):
    Z, Y = rows(*shape, dtype), rows(shape[0], 2, "float64", seed=1)
    gram, cross = products(Z, Y)
    exact = Z.astype("float64")
    scale = tolerance * np.sqrt(shape[0])
    np.testing.assert_allclose(gram, exact.T @ exact, atol=scale)
    np.testing.assert_allclose(cross, exact.T @ Y, atol=1e-12 * shape[0])
    np.testing.assert_array_equal(gram, gram.T)


def test_products_are_added_to_what_is_there():
    Z, Y = rows(600, 300), rows(600, 1, "float64")
    gram, cross = products(Z, Y)
    expected = 2 * gram, 2 * cross
    add_products(gram, cross, Z, Y, None)
    for got, twice in zip((gram, cross), expected, strict=True):
        np.testing.assert_array_equal(got, twice)


def test_threads_do_not_show_in_products_of_single_precision():
    Z, Y = rows(3000, 900), rows(3000, 2, "float64")
    with threadpool_limits(3, "blas"):
        many = products(Z, Y)
    for one, other in zip(products(Z, Y, 1), many, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("shape", "n_jobs"), [((300, 50), 1), ((40_000, 100), None)])
def test_little_work_is_done_on_one_thread(shape, n_jobs, monkeypatch):
    seen = []

    def recorded(function, blocks, n_jobs):
        seen.append(n_jobs)

    monkeypatch.setattr(_gram, "map_blocks", recorded)
    products(rows(*shape), rows(shape[0], 1))
    assert seen == [n_jobs]


def summed(Z, y, least_ridge, parts=1):
    statistics = Statistics(Z.shape[1], np.zeros(1), None, least_ridge)
    for some in np.array_split(np.arange(len(Z)), parts):
        statistics.add(Z[some], y[some][:, None])
    return statistics


def correlated(n=20_000, k=300):
    """Activations of Gaussian neurons far wider than the data, whose columns are all alike."""
    X = np.random.default_rng(0).standard_normal((n, 10))
    t = (X @ np.random.default_rng(1).standard_normal((10, k // 2)) / 20).astype("float32")
    return np.hstack([np.cos(t), np.sin(t)]), np.sin(X[:, 0])


@pytest.mark.parametrize("parts", [1, 5])
def test_rounding_is_far_below_the_lightest_regularisation(parts):
    """Products in single precision move the covariance by less than 1/300 of the least ridge."""
    Z, y = correlated()
    single, exact = summed(Z, y, np.inf, parts).centred(), summed(Z, y, 0.0).centred()
    assert single.least_ridge > 0 == exact.least_ridge
    error = np.linalg.norm(single.covariance - exact.covariance, 2)
    floor = np.finfo(np.float32).eps * exact.mean_square
    assert 0 < error < floor / 300
    there, here = solve(exact, floor).coef, solve(single, floor).coef
    assert np.abs(Z @ (there - here)).max() < 1e-4 * y.std()


def test_an_origin_is_what_makes_it_so(monkeypatch):
    Z, y = correlated()
    exact = summed(Z, y, 0.0).centred().covariance
    with_origin = summed(Z, y, np.inf).centred().covariance
    monkeypatch.setattr(np, "clip", lambda mean, *bounds: np.zeros_like(mean))
    without = summed(Z, y, np.inf).centred().covariance
    assert np.abs(without - exact).max() > 20 * np.abs(with_origin - exact).max()


def test_the_order_of_merging_does_not_matter_where_origins_differ():
    Z, y = rows(900, 7, "float64", mean=5.0), rows(900, 1, "float64")
    Z[400:] += np.arange(7)
    whole = summed(Z, y[:, 0], 0.0).centred()
    for first, second in ([0, 400], [400, 900]), ([400, 900], [0, 400]):
        total = summed(Z[slice(*first)], y[slice(*first), 0], 0.0)
        total.merge(summed(Z[slice(*second)], y[slice(*second), 0], 0.0))
        for got, expected in zip(total.centred(), whole, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


def test_no_rows_add_nothing():
    Z, y = rows(50, 4, "float64"), rows(50, 1, "float64")[:, 0]
    total, before = summed(Z, y, 0.0), summed(Z, y, 0.0).centred()
    total.merge(total.without_rows())
    none = total.without_rows()
    none.merge(total)
    for merged in (total, none):
        for got, expected in zip(merged.centred(), before, strict=True):
            np.testing.assert_array_equal(got, expected)


X = np.random.default_rng(0).standard_normal((5000, 3))
y = np.sin(X[:, 0])


def fitted(alpha, n_rows=5000, neurons=None, **options):
    neurons = neurons or Gaussian(2.0)
    model = KitchenSinksRegressor(neurons, 30, alpha=alpha, random_state=0, **options)
    return model.fit(X[:n_rows], y[:n_rows])


@pytest.mark.parametrize(
    ("alpha", "n_rows", "dtype", "rounded"),
    [
        ("auto", 5000, "float32", True),
        ("loo", 5000, "float32", True),
        (1e-6, 5000, "float32", True),
        (1e-9, 5000, "float32", False),
        (0.0, 5000, "float32", False),
        ("auto", 4000, "float32", False),
        ("auto", 5000, "float64", False),
    ],
)
def test_products_are_in_single_precision_where_that_is_good_enough(alpha, n_rows, dtype, rounded):
    assert fitted(alpha, n_rows, dtype=dtype).statistics_.rounded is rounded


def test_a_smaller_alpha_than_the_sums_are_good_for_is_refused():
    model = fitted(1e-3).set_params(alpha=1e-9).partial_fit(X, y)
    with pytest.raises(ValueError, match=r"alpha=1e-09 is below the rounding.*Remedy: call fit"):
        model.predict(X)
    assert model.set_params(alpha=1e-4).predict(X).shape == (5000,)
    assert fitted(1e-3, dtype="float64").set_params(alpha=1e-9).partial_fit(X, y).alpha_ == 1e-9


def test_activations_that_grow_beyond_what_alpha_is_good_for_are_reported():
    """The precision of products goes by the first rows."""
    far = X * np.linspace(0.01, 10, len(X))[:, None]
    neurons = FromFunction(sample, lambda X, W: X @ W.T)
    with pytest.raises(ValueError, match=r"alpha=1e-06 is below.*much smaller activations"):
        KitchenSinksRegressor(neurons, 30, alpha=1e-6, random_state=0).fit(far, y)
    options = {"alpha": 1e-6, "random_state": 0, "dtype": "float64"}
    assert KitchenSinksRegressor(neurons, 30, **options).fit(far, y).alpha_ == 1e-6


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_weights_of_any_size_give_the_same_model(scale):
    weight = np.random.default_rng(0).random(len(X))
    options = {"alpha": 1e-3, "random_state": 0}
    expected = KitchenSinksRegressor(Gaussian(2.0), 30, **options).fit(X, y, weight)
    model = KitchenSinksRegressor(Gaussian(2.0), 30, **options).fit(X, y, scale * weight)
    np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=1e-5)


def sample(rng, n, n_features):
    return rng.standard_normal((n, n_features))


@pytest.mark.parametrize("scale", [1e-25, 1e15])
def test_activations_of_any_size_give_the_same_model(scale):
    def psi(X, W, scale=1.0):
        return scale * np.tanh(X @ W.T)

    expected = fitted("auto", neurons=FromFunction(sample, psi)).predict(X)
    model = fitted("auto", neurons=FromFunction(sample, lambda X, W: psi(X, W, scale)))
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-4)


def test_squares_that_overflow_are_reported():
    def psi(X, W):
        return np.where(X[:, :1] > 50, 1e25, np.tanh(X @ W.T)).astype(X.dtype)

    far = X.copy()
    far[4000, 0] = 100
    neurons = FromFunction(sample, psi)
    with pytest.raises(ValueError, match=r"dtype='float32' cannot hold.*Remedy: dtype='float64'"):
        KitchenSinksRegressor(neurons, 30, random_state=0).fit(far, y)

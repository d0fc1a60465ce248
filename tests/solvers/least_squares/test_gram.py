"""Gram matrices by tiles, against one product in double precision."""

import numpy as np
import pytest
from scipy import linalg
from sklearn.base import clone
from threadpoolctl import ThreadpoolController, threadpool_limits

from cases import FAMILIES, suited
from trickless import KitchenSinksRegressor
from trickless._arrays.places import Host
from trickless._functions.stream import draw
from trickless._solvers.least_squares.gram import FLOOR, add_products, inner_products
from trickless._solvers.least_squares.ridge import solve
from trickless._solvers.least_squares.statistics import Statistics
from trickless.neurons import FromFunction, Gaussian


def rows(n, k, dtype="float32", seed=0):
    return (np.random.default_rng(seed).standard_normal((n, k)) + 2).astype(dtype)


def products(Z, Y, least_ridge=np.inf, n_jobs=None):
    gram, cross = np.zeros((Z.shape[1],) * 2), np.zeros((Z.shape[1], Y.shape[1]))
    rounded = add_products(gram, cross, Z.copy(order="K"), Y, least_ridge, n_jobs)
    return gram, cross, rounded


@pytest.mark.parametrize(
    "shape", [(1, 1), (700, 3), (9000, 30), (514, 256), (512, 257), (1100, 700), (520, 2100)]
)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 3e-7), ("float64", 1e-12)])
def test_tiles_add_up_to_the_gram_matrix(shape, dtype, tolerance):
    Z, Y = rows(*shape, dtype), rows(shape[0], 3, "float64", seed=1)
    Y[:, -1] = np.arange(1, 1 + shape[0]) % 3  # weights
    gram, cross, rounded = products(Z, Y)
    exact = Z.astype("float64") * Y[:, -1:]
    np.testing.assert_allclose(gram, exact.T @ exact, atol=tolerance * shape[0])
    np.testing.assert_allclose(cross, exact.T @ Y, atol=1e-11 * shape[0])
    np.testing.assert_array_equal(gram, gram.T)
    if shape[1] > 200:  # rows are about equally long
        square = (exact**2).sum() if dtype == "float32" else 0
        assert rounded == pytest.approx(square, rel=1e-6)


def test_activations_may_lie_column_by_column():
    Z, Y = rows(9000, 30), rows(9000, 2, "float64")
    for got, expected in zip(products(np.asfortranarray(Z), Y), products(Z, Y), strict=True):
        np.testing.assert_allclose(got, expected, atol=3e-7 * len(Z))


def test_products_are_added_to_what_is_there():
    Z, Y = rows(600, 300), rows(600, 1, "float64")
    gram, cross, _ = products(Z, Y)
    expected = 2 * gram, 2 * cross
    add_products(gram, cross, Z, Y, np.inf, None)
    for got, twice in zip((gram, cross), expected, strict=True):
        np.testing.assert_array_equal(got, twice)


@pytest.mark.parametrize("columns", [100, 900])
def test_threads_do_not_show_in_products_of_single_precision(columns):
    Z, Y = rows(6000, columns), rows(6000, 2, "float64")
    with threadpool_limits(3, "blas"):
        many = products(Z, Y)
    for one, other in zip(products(Z, Y, n_jobs=1), many, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("shape", "dtype", "threads"),
    [
        ((300, 50), "float64", 1),
        ((110_000, 50), "float64", 3),
        ((110_000, 50), "float32", 1),  # of BLAS; ours are more
    ],
)
def test_little_work_is_done_on_one_thread(shape, dtype, threads, monkeypatch):
    seen, pools = [], ThreadpoolController()

    class Watched(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            if ufunc is np.matmul:
                blas = [lib for lib in pools.info() if lib["user_api"] == "blas"]
                seen.extend(lib["num_threads"] for lib in blas)
                return np.zeros((inputs[0].shape[0], inputs[1].shape[1]), inputs[0].dtype)
            plain = [np.asarray(each) for each in inputs]
            if out := options.get("out"):
                options["out"] = tuple(np.asarray(each) for each in out)
            return getattr(ufunc, method)(*plain, **options)

    Z, Y = np.ones(shape, dtype).view(Watched), np.ones((shape[0], 1))
    monkeypatch.setattr(Host, "double", lambda self, Z: Z)
    with threadpool_limits(3, "blas"):
        add_products(np.zeros((shape[1],) * 2), np.zeros((shape[1], 1)), Z, Y, np.inf, None)
    assert set(seen) == {threads}


def summed(Z, y, least_ridge, weight=None, parts=1):
    statistics = Statistics(Z.shape[1], np.zeros(1))
    for some in np.array_split(np.arange(len(Z)), parts):
        part = None if weight is None else weight[some]
        statistics.add(Z[some].copy(), y[some][:, None], part, least_ridge)
    return statistics.moments()


def error(Z, weight=None, parts=1):
    """What rounding does to βᵀ (C + ρ) β at the least ridge ρ, relatively, for the worst β."""
    y = np.zeros(len(Z))
    single, exact = summed(Z, y, np.inf, weight, parts), summed(Z, y, 0.0, weight)
    ridge = FLOOR * exact.mean_square
    exact.covariance.flat[:: len(exact.covariance) + 1] += ridge
    difference = single.covariance - exact.covariance
    difference.flat[:: len(difference) + 1] += ridge
    return np.abs(linalg.eigh(difference, exact.covariance, eigvals_only=True)).max()


def normal(n=8192, d=6, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)).astype("float32")


def activations(family, X, k=200):
    family.fit(X, np.random.default_rng(1))
    return family(X, draw(family, np.random.default_rng(2), k // family.width, X.dtype))


KINDS = ["normal", "sorted", "few", "half zero", "rare"]
#: A kind of rows for every other family, since those next to each other are much alike.
OF_FAMILIES = [(name, KINDS[i % 5]) for i, name in enumerate(list(FAMILIES)[::2])]


@pytest.mark.parametrize(("name", "kind"), OF_FAMILIES)
def test_rounding_is_below_the_lightest_regularisation(name, kind):
    """Whatever the family, also where the same products come again and again."""
    family, X = clone(FAMILIES[name]), normal(d=4)
    if kind == "sorted":
        X = X[np.argsort(X[:, 0])]
    elif kind == "few":
        X = np.round(X)
    elif kind == "half zero":
        X[::2] = 0
    elif kind == "rare":
        X *= 0.05
        X[::97] *= 400
    Z = activations(family, suited(name, X))
    assert error(np.ascontiguousarray(Z, dtype="float32")) < 0.2


@pytest.mark.parametrize("scale", [1.5, 20.0])
@pytest.mark.parametrize("parts", [1, 5])
def test_predictions_hardly_depend_on_the_precision_of_products(scale, parts):
    """Wide Gaussians: columns are all alike, and at the lightest regularisation."""
    X = normal(8000, 10)
    Z, y = activations(Gaussian(scale), X, 300), np.sin(X[:, 0]).astype("float64")
    single, exact = summed(Z.copy(), y, np.inf, None, parts), summed(Z.copy(), y, 0.0)
    ridge = FLOOR * exact.mean_square
    assert single.least_ridge == pytest.approx(ridge) and exact.least_ridge == 0
    there, here = solve(exact, ridge), solve(single, ridge)
    change = Z @ (there.coef - here.coef) + there.intercept - here.intercept
    assert 0 < np.abs(change).max() < 2e-4 * y.std()


def heavy(n=8192, spread=2.5, k=100):
    """Rows of very different sizes in directions that are nearly one."""
    rng = np.random.default_rng(1)
    sizes = np.exp(spread * rng.standard_normal((n, 1)))
    X = sizes * (1 + 1e-3 * rng.standard_normal((n, 8)))
    return (X @ rng.standard_normal((8, k))).astype("float32")


@pytest.mark.parametrize("spread", [0.5, 2.5])
def test_heavy_rows_are_multiplied_in_double_precision(spread):
    assert error(heavy(spread=spread)) < 0.1


@pytest.mark.parametrize("alike", [0.01, 0.1])
def test_rows_that_are_alike_but_for_a_few_are_rounded(alike):
    """As where categories are rare: a wide Gaussian has rows near its mean and some far off."""
    X = alike * normal()
    X[::97] /= alike
    Z = activations(Gaussian(3.0), X)
    centred = ((Z - Z.mean(axis=0)) ** 2).sum(axis=1)
    assert centred.max() > 8 * centred.mean()
    assert summed(Z, np.zeros(len(Z)), np.inf).least_ridge > 0
    assert error(Z) < 0.02


def test_heavy_weights_are_multiplied_in_double_precision():
    weight = np.exp(4 * np.random.default_rng(0).standard_normal(8192))
    Z = activations(Gaussian(20.0), normal())
    assert error(Z, weight) < 0.1


def test_only_blocks_with_heavy_rows_are_multiplied_in_double_precision():
    Z = rows(2000, 20)
    Z[600] *= 100
    assert products(Z, np.ones((2000, 1)))[2] == pytest.approx(
        (np.delete(Z, np.s_[512:1024], axis=0).astype("float64") ** 2).sum(), rel=1e-6
    )


X = np.random.default_rng(0).standard_normal((5000, 3))
y = np.sin(X[:, 0]) + np.random.default_rng(1).normal(scale=0.05, size=5000)


def fitted(alpha, n_rows=5000, neurons=None, weight=None, **options):
    neurons = neurons or Gaussian(2.0)
    model = KitchenSinksRegressor(neurons, 30, alpha=alpha, random_state=0, **options)
    return model.fit(X[:n_rows], y[:n_rows], weight)


@pytest.mark.parametrize(
    ("alpha", "n_rows", "dtype", "rounded"),
    [
        ("auto", 5000, "float32", True),
        (1e-6, 5000, "float32", True),
        (1.5e-7, 5000, "float32", True),
        (1e-7, 5000, "float32", False),
        (0.0, 5000, "float32", False),
        ("auto", 4000, "float32", False),
        ("auto", 5000, "float64", False),
    ],
)
def test_products_are_in_single_precision_where_that_is_good_enough(alpha, n_rows, dtype, rounded):
    model = fitted(alpha, n_rows, dtype=dtype)
    assert model.statistics_.rounded == pytest.approx(30 * n_rows if rounded else 0, rel=1e-5)


def test_a_smaller_alpha_than_the_sums_are_good_for_is_refused():
    model = fitted(1e-3).set_params(alpha=1e-9).partial_fit(X, y)
    with pytest.raises(ValueError, match=r"alpha=1e-09 is below the rounding.*Remedy: call fit"):
        model.predict(X)
    assert model.set_params(alpha=1e-4).predict(X).shape == (5000,)
    assert fitted(1e-3, dtype="float64").set_params(alpha=1e-9).partial_fit(X, y).alpha_ == 1e-9


def sample(rng, n, n_features):
    return rng.standard_normal((n, n_features))


def test_later_activations_may_be_larger():
    far = X * np.linspace(0.01, 5, len(X))[:, None]
    options = {"alpha": 1e-6, "random_state": 0}
    neurons = FromFunction(sample, lambda X, W: X @ W.T)
    expected = KitchenSinksRegressor(neurons, 30, **options, dtype="float64").fit(far, y)
    model = KitchenSinksRegressor(neurons, 30, **options).fit(far, y)
    assert 0 < model.statistics_.rounded < np.trace(model.statistics_.gram)
    np.testing.assert_allclose(model.predict(far), expected.predict(far), atol=1e-3)


@pytest.mark.parametrize("scale", [1e-95, 1e-30, 1e30, 1e95])
def test_weights_of_any_size_give_the_same_model(scale):
    weight = np.random.default_rng(0).random(len(X))
    expected, model = (fitted(1e-3, weight=w) for w in (weight, scale * weight))
    np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=1e-5)


@pytest.mark.parametrize("scale", [1e-25, 1e15])
def test_activations_of_any_size_give_the_same_model(scale):
    def psi(X, W, scale=1.0):
        return scale * np.tanh(X @ W.T)

    expected = fitted("auto", neurons=FromFunction(sample, psi)).predict(X)
    model = fitted("auto", neurons=FromFunction(sample, lambda X, W: psi(X, W, scale)))
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-4)


def test_squares_that_single_precision_cannot_hold_are_in_double():
    Z = rows(1000, 20)
    Z[700] = 1e25
    gram, _, _ = products(Z, np.ones((1000, 1)))
    np.testing.assert_allclose(gram, 1e50, rtol=1e-6)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_values_that_are_not_finite_show_in_the_sums(wrong):
    Z = rows(1000, 20)
    Z[700, 3] = wrong
    gram, cross, _ = products(Z, np.ones((1000, 1)))
    assert not np.isfinite(gram[3]).any() and not np.isfinite(cross[3]).any()
    assert np.isfinite(np.delete(cross, 3)).all()


@pytest.mark.parametrize("shape", [(200, 1100), (600, 700), (5, 2000)])
def test_inner_products_of_rows_are_the_same_on_any_threads(shape):
    Z = np.random.default_rng(0).standard_normal(shape)
    found = inner_products(Z, 2)
    np.testing.assert_allclose(found, np.einsum("ik,jk->ij", Z, Z), rtol=1e-12, atol=1e-10)
    np.testing.assert_array_equal(found, inner_products(Z, 1))

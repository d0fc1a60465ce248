"""Every family: its kernel, its bound, its shapes."""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse
import scipy.special
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from cases import FAMILIES, SPARSE, inputs, suited
from trickless.neurons import (
    Cauchy,
    Coordinates,
    Deep,
    Dense,
    Ferns,
    Gaussian,
    Landmarks,
    Laplace,
    Laplace1,
    Layers,
    Matern,
    Mixture,
    Neurons,
    On,
    Periodic,
    RationalQuadratic,
    Stumps,
    Tabular,
    Tanimoto,
    Trees,
)
from trickless.neurons.composed import Product, Scaled
from trickless.neurons.named import make_neurons

N = 40_000

WITH_KERNEL = {
    "gaussian": lambda s: Gaussian(length_scale=s),
    "laplace": lambda s: Laplace(length_scale=s),
    "laplace1": lambda s: Laplace1(length_scale=s),
    "matern-0.8": lambda s: Matern(nu=0.8, length_scale=s),
    "matern-1.5": lambda s: Matern(nu=1.5, length_scale=s),
    "matern-2.5": lambda s: Matern(nu=2.5, length_scale=s),
    "rational-quadratic": lambda s: RationalQuadratic(mixture=0.6, length_scale=s),
    "cauchy": lambda s: Cauchy(length_scale=s),
    "periodic": lambda s: Periodic(3 * s, length_scale=0.8),
    "periodic-scale": lambda s: Periodic(2.0, length_scale=s),
    "periodic-locally": lambda s: Product([Gaussian(2 * s), On([0], Periodic(s, 0.7))]),
    "stumps": lambda s: Stumps(),
    "stumps-normal": lambda s: Stumps(thresholds="normal"),
    "coordinates": lambda s: Coordinates(scale=s),
    "erf": lambda s: Dense("erf", length_scale=s, bias_scale=0.7),
    "sign": lambda s: Dense("sign", length_scale=s, bias_scale=0.7),
    "step": lambda s: Dense("step", length_scale=s, bias_scale=0.7),
    "relu": lambda s: Dense("relu", length_scale=s, bias_scale=0.7),
    "deep-one-layer": lambda s: Deep((3,), "sign", length_scale=s, bias_scale=0.7),
    "deep-two-layers": lambda s: Deep((5, 2), "sign", length_scale=s, bias_scale=0.7),
    "ferns": lambda s: Ferns(),
    "ferns-normal": lambda s: Ferns(depth=2, thresholds="normal"),
    "tanimoto": lambda s: Tanimoto(),
    "mixture": lambda s: Mixture([Gaussian(s), Stumps(), On([0], Laplace(s))], [0.9, 0.5, 0.2]),
    "product": lambda s: Product([Gaussian(2 * s), On([0], Laplace(s)), Stumps()]),
    "on": lambda s: On([-1], Gaussian(s)),
    "scaled": lambda s: Scaled(Gaussian(s), 1.5),
    "layers": lambda s: Layers([Stumps(), Gaussian(s), Gaussian(1.0)], hidden=5),
    "landmarks": lambda s: Landmarks(Laplace1(s)),
    "landmarks-signed": lambda s: Landmarks(Coordinates(scale=s)),
    "tabular": lambda s: Tabular(smooth=0.4),
    "trees": lambda s: Trees(depth=2),
    "trees-linear": lambda s: Trees(depth=2, leaves="linear"),
    "trees-linear-deep": lambda s: Trees(depth=6, leaves="linear"),
    "trees-binary": lambda s: Trees(shape="binary", max_leaves=5),
}


def products(neurons, X, Y, rng, n=N):
    """ψ(x; w) · ψ(y; w) of n drawn neurons, for rows x, y in pairs: shape (rows, n)."""
    if neurons.width > 16 and n > 2000:  # in parts that need little memory
        return np.hstack([products(neurons, X, Y, rng, 2000) for _ in range(n // 2000)])
    w = neurons.draw(rng, n)
    a = neurons.activate(X, w).reshape(len(X), neurons.width, n)
    b = neurons.activate(Y, w).reshape(len(Y), neurons.width, n)
    return (a * b).sum(axis=1)


#: One family of each kind of neuron, for which one and ten features are tried as well as three.
KINDS = ("gaussian", "laplace1", "stumps", "coordinates", "sign", "relu", "tanimoto", "trees")


@pytest.mark.parametrize(
    ("name", "d", "scale"),
    [(name, 3, 0.7) for name in WITH_KERNEL] + [(name, d, 3.0) for name in KINDS for d in (1, 10)],
)
def test_mean_of_products_is_the_kernel(name, d, scale):
    rng = np.random.default_rng(1)
    train = suited(name, scale * inputs(200, d))
    X, Y = train[:6], np.vstack([train[6:9], train[:3] + 0.1])
    neurons = WITH_KERNEL[name](scale).fit(train, rng)
    each = products(neurons, X, Y, rng)
    error = each.std(axis=1, ddof=1) / np.sqrt(N)
    truth = np.diag(neurons.kernel(X, Y))
    assert (error < 0.0125).all()
    assert (np.abs(each.mean(axis=1) - truth) <= 5 * error + 1e-12).all()


@pytest.mark.parametrize("name", WITH_KERNEL)
def test_kernel_of_one_argument_is_that_of_the_rows_with_themselves(name):
    X = suited(name, inputs(8, 3))
    neurons = WITH_KERNEL[name](1.0).fit(X, np.random.default_rng(0))
    np.testing.assert_allclose(neurons.kernel(X), neurons.kernel(X, X), atol=1e-12)


@pytest.mark.parametrize("name", WITH_KERNEL)
def test_closed_forms_take_rows_like_those_of_the_fit(name):
    X = suited(name, inputs(6, 3))
    with pytest.raises(NotFittedError, match=r"this family is not fitted.*Remedy: neurons\.fit"):
        WITH_KERNEL[name](1.0).kernel(X)
    neurons = WITH_KERNEL[name](1.0).fit(X, np.random.default_rng(0))
    K = neurons.kernel(X)
    np.testing.assert_allclose(neurons.kernel(X.tolist(), X), K, atol=1e-12)
    rows = scipy.sparse.csr_array(X)
    if neurons.accepts_sparse:
        np.testing.assert_allclose(neurons.kernel(rows), K, atol=1e-12)
    else:
        with pytest.raises(TypeError, match=r"Sparse data was passed for X.*dense"):
            neurons.kernel(rows)
    for wrong in ((X[:, :-1], X), (X, X[:, :-1]), (np.hstack([X, X]), None)):
        with pytest.raises(ValueError, match=r"columns, but the neurons were fitted on .*Remedy"):
            neurons.kernel(*wrong)
    with pytest.raises(ValueError, match="Expected 2D array"):
        neurons.kernel(X[0])


def test_relu_kernel_test_sees_a_wrong_normalisation():
    """The Monte Carlo test has the power to tell 1/(d + 1) from 1/d at d = 10."""
    rng = np.random.default_rng(0)
    X = inputs(6, 10)
    neurons = Dense("relu").fit(X, rng)
    each = products(neurons, X, X, rng)
    error = each.std(axis=1, ddof=1) / np.sqrt(N)
    wrong = np.diag(neurons.kernel(X)) * 11 / 10
    assert (np.abs(each.mean(axis=1) - wrong) > 5 * error).all()


@pytest.mark.parametrize("name", FAMILIES)
def test_activations_have_the_declared_shape_dtype_and_bound(name):
    rng = np.random.default_rng(0)
    neurons = clone(FAMILIES[name]).fit(suited(name, inputs(50, 4)), rng)
    hostile = np.array(
        [[0, 0, 0, 0], [1e30, -1e30, 1e30, 1], [1e-310, 0, 5, 0], [-0.0, 1e-30, -1e5, 1]]
    )
    for dtype, slack in (("float32", 1e-6), ("float64", 1e-12)):
        X = suited(name, np.vstack([hostile, inputs(20, 4)])).astype(dtype)
        weights = tuple(
            w.astype(dtype) if w.dtype.kind == "f" else w for w in neurons.draw(rng, 70)
        )
        Z = neurons.activate(X, weights)
        assert Z.shape == (24, neurons.width * 70)
        assert Z.dtype == dtype
        assert np.isfinite(Z).all()
        norms = np.linalg.norm(Z.reshape(24, neurons.width, 70), axis=1)
        assert norms.max() <= neurons.bound + slack


@pytest.mark.parametrize(
    ("name", "sparse"), [(name, False) for name in FAMILIES] + [(name, True) for name in SPARSE]
)
def test_pairs_are_the_diagonal_of_all_activations(name, sparse):
    rng = np.random.default_rng(0)
    X = suited(name, inputs(21, 4))
    neurons = clone(FAMILIES[name]).fit(X, rng)
    weights = neurons.draw(rng, 21)
    every = neurons.activate(X, weights).reshape(21, neurons.width, 21)
    rows = scipy.sparse.csr_matrix(X) if sparse else X
    expected = np.diagonal(every, axis1=0, axis2=2).T
    np.testing.assert_allclose(neurons.activate_pairs(rows, weights), expected, atol=1e-12)
    default = Neurons.activate_pairs(neurons, X, weights)
    np.testing.assert_allclose(default, expected, atol=1e-12)


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_rows_give_what_dense_rows_give(name):
    X = suited(name, inputs(40, 5)) * (inputs(40, 5, seed=1) > 0.5)
    sparse = scipy.sparse.csr_matrix(X)
    dense_fit = clone(FAMILIES[name]).fit(X, np.random.default_rng(0))
    sparse_fit = clone(FAMILIES[name]).fit(sparse, np.random.default_rng(0))
    weights = dense_fit.draw(np.random.default_rng(1), 30)
    for a, b in zip(weights, sparse_fit.draw(np.random.default_rng(1), 30), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)
    np.testing.assert_allclose(
        sparse_fit.activate(sparse, weights), dense_fit.activate(X, weights), atol=1e-12
    )


@pytest.mark.parametrize("family", [Gaussian, Laplace])
def test_median_length_scale_is_the_median_distance_of_distinct_rows(family):
    X = np.array([[0.0], [1.0], [3.0], [3.0]])
    rng = np.random.default_rng(0)
    assert family().fit(X, rng).length_scale_ == 2.0  # of 1, 2, 2, 3, 3
    weighted = family().fit(X[:3], rng, np.array([1.0, 1.0, 2.0]))
    assert weighted.length_scale_ == 2.0
    assert family().fit(np.ones((5, 2)), rng).length_scale_ == 1.0


def test_median_length_scale_of_numbers_whose_squares_overflow_or_vanish():
    for unit in (2.0**996, 2.0**-996):
        X = unit * np.array([[0.0], [1.0], [3.0]])
        for rows in (X, scipy.sparse.csr_matrix(X)):
            assert Gaussian().fit(rows, np.random.default_rng(0)).length_scale_ == 2 * unit


def test_median_of_many_rows_comes_from_a_sample():
    X = inputs(5000, 3)
    a = Gaussian().fit(X, np.random.default_rng(0)).length_scale_
    exact = Gaussian().fit(X[:1000], np.random.default_rng(0)).length_scale_
    assert a != exact
    assert abs(a / exact - 1) < 0.1


def test_stumps_from_data_always_split_a_column_that_can_be_split():
    X = np.column_stack([np.repeat([0.0, 5.0], [99, 1]), np.linspace(0, 1e-6, 100), np.ones(100)])
    rng = np.random.default_rng(0)
    neurons = Stumps().fit(X, rng)
    column, threshold = neurons.draw(rng, 300)
    Z = neurons.activate(X, (column, threshold))
    split = np.abs(Z.mean(axis=0)) < 1
    np.testing.assert_array_equal(split, column != 2)


def test_stumps_split_adjacent_numbers():
    for dtype, pair in (("float32", [16777218, 16777220]), ("float64", [1, 1 + 2.0**-52])):
        X = np.array(pair, dtype=dtype)[:, None]
        rng = np.random.default_rng(0)
        column, threshold = Stumps().fit(X, rng).draw(rng, 5)
        Z = Stumps().activate(X, (column, threshold.astype(dtype)))
        np.testing.assert_array_equal(Z, [[-1] * 5, [1] * 5])


@pytest.mark.parametrize("activation", ["sign", "step", "relu"])
def test_rows_of_zeros_without_a_bias_have_no_activation_and_no_kernel(activation):
    X = np.vstack([np.zeros((2, 3)), inputs(2, 3)])
    neurons = Dense(activation, bias_scale=0.0).fit(X, np.random.default_rng(0))
    assert not neurons(X[:2], neurons.draw(np.random.default_rng(0), 50)).any()
    assert not neurons.kernel(X)[:2].any()
    assert (np.diag(neurons.kernel(X))[2:] > 0).all()


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_activations_keep_the_precision_of_the_rows(name):
    X = scipy.sparse.csr_matrix(suited(name, inputs(9, 3)).astype("float32"))
    neurons = clone(FAMILIES[name]).fit(X, np.random.default_rng(0))
    weights = neurons.draw(np.random.default_rng(0), 4)
    weights = tuple(w.astype("float32") if w.dtype.kind == "f" else w for w in weights)
    assert neurons.activate(X, weights).dtype == np.float32


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "dense-erf"])
def test_activations_need_only_the_array_api_standard(name):
    """Computed with arrays that have nothing but the standard (erf is not in it)."""
    X = suited(name, inputs(9, 4))
    neurons = clone(FAMILIES[name]).fit(X, np.random.default_rng(0))
    weights = neurons.draw(np.random.default_rng(0), 4)
    strict = neurons(array_api_strict.asarray(X), tuple(map(array_api_strict.asarray, weights)))
    assert type(strict).__module__.startswith("array_api_strict")
    np.testing.assert_allclose(np.asarray(strict), neurons(X, weights), atol=1e-12)


def test_stumps_and_coordinates_draw_columns_uniformly():
    for neurons in (Stumps(), Coordinates()):
        rng = np.random.default_rng(0)
        column = neurons.fit(inputs(20, 4), rng).draw(rng, 4000)[0]
        for j in range(4):
            assert binomtest(int((column == j).sum()), 4000, 0.25).pvalue > 1e-6


def test_names_stand_for_families_and_wrong_ones_are_refused():
    assert isinstance(make_neurons("laplace"), Laplace)
    neurons = Gaussian()
    assert make_neurons(neurons) is neurons
    with pytest.raises(ValueError, match=r"neurons='gausian'.*'gaussian'"):
        make_neurons("gausian")
    with pytest.raises(TypeError, match="is a class, but it must be an instance"):
        make_neurons(Gaussian)


@pytest.mark.parametrize(
    ("neurons", "message"),
    [
        (Gaussian(length_scale=-1.0), "Gaussian: length_scale=-1.0.*above 0.*Remedy"),
        (Gaussian(length_scale="mean"), "length_scale='mean'"),
        (Gaussian(length_scale=10**400), "Gaussian: length_scale=1000.*Remedy"),
        (Gaussian(length_scale=["1", "2"]), r"length_scale=\['1', '2'\].*Remedy"),
        (Gaussian(length_scale=[True, True]), r"length_scale=\[True, True\].*Remedy"),
        (Stumps(feature_weights=[10**400, 1]), "Stumps: feature_weights=.*Remedy"),
        (Stumps(thresholds="uniform"), "thresholds='uniform'.*'data' or 'normal'"),
        (Stumps(feature_weights="auto"), "feature_weights='auto'.*None draws all features"),
        (Stumps(feature_weights=[1.0, -1.0]), r"feature_weights=\[1.0, -1.0\].*at least 0"),
        (Stumps(feature_weights=[0.0, 0.0]), "not all 0"),
        (Ferns(feature_weights=[1.0, np.inf]), "Ferns: feature_weights.*finite"),
        (Ferns(feature_weights=[1.0]), "Ferns: feature_weights has 1 values, but X has 2 feat"),
        (Dense("gelu"), "activation='gelu'"),
        (Dense(bias_scale=-2.0), "bias_scale=-2.0"),
        (Coordinates(scale=0), "scale=0"),
        (Deep(hidden=(8, 0)), r"Deep: hidden=\(8, 0\).*tuple of integers of at least 1"),
        (Deep(hidden=8), "hidden=8"),
        (Deep(activation="gelu"), "activation='gelu'"),
        (Ferns(depth=9), "Ferns: depth=9.*integer from 1 to 8"),
        (Ferns(thresholds="uniform"), "thresholds='uniform'"),
    ],
)
def test_bad_parameters_are_named(neurons, message):
    with pytest.raises((TypeError, ValueError), match=message):
        neurons.fit(inputs(5, 2), np.random.default_rng(0))


def test_a_family_without_a_closed_form_says_so():
    with pytest.raises(NotImplementedError, match="Dense has no closed-form kernel"):
        Dense("tanh").fit(inputs(2, 2), np.random.default_rng(0)).kernel(inputs(2, 2))


REFERENCE = {
    "tanh": np.tanh,
    "erf": scipy.special.erf,
    "sigmoid": scipy.special.expit,
    "sign": lambda t: np.where(t > 0, 1.0, -1.0),
    "step": lambda t: np.where(t > 0, 1.0, 0.0),
}


@pytest.mark.parametrize("activation", REFERENCE)
def test_hidden_units_are_the_nonlinearity_of_an_affine_function(activation):
    X = inputs(20, 3)
    neurons = Dense(activation, length_scale=2.0, bias_scale=0.3).fit(X, np.random.default_rng(0))
    (w,) = neurons.draw(np.random.default_rng(0), 15)
    expected = REFERENCE[activation](X / 2 @ w[:, :3].T + 0.3 * w[:, 3])
    np.testing.assert_allclose(neurons.activate(X, (w,)), expected, atol=1e-12)


def test_rectified_units_see_the_direction_of_their_input():
    X = inputs(20, 3)
    neurons = Dense("relu", length_scale=2.0, bias_scale=0.3).fit(X, np.random.default_rng(0))
    (w,) = neurons.draw(np.random.default_rng(0), 15)
    extended = np.column_stack([X / 2, np.full(20, 0.3)])
    cosine = extended @ w.T / np.linalg.norm(extended, axis=1)[:, None]
    np.testing.assert_allclose(np.linalg.norm(w, axis=1), 1)
    np.testing.assert_allclose(neurons.activate(X, (w,)), np.maximum(cosine, 0), atol=1e-12)


def test_fourier_columns_are_cosines_and_then_sines():
    X = np.zeros((1, 2))
    neurons = Gaussian(1.0).fit(X, np.random.default_rng(0))
    Z = neurons.activate(X, neurons.draw(np.random.default_rng(0), 3))
    np.testing.assert_array_equal(Z, [[1, 1, 1, 0, 0, 0]])


def test_a_sample_of_rows_follows_their_weights():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((2500, 2)), 1000 + 50 * rng.standard_normal((2500, 2))])
    for weight, scale in ((np.repeat([1, 1e-9], 2500), 1), (np.repeat([1e-9, 1], 2500), 50)):
        length = Gaussian().fit(X, np.random.default_rng(0), weight).length_scale_
        assert 1.2 * scale < length < 2.2 * scale


def test_a_sample_of_weighted_rows_is_one_of_repeated_rows():
    rng = np.random.default_rng(0)
    near, far = rng.standard_normal((750, 2)), 30 * rng.standard_normal((750, 2))
    X, weight = np.concatenate([near, far]), np.repeat([9.0, 1.0], 750)
    lengths = [
        [
            Gaussian().fit(rows, np.random.default_rng(seed), weights).length_scale_
            for seed in range(20)
        ]
        for rows, weights in ((X, weight), (np.repeat(X, weight.astype(int), axis=0), None))
    ]
    error = np.sqrt(np.var(lengths, axis=1, ddof=1).sum() / 20)
    assert abs(np.subtract(*np.mean(lengths, axis=1))) < 4 * error + 0.02


@pytest.mark.parametrize("family", [Dense(), Deep((8,)), Coordinates()])
def test_scales_of_a_grid_leave_the_precision_of_rows(family):
    X = inputs(20, 3).astype("float32")
    name = "scale" if "scale" in family.get_params() else "length_scale"
    family = family.set_params(**{name: np.float64(2.0)}).fit(X, np.random.default_rng(0))
    weights = tuple(
        w.astype("float32") if w.dtype.kind == "f" else w
        for w in family.draw(np.random.default_rng(0), 20)
    )
    assert family.activate(X, weights).dtype == np.float32
    assert family.activate_pairs(X, weights).dtype == np.float32

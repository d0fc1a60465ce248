"""Spectral families: their spectra, length scales, and ways of drawing frequencies."""

import pickle
import warnings
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.special import gammaln, kv
from scipy.stats import f as f_distribution
from scipy.stats import kstest, qmc
from sklearn.base import clone
from sklearn.metrics.pairwise import laplacian_kernel

from cases import inputs
from trickless import DoublyStochasticRegressor, KitchenSinksRegressor, ShrinkingGradientRegressor
from trickless.inspection import Expansion
from trickless.neurons import (
    Cauchy,
    Gaussian,
    Laplace,
    Laplace1,
    Matern,
    RationalQuadratic,
)
from trickless.neurons.points import SAMPLINGS

ISOTROPIC = {
    "gaussian": Gaussian,
    "laplace": Laplace,
    "matern": lambda *a, **k: Matern(0.8, *a, **k),
    "rational-quadratic": lambda *a, **k: RationalQuadratic(0.6, *a, **k),
}
FOURIER = ISOTROPIC | {"cauchy": Cauchy, "laplace1": Laplace1}
BLOCK, BLOCKS = 256, 700
#: Ways of drawing neurons that depend on one another, for every family, with numbers of features.
DEPENDENT = [
    *((name, "orthogonal", 5) for name in ISOTROPIC),
    ("gaussian", "orthogonal", 2),
    *((name, "sobol", 3) for name in FOURIER),
]


def fitted(neurons, d):
    return neurons.fit(inputs(4, d), np.random.default_rng(0))


def block_means(neurons, delta, blocks=BLOCKS, n=BLOCK, seed=0):
    """Estimates of k(x, x + δ) by independent draws of n neurons, shape (blocks, len(delta))."""
    draws = [neurons.draw(np.random.default_rng([seed, b]), n)[0] for b in range(blocks)]
    return np.array([np.cos(w @ delta.T).mean(axis=0) for w in draws])


def kernel_at(neurons, delta):
    return neurons.kernel(np.zeros((1, delta.shape[1])), delta)[0]


def shifts(d):
    """Differences of one length scale or so, along an axis and across the axes."""
    return np.vstack([np.eye(1, d), np.full((1, d), 0.8 / np.sqrt(d)), inputs(1, d) / np.sqrt(d)])


@pytest.mark.parametrize(("name", "sampling", "d"), [("gaussian", "iid", 3), *DEPENDENT])
def test_estimates_from_blocks_are_unbiased(name, sampling, d):
    neurons = fitted(FOURIER[name](1.0, sampling=sampling), d)
    delta = shifts(d)
    means = block_means(neurons, delta)
    error = means.std(axis=0, ddof=1) / np.sqrt(BLOCKS)
    assert (error < 0.0024).all()
    assert (np.abs(means.mean(axis=0) - kernel_at(neurons, delta)) <= 5 * error).all()


@pytest.mark.parametrize("d", [1, 3, 10])
@pytest.mark.parametrize("name", FOURIER)
def test_each_feature_may_have_a_length_scale(name, d):
    scales = np.linspace(0.5, 2.0, d)
    neurons = fitted(FOURIER[name](scales), d)
    delta = np.vstack([scales * shifts(d), scales[0] * np.eye(1, d)])
    means = block_means(neurons, delta, blocks=250)
    error = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    assert (error < 0.01).all()
    assert (np.abs(means.mean(axis=0) - kernel_at(neurons, delta)) <= 5 * error).all()
    divided = fitted(FOURIER[name](1.0), d)
    X, Y = inputs(6, d), inputs(5, d, seed=1)
    np.testing.assert_allclose(neurons.kernel(X, Y), divided.kernel(X / scales, Y / scales))


@pytest.mark.parametrize(
    ("name", "sampling", "d", "blocks"),
    [
        ("gaussian", "orthogonal", 4, 300),
        ("gaussian", "orthogonal", 64, 300),
        ("gaussian", "structured", 256, 200),
        ("rational-quadratic", "orthogonal", 16, 1000),
        *((name, "sobol", 3, 300) for name in ("gaussian", "matern", "laplace1")),
    ],
)
def test_dependent_frequencies_have_less_variance(name, sampling, d, blocks):
    """For normal means, the ratio of the variances over blocks has an F distribution."""
    delta = inputs(1, d, seed=5)
    delta /= np.linalg.norm(delta)
    dependent, independent = (
        block_means(fitted(FOURIER[name](1.0, sampling=s), d), delta, blocks, seed=3).var(ddof=1)
        for s in (sampling, "iid")
    )
    assert dependent / independent < f_distribution.ppf(1e-6, blocks - 1, blocks - 1)


@pytest.mark.parametrize(("name", "d"), [("gaussian", 256), *((name, 300) for name in ISOTROPIC)])
def test_the_bias_of_structured_frequencies_is_below_what_can_be_seen(name, d):
    neurons = fitted(ISOTROPIC[name](1.0, sampling="structured"), d)
    delta = np.vstack([shifts(d), np.repeat([1 / np.sqrt(2), 0], [2, d - 2])])
    means = block_means(neurons, delta, blocks=200)
    error = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    assert (error < 0.004).all()
    assert (np.abs(means.mean(axis=0) - kernel_at(neurons, delta)) <= 5 * error).all()


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("n", [1, 2, 3, 255, 256, 257, 600])
def test_any_number_can_be_drawn_and_its_vectors_are_standard_normal(sampling, n):
    d = max(3, SAMPLINGS[sampling].least)
    z, g = SAMPLINGS[sampling].draw(np.random.default_rng(0), n, d, 1)
    assert z.shape == (n, d)
    assert g.shape == (n, 1)
    assert np.isfinite(z).all()
    assert np.isfinite(g).all()
    assert SAMPLINGS[sampling].draw(np.random.default_rng(0), n, d, 0)[1].shape == (n, 0)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_numbers_of_a_draw_are_standard_normal(sampling):
    """Numbers of different draws are independent: one coordinate of one vector of each."""
    d = max(5, SAMPLINGS[sampling].least)
    draws = [SAMPLINGS[sampling].draw(np.random.default_rng(s), 7, d, 1) for s in range(1500)]
    for numbers in (
        [z[6, 2] for z, _ in draws],
        [z[0, 0] for z, _ in draws],
        [(z[5] * np.eye(1, d, 1)).sum() - z[5, 0] for z, _ in draws] / np.sqrt(2),
        [g[3, 0] for _, g in draws],
    ):
        assert kstest(numbers, "norm").pvalue > 1e-6


@pytest.mark.parametrize(("sampling", "d"), [("orthogonal", 3), ("structured", 256)])
def test_directions_are_orthogonal_in_groups(sampling, d):
    z, _ = SAMPLINGS[sampling].draw(np.random.default_rng(0), 2 * d + 1, d, 0)
    for group in (z[:d], z[d : 2 * d]):
        products = group @ group.T
        lengths = np.sqrt(np.diag(products))
        np.testing.assert_allclose(products / np.outer(lengths, lengths), np.eye(d), atol=1e-10)
    directions = z / np.linalg.norm(z, axis=1, keepdims=True)
    assert np.median(np.abs(directions[:d] @ directions[d:].T)) > 0.1 / np.sqrt(d)


def test_fewer_frequencies_than_features_are_orthogonal():
    z, _ = SAMPLINGS["orthogonal"].draw(np.random.default_rng(0), 20, 50, 0)
    products = z @ z.T
    np.testing.assert_allclose(products, np.diag(np.diag(products)), atol=1e-10)


def test_matern_is_the_bessel_formula_near_and_far():
    X = np.concatenate([[0, 1e-300, 1e-12], np.geomspace(1e-6, 30, 40), [1e4, 1e30]])[:, None]
    for nu in (1e-3, 0.3, 0.5, 1, 1.5, 2.2, 2.5, 7.3, 50):
        k = fitted(Matern(nu, 1.0), 1).kernel(X, X[:1])[:, 0]
        assert k[0] == 1
        assert np.isfinite(k).all()
        assert (k[-2:] == 0).all() or nu < 0.1
        assert (np.diff(k) <= 1e-12).all()
        middle = slice(23, 38)  # where nothing overflows
        r = np.sqrt(2 * nu) * X[middle, 0]
        formula = np.exp((1 - nu) * np.log(2) - gammaln(nu) + nu * np.log(r)) * kv(nu, r)
        np.testing.assert_allclose(k[middle], formula, rtol=1e-9)
    near = fitted(Matern(50, 1.0), 1).kernel(X[:10], X[:1])[:, 0]
    gaussian = fitted(Gaussian(1.0), 1).kernel(X[:10], X[:1])[:, 0]
    np.testing.assert_allclose(near, gaussian, atol=1e-9)


def test_closed_forms_of_matern_join_the_bessel_formula():
    X = inputs(20, 3)
    for nu in (0.5, 1.5, 2.5):
        exact, near = (fitted(Matern(n, 1.3), 3).kernel(X) for n in (nu, nu * (1 + 1e-9)))
        np.testing.assert_allclose(exact, near, atol=1e-7)
    np.testing.assert_allclose(
        fitted(Matern(0.5, 1.3), 3).kernel(X), fitted(Laplace(1.3), 3).kernel(X)
    )


def test_the_1_norm_is_that_of_scikit_learn():
    X = inputs(6, 3)
    np.testing.assert_allclose(
        fitted(Laplace1(4.0), 3).kernel(X), laplacian_kernel(X, gamma=0.25), rtol=1e-12
    )
    X = np.array([[0.0, 0.0], [1.0, 1.0]])
    assert Laplace1().fit(X, np.random.default_rng(0)).length_scale_ == 2.0
    sparse = scipy.sparse.csr_matrix(X)
    assert Laplace1().fit(sparse, np.random.default_rng(0)).length_scale_ == 2.0


def test_independent_draws_of_old_models_come_back():
    """The stream of weights is part of saved models."""
    for family, divided in ((Gaussian, False), (Laplace, True)):
        (w,) = fitted(family(1.3), 4).draw(np.random.default_rng(5), 30)
        rng = np.random.default_rng(5)
        z = rng.standard_normal((30, 4))
        expected = z / np.abs(rng.standard_normal((30, 1))) if divided else z
        np.testing.assert_array_equal(w, expected / 1.3)


@pytest.mark.parametrize(
    ("name", "sampling"), [*product(FOURIER, ("iid", "sobol")), ("tiny", "iid")]
)
def test_heavy_tails_stay_finite(name, sampling):
    make = FOURIER.get(name, lambda *a, **k: Matern(1e-3, *a, **k))
    neurons = make(0.5, sampling=sampling)
    (w,) = fitted(neurons, 3).draw(np.random.default_rng(0), 20_000)
    assert np.isfinite(w).all()
    for extreme in (0.0, -0.0, 1e-300, -40.0, 40.0):
        z, g = np.ones((1, 3)), np.full((1, int(neurons.mixed)), extreme)
        assert np.abs(neurons.frequencies(z, g)).max() <= 1.1e6
        assert np.abs(neurons.frequencies(np.full((1, 3), extreme), 1 + g)).max() <= 1e8
    X = np.array([[1e30, -1e30, 1e30], [0, -0.0, 1e-310]])
    for dtype in ("float32", "float64"):
        assert np.isfinite(neurons.activate(X.astype(dtype), (w.astype(dtype),))).all()


@pytest.mark.parametrize("name", FOURIER)
def test_sparse_rows_have_the_kernel_of_dense_rows(name):
    X = inputs(8, 3) * (inputs(8, 3, seed=1) > 0)
    sparse = scipy.sparse.csr_matrix(X)
    for scale in (0.7, [0.5, 1.0, 2.0]):
        neurons = fitted(FOURIER[name](scale), 3)
        np.testing.assert_allclose(
            neurons.kernel(sparse, sparse[:3]), neurons.kernel(X, X[:3]), atol=1e-7
        )


def test_length_scales_of_features_are_parameters_like_others():
    X, y = inputs(200, 2), inputs(200, 1, seed=1)[:, 0]
    for scale in (np.array([1.0, 2.0]), [1.0, 2.0]):
        neurons = clone(Gaussian(scale))
        assert "2." in repr(neurons)
        model = KitchenSinksRegressor(neurons, n_neurons=50, random_state=0)
        model.partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
        expected = model.predict(X)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), expected)
        once = clone(model).partial_fit(X, y)
        np.testing.assert_allclose(once.predict(X), expected, atol=1e-3)
        model.set_params(neurons__length_scale=np.array([1.0, 3.0]))
        with pytest.raises(ValueError, match="the model was begun with"):
            model.partial_fit(X, y)
    neurons.length_scale[0] = 9.0
    assert model.neurons_.length_scale_[0] == 1.0


def test_length_scales_of_features_can_be_searched():
    X = inputs(300, 2)
    y = np.sin(3 * X[:, 0])
    grid = {"neurons__length_scale": [np.array([5.0, 0.3]), np.array([0.5, 5.0])]}
    model = KitchenSinksRegressor("gaussian", n_neurons=100, search=grid, random_state=0)
    np.testing.assert_array_equal(model.fit(X, y).neurons_.length_scale_, [0.5, 5.0])


@pytest.mark.parametrize(
    ("neurons", "message"),
    [
        (Gaussian([1.0, 2.0]), "Gaussian: length_scale has 2 values, but X has 3.*Remedy"),
        (Gaussian(np.array([1.0, 0.0, 1.0])), "length_scale=array.*above 0"),
        (Gaussian([1.0, np.nan, 1.0]), "length_scale=.*above 0"),
        (Gaussian([[1.0, 2.0, 3.0]]), "length_scale=.*one for each feature"),
        (Gaussian(["a", "b", "c"]), "length_scale=.*one for each feature"),
        (Gaussian([[1.0], [2.0, 3.0]]), "length_scale=.*one for each feature"),
        (Gaussian(sampling="halton"), "sampling='halton'.*'orthogonal' or 'sobol'"),
        (Gaussian(sampling="structured"), "needs 256 features or more.*has 3.*'orthogonal'"),
        (Cauchy(sampling="orthogonal"), "'iid' or 'sobol'. Remedy: .*Euclidean"),
        (Laplace1(sampling="structured"), "'iid' or 'sobol'"),
        (Matern(nu=0), "nu=0.*above 0 and at most 50"),
        (Matern(nu=60.0), "nu=60.0"),
        (RationalQuadratic(mixture=-1.0), "mixture=-1.0"),
    ],
)
def test_bad_parameters_are_named_of_fourier(neurons, message):
    with pytest.raises(ValueError, match=message):
        fitted(neurons, 3)


def test_a_sobol_sequence_has_only_so_many_coordinates():
    for family, most in ((Gaussian, 21_201), (Laplace, 21_200)):
        neurons = family(1.0, sampling="sobol")
        neurons.fit(scipy.sparse.csr_matrix((2, most)), np.random.default_rng(0))
        with pytest.raises(ValueError, match=rf"for at most {most:,} features.*sampling='iid'"):
            neurons.fit(scipy.sparse.csr_matrix((2, most + 1)), np.random.default_rng(0))
    (w,) = fitted(Laplace(1.0, sampling="sobol"), 21_200).draw(np.random.default_rng(0), 1)
    assert w.shape == (1, 21_200)


def test_a_sobol_sequence_that_begins_with_zero_stays_finite(monkeypatch):
    monkeypatch.setattr(qmc, "Sobol", partial(qmc.Sobol, scramble=False))
    z, _ = SAMPLINGS["sobol"].draw(np.random.default_rng(0), 4, 3, 0)
    assert (z[0] < -6).all()
    assert np.isfinite(z).all()


@pytest.mark.parametrize("sampling", ["orthogonal", "sobol"])
def test_errors_and_certificates_are_refused_for_dependent_neurons(sampling):
    X = inputs(60, 2)
    y = np.sin(X[:, 0])
    assert Gaussian().independent
    neurons = fitted(Gaussian(1.0, sampling=sampling), 2)
    assert not neurons.independent
    f = Expansion(neurons, X, y[:, None])
    dependent = rf"independent.*sampling='{sampling}' depend .*Remedy: sampling='iid'"
    with pytest.raises(ValueError, match=f"Expansion: a standard error needs.*{dependent}"):
        f.estimate(X, 10)
    with pytest.raises(ValueError, match=f"Expansion: a certificate needs.*{dependent}"):
        f.certify(X, 0.1)
    with pytest.raises(ValueError, match=f"Network: a standard error needs.*{dependent}"):
        f.freeze(10).estimate(X)
    model = ShrinkingGradientRegressor(neurons, 100, n_draws=50, random_state=0).fit(X, y)
    assert model.predict(X).shape == (60,)
    for asked in ({"return_standard_error": True}, {"tolerance": 0.5}):
        with pytest.raises(ValueError, match=dependent):
            model.predict(X, **asked)
    for learner in (
        ShrinkingGradientRegressor(neurons, schedule="theorem", horizon=60),
        DoublyStochasticRegressor(neurons, schedule="theorem"),
    ):
        with pytest.raises(ValueError, match=f"schedule='theorem' needs.*{dependent}"):
            learner.fit(X, y)


def test_a_standard_error_would_be_too_small_for_some_orthogonal_neurons():
    """In the plane, cos 4θ is the same for orthogonal directions: half of the draws say nothing."""
    d, n, runs = 2, 200, 400
    draws = [
        SAMPLINGS["orthogonal"].draw(np.random.default_rng(s), n, d, 0)[0] for s in range(runs)
    ]
    values = np.array([np.cos(4 * np.arctan2(w[:, 1], w[:, 0])) for w in draws])
    claimed = values.var(axis=1, ddof=1).mean() / n
    ratio = values.mean(axis=1).var(ddof=1) / claimed
    assert ratio > f_distribution.ppf(1 - 1e-6, runs - 1, runs * (n - 1))


def test_rows_too_close_for_a_length_scale_are_refused():
    X = 1e-310 * inputs(20, 2)
    for rows in (X, scipy.sparse.csr_matrix(X)):
        with pytest.raises(ValueError, match=r"Gaussian: the median distance .*Remedy: scale X"):
            Gaussian().fit(rows, np.random.default_rng(0))


def test_columns_in_other_units_are_warned_of():
    X = inputs(200, 4) * [1, 300.0, 1, 8]
    family = Gaussian()
    with pytest.warns(UserWarning, match=r"column 1 varies at least [23]\d\d times as much"):
        family.fit(X, np.random.default_rng(0))
    frame = pd.DataFrame(X, columns=["age", "income", "score", "rate"])
    y = X[:, 0]
    with pytest.warns(UserWarning, match=r"column 'age', 'score', because column 'income'"):
        KitchenSinksRegressor(n_neurons=20, random_state=0).fit(frame, y)
    with pytest.warns(UserWarning, match=r"Remedy: StandardScaler .* Laplace1\(length_scale="):
        KitchenSinksRegressor(Laplace1(), n_neurons=20, random_state=0).fit(frame, y)


@pytest.mark.parametrize(
    "X",
    [
        inputs(200, 4) * [1, 90.0, 1, 2],  # within a factor of 100
        inputs(200, 4) * [1, 1e4, 1, 2] * (inputs(200, 4, 1) > [1, -9, 1, 1]),  # mostly 0
        np.column_stack([inputs(200, 2), np.ones(200)]) * [1, 1, 1e6],  # a constant
        scipy.sparse.csr_matrix(inputs(200, 4) * [1, 1e4, 1, 1]),
        inputs(1, 4) * [1, 1e4, 1, 1],
    ],
)
def test_columns_that_are_alike_are_not_warned_of(X):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X has one row")
        Gaussian().fit(X, np.random.default_rng(0))


def test_scales_that_are_given_or_learned_are_not_warned_of():
    X = inputs(200, 3) * [1, 1e4, 1]
    for family in (Gaussian(3.0), Gaussian([1.0, 1e4, 1.0]), Gaussian("relevance")):
        KitchenSinksRegressor(family, 20, random_state=0).fit(X, X[:, 0])


def test_length_scales_are_found_by_default():
    """A chirp on 1,000 points, which the median of distances cannot follow."""
    x = np.linspace(0, 1, 1000)[:, None]
    y = np.sin(12 * np.pi * x[:, 0] ** 2)
    model = KitchenSinksRegressor(random_state=0).fit(x[::2], y[::2])
    assert model.score(x[1::2], y[1::2]) > 0.9999
    median = KitchenSinksRegressor(Gaussian("median"), random_state=0).fit(x[::2], y[::2])
    assert median.score(x[1::2], y[1::2]) < 0.5
    few = KitchenSinksRegressor(random_state=0).fit(x[::60], y[::60]).neurons_  # 17 rows
    plain = Gaussian("median").fit(x[::60], np.random.default_rng(0))
    assert few.length_scale_ == pytest.approx(plain.length_scale_)


def test_kernels_too_rough_for_single_precision_say_so():
    X = inputs(100, 60)
    with pytest.warns(UserWarning, match=r"Matern: at the scale of X, dtype='float32' gives \d+%"):
        KitchenSinksRegressor(Matern(0.05, 10.0), 20, random_state=0).fit(X, X[:, 0])
    for family, dtype in ((Matern(0.05, 10.0), "float64"), (Matern(0.5, 10.0), "float32")):
        KitchenSinksRegressor(family, 20, random_state=0, dtype=dtype).fit(X, X[:, 0])

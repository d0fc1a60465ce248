"""Estimates of ⟨f, Φ(x)⟩: unbiased, with honest standard errors."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse

from cases import inputs
from expansions import ALPHAS, FAMILIES, expansion
from trickless._arrays.threads import worthwhile
from trickless._functions.certificate import certified
from trickless.inspection import Expansion
from trickless.neurons import Gaussian

ESTIMATORS = ("index", "stratified", "full", "auto")


def exact(f, X):
    return f.neurons.kernel(X, f.support) @ f.dual_coef


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("family", FAMILIES)
def test_estimates_are_unbiased_and_their_errors_honest(family, alpha, estimator):
    f = expansion(family, alpha)
    X = inputs(3, 3, seed=5)
    runs = [f.estimate(X, 200, estimator, s) for s in range(150)]
    values, errors = (np.array(array) for array in zip(*runs, strict=True))
    spread = values.std(axis=0, ddof=1)
    assert (np.abs(values.mean(axis=0) - exact(f, X)) < 5 * spread / np.sqrt(150)).all()
    # The sample variance of 150 runs has a relative standard error of about √(2 / 149) = 11.6 %;
    # the mean of 150 reported variances is better known than that.
    ratio = (errors**2).mean(axis=0) / spread**2
    slack = 5 * np.sqrt(2 / 149)
    assert (ratio > 1 - slack).all()
    # Differences of neighbouring strata hold something of what stratification takes away.
    assert (ratio < (1.5 if estimator == "stratified" else 1) + slack).all()


def test_variance_stays_below_the_bounds_of_the_theory():
    f = expansion()
    X = inputs(20, 3, seed=5)
    m = 500
    one = Expansion(f.neurons, f.support, f.dual_coef[:, :1])
    norm_1 = np.abs(one.dual_coef).sum()
    norm_2 = (one.dual_coef.T @ f.neurons.kernel(f.support) @ one.dual_coef).item() ** 0.5
    for estimator, norm in (("index", norm_1), ("full", norm_2)):
        errors = [one.estimate(X, m, estimator, s)[1] for s in range(30)]
        assert np.sqrt((np.array(errors) ** 2).mean(axis=0)).max() < norm / np.sqrt(m) * 1.1


def test_frozen_network_predicts_what_the_expansion_does():
    f = expansion(t=60)
    X = inputs(50, 3, seed=5)
    for estimator in ("index", "full"):
        network = f.freeze(4000, estimator, random_state=0)
        assert network.n_neurons == 4000
        value, error = network.estimate(X)
        np.testing.assert_allclose(network(X), value, atol=1e-9)
        assert (np.abs(value - exact(f, X)) < 5 * error).all()


def test_values_are_the_sums_over_the_support():
    f = expansion(t=1100)
    weights = f.neurons.draw(np.random.default_rng(0), 300)
    Z = f.neurons.activate(f.support, weights).reshape(1100, 2, 300)
    expected = np.einsum("tkn,to->nko", Z, f.dual_coef)
    np.testing.assert_allclose(f.values(weights), expected, atol=1e-9)
    for n_jobs in (1, 3):
        threaded = Expansion(f.neurons, f.support, f.dual_coef, n_jobs)
        np.testing.assert_allclose(threaded.values(weights), expected, atol=1e-9)


def test_a_function_of_no_size_has_no_variance():
    f = expansion(t=30)
    nothing = Expansion(f.neurons, f.support, 0 * f.dual_coef)
    assert nothing.variances(f.support) == (0, 0, 0, 0, 0, 0, 3)
    assert nothing.freeze(7).coef.shape == (7, f.neurons.width, 2)
    np.testing.assert_array_equal(nothing.estimate(f.support, 5)[0], 0)


def test_a_certificate_has_the_confidence_that_was_asked_for():
    f, X = expansion(t=30), inputs(3, 3, seed=1)
    for confidence in (0.5, 0.99):
        tolerance = np.full(2, 0.2 * np.abs(f.dual_coef).sum())
        rng, most = np.random.default_rng(0), np.abs(f.dual_coef).sum(axis=0) * f.neurons.bound**2
        fresh = partial(f.freeze, random_state=rng)
        expected = certified(fresh, X, most, tolerance, 1 - confidence)
        got = f.certify(X, tolerance, confidence, np.random.default_rng(0))
        np.testing.assert_array_equal(got, expected)


def test_threads_are_told_how_many_activations_there_are(monkeypatch):
    told = []

    def recorded(n_jobs, n_activations):
        told.append(n_activations)
        return worthwhile(n_jobs, n_activations)

    monkeypatch.setattr("trickless._functions.expansion.worthwhile", recorded)
    f = expansion(t=50)
    f.freeze(30)
    assert told == [50 * 30 * f.neurons.width]


@pytest.mark.parametrize("outputs", [1, 2])
def test_stratified_draws_take_one_point_a_stratum(outputs):
    f = expansion(t=50)
    f.dual_coef = f.dual_coef[:, :outputs]
    rng = np.random.default_rng(5)
    weights = f.neurons.draw(rng, 30)
    u = (np.arange(30) + rng.random(30)) / 30
    key = [tuple(row[::-1]) for row in f.dual_coef > 0]
    order = sorted(range(50), key=lambda i: key[i])
    norm = np.linalg.norm(f.dual_coef, axis=1)
    total = np.cumsum(norm[order])
    index = [order[next(i for i in range(50) if total[i] > v * total[-1])] for v in u]
    psi = f.neurons.activate_pairs(f.support[index], weights)
    expected = norm.sum() / 30 * psi[:, :, None] * (f.dual_coef / norm[:, None])[index][:, None, :]
    network = f.freeze(30, "stratified", np.random.default_rng(5))
    np.testing.assert_allclose(network.coef, expected, atol=1e-12)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("family", FAMILIES)
def test_no_method_is_worse_than_index_sampling(family, alpha):
    """Stratified and full estimates of 150 runs: their variance is at most that of index draws."""
    f = expansion(family, alpha)
    x = inputs(3, 3, seed=5)
    variance = {
        estimator: np.var([f.estimate(x, 60, estimator, s)[0] for s in range(150)], axis=0).mean()
        for estimator in ("index", "stratified", "full")
    }
    slack = 1 + 5 * np.sqrt(2 / 149)  # of a ratio of two variances of 150 runs, means of six
    assert variance["full"] < variance["stratified"] * slack
    assert variance["stratified"] < variance["index"] * slack


def test_an_expansion_of_zeros_is_zero():
    f = expansion()
    zero = Expansion(f.neurons, f.support, np.zeros_like(f.dual_coef))
    for estimator in ESTIMATORS:
        value, error = zero.estimate(f.support[:3], 50, estimator, 0)
        assert not value.any()
        assert not error.any()


def test_wrong_arguments_are_named_of_expansions():
    f = expansion()
    with pytest.raises(ValueError, match="Expansion: n_neurons=0"):
        f.estimate(f.support, 0)
    with pytest.raises(ValueError, match=r"Expansion: estimate='best'.*'index'"):
        f.freeze(10, "best")


def test_the_same_random_state_gives_the_same_estimate():
    f = expansion()
    X = inputs(3, 3)
    values = [f.estimate(X, 50, random_state=seed)[0] for seed in (0, 0, 1, None)]
    np.testing.assert_array_equal(values[0], values[1])
    assert not np.array_equal(values[0], values[2])
    assert not np.array_equal(values[0], values[3])
    a, b = (f.freeze(50, random_state=np.random.default_rng(4))(X) for _ in range(2))
    np.testing.assert_array_equal(a, b)


def test_index_sampling_draws_by_the_norm_of_a_row():
    """Two outputs: the coefficients of one draw, written out."""
    f = expansion(alpha="positive")
    rng = np.random.default_rng(5)
    weights = f.neurons.draw(rng, 30)
    u = rng.random(30)
    norm = np.linalg.norm(f.dual_coef, axis=1)
    index = [next(i for i in range(40) if norm[: i + 1].sum() > v * norm.sum()) for v in u]
    psi = f.neurons.activate_pairs(f.support[index], weights)
    expected = norm.sum() / 30 * psi[:, :, None] * (f.dual_coef / norm[:, None])[index][:, None, :]
    network = f.freeze(30, "index", np.random.default_rng(5))
    np.testing.assert_allclose(network.coef, expected, atol=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("sparse", [False, True])
def test_full_sums_on_threads_of_their_own_are_those_of_the_frozen_network(family, sparse):
    f, X = expansion(family, t=1100), inputs(40, 3, seed=1).astype(np.float32)
    if sparse:
        f.support, X = map(scipy.sparse.csr_matrix, (f.support, X))
    f.n_jobs = 2
    values = f.full_sums(X, 700, np.random.default_rng(5))
    frozen = f.freeze(700, random_state=np.random.default_rng(5))(X)
    np.testing.assert_allclose(values, frozen, atol=1e-5 * np.abs(frozen).max())
    one = Expansion(f.neurons, f.support, f.dual_coef, n_jobs=1)
    same = one.full_sums(X, 700, np.random.default_rng(5))
    np.testing.assert_array_equal(values, same)
    many = Expansion(f.neurons, f.support, f.dual_coef, n_jobs=8)
    shared = many.full_sums(X, 700, np.random.default_rng(5))
    np.testing.assert_allclose(shared, frozen, atol=1e-5 * np.abs(frozen).max())


@pytest.mark.parametrize("m", [2, 3, 7, 257])
def test_no_stratum_is_left_out_of_the_standard_error(m):
    """Two points are the same, and the third is far away: its stratum has all of the spread."""
    X = np.array([[0.0, 0.0], [0.0, 0.0], [3.0, 0.0]])
    neurons = Gaussian(length_scale=1.0).fit(X, np.random.default_rng(0))
    f = Expansion(neurons, X, np.ones((3, 1)))
    runs = [f.estimate(X[:1], m, "stratified", random_state=run) for run in range(500)]
    value, error = np.array(runs)[:, :, 0, 0].T
    squares = (value - value.mean()) ** 2
    slack = 4 * np.std(squares) / np.sqrt(500) + 4 * np.std(error**2) / np.sqrt(500)
    assert np.mean(error**2) > np.mean(squares) - slack
    assert (error > 0).mean() > (0.5 if m == 2 else 0.9)  # two draws may be of the same point

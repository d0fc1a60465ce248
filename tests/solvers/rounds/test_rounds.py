"""Algorithm 1 whatever its estimates: coefficients, compression and the curve of errors."""

from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics.pairwise import rbf_kernel

from cases import inputs
from trickless import ShrinkingGradientRegressor as Regressor
from trickless._functions.sampling import inclusion
from trickless._learners.online import recipe_of
from trickless._solvers.rounds.coefficients import Coefficients
from trickless.kernels import KernelGradientRegressor
from trickless.neurons import Gaussian


def as_function(X, Y, rng):
    """The kernel of ``NAMED`` as a function, whose support is thinned instead of projected."""
    return rbf_kernel(X, Y, gamma=0.5)


NAMED = {"kernel_params": {"gamma": 0.5}}
FUNCTION = {"kernel": as_function, "n_draws": 1000}


def kernel_learner(kernel=NAMED, **options):
    options = {"y_range": (-1, 1), "random_state": 0} | options
    return KernelGradientRegressor(**kernel, **options)


def test_average_is_the_literal_average_however_often_coefficients_shrink():
    rng = np.random.default_rng(0)
    lazy = Coefficients(2)
    literal, total = np.zeros((0, 2)), np.zeros((900, 2))
    for _ in range(900):
        lazy.count_rounds(1)
        total[: len(literal)] += literal
        shrink = rng.random(2) < 0.5
        lazy.shrink(shrink)
        literal = literal / np.where(shrink, 4, 1)
        new = rng.standard_normal((1, 2))
        lazy.append(new)
        literal = np.vstack([literal, new])
    np.testing.assert_allclose(lazy.average(), total / 900, rtol=1e-10)
    np.testing.assert_allclose(lazy.last(), literal, rtol=1e-10)
    assert len(lazy._rounds_of_epoch[0]) > 400


def test_kept_coefficients_continue_and_their_average_starts_over():
    rng = np.random.default_rng(0)
    c = Coefficients(2)
    literal, total, rounds = np.zeros((0, 2)), np.zeros((0, 2)), 0
    for t in range(90):
        c.count_rounds(1)
        total, rounds = np.vstack([total, np.zeros((len(literal) - len(total), 2))]), rounds + 1
        total += literal
        shrink = np.array([t % 7 == 3, t % 5 == 1])
        c.shrink(shrink)
        new = rng.standard_normal((1, 2))
        c.append(new)
        literal = np.vstack([literal / np.where(shrink, 4, 1), new])
        if t in (40, 70):
            index = np.sort(rng.choice(len(literal), 12, replace=False))
            factor = rng.random(12) + 1
            c.keep(index, factor)
            literal = literal[index] * factor[:, None]
            total, rounds = np.zeros_like(literal), 0
            np.testing.assert_allclose(c.average(), literal, rtol=1e-12)
            assert c.n_settled == 0
    total = np.vstack([total, np.zeros((1, 2))])
    np.testing.assert_allclose(c.last(), literal, rtol=1e-12)
    np.testing.assert_allclose(c.average(), total / rounds, rtol=1e-12)
    assert c.n_rounds == 90
    assert len(c) == 31


def test_other_support_points_continue_with_the_average_so_far():
    rng = np.random.default_rng(0)
    c = Coefficients(2)
    literal, total = np.zeros((0, 2)), np.zeros((120, 2))
    for t in range(90):
        c.count_rounds(1)
        total[: len(literal)] += literal
        shrink = np.array([t % 7 == 3, t % 5 == 1])
        c.shrink(shrink)
        new = rng.standard_normal((1, 2))
        c.append(new)
        literal = np.vstack([literal / np.where(shrink, 4, 1), new])
        if t in (40, 70):
            average = rng.standard_normal((12, 2))
            literal, total = rng.standard_normal((12, 2)), np.zeros((120, 2))
            total[:12] = (t + 1) * average
            c.settle(literal, average)
            assert c.n_settled == 12
            np.testing.assert_allclose(c.average(), average, rtol=1e-12)
    np.testing.assert_allclose(c.last(), literal, rtol=1e-12)
    np.testing.assert_allclose(c.average(), total[:31] / 90, rtol=1e-12)
    assert c.n_rounds == 90


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("kernel", [NAMED, FUNCTION], ids=["projection", "unbiased"])
def test_the_support_stays_below_its_bound(kernel, average, sparse):
    X = inputs(300, 3)
    y = np.sin(X[:, 0])
    rows = scipy.sparse.csr_matrix(X) if sparse else X
    model = kernel_learner(kernel, batch_size=1, max_support=100, average=average)
    for start in range(0, 300, 50):
        model.partial_fit(rows[start : start + 50], y[start : start + 50])
        assert model.support_vectors_.shape[0] <= 100
        assert len(model.dual_coef_) == model.support_vectors_.shape[0]
    assert model._rounds_.coefficients.n_rounds == 300
    assert model.score(X, y) > 0.5
    support = model.support_vectors_.toarray() if sparse else model.support_vectors_
    place = [np.flatnonzero((row == X).all(axis=1)) for row in support]
    assert (np.diff(np.concatenate(place)) > 0).all()  # rows of X, in their order


def test_an_unbiased_compression_keeps_the_expectation():
    """Over 400 seeds of the compression of one model, at rows of their own."""
    X = inputs(120, 2)
    y = np.sin(2 * X[:, 0])
    x = inputs(5, 2, seed=3)
    model = kernel_learner(FUNCTION, batch_size=1).partial_fit(X, y)
    exact = as_function(x, X, None) @ model._rounds_.coefficients.last()
    runs = []
    for seed in range(400):
        thinned = deepcopy(model).set_params(max_support=60)
        thinned._rounds_.seed = seed
        thinned._rounds_.compress(recipe_of(thinned))
        assert len(thinned._rounds_.support) == 30
        runs.append(
            as_function(x, thinned.support_vectors_, None) @ thinned._rounds_.coefficients.last()
        )
    error = np.std(runs, axis=0) / np.sqrt(400)
    assert (np.abs(np.mean(runs, axis=0) - exact) < 5 * error).all()


def test_an_unbiased_compression_thins_the_model_that_keeps_all():
    """The 41st row exceeds the bound of 40, so 20 of 41 points stay, by their coefficients."""
    X = inputs(41, 2)
    y = np.sin(2 * X[:, 0])
    whole = kernel_learner(FUNCTION, batch_size=1).partial_fit(X, y)
    bounded = kernel_learner(FUNCTION, batch_size=1, max_support=40).partial_fit(X, y)
    rows = bounded.support_vectors_
    kept = np.array([np.flatnonzero((row == X).all(axis=1)).item() for row in rows])
    assert len(kept) == 20
    last = whole._rounds_.coefficients.last()
    ratio = 1 / inclusion(np.abs(last[:, 0]), 20)[kept]
    np.testing.assert_allclose(bounded._rounds_.coefficients.last(), last[kept] * ratio[:, None])
    np.testing.assert_allclose(bounded.dual_coef_, bounded._rounds_.coefficients.last())


def test_the_curve_of_errors_is_merged_when_it_is_long(monkeypatch):
    X = inputs(100, 2)
    y = np.sin(X[:, 0])
    every, merged = kernel_learner(), kernel_learner()
    for row in range(100):
        every.partial_fit(X[row : row + 1], y[row : row + 1])
    monkeypatch.setattr("trickless._solvers.progress.STRETCHES", 8)
    for row in range(100):
        merged.partial_fit(X[row : row + 1], y[row : row + 1])
    every, merged = every.online_error_, merged.online_error_
    assert every.shape == (100, 2)
    assert len(merged) < 16
    assert merged[:, 0].sum() == 100
    ends = np.cumsum(merged[:, 0]).astype(int)
    for start, end, mean in zip([0, *ends[:-1]], ends, merged[:, 1], strict=True):
        assert mean == pytest.approx(every[start:end, 1].mean())


def test_measured_variances_are_used_until_the_support_has_grown(monkeypatch):
    X = inputs(400, 2)
    y = np.sin(X[:, 0])
    options = {"n_draws": 1500, "batch_size": 1, "y_range": (-1, 1), "random_state": 0}
    model = Regressor(Gaussian(1.0), **options)
    measured = []
    original = type(model.partial_fit(X[:1], y[:1]).expansion_).variances

    def variances(self, X, random_state=None):
        measured.append(self.support.shape[0])
        return original(self, X, random_state)

    monkeypatch.setattr("trickless._functions.expansion.Expansion.variances", variances)
    model.partial_fit(X[1:], y[1:])
    assert 5 < len(measured) < 30
    assert (np.diff(measured) > 0.25 * np.array(measured[:-1])).all()


def test_a_function_taken_from_a_model_does_not_change_with_it():
    X = inputs(300, 2)
    y = np.sin(X[:, 0])
    model = kernel_learner(batch_size=1, max_support=60).partial_fit(X[:50], y[:50])
    rows = model.support_vectors_
    before = rows.copy()
    model.partial_fit(X[50:], y[50:])
    assert len(model.support_vectors_) <= 60
    np.testing.assert_array_equal(rows, before)

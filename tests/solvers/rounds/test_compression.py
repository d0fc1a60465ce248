"""Projection: the nearest function over a uniform sample of rows, and streams learned with it."""

import warnings
from copy import deepcopy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from cases import inputs
from trickless import ShrinkingGradientClassifier, ShrinkingGradientRegressor
from trickless._functions.stream import Purpose, draw, generator
from trickless._learners.online import recipe_of
from trickless._solvers.rounds.compression import nearest, reservoir
from trickless.kernels import KernelGradientClassifier, KernelGradientRegressor
from trickless.neurons import FromFunction, Gaussian

GAUSSIAN = {"neurons": Gaussian(1.0), "n_neurons": 4000}
RBF = {"kernel_params": {"gamma": 0.5}}


def test_the_sample_is_uniform_over_all_rows_of_a_stream():
    """Of 60 rows that come in three parts, 10 are kept: each as often, over 3,000 streams."""
    rng = np.random.default_rng(0)
    kept = np.zeros(60)
    for _ in range(3000):
        rows, n_rounds = np.arange(0), 0
        for n_new in (20, 10, 30):
            n_old, n_rounds = len(rows), n_rounds + n_new
            rows = np.concatenate([rows, np.arange(n_rounds - n_new, n_rounds)])
            index = reservoir(n_old, n_new, n_rounds, 10, rng)
            assert len(np.unique(index)) == 10
            assert (np.diff(index) > 0).all()
            rows = rows[index]
        kept[rows] += 1
    error = np.sqrt(3000 * (1 / 6) * (5 / 6))
    assert (np.abs(kept - 500) < 4.5 * error).all()


@pytest.mark.parametrize(
    ("n_old", "n_new", "n_rounds", "size"),
    [(0, 30, 1000, 10), (10, 30, 10**12, 25), (30, 2, 32, 4), (0, 5, 5, 5), (5, 5, 10, 1)],
)
def test_a_sample_has_its_size_whatever_there_was(n_old, n_new, n_rounds, size):
    """After a change of ``max_support``, too."""
    for seed in range(50):
        index = reservoir(n_old, n_new, n_rounds, size, np.random.default_rng(seed))
        assert len(np.unique(index)) == size
        assert 0 <= index.min() <= index.max() < n_old + n_new


def test_the_nearest_function_is_that_of_ridge_regression():
    rng = np.random.default_rng(0)
    phi, f = rng.standard_normal((8, 30)), rng.standard_normal((30, 2))
    gram = phi @ phi.T
    ridge = 1e-4 * np.trace(gram) / 8
    rows = np.vstack([phi.T, np.sqrt(ridge) * np.eye(8)])
    expected = np.linalg.lstsq(rows, np.vstack([f, np.zeros((8, 2))]))[0]
    np.testing.assert_allclose(nearest(gram, phi @ f), expected, rtol=1e-10)


def test_nothing_learned_is_projected_to_nothing():
    np.testing.assert_array_equal(nearest(np.zeros((3, 3)), np.zeros((3, 2))), np.zeros((3, 2)))


def compressed(model):
    """The model before a compression, as it is after one, and the points that it kept."""
    after = deepcopy(model).set_params(max_support=100)
    after._rounds_.compress(recipe_of(after))
    rows = model._rounds_.support.rows
    kept = [np.flatnonzero((row == rows).all(axis=1)).item() for row in after._rounds_.support.rows]
    assert len(kept) == 25
    return after, kept


def coefficients(model):
    return np.hstack([model._rounds_.coefficients.last(), model._rounds_.coefficients.average()])


def test_kernels_are_projected_onto_the_kept_points():
    X = inputs(200, 2)
    Y = np.stack([np.sin(2 * X[:, 0]), X[:, 1] > 0], axis=1)
    model = KernelGradientRegressor(**RBF, random_state=0).partial_fit(X, Y)
    after, kept = compressed(model)
    K = model.kernel_(X, X)
    values = K[kept] @ coefficients(model)
    expected = np.linalg.solve(K[np.ix_(kept, kept)] + 1e-4 * np.eye(25), values)
    np.testing.assert_allclose(coefficients(after), expected, rtol=1e-6)
    assert after._rounds_.coefficients.n_rounds == 200


def test_neurons_are_compared_at_one_draw_each_time():
    X = inputs(200, 2)
    y = np.sin(2 * X[:, 0])
    options = {"random_state": 7, "y_range": (-1, 1), "dtype": "float64"}
    model = ShrinkingGradientRegressor(**GAUSSIAN, **options).partial_fit(X, y)
    after, kept = compressed(model)
    weights = draw(model.neurons_, generator(7, Purpose.COMPRESS), 128, "float64")
    Z = model.neurons_(X, weights)
    assert Z.shape == (200, 256)
    rows = np.vstack([Z[kept].T, np.sqrt(1e-4 * (Z[kept] ** 2).sum() / 25) * np.eye(25)])
    f = np.vstack([Z.T @ coefficients(model), np.zeros((25, 2))])
    np.testing.assert_allclose(coefficients(after), np.linalg.lstsq(rows, f)[0], rtol=1e-6)


def test_the_norm_does_not_grow():
    """With as many activations as the 300 points that are kept, it was four times as large."""
    X = inputs(1300, 10)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    model = ShrinkingGradientRegressor(**GAUSSIAN, random_state=0).partial_fit(X, y)
    after = deepcopy(model).set_params(max_support=1200)
    after._rounds_.compress(recipe_of(after))
    norms = []
    for one in (model, after):
        K = model.estimates_.kernel(one._rounds_.rows, one._rounds_.rows)
        alpha = coefficients(one)
        norms.append(np.sqrt((alpha * (K @ alpha)).sum(axis=0)))
    assert len(after._rounds_.support) == 300
    assert (norms[1] < 1.1 * norms[0]).all()


def test_a_neuron_that_is_not_finite_is_found_before_it_spoils_the_model():
    def activation(X, directions):
        return np.where(far[0] < X @ directions.T, np.nan, np.sin(X @ directions.T))

    def draw_directions(rng, n, n_features):
        return rng.standard_normal((n, n_features))

    far = [np.inf]
    X = inputs(150, 2)
    family = FromFunction(draw_directions, activation)
    model = ShrinkingGradientRegressor(family, 200, y_range=(-1, 1), random_state=0)
    model.partial_fit(X, np.sin(X[:, 0]))
    before = coefficients(model)
    far[0] = 3.0
    with pytest.raises(ValueError, match=r"FromFunction.*not finite.*Remedy"):
        model._rounds_.compress(recipe_of(model.set_params(max_support=100)))
    np.testing.assert_array_equal(coefficients(model), before)
    assert len(model._rounds_.support) == 150


@pytest.mark.parametrize("average", [True, False])
def test_what_the_kept_points_can_express_is_not_lost(average):
    """A linear function of three inputs, of which 20 points of 80 keep all, eight times."""
    X = inputs(600, 3)
    y = X @ [0.1, -0.05, 0.02]
    model = KernelGradientRegressor(
        "linear", kernel_bound=30.0, y_range=(-1, 1), average=average, random_state=0
    )
    bounded = clone(model).set_params(max_support=80).fit(X, y)
    expected = model.fit(X, y).predict(X)
    assert np.std(expected) > 0.05
    np.testing.assert_allclose(bounded.predict(X), expected, atol=2e-3 * np.abs(expected).max())
    assert len(bounded.support_vectors_) <= 80


@pytest.mark.parametrize(
    "learner", [ShrinkingGradientClassifier(**GAUSSIAN), KernelGradientClassifier(**RBF)]
)
def test_a_long_stream_is_learned_as_if_every_row_were_kept(learner):
    """9,000 rows on 400 points: hardly more errors."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12_000, 2))
    labels = np.digitize(np.sin(2 * X[:, 0]) + X[:, 1], [-0.7, 0.7])
    test, test_labels = X[:3000], labels[:3000]
    whole = clone(learner).set_params(random_state=0, norm_bound=1.0)
    bounded = clone(whole).set_params(max_support=400)
    for start in range(3000, 12_000, 1000):
        rows = slice(start, start + 1000)
        for model in (whole, bounded):
            model.partial_fit(X[rows], labels[rows], classes=[0, 1, 2])
        assert len(bounded._rounds_.support) <= 400
    assert bounded.score(test, test_labels) > whole.score(test, test_labels) - 0.015


def test_a_bounded_support_is_the_same_for_the_same_seed():
    X = inputs(1500, 2)
    labels = X[:, 0] * X[:, 1] > 0
    model = ShrinkingGradientClassifier(**GAUSSIAN, max_support=200, random_state=0)
    expected = model.fit(X, labels).decision_function(X)
    np.testing.assert_array_equal(clone(model).fit(X, labels).decision_function(X), expected)


def test_a_kernel_that_is_not_positive_is_refused_and_nothing_is_lost(monkeypatch):
    def values(kernel, X, Y):  # -0.2 at best for 25 points together
        return np.where((X[:, None] == Y).all(axis=2), 1.0, -0.05)

    monkeypatch.setattr("trickless._functions.exact_kernel.ExactKernel._values", values)
    X = inputs(150, 2)
    y = np.sin(X[:, 0])
    model = KernelGradientRegressor(
        schedule="constant",
        step_size=0.01,
        max_support=100,
        y_range=(-1, 1),
        random_state=0,
    )
    model.partial_fit(X[:90], y[:90])
    with pytest.raises(ValueError, match=r"positive semi-definite.*Remedy: max_support=None"):
        model.partial_fit(X[90:], y[90:])
    n_rounds = model._rounds_.coefficients.n_rounds
    assert n_rounds >= 90
    assert np.isfinite(model.predict(X)).all()
    model.set_params(max_support=None).partial_fit(X, y)
    assert model._rounds_.coefficients.n_rounds == n_rounds + 150


def test_a_stream_may_change_its_bound():
    X = inputs(800, 2)
    y = np.sin(2 * X[:, 0])
    model = KernelGradientRegressor(**RBF, y_range=(-1, 1), random_state=0)
    for start, most in zip(range(0, 800, 200), (100, 40, 200, None), strict=True):
        model.set_params(max_support=most)
        model.partial_fit(X[start : start + 200], y[start : start + 200])
        most = most or np.inf
        assert len(model._rounds_.support) == len(model._rounds_.coefficients) <= most
    assert model.score(X, y) > 0.8


def test_a_stream_that_unbiased_compressions_lose_warns_once():
    """The remedy keeps the model, and after it nothing warns."""
    rng = np.random.default_rng(0)
    options = {"max_support": 300, "y_range": (-2, 2), "random_state": 0}
    model = KernelGradientRegressor(lambda X, Y, rng: rbf_kernel(X, Y), **options)
    better = KernelGradientRegressor("rbf", **options)
    noted = []
    for _ in range(40):
        X = rng.standard_normal((100, 10))
        y = np.sin(2 * X[:, 0]) + np.cos(X[:, 1]) / 2
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = deepcopy(model).partial_fit(X, y)
        noted += caught
        better.partial_fit(X, y)
    assert len(noted) == 1
    message = str(noted[0].message)
    assert "unbiased compressions to max_support=300 has lost what was learned" in message
    assert "Remedy: a larger max_support, or a kernel that is named" in message
    assert model.score(X, y) < 0 < better.score(X, y)


def test_a_model_without_use_that_diverges_names_the_compression():
    model = KernelGradientRegressor(y_range=(-1, 1), **RBF)
    X = inputs(100, 2)
    model.partial_fit(X, X[:, 0].clip(-1, 1))
    model._rounds_.lost = "a larger max_support"
    model._rounds_.coefficients.append(np.full((1, 1), 1e6))
    model._rounds_.support.append(X[:1])
    with pytest.raises(ValueError, match=r"diverged.*Remedy: a larger max_support"):
        model.partial_fit(X, X[:, 0].clip(-1, 1))

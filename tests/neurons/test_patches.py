"""Random convolutions, compared with loops over patches and cells."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

import trickless.neurons.patches
from cases import inputs
from trickless import KitchenSinksClassifier
from trickless.neurons import Gaussian, Neurons, Patches

CASES = [
    Patches((6, 6), patch=3, pool=4),
    Patches((9, 7), patch=2, pool=3, threshold=0.1),
    Patches((5, 6, 3), patch=3, pool=1, threshold=0.0),
    Patches((4, 3, 2), patch=1, pool=3, filters="data"),
    Patches((28, 28), filters="data"),
    Patches((8, 7), patch=3, filters="whitened", threshold=0.1),
]


def drawn(neurons, X, n=9, seed=0):
    """The family fitted on rows, and some of its neurons."""
    rng = np.random.default_rng(seed)
    return neurons.fit(X, rng), neurons.draw(rng, n)


def columns(neurons):
    return int(np.prod(neurons.shape))


def literally(neurons, row, filter, threshold):
    """The docstring for one image and one neuron, patch by patch."""
    p, g = neurons._side, neurons.pool
    image = (row - row.min()) / (row.max() - row.min())
    image = image.reshape(*neurons.shape[:2], -1)
    down, across = image.shape[0] - p + 1, image.shape[1] - p + 1
    total, weights = np.zeros((g, g)), np.zeros((g, g))
    for y in range(down):
        for x in range(across):
            patch = image[y : y + p, x : x + p].ravel()
            patch = patch - patch.mean()
            patch /= np.linalg.norm(patch) + 0.01 * np.sqrt(patch.size)
            for u in range(g):
                for v in range(g):
                    near_y = 1 - abs((y + 0.5) * g / down - (u + 0.5))
                    near_x = 1 - abs((x + 0.5) * g / across - (v + 0.5))
                    weight = max(near_y, 0) * max(near_x, 0)
                    weights[u, v] += weight
                    total[u, v] += weight * np.clip(filter @ patch - threshold, 0, 1)
    return (np.sqrt(total / weights) / g).ravel()


@pytest.mark.parametrize("neurons", CASES, ids=repr)
def test_activations_are_what_loops_over_patches_give(neurons):
    X = inputs(5, columns(neurons))
    neurons, weights = drawn(clone(neurons), X, n=4)
    Z = neurons(X, weights).reshape(5, neurons.width, 4)
    expected = [[literally(neurons, row, f, t) for f, t in zip(*weights, strict=True)] for row in X]
    assert np.max(expected) > 0.001
    np.testing.assert_allclose(Z, np.moveaxis(expected, 2, 1), rtol=0, atol=1e-10)


@pytest.mark.parametrize("neurons", CASES, ids=repr)
def test_pairs_are_the_diagonal_of_all_activations_of_patches(neurons):
    X = inputs(9, columns(neurons))
    neurons, weights = drawn(clone(neurons), X)
    pairs = neurons.activate_pairs(X, weights)
    np.testing.assert_allclose(pairs, Neurons.activate_pairs(neurons, X, weights), atol=1e-12)


@pytest.mark.parametrize("neurons", CASES, ids=repr)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_bound_holds_for_hostile_images(neurons, dtype):
    d = columns(neurons)
    tiny, huge = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    stripes = np.resize([1.0, -1.0], d)
    X = np.vstack(
        [np.zeros((2, d)), np.full((1, d), huge), stripes * huge, stripes * tiny, inputs(9, d)]
    )
    X[1, 0], X[2, -1] = -0.0, 0
    X = X.astype(dtype)
    neurons, weights = drawn(clone(neurons), X, 50)
    weights[1][:] = 0  # the largest responses
    Z = neurons(X, tuple(w.astype(dtype) for w in weights))
    assert Z.shape == (len(X), neurons.width * 50)
    assert Z.dtype == dtype
    assert np.isfinite(Z).all()
    norms = np.linalg.norm(Z.reshape(len(X), neurons.width, 50), axis=1)
    assert norms.max() <= neurons.bound
    assert not norms[:2].any()


def test_the_bound_is_approached():
    """By an image of two stripes, whose one patch is the filter."""
    image = np.array([[0.0, 1.0, 0.0, 1.0]])
    neurons, _ = drawn(Patches((2, 2), patch=2, pool=1), image)
    Z = neurons(image, (np.array([[-0.5, 0.5, -0.5, 0.5]]), np.zeros(1)))
    assert 0.97 < Z.item() < neurons.bound


def test_brightness_and_contrast_do_not_matter():
    neurons, weights = drawn(Patches((12, 12), patch=5), inputs(3, 144))
    X = inputs(6, 144)
    scale = np.array([1, 2.0, 1e-3, 1e30, 1e-30, 7])[:, None]
    np.testing.assert_allclose(neurons(scale * X, weights), neurons(X, weights), atol=1e-12)
    np.testing.assert_allclose(neurons(X + 10 * scale[::-1][:1], weights), neurons(X, weights))


def test_a_shape_that_moves_by_a_cell_moves_its_numbers_to_the_next_cell():
    image = np.zeros((1, 24, 24))
    image[0, 6:9, 11:14] = inputs(3, 3)
    moved = np.roll(image, 5, axis=1)  # 20 positions in 4 cells
    neurons, weights = drawn(Patches((24, 24), patch=5, pool=4), image.reshape(1, -1), 30)
    before, after = (neurons(X.reshape(1, -1), weights).reshape(4, 4, 30) for X in (image, moved))
    np.testing.assert_allclose(after[2], before[1], atol=1e-12)
    assert before[1].max() > 0
    assert np.abs(after[1] - before[1]).max() > 0.01 * before[1].max()


def test_rows_at_a_time_change_nothing(monkeypatch):
    neurons, weights = drawn(Patches((10, 10), patch=3), inputs(40, 100))
    X = inputs(40, 100)
    expected = neurons(X, weights)
    assert neurons(X[:0], weights).shape == (0, 9 * 9)
    for size in (1, 10**5, 10**9):
        monkeypatch.setattr(trickless.neurons.patches, "_BYTES", size)
        np.testing.assert_allclose(neurons(X, weights), expected, atol=1e-14)
        pairs = neurons.activate_pairs(X[:9], weights)
        np.testing.assert_allclose(pairs, Neurons.activate_pairs(neurons, X[:9], weights))


def test_filters_are_uniform_on_the_sphere_and_thresholds_up_to_theirs():
    _, (filters, thresholds) = drawn(Patches((6, 6), 3, threshold=0.5), inputs(2, 36), 20_000)
    np.testing.assert_allclose(np.linalg.norm(filters, axis=1), 1)
    error = np.sqrt(2 / 9 / 11 / 9 / 20_000)  # of a mean of squares, each Beta(1/2, 4)
    assert (np.abs((filters**2).mean(axis=0) - 1 / 9) < 5 * error).all()
    assert (np.abs(filters.mean(axis=0)) < 5 / np.sqrt(9 * 20_000)).all()
    assert 0 <= thresholds.min() < 0.001 < 0.499 < thresholds.max() < 0.5
    assert abs(thresholds.mean() - 0.25) < 5 * 0.5 / np.sqrt(12 * 20_000)


def test_filters_of_the_data_are_patches_of_the_images():
    X = np.zeros((2, 30))
    X[0, 14], X[1, 7:9] = 1, (3, 5)  # 5 x 6 pixels, mostly empty
    neurons, (filters, _) = drawn(Patches((5, 6), 2, 3, filters="data"), X, 500)
    patches = [
        image[y : y + 2, x : x + 2].ravel()
        for image in X.reshape(2, 5, 6)
        for y in range(4)
        for x in range(5)
    ]
    patches = np.array([patch - patch.mean() for patch in patches if np.ptp(patch) > 0])
    patches /= np.linalg.norm(patches, axis=1, keepdims=True)
    patches = np.unique(patches.round(9), axis=0)
    np.testing.assert_allclose(np.unique(filters.round(9), axis=0), patches)
    assert len(neurons.filters_pool_) <= 4096


def test_whitened_filters_respond_most_to_their_patch():
    X, rng = inputs(30, 36), np.random.default_rng(0)
    patches, filters = (
        Patches((6, 6), 3, filters=kind).fit(X, np.random.default_rng(1)).filters_pool_
        for kind in ("data", "whitened")
    )
    covariance = np.cov(patches.T, bias=True)
    covariance += 0.1 * np.trace(covariance) / 9 * np.eye(9)
    for patch, filter in zip(patches[:20], filters, strict=False):
        assert abs(filter @ patch - 1) < 1e-9
        least = filter @ covariance @ filter
        for _ in range(5):  # other filters that respond with 1
            other = filter + rng.standard_normal(9)
            other /= other @ patch
            assert other @ covariance @ other > least


def test_images_give_patches_in_proportion_to_their_weights():
    X = np.array([[0.0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 0, 0]])
    weight = np.array([1.0, 3.0, 0.0])
    rng = np.random.default_rng(0)
    weighted = Patches((2, 2), 2, 1, filters="data").fit(X, rng, weight).filters_pool_
    second = np.isclose(weighted, [-0.5, 0.5, -0.5, 0.5]).all(axis=1)
    assert abs(second.mean() - 0.75) < 5 * np.sqrt(3 / 16 / 4096)
    assert (second | np.isclose(weighted, [-0.5, -0.5, 0.5, 0.5]).all(axis=1)).all()


@pytest.mark.parametrize("filters", ["data", "whitened"])
def test_images_without_contrast_give_filters_that_answer_nothing(filters):
    neurons, weights = drawn(Patches((4, 4), 2, 2, filters), np.ones((5, 16)))
    assert not neurons(inputs(3, 16), weights).any()


@pytest.mark.parametrize(
    ("neurons", "message"),
    [
        (Patches((27, 28)), r"shape=\(27, 28\) makes images of 756 values, but X has 784.*Remedy"),
        (Patches((28, 28, 3)), "2352 values, but X has 784"),
        (Patches((28,)), r"shape=\(28,\), but it must be \(height, width\)"),
        (Patches((28.0, 28.0)), r"shape=\(28.0, 28.0\)"),
        (Patches((0, 784)), r"shape=\(0, 784\)"),
        (Patches((7, 112), patch=8), r"patch=8 does not suit shape=\(7, 112\).*Remedy"),
        (Patches(patch=1), "patch=1 does not suit.*two values"),
        (Patches(patch=0), "patch=0"),
        (Patches(patch=27), "pool=3 is more than the 2 positions of patch=27"),
        (Patches(pool=0), "pool=0"),
        (Patches(filters="zca"), "filters='zca', but it must be 'normal' or 'data' or 'whitened'"),
        (Patches(threshold=-0.1), "threshold=-0.1"),
    ],
)
def test_bad_parameters_are_named_of_patches(neurons, message):
    with pytest.raises(ValueError, match=message):
        neurons.fit(np.zeros((2, 784)), np.random.default_rng(0))


@pytest.mark.parametrize("filters", ["normal", "data", "whitened"])
def test_images_are_told_apart_with_fewer_errors_than_by_flat_rows(filters):
    X, y = load_digits(return_X_y=True)
    errors = []
    for neurons, n in ((Patches((8, 8), 4, 3, filters), 50), (Gaussian(), 225)):
        model = KitchenSinksClassifier(neurons, n, random_state=0).fit(X[:1000], y[:1000])
        errors.append(1 - model.score(X[1000:], y[1000:]))
    assert errors[0] < errors[1]


@pytest.mark.parametrize(
    ("side", "patch"), [(3, 2), (4, 2), (8, 3), (13, 5), (28, 7)], ids=lambda n: str(n)
)
def test_the_side_of_patches_suits_images_of_every_size(side, patch):
    X = np.random.default_rng(0).random((20, side, side))
    pool = 3 if side > 3 else 2
    models = [
        KitchenSinksClassifier(Patches(pool=pool, **given), 10, random_state=0).fit(
            X, X[:, 0, 0] > 0.5
        )
        for given in ({}, {"patch": patch})
    ]
    found, expected = (model.decision_function(X) for model in models)
    np.testing.assert_array_equal(found, expected)

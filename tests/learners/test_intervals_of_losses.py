"""Intervals of learners whose loss is not the squared error."""

import numpy as np
import pytest

from trickless import BoostedTreesRegressor

rng = np.random.default_rng(0)


def unequal(n, rng=rng):
    X = rng.uniform(-1, 1, (n, 2))
    return X, X[:, 0] + (0.1 + np.abs(X[:, 1])) * rng.standard_t(4, n)


def counts(n, rng=rng):
    X = rng.uniform(-1, 1, (n, 2))
    return X, rng.poisson(np.exp(1 + 2 * X[:, 0])).astype(float)


def trees(loss, **options):
    return BoostedTreesRegressor(150, loss=loss, random_state=0, **options)


def covered(model, X, y):
    low, high = model.predict_interval(X, 0.9).T
    return (low <= y) & (y <= high), high - low


@pytest.mark.parametrize(
    ("model", "make"),
    [
        (trees("quantile", quantile=[0.1, 0.9]), unequal),
        (trees("absolute_error"), unequal),
        (trees("poisson"), counts),
        (trees("tweedie"), counts),
    ],
)
def test_held_out_rows_give_coverage_for_any_loss(model, make):
    X, y = make(3000)
    held_out = len(model.fit(X, y)._forest_.unseen.targets)
    A, b = make(4000)
    inside, _ = covered(model, A, b)
    error = np.sqrt(0.09 / held_out + 0.09 / len(b))
    assert abs(inside.mean() - 0.9) < 4 * error + 1 / held_out


def test_widths_follow_the_noise():
    X, y = unequal(3000)
    _, width = covered(trees("quantile", quantile=[0.1, 0.9]).fit(X, y), X, y)
    noisy = np.abs(X[:, 1]) > 0.7
    calm = np.abs(X[:, 1]) < 0.3
    assert width[noisy].mean() > 2 * width[calm].mean()
    X, y = counts(3000)
    model = trees("poisson").fit(X, y)
    low, high = model.predict_interval(X).T
    assert (low >= 0).all()
    mean = model.predict(X)
    far = (high - mean) / np.sqrt(mean)
    np.testing.assert_allclose(far, far[0], rtol=1e-9)
    np.testing.assert_allclose(low, np.maximum(mean - far * np.sqrt(mean), 0), atol=1e-9)


def test_the_distance_of_two_quantiles_is_conformalised():
    X, y = unequal(2500)
    model = trees("quantile", quantile=[0.2, 0.5, 0.7]).fit(X, y)
    rows = model._forest_.unseen
    ends = np.sort(rows.decisions, axis=1)[:, [0, 2]]
    scores = np.sort(np.maximum(ends[:, 0] - rows.targets[:, 0], rows.targets[:, 0] - ends[:, 1]))
    far = scores[int(np.ceil(0.8 * (len(scores) + 1))) - 1]
    predicted = model.predict(X)
    expected = np.stack([predicted[:, 0] - far, predicted[:, 2] + far], axis=1)
    np.testing.assert_allclose(model.predict_interval(X, 0.8), expected, rtol=1e-12)

"""Where models of series look."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from cases import inputs
from trickless import KitchenSinksClassifier, KitchenSinksRegressor, RandomFeatures
from trickless.inspection import occlusion_importance
from trickless.neurons import Convolutions

SHAPE = 3, 30


@pytest.fixture(scope="module")
def series():
    """A wave in the second channel, at the times 10 to 20, in half of the series."""
    X, y = inputs(40, 90), np.arange(40) % 2
    X.reshape(40, 3, 30)[y == 1, 1, 10:20] += 3 * np.sin(2 * np.arange(10))
    model = KitchenSinksClassifier(Convolutions(SHAPE, kernels=4), 30, random_state=0, n_jobs=1)
    return model.fit(X, y), X, y


def test_importances_are_changes_of_the_answer(series):
    model, X, _ = series
    windows = (0, 4), (2, 6), (4, 8)
    found = occlusion_importance(model, X, window_size=4)
    for time, covering in {0: windows[:1], 2: windows[:2], 5: windows[1:]}.items():
        changes = []
        for start, stop in covering:
            hidden = X.copy()
            hidden[:, 60 + start : 60 + stop] = np.nan
            changes.append(model.decision_function(hidden) - model.decision_function(X))
        expected = np.mean([np.sqrt((change**2).mean()) for change in changes])
        assert found[2, time] == pytest.approx(expected)


@pytest.mark.parametrize("window", [None, 1, 7])
def test_a_model_looks_where_classes_differ(series, window):
    model, X, _ = series
    few = X[:10]
    found = occlusion_importance(model, few, window_size=window)
    assert found.shape == SHAPE
    assert (found > 0).all()
    assert found[1, 11:19].mean() > 2 * np.delete(found, 1, axis=0).mean()
    np.testing.assert_array_equal(
        occlusion_importance(make_pipeline(model), few, shape=(3, 30), window_size=window), found
    )


def test_the_importance_of_one_series_is_in_the_units_of_the_answer():
    X = inputs(60, 40)
    y = 100 * X[:, 20:30].std(axis=1)
    model = KitchenSinksRegressor(Convolutions(), 30, random_state=0, n_jobs=1).fit(X, y)
    one = occlusion_importance(model, X[[3]], window_size=40)
    hidden = model.predict(np.full((1, 40), np.nan))
    np.testing.assert_allclose(one, np.full((1, 40), abs(hidden - model.predict(X[[3]]))))


def test_what_does_not_suit_is_refused(series):
    model, X, _ = series
    with pytest.raises(ValueError, match=r"shape=\(3, 29\) makes series of 87 values.*Remedy"):
        occlusion_importance(model, X, shape=(3, 29))
    with pytest.raises(ValueError, match=r"window_size=0.*Remedy: window_size=10"):
        occlusion_importance(model, X, window_size=0)
    with pytest.raises(ValueError, match=r"shape='long'.*Remedy"):
        occlusion_importance(model, X, shape="long")
    with pytest.raises(
        ValueError,
        match=r"model does not accept missing values.*Remedy: a model with neurons=Conv",
    ):
        occlusion_importance(Ridge().fit(X, X[:, 0]), X)
    with pytest.raises(ValueError, match=r"Remedy"):
        occlusion_importance(model, X[0])


def test_longer_series_than_those_of_the_fit_are_explained(series):
    model, X, y = series
    longer = np.concatenate([X.reshape(40, 3, 30), inputs(40, 60).reshape(40, 3, 20)], axis=2)[:10]
    found = occlusion_importance(model, longer, window_size=4)
    assert found.shape == (3, 50)
    assert found[1, 11:19].mean() > 2 * found[:, 30:].mean()
    hidden = longer.copy()
    hidden[:, 2, :4] = np.nan
    one = np.sqrt(np.mean((model.decision_function(hidden) - model.decision_function(longer)) ** 2))
    assert found[2, 0] == pytest.approx(one)
    np.testing.assert_array_equal(occlusion_importance(model, list(longer), window_size=4), found)
    flat = longer.reshape(10, -1)
    with pytest.raises(ValueError, match=r"Remedy: the length, or \(channels, length\)"):
        occlusion_importance(model, flat, window_size=4)
    again = occlusion_importance(model, flat, window_size=4, shape=(3, 50))
    np.testing.assert_array_equal(again, found)
    pipeline = make_pipeline(RandomFeatures(Convolutions(), 5, random_state=0), Ridge())
    pipeline.fit(X.reshape(40, 3, 30), y)
    assert occlusion_importance(pipeline, longer, window_size=20).shape == (3, 50)


def test_series_as_they_come_are_read_as_by_the_model():
    X = np.random.default_rng(0).standard_normal((20, 2, 30))
    y = np.arange(20) % 2
    model = KitchenSinksClassifier(Convolutions(), 10, random_state=0).fit(X, y)
    found = occlusion_importance(model, X)
    assert found.shape == (2, 30)
    np.testing.assert_array_equal(occlusion_importance(model, X.reshape(20, -1)), found)
    pipeline = make_pipeline(RandomFeatures(Convolutions(), 5, random_state=0), Ridge()).fit(X, y)
    np.testing.assert_array_equal(
        occlusion_importance(pipeline, list(X)),
        occlusion_importance(pipeline, X.reshape(20, -1), shape=(2, 30)),
    )

"""Families chosen by the data."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

from cases import LEARNERS, inputs, name_of, problem
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.neurons import Dense, Gaussian, Stumps


def wiggly(scale, n=600):
    """A target that wants a length scale of about ``scale``."""
    X = inputs(n, 2)
    return X, np.sin(X[:, 0] / scale) + 0.1 * np.random.default_rng(0).standard_normal(n)


@pytest.mark.parametrize("scale", [0.2, 3.0])
def test_auto_finds_the_length_scale_and_predicts_better_than_the_median(scale):
    X, y = wiggly(scale)
    model = KitchenSinksRegressor(Gaussian("auto"), 200, random_state=0).fit(X[:400], y[:400])
    plain = KitchenSinksRegressor(Gaussian(), 200, random_state=0).fit(X[:400], y[:400])
    multiples = np.array([1 / 8, 1 / 4, 1 / 2, 1, 2, 4])
    chosen = multiples[model.search_scores_.argmin()]
    assert model.neurons_.length_scale_ == pytest.approx(chosen * plain.neurons_.length_scale_)
    assert (chosen < 1) if scale < 1 else (chosen >= 1)
    if scale < 1:
        assert 1 - model.score(X[400:], y[400:]) < 0.5 * (1 - plain.score(X[400:], y[400:]))
    assert not hasattr(plain, "search_scores_")
    again = clone(model).fit(X[:400], y[:400])
    np.testing.assert_array_equal(again.search_scores_, model.search_scores_)


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_every_learner_takes_an_automatic_length_scale(learner):
    X, y = problem(learner)
    model = clone(learner).set_params(neurons=Gaussian("auto"), random_state=0).fit(X, y)
    assert len(model.search_scores_) == 6
    assert model.score(X, y) > 0.1
    with pytest.raises(ValueError, match=r"length_scale='widest'.*Remedy"):
        clone(learner).set_params(neurons=Gaussian("widest")).fit(X, y)


def test_a_grid_of_parameters_is_searched():
    X, y = wiggly(0.3)
    grid = {"neurons__length_scale": [0.1, 0.4, 10.0], "neurons__activation": ["tanh", "erf"]}
    model = KitchenSinksRegressor(Dense(), 100, search=grid, random_state=0).fit(X, y)
    assert len(model.search_scores_) == 6
    assert model.neurons_.length_scale == 0.4
    by_hand = [
        KitchenSinksRegressor(Dense(a, s), 400, random_state=0).fit(X[::2], y[::2])
        for a in ("tanh", "erf")
        for s in (0.1, 0.4, 10.0)
    ]
    errors = [1 - m.score(X[1::2], y[1::2]) for m in by_hand]
    assert np.corrcoef(np.argsort(np.argsort(errors)), model.search_scores_)[0, 1] > 0.7
    with pytest.raises(ValueError, match=r"names 'neurons__width', which is not a parameter of"):
        model.set_params(search={"neurons__width": [1]}).fit(X, y)


def test_a_search_takes_classes_weights_names_and_sparse_rows():
    X, y = wiggly(0.3, n=2000)  # more rows than are compared on
    model = KitchenSinksClassifier(
        "gaussian", 100, search={"neurons__length_scale": [0.2, 20.0]}, random_state=0
    )
    weight = np.linspace(1, 2, 2000)
    model.fit(X, np.digitize(y, [-0.5, 0.5]), weight)
    assert model.neurons_.length_scale_ == 0.2
    model.fit(scipy.sparse.csr_array(X), y > 0)
    assert model.neurons_.length_scale_ == 0.2


def test_one_choice_is_no_search():
    X, y = wiggly(1.0)
    model = KitchenSinksRegressor(
        Stumps(), 50, search={"neurons__thresholds": ["normal"]}, random_state=0
    ).fit(X, y)
    assert model.neurons_.thresholds == "normal"
    assert not hasattr(model, "search_scores_")

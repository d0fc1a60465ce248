"""Models for prediction: small, and refusing to learn on."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

import trickless
from cases import EVERY, LEARNERS, answers, name_of, problem, shots
from fit_everything import make
from trickless import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.neurons import Dense, Gaussian


@pytest.mark.parametrize("model", EVERY, ids=name_of)
def test_every_learner_predicts_the_same_and_refuses_to_learn_on(model, tmp_path):
    X, y = problem(model)
    model = make(model, "gaussian") if model in LEARNERS else clone(model)
    model.fit(X, y)
    before = answers(model, X)
    small = model.compact()
    np.testing.assert_array_equal(answers(small, X), before)
    np.testing.assert_array_equal(answers(pickle.loads(pickle.dumps(small)), X), before)
    trickless.save(model, tmp_path / "model", for_prediction=True)
    again = trickless.load(tmp_path / "model", trusted=[shots])
    np.testing.assert_array_equal(answers(again, X), before)
    for light in (small, again):
        if hasattr(light, "partial_fit"):
            with pytest.raises(ValueError, match=r"compact\(\) has left out .*Remedy"):
                light.partial_fit(X, y)
        if hasattr(light, "merge"):
            with pytest.raises(ValueError, match=r"compact\(\) has left out .*Remedy"):
                light.merge(model)
            with pytest.raises(ValueError, match=r"compact\(\) has left out .*Remedy"):
                clone(model).fit(X, y).merge(light)
        np.testing.assert_array_equal(answers(light, X), before)
        light.fit(X, y)
    if hasattr(model, "partial_fit"):
        model.partial_fit(X, y)


def test_a_warm_start_is_refused():
    X, y = problem(LEARNERS[1])
    model = trickless.DoublyStochasticRegressor(Gaussian(1.0), 64, warm_start=True, random_state=0)
    small = model.fit(X, y).compact()
    with pytest.raises(ValueError, match=r"compact\(\) has left out .*Remedy"):
        small.set_params(n_neurons=128).fit(X, y)


@pytest.mark.parametrize("rows", [40, 300])  # fewer rows than columns, and more
@pytest.mark.parametrize("weighted", [False, True])
def test_error_bars_are_kept(rows, weighted):
    X, y = problem(KitchenSinksRegressor(), rows)
    Y = np.column_stack([y, 100 * np.cos(y)])
    weight = np.arange(rows) % 5 + 1.0 if weighted else None
    model = KitchenSinksRegressor(Gaussian(1.0), 50, random_state=0).fit(X, Y, weight)
    expected, noise = model.predict(X, return_std=True), model.noise_variance_
    small = model.compact()
    small = small.compact()  # which changes nothing
    for got, wanted in zip(small.predict(X, return_std=True), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-10)
    np.testing.assert_array_equal(small.noise_variance_, noise)
    with pytest.raises(AttributeError, match=r"compact\(\) has left out statistics_"):
        _ = small.statistics_
    np.testing.assert_array_equal(small.alpha_, model.alpha_)
    smallest = model.compact(error_bars=False)
    np.testing.assert_array_equal(smallest.predict(X), expected[0])
    with pytest.raises(ValueError, match=r"compact\(\) has left out .*error_bars=True"):
        smallest.predict(X, return_std=True)


def test_a_model_whose_noise_is_unknown_is_compact_without_error_bars():
    X = np.random.default_rng(0).standard_normal((13, 2))
    model = KitchenSinksRegressor(Dense("tanh"), 12, alpha=0, random_state=0, dtype="float64")
    model.fit(X, X[:, 0])
    with pytest.raises(ValueError, match="leave 0 degrees of freedom"):
        model.predict(X, return_std=True)
    small = model.compact()
    np.testing.assert_array_equal(small.predict(X), model.predict(X))
    with pytest.raises(ValueError, match=r"compact\(\) has left out"):
        small.predict(X, return_std=True)


def test_a_model_of_digits_is_small(tmp_path):
    X, y = load_digits(return_X_y=True)
    model = KitchenSinksClassifier(Gaussian("median"), random_state=0).fit(X, y)
    sizes = []
    for for_prediction in (False, True):
        trickless.save(model, tmp_path / "model", for_prediction=for_prediction)
        sizes.append((tmp_path / "model").stat().st_size)
    assert sizes[0] > 2**24
    assert sizes[1] < 310_000
    again = trickless.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_models_of_tables_are_compact_too(tmp_path):
    frame = pd.DataFrame({"a": np.linspace(0, 1, 90), "b": ["u", "v", "w"] * 30})
    y = np.linspace(3, 5, 90)
    model = KitchenSinksRegressor("tabular", 50, random_state=0).fit(frame, y)
    trickless.save(model, tmp_path / "model", for_prediction=True)
    again = trickless.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match=r"compact\(\) has left out"):
        again.partial_fit(frame, y)


def test_learners_without_a_compact_form_say_so(tmp_path):
    with pytest.raises(TypeError, match=r"a Gaussian has no compact.*Remedy"):
        trickless.save(Gaussian(), tmp_path / "model", for_prediction=True)

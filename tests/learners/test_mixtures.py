"""Mixtures with trees, whose neurons are drawn of several families."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

import trickless
from trickless import DoublyStochasticClassifier, DoublyStochasticRegressor, KitchenSinksRegressor
from trickless.neurons import Dense, Gaussian, Laplace, Mixture, Neurons, On, Tabular, Trees


def smooth_and_steps(n=600, seed=0, outputs=None):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 4))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 2 * (X[:, 3] > 0.3) * (X[:, 0] < 0.5)
    y = f + 0.1 * rng.standard_normal(n)
    return X, y if outputs is None else np.column_stack([y, X[:, 1] > 0, 3 * f][:outputs])


def regressor(n_neurons=60, **options):
    neurons = options.pop("neurons", Mixture([Gaussian(1.5), Trees()]))
    return DoublyStochasticRegressor(neurons, n_neurons, random_state=0, **options)


def test_a_classifier_of_three_classes_with_weights_learns():
    X, y = smooth_and_steps(800)
    labels = np.digitize(y, [-0.5, 1])
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    model = DoublyStochasticClassifier(
        Mixture([Gaussian(1.5), Trees()]), 2000, class_weight="balanced", random_state=0
    ).fit(X, labels, weight)
    X_test, y_test = smooth_and_steps(800, seed=1)
    assert model.score(X_test, np.digitize(y_test, [-0.5, 1])) > 0.8
    np.testing.assert_allclose(model.predict_proba(X_test).sum(axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("loss", ["huber", "epsilon_insensitive"])
def test_every_loss_learns(loss):
    X, y = smooth_and_steps(600)
    model = regressor(1000, loss=loss).fit(X, y)
    assert model.score(X, y) > 0.7


def test_streams_learn_and_continue():
    X, y = smooth_and_steps(6000)
    model = regressor(2000)
    for some in np.split(np.arange(5000), 5):
        model.partial_fit(X[some], y[some])
    for _ in range(8):
        model.partial_fit(X[:5000], y[:5000])
    assert model.score(X[5000:], y[5000:]) > 0.9
    small = pickle.loads(pickle.dumps(model)).partial_fit(X[:3], y[:3])
    assert small.score(X[5000:], y[5000:]) > 0.9


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_files_pickles_and_threads_give_the_same_model(n_jobs, tmp_path):
    X, y = smooth_and_steps(600)
    model = regressor().fit(X, y)
    expected = model.predict(X)
    np.testing.assert_allclose(regressor(n_jobs=n_jobs).fit(X, y).predict(X), expected, atol=1e-5)
    trickless.save(model, tmp_path / "model")
    for other in (trickless.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(X), expected)
        np.testing.assert_array_equal(other.partial_fit(X, y).predict(X).shape, expected.shape)


class Wide(Neurons):
    """More numbers than a tree has leaves."""

    width = 40

    def draw(self, rng, n):
        return (rng.standard_normal((n, self.n_features_in_, 40)),)

    def activate(self, X, weights):
        Z = np.tanh(np.einsum("id,jdk->ikj", X, weights[0])) / np.sqrt(40)
        return Z.reshape(len(X), -1)


def test_neurons_wider_than_trees_and_trees_of_several_depths():
    X, y = smooth_and_steps(600)
    for neurons in (
        Mixture([Wide(), Trees(2)]),
        Mixture([Trees(1), Dense("tanh"), Trees(4)]),
        Mixture([Trees(2), Trees(5)]),
        Mixture([Mixture([Gaussian(), Laplace()]), Trees()]),
        2 * Gaussian(1.5) + Trees(),
    ):
        model = regressor(250, neurons=neurons).fit(X, y)
        assert model.score(X, y) > 0.6


def test_tables_need_families_that_take_them():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.standard_normal(500), "town": rng.choice(["A", "B", "C"], 500)})
    y = np.sin(2 * X["size"]) + (X["town"] == "A")
    X.loc[::7, "size"] = None
    X.loc[::11, "town"] = None
    model = regressor(1000, neurons=Mixture([Tabular(), Trees()])).fit(X, y)
    assert model.score(X, y) > 0.8
    with pytest.raises(ValueError, match=r"contains missing values.* but neurons=Mixture"):
        regressor().fit(X, y)
    with pytest.raises(ValueError, match=r"contains text.* but neurons=Mixture"):
        regressor().fit(X[["town"]].fillna("A"), y)


def test_steps_of_all_kinds_draw_the_mixture_as_given():
    X, y = smooth_and_steps(300)
    mixture = Mixture([Gaussian(1.5), Trees(3)])
    for options in (
        {"schedule": "inverse"},
        {"schedule": "block"},
        {"schedule": "theorem", "alpha": 0.1},
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the theorem
            model = regressor(64, neurons=mixture, **options).fit(X, y)
        assert type(model.neurons_) is Mixture
        assert model.neurons_.width == 8


@pytest.mark.parametrize("weights", [None, [2, 3]])
def test_kitchen_sinks_of_a_mixture_with_trees_predict_by_leaves(weights):
    X, y = smooth_and_steps(400)
    model = KitchenSinksRegressor(Mixture([Gaussian(1.5), Trees(3)], weights), 50, random_state=0)
    model.fit(X, y)
    network, family = model.network_, model.neurons_
    weights = network.source.between(0, 50)
    dense = family(X, weights) @ network.coef.transpose(1, 0, 2).reshape(-1, 1)
    np.testing.assert_allclose(
        family._combine(family._read(X), weights, network.coef), dense, atol=1e-6
    )
    np.testing.assert_allclose(model.predict(X), dense[:, 0] + network.intercept, atol=1e-5)


def test_learners_that_evaluate_all_leaves_get_shallow_trees_in_mixtures():
    X, y = smooth_and_steps(1500)
    mixture = Mixture([Gaussian(1.5), On([0, 3], Trees())])
    for learner in (KitchenSinksRegressor(mixture, 20), DoublyStochasticRegressor(mixture, 20)):
        family = learner.fit(X, y).neurons_
        assert (family.parts_[1].width, family.width) == (16, 16)
    both = Mixture([Gaussian(1.5), Trees()])
    assert KitchenSinksRegressor(both, 20).fit(X, y).neurons_.width == 16
    assert regressor(5, neurons=both).fit(X, y).neurons_.width == 16

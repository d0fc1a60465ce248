"""Layers of neurons, compared with families that are applied one after the other."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from cases import inputs
from trickless import KitchenSinksClassifier, KitchenSinksRegressor, RandomFeatures
from trickless._functions.stream import Purpose
from trickless._selection import scores
from trickless._selection.scores import Comparison
from trickless.neurons import (
    Gaussian,
    Landmarks,
    Laplace1,
    Layers,
    Patches,
    Stumps,
    Tabular,
    Trees,
)


def drawn(neurons, X, n=7):
    """The family fitted on rows, and some of its neurons."""
    rng = np.random.default_rng(0)
    return neurons.fit(X, rng), neurons.draw(rng, n)


def test_each_layer_sees_the_values_of_the_one_before():
    X = inputs(50, 3)
    neurons, weights = drawn(Layers([Gaussian(), Stumps(), Laplace1()], hidden=(4, 6)), X)
    (gaussian, stumps, laplace), (frequencies, cuts) = neurons.parts_, neurons.hidden_
    hidden = stumps(gaussian(X, frequencies), cuts)
    assert hidden.shape == (50, 6)
    np.testing.assert_array_equal(neurons(X, weights), laplace(hidden, weights))
    np.testing.assert_array_equal(neurons.kernel(X), laplace.kernel(hidden))
    pairs = neurons.activate_pairs(X[:7], weights)
    np.testing.assert_allclose(pairs, laplace.activate_pairs(hidden[:7], weights), atol=1e-12)
    assert (neurons.width, neurons.bound) == (laplace.width, laplace.bound)
    assert laplace.length_scale_ == Laplace1().fit(hidden, np.random.default_rng(0)).length_scale_


def test_one_family_is_that_family():
    X = inputs(9, 3)
    neurons, weights = drawn(Layers([Gaussian()]), X)
    family, same = drawn(Gaussian(), X)
    np.testing.assert_array_equal(neurons(X, weights), family(X, same))


def test_the_values_of_patches_are_an_image_with_a_channel_for_each_neuron():
    X = inputs(5, 64)
    first, second = Patches((8, 8), 3, pool=5), Patches((5, 5, 4), 2, pool=2)
    neurons, weights = drawn(Layers([first, second], hidden=4), X)
    (filters, thresholds), image = neurons.hidden_[0], np.empty((5, 5, 5, 4))
    for channel in range(4):
        one = filters[[channel]], thresholds[[channel]]
        image[..., channel] = neurons.parts_[0](X, one).reshape(5, 5, 5)
    expected = neurons.parts_[1](image.reshape(5, -1), weights)
    np.testing.assert_allclose(neurons(X, weights), expected, atol=1e-12)


def test_hidden_neurons_are_evaluated_once_for_a_block_of_rows(monkeypatch):
    blocks = []
    activate = Stumps.activate

    def counted(self, X, weights):
        blocks.append(len(X))
        return activate(self, X, weights)

    X, neurons = inputs(256, 3), Layers([Stumps(), Gaussian()], hidden=5)
    model = KitchenSinksRegressor(neurons, 1000, random_state=0).fit(X, X[:, 0])
    features = RandomFeatures(neurons, 1000, random_state=0).fit(X)
    monkeypatch.setattr(Stumps, "activate", counted)
    for answer in (model.predict, features.transform):
        blocks.clear()
        answer(X)
        assert 256 <= sum(blocks) < 2 * 256  # some rows are tried; there are four blocks of neurons


def test_a_model_has_the_same_bits_for_any_number_of_threads():
    X, y = load_digits(return_X_y=True)
    neurons = Layers([Patches((8, 8), 3, 4, "whitened"), Patches((4, 4, 9), 2, 2, "data")], 9)
    one, two = (
        KitchenSinksClassifier(neurons, 300, random_state=0, n_jobs=n).fit(X[:400], y[:400])
        for n in (1, 2)
    )
    for part, same in zip(one.neurons_.parts_, two.neurons_.parts_, strict=True):
        np.testing.assert_array_equal(part.filters_pool_, same.filters_pool_)
    expected = one.decision_function(X)
    one.n_jobs = 2
    np.testing.assert_array_equal(one.decision_function(X), expected)


def test_what_the_first_and_the_last_family_take_and_are():
    tables = Layers([Tabular(), Landmarks(Laplace1(), n_points=9)], 5)
    assert tables.accepts_tables
    assert not tables.accepts_sparse
    assert not tables.independent
    assert Layers([Gaussian(), Stumps()]).accepts_sparse
    neurons, _ = drawn(tables, inputs(30, 3))
    assert neurons._n_given == 9
    trees = Layers([Gaussian(), Trees(depth="auto")], 5).fit(inputs(90, 3), np.random.default_rng())
    trees._set_depth(10**6, 2)
    assert trees.width == trees.parts_[-1].width == 4


def test_length_scales_are_compared_on_hidden_values_computed_once(monkeypatch):
    X, y = inputs(300, 3), np.random.default_rng(0).standard_normal((300, 1))
    neurons, _ = drawn(Layers([Stumps(), Gaussian()], hidden=8), X)
    comparison = Comparison(X, y, None, 0, Purpose.SEARCH, 0, 70, 30, 1)
    seen, of_stumps = [], Stumps.activate

    def counted(self, X, weights):
        seen.append(len(X))
        return of_stumps(self, X, weights)

    monkeypatch.setattr(Stumps, "activate", counted)
    together = comparison.scores(neurons._candidates())
    assert sum(seen) <= 70 + 6  # and a row for each of six length scales
    monkeypatch.setattr(scores, "_VALUES", 0)  # no room for the hidden values of all rows
    np.testing.assert_allclose(comparison.scores(neurons._candidates()), together, rtol=1e-9)
    assert sum(seen) > 6 * 70


def test_the_length_scale_of_the_last_family_is_chosen():
    X = inputs(300, 2)
    neurons = Layers([Laplace1(), Gaussian("auto")], hidden=30)
    model = KitchenSinksRegressor(neurons, 60, random_state=0).fit(X, np.sin(3 * X[:, 0]))
    chosen = model.neurons_.parts_[-1].length_scale_
    candidates = model.neurons_._candidates()
    scales = [one.parts_[-1].length_scale_ for one in candidates]
    assert chosen in scales
    assert len(set(scales)) == len(scales) > 1
    assert all(one.hidden_ is model.neurons_.hidden_ for one in candidates)


@pytest.mark.parametrize(
    ("neurons", "message"),
    [
        (Layers([Gaussian(), Stumps()], hidden=0), r"hidden=0.*Remedy: hidden=64"),
        (Layers([Gaussian(), Stumps()], hidden=(3, 4)), r"hidden=\(3, 4\) has 2 numbers, but 1 of"),
        (Layers([]), r"neurons=\[\]"),
        (Layers([Gaussian("relevance"), Stumps()]), "uses relevance.*Remedy"),
        (Layers([Patches((2, 2), 2, 1), Patches((2, 2), 2, 1)]), "makes images of 4 values, but X"),
    ],
)
def test_bad_parameters_are_named_of_layers(neurons, message):
    with pytest.raises(ValueError, match=message):
        neurons.fit(inputs(9, 4), np.random.default_rng(0))

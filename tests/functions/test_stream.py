"""The stream is a pure function of (neurons, seed, block)."""

import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from cases import FAMILIES, inputs, suited
from make_golden_streams import FILE, STREAMS, summary
from trickless import KitchenSinksRegressor
from trickless._functions.stream import (
    BLOCK,
    NeuronStream,
    Purpose,
    StoredNeurons,
    as_generator,
    as_seed,
    generator,
)
from trickless.neurons import Gaussian, Neurons


def gaussian(d=3):
    return Gaussian(length_scale=1.0).fit(inputs(10, d), np.random.default_rng(0))


def assert_same(a, b):
    assert len(a) == len(b)
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("name", FAMILIES)
def test_blocks_do_not_depend_on_order_cache_or_object(name):
    neurons = clone(FAMILIES[name]).fit(suited(name, inputs(30, 4)), np.random.default_rng(0))
    cached, uncached = NeuronStream(neurons, 5), NeuronStream(neurons, 5, cache_bytes=0)
    later_first = cached.block(3)
    assert_same(uncached.block(0), cached.block(0))
    assert_same(uncached.block(3), later_first)
    assert_same(cached.block(3), later_first)


@pytest.mark.parametrize("name", STREAMS)
def test_neurons_are_those_that_older_versions_drew(name):
    """To the rounding of functions such as log, which differ in their last digits."""
    golden = json.loads(FILE.read_text())
    assert name in golden, "a new family: python tests/support/make_golden_streams.py adds it"
    now = summary(name)
    for what in ("fingerprint", "weights"):
        np.testing.assert_allclose(now[what], golden[name][what], rtol=1e-9, atol=1e-12)


def test_blocks_of_other_numbers_and_seeds_differ():
    stream = NeuronStream(gaussian(), 5)
    assert not np.allclose(stream.block(0)[0], stream.block(1)[0])
    assert not np.allclose(stream.block(0)[0], NeuronStream(gaussian(), 6).block(0)[0])


def test_purposes_have_randomness_of_their_own():
    draws = {generator(0, purpose, i).random() for purpose in Purpose for i in range(3)}
    assert len(draws) == 3 * len(Purpose)


def test_purposes_keep_their_numbers():
    """Models that were fitted with older versions go by them."""
    names = "BLOCKS FIT SHUFFLE ROUNDS FREEZE TRIAL COMPRESS PREDICT VALIDATION SEARCH PILOT "
    names += "PRECONDITIONER RELEVANCE CANDIDATES PERMUTATIONS SKETCH LINEAR RACE SAMPLES NOISE"
    names += " GROUPS"
    assert [purpose.name for purpose in Purpose] == names.split()
    assert [int(purpose) for purpose in Purpose] == list(range(21))


def test_pieces_cover_a_range_once_and_agree_with_stored_weights():
    stream = NeuronStream(gaussian(), 0)
    start, stop = BLOCK - 3, 3 * BLOCK + 5
    pieces = list(stream.pieces(start, stop))
    assert [where.start for where, _ in pieces] == [start, BLOCK, 2 * BLOCK, 3 * BLOCK]
    joined = np.concatenate([weights[0] for _, weights in pieces])
    whole = np.concatenate([stream.block(b)[0] for b in range(4)])
    np.testing.assert_array_equal(joined, whole[start:stop])
    stored = StoredNeurons((whole,))
    for (a, x), (b, y) in zip(pieces, stored.pieces(start, stop), strict=True):
        assert a == b
        assert_same(x, y)


def test_cache_stays_within_its_budget():
    block_bytes = BLOCK * 3 * 4
    stream = NeuronStream(gaussian(), 0, cache_bytes=2 * block_bytes + 1)
    for b in (4, 1, 3, 0, 2):
        stream.block(b)
    assert sorted(stream._cache) == [0, 1]


def test_weights_have_the_asked_precision_and_the_same_values():
    single, double = NeuronStream(gaussian(), 0, "float32"), NeuronStream(gaussian(), 0, "float64")
    assert single.block(0)[0].dtype == np.float32
    np.testing.assert_array_equal(single.block(0)[0], double.block(0)[0].astype(np.float32))


def test_a_pickle_has_no_weights_and_gives_the_same_blocks():
    stream = NeuronStream(gaussian(d=100), 0)
    before = stream.block(1)
    pickled = pickle.dumps(stream)
    assert len(pickled) < 2000
    assert_same(pickle.loads(pickled).block(1), before)


def test_a_changed_stream_is_refused():
    stream = NeuronStream(gaussian(), 0)
    other = pickle.loads(pickle.dumps(stream))
    other.neurons.length_scale_ = 1.01
    with pytest.raises(RuntimeError, match=r"seed 0.*Remedy"):
        other.block(2)
    rounded = pickle.loads(pickle.dumps(stream))
    rounded.neurons.length_scale_ = 1.0 + 1e-9
    rounded.block(2)


def test_the_fingerprint_sees_a_change_of_order():
    class Reversed(Gaussian):
        def draw(self, rng, n):
            return tuple(array[::-1] for array in super().draw(rng, n))

    stream = NeuronStream(gaussian(), 0)
    state = stream.__getstate__()
    state["neurons"] = Reversed(length_scale=1.0).fit(inputs(10, 3), np.random.default_rng(0))
    changed = NeuronStream.__new__(NeuronStream)
    changed.__dict__.update(state)
    with pytest.raises(RuntimeError, match="no longer gives the neurons"):
        changed.block(0)


@pytest.mark.parametrize("now", [1, 3])
def test_a_stream_of_fewer_or_more_arrays_is_refused(now):
    class Repeated(Gaussian):
        times = 2

        def draw(self, rng, n):
            return super().draw(rng, n) * self.times

    stream = NeuronStream(Repeated(1.0).fit(inputs(10, 3), np.random.default_rng(0)), 0)
    stream.fingerprint()
    changed = NeuronStream.__new__(NeuronStream)
    changed.__dict__.update(stream.__getstate__())
    changed.neurons.times = now
    with pytest.raises(RuntimeError, match="no longer gives the neurons"):
        changed.block(0)


def test_seeds_come_from_any_random_state():
    assert as_seed(7) == 7
    assert as_seed(None) != as_seed(None)
    assert as_seed(np.random.default_rng(3)) == as_seed(np.random.default_rng(3))
    assert as_seed(np.random.RandomState(3)) == as_seed(np.random.RandomState(3))
    assert as_seed(np.random.RandomState(3)) == np.random.RandomState(3).randint(2**31 - 1)
    assert as_seed(np.random.default_rng(3)) == np.random.default_rng(3).integers(2**63)
    for wrong in (-1, "a", 1.5, True):
        with pytest.raises((ValueError, TypeError), match=r"random_state=.*Remedy"):
            as_seed(wrong)


@pytest.mark.parametrize("returned", [np.zeros((3, 2)), (np.zeros(3),), "w", ()])
def test_a_wrong_draw_is_refused(returned):
    class Wrong(Neurons):
        def draw(self, rng, n):
            return returned

        def activate(self, X, weights):
            raise AssertionError

    with pytest.raises(TypeError, match=r"Wrong.draw\(rng, n=256\) returned .*tuple of such"):
        NeuronStream(Wrong().fit(inputs(3, 2), np.random.default_rng(0)), 0).block(0)


def test_pieces_end_at_the_border_of_a_block():
    pieces = list(NeuronStream(gaussian(), 0).pieces(0, 2 * BLOCK))
    assert [len(weights[0]) for _, weights in pieces] == [BLOCK, BLOCK]


def test_a_restored_stream_caches_again():
    stream = NeuronStream(gaussian(), 0, cache_bytes=BLOCK * 3 * 4)
    stream.block(0)
    again = pickle.loads(pickle.dumps(stream))
    again.block(0)
    assert sorted(again._cache) == [0]


def test_estimates_and_models_of_one_seed_have_neurons_of_their_own():
    assert as_generator(0).random() != generator(0, Purpose.BLOCKS).random()
    rng = np.random.default_rng(0)
    assert as_generator(rng) is rng


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_neurons_of_any_scale_are_known_again(scale):
    X = inputs(50, 2) / scale
    model = KitchenSinksRegressor(n_neurons=20, dtype="float64", random_state=0)
    model.fit(X, scale * X[:, 0])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))

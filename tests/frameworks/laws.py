"""What holds for neurons of every framework: digits, a convolutional network, all learners."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

import trickless
from cases import CLASSIFIERS, answers, name_of
from trickless import KitchenSinksClassifier
from trickless._functions.stream import BLOCK, NeuronStream

X, Y = load_digits(return_X_y=True)
X, Y = X / 16, Y % 3
#: Few rows and neurons: every activation is a convolutional network.
X, Y = X[:90], Y[:90]
SMALL = {
    "KitchenSinksClassifier": {"n_neurons": 8},
    "DoublyStochasticClassifier": {"n_neurons": 40},
    "ShrinkingGradientClassifier": {"n_neurons": 20, "n_draws": 8, "average": False},
}


def fitted(neurons, rows=X):
    return clone(neurons).fit(rows, np.random.default_rng(0))


class Laws:
    """Subclassed for a framework, with the family and the value of one neuron on one row."""

    neurons = None

    @pytest.mark.parametrize("learner", CLASSIFIERS, ids=name_of)
    def test_works_in_every_learner(self, learner):
        options = {"neurons": self.neurons, "random_state": 0, **SMALL[name_of(learner)]}
        model = clone(learner).set_params(**options).fit(X, Y)
        expected = answers(model, X)
        np.testing.assert_array_equal(answers(clone(model).fit(X, Y), X), expected)
        np.testing.assert_array_equal(answers(pickle.loads(pickle.dumps(model)), X), expected)
        assert not np.allclose(
            answers(clone(model).set_params(random_state=1).fit(X, Y), X), expected
        )

    def test_files_keep_models(self, tmp_path):
        model = KitchenSinksClassifier(self.neurons, n_neurons=8, random_state=0).fit(X, Y)
        trusted = trickless.save(model, tmp_path / "model.trickless")
        copy = trickless.load(tmp_path / "model.trickless", trusted)
        np.testing.assert_array_equal(answers(copy, X), answers(model, X))
        assert {thing.__module__ for thing in trusted} == {type(self).__module__}
        with pytest.raises(ValueError, match=r"it needs .*, not in trusted.*Remedy"):
            trickless.load(tmp_path / "model.trickless")

    def test_learns_digits(self):
        digits, y = load_digits(return_X_y=True)
        model = KitchenSinksClassifier(self.neurons, n_neurons=40, random_state=0)
        assert model.fit(digits[:1200] / 16, y[:1200]).score(digits[1200:] / 16, y[1200:]) > 0.9

    def test_seed_and_block_give_the_weights_in_any_order(self):
        first, again = (NeuronStream(fitted(self.neurons), seed=3) for _ in range(2))
        forward = [first.block(b) for b in (0, 1)]
        backward = [again.block(b) for b in (1, 0)][::-1]
        for here, there in zip(forward, backward, strict=True):
            for a, b in zip(here, there, strict=True):
                assert a.dtype in (np.float32, np.int64)
                np.testing.assert_array_equal(a, b)
        assert not any(np.array_equal(a, b) for a, b in zip(*forward, strict=True) if a.std() > 0)
        loaded = pickle.loads(pickle.dumps(first))
        assert loaded.fingerprint() == first.fingerprint() == again.fingerprint()
        for a, b in zip(loaded.block(1), forward[1], strict=True):
            np.testing.assert_array_equal(a, b)

    @pytest.mark.parametrize(
        ("rows", "dtype", "squash"),
        [
            (1, "float32", True),
            (13, "float64", False),
            (90, "float32", False),
            (90, "float64", True),
        ],
    )
    def test_activations_are_those_of_single_networks(self, dtype, squash, rows):
        neurons = fitted(self.neurons.set_params(squash=squash, bound=1.5))
        self.neurons.set_params(squash=True, bound=1.0)
        n, some = 5, X[:rows].astype(dtype)
        rng = np.random.default_rng(1)
        weights = tuple(a.astype(dtype) if a.dtype.kind == "f" else a for a in neurons.draw(rng, n))
        alone = np.stack([self.one(neurons, [a[j] for a in weights], some) for j in range(n)])
        if squash:
            alone = 1.5 * np.tanh(alone) / np.sqrt(neurons.width)
        Z = neurons(some, weights)
        assert Z.dtype == dtype
        assert Z.shape == (rows, neurons.width * n)
        # a few roundings of sums of some ten terms of size one
        atol = 100 * np.finfo(dtype).eps
        np.testing.assert_allclose(Z.reshape(rows, -1, n), alone.transpose(1, 2, 0), atol=atol)
        assert np.abs(alone).max() > 0.1
        each = range(min(rows, n))
        pairs = neurons.activate_pairs(some[: len(each)], tuple(a[: len(each)] for a in weights))
        np.testing.assert_allclose(pairs, [alone[i, i] for i in each], atol=atol)

    def test_pieces_of_the_work_do_not_show(self, monkeypatch):
        neurons = fitted(self.neurons)
        weights = neurons.draw(np.random.default_rng(1), 30)
        whole, pairs = neurons(X, weights), neurons.activate_pairs(X[:30], weights)
        for numbers in (1, 7 * neurons._largest):
            monkeypatch.setattr(f"{type(neurons).__module__}.NUMBERS_AT_ONCE", numbers)
            np.testing.assert_allclose(neurons(X, weights), whole, atol=1e-14)
            np.testing.assert_allclose(neurons.activate_pairs(X[:30], weights), pairs, atol=1e-14)
        assert neurons(X, tuple(a[:0] for a in weights)).shape == (90, 0)
        assert neurons(X[:0], weights).shape == (0, 30 * neurons.width)

    def test_threads_change_nothing(self, small_blocks):
        model = KitchenSinksClassifier(self.neurons, n_neurons=8, random_state=0, dtype="float64")
        expected = answers(model.fit(X, Y), X)
        small_blocks(9)
        threaded = clone(model).set_params(n_jobs=5).fit(X, Y)
        np.testing.assert_allclose(answers(threaded, X), expected, atol=1e-9 * abs(expected).max())
        assert threaded._stream_.fingerprint() == model._stream_.fingerprint()

    def test_draws_in_threads_do_not_mix(self):
        neurons = fitted(self.neurons)
        streams = [NeuronStream(neurons, seed=seed) for seed in range(4)]
        alone = [stream.block(0) for stream in streams]
        fresh = [NeuronStream(neurons, seed=seed) for seed in range(4)]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda stream: stream.block(0), fresh))
        assert len(alone[0][0]) == BLOCK
        for a, b in zip(alone, together, strict=True):
            for one, other in zip(a, b, strict=True):
                np.testing.assert_array_equal(one, other)

    def test_evaluations_in_threads_do_not_mix(self):
        neurons = fitted(self.neurons)
        rng = np.random.default_rng(0)
        drawn = [neurons.draw(rng, 3) for _ in range(20)]
        alone = [neurons(X, weights) for weights in drawn]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda weights: neurons(X, weights), drawn))
        np.testing.assert_allclose(together, alone, atol=1e-14)

    def test_hostile_rows_stay_within_the_bound(self):
        neurons = fitted(self.neurons)
        for dtype in ("float32", "float64"):
            values = np.array([0, -0.0, 1e30, -1e30, 1e-310], dtype=dtype)
            hostile = np.repeat(values[:, None], 64, axis=1)
            weights = tuple(
                a.astype(dtype) if a.dtype.kind == "f" else a
                for a in neurons.draw(np.random.default_rng(0), 20)
            )
            Z = neurons(hostile, weights).reshape(5, neurons.width, 20)
            assert np.linalg.norm(Z, axis=1).max() <= neurons.bound * (1 + 1e-6)

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"input_shape": (1, 8, 9)}, "holds 72 numbers, but X has 64 columns"),
            ({"input_shape": (1, -8)}, "input_shape=.*must be None or a tuple"),
            ({"input_shape": 64}, "input_shape=64, but"),
            ({"squash": "tanh"}, "squash='tanh', but"),
            ({"bound": 0}, "bound=0, but"),
        ],
    )
    def test_wrong_parameters_are_refused(self, wrong, message):
        with pytest.raises((TypeError, ValueError), match=rf"{message}.*Remedy"):
            fitted(clone(self.neurons).set_params(**wrong))

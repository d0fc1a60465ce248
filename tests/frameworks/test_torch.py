"""Torch modules as neurons."""

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

import trickless
from cases import CLASSIFIERS, answers, name_of
from laws import SMALL, Laws, X, Y, fitted
from trickless import KitchenSinksClassifier, ShrinkingGradientRegressor
from trickless.neurons import FromTorch, from_torch


def convolutional():
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, stride=2, bias=False),
        nn.BatchNorm2d(4),
        nn.ReLU(inplace=True),
        nn.Dropout(0.5),
        nn.Conv2d(4, 6, 2),
        nn.ELU(),
        nn.Flatten(),
        nn.Linear(24, 3),
    )


class TestTorch(Laws):
    neurons = FromTorch(convolutional, input_shape=(1, 8, 8))

    @staticmethod
    def one(neurons, weights, rows):
        """A module that is given the weights by hand, and called on its own."""
        module = convolutional().eval().to(getattr(torch, str(rows.dtype)))
        names = [name for name, _ in (*module.named_parameters(), *module.named_buffers())]
        tensors = map(torch.tensor, weights)
        module.load_state_dict(dict(zip(names, tensors, strict=True)))
        with torch.no_grad():
            return module(torch.tensor(rows).reshape(-1, 1, 8, 8)).numpy()


def whole_network():
    """Two convolutions, poolings and a dense layer, which return one number."""
    return nn.Sequential(
        nn.Conv2d(1, 4, 3),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.InstanceNorm2d(4),
        nn.Conv2d(4, 8, 2),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.LayerNorm(8, elementwise_affine=False),
        nn.Linear(8, 1),
    )


@pytest.mark.parametrize("learner", CLASSIFIERS, ids=name_of)
def test_a_whole_network_is_a_neuron(learner, tmp_path, monkeypatch):
    """A file keeps the model, and the pieces of the work do not matter."""
    neurons = FromTorch(whole_network, input_shape=(1, 8, 8))
    model = clone(learner).set_params(neurons=neurons, random_state=0, **SMALL[name_of(learner)])
    expected = answers(model.fit(X, Y), X)
    trusted = trickless.save(model, tmp_path / "model")
    assert trusted == [whole_network]
    copy = trickless.load(tmp_path / "model", trusted)
    np.testing.assert_array_equal(answers(copy, X), expected)
    monkeypatch.setattr(from_torch, "NUMBERS_AT_ONCE", 100 * model.neurons_._largest)
    monkeypatch.setattr(from_torch, "ROWS_AT_ONCE", 7)
    scale = abs(expected).max()
    np.testing.assert_allclose(answers(model, X), expected, rtol=1e-3, atol=1e-3 * scale)


def test_the_shape_of_images_is_learned():
    model = KitchenSinksClassifier(FromTorch(whole_network), n_neurons=5, random_state=0)
    images, few = X.reshape(len(X), 1, 8, 8), slice(0, 40)
    flat = clone(model).set_params(neurons__input_shape=(1, 8, 8)).fit(X[few], Y[few])
    model.fit(images[few], Y[few])
    np.testing.assert_array_equal(answers(model, images), answers(flat, X))
    np.testing.assert_array_equal(answers(flat, X.reshape(-1, 8, 8)), answers(flat, X))
    with pytest.raises(ValueError, match=r"rows must have the shape \(1, 8, 8\).*Remedy"):
        model.predict(images.reshape(-1, 1, 4, 16))


class Pair(nn.Module):
    def forward(self, x):
        return x, x


class Sum(nn.Linear):
    def forward(self, x):
        return super().forward(x[0].flatten(1)) + x[1].flatten(1)[:, :1]


def repeated():
    layer = nn.Conv2d(2, 2, 3, padding="same", groups=2)
    return nn.Sequential(nn.Conv2d(1, 2, 3, padding=1, bias=False), layer, nn.ELU(), layer)


@pytest.mark.parametrize(
    "factory",
    [
        whole_network,
        repeated,
        lambda: nn.Sequential(nn.MaxPool2d(2), nn.Sequential(nn.Conv2d(1, 6, 2, 2), nn.ELU())),
        lambda: nn.Sequential(nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular"), nn.ELU()),
        lambda: nn.Sequential(nn.Conv2d(1, 6, 3, dilation=2), nn.AdaptiveAvgPool2d(3)),
        lambda: nn.Sequential(nn.Hardtanh(0, 0.5, True), Pair(), Sum(64, 3)),
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 5), nn.Tanh(), nn.Linear(5, 1)),
    ],
)
def test_layers_side_by_side_are_those_of_single_modules(factory):
    neurons = fitted(FromTorch(factory, (1, 8, 8), squash=False, bound=100.0))
    rng, again = np.random.default_rng(5), np.random.default_rng(5)
    weights = neurons.draw(rng, 4)
    modules = neurons._build(int(again.integers(2**63)), 4)
    with torch.no_grad():
        rows = torch.tensor(X).double().reshape(-1, 1, 8, 8)
        one = [module.double()(rows.clone()).flatten(1).numpy() for module in modules]
    expected = np.stack(one, axis=-1)
    Z = neurons(X.astype(float), weights).reshape(expected.shape)
    np.testing.assert_allclose(Z, expected, atol=1e-12)
    pairs = neurons.activate_pairs(X[:4].astype(float), weights)
    np.testing.assert_allclose(pairs, [expected[i, :, i] for i in range(4)], atol=1e-12)


def test_draws_are_modules_built_after_seeding_torch():
    neurons = fitted(TestTorch.neurons)
    weights = neurons.draw(np.random.default_rng(5), 3)
    torch.manual_seed(int(np.random.default_rng(5).integers(2**63)))
    for j in range(3):
        module = convolutional()
        tensors = [*module.parameters(), *module.buffers()]
        for drawn, tensor in zip(weights, tensors, strict=True):
            np.testing.assert_array_equal(drawn[j], tensor.detach().numpy())


class Tied(nn.Module):
    """Two layers with one matrix, and a buffer with two names."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(64, 64), nn.Linear(64, 64)
        self.second.weight = self.first.weight
        self.register_buffer("shift", torch.randn(64))
        self.register_buffer("again", self.shift)

    def forward(self, x):
        return self.second(torch.tanh(self.first(x) + self.shift)) - self.again


def test_tensors_may_have_several_names():
    neurons = fitted(FromTorch(Tied, squash=False, bound=100.0))
    weights = neurons.draw(np.random.default_rng(5), 3)
    torch.manual_seed(int(np.random.default_rng(5).integers(2**63)))
    modules = [Tied().eval() for _ in range(3)]
    with torch.no_grad():
        expected = [module.double()(torch.tensor(X).double()).numpy() for module in modules]
    Z = neurons.activate(X.astype(float), weights).reshape(len(X), 64, 3)
    np.testing.assert_allclose(Z, np.stack(expected, axis=-1), rtol=1e-9, atol=1e-9)


def test_the_generator_of_torch_is_left_alone():
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    fitted(TestTorch.neurons).draw(np.random.default_rng(0), 5)
    assert torch.equal(torch.rand(3), expected)


class Counting(nn.Linear):
    """A layer that notes how many threads torch may use."""

    seen = []

    def forward(self, x):
        self.seen.append(torch.get_num_threads())
        return super().forward(x)


def test_torch_is_held_to_one_thread_where_neurons_are_evaluated():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        neurons = fitted(FromTorch(lambda: Counting(64, 2)))
        Counting.seen.clear()
        neurons(X, neurons.draw(np.random.default_rng(0), 4))
        assert set(Counting.seen) == {1}
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_inputs_are_not_written_to():
    rows = X.copy()
    rows.setflags(write=False)
    neurons = fitted(FromTorch(lambda: nn.Sequential(nn.Hardtanh(0, 0.1, True), nn.Linear(64, 1))))
    weights = neurons.draw(np.random.default_rng(0), 4)
    neurons(rows, weights)
    np.testing.assert_array_equal(rows, X)
    writable = X.copy()
    neurons(writable, weights)
    np.testing.assert_array_equal(writable, X)
    mirrored = neurons(writable[:, ::-1].copy(), weights)
    np.testing.assert_array_equal(neurons(writable[:, ::-1], weights), mirrored)


class Two(nn.Linear):
    def forward(self, x):
        return super().forward(x), x


class Mean(nn.Linear):
    def forward(self, x):
        return super().forward(x).mean(axis=0, keepdim=True)


class Numpy(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(np.random.default_rng().random(64)).float())

    def forward(self, x):
        return x * self.weight


SHARED = nn.Linear(64, 2)


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        ("Linear", "module_factory='Linear', but it must be a function"),
        (nn.Linear(64, 2), "module_factory is a module itself"),
        (lambda: 3, "module_factory returned a int"),
        (lambda: Two(64, 2), r"returns arrays of sizes \[2, 64\]"),
        (lambda: Mean(64, 2), r"for \d+ row\(s\) a neuron returned .*\(1, 2\)"),
        (Numpy, "gave different weights from the same seed"),
        (lambda: SHARED, "gave the same weights 16 times"),
        (nn.Tanh, "draws nothing"),
        (lambda: nn.Sequential(nn.Linear(64, 1), nn.Flatten(0)), None),
    ],
)
def test_wrong_modules_are_refused(factory, message):
    model = ShrinkingGradientRegressor(FromTorch(factory), random_state=0, n_draws=8)
    if message is None:
        model.fit(X, X[:, 10])
    else:
        with pytest.raises((TypeError, ValueError), match=rf"{message}.* Remedy"):
            model.fit(X, X[:, 10])

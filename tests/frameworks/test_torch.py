"""Torch modules as neurons."""

import numpy as np
import pytest
import torch
from torch import nn

from laws import Laws, X, fitted
from trickless import ShrinkingGradientRegressor
from trickless.neurons import FromTorch


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
    model = ShrinkingGradientRegressor(FromTorch(factory), random_state=0, n_samples=8)
    if message is None:
        model.fit(X, X[:, 10])
    else:
        with pytest.raises((TypeError, ValueError), match=rf"{message}.* Remedy"):
            model.fit(X, X[:, 10])

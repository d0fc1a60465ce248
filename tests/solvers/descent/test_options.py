"""Values of parameters that are "auto"."""

import numpy as np

from trickless._solvers.descent.options import plan, sizes
from trickless.neurons import Gaussian


def test_sizes_of_steps_suit_the_number_of_rows():
    def of(n_rows, *given, blocks=True, n_neurons=20_000):
        return sizes(blocks, *(given or ("auto", "auto")), n_rows, 2, n_neurons)

    assert of(20) == (20, 32)
    assert of(200) == (200, 100)
    assert of(20_000) == (20_000, 381)
    assert of(10**6) == (32_768, 1024)
    assert of(10**6, blocks=False) == (512, 32)
    assert of(10**6, 100, "auto") == (100, 50)
    assert of(10**6, "auto", 10) == (32_768, 10)
    assert of(10**6, 4096, 512) == (4096, 512)
    assert of(10**6, n_neurons=80) == (32_768, 80)


def test_values_that_are_given_are_kept():
    auto = dict.fromkeys(("batch_size", "neurons_per_step", "n_neurons", "alpha"), "auto")
    family = Gaussian(1.0).fit(np.zeros((2, 1)), np.random.default_rng(0))
    assert [plan(auto, "block", n, family).n_neurons for n in (500, 10**6)] == [20_000, 32_768]
    given = plan(auto | {"n_neurons": 100, "alpha": 0.5}, "block", 500, family)
    assert (given.n_neurons, given.alpha) == (100, 0.5)

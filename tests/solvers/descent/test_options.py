"""Values of parameters that are "auto"."""

import numpy as np

from trickless._solvers.descent.options import plan, sizes
from trickless.neurons import Gaussian


def test_sizes_of_steps_suit_the_number_of_rows():
    def of(n_rows, *given, plain=False, n_neurons=20_000):
        return tuple(sizes(*(given or ("auto",) * 3), plain, n_rows, 2, n_neurons))

    assert of(20) == ("block", 20, 32)
    assert of(200) == ("block", 200, 100)
    assert of(20_000) == ("block", 20_000, 381)
    assert of(10**6) == ("block", 32_768, 1024)
    assert of(10**6, plain=True) == of(10**6, None, "auto", "auto") == (None, 512, 32)
    assert of(10**6, "auto", 100, "auto") == ("block", 100, 50)
    assert of(10**6, "auto", "auto", 10) == ("block", 32_768, 10)
    assert of(10**6, "block", 4096, 512, plain=True) == ("block", 4096, 512)
    assert of(10**6, n_neurons=80) == ("block", 32_768, 80)


def test_values_that_are_given_are_kept():
    auto = dict.fromkeys(("preconditioner", "batch_size", "neurons_per_step"), "auto")
    auto |= {"n_neurons": "auto", "alpha": "auto"}
    family = Gaussian(1.0).fit(np.zeros((2, 1)), np.random.default_rng(0))
    assert [plan(auto, False, n, family).n_neurons for n in (500, 10**6)] == [20_000, 32_768]
    given = plan(auto | {"n_neurons": 100, "alpha": 0.5}, False, 500, family)
    assert (given.n_neurons, given.alpha) == (100, 0.5)

"""Values of parameters that are "auto"."""

import numpy as np

from trickless.neurons import Gaussian
from trickless.solvers.descent.options import plan, sizes


def test_sizes_of_steps_suit_the_number_of_rows():
    def of(n_rows, *given, plain=False, n_neurons=20_000):
        return tuple(sizes(*(given or ("auto",) * 3), plain, n_rows, 2, n_neurons))

    assert of(20) == of(1023) == (None, 512, 32)
    assert of(1024) == ("block", 1024, 32)
    assert of(6000) == ("block", 6000, 187)
    assert of(20_000) == ("block", 20_000, 625)
    assert of(10**6) == ("block", 32_768, 1024)
    assert of(10**6, plain=True) == of(10**6, None, "auto", "auto") == (None, 512, 32)
    assert of(10**6, "auto", 100, "auto") == (None, 100, 32)
    assert of(10**6, "auto", "auto", 10) == ("block", 1024, 10)
    assert of(10**6, "auto", 4096, 512) == (None, 4096, 512)
    assert of(300, "block", "auto", "auto") == ("block", 300, 9)
    assert of(5, "block", "auto", "auto") == ("block", 5, 8)
    assert of(10**6, n_neurons=80) == ("block", 32_768, 10)


def test_large_blocks_take_more_neurons():
    auto = dict.fromkeys(("preconditioner", "batch_size", "neurons_per_step"), "auto")
    auto |= {"n_neurons": "auto", "alpha": "auto"}
    family = Gaussian(1.0).fit(np.zeros((2, 1)), np.random.default_rng(0))

    def of(n_rows, **given):
        return plan(auto | given, False, n_rows, family).n_neurons

    assert of(500) == of(20_000) == of(10**6, neurons_per_step=2048) == 20_000
    assert of(24_000) == 24_000
    assert of(10**6) == 32_768
    assert of(10**6, n_neurons=100) == 100

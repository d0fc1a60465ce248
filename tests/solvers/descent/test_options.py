"""Values of parameters that are "auto"."""

from trickless.solvers.descent.options import sizes


def test_sizes_of_steps_suit_the_number_of_rows():
    def of(n_rows, *given, plain=False, n_neurons=20_000):
        return tuple(sizes(*(given or ("auto",) * 3), plain, n_rows, 2, n_neurons))

    assert of(20) == of(1023) == (None, 512, 32)
    assert of(1024) == ("block", 1024, 32)
    assert of(6000) == ("block", 6000, 187)
    assert of(10**6) == ("block", 16_384, 512)
    assert of(10**6, plain=True) == of(10**6, None, "auto", "auto") == (None, 512, 32)
    assert of(10**6, "auto", 100, "auto") == (None, 100, 32)
    assert of(10**6, "auto", "auto", 10) == ("block", 1024, 10)
    assert of(10**6, "auto", 4096, 512) == (None, 4096, 512)
    assert of(300, "block", "auto", "auto") == ("block", 300, 9)
    assert of(5, "block", "auto", "auto") == ("block", 5, 8)
    assert of(10**6, n_neurons=80) == ("block", 16_384, 10)

"""After Ctrl-C at any point where Python looks for it, the next use releases what was held."""

import signal

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from interruptions import interrupted_at
from trickless._arrays.threads import _blas, _cores, linear_algebra, map_blocks, row_blocks
from trickless._functions.network import Network
from trickless._functions.stream import NeuronStream
from trickless.neurons import Gaussian

BLOCKS = row_blocks(3, 1)


def by_hand():
    with linear_algebra(1), linear_algebra(2):
        np.linalg.norm(np.ones(3))


def nested():
    map_blocks(lambda _: map_blocks(lambda _: None, BLOCKS, 1), BLOCKS[:2], 1)


def on_threads():
    map_blocks(lambda _: None, BLOCKS, 2)


def network():
    neurons = Gaussian(1.0).fit(np.ones((4, 2)), None)
    Network(neurons, NeuronStream(neurons, 0), np.ones((8, 2, 1)))(np.ones((2, 2)))


def state():
    threads = [library.num_threads for library in _blas._libraries]
    return threads, len(_blas._limits), len(_cores._shares), signal.getsignal(signal.SIGINT)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("call", [by_hand, nested, on_threads, network])
def test_ctrl_c_leaves_blas_the_cores_and_the_handler_as_they_were(call):
    with threadpool_limits(3, "blas"):
        call()  # finds the libraries, and starts threads
        expected = state()
        for n in range(1, 10_000):
            came = interrupted_at(n, call)
            if state() != expected:
                call()
            assert state() == expected, f"at point {n}"
            if not came:
                break
        assert 20 < n < 9_990
        assert expected[0] != [1]

"""Ctrl-C at every point where Python looks for it gives back what is held."""

import signal
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from interruptions import interrupted_at
from trickless.arrays.interrupts import Entered, InterruptSafe, uninterrupted
from trickless.arrays.threads import _blas, _cores, linear_algebra, map_blocks, row_blocks
from trickless.functions.network import Network
from trickless.functions.stream import NeuronStream
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
    return threads, dict(_blas._limits), _cores._taken, signal.getsignal(signal.SIGINT)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("call", "anywhere"),
    [
        (by_hand, False),
        (nested, False),
        (on_threads, False),
        (network, False),
        (by_hand, True),
        (on_threads, True),
    ],
)
def test_ctrl_c_leaves_blas_the_cores_and_the_handler_as_they_were(call, anywhere):
    with threadpool_limits(3, "blas"):
        call()  # finds the libraries, and starts threads
        expected = state()
        for n in range(1, 10_000, 5 if anywhere else 1):
            came = interrupted_at(n, call, anywhere)
            assert state() == expected, f"at point {n}"
            if not came:
                break
        assert 20 < n < 9_990
        assert expected[0] != [1]


class Lent(InterruptSafe):
    """What is held, for a test."""

    def __init__(self, at=None):
        self.at, self.held = at, 0

    def begin(self):
        self.held += 1
        if self.at == "begin":
            signal.raise_signal(signal.SIGINT)
        return self

    def end(self, error):
        if self.at == "end":
            signal.raise_signal(signal.SIGINT)
        self.held -= 1


@pytest.mark.parametrize("at", ["begin", "body", "end"])
@pytest.mark.parametrize("within", [False, True])
def test_an_interrupt_is_raised_once_and_after_what_it_may_not_cut_short(at, within):
    lent, outer, before = Lent(at), Lent(), signal.getsignal(signal.SIGINT)
    reached = []
    with pytest.raises(KeyboardInterrupt):
        if within:
            with outer, lent:
                reached.append("body")
                signal.raise_signal(signal.SIGINT) if at == "body" else None
            reached.append("after")
        with lent:
            reached.append("body")
            signal.raise_signal(signal.SIGINT) if at == "body" else None
        reached.append("after")
    assert reached == ([] if at == "begin" else ["body"])
    assert lent.held == outer.held == 0
    assert signal.getsignal(signal.SIGINT) is before
    with Lent():  # nothing is due any more
        pass


def test_a_handler_that_does_not_raise_is_called_and_the_body_goes_on():
    came = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(True))
    try:
        with Lent("begin") as lent:
            assert came == [True]
            assert lent.held == 1
        assert lent.held == 0
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_is_held_while_ctrl_c_is_put_off_is_given_back_without_it():
    lent, done = Lent("end"), []
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        with lent:
            done.append("inside")
        done.append("after")
    assert done == ["inside", "after"]
    assert lent.held == 0


def test_another_thread_installs_no_handler():
    found = []

    def hold():
        with Lent() as lent:
            found.append((lent.held, signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    assert found == [(1, signal.getsignal(signal.SIGINT))]


def test_another_library_s_manager_is_left_with_the_error():
    class Manager:
        left = None

        def __enter__(self):
            return "entered"

        def __exit__(self, *error):
            Manager.left = error

    with pytest.raises(ZeroDivisionError) as raised, Entered(Manager) as value:
        _ = 1 / 0
    assert value == "entered"
    assert Manager.left[:2] == (ZeroDivisionError, raised.value)

"""Row blocks and threads."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_info, threadpool_limits

from trickless._arrays.threads import (
    _blas,
    _cores,
    _Shared,
    linear_algebra,
    map_blocks,
    map_rows,
    n_threads,
    row_blocks,
    worthwhile,
)


def blas_threads():
    return max(lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas")


@pytest.mark.parametrize("n_rows", [0, 1, 511, 512, 513, 1030])
def test_blocks_cover_the_rows_once_and_in_order(n_rows):
    rows = [i for block in row_blocks(n_rows) for i in range(n_rows)[block]]
    assert rows == list(range(n_rows))


@pytest.mark.parametrize(
    ("n_rows", "threads", "n_blocks"),
    [(1000, 1, 2), (1000, 4, 4), (1000, 99, 8), (200, 2, 2), (128, 2, 1), (9000, 2, 18)],
)
def test_few_rows_are_shared_out_among_the_threads(n_rows, threads, n_blocks):
    blocks = row_blocks(n_rows, threads=threads)
    assert len(blocks) == n_blocks
    assert [i for block in blocks for i in range(n_rows)[block]] == list(range(n_rows))


def test_tests_can_make_blocks_small(small_blocks):
    small_blocks(7)
    X = np.zeros((20, 3))
    for n_columns in (1, 50, 5000):
        assert map_rows(lambda rows: len(X[rows]), len(X), n_columns, 3) == [7, 7, 6]
    assert len(row_blocks(20)) == 3


def test_little_work_is_not_shared_out():
    assert worthwhile(4, 1000) == 1
    assert worthwhile(None, 1000) == 1
    assert worthwhile(4, 10**8) == 4
    assert worthwhile(None, 10**8) is None


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5])
def test_results_of_blocks_come_in_order_with_blas_held_to_one_thread(n_jobs):
    before = blas_threads()
    seen = []

    def work(block):
        seen.append(blas_threads())
        time.sleep(0.001 * (7 - block.start))
        return block.start

    with threadpool_limits(2, "blas"):
        assert map_blocks(work, row_blocks(7, 1), n_jobs) == list(range(7))
    assert set(seen) == {1}
    assert blas_threads() == before


def test_many_callers_at_once_leave_the_count_as_it_was():
    with threadpool_limits(2, "blas"):
        blocks = row_blocks(8, 1)

        def call():
            for _ in range(20):
                map_blocks(lambda block: None, blocks, 2)

        callers = [threading.Thread(target=call) for _ in range(8)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        assert blas_threads() == 2
        assert not _blas._limits


def test_any_thread_holds_blas_down_and_lets_it_go():
    def in_a_thread(function):
        thread = threading.Thread(target=function)
        thread.start()
        thread.join()

    with threadpool_limits(4, "blas"):
        with linear_algebra(2):  # by this thread; the next ones go by what is left of it
            held, seen = _blas.at_most(1), []
            in_a_thread(held.__enter__)
            seen.append(blas_threads())
        in_a_thread(lambda: held.__exit__(None, None, None))
        seen.append(blas_threads())
        in_a_thread(lambda: seen.extend(map_blocks(lambda _: blas_threads(), row_blocks(2, 1), 2)))
        assert seen == [1, 4, 1, 1]
    assert blas_threads() != 4


def test_an_error_in_a_block_reaches_the_caller_and_frees_blas():
    before = blas_threads()
    with pytest.raises(ZeroDivisionError):
        map_blocks(lambda block: 1 // block.start, row_blocks(4, 1), 2)
    assert blas_threads() == before


def test_threads_follow_the_limits_around_them():
    with threadpool_limits(1, "blas"):
        assert n_threads(None) == 1
    assert n_threads(3) == 3
    assert n_threads(-1) >= 1
    counts = Parallel(n_jobs=2)(delayed(n_threads)(None) for _ in range(2))
    assert set(counts) == {1}


def test_linear_algebra_runs_on_the_threads_asked_for():
    with threadpool_limits(4, "blas"):
        for n_jobs, threads in ((1, 1), (3, 3), (None, 4), (9, 4)):
            with linear_algebra(n_jobs):
                assert blas_threads() == threads
                with linear_algebra(2):
                    assert blas_threads() == min(2, threads)
                assert blas_threads() == threads
        assert blas_threads() == 4


def test_little_linear_algebra_runs_on_one_thread():
    with threadpool_limits(4, "blas"):
        for n_products, threads in ((0, 1), (645**3, 1), (646**3, 3), (10**12, 3)):
            with linear_algebra(3, n_products):
                assert blas_threads() == threads


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork is a system call of POSIX")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_is_not_held_up_by_its_parent():
    held = _blas.at_most(1), _blas._lock, _cores.at_most(9), _cores._lock
    with threadpool_limits(2, "blas"), held[0], held[1], held[2], held[3]:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # a deadlocked child ends itself

            def answer():
                with _cores.at_most(3) as threads:
                    os.write(writer, bytes([n_threads(None), threads]))

            done = threading.Thread(target=answer)
            done.start()
            done.join()
            os._exit(0)
        os.waitpid(child, 0)
        os.close(writer)
        assert os.read(reader, 2) == bytes([2, 3])


def test_all_blocks_are_done_even_without_results():
    out = np.zeros(1000)

    def fill(block):
        out[block] = 1

    map_blocks(fill, row_blocks(1000, 7), 3)
    assert out.all()


def test_counts_below_zero_leave_cores_free(monkeypatch):
    monkeypatch.setattr("trickless._arrays.threads.os.cpu_count", lambda: 8)
    assert [n_threads(n) for n in (-1, -2, -99)] == [8, 7, 1]


def test_limits_that_overlap_end_in_any_order():
    with threadpool_limits(4, "blas"):
        one, three = _blas.at_most(1), _blas.at_most(3)
        one.__enter__()
        three.__enter__()
        assert blas_threads() == 1
        one.__exit__(None, None, None)
        assert blas_threads() == 3
        three.__exit__(None, None, None)
        assert blas_threads() == 4


def test_counts_are_set_where_they_change(monkeypatch):
    calls = []
    library = _blas._libraries[0]
    original = type(library).set_num_threads

    def spy(self, n):
        calls.append(n)
        original(self, n)

    with threadpool_limits(4, "blas"):
        monkeypatch.setattr(type(library), "set_num_threads", spy)
        with linear_algebra(None), linear_algebra(4), linear_algebra(9):
            assert not calls
            with linear_algebra(2), linear_algebra(3), linear_algebra(2):
                assert set(calls) == {2}
                n_calls = len(calls)
        assert blas_threads() == 4
        assert len(calls) == 2 * n_calls


def test_the_error_is_that_of_the_first_block_that_has_one():
    def fail(block):
        time.sleep(0.002 * (3 - block.start % 4))
        if block.start >= 3:
            raise ValueError(f"block {block.start}")

    for _ in range(20):
        with pytest.raises(ValueError, match=r"block 3$"):
            map_blocks(fail, row_blocks(12, 1), 4)
    assert not _cores._shares


def test_no_block_is_begun_after_an_error_and_helpers_are_done():
    done, error = [], threading.Event()

    def work(block):
        if block.start == 0:
            error.set()
            raise ZeroDivisionError
        error.wait(10)
        time.sleep(0.05)
        done.append(block.start)

    with pytest.raises(ZeroDivisionError):
        map_blocks(work, row_blocks(100, 1), 3)
    so_far = list(done)
    time.sleep(0.1)
    assert done == so_far
    assert len(done) <= 4


def test_a_block_may_have_blocks_of_its_own(monkeypatch):
    monkeypatch.setattr("trickless._arrays.threads.os.cpu_count", lambda: 200)  # more than helpers

    def outer(block):
        return sum(map_blocks(lambda inner: inner.start, row_blocks(20, 1), 20))

    assert map_blocks(outer, row_blocks(40, 1), 40) == [190] * 40


def test_threads_stay_for_the_next_caller():
    def names():
        return {t.name for t in threading.enumerate() if t.name.startswith("trickless")}

    def work(block):
        time.sleep(0.01)

    map_blocks(work, row_blocks(9, 1), 3)
    before = names()
    assert len(before) >= 2
    for _ in range(40):
        map_blocks(work, row_blocks(3, 1), 3)
    assert before <= names()
    assert len(names()) <= len(before) + 10  # one that is not idle again yet is not waited for


def test_a_block_that_a_helper_took_is_done_after_the_caller_finished():
    shared = _Shared(lambda block: 2 * block, [3], 1)

    def numbers():
        shared._stopped = True  # the caller waits as soon as a helper has taken its number
        yield 0

    shared._numbers = numbers()
    shared.work()
    assert shared.results() == [6]

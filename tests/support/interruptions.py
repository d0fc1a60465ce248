"""Ctrl-C where Python looks for it: in turn at every such point of a call, and at random times.

Run as a script for signals from outside, at random times of a loop of fits and predictions:

python tests/support/interruptions.py 2000
"""

import contextlib
import dis
import functools
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

import threadpoolctl

import trickless

#: Where a Ctrl-C may come: this package, and what its ``with`` statements and helpers run.
_FOLDERS = str(Path(trickless.__file__).parent), str(Path(threading.__file__).parent / "concurrent")
_FILES = contextlib.__file__, threading.__file__, threadpoolctl.__file__


def interrupted_at(n, call):
    """Call with a Ctrl-C at the n-th point where Python looks for one; whether there was one.

    These are the beginnings of functions, the returns of functions of C, and jumps back in loops.
    It looks nowhere else, for example not between a lock of C and the body of its with statement.
    """
    left = n

    def look(frame):
        nonlocal left
        name = frame.f_code.co_filename
        if name.startswith(_FOLDERS) or name in _FILES:
            left -= 1
            if left == 0:
                signal.raise_signal(signal.SIGINT)

    def profile(frame, event, arg):
        if event in ("call", "c_return") and arg is not sys.setprofile:
            look(frame)

    def trace(frame, event, arg):
        frame.f_trace_opcodes = True
        if event == "opcode" and frame.f_lasti in _jumps_back(frame.f_code):
            look(frame)
        return trace

    before = sys.gettrace(), sys.getprofile()
    sys.settrace(trace)
    sys.setprofile(profile)
    try:
        call()
    except KeyboardInterrupt:
        pass
    finally:
        sys.setprofile(before[1])
        sys.settrace(before[0])
    return left <= 0


@functools.cache
def _jumps_back(code):
    return {i.offset for i in dis.get_instructions(code) if i.opname.startswith("JUMP_BACKWARD")}


def run(n_signals, seed=0):
    """Send so many signals to this process, and look at BLAS's threads after each."""
    from sklearn.base import clone

    from cases import LEARNERS, TREE_LEARNERS, problem
    from trickless._arrays.threads import _blas, _cores

    rng, left = random.Random(seed), 0
    before = [library.num_threads for library in _blas._libraries]
    handler = signal.getsignal(signal.SIGINT)
    main, begun = os.getpid(), threading.Event()

    def shoot():
        for _ in range(n_signals):
            begun.wait()
            begun.clear()
            time.sleep(rng.expovariate(100))
            os.kill(main, signal.SIGINT)

    shooter = threading.Thread(target=shoot, daemon=True)
    shooter.start()
    jobs = [
        (clone(m).set_params(random_state=0, n_jobs=2), *problem(m))
        for m in LEARNERS + TREE_LEARNERS
    ]
    for i in range(n_signals):
        model, X, y = jobs[i % len(jobs)]
        try:
            begun.set()
            while True:
                model.fit(X, y).predict(X)
        except KeyboardInterrupt:
            pass
        now = [library.num_threads for library in _blas._libraries]
        bad = now != before or _cores._shares or signal.getsignal(signal.SIGINT) is not handler
        left += bool(bad)
        if now != before:
            print(f"signal {i}: BLAS was left at {now}", flush=True)
            for library, n in zip(_blas._libraries, before, strict=True):
                library.set_num_threads(n)
    print(f"{n_signals} signals, {left} of which left something behind")
    return left


if __name__ == "__main__":
    sys.exit(run(int(sys.argv[1])) > 0)

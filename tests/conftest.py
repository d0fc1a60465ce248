"""What all tests have in common: one BLAS thread, and signals that arrive.

The arrays of tests are small, and threads would only wait for one another. Tests of threads ask for
as many as they need. It is set before anything imports NumPy.

A process that a shell starts in the background ignores Ctrl-C, and so do its children; tests that
interrupt something run there as well.
"""

import os
import signal

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")
signal.signal(signal.SIGINT, signal.default_int_handler)

import pytest  # noqa: E402

import trickless._arrays.threads  # noqa: E402


@pytest.fixture
def small_blocks(monkeypatch):
    """A function after which blocks have so many rows, and little work is shared out."""

    def set_rows(rows):
        monkeypatch.setattr(trickless._arrays.threads, "_WORTH_SHARING", 1)
        monkeypatch.setattr(trickless._arrays.threads, "ROWS_PER_BLOCK", rows)
        monkeypatch.setattr(trickless._arrays.threads, "_COLUMNS_PER_BLOCK", 1)

    return set_rows

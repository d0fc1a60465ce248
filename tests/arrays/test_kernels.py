"""The kernel of OpenBLAS that a run asks for is the one that multiplies."""

import os

import pytest
import scipy.linalg  # noqa: F401  (which has an OpenBLAS of its own)
from threadpoolctl import threadpool_info

#: Names under which OpenBLAS knows a kernel.
NAMES = {"Prescott": {"Prescott", "Katmai"}}


@pytest.mark.skipif("OPENBLAS_CORETYPE" not in os.environ, reason="no kernel is asked for")
def test_the_kernel_that_is_asked_for_is_in_use():
    asked, threads = os.environ["OPENBLAS_CORETYPE"], int(os.environ["OPENBLAS_NUM_THREADS"])
    blas = [each for each in threadpool_info() if each["internal_api"] == "openblas"]
    assert blas
    for each in blas:
        assert each["architecture"] in NAMES.get(asked, {asked})
        assert each["num_threads"] == threads

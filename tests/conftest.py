"""One BLAS thread: the arrays of tests are small, and threads would only wait for one another.

Tests of threads ask for as many as they need. It is set before anything imports NumPy.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

"""What ``import trickless`` brings along."""

import subprocess
import sys

PROBE = """
import sys
def packages():
    return {name.partition(".")[0] for name in sys.modules} - sys.stdlib_module_names
import sklearn
before = packages()
import trickless
print(*sorted(packages() - before))
print(*sorted(name for name in sys.modules if name in ("sklearn.metrics", "sklearn.linear_model")))
"""


def test_the_package_brings_little_more_than_scikit_learn_does():
    """No matplotlib, torch or JAX, pandas only where scikit-learn imports it, and no metrics."""
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    brought, parts = done.stdout.split("\n")[:2]
    assert "trickless" in brought.split()
    assert set(brought.split()) <= {"trickless", "array_api_compat", "threadpoolctl", "tqdm"}
    assert not parts

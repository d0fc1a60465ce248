"""What ``import trickless`` brings along."""

import subprocess
import sys

PROBE = """
import sys
def packages():
    return {name.partition(".")[0] for name in sys.modules} - sys.stdlib_module_names
import sklearn.linear_model
before = packages()
import trickless
print(*sorted(packages() - before))
"""


def test_the_package_brings_little_more_than_scikit_learn_does():
    """No matplotlib, torch or JAX, and pandas only where scikit-learn imports it."""
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    brought = set(done.stdout.split())
    assert "trickless" in brought
    assert brought <= {"trickless", "array_api_compat", "threadpoolctl", "tqdm"}

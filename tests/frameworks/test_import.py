"""Neither library is imported before it is needed."""

import subprocess
import sys


def test_importing_the_package_imports_neither_library():
    look = "import sys, trickless.neurons; print(sorted({'torch', 'jax'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

"""Tests that need more are collected only where they are named, as some targets of make do.

More is torch, JAX, River, skops, MLflow, ONNX, Dask, aeon, sktime, or the built site.
"""

import gc
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
NEEDS_MORE = {
    ROOT / "tests/frameworks",
    ROOT / "src/trickless/neurons/from_torch.py",
    ROOT / "src/trickless/neurons/from_jax.py",
    ROOT / "tests/dask",
    ROOT / "tests/site",
    ROOT / "tests/aeon",
    ROOT / "src/trickless/dask",
    ROOT / "src/trickless/river",
    ROOT / "src/trickless/export/pipelines.py",
}


def pytest_ignore_collect(collection_path, config):
    """Ignore a path that neither is named in the command nor holds what is."""
    if collection_path not in NEEDS_MORE:
        return None
    named = [config.invocation_params.dir / arg.split("::")[0] for arg in config.args]
    return not any(path.is_relative_to(collection_path) for path in named)


def pytest_sessionstart(session):
    """Compile loops before workers start, each of which would compile all of them."""
    option = session.config.getoption
    if option("numprocesses", None) and not option("collectonly"):
        command = [sys.executable, str(ROOT / "tests/support/compile_loops.py")]
        parts = [subprocess.Popen([*command, each]) for each in ("oblivious", "binary", "series")]
        ended = [part.wait(600) for part in parts]
        if any(ended):
            pytest.exit("the loops that tests use cannot be compiled", 1)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for garbage neither while tests are collected nor among them: they are all in use."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_terminal_summary(terminalreporter):
    """Say how many laws held, and in how many cases: families of neurons with learners."""
    passed = terminalreporter.stats.get("passed", [])
    cases = [each.nodeid for each in passed if "tests/test_laws.py::" in each.nodeid]
    if cases:
        laws = {nodeid.partition("::")[2].partition("[")[0] for nodeid in cases}
        terminalreporter.write_line(
            f"{len(laws)} laws held in {len(cases):,} cases of learners and families of neurons"
        )

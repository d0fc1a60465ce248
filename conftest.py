"""Tests that need more are collected only where they are named, as some targets of make do.

More is torch, JAX, River, skops, MLflow, ONNX, Dask, aeon, sktime, or the built site.
"""

import gc
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


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for garbage neither while tests are collected nor among them: they are all in use."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()

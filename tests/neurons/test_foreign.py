"""Neurons of another library, where that library is missing; tests/frameworks has the rest."""

import sys

import numpy as np
import pytest

from cases import inputs
from trickless.neurons import FromJax, FromTorch


@pytest.mark.parametrize(
    ("neurons", "module"), [(FromTorch(print), "torch"), (FromJax(print, print), "jax")]
)
def test_a_missing_library_is_named_with_its_remedy(neurons, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    with pytest.raises(ImportError, match=rf"needs {module}, .*pip install .trickless\[{module}\]"):
        neurons.fit(inputs(5, 3), np.random.default_rng(0))

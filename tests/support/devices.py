"""Devices of torch: the processor, and a graphics card, without which its tests are skipped."""

import pytest

torch = pytest.importorskip("torch")

needs_card = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="there is no CUDA device here; make test-gpu needs one"
)
DEVICES = ["cpu", pytest.param("cuda", marks=needs_card)]

"""Count what torch does: operations, waits for the device, and bytes to and from the host.

It needs no graphics card. On the processor, tensors stand for arrays of a device, and NumPy arrays
for the host. Then a conversion between them is a crossing, which would be a transfer on a card:

- ``launched``: operations that start at least one kernel. Views and allocations start none.
- ``waits``: moments in which Python needs a number of the device and waits until everything before
  it is done: ``item``, ``bool``, a copy to NumPy, the checks of factorisations, and operations
  whose shape depends on values.
- ``to_host`` and ``to_device``: copies, and ``host_bytes`` and ``device_bytes``, what they move.
- ``factorised``: Cholesky, LU and eigendecompositions.

Copies of random weights are counted as other copies to the device.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import numpy as np
import torch
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._python_dispatch import TorchDispatchMode

#: Operations of ATen that start no kernel.
_NO_KERNEL = {
    *("alias", "as_strided", "detach", "diagonal", "expand", "permute", "select", "slice"),
    *("split", "squeeze", "t", "transpose", "unsqueeze", "unbind", "view", "_unsafe_view"),
    *("_reshape_alias", "empty", "empty_like", "empty_strided", "new_empty", "resize_"),
    *("lift_fresh", "is_same_size", "sym_size", "_local_scalar_dense", "new_empty_strided"),
    *("is_pinned", "_linalg_check_errors"),
}
#: Operations of ATen for which Python waits.
_WAITS = {
    *("_local_scalar_dense", "_linalg_check_errors", "nonzero", "masked_select", "equal"),
    *("is_nonzero", "unique_dim", "_unique2", "unique_consecutive", "linalg_eigh", "_linalg_eigh"),
}
_FACTORISATIONS = {
    *("linalg_cholesky_ex", "_linalg_eigh", "linalg_lu_factor_ex", "_linalg_solve_ex"),
    *("linalg_inv_ex", "_linalg_svd", "linalg_qr", "linalg_cholesky", "linalg_eigh"),
}
#: Methods of tensors that copy to the host, and functions that copy from it.
_TO_HOST = {"__array__", "numpy", "tolist", "__dlpack__"}
_TO_DEVICE = {"asarray", "as_tensor", "tensor", "from_numpy", "from_dlpack"}


@dataclass
class Counts:
    """What was counted; ``where`` has the lines of the package that crossed, and how often."""

    launched: int = 0
    waits: int = 0
    to_host: int = 0
    host_bytes: int = 0
    to_device: int = 0
    device_bytes: int = 0
    factorised: int = 0
    where: Counter[str] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)

    def numbers(self) -> dict[str, int]:
        return {name: value for name, value in vars(self).items() if isinstance(value, int)}


def _line() -> str:
    """The line of the package that is being executed, apart from places.py."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if "/trickless/" in name and not name.endswith("places.py"):
            where = name.rpartition("/trickless/")[2]
            return f"{where}:{frame.f_lineno} {frame.f_code.co_name}"
        frame = frame.f_back
    return "outside"


class _Functions(TorchFunctionMode):
    """Sees conversions between tensors and NumPy arrays, which are no operations of ATen."""

    def __init__(self, counts: Counts) -> None:
        super().__init__()
        self.counts = counts

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = (resolve_name(function) or getattr(function, "__name__", "")).rpartition(".")[2]
        if name == "__get__":
            return function(*args, **(kwargs or {}))
        counts, given = self.counts, args[0] if args else None
        if name in _TO_HOST and isinstance(given, torch.Tensor):
            counts.to_host += 1
            counts.host_bytes += given.nbytes
            counts.waits += 1
            counts.where[f"to host: {_line()}"] += 1
        elif name in _TO_DEVICE and not isinstance(given, torch.Tensor):
            counts.to_device += 1
            counts.device_bytes += np.asarray(given).nbytes
            counts.where[f"to device: {_line()}"] += 1
        elif name not in _TO_HOST and any(isinstance(each, np.ndarray) for each in args):
            counts.to_device += 1  # an index, or an operand that torch converts by itself
            counts.where[f"to device, not asked for: {_line()}"] += 1
        with torch._C.DisableTorchFunction() if name in _TO_HOST else nullcontext():
            return function(*args, **(kwargs or {}))


class _Operations(TorchDispatchMode):
    """Sees the operations of ATen."""

    def __init__(self, counts: Counts) -> None:
        super().__init__()
        self.counts = counts

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        counts, name = self.counts, function.overloadpacket.__name__
        counts.operations[name] += 1
        counts.launched += name not in _NO_KERNEL
        counts.factorised += name in _FACTORISATIONS
        if name in _WAITS:
            counts.waits += 1
            counts.where[f"waits for {name}: {_line()}"] += 1
        return function(*args, **(kwargs or {}))


@contextmanager
def counting() -> Iterator[Counts]:
    """Count in a ``with`` statement: ``with counting() as counts: ...``."""
    counts = Counts()
    with _Functions(counts), _Operations(counts):
        yield counts

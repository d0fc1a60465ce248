"""Torch modules as neurons. A random initialisation of a module is a draw of w."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from trickless._errors import InvalidTypeError
from trickless._rules import anything
from trickless.neurons.base import Weights
from trickless.neurons.foreign import NUMBERS_AT_ONCE, Foreign
from trickless.neurons.torch_layers import evaluate
from trickless.neurons.torch_layers import torch as _torch

#: Rows that many modules see together, whose results fit into the cache with those of the modules.
ROWS_AT_ONCE = 32
#: Torch initialises modules from one generator for the whole process.
_GENERATOR = threading.Lock()


class FromTorch(Foreign):
    r"""Torch modules as neurons: :math:`\psi(x; w)` is a module with random weights w.

    .. math:: \psi(x; w) = \frac{b}{\sqrt{k}} \tanh(\text{module}_w(x)) \in R^k

    Any network works: convolutions, attention, residual blocks. The modules are not trained: the
    learner only finds a coefficient for each of their outputs. Many modules are evaluated at once
    (``torch.func.vmap``), on the processor and without gradients. In a ``torch.nn.Sequential``,
    two-dimensional convolutions and poolings of many modules work on channels side by side, which
    takes less time. Modules are in eval mode, which means without dropout and with the initial
    statistics of batch normalisation.

    Parameters
    ----------
    module_factory : callable
        Function without arguments that builds a ``torch.nn.Module`` on the processor. All
        randomness must come from torch's default generator. The module's parameters and buffers are
        w. The module accepts rows of shape (n_rows, \*input_shape) and returns a tensor with n_rows
        entries along the first axis, each from its own row alone. ``torch.func.vmap`` must be able
        to evaluate it, so no branch may depend on values.

    See Also
    --------
    FromJax : The same for JAX.

    Notes
    -----
    A draw constructs modules one after the other, which takes just under a millisecond for a small
    convolutional module. Weights are drawn in torch's default precision, and evaluated in the
    precision of the learner. Parameters and buffers are converted, but tensors in other attributes
    of a module are not.

    Torch's generator is restored after a draw, and no other thread may use it during a draw. Each
    thread that evaluates neurons limits torch to one OpenMP thread, because the learner already
    runs ``n_jobs`` threads.

    A fitted learner keeps no module. You can pickle it if ``module_factory`` is a named function in
    an importable Python file, and :func:`trickless.load` needs that function in ``trusted``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from torch import nn
    >>> from trickless import KitchenSinksClassifier
    >>> from trickless.neurons import FromTorch
    >>> def network():
    ...     return nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.AvgPool2d(3), nn.Flatten())
    >>> X, y = load_digits(return_X_y=True)
    >>> neurons = FromTorch(network, input_shape=(1, 8, 8))
    >>> model = KitchenSinksClassifier(neurons, n_neurons=20, random_state=0)
    >>> model.fit(X[:1000] / 16, y[:1000]).neurons_.width
    32
    >>> bool(model.score(X[1000:] / 16, y[1000:]) > 0.9)
    True
    """

    _rules = Foreign._rules | {
        "module_factory": anything(
            "a function that builds a torch module",
            "def build(): return torch.nn.Sequential(...), without calling it",
            callable,
        )
    }
    _source = "initialise on the processor, with random numbers from torch's default generator only"

    def __init__(
        self,
        module_factory: Callable[[], Any],
        input_shape: tuple[int, ...] | None = None,
        squash: bool = True,
        bound: float = 1.0,
    ) -> None:
        self.module_factory = module_factory
        self.input_shape = input_shape
        self.squash = squash
        self.bound = bound

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        state = _torch().func.stack_module_state(self._build(int(rng.integers(2**63)), n))
        tensors = [tensor.detach() for part in state for tensor in part.values()]
        return tuple(
            (tensor.double() if tensor.is_floating_point() else tensor).numpy()
            for tensor in tensors
        )

    def _build(self, seed: int, n: int) -> list[Any]:
        """Build modules from a seed. The state of torch's own generator is restored."""
        torch = _torch()
        # a context of the device takes a fifth of the time of a small module
        on_host = torch.get_default_device().type == "cpu"
        device = nullcontext() if on_host else torch.device("cpu")
        with _GENERATOR, torch.random.fork_rng([]), device:
            torch.default_generator.manual_seed(seed)
            modules = [self.module_factory() for _ in range(n)]
        _check_module(modules[0], torch.nn.Module, called=True)
        return modules

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the module, which ``module_factory`` builds again."""
        return {key: part for key, part in super().__getstate__().items() if key != "_template"}

    def _inspect(self) -> tuple[list[int], int]:
        torch = _torch()
        _check_module(self.module_factory, torch.nn.Module, called=False)
        module = self._build(0, 1)[0].eval()
        self._template = _template(module)
        sizes = []
        for part in module.modules():
            part.register_forward_hook(lambda part, given, out: sizes.extend(_sizes(out)))
        with torch.no_grad(), torch.device("cpu"):
            out = module(torch.zeros(1, *self._shape))
        return _sizes(out), max(sizes, default=0)

    def _evaluate(self, X: np.ndarray, weights: Weights, pairs: bool) -> np.ndarray:
        torch = _torch()
        if "_template" not in vars(self):  # after a file or a pickle
            self._template = _template(*self._build(0, 1))
        template, names = self._template
        module = deepcopy(template)  # functional_call puts weights into the module itself
        drawn = dict(zip(dict.fromkeys(names.values()), map(_tensor, weights), strict=True))
        rows = _tensor(X) if pairs else _tensor(X)[None]
        n, n_rows = len(weights[0]), rows.shape[1]
        some_rows = min(n_rows, ROWS_AT_ONCE)
        chunk = max(1, NUMBERS_AT_ONCE // (self._largest * some_rows))

        Z = torch.empty(n, n_rows, self.width, dtype=rows.dtype)
        with torch.no_grad(), _openmp().limit(limits=1):
            for i in range(0, n, chunk):
                some = slice(i, i + chunk)
                state = {name: drawn[first][some] for name, first in names.items()}
                for j in range(0, n_rows, some_rows):
                    part = Z[some, j : j + some_rows]
                    seen = rows[some if pairs else slice(1), j : j + some_rows]
                    out = evaluate(module, state, seen)
                    _check_outputs(out, part)
                    part[:] = out.reshape(len(out), *part.shape[1:])
        return Z.numpy()


@cache
def _openmp() -> ThreadpoolController:
    """Get the controller of OpenMP's thread count, which each calling thread has for itself."""
    _torch()
    return ThreadpoolController().select(user_api="openmp")


def _template(module: Any) -> tuple[Any, dict[str, str]]:
    """Return a copy of a module without weights, and the first name of each of its tensors."""
    every = {"remove_duplicate": False}
    firsts: dict[int, str] = {}  # a tensor may have several names
    names = {
        name: firsts.setdefault(id(tensor), name)
        for name, tensor in (*module.named_parameters(**every), *module.named_buffers(**every))
    }
    return deepcopy(module).eval().to("meta"), names


def _tensor(array: np.ndarray) -> Any:
    return _torch().from_numpy(np.require(array, requirements=["C", "W"]))


def _sizes(out: Any) -> list[int]:
    tensors = out if isinstance(out, tuple | list) else [out]
    return [tensor.numel() for tensor in tensors if isinstance(tensor, _torch().Tensor)]


def _check_module(module: Any, module_class: type, called: bool) -> None:
    if isinstance(module, module_class) != called:
        what = f"returned a {type(module).__name__}" if called else "is a module itself"
        raise InvalidTypeError(
            f"FromTorch: module_factory {what}, but it must be a function that builds a new "
            "torch.nn.Module at each call",
            "module_factory=lambda: "
            "torch.nn.Sequential(...), or a named function, which can be pickled",
        )


def _check_outputs(out: Any, part: Any) -> None:
    n_rows, width = part.shape[1:]
    if out.shape[1:2] != (n_rows,) or out[0].numel() != n_rows * width:
        raise InvalidTypeError(
            f"FromTorch: for {n_rows} row(s) a neuron returned an array of shape "
            f"{tuple(out.shape[1:])}, but it must return width = {width} number(s) for each row, "
            "as it did for a single row",
            "keep the first axis, which is the axis of the rows",
        )

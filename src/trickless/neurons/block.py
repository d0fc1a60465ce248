"""Blocks: several draws of a family as one neuron."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.arrays.places import namespace, to_device_of, to_host
from trickless.arrays.stated import check_array
from trickless.arrays.threads import ROWS_PER_BLOCK, linear_algebra, row_blocks
from trickless.errors import StreamChangedError
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.composed import FAMILY, Composed, coef_of_draws, draw_part
from trickless.rules import count

#: Bits of each of the two numbers of a seed. Libraries without 64-bit integers can hold them.
_BITS = 31


class Block(Composed):
    r"""Several draws of a family as one neuron, drawn again from a seed when needed.

    .. math:: \psi(x; w) = \frac{1}{\sqrt{r}} \big(\psi_1(x; w_1), \dots, \psi_1(x; w_r)\big),
        \qquad k(x, x') = k_1(x, x')

    Here r is ``n_draws``. The weights of a neuron are two integers, however many draws it has, so
    wide blocks take hardly any memory in a mixture with other neurons.
    """

    _doc_link_module = ""  # it has no page
    _rules = {"neurons": FAMILY, "n_draws": count("n_draws=16 has 16 draws a neuron")}

    def __init__(self, neurons: Neurons, n_draws: int = 16) -> None:
        self.neurons = neurons
        self.n_draws = n_draws

    @classmethod
    def of(cls, part: Neurons, n_draws: int) -> Block:
        """Make blocks of a fitted family."""
        block = cls(part, n_draws)
        block.n_features_in_, block.inputs_ = part.n_features_in_, part.inputs_
        block._with_parts([part])
        return block

    def check_weights(self, weights: Weights) -> None:
        check_array("seeds of stored blocks", weights[0], "i8", (None, 2), 0, 2**_BITS)

    def _wide(self) -> int:
        return self.n_draws * super()._wide()

    def _measure(self) -> None:
        super()._measure()
        self._first = self._draw([0, 0], 1)

    def draw(self, rng: np.random.Generator, n: int) -> Weights:
        return (rng.integers(2**_BITS, size=(n, 2)),)

    def activate(self, X: Any, weights: Weights) -> Any:
        return self.parts_[0](X, self._draws(X, weights)) * float(1 / np.sqrt(self.n_draws))

    def combine(self, X: Any, weights: Weights, coef: Any) -> Any:
        part, r = self.parts_[0], self.n_draws
        each = coef_of_draws(coef, part.width, r) * float(1 / np.sqrt(r))
        draws = self._draws(X, weights)
        blocks = row_blocks(X.shape[0], ROWS_PER_BLOCK) or [slice(0, 0)]
        return namespace(coef).concat([part.combine(X[rows, ...], draws, each) for rows in blocks])

    def _draws(self, X: Any, weights: Weights) -> Weights:
        """Draw some neurons on the device of X, the first draws of all neurons first."""
        self._check_draws()
        each = [self._draw(seed, self.n_draws) for seed in to_host(weights[0]).tolist()]
        if not each:
            return tuple(to_device_of(X, array[:0]) for array in self._first)
        arrays = (np.stack(some, axis=1) for some in zip(*each, strict=True))
        return tuple(_in_precision(X, array) for array in arrays)

    def _draw(self, seed: list[int], n: int) -> Weights:
        rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed)))
        with linear_algebra(1):  # the matrices are small
            return tuple(map(np.asarray, draw_part(self.parts_[0], rng, n)))

    def _check_draws(self) -> None:
        now = self._draw([0, 0], 1)
        for a, b in zip(now, self._first, strict=True):
            if a.shape != b.shape or not np.allclose(a, b, rtol=1e-4, equal_nan=True):
                raise StreamChangedError(
                    f"{type(self.parts_[0]).__name__}: a seed no longer gives the neurons with "
                    "which the model was fitted, so its coefficients do not belong to them (NumPy "
                    "or the family has changed)",
                    "predict with the versions that fitted the model, or fit it again",
                )

    def closed_form(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return self.parts_[0].closed_form(X, Y)


def _in_precision(X: Any, array: np.ndarray) -> Any:
    """Reshape weights (r, n, ...) to (r n, ...), on the device and in the precision of X."""
    array = array.reshape(-1, *array.shape[2:])
    there = to_device_of(X, array)
    is_real = np.issubdtype(array.dtype, np.floating)
    return namespace(there).astype(there, X.dtype, copy=False) if is_real else there

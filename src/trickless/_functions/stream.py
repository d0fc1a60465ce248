"""The neuron stream: w_1, w_2, ... as a pure function of (neurons, seed).

Neurons come in blocks of a fixed size. Block b is drawn from a generator seeded by (seed, b) alone.
Weights therefore need not be stored: any thread on any machine can draw any block again, in any
order. The block size is part of a model, but the number of rows in a batch is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Annotated, Any

import numpy as np
import sklearn

from trickless._arrays.growing import Growing
from trickless._arrays.likes import RandomStateLike
from trickless._arrays.memory import size_of
from trickless._arrays.places import HOST, Place, place_of
from trickless._arrays.stated import (
    Count,
    Floating,
    Length,
    Stated,
    Within,
    check_count,
    check_is,
)
from trickless._arrays.threads import linear_algebra, row_blocks
from trickless._errors import InvalidValueError, StreamChangedError
from trickless._functions.moved_blocks import MovedBlocks
from trickless._rules import is_integer, shown
from trickless.neurons.base import Neurons, Weights
from trickless.neurons.checks import draw_neurons

#: Neurons per block of a stream: the unit of randomness.
BLOCK = 256
#: The most bits of a seed, which are written into files as digits.
_SEED_BITS = 1024
#: A seed that ``as_seed`` made.
Seed = Annotated[int, Within(0, 2**_SEED_BITS - 1)]


class Purpose(IntEnum):
    """Purposes of random numbers. Each purpose has its own generators for a seed."""

    BLOCKS = 0
    FIT = 1
    SHUFFLE = 2
    ROUNDS = 3
    FREEZE = 4
    TRIAL = 5
    COMPRESS = 6
    PREDICT = 7
    VALIDATION = 8
    SEARCH = 9
    PILOT = 10
    PRECONDITIONER = 11
    RELEVANCE = 12
    CANDIDATES = 13
    PERMUTATIONS = 14
    SKETCH = 15
    LINEAR = 16
    RACE = 17
    SAMPLES = 18
    NOISE = 19
    GROUPS = 20


def as_seed(random_state: RandomStateLike) -> int:
    """Make an integer seed from ``None``, an integer, a RandomState or a Generator."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if is_integer(random_state) and 0 <= random_state < 2**_SEED_BITS:
        return int(random_state)
    raise InvalidValueError(
        f"random_state={shown(random_state)}, but it must be None, a non-negative integer of "
        f"up to {_SEED_BITS} bits, a numpy.random.Generator or a numpy.random.RandomState",
        "random_state=0 makes the result reproducible",
    )


def generator(seed: int, purpose: Purpose, index: int = 0) -> np.random.Generator:
    """Make the generator for a seed, a purpose and an index."""
    sequence = np.random.SeedSequence(seed, spawn_key=(int(purpose), index))
    return np.random.Generator(np.random.SFC64(sequence))


def as_generator(random_state: RandomStateLike) -> np.random.Generator:
    """Make a Generator from ``None``, an integer or a RandomState, or return a Generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return generator(as_seed(random_state), Purpose.ROUNDS)


def in_precision(owner: str, what: str, values: np.ndarray, dtype: Any) -> np.ndarray:
    """Convert finite numbers to a precision, and check that they stay finite."""
    try:
        with np.errstate(over="raise"):
            return values.astype(dtype, copy=False)
    except FloatingPointError as error:
        raise _too_large(owner, what, values, dtype) from error


def _too_large(owner: str, what: str, values: np.ndarray, dtype: Any) -> InvalidValueError:
    return InvalidValueError(
        f"{owner}: at the scale of X, {what} reach {np.abs(values).max():.1e}, which is too large "
        f"for dtype={np.dtype(dtype).name!r}",
        "scale X (StandardScaler), or dtype='float64'",
    )


def draw(
    neurons: Neurons, rng: np.random.Generator, n: int, dtype: Any, start: int | None = None
) -> Weights:
    """Draw n neurons in double precision, then convert floating-point arrays to ``dtype``.

    With ``start``, these are the neurons of a learner from this number on.
    """
    with linear_algebra(1):  # the matrices are small
        weights = draw_neurons(neurons, rng, n, start)
    converted = []
    for array in weights:
        try:
            with np.errstate(over="raise"):
                is_real = isinstance(array, np.ndarray) and array.dtype.kind == "f"
                converted.append(array.astype(dtype, copy=False) if is_real else array)
        except FloatingPointError as error:
            raise _too_large(type(neurons).__name__, "weights", array, dtype) from error
    return tuple(converted)


def draw_block(neurons: Neurons, seed: int, block: slice, dtype: Any) -> Weights:
    """Draw some first neurons of a block, or all: a pure function of (neurons, seed, block)."""
    rng = generator(seed, Purpose.BLOCKS, block.start // BLOCK)
    return draw(neurons, rng, block.stop - block.start, dtype, block.start)


def draw_blocks(neurons: Neurons, seed: int, n: int, dtype: Any) -> Weights:
    """Draw n neurons, block by block."""
    with linear_algebra(1):  # once for all blocks
        parts = [draw_block(neurons, seed, block, dtype) for block in row_blocks(n, BLOCK)]
    return _joined(parts)


def kept_bytes() -> int:
    """Return how many bytes of drawn weights, and of activations, to keep between passes.

    It is a quarter of scikit-learn's ``working_memory``.
    """
    return int(sklearn.get_config()["working_memory"] * 2**20) // 4


def pick(weights: Weights, where: slice) -> Weights:
    """Select the weights of some of the neurons."""
    return tuple(array[where, ...] for array in weights)


def _joined(parts: list[Weights]) -> Weights:
    """Return the weights of several pieces as one."""
    return tuple(map(np.concatenate, zip(*parts, strict=True)))


def moved(weights: Weights, like: Any) -> Weights:
    """Move weights to a place, or to the place of the rows ``like``."""
    place = place_of(like)
    return weights if place is HOST else tuple(map(place.put, weights))


def cut_at_blocks(start: int, stop: int, n_together: int = 1) -> Iterator[slice]:
    """Cut the neurons ``start`` to ``stop`` at the ends of blocks, or of several together."""
    size = BLOCK * n_together
    while start < stop:
        end = min(stop, (start // size + 1) * size)
        yield slice(start, end)
        start = end


class StoredNeurons(Stated):
    """Weights kept in memory, with the interface of a stream. More can be appended."""

    _arrays: list[Annotated[Growing, Length("n_neurons")]]

    def __init__(self, weights: Weights) -> None:
        self._arrays = [Growing() for _ in weights]
        self.append(weights)

    def __len__(self) -> int:
        return len(self._arrays[0])

    @property
    def weights(self) -> Weights:
        return tuple(array.rows for array in self._arrays)

    def append(self, weights: Weights) -> None:
        for array, new in zip(self._arrays, weights, strict=True):
            array.append(np.asarray(new))

    def fork(self) -> StoredNeurons:
        """Make a copy that shares memory. Neurons appended to one do not change the other."""
        other = StoredNeurons(())
        other._arrays = [array.fork() for array in self._arrays]
        return other

    def first(self, n: int) -> StoredNeurons:
        return StoredNeurons(pick(self.weights, slice(n)))

    def pieces(
        self, start: int, stop: int, like: Any = None, n_together: int = 1
    ) -> Iterator[tuple[slice, Weights]]:
        """Yield neurons ``start`` to ``stop`` in pieces of at most ``n_together`` blocks."""
        weights, place = self.weights, place_of(like)
        for where in cut_at_blocks(start, stop, n_together):
            some = tuple(array[where] for array in weights)
            yield where, some if place is HOST else moved(some, place)


class NeuronStream(Stated):
    """Neurons drawn from a seed, again whenever they are needed.

    Parameters
    ----------
    neurons : Neurons
        A fitted family.
    seed : int
        Seed of the neurons, a non-negative integer.
    dtype : dtype, default=np.float32
        Precision of the floating-point weights.
    cache_bytes : int, default=2**28
        Bytes of drawn weights to keep in memory. The first blocks that fit are kept, because every
        pass goes through the blocks in order. The others are drawn again when needed, with the same
        result.
    """

    #: The block that was drawn last, since steps of a stream use a block in parts.
    _latest: tuple[Any, Weights] = None, ()

    neurons: Neurons
    seed: Seed
    dtype: Floating
    cache_bytes: Count
    _cache: dict[Any, Any]
    _fingerprint: list[float] | None
    _verified: bool

    def __init__(
        self, neurons: Neurons, seed: int, dtype: Any = np.float32, cache_bytes: int = 2**28
    ) -> None:
        self.neurons = neurons
        self.seed = seed
        self.dtype = np.dtype(dtype)
        self.cache_bytes = cache_bytes
        self._cache = {}
        self._fingerprint = None
        self._verified = True

    def block(self, b: int, like: Any = None) -> Weights:
        """Return the weights of block b, a pure function of (neurons, seed, b).

        Parameters
        ----------
        b : int
            Number of the block, from 0.
        like : array or Place, optional
            Rows, or their place. The weights have the library and the device of these rows.
            Default: NumPy.

        Returns
        -------
        tuple of arrays with leading axis 256
            Weights of the neurons.

        Raises
        ------
        RuntimeError
            If the seed gives different neurons than when the stream was made.
        """
        if not self._verified:
            self._verify()
        place = place_of(like)
        if place is not HOST:
            return self._at(place).between(b * BLOCK, (b + 1) * BLOCK)
        weights, latest = self._cache.get(b), self._latest
        if weights is None and latest[0] == b:
            weights = latest[1]
        if weights is None:
            weights = self._draw(b)
            # By the number of the block, since threads would share a count.
            if (b + 1) * size_of(weights) <= self.cache_bytes:
                self._cache[b] = weights
            self._latest = b, weights
        return weights

    def _at(self, place: Place) -> MovedBlocks:
        """Return the blocks at a device."""
        if not self._verified:
            self._verify()
        if place not in self._cache:
            self._cache[place] = MovedBlocks(
                lambda b: self._draw(b), BLOCK, place, self.cache_bytes
            )
        return self._cache[place]

    def forget(self) -> None:
        """Free the memory of neurons that were drawn."""
        self._cache = {}

    def pieces(
        self, start: int, stop: int, like: Any = None, n_together: int = 1
    ) -> Iterator[tuple[slice, Weights]]:
        """Yield neurons ``start`` to ``stop`` in pieces of at most ``n_together`` blocks.

        Parameters
        ----------
        start, stop : int
            First neuron, and the neuron after the last.
        like : array or Place, optional
            Rows, or their place. The weights have the library and the device of these rows. Weights
            in the cache are moved only once.
        n_together : int, default=1
            Pieces have up to so many blocks.

        Yields
        ------
        where : slice
            Which neurons are in the piece.
        weights : tuple of arrays
            Weights of these neurons.
        """
        place = place_of(like)
        if place is not HOST:
            yield from self._at(place).pieces(start, stop, n_together)
            return
        for where in cut_at_blocks(start, stop, n_together):
            parts = []
            for some in cut_at_blocks(where.start, where.stop):
                b = some.start // BLOCK
                inside = slice(some.start - b * BLOCK, some.stop - b * BLOCK)
                parts.append(tuple(array[inside, ...] for array in self.block(b)))
            yield where, parts[0] if len(parts) == 1 else _joined(parts)

    def between(self, start: int, stop: int, like: Any = None) -> Weights:
        """Return neurons ``start`` to ``stop`` together.

        Parameters
        ----------
        start, stop : int
            First neuron, and the neuron after the last.
        like : array or Place, optional
            Rows, or their place. The weights have the library and the device of these rows.
            Default: NumPy.

        Returns
        -------
        tuple of arrays with leading axis ``stop - start``
            Weights of the neurons.
        """
        place = place_of(like)
        if place is not HOST:
            return self._at(place).between(start, stop)
        return _joined([weights for _, weights in self.pieces(start, stop)])

    def kept(self, name: str, draw: Callable[[], Weights]) -> Weights:
        """Return other neurons of this family, which are kept after they are first drawn."""
        if name not in self._cache:
            self._cache[name] = draw()
        return self._cache[name]

    def fingerprint(self) -> list[float]:
        """Summarise block 0. The summary shows whether a seed still gives the same neurons."""
        if self._fingerprint is None:
            self._fingerprint = _summary(self._draw(0))
        return self._fingerprint

    def _draw(self, b: int) -> Weights:
        return draw_block(self.neurons, self.seed, slice(b * BLOCK, (b + 1) * BLOCK), self.dtype)

    def _verify(self) -> None:
        now, then = _summary(self._draw(0)), self._fingerprint
        if then is None or len(now) != len(then) or not np.allclose(now, then, rtol=1e-4):
            raise StreamChangedError(
                f"{type(self.neurons).__name__}: seed {self.seed} no longer gives the neurons with "
                "which the model was fitted, so its coefficients do not belong to them (NumPy or "
                "the family has changed)",
                "predict with the versions that fitted the model, or fit it again",
            )
        self._verified = True

    def check_state(self) -> None:
        self._cache, self._verified = {}, False  # whatever a file says
        vars(self).pop("_latest", None)
        check_count("n_features_in_ of neurons", self.neurons.n_features_in_, 1)
        check_is("_fingerprint", self._fingerprint, list)

    def __getstate__(self) -> dict[str, Any]:
        self.fingerprint()
        state = self.__dict__ | {"_cache": {}, "_verified": False}
        state.pop("_latest", None)
        return state


def _summary(weights: Weights) -> list[float]:
    """Compute the size, the norm and a fixed projection of each array."""
    summary: list[float] = []
    for array in weights:
        values = np.asarray(array, dtype=np.float64).ravel()
        direction = np.cos(np.arange(values.size))
        largest = float(np.abs(values).max(initial=0.0)) or 1.0  # its square may overflow
        values = values / largest
        norm = float(np.linalg.norm(values))
        summary += [values.size, largest * norm, float(direction @ values) / (norm or 1.0) + 2.0]
    return summary

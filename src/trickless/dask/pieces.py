"""Rows of a Dask collection: its pieces, and the workers that hold them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dask
import dask.array
import numpy as np
from dask.delayed import Delayed
from dask.optimization import cull
from distributed import Future, default_client, futures_of

from trickless._errors import InvalidTypeError, InvalidValueError
from trickless._functions.stream import Purpose, generator
from trickless._rows.frames import picked, stacked
from trickless._rows.weights import check_weights

#: The most rows in the first batch of a model. Its neurons are fitted to this batch.
SAMPLE = 2**14
#: The most pieces from which these rows are drawn, if there are more rows.
SAMPLED_PIECES = 16


class Pieces(NamedTuple):
    """Pieces of rows, targets and weights or None, each Delayed or a Future; and their lengths."""

    X: list[Any]
    y: list[Any]
    weight: list[Any]
    lengths: np.ndarray

    def only(self, which: Sequence[int]) -> Pieces:
        """Return some of the pieces."""
        X, y, weight = ([part[i] for i in which] for part in (self.X, self.y, self.weight))
        return Pieces(X, y, weight, self.lengths[list(which)])


def pieces(owner: str, X: Any, y: Any, sample_weight: Any = None) -> Pieces:
    """Return collections in pieces of the same rows, none empty."""
    collections = {"X": X, "y": y}
    if sample_weight is not None:
        collections["sample_weight"] = sample_weight
        if getattr(sample_weight, "ndim", 1) != 1:
            raise InvalidValueError(
                f"{owner}: sample_weight has {sample_weight.ndim} dimensions, but it must have one "
                "number for each row",
                "pass sample_weight[:, 0]",
            )
    parts = [_split(owner, name, each) for name, each in collections.items()]
    lengths = _lengths(list(collections.values()), parts)
    if any(not np.array_equal(each, lengths[0]) for each in lengths):
        cuts = [f"{len(each)} of up to {max(each, default=0)} rows" for each in lengths]
        raise InvalidValueError(
            f"{owner}: {', '.join(collections)} have different chunks ({'; '.join(cuts)}), but "
            "must be cut at the same rows",
            "rechunk them alike, or take them from one data frame",
        )
    if not lengths[0].any():
        raise InvalidValueError(
            f"{owner}: X has no rows in any of its {len(parts[0])} chunks",
            "pass rows; a filter may have left none",
        )
    weight = parts[2] if sample_weight is not None else [None] * len(parts[0])
    return Pieces(parts[0], parts[1], weight, lengths[0]).only(np.flatnonzero(lengths[0]).tolist())


def _split(owner: str, name: str, collection: Any) -> list[Delayed]:
    """Return the chunks of rows of an array, or the partitions of a data frame."""
    if isinstance(collection, dask.array.Array):
        if collection.ndim > 1:
            collection = collection.rechunk({1: -1})
        return collection.to_delayed().ravel().tolist()
    if dask.is_dask_collection(collection) and hasattr(collection, "to_delayed"):
        return list(collection.to_delayed())
    raise InvalidTypeError(
        f"{owner}: {name} is a {type(collection).__name__}, but trickless.dask takes Dask arrays "
        "and data frames",
        "use dask.array.from_array(...), or the estimator's own fit",
    )


def _lengths(collections: list[Any], parts: list[list[Any]]) -> list[np.ndarray]:
    """Return the numbers of rows in the pieces of each collection, counted if they are unknown."""
    counted = []
    for X, own in zip(collections, parts, strict=True):
        known = isinstance(X, dask.array.Array) and not np.isnan(X.chunks[0]).any()
        counted.append(X.chunks[0] if known else [dask.delayed(_length)(part) for part in own])
    return [np.array(each, dtype=int) for each in dask.compute(*counted)]


def _length(part: Any) -> int:
    return int(part.shape[0])


def some_rows(owner: str, rows: Pieces, seed: int) -> tuple[Any, Any, Any]:
    """X, y and weight (or None) in memory: all rows, or random rows of random pieces, in order."""
    where: list[Any] = [None] * len(rows.lengths)
    if rows.lengths.sum() > SAMPLE:
        rows, lengths = _weighted(owner, rows)
        rng = generator(seed, Purpose.PILOT, 1)
        n_pieces = min(SAMPLED_PIECES, len(lengths))
        some = np.sort(rng.choice(len(lengths), n_pieces, replace=False)).tolist()
        rows, ends = rows.only(some), np.cumsum(lengths[some])
        chosen = np.sort(rng.choice(ends[-1], min(SAMPLE, ends[-1]), replace=False))
        where = np.split(chosen, np.searchsorted(chosen, ends[:-1]))
        where = [index - start for index, start in zip(where, ends - lengths[some], strict=True)]
    taken = [dask.delayed(_take)(owner, *each) for each in zip(*rows[:3], where, strict=True)]
    X, y, weight = zip(*dask.compute(*taken), strict=True)
    return stacked(X), stacked(y), None if weight[0] is None else stacked(weight)


def _weighted(owner: str, rows: Pieces) -> tuple[Pieces, np.ndarray]:
    """Pieces with rows of positive weight, and their numbers; all pieces if none has any."""
    if rows.weight[0] is None:
        return rows, rows.lengths
    counts = np.array(
        dask.compute(*[dask.delayed(_n_weighted)(owner, each) for each in rows.weight])
    )
    if not counts.any():  # an error is raised later
        return rows, rows.lengths
    some = np.flatnonzero(counts).tolist()
    return rows.only(some), counts[some]


def _n_weighted(owner: str, weight: Any) -> int:
    return len(_weighted_rows(owner, weight))


def _weighted_rows(owner: str, weight: Any) -> np.ndarray:
    """Numbers of the rows of a piece whose weight is above 0."""
    checked = check_weights(owner, weight, len(weight), may_be_empty=True)
    return np.flatnonzero(np.asarray(checked))


def _take(owner: str, X: Any, y: Any, weight: Any, index: Any) -> tuple[Any, Any, Any]:
    """Some rows of a piece, of positive weight if there are any; all for ``index=None``."""
    if index is None:
        return X, y, weight
    if weight is not None and (positive := _weighted_rows(owner, weight)).size:
        index = positive[index]
    X, y = picked(X, index), picked(y, index)
    return X, y, None if weight is None else picked(weight, index)


def tree(items: list[Any], join: Callable[[list[Any]], Any]) -> Any:
    """Join four neighbours at a time until one item is left."""
    while len(items) > 1:
        items = [join(items[i : i + 4]) for i in range(0, len(items), 4)]
    return items[0]


def by_thread(pieces: list[Any]) -> list[tuple[str | None, list[int]]]:
    """Distribute pieces over threads. Returns the worker and the pieces of each thread.

    A piece goes to a worker that holds it or its inputs, unless its threads have enough pieces.
    """
    client = current_client()
    needed = [_futures(piece) for piece in pieces]
    futures = {future.key: future for each in needed for future in each}
    held = client.who_has(list(futures.values())) if futures else {}
    threads = {None: os.cpu_count() or 1} if client is None else client.nthreads() or {None: 1}
    slots: list[tuple[Any, list[int]]] = [(w, []) for w, n in threads.items() for _ in range(n)]
    share = -(-len(pieces) // len(slots))
    left: list[int] = []
    for number, each in enumerate(needed):
        holders = {worker for future in each for worker in held.get(future.key, ())}
        own = [mine for worker, mine in slots if worker in holders and len(mine) < share]
        min(own, key=len, default=left).append(number)
    for number in left:
        min((mine for _, mine in slots), key=len).append(number)
    return [(worker, mine) for worker, mine in slots if mine]


def at_home(worker: str | None) -> dict[str, Any]:
    """Options of a client that place a task on a worker, if the worker is alive."""
    return {} if worker is None else {"workers": [worker], "allow_other_workers": True}


def _futures(piece: Any) -> list[Future]:
    """Futures that a piece depends on. Other pieces in the same graph are left out."""
    futures = futures_of(piece)
    if isinstance(piece, Delayed) and len(futures) > 1:
        needed, _ = cull(dict(piece.dask), [piece.key])
        futures = [future for future in futures if future.key in needed]
    return futures


def current_client() -> Any:
    """Return the client of the cluster in use, if there is one."""
    try:
        return default_client()
    except ValueError:
        return None

"""In which order a model meets the rows of a file, which may be sorted by anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from trickless.cli._dataset import Batch

#: Numbers that a part of a shuffled table has, which is held in memory.
PART_CELLS = 2**22


def others(batches: Iterable[Batch], sampled: np.ndarray) -> Iterator[Any]:
    """The rows that are not in the sample, whose places are sorted."""
    start = 0
    for batch in batches:
        end = start + batch.data.num_rows
        taken = sampled[slice(*np.searchsorted(sampled, [start, end]))] - start
        left = np.delete(np.arange(end - start), taken)
        yield batch.data if not len(taken) else batch.data.take(pa.array(left))
        start = end


def shuffled(
    batches: Iterable[Any], n_rows: int, batch_rows: int, rng: np.random.Generator
) -> Iterator[Any]:
    """About ``n_rows`` rows in a uniformly random order, by way of temporary files.

    Each row goes to a part at random, and each part, which fits into memory, is shuffled. Parts
    are files of a temporary folder (``TMPDIR`` says where): as many bytes as the table has in
    memory.

    Yields
    ------
    pyarrow.Table
        Of about ``batch_rows`` rows.
    """
    batches = iter(batches)
    first = next(batches, None)
    if first is None:
        return
    n_parts = max(1, -(-n_rows * first.num_columns // PART_CELLS))
    with TemporaryDirectory(prefix="trickless-") as folder:
        files = [Path(folder, f"{part}.arrow") for part in range(n_parts)]
        with ExitStack() as stack:
            writers = [stack.enter_context(pa.ipc.new_file(f, first.schema)) for f in files]
            for batch in chain([first], batches):
                part = rng.integers(n_parts, size=batch.num_rows)
                batch = batch.take(pa.array(np.argsort(part, kind="stable")))
                ends = np.cumsum(np.bincount(part, minlength=n_parts))
                for writer, start, end in zip(writers, (0, *ends), ends, strict=False):
                    if end > start:
                        writer.write_batch(batch.slice(start, end - start))
        for file in files:
            with pa.OSFile(str(file)) as source:
                table = pa.ipc.open_file(source).read_all()
            order = rng.permutation(table.num_rows)
            for some in np.array_split(order, max(1, -(-len(order) // batch_rows))):
                if len(some):
                    yield table.take(pa.array(some))
            file.unlink()

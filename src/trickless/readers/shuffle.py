"""Random parts of a table, and its rows in a random order, however they are sorted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from trickless.readers.dataset import Dataset, FileRows

#: The most numbers in a part of a shuffled table. A part is held in memory.
PART_CELLS = 2**22
#: The most parts. Their files are open together, and systems allow at least 256.
_MOST_PARTS = 200


class Part:
    """About a ``share`` of the rows of a table, or all other rows; the same every time."""

    def __init__(self, dataset: Dataset, share: float, seed: int, others: bool) -> None:
        self.path = dataset.path
        self._dataset, self._share, self._seed, self._others = dataset, share, seed, others

    @property
    def missing(self) -> dict[str, Counter[str]]:
        """The spellings of missing values in all rows of the table."""
        return self._dataset.missing

    def expected_rows(self) -> int | None:
        """Return the approximate number of rows, or None if counting would read all of them."""
        n_rows = self._dataset.expected_rows()
        share = 1 - self._share if self._others else self._share
        return None if n_rows is None else round(share * n_rows)

    def batches(self, kinds: Mapping[str, str]) -> Iterator[FileRows]:
        """Yield the rows in order, like :meth:`Dataset.batches`."""
        rng = np.random.default_rng([self._seed, 1])
        for batch in self._dataset.batches(kinds):
            chosen = (rng.random(batch.data.num_rows) < self._share) != self._others
            if chosen.any():
                yield batch._replace(data=batch.data.filter(pa.array(chosen)))


def others(batches: Iterable[FileRows], sampled: np.ndarray) -> Iterator[Any]:
    """Yield the rows outside the sample. ``sampled`` has the sorted places of the rows in it."""
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
    """Yield about ``n_rows`` rows in a uniformly random order, by means of temporary files.

    Each row goes to a random part. Then each part is read into memory, shuffled, and yielded as
    tables of ``batch_rows`` rows. Parts are files in a temporary folder, which ``TMPDIR`` decides.
    They take as many bytes as the table takes in memory.
    """
    batches = iter(batches)
    first = next(batches, None)
    if first is None:
        return
    n_parts = min(max(1, -(-n_rows * first.num_columns // PART_CELLS)), _MOST_PARTS)
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
        rest = pa.Table.from_batches([], first.schema)
        for file in files:
            with pa.OSFile(str(file)) as source:
                part = pa.ipc.open_file(source).read_all()
            part = part.take(pa.array(rng.permutation(part.num_rows)))
            rest = pa.concat_tables([rest, part]).combine_chunks()
            whole = rest.num_rows // batch_rows * batch_rows
            for start in range(0, whole, batch_rows):
                yield rest.slice(start, batch_rows)
            rest = rest.slice(whole)
            file.unlink()
        if rest.num_rows:
            yield rest

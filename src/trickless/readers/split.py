"""The rows of a table in two random parts: rows to learn from, and rows held out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from trickless.readers.dataset import Batch, Dataset


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
        """The approximate number of rows; None if counting would read all of them."""
        n_rows = self._dataset.expected_rows()
        share = 1 - self._share if self._others else self._share
        return None if n_rows is None else round(share * n_rows)

    def batches(self, kinds: Mapping[str, str]) -> Iterator[Batch]:
        """The rows in order, like :meth:`Dataset.batches`."""
        rng = np.random.default_rng([self._seed, 1])
        for batch in self._dataset.batches(kinds):
            chosen = (rng.random(batch.data.num_rows) < self._share) != self._others
            if chosen.any():
                yield batch._replace(data=batch.data.filter(pa.array(chosen)))

"""The rows of a table that have a target and a weight, and a uniform sample of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as t

from trickless._errors import InvalidValueError
from trickless._readers.errors import location, types_option
from trickless._readers.table import Table


class KnownRows:
    """The rows whose target is known and whose weight is above 0.

    Parameters
    ----------
    table : Table
    columns : list of str
        The columns to learn from, or to predict by.
    target : str
        A column of numbers, Booleans or text.
    weight : str or None
        A column of numbers.
    share : float
        The share of rows that are held out, at random, the same every time.
    seed : int

    Attributes
    ----------
    n_rows, n_without_target : int
        Counts of the last pass, with rows that were held out.
    """

    def __init__(
        self,
        table: Table,
        columns: list[str],
        target: str,
        weight: str | None = None,
        share: float = 0.0,
        seed: int = 0,
    ) -> None:
        self.table, self.columns, self.target, self.weight = table, columns, target, weight
        self._share, self._seed = share, seed
        self.n_rows = self.n_without_target = 0
        self.is_text, self.is_number = is_text(type_ := table.types[target]), is_number(type_)
        if not (self.is_text or self.is_number or t.is_boolean(type_)):
            raise InvalidValueError(
                f"{location(table.path, target)}: the target has the type {type_}",
                "choose a target of numbers, text or Booleans"
                if table.of_model
                else "choose a target of numbers, text or Booleans, or read it as classes with "
                f"{types_option(target, 'category')}",
            )
        if weight is not None and not is_number(table.types[weight]):
            raise InvalidValueError(
                f"{location(table.path, weight)}: --weight names a column of the type "
                f"{table.types[weight]}, but weights are numbers",
                "name a column of numbers, say how they are written with --decimal and "
                "--thousands, or leave --weight out",
            )

    def batches(
        self, held_out: bool = False, advance: Callable[[int], Any] | None = None
    ) -> Iterator[Any]:
        """Yield rows that were held out, or the others, as pyarrow record batches."""
        rng = np.random.default_rng([self._seed, 1])
        self.n_rows = self.n_without_target = 0
        others = [self.target] if self.weight is None else [self.target, self.weight]
        for file, row, data in self.table.batches(dict.fromkeys([*self.columns, *others])):
            there = _is_known(data[self.target])
            chosen = (rng.random(data.num_rows) < self._share) == held_out
            self.n_rows += int(chosen.sum())
            self.n_without_target += int((chosen & ~there).sum())
            kept = there & chosen
            if self.weight is not None:
                weight = numbers_of(data[self.weight])
                wrong = kept & ~(np.isfinite(weight) & (weight >= 0))
                if wrong.any():
                    index = int(wrong.argmax())
                    raise InvalidValueError(
                        f"{location(file, self.weight, row + index)}: the weight of a row is "
                        f"{data[self.weight][index]}, but it must be a finite number of at least 0",
                        "correct it; 0 leaves the row out",
                    )
                kept &= weight > 0
            if advance is not None:
                advance(data.num_rows)
            if kept.any():
                yield data.filter(pa.array(kept))


def is_number(type_: Any) -> bool:
    """Return whether a column of this type holds numbers."""
    return any(is_(type_) for is_ in (t.is_integer, t.is_floating, t.is_decimal))


def is_text(type_: Any) -> bool:
    """Return whether a column of this type holds text or categories."""
    return any(is_(type_) for is_ in (t.is_string, t.is_large_string, t.is_dictionary))


def table_of(data: Any) -> Any:
    """Return a pyarrow table or record batch as a table, which learners read."""
    return data if isinstance(data, pa.Table) else pa.Table.from_batches([data])


def numbers_of(column: Any) -> np.ndarray:
    """Return a column of numbers as float64, with NaN where they are missing."""
    return np.asarray(pc.cast(column, pa.float64(), safe=False))


def targets_of(column: Any) -> np.ndarray:
    """Return known targets as numbers, Booleans or text."""
    if t.is_boolean(column.type):
        return np.asarray(column)
    return numbers_of(column) if is_number(column.type) else np.array(column.to_pylist(), str)


def _is_known(column: Any) -> np.ndarray:
    known = pc.is_valid(column)
    if t.is_floating(column.type):
        known = pc.and_(known, pc.invert(pc.is_nan(column).fill_null(False)))
    return np.asarray(known)


class SampledRows:
    """A uniform sample of rows. Each row gets a random number, and the smallest are kept.

    Attributes
    ----------
    n_seen : int
        How many rows it was drawn from.
    """

    def __init__(self, size: int, seed: int) -> None:
        self._size, self._seed, self._rng = size, seed, np.random.default_rng(seed)
        self._keys, self._limit, self.n_seen = np.empty(0), 1.0, 0
        self._rows: Any = None

    def see(self, batch: Any) -> None:
        """Look at more rows."""
        keys = self._rng.random(batch.num_rows)
        low = keys <= self._limit
        some = table_of(batch.filter(pa.array(low)))
        self._rows = some if self._rows is None else pa.concat_tables([self._rows, some])
        self._keys = np.concatenate([self._keys, keys[low]])
        self.n_seen += batch.num_rows
        if len(self._keys) > 2 * self._size:
            self._trim()

    def _trim(self) -> None:
        order = np.argsort(self._keys)[: self._size]
        self._rows = self._rows.unify_dictionaries().take(pa.array(order)).combine_chunks()
        self._keys = self._keys[order]
        if len(order) == self._size:
            self._limit = float(self._keys[-1])

    def taken(self) -> Any:
        """Return the rows in a random order, as a pyarrow table."""
        self._trim()
        return self._rows

    def others(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the rows outside the sample in another pass over the same batches."""
        rng = np.random.default_rng(self._seed)  # for the same random numbers once more
        for batch in batches:
            left = rng.random(batch.num_rows) > self._limit
            if left.any():
                yield batch.filter(pa.array(left))

"""The first pass over a table: types, scales, categories, the target, and a sample of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trickless.neurons.forms import first_forms
from trickless.readers.dataset import Dataset, FileRows
from trickless.readers.errors import CommandError, location
from trickless.readers.messages import say
from trickless.readers.moments import Moments
from trickless.readers.shuffle import Part
from trickless.tables.kinds import as_numbers
from trickless.tables.spellings import why_doubtful
from trickless.tables.table_column import TableColumn

#: Rows of the sample, from which a model learns first. Neurons take ranks and scales from it.
SAMPLE_ROWS = 2**14
_SAMPLE_CELLS = 2**23
#: The most categories in a column, and the most labels. More raise an error.
_MOST_CATEGORIES, MOST_LABELS = 100_000, 1000
#: Whole numbers are labels if at most this many are different.
_FEW = 10
#: From this number on, double precision cannot represent all integers.
_EXACT = 2**53


class Target(NamedTuple):
    """The sorted labels of the target, none if they are fractions or too many; and its range."""

    labels: list[Any]
    low: float
    high: float


class Profile(NamedTuple):
    """What the first pass found in a table.

    ``n_rows`` counts all rows, and ``n_without_target`` the rows among them that are left out.
    Everything else is about rows with a target and a positive weight. Means and standard deviations
    are weighted. ``sample`` is a pyarrow table: a uniform sample of these rows, in a random order.
    ``sampled`` has their sorted places, counted over all files.
    """

    columns: list[TableColumn]
    target: Target
    n_rows: int
    n_without_target: int
    sample: Any
    sampled: np.ndarray


def profile(
    dataset: Dataset | Part,
    kinds: dict[str, str],
    target: str,
    seed: int,
    advance: Callable[[int], None],
    weight: str | None = None,
) -> Profile:
    """Read all rows once, with the ``kinds`` of all columns, and ``advance`` a progress bar."""
    inputs = {name: kind for name, kind in kinds.items() if name not in (target, weight)}
    numbers = _Numbers(inputs)
    categories = [_Categories(dataset.path, n) for n, kind in inputs.items() if kind == "category"]
    size = min(SAMPLE_ROWS, max(256, _SAMPLE_CELLS // len(kinds)))
    labels, sample = _Labels(target), _Sample(size, seed)
    n_rows = n_missing = n_counted = 0
    for batch in dataset.batches(kinds):
        there = pc.is_valid(batch.data.column(target))
        if kinds[target] == "number":
            there = pc.and_(there, pc.invert(pc.fill_null(pc.is_nan(batch.data[target]), False)))
        known, weights = np.flatnonzero(there.to_numpy(zero_copy_only=False)), None
        n_missing += len(there) - len(known)
        if weight is not None:
            known, weights = rows_that_count(batch, weight, known)
        rows = batch.data if len(known) == len(there) else batch.data.take(pa.array(known))
        numbers.see(rows, weights)
        for column in categories:
            column.see(rows.column(column.name))
        labels.see(batch, rows.column(target))
        sample.see(rows, n_rows + known)
        n_rows += len(there)
        n_counted += len(known)
        advance(len(there))
    if not n_counted:
        say_missing(dataset.missing)
        what = f"the target {target!r} is missing in all rows" if n_rows else "there are no rows"
        if n_rows > n_missing:
            what = f"the weight {weight!r} is 0 in all rows with a target"
        raise CommandError(f"{dataset.path}: {what}", "pass a table with rows to learn from")
    table, sampled = sample.taken()
    about = {c.name: c for c in (*numbers.columns(table), *(c.column() for c in categories))}
    return Profile(
        [about[name] for name in inputs], labels.target(), n_rows, n_missing, table, sampled
    )


def rows_that_count(batch: FileRows, name: str, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers and weights of the known rows of positive weight.

    Weights that are missing, infinite or negative are refused.
    """
    weight = _values(batch.data, name)[known]
    wrong = known[~(np.isfinite(weight) & (weight >= 0))]
    if len(wrong):
        row = int(wrong[0])
        held = batch.data.column(name)[row].as_py()
        raise CommandError(
            f"{location(batch.path, name, batch.row + row)}: the weight of a row is "
            f"{'missing' if held is None else held}, but it must be a finite number of at least "
            "0",
            "correct it; 0 leaves the row out",
        )
    return known[weight > 0], weight[weight > 0]


def say_missing(counts: Mapping[str, Counter[str]]) -> None:
    """Report the spellings in columns of categories that were read as missing values."""
    for name, spellings in counts.items():
        if spellings:
            found = ", ".join(f"{text!r} in {n:,} rows" for text, n in spellings.most_common(3))
            say(
                f"column {name!r}: read as missing values: {found}. If one is a name, fit with "
                f"--keep-na {name!r}."
            )


class _Numbers:
    """Means, standard deviations and medians of the columns of numbers and dates."""

    def __init__(self, kinds: dict[str, str]) -> None:
        self._kinds = {name: kind for name, kind in kinds.items() if kind != "category"}
        self._moments, self._n_rows = Moments(len(self._kinds)), 0

    def see(self, rows: Any, weight: np.ndarray | None = None) -> None:
        if self._kinds:
            values = np.stack([_values(rows, name) for name in self._kinds], axis=1)
            self._moments.add(values, weight)
            self._n_rows += rows.num_rows

    def columns(self, sample: Any) -> Iterator[TableColumn]:
        there, mean = self._moments.n, self._moments.mean
        scale = self._moments.deviation()
        scale = np.where(scale > 0, scale, 1.0)
        sample = sample.combine_chunks().to_batches()[0]
        for j, (name, kind) in enumerate(self._kinds.items()):
            some = _values(sample, name)
            yield TableColumn(
                name,
                kind,
                float(mean[j]),
                float(scale[j]),
                has_missing=bool(there[j] < self._n_rows),
                median=float(np.median(known)) if len(known := some[~np.isnan(some)]) else 0.0,
            )


def _values(rows: Any, name: str) -> np.ndarray:
    return as_numbers(rows.column(name).to_numpy(zero_copy_only=False))


class _Categories:
    def __init__(self, path: Any, name: str) -> None:
        self.name, self.has_missing = name, False
        self._path, self._seen = path, dict[str, str]()

    def see(self, column: Any) -> None:
        self.has_missing |= column.null_count > 0
        for form, text in first_forms(pc.unique(column).drop_null().to_pylist()).items():
            self._seen.setdefault(form, text)
        if len(self._seen) > _MOST_CATEGORIES:
            _check_doubt(location(self._path, self.name), self._seen.values())
            raise CommandError(
                f"{location(self._path, self.name)}: there are more than {_MOST_CATEGORIES:,} "
                "different texts. Such a column usually names the rows, and teaches the model "
                "nothing",
                f"leave the column out with --drop {self.name!r}",
            )

    def column(self) -> TableColumn:
        categories = sorted(self._seen.values())
        return TableColumn(
            self.name, "category", categories=categories, has_missing=self.has_missing
        )


def _check_doubt(where: str, texts: Collection[str]) -> None:
    """Refuse too many strings that are almost entirely numbers or dates."""
    if (why := why_doubtful(texts)) is not None:
        raise CommandError(
            f"{where}: {why}",
            "correct or empty such cells, with numbers as 1234.5 and dates as 2026-01-31",
        )


class _Labels:
    """The values of the target, as long as they may be labels, and the range of its numbers."""

    def __init__(self, name: str) -> None:
        self._seen: set[Any] | None = set()
        self._low, self._high = np.inf, -np.inf
        self._name = name

    def see(self, batch: FileRows, column: Any) -> None:
        if not len(column):
            return
        if pa.types.is_floating(column.type):
            ends = pc.min_max(column).as_py()
            self._low, self._high = min(self._low, ends["min"]), max(self._high, ends["max"])
        if self._seen is not None:
            values = pc.unique(column).to_pylist()
            if pa.types.is_string(column.type):
                self._seen = set(first_forms([*self._seen, *values]).values())
            else:
                self._seen.update(values)
            if pa.types.is_string(column.type) and any("\0" in text for text in self._seen):
                raise CommandError(
                    f"{location(batch.path, self._name)}: the labels have NUL characters, which "
                    "they cannot have",
                    "remove them",
                )
            numbers = pa.types.is_floating(column.type)
            whole = not numbers or all(value.is_integer() for value in self._seen)
            seen = self._seen
            if not whole or len(seen) > MOST_LABELS:
                self._seen = None
            if self._seen is None and not numbers:
                _check_doubt(location(batch.path, self._name), seen)
                raise CommandError(
                    f"{location(batch.path, self._name)}: there are more than {MOST_LABELS:,} "
                    "different texts, which is too many for classes",
                    "another --target",
                )

    def target(self) -> Target:
        labels = sorted(self._seen or ())
        if labels and isinstance(labels[0], float):
            labels = [int(label) for label in labels]
        return Target(labels, self._low, self._high)


class _Sample:
    """A uniform sample of rows. Each row gets a random number, and the smallest are kept."""

    def __init__(self, size: int, seed: int) -> None:
        self._size, self._rng = size, np.random.default_rng(seed)
        self._keys, self._places = np.empty(0), np.empty(0, dtype=np.int64)
        self._rows: Any = None
        self._limit = 1.0

    def see(self, rows: Any, places: np.ndarray) -> None:
        keys = self._rng.random(len(places))
        low = np.flatnonzero(keys <= self._limit)
        some = pa.Table.from_batches([rows.take(pa.array(low))])
        self._rows = some if self._rows is None else pa.concat_tables([self._rows, some])
        self._keys = np.concatenate([self._keys, keys[low]])
        self._places = np.concatenate([self._places, places[low]])
        if len(self._keys) > 2 * self._size:
            self._trim()

    def _trim(self) -> None:
        order = np.argsort(self._keys)[: self._size]
        self._rows = self._rows.take(pa.array(order)).combine_chunks()
        self._keys, self._places = self._keys[order], self._places[order]
        if len(order) == self._size:
            self._limit = float(self._keys[-1])

    def taken(self) -> tuple[Any, np.ndarray]:
        """Return the rows in a random order, and their places in order."""
        self._trim()
        return self._rows, np.sort(self._places)


def task_of(given: str | None, values: Target, kind: str, target: str) -> tuple[str, str]:
    """Return "classification" or "regression", and why."""
    labels = values.labels
    if kind in ("category", "truth"):
        what = "text" if kind == "category" else "Booleans"
        if given == "regression":
            raise CommandError(
                f"--task regression: the target {target!r} holds {what}",
                "leave --task out, or choose a target of numbers",
            )
        task, why = "classification", f"{target!r} holds {what}"
    elif given == "classification" and not labels:
        raise CommandError(
            f"--task classification: the target {target!r} holds fractions, or more than "
            f"{MOST_LABELS:,} different numbers",
            "leave --task out",
        )
    elif given is not None:
        task, why = given, f"--task {given}"
    elif labels and len(labels) <= _FEW:
        task = "classification"
        why = f"{target!r} holds {len(labels)} different integers (or use --task regression)"
    else:
        task, why = "regression", f"{target!r} holds numbers"
    if task == "classification" and kind == "number" and max(map(abs, labels)) >= _EXACT:
        raise CommandError(
            f"the target {target!r} holds integers beyond {_EXACT:,}, which double precision "
            "cannot tell apart",
            f"--category {target!r}, which reads them as text",
        )
    if task == "classification" and len(labels) < 2:
        raise CommandError(
            f"the target {target!r} is {labels[0]!r} in every row",
            "pass rows of at least two classes",
        )
    return task, why

"""From the rows of a table to a learner."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np

import trickless
from trickless._cli.screen import is_shown, progress
from trickless._errors import InvalidValueError
from trickless._readers.errors import location, types_option
from trickless._readers.known_rows import KnownRows, SampledRows, numbers_of, table_of, targets_of
from trickless._readers.messages import say
from trickless._readers.table import number_options
from trickless._rows.signs import signs_of

#: The most support points that Shrinking Gradient keeps. They limit the time of a round.
_MAX_SUPPORT = 10_000
#: The most values of the sample with which Kitchen Sinks begins: neurons take ranks from it.
FIRST_CELLS = 2**21
#: The most values of a table that other learners learn from, in memory: half a gigabyte.
MEMORY_CELLS = 2**26
#: The most labels. Integers are labels if at most ``_FEW`` are different.
_MOST_LABELS, _FEW = 1000, 10
#: The sign of a unit before or after a number, such as that of a currency.
_UNIT = re.compile(r"(?<![^-+])[^\w\s,.+-]\s?|\s?[^\w\s,.+-]$")
#: From this number on, double precision cannot represent all integers.
_EXACT = 2**53


def learned(
    rows: KnownRows, name: str, neurons: str, n_neurons: int | None, asked: str | None, seed: int
) -> Any:
    """Return a learner with this name, which is fitted to the rows that are not held out.

    The first pass counts the rows, finds the labels, and draws a sample. If it is the whole table,
    the learner is fitted to it. Otherwise Kitchen Sinks begins with the sample, and learns the
    other rows in a second pass; other learners learn from the sample alone.
    """
    streams = name == "kitchen-sinks"
    cells = FIRST_CELLS if streams else MEMORY_CELLS
    sample = SampledRows(max(256, cells // (1 + len(rows.columns))), seed)
    labels = _Labels(rows)
    with progress("Reading", rows.table.expected_rows()) as advance:
        for batch in rows.batches(advance=advance):
            labels.see(batch[rows.target])
            sample.see(batch)
    if not sample.n_seen:
        known = rows.n_rows - rows.n_without_target
        why = "there are no rows" if not rows.n_rows else "the target is missing in all rows"
        raise InvalidValueError(
            f"{location(rows.table.path, rows.target)}: "
            f"{f'the weight {rows.weight!r} is 0 in all rows' if known else why}",
            "pass a table with rows to learn from",
        )
    task, why = labels.task(asked)
    missing = f"; {rows.n_without_target:,} without a target" if rows.n_without_target else ""
    say(f"{rows.n_rows:,} rows{missing}. This is {task}: {why}.")
    classifies = task == "classification"
    kind = name.title().replace("-", "") + ("Classifier" if classifies else "Regressor")
    learner = getattr(trickless, kind)(random_state=seed)
    sizes = dict.fromkeys(("n_trees", "n_neurons"), n_neurons) if n_neurons is not None else {}
    options = {"neurons": neurons, "max_support": _MAX_SUPPORT, **sizes}
    parameters = learner.get_params(deep=False)
    learner.set_params(**{key: value for key, value in options.items() if key in parameters})
    if rows.weight is not None and "sample_weight" not in inspect.signature(learner.fit).parameters:
        raise InvalidValueError(
            f"--weight {rows.weight}: {name} takes no weights",
            "another --learner, or leave --weight out",
        )
    first = sample.taken()
    if streams and first.num_rows < sample.n_seen:
        classes = {"classes": labels.classes()} if classifies else {}
        with progress("Learning", sample.n_seen) as advance:
            learner.partial_fit(**_given(rows, first, classifies), **classes)
            advance(first.num_rows)
            for batch in sample.others(rows.batches()):
                learner.partial_fit(**_given(rows, batch, classifies))
                advance(batch.num_rows)
        return learner
    if first.num_rows < sample.n_seen:
        say(
            f"Warning: {name} learns from a uniform sample of {first.num_rows:,} of "
            f"{sample.n_seen:,} rows, which fits in memory. Remedy: --learner kitchen-sinks learns "
            "from all rows."
        )
    learner.set_params(verbose=is_shown())
    return learner.fit(**_given(rows, first, classifies)).set_params(verbose=False)


def _given(rows: KnownRows, data: Any, classifies: bool) -> dict[str, Any]:
    """Return what a learner learns from."""
    y = targets_of(data[rows.target])
    if classifies and y.dtype.kind == "f":
        y = y.astype(np.int64)
    weight = {} if rows.weight is None else {"sample_weight": numbers_of(data[rows.weight])}
    X = table_of(data.select(rows.columns))
    for j, name in enumerate(rows.columns):
        if rows.table.told.get(name) == "category":  # else text may be numbers
            X = X.set_column(j, name, X[name].dictionary_encode())
    return {"X": X, "y": y, **weight}


class _Labels:
    """The values of the target, as long as they may be labels."""

    def __init__(self, rows: KnownRows) -> None:
        self._rows = rows
        self._seen: set[Any] | None = set()

    def see(self, column: Any) -> None:
        """Look at the targets of more rows."""
        if self._seen is None:
            return
        self._seen.update(np.unique(targets_of(column)).tolist())
        is_whole = not self._rows.is_number or all(v == v // 1 for v in self._seen)
        if self._rows.is_text and len(self._seen) > _MOST_LABELS:
            self._check_no_numbers("")
            raise InvalidValueError(
                f"{self._where()}: there are more than {_MOST_LABELS:,} different strings, which "
                "is too many for classes",
                "another --target, or derive coarser classes from it",
            )
        if not is_whole or len(self._seen) > _MOST_LABELS:
            self._seen = None

    def _check_no_numbers(self, names: str) -> None:
        """Refuse text that looks like numbers, so that each would be a class of its own."""
        labels = sorted(map(str, self._seen or ()))
        bare = [_UNIT.sub("", label) for label in labels]
        signs, table, target = signs_of(bare), self._rows.table, self._rows.target
        if signs is None or (len(labels) <= _FEW and not signs.changed()):
            return
        if table.told.get(target) == "category":
            return
        how = "write plain numbers, such as 364900"
        if bare == labels:
            how = f"pass {number_options(table, target, signs)}"
        raise InvalidValueError(
            f"{self._where()}: the target holds text that looks like numbers, such as "
            f"{labels[0]!r}, so each would be a class of its own",
            how + names,
        )

    def classes(self) -> np.ndarray:
        """Return the labels in order."""
        labels = sorted(self._seen or ())
        return np.array([int(v) for v in labels] if self._rows.is_number else labels)

    def task(self, asked: str | None) -> tuple[str, str]:
        """Return "classification" or "regression", and why."""
        labels = self.classes()
        if self._rows.is_number and asked == "classification" and not len(labels):
            raise InvalidValueError(
                f"{self._where()}: --task classification, but the target holds fractions, or more "
                f"than {_MOST_LABELS:,} different numbers",
                "leave --task out",
            )
        if not self._rows.is_number and asked == "regression":
            raise InvalidValueError(
                f"{self._where()}: --task regression, but the target holds text or Booleans",
                "leave --task out, or choose a target of numbers",
            )
        few = 0 < len(labels) <= _FEW
        if asked == "regression" or (asked is None and self._rows.is_number and not few):
            return "regression", f"--task {asked}" if asked else "the target holds numbers"
        if self._rows.is_number and np.abs(labels).max() >= _EXACT:
            raise InvalidValueError(
                f"{self._where()}: the target holds integers beyond {_EXACT:,}, which double "
                "precision cannot tell apart",
                f"{types_option(self._rows.target, 'category')}, which reads them as text",
            )
        if asked is None and self._rows.is_text:
            self._check_no_numbers(" or, if they are names, --task classification")
        if len(labels) < 2:
            raise InvalidValueError(
                f"{self._where()}: the target is {labels.tolist()[0]!r} in every row",
                "pass rows of at least two classes",
            )
        what = "different integers (or use --task regression)" if few else "different values"
        if not self._rows.is_number:
            what = "classes"
        return "classification", f"the target holds {len(labels):,} {what}"

    def _where(self) -> str:
        return location(self._rows.table.path, self._rows.target)

"""From a table to a model: the first pass, the choice of the task, and learning."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trickless.cli.columns import Request, say_padded
from trickless.cli.screen import is_shown, progress
from trickless.learners.doubly_stochastic import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
)
from trickless.learners.kitchen_sinks import KitchenSinksClassifier, KitchenSinksRegressor
from trickless.learners.shrinking_gradient import (
    ShrinkingGradientClassifier,
    ShrinkingGradientRegressor,
)
from trickless.learners.table_model import TableModel
from trickless.neurons import make_neurons
from trickless.readers.cells import is_text
from trickless.readers.dataset import Dataset
from trickless.readers.errors import CommandError, location
from trickless.readers.messages import say
from trickless.readers.profile import Profile, Target, profile, say_missing, task_of
from trickless.readers.shuffle import PART_CELLS, Part, others, shuffled
from trickless.tables.spellings import PLAIN, Spelling, doubtful_text

LEARNERS: dict[tuple[str, str], type] = {
    ("kitchen-sinks", "classification"): KitchenSinksClassifier,
    ("kitchen-sinks", "regression"): KitchenSinksRegressor,
    ("doubly-stochastic", "classification"): DoublyStochasticClassifier,
    ("doubly-stochastic", "regression"): DoublyStochasticRegressor,
    ("shrinking-gradient", "classification"): ShrinkingGradientClassifier,
    ("shrinking-gradient", "regression"): ShrinkingGradientRegressor,
}
#: The most support points that Shrinking Gradient keeps. They limit the time of a round.
_MAX_SUPPORT = 10_000
#: A doubtful column of fewer strings may hold names. It is named, and a longer one is refused.
_TEXTS = 10
#: The most values of a table that trees learn in memory: half a gigabyte. Trees need many passes.
_TREE_CELLS = 2**26
#: The most bytes of category names. A file has room for twice as many.
_MOST_TEXT = 2**24


def learned(
    dataset: Dataset, request: Request, kinds: dict[str, str], rows: Dataset | Part
) -> tuple[TableModel, Profile]:
    """Return a model fitted to some rows of a table, and the profile of these rows."""
    date_formats = request.reading.date_formats
    seen = _profile(dataset, request, kinds, rows)
    say_missing(dataset.missing)
    columns = [
        c._replace(
            date_format=date_formats.get(c.name, ""), spelling=_spelling(dataset, c.name, c.kind)
        )
        for c in seen.columns
    ]
    seen = seen._replace(columns=columns)
    task, why = task_of(request.task, seen.target, kinds[request.target], request.target)
    _check_texts(dataset, request, seen)
    left_out = f"; {seen.n_without_target:,} without a target" if seen.n_without_target else ""
    say(f"{seen.n_rows:,} rows{left_out}. This is {task}: {why}.")
    model = _begun(request, seen, task)
    model.set_params(spelling=_spelling(dataset, request.target, kinds[request.target]))
    _check_categories(model, dataset.path)
    n_rows = seen.n_rows - seen.n_without_target
    one_hot = make_neurons(model.learner.neurons).one_hot
    if request.learner == "kitchen-sinks":
        _sum(model, rows, kinds, seen)
    elif n_rows * model.width <= (_TREE_CELLS if one_hot else PART_CELLS):
        model.learner.set_params(verbose=is_shown())  # it has its own progress bar
        model.fit(pa.Table.from_batches([batch.data for batch in rows.batches(kinds)]))
        model.learner.set_params(verbose=False)
    else:
        _descend(model, rows, kinds, seen, request.seed)
    return model, seen


def _profile(
    dataset: Dataset, request: Request, kinds: dict[str, str], rows: Dataset | Part
) -> Profile:
    """Profile the rows, again if leading zeros far down show that numbers are categories."""
    with progress("Reading", rows.expected_rows()) as advance:
        seen = profile(rows, kinds, request.target, request.seed, advance, request.weight)
    if not (padded := dataset.padded_later()):
        return seen
    say_padded(padded)
    kinds |= dict.fromkeys(padded, "category")
    return _profile(dataset, request, kinds, rows)


def learner_of(request: Request, target: Target, task: str) -> Any:
    """Return the learner that the options ask for, which is not fitted."""
    options: dict[str, Any] = {"random_state": request.seed}
    if request.n_neurons is not None:
        options["n_neurons"] = request.n_neurons
    if request.learner == "shrinking-gradient":
        options["max_support"] = _MAX_SUPPORT
        if task == "regression" and target.low < target.high:
            options["y_range"] = target.low, target.high
    return LEARNERS[request.learner, task](request.neurons, **options)


def _begun(request: Request, seen: Profile, task: str) -> TableModel:
    learner = learner_of(request, seen.target, task)
    classes = np.array(seen.target.labels) if task == "classification" else None
    return TableModel(learner, seen.columns, request.target, classes, request.weight)


def _spelling(dataset: Dataset, name: str, kind: str) -> Spelling | None:
    """Return how text spells the numbers of a column; None if it is the usual way."""
    found = dataset.spelling(name)
    return found if kind == "number" and found != PLAIN else None


def _check_texts(dataset: Dataset, request: Request, seen: Profile) -> None:
    """Refuse, or name, a column of numbers or dates that is text because of a few cells.

    Every number would be a separate category, without any order.
    """
    columns = {about.name: about.categories or () for about in seen.columns}
    columns[request.target] = [text for text in seen.target.labels if isinstance(text, str)]
    named = request.named
    for name, texts in columns.items():
        is_guess = is_text(dataset.types[name]) and name not in named
        if not is_guess or (found := doubtful_text(texts)) is None:
            continue
        cell, is_exception = found
        why = f"{_first(dataset, name, cell)}: {cell!r} "
        why += (
            "is not a number or date, but most strings in this column look like one"
            if is_exception
            else "looks like a number or a date, but cannot be read as one"
        )
        if len(texts) < _TEXTS:
            say(
                f"Warning: {why}, so the column is read as categories. Remedy: correct or empty "
                f"such cells, or fit with --category {name!r} if they are names."
            )
            continue
        raise CommandError(
            why,
            "correct or empty such cells, with numbers as 1234.5 and dates as "
            f"2026-01-31; or fit with --category {name!r} if they are names, with --date and "
            f"--date-format if they are dates in one format, or with --drop {name!r}",
        )


def _first(dataset: Dataset, name: str, text: str) -> str:
    """Return the place of the first cell with a text."""
    for batch in dataset.batches({name: "category"}):
        if (row := pc.index(batch.data.column(name), text).as_py()) >= 0:
            return location(batch.path, name, batch.row + row)
    return location(dataset.path, name)


def _check_categories(model: TableModel, path: Any) -> None:
    """Refuse categories that are too long to be saved, before any learning."""
    sizes = {about.name: len(json.dumps(about.categories)) for about in model.columns}
    longest = max(sizes, key=lambda name: sizes[name])
    if sum(sizes.values()) > _MOST_TEXT:
        raise CommandError(
            f"{location(path, longest)}: the category names of all columns are "
            f"{sum(sizes.values()) / 2**20:.0f} MiB of text, but a model can hold only "
            f"{_MOST_TEXT / 2**20:.0f}",
            f"leave this column out with --drop {longest!r}",
        )


def _sum(model: TableModel, rows: Dataset | Part, kinds: dict[str, str], seen: Profile) -> None:
    """Sum statistics of all rows. The sample comes first: neurons take ranks and scales from it."""
    with progress("Learning", seen.n_rows) as advance:
        model.partial_fit(seen.sample)
        advance(seen.sample.num_rows)
        if seen.sample.num_rows < seen.n_rows - seen.n_without_target:
            most = max(1, PART_CELLS // model.width)
            for some in others(rows.batches(kinds), seen.sampled):
                for start in range(0, some.num_rows, most):
                    model.partial_fit(some.slice(start, most))
                advance(some.num_rows)
    with progress("Solving", None):
        _ = model.learner.network_


def _descend(
    model: TableModel, rows: Dataset | Part, kinds: dict[str, str], seen: Profile, seed: int
) -> None:
    n_rows, n_sampled = seen.n_rows - seen.sample.num_rows, seen.sample.num_rows
    known = seen.n_rows - seen.n_without_target
    n_parts = -(-known * model.width // PART_CELLS)
    batch_rows = model.learner._plan_one_pass(n_sampled, known - n_sampled, n_parts)
    rng = np.random.default_rng(seed)
    model.partial_fit(seen.sample)
    with progress("Shuffling", n_rows) as shuffling, progress("Learning", n_rows) as learning:
        left = _advancing(others(rows.batches(kinds), seen.sampled), shuffling)
        for some in shuffled(left, n_rows, batch_rows, rng):
            model.partial_fit(some)
            learning(some.num_rows)


def _advancing(batches: Any, advance: Any) -> Any:
    for batch in batches:
        yield batch
        advance(batch.num_rows)

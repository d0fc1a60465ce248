"""The options of ``trickless fit``, and the columns that they choose, with their kinds."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import pyarrow as pa

from trickless.readers.dataset import Dataset, Reading
from trickless.readers.errors import CommandError, location
from trickless.readers.kinds import may_be_category
from trickless.readers.messages import say
from trickless.tables.parse_text import MISSING, why_no_date_format
from trickless.tables.spellings import PLAIN

#: The beginning of the name of an index that pandas stores among the columns.
_INDEX = "__index_level_"


class Request(NamedTuple):
    """The options of ``trickless fit``."""

    target: str
    learner: str
    neurons: str
    n_neurons: int | None
    task: str | None
    seed: int
    category: list[str]
    number: list[str]
    date: list[str]
    date_format: str
    keep_na: list[str]
    drop: list[str]
    weight: str | None = None

    @property
    def reading(self) -> Reading:
        """How to read the text of the table."""
        formats = dict.fromkeys(self.date, self.date_format) if self.date_format else {}
        names = [self.target, *self.category, *self.number, *self.date, *self.keep_na, *self.drop]
        return Reading(dict.fromkeys(self.keep_na, MISSING - {""}), formats, columns=names)

    @property
    def named(self) -> dict[str, str]:
        """The kinds of columns that options name."""
        names = dict.fromkeys([*self.category, *self.keep_na], "category")
        return names | dict.fromkeys(self.number, "number") | dict.fromkeys(self.date, "date")

    @property
    def columns(self) -> dict[str, list[str]]:
        """The columns that each option names, except the target."""
        return {
            "--category": self.category,
            "--keep-na": self.keep_na,
            "--number": self.number,
            "--date": self.date,
            "--drop": self.drop,
            "--weight": [] if self.weight is None else [self.weight],
        }

    def check(self) -> None:
        """Refuse options that contradict each other, before any work."""
        options = self.columns
        if self.weight == self.target:
            raise CommandError(
                f"--weight {self.weight!r}: this column is the --target",
                "name another column, or leave --weight out",
            )
        for first, second in combinations(options, 2):
            both = set(options[first]) & set(options[second])
            if both and (first, second) != ("--category", "--keep-na"):
                name = min(both)
                raise CommandError(
                    f"column {name!r}: {first} and {second} contradict each other",
                    "leave one of them out",
                )
        if self.date_format and not self.date:
            raise CommandError(
                "--date-format: no column has this format", "name one with --date COLUMN"
            )
        if self.date_format and (why := why_no_date_format(self.date_format)) is not None:
            raise CommandError(
                f"--date-format {self.date_format!r}: it cannot read dates: {why}",
                "use codes of Python's strptime, such as %d.%m.%Y or '%Y-%m-%d %H:%M:%S'",
            )


def kinds_to_read(dataset: Dataset, request: Request) -> dict[str, str]:
    """Return the columns to read, with their kinds. The target is the last."""
    _check_names(dataset, request)
    named, target = request.named, request.target
    left_out = set(request.drop) - {target} | _indices(dataset, named.keys() | {target})
    weight = _weight(dataset, request)
    left_out |= weight.keys()
    names = [name for name in dataset.types if name not in left_out]
    padded = dataset.padded([name for name in names if name not in named])
    kinds = {name: "category" if name in padded else dataset.kind(name) for name in names}
    kinds |= named | {name: dataset.kind_of_dates(name) for name in request.date}
    kind = _kind_of_target(dataset, target, kinds.pop(target))
    found = {}
    for name in kinds:
        if name not in named and pa.types.is_null(dataset.types[name]):
            continue
        if (kind_ := kinds[name]) is None:
            other = "convert it to one of these"
            if may_be_category(dataset.types[name]):
                other = f"fit with --category {name!r} if they are names"
            raise CommandError(
                f"{location(dataset.files[0], name)}: its values have the type "
                f"{dataset.types[name]}, but trickless learns from numbers, Booleans, dates "
                "and text",
                f"leave the column out with --drop {name!r}, or {other}",
            )
        found[name] = kind_
    if not found:
        _refuse(dataset, empty=bool(kinds))
    say_padded(padded)
    for name in found:
        _tell_spelling(dataset, name, found[name])
    _tell_spelling(dataset, target, kind)
    for name in kinds.keys() - found.keys():
        say(f"column {name!r}: left out, since it is empty in all rows.")
    return found | weight | {target: kind}


def say_padded(names: list[str]) -> None:
    """Say that columns are read as categories because of their leading zeros."""
    for name in names:
        say(
            f"column {name!r}: its numbers have leading zeros, like postcodes, so they are read as "
            f"categories. If they are numbers, fit with --number {name!r}."
        )


def _weight(dataset: Dataset, request: Request) -> dict[str, str]:
    name = request.weight
    if name is None:
        return {}
    type_ = dataset.types[name]
    if dataset.kind(name) != "number" or pa.types.is_boolean(type_):
        raise CommandError(
            f"{location(dataset.files[0], name)}: --weight names a column of the type {type_}, but "
            "weights are numbers",
            "name a column of numbers, or leave --weight out",
        )
    return {name: "number"}


def _tell_spelling(dataset: Dataset, name: str, kind: str) -> None:
    """Say how a column writes its numbers, if it is not the usual way."""
    spelling = dataset.spelling(name)
    if kind != "number" or spelling == PLAIN:
        return
    unit = f", with the unit {spelling.unit!r}" if spelling.unit else ""
    by = f", and {spelling.thousands!r} between thousands" if spelling.thousands else ""
    say(
        f"column {name!r}: its text is read as numbers{unit}. The decimal sign is "
        f"{spelling.decimal!r}{by}. If it holds names, fit with --category {name!r}."
    )


def _check_names(dataset: Dataset, request: Request) -> None:
    for option, names in {"--target": [request.target], **request.columns}.items():
        for name in names:
            if name not in dataset.types:
                raise CommandError(
                    f"{location(dataset.files[0], name)}: {option} names a column that is not "
                    f"there. The columns are {', '.join(map(repr, list(dataset.types)[:20]))}",
                    "check the name",
                )


def _indices(dataset: Dataset, named: set[str]) -> set[str]:
    """Return columns of row numbers, as pandas writes them, unless options name them."""
    others = [name for name in dataset.types if name not in named]
    if dataset.is_csv and "" in others:
        say("A column without a name is left out, since pandas writes row numbers as one.")
    return {n for n in others if n.startswith(_INDEX) or (dataset.is_csv and not n)}


def _kind_of_target(dataset: Dataset, name: str, kind: str | None) -> str:
    if kind == "number" and pa.types.is_boolean(dataset.types[name]):
        return "truth"
    if kind not in ("number", "category"):
        raise CommandError(
            f"{location(dataset.files[0], name)}: the target has the type {dataset.types[name]}",
            "choose a target of numbers, text or Booleans",
        )
    return kind


def _refuse(dataset: Dataset, empty: bool) -> None:
    if not empty:
        why, there = "the target is the only column", "columns to learn from"
    elif all(map(pa.types.is_null, dataset.types.values())):
        why, there = "there are no rows", "rows to learn from"
    else:
        why, there = "all columns except the target are empty", "values in them"
    raise CommandError(f"{dataset.path}: {why}", f"pass a table with {there}")

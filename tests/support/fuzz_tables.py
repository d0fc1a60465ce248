"""Tables in odd files: each column is read rightly, or refused with a remedy.

Columns are in cells or in names of folders, in one file or in parts of which the first may be empty
or lack a column, as text in several encodings or as typed values with far dates among them. What is
right is found cell by cell, in plain Python. Run as a script to try many:

python tests/support/fuzz_tables.py 3000
"""

import math
import sys
import tempfile
from contextlib import redirect_stderr
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch
from urllib.parse import quote

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz_inputs import search_settings
from trickless.cli.columns import Request, kinds_to_read
from trickless.readers import csv_file as csv
from trickless.readers import dataset
from trickless.readers.dataset import Dataset
from trickless.readers.errors import CommandError
from trickless.tables.format_text import as_text
from trickless.tables.parse_text import MISSING

EPOCH = datetime(1970, 1, 1)
MICROSECOND = timedelta(microseconds=1)
WORDS = "EU", "NA", "null", "Köln", "a,b", "x=y", "b ", 'a"b', "a/b", "é\U0001f600", "7a", "N/A"
#: Bits of a date or a time in a file, and how many of them a day has.
TYPES = {
    pa.date32(): (32, 1),
    pa.date64(): (64, 86_400_000),
    pa.timestamp("s"): (64, 86_400),
    pa.timestamp("ms"): (64, 86_400_000),
    pa.timestamp("us"): (64, 86_400_000_000),
    pa.timestamp("ns"): (64, 86_400_000_000_000),
    pa.timestamp("us", "UTC"): (64, 86_400_000_000),
}

days = st.dates().map(str)
times = st.tuples(
    st.datetimes().map(lambda time: str(time.replace(microsecond=0))),
    st.sampled_from(["", "", ".5", ".123", ".123456", ".123456789"]),
).map("".join)
zones = st.sampled_from(["Z", "+02:00", "-0930", "+00:00"])
TEXTS = {
    "truth": st.sampled_from(["true", "false"]),
    "whole": st.integers(-(10**20), 10**20).map(str) | st.integers(0, 20).map(str),
    "padded": st.integers(0, 99_999).map("{:05}".format),
    "fraction": st.floats(-1e9, 1e9).map(repr),
    "day": days,
    "time": st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)).map(str),
    "odd time": days | times,
    "zoned": st.tuples(st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)).map(str), zones).map(
        "".join
    ),
    "word": st.sampled_from(WORDS),
}
TEXTS["mixed"] = st.one_of(*TEXTS.values())


class Case(NamedTuple):
    """A column ``c`` in a file or a folder, and an option that names it."""

    ending: str
    where: str
    cells: list[str | None]
    homogeneous: bool
    first: str
    option: str
    encoding: str
    sign: str
    block: int


class Typed(NamedTuple):
    """Dates and times in a file, as whole numbers in the unit of their type."""

    ending: str
    type_: Any
    values: list[int | None]
    option: str
    encoded: bool
    first: str


@st.composite
def text_cases(draw):
    """A column of text: most of one kind, with a few gaps."""
    kind = draw(st.sampled_from(list(TEXTS)))
    where = draw(st.sampled_from(["cells", "folders"]))
    cell = TEXTS[kind]
    if draw(st.booleans()):
        cell = st.one_of(cell, cell, cell, st.none())
    return Case(
        draw(st.sampled_from([".csv", ".parquet"] if where == "folders" else [".csv", ".tsv"])),
        where,
        draw(st.lists(cell, min_size=1, max_size=12)),
        kind != "mixed",
        draw(st.sampled_from(["none", "none", "names", "empty", "NA", "lacks"])),
        draw(st.sampled_from(["", "", "", "category", "number", "date", "keep_na", "drop"])),
        draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])),
        draw(st.sampled_from([",", ";", "\t"])),
        draw(st.sampled_from([2**8, 2**22])),
    )


@st.composite
def typed_cases(draw):
    """A column of dates, sometimes with one that is far away."""
    type_ = draw(st.sampled_from(list(TYPES)))
    bits, per_day = TYPES[type_]
    usual = st.integers(-40_000 * per_day, 40_000 * per_day)
    step = {pa.date64(): per_day, pa.timestamp("ns"): 1000}.get(type_, 1)
    usual = usual.map(lambda value: value // step * step)
    values = draw(st.lists(usual | st.none(), min_size=1, max_size=8))
    if draw(st.booleans()):
        far = st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        ends = st.sampled_from([-(2 ** (bits - 1)), 2 ** (bits - 1) - 1])
        at = draw(st.integers(0, len(values) - 1))
        values[at] = draw(far | ends)
        if step > 1:
            values[at] = max(values[at] // step, -((2**63 - 1) // step)) * step
    return Typed(
        draw(st.sampled_from([".parquet", ".arrow"])),
        type_,
        values,
        draw(st.sampled_from(["", "", "category", "date", "drop"])),
        draw(st.booleans()),
        draw(st.sampled_from(["none", "none", "null", "lacks", "no rows"])),
    )


REFUSED, LEFT_OUT = "refused", "left out"


def known(case):
    """The cells of which none stands for a missing value."""
    missing = [""] if case.option == "keep_na" else MISSING
    return [None if cell is None or cell in missing else cell for cell in case.cells]


def number_of(text):
    if text.strip().lower() in ("true", "false"):
        return float(text.strip().lower() == "true")
    return float(text)


def time_of(text):
    """Microseconds since 1970; what is below them is left out."""
    head, dot, tail = text.partition(".")
    digits = tail[: len(tail) - len(tail.lstrip("0123456789"))]
    if dot:
        text = f"{head}.{digits[:6]:0<6}{tail[len(digits) :]}"
    if len(text) > 10 and text[-5] in "+-":
        text = f"{text[:-2]}:{text[-2:]}"
    time = datetime.fromisoformat(text)
    if time.tzinfo is not None:
        time = time.astimezone(UTC).replace(tzinfo=None)
    return (time - EPOCH) // MICROSECOND


def all_as(read, cells):
    """The values of all cells; REFUSED if one has none."""
    try:
        return [None if cell is None else read(cell) for cell in cells]
    except (ValueError, OverflowError):
        return REFUSED


def is_zoned(text):
    return len(text) > 10 and (text[-1] == "Z" or text[-6] in "+-" or text[-5] in "+-")


def dates(cells):
    """The kind of the dates and their values; REFUSED if some have a time zone and others none."""
    zoned = {is_zoned(cell) for cell in cells if cell is not None}
    kind = "zoned date" if True in zoned else "date"
    return kind, REFUSED if len(zoned) > 1 else all_as(time_of, cells)


def are_padded(cells):
    """Whether whole numbers, or digits alone, have leading zeros."""
    digits = all(cell.isdecimal() for cell in cells)
    whole = all(
        cell.removeprefix("-").isdecimal() and -(2**63) <= int(cell) < 2**63 for cell in cells
    )
    return (digits or whole) and any(cell[0] == "0" and len(cell) > 1 for cell in cells)


def expected(case):
    """The kind of the column and its values; REFUSED or LEFT_OUT as the kind."""
    cells = known(case)
    there = [cell for cell in cells if cell is not None]
    if case.option in ("category", "keep_na"):
        return "category", cells
    if case.option in ("number", "date"):
        cells = [None if cell in MISSING else cell for cell in cells]
        kind, read = dates(cells)
        if case.option == "number":
            kind, read = "number", all_as(number_of, cells)
        return (REFUSED, None) if read is REFUSED else (kind, read)
    if not there:
        return LEFT_OUT, None
    numbers, (kind, times) = all_as(number_of, cells), dates(cells)
    is_truth = {cell in ("true", "false") for cell in there}
    if numbers is not REFUSED and (len(is_truth) == 1 or set(there) <= {"true", "false", "1", "0"}):
        return ("category", cells) if are_padded(there) else ("number", numbers)
    if times is not REFUSED:
        return kind, times
    return "category", cells


def request(option):
    """Options of fit, of which one names the column."""
    names = {name: [] for name in ("category", "number", "date", "keep_na", "drop")}
    if option:
        names[option] = ["c"]
    return Request("y", "kitchen-sinks", "trees", None, None, 0, date_format="", **names)


def read(path, option):
    """The kind of the column and its values, as ``trickless fit`` reads them; or why not."""
    asked = request(option)
    try:
        with redirect_stderr(StringIO()):
            return _read(path, asked)
    except CommandError as error:
        assert "Remedy: " in str(error), error
        assert "c" not in asked.drop or "column 'c'" not in str(error), error
        return REFUSED, str(error)


def _read(path, asked):
    asked.check()
    data = Dataset(path, asked.reading)
    kinds = kinds_to_read(data, asked)
    values = []
    for batch in data.batches(kinds):
        if "c" in kinds:
            column = batch.data["c"]
            is_date = kinds["c"].endswith("date")
            values += (column.view(pa.int64()) if is_date else column).to_pylist()
    return kinds.get("c", LEFT_OUT), values


def write_text(case, path, columns):
    """A CSV file with quotes around all text."""
    rows = [list(columns), *map(list, zip(*columns.values(), strict=True))]
    quoted = lambda cell: '"' + cell.replace('"', '""') + '"'  # noqa: E731
    lines = [case.sign.join("" if c is None else quoted(c) for c in row) for row in rows]
    path.write_bytes(("\n".join(lines) + "\n").encode(case.encoding))


def table_of(case, folder):
    """Write the table of a case; whether a part of it lacks the column."""
    n = len(case.cells)
    parts = folder / "data"
    parts.mkdir()
    numbers = [str(i) for i in range(n)]
    if case.where == "folders":
        for i, cell in enumerate(case.cells):
            name = quote(cell, safe="") if cell else "__HIVE_DEFAULT_PARTITION__"
            inside = parts / f"i={i:02}" / f"c={name}"
            inside.mkdir(parents=True)
            write(case, inside / f"part{case.ending}", {"x": ["1", "2"], "y": ["a", "b"]})
        return parts, False
    columns = {"x": numbers, "c": case.cells, "y": ["a" if i % 2 else "b" for i in range(n)]}
    write(case, parts / f"z{case.ending}", columns)
    if case.first != "none":
        fill = {"names": None, "empty": "", "NA": "NA", "lacks": None}[case.first]
        first = {"x": ["1", "2"], "c": [fill, fill], "y": ["a", "b"]}
        if case.first == "names":
            first = {name: [] for name in first}
        if case.first == "lacks":
            del first["c"]
        write(case, parts / f"a{case.ending}", first)
    return parts, case.first == "lacks"


def write(case, path, columns):
    if case.ending in (".csv", ".tsv"):
        write_text(case, path, columns)
    else:
        pa.parquet.write_table(pa.table(columns), path)


def same(kind, found, wanted):
    if len(found) != len(wanted):
        return False
    if kind != "number":
        return found == wanted
    return all(
        (a is None) == (b is None) and (a is None or math.isclose(a, b, rel_tol=1e-15))
        for a, b in zip(found, wanted, strict=True)
    )


def check_text(case):
    """A column of text is what its cells are; only mixtures may be refused."""
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(csv, "_BLOCK", case.block),
        patch.object(dataset, "_BATCH_ROWS", 5),
    ):
        path, lacks = table_of(case, Path(folder))
        kind, found = read(path, case.option)
    if case.option == "drop":
        assert kind == LEFT_OUT, found
        return
    wanted, values = expected(case)
    if lacks and wanted != LEFT_OUT:
        assert kind == REFUSED and "no such column" in found
        return
    if wanted == LEFT_OUT and case.first == "none" and kind == REFUSED:
        raise AssertionError(found)
    if kind == REFUSED:
        assert wanted == REFUSED or not case.homogeneous, found
        return
    assert kind == wanted, (kind, wanted, values)
    if kind == LEFT_OUT:
        return
    if case.where == "folders":
        values = [value for value in values for _ in range(2)]
    elif case.first in ("empty", "NA"):
        name = "NA" if case.first == "NA" and case.option == "keep_na" else None
        values = [name, name, *values]
    assert same(kind, found, values), (found, values)


def check_typed(case):
    """Dates are read as they are, or refused where they cannot be held; none moves."""
    bits, per_day = TYPES[case.type_]
    column = pa.array(case.values, getattr(pa, f"int{bits}")()).view(case.type_)
    if case.encoded:
        column = column.dictionary_encode()
    n = len(case.values)
    is_far = max(abs(value or 0) for value in case.values) >= 2**53
    if is_far and case.ending == ".parquet" and case.type_ == pa.timestamp("s"):
        return  # Parquet has no seconds, and what writes it may wrap them
    table = pa.table({"x": range(n), "c": column, "y": [("a", "b")[i % 2] for i in range(n)]})
    with tempfile.TemporaryDirectory() as folder, patch.object(dataset, "_BATCH_ROWS", 3):
        path = Path(folder) / "data"
        path.mkdir()
        try:
            save(table, path / f"z{case.ending}")
        except (pa.ArrowException, NotImplementedError):
            return
        first = pa.table({"x": [1], "c": pa.nulls(1), "y": ["a"]})
        if case.first == "lacks":
            first = first.drop_columns(["c"])
        if case.first == "no rows":
            first = table.slice(0, 0)
        if case.first != "none":
            save(first, path / f"a{case.ending}")
        kind, found = read(path, case.option)
    if case.option == "drop":
        assert kind == LEFT_OUT, found
        return
    if case.first == "lacks":
        assert kind == REFUSED and "no such column" in found
        return
    times = [None if v is None else v * 86_400_000_000 // per_day for v in case.values]
    as_category = case.option == "category" or (
        case.encoded and case.ending == ".arrow" and case.option != "date"
    )
    last = 2**63 - 1
    ends = (-62_135_596_800_000_000, 253_402_300_799_999_999) if as_category else (-last, last)
    inside = [v is None or ends[0] <= v <= ends[1] for v in times]
    if not all(inside):
        assert kind == REFUSED, (found, times)
        assert f"column 'c', row {inside.index(False) + 1}: " in found, found
        return
    of_dates = "zoned date" if getattr(case.type_, "tz", None) else "date"
    assert kind == ("category" if as_category else of_dates), found
    if as_category:
        zone = UTC if getattr(case.type_, "tz", None) else None
        is_day = pa.types.is_date(case.type_)
        wanted = [None if v is None else spelled(v, zone, is_day) for v in times]
    else:
        wanted = times
    assert found == [*([None] if case.first == "null" else []), *wanted], (found, wanted)


def spelled(time, zone, is_day):
    """The text of a time as a category."""
    value = EPOCH + time * MICROSECOND
    if is_day:
        return as_text(date(value.year, value.month, value.day))
    return as_text(value.replace(tzinfo=zone))


def save(table, path):
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, path)
    else:
        pa.feather.write_feather(table, path)


def fuzz(n, derandomize=False):
    """Check so many cases; derandomized, the same ones every time."""
    every = search_settings(derandomize)
    for strategy, checked in ((text_cases(), check_text), (typed_cases(), check_typed)):
        settings(every, max_examples=n // 2)(given(strategy)(checked))()


if __name__ == "__main__":
    fuzz(int(sys.argv[1]) if len(sys.argv) > 1 else 3000)

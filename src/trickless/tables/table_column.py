"""A column that a model of a table learned from, and how the model reads it from a data frame."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trickless.arrays.stated import check_is, check_list, check_number, check_same
from trickless.errors import InvalidValueError
from trickless.rules import shown
from trickless.tables.categories import coded, naming
from trickless.tables.columns import OtherKindError, PandasColumn
from trickless.tables.frames import column_of
from trickless.tables.kinds import CATEGORIES, DATES, NUMBERS, OBJECTS, ZONED
from trickless.tables.parse_text import has_zone, why_no_date_format
from trickless.tables.spellings import PLAIN, Spelling, check_spelling

#: The largest number that is accepted. Its square does not overflow.
LARGEST = 1e150
#: What columns of each kind hold.
_HOLDS = {"number": NUMBERS, "date": DATES, "zoned date": ZONED, "category": CATEGORIES}


class TableColumn(NamedTuple):
    """A column that a model learned from.

    Usually ``trickless fit`` fills these in.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : {"number", "date", "zoned date", "category"}
        What the column holds. Booleans are numbers. Dates and times are days since 1970, and have
        another kind if they have a time zone.
    mean : float, default=0.0
        Mean of the known values, which is subtracted to standardise the column.
    scale : float, default=1.0
        Standard deviation of the known values, by which the column is then divided.
    categories : list of str, default=[]
        The categories in training, as sorted text. A number is written in digits. A value matches
        the category with the same spelling. Otherwise it matches a category with the same meaning,
        such as 501 for 00501, and true for TRUE.
    has_missing : bool, default=False
        Whether values were missing in training.
    median : float, default=0.0
        Approximate median of the known values. Families that take tables get differences from it.
    date_format : str, default=""
        Format of dates in text, in the codes of ``datetime.strptime``; "" for 2026-01-31.
    spelling : Spelling or None, default=None
        How text spells numbers: the decimal sign, what separates thousands, and the unit that all
        numbers have. None for numbers such as 1234.5.
    """

    name: str
    kind: str
    mean: float = 0.0
    scale: float = 1.0
    categories: list[str] = []
    has_missing: bool = False
    median: float = 0.0
    date_format: str = ""
    spelling: Spelling | None = None

    def check(self) -> None:
        """Raise a ValueError if this does not describe a column."""
        check_is("name", self.name, str)
        if self.kind not in _HOLDS:
            raise ValueError(f"kind: {self.kind!r} is not one of {', '.join(_HOLDS)}")
        for name in ("mean", "scale", "median"):
            check_number(name, getattr(self, name))
        if self.scale <= 0:
            raise ValueError(f"scale: {self.scale} is not above 0")
        check_list("categories", self.categories, str)
        check_same("different categories", len(set(self.categories)), len(self.categories))
        check_is("has_missing", self.has_missing, bool)
        check_is("date_format", self.date_format, str)
        if self.date_format:
            check_same("kind", self.kind, "zoned date" if has_zone(self.date_format) else "date")
            if (why := why_no_date_format(self.date_format)) is not None:
                raise ValueError(f"date_format: {why}")
        if self.spelling is not None:
            check_spelling("spelling", self.spelling)


def read_codes(about: TableColumn, frame: Any) -> tuple[np.ndarray, dict[str, int]]:
    """Return the codes of the categories of a column, and how often each one occurs.

    New categories have the codes after the known ones.
    """
    column = PandasColumn(about.name, column_of(frame, about.name))
    with naming(f"TableModel: column {about.name!r}", column):
        return coded(column, {text: code for code, text in enumerate(about.categories)})


def new_categories(about: TableColumn, counts: dict[str, int]) -> list[str]:
    """Return the categories that the model does not know, in the order of their codes."""
    known = set(about.categories)
    return [text for text in counts if text not in known]


def read_numbers(about: TableColumn, frame: Any) -> np.ndarray:
    """Return the numbers of a column, with NaN where they are missing; dates as days since 1970."""
    column = PandasColumn(about.name, column_of(frame, about.name))
    try:
        numbers = column.read(_HOLDS[about.kind], about.spelling or PLAIN, about.date_format)
    except OtherKindError as error:
        why = str(error) if error.value is None else f"found {shown(error.value)}"
        raise InvalidValueError(
            f"TableModel: column {about.name!r} has the type {column.dtype}, but the model was "
            f"fitted to {_HOLDS[about.kind]}: {why}",
            _remedy(about, error.found),
        ) from error
    if len(wrong := np.flatnonzero(np.abs(numbers) > LARGEST)):
        row = int(wrong[0])
        raise InvalidValueError(
            f"TableModel: column {about.name!r} holds {numbers[row]} in row {row} of its batch, "
            f"from 0, but numbers must be finite, with a size up to {LARGEST:g}",
            "correct the number, or pass NaN if it is missing",
        )
    return numbers


def _remedy(about: TableColumn, found: str) -> str:
    """Return what to do with a column that holds something else, such as code that converts it."""
    x = f"X[{about.name!r}]"
    if about.kind == "number":
        return "pass numbers"
    if found == OBJECTS:
        return (
            f"write them as {about.date_format or '2026-01-31'}, or {x} = pandas.to_datetime({x}, "
            "format='%d/%m/%Y'), with the codes of your format"
        )
    if about.kind == "date" and found == ZONED:
        return (
            f"{x} = pandas.to_datetime({x}, utc=True).dt.tz_localize(None), if the model was "
            "fitted to times in UTC"
        )
    if about.kind == "zoned date" and found == DATES:
        return f"{x} = pandas.to_datetime({x}).dt.tz_localize('UTC'), or with the zone of the times"
    return "pass dates, which pandas.to_datetime makes"

"""How columns of text spell numbers: signs, separators, units and currencies.

A reading must be the only sensible one. These are read wherever they occur:

- The minus signs U+2212, U+2013 and U+FF0D, and digits of full width.
- Groups of three digits, between which are spaces of any kind or apostrophes.
- Digits of all scripts, and numbers with marks that are not seen, such as U+200B and U+FEFF.

These are read if the whole column agrees:

- A comma or point between groups of three digits, or a decimal comma. Some number must show which
  it is: 1,234 alone may be either.
- Parentheses about some of the numbers, which are negative, as in accounts.
- One unit after all numbers, or one currency. 12% is 12, as 12 kg is.

Integers with leading zeros, such as postcodes, are names, and so are integers beyond double
precision. Groups of nine digits or more, all of one length, are telephone numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from trickless.arrays.stated import check_is
from trickless.rules import shown
from trickless.tables.parse_text import MISSING, number_of, time_of

_SPACES, _APOSTROPHES = " \u00a0\u2007\u2009\u202f", "'\u2019"
#: Marks that are not seen, such as those of the direction of writing.
_UNSEEN = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u202a-\u202e\u2066-\u2069"
_SAME = {chr(0xFF10 + i): str(i) for i in range(10)} | dict.fromkeys("−–－", "-")
_PLAIN = str.maketrans(_SAME | {"٫": ".", "٬": "'"})
_CURRENCIES = "$£¤¥֏؋৲৳฿₠-⃀﷼＄￠￡￥￦€"
_CODES = "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HUF|INR|JPY|KRW|MXN|NOK|PLN|SEK|USD|ZAR"
_MONEY = rf"(?:[A-Z]{{0,2}}[{_CURRENCIES}]|(?:{_CODES})(?=[\s\d+-]))"
#: Letters, and no digits or fractions, such as ½.
_LETTERS = r"[^\W\d_¹²³¼-¾⁰-₉⅐-↋①-⓿]+"
_SIZE = rf"{_LETTERS}(?:\^?[²³]|(?<=[a-z])\^?[23])?"
_UNIT = rf"(?:%|‰|°|[kKM]?[{_CURRENCIES}]|[°µμ]?{_SIZE}(?:/{_SIZE})?)"
_EXPONENT = r"(?:[eE][+-]?\d+)?"
_BETWEEN = _SPACES + _APOSTROPHES
_BODY = rf"(?:\d[\d.,{_BETWEEN}]*|[.,]\d+)(?<![{_BETWEEN}]){_EXPONENT}"
_FORM = re.compile(
    rf"(?P<sign>[+-]?)\s?(?P<opened>\(?)\s?(?P<before>{_MONEY}?)\s?(?P<inner>[+-]?)"
    rf"(?P<deep>\(?)(?P<body>{_BODY})(?:\s?(?P<after>{_UNIT}))?(?P<closed>\)?)",
    re.UNICODE,
)
_MARKS = re.compile(f"[{_UNSEEN}]")
_GROUPS = rf"\d{{1,3}}(?:(?P<by>[{_BETWEEN}])\d{{3}}(?:(?P=by)\d{{3}})*)"
_WHOLE = rf"(?:{_GROUPS}|\d+)"
#: Digits in thousands that a comma, or a point, may separate.
_THOUSANDS = {sign: re.compile(rf"[1-9]\d{{0,2}}({re.escape(sign)}\d{{3}})+") for sign in ",."}
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_DATE = re.compile(
    rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}([ T].*)?|{_DAY}([-/]){_DAY}\2(\d\d|\d{{4}})([ T].*)?"
    rf"|{_DAY}\.{_DAY}\.\d{{4}}([ T].*)?|{_DAY}\.(0?[1-9]|1[0-2])\.\d\d([ T].*)?"
    r"|(1[89]|2[01])\d\d[-/](0?[1-9]|1[0-2])|(0?[1-9]|1[0-2])[-/.](1[89]|2[01])\d\d",
    re.ASCII,
)
_MONTH = "(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_YEAR = r"(1[89]|2[01])\d\d"
_HOURS = r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d([.,]\d+)?)?( ?[ap]\.?m\.?)?"
#: Dates in words, quarters, weeks, and times of day.
_CALENDAR = re.compile(
    rf"({_DAY}[ .-]+)?{_MONTH}[ .-]+({_DAY},? )?({_YEAR}|'?\d\d)|{_YEAR}[ -]?[QW]\d\d?"
    rf"|Q[1-4][ /-]?{_YEAR}|{_HOURS}",
    re.ASCII | re.IGNORECASE,
)
#: A number in marks that change or hide it: <5, ~5, 5-, -(5), 1_000, "5", 1½.
_MARKED = re.compile(
    r"([<>≤≥]=?|[~≈±]) ?-?\d[\d.,]*|\d[\d.,]*-|-\(\d[\d.,]*\)|\d{1,3}(_\d{3})+"
    r"|\"-?\d[\d.,]*\"|'-?\d[\d.,]*'|\d* ?[¼-¾⅐-⅞]"
)
#: Texts that stand for no number.
_PLACEHOLDERS = frozenset(
    {"-", "--", "---", "–", "—", "?", "??", ".", "..", "...", "*", "x", "/", "none", "missing"}
    | {"unknown", "n.a.", "n.a", "na", "n/a", "nil", "not available", "not applicable", "tbd"}
)
_EXACT, _LONGEST = 2**53, 400
#: A column of at least so many texts is doubtful, if this share of them looks like numbers.
_TEXTS, _SHARE = 10, 0.9
#: Texts that are tried first: most columns of text are names.
_FEW = 64
#: Units of one letter, and letters that stand for thousands and millions.
_ONE_LETTER = set("kKMBhsmgltLW")
#: The most units among texts that may be numbers, and the least texts that show a unit.
_UNITS, _SHOWN = 3, 3
#: The least number of digits that are a telephone number, if all texts have as many.
_TELEPHONE = 9


class Spelling(NamedTuple):
    """How a column of text spells its numbers.

    ``decimal`` is the decimal sign. ``thousands`` is the other sign, if it separates thousands. All
    numbers have the same ``unit``, before or after them.
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""


PLAIN = Spelling()
#: The decimal sign, and what separates thousands.
_SIGNS = (".", ""), (".", ","), (",", ""), (",", ".")


def check_spelling(name: str, spelling: Any) -> None:
    """Check that this says how text spells numbers."""
    check_is(name, spelling, Spelling)
    if (spelling.decimal, spelling.thousands) not in _SIGNS:
        raise ValueError(f"{name}: {shown(spelling[:2])} are not the signs of a number")
    check_is(f"unit of {name}", spelling.unit, str)


class _Parts(NamedTuple):
    negative: bool
    in_brackets: bool
    unit: str
    body: str


def _parts(text: str) -> _Parts | None:
    """Return the sign, the unit and the digits of a string; None if it is no number."""
    found = _FORM.fullmatch(_MARKS.sub("", text).strip().translate(_PLAIN))
    if found is None:
        return None
    brackets = len(found["opened"]) + len(found["deep"])
    signs = found["sign"] + found["inner"]
    before, after = found["before"], found["after"] or ""
    if brackets != len(found["closed"]) or brackets + len(signs) > 1 or (before and after):
        return None
    return _Parts(bool(brackets) or signs == "-", bool(brackets), before or after, found["body"])


def _value(body: str, spelling: Spelling) -> float | int | None:
    """Return the number that digits and separators spell; None if they spell none."""
    decimal, thousands = map(re.escape, (spelling.decimal, spelling.thousands))
    whole = _WHOLE if not thousands else rf"(?:{_GROUPS}|\d{{1,3}}(?:{thousands}\d{{3}})+|\d+)"
    if not re.fullmatch(rf"(?:{whole}(?:{decimal}\d*)?|{decimal}\d+){_EXPONENT}", body):
        return None
    plain = re.sub(f"[{_BETWEEN}]", "", body)
    if thousands:
        plain = plain.replace(spelling.thousands, "")
    plain = plain.replace(spelling.decimal, ".")
    return int(plain) if plain.isdigit() and len(plain) <= _LONGEST else float(plain)


def read_number(text: str, spelling: Spelling = PLAIN) -> float | int | bool | None:
    """Return the number or Boolean that a text spells in a column; None if it spells neither.

    Strings such as NA spell NaN.
    """
    if text.strip() in MISSING:
        return float("nan")
    plain = number_of(text)
    if plain is not None and (not spelling.thousands or isinstance(plain, bool)):
        return _exactly(text, plain)
    parts = _parts(text)
    if parts is None or (parts.unit and parts.unit != spelling.unit):
        return None if parts is not None or plain is None else plain
    value = _value(parts.body, spelling)
    if value is None:
        value = _value(parts.body, PLAIN)
    return None if value is None else -value if parts.negative else value


def _exactly(text: str, value: float | bool) -> float | int | bool:
    """Return an integer that is written in digits as an integer."""
    try:
        return value if isinstance(value, bool) else int(text)
    except ValueError:
        return value


def spelling_of(texts: Iterable[str]) -> Spelling | None:
    """Return how all strings spell numbers or Booleans; None if they are names, or doubtful."""
    known = [bare for text in texts if (bare := text.strip()) not in MISSING]
    if not known or not all(number_of(text) is not None or _parts(text) for text in known[:_FEW]):
        return None
    plain = list(map(number_of, known))
    truth = [isinstance(value, bool) for value in plain]
    if any(truth):
        return PLAIN if all(truth) else None
    if all(map(str.isdigit, known)) and any(
        text.startswith("0") and len(text) > 1 for text in known
    ):
        return None
    if None not in plain:
        long = (text for text in known if len(text) > len(str(_EXACT)))
        return None if any(map(_is_code, map(read_number, long))) else PLAIN
    parts = list(map(_parts, known))
    spelling = _of_parts(parts)
    if spelling is None or any(_is_code(_value(part.body, spelling)) for part in parts if part):
        return None
    return spelling


def _is_code(value: float | bool | None) -> bool:
    """Return whether this is no number, or a whole one that double precision may not hold."""
    return value is None or (type(value) is int and abs(value) >= _EXACT)


def _of_parts(parts: list[Any]) -> Spelling | None:
    units, bodies = {part.unit for part in parts if part}, {part.body for part in parts if part}
    if None in parts or len(units) > 1 or all(part.in_brackets for part in parts):
        return None
    if units != {""} and len(bodies) < _SHOWN:
        return None
    digits = {sum(map(str.isdigit, body)) for body in bodies}
    if len(digits) == 1 and min(digits) >= _TELEPHONE and not any(map(str.isdigit, bodies)):
        return None
    signs = _signs_of(bodies)
    return None if signs is None else Spelling(*signs, units.pop())


def _signs_of(bodies: Collection[str]) -> tuple[str, str] | None:
    """Return the decimal sign, and what separates thousands; None if these are not certain."""
    if not any("," in body for body in bodies) and _all_read(bodies, PLAIN):
        return ".", ""
    fits = {point: _all_read(bodies, Spelling(point, comma)) for point, comma in (".,", ",.")}
    proved = [point for point in fits if fits[point] and _is_proof(bodies, point)]
    if len(proved) != 1:
        return None
    return (
        (".", ",") if proved == ["."] else (",", "." if any("." in body for body in bodies) else "")
    )


def _all_read(bodies: Collection[str], spelling: Spelling) -> bool:
    return all(_value(body, spelling) is not None for body in bodies)


def _is_proof(bodies: Collection[str], point: str) -> bool:
    """Return whether some number shows which sign is the decimal one.

    It has both signs, or a sign twice, or a sign that cannot separate thousands. Or the signs begin
    at four digits, and all smaller numbers have none.
    """
    other = "," if point == "." else "."
    if any(point in body and not _THOUSANDS[point].fullmatch(body) for body in bodies):
        return True
    if any(body.count(other) > 1 for body in bodies):
        return True
    plain = [body for body in bodies if other not in body]
    small = bool(plain) and all(body.isdigit() and len(body) <= 3 for body in plain)
    return small and other == ","


def doubtful_text(texts: Collection[str]) -> tuple[str, bool] | None:
    """Return a text that keeps a column from being read as numbers or dates; None for names.

    Also return whether the text is an exception: the others look like numbers or dates, and it does
    not.
    """
    known = [bare for text in texts if (bare := text.strip()) not in MISSING]
    if not known or sum(map(_looks, known[:_FEW])) * 2 < len(known[:_FEW]):
        return None
    if all(text.isdigit() for text in known):  # postcodes and other codes
        return None
    alike = {text for text in known if _looks(text)}
    units = Counter(parts.unit for text in alike if (parts := _parts(text)))
    if len(units) > 1:  # such as house numbers, 12a and 12b
        no_units = {unit for unit in units if unit.isalpha() and len(unit) == 1}
        if no_units <= _ONE_LETTER:
            no_units = set()
        if len(units) > _UNITS or 2 * len(units) > len(alike):
            no_units = {unit for unit in units if unit}
        alike = {text for text in alike if not ((part := _parts(text)) and part.unit in no_units)}
    others = sorted(set(known) - alike)
    if len(known) >= _TEXTS and len(others) <= (1 - _SHARE) * len(known):
        return _example(others, alike, units)
    if all(map(_is_marked, alike)):
        return None
    if len(alike) >= _SHOWN and all(text.lower() in _PLACEHOLDERS for text in others):
        return None if not others and _are_codes(alike) else _example(others, alike, units)
    return None


def _looks(text: str) -> bool:
    if _DATE.fullmatch(text) or _is_marked(text):
        return True
    parts = _parts(text)
    return parts is not None and (
        number_of(text) is not None
        or _value(parts.body, Spelling(".", ",")) is not None
        or _value(parts.body, Spelling(",", ".")) is not None
    )


def _is_marked(text: str) -> bool:
    """Return whether a text is a date in words, a time of day, or a number in marks."""
    return bool(_CALENDAR.fullmatch(text) or _MARKED.fullmatch(text))


def _are_codes(texts: Collection[str]) -> bool:
    """Return whether strings are integers of one length, in groups, or with one of few letters."""
    found = [_parts(text) for text in texts]
    if not all(found) or any(part.in_brackets for part in found if part):
        return False
    digits = {sum(map(str.isdigit, part.body)) for part in found if part}
    return len(digits) == 1 and min(digits) >= _TELEPHONE


def _example(others: list[str], alike: Collection[str], units: Counter[str]) -> tuple[str, bool]:
    """Return the exception; if there is none, the first text that is not a plain number."""
    if others:
        return others[0], True
    odd = sorted(text for text in alike if number_of(text) is None)
    if len(units) > 1:
        usual = max(sorted(units), key=lambda unit: (units[unit], not unit))
        odd = sorted(t for t in alike if (p := _parts(t)) and p.unit != usual) or odd
    return (odd or sorted(alike))[0], len(odd) < len(alike)


def why_doubtful(texts: Collection[str]) -> str | None:
    """Return what a message says of a doubtful column; None if the column is not doubtful."""
    found = doubtful_text(texts)
    if found is None:
        return None
    text, is_exception = found
    if is_exception:
        return f"{shown(text)} cannot be read as a number or date, but most of its texts look so"
    return f"{shown(text)} looks like a number or a date, but cannot be read as one for certain"


def are_times(texts: Iterable[str]) -> bool:
    """Return whether all strings, and at least one, are times such as 2026-01-31 or 2026-01."""
    known = [text for text in texts if text.strip() not in MISSING]
    return bool(known) and all(time_of(text) is not None for text in known)

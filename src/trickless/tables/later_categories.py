"""Categories that appear after the first batch of a stream, and get codes of their own."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from zlib import crc32

from trickless.arrays.stated import Stated, check_count, check_is, check_same

#: Codes for later categories, of which at most half are used. Single precision tells them apart
#: for families that multiply a code by a number below 1.
SLOTS = 2**16
_MOST = SLOTS // 2
#: A column has no codes for later categories if so many categories of the first batch were rare,
#: or if they had most of the rows, as names of rows do.
_MOST_RARE = 10_000


@dataclass(frozen=True)
class LaterCategories(Stated):
    """Codes of the later categories of a column.

    A code is a hash of the category, or the next free code if the hash is taken. Except then, it
    depends neither on the order of the rows nor on other categories, so models of parts of a stream
    can be merged.

    Attributes
    ----------
    n_first : int
        Number of codes of the first batch. Codes of later categories start here.
    codes : dict
        Code of each later category.
    rare : dict
        How many rows each rare category of the first batch had. They were learned with the code of
        new categories.
    """

    n_first: int
    codes: dict[str, int]
    rare: dict[str, int]

    def check_state(self) -> None:
        check_count("n_first", self.n_first, 2)
        for name in ("codes", "rare"):
            check_is(name, numbers := getattr(self, name), dict)
            for text, number in numbers.items():
                check_is(f"category of {name}", text, str)
                check_count(name, number, 0)
        codes = list(self.codes.values())
        check_same("different codes", len(set(codes)), len(codes))
        if codes:
            check_count("codes", min(codes), self.n_first, self.n_first + SLOTS - 1)
            check_count("codes", max(codes), self.n_first, self.n_first + SLOTS - 1)

    def after(self, texts: Iterable[str]) -> LaterCategories:
        """Return codes that include those of further categories, as long as there are some."""
        codes = dict(self.codes)
        taken = set(codes.values())
        for text in texts:
            if len(codes) >= _MOST:
                break
            slot = crc32(text.encode("utf-8", "surrogatepass"))
            while (code := self.n_first + slot % SLOTS) in taken:
                slot += 1
            codes[text] = code
            taken.add(code)
        return replace(self, codes=codes)

    def before(self, counts: dict[str, int]) -> tuple[LaterCategories, LaterCategories]:
        """Return codes with which rows to forget were learned, and codes that are left after.

        ``counts`` are the categories of these rows. The oldest rows are forgotten first.
        """
        of_first = {text: n for text, n in counts.items() if n <= self.rare.get(text, 0)}
        codes = {text: code for text, code in self.codes.items() if text not in of_first}
        rare = {text: n - of_first.get(text, 0) for text, n in self.rare.items()}
        return replace(self, codes=codes), replace(self, rare={t: n for t, n in rare.items() if n})

    def merged(self, other: LaterCategories) -> LaterCategories | None:
        """Return the codes of two models, or None if a category has two codes or shares one."""
        codes = self.codes | other.codes
        known = all(codes[text] == code for text, code in self.codes.items())
        if not known or len(set(codes.values())) < len(codes):
            return None
        rare = {t: self.rare.get(t, 0) + other.rare.get(t, 0) for t in self.rare | other.rare}
        return replace(self, codes=codes, rare=rare)


def later_categories(
    counts: dict[str, int], kept: Collection[str], n_rows: int
) -> LaterCategories | None:
    """Return that there are no later categories yet, or None if the column names rows.

    ``counts`` says how often categories occur in the first batch, of which some are ``kept``.
    """
    known = set(kept)
    rare = {text: n for text, n in counts.items() if text not in known}
    if len(rare) > _MOST_RARE or 2 * sum(rare.values()) > n_rows:
        return None
    return LaterCategories(len(kept) + 2, {}, rare)

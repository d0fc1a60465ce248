"""Messages about the data, on standard error."""

from __future__ import annotations

import re
import sys
from contextlib import suppress

#: Control characters, except two joiners that some scripts need; surrogates; ends of lines.
_UNSAFE = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\xad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u180e\\u200b\\u200e\\u200f"
    "\\u2028-\\u202e\\u2060-\\u206f\\ud800-\\udfff\\ufeff\\ufff9-\\ufffb"
    "\\U000e0000-\\U000e0fff]"
)
#: The most characters of a message.
_LONGEST = 1000


def visible(text: str) -> str:
    """Escape the characters of a string that a terminal obeys, or that hide others.

    These are control characters such as line ends, changes of direction, and bytes of file names
    that are not text. Every string from outside is printed with this function.
    """
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def short(text: str, longest: int) -> str:
    """Return a string with at most so many characters: its beginning and its end."""
    half = (longest - 3) // 2
    return text if len(text) <= longest else f"{text[:half]}...{text[-half:]}"


def say(message: str) -> None:
    """Print a line of a bounded length on standard error, if it is open."""
    one_line = re.sub(r"[ \t]*[\r\n]+[ \t]*", " ", short(message.strip(), _LONGEST))
    with suppress(OSError):
        print(visible(one_line), file=sys.stderr, flush=True)

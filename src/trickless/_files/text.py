"""Text in files."""

from __future__ import annotations

from trickless._errors import InvalidValueError


def utf8(owner: str, text: str) -> bytes:
    """Return the bytes of a label or name, which ``owner`` writes."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidValueError(
            f"{owner}: the label or name {text!r} holds half of a pair of surrogates, which UTF-8 "
            "cannot hold",
            "labels of whole characters",
        ) from error

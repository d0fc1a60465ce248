"""Errors that carry their remedy as data."""

from __future__ import annotations


class RemedyError(Exception):
    """An error that the caller can mend.

    Parameters
    ----------
    cause : str
        What is wrong, with the name and the value of the parameter.
    remedy : str
        What to do about it. Both are printed as sentences, ``cause. Remedy: remedy.``
    """

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__(cause, remedy)
        self.cause, self.remedy = cause, remedy

    def __str__(self) -> str:
        return f"{self.cause}. Remedy: {self.remedy}."


class InvalidValueError(RemedyError, ValueError):
    """A parameter or data with a value that cannot be used."""


class InvalidTypeError(RemedyError, TypeError):
    """A parameter or data of a type that cannot be used."""


class MissingAttributeError(RemedyError, ValueError, AttributeError):
    """A method or attribute that an object lacks because of its parameters or how it was fitted."""


class OutOfMemoryError(RemedyError, MemoryError):
    """Not enough memory for a fit of this size."""


class MissingLibraryError(RemedyError, ImportError):
    """An optional library that cannot be imported."""


class StreamChangedError(RemedyError, RuntimeError):
    """A seed that no longer gives the neurons with which a model was fitted."""


def remedy_in(error: BaseException) -> str | None:
    """Return the remedy that an error carries, or None."""
    return getattr(error, "remedy", None)


def cause_in(error: BaseException) -> str:
    """Return what an error says without its remedy and its final period."""
    return getattr(error, "cause", None) or str(error).rstrip(".")

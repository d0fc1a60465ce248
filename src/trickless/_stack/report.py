"""What a stack says about its parts: a small table."""

from __future__ import annotations

from html import escape
from typing import Annotated, NamedTuple

import numpy as np

from trickless._arrays.stated import Array, Length, stated

_HEAD = "part", "weight", "loss", "seconds"


@stated
class Report(NamedTuple):
    """The parts of a stack, with the best first; as text or, in a notebook, as a table.

    Attributes
    ----------
    parts : list of str
    weights : array of shape (n_lines,)
    losses : array of shape (n_lines,)
        Mean losses of rows that the part had not learned from. They are relative to the loss of a
        constant for numbers.
    seconds : array of shape (n_lines,)
        Seconds that a part has taken, to learn and to predict these rows.
    loss : float
        The mean loss of the stack at the same rows.
    n_rows : int
        The number of these rows.
    """

    parts: Annotated[list[str], Length("n_lines")]
    weights: Annotated[np.ndarray, Array("f8", "n_lines")]
    losses: Annotated[np.ndarray, Array("f8", "n_lines")]
    seconds: Annotated[np.ndarray, Array("f8", "n_lines")]
    loss: float
    n_rows: int

    def _lines(self) -> list[tuple[str, str, str, str]]:
        columns = zip(self.parts, self.weights, self.losses, self.seconds, strict=True)
        lines = [(name, f"{w:.2f}", f"{lost:.4g}", f"{s:.2f}") for name, w, lost, s in columns]
        return [*lines, ("stack", "1.00", f"{self.loss:.4g}", f"{self.seconds.sum():.2f}")]

    def __repr__(self) -> str:
        lines = [_HEAD, *self._lines()]
        wide = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            f"{name:<{wide[0]}}  "
            + "  ".join(f"{each:>{n}}" for each, n in zip(rest, wide[1:], strict=True))
            for name, *rest in lines
        )

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in _HEAD)
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>"
            for line in self._lines()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

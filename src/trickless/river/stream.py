"""The state of a stream: columns, their scale, neurons, and machines of several half-lives."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from trickless.river.columns import Columns, Key
from trickless.river.cosines import Cosines
from trickless.river.machines import Machines
from trickless.river.scaler import Scaler

#: The first rows are kept, and learned again as the scale of their columns becomes known.
KEPT = 256
#: Afterwards, the scale of columns is updated after so many rows.
_RESCALE = 64
#: The name of the last target among the features.
_LAST = b"last target"


class Seen(NamedTuple):
    """What a row is at one place of the stream, and what each machine predicts for it."""

    at: int
    raw: np.ndarray
    activations: np.ndarray
    outputs: np.ndarray

    def is_same(self, at: int, raw: np.ndarray) -> bool:
        """Return whether a row would be seen in the same way."""
        return self.at == at and self.raw.tobytes() == raw.tobytes()


class Rows:
    """Rows of a stream as activations of random neurons.

    Attributes
    ----------
    n_rows : int
        Number of rows so far.
    """

    def __init__(self, owner: str, n_neurons: int, seed: int) -> None:
        self.columns, self.scaler = Columns(owner), Scaler()
        self.cosines = Cosines(seed, n_neurons)
        self.n_rows = 0
        self._recent: list[np.ndarray] = []

    def records(
        self, X: Any, answers: Any, check: Callable[[Any], None]
    ) -> list[tuple[dict[Hashable, Any], Any]]:
        """Return the rows of a data frame with their answers, once all of them are checked."""
        rows = list(zip(X.to_dict("records"), answers, strict=True))
        for x, answer in rows:
            self.columns.read(x)
            check(answer)
        return rows

    def read(
        self, x: Mapping[Hashable, Any], more: dict[Key, float]
    ) -> tuple[np.ndarray, list[Key]]:
        """Return the values of a row and of ``more`` columns, and the keys of new columns."""
        raw, unseen = self.columns.read(x)
        for key, value in more.items():
            place = self.columns.places.get(key)
            if place is None:
                unseen.append(key)
            else:
                raw[place] = value
        return raw, unseen

    def activate(self, raw: np.ndarray) -> np.ndarray:
        """Return the activations of rows."""
        return self.cosines(self.scaler(raw))

    def grow(self, unseen: list[Key]) -> None:
        """Add columns."""
        self.columns.grow(unseen)
        self.scaler.grow(self.columns.is_number)
        self.cosines.grow(self.columns.variables)

    def learn(self, raw: np.ndarray) -> np.ndarray | None:
        """Add a row to the scale, and return the activations of all rows if they change."""
        self.n_rows += 1
        self._recent.append(raw)
        if self.n_rows > KEPT:
            if self.n_rows % _RESCALE == 0:
                self.scaler.learn(self._padded(self._recent))
                self._recent = []
            return None
        if self.n_rows & (self.n_rows - 1):
            return None
        kept = self._padded(self._recent)
        self.scaler.start_over(kept)
        if self.n_rows == KEPT:
            self._recent = []
        return self.activate(kept)

    def _padded(self, rows: list[np.ndarray]) -> np.ndarray:
        """Return rows as an array, with missing values in columns that came later."""
        blank = self.columns.blank
        if len(rows[0]) == len(blank):
            return np.array(rows)
        return np.array([np.append(row, blank[len(row) :]) for row in rows])


class Stream:
    """Machines of several half-lives that learn the rows of a stream.

    Parameters
    ----------
    owner : str
        Name of the estimator, for messages.
    n_neurons, half_lives, seed
        As of the estimator.
    n_outputs : int
        Number of outputs at first.
    steps : tuple of float
        Sizes of the steps of machines that learn each row at once.

    Attributes
    ----------
    last : dict
        Columns of the last answer.
    """

    def __init__(
        self,
        owner: str,
        n_neurons: int,
        half_lives: tuple[float, ...],
        seed: int,
        n_outputs: int,
        steps: tuple[float, ...] = (),
    ) -> None:
        self.rows = Rows(owner, n_neurons, seed)
        self.machines = Machines(half_lives, n_neurons, steps)
        self._answers: list[Any] = []
        self.grow(n_outputs)
        self._latest: Seen | None = None
        self.last: dict[Key, float] = {}

    def see(self, x: Mapping[Hashable, Any]) -> tuple[Seen, list[Key]]:
        """Return a row as it is seen now, and the keys of columns that it would add."""
        raw, unseen = self.rows.read(x, self.last)
        seen = self._latest  # predict_one has seen it, most probably
        if seen is None or not seen.is_same(self.rows.n_rows, raw):
            z = self.rows.activate(raw)
            seen = self._latest = Seen(self.rows.n_rows, raw, z, self.machines.outputs(z))
        return seen, unseen

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_latest": None}

    def grow(self, n_outputs: int) -> None:
        """Make room for new outputs and columns."""
        self.n_outputs = n_outputs
        self.machines.grow(self.rows.cosines.penalties(), n_outputs)

    def learn(
        self,
        x: Mapping[Hashable, Any],
        before: dict[Key, float],
        answer: Any,
        last: dict[Key, float],
        as_targets: Callable[[list[Any]], np.ndarray],
    ) -> None:
        """Learn a row, whose inputs are ``before``, and whose answer is an input of the next one.

        ``before`` and ``last`` are the columns of the last answer before and after this row.
        """
        raw, unseen = self.rows.read(x, before)
        if unseen:
            self.rows.grow(unseen)
            self.grow(self.n_outputs)
            raw, _ = self.rows.read(x, before)
        seen = self._latest
        is_seen = seen is not None and seen.is_same(self.rows.n_rows, raw)
        activations = seen.activations if seen and is_seen else self.rows.activate(raw)
        everything = self.rows.learn(raw)
        if self.rows.n_rows <= KEPT:
            self._answers.append(answer)
        if everything is None:
            self.machines.learn(activations, as_targets([answer])[0])
        else:
            self.machines.start_over(everything, as_targets(self._answers))
        if self.rows.n_rows == KEPT:
            self._answers = []
        self.last = last


def last_number(value: float) -> dict[Key, float]:
    """Return the columns of the last target, for a number."""
    return {(_LAST,): value}


def last_label(label: int) -> dict[Key, float]:
    """Return the columns of the last target, for the number of a label."""
    return {(_LAST, label): 1.0}

"""The stages of a detector: rows for the family, rows for the reference, and rows to be tested."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import clone

from trickless.arrays.places import take
from trickless.arrays.stated import Stated, check_array, check_count, check_is, check_same
from trickless.errors import InvalidValueError
from trickless.functions.stream import Purpose, check_seed, generator
from trickless.inference.scan import LEAST, Alarm, Scan
from trickless.inference.stream_rows import check_first_rows, stack
from trickless.inference.whitening import WhitenedFeatures
from trickless.learners.random_features import RandomFeatures
from trickless.neurons import make_neurons
from trickless.tables.frames import is_frame, picked

#: Rows of the stream that the family is fitted to, and rows of the reference, in windows.
_FITTED, _COMPARED = 1, 3
#: The most rows that are tested together, since an alarm may discard their features.
_TOGETHER = 4096
#: The most rows of a given reference that are compared, in windows.
_MOST_COMPARED = 4


class Watch(Stated):
    """A stream that is compared with a reference.

    The family is fitted to the first rows, which no window is compared with. Later rows are its
    reference. After that, rows are tested. A change starts over, unless the reference was given.

    Parameters
    ----------
    owner : str
        The name in errors and warnings.
    family : RandomFeatures
        The random features, not fitted.
    window_size, run_length, seed : int
        As of :class:`~trickless.DriftDetector`.
    """

    #: The tables of the first rows, or the features of the first rows of the reference.
    first: tuple[Any, ...] = ()
    features: WhitenedFeatures | None = None
    scan: Scan | None = None
    is_given = False

    def __init__(
        self, owner: str, family: RandomFeatures, window_size: int, run_length: int, seed: int
    ) -> None:
        self.owner, self.family, self.seed = owner, family, seed
        self.window_size, self.run_length = window_size, run_length

    def check_state(self) -> None:
        check_is("owner", self.owner, str)
        check_is("family", self.family, RandomFeatures)
        check_count("window_size", self.window_size, LEAST)
        check_count("run_length", self.run_length, self.window_size)
        check_seed("seed", self.seed)
        check_is("first", self.first, tuple)
        check_is("features", self.features, WhitenedFeatures | None)
        check_is("scan", self.scan, Scan | None)
        check_is("is_given", self.is_given, bool)
        if self.features is None:
            check_same("scan", self.scan, None)
            return
        n_columns = self.features.whitener.shape[1]
        for rows in self.first:
            check_array("first", rows, "f8", (None, n_columns))
        if self.scan is not None:
            check_array("reference", self.scan.reference, "f8", (None, n_columns))

    def give(self, X: Any) -> None:
        """Take a table as the reference."""
        self._check_first(X)
        n_rows, n_needed = X.shape[0], -(-_MOST_COMPARED * self.window_size // _COMPARED)
        if n_rows < n_needed:
            raise InvalidValueError(
                f"{self.owner}: the reference has {n_rows:,} rows, but "
                f"window_size={self.window_size!r} needs {n_needed:,}",
                "pass more rows, or choose a smaller window_size",
            )
        order = generator(self.seed, Purpose.SHUFFLE).permutation(n_rows)
        n_compared = min(n_rows - n_rows // 4, _MOST_COMPARED * self.window_size)
        select = picked if is_frame(X) else take
        features = self._fit(select(X, order[n_compared:]))
        self._compare(features(select(X, order[:n_compared])))
        self.is_given = True

    def see(self, X: Any, first: int) -> tuple[int, list[Alarm], WhitenedFeatures | None]:
        """See rows of a table, up to the next stage if there is one.

        Returns how many were used, the alarms, and the features that they are of. ``first`` is the
        number of the first of these rows in the stream.
        """
        if self.features is None:
            self._check_first(X)
            used, are_enough = self._keep(X, _FITTED * self.window_size)
            if are_enough:
                self._fit(stack(list(self.first)))
            return used, [], None
        if self.scan is None:
            n_needed = _COMPARED * self.window_size
            Z = self.features(picked(X, slice(self._n_missing(n_needed))))
            used, are_enough = self._keep(Z, n_needed)
            if are_enough:
                self._compare(np.concatenate(self.first))
            return used, [], None
        self.scan, features = copy(self.scan), self.features
        Z, used, alarms = features(picked(X, slice(_TOGETHER))), 0, []
        while used < len(Z):
            seen, alarm = self.scan.see(Z[used:], first + used)
            used += seen
            if alarm is None:
                continue
            alarms.append(alarm)
            if not self.is_given:
                self.features = self.scan = None
                break
        return used, alarms, features

    def _check_first(self, X: Any) -> None:
        check_first_rows(self.owner, X, list(self.first), make_neurons(self.family.neurons))

    def _keep(self, rows: Any, n_needed: int) -> tuple[int, bool]:
        """Keep rows up to a number. Return how many were used, and whether all are there."""
        missing = self._n_missing(n_needed)
        used = min(missing, rows.shape[0])
        self.first = (*self.first, picked(rows, slice(used)))
        return used, used == missing

    def _n_missing(self, n_needed: int) -> int:
        return n_needed - sum(part.shape[0] for part in self.first)

    def _fit(self, X: Any) -> WhitenedFeatures:
        """Fit the family to rows."""
        self.features = WhitenedFeatures(self.owner, clone(self.family), X, self.seed)
        self.first = ()
        return self.features

    def _compare(self, reference: np.ndarray) -> None:
        """Compare later rows with these features."""
        self.scan = Scan(reference, self.window_size, self.run_length, self.seed)
        self.first = ()

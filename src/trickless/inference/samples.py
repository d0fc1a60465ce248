"""Samples of a test, and their random features, a panel of rows at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse

from trickless.arrays.missing import unmasked
from trickless.arrays.places import HOST, dispatches, place_of, take, to_host
from trickless.arrays.threads import row_blocks
from trickless.errors import InvalidTypeError, InvalidValueError
from trickless.functions.stream import Purpose, generator
from trickless.intake.matrices import canonical_rows
from trickless.learners.random_features import RandomFeatures, is_chosen_by_targets
from trickless.neurons import Neurons, make_neurons
from trickless.neurons.checks import for_images
from trickless.rules import (
    N_JOBS,
    check_value,
    choice,
    count,
    integer,
    reworded,
    with_remedies,
)
from trickless.tables.columns import columns_of
from trickless.tables.encoder import TableEncoder
from trickless.tables.frames import is_frame, picked, stacked, with_names_as_text
from trickless.tables.kinds import CATEGORIES, OBJECTS
from trickless.tables.refusals import why_no_frame

#: Values of the features of a panel of rows, and the most bytes of features that are kept.
_PANEL_VALUES, _KEPT_BYTES = 2**22, 2**28
#: Features vary if their variance is above this share of the square of their mean.
_ROUNDING = 1e-28

_RULES = {
    "n_neurons": count("n_neurons=500 is a good start"),
    "method": choice(
        "permutation",
        "asymptotic",
        remedy="method='permutation' has an exact level; 'asymptotic' draws no permutations",
    ),
    "n_permutations": integer(1, "n_permutations=999 gives p-values from 0.001 on", 2**31),
    "n_jobs": N_JOBS,
}


def check_options(owner: str, **options: Any) -> None:
    """Check the parameters that the tests share."""
    for name, value in options.items():
        check_value(owner, name, value, _RULES[name])


def check_neurons(owner: str, parameter: str, neurons: Any) -> Neurons:
    """Make the family of a parameter, and check that it needs no targets."""
    with reworded(lambda text: f"{owner}: {_in_words('X', parameter)(text)}"):
        family = make_neurons(neurons)
    if is_chosen_by_targets(family):
        raise InvalidValueError(
            f"{owner}: {parameter}={neurons!r} needs targets, but a test has none",
            "a family that uses the rows alone, such as 'gaussian', or 'tabular' for data frames",
        )
    return family


class Sample:
    """Centred random features of rows, a panel of rows at a time.

    They are kept in memory if they are small, and otherwise recomputed for each pass. ``panels``
    are the rows of each panel, and ``mean`` is what was subtracted. ``first`` is the sum over the
    first sample, of ``n_first`` rows; over the other rows, it is the opposite.
    """

    def __init__(self, reader: Reader, rows: Any, n_together: int, n_first: int = 0) -> None:
        self._reader, self._rows = reader, rows
        self.n_rows, self.n_columns = rows.shape[0], reader.n_columns
        self.panels = row_blocks(self.n_rows, max(1, _PANEL_VALUES // n_together))
        self.n_first = n_first
        first, total = np.zeros(self.n_columns), np.zeros(self.n_columns)
        self._kept: list[np.ndarray] = []
        keep = 8 * self.n_rows * self.n_columns <= _KEPT_BYTES
        for where in self.panels:
            Z = self._reader.features(take(rows, where))
            first += Z[: max(0, n_first - where.start)].sum(axis=0)
            total += Z.sum(axis=0)
            if keep:
                self._kept.append(Z)
        self.mean = total / self.n_rows
        self.first = first - n_first * self.mean
        for Z in self._kept:
            Z -= self.mean

    def __iter__(self) -> Iterator[np.ndarray]:
        if self._kept:
            yield from self._kept
            return
        for where in self.panels:
            yield self._reader.features(take(self._rows, where)) - self.mean

    def varies(self, squares: np.ndarray) -> bool:
        """Return whether features with these squared norms vary by more than rounding."""
        return bool(squares.mean() > _ROUNDING * (self.mean @ self.mean))


class Reader:
    """A family that is fitted to samples and makes their random features.

    Errors and warnings name the test and its parameters.
    """

    def __init__(
        self, owner: str, parameter: str, family: Neurons, n_neurons: int, seed: int, n_jobs: Any
    ) -> None:
        self._owner, self._parameter, self._seed = owner, parameter, seed
        self._layout = family.layout
        self._model = _named(owner)(
            family,
            n_neurons,
            sparse_output=False,
            random_state=seed,
            n_jobs=n_jobs,
            dtype="float64",
        )

    @property
    def n_columns(self) -> int:
        return self._model._n_features_out

    def __call__(self, name: str, X: Any) -> Any:
        """Fit the family to a table, and return its validated rows. Messages use the name."""
        with reworded(_in_words(name, self._parameter)):
            # In random order, so that no choice of a family depends on the order of the rows.
            order = generator(self._seed, Purpose.SHUFFLE).permutation(n_rows(X))
            self._model.fit(_ordered(X, order))
            return self._model._rows_to_predict(X)

    def sample(self, name: str, X: Any) -> Any:
        """Convert a sample to a table, or to a list of arrays that the family reads."""
        layout = self._layout
        if not layout.reads_arrays or is_frame(X) or place_of(X) is not HOST:
            return table(self._owner, name, X)
        with reworded(_in_words(name, self._parameter)):
            are_arrays = layout.learned(self._owner, X)[1] is not X
        return list(X) if are_arrays else table(self._owner, name, X)

    def pooled(self, X: Any, Y: Any) -> tuple[Any, int]:
        """Fit the family to both samples, and return their validated rows and the first's size."""
        X, Y = self.sample("X", X), self.sample("Y", Y)
        rows = _below(self._owner, X, Y)
        try:
            return self("X and Y", rows), n_rows(X)
        except (TypeError, ValueError):
            for name, sample in (("X", X), ("Y", Y)):
                self(name, sample)  # the error names the sample that causes it
            raise

    def features(self, rows: Any) -> np.ndarray:
        return to_host(self._model._of_rows(rows))


@cache
def _named(owner: str) -> type[RandomFeatures]:
    """Make a class of random features whose errors and warnings have the name of a test."""
    return type(owner, (RandomFeatures,), {"_warn_below": 0.0})  # the level needs no scale


def check_finite_statistic(owner: str, *values: float) -> None:
    """Check that the squares of activations did not overflow."""
    if not np.isfinite(values).all():
        raise InvalidValueError(
            f"{owner}: squares of the activations are too large for double precision",
            "scale X and Y (StandardScaler), or choose bounded neurons, such as 'gaussian'",
        )


def check_rows(owner: str, name: str, n: int, least: int) -> None:
    """Check that there are enough rows for an unbiased statistic."""
    if n < least:
        raise InvalidValueError(
            f"{owner}: {name} has {n} row{'s' * (n != 1)}, but an unbiased statistic needs "
            f"{least} or more",
            "pass more rows",
        )


def table(owner: str, name: str, X: Any) -> Any:
    """Convert a sample to a data frame, a CSR matrix or an array of two dimensions."""
    if is_frame(X):
        return X
    with reworded(_in_words(name, "neurons")), with_remedies(owner):
        if (why := why_no_frame(X)) is not None:
            raise InvalidTypeError(f"{owner}: {why[0]}", why[1])
        if scipy.sparse.issparse(X):
            return canonical_rows(owner, X)
        X = X if dispatches() and place_of(X) is not HOST else np.asarray(unmasked(X))
    if X.ndim != 2:
        raise InvalidValueError(
            f"{owner}: {name} has the shape {tuple(X.shape)}, but it must be a table of rows and "
            "columns",
            f"{_flat(name, tuple(X.shape))}",
        )
    return X


def n_rows(X: Any) -> int:
    """Return the number of rows of a table, or of arrays in a list."""
    return len(X) if isinstance(X, list) else int(X.shape[0])


def _ordered(X: Any, order: np.ndarray) -> Any:
    if isinstance(X, list):
        return [X[i] for i in order]
    return picked(X, order) if is_frame(X) else take(X, order)


def _flat(name: str, shape: tuple[int, ...]) -> str:
    """Describe how to turn an array of this shape into a table."""
    if len(shape) > 2:
        return for_images(name, shape)
    return f"{name}.reshape(-1, 1) if it is one feature" if shape else "pass an array of rows"


def _below(owner: str, X: Any, Y: Any) -> Any:
    """Stack two samples as one table, the second below the first."""
    kinds = _kind(X), _kind(Y)
    if kinds[0] != kinds[1]:
        raise InvalidTypeError(
            f"{owner}: X is {kinds[0]}, but Y is {kinds[1]}", "pass both as the same kind of table"
        )
    if is_frame(X):
        if all(isinstance(name, str) for name in X.columns):
            Y = with_names_as_text(Y, X.columns)
        _check_columns(owner, X, Y)
    elif isinstance(X, list):
        _check_arrays(owner, np.shape(X[0]), np.shape(Y[0]))
    elif X.shape[1] != Y.shape[1]:
        raise InvalidValueError(
            f"{owner}: X has {X.shape[1]} columns, but Y has {Y.shape[1]}",
            "pass the same columns in both, in the same order",
        )
    for name, sample in (("X", X), ("Y", Y)):
        check_rows(owner, name, n_rows(sample), 2)
    with with_remedies(owner):
        if isinstance(X, list):
            return X + Y
        if is_frame(X):
            return stacked([X, Y])
        if scipy.sparse.issparse(X):
            return scipy.sparse.vstack([X, Y], format="csr")
        return place_of(X).xp.concat([X, Y])


def _check_arrays(owner: str, of_x: tuple[int, ...], of_y: tuple[int, ...]) -> None:
    """Check that samples hold arrays of one form, except for the length of series."""
    if of_x[:-1] != of_y[:-1]:
        raise InvalidValueError(
            f"{owner}: X holds arrays of the shape {of_x}, but Y of the shape {of_y}",
            "the same axes in both, with the same channels",
        )


def _kind(X: Any) -> str:
    if is_frame(X):
        return f"a data frame of {type(X).__module__.partition('.')[0]}"
    if scipy.sparse.issparse(X):
        return "a sparse matrix"
    if isinstance(X, list):
        return "a list of arrays, or an array of more than two dimensions"
    place = place_of(X)
    return "a NumPy array" if place is HOST else f"an array of {place}"


def _check_columns(owner: str, X: Any, Y: Any) -> None:
    names, others = list(X.columns), list(Y.columns)
    if names != others:
        alone = [name for name in names if name not in others] or [
            name for name in others if name not in names
        ]
        what = f"column {alone[0]!r} is in only one of them" if alone else "their order differs"
        raise InvalidValueError(
            f"{owner}: X and Y have different columns: {what}",
            "pass the same columns in the same order, for example Y[X.columns]",
        )
    kinds = []
    for name, sample in (("X", X), ("Y", Y)):
        with reworded(_in_words(name, "neurons")):
            kinds.append(TableEncoder(owner, sample).kinds)
    columns = zip(names, *kinds, columns_of(X), columns_of(Y), strict=True)
    for name, kind, other, of_x, of_y in columns:
        is_text = CATEGORIES in (kind, other) and of_x.holds == of_y.holds == OBJECTS
        if kind != other and not (is_text or of_x.missing().all() or of_y.missing().all()):
            raise InvalidValueError(
                f"{owner}: column {name!r} holds {kind} in X, but {other} in Y",
                "convert them to the same type",
            )


def _in_words(sample: str, parameter: str) -> Callable[[str], str]:
    """Make a function that puts other names for X and ``neurons`` into messages."""

    def change(text: str) -> str:
        return re.sub(r"\bX\b", sample, re.sub(r"\bneurons=", f"{parameter}=", text))

    return change

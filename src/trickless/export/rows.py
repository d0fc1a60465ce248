"""How a program reads a row: the function ``read``, which makes of it the inputs of the neurons."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.errors import InvalidValueError
from trickless.export.program import DOUBLE, SINGLE, Column, Program, code
from trickless.learners.table_model import TableModel
from trickless.neurons import make_neurons
from trickless.tables.categories import known_as
from trickless.tables.kinds import DATES, DURATIONS, NUMBERS, TIMES_OF_DAY, ZONED
from trickless.tables.table_column import LARGEST, TableColumn

#: Numbers of an array, which scikit-learn's StandardScaler may have standardised.
_PLAIN = """
for (int j = 0; j < $n; j++) {
  double value = x[j];
  if (isnan(value)) {
    if ($strict) return 1;
  } else {
    if (fabs(value) > $input) return 1;
    if ($scaled) value = (value - input_mean[j]) / input_scale[j];
    if (fabs(value) > $largest) return 1;
    value = single(value);
  }
  v[j] = value;
}
return 0;
"""
#: Numbers relative to an origin, and codes of categories.
_CODED = """
for (int j = 0; j < $n; j++) {
  double value = x[j];
  int categories = n_categories[j];
  if (categories > 0) {
    if (isnan(value)) {
      value = missing_code[j];
    } else if (value >= 0.0 && value < categories && floor(value) == value) {
      value = code_of[code_start[j] + whole(value)];
    } else {
      value = missing_code[j] + 1.0;
    }
  } else if (!isnan(value)) {
    if (fabs(value) > $input) return 1;
    value = value - input_median[j];
    if ($clipped && fabs(value) > $single) value = value > 0.0 ? $single : -$single;
    value = value - input_origin[j];
    if (fabs(value) > $largest) return 1;
    value = single(value);
  }
  v[j] = value;
}
return 0;
"""
#: Standardised numbers, a column of zeros and ones for each category, and one for gaps.
_MATRIX = """
for (int i = 0; i < $width; i++) v[i] = 0.0;
for (int j = 0; j < $n; j++) {
  double value = x[j];
  int gap = isnan(value) ? 1 : 0;
  if (n_categories[j] > 0) {
    if (gap == 0 && value >= 0.0 && value < n_categories[j] && floor(value) == value) {
      v[place[j] + whole(value)] = 1.0;
    }
  } else if (has_number[j]) {
    if (gap) value = input_mean[j];
    if (fabs(value) > $input) return 1;
    value = (value - input_mean[j]) / input_scale[j];
    if (fabs(value) > $largest) return 1;
    v[place[j]] = single(value);
  }
  if (gap_place[j] >= 0) v[gap_place[j]] = gap;
}
return 0;
"""
_SINCE = "days since 1970-01-01"


def _largest(program: Program) -> str:
    """Return the largest number that the precision of rows does not round to infinity."""
    return repr(float(np.nextafter(2.0**128 - 2.0**103, 0)) if program.single else DOUBLE)


def read_numbers(program: Program, learner: Any, scaler: Any = None) -> int:
    """Read the rows of an array, after a ``StandardScaler`` if there is one; return their width."""
    names = getattr(learner if scaler is None else scaler, "feature_names_in_", None)
    n = learner.n_features_in_
    program.columns = [Column(None if names is None else str(names[j])) for j in range(n)]
    if scaler is not None:
        mean = scaler.mean_ if scaler.with_mean else np.zeros(n)  # known even if it is not used
        scale = scaler.scale_ if scaler.with_std else np.ones(n)
        program.keep(
            input_mean=np.asarray(mean, dtype=np.float64),
            input_scale=np.asarray(scale, dtype=np.float64),
        )
    body = code(
        _PLAIN,
        n=n,
        strict=int(not learner.neurons_.accepts_tables),
        input=repr(DOUBLE),
        scaled=int(scaler is not None),
        largest=_largest(program),
    )
    if scaler is None:
        body = "\n".join(line for line in body.splitlines() if "input_mean" not in line)
    program.add("read", ("x", "v"), body)
    return n


def read_frame(program: Program, learner: Any) -> int:
    """Read the rows of a data frame, as a learner that was fitted to one does; return the width."""
    encoder = learner.rows_.encoder
    names = getattr(learner, "feature_names_in_", [None] * len(encoder.kinds))
    columns = [
        Column(name, None if codes is None else list(codes), _unit(kind))
        for name, codes, kind in zip(names, encoder.codes, encoder.kinds, strict=True)
    ]
    maps = [None if c.categories is None else list(range(len(c.categories))) for c in columns]
    return _coded(program, learner, columns, maps, np.zeros(len(columns)), False)


def read_table(program: Program, model: TableModel, learner: Any) -> int:
    """Read the rows of a table, as a :class:`~trickless.TableModel` does; return the width."""
    columns = [_column(about) for about in model.columns]
    family = make_neurons(learner.neurons)
    if not family.accepts_tables:
        return _matrix(program, model.columns, columns)
    maps: list[list[int] | None] = []
    for column, codes in zip(columns, learner.rows_.encoder.codes, strict=True):
        if column.categories is None:
            maps.append(None)
        else:
            texts = known_as(column.categories, codes)
            maps.append([codes.get(text, len(codes) + 1) for text in texts])
    medians = np.array([about.median for about in model.columns], dtype=np.float64)
    return _coded(program, learner, columns, maps, medians, True)


def _column(about: TableColumn) -> Column:
    categories = list(about.categories) if about.kind == "category" else None
    return Column(about.name, categories, _unit(DATES if about.kind.endswith("date") else NUMBERS))


def _unit(kind: str) -> str | None:
    """Return the unit of numbers of times."""
    return {DATES: _SINCE, ZONED: _SINCE, DURATIONS: "days", TIMES_OF_DAY: "days"}.get(kind)


def _coded(
    program: Program,
    learner: Any,
    columns: list[Column],
    maps: list[list[int] | None],
    medians: np.ndarray,
    of_table: bool,
) -> int:
    """Read numbers relative to origins, and the learner's codes of categories."""
    encoder = learner.rows_.encoder
    if encoder.whole:
        name = columns[next(iter(encoder.whole))].name
        raise InvalidValueError(
            f"column {name!r} holds integers that double precision would round", "a smaller unit"
        )
    counts = np.array([0 if m is None else max(len(m), 1) for m in maps])
    known = np.array([0 if codes is None else len(codes) for codes in encoder.codes])
    flat = [m or [k + 1] for m, k in zip(maps, known.tolist(), strict=True) if m is not None]
    program.columns = columns
    program.keep(
        n_categories=counts,
        code_start=np.cumsum(counts) - counts,
        code_of=np.array([c for codes in flat for c in codes], dtype=np.int64),
        missing_code=known,
        input_median=medians,
        input_origin=encoder.origins,
    )
    largest = LARGEST if of_table else DOUBLE
    numbers = {"n": len(columns), "input": repr(largest), "clipped": int(of_table)}
    body = code(_CODED, **numbers, single=repr(SINGLE), largest=_largest(program))
    program.add("read", ("x", "v"), body)
    return len(columns)


def _matrix(program: Program, abouts: list[TableColumn], columns: list[Column]) -> int:
    """Read standardised numbers, zeros and ones for categories, and where values are missing."""
    width, places, gaps = 0, [], []
    for about, column in zip(abouts, columns, strict=True):
        places.append(width)
        width += 1 if column.categories is None else len(column.categories)
        gaps.append(width if about.has_missing else -1)
        width += about.has_missing
    program.columns = columns
    program.keep(
        n_categories=np.array([len(c.categories or ()) for c in columns]),
        has_number=np.array([c.categories is None for c in columns], dtype=np.uint8),
        place=np.array(places),
        gap_place=np.array(gaps),
        input_mean=np.array([about.mean for about in abouts], dtype=np.float64),
        input_scale=np.array([about.scale for about in abouts], dtype=np.float64),
    )
    numbers = {"n": len(columns), "width": width}
    body = code(_MATRIX, **numbers, input=repr(LARGEST), largest=_largest(program))
    program.add("read", ("x", "v"), body)
    return width

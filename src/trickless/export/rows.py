"""How a program reads a row: the function ``read``, which makes of it the inputs of the neurons."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.errors import InvalidValueError
from trickless.export.program import DOUBLE, Column, Program, code
from trickless.tables.kinds import DATES, DURATIONS, TIMES_OF_DAY, ZONED

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
  if (is_category[j] > 0) {
    if (isnan(value)) {
      value = missing_code[j];
    } else if (!(value >= 0.0 && value < missing_code[j] && floor(value) == value)) {
      value = missing_code[j] + 1.0;
    }
  } else if (!isnan(value)) {
    if (fabs(value) > $input) return 1;
    value = value - input_origin[j];
    if (fabs(value) > $largest) return 1;
    value = single(value);
  }
  v[j] = value;
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
    return _coded(program, learner, columns)


def _unit(kind: str) -> str | None:
    """Return the unit of numbers of times."""
    return {DATES: _SINCE, ZONED: _SINCE, DURATIONS: "days", TIMES_OF_DAY: "days"}.get(kind)


def _coded(
    program: Program,
    learner: Any,
    columns: list[Column],
) -> int:
    """Read numbers relative to origins, and the learner's codes of categories."""
    encoder = learner.rows_.encoder
    if encoder.whole:
        name = columns[next(iter(encoder.whole))].name
        raise InvalidValueError(
            f"column {name!r} holds integers that double precision would round", "a smaller unit"
        )
    program.columns = columns
    program.keep(
        is_category=np.array([codes is not None for codes in encoder.codes], dtype=np.uint8),
        missing_code=np.array([0 if codes is None else len(codes) for codes in encoder.codes]),
        input_origin=encoder.origins,
    )
    body = code(_CODED, n=len(columns), input=repr(DOUBLE), largest=_largest(program))
    program.add("read", ("x", "v"), body)
    return len(columns)

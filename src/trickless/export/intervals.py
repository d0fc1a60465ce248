"""Prediction intervals in a program, where their width depends on the prediction alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickless.errors import InvalidValueError
from trickless.export.answers import BEGIN
from trickless.export.program import Program, code
from trickless.learners.described import Described
from trickless.learners.intervals import how_far
from trickless.learners.left_out_intervals import LeftOutIntervals

#: The ends of intervals by what a regressor does with the values of its network.
_ENDS = {
    "identity": """
for (int o = 0; o < $outputs; o++) {
  ends[2 * o] = f[o] - far[o];
  ends[2 * o + 1] = f[o] + far[o];
}
""",
    "exp": """
for (int o = 0; o < $outputs; o++) {
  double mean = exp(f[o]);
  double away = far[o] * exp($half_power * (f[o] > $least ? f[o] : $least));
  ends[2 * o] = mean > away ? mean - away : 0.0;
  ends[2 * o + 1] = mean + away;
}
""",
    "sort": """
double low = f[0];
double high = f[0];
for (int o = 1; o < $outputs; o++) {
  if (f[o] < low) low = f[o];
  if (f[o] > high) high = f[o];
}
double middle = (low + high) / 2.0;
ends[0] = low - far[0] > high + far[0] ? middle : low - far[0];
ends[1] = low - far[0] > high + far[0] ? middle : high + far[0];
""",
}


def add_intervals(program: Program, found: Described, model: Any, confidence: float) -> None:
    """Add the function ``surround``, the lower and the upper end of each interval."""
    if found.labels is not None:
        raise InvalidValueError(
            f"interval={confidence!r}, but a {found.name} has no intervals",
            "interval=None, and the probabilities of the classes",
        )
    if isinstance(model, LeftOutIntervals) and not model._has_errors_only():
        raise InvalidValueError(
            f"interval={confidence!r}, but intervals of a {found.name} leave out each row that it "
            "has kept",
            "error_bars=True, for standard deviations; to_onnx(model, outputs=('prediction', "
            "'interval')); or DoublyStochasticRegressor(early_stopping=True)",
        )
    program.keep(far=how_far(model, confidence))
    numbers = {
        "outputs": found.n_outputs,
        "half_power": repr(getattr(model.targets_, "power", 0.0) / 2),
        "least": repr(float(np.log(np.finfo(float).tiny))),
    }
    begin, ends = code(BEGIN, **numbers), code(_ENDS[found.link], **numbers)
    program.n_ends = 2 if found.link == "sort" else 2 * found.n_outputs
    program.add("surround", ("x", "ends"), f"{begin}\n{ends}\nreturn 0;")
